//! Setters of the settings of this room.

/// Declares `new` and a setter for each setting: its documentation, name and type, and what is kept if that is another value.
macro_rules! setters {
    (@kept $field:ident) => { $field };
    (@kept $field:ident $kept:expr) => { $kept };
    ($name:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty $(=> $kept:expr)?;)+ }) => {
        impl $name {
            /// The default settings.
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[doc = $doc])+
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $crate::labeling::setters::setters!(@kept $field $($kept)?);
                    self
                }
            )+
        }
    };
}

pub(crate) use setters;

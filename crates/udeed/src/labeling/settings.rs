//! The declaration of settings of this room.

/// Declares settings, each with its documentation, name, type and default: a struct with public fields, `new` with the defaults,
/// and a setter for each. `by TYPE => VALUE` gives the type of a setter's argument and what is stored, where they differ.
macro_rules! settings {
    (
        $(#[$about:meta])+
        $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr $(, by $taken:ty => $kept:expr)?;)+
        }
    ) => {
        $(#[$about])+
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            /// The default settings.
            pub fn new() -> Self {
                $name { $($field: $default,)+ }
            }

            $($crate::labeling::settings::settings! {
                @setter $(#[doc = $doc])+ $field: $type = $default $(, by $taken => $kept)?
            })+
        }
    };
    (@setter $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr) => {
        $crate::labeling::settings::settings! { @setter $(#[doc = $doc])+ $field: $type = $default, by $type => $field }
    };
    (@setter $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr, by $taken:ty => $kept:expr) => {
        $(#[doc = $doc])+
        #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
        #[must_use]
        pub fn $field(mut self, $field: $taken) -> Self {
            self.$field = $kept;
            self
        }
    };
}

pub(crate) use settings;

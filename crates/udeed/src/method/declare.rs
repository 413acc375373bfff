//! How the settings of a method are declared.

/// Declares the settings of a method: a struct with public fields, `new` with their defaults, a setter for each, and the
/// two ways to fit. What a field means is said once and stands at the field and at its setter. Every method has the fields
/// of [`Shared`](crate::Shared); one whose ensembles all have the same size says it in brackets, and has no `members`. One
/// that says `itself` there chooses lambda, scaling and features itself: it has no such fields.
macro_rules! settings {
    (@shared $of:ident) => { $crate::method::declare::settings!(@shared $of.members, $of) };
    (@shared $of:ident $size:literal) => { $crate::method::declare::settings!(@shared $size, $of) };
    (@shared $of:ident itself) => {
        $crate::ensemble::Shared {
            members: $of.members,
            lambda: 1.0,
            scaling: $crate::prepare::Scaling::Standard,
            fourier: 0,
            seed: $of.seed,
        }
    };
    (@shared $members:expr, $of:ident) => {
        $crate::ensemble::Shared {
            members: $members,
            lambda: $of.lambda,
            scaling: $of.scaling,
            fourier: $of.fourier,
            seed: $of.seed,
        }
    };
    (@set $of:ident $shared:ident) => {
        $of.members = $shared.members;
        $crate::method::declare::settings!(@set $of $shared 0);
    };
    (@set $of:ident $shared:ident itself) => {
        $of.members = $shared.members;
        $of.seed = $shared.seed;
    };
    (@set $of:ident $shared:ident $size:literal) => {
        $of.lambda = $shared.lambda;
        $of.scaling = $shared.scaling;
        $of.fourier = $shared.fourier;
        $of.seed = $shared.seed;
    };
    (
        $(#[$about:meta])*
        $name:ident $([$size:tt])? {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        // A model that was saved before a setting existed was trained with its default.
        #[serde(default)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $crate::method::HasShared for $name {
            fn shared(&self) -> $crate::ensemble::Shared {
                $crate::method::declare::settings!(@shared self $($size)?)
            }

            fn about(&self) -> &'static [(&'static str, &'static str)] {
                &[$((stringify!($field), concat!($($doc),+))),+]
            }

            fn set_shared(&mut self, shared: $crate::ensemble::Shared) {
                $crate::method::declare::settings!(@set self shared $($size)?);
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            /// The defaults.
            pub fn new() -> Self {
                $name { $($field: $default,)+ }
            }

            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )+

            /// Checks the settings, as every fit does first.
            ///
            /// # Errors
            /// If one makes no sense.
            pub fn validate(&self) -> $crate::error::Result<()> {
                $crate::method::Learn::check(self)
            }
        }
    };
}

pub(crate) use settings;

use crate::error::{Error, Result};

/// A number of members that an ensemble can have.
pub(crate) fn check_members(members: usize, least: usize) -> Result<()> {
    if members < least {
        return Err(Error::setting("members", members, format!("at least {least}")));
    }
    if members > u32::MAX as usize {
        return Err(Error::setting("members", members, format!("at most {}", u32::MAX)));
    }
    Ok(())
}

/// A number above 0 and at most 1.
pub(crate) fn check_share(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value <= 1.0 {
        return Ok(());
    }
    Err(Error::setting(name, value, "above 0 and at most 1"))
}

/// A number above 0.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::setting(name, value, "a positive number"))
}

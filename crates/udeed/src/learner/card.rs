//! The settings of base learners: declared once, with documentation, default and range.

use serde::Serialize;

use crate::error::{Error, Result};

/// What there is to know of a base learner: see [`Base::cards`](crate::learner::Base::cards).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LearnerCard {
    /// Its name in options and files.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// Its settings.
    pub settings: Vec<LearnerSetting>,
}

/// A setting of a base learner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LearnerSetting {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The type of its values.
    pub kind: &'static str,
    /// The default, as JSON.
    pub default: String,
    /// The values that are allowed.
    pub range: &'static str,
}

/// A type that settings have.
pub(crate) trait SettingKind: Serialize {
    /// The type, in words.
    const KIND: &'static str;

    /// The number that a least one is asked of; none where there is no limit.
    fn count(&self) -> Option<usize> {
        None
    }
}

impl SettingKind for usize {
    const KIND: &'static str = "integer";

    fn count(&self) -> Option<usize> {
        Some(*self)
    }
}

impl SettingKind for Option<usize> {
    const KIND: &'static str = "integer or null";

    fn count(&self) -> Option<usize> {
        *self
    }
}

/// Refuses a number below the least.
pub(crate) fn check_least(name: &'static str, value: &impl SettingKind, least: usize) -> Result<()> {
    match value.count() {
        Some(count) if count < least => Err(Error::setting(name, count, format!("at least {least}"))),
        _ => Ok(()),
    }
}

/// The default of a setting, as JSON.
pub(crate) fn default_text<T: SettingKind>(value: &T) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |value| value.to_string())
}

/// Declares the settings of a base learner: a struct with public fields, defaults, `validate` and the settings of its card.
/// A range is `1..` for numbers from 1 on, a text for a type whose values are all allowed, or a text and the function that
/// refuses the others.
macro_rules! learner_settings {
    (@check $field:ident $value:expr, $least:literal ..) => {
        $crate::learner::card::check_least(stringify!($field), $value, $least)?
    };
    (@check $field:ident $value:expr, $range:literal) => {};
    (@check $field:ident $value:expr, $range:literal by $check:path) => { $check($value)? };
    (@range $least:literal ..) => { concat!("at least ", $least) };
    (@range $range:literal $(by $check:path)?) => { $range };
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr, in [$($range:tt)+];)+
        }
    ) => {
        $(#[$about])*
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[doc = $doc])+ #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")] pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)+ }
            }
        }

        impl $name {
            /// Checks the settings, as every fit does first.
            ///
            /// # Errors
            /// If one is out of its range.
            pub fn validate(&self) -> $crate::error::Result<()> {
                $($crate::learner::card::learner_settings!(@check $field &self.$field, $($range)+);)+
                Ok(())
            }

            /// The settings with their defaults and ranges.
            pub(super) fn declared() -> Vec<$crate::learner::LearnerSetting> {
                let defaults = Self::default();
                vec![$($crate::learner::LearnerSetting {
                    name: stringify!($field),
                    doc: concat!($($doc),+).trim_ascii(),
                    kind: <$type as $crate::learner::card::SettingKind>::KIND,
                    default: $crate::learner::card::default_text(&defaults.$field),
                    range: $crate::learner::card::learner_settings!(@range $($range)+),
                }),+]
            }
        }
    };
}

pub(crate) use learner_settings;

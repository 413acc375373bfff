//! The settings of base learners: declared once, with documentation, default and range.

use serde::Serialize;

use crate::setting::{Kind, Setting, prose};

/// Description of a base learner: see [`Base::cards`](crate::learner::Base::cards).
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LearnerCard {
    /// Its name in options and files.
    pub name: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Its settings.
    pub settings: Vec<Setting>,
}

/// A type of settings whose range is a text.
pub(crate) trait SettingKind: Serialize {
    /// `word`, or `word, count or share`.
    const KIND: &'static str;
}

/// The card entry of a setting whose range is a text, with its words in backticks.
pub(crate) fn worded<T: SettingKind>(name: &'static str, doc: &str, default: &T, range: &str) -> Setting {
    let words = range.split('`').skip(1).step_by(2).map(|word| [word.to_owned(), String::new()]).collect();
    let kind = if T::KIND == "word" { Kind::Word(words) } else { Kind::Features(words) };
    let default = serde_json::to_value(default).unwrap_or_default();
    Setting { name, doc: prose(doc), kind, range: None, default }
}

/// Declares the settings of a base learner: a struct with public fields, defaults, `validate` and the settings of its card.
/// A range is `1..` for numbers from 1 on, a text with all words in backticks, or such a text and the function that refuses
/// other values.
macro_rules! learner_settings {
    (@check $field:ident $value:expr, $least:literal ..) => {{
        use $crate::setting::{Range, SettingValue};
        $value.check(stringify!($field), Some(Range::at_least($least)))?
    }};
    (@check $field:ident $value:expr, $range:literal) => {};
    (@check $field:ident $value:expr, $range:literal by $check:path) => { $check($value)? };
    (@setting $field:ident $doc:expr, $default:expr, $least:literal ..) => {
        $crate::setting::setting(stringify!($field), $doc, $default, Some($crate::setting::Range::at_least($least)))
    };
    (@setting $field:ident $doc:expr, $default:expr, $range:literal $(by $check:path)?) => {
        $crate::learner::card::worded(stringify!($field), $doc, $default, $range)
    };
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
            pub(super) fn declared() -> Vec<$crate::setting::Setting> {
                let defaults = Self::default();
                vec![$($crate::learner::card::learner_settings!(
                    @setting $field concat!($($doc, "\n"),+), &defaults.$field, $($range)+
                )),+]
            }
        }
    };
}

pub(crate) use learner_settings;

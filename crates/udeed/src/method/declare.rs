//! The declaration of a method, from which everything else about it is derived.

/// Declares a method: its card and its settings. Generates a struct with public fields, `new` with the defaults, a setter
/// for each setting, `validate` from the ranges, serde, and the [`MethodCard`](crate::method::MethodCard).
///
/// Common settings are declared by name alone, which gives their documentation, type and default: `members`,
/// `boosted_members`, `base`, `emphasis`, `lambda`, `lambda_or_auto`, `scaling`, `fourier`, `calibrated`, `memory`, `seed`; `learning` is
/// `base`, `lambda`, `scaling`, `fourier` and `calibrated`, `boosting` these and `boosted_members`. Others are written out: documentation, name,
/// type, default, and the range of a number or the words of an enum, which is declared with them.
macro_rules! method {
    (
        $(#[doc = $about:literal])+
        $name:ident = $word:literal {
            title: $title:literal,
            python: $python:literal,
            paper: $paper:literal,
            $(streams: $streams:literal,)?
            $(grows: $grows:literal,)?
            $(labels_rows: $labels_rows:literal,)?
            $(device: $device:ty,)?
            $(size: $size:expr,)?
        }
        settings { $($settings:tt)+ }
    ) => {
        $crate::method::declare::method! {
            @munch {
                [$($about)+] $name $word $title $python $paper [$($streams)?] [$($grows)?]
                [$($labels_rows)?] [$($device)?] [$($size)?]
            } [] $($settings)+
        }
    };
    (@munch $card:tt $done:tt boosting; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done boosted_members; learning; $($rest)* }
    };
    (@munch $card:tt $done:tt learning; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done base; lambda; scaling; fourier; calibrated; $($rest)* }
    };
    (@munch $card:tt $done:tt members = $default:literal, from $least:literal; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Number of members.
            members: usize = $default, in $crate::setting::Range::at_least($least); $($rest)*
        }
    };
    (@munch $card:tt $done:tt boosted_members; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Largest number of members; boosting may stop earlier.
            members: usize = 20, in $crate::setting::Range::at_least(1); $($rest)*
        }
    };
    (@munch $card:tt $done:tt base; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Base learner of the members.
            base: $crate::learner::Base = $crate::learner::Base::Logistic; $($rest)*
        }
    };
    (@munch $card:tt $done:tt emphasis = $default:ident; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// How row weights reach the base learner: by weighting the rows, or by drawing as many as are labeled.
            emphasis: $crate::ensemble::Emphasis = $crate::ensemble::Emphasis::$default; $($rest)*
        }
    };
    (@munch $card:tt $done:tt lambda; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Inverse regularisation strength of logistic regression, scikit-learn's `C`: larger values fit the labels
            /// more closely.
            lambda: f64 = 1.0, in $crate::setting::Range::POSITIVE; $($rest)*
        }
    };
    (@munch $card:tt [$($done:tt)*] lambda_or_auto; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card [$($done)* {
            ["Inverse regularisation strength of logistic regression, scikit-learn's `C`: larger values fit the labels "
             "more closely. `auto`: chosen by out-of-bag rows."]
            lambda: $crate::method::Lambda, impl Into<$crate::method::Lambda> = $crate::method::Lambda::Fixed(1.0),
            Some($crate::setting::Range::POSITIVE)
        }] $($rest)* }
    };
    (@munch $card:tt $done:tt scaling; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Scaling of the features.
            scaling: $crate::prepare::Scaling = $crate::prepare::Scaling::MinMax; $($rest)*
        }
    };
    (@munch $card:tt $done:tt fourier; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for
            /// none. Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
            fourier: usize = 0; $($rest)*
        }
    };
    (@munch $card:tt $done:tt calibrated; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
            /// members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
            calibrated: bool = false; $($rest)*
        }
    };
    (@munch $card:tt $done:tt memory; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Limit in bytes for the similarities of rows; 0 for half of the machine's memory.
            memory: u64 = 0; $($rest)*
        }
    };
    (@munch $card:tt $done:tt seed; $($rest:tt)*) => {
        $crate::method::declare::method! { @munch $card $done
            /// Random seed.
            seed: u64 = 0; $($rest)*
        }
    };
    (
        @munch $card:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident: $type:ident = $default:ident, one of { $($words:tt)+ }; $($rest:tt)*
    ) => {
        $crate::words::words! { $(#[doc = $doc])+ pub enum $type = $default { $($words)+ } }
        $crate::method::declare::method! { @munch $card [$($done)* {
            [$($doc "\n")+] $field: $type, $type = $type::$default, None
        }] $($rest)* }
    };
    (
        @munch $card:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr, in $range:expr; $($rest:tt)*
    ) => {
        $crate::method::declare::method! { @munch $card [$($done)* {
            [$($doc "\n")+] $field: $type, $type = $default, Some($range)
        }] $($rest)* }
    };
    (
        @munch $card:tt [$($done:tt)*]
        $(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr; $($rest:tt)*
    ) => {
        $crate::method::declare::method! { @munch $card [$($done)* {
            [$($doc "\n")+] $field: $type, $type = $default, None
        }] $($rest)* }
    };
    (
        @munch {
            [$($about:literal)+] $name:ident $word:literal $title:literal $python:literal $paper:literal
            [$($streams:literal)?] [$($grows:literal)?] [$($labels_rows:literal)?] [$($device:ty)?]
            [$($size:expr)?]
        }
        [$({ [$($doc:literal)+] $field:ident: $type:ty, $taken:ty = $default:expr, $range:expr })+]
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        // Models saved before a setting existed were trained with its default.
        #[serde(default)]
        #[non_exhaustive]
        pub struct $name {
            $(#[doc = concat!($($doc),+)] pub $field: $type,)+
            // No setting: where the fit runs is no part of what it learns.
            $(#[serde(skip)] pub(crate) device: $device,)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl $name {
            /// Creates the method with its default settings.
            pub fn new() -> Self {
                $name { $($field: $default,)+ $(device: <$device>::default(),)? }
            }

            $(
                #[doc = concat!($($doc),+)]
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $taken) -> Self {
                    self.$field = $field.into();
                    self
                }
            )+

            /// Checks the settings, as every fit does first.
            ///
            /// # Errors
            /// If one is invalid.
            pub fn validate(&self) -> $crate::error::Result<()> {
                use $crate::setting::SettingValue;
                $(self.$field.check(stringify!($field), $range.or(<$type as SettingValue>::range()))?;)+
                $crate::method::Learn::check(self)
            }
        }

        impl $crate::method::Declared for $name {
            const NAME: &'static str = $word;
            const GROWS: bool = false $(|| $grows)?;

            fn card() -> $crate::method::MethodCard {
                use $crate::setting::{prose, setting};
                let defaults = $name::new();
                let about = prose(concat!($($about, "\n"),+));
                let (sentence, details) = about.split_once('\n').unwrap_or((&about, ""));
                $crate::method::MethodCard {
                    name: $word,
                    title: $title,
                    sentence: sentence.to_owned(),
                    details: details.to_owned(),
                    paper: $paper,
                    python: $python,
                    streams: false $(|| $streams)?,
                    grows: Self::GROWS,
                    labels_rows: false $(|| $labels_rows)?,
                    on_device: false $(|| <$device>::AVAILABLE)?,
                    settings: vec![
                        $(setting(stringify!($field), concat!($($doc),+), &defaults.$field, $range)),+
                    ],
                }
            }

            fn shared(&self) -> $crate::ensemble::Shared {
                let mut shared = $crate::ensemble::Shared::default();
                $(shared.members = $size;)?
                $(shared.take(stringify!($field), &self.$field);)+
                shared
            }

            fn bases_mut(&mut self) -> Vec<&mut $crate::learner::Base> {
                let mut bases = Vec::new();
                $(bases.extend($crate::learner::Base::all_in(&mut self.$field));)+
                bases
            }

            fn set_shared(&mut self, shared: &$crate::ensemble::Shared) {
                $(shared.give(stringify!($field), &mut self.$field);)+
            }
        }
    };
}

pub(crate) use method;

//! The methods, one file or folder each, and their list.

mod adaboost;
mod assemble;
pub(crate) mod auto;
mod bagging;
mod co_forest;
mod co_training;
mod declare;
mod mcssb;
mod regboost;
mod self_training;
mod semiboost;
mod setred;
mod settings;
mod ssmboost;
mod stacking;
mod tri_training;
pub(crate) mod udeed;

pub use adaboost::{AdaBoost, ZeroError};
pub use assemble::Assemble;
pub use auto::{Auto, Prior};
pub use bagging::Bagging;
pub use co_forest::CoForest;
pub use co_training::CoTraining;
pub use mcssb::Mcssb;
pub use regboost::RegBoost;
pub use self_training::SelfTraining;
pub use semiboost::{Pick, SemiBoost};
pub use setred::Setred;
pub use ssmboost::{SsmBoost, UnlabeledMargin};
pub use stacking::Stacking;
pub use tri_training::TriTraining;
pub use udeed::{EnsembleLoss, Initial, Loss, Objective, Precision, Udeed, Variant};

use serde::{Deserialize, Serialize};

use crate::ensemble::TrainingRows;
use crate::ensemble::{Learned, Shared};
use crate::error::{Error, Result};
use crate::observer::Watch;
use crate::text::{listed, quoted};

/// The settings that every method has, where they stand among its own.
pub(crate) trait HasShared {
    fn shared(&self) -> Shared;

    fn set_shared(&mut self, shared: Shared);

    /// The names of all settings of the method, and what they mean.
    fn about(&self) -> &'static [(&'static str, &'static str)];
}

/// What a method does once the rows are ready.
pub(crate) trait Learn {
    fn check(&self) -> Result<()>;

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned>;

    /// Whether a smaller ensemble is just the first members of a larger one.
    fn grows(&self) -> bool {
        true
    }
}

/// The list of methods, given to a macro. A new method is a line here.
macro_rules! with_methods {
    ($macro:ident) => {
        $macro! {
            udeed::Udeed = "udeed",
            auto::Auto = "auto",
            bagging::Bagging = "bagging",
            adaboost::AdaBoost = "adaboost",
            assemble::Assemble = "assemble",
            semiboost::SemiBoost = "semiboost",
            self_training::SelfTraining = "self-training",
            tri_training::TriTraining = "tri-training",
            co_forest::CoForest = "co-forest",
            co_training::CoTraining = "co-training",
            setred::Setred = "setred",
            ssmboost::SsmBoost = "ssmboost",
            regboost::RegBoost = "regboost",
            mcssb::Mcssb = "mcssb",
            stacking::Stacking = "stacking",
        }
    };
}

pub(crate) use with_methods;

macro_rules! methods {
    ($($module:ident::$method:ident = $name:literal,)+) => {
        /// Any method, with its settings.
        ///
        /// ```
        /// use udeed::{Bagging, Method};
        ///
        /// assert_eq!(Method::named("bagging")?, Method::from(Bagging::new()));
        /// let error = Method::named("boggling").unwrap_err();
        /// assert!(error.to_string().contains("`bagging`"));
        /// # Ok::<(), udeed::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "method")]
        #[non_exhaustive]
        pub enum Method {
            $(#[doc = concat!("See [`", stringify!($method), "`].")] #[serde(rename = $name)] $method($method),)+
        }

        impl Method {
            /// The names of all methods.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// What the method is called.
            pub fn name(&self) -> &'static str {
                match self { $(Method::$method(_) => $name,)+ }
            }

            /// The method of a name, with its defaults.
            ///
            /// # Errors
            /// If there is none of that name; the message lists those there are.
            pub fn named(name: &str) -> Result<Self> {
                match name {
                    $($name => Ok($method::new().into()),)+
                    _ => Err(Error::setting("method", quoted(name), format!("one of {}", listed(Self::NAMES)))),
                }
            }

            /// The settings that every method has.
            pub fn shared(&self) -> Shared {
                match self { $(Method::$method(settings) => settings.shared(),)+ }
            }

            /// The same method with other values of the settings that every method has. An ensemble that always has the same
            /// size keeps it.
            #[must_use]
            pub fn with_shared(mut self, shared: Shared) -> Self {
                match &mut self { $(Method::$method(settings) => settings.set_shared(shared),)+ }
                self
            }

            pub(crate) fn about(&self) -> &'static [(&'static str, &'static str)] {
                match self { $(Method::$method(settings) => settings.about(),)+ }
            }

            pub(crate) fn learner(&self) -> &dyn Learn {
                match self { $(Method::$method(settings) => settings,)+ }
            }
        }

        $(impl From<$method> for Method {
            fn from(settings: $method) -> Self {
                Method::$method(settings)
            }
        })+
    };
}

with_methods!(methods);

impl Method {
    /// Checks the settings, as every fit does first.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn validate(&self) -> Result<()> {
        self.learner().check()
    }

    /// Whether a smaller ensemble is just the first members of a larger one, see [`Model::prefix`].
    pub fn grows(&self) -> bool {
        self.learner().grows()
    }
}

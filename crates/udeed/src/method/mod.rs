//! The methods, a file or folder each, and their list.

pub mod card;
mod declare;
mod idle;
mod settings;

use std::sync::{Arc, LazyLock};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::data::Dense;
use crate::ensemble::{Learned, Shared, TrainingRows};
use crate::error::{Error, Result};
use crate::learner::Base;
use crate::memory::MUCH_MEMORY;
use crate::method::udeed::Device;
use crate::observer::Watch;
use crate::text::{listed, quoted};

pub use crate::ensemble::Lambda;
pub use card::MethodCard;

/// Passes the list of methods to a macro. A new method is a line here.
macro_rules! with_methods {
    ($macro:ident) => {
        $macro! {
            udeed::Udeed,
            auto::Auto,
            bagging::Bagging,
            adaboost::AdaBoost,
            assemble::Assemble,
            semiboost::SemiBoost,
            self_training::SelfTraining,
            tri_training::TriTraining,
            co_forest::CoForest,
            co_training::CoTraining,
            setred::Setred,
            ssmboost::SsmBoost,
            regboost::RegBoost,
            mcssb::Mcssb,
            stacking::Stacking,
            label_spreading::LabelSpreading,
            extra_trees::ExtraTrees,
        }
    };
}

pub(crate) use with_methods;

/// The part of a method that its declaration generates, see `declare.rs`.
pub(crate) trait Declared {
    const NAME: &'static str;
    const GROWS: bool;

    fn card() -> MethodCard;

    fn shared(&self) -> Shared;

    fn set_shared(&mut self, shared: &Shared);

    fn bases_mut(&mut self) -> Vec<&mut Base>;
}

/// The learning of a method from prepared rows.
pub(crate) trait Learn {
    /// Refuses settings that contradict each other. The range of each is checked before.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned>;

    /// The class probabilities of each labeled row by the members that did not learn from it, see
    /// [`estimates`](crate::ensemble::out_of_bag::estimates); none for a method without bootstraps.
    ///
    /// # Errors
    /// If the bootstraps take too much memory.
    fn out_of_bag(&self, _prepared: &TrainingRows, learned: &Learned) -> Result<Option<Dense>> {
        Ok(learned.out_of_bag.clone())
    }

    /// The memory in bytes that the similarities of the rows take; none for a method without similarities.
    fn similarity_bytes(&self, _n_labeled: usize, _n_unlabeled: usize) -> Option<u64> {
        None
    }
}

/// The settings of a method, preceded by its name.
#[derive(Serialize)]
struct Named<'a, T> {
    method: &'static str,
    #[serde(flatten)]
    settings: &'a T,
}

macro_rules! methods {
    ($($module:ident::$method:ident,)+) => {
        $(pub mod $module;)+

        $(pub use $module::$method;)+

        /// The settings of all methods, for the prelude.
        pub(crate) mod all {
            $(pub use super::$module::$method;)+
        }

        /// Any of the methods, with its settings.
        ///
        /// ```
        /// use udeed::prelude::*;
        ///
        /// assert_eq!(Method::named("bagging")?, Method::from(Bagging::new()));
        /// let error = Method::named("boggling").unwrap_err();
        /// assert!(error.to_string().contains("`bagging`"));
        /// # Ok::<(), udeed::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Method {
            $(#[doc = concat!("See [`", stringify!($method), "`].")] $method($method),)+
        }

        impl Method {
            /// The names of all methods.
            pub const NAMES: &'static [&'static str] = &[$($method::NAME),+];

            /// The name of the method.
            pub fn name(&self) -> &'static str {
                match self { $(Method::$method(_) => $method::NAME,)+ }
            }

            /// The method of that name, with default settings.
            ///
            /// # Errors
            /// If there is none; the message lists all names.
            pub fn named(name: &str) -> Result<Self> {
                $(if name == $method::NAME {
                    return Ok($method::new().into());
                })+
                Err(Error::setting("method", quoted(name), format!("one of {}", listed(Self::NAMES))))
            }

            /// The settings that most methods have.
            pub fn shared(&self) -> Shared {
                match self { $(Method::$method(settings) => settings.shared(),)+ }
            }

            /// The same method with other values of the shared settings, as far as it has them.
            #[must_use]
            pub fn with_shared(mut self, shared: Shared) -> Self {
                match &mut self { $(Method::$method(settings) => settings.set_shared(&shared),)+ }
                self
            }

            /// The base learners among the settings.
            pub fn bases_mut(&mut self) -> Vec<&mut Base> {
                match self { $(Method::$method(settings) => settings.bases_mut(),)+ }
            }

            /// Checks the settings, as every fit does first.
            ///
            /// # Errors
            /// If one is invalid.
            pub fn validate(&self) -> Result<()> {
                match self { $(Method::$method(settings) => settings.validate(),)+ }
            }

            /// Whether the first members of an ensemble are the ensemble of that size, see
            /// [`Model::prefix`](crate::model::Model::prefix).
            pub fn grows(&self) -> bool {
                match self { $(Method::$method(_) => $method::GROWS,)+ }
            }

            /// The cards of all methods, in the order of [`Method::NAMES`].
            pub fn cards() -> &'static [MethodCard] {
                static CARDS: LazyLock<Vec<MethodCard>> = LazyLock::new(|| vec![$($method::card()),+]);
                &CARDS
            }

            pub(crate) fn learner(&self) -> &dyn Learn {
                match self { $(Method::$method(settings) => settings,)+ }
            }

            fn from_settings(name: &str, settings: Value) -> serde_json::Result<Option<Self>> {
                $(if name == $method::NAME {
                    return serde_json::from_value::<$method>(settings).map(|settings| Some(settings.into()));
                })+
                Ok(None)
            }
        }

        impl Serialize for Method {
            fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                match self {
                    $(Method::$method(settings) => Named { method: $method::NAME, settings }.serialize(to),)+
                }
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
    /// Bytes of similarities above which a fit warns.
    pub const MUCH_MEMORY: u64 = MUCH_MEMORY;

    /// The memory in bytes that the similarities of the rows take; none for a method without similarities.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let bytes = |method: Method| method.similarity_bytes(1000, 9000);
    /// assert!(bytes(SemiBoost::new().into()) < bytes(SemiBoost::new().neighbors(0).into()));
    /// assert_eq!(bytes(Bagging::new().into()), None);
    /// ```
    pub fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        self.learner().similarity_bytes(n_labeled, n_unlabeled)
    }

    /// The same method on a device, see [`Udeed::on`].
    ///
    /// # Errors
    /// If the method cannot run on one; the message names those that can.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let on: Vec<&str> = Method::cards().iter().filter(|card| card.on_device).map(|card| card.name).collect();
    /// assert_eq!(on, ["udeed"]);
    /// let error = Method::from(Bagging::new()).check_device("cuda").unwrap_err();
    /// assert_eq!(error.to_string(), "`device` is `cuda` for method `bagging`, expected `cpu`, or method `udeed`");
    /// ```
    pub fn on(self, device: Arc<dyn Device>) -> Result<Self> {
        self.check_device(&device.name())?;
        Ok(match self {
            Method::Udeed(settings) => settings.on(device).into(),
            other => other,
        })
    }

    /// Checks that the method can run on a device of some name, which need not be there.
    ///
    /// # Errors
    /// As [`Method::on`].
    pub fn check_device(&self, device: &str) -> Result<()> {
        if self.card().on_device {
            return Ok(());
        }
        let able: Vec<&str> = Self::cards().iter().filter(|card| card.on_device).map(|card| card.name).collect();
        let found = format!("{} for method {}", quoted(device), quoted(self.name()));
        Err(Error::setting("device", found, format!("`cpu`, or method {}", listed(&able))))
    }

    /// The card of the method.
    pub fn card(&self) -> &'static MethodCard {
        let place = Self::NAMES.iter().position(|name| *name == self.name());
        &Self::cards()[place.unwrap_or_default()]
    }
}

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let mut settings = Value::deserialize(from)?;
        let name = settings.get_mut("method").map(Value::take).unwrap_or_default();
        let name = name.as_str().ok_or_else(|| D::Error::custom("no name of a method"))?;
        let method = Method::from_settings(name, settings).map_err(D::Error::custom)?;
        let expected = || format!("method {}, expected one of {}", quoted(name), listed(Self::NAMES));
        method.ok_or_else(|| D::Error::custom(expected()))
    }
}

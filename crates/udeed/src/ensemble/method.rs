//! The list of methods, and what each must be able to do.

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::ensemble::{
    AdaBoost, Assemble, Bagging, Members, Observer, Prepared, SemiBoost, StageSummary, Training, Udeed, Vote, Warning,
};
use crate::error::{Error, Result, listed, quoted};
use crate::model::Model;
use crate::prepare::Scaling;

/// The settings that every method has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// How many members the ensemble has at most.
    pub members: usize,
    /// How much the labels count against small weights in logistic regression.
    pub lambda: f64,
    /// How features are scaled.
    pub scaling: Scaling,
    /// What all random draws follow from.
    pub seed: u64,
}

/// What a method does once the rows are ready.
pub(crate) trait Learn {
    fn check(&self) -> Result<()>;

    fn learn(&self, prepared: &Prepared, observer: &mut dyn Observer) -> Result<Learned>;
}

/// What came out of a method.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    pub(crate) members: Members,
    /// What each vote counts.
    pub(crate) weights: Vec<f64>,
    pub(crate) vote: Vote,
    /// The members before a descent.
    pub(crate) initial: Option<Members>,
    pub(crate) stages: Vec<StageSummary>,
    pub(crate) warnings: Vec<Warning>,
}

impl Learned {
    /// An ensemble whose members count alike.
    pub(crate) fn alike(members: Members, vote: Vote) -> Self {
        Learned {
            weights: vec![1.0; members.n_members()],
            members,
            vote,
            initial: None,
            stages: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

macro_rules! methods {
    ($($method:ident = $name:literal),+ $(,)?) => {
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
                match self {
                    $(Method::$method(settings) => Shared {
                        members: settings.members,
                        lambda: settings.lambda,
                        scaling: settings.scaling,
                        seed: settings.seed,
                    },)+
                }
            }

            /// The same method with other values of the settings that every method has.
            #[must_use]
            pub fn with_shared(mut self, shared: Shared) -> Self {
                match &mut self {
                    $(Method::$method(settings) => {
                        settings.members = shared.members;
                        settings.lambda = shared.lambda;
                        settings.scaling = shared.scaling;
                        settings.seed = shared.seed;
                    })+
                }
                self
            }

            fn learner(&self) -> &dyn Learn {
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

methods! {
    Udeed = "udeed",
    Bagging = "bagging",
    AdaBoost = "adaboost",
    Assemble = "assemble",
    SemiBoost = "semiboost",
}

impl Method {
    /// Checks the settings, as every fit does first.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn validate(&self) -> Result<()> {
        self.learner().check()
    }

    /// Learns an ensemble.
    ///
    /// # Errors
    /// If a setting makes no sense, or the rows cannot be learned from.
    pub fn fit(&self, train: &TrainSet) -> Result<Model> {
        self.fit_observed(train, &mut ())
    }

    /// Learns an ensemble while an observer looks on.
    ///
    /// # Errors
    /// As [`Method::fit`]; also [`Error::Stopped`] if the observer ends it before there is an ensemble.
    pub fn fit_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Model> {
        self.validate()?;
        let prepared = Prepared::new(train, self.shared())?;
        let learned = self.learner().learn(&prepared, observer)?;
        Ok(prepared.model(self.clone(), learned))
    }
}

impl Prepared {
    /// The model that a method made of these rows.
    pub(crate) fn model(&self, method: Method, learned: Learned) -> Model {
        let positive = self.targets.iter().filter(|&&y| y > 0.0).count();
        Model {
            preparation: self.preparation.clone(),
            classes: self.classes.clone(),
            label: self.label.clone(),
            method,
            training: Training {
                n_labeled: self.targets.len(),
                class_counts: vec![self.targets.len() - positive, positive],
                n_unlabeled: self.unlabeled.n_rows(),
                n_features: self.preparation.n_features(),
                stages: learned.stages,
                warnings: learned.warnings,
            },
            members: learned.members,
            weights: learned.weights,
            vote: learned.vote,
            initial: learned.initial,
            logistic: self.logistic.clone(),
        }
    }
}

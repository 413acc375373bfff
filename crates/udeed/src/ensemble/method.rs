//! The list of methods, and what each must be able to do.

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::ensemble::{
    AdaBoost, Assemble, Auto, Bagging, CoForest, CoTraining, Ensemble, Findings, Mcssb, Observer, Prepared, RegBoost,
    SelfTraining, SemiBoost, Setred, SsmBoost, Stacking, StageSummary, Training, TriTraining, Udeed, Warning, Watch,
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
    /// How many random Fourier features the members see; 0 for none.
    pub fourier: usize,
    /// What all random draws follow from.
    pub seed: u64,
}

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

    fn learn(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned>;

    /// Whether a smaller ensemble is just the first members of a larger one.
    fn grows(&self) -> bool {
        true
    }
}

/// What came out of a method.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    pub(crate) ensemble: Ensemble,
    /// The ensemble before a descent.
    pub(crate) initial: Option<Ensemble>,
    pub(crate) stages: Vec<StageSummary>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) findings: Option<Findings>,
}

impl Learned {
    /// Says something worth knowing, now and with the model, once.
    pub(crate) fn warn(&mut self, warning: impl IntoIterator<Item = Warning>, watch: &Watch<'_>) {
        for warning in warning {
            if !self.warnings.contains(&warning) {
                watch.warn(&warning);
                self.warnings.push(warning);
            }
        }
    }
}

impl From<Ensemble> for Learned {
    fn from(ensemble: Ensemble) -> Self {
        Learned { ensemble, initial: None, stages: Vec::new(), warnings: Vec::new(), findings: None }
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
    Auto = "auto",
    Bagging = "bagging",
    AdaBoost = "adaboost",
    Assemble = "assemble",
    SemiBoost = "semiboost",
    SelfTraining = "self-training",
    TriTraining = "tri-training",
    CoForest = "co-forest",
    CoTraining = "co-training",
    Setred = "setred",
    SsmBoost = "ssmboost",
    RegBoost = "regboost",
    Mcssb = "mcssb",
    Stacking = "stacking",
}

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
        let watch = Watch::new(observer);
        let prepared = Prepared::new(train, self.shared(), &watch)?;
        let (method, prepared, found) = self.clone().with_chosen_lambda(prepared, &watch)?;
        let mut learned = method.learner().learn(&prepared, &watch)?;
        learned.findings = learned.findings.or(found);
        Ok(prepared.model(method, learned))
    }
}

impl Prepared {
    /// The model that a method made of these rows.
    pub(crate) fn model(&self, method: Method, learned: Learned) -> Model {
        let mut class_counts = vec![0; self.n_classes()];
        self.codes.iter().for_each(|&class| class_counts[usize::from(class)] += 1);
        Model {
            preparation: self.preparation.clone(),
            classes: self.classes.clone(),
            label: self.label.clone(),
            method,
            training: Training {
                n_labeled: self.codes.len(),
                class_counts,
                n_unlabeled: self.unlabeled.n_rows(),
                n_features: self.preparation.n_features(),
                stages: learned.stages,
                warnings: learned.warnings,
                findings: learned.findings,
            },
            ensemble: learned.ensemble,
            initial: learned.initial,
            logistic: self.logistic(),
            threshold: 0.0,
        }
    }
}

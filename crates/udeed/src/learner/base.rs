//! Which base learner a method uses.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::learner::{GaussianBayes, Learner, Logistic, NearestNeighbors, TreeSettings};
use crate::learner::{Hypothesis, Sample};
use crate::observer::Watch;
use crate::text::{listed, quoted};

/// Which base learner makes the members, with its settings.
///
/// ```
/// use udeed::{AdaBoost, Base, TreeSettings, built_in};
///
/// let stumps = Base::Tree(TreeSettings { depth: Some(1), ..TreeSettings::default() });
/// let train = built_in("diabetes")?.read()?.into_train()?;
/// let model = AdaBoost::new().base(stumps).fit(&train)?;
/// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.75);
/// assert_eq!(Base::named("bayes")?, Base::Bayes);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Base {
    /// Logistic regression; its lambda is a setting of every method.
    #[default]
    Logistic,
    /// A decision tree.
    Tree(TreeSettings),
    /// So many nearest neighbours.
    Neighbors(NearestNeighbors),
    /// Naive Bayes, each feature normally distributed in each class.
    Bayes,
}

/// By its name alone, or with settings.
impl<'de> Deserialize<'de> for Base {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let other = || D::Error::custom(format!("no base learner, expected one of {}", listed(Base::NAMES)));
        let only = match Value::deserialize(from)? {
            Value::String(name) => return Base::named(&name).map_err(D::Error::custom),
            Value::Object(settings) if settings.len() == 1 => settings.into_iter().next(),
            _ => None,
        };
        match only {
            Some((name, settings)) if name == "tree" => serde_json::from_value(settings).map(Base::Tree),
            Some((name, settings)) if name == "neighbors" => serde_json::from_value(settings).map(Base::Neighbors),
            _ => return Err(other()),
        }
        .map_err(D::Error::custom)
    }
}

impl Base {
    /// The names of all base learners.
    pub const NAMES: &'static [&'static str] = &["logistic", "tree", "neighbors", "bayes"];

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Base::Logistic => "logistic",
            Base::Tree(_) => "tree",
            Base::Neighbors(_) => "neighbors",
            Base::Bayes => "bayes",
        }
    }

    /// The base learner of a name, with its defaults.
    ///
    /// # Errors
    /// If there is none of that name; the message lists those there are.
    pub fn named(name: &str) -> Result<Self> {
        Self::all()
            .into_iter()
            .find(|base| base.name() == name)
            .ok_or_else(|| Error::setting("base", quoted(name), format!("one of {}", listed(Self::NAMES))))
    }

    /// One of each, with their defaults.
    pub fn all() -> Vec<Self> {
        vec![
            Base::Logistic,
            Base::Tree(TreeSettings::default()),
            Base::Neighbors(NearestNeighbors::default()),
            Base::Bayes,
        ]
    }

    /// Checks its settings.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn validate(&self) -> Result<()> {
        match self {
            Base::Tree(tree) => tree.validate(),
            Base::Neighbors(neighbors) => neighbors.validate(),
            Base::Logistic | Base::Bayes => Ok(()),
        }
    }

    /// The learner; `lambda` is for logistic regression, which can be stopped.
    pub(crate) fn learner<'a>(&self, lambda: f64, watch: &'a Watch<'_>) -> Box<dyn Learner + 'a> {
        match self {
            Base::Logistic => Box::new(Watched { learner: Logistic { lambda }, watch }),
            Base::Tree(tree) => Box::new(tree.clone()),
            Base::Neighbors(neighbors) => Box::new(*neighbors),
            Base::Bayes => Box::new(GaussianBayes),
        }
    }
}

/// Logistic regression that can be stopped.
pub(crate) struct Watched<'a, 'b> {
    pub(crate) learner: Logistic,
    pub(crate) watch: &'a Watch<'b>,
}

impl Learner for Watched<'_, '_> {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        self.learner.fit_heads(sample, None, self.watch)
    }

    fn relearn(&self, sample: &Sample<'_>, similar: &Hypothesis) -> Result<Hypothesis> {
        let Hypothesis::Linear(similar) = similar else { return self.learn(sample) };
        self.learner.fit_heads(sample, Some(similar), self.watch)
    }
}

//! Learners from outside the library, which make members of its ensembles as its own do.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::{Dense, Rows};
use crate::error::{Error, Result};
use crate::learner::{Hypothesis, Learned, Learner, Sample, Shape};
use crate::tensor::{TensorReader, TensorWriter};
use crate::text::quoted;

/// The hypothesis of a learner from outside the library.
pub trait Predict: Any + Send + Sync {
    /// The probability of each class for each row, one column a class.
    ///
    /// # Errors
    /// If the rows cannot be predicted, see [`Error::learner`].
    fn distributions(&self, rows: &dyn Rows) -> Result<Dense>;
}

/// A learner from outside the library as a base learner, by a name for messages. Learners of the same name are equal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ForeignLearner {
    name: String,
    /// None where only the name is known: settings as text hold no more.
    #[serde(skip)]
    learner: Option<Arc<dyn Learner>>,
}

impl ForeignLearner {
    /// The name in settings.
    pub(crate) const KIND: &'static str = "foreign";

    pub(crate) fn new(name: impl Into<String>, learner: Arc<dyn Learner>) -> Self {
        ForeignLearner { name: name.into(), learner: Some(learner) }
    }

    /// The same name for a learner.
    pub fn put(&mut self, learner: Arc<dyn Learner>) {
        self.learner = Some(learner);
    }
}

impl fmt::Debug for ForeignLearner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ForeignLearner").field(&self.name).finish()
    }
}

impl PartialEq for ForeignLearner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Learner for ForeignLearner {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        match &self.learner {
            Some(learner) => learner.learn(sample),
            None => Err(Error::setting("base", quoted(&self.name), "a learner: this is the name of one")),
        }
    }
}

/// The hypothesis of a learner from outside the library, for a number of classes.
#[derive(Clone)]
pub struct Foreign {
    n_classes: usize,
    /// None in a model file, which does not hold it.
    pub(crate) predictor: Option<Arc<dyn Predict>>,
}

impl Foreign {
    pub(crate) fn new(n_classes: usize, predictor: Arc<dyn Predict>) -> Self {
        Foreign { n_classes, predictor: Some(predictor) }
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("n_classes", &self.n_classes).finish_non_exhaustive()
    }
}

/// Equal where it is the same one.
impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        match (&self.predictor, &other.predictor) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

/// Largest rounding error of the sum of probabilities.
const ROUNDING: f64 = 1e-6;

/// Makes probabilities of a row sum to 1: methods compare them with thresholds. Where all are 0, nothing is known.
fn whole(row: &mut [f64]) {
    let sum: f64 = row.iter().sum();
    if sum == 0.0 {
        row.fill(1.0 / row.len() as f64);
    } else if (sum - 1.0).abs() > 1e-12 {
        row.iter_mut().for_each(|p| *p /= sum);
    }
}

impl Learned for Foreign {
    const NAME: &'static str = ForeignLearner::KIND;

    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        let expected = (rows.n_rows(), self.n_classes);
        if rows.n_rows() == 0 {
            return Dense::zeros(0, self.n_classes);
        }
        let predictor = self.predictor.as_ref().ok_or(Error::Stopped)?;
        let mut table = predictor.distributions(rows)?;
        let found = (table.n_rows(), table.n_columns());
        if found != expected {
            let text = format!("found probabilities of {} rows and {} classes", found.0, found.1);
            return Err(Error::learner(format!("{text}, expected {} and {}", expected.0, expected.1)));
        }
        // What adds up in single precision may be a little more than 1.
        if let Some(wrong) = table.values().iter().find(|p| !(0.0..1.0 + ROUNDING).contains(*p)) {
            return Err(Error::learner(format!("found a probability of {wrong}, expected numbers from 0 to 1")));
        }
        table.rows_mut().for_each(whole);
        Ok(table)
    }

    fn store(&self, _: &mut TensorWriter<'_>) -> Value {
        json!({ "classes": self.n_classes })
    }

    fn load(_: Value, _: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        Some(Foreign { n_classes: shape.n_classes, predictor: None })
    }
}

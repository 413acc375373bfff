//! Base learners, one file each.

mod batch;
mod cholesky;
mod logistic;

pub use logistic::{Logistic, LogisticFit};

pub(crate) use batch::Batch;

use crate::data::Rows;
use crate::ensemble::Members;
use crate::error::Result;
use crate::kernel::{in_memory, map_rows};

/// A base learner: what the members of a boosted ensemble are made by.
///
/// ```
/// use udeed::{Dense, Learner, Logistic};
///
/// let learner: &dyn Learner = &Logistic { lambda: 1.0 };
/// let rows = Dense::new(2, 1, vec![0.0, 1.0])?;
/// let member = learner.learn(&rows, &[-1.0, 1.0], &[5.0, 5.0])?;
/// assert_eq!(member.classify(&rows), [-1.0, 1.0]);
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Learner: Send + Sync {
    /// Learns from rows with targets -1 and 1, each counting as much as its weight says, 0 meaning not at all.
    ///
    /// # Errors
    /// If the rows cannot be learned from.
    fn learn(&self, rows: &dyn Rows, targets: &[f64], weights: &[f64]) -> Result<Hypothesis>;

    /// Like [`Learner::learn`], given something similar that was learned before. What is learned is the same, but a search
    /// that begins there may be short.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    fn relearn(&self, rows: &dyn Rows, targets: &[f64], weights: &[f64], _similar: &Hypothesis) -> Result<Hypothesis> {
        self.learn(rows, targets, weights)
    }
}

impl Learner for Logistic {
    fn learn(&self, rows: &dyn Rows, targets: &[f64], weights: &[f64]) -> Result<Hypothesis> {
        Ok(Hypothesis::Linear(self.fit(rows, targets, weights, None)?.weights))
    }

    fn relearn(&self, rows: &dyn Rows, targets: &[f64], weights: &[f64], similar: &Hypothesis) -> Result<Hypothesis> {
        let Hypothesis::Linear(start) = similar;
        Ok(Hypothesis::Linear(self.fit(rows, targets, weights, Some(start))?.weights))
    }
}

/// What a base learner learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Hypothesis {
    /// Weights of the features, that of the constant one last.
    Linear(Vec<f64>),
}

impl Hypothesis {
    /// The class of each row, -1 or 1.
    pub fn classify(&self, rows: &dyn Rows) -> Vec<f64> {
        match self {
            Hypothesis::Linear(weights) => in_memory(map_rows(rows, weights, 1, |scores| sign(scores[0]))),
        }
    }

    /// Members side by side.
    pub(crate) fn pack(members: &[Hypothesis]) -> Members {
        let rows: Vec<Vec<f64>> = members.iter().map(|Hypothesis::Linear(weights)| weights.clone()).collect();
        Members::from_rows(&rows)
    }
}

/// The class that a score stands for; a tie is 1.
pub(crate) fn sign(score: f64) -> f64 {
    if score >= 0.0 { 1.0 } else { -1.0 }
}

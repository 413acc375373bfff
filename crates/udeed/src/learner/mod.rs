//! Base learners, one file each.

mod base;
mod bayes;
mod hypothesis;
mod linear;
mod logistic;
mod neighbors;
mod network;
pub(crate) mod sample;
#[cfg(test)]
mod scikit_learn;
pub(crate) mod tree;

pub use base::Base;
pub use bayes::{Bayes, GaussianBayes};
pub use hypothesis::Hypothesis;
pub use linear::Linear;
pub use logistic::{Logistic, LogisticFit};
pub use neighbors::{NearestNeighbors, Neighbors};
pub use network::Network;
pub use tree::{Criterion, SplitFeatures, Tree, TreeSettings};

pub(crate) use hypothesis::{likeliest, winner};
pub(crate) use linear::normalise;
pub(crate) use logistic::Batch;
pub(crate) use network::{from_lanes, random as random_network, to_lanes, walk as walk_networks};

use rayon::prelude::*;

use crate::data::Rows;
use crate::error::Result;
use crate::learner::tree::SortedColumns;
use crate::observer::Watch;

/// What a base learner learns from.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The rows.
    pub rows: &'a dyn Rows,
    /// The class of each, below `n_classes`.
    pub classes: &'a [u8],
    /// How many classes there are, whether or not all occur.
    pub n_classes: usize,
    /// How much each row counts, 0 meaning not at all.
    pub weights: &'a [f64],
    /// What the draws of the learner follow from, if it makes any.
    pub seed: u64,
}

/// A base learner: what the members of most ensembles are made by.
///
/// ```
/// use udeed::{Dense, Learner, Logistic, Sample};
///
/// let learner: &dyn Learner = &Logistic { lambda: 1.0 };
/// let rows = Dense::new(3, 1, vec![0.0, 1.0, 2.0])?;
/// let sample = Sample { rows: &rows, classes: &[0, 1, 1], n_classes: 2, weights: &[5.0; 3], seed: 0 };
/// assert_eq!(learner.learn(&sample)?.classify(&rows), [0, 1, 1]);
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Learner: Send + Sync {
    /// Learns from rows of known classes.
    ///
    /// # Errors
    /// If the rows cannot be learned from.
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis>;

    /// Like [`Learner::learn`], given something similar that was learned before. What is learned is the same, but a search
    /// that begins there may be short.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    fn relearn(&self, sample: &Sample<'_>, _similar: &Hypothesis) -> Result<Hypothesis> {
        self.learn(sample)
    }

    /// Learns from the same rows several times, each time with rows that count as often as `counts` says. The draws of the
    /// learner follow from the seeds after that of the sample.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    fn learn_each(&self, sample: &Sample<'_>, counts: &[Vec<u8>]) -> Result<Vec<Hypothesis>> {
        let learn = |(k, counts): (usize, &Vec<u8>)| {
            let weights = sample.resampled(counts);
            self.learn(&Sample { weights: &weights, seed: sample.seed.wrapping_add(k as u64), ..*sample })
        };
        counts.par_iter().enumerate().map(learn).collect()
    }
}

impl Sample<'_> {
    /// The weight of each row that is repeated as often as `counts` says.
    pub(crate) fn resampled(&self, counts: &[u8]) -> Vec<f64> {
        counts.iter().zip(self.weights).map(|(&count, weight)| f64::from(count) * weight).collect()
    }

    /// How many scores tell the classes apart: one for two, else one a class.
    pub(crate) fn n_heads(&self) -> usize {
        n_heads(self.n_classes)
    }

    /// 1 for rows of the class that a score is about, -1 for others.
    pub(crate) fn targets(&self, head: usize) -> Vec<f64> {
        targets(self.classes, self.n_classes, head)
    }
}

/// How many scores tell classes apart: one for two, else one a class.
pub(crate) fn n_heads(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// 1 for rows of the class that a score is about, -1 for others. The one score of two classes is about the second.
pub(crate) fn targets(classes: &[u8], n_classes: usize, head: usize) -> Vec<f64> {
    let about = if n_classes == 2 { 1 } else { head };
    classes.iter().map(|&class| if usize::from(class) == about { 1.0 } else { -1.0 }).collect()
}

impl Learner for Logistic {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        self.fit_heads(sample, None, &Watch::new(&mut ()))
    }

    fn relearn(&self, sample: &Sample<'_>, similar: &Hypothesis) -> Result<Hypothesis> {
        let Hypothesis::Linear(similar) = similar else { return self.learn(sample) };
        self.fit_heads(sample, Some(similar), &Watch::new(&mut ()))
    }
}

impl Logistic {
    /// A score for each question. The search can be stopped.
    pub(crate) fn fit_heads(
        &self,
        sample: &Sample<'_>,
        start: Option<&Linear>,
        watch: &Watch<'_>,
    ) -> Result<Hypothesis> {
        let fit = |head: usize| {
            let start = start.and_then(|start| start.heads().get(head)).map(Vec::as_slice);
            let targets = sample.targets(head);
            Ok(self.fit_watched(sample.rows, &targets, sample.weights, start, watch)?.weights)
        };
        let heads: Result<Vec<Vec<f64>>> = (0..sample.n_heads()).map(fit).collect();
        Ok(Hypothesis::Linear(Linear::new(heads?)))
    }
}

impl Learner for TreeSettings {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        Ok(Hypothesis::Tree(self.fit(sample)?))
    }

    fn learn_each(&self, sample: &Sample<'_>, counts: &[Vec<u8>]) -> Result<Vec<Hypothesis>> {
        let columns = SortedColumns::new(sample.rows)?;
        let learn = |(k, counts): (usize, &Vec<u8>)| {
            let weights = sample.resampled(counts);
            let sample = Sample { weights: &weights, seed: sample.seed.wrapping_add(k as u64), ..*sample };
            Ok(Hypothesis::Tree(self.fit_sorted(&columns, &sample)?))
        };
        counts.par_iter().enumerate().map(learn).collect()
    }
}

impl Learner for NearestNeighbors {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        Ok(Hypothesis::Neighbors(self.fit(sample)?))
    }
}

impl Learner for GaussianBayes {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        Ok(Hypothesis::Bayes(self.fit(sample)?))
    }
}

//! Base learners: one file each, and one line in the list below.
//!
//! The file of a base learner has its settings (`card.rs`), how it learns (`Learner`, and `BaseLearner` in `base.rs`) and
//! what it learned: how that predicts, and how a model file holds it (`Learned` in `hypothesis.rs`).

/// Calls a macro with the list of base learners: [`Base`] and [`Hypothesis`] are made of it.
macro_rules! with_learners {
    ($make:ident) => {
        $make! {
            // The name in `Base`; its settings in parentheses, or the learner itself where it has none; what it learns.
            bases {
                Logistic = Logistic => Linear;
                Tree(TreeSettings) => Tree;
                Neighbors(NearestNeighbors) => Neighbors;
                Bayes = GaussianBayes => Bayes;
            }
            // Hypotheses of learners that are no setting of a method.
            others { Network; Foreign; }
        }
    };
}

/// Implements `Learner` for a learner whose own `fit` makes what it learns.
macro_rules! learns {
    ($learner:ty => $learned:ident) => {
        impl crate::learner::Learner for $learner {
            fn learn(&self, sample: &crate::learner::Sample<'_>) -> crate::error::Result<crate::learner::Hypothesis> {
                Ok(crate::learner::Hypothesis::$learned(self.fit(sample)?))
            }
        }
    };
}

mod base;
mod bayes;
mod card;
mod foreign;
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
pub use card::LearnerCard;
pub use foreign::{ForeignLearner, Predict};
pub use hypothesis::Hypothesis;
pub use neighbors::NearestNeighbors;
pub use tree::{Criterion, SplitFeatures, Thresholds, TreeSettings};

pub(crate) use bayes::{Bayes, GaussianBayes};
pub(crate) use foreign::Foreign;
pub(crate) use hypothesis::{Learned, Shape, StoredHypothesis, winner};
pub(crate) use linear::{Linear, normalise};
pub(crate) use logistic::{Batch, Logistic};
pub(crate) use neighbors::Neighbors;
pub(crate) use network::{Network, from_lanes, random as random_network, to_lanes, walk as walk_networks};
pub(crate) use tree::Tree;

use crate::data::Rows;
use crate::error::Result;
use crate::parallel;

/// Training rows of a base learner.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The rows.
    pub rows: &'a dyn Rows,
    /// The class of each, below `n_classes`.
    pub classes: &'a [u8],
    /// Number of classes, whether or not all occur.
    pub n_classes: usize,
    /// The weight of each row; a row of weight 0 is left out.
    pub weights: &'a [f64],
    /// Random seed of learners that draw.
    pub seed: u64,
}

/// A base learner: makes the members of most ensembles.
///
/// A learner of your own, or of another library, is a [`Base::foreign`] of every method that has a base learner:
///
/// ```
/// use udeed::data::Rows;
/// use udeed::learner::{Hypothesis, Learner, Predict, Sample};
/// use udeed::prelude::*;
///
/// /// The nearest class mean.
/// struct Centroids;
///
/// impl Learner for Centroids {
///     fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
///         let mut means = vec![vec![0.0; sample.rows.n_columns()]; sample.n_classes];
///         let mut totals = vec![0.0; sample.n_classes];
///         for i in 0..sample.rows.n_rows() {
///             let (class, weight) = (usize::from(sample.classes[i]), sample.weights[i]);
///             totals[class] += weight;
///             sample.rows.row(i).for_each(|j, x| means[class][j] += weight * x);
///         }
///         means.iter_mut().zip(totals).for_each(|(mean, total)| mean.iter_mut().for_each(|x| *x /= f64::max(total, 1e-9)));
///         Ok(Hypothesis::foreign(sample.n_classes, Means(means)))
///     }
/// }
///
/// struct Means(Vec<Vec<f64>>);
///
/// impl Predict for Means {
///     fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
///         let mut values = Vec::new();
///         for i in 0..rows.n_rows() {
///             let mut row = vec![0.0; rows.n_columns()];
///             rows.row(i).for_each(|j, x| row[j] = x);
///             let far = |mean: &Vec<f64>| mean.iter().zip(&row).map(|(m, x)| (m - x) * (m - x)).sum::<f64>();
///             let near: Vec<f64> = self.0.iter().map(|mean| (-far(mean)).exp()).collect();
///             values.extend(near.iter().map(|p| p / near.iter().sum::<f64>()));
///         }
///         Dense::new(rows.n_rows(), self.0.len(), values)
///     }
/// }
///
/// let train = built_in("vote")?.read()?.into_train()?;
/// let model = Bagging::new().members(10).base(Base::foreign("centroids", Centroids)).fit(&train)?;
/// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.85);
/// assert!(model.save("model.safetensors").unwrap_err().to_string().contains("a learner from outside"));
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Learner: Send + Sync {
    /// Learns from rows of known classes.
    ///
    /// # Errors
    /// If the rows cannot be learned from.
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis>;

    /// Like [`Learner::learn`], starting from a similar hypothesis: the result is the same, but may be found in less time.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    fn relearn(&self, sample: &Sample<'_>, _similar: &Hypothesis) -> Result<Hypothesis> {
        self.learn(sample)
    }

    /// Learns from several bootstraps of the same rows; `counts` says how often each row was drawn. The random seeds are that
    /// of the sample and those after it.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    fn learn_each(&self, sample: &Sample<'_>, counts: &[Vec<u8>]) -> Result<Vec<Hypothesis>> {
        let learn = |k: usize| {
            let weights = sample.repeated(&counts[k]);
            let sample = Sample { weights: &weights, seed: sample.seed.wrapping_add(k as u64), ..*sample };
            self.learn(&sample).map_err(|error| error.in_member(k))
        };
        parallel::try_map(counts.len(), learn)
    }
}

impl Sample<'_> {
    /// The weight of each row that is repeated as often as `counts` says.
    pub(crate) fn repeated(&self, counts: &[u8]) -> Vec<f64> {
        counts.iter().zip(self.weights).map(|(&count, weight)| f64::from(count) * weight).collect()
    }

    /// Number of heads: one for two classes, else one a class.
    pub(crate) fn n_heads(&self) -> usize {
        n_heads(self.n_classes)
    }

    /// 1 for rows of the class of a head, -1 for others.
    pub(crate) fn targets(&self, head: usize) -> Vec<f64> {
        targets(self.classes, self.n_classes, head)
    }
}

/// Number of heads, linear scores that tell classes apart: one for two classes, else one a class against the rest.
pub(crate) fn n_heads(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// 1 for rows of the class of a head, -1 for others. The one head of two classes stands for the second.
pub(crate) fn targets(classes: &[u8], n_classes: usize, head: usize) -> Vec<f64> {
    let about = if n_classes == 2 { 1 } else { head };
    classes.iter().map(|&class| if usize::from(class) == about { 1.0 } else { -1.0 }).collect()
}

//! AdaBoost with a base learner that is not weak.
//!
//! Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting",
//! EuroCOLT 1995. Of more than two classes: J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and
//! its Interface 2, 2009 (SAMME).

use serde::{Deserialize, Serialize};

use crate::ensemble::bagging::has_two_classes;
use crate::ensemble::boosted::Boosted;
use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::{Prepared, Watch};
use crate::error::Result;
use crate::learner::{Base, Learner, Sample};
use crate::prepare::Scaling;
use crate::rng::{Purpose, Stream};

/// How a base learner is told which rows matter.
///
/// ```
/// assert_eq!(udeed::Emphasis::default(), udeed::Emphasis::Weighting);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emphasis {
    /// Every row counts as much as its weight says.
    #[default]
    Weighting,
    /// Rows are drawn with replacement by their weights.
    Resampling,
}

/// What becomes of a member that makes no weighted error.
///
/// ```
/// assert_eq!(udeed::ZeroError::default(), udeed::ZeroError::Keep);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroError {
    /// It is kept, with the weight that an error of 1e-10 would give it, and boosting ends.
    #[default]
    Keep,
    /// It is thrown away and boosting ends, which can leave nothing to predict with. This is what the column of the UDEED
    /// paper seems to contain.
    Discard,
}

/// The least error that a weight is computed from.
const LEAST_ERROR: f64 = 1e-10;
/// How often in a row a resampled member may be worse than chance before boosting ends.
const MOST_RETRIES: usize = 25;

settings! {
    /// AdaBoost: each member is fitted to what the ones before it got wrong. Unlabeled rows only help to scale the
    /// features.
    ///
    /// ```
    /// use udeed::{AdaBoost, built_in};
    ///
    /// let train = built_in("diabetes")?.read()?.into_train()?;
    /// let model = AdaBoost::new().members(10).fit(&train)?;
    /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.7);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    AdaBoost {
        /// How many members the ensemble has at most; boosting may end earlier.
        members: usize = 20,
        /// Which base learner makes the members.
        base: Base = Base::Logistic,
        /// How much the labels count against small weights in logistic regression.
        lambda: f64 = 1.0,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How many random Fourier features the members see in place of the scaled ones, so that they draw curved
        /// boundaries, see [`FourierMap`](crate::FourierMap); 0 for none. `Scaling::Standard` and a larger lambda, such
        /// as 10, go well with it.
        fourier: usize = 0,
        /// How a member is told which rows matter.
        emphasis: Emphasis = Emphasis::Weighting,
        /// What becomes of a member that makes no weighted error.
        zero_error: ZeroError = ZeroError::Keep,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

impl Learn for AdaBoost {
    fn check(&self) -> Result<()> {
        check_members(self.members, 1)?;
        self.base.validate()?;
        check_positive("lambda", self.lambda)
    }

    fn learn(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let boosted = self.boost(&*learner, prepared, watch)?;
        Ok(boosted.finish(watch))
    }
}

impl AdaBoost {
    fn boost(&self, learner: &dyn Learner, prepared: &Prepared, watch: &Watch<'_>) -> Result<Boosted> {
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes, prepared.n_classes());
        let total: f64 = prepared.counts.iter().sum();
        let mut first = prepared.counts.clone();
        normalise(&mut first);
        let mut shares = first.clone();
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut boosted = Boosted::new(self.members, prepared.start());
        let mut retries = 0;
        while boosted.wants_more() {
            let weights = self.emphasis.counts(&mut stream, &shares, classes, classes.len(), total);
            let sample = Sample { rows, classes, n_classes, weights: &weights, seed: boosted.seed(self.seed) };
            let member = learner.relearn(&sample, boosted.latest())?;
            let outputs = member.classify(rows);
            let wrong = |i: usize| outputs[i] != classes[i];
            let error: f64 = (0..classes.len()).filter(|&i| wrong(i)).map(|i| shares[i]).sum();
            if error >= chance(n_classes) {
                retries += 1;
                if self.emphasis == Emphasis::Weighting || retries > MOST_RETRIES {
                    break;
                }
                shares.clone_from(&first);
                continue;
            }
            retries = 0;
            if error <= 0.0 && self.zero_error == ZeroError::Discard {
                boosted.discarded = true;
                break;
            }
            let weight = weight_of(error, n_classes);
            boosted.push(member, weight, watch)?;
            if error <= 0.0 {
                break;
            }
            for (i, share) in shares.iter_mut().enumerate() {
                *share *= libm::exp(if wrong(i) { weight } else { -weight });
            }
            normalise(&mut shares);
        }
        Ok(boosted)
    }
}

/// The error of who guesses among so many classes.
pub(crate) fn chance(n_classes: usize) -> f64 {
    1.0 - 1.0 / n_classes as f64
}

/// What the vote of a member with a weighted error counts. Of more than two classes as in SAMME: above 0 wherever the member
/// is better than chance.
pub(crate) fn weight_of(error: f64, n_classes: usize) -> f64 {
    0.5 * libm::log((1.0 - error) / error.max(LEAST_ERROR)) + 0.5 * libm::log(n_classes as f64 - 1.0)
}

/// Scales shares to sum to 1.
pub(crate) fn normalise(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

impl Emphasis {
    /// How often each row counts: its share of the total, or in so many draws by the shares, repeated until two classes
    /// occur. Where a class has all but no share, drawing would not end: then the rows count by their shares after all.
    pub(crate) fn counts(
        self,
        stream: &mut Stream,
        shares: &[f64],
        classes: &[u8],
        draws: usize,
        total: f64,
    ) -> Vec<f64> {
        if self == Emphasis::Resampling {
            for _ in 0..1000 {
                let counts = draw(stream, shares, draws);
                if has_two_classes(classes, &counts) {
                    return counts;
                }
            }
        }
        shares.iter().map(|share| share * total).collect()
    }
}

/// How often each row is drawn in `n` draws by the shares.
fn draw(stream: &mut Stream, shares: &[f64], n: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(shares.len());
    let mut sum = 0.0;
    for share in shares {
        sum += share;
        sums.push(sum);
    }
    let mut counts = vec![0.0; shares.len()];
    for _ in 0..n {
        let at = stream.unit() * sum;
        let row = sums.partition_point(|&s| s <= at).min(shares.len() - 1);
        counts[row] += 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_shares() {
        let mut stream = Stream::new(1, Purpose::Boosting, 0);
        let counts = draw(&mut stream, &[0.0, 0.5, 0.25, 0.25, 0.0], 4000);
        assert_eq!((counts[0], counts[4]), (0.0, 0.0));
        assert!((counts[1] - 2000.0).abs() < 150.0, "{counts:?}");
        assert_eq!(counts.iter().sum::<f64>(), 4000.0);
    }

    #[test]
    fn a_class_without_a_share_does_not_hang() {
        let mut stream = Stream::new(1, Purpose::Boosting, 0);
        let counts = Emphasis::Resampling.counts(&mut stream, &[1.0, 1e-300], &[1, 0], 2, 2.0);
        assert!(counts[1] > 0.0);
    }
}

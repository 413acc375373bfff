//! Statistical tests: whether a difference between methods is significant.
//!
//! On one data set, two methods are compared by their score differences on the same splits: [`paired_t`] as in the
//! UDEED paper, [`corrected_resampled_t`] for splits whose training parts overlap. [`DecidingTest`] says which of the two
//! decides, [`Record`] counts wins, ties and losses; [`Pairwise`] holds all of these tests. Over many data sets, two methods are compared by
//! [`wilcoxon()`], more of them by [`AverageRanks`], that is [`friedman()`] with [`nemenyi_critical_difference`], as
//! Demsar recommends ("Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006).
//!
//! Nothing here panics: what cannot be computed is None, and each function says when that is.
//!
//! ```
//! use udeed_lab::statistics::{DecidingTest, Record};
//!
//! let labels_alone = [[0.71, 0.73, 0.72, 0.70], [0.90, 0.88, 0.91, 0.89]];
//! let with_unlabeled = [[0.79, 0.80, 0.78, 0.77], [0.89, 0.90, 0.90, 0.88]];
//! let verdicts = with_unlabeled.iter().zip(&labels_alone).filter_map(|(a, b)| DecidingTest::Paired.verdict(a, b, 1.0));
//! let record: Record = verdicts.collect();
//! assert_eq!(record.to_string(), "1/1/0");
//! ```

mod average_ranks;
mod friedman;
mod interval;
mod log_ratio;
mod paired;
mod pairwise;
mod standardised;
mod verdict;
mod wilcoxon;

pub use average_ranks::AverageRanks;
pub use friedman::{Friedman, friedman, nemenyi_critical_difference};
pub use interval::mean_interval;
pub use log_ratio::{LogRatio, MeanLogRatio};
pub use paired::{PairedT, corrected_resampled_t, paired_t};
pub use pairwise::Pairwise;
pub use standardised::{MeanSquare, Sampled};
pub use verdict::{DecidingTest, Record, Verdict};
pub use wilcoxon::{Wilcoxon, wilcoxon};

/// The mean. None without values, or where one is not finite.
///
/// ```
/// use udeed_lab::statistics::mean;
///
/// assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
/// assert_eq!(mean(&[]), None);
/// assert_eq!(mean(&[1.0, f64::NAN]), None);
/// ```
pub fn mean(values: &[f64]) -> Option<f64> {
    // Taken from the first value, the mean of equal values is that value to the last bit.
    let first = values.first()?;
    let mean = first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// The sample standard deviation: the square root of the sum of squares about the mean over one less than the number of
/// values. None for fewer than 2 values, or where one is not finite or too far from the others for its square to be
/// finite.
///
/// ```
/// use udeed_lab::statistics::deviation;
///
/// assert_eq!(deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
/// assert_eq!(deviation(&[0.1, 0.1, 0.1]), Some(0.0));
/// assert_eq!(deviation(&[1.0]), None);
/// ```
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() >= 2 && squares.is_finite()).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// A p-value as text.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// `a - b`, pair by pair. None for fewer than 2 pairs, for different lengths, or where a difference is not finite.
fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let usable = a.len() == b.len() && a.len() >= 2 && differences.iter().all(|difference| difference.is_finite());
    usable.then_some(differences)
}

/// Ranks of values in ascending order.
struct Ranks {
    /// From 1; equal values share their mean rank.
    ranks: Vec<f64>,
    /// The tie correction of a variance: the sum of `t^3 - t` over the groups of `t` equal values.
    ties: f64,
}

impl Ranks {
    fn new(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let mut ranked = Ranks { ranks: vec![0.0; values.len()], ties: 0.0 };
        let mut below = 0;
        for equal in order.chunk_by(|&i, &j| values[i] == values[j]) {
            let count = equal.len() as f64;
            for &i in equal {
                ranked.ranks[i] = below as f64 + 0.5 * (count + 1.0);
            }
            ranked.ties += count * (count * count - 1.0);
            below += equal.len();
        }
        ranked
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The accuracies of two methods on the same ten splits.
    pub(super) const A: [f64; 10] = [0.721, 0.780, 0.795, 0.710, 0.699, 0.690, 0.715, 0.726, 0.807, 0.894];
    pub(super) const B: [f64; 10] = [0.719, 0.762, 0.801, 0.691, 0.702, 0.664, 0.688, 0.731, 0.770, 0.851];
    /// Figures with zeros and ties among their differences.
    pub(super) const C: [f64; 12] = [3.0, 5.0, 1.0, 4.0, 4.0, 2.0, 6.0, 3.0, 5.0, 7.0, 2.0, 4.0];
    pub(super) const D: [f64; 12] = [1.0, 5.0, 2.0, 2.0, 4.0, 1.0, 3.0, 3.0, 6.0, 3.0, 1.0, 2.0];

    /// Fails unless the relative error, or the error itself near zero, is below 1e-11.
    #[track_caller]
    pub(super) fn near(found: f64, expected: f64) {
        let scale = if expected == 0.0 { 1.0 } else { expected.abs() };
        assert!((found - expected).abs() <= 1e-11 * scale, "found {found:e}, expected {expected:e}");
    }

    /// numpy 2.4.6 (`mean`, `std` with `ddof=1`).
    #[test]
    fn mean_and_deviation() {
        near(mean(&A).unwrap(), 0.7537);
        near(deviation(&A).unwrap(), 0.06430491600353916);
    }

    #[test]
    fn equal_values_have_no_deviation() {
        for value in [0.1, 0.7, 1.0 / 3.0, 1e300, -1e-300] {
            assert_eq!(mean(&[value; 7]), Some(value));
            assert_eq!(deviation(&[value; 7]), Some(0.0));
        }
    }

    #[test]
    fn what_is_not_finite_has_no_mean() {
        assert_eq!(mean(&[f64::INFINITY, 1.0]), None);
        assert_eq!(mean(&[1.0, f64::NEG_INFINITY]), None);
        assert_eq!(deviation(&[1.0, f64::NAN]), None);
        assert_eq!(deviation(&[0.0, 1e200]), None);
    }

    #[test]
    fn equal_values_share_their_rank() {
        let ranked = Ranks::new(&[2.0, 0.0, 1.0, -0.0, 1.0, 1.0]);
        assert_eq!(ranked.ranks, [6.0, 1.5, 4.0, 1.5, 4.0, 4.0]);
        assert_eq!(ranked.ties, 6.0 + 24.0);
    }

    proptest! {
        #[test]
        fn nothing_panics(
            a in proptest::collection::vec(any::<f64>(), 0..6),
            b in proptest::collection::vec(any::<f64>(), 0..6),
        ) {
            let p_values = [
                paired_t(&a, &b).map(|test| test.p),
                corrected_resampled_t(&a, &b, 0.5).map(|test| test.p),
                wilcoxon(&a, &b).map(|test| test.p),
                friedman(&[&a, &b]).map(|test| test.chi_square_p),
                friedman(&[&a, &b, &a]).map(|test| test.f_p),
            ];
            prop_assert!(p_values.into_iter().flatten().all(|p| (0.0..=1.0).contains(&p)), "{p_values:?}");
            prop_assert_eq!(DecidingTest::Paired.verdict(&a, &b, 1.0).is_some(), paired_t(&a, &b).is_some());
        }
    }
}

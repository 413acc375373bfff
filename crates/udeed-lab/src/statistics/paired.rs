//! Paired t-tests of two methods.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{deviation, differences, mean};

/// Differences that vary by less than this share of the values are equal but for rounding.
const ROUNDING: f64 = 1e-12;

/// A paired t-test of whether the mean of the differences `a - b` is zero.
///
/// ```
/// use udeed_lab::statistics::paired_t;
///
/// let test = paired_t(&[1.0, 2.0], &[0.5, 0.75]).unwrap();
/// assert_eq!((test.mean_difference, test.degrees), (0.875, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedT {
    /// The mean of `a - b`.
    pub mean_difference: f64,
    /// The mean over its standard error; 0 where all differences are zero.
    pub t: f64,
    /// The degrees of freedom: one less than the number of pairs.
    pub degrees: usize,
    /// The two-sided p-value; 1 where all differences are zero.
    pub p: f64,
}

/// The paired t-test, two-sided, as scipy's `ttest_rel`.
///
/// The differences are assumed to be independent. Those of random splits of one data set are not, because their
/// training parts overlap, so the test is too liberal there; the UDEED paper uses it all the same.
/// [`corrected_resampled_t`] allows for the overlap.
///
/// None for fewer than 2 pairs, for different lengths, where a difference is not finite (or too large for its square
/// to be), and where all differences are equal and not zero: their variance says nothing. Accuracies are multiples of one over
/// the test rows, so that a few splits often differ by the same.
///
/// ```
/// use udeed_lab::statistics::paired_t;
///
/// let test = paired_t(&[0.80, 0.78, 0.81, 0.79], &[0.75, 0.77, 0.76, 0.77]).unwrap();
/// assert_eq!(format!("t {:.2}, p {:.3}", test.t, test.p), "t 3.15, p 0.051");
/// assert!(paired_t(&[0.80, 0.78], &[0.75]).is_none());
/// ```
pub fn paired_t(a: &[f64], b: &[f64]) -> Option<PairedT> {
    corrected_resampled_t(a, b, 0.0)
}

/// The paired t-test of Nadeau and Bengio ("Inference for the generalization error", Machine Learning 52, 2003) for `k`
/// random splits of one data set: the variance of the mean difference is `1/k + n_test/n_train` times that of the
/// differences, where [`paired_t`] takes `1/k`.
///
/// `test_share_over_train` is `n_test / n_train`: 1 for splits into halves, 1/9 for ten-fold cross-validation.
///
/// None where [`paired_t`] is, and if `test_share_over_train` is negative or not finite.
///
/// ```
/// use udeed_lab::statistics::{corrected_resampled_t, paired_t};
///
/// let (a, b) = ([0.80, 0.78, 0.81, 0.79], [0.75, 0.77, 0.76, 0.77]);
/// let plain = paired_t(&a, &b).unwrap();
/// let corrected = corrected_resampled_t(&a, &b, 1.0).unwrap();
/// assert_eq!(corrected.mean_difference, plain.mean_difference);
/// assert!(corrected.p > plain.p);
/// ```
pub fn corrected_resampled_t(a: &[f64], b: &[f64], test_share_over_train: f64) -> Option<PairedT> {
    if !(test_share_over_train >= 0.0 && test_share_over_train.is_finite()) {
        return None;
    }
    let differences = differences(a, b)?;
    let degrees = differences.len() - 1;
    let mean_difference = mean(&differences)?;
    let deviation = deviation(&differences)?;
    let largest = a.iter().chain(b).fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if deviation <= ROUNDING * largest && mean_difference.abs() > ROUNDING * largest {
        return None;
    }
    let error = deviation * (1.0 / differences.len() as f64 + test_share_over_train).sqrt();
    let t = if mean_difference == 0.0 { 0.0 } else { mean_difference / error };
    let p = 2.0 * StudentsT::new(0.0, 1.0, degrees as f64).ok()?.sf(t.abs());
    Some(PairedT { mean_difference, t, degrees, p })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{A, B, C, D, near};
    use super::*;

    fn check(test: Option<PairedT>, mean_difference: f64, t: f64, degrees: usize, p: f64) {
        let test = test.unwrap();
        near(test.mean_difference, mean_difference);
        near(test.t, t);
        assert_eq!(test.degrees, degrees);
        near(test.p, p);
    }

    /// scipy 1.17.1, `stats.ttest_rel(a, b)`.
    #[test]
    fn as_scipy() {
        check(paired_t(&A, &B), 0.0158, 2.790360252907068, 9, 0.0210414512764393);
        check(paired_t(&B, &A), -0.0158, -2.790360252907068, 9, 0.0210414512764393);
        check(paired_t(&C, &D), 1.0833333333333333, 2.3990452177181543, 11, 0.035292139850149964);
        check(paired_t(&[1.0, 2.0], &[0.5, 0.75]), 0.875, 2.3333333333333335, 1, 0.2577621168183132);
        let a: Vec<f64> = (0..30).map(|i| 10.0 + f64::from(i) / 29.0).collect();
        let b: Vec<f64> = (0..30).map(|i| (f64::from(i) / 29.0).powi(2)).collect();
        check(paired_t(&a, &b), 10.160919540229884, 687.9080774649135, 29, 1.2106358805857644e-62);
    }

    /// numpy for the formula, scipy 1.17.1 for p: `t = d.mean() / sqrt((1/k + ratio) * d.var(ddof=1))`,
    /// `2 * stats.t.sf(abs(t), k - 1)`.
    #[test]
    fn corrected_as_scipy() {
        let check = |a: &[f64], b: &[f64], ratio, t, p| {
            let mean_difference = paired_t(a, b).unwrap().mean_difference;
            check(corrected_resampled_t(a, b, ratio), mean_difference, t, a.len() - 1, p);
        };
        check(&A, &B, 1.0, 0.8413252717103586, 0.42195625709369144);
        check(&A, &B, 0.25, 1.4915102931500193, 0.17002186174125095);
        check(&C, &D, 0.25, 1.1995226088590771, 0.25552432000871733);
        check(&[1.0, 2.0], &[0.5, 0.75], 1.0, 1.3471506281091268, 0.4065197283736607);
    }

    #[test]
    fn differences_that_are_all_the_same() {
        assert_eq!(paired_t(&A, &A), Some(PairedT { mean_difference: 0.0, t: 0.0, degrees: 9, p: 1.0 }));
        assert_eq!(paired_t(&[0.1; 3], &[0.0; 3]), None);
        assert_eq!(corrected_resampled_t(&[0.9, 0.8, 0.7], &[0.6, 0.5, 0.4], 1.0), None);
    }

    #[test]
    fn differences_that_cancel() {
        let test = paired_t(&[1.0, 2.0], &[2.0, 1.0]).unwrap();
        assert_eq!((test.t, test.p), (0.0, 1.0));
    }

    #[test]
    fn no_test_without_pairs() {
        assert_eq!(paired_t(&[], &[]), None);
        assert_eq!(paired_t(&[1.0], &[0.0]), None);
        assert_eq!(paired_t(&[1.0, 2.0], &[0.0]), None);
        assert_eq!(paired_t(&[1.0, f64::NAN], &[0.0, 0.0]), None);
        assert_eq!(paired_t(&[f64::INFINITY; 2], &[f64::INFINITY; 2]), None);
        assert_eq!(paired_t(&[1e200, 0.0], &[0.0, 0.0]), None);
        for ratio in [-0.1, f64::NAN, f64::INFINITY] {
            assert_eq!(corrected_resampled_t(&A, &B, ratio), None);
        }
    }

    proptest! {
        #[test]
        fn swapping_the_methods_turns_the_sign(pairs in proptest::collection::vec((0.0..1.0, 0.0..1.0), 2..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let (there, back) = (paired_t(&a, &b).unwrap(), paired_t(&b, &a).unwrap());
            prop_assert_eq!((there.mean_difference, there.t, there.p), (-back.mean_difference, -back.t, back.p));
        }

        #[test]
        fn the_correction_makes_cautious(
            pairs in proptest::collection::vec((0.0..1.0, 0.0..1.0), 2..40),
            ratio in 0.01..2.0,
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            prop_assert!(corrected_resampled_t(&a, &b, ratio).unwrap().p >= paired_t(&a, &b).unwrap().p);
        }
    }
}

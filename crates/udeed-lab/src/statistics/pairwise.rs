//! Two methods on the same splits of one data set, by every test at once.

use serde::Serialize;

use super::{DecidingTest, PairedT, Verdict, Wilcoxon, corrected_resampled_t, paired_t, wilcoxon};

/// A pairwise comparison of the scores `a` and `b` of two methods on the same splits; above zero `a` is better.
///
/// ```
/// use udeed_lab::statistics::{DecidingTest, Pairwise, Verdict};
///
/// let (a, b) = ([0.90, 0.95, 0.85, 0.91], [0.80, 0.84, 0.74, 0.91]);
/// let pairwise = Pairwise::new(&a, &b, 1.0, DecidingTest::Corrected);
/// assert_eq!(pairwise.splits, [3, 1, 0]);
/// assert_eq!(pairwise.verdict, Some(Verdict::Tie));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Pairwise {
    /// The numbers of splits on which `a` is better, equal and worse.
    pub splits: [usize; 3],
    /// The verdict of the deciding test at 95 %.
    pub verdict: Option<Verdict>,
    /// The paired t-test.
    pub t: Option<PairedT>,
    /// The paired t-test corrected for splits that overlap (Nadeau and Bengio).
    pub corrected: Option<PairedT>,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: Option<Wilcoxon>,
}

impl Pairwise {
    /// All tests of `a` against `b`; `test_share_over_train` as for [`corrected_resampled_t`].
    pub fn new(a: &[f64], b: &[f64], test_share_over_train: f64, deciding: DecidingTest) -> Self {
        let count = |is: fn(&f64, &f64) -> bool| a.iter().zip(b).filter(|(a, b)| is(a, b)).count();
        Pairwise {
            splits: [count(|a, b| a > b), count(|a, b| a == b), count(|a, b| a < b)],
            verdict: deciding.verdict(a, b, test_share_over_train),
            t: paired_t(a, b),
            corrected: corrected_resampled_t(a, b, test_share_over_train),
            wilcoxon: wilcoxon(a, b),
        }
    }

    /// One of the two t-tests.
    pub fn t_test(&self, test: DecidingTest) -> Option<PairedT> {
        match test {
            DecidingTest::Corrected => self.corrected,
            DecidingTest::Paired => self.t,
        }
    }
}

//! Wins, ties and losses.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{PairedT, corrected_resampled_t, paired_t};

/// The verdict on the first of two methods on one data set.
///
/// ```
/// use udeed_lab::statistics::{DecidingTest, Verdict};
///
/// assert_eq!(DecidingTest::Paired.verdict(&[0.9, 0.8], &[0.9, 0.8], 1.0), Some(Verdict::Tie));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is significantly better.
    Win,
    /// The difference is not significant.
    Tie,
    /// It is significantly worse.
    Loss,
}

/// The test whose verdicts are printed as wins, ties and losses.
///
/// ```
/// use udeed_lab::statistics::{DecidingTest, Verdict};
///
/// let (ours, theirs) = ([0.79, 0.80, 0.78, 0.80], [0.77, 0.79, 0.77, 0.77]);
/// assert_eq!(DecidingTest::Paired.verdict(&ours, &theirs, 1.0), Some(Verdict::Win));
/// assert_eq!(DecidingTest::Corrected.verdict(&ours, &theirs, 1.0), Some(Verdict::Tie));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidingTest {
    /// The paired t-test corrected for splits that overlap, [`corrected_resampled_t`].
    #[default]
    Corrected,
    /// The paired t-test, [`paired_t`], as in the UDEED paper.
    Paired,
}

impl DecidingTest {
    /// Every test, the default first.
    pub const ALL: [DecidingTest; 2] = [DecidingTest::Corrected, DecidingTest::Paired];

    /// Its name, such as `corrected`.
    pub fn name(self) -> &'static str {
        match self {
            DecidingTest::Corrected => "corrected",
            DecidingTest::Paired => "paired",
        }
    }

    /// Its name in sentences.
    pub fn title(self) -> &'static str {
        match self {
            DecidingTest::Corrected => "corrected resampled t-test",
            DecidingTest::Paired => "paired t-test",
        }
    }

    /// Its name in tables.
    pub(crate) fn short(self) -> &'static str {
        match self {
            DecidingTest::Corrected => "corrected t",
            DecidingTest::Paired => "paired t",
        }
    }

    /// The verdict on `a` against `b` at 95 %; `test_share_over_train` as for [`corrected_resampled_t`].
    pub fn verdict(self, a: &[f64], b: &[f64], test_share_over_train: f64) -> Option<Verdict> {
        let test = match self {
            DecidingTest::Corrected => corrected_resampled_t(a, b, test_share_over_train),
            DecidingTest::Paired => paired_t(a, b),
        };
        test.map(Verdict::from)
    }
}

impl From<PairedT> for Verdict {
    /// The verdict of a test at 95 %. Higher is better.
    fn from(test: PairedT) -> Self {
        match test.p < 0.05 {
            true if test.mean_difference > 0.0 => Verdict::Win,
            true => Verdict::Loss,
            false => Verdict::Tie,
        }
    }
}

/// The numbers of wins, ties and losses.
///
/// ```
/// use udeed_lab::statistics::{Record, Verdict};
///
/// let mut record: Record = [Verdict::Win, Verdict::Tie, Verdict::Win].into_iter().collect();
/// record += Verdict::Loss;
/// assert_eq!((record.win, record.tie, record.loss), (2, 1, 1));
/// assert_eq!(record.to_string(), "2/1/1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// Data sets on which the first method is significantly better.
    pub win: usize,
    /// Data sets without a significant difference.
    pub tie: usize,
    /// Data sets on which the first method is significantly worse.
    pub loss: usize,
}

impl AddAssign<Verdict> for Record {
    fn add_assign(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Win => self.win += 1,
            Verdict::Tie => self.tie += 1,
            Verdict::Loss => self.loss += 1,
        }
    }
}

impl FromIterator<Verdict> for Record {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        verdicts.into_iter().fold(Record::default(), |mut record, verdict| {
            record += verdict;
            record
        })
    }
}

impl fmt::Display for Record {
    /// Wins, ties and losses, as `13/9/3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By way of `pad`, so that tables can align it.
        f.pad(&format!("{}/{}/{}", self.win, self.tie, self.loss))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{A, B};
    use super::*;

    fn verdict(a: &[f64], b: &[f64]) -> Option<Verdict> {
        DecidingTest::Paired.verdict(a, b, 1.0)
    }

    #[test]
    fn by_the_paired_t_test() {
        assert_eq!(verdict(&A, &B), Some(Verdict::Win));
        assert_eq!(verdict(&B, &A), Some(Verdict::Loss));
        assert_eq!(verdict(&A[..5], &B[..5]), Some(Verdict::Tie));
    }

    /// scipy: p is 0.021, corrected for halves 0.42 (see `paired.rs`).
    #[test]
    fn by_the_corrected_t_test() {
        assert_eq!(DecidingTest::default(), DecidingTest::Corrected);
        assert_eq!(DecidingTest::Corrected.verdict(&A, &B, 1.0), Some(Verdict::Tie));
        assert_eq!(DecidingTest::Corrected.verdict(&A, &B, 0.0), Some(Verdict::Win));
        assert_eq!(DecidingTest::Paired.verdict(&B, &A, 1.0), Some(Verdict::Loss));
        assert_eq!(DecidingTest::Corrected.verdict(&A, &B, f64::NAN), None);
        for test in DecidingTest::ALL {
            assert_eq!(serde_json::to_value(test).unwrap(), test.name());
        }
    }

    #[test]
    fn differences_that_are_all_the_same() {
        assert_eq!(verdict(&A, &A), Some(Verdict::Tie));
        assert_eq!(verdict(&[0.7; 5], &[0.6; 5]), None);
    }

    #[test]
    fn no_verdict_without_pairs() {
        assert_eq!(verdict(&[], &[]), None);
        assert_eq!(verdict(&[0.7], &[0.6]), None);
        assert_eq!(verdict(&[0.7, f64::NAN], &[0.6, 0.6]), None);
    }

    #[test]
    fn a_record_reads_as_in_the_paper() {
        let record = Record { win: 13, tie: 9, loss: 3 };
        assert_eq!(record.to_string(), "13/9/3");
        assert_eq!(format!("{record:>8}|{record:<8}|"), "  13/9/3|13/9/3  |");
        assert_eq!(Record::from_iter([]).to_string(), "0/0/0");
        assert_eq!(serde_json::to_string(&record).unwrap(), r#"{"win":13,"tie":9,"loss":3}"#);
        assert_eq!(serde_json::to_string(&Verdict::Tie).unwrap(), "\"tie\"");
    }
}

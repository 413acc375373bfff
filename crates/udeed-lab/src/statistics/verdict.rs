//! Wins, ties and losses.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::paired_t;

/// The verdict on the first of two methods on one data set.
///
/// ```
/// use udeed_lab::statistics::{Verdict, verdict};
///
/// assert_eq!(verdict(&[0.9, 0.8], &[0.9, 0.8]), Some(Verdict::Tie));
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

/// The verdict of the UDEED paper: a win or a loss where [`paired_t`] finds the mean difference significant at 95 %
/// (`p < 0.05`), else a tie. Higher is better.
///
/// Where all differences are zero it is a tie; where all are equal and not zero, a win or a loss. None where
/// [`paired_t`] is.
///
/// ```
/// use udeed_lab::statistics::{Verdict, verdict};
///
/// let (ours, theirs) = ([0.79, 0.80, 0.78, 0.77], [0.71, 0.73, 0.72, 0.70]);
/// assert_eq!(verdict(&ours, &theirs), Some(Verdict::Win));
/// assert_eq!(verdict(&theirs, &ours), Some(Verdict::Loss));
/// assert_eq!(verdict(&ours, &theirs[1..]), None);
/// ```
pub fn verdict(a: &[f64], b: &[f64]) -> Option<Verdict> {
    let test = paired_t(a, b)?;
    Some(match test.p < 0.05 {
        true if test.mean_difference > 0.0 => Verdict::Win,
        true => Verdict::Loss,
        false => Verdict::Tie,
    })
}

/// The numbers of wins, ties and losses.
///
/// ```
/// use udeed_lab::statistics::{Record, Verdict};
///
/// let mut record: Record = [Verdict::Win, Verdict::Tie, Verdict::Win].into_iter().collect();
/// record += Verdict::Loss;
/// assert_eq!(record, Record { win: 2, tie: 1, loss: 1 });
/// assert_eq!(record.to_string(), "2/1/1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
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

    #[test]
    fn by_the_paired_t_test() {
        assert_eq!(verdict(&A, &B), Some(Verdict::Win));
        assert_eq!(verdict(&B, &A), Some(Verdict::Loss));
        assert_eq!(verdict(&A[..5], &B[..5]), Some(Verdict::Tie));
    }

    #[test]
    fn differences_that_are_all_the_same() {
        assert_eq!(verdict(&A, &A), Some(Verdict::Tie));
        assert_eq!(verdict(&[0.7; 5], &[0.6; 5]), Some(Verdict::Win));
        assert_eq!(verdict(&[0.6; 5], &[0.7; 5]), Some(Verdict::Loss));
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

//! Any classifiers that met on the same splits of one set of rows, whoever made them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::experiment::once;
use crate::statistics::{
    PairedT, Verdict, Wilcoxon, corrected_resampled_t, deviation, mean, mean_interval, paired_t, verdict, wilcoxon,
};

/// What took part, and its score on each split; higher is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entrant {
    /// What it is called.
    pub name: String,
    /// The score on each split, in the order of the splits.
    pub scores: Vec<f64>,
}

/// Scores of classifiers that met on the same splits.
///
/// ```
/// use udeed_lab::{Contest, Entrant};
///
/// let entrant = |name: &str, scores: [f64; 3]| Entrant { name: name.into(), scores: scores.to_vec() };
/// let contest = Contest {
///     title: "my rows".into(),
///     scoring: "accuracy".into(),
///     dealt: [10, 40, 50],
///     entrants: vec![entrant("forest", [0.8, 0.9, 0.7]), entrant("udeed", [0.9, 0.95, 0.85])],
/// };
/// let standings = contest.standings("udeed")?;
/// assert_eq!(standings[0].against.unwrap().t.unwrap().mean_difference < 0.0, true);
/// assert!(udeed_lab::report::contest(&contest, "udeed")?.contains("forest"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// What the rows are called.
    pub title: String,
    /// What the scores are.
    pub scoring: String,
    /// Rows in each split: labeled, unlabeled, for testing.
    pub dealt: [usize; 3],
    /// Who took part.
    pub entrants: Vec<Entrant>,
}

/// How one entrant did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// Who.
    pub name: String,
    /// The mean over the splits.
    pub mean: f64,
    /// The sample deviation over the splits.
    pub std: f64,
    /// The 95 % interval of the mean; none for a single split.
    pub interval: Option<(f64, f64)>,
    /// Against the reference; none for the reference itself.
    pub against: Option<Against>,
}

/// An entrant against another on the same splits; above zero it is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// On how many splits it was better, as good, and worse.
    pub splits: [usize; 3],
    /// The paired t-test at 95 %.
    pub verdict: Option<Verdict>,
    /// Its figures.
    pub t: Option<PairedT>,
    /// The same, corrected for splits that overlap (Nadeau and Bengio).
    pub corrected: Option<PairedT>,
    /// Wilcoxon's signed-rank test.
    pub wilcoxon: Option<Wilcoxon>,
}

impl Contest {
    /// How each entrant did, in their order, compared with the one of the given name.
    ///
    /// # Errors
    /// If there is nobody, two have the same name, their splits differ in number, a score is no number, or the reference
    /// did not take part.
    pub fn standings(&self, reference: &str) -> Result<Vec<Standing>> {
        self.check()?;
        let Some(other) = self.entrants.iter().find(|entrant| entrant.name == reference) else {
            let known: Vec<String> = self.entrants.iter().map(|entrant| format!("`{}`", entrant.name)).collect();
            return Err(Error::Unknown { what: "reference", found: reference.to_owned(), known: known.join(", ") });
        };
        Ok(self.entrants.iter().map(|entrant| self.standing(entrant, other)).collect())
    }

    fn check(&self) -> Result<()> {
        let Some(first) = self.entrants.first().filter(|first| !first.scores.is_empty()) else {
            return Err(Error::Nothing { what: "score" });
        };
        once("entrant", self.entrants.iter().map(|entrant| &entrant.name))?;
        for entrant in &self.entrants {
            let scores = &entrant.scores;
            if scores.len() != first.scores.len() || scores.iter().any(|score| !score.is_finite()) {
                let expected = first.scores.len();
                return Err(Error::Scores { name: entrant.name.clone(), found: scores.len(), expected });
            }
        }
        Ok(())
    }

    fn standing(&self, entrant: &Entrant, reference: &Entrant) -> Standing {
        let scores = &entrant.scores;
        Standing {
            name: entrant.name.clone(),
            mean: mean(scores).unwrap_or(f64::NAN),
            std: deviation(scores).unwrap_or(0.0),
            interval: mean_interval(scores),
            against: (entrant.name != reference.name).then(|| self.against(scores, &reference.scores)),
        }
    }

    fn against(&self, own: &[f64], theirs: &[f64]) -> Against {
        let [labeled, unlabeled, test] = self.dealt;
        let count = |is: fn(&f64, &f64) -> bool| own.iter().zip(theirs).filter(|(a, b)| is(a, b)).count();
        Against {
            splits: [count(|a, b| a > b), count(|a, b| a == b), count(|a, b| a < b)],
            verdict: verdict(own, theirs),
            t: paired_t(own, theirs),
            corrected: corrected_resampled_t(own, theirs, test as f64 / (labeled + unlabeled) as f64),
            wilcoxon: wilcoxon(own, theirs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(scores: &[(&str, &[f64])]) -> Contest {
        let entrant = |(name, scores): &(&str, &[f64])| Entrant { name: (*name).into(), scores: scores.to_vec() };
        let entrants = scores.iter().map(entrant).collect();
        Contest { title: "t".into(), scoring: "accuracy".into(), dealt: [5, 5, 10], entrants }
    }

    #[test]
    fn the_reference_is_not_compared_with_itself() {
        let contest = contest(&[("a", &[0.5, 0.6, 0.7]), ("b", &[0.6, 0.6, 0.9])]);
        let standings = contest.standings("a").unwrap();
        assert_eq!(standings[0].against, None);
        let against = standings[1].against.unwrap();
        assert_eq!(against.splits, [2, 1, 0]);
        assert!(against.corrected.unwrap().p > against.t.unwrap().p);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let message = |contest: Contest| contest.standings("a").unwrap_err().to_string();
        assert!(message(contest(&[])).contains("no score"));
        assert!(message(contest(&[("a", &[0.1]), ("a", &[0.2])])).contains("twice"));
        assert!(message(contest(&[("a", &[0.1]), ("b", &[0.2, 0.3])])).contains("`b`"));
        assert!(message(contest(&[("a", &[f64::NAN])])).contains("`a`"));
        assert!(message(contest(&[("b", &[0.1])])).contains("unknown reference `a`"));
    }
}

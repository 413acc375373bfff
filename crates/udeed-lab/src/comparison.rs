//! Comparisons of any classifiers, whoever made them: on the splits of one data set, or over several data sets.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, once};
use crate::statistics::{AverageRanks, DecidingTest, Pairwise, deviation, mean, mean_interval};

/// A classifier with its scores; higher is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassifierScores {
    /// The name of the classifier.
    pub name: String,
    /// One score for each split of a data set, or one for each data set, in the same order for all classifiers.
    pub scores: Vec<f64>,
}

/// Scores of classifiers on the same splits of one data set.
///
/// ```
/// use udeed_lab::{Comparison, ClassifierScores};
///
/// let classifier = |name: &str, scores: [f64; 3]| ClassifierScores { name: name.into(), scores: scores.to_vec() };
/// let comparison = Comparison {
///     title: "my rows".into(),
///     scoring: "accuracy".into(),
///     dealt: [10, 40, 50],
///     verdicts: Default::default(),
///     classifiers: vec![classifier("forest", [0.8, 0.9, 0.7]), classifier("udeed", [0.9, 0.95, 0.85])],
/// };
/// let standings = comparison.standings("udeed")?;
/// assert_eq!(standings[0].against.unwrap().t.unwrap().mean_difference < 0.0, true);
/// assert!(udeed_lab::report::comparison(&comparison, "udeed")?.contains("forest"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The name of the data set.
    pub title: String,
    /// The name of the score, such as accuracy.
    pub scoring: String,
    /// Rows in each split: labeled, unlabeled, test.
    pub dealt: [usize; 3],
    /// The test that decides what is a win and what a loss.
    #[serde(default)]
    pub verdicts: DecidingTest,
    /// The classifiers.
    pub classifiers: Vec<ClassifierScores>,
}

/// The result of one classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Standing {
    /// The name of the classifier.
    pub name: String,
    /// The mean score over the splits.
    pub mean: f64,
    /// The standard deviation over the splits.
    pub std: f64,
    /// The 95 % confidence interval of the mean; none for a single split.
    pub interval: Option<(f64, f64)>,
    /// The tests against the reference; none for the reference itself.
    pub against: Option<Pairwise>,
}

impl Comparison {
    /// The result of each classifier, in their order, with the tests against the reference.
    ///
    /// # Errors
    /// If there is no classifier, two have the same name, their scores differ in number, a score is not finite, or the
    /// reference is none of them.
    pub fn standings(&self, reference: &str) -> Result<Vec<Standing>> {
        check(&self.classifiers)?;
        let Some(other) = self.classifiers.iter().find(|classifier| classifier.name == reference) else {
            let known: Vec<String> =
                self.classifiers.iter().map(|classifier| format!("`{}`", classifier.name)).collect();
            return Err(Error::Unknown { what: "reference", found: reference.to_owned(), known: known.join(", ") });
        };
        Ok(self.classifiers.iter().map(|classifier| self.standing(classifier, other)).collect())
    }

    fn standing(&self, classifier: &ClassifierScores, reference: &ClassifierScores) -> Standing {
        let scores = &classifier.scores;
        let [labeled, unlabeled, test] = self.dealt;
        let share = test as f64 / (labeled + unlabeled) as f64;
        let pairwise = || Pairwise::new(scores, &reference.scores, share, self.verdicts);
        Standing {
            name: classifier.name.clone(),
            mean: mean(scores).unwrap_or(f64::NAN),
            std: deviation(scores).unwrap_or(0.0),
            interval: mean_interval(scores),
            against: (classifier.name != reference.name).then(pairwise),
        }
    }
}

/// Average ranks of classifiers over data sets. The scores of each are one for each set; higher is better.
///
/// # Errors
/// If there are fewer than two classifiers or sets, two classifiers have the same name, their scores differ in number,
/// or a score is not finite.
pub fn average_ranks(classifiers: &[ClassifierScores]) -> Result<AverageRanks> {
    let n_sets = check(classifiers)?;
    for (what, found) in [("classifier", classifiers.len()), ("data set", n_sets)] {
        if found < 2 {
            return Err(Error::Single { what });
        }
    }
    let of_set = |set: usize| classifiers.iter().map(|classifier| classifier.scores[set]).collect();
    let table: Vec<Vec<f64>> = (0..n_sets).map(of_set).collect();
    let names = classifiers.iter().map(|classifier| classifier.name.clone()).collect();
    AverageRanks::new(names, &table).ok_or(Error::Single { what: "data set" })
}

/// The number of scores of each classifier; an error where they cannot be compared.
fn check(classifiers: &[ClassifierScores]) -> Result<usize> {
    let Some(expected) = classifiers.first().map(|first| first.scores.len()).filter(|&expected| expected > 0) else {
        return Err(Error::Nothing { what: "score" });
    };
    once("classifier", classifiers.iter().map(|classifier| &classifier.name))?;
    for ClassifierScores { name, scores } in classifiers {
        if scores.len() != expected || scores.iter().any(|score| !score.is_finite()) {
            return Err(Error::Scores { name: name.clone(), found: scores.len(), expected });
        }
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Verdict;

    fn comparison(scores: &[(&str, &[f64])]) -> Comparison {
        let classifier =
            |(name, scores): &(&str, &[f64])| ClassifierScores { name: (*name).into(), scores: scores.to_vec() };
        let classifiers = scores.iter().map(classifier).collect();
        Comparison {
            title: "t".into(),
            scoring: "accuracy".into(),
            dealt: [5, 5, 10],
            verdicts: DecidingTest::default(),
            classifiers,
        }
    }

    #[test]
    fn the_reference_is_not_compared_with_itself() {
        let comparison = comparison(&[("a", &[0.5, 0.6, 0.7]), ("b", &[0.6, 0.6, 0.9])]);
        let standings = comparison.standings("a").unwrap();
        assert_eq!(standings[0].against, None);
        let against = standings[1].against.unwrap();
        assert_eq!(against.splits, [2, 1, 0]);
        assert!(against.corrected.unwrap().p > against.t.unwrap().p);
    }

    #[test]
    fn the_corrected_test_decides_unless_told_otherwise() {
        let scores: [&[f64]; 2] = [&[0.80, 0.78, 0.81, 0.79, 0.80], &[0.77, 0.77, 0.79, 0.77, 0.79]];
        let corrected = comparison(&[("a", scores[0]), ("b", scores[1])]);
        let paired = Comparison { verdicts: DecidingTest::Paired, ..corrected.clone() };
        let of = |comparison: &Comparison| comparison.standings("b").unwrap()[0].against.unwrap().verdict;
        assert_eq!((of(&corrected), of(&paired)), (Some(Verdict::Tie), Some(Verdict::Win)));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let message = |comparison: Comparison| comparison.standings("a").unwrap_err().to_string();
        assert!(message(comparison(&[])).contains("no score"));
        assert!(message(comparison(&[("a", &[0.1]), ("a", &[0.2])])).contains("twice"));
        assert!(message(comparison(&[("a", &[0.1]), ("b", &[0.2, 0.3])])).contains("`b`"));
        assert!(message(comparison(&[("a", &[f64::NAN])])).contains("`a`"));
        assert!(message(comparison(&[("b", &[0.1])])).contains("unknown reference `a`"));
    }
}

//! Tri-training: of three members, two pseudo-label rows for the third.
//!
//! Z.-H. Zhou and M. Li, "Tri-training: exploiting unlabeled data using three classifiers", TKDE 17, 2005.

use crate::ensemble::Learned;
use crate::ensemble::bootstraps;
use crate::ensemble::pseudo_labels::{MOST_ROUNDS, PseudoLabels};
use crate::ensemble::{Ensemble, Part, Rule, TrainingRows};
use crate::error::Result;
use crate::learner::{Hypothesis, Learner, Sample};
use crate::method::Learn;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream, member_seed};

method! {
    /// Tri-training: of three members, two give pseudo-labels to the third where they agree.
    ///
    /// The three initial members are fitted to bootstraps of the labeled rows. A member is refitted with the pseudo-labels of the other
    /// two as long as these are likely to lower its error. Prediction is by majority vote.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = TriTraining::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    TriTraining = "tri-training" {
        title: "Tri-training",
        python: "TriTrainingClassifier",
        paper: "Z.-H. Zhou and M. Li, \"Tri-training: exploiting unlabeled data using three classifiers\", TKDE 17, 2005",
        size: 3,
    }
    settings {
        learning; seed;
    }
}

impl Learn for TriTraining {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let pseudo_labels = PseudoLabels::new(prepared)?;
        let mut members = self.first_members(&*learner, prepared)?;
        let mut pairs = [Pair::default(); 3];
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let (nothing, mut added) = (pseudo_labels.unlabeled().is_empty(), false);
        for round in 0..MOST_ROUNDS {
            if nothing {
                break;
            }
            watch.member(round.min(2), 3)?;
            let labels: Vec<Vec<u8>> = members.iter().map(|member| member.classify(pseudo_labels.rows())).collect();
            let new_labels = [0, 1, 2]
                .map(|i| pairs[i].new_labels(&pseudo_labels, &labels[(i + 1) % 3], &labels[(i + 2) % 3], &mut stream));
            if new_labels.iter().all(Option::is_none) {
                break;
            }
            let refit = |i: usize| match &new_labels[i] {
                None => Ok(None),
                Some(new) => {
                    let (labels, seed) = (&labels[(i + 1) % 3], member_seed(self.seed, i));
                    refitted(&*learner, &pseudo_labels, labels, &new.rows, seed, &members[i]).map(Some)
                }
            };
            let refitted: Result<Vec<Option<Hypothesis>>> = parallel::try_map(new_labels.len(), refit);
            for (i, member) in refitted?.into_iter().enumerate() {
                if let (Some(member), Some(new)) = (member, &new_labels[i]) {
                    added |= !new.rows.is_empty();
                    members[i] = member;
                    pairs[i] = Pair { error: new.error, learned: new.rows.len() };
                }
            }
        }
        watch.member(3, 3)?;
        let part = Part::alike(members, Rule::Unweighted);
        let mut learned = Learned::from(Ensemble::whole(prepared.n_classes(), part));
        learned.warn(pseudo_labels.warning(added), watch);
        Ok(learned)
    }
}

impl TriTraining {
    fn first_members(&self, learner: &dyn Learner, prepared: &TrainingRows) -> Result<Vec<Hypothesis>> {
        let first = |(i, counts): (usize, Vec<u8>)| {
            let weights: Vec<f64> =
                counts.iter().zip(&prepared.weights).map(|(&n, weight)| f64::from(n) * weight).collect();
            let (rows, classes) = (prepared.labeled.rows(), &prepared.codes[..]);
            let seed = member_seed(self.seed, i);
            let sample = Sample { rows, classes, n_classes: prepared.n_classes(), weights: &weights, seed };
            learner.relearn(&sample, &prepared.start())
        };
        bootstraps(&prepared.codes, self.seed, 3)?.into_iter().enumerate().map(first).collect()
    }
}

/// A member refitted with the pseudo-labels of the other two on the rows `new`.
fn refitted(
    learner: &dyn Learner,
    pseudo_labels: &PseudoLabels,
    labels: &[u8],
    new: &[usize],
    seed: u64,
    before: &Hypothesis,
) -> Result<Hypothesis> {
    let (mut classes, mut weights) = (pseudo_labels.classes.clone(), pseudo_labels.weights.clone());
    for &row in new {
        (classes[row], weights[row]) = (labels[row], 1.0);
    }
    let (rows, n_classes) = (pseudo_labels.rows(), pseudo_labels.n_classes);
    learner.relearn(&Sample { rows, classes: &classes, n_classes, weights: &weights, seed }, before)
}

/// The state of a pair that labels rows for the third member: its joint error and the number of its pseudo-labels when it
/// last gave any (the paper's e' and l').
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    error: f64,
    learned: usize,
}

impl Default for Pair {
    fn default() -> Self {
        Pair { error: 0.5, learned: 0 }
    }
}

/// Pseudo-labels of a pair for the third member: the rows, and the joint error of the pair.
#[derive(Debug, PartialEq)]
struct NewLabels {
    rows: Vec<usize>,
    error: f64,
}

impl Pair {
    /// Pseudo-labels for the third member, if they are likely to lower its error.
    fn new_labels(
        &mut self,
        pseudo_labels: &PseudoLabels,
        first: &[u8],
        second: &[u8],
        stream: &mut Stream,
    ) -> Option<NewLabels> {
        let error = joint_error(pseudo_labels, first, second);
        if error >= self.error {
            return None;
        }
        let mut rows: Vec<usize> =
            pseudo_labels.unlabeled().into_iter().filter(|&row| first[row] == second[row]).collect();
        let wanted = self.how_many(error, rows.len())?;
        if wanted < rows.len() {
            stream.shuffle(&mut rows);
            rows.truncate(wanted);
            rows.sort_unstable();
        }
        Some(NewLabels { rows, error })
    }

    /// How many of the rows on which the pair agrees get pseudo-labels, if any.
    fn how_many(&mut self, error: f64, agreed: usize) -> Option<usize> {
        let ratio = error / (self.error - error);
        // Set once, and kept until there are pseudo-labels.
        if self.learned == 0 {
            self.learned = (ratio + 1.0).floor() as usize;
        }
        let learned = self.learned as f64;
        if learned >= agreed as f64 {
            return None;
        }
        if error * (agreed as f64) < self.error * learned {
            return Some(agreed);
        }
        if learned > ratio {
            return Some((self.error * learned / error - 1.0).ceil() as usize);
        }
        None
    }
}

/// The joint error of two members: the weighted share of misclassified rows among the labeled ones on which they agree; 1/2
/// if they agree on none.
fn joint_error(pseudo_labels: &PseudoLabels, first: &[u8], second: &[u8]) -> f64 {
    let (mut agree, mut wrong) = (0.0, 0.0);
    for row in (0..pseudo_labels.n_labeled).filter(|&row| first[row] == second[row]) {
        agree += pseudo_labels.weights[row];
        if first[row] != pseudo_labels.classes[row] {
            wrong += pseudo_labels.weights[row];
        }
    }
    if agree > 0.0 { wrong / agree } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    fn pseudo_labels(classes: &[u8], n_unlabeled: usize) -> PseudoLabels {
        let n = classes.len() + n_unlabeled;
        let mut weights = vec![1.0; classes.len()];
        weights.resize(n, 0.0);
        let mut all = classes.to_vec();
        all.resize(n, 0);
        let rows = Dense::zeros(n, 1).unwrap().into();
        PseudoLabels { rows, classes: all, weights, n_classes: 2, n_labeled: classes.len() }
    }

    #[test]
    fn the_joint_error_counts_where_both_agree() {
        let rows = pseudo_labels(&[0, 0, 1, 1], 0);
        assert_eq!(joint_error(&rows, &[0, 1, 0, 1], &[0, 1, 1, 1]), 1.0 / 3.0);
        assert_eq!(joint_error(&rows, &[0, 0, 0, 0], &[1, 1, 1, 1]), 0.5);
    }

    /// The conditions of the paper's figure 1, by hand.
    #[test]
    fn a_lesson_is_taught_where_it_is_likely_to_help() {
        // First round: e' = 0.5, e = 0.25: l' = floor(0.25 / 0.25 + 1) = 2.
        let mut first = Pair::default();
        assert_eq!(first.how_many(0.25, 2), None, "not more rows than l'");
        assert_eq!(first.how_many(0.25, 3), Some(3), "0.25 * 3 < 0.5 * 2");
        // 0.25 * 4 is not below 0.5 * 2, but l' = 2 > 1: a part of ceil(0.5 * 2 / 0.25 - 1) = 3.
        assert_eq!(first.how_many(0.25, 4), Some(3));
        // Without pseudo-labels l' stays the same: with 0.4 it would be floor(0.4 / 0.1 + 1) = 5.
        assert_eq!(first.learned, 2);
        assert_eq!(first.how_many(0.4, 4), None, "0.4 * 4 > 0.5 * 2, and 2 is not above 4");
        // Without an error all rows are labeled.
        assert_eq!(Pair::default().how_many(0.0, 1000), Some(1000));
        assert_eq!(Pair::default().how_many(0.0, 1), None);
        // Later: l' <= e / (e' - e) leaves no rows to label.
        let mut later = Pair { error: 0.3, learned: 2 };
        assert_eq!(later.how_many(0.25, 10), None);
    }

    #[test]
    fn a_higher_error_teaches_nothing() {
        let rows = pseudo_labels(&[0, 1], 3);
        let mut stream = Stream::new(0, Purpose::Boosting, 0);
        let labels = [1, 1, 0, 0, 0];
        assert_eq!(Pair { error: 0.5, learned: 9 }.new_labels(&rows, &labels, &labels, &mut stream), None);
        let right = [0, 1, 0, 1, 0];
        let new = Pair::default().new_labels(&rows, &right, &[0, 1, 0, 1, 1], &mut stream).unwrap();
        assert_eq!(new, NewLabels { rows: vec![2, 3], error: 0.0 });
    }
}

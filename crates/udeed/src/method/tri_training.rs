//! Tri-training: of three members, two pseudo-label rows for the third.

use crate::ensemble::pseudo_labels::{MOST_ROUNDS, NewLabels, PseudoLabels, Teachers};
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows, bootstraps};
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
        labels_rows: true,
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
        let mut teachers = [Teachers::default(); 3];
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let n_unlabeled = pseudo_labels.unlabeled().len();
        let (mut rounds, mut added) = (LabelRounds::by_members(n_unlabeled), false);
        for round in 0..MOST_ROUNDS {
            if n_unlabeled == 0 {
                break;
            }
            watch.member(round.min(2), 3)?;
            let classify = |member: usize| {
                let classes = members[member].classify(pseudo_labels.rows());
                classes.map_err(|error| error.in_member(member).in_round(round))
            };
            let labels: Vec<Vec<u8>> = (0..members.len()).map(classify).collect::<Result<_>>()?;
            let new_labels = [0, 1, 2].map(|i| {
                let (first, second) = (&labels[(i + 1) % 3], &labels[(i + 2) % 3]);
                new_labels(&mut teachers[i], &pseudo_labels, first, second, &mut stream)
            });
            if new_labels.iter().all(Option::is_none) {
                break;
            }
            let refit = |i: usize| {
                let Some(new) = &new_labels[i] else { return Ok(None) };
                let member = pseudo_labels.learn_with(new, &*learner, member_seed(self.seed, i), &members[i]);
                member.map(Some).map_err(|error| error.in_member(i).in_round(round))
            };
            let refitted: Result<Vec<Option<Hypothesis>>> = parallel::try_map(new_labels.len(), refit);
            for (i, member) in refitted?.into_iter().enumerate() {
                if let (Some(member), Some(new)) = (member, &new_labels[i]) {
                    added |= !new.rows.is_empty();
                    let others = [(i + 1) % 3, (i + 2) % 3];
                    new.rows.iter().for_each(|row| rounds.note(row.0 - pseudo_labels.n_labeled, round, &others));
                    members[i] = member;
                    teachers[i] = new.teachers;
                }
            }
        }
        watch.member(3, 3)?;
        let part = Part::alike(members, Rule::Unweighted);
        let mut learned = Learned { rounds: Some(rounds), ..Ensemble::whole(prepared.n_classes(), part).into() };
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
            learner.relearn(&sample, &prepared.start()).map_err(|error| error.in_member(i))
        };
        bootstraps(&prepared.codes, self.seed, 3)?.into_iter().enumerate().map(first).collect()
    }
}

/// Pseudo-labels of two members for the third, if they are likely to lower its error.
fn new_labels(
    teachers: &mut Teachers,
    pseudo_labels: &PseudoLabels,
    first: &[u8],
    second: &[u8],
    stream: &mut Stream,
) -> Option<NewLabels> {
    let error = joint_error(pseudo_labels, first, second);
    if error >= teachers.error {
        return None;
    }
    let mut rows: Vec<usize> = pseudo_labels.unlabeled().into_iter().filter(|&row| first[row] == second[row]).collect();
    let wanted = how_many(teachers, error, rows.len())?;
    if wanted < rows.len() {
        stream.shuffle(&mut rows);
        rows.truncate(wanted);
        rows.sort_unstable();
    }
    let teachers = Teachers { error, weight: rows.len() as f64 };
    Some(NewLabels { rows: rows.into_iter().map(|row| (row, first[row], 1.0)).collect(), teachers })
}

/// Number of rows, of those on which two members agree, that get pseudo-labels, if any. The error and the weight of the teachers
/// are the paper's e' and l'.
fn how_many(teachers: &mut Teachers, error: f64, agreed: usize) -> Option<usize> {
    let ratio = error / (teachers.error - error);
    // Set once, and kept until there are pseudo-labels.
    if teachers.weight == 0.0 {
        teachers.weight = (ratio + 1.0).floor();
    }
    if teachers.weight >= agreed as f64 {
        return None;
    }
    if error * (agreed as f64) < teachers.error * teachers.weight {
        return Some(agreed);
    }
    if teachers.weight > ratio {
        return Some((teachers.error * teachers.weight / error - 1.0).ceil() as usize);
    }
    None
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
        let mut first = Teachers::default();
        assert_eq!(how_many(&mut first, 0.25, 2), None, "not more rows than l'");
        assert_eq!(how_many(&mut first, 0.25, 3), Some(3), "0.25 * 3 < 0.5 * 2");
        // 0.25 * 4 is not below 0.5 * 2, but l' = 2 > 1: a part of ceil(0.5 * 2 / 0.25 - 1) = 3.
        assert_eq!(how_many(&mut first, 0.25, 4), Some(3));
        // Without pseudo-labels l' stays the same: with 0.4 it would be floor(0.4 / 0.1 + 1) = 5.
        assert_eq!(first.weight, 2.0);
        assert_eq!(how_many(&mut first, 0.4, 4), None, "0.4 * 4 > 0.5 * 2, and 2 is not above 4");
        // Without an error all rows are labeled.
        assert_eq!(how_many(&mut Teachers::default(), 0.0, 1000), Some(1000));
        assert_eq!(how_many(&mut Teachers::default(), 0.0, 1), None);
        // Later: l' <= e / (e' - e) leaves no rows to label.
        let mut later = Teachers { error: 0.3, weight: 2.0 };
        assert_eq!(how_many(&mut later, 0.25, 10), None);
    }

    #[test]
    fn a_higher_error_teaches_nothing() {
        let rows = pseudo_labels(&[0, 1], 3);
        let mut stream = Stream::new(0, Purpose::Boosting, 0);
        let labels = [1, 1, 0, 0, 0];
        let mut teachers = Teachers { error: 0.5, weight: 9.0 };
        assert_eq!(new_labels(&mut teachers, &rows, &labels, &labels, &mut stream), None);
        let right = [0, 1, 0, 1, 0];
        let new = new_labels(&mut Teachers::default(), &rows, &right, &[0, 1, 0, 1, 1], &mut stream).unwrap();
        let teachers = Teachers { error: 0.0, weight: 2.0 };
        assert_eq!(new, NewLabels { rows: vec![(2, 0, 1.0), (3, 1, 1.0)], teachers });
    }
}

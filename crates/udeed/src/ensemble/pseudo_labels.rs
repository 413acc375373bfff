//! Pseudo-labels: predicted labels for unlabeled rows.

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::TrainingRows;
use crate::error::Result;
use crate::learner::{Hypothesis, Learner, Sample, winner};
use crate::observer::Warning;
use crate::random::Stream;

/// Largest number of rounds of methods whose rounds end anyway: each must lower an error.
pub(crate) const MOST_ROUNDS: usize = 100;

/// All training rows, the labeled ones first, with their labels and pseudo-labels.
pub(crate) struct PseudoLabels {
    pub(crate) rows: Matrix,
    /// The class of each row, if it has a label or pseudo-label.
    pub(crate) classes: Vec<u8>,
    /// The weight of each row; 0 without a label or pseudo-label.
    pub(crate) weights: Vec<f64>,
    pub(crate) n_classes: usize,
    pub(crate) n_labeled: usize,
}

impl PseudoLabels {
    pub(crate) fn new(prepared: &TrainingRows) -> Result<Self> {
        let rows = prepared.labeled.stack(prepared.unlabeled.in_memory()?)?;
        let n_rows = rows.rows().n_rows();
        let (mut classes, mut weights) = (prepared.codes.clone(), prepared.weights.clone());
        classes.resize(n_rows, 0);
        weights.resize(n_rows, 0.0);
        Ok(PseudoLabels { rows, classes, weights, n_classes: prepared.n_classes(), n_labeled: prepared.codes.len() })
    }

    pub(crate) fn rows(&self) -> &dyn Rows {
        self.rows.rows()
    }

    /// Gives a row a pseudo-label with a weight.
    pub(crate) fn add(&mut self, row: usize, class: u8, weight: f64) {
        self.classes[row] = class;
        self.weights[row] = weight;
    }

    /// All rows, with these classes and weights.
    pub(crate) fn sample<'a>(&'a self, classes: &'a [u8], weights: &'a [f64], seed: u64) -> Sample<'a> {
        Sample { rows: self.rows(), classes, n_classes: self.n_classes, weights, seed }
    }

    /// Fits a learner to all labels and pseudo-labels, starting from an earlier fit.
    pub(crate) fn learn(&self, learner: &dyn Learner, seed: u64, before: &Hypothesis) -> Result<Hypothesis> {
        learner.relearn(&self.sample(&self.classes, &self.weights, seed), before)
    }

    /// Like [`PseudoLabels::learn`], with pseudo-labels for this fit only.
    pub(crate) fn learn_with(
        &self,
        new: &NewLabels,
        learner: &dyn Learner,
        seed: u64,
        before: &Hypothesis,
    ) -> Result<Hypothesis> {
        let (mut classes, mut weights) = (self.classes.clone(), self.weights.clone());
        for &(row, class, weight) in &new.rows {
            (classes[row], weights[row]) = (class, weight);
        }
        learner.relearn(&self.sample(&classes, &weights, seed), before)
    }

    /// The unlabeled rows, with or without a pseudo-label.
    pub(crate) fn unlabeled(&self) -> Vec<usize> {
        (self.n_labeled..self.classes.len()).collect()
    }

    /// The warning of a method to which the unlabeled rows gave nothing; `added` says whether any got a pseudo-label.
    pub(crate) fn warning(&self, added: bool) -> Option<Warning> {
        match (self.unlabeled().is_empty(), added) {
            (true, _) => Some(Warning::NothingUnlabeled),
            (false, false) => Some(Warning::NothingAdded),
            (false, true) => None,
        }
    }

    /// Whether any unlabeled row has a pseudo-label.
    pub(crate) fn any(&self) -> bool {
        self.weights[self.n_labeled..].iter().any(|&weight| weight > 0.0)
    }
}

/// Members that label rows for another one: their error, and the total weight of their pseudo-labels, when they last gave any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Teachers {
    pub(crate) error: f64,
    pub(crate) weight: f64,
}

impl Default for Teachers {
    fn default() -> Self {
        Teachers { error: 0.5, weight: 0.0 }
    }
}

/// Pseudo-labels for a member: rows, each with its class and weight, and the teachers who give them.
#[derive(Debug, PartialEq)]
pub(crate) struct NewLabels {
    pub(crate) rows: Vec<(usize, u8, f64)>,
    pub(crate) teachers: Teachers,
}

/// Predictions for some rows: the most probable class, and its probability as confidence.
pub(crate) struct Predictions {
    pub(crate) classes: Vec<u8>,
    pub(crate) confidences: Vec<f64>,
}

impl Predictions {
    pub(crate) fn of(probabilities: &Dense, n_rows: usize) -> Self {
        let classes: Vec<u8> = (0..n_rows).map(|i| winner(probabilities.get(i)) as u8).collect();
        let confidence = |(i, &class): (usize, &u8)| probabilities.get(i)[usize::from(class)];
        let confidences = classes.iter().enumerate().map(confidence).collect();
        Predictions { classes, confidences }
    }

    /// The predictions of a hypothesis for some of the rows.
    ///
    /// # Errors
    /// As [`Hypothesis::distributions`].
    pub(crate) fn by(hypothesis: &Hypothesis, rows: &dyn Rows, of: &[usize]) -> Result<Self> {
        let some = Matrix::gather(rows, of);
        Ok(Predictions::of(&hypothesis.distributions(some.rows())?, of.len()))
    }

    /// The indices of the most confident predictions, `wanted` of each class; the most confident first, ties in order.
    pub(crate) fn most_confident(&self, wanted: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by(|&a, &b| self.confidences[b].total_cmp(&self.confidences[a]).then(a.cmp(&b)));
        let mut left = wanted.to_vec();
        order.retain(|&place| {
            let left = &mut left[usize::from(self.classes[place])];
            let takes = *left > 0;
            *left -= usize::from(takes);
            takes
        });
        order
    }
}

/// The `wanted` rows with the largest keys.
pub(crate) fn largest(wanted: usize, keyed: impl Iterator<Item = (usize, f64)>) -> Vec<usize> {
    let mut keyed: Vec<(usize, f64)> = keyed.collect();
    keyed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    keyed.into_iter().take(wanted).map(|(i, _)| i).collect()
}

/// Draws `wanted` rows without replacement by their weights; rows of weight 0 are never drawn.
pub(crate) fn draw_without_replacement(stream: &mut Stream, wanted: usize, weights: &[f64]) -> Vec<usize> {
    // The largest u^(1/w), with keys ln(u)/w (Efraimidis and Spirakis).
    let drawn = weights.iter().enumerate().filter(|&(_, &weight)| weight > 0.0);
    largest(wanted, drawn.map(|(i, weight)| (i, libm::log(1.0 - stream.unit()) / weight)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surest_of_each_class_are_found() {
        let predictions = Predictions { classes: vec![0, 1, 0, 1, 0], confidences: vec![0.6, 0.9, 0.8, 0.9, 0.8] };
        assert_eq!(predictions.most_confident(&[2, 1]), [1, 2, 4]);
        assert_eq!(predictions.most_confident(&[0, 5]), [1, 3]);
    }
}

//! Bootstraps of the labeled rows, the same for every view, and estimates on their out-of-bag rows.

use std::collections::BTreeSet;

use crate::data::Dense;
use crate::ensemble::vote::probabilities;
use crate::ensemble::{HeldOut, TrainingRows};
use crate::error::Result;
use crate::learner::{normalise, winner};
use crate::method::auto::mixture;
use crate::observer::Warning;

/// Bootstraps of the labeled rows, the same for every view and lambda, and estimates on their out-of-bag rows.
pub(crate) struct OutOfBag<'a> {
    pub(crate) prepared: &'a TrainingRows,
    /// For each member, how often each row is drawn.
    pub(crate) draws: Vec<Vec<u8>>,
    /// For each member the resulting weight of each row; then, for fits to all labels, the weights themselves.
    pub(crate) weights: Vec<Vec<f64>>,
}

/// For each head the mean output of the members for which a row is out of bag, row by row; 0 if there are none.
pub(crate) type Outputs = Vec<Vec<f64>>;

impl<'a> OutOfBag<'a> {
    /// `of_rows` has the weight of each row, in all members.
    pub(crate) fn new(prepared: &'a TrainingRows, draws: Vec<Vec<u8>>, of_rows: &[f64]) -> Self {
        let counted = |draw: &Vec<u8>| draw.iter().zip(of_rows).map(|(&n, w)| f64::from(n) * w).collect();
        let mut weights: Vec<Vec<f64>> = draws.iter().map(counted).collect();
        weights.push(of_rows.to_vec());
        OutOfBag { prepared, draws, weights }
    }

    /// The weight of each row in fits to all labels.
    pub(crate) fn row_weights(&self) -> &[f64] {
        &self.weights[self.n_members()]
    }

    pub(crate) fn n_members(&self) -> usize {
        self.draws.len()
    }

    pub(crate) fn n_heads(&self) -> usize {
        self.prepared.heads.len()
    }

    /// The rows that are out of bag for some member.
    pub(crate) fn rows(&self) -> Vec<usize> {
        let counts = self.counts();
        (0..counts.len()).filter(|&i| counts[i] > 0).collect()
    }

    /// The outputs of the heads on out-of-bag rows.
    pub(crate) fn held_out(&self, outputs: &Outputs) -> HeldOut {
        let counts = self.counts();
        HeldOut::new(self.prepared, |i| (counts[i] > 0).then(|| outputs.iter().map(|head| head[i]).collect()))
    }

    /// The number of classes among the out-of-bag rows.
    fn n_classes(&self) -> usize {
        let classes: BTreeSet<u8> = self.rows().into_iter().map(|i| self.prepared.codes[i]).collect();
        classes.len()
    }

    /// The out-of-bag accuracy of the outputs of the heads.
    pub(crate) fn accuracy(&self, outputs: &Outputs) -> f64 {
        let rows = self.rows();
        let right = |i: &&usize| {
            let outputs: Vec<f64> = outputs.iter().map(|head| head[**i]).collect();
            winner(&outputs) == usize::from(self.prepared.codes[**i])
        };
        rows.iter().filter(right).count() as f64 / rows.len().max(1) as f64
    }

    /// For each row, the number of members for which it is out of bag.
    pub(crate) fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.prepared.codes.len()];
        for draw in &self.draws {
            counts.iter_mut().zip(draw).for_each(|(count, &n)| *count += u32::from(n == 0));
        }
        counts
    }

    /// For each row the mean output of the members for which it is out of bag; 0 if there are none.
    pub(crate) fn mean_outputs(&self, outputs: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mean = |(i, n): (usize, u32)| {
            let out = self.draws.iter().enumerate().filter(|(_, draw)| draw[i] == 0);
            out.map(|(k, _)| outputs(k, i)).sum::<f64>() / f64::from(n.max(1))
        };
        self.counts().into_iter().enumerate().map(mean).collect()
    }

    /// The class probabilities of each row, by the outputs of the heads; not a number for rows that are never out of bag.
    pub(crate) fn distributions(&self, outputs: &Outputs) -> Result<Dense> {
        let of_row = |(i, count): (usize, u32)| {
            let votes: Vec<f64> = outputs.iter().map(|head| head[i].clamp(-1.0, 1.0)).collect();
            let mut probabilities = probabilities(&votes);
            if count == 0 {
                probabilities.fill(f64::NAN);
            }
            probabilities
        };
        let counts = self.counts();
        let values = counts.into_iter().enumerate().flat_map(of_row).collect();
        Dense::new(self.prepared.codes.len(), self.prepared.n_classes(), values)
    }

    /// The probability that the outputs of the heads give to the class of each row.
    fn probabilities(&self, outputs: &Outputs) -> Vec<f64> {
        let probability = |(i, &class): (usize, &u8)| {
            if let [only] = &outputs[..] {
                let target = self.prepared.heads[0].targets[i];
                return 0.5 * (1.0 + target * only[i]);
            }
            let mut shares: Vec<f64> = outputs.iter().map(|head| 0.5 * (1.0 + head[i])).collect();
            normalise(&mut shares);
            shares[usize::from(class)]
        };
        self.prepared.codes.iter().enumerate().map(probability).collect()
    }

    /// The mixture weights of candidates by the likelihood of the out-of-bag rows; the prior weights if all of these are of
    /// one class.
    pub(crate) fn shares(&self, candidates: &[&Outputs], prior: &[f64], warnings: &mut Vec<Warning>) -> Vec<f64> {
        let total: f64 = prior.iter().sum();
        let prior: Vec<f64> = prior.iter().map(|weight| weight / total).collect();
        if self.n_classes() < 2 {
            warnings.push(Warning::OneClassOut);
            return prior;
        }
        let probabilities: Vec<Vec<f64>> = candidates.iter().map(|outputs| self.probabilities(outputs)).collect();
        mixture::shares(&probabilities, self.row_weights(), &prior)
    }
}

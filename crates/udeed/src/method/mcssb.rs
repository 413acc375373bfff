//! MCSSB: multi-class boosting by the similarity of rows.

use crate::data::Matrix;
use crate::ensemble::boosting::{Boosted, LARGEST_VOTE};
use crate::ensemble::pseudo_labels::{PseudoLabels, draw_without_replacement};
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::{Similarity, distance_percentile};
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::random::{Purpose, Stream};

method! {
    /// MCSSB: multi-class boosting that gives similar rows the same class.
    ///
    /// In every round the pseudo-label of an unlabeled row is the class that lowers the objective most. The next member is fitted to
    /// the labeled rows and to some of the unlabeled ones, drawn by how much their pseudo-labels lower it.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = Mcssb::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Mcssb = "mcssb" {
        title: "MCSSB",
        python: "MCSSBClassifier",
        paper: "H. Valizadegan, R. Jin and A. Jain, \"Semi-supervised boosting for multi-class classification\", ECML 2008",
        grows: true,
        labels_rows: true,
    }
    settings {
        boosting;
        /// Width of the similarity, as a share of the largest distance between rows.
        width: f64 = 0.15, in Range::POSITIVE;
        /// Weight of similarities to labeled rows against those between unlabeled ones.
        labeled_weight: f64 = 10_000.0, in Range::POSITIVE;
        /// Number of unlabeled rows drawn in a round, as a share of all rows; at least 20 rows.
        pick_share: f64 = 0.2, in Range::SHARE;
        /// Nearest neighbours treated as similar; 0 compares all pairs, which takes quadratic memory.
        neighbors: usize = 20;
        memory; seed;
    }
}

impl Learn for Mcssb {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        if prepared.unlabeled.n_rows() == 0 {
            let mut learned = Learned::from(prepared.logistic());
            learned.warn([Warning::NothingUnlabeled], watch);
            return Ok(learned);
        }
        let learner = self.base.learner(self.lambda, watch);
        Ok(self.boost(&*learner, prepared, watch)?.finish(watch))
    }

    fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        Some(Similarity::among(self.neighbors).bytes(n_labeled + n_unlabeled, n_labeled))
    }
}

impl Mcssb {
    fn boost(&self, learner: &dyn Learner, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Boosted> {
        let mut pseudo_labels = PseudoLabels::new(prepared)?;
        let (l, n_classes) = (pseudo_labels.n_labeled, pseudo_labels.n_classes);
        let sigma = self.width * distance_percentile(pseudo_labels.rows(), 100.0, self.seed, watch)?;
        let similarity =
            Similarity::among(self.neighbors).matrix(pseudo_labels.rows(), l, sigma, self.memory, watch)?;
        let mut objective =
            Objective::new(&similarity, (&prepared.codes, &prepared.weights), n_classes, self.labeled_weight);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let wanted = ((pseudo_labels.classes.len() as f64 * self.pick_share) as usize).max(20);
        let mut boosted = Boosted::new(self.members, prepared.start());
        while boosted.wants_more() {
            let (classes, gains) = objective.suggestions();
            let picked = draw_without_replacement(&mut stream, wanted, &gains);
            if picked.is_empty() {
                break;
            }
            pseudo_labels.weights[l..].fill(0.0);
            picked.iter().for_each(|&i| pseudo_labels.add(l + i, classes[i], 1.0));
            let (rows, weights, seed) = (pseudo_labels.rows(), &pseudo_labels.weights[..], boosted.seed(self.seed));
            let sample = Sample { rows, classes: &pseudo_labels.classes, n_classes, weights, seed };
            let (member, outputs) = boosted.learn(learner, &sample, rows)?;
            let weight = objective.weight(&outputs[l..]);
            // NaN: no row is similar to another.
            if weight.is_nan() || weight <= 0.0 {
                break;
            }
            // Without any disagreement the weight would be infinite.
            let weight = weight.min(LARGEST_VOTE);
            objective.add(weight, &outputs[l..]);
            boosted.push(member, weight, watch)?;
            boosted.learned_from(&pseudo_labels.weights[l..]);
        }
        Ok(boosted)
    }
}

/// The objective and the votes on the unlabeled rows. With `b_i = softmax(H_i)`, `Z_ij = sum_k b_i^k b_j^k`
/// and `c` the weights of the labeled rows,
///
/// ```text
/// F = sum_{U,U} S_ij / Z_ij + C sum_{i in U, j in L} c_j S_ij / b_i^{y_j}
/// a_i^k = sum_{j in U} S_ij (b_i^k - tau_ij^k) / Z_ij,   tau_ij^k = b_i^k b_j^k / Z_ij
/// g_i^k = 1/2 sum_{j in L} c_j S_ij (b_i^k / b_i^{y_j} - [k = y_j] / b_i^k)
/// ```
///
/// and `dF/dH_i^k = 2 (a_i^k + C g_i^k)`.
struct Objective<'a> {
    similarity: &'a Matrix,
    labels: &'a [u8],
    weights: &'a [f64],
    n_classes: usize,
    labeled_weight: f64,
    /// Row by row, one per class.
    votes: Vec<f64>,
}

impl<'a> Objective<'a> {
    fn new(
        similarity: &'a Matrix,
        (labels, weights): (&'a [u8], &'a [f64]),
        n_classes: usize,
        labeled_weight: f64,
    ) -> Self {
        let votes = vec![0.0; similarity.rows().n_rows() * n_classes];
        Objective { similarity, labels, weights, n_classes, labeled_weight, votes }
    }

    /// The probability of each class for each row.
    fn shares(&self) -> Vec<f64> {
        let mut shares = self.votes.clone();
        for row in shares.chunks_exact_mut(self.n_classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|h| *h = libm::exp((*h - largest).max(-LARGEST_VOTE)));
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|b| *b /= sum);
        }
        shares
    }

    /// Half of the gradient by the votes on row `i`, given the class probabilities of all rows.
    fn gradient(&self, i: usize, shares: &[f64], to: &mut [f64]) {
        let (k, l) = (self.n_classes, self.labels.len());
        let own = &shares[i * k..][..k];
        to.fill(0.0);
        self.similarity.rows().row(i).for_each(|j, s| match j.checked_sub(l) {
            None => {
                let y = usize::from(self.labels[j]);
                let half = 0.5 * self.labeled_weight * self.weights[j] * s / own[y];
                to.iter_mut().zip(own).for_each(|(to, b)| *to += half * b);
                to[y] -= half;
            }
            Some(j) => {
                let other = &shares[j * k..][..k];
                let z: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                let both = to.iter_mut().zip(own).zip(other);
                both.for_each(|((to, a), b)| *to += s / z * (a - a * b / z));
            }
        });
    }

    /// For each row the class that lowers the objective most, and by how much; 0 if none does.
    fn suggestions(&self) -> (Vec<u8>, Vec<f64>) {
        let shares = self.shares();
        let of_row = |i: usize| {
            let mut gradient = vec![0.0; self.n_classes];
            self.gradient(i, &shares, &mut gradient);
            let best = (1..self.n_classes).fold(0, |best, k| if gradient[k] < gradient[best] { k } else { best });
            (best as u8, (-gradient[best]).max(0.0))
        };
        parallel::map(self.similarity.rows().n_rows(), of_row).into_iter().unzip()
    }

    /// The weight of a member that gives the rows these classes: `1/4 ln((B_u + C B_l) / (A_u + C A_l))`.
    fn weight(&self, outputs: &[u8]) -> f64 {
        let (shares, k, l) = (self.shares(), self.n_classes, self.labels.len());
        let of_row = |i: usize| {
            let (own, class) = (&shares[i * k..][..k], usize::from(outputs[i]));
            let (mut against, mut with) = (0.0, 0.0);
            self.similarity.rows().row(i).for_each(|j, s| match j.checked_sub(l) {
                None => {
                    let y = usize::from(self.labels[j]);
                    let half = 0.5 * self.labeled_weight * self.weights[j] * s / own[y];
                    against += half * own[class];
                    with += if y == class { half } else { 0.0 };
                }
                Some(j) => {
                    let other = &shares[j * k..][..k];
                    let z: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                    against += s / z * own[class];
                    with += s / z * own[class] * other[class] / z;
                }
            });
            (against, with)
        };
        let sums: Vec<(f64, f64)> = parallel::map(outputs.len(), of_row);
        let (against, with) = sums.iter().fold((0.0, 0.0), |(a, b), row| (a + row.0, b + row.1));
        0.25 * libm::log(with / against)
    }

    fn add(&mut self, weight: f64, outputs: &[u8]) {
        for (votes, &class) in self.votes.chunks_exact_mut(self.n_classes).zip(outputs) {
            votes[usize::from(class)] += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Rows};

    /// The value of the objective by its definition.
    fn value(objective: &Objective<'_>) -> f64 {
        let (shares, k, l) = (objective.shares(), objective.n_classes, objective.labels.len());
        let mut sum = 0.0;
        for i in 0..objective.similarity.rows().n_rows() {
            objective.similarity.rows().row(i).for_each(|j, s| {
                sum += match j.checked_sub(l) {
                    None => {
                        objective.labeled_weight * objective.weights[j] * s
                            / shares[i * k + usize::from(objective.labels[j])]
                    }
                    Some(j) => s / (0..k).map(|c| shares[i * k + c] * shares[j * k + c]).sum::<f64>(),
                };
            });
        }
        sum
    }

    fn similarity() -> Matrix {
        let rows =
            Dense::new(7, 2, vec![0.0, 0.1, 1.0, 0.3, 0.2, 0.9, 0.5, 0.5, 0.8, 0.1, 0.3, 0.3, 0.9, 0.9]).unwrap();
        Similarity::All.matrix(&rows as &dyn Rows, 3, 0.7, u64::MAX, &Watch::new(&mut ())).unwrap()
    }

    #[test]
    fn suggestions_follow_the_gradient_of_the_objective() {
        let similarity = similarity();
        let mut objective = Objective::new(&similarity, (&[0, 1, 2], &[1.0, 0.5, 2.0]), 3, 5.0);
        objective.votes = vec![0.3, -0.2, 0.5, -0.7, 0.1, 0.0, 0.9, 0.4, -0.3, 0.2, 0.2, 0.6];
        let shares = objective.shares();
        for i in 0..4 {
            let mut gradient = [0.0; 3];
            objective.gradient(i, &shares, &mut gradient);
            for (k, half) in gradient.into_iter().enumerate() {
                let mut at = |by: f64| {
                    objective.votes[i * 3 + k] += by;
                    let value = value(&objective);
                    objective.votes[i * 3 + k] -= by;
                    value
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((2.0 * half - difference).abs() < 1e-6, "{half} against {difference}");
            }
        }
    }

    /// A member that gives every row the class it should have lowers the objective, and its weight is above 0.
    #[test]
    fn the_suggested_classes_are_worth_a_voice() {
        let similarity = similarity();
        let mut objective = Objective::new(&similarity, (&[0, 1, 2], &[1.0, 0.5, 2.0]), 3, 5.0);
        let before = value(&objective);
        let (classes, gains) = objective.suggestions();
        assert!(gains.iter().all(|&gain| gain > 0.0));
        let weight = objective.weight(&classes);
        assert!(weight > 0.0);
        objective.add(weight, &classes);
        assert!(value(&objective) < before);
    }
}

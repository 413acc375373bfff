//! MCSSB: boosting of several classes at once by the similarity of rows.
//!
//! H. Valizadegan, R. Jin and A. Jain, "Semi-supervised boosting for multi-class classification", ECML 2008.

use rayon::prelude::*;

use crate::data::Matrix;
use crate::ensemble::Learned;
use crate::ensemble::TrainingRows;
use crate::ensemble::boosting::Boosted;
use crate::ensemble::pseudo_labels::Growing;
use crate::error::Result;
use crate::learner::{Learner, Sample};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::method::semiboost::draw_without_replacement;
use crate::neighbors::{Similarity, distance_percentile, warned_matrix};
use crate::observer::{Warning, Watch};
use crate::random::{Purpose, Stream};

method! {
    /// MCSSB: boosting for several classes that gives similar rows the same class.
    ///
    /// In each round every unlabeled row is given the class that lowers the objective most; the next member is fitted to the labeled
    /// rows and to some of these, drawn by how much they lower it.
    ///
    /// ```
    /// use udeed::{Mcssb, built_in};
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
        streams: false,
        grows: true,
    }
    settings {
        boosted_members;
        base;
        lambda;
        scaling;
        fourier;
        /// Width of the similarity, as a share of the largest distance.
        width: f64 = 0.15, in Range::POSITIVE;
        /// Weight of similarities to labeled rows against those between unlabeled ones.
        labeled_weight: f64 = 10_000.0, in Range::POSITIVE;
        /// Share of all rows that is drawn in a round, but at least 20 rows.
        pick_share: f64 = 0.2, in Range::SHARE;
        /// Nearest neighbours treated as similar; 0 compares all pairs, which takes quadratic memory.
        neighbors: usize = 20;
        memory;
        seed;
    }
}

/// Beyond it an exponential of the votes would drown all others.
const LARGEST_VOTE: f64 = 20.0;

impl Learn for Mcssb {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        if prepared.unlabeled.n_rows() == 0 {
            let mut learned = Learned::from(prepared.logistic());
            learned.warn([Warning::NothingUnlabeled], watch);
            return Ok(learned);
        }
        let learner = self.base.learner(self.lambda, watch);
        let mut boosted = Boosted::new(self.members, prepared.start());
        self.boost(&*learner, prepared, &mut boosted, watch)?;
        Ok(boosted.finish(watch))
    }

    fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        Some(self.kind().bytes(n_labeled + n_unlabeled, n_labeled))
    }
}

impl Mcssb {
    fn kind(&self) -> Similarity {
        if self.neighbors > 0 { Similarity::Nearest(self.neighbors) } else { Similarity::All }
    }

    fn boost(
        &self,
        learner: &dyn Learner,
        prepared: &TrainingRows,
        boosted: &mut Boosted,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let mut growing = Growing::new(prepared)?;
        let (l, n_classes) = (growing.n_labeled, growing.n_classes);
        let sigma = self.width * distance_percentile(growing.rows(), 100.0, self.seed, watch)?;
        let similarity = warned_matrix(&self.kind(), growing.rows(), l, sigma, self.memory, watch)?;
        let mut field = Field::new(&similarity, &prepared.codes, n_classes, self.labeled_weight);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let wanted = ((growing.classes.len() as f64 * self.pick_share) as usize).max(20);
        while boosted.wants_more() {
            let (classes, gains) = field.suggestions();
            let picked = draw_without_replacement(&mut stream, wanted, &gains);
            if picked.is_empty() {
                break;
            }
            growing.weights[l..].fill(0.0);
            picked.iter().for_each(|&i| growing.add(l + i, classes[i], 1.0));
            let (rows, weights, seed) = (growing.rows(), &growing.weights[..], boosted.seed(self.seed));
            let member = learner
                .relearn(&Sample { rows, classes: &growing.classes, n_classes, weights, seed }, boosted.latest())?;
            let outputs = member.classify(rows);
            let weight = field.weight(&outputs[l..]);
            // Also ends where the weight is no number: nothing is similar to anything.
            if weight.is_nan() || weight <= 0.0 {
                break;
            }
            // Where no row is left on the other side the weight would be infinite.
            let weight = weight.min(LARGEST_VOTE);
            field.add(weight, &outputs[l..]);
            boosted.push(member, weight, watch)?;
        }
        Ok(())
    }
}

/// The votes on unlabeled rows, and what the similarities make of them. With `b_i = softmax(H_i)`, `Z_ij = sum_k b_i^k b_j^k`,
///
/// ```text
/// F = sum_{U,U} S_ij / Z_ij + C sum_{i in U, j in L} S_ij / b_i^{y_j}
/// a_i^k = sum_{j in U} S_ij (b_i^k - tau_ij^k) / Z_ij,   tau_ij^k = b_i^k b_j^k / Z_ij
/// g_i^k = 1/2 sum_{j in L} S_ij (b_i^k / b_i^{y_j} - [k = y_j] / b_i^k)
/// ```
///
/// and `dF/dH_i^k = 2 (a_i^k + C g_i^k)`.
struct Field<'a> {
    similarity: &'a Matrix,
    labels: &'a [u8],
    n_classes: usize,
    labeled_weight: f64,
    /// Row by row, one a class.
    votes: Vec<f64>,
}

impl<'a> Field<'a> {
    fn new(similarity: &'a Matrix, labels: &'a [u8], n_classes: usize, labeled_weight: f64) -> Self {
        let votes = vec![0.0; similarity.rows().n_rows() * n_classes];
        Field { similarity, labels, n_classes, labeled_weight, votes }
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

    /// Half of the gradient by the votes on row `i`, given the shares of all rows.
    fn gradient(&self, i: usize, shares: &[f64], to: &mut [f64]) {
        let (k, l) = (self.n_classes, self.labels.len());
        let own = &shares[i * k..][..k];
        to.fill(0.0);
        self.similarity.rows().row(i).for_each(|j, s| match j.checked_sub(l) {
            None => {
                let y = usize::from(self.labels[j]);
                let half = 0.5 * self.labeled_weight * s / own[y];
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

    /// The class that lowers the objective most for each row, and how much; 0 where none does.
    fn suggestions(&self) -> (Vec<u8>, Vec<f64>) {
        let shares = self.shares();
        let of_row = |i: usize| {
            let mut gradient = vec![0.0; self.n_classes];
            self.gradient(i, &shares, &mut gradient);
            let best = (1..self.n_classes).fold(0, |best, k| if gradient[k] < gradient[best] { k } else { best });
            (best as u8, (-gradient[best]).max(0.0))
        };
        (0..self.similarity.rows().n_rows()).into_par_iter().map(of_row).unzip()
    }

    /// What the voices of a member count that gives the rows these classes: `1/4 ln((B_u + C B_l) / (A_u + C A_l))`.
    fn weight(&self, outputs: &[u8]) -> f64 {
        let (shares, k, l) = (self.shares(), self.n_classes, self.labels.len());
        let of_row = |i: usize| {
            let (own, said) = (&shares[i * k..][..k], usize::from(outputs[i]));
            let (mut against, mut with) = (0.0, 0.0);
            self.similarity.rows().row(i).for_each(|j, s| match j.checked_sub(l) {
                None => {
                    let y = usize::from(self.labels[j]);
                    let half = 0.5 * self.labeled_weight * s / own[y];
                    against += half * own[said];
                    with += if y == said { half } else { 0.0 };
                }
                Some(j) => {
                    let other = &shares[j * k..][..k];
                    let z: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                    against += s / z * own[said];
                    with += s / z * own[said] * other[said] / z;
                }
            });
            (against, with)
        };
        let sums: Vec<(f64, f64)> = (0..outputs.len()).into_par_iter().map(of_row).collect();
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

    /// The objective by its definition.
    fn objective(field: &Field<'_>) -> f64 {
        let (shares, k, l) = (field.shares(), field.n_classes, field.labels.len());
        let mut sum = 0.0;
        for i in 0..field.similarity.rows().n_rows() {
            field.similarity.rows().row(i).for_each(|j, s| {
                sum += match j.checked_sub(l) {
                    None => field.labeled_weight * s / shares[i * k + usize::from(field.labels[j])],
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
        let mut field = Field::new(&similarity, &[0, 1, 2], 3, 5.0);
        field.votes = vec![0.3, -0.2, 0.5, -0.7, 0.1, 0.0, 0.9, 0.4, -0.3, 0.2, 0.2, 0.6];
        let shares = field.shares();
        for i in 0..4 {
            let mut gradient = [0.0; 3];
            field.gradient(i, &shares, &mut gradient);
            for (k, half) in gradient.into_iter().enumerate() {
                let mut at = |by: f64| {
                    field.votes[i * 3 + k] += by;
                    let value = objective(&field);
                    field.votes[i * 3 + k] -= by;
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
        let mut field = Field::new(&similarity, &[0, 1, 2], 3, 5.0);
        let before = objective(&field);
        let (classes, gains) = field.suggestions();
        assert!(gains.iter().all(|&gain| gain > 0.0));
        let weight = field.weight(&classes);
        assert!(weight > 0.0);
        field.add(weight, &classes);
        assert!(objective(&field) < before);
    }
}

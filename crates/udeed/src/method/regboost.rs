//! RegBoost: ASSEMBLE with a smoothness regulariser on the labels of near rows.

use crate::data::Matrix;
use crate::ensemble::boosting::{Boosted, boost_heads, weight_of};
use crate::ensemble::pseudo_labels::PseudoLabels;
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample, normalise};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::{Similarity, distance_percentile, nearest_point};
use crate::observer::Watch;
use crate::random::{Purpose, Stream};

method! {
    /// RegBoost: ASSEMBLE with a penalty on labels that contradict near neighbours.
    ///
    /// The more neighbours contradict the label or pseudo-label of a row, the larger its weight; a member that agrees with such labels
    /// gets a smaller weight in the vote. More than two classes are learned one against the rest.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = RegBoost::new().smoothness(1.0).neighbors(5).fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    RegBoost = "regboost" {
        title: "RegBoost",
        python: "RegBoostClassifier",
        paper: "K. Chen and S. Wang, \"Regularized boost for semi-supervised learning\", NIPS 2007",
        grows: true,
        labels_rows: true,
    }
    settings {
        boosting;
        emphasis = Weighting;
        /// Weight of contradicting neighbours relative to the margin.
        smoothness: f64 = 0.5, in Range::NOT_NEGATIVE;
        /// Nearest neighbours treated as similar.
        neighbors: usize = 10, in Range::at_least(1);
        /// Width of the similarity, as a percentile of the distances between rows.
        percentile: f64 = 10.0, in Range::PERCENT;
        memory; seed;
    }
}

impl Learn for RegBoost {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let pseudo_labels = PseudoLabels::new(prepared)?;
        // The paper divides by twice the square of the width.
        let width =
            std::f64::consts::SQRT_2 * distance_percentile(pseudo_labels.rows(), self.percentile, self.seed, watch)?;
        let similarity = Similarity::Nearest(self.neighbors);
        let near = similarity.matrix(pseudo_labels.rows(), 0, width, self.memory, watch)?;
        let nearest = nearest_point(prepared.unlabeled.in_memory()?.rows(), prepared.labeled.rows(), watch)?;
        boost_heads(prepared, self.members, watch, |head, boosted| {
            let mut labels = head.targets.clone();
            labels.extend(nearest.iter().map(|&k| head.targets[k]));
            let state = State {
                labels,
                votes: vec![0.0; pseudo_labels.classes.len()],
                near: &near,
                smoothness: self.smoothness,
            };
            self.boost(&*learner, (prepared, &pseudo_labels, head), state, boosted, watch)
        })
    }

    fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        Some(Similarity::Nearest(self.neighbors).bytes(n_labeled + n_unlabeled, 0))
    }
}

impl RegBoost {
    fn boost(
        &self,
        learner: &dyn Learner,
        (prepared, pseudo_labels, head): (&TrainingRows, &PseudoLabels, &Head),
        mut state: State<'_>,
        boosted: &mut Boosted,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let l = head.targets.len();
        let mut counts = prepared.weights.clone();
        counts.resize(pseudo_labels.classes.len(), prepared.weights.iter().sum::<f64>() / l as f64);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        while boosted.wants_more() {
            let (shares, contradictions) = state.shares(&counts);
            let classes: Vec<u8> = state.labels.iter().map(|&label| u8::from(label > 0.0)).collect();
            let draws = self.emphasis.draws(l, classes.len());
            let weights = self.emphasis.row_weights(&mut stream, &shares, &classes, draws, draws as f64);
            let seed = boosted.seed(self.seed);
            let sample =
                Sample { rows: pseudo_labels.rows(), classes: &classes, n_classes: 2, weights: &weights, seed };
            let (member, outputs) = boosted.learn(learner, &sample, pseudo_labels.rows())?;
            let error = error_of(&outputs, &classes, &shares, &contradictions);
            // At exactly one half the member's vote would have weight 0.
            if error >= 0.5 {
                break;
            }
            let weight = weight_of(error, 2);
            boosted.push(member, weight, watch)?;
            boosted.learned_from(&weights[l..]);
            state.add(weight, &outputs, l);
        }
        Ok(())
    }
}

/// The error of a member: the shares of misclassified rows, and the contradiction in those of correctly classified ones.
fn error_of(outputs: &[u8], classes: &[u8], shares: &[f64], contradictions: &[f64]) -> f64 {
    let of_row = |i: usize| if outputs[i] == classes[i] { contradictions[i] } else { shares[i] };
    (0..classes.len()).map(of_row).sum()
}

/// The current labels and pseudo-labels, and the votes behind them.
struct State<'a> {
    /// -1 or 1.
    labels: Vec<f64>,
    votes: Vec<f64>,
    /// Similarities of near rows.
    near: &'a Matrix,
    smoothness: f64,
}

impl State<'_> {
    /// The share of each row, `e^(-y F) + beta R` over its sum, and the part of it that is contradiction. With
    /// `C~(z) = e^(-z) - 1`, `R_i = mean_j W_ij C~(-|y_i - y_j|)`: every neighbour of another label adds `e^2 - 1` times its
    /// similarity. The paper takes the sum over the neighbours, not the mean: with ten, contradiction would dominate the
    /// margins.
    ///
    /// In the paper, the denominator of the second term of the error is the sum of `C' - beta R`, which is negative. The term
    /// stands for the inner product of the gradient and the member, in which it is positive, as here.
    fn shares(&self, counts: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let jump = libm::exp(2.0) - 1.0;
        let rows = self.near.rows();
        let contradiction = |i: usize| {
            let (mut sum, mut neighbors) = (0.0, 0.0);
            rows.row(i).for_each(|j, similar| {
                neighbors += if j == i { 0.0 } else { 1.0 };
                if self.labels[j] != self.labels[i] {
                    sum += similar;
                }
            });
            self.smoothness * jump * sum / f64::max(neighbors, 1.0) * counts[i]
        };
        let mut contradictions: Vec<f64> = (0..self.labels.len()).map(contradiction).collect();
        let margin = |i: usize| (self.labels[i] * self.votes[i]).clamp(-200.0, 200.0);
        let mut shares: Vec<f64> =
            (0..self.labels.len()).map(|i| counts[i] * libm::exp(-margin(i)) + contradictions[i]).collect();
        let sum: f64 = shares.iter().sum();
        contradictions.iter_mut().for_each(|part| *part /= sum);
        normalise(&mut shares);
        (shares, contradictions)
    }

    /// Adds the votes of a member; the labels of rows from `first` on are set to the new vote.
    fn add(&mut self, weight: f64, outputs: &[u8], first: usize) {
        let votes = self.votes.iter_mut().zip(outputs);
        votes.for_each(|(vote, &output)| *vote += if output == 1 { weight } else { -weight });
        for (label, &vote) in self.labels.iter_mut().zip(&self.votes).skip(first) {
            *label = if vote > 0.0 { 1.0 } else { -1.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    /// Three rows; the first two are neighbours of different labels.
    #[test]
    fn contradiction_is_what_neighbours_of_another_label_say() {
        let near = Matrix::from(Dense::new(3, 3, vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap());
        let near = Matrix::from(near.to_sparse());
        let state = State { labels: vec![1.0, -1.0, 1.0], votes: vec![0.2, 0.1, 0.0], near: &near, smoothness: 0.5 };
        let (shares, contradictions) = state.shares(&[1.0; 3]);
        let r = 0.5 * 0.5 * (2f64.exp() - 1.0);
        let raw = [(-0.2f64).exp() + r, 0.1f64.exp() + r, 1.0];
        let sum: f64 = raw.iter().sum();
        for i in 0..3 {
            assert!((shares[i] - raw[i] / sum).abs() < 1e-12);
        }
        assert!((contradictions[0] - r / sum).abs() < 1e-12 && contradictions[2] == 0.0);
        // The second row is wrong and adds its whole share; the others add their contradiction only.
        let error = error_of(&[1, 1, 1], &[1, 0, 1], &shares, &contradictions);
        assert!((error - (raw[1] + r) / sum).abs() < 1e-12);
    }

    /// The error is the inner product of member and gradient, `(1 + <f, gradient> / sum) / 2`, up to a term that is the same
    /// for every member.
    #[test]
    fn the_error_is_the_inner_product_with_the_gradient() {
        let near: Matrix = Dense::new(4, 4, (0..16).map(|k| 0.1 * f64::from(k % 5)).collect()).unwrap().into();
        let labels = vec![1.0, -1.0, 1.0, -1.0];
        let state = State { labels: labels.clone(), votes: vec![0.3, 0.4, -0.2, -0.9], near: &near, smoothness: 0.7 };
        let (shares, contradictions) = state.shares(&[1.0; 4]);
        let classes = [1, 0, 1, 0];
        for outputs in [[1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]] {
            let f = |i: usize| if outputs[i] == 1 { 1.0 } else { -1.0 };
            // A share less its contradiction is e^(-yF); the contradiction is the same for every member.
            let inner: f64 =
                (0..4).map(|i| (contradictions[i] - shares[i]) * labels[i] * f(i) + contradictions[i]).sum();
            let error = error_of(&outputs, &classes, &shares, &contradictions);
            assert!((error - 0.5 * (1.0 + inner)).abs() < 1e-12, "{error} {inner}");
        }
    }
}

//! SemiBoost: boosting with pseudo-labels from similar rows.

use crate::data::{Matrix, Rows};
use crate::ensemble::boosting::{Boosted, LARGEST_VOTE, boost_heads};
use crate::ensemble::pseudo_labels::{PseudoLabels, draw_without_replacement, largest};
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::{Similarity, distance_percentile};
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

method! {
    /// SemiBoost: each member is fitted to the labeled rows and to pseudo-labels from similar rows.
    ///
    /// In every round an unlabeled row gets a pseudo-label from the labels of similar rows and from the current votes on similar
    /// unlabeled ones. The next member is fitted to the labeled rows and to some of the most confident pseudo-labels.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = SemiBoost::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.7);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    SemiBoost = "semiboost" {
        title: "SemiBoost",
        python: "SemiBoostClassifier",
        paper: "P. Mallapragada, R. Jin, A. Jain and Y. Liu, \"SemiBoost: boosting for semi-supervised learning\", PAMI 31, 2009",
        grows: true,
        labels_rows: true,
    }
    settings {
        boosting;
        /// Width of the similarity, as a percentile of the distances between rows. The literature uses 10 to 100; 1 comes
        /// nearest to the results of the UDEED paper.
        percentile: f64 = 1.0, in Range::PERCENT;
        /// Selection of the unlabeled rows that a member is fitted to.
        pick: Pick = Draw, one of {
            /// Rows drawn without replacement, weighted by the confidence of their pseudo-labels.
            Draw = "draw",
            /// The rows with the most confident pseudo-labels.
            Top = "top",
        };
        /// Share of the unlabeled rows that a member is fitted to.
        pick_share: f64 = 0.1, in Range::SHARE;
        /// Nearest neighbours treated as similar; 0 compares all pairs (as in the paper), which takes quadratic memory.
        neighbors: usize = 20;
        memory; seed;
    }
}

impl Learn for SemiBoost {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let pseudo_labels = PseudoLabels::new(prepared)?;
        let similarity = match pseudo_labels.unlabeled().len() {
            0 => None,
            _ => Some(self.similarity(pseudo_labels.rows(), pseudo_labels.n_labeled, watch)?),
        };
        boost_heads(prepared, self.members, watch, |head, boosted| match &similarity {
            Some(similarity) => self.boost(&*learner, (prepared, &pseudo_labels, head), similarity, boosted, watch),
            None => Ok(()),
        })
    }

    fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        Some(Similarity::among(self.neighbors).bytes(n_labeled + n_unlabeled, n_labeled))
    }
}

impl SemiBoost {
    fn boost(
        &self,
        learner: &dyn Learner,
        (prepared, pseudo_labels, head): (&TrainingRows, &PseudoLabels, &Head),
        similarity: &Matrix,
        boosted: &mut Boosted,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let (rows, l) = (pseudo_labels.rows(), pseudo_labels.n_labeled);
        let mut suggestions = Suggestions::new(similarity, &head.targets, &prepared.weights);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut labels: Vec<u8> = head.targets.iter().map(|&target| u8::from(target > 0.0)).collect();
        labels.resize(rows.n_rows(), 1);
        let unlabeled = prepared.unlabeled.in_memory()?.rows();
        while boosted.wants_more() {
            suggestions.update();
            let picked = self.choose(&mut stream, &suggestions.confidences());
            if picked.is_empty() {
                break;
            }
            let mut counts = vec![0.0; labels.len()];
            counts[..l].copy_from_slice(&prepared.weights);
            for i in picked {
                counts[l + i] = 1.0;
                labels[l + i] = suggestions.label(i);
            }
            let seed = boosted.seed(self.seed);
            let sample = Sample { rows, classes: &labels, n_classes: 2, weights: &counts, seed };
            let (member, outputs) = boosted.learn(learner, &sample, unlabeled)?;
            let weight = suggestions.weight(&outputs);
            // NaN: no row is similar to another.
            if weight.is_nan() || weight <= 0.0 {
                break;
            }
            suggestions.add(weight, &outputs);
            boosted.push(member, weight, watch)?;
            boosted.learned_from(&counts[l..]);
        }
        Ok(())
    }

    fn similarity(&self, rows: &dyn Rows, l: usize, watch: &Watch<'_>) -> Result<Matrix> {
        let sigma = distance_percentile(rows, self.percentile, self.seed, watch)?;
        Similarity::among(self.neighbors).matrix(rows, l, sigma, self.memory, watch)
    }

    /// Selects unlabeled rows by the confidence of their pseudo-labels; none with a confidence of 0.
    fn choose(&self, stream: &mut Stream, confidences: &[f64]) -> Vec<usize> {
        let wanted = ((confidences.len() as f64 * self.pick_share).round() as usize).max(1);
        match self.pick {
            Pick::Top => largest(wanted, confidences.iter().copied().enumerate().filter(|&(_, sure)| sure > 0.0)),
            Pick::Draw => draw_without_replacement(stream, wanted, confidences),
        }
    }
}

/// The pseudo-labels that the similarities suggest for the unlabeled rows. With `H` the votes so far, `c` the weights of the
/// labeled rows and `C = l/u`,
///
/// ```text
/// p_i = e^(-2H_i) sum_{j in L, y_j=+1} c_j S_ij + C/2 e^(-H_i) sum_{j in U} S_ij e^(H_j)
/// q_i = e^( 2H_i) sum_{j in L, y_j=-1} c_j S_ij + C/2 e^( H_i) sum_{j in U} S_ij e^(-H_j)
/// ```
///
/// so that `-2 (p_i - q_i)` is the derivative by `H_i` of SemiBoost's objective
/// `sum_{U,L} c_j S e^(-2 y_j H_i) + C/2 sum_{U,U} S (e^(H_i-H_j) + e^(H_j-H_i))`, each pair of U taken in both orders.
struct Suggestions<'a> {
    similarity: &'a Matrix,
    targets: &'a [f64],
    weights: &'a [f64],
    votes: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl<'a> Suggestions<'a> {
    fn new(similarity: &'a Matrix, targets: &'a [f64], weights: &'a [f64]) -> Self {
        let u = similarity.rows().n_rows();
        Suggestions { similarity, targets, weights, votes: vec![0.0; u], p: vec![0.0; u], q: vec![0.0; u] }
    }

    fn update(&mut self) {
        let (l, u) = (self.targets.len(), self.votes.len());
        let half = 0.5 * l as f64 / u as f64;
        let up: Vec<f64> = self.votes.iter().map(|h| libm::exp(h.clamp(-LARGEST_VOTE, LARGEST_VOTE))).collect();
        let rows = self.similarity.rows();
        let of_row = |i: usize| {
            let (mut positive, mut negative, mut rising, mut falling) = (0.0, 0.0, 0.0, 0.0);
            rows.row(i).for_each(|j, s| match j.checked_sub(l) {
                None if self.targets[j] > 0.0 => positive += self.weights[j] * s,
                None => negative += self.weights[j] * s,
                Some(j) => {
                    rising += s * up[j];
                    falling += s / up[j];
                }
            });
            let e = up[i];
            (positive / (e * e) + half * rising / e, negative * e * e + half * falling * e)
        };
        (self.p, self.q) = parallel::map(u, of_row).into_iter().unzip();
    }

    fn confidences(&self) -> Vec<f64> {
        self.p.iter().zip(&self.q).map(|(p, q)| (p - q).abs()).collect()
    }

    fn label(&self, i: usize) -> u8 {
        u8::from(self.p[i] >= self.q[i])
    }

    /// The weight of a member's vote: `1/4 ln(agreement / disagreement)` over all unlabeled rows.
    fn weight(&self, outputs: &[u8]) -> f64 {
        let (mut agree, mut disagree) = (0.0, 0.0);
        for ((p, q), &output) in self.p.iter().zip(&self.q).zip(outputs) {
            let (with, against) = if output == 1 { (p, q) } else { (q, p) };
            agree += with;
            disagree += against;
        }
        0.25 * libm::log(agree / disagree)
    }

    fn add(&mut self, weight: f64, outputs: &[u8]) {
        let votes = self.votes.iter_mut().zip(outputs);
        votes.for_each(|(vote, &output)| *vote += if output == 1 { weight } else { -weight });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    /// SemiBoost's objective by its definition.
    fn objective(similarity: &Matrix, targets: &[f64], weights: &[f64], votes: &[f64]) -> f64 {
        let (l, u) = (targets.len(), votes.len());
        let c = l as f64 / u as f64;
        let mut sum = 0.0;
        for i in 0..u {
            similarity.rows().row(i).for_each(|j, s| {
                sum += match j.checked_sub(l) {
                    None => weights[j] * s * (-2.0 * targets[j] * votes[i]).exp(),
                    Some(j) => 0.5 * c * s * ((votes[i] - votes[j]).exp() + (votes[j] - votes[i]).exp()),
                };
            });
        }
        sum
    }

    #[test]
    fn suggestions_are_the_gradient_of_the_objective() {
        let rows =
            Dense::new(7, 2, vec![0.0, 0.1, 1.0, 0.3, 0.2, 0.9, 0.5, 0.5, 0.8, 0.1, 0.3, 0.3, 0.9, 0.9]).unwrap();
        let similarity = Similarity::All.matrix(&rows, 3, 0.7, u64::MAX, &Watch::new(&mut ())).unwrap();
        let (targets, weights) = ([1.0, -1.0, 1.0], [1.0, 0.5, 2.0]);
        let mut suggestions = Suggestions::new(&similarity, &targets, &weights);
        suggestions.votes = vec![0.3, -0.2, 0.5, -0.7];
        suggestions.update();
        for i in 0..4 {
            let at = |by: f64| {
                let mut votes = suggestions.votes.clone();
                votes[i] += by;
                objective(&similarity, &targets, &weights, &votes)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            let gradient = -2.0 * (suggestions.p[i] - suggestions.q[i]);
            assert!((gradient - difference).abs() < 1e-7, "{gradient} against {difference}");
        }
    }

    #[test]
    fn picks_are_the_surest_or_drawn_by_sureness() {
        let confidences = [0.0, 5.0, 1.0, 3.0, 0.0];
        let mut stream = Stream::new(1, Purpose::Boosting, 0);
        let top = SemiBoost::new().pick(Pick::Top).pick_share(0.4);
        assert_eq!(top.choose(&mut stream, &confidences), [1, 3]);
        let drawn = SemiBoost::new().pick_share(1.0).choose(&mut stream, &confidences);
        assert_eq!(drawn.len(), 3);
        let mut firsts = [0; 5];
        for _ in 0..9000 {
            firsts[SemiBoost::new().pick_share(0.2).choose(&mut stream, &confidences)[0]] += 1;
        }
        assert_eq!((firsts[0], firsts[4]), (0, 0));
        assert!((4600..5400).contains(&firsts[1]) && (700..1300).contains(&firsts[2]), "{firsts:?}");
        assert!(SemiBoost::new().choose(&mut stream, &[0.0; 3]).is_empty());
    }
}

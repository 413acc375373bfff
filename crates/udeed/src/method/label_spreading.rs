//! Label spreading.

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::{Ensemble, Learned, Part, Rule, TrainingRows};
use crate::error::Result;
use crate::learner::{Hypothesis, Neighbors, n_heads};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::{Similarity, distance_percentile};
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::prepare::Scaling;

method! {
    /// Label spreading: labels spread along a graph of similar rows until every row agrees with its neighbours and its own label.
    ///
    /// One member, which predicts new rows by the mean of their nearest training rows.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = LabelSpreading::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    LabelSpreading = "label-spreading" {
        title: "Label spreading",
        python: "LabelSpreadingClassifier",
        paper: "D. Zhou, O. Bousquet, T. Lal, J. Weston and B. Schölkopf, \"Learning with local and global consistency\", NIPS 2004",
        size: 1,
    }
    settings {
        /// Share of a row's class probabilities that comes from its neighbours; the rest comes from its own label.
        alpha: f64 = 0.2, in Range::WITHIN_ONE;
        /// Nearest neighbours that a row is connected with.
        neighbors: usize = 10, in Range::at_least(1);
        /// Width of the similarity, as a percentile of the distances between rows.
        percentile: f64 = 10.0, in Range::PERCENT;
        /// Scaling of the features.
        scaling: Scaling = Scaling::Standard;
        calibrated; memory; seed;
    }
}

/// Relative residual at which the labels are at rest.
const TOLERANCE: f64 = 1e-12;
/// Conjugate gradients need far fewer steps unless alpha is all but 1.
const MOST_STEPS: usize = 10_000;

impl Learn for LabelSpreading {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let (n_classes, n_labeled) = (prepared.n_classes(), prepared.codes.len());
        let all = prepared.labeled.stack(prepared.unlabeled.in_memory()?)?;
        let width = distance_percentile(all.rows(), self.percentile, self.seed, watch)?;
        let similarity = Similarity::Nearest(self.neighbors);
        let graph = Graph::new(&similarity.matrix(all.rows(), 0, width, self.memory, watch)?);
        let mut votes = Dense::zeros(all.rows().n_rows(), n_classes)?;
        for class in 0..n_classes {
            let is_of = |i: usize| usize::from(prepared.codes[i]) == class;
            let labels: Vec<f64> = (0..n_labeled).map(|i| if is_of(i) { prepared.weights[i] } else { 0.0 }).collect();
            let spread = graph.spread(&labels, self.alpha, watch)?;
            spread.into_iter().enumerate().for_each(|(i, share)| votes.row_mut(i)[class] = share);
            watch.member(class, n_classes)?;
        }
        make_probabilities(&mut votes, &prepared.class_shares());
        let transduced = decisions(&votes, n_labeled)?;
        let member = Hypothesis::Neighbors(Neighbors::new(self.neighbors, all, votes.into()));
        let part = Part::alike(vec![member], Rule::Weighted);
        let mut learned = Learned { transduced: Some(transduced), ..Ensemble::whole(n_classes, part).into() };
        learned.warn((prepared.unlabeled.n_rows() == 0).then_some(Warning::NothingUnlabeled), watch);
        watch.member(n_classes, n_classes)?;
        Ok(learned)
    }

    fn similarity_bytes(&self, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        Some(Similarity::Nearest(self.neighbors).bytes(n_labeled + n_unlabeled, 0))
    }
}

/// The decisions that the probabilities of the unlabeled rows stand for: where labels came to rest, not the vote of neighbours.
fn decisions(probabilities: &Dense, n_labeled: usize) -> Result<Dense> {
    let (n, k) = (probabilities.n_rows() - n_labeled, probabilities.n_columns());
    let shares = probabilities.values()[n_labeled * k..].iter().enumerate();
    // Of two classes the second stands for both.
    let own = shares.filter(|(place, _)| k > 2 || place % 2 == 1).map(|(_, share)| 2.0 * share - 1.0);
    Dense::new(n, n_heads(k), own.collect())
}

/// Scales each row to sum to 1. A row that no label reached has the shares of the labeled rows.
fn make_probabilities(votes: &mut Dense, shares: &[f64]) {
    for row in votes.rows_mut() {
        // Rounding leaves traces of either sign where nothing arrived.
        row.iter_mut().for_each(|vote| *vote = vote.max(0.0));
        let sum: f64 = row.iter().sum();
        match sum > f64::MIN_POSITIVE {
            true => row.iter_mut().for_each(|vote| *vote /= sum),
            false => row.copy_from_slice(shares),
        }
    }
}

/// The symmetrically normalised similarities `S = D^-1/2 W D^-1/2` of rows, none with itself.
struct Graph {
    edges: Vec<Vec<(usize, f64)>>,
}

impl Graph {
    fn new(similar: &Matrix) -> Self {
        let rows = similar.rows();
        let others = |i: usize| rows.row(i).iter().filter(move |&(j, _)| j != i);
        let degrees: Vec<f64> = (0..rows.n_rows()).map(|i| others(i).map(|(_, weight)| weight).sum()).collect();
        let scaled = |i: usize| {
            // Far from all others, similarities vanish and so does the degree: such a row has no edges.
            let edge = |(j, weight): (usize, f64)| (j, weight / (degrees[i] * degrees[j]).sqrt());
            others(i).map(edge).filter(|(_, weight)| weight.is_finite()).collect()
        };
        Graph { edges: parallel::map(rows.n_rows(), scaled) }
    }

    /// `(I - alpha S) vector`.
    fn apply(&self, alpha: f64, vector: &[f64]) -> Vec<f64> {
        let row = |i: usize| {
            let from_neighbors: f64 = self.edges[i].iter().map(|&(j, weight)| weight * vector[j]).sum();
            vector[i] - alpha * from_neighbors
        };
        parallel::map(vector.len(), row)
    }

    /// Where labels of the first rows come to rest, up to a factor: `(I - alpha S)^-1 labels`, by conjugate gradients.
    fn spread(&self, labels: &[f64], alpha: f64, watch: &Watch<'_>) -> Result<Vec<f64>> {
        let mut residual = labels.to_vec();
        residual.resize(self.edges.len(), 0.0);
        let mut found = vec![0.0; residual.len()];
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let enough = TOLERANCE * TOLERANCE * square;
        for _ in 0..MOST_STEPS {
            if square <= enough {
                break;
            }
            watch.ask()?;
            let applied = self.apply(alpha, &direction);
            let step = square / dot(&direction, &applied);
            found.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
            residual.iter_mut().zip(&applied).for_each(|(r, a)| *r -= step * a);
            let next = dot(&residual, &residual);
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + next / square * *d);
            square = next;
        }
        Ok(found)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Problem {
        rows: Vec<Vec<f64>>,
        labels: Vec<i32>,
        neighbors: usize,
        alpha: f64,
        width: f64,
        distributions: Vec<Vec<f64>>,
    }

    #[test]
    fn labels_come_to_rest_where_those_of_scikit_learn_do() {
        let problems: Vec<Problem> =
            serde_json::from_str(include_str!("../../tests/oracle/label_spreading.json")).unwrap();
        for problem in problems {
            let (n, n_classes) = (problem.rows.len(), problem.distributions[0].len());
            let rows = Dense::new(n, 3, problem.rows.concat()).unwrap();
            let mut nobody = ();
            let watch = &Watch::new(&mut nobody);
            let similar = Similarity::Nearest(problem.neighbors).matrix(&rows, 0, problem.width, 0, watch).unwrap();
            let graph = Graph::new(&similar);
            let mut votes = Dense::zeros(n, n_classes).unwrap();
            for class in 0..n_classes {
                let labels: Vec<f64> = problem.labels.iter().map(|&label| f64::from(label == class as i32)).collect();
                let spread = graph.spread(&labels, problem.alpha, watch).unwrap();
                spread.into_iter().enumerate().for_each(|(i, share)| votes.row_mut(i)[class] = share);
            }
            make_probabilities(&mut votes, &vec![1.0 / n_classes as f64; n_classes]);
            for (i, expected) in problem.distributions.iter().enumerate() {
                let near = votes.get(i).iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6);
                assert!(near, "alpha {}, row {i}: {:?}, expected {expected:?}", problem.alpha, votes.get(i));
            }
        }
    }

    #[test]
    fn a_row_that_no_label_reaches_has_the_shares_of_the_labels() {
        let rows = Dense::new(4, 1, vec![0.0, 0.1, 1000.0, 1000.1]).unwrap();
        let mut nobody = ();
        let watch = &Watch::new(&mut nobody);
        let similar = Similarity::Nearest(1).matrix(&rows, 0, 1.0, 0, watch).unwrap();
        let spread = Graph::new(&similar).spread(&[1.0], 0.5, watch).unwrap();
        assert!(spread[1] > 0.0 && spread[2] == 0.0 && spread[3] == 0.0, "{spread:?}");
        let mut votes = Dense::new(4, 2, spread.iter().flat_map(|&share| [0.0, share]).collect()).unwrap();
        make_probabilities(&mut votes, &[0.25, 0.75]);
        assert_eq!((votes.get(1), votes.get(3)), (&[0.0, 1.0][..], &[0.25, 0.75][..]));
    }
}

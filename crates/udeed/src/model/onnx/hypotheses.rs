//! What base learners learned as nodes of a graph: the probability of each class.

use crate::data::Rows;
use crate::ensemble::{Ensemble, Voters};
use crate::error::{Error, Place, Result};
use crate::learner::{Bayes, Hypothesis, Neighbors, Network};
use crate::model::onnx::graph::{Graph, wholes};
use crate::model::onnx::nearest;
use crate::model::onnx::trees::Seeing;

/// Numbers per row in the largest table of a hypothesis, where they are many.
pub(super) fn n_numbers(hypothesis: &Hypothesis) -> Option<usize> {
    match hypothesis {
        Hypothesis::Neighbors(neighbors) => Some(nearest::n_numbers(neighbors.rows().rows(), neighbors.k())),
        Hypothesis::View { of, .. } => n_numbers(of),
        _ => None,
    }
}

/// Bytes of the rows of nearest neighbours, every value stored.
pub(super) fn bytes_of_rows(ensemble: &Ensemble) -> u64 {
    fn of_member(member: &Hypothesis) -> u64 {
        match member {
            Hypothesis::Neighbors(neighbors) => {
                let rows = neighbors.rows().rows();
                (rows.n_rows() as u64).saturating_mul(rows.n_columns() as u64).saturating_mul(size_of::<f64>() as u64)
            }
            Hypothesis::View { of, .. } => of_member(of),
            _ => 0,
        }
    }
    let members = ensemble.parts.iter().flat_map(|part| match &part.members {
        Voters::Any(members) => members.as_slice(),
        Voters::Linear(_) | Voters::Mixed(_) => &[],
    });
    members.map(of_member).fold(0, u64::saturating_add)
}

impl Graph {
    /// The probability of each class for rows.
    ///
    /// # Errors
    /// If known rows that are sparse do not fit into memory as a table, or a learner from outside made the members.
    pub(super) fn distribution(&mut self, hypothesis: &Hypothesis, rows: &str) -> Result<String> {
        Ok(match hypothesis {
            Hypothesis::Linear(linear) => self.linear(linear.heads(), rows),
            Hypothesis::Tree(tree) => self.tree(Seeing::all(tree), rows),
            Hypothesis::Neighbors(neighbors) => self.neighbors(neighbors, rows)?,
            Hypothesis::Bayes(bayes) => self.bayes(bayes, rows),
            Hypothesis::Network(network) => self.network(network, rows),
            Hypothesis::Foreign(_) => {
                let found = "members made by a learner from outside the library";
                return Err(Error::input(
                    Place::new("the model"),
                    found,
                    "members of the library, which a graph can hold",
                ));
            }
            Hypothesis::View { columns, of } => {
                let places: Vec<i64> = columns.iter().map(|&column| column as i64).collect();
                let places = self.integers(&[places.len()], &places);
                let seen = self.gather(rows, &places, 1);
                self.distribution(of, &seen)?
            }
        })
    }

    /// The probability of each class, by linear scores.
    pub(super) fn linear(&mut self, heads: &[Vec<f64>], rows: &str) -> String {
        let scores = self.affine(heads, rows);
        let shares = self.op("Sigmoid", &[&scores]);
        if heads.len() > 1 {
            return self.normalise(&shares, heads.len());
        }
        self.both(&shares)
    }

    /// Linear scores, one a column. The weight of the constant feature is the last of each.
    fn affine(&mut self, heads: &[Vec<f64>], rows: &str) -> String {
        let width = heads[0].len() - 1;
        let feature = |j: usize| heads.iter().map(move |head| head[j]);
        let weights: Vec<f64> = (0..width).flat_map(feature).collect();
        let weights = self.doubles(&[width, heads.len()], &weights);
        let constants = self.doubles(&[1, heads.len()], &feature(width).collect::<Vec<_>>());
        let products = self.op("MatMul", &[rows, &weights]);
        self.op("Add", &[&products, &constants])
    }

    /// The probabilities of two classes, by that of the second.
    fn both(&mut self, second: &str) -> String {
        let one = self.number(1.0);
        let first = self.op("Sub", &[&one, second]);
        self.side_by_side(&[first, second.to_owned()])
    }

    fn network(&mut self, network: &Network, rows: &str) -> String {
        let (units, output) = network.layers();
        let scores = self.affine(&units, rows);
        let outputs = self.tanh_half(&scores);
        self.linear(&[output], &outputs)
    }

    fn neighbors(&mut self, neighbors: &Neighbors, rows: &str) -> Result<String> {
        let (points, votes) = (neighbors.rows().to_dense()?, neighbors.votes().to_dense()?);
        let near = self.nearest(&points, neighbors.k().min(points.n_rows()), rows);
        let votes = self.doubles(&[votes.n_rows(), votes.n_columns()], votes.values());
        let votes = self.gather(&votes, &near.places, 0);
        let votes = self.sum_over(&votes, 1);
        let votes = self.without_axis(&votes, 1);
        let total = self.sum_over(&votes, 1);
        Ok(self.op("Div", &[&votes, &total]))
    }

    fn bayes(&mut self, bayes: &Bayes, rows: &str) -> String {
        let [zero, half, infinity] = [0.0, -0.5, f64::INFINITY].map(|number| self.number(number));
        let mut logarithms = Vec::new();
        for (means, variances, height) in bayes.classes() {
            let d = means.len();
            let widths: Vec<f64> = variances.iter().map(|variance| 1.0 / variance).collect();
            let (means, widths) = (self.doubles(&[1, d], means), self.doubles(&[d, 1], &widths));
            let apart = self.op("Sub", &[rows, &means]);
            let squares = self.op("Mul", &[&apart, &apart]);
            let far = self.op("MatMul", &[&squares, &widths]);
            let far = self.op("Mul", &[&far, &half]);
            let height = self.number(height);
            logarithms.push(self.op("Add", &[&far, &height]));
        }
        let all = self.side_by_side(&logarithms);
        let largest = self.node("ReduceMax", &[&all], vec![wholes("axes", [1])]);
        let below = self.op("Sub", &[&all, &largest]);
        let shares = self.op("Exp", &[&below]);
        let is_none = self.op("IsNaN", &[&shares]);
        let shares = self.op("Where", &[&is_none, &zero, &shares]);
        let total = self.sum_over(&shares, 1);
        let shares = self.op("Div", &[&shares, &total]);
        // So far away that the densities of all classes are nothing: only their shares are known.
        let size = self.op("Abs", &[&largest]);
        let is_some = self.op("Less", &[&size, &infinity]);
        let priors = self.doubles(&[1, bayes.priors().len()], bayes.priors());
        self.op("Where", &[&is_some, &shares, &priors])
    }
}

//! Features of a graph of near rows as nodes of a graph.

use crate::data::Rows;
use crate::model::onnx::graph::{Graph, wholes};
use crate::model::onnx::nearest::Near;
use crate::view::SpectralMap;

impl Graph {
    /// The features of rows, given the nodes near them: see [`SpectralMap`].
    pub(super) fn spectral(&mut self, map: &SpectralMap, near: &Near) -> String {
        let (n, width) = (map.nodes.rows().n_rows(), map.values.n_columns());
        let k = map.neighbors.min(n);
        let first: Vec<i64> = (0..k as i64).collect();
        let first = self.integers(&[k], &first);
        let [places, squared] = [&near.places, &near.squared].map(|of| self.gather(of, &first, 1));
        let shares = self.neighbor_shares(map, &places, &squared, k);
        let values = self.doubles(&[n, width], map.values.values());
        let values = self.gather(&values, &places, 0);
        let shares = self.with_axis(&shares, 1);
        let features = self.op("MatMul", &[&shares, &values]);
        self.without_axis(&features, 1)
    }

    /// The share of each of the nearest nodes; together 1.
    fn neighbor_shares(&mut self, map: &SpectralMap, places: &str, squared: &str, k: usize) -> String {
        let [zero, one, infinity] = [0.0, 1.0, f64::INFINITY].map(|number| self.number(number));
        let last = self.integers(&[1], &[k as i64 - 1]);
        let reach = self.gather(squared, &last, 1);
        let reaches = self.doubles(&[map.reach.len()], &map.reach);
        let others = self.gather(&reaches, places, 0);
        let both = self.op("Mul", &[&reach, &others]);
        let scale = self.op("Sqrt", &[&both]);
        let far = self.op("Div", &[squared, &scale]);
        let is_same = self.op("Equal", &[squared, &zero]);
        let far = self.op("Where", &[&is_same, &zero, &far]);
        let least = self.node("ReduceMin", &[&far], vec![wholes("axes", [1])]);
        let above = self.op("Sub", &[&least, &far]);
        let weights = self.op("Exp", &[&above]);
        // Where every node is infinitely far in terms of its neighbours, all count alike.
        let some = self.op("Less", &[&least, &infinity]);
        let weights = self.op("Where", &[&some, &weights, &one]);
        let total = self.sum_over(&weights, 1);
        self.op("Div", &[&weights, &total])
    }
}

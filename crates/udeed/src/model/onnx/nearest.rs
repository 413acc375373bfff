//! The nearest of known points as nodes of a graph.

use crate::data::{Dense, Rows};
use crate::model::onnx::graph::{Graph, axis, whole};

/// Number of points beyond those wanted whose distances are computed as the model does, to the last bit: of points that are
/// equally near but for rounding, the same are then the nearest.
const MORE: usize = 64;

/// Number of sums that make up a distance, see [`squared_distance`](crate::neighbors::squared_distance).
const LANES: usize = 4;

/// Names of the nearest points: their places among all, and their squared distances, nearest first.
pub(super) struct Near {
    pub(super) places: String,
    pub(super) squared: String,
}

fn n_candidates(n_points: usize, k: usize) -> usize {
    k.saturating_add(MORE).min(n_points)
}

/// Numbers per row in the largest table.
pub(super) fn n_numbers(points: &dyn Rows, k: usize) -> usize {
    points.n_rows().max(n_candidates(points.n_rows(), k) * points.n_columns())
}

/// The mean of each column.
pub(super) fn centre(points: &Dense) -> Vec<f64> {
    let n = points.n_rows() as f64;
    (0..points.n_columns()).map(|j| (0..points.n_rows()).map(|i| points.get(i)[j] / n).sum()).collect()
}

impl Graph {
    /// The `k` nearest points to rows, of which there are at least as many. Of points equally near the first ones are taken.
    pub(super) fn nearest(&mut self, points: &Dense, k: usize, rows: &str) -> Near {
        let (n, d) = (points.n_rows(), points.n_columns());
        let table = self.doubles(&[n, d], points.values());
        let row = self.with_axis(rows, 1);
        let count = n_candidates(n, k);
        let (candidates, apart) = if count == n {
            (None, self.op("Sub", &[&row, &table]))
        } else {
            let candidates = self.candidates(points, count, rows);
            let near = self.gather(&table, &candidates, 0);
            (Some(candidates), self.op("Sub", &[&row, &near]))
        };
        let squares = self.op("Mul", &[&apart, &apart]);
        let squared = self.distance(&squares, d);
        let (squared, places) = self.least(&squared, k);
        let places = match candidates {
            None => places,
            Some(candidates) => self.node("GatherElements", &[&candidates, &places], vec![axis(1)]),
        };
        Near { places, squared }
    }

    /// The places of points that are near to rows by `|p|^2 - 2 x.p`, in the order of the points.
    fn candidates(&mut self, points: &Dense, count: usize, rows: &str) -> String {
        let (n, d) = (points.n_rows(), points.n_columns());
        // Around their centre numbers are smaller, and so is what rounding does to them.
        let centre = centre(points);
        let turned: Vec<f64> = (0..d)
            .flat_map(|j| (0..n).map(move |i| (i, j)))
            .map(|(i, j)| -2.0 * (points.get(i)[j] - centre[j]))
            .collect();
        let norm = |i: usize| points.get(i).iter().zip(&centre).map(|(x, centre)| (x - centre) * (x - centre)).sum();
        let norms: Vec<f64> = (0..n).map(norm).collect();
        let (centre, turned) = (self.doubles(&[1, d], &centre), self.doubles(&[d, n], &turned));
        let norms = self.doubles(&[1, n], &norms);
        let around = self.op("Sub", &[rows, &centre]);
        let products = self.op("MatMul", &[&around, &turned]);
        let far = self.op("Add", &[&products, &norms]);
        let (_, places) = self.least(&far, count);
        self.least(&places, count).0
    }

    /// The least of each row in ascending order, and their places; of several alike the first ones.
    fn least(&mut self, values: &str, count: usize) -> (String, String) {
        let count = self.integers(&[1], &[count as i64]);
        self.pair("TopK", &[values, &count], vec![axis(1), whole("largest", 0), whole("sorted", 1)])
    }

    /// The sum of squares along the last of three axes, added up in the order of the model.
    fn distance(&mut self, squares: &str, d: usize) -> String {
        let whole = d / LANES * LANES;
        let mut sum = None;
        if whole > 0 {
            let some = self.span(squares, 0, whole);
            let lanes = self.reshape(&some, &[0, 0, (whole / LANES) as i64, LANES as i64]);
            let sums = self.total(&lanes, whole / LANES);
            let [a, b, c, e] = [0, 1, 2, 3].map(|lane| self.at(&sums, lane, 2));
            let (first, second) = (self.op("Add", &[&a, &b]), self.op("Add", &[&c, &e]));
            sum = Some(self.op("Add", &[&first, &second]));
        }
        if whole < d {
            let some = self.span(squares, whole, d);
            let rest = self.total(&some, d - whole);
            sum = Some(match sum {
                None => rest,
                Some(sum) => self.op("Add", &[&sum, &rest]),
            });
        }
        sum.unwrap_or_default()
    }

    /// Some of the numbers along the last of three axes.
    fn span(&mut self, values: &str, begin: usize, end: usize) -> String {
        let [begin, end, along] = [begin, end, 2].map(|number| self.integers(&[1], &[number as i64]));
        self.op("Slice", &[values, &begin, &end, &along])
    }

    /// The sum along the third axis, one after the other.
    fn total(&mut self, values: &str, length: usize) -> String {
        let along = self.integers(&[], &[2]);
        let sums = self.op("CumSum", &[values, &along]);
        self.at(&sums, length - 1, 2)
    }
}

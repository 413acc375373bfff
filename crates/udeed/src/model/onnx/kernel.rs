//! Kernels as nodes of a graph.
//!
//! The kernels of all members that see the same labeled rows are taken at once: they differ in the factors of the features.
//! What they share, differences of rows and labeled rows, is computed once and then multiplied with all factors.

use crate::data::Dense;
use crate::model::onnx::graph::{Graph, wholes};
use crate::model::onnx::nearest::centre;
use crate::view::{Decay, KernelMap};

/// Kernels of one decay against the same rows, these by their places among the labeled ones.
pub(super) struct Kernels<'a> {
    maps: Vec<&'a KernelMap>,
    pub(super) pivots: Vec<usize>,
}

impl<'a> Kernels<'a> {
    pub(super) fn of(maps: Vec<&'a KernelMap>) -> Self {
        let mut pivots: Vec<usize> = maps.iter().flat_map(|map| map.basis.iter().copied()).collect();
        pivots.sort_unstable();
        pivots.dedup();
        Kernels { maps, pivots }
    }

    fn width(&self) -> usize {
        self.maps[0].factors.len()
    }

    /// Numbers per row in the largest table.
    pub(super) fn n_numbers(&self) -> usize {
        let of_pivot = match self.maps[0].decay {
            Decay::Gauss => self.maps.len(),
            Decay::Laplace => self.maps.len().max(self.width()),
        };
        of_pivot * self.pivots.len()
    }

    fn rows(&self) -> Dense {
        self.maps[0].labeled.select(&self.pivots)
    }

    /// The squares of the factors, of one feature after the other those of all maps.
    fn squares(&self) -> Vec<f64> {
        let feature = |j: usize| self.maps.iter().map(move |map| map.factors[j] * map.factors[j]);
        (0..self.width()).flat_map(feature).collect()
    }
}

/// Whether kernels can be taken at once.
pub(super) fn is_alike(a: &KernelMap, b: &KernelMap) -> bool {
    a.decay == b.decay && a.ranks == b.ranks && a.labeled == b.labeled
}

impl Graph {
    /// The labeled rows, feature by feature; those of a Gaussian kernel for each map, and twice as much around their centre.
    /// Made once, from constants: the file holds each row once.
    pub(super) fn pivots(&mut self, kernels: &Kernels<'_>) -> String {
        let (m, p, d) = (kernels.maps.len(), kernels.pivots.len(), kernels.width());
        let rows = kernels.rows();
        let feature = |j: usize| (0..p).map(move |k| (k, j));
        if kernels.maps[0].decay == Decay::Laplace {
            let turned: Vec<f64> = (0..d).flat_map(feature).map(|(k, j)| rows.get(k)[j]).collect();
            return self.doubles(&[1, d, p], &turned);
        }
        let centre = centre(&rows);
        let turned: Vec<f64> = (0..d).flat_map(feature).map(|(k, j)| 2.0 * (rows.get(k)[j] - centre[j])).collect();
        let (squares, turned) = (self.doubles(&[d, m, 1], &kernels.squares()), self.doubles(&[d, 1, p], &turned));
        let products = self.op("Mul", &[&squares, &turned]);
        self.reshape(&products, &[d as i64, (m * p) as i64])
    }

    /// The nearness of rows to labeled rows: a table of rows and labeled rows for each map. `ranked` are the rows, their normal
    /// scores if the maps see these; `pivots` are those of [`Graph::pivots`].
    pub(super) fn kernels(&mut self, kernels: &Kernels<'_>, pivots: &str, ranked: &str) -> String {
        let far = match kernels.maps[0].decay {
            Decay::Gauss => self.gauss(kernels, pivots, ranked),
            Decay::Laplace => self.laplace(kernels, pivots, ranked),
        };
        let near = self.op("Exp", &[&far]);
        self.node("Transpose", &[&near], vec![wholes("perm", [1, 0, 2])])
    }

    /// `-sum_j f_j^2 (x_j - p_j)^2`, as `2 x.p - |x|^2 - |p|^2`.
    fn gauss(&mut self, kernels: &Kernels<'_>, pivots: &str, rows: &str) -> String {
        let (m, p, d) = (kernels.maps.len(), kernels.pivots.len(), kernels.width());
        let known = kernels.rows();
        // Around their centre numbers are smaller, and so is what rounding does to them.
        let centre = centre(&known);
        let norm = |map: &KernelMap, k: usize| {
            let apart = known.get(k).iter().zip(&centre).zip(&map.factors).map(|((x, centre), f)| f * (x - centre));
            -apart.map(|x| x * x).sum::<f64>()
        };
        let norms: Vec<f64> =
            kernels.maps.iter().flat_map(|map| (0..p).map(|k| norm(map, k)).collect::<Vec<_>>()).collect();
        let (centre, norms) = (self.doubles(&[1, d], &centre), self.doubles(&[1, m, p], &norms));
        let squares = self.doubles(&[d, m], &kernels.squares());
        let rows = self.op("Sub", &[rows, &centre]);
        let products = self.op("MatMul", &[&rows, pivots]);
        let products = self.reshape(&products, &[-1, m as i64, p as i64]);
        let own = self.op("Mul", &[&rows, &rows]);
        let own = self.op("MatMul", &[&own, &squares]);
        let own = self.with_axis(&own, 2);
        let far = self.op("Add", &[&products, &norms]);
        self.op("Sub", &[&far, &own])
    }

    /// `-sum_j f_j |x_j - p_j|`.
    fn laplace(&mut self, kernels: &Kernels<'_>, pivots: &str, rows: &str) -> String {
        let (m, d) = (kernels.maps.len(), kernels.width());
        let factors: Vec<f64> =
            kernels.maps.iter().flat_map(|map| map.factors.iter().map(|factor| -factor.abs())).collect();
        let factors = self.doubles(&[m, d], &factors);
        let rows = self.with_axis(rows, 2);
        let apart = self.op("Sub", &[&rows, pivots]);
        let apart = self.op("Abs", &[&apart]);
        self.op("MatMul", &[&factors, &apart])
    }
}

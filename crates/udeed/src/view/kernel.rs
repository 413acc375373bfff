//! Kernels: how near rows are to labeled rows.

use std::sync::Arc;

use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::data::{Dense, Rows};
use crate::error::Result;
use crate::kernel::{Real, instructions};
use crate::view::SeenRows;
use crate::view::rank_normal::RankNormal;

/// Number of labeled rows, and of others, whose distances are taken at once: as many sums as there are registers.
const LANES: usize = 16;
const ROWS: usize = 4;

/// How a kernel falls with the distance of two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decay {
    /// With the square of the Euclidean distance.
    Gauss,
    /// With the sum of the differences of all features.
    Laplace,
}

/// A map of rows to their nearness to some labeled rows: `e^-|s(x - x')|`, where `s` scales each feature and the distance is
/// that of the decay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelMap {
    pub(crate) decay: Decay,
    /// Turns features into normal scores first, if there.
    pub(crate) ranks: Option<Arc<RankNormal>>,
    /// The factor of each feature.
    pub(crate) factors: Vec<f64>,
    /// All labeled rows, their normal scores if there are ranks, and which of them count.
    pub(crate) labeled: Arc<Dense>,
    pub(crate) basis: Vec<usize>,
    /// The rows that count, scaled by the factors: in groups of [`LANES`], the last filled up with zeros, each group feature by
    /// feature.
    pivots: Vec<f64>,
}

impl KernelMap {
    /// The kernel against the labeled rows of `basis`.
    pub(crate) fn new(
        decay: Decay,
        ranks: Option<Arc<RankNormal>>,
        factors: Vec<f64>,
        labeled: Arc<Dense>,
        basis: Vec<usize>,
    ) -> Self {
        let mut map = KernelMap { decay, ranks, factors, labeled, basis, pivots: Vec::new() };
        map.pivots = map.turned();
        map
    }

    /// The same kernel against fewer rows.
    pub(crate) fn against(self, basis: Vec<usize>) -> Self {
        KernelMap::new(self.decay, self.ranks, self.factors, self.labeled, basis)
    }

    pub(crate) fn n_features(&self) -> usize {
        self.basis.len()
    }

    fn turned(&self) -> Vec<f64> {
        let (p, d) = (self.basis.len(), self.factors.len());
        let mut pivots = vec![0.0; p.div_ceil(LANES) * LANES * d];
        for (k, &i) in self.basis.iter().enumerate() {
            let group = &mut pivots[k / LANES * LANES * d..][..LANES * d];
            for (j, (x, factor)) in self.labeled.get(i).iter().zip(&self.factors).enumerate() {
                group[j * LANES + k % LANES] = x * factor;
            }
        }
        pivots
    }

    /// The rows that count of a Gaussian kernel of the features as they are, scaled by the factors.
    pub(crate) fn gauss(&self) -> Option<Vec<Vec<f64>>> {
        let scaled = |&i: &usize| self.labeled.get(i).iter().zip(&self.factors).map(|(x, factor)| x * factor).collect();
        (self.decay == Decay::Gauss && self.ranks.is_none()).then(|| self.basis.iter().map(scaled).collect())
    }

    /// The nearness of some rows.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn apply(&self, seen: &SeenRows<'_>) -> Result<Dense> {
        let rows = match &self.ranks {
            None => seen.dense()?,
            Some(ranks) => seen.ranked(ranks)?,
        };
        self.near(rows)
    }

    /// The nearness of rows that are ranked already.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn near(&self, rows: &Dense) -> Result<Dense> {
        let (n, p, d) = (rows.n_rows(), self.basis.len(), self.factors.len());
        let mut features = Dense::zeros(n, p)?;
        let mut scaled = vec![0.0; ROWS * d];
        let mut sums = [[0.0; LANES]; ROWS];
        for first in (0..n).step_by(ROWS) {
            let some = ROWS.min(n - first);
            for (i, to) in scaled.chunks_exact_mut(d.max(1)).enumerate().take(some) {
                to.iter_mut().zip(rows.get(first + i)).zip(&self.factors).for_each(|((to, x), f)| *to = x * f);
            }
            for (group, pivots) in self.pivots.chunks_exact(LANES * d.max(1)).enumerate() {
                instructions().dispatch(Decays { decay: self.decay, rows: &scaled, pivots, sums: &mut sums });
                let width = LANES.min(p - group * LANES);
                for (i, sums) in sums.iter().enumerate().take(some) {
                    features.row_mut(first + i)[group * LANES..][..width].copy_from_slice(&sums[..width]);
                }
            }
        }
        Ok(features)
    }
}

/// `e^-d` of some rows and a group of labeled rows, which lie feature by feature. No closure: that would be compiled without the
/// instructions of the machine.
struct Decays<'a> {
    decay: Decay,
    rows: &'a [f64],
    pivots: &'a [f64],
    sums: &'a mut [[f64; LANES]; ROWS],
}

impl WithSimd for Decays<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.decay {
            Decay::Gauss => decays::<true>(self.rows, self.pivots, self.sums),
            Decay::Laplace => decays::<false>(self.rows, self.pivots, self.sums),
        }
    }
}

/// Sums squares of differences or their sizes, and takes the exponential.
#[inline(always)]
fn decays<const SQUARED: bool>(rows: &[f64], pivots: &[f64], sums: &mut [[f64; LANES]; ROWS]) {
    let d = rows.len() / ROWS;
    let mut all = [[0.0; LANES]; ROWS];
    for j in 0..d {
        let pivots = &pivots[j * LANES..][..LANES];
        for i in 0..ROWS {
            let x = rows[i * d + j];
            for k in 0..LANES {
                let apart = x - pivots[k];
                all[i][k] += if SQUARED { apart * apart } else { apart.abs() };
            }
        }
    }
    for (to, own) in sums.iter_mut().zip(&all) {
        for k in 0..LANES {
            to[k] = own[k].decay();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_fall_with_the_distance() {
        let (n, d) = (23, 5);
        let labeled = Arc::new(Dense::random(n, d, 1));
        let ranks = Arc::new(RankNormal::of(&labeled));
        let factors: Vec<f64> = (0..d).map(|j| 0.6 * (j + 1) as f64).collect();
        let mut ranked = labeled.as_ref().clone();
        ranked.rows_mut().for_each(|row| ranks.apply(row));
        let ranked = Arc::new(ranked);
        for (decay, ranks, rows) in
            [(Decay::Gauss, None, &labeled), (Decay::Laplace, None, &labeled), (Decay::Laplace, Some(ranks), &ranked)]
        {
            let all = KernelMap::new(decay, ranks, factors.clone(), Arc::clone(rows), (0..n).collect());
            let basis = vec![7, 2, 19];
            let seen = SeenRows::new(labeled.as_ref(), 4..14);
            let found = all.apply(&seen).unwrap();
            let of_some = all.against(basis.clone()).apply(&seen).unwrap();
            for i in 0..10 {
                for k in 0..n {
                    let apart = rows.get(4 + i).iter().zip(rows.get(k)).zip(&factors).map(|((x, y), f)| f * (x - y));
                    let far: f64 = match decay {
                        Decay::Gauss => apart.map(|x| x * x).sum(),
                        Decay::Laplace => apart.map(f64::abs).sum(),
                    };
                    assert!((found.get(i)[k] - libm::exp(-far)).abs() < 1e-14, "{decay:?}");
                }
                let some: Vec<f64> = basis.iter().map(|&k| found.get(i)[k]).collect();
                some.iter().zip(of_some.get(i)).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
            }
        }
    }
}

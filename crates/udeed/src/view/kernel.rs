//! Kernels: how near rows are to labeled rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Dense, Rows};
use crate::error::Result;
use crate::kernel::{Real, map_rows, vectorized};
use crate::view::SeenRows;
use crate::view::rank_normal::RankNormal;

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
    /// The rows that count, scaled by the factors, feature by feature, each followed by the constants of the decay.
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

    /// The rows that count, feature by feature. With a Gaussian decay the squared distance is a product: of `2 x'`, of -1 with
    /// the square of a row, and of `-|x'|^2` with the constant feature.
    fn turned(&self) -> Vec<f64> {
        let (p, d) = (self.basis.len(), self.factors.len());
        let mut pivots = vec![0.0; p * d];
        let mut row = vec![0.0; d];
        let mut squares = vec![0.0; p];
        for (k, &i) in self.basis.iter().enumerate() {
            row.copy_from_slice(self.labeled.get(i));
            squares[k] = scale(&mut row, &self.factors);
            row.iter().enumerate().for_each(|(j, x)| pivots[j * p + k] = *x);
        }
        if self.decay == Decay::Gauss {
            pivots.iter_mut().for_each(|x| *x *= 2.0);
            pivots.extend(std::iter::repeat_n(-1.0, p));
            pivots.extend(squares.iter().map(|square| -square));
        }
        pivots
    }

    /// Number of features, and the rows that count as [`KernelMap::turned`] lays them out, of a Gaussian kernel of the features
    /// as they are.
    pub(crate) fn gauss(&self) -> Option<(usize, &[f64])> {
        (self.decay == Decay::Gauss && self.ranks.is_none()).then_some((self.factors.len(), &self.pivots))
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
        match self.decay {
            Decay::Gauss => {
                let mut values = Dense::room(n, d + 1)?;
                for i in 0..n {
                    let first = values.len();
                    values.extend_from_slice(rows.get(i));
                    let square = scale(&mut values[first..], &self.factors);
                    values.push(square);
                }
                let scaled = Dense::new(n, d + 1, values)?;
                let found = map_rows(&scaled, &self.pivots, p, |scores| {
                    scores.iter_mut().for_each(|z| *z = z.min(0.0).decay());
                    scores[..p].to_vec()
                })?;
                Dense::new(n, p, found.concat())
            }
            Decay::Laplace => {
                let mut features = Dense::zeros(n, p)?;
                let mut row = vec![0.0; d];
                for (i, to) in features.rows_mut().enumerate() {
                    row.copy_from_slice(rows.get(i));
                    scale(&mut row, &self.factors);
                    vectorized(|| sums_of_differences(&row, &self.pivots, to));
                }
                Ok(features)
            }
        }
    }
}

/// Scales a row; returns its square.
fn scale(row: &mut [f64], factors: &[f64]) -> f64 {
    row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
    row.iter().map(|x| x * x).sum()
}

/// `e^-sum_j |x_j - x'_j|` for rows `x'` that lie feature by feature.
#[inline(always)]
fn sums_of_differences(row: &[f64], pivots: &[f64], to: &mut [f64]) {
    for (x, pivots) in row.iter().zip(pivots.chunks_exact(to.len())) {
        to.iter_mut().zip(pivots).for_each(|(sum, pivot)| *sum += (x - pivot).abs());
    }
    to.iter_mut().for_each(|sum| *sum = sum.decay());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn kernels_fall_with_the_distance() {
        let mut stream = Stream::new(1, Purpose::Split, 0);
        let (n, d) = (23, 5);
        let labeled = Arc::new(Dense::new(n, d, (0..n * d).map(|_| 3.0 * stream.unit()).collect()).unwrap());
        let ranks = Arc::new(RankNormal::of(&labeled));
        let factors: Vec<f64> = (0..d).map(|j| 0.2 * (j + 1) as f64).collect();
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

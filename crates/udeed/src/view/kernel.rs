//! Kernels: how near rows are to labeled rows.

use std::sync::Arc;

use crate::data::Dense;
use crate::error::Result;
use crate::kernel::{Decay, Pivots};
use crate::view::SeenRows;
use crate::view::rank_normal::RankNormal;

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
    /// Those that count, as distances want them.
    pivots: Pivots,
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
        let pivots = Pivots::new(decay, factors.clone(), Arc::clone(&labeled), basis.clone());
        KernelMap { decay, ranks, factors, labeled, basis, pivots }
    }

    /// The same kernel against fewer rows.
    pub(crate) fn against(self, basis: Vec<usize>) -> Self {
        KernelMap::new(self.decay, self.ranks, self.factors, self.labeled, basis)
    }

    pub(crate) fn n_features(&self) -> usize {
        self.basis.len()
    }

    /// The scores on some rows, row after row, of `m` linear members of this kernel.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn scores(&self, seen: &SeenRows<'_>, weights: &[f64], m: usize) -> Result<Vec<f64>> {
        let (rows, packed) = match &self.ranks {
            None => (seen.dense()?, seen.packed()?),
            Some(ranks) => seen.ranked(ranks)?,
        };
        Ok(self.pivots.scores(rows, packed, weights, m))
    }

    /// The nearness of rows that are ranked already.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn near(&self, rows: &Dense) -> Result<Dense> {
        self.pivots.near(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

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
            let seen = rows.select(&(4..14).collect::<Vec<usize>>());
            let found = all.near(&seen).unwrap();
            let of_some = all.clone().against(basis.clone()).near(&seen).unwrap();
            // Members take it as it is.
            let (m, from) = (3, SeenRows::new(labeled.as_ref(), 4..14));
            let weights = Dense::random(n + 1, m, 5);
            let scores = all.scores(&from, weights.values(), m).unwrap();
            assert_eq!(scores, kernel::scores(&found, weights.values(), m).unwrap());
            for i in 0..10 {
                for k in 0..n {
                    let apart = rows.get(4 + i).iter().zip(rows.get(k)).zip(&factors).map(|((x, y), f)| f * (x - y));
                    let far: f64 = match decay {
                        Decay::Gauss => apart.map(|x| x * x).sum(),
                        Decay::Laplace => apart.map(f64::abs).sum(),
                    };
                    assert!((found.get(i)[k] - libm::exp(-far)).abs() < 1e-13, "{decay:?}");
                }
                let some: Vec<f64> = basis.iter().map(|&k| found.get(i)[k]).collect();
                assert_eq!(some, of_some.get(i));
            }
        }
    }
    /// Where all rows lie far from the origin, the small differences between them still count.
    #[test]
    fn rows_far_away_keep_their_digits() {
        let (n, d) = (9, 3);
        for (decay, offset) in [(Decay::Gauss, 20.0), (Decay::Gauss, 1e7), (Decay::Laplace, 1e7)] {
            let mut labeled = Dense::random(n, d, 2);
            labeled.values_mut().iter_mut().for_each(|x| *x += offset);
            let labeled = Arc::new(labeled);
            let map = KernelMap::new(decay, None, vec![1.0; d], Arc::clone(&labeled), (0..n).collect());
            let found = map.near(&labeled).unwrap();
            for i in 0..n {
                for k in 0..n {
                    let apart = labeled.get(i).iter().zip(labeled.get(k)).map(|(x, y)| x - y);
                    let far: f64 = match decay {
                        Decay::Gauss => apart.map(|x| x * x).sum(),
                        Decay::Laplace => apart.map(f64::abs).sum(),
                    };
                    assert!((found.get(i)[k] - libm::exp(-far)).abs() < 1e-12, "{decay:?} {offset}");
                }
            }
        }
    }
}

//! How near rows are to pivots: `e^-d`, where the distance `d` is the square of the Euclidean one or a sum of differences.
//!
//! Distances are taken without differences, which would cost an instruction more: `|x - y|^2 = |x|^2 + |y|^2 - 2 x y`, and
//! `|x - y| = 2 max(x, y) - x - y`. So they are products of dense rows with many members, see [`tile`], where
//! pivots stand for members. What comes out is packed as rows are, so linear members can take it as their features at once.

use pulp::{Simd, WithSimd, bytemuck};
use serde::{Deserialize, Serialize};

use super::tile::{self, FEATURES, Packed, VECTORS, Vectors};
use super::{Real, dense, dot, instructions, sum_of};
use crate::data::{Dense, Rows};
use crate::error::Result;

/// Rows and pivots of a larger magnitude would lose digits: more than about four of sixteen.
const EXACT_BELOW: f64 = 1e3;

/// How a kernel falls with the distance of two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decay {
    /// With the square of the Euclidean distance.
    Gauss,
    /// With the sum of the differences of all features.
    Laplace,
}

impl Decay {
    /// What a row adds to all of its distances, and its magnitude.
    #[inline(always)]
    fn size(self, row: &[f64]) -> (f64, f64) {
        match self {
            Decay::Gauss => {
                let square = dot(row, row);
                (square, square)
            }
            Decay::Laplace => (-sum_of(row, row, |x, _| x), sum_of(row, row, |x, _| x.abs())),
        }
    }
}

/// Rows to which others are near, and the factor of each feature in distances.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pivots {
    decay: Decay,
    factors: Vec<f64>,
    /// Number of pivots.
    n: usize,
    /// The pivots times the factors, feature by feature, each filled up to whole lanes with zeros.
    values: Vec<f64>,
    /// What each pivot adds to its distances. What fills up the lanes is near to all rows: that serves as the constant 1.
    sizes: Vec<f64>,
    largest: f64,
}

impl Pivots {
    pub(crate) fn new<'a>(decay: Decay, factors: Vec<f64>, rows: impl ExactSizeIterator<Item = &'a [f64]>) -> Self {
        let n = rows.len();
        let stride = tile::padded::<f64>(n);
        let (mut values, mut sizes) = (vec![0.0; factors.len() * stride], vec![f64::NEG_INFINITY; stride]);
        let mut largest = 0.0_f64;
        let mut scaled = vec![0.0; factors.len()];
        for (k, row) in rows.enumerate() {
            scale(row, &factors, &mut scaled);
            let (size, magnitude) = decay.size(&scaled);
            sizes[k] = size;
            largest = largest.max(magnitude);
            values.chunks_exact_mut(stride).zip(&scaled).for_each(|(of_feature, x)| of_feature[k] = *x);
        }
        Pivots { decay, factors, n, values, sizes, largest }
    }

    /// How near each row is to each pivot.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn near(&self, rows: &Dense) -> Result<Dense> {
        let mut all = Dense::zeros(rows.n_rows(), self.n)?;
        instructions().dispatch(Walk { pivots: self, rows, then: Then::Keep(&mut all) });
        Ok(all)
    }

    /// The scores on every row, row after row, of `m` members that take for features how near it is to each pivot.
    pub(crate) fn scores(&self, rows: &Dense, weights: &[f64], m: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(rows.n_rows() * m);
        instructions().dispatch(Walk { pivots: self, rows, then: Then::Score { weights, m, all: &mut all } });
        all
    }

    /// How near a row, times the factors, is to a pivot, difference by difference: for rows far from the origin.
    fn far(&self, scaled: &[f64], k: usize) -> f64 {
        let pivot = self.values.iter().skip(k).step_by(self.sizes.len());
        let apart = scaled.iter().zip(pivot).map(|(x, pivot)| x - pivot);
        let distance: f64 = match self.decay {
            Decay::Gauss => apart.map(|x| x * x).sum(),
            Decay::Laplace => apart.map(f64::abs).sum(),
        };
        distance.decay()
    }
}

#[inline(always)]
fn scale(row: &[f64], factors: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(row).zip(factors).for_each(|((to, x), factor)| *to = x * factor);
}

/// What becomes of the nearness of rows.
enum Then<'a> {
    Keep(&'a mut Dense),
    /// The scores of `m` members.
    Score {
        weights: &'a [f64],
        m: usize,
        all: &'a mut Vec<f64>,
    },
}

/// Block by block.
struct Walk<'a> {
    pivots: &'a Pivots,
    rows: &'a Dense,
    then: Then<'a>,
}

impl WithSimd for Walk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Walk { pivots, rows, mut then } = self;
        let (n, d, p) = (rows.n_rows(), pivots.factors.len(), pivots.n);
        let mut x = Packed::new(n, d);
        let mut near = Packed::new(n, p);
        let mut values = Vectors::<S, f64>::zeros(d, pivots.sizes.len());
        values.numbers_mut().copy_from_slice(&pivots.values);
        let weights = match &then {
            Then::Keep(_) => Vectors::zeros(0, 0),
            Then::Score { weights, m, .. } => dense::pack_weights::<S, f64>(weights, *m),
        };
        let mut scores = Vectors::zeros(x.rows, weights.members());
        let (mut sizes, mut scaled) = ([0.0; tile::MOST_ROWS], vec![0.0; d]);
        let mut far = Vec::new();
        for start in (0..n).step_by(x.rows) {
            let some = x.rows.min(n - start);
            far.clear();
            for (i, of_row) in sizes.iter_mut().enumerate().take(some) {
                scale(rows.get(start + i), &pivots.factors, &mut scaled);
                let (size, magnitude) = pivots.decay.size(&scaled);
                *of_row = size;
                x.pack(i, &scaled);
                let largest = magnitude + pivots.largest;
                if largest.is_nan() || largest > EXACT_BELOW {
                    far.push(i);
                }
            }
            simd.vectorize(Near {
                simd,
                decay: pivots.decay,
                x: &x,
                pivots: &values,
                of_rows: &sizes,
                of_pivots: &pivots.sizes,
                rows: some,
                to: &mut near,
            });
            for &i in &far {
                scale(rows.get(start + i), &pivots.factors, &mut scaled);
                (0..p).for_each(|k| near.set(i, k, pivots.far(&scaled, k)));
            }
            match &mut then {
                Then::Keep(all) => (0..some).for_each(|i| near.unpack(i, all.row_mut(start + i))),
                Then::Score { m, all, .. } => {
                    tile::score(simd, &near, &weights, some, &mut scores);
                    let rows = scores.numbers().chunks_exact(weights.members()).take(some);
                    rows.for_each(|row| all.extend_from_slice(&row[..*m]));
                }
            }
        }
    }
}

/// How near the rows of a block are to all pivots. A function of its own, as [`tile::score`].
struct Near<'a, S: Simd> {
    simd: S,
    decay: Decay,
    x: &'a Packed<f64>,
    pivots: &'a Vectors<S, f64>,
    of_rows: &'a [f64; tile::MOST_ROWS],
    of_pivots: &'a [f64],
    rows: usize,
    to: &'a mut Packed<f64>,
}

impl<S: Simd> WithSimd for Near<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(mut self, _: Same) {
        match self.decay {
            Decay::Gauss => self.all::<true>(),
            Decay::Laplace => self.all::<false>(),
        }
    }
}

impl<S: Simd> Near<'_, S> {
    #[inline(always)]
    fn all<const SQUARED: bool>(&mut self) {
        let mut column = 0;
        let stride = self.pivots.stride();
        while column < stride {
            let vectors = VECTORS.min(stride - column);
            for row in (0..self.rows).step_by(8) {
                match (S::REGISTER_COUNT >= 32, vectors) {
                    (true, 3) => self.tile::<SQUARED, 8, 3>(row, column),
                    (true, 2) => self.tile::<SQUARED, 8, 2>(row, column),
                    (true, _) => self.tile::<SQUARED, 8, 1>(row, column),
                    (false, _) => {
                        for row in [row, row + 4] {
                            match vectors {
                                3 => self.tile::<SQUARED, 4, 3>(row, column),
                                2 => self.tile::<SQUARED, 4, 2>(row, column),
                                _ => self.tile::<SQUARED, 4, 1>(row, column),
                            }
                        }
                    }
                }
            }
            column += vectors;
        }
        for tile in 0..self.of_pivots.len() / FEATURES {
            for x in self.to.tile_mut(tile, self.rows) {
                *x = x.decay();
            }
        }
    }

    /// The distances of `R` rows from `V` vectors of pivots; below 0 where rounding makes it so.
    #[inline(always)]
    fn tile<const SQUARED: bool, const R: usize, const V: usize>(&mut self, row: usize, column: usize) {
        let simd = self.simd;
        let mut sums = [[simd.splat_f64s(0.0); V]; R];
        let stride = self.pivots.stride();
        for (x, pivots) in self.x.tiles().zip(self.pivots.vectors().chunks(FEATURES * stride)) {
            let x = &x[row * FEATURES..][..R * FEATURES];
            for (f, pivots) in pivots.chunks_exact(stride).enumerate() {
                let pivots = &pivots[column..][..V];
                for (r, sums) in sums.iter_mut().enumerate() {
                    let x = simd.splat_f64s(x[r * FEATURES + f]);
                    for v in 0..V {
                        sums[v] = if SQUARED {
                            simd.mul_add_f64s(x, pivots[v], sums[v])
                        } else {
                            simd.add_f64s(simd.max_f64s(x, pivots[v]), sums[v])
                        };
                    }
                }
            }
        }
        let of_pivots: &[S::f64s] = bytemuck::cast_slice(self.of_pivots);
        let (factor, zero) = (simd.splat_f64s(if SQUARED { -2.0 } else { 2.0 }), simd.splat_f64s(0.0));
        for (r, sums) in sums.iter().enumerate() {
            let of_row = simd.splat_f64s(self.of_rows[row + r]);
            for v in 0..V {
                let sizes = simd.add_f64s(of_row, of_pivots[column + v]);
                let apart = simd.max_f64s(simd.mul_add_f64s(factor, sums[v], sizes), zero);
                *self.to.vector_mut::<S>(row + r, column + v) = apart;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{named_instructions, say_what_is_tested};

    /// Rows in whole blocks and not, pivots in whole vectors and not, one row far away, values that are no numbers.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for (n, d, p) in [(1, 3, 1), (203, 5, 8), (96, 0, 3), (40, 19, 37)] {
            let mut rows = Dense::random(n, d, 1);
            if d > 0 {
                rows.row_mut(n - 1)[0] = 1e5;
                rows.row_mut(n / 2)[d - 1] = f64::NAN;
            }
            let pivots = Dense::random(p, d, 2);
            let weights = Dense::random(p + 1, 3, 3);
            for decay in [Decay::Gauss, Decay::Laplace] {
                let factors = (0..d).map(|j| 0.3 * (j + 1) as f64).collect();
                let pivots = Pivots::new(decay, factors, (0..p).map(|k| pivots.get(k)));
                let with = |name: &str| -> Option<Vec<u64>> {
                    let (mut near, mut all) = (Dense::zeros(n, p).unwrap(), Vec::new());
                    let instructions = named_instructions(name)?;
                    instructions.dispatch(Walk { pivots: &pivots, rows: &rows, then: Then::Keep(&mut near) });
                    let then = Then::Score { weights: weights.values(), m: 3, all: &mut all };
                    instructions.dispatch(Walk { pivots: &pivots, rows: &rows, then });
                    Some(near.values().iter().chain(&all).map(|x| x.to_bits()).collect())
                };
                let expected = with("scalar").unwrap();
                for name in ["avx2", "avx512"] {
                    assert!(
                        with(name).is_none_or(|found| found == expected),
                        "{n} x {d}, {p} pivots, {decay:?}: {name}"
                    );
                }
            }
        }
        say_what_is_tested("kernels");
    }
}

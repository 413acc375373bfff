//! How near rows are to pivots: `e^-d`, where the distance `d` is the square of the Euclidean one or a sum of differences.
//!
//! Distances are taken without differences, which would cost an instruction more: `|x - y|^2 = |x|^2 + |y|^2 - 2 x y`, and
//! `|x - y| = 2 max(x, y) - x - y`. So they are products of dense rows with many members, see [`tile`], where
//! pivots stand for members. What comes out is packed as rows are, so linear members can take it as their features at once.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;

use pulp::{Simd, WithSimd, bytemuck};
use serde::{Deserialize, Serialize};

use super::tile::{self, Aligned, FEATURES, Packed, Score, SideBySide};
use super::{Real, dense, instructions, sum_of};
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
    /// Weight of a factor's feature in distances.
    fn weight(self, factor: f64) -> f64 {
        match self {
            Decay::Gauss => factor * factor,
            Decay::Laplace => factor.abs(),
        }
    }

    /// The term that a row adds to all of its distances, and its magnitude.
    fn size(self, row: &[f64], weights: &[f64]) -> (f64, f64) {
        match self {
            Decay::Gauss => {
                let square = sum_of(row, weights, |x, weight| weight * x * x);
                (square, square)
            }
            Decay::Laplace => {
                (-sum_of(row, weights, |x, weight| weight * x), sum_of(row, weights, |x, weight| weight * x.abs()))
            }
        }
    }
}

/// Rows as distances want them, for any number of pivots.
pub(crate) struct PackedRows {
    blocks: Vec<Packed<f64>>,
    /// The size of the largest number in each row.
    largest: Vec<f64>,
    /// Memory for what is made of a block.
    room: Cell<Vec<f64>>,
}

impl PackedRows {
    pub(crate) fn new(rows: &Dense) -> Self {
        let (n, d) = (rows.n_rows(), rows.n_columns());
        let block = |start: usize| {
            let mut block = Packed::new(n - start, d);
            (0..block.rows.min(n - start)).for_each(|i| block.pack(i, rows.get(start + i)));
            block
        };
        // Not a number counts as larger than all.
        let larger = |most: f64, x: &f64| if x.abs() <= most { most } else { x.abs() };
        let largest = (0..n).map(|i| rows.get(i).iter().fold(0.0, larger)).collect();
        PackedRows { blocks: (0..n).step_by(tile::MOST_ROWS).map(block).collect(), largest, room: Cell::default() }
    }
}

/// Rows to which others are near, and the factor of each feature in distances.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pivots {
    decay: Decay,
    factors: Vec<f64>,
    /// Weights of the features, see [`Decay::weight`], padded to whole tiles with zeros.
    weights: Vec<f64>,
    weight: f64,
    /// The rows, and which of them are the pivots.
    rows: Arc<Dense>,
    basis: Vec<usize>,
    /// The pivots, weighed, feature by feature, each filled up to whole lanes with zeros.
    values: Aligned<f64>,
    /// The term that each pivot adds to its distances. Padding lanes are near to all rows: they serve as the constant 1.
    sizes: Vec<f64>,
    largest: f64,
}

impl Pivots {
    pub(crate) fn new(decay: Decay, factors: Vec<f64>, rows: Arc<Dense>, basis: Vec<usize>) -> Self {
        let stride = tile::padded::<f64>(basis.len());
        let mut weights: Vec<f64> = factors.iter().map(|factor| decay.weight(*factor)).collect();
        let (mut values, mut sizes) = (Aligned::zeros(factors.len() * stride), vec![f64::NEG_INFINITY; stride]);
        let mut largest = 0.0_f64;
        for (k, &i) in basis.iter().enumerate() {
            let (size, magnitude) = decay.size(rows.get(i), &weights);
            sizes[k] = size;
            largest = largest.max(magnitude);
            let of_features = values.numbers_mut().chunks_exact_mut(stride).zip(rows.get(i)).zip(&weights);
            of_features.for_each(|((to, x), weight)| to[k] = weight * x);
        }
        let weight = weights.iter().sum();
        weights.resize((factors.len() + 1).next_multiple_of(FEATURES), 0.0);
        Pivots { decay, factors, weights, weight, rows, basis, values, sizes, largest }
    }

    /// How near each row is to each pivot.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn near(&self, rows: &Dense) -> Result<Dense> {
        let mut all = Dense::zeros(rows.n_rows(), self.basis.len())?;
        let packed = &PackedRows::new(rows);
        instructions().dispatch(Walk { pivots: self, rows, packed, then: Then::Keep(&mut all) });
        Ok(all)
    }

    /// The scores on every row, row after row, of `m` members that take for features how near it is to each pivot.
    pub(crate) fn scores(&self, rows: &Dense, packed: &PackedRows, weights: &[f64], m: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(rows.n_rows() * m);
        instructions().dispatch(Walk { pivots: self, rows, packed, then: Then::Score { weights, m, all: &mut all } });
        all
    }

    /// Whether a row, of which the largest number and the size are known, is so far from the origin that digits would be lost.
    fn is_far(&self, row: &[f64], largest: f64, size: f64) -> bool {
        let within = |magnitude: f64| magnitude + self.largest <= EXACT_BELOW;
        match self.decay {
            Decay::Gauss => !within(size),
            // Most rows need no sum.
            Decay::Laplace => !within(largest * self.weight) && !within(self.decay.size(row, &self.weights).1),
        }
    }

    /// How near a row is to a pivot, difference by difference: for rows far from the origin.
    fn far(&self, row: &[f64], k: usize) -> f64 {
        let pairs = row.iter().zip(self.rows.get(self.basis[k])).zip(&self.factors);
        let apart = pairs.map(|((x, pivot), factor)| factor * x - factor * pivot);
        let distance: f64 = match self.decay {
            Decay::Gauss => apart.map(|x| x * x).sum(),
            Decay::Laplace => apart.map(f64::abs).sum(),
        };
        distance.decay()
    }
}

/// Use of the kernel values of rows.
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
    packed: &'a PackedRows,
    then: Then<'a>,
}

impl WithSimd for Walk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Walk { pivots, rows, packed, mut then } = self;
        let (n, p) = (rows.n_rows(), pivots.basis.len());
        let mut near = Packed::within(packed.room.take(), n, p);
        let weights = match &then {
            Then::Keep(_) => tile::Vectors::zeros(0, 0),
            Then::Score { weights, m, .. } => dense::pack_weights::<S, f64>(weights, *m),
        };
        let mut scores = tile::Vectors::zeros(near.rows, weights.members());
        let mut sizes = [0.0; tile::MOST_ROWS];
        let mut weighed = Packed::new(if pivots.decay == Decay::Laplace { n } else { 0 }, rows.n_columns());
        for (block, x) in packed.blocks.iter().enumerate() {
            let start = block * tile::MOST_ROWS;
            let some = x.rows.min(n - start);
            // A product less for every pivot. In squares the weights of the pivots are those of both.
            let x = match pivots.decay {
                Decay::Gauss => x,
                Decay::Laplace => {
                    weighed.rows = x.rows;
                    simd.vectorize(Weigh { x, weights: &pivots.weights, to: &mut weighed });
                    &weighed
                }
            };
            // Every block but the last has as many rows as there is room for.
            simd.vectorize(Near { simd, pivots, x, rows: some, sizes: &mut sizes, to: &mut near });
            for (i, &size) in sizes[..some].iter().enumerate() {
                let row = rows.get(start + i);
                if pivots.is_far(row, packed.largest[start + i], size) {
                    (0..p).for_each(|k| near.set(i, k, pivots.far(row, k)));
                }
            }
            match &mut then {
                Then::Keep(all) => (0..some).for_each(|i| near.unpack(i, all.row_mut(start + i))),
                Then::Score { m, all, .. } => {
                    simd.vectorize(Score { simd, x: &near, weights: &weights, rows: some, scores: &mut scores });
                    let rows = scores.numbers().chunks_exact(weights.members()).take(some);
                    rows.for_each(|row| all.extend_from_slice(&row[..*m]));
                }
            }
        }
        packed.room.set(near.into_room());
    }
}

/// Weighs the features of the rows of a block. A function of its own, as [`Score`].
struct Weigh<'a> {
    x: &'a Packed<f64>,
    weights: &'a [f64],
    to: &'a mut Packed<f64>,
}

impl WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for ((tile, x), weights) in self.x.tiles().enumerate().zip(self.weights.chunks_exact(FEATURES)) {
            // Left to itself the compiler turns the tile, a feature at a time.
            let weights: &[S::f64s] = bytemuck::cast_slice(weights);
            let x: &[S::f64s] = bytemuck::cast_slice(x);
            let to: &mut [S::f64s] = bytemuck::cast_slice_mut(self.to.tile_mut(tile, self.x.rows));
            for (to, x) in to.chunks_exact_mut(weights.len()).zip(x.chunks_exact(weights.len())) {
                for v in 0..weights.len() {
                    to[v] = simd.mul_f64s(weights[v], x[v]);
                }
            }
        }
    }
}

/// How near the rows of a block are to all pivots. A function of its own, as [`Score`].
struct Near<'a, S: Simd> {
    simd: S,
    pivots: &'a Pivots,
    /// The rows, weighed unless distances are squared.
    x: &'a Packed<f64>,
    rows: usize,
    /// The term that each row adds to its distances.
    sizes: &'a mut [f64; tile::MOST_ROWS],
    to: &'a mut Packed<f64>,
}

impl<S: Simd> WithSimd for Near<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(mut self, _: Same) {
        match self.pivots.decay {
            Decay::Gauss => self.all::<true>(),
            Decay::Laplace => self.all::<false>(),
        }
    }
}

impl<S: Simd> Near<'_, S> {
    #[inline(always)]
    fn all<const SQUARED: bool>(&mut self) {
        for row in 0..self.rows {
            self.sizes[row] = self.size::<SQUARED>(row);
        }
        // A maximum needs a register until it is added: with eight rows the compiler would not keep all sums in registers.
        let eight = SQUARED && S::REGISTER_COUNT >= 32;
        for (column, vectors) in SideBySide::of(self.pivots.sizes.len() / S::F64_LANES) {
            for row in (0..self.rows).step_by(8) {
                match (eight, vectors) {
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
        }
        for tile in 0..self.pivots.sizes.len() / FEATURES {
            for x in self.to.tile_mut(tile, self.rows) {
                *x = x.decay();
            }
        }
    }

    /// The term that a row adds to all of its distances, see [`Decay::size`]: a sum for each place in a tile, then these in pairs.
    #[inline(always)]
    fn size<const SQUARED: bool>(&self, row: usize) -> f64 {
        let simd = self.simd;
        let mut sums = [simd.splat_f64s(0.0); FEATURES];
        for (x, weights) in self.x.tiles().zip(self.pivots.weights.chunks_exact(FEATURES)) {
            let x: &[S::f64s] = bytemuck::cast_slice(&x[row * FEATURES..][..FEATURES]);
            let weights: &[S::f64s] = bytemuck::cast_slice(weights);
            for ((sum, x), weight) in sums.iter_mut().zip(x).zip(weights) {
                *sum = match SQUARED {
                    true => simd.mul_add_f64s(simd.mul_f64s(*weight, *x), *x, *sum),
                    false => simd.add_f64s(*x, *sum),
                };
            }
        }
        let sums: &[f64] = &bytemuck::cast_slice(&sums)[..FEATURES];
        let total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
        if SQUARED { total } else { -total }
    }

    /// The distances of `R` rows from `V` vectors of pivots; below 0 where rounding makes it so.
    #[inline(always)]
    fn tile<const SQUARED: bool, const R: usize, const V: usize>(&mut self, row: usize, column: usize) {
        let simd = self.simd;
        let mut sums = [[simd.splat_f64s(0.0); V]; R];
        // Maxima are added as fused products with 1, to the same bits: on some processors products have units of their own,
        // sums and maxima share theirs. Hidden from the compiler, which would make sums of them again.
        let one = simd.splat_f64s(black_box(1.0));
        let stride = self.pivots.sizes.len() / S::F64_LANES;
        let pivots: &[S::f64s] = bytemuck::cast_slice(self.pivots.values.numbers());
        for (feature, pivots) in pivots.chunks_exact(stride).enumerate() {
            let x = self.x.feature::<R>(row, feature);
            let pivots = &pivots[column..][..V];
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = simd.splat_f64s(x[r * FEATURES]);
                for v in 0..V {
                    sums[v] = if SQUARED {
                        simd.mul_add_f64s(x, pivots[v], sums[v])
                    } else {
                        simd.mul_add_f64s(simd.max_f64s(x, pivots[v]), one, sums[v])
                    };
                }
            }
        }
        let of_pivots: &[S::f64s] = bytemuck::cast_slice(&self.pivots.sizes);
        let (factor, zero) = (simd.splat_f64s(if SQUARED { -2.0 } else { 2.0 }), simd.splat_f64s(0.0));
        for (r, sums) in sums.iter().enumerate() {
            let of_row = simd.splat_f64s(self.sizes[row + r]);
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
                let pivots = Pivots::new(decay, factors, Arc::new(pivots.clone()), (0..p).collect());
                let packed = &PackedRows::new(&rows);
                let with = |name: &str| -> Option<Vec<u64>> {
                    let (mut near, mut all) = (Dense::zeros(n, p).unwrap(), Vec::new());
                    let instructions = named_instructions(name)?;
                    let then = Then::Keep(&mut near);
                    instructions.dispatch(Walk { pivots: &pivots, rows: &rows, packed, then });
                    let then = Then::Score { weights: weights.values(), m: 3, all: &mut all };
                    instructions.dispatch(Walk { pivots: &pivots, rows: &rows, packed, then });
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

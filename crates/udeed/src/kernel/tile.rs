//! The two products of dense rows with many members, held in registers: scores `Z = X W` and gradient `G = X' R`.
//!
//! Rows come in blocks, packed eight features at a time, see [`Packed`]. Both products then read them in the order in
//! which they lie. Members are padded to whole vectors.
//! Every number is one chain of fused multiplications in the order of the features, or of the rows: so the bits do not
//! depend on how wide the vectors are.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Simd, WithSimd, bytemuck};

use super::real::Real;

/// Maximum number of rows in a block, a multiple of eight: a block and its scores stay in the cache.
pub(super) const MOST_ROWS: usize = 96;
/// Features in a tile.
pub(super) const FEATURES: usize = 8;

/// Vectors that are held side by side: with eight rows 24 sums, which 32 registers can hold.
const VECTORS: usize = 3;

/// A block of rows, eight features at a time: `values[(tile * rows + i) * 8 + f]` is feature `8 tile + f` of row `i`. The
/// feature after the last one is the constant 1.
pub(super) struct Packed<T> {
    values: Vec<T>,
    /// Capacity in rows.
    pub(super) rows: usize,
}

impl<T: Real> Packed<T> {
    /// Room for a block of `n` rows, or of some of them if they are many.
    pub(super) fn new(n: usize, columns: usize) -> Self {
        Packed::within(Vec::new(), n, columns)
    }

    /// As [`Packed::new`], in memory that was used before: what the rows hold, but for the constant, may be anything.
    pub(super) fn within(mut values: Vec<T>, n: usize, columns: usize) -> Self {
        let rows = n.next_multiple_of(8).clamp(8, MOST_ROWS);
        values.resize((columns + 1).next_multiple_of(FEATURES) * rows, T::default());
        for row in values[columns / FEATURES * FEATURES * rows..].chunks_exact_mut(FEATURES) {
            row[columns % FEATURES] = T::from_double(1.0);
        }
        Packed { values, rows }
    }

    /// The memory, to be used again.
    pub(super) fn into_room(self) -> Vec<T> {
        self.values
    }

    #[inline(always)]
    pub(super) fn pack(&mut self, i: usize, row: &[f64]) {
        let (chunks, rest) = row.as_chunks::<FEATURES>();
        for (tile, chunk) in chunks.iter().enumerate() {
            let to = &mut self.values[(tile * self.rows + i) * FEATURES..][..FEATURES];
            to.copy_from_slice(&chunk.map(T::from_double));
        }
        let last = &mut self.values[(chunks.len() * self.rows + i) * FEATURES..][..FEATURES];
        last.iter_mut().zip(rest).for_each(|(to, &from)| *to = T::from_double(from));
    }

    /// The features of row `i` in a tile.
    #[inline(always)]
    pub(super) fn tile_row_mut(&mut self, tile: usize, i: usize) -> &mut [T] {
        &mut self.values[(tile * self.rows + i) * FEATURES..][..FEATURES]
    }

    /// Unpacks the first `to.len()` features of row `i`.
    pub(super) fn unpack(&self, i: usize, to: &mut [T]) {
        for (tile, to) in to.chunks_mut(FEATURES).enumerate() {
            to.copy_from_slice(&self.values[(tile * self.rows + i) * FEATURES..][..to.len()]);
        }
    }

    pub(super) fn set(&mut self, i: usize, feature: usize, value: T) {
        self.values[(feature / FEATURES * self.rows + i) * FEATURES + feature % FEATURES] = value;
    }

    /// The tiles, each with all rows.
    #[inline(always)]
    pub(super) fn tiles(&self) -> impl Iterator<Item = &[T]> {
        self.values.chunks_exact(self.rows * FEATURES)
    }

    /// A feature of the `R` rows from `row` on, of each in the first of [`FEATURES`] places. In a loop over features the sums
    /// stay in registers; in one over tiles, the last of which is shorter, the compiler put them into memory after each.
    #[inline(always)]
    pub(super) fn feature<const R: usize>(&self, row: usize, feature: usize) -> &[T] {
        let first = (feature / FEATURES * self.rows + row) * FEATURES + feature % FEATURES;
        &self.values[first..][..(R - 1) * FEATURES + 1]
    }

    /// A tile of the first `rows` rows.
    #[inline(always)]
    pub(super) fn tile_mut(&mut self, tile: usize, rows: usize) -> &mut [T] {
        &mut self.values[tile * self.rows * FEATURES..][..rows * FEATURES]
    }

    /// The features of row `i` that stand in vector `v` of it.
    #[inline(always)]
    pub(super) fn vector_mut<S: Simd>(&mut self, i: usize, v: usize) -> &mut T::Vector<S> {
        let first = v * lanes::<S, T>();
        let place = (first / FEATURES * self.rows + i) * FEATURES + first % FEATURES;
        &mut bytemuck::cast_slice_mut(&mut self.values)[place / lanes::<S, T>()]
    }
}

/// Numbers that begin where a line of the cache does.
#[derive(Debug)]
pub(super) struct Aligned<T> {
    room: Vec<T>,
    /// Where in the room they lie.
    place: Range<usize>,
}

impl<T: Real> Aligned<T> {
    pub(super) fn zeros(len: usize) -> Self {
        const CACHE_LINE: usize = 64;
        let spare = CACHE_LINE / size_of::<T>();
        let room = vec![T::default(); len + spare];
        let first = room.as_ptr().align_offset(CACHE_LINE).min(spare);
        Aligned { room, place: first..first + len }
    }

    #[inline(always)]
    pub(super) fn numbers(&self) -> &[T] {
        &self.room[self.place.clone()]
    }

    #[inline(always)]
    pub(super) fn numbers_mut(&mut self) -> &mut [T] {
        &mut self.room[self.place.clone()]
    }
}

impl<T: Real> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut own = Aligned::zeros(self.place.len());
        own.numbers_mut().copy_from_slice(self.numbers());
        own
    }
}

impl<T: Real + PartialEq> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.numbers() == other.numbers()
    }
}

/// A table of vectors, row after row.
pub(super) struct Vectors<S: Simd, T: Real> {
    all: Aligned<T>,
    /// Vectors in a row.
    stride: usize,
    instructions: PhantomData<S>,
}

impl<S: Simd, T: Real> Vectors<S, T> {
    /// Zeros. Rows are `members` wide, which fills whole vectors.
    pub(super) fn zeros(rows: usize, members: usize) -> Self {
        let stride = members / lanes::<S, T>();
        Vectors { all: Aligned::zeros(rows * members), stride, instructions: PhantomData }
    }

    /// Numbers in a row.
    #[inline(always)]
    pub(super) fn members(&self) -> usize {
        self.stride * lanes::<S, T>()
    }

    #[inline(always)]
    pub(super) fn numbers(&self) -> &[T] {
        self.all.numbers()
    }

    #[inline(always)]
    pub(super) fn numbers_mut(&mut self) -> &mut [T] {
        self.all.numbers_mut()
    }

    #[inline(always)]
    pub(super) fn vectors(&self) -> &[T::Vector<S>] {
        bytemuck::cast_slice(self.numbers())
    }

    #[inline(always)]
    fn vectors_mut(&mut self) -> &mut [T::Vector<S>] {
        bytemuck::cast_slice_mut(self.numbers_mut())
    }
}

/// The first of the vectors that are held side by side, and their number: of four two and two, as one alone waits for itself.
pub(super) struct SideBySide {
    next: usize,
    end: usize,
}

impl SideBySide {
    #[inline(always)]
    pub(super) fn of(vectors: usize) -> Self {
        SideBySide { next: 0, end: vectors }
    }
}

impl Iterator for SideBySide {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let (first, left) = (self.next, self.end - self.next);
        let vectors = if left == VECTORS + 1 { 2 } else { left.min(VECTORS) };
        self.next += vectors;
        (left > 0).then_some((first, vectors))
    }
}

/// Calls the function of a tile of a given height, in rows or features, for the number of vectors that are held side by side.
macro_rules! tile_of {
    ($tile:ident, $height:literal, $vectors:expr, $arguments:tt) => {
        match $vectors {
            3 => $tile::<S, T, $height, 3> $arguments,
            2 => $tile::<S, T, $height, 2> $arguments,
            _ => $tile::<S, T, $height, 1> $arguments,
        }
    };
}

fn lanes<S: Simd, T: Real>() -> usize {
    size_of::<T::Vector<S>>() / size_of::<T>()
}

/// Size of a row of `m` members, in whole lanes.
pub(super) fn padded<T: Real>(m: usize) -> usize {
    m.next_multiple_of(T::LANES)
}

/// `scores = X W` for the first `rows` rows of a block, rounded up to eight.
///
/// A function of its own, not a part of each walk that calls it: there would be dozens of copies to compile.
pub(super) struct Score<'a, S: Simd, T: Real> {
    pub(super) simd: S,
    pub(super) x: &'a Packed<T>,
    pub(super) weights: &'a Vectors<S, T>,
    pub(super) rows: usize,
    pub(super) scores: &'a mut Vectors<S, T>,
}

impl<S: Simd, T: Real> WithSimd for Score<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(self, _: Same) {
        let Score { simd, x, weights, rows, scores } = self;
        // No closures and no functions that are not inlined for sure: they would not get the vector instructions.
        for (column, vectors) in SideBySide::of(weights.stride) {
            for row in (0..rows).step_by(8) {
                if S::REGISTER_COUNT >= 32 {
                    tile_of!(score_tile, 8, vectors, (simd, x, weights, row, column, scores));
                } else {
                    for row in [row, row + 4] {
                        tile_of!(score_tile, 4, vectors, (simd, x, weights, row, column, scores));
                    }
                }
            }
        }
    }
}

/// `gradient = X' R` over the first `rows` rows of a block. A function of its own, as [`Score`].
pub(super) struct Differentiate<'a, S: Simd, T: Real> {
    pub(super) simd: S,
    pub(super) x: &'a Packed<T>,
    pub(super) residuals: &'a Vectors<S, T>,
    pub(super) rows: usize,
    pub(super) gradient: &'a mut Vectors<S, T>,
    /// Values above the diagonal of the gradient are unspecified.
    pub(super) lower: bool,
}

impl<S: Simd, T: Real> WithSimd for Differentiate<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Same: Simd>(self, _: Same) {
        let Differentiate { simd, x, residuals, rows, gradient, lower } = self;
        let features = gradient.vectors().len() / gradient.stride;
        let tallest = if S::REGISTER_COUNT >= 32 { 8 } else { 4 };
        for (column, vectors) in SideBySide::of(residuals.stride) {
            let mut feature = if lower { column * lanes::<S, T>() / FEATURES * FEATURES } else { 0 };
            while feature < features {
                let left = features - feature;
                // The sums of few features would wait for each other; behind the last one the rows have room for eight.
                let height = left.next_power_of_two().min(tallest);
                match height {
                    8 => tile_of!(gradient_tile, 8, vectors, (simd, x, residuals, rows, feature, column, gradient)),
                    4 => tile_of!(gradient_tile, 4, vectors, (simd, x, residuals, rows, feature, column, gradient)),
                    2 => tile_of!(gradient_tile, 2, vectors, (simd, x, residuals, rows, feature, column, gradient)),
                    _ => tile_of!(gradient_tile, 1, vectors, (simd, x, residuals, rows, feature, column, gradient)),
                }
                feature += height;
            }
        }
    }
}

#[inline(always)]
fn score_tile<S: Simd, T: Real, const R: usize, const V: usize>(
    simd: S,
    x: &Packed<T>,
    weights: &Vectors<S, T>,
    row: usize,
    column: usize,
    scores: &mut Vectors<S, T>,
) {
    let mut sums = [[T::splat(simd, T::default()); V]; R];
    let stride = weights.stride;
    for (feature, weights) in weights.vectors().chunks_exact(stride).enumerate() {
        let x = x.feature::<R>(row, feature);
        let w = &weights[column..][..V];
        for (r, sums) in sums.iter_mut().enumerate() {
            let x = T::splat(simd, x[r * FEATURES]);
            for v in 0..V {
                sums[v] = T::mul_add(simd, x, w[v], sums[v]);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        scores.vectors_mut()[(row + r) * stride + column..][..V].copy_from_slice(sums);
    }
}

#[inline(always)]
fn gradient_tile<S: Simd, T: Real, const F: usize, const V: usize>(
    simd: S,
    x: &Packed<T>,
    residuals: &Vectors<S, T>,
    rows: usize,
    feature: usize,
    column: usize,
    gradient: &mut Vectors<S, T>,
) {
    let mut sums = [[T::splat(simd, T::default()); V]; F];
    let stride = residuals.stride;
    let (tile, within) = (feature / FEATURES, feature % FEATURES);
    let x = &x.values[tile * x.rows * FEATURES..][..rows * FEATURES];
    for (x, residuals) in x.chunks_exact(FEATURES).zip(residuals.vectors().chunks_exact(stride)) {
        let x = &x[within..][..F];
        let residuals = &residuals[column..][..V];
        for (f, sums) in sums.iter_mut().enumerate() {
            let x = T::splat(simd, x[f]);
            for v in 0..V {
                sums[v] = T::mul_add(simd, x, residuals[v], sums[v]);
            }
        }
    }
    let features = gradient.vectors().len() / stride - feature;
    for (f, sums) in sums.iter().enumerate() {
        if f < features {
            gradient.vectors_mut()[(feature + f) * stride + column..][..V].copy_from_slice(sums);
        }
    }
}

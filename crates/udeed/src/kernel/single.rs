//! A walk over dense rows with one member: features take the place in the vectors that members have elsewhere.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::pass::VisitBlock;
use super::real::Real;
use crate::data::{Block, Blocks, Buffer};
use crate::error::Result;

/// Maximum number of rows in a block: they stay in the cache between scores and gradient.
const MOST_ROWS: usize = 128;
/// Features in a chunk. Each score is the sum of this many partial sums, whatever the width of the vectors.
const FEATURES: usize = 8;
/// Chunks of the gradient that are summed side by side: one alone would wait for itself.
const CHUNKS: usize = 4;

/// Scratch memory of a walk.
pub(super) struct Room<T> {
    scores: Vec<T>,
    gradient: Vec<T>,
    buffer: Buffer,
}

impl<T: Real> Room<T> {
    /// For walks over at most `rows` rows, with a gradient of `gradient` numbers.
    pub(super) fn new(rows: usize, gradient: usize) -> Self {
        let zeros = |n: usize| vec![T::default(); n];
        Room { scores: zeros(rows.min(MOST_ROWS)), gradient: zeros(gradient), buffer: Buffer::default() }
    }
}

/// One walk over some of the rows.
pub(super) struct Walk<'a, S: Simd, T: Real> {
    pub(super) simd: S,
    /// The instructions of `simd`.
    pub(super) instructions: Arch,
    pub(super) rows: &'a dyn Blocks,
    pub(super) span: Range<usize>,
    pub(super) weights: &'a [T],
    /// Where the gradient is added.
    pub(super) gradient: Option<&'a mut [f64]>,
    pub(super) visitor: &'a mut (dyn VisitBlock<T> + 'a),
    pub(super) room: &'a mut Room<T>,
}

impl<S: Simd, T: Real> WithSimd for Walk<'_, S, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<Same: Simd>(mut self, _: Same) -> Result<()> {
        let (simd, columns) = (self.simd, self.rows.shape().1);
        let Room { scores, gradient: block_gradient, buffer } = self.room;
        for start in self.span.clone().step_by(MOST_ROWS) {
            let block = start..self.span.end.min(start + MOST_ROWS);
            let scores = &mut scores[..block.len()];
            let Block::Dense(rows) = self.rows.block(block, buffer)? else {
                unreachable!("dense rows come in dense blocks")
            };
            simd.vectorize(Score { rows, columns, weights: self.weights, scores });
            self.visitor.visit_block(self.instructions, start, 1, scores);
            if let Some(gradient) = &mut self.gradient {
                simd.vectorize(Differentiate { rows, columns, residuals: scores, gradient: block_gradient });
                gradient.iter_mut().zip(&*block_gradient).for_each(|(to, from)| *to += from.to_double());
            }
        }
        Ok(())
    }
}

/// `scores = X w`.
struct Score<'a, T> {
    rows: &'a [f64],
    columns: usize,
    weights: &'a [T],
    scores: &'a mut [T],
}

impl<T: Real> WithSimd for Score<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (weights, constant) = self.weights.split_at(self.columns);
        self.scores.fill(constant[0]);
        for (z, row) in self.scores.iter_mut().zip(rows_of(self.rows, self.columns)) {
            *z = *z + inner(row, weights);
        }
    }
}

/// `gradient = X' r`, each number one chain in the order of the rows.
struct Differentiate<'a, T> {
    rows: &'a [f64],
    columns: usize,
    residuals: &'a [T],
    gradient: &'a mut [T],
}

impl<T: Real> WithSimd for Differentiate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        const WIDE: usize = FEATURES * CHUNKS;
        let mut first = 0;
        while first + WIDE <= self.columns {
            self.sum::<WIDE>(first);
            first += WIDE;
        }
        while first + FEATURES <= self.columns {
            self.sum::<FEATURES>(first);
            first += FEATURES;
        }
        while first < self.columns {
            self.sum::<1>(first);
            first += 1;
        }
        self.gradient[first] = self.residuals.iter().fold(T::default(), |sum, &residual| sum + residual);
    }
}

impl<T: Real> Differentiate<'_, T> {
    /// `N` numbers of the gradient.
    #[inline(always)]
    fn sum<const N: usize>(&mut self, first: usize) {
        let mut sums = [T::default(); N];
        for (row, &residual) in rows_of(self.rows, self.columns).zip(self.residuals) {
            let row = &row[first..][..N];
            for f in 0..N {
                sums[f] = T::from_double(row[f]).times_plus(residual, sums[f]);
            }
        }
        self.gradient[first..][..N].copy_from_slice(&sums);
    }
}

/// Rows without columns have none to look at.
#[inline(always)]
fn rows_of(rows: &[f64], columns: usize) -> impl Iterator<Item = &[f64]> {
    rows.chunks_exact(columns.max(1))
}

/// The inner product of a row with weights.
#[inline(always)]
fn inner<T: Real>(row: &[f64], weights: &[T]) -> T {
    let (row_chunks, row_rest) = row.as_chunks::<FEATURES>();
    let (chunks, rest) = weights.as_chunks::<FEATURES>();
    let mut sums = [T::default(); FEATURES];
    for (x, w) in row_chunks.iter().zip(chunks) {
        for f in 0..FEATURES {
            sums[f] = T::from_double(x[f]).times_plus(w[f], sums[f]);
        }
    }
    let mut last = T::default();
    for (&x, &w) in row_rest.iter().zip(rest) {
        last = T::from_double(x).times_plus(w, last);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h)) + last
}

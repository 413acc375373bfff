//! A walk over dense rows with many members, block by block: scores, what the visitor makes of them, gradient.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::pass::VisitBlock;
use super::prefetch::prefetch;
use super::real::Real;
use super::sums::Sums;
use super::tile::{self, Differentiate, Packed, Score, Vectors};
use crate::data::{Block, Blocks, Buffer};
use crate::error::Result;

/// The weights of all members, each feature padded to whole vectors.
pub(super) fn pack_weights<S: Simd, T: Real>(weights: &[f64], m: usize) -> Vectors<S, T> {
    let stride = tile::padded::<T>(m);
    let mut packed = Vectors::zeros(weights.len() / m, stride);
    for (to, from) in packed.numbers_mut().chunks_exact_mut(stride).zip(weights.chunks_exact(m)) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = T::from_double(from));
    }
    packed
}

/// Number of rows that are prefetched ahead of the one that is packed.
const AHEAD: usize = 4;

/// Values of the next rows that are packed between two visits: with more at once the memory would idle during a visit.
const PACKED_AT_ONCE: usize = 128;

/// Maximum number of rows that a visitor gets at once.
const MOST_AT_ONCE: usize = 16;

/// Number of rows that a visitor gets at once: more where rows are short, as a call costs as much as several values.
fn at_once(columns: usize) -> usize {
    (PACKED_AT_ONCE / columns.max(1)).clamp(1, MOST_AT_ONCE)
}

/// Scratch memory of a walk.
pub(super) struct Room<S: Simd, T: Real> {
    x: Packed<T>,
    next: Packed<T>,
    scores: Vectors<S, T>,
    gradient: Vectors<S, T>,
    buffer: Buffer,
}

impl<S: Simd, T: Real> Room<S, T> {
    /// For walks over at most `rows` rows, with a gradient of `features` rows.
    pub(super) fn new(rows: usize, columns: usize, features: usize, stride: usize) -> Self {
        let x = Packed::new(rows, columns);
        Room {
            next: Packed::new(rows, columns),
            scores: Vectors::zeros(x.rows, stride),
            gradient: Vectors::zeros(features, stride),
            buffer: Buffer::default(),
            x,
        }
    }
}

/// One walk over some of the rows.
pub(super) struct Walk<'a, S: Simd, T: Real, A: Sums<T>> {
    pub(super) simd: S,
    /// The instructions of `simd`.
    pub(super) instructions: Arch,
    pub(super) rows: &'a dyn Blocks,
    pub(super) span: Range<usize>,
    pub(super) weights: &'a Vectors<S, T>,
    pub(super) sums: A,
    /// Size of a padded row of members.
    pub(super) stride: usize,
    /// Where the gradient is added, one padded row a feature, for each of the [`Sums::NUMBERS`].
    pub(super) gradient: Option<&'a mut [f64]>,
    pub(super) visitor: &'a mut (dyn VisitBlock<T> + 'a),
    pub(super) room: &'a mut Room<S, T>,
}

impl<S: Simd, T: Real, A: Sums<T>> WithSimd for Walk<'_, S, T, A> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<Same: Simd>(mut self, _: Same) -> Result<()> {
        let (simd, sums) = (self.simd, self.sums);
        let (_, columns) = self.rows.shape();
        let (stride, at_once) = (self.stride, at_once(columns));
        let Room { x, next: next_x, scores, gradient: block_gradient, buffer } = self.room;
        let (rows, end) = (x.rows, self.span.end);
        let block = |start: usize| start.min(end)..end.min(start + rows);
        for (i, row) in dense_rows(self.rows.block(block(self.span.start), buffer)?, columns).enumerate() {
            sums.pack(x, i, row);
        }
        for start in self.span.clone().step_by(rows) {
            let n = block(start).len();
            let mut next = dense_rows(self.rows.block(block(start + rows), buffer)?, columns);
            let mut after = next.clone();
            after.by_ref().take(AHEAD).for_each(prefetch);
            simd.vectorize(Score { simd, x, weights: self.weights, rows: n, scores });
            let some = scores.numbers_mut()[..n * stride].chunks_mut(at_once * stride);
            for (first, scores) in (0..).step_by(at_once).zip(some) {
                self.visitor.visit_block(self.instructions, start + first, stride, scores);
                // The next block is packed here, few rows at a time, so that the memory can bring it in the meantime.
                for (i, row) in (first..).zip(next.by_ref().take(at_once)) {
                    sums.pack(next_x, i, row);
                    if let Some(row) = after.next() {
                        prefetch(row);
                    }
                }
            }
            if let Some(gradient) = &mut self.gradient {
                simd.vectorize(Differentiate {
                    simd,
                    x,
                    residuals: scores,
                    rows: n,
                    gradient: block_gradient,
                    lower: false,
                });
                sums.add(gradient, block_gradient.numbers(), stride);
            }
            std::mem::swap(x, next_x);
        }
        Ok(())
    }
}

#[inline(always)]
pub(super) fn dense_rows<'a>(block: Block<'a>, columns: usize) -> impl Iterator<Item = &'a [f64]> + Clone {
    let Block::Dense(values) = block else { unreachable!("dense rows come in dense blocks") };
    // Rows without columns need no packing.
    values.chunks_exact(columns.max(1))
}

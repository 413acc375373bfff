//! A walk over sparse rows whose gradient is too large for copies: threads share out the members, not the rows.
//!
//! Some rows at a time: first the residuals of all members on these rows, the rows in parallel; then their products with the
//! rows, each thread for some of the members, over all these rows in their order. So the bits do not depend on the threads.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::pass::Visitor;
use super::real::Real;
use super::sparse;
use super::sums::Sums;
use crate::data::{Blocks, Buffer};
use crate::error::Result;
use crate::parallel::{self, locked};

/// Rows whose residuals are kept at a time: their memory is small beside the gradient.
const ROWS: usize = 2048;
/// Number of chunks of the gradient in which those of the threads are put together.
const CHUNKS: usize = 256;

/// A walk over all rows.
pub(super) struct Walk<'a, 'v, T: Real, A: Sums<T>> {
    pub(super) instructions: Arch,
    pub(super) rows: &'a dyn Blocks,
    pub(super) weights: &'a [T],
    pub(super) m: usize,
    pub(super) sums: A,
    /// One for each [`sparse::ROWS`] rows.
    pub(super) visitors: &'a [&'a Visitor<'v, T>],
}

impl<T: Real, A: Sums<T>> Walk<'_, '_, T, A> {
    /// Adds the gradient to `gradient`.
    pub(super) fn walk<S: Simd>(&self, simd: S, gradient: &mut [f64]) -> Result<()> {
        let (rows, m, n, sums) = (self.rows, self.m, self.rows.shape().0, self.sums);
        let mut slices = Slice::deal(m, A::NUMBERS * self.weights.len() / m);
        let mut residuals = vec![T::default(); ROWS.min(n) * m];
        for start in (0..n).step_by(ROWS) {
            let span = start..n.min(start + ROWS);
            let residuals = &mut residuals[..span.len() * m];
            self.differentiate(simd, start, residuals)?;
            let residuals = &*residuals;
            let scatter = |(): &mut (), _: usize, slice: &mut [Slice]| {
                let (span, slice) = (span.clone(), &mut slice[0]);
                simd.vectorize(Scatter { rows, span, residuals, m, sums, slice })
            };
            parallel::try_chunks_mut(&mut slices, 1, || (), scatter)?;
        }
        put_together(&slices, gradient, m);
        Ok(())
    }

    /// The residuals of all members on rows from `start` on.
    fn differentiate<S: Simd>(&self, simd: S, start: usize, residuals: &mut [T]) -> Result<()> {
        let Walk { instructions, rows, weights, m, sums, visitors } = *self;
        let of_block = |(): &mut (), block: usize, residuals: &mut [T]| {
            let first = start + block * sparse::ROWS;
            let (span, gradient) = (first..first + residuals.len() / m, None);
            let visitor = &mut *locked(visitors[first / sparse::ROWS]);
            let residuals = Some(residuals);
            simd.vectorize(sparse::Walk { instructions, rows, span, weights, m, sums, gradient, residuals, visitor })
        };
        parallel::try_chunks_mut(residuals, sparse::ROWS * m, || (), of_block)
    }
}

/// Adds the gradients of all members to `gradient`, feature by feature.
fn put_together(slices: &[Slice], gradient: &mut [f64], m: usize) {
    let each = (gradient.len() / m).div_ceil(CHUNKS).max(1);
    parallel::chunks_mut(gradient, each * m, |chunk, gradient| {
        for (feature, gradient) in (chunk * each..).zip(gradient.chunks_exact_mut(m)) {
            for slice in slices {
                let from = &slice.gradient[feature * slice.members.len()..];
                gradient[slice.members.clone()].iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
    });
}

/// Some of the members, and their gradient feature by feature.
struct Slice {
    members: Range<usize>,
    gradient: Vec<f64>,
}

impl Slice {
    /// About as many members, in whole vectors, for each thread.
    fn deal(m: usize, width: usize) -> Vec<Self> {
        let each = m.div_ceil(rayon::current_num_threads()).next_multiple_of(f64::LANES);
        let slice = |start: usize| {
            let members = start..m.min(start + each);
            Slice { gradient: vec![0.0; width * members.len()], members }
        };
        (0..m).step_by(each).map(slice).collect()
    }
}

struct Scatter<'a, T, A> {
    rows: &'a dyn Blocks,
    span: Range<usize>,
    residuals: &'a [T],
    m: usize,
    sums: A,
    slice: &'a mut Slice,
}

impl<T: Real, A: Sums<T>> WithSimd for Scatter<'_, T, A> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<()> {
        let mut buffer = Buffer::default();
        let (members, gradient) = (self.slice.members.clone(), &mut self.slice.gradient);
        let block = self.rows.block(self.span, &mut buffer)?;
        for ((columns, values), residuals) in sparse::sparse_rows(block).zip(self.residuals.chunks_exact(self.m)) {
            sparse::scatter(self.sums, columns, values, &residuals[members.clone()], gradient);
        }
        Ok(())
    }
}

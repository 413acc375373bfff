//! A walk over sparse rows whose gradient is so large that there can be only one of it: not the rows are dealt out to the
//! threads, but the members.
//!
//! Some rows at a time: first the residuals of all members on these rows, the rows in parallel; then their products with the
//! rows, each thread for some of the members, over all these rows in their order. So the bits do not depend on the threads.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::pass::Visit;
use super::real::Real;
use super::sparse;
use crate::data::{Blocks, Buffer};
use crate::error::Result;

/// Rows whose residuals are kept at a time: their memory is small beside the gradient.
const ROWS: usize = 2048;

/// The tallies of all rows; the gradient is added to `gradient`.
pub(super) fn walk<S: Simd, T: Real, V: Visit<T>>(
    simd: S,
    rows: &dyn Blocks,
    weights: &[T],
    m: usize,
    gradient: &mut [f64],
    visitor: &V,
) -> Result<Vec<V::Tally>> {
    let n = rows.shape().0;
    let mut slices = Slice::deal(m, weights.len() / m);
    let mut residuals = vec![T::default(); ROWS.min(n) * m];
    let mut tallies = Vec::with_capacity(n.div_ceil(sparse::ROWS));
    for start in (0..n).step_by(ROWS) {
        let span = start..n.min(start + ROWS);
        let residuals = &mut residuals[..span.len() * m];
        let blocks = residuals.par_chunks_mut(sparse::ROWS * m).enumerate();
        let of_block = |(block, residuals): (usize, &mut [T])| {
            let start = span.start + block * sparse::ROWS;
            let span = start..start + residuals.len() / m;
            let kept = Some(residuals);
            simd.vectorize(sparse::Walk { rows, span, weights, m, gradient: None, residuals: kept, visitor })
        };
        tallies.extend(blocks.map(of_block).collect::<Result<Vec<_>>>()?);
        let scatter =
            |slice: &mut Slice| simd.vectorize(Scatter { rows, span: span.clone(), residuals: &*residuals, m, slice });
        slices.par_iter_mut().map(scatter).collect::<Result<()>>()?;
    }
    gradient.par_chunks_mut(m).enumerate().for_each(|(feature, gradient)| {
        for slice in &slices {
            let from = &slice.gradient[feature * slice.members.len()..];
            gradient[slice.members.clone()].iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    });
    Ok(tallies)
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

struct Scatter<'a, T> {
    rows: &'a dyn Blocks,
    span: Range<usize>,
    residuals: &'a [T],
    m: usize,
    slice: &'a mut Slice,
}

impl<T: Real> WithSimd for Scatter<'_, T> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Result<()> {
        let mut buffer = Buffer::default();
        let (members, gradient) = (self.slice.members.clone(), &mut self.slice.gradient);
        let block = self.rows.block(self.span, &mut buffer)?;
        for ((columns, values), residuals) in sparse::sparse_rows(block).zip(self.residuals.chunks_exact(self.m)) {
            sparse::scatter(columns, values, &residuals[members.clone()], gradient, members.len());
        }
        Ok(())
    }
}

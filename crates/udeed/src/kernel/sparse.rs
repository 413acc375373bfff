//! A walk over sparse rows: for each stored value the weights of its feature are added to the scores of all members, and
//! the residuals to the gradient of its feature. Nothing is ever made dense.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::pass::VisitBlock;
use super::real::Real;
use super::sums::Sums;
use super::tile::{self, Vectors};
use crate::data::{Block, Blocks, Buffer};
use crate::error::Result;

/// Rows that are read at a time.
pub(super) const ROWS: usize = 64;

/// Number of rows that a visitor gets at once: with one the calls cost more.
const AT_ONCE: usize = 2;

/// One walk over some of the rows.
pub(super) struct Walk<'a, T: Real, A: Sums<T>> {
    pub(super) instructions: Arch,
    pub(super) rows: &'a dyn Blocks,
    pub(super) span: Range<usize>,
    /// The weights of all members, feature by feature, without padding.
    pub(super) weights: &'a [T],
    pub(super) m: usize,
    pub(super) sums: A,
    /// Where the gradient is added, feature by feature.
    pub(super) gradient: Option<&'a mut [f64]>,
    /// Where the residuals are kept, row by row without padding.
    pub(super) residuals: Option<&'a mut [T]>,
    pub(super) visitor: &'a mut (dyn VisitBlock<T> + 'a),
}

impl<T: Real, A: Sums<T>> WithSimd for Walk<'_, T, A> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> Result<()> {
        let (m, stride, sums) = (self.m, tile::padded::<T>(self.m), self.sums);
        let mut scores = Vectors::<S, T>::zeros(AT_ONCE, stride);
        let mut buffer = Buffer::default();
        for start in self.span.clone().step_by(ROWS) {
            let end = self.span.end.min(start + ROWS);
            let mut rows = sparse_rows(self.rows.block(start..end, &mut buffer)?);
            for first in (start..end).step_by(AT_ONCE) {
                let scores = &mut scores.numbers_mut()[..AT_ONCE.min(end - first) * stride];
                let some = rows.clone();
                for (scores, (columns, values)) in scores.chunks_exact_mut(stride).zip(rows.by_ref()) {
                    score(sums, columns, values, self.weights, m, scores);
                }
                self.visitor.visit_block(self.instructions, first, stride, scores);
                for (i, (scores, (columns, values))) in (first..).zip(scores.chunks_exact(stride).zip(some)) {
                    if let Some(residuals) = &mut self.residuals {
                        residuals[(i - self.span.start) * m..][..m].copy_from_slice(&scores[..m]);
                    }
                    if let Some(gradient) = &mut self.gradient {
                        scatter(sums, columns, values, &scores[..m], gradient);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The columns and values of each row.
#[inline(always)]
pub(super) fn sparse_rows<'a>(block: Block<'a>) -> impl Iterator<Item = (&'a [u32], &'a [f64])> + Clone {
    let Block::Sparse { starts, columns, values } = block else { unreachable!("sparse rows come in sparse blocks") };
    starts.windows(2).map(move |pair| {
        let span = pair[0] - starts[0]..pair[1] - starts[0];
        (&columns[span.clone()], &values[span])
    })
}

/// `scores_k = w_k.(x, 1)`, the padding zero.
#[inline(always)]
fn score<T: Real>(sums: impl Sums<T>, columns: &[u32], values: &[f64], weights: &[T], m: usize, scores: &mut [T]) {
    scores.fill(T::default());
    let (features, bias) = weights.split_at(weights.len() - m);
    for (&j, &x) in columns.iter().zip(values) {
        let x = sums.feature(j as usize, x);
        add_scaled(&mut scores[..m], T::from_double(x), &features[j as usize * m..][..m]);
    }
    add_scaled(&mut scores[..m], T::from_double(1.0), bias);
}

/// `gradient_k += residual_k (x, 1)`.
#[inline(always)]
pub(super) fn scatter<T: Real, A: Sums<T>>(
    sums: A,
    columns: &[u32],
    values: &[f64],
    residuals: &[T],
    gradient: &mut [f64],
) {
    for (&j, &x) in columns.iter().zip(values) {
        sums.add_product(j as usize, sums.feature(j as usize, x), residuals, gradient);
    }
    let constant = gradient.len() / A::NUMBERS / residuals.len() - 1;
    sums.add_product(constant, 1.0, residuals, gradient);
}

#[inline(always)]
fn add_scaled<T: Real>(to: &mut [T], factor: T, values: &[T]) {
    to.iter_mut().zip(values).for_each(|(to, &value)| *to = factor.times_plus(value, *to));
}

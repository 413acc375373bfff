//! The weighted sum of the products of rows with themselves, which is what the second derivative of a loss is made of.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::instructions;
use super::pass::{in_parts, longest, most_parts};
use super::tile::{self, Differentiate, Packed, Vectors};
use crate::data::{Row, Rows};
use crate::parallel::Rooms;

/// The lower triangle of `sum_i factors_i (x_i, 1) (x_i, 1)'`, row after row. What stands above it means nothing.
pub(crate) fn gram(rows: &dyn Rows, factors: &[f64]) -> Vec<f64> {
    instructions().dispatch(Gram { rows, factors })
}

pub(super) struct Gram<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) factors: &'a [f64],
}

impl WithSimd for Gram<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let (n, columns) = self.rows.shape();
        let width = columns + 1;
        let stride = if self.rows.is_sparse() { width } else { tile::padded::<f64>(width) };
        let mut sum = vec![0.0; width * stride];
        let (rows, factors) = (self.rows, self.factors);
        let spans = whole_blocks(n, sum.len());
        let (len, sparse) = (sum.len(), rows.is_sparse());
        let rooms = Rooms::new(|| Room::<S>::new(longest(&spans), columns, stride));
        let done = in_parts(&spans, len, Some(&mut sum), &|part, sum| {
            let (span, sum) = (spans[part].clone(), sum.unwrap_or_default());
            match sparse {
                true => simd.vectorize(SparseWalk { rows, factors, span, sum }),
                false => rooms.lend(|room| simd.vectorize(DenseWalk { simd, rows, factors, span, sum, stride, room })),
            }
            Ok(())
        });
        debug_assert!(done.is_ok());
        match stride == width {
            true => sum,
            false => sum.chunks_exact(stride).flat_map(|row| &row[..width]).copied().collect(),
        }
    }
}

/// Cuts `n` rows at the ends of blocks, as a last block of few rows costs nearly as much as a whole one; into parts of several
/// blocks where a sum of `len` numbers takes little time.
fn whole_blocks(n: usize, len: usize) -> Vec<Range<usize>> {
    let each = if len < 1 << 13 { 4 } else { 1 };
    let blocks = n.div_ceil(tile::MOST_ROWS);
    let parts = blocks.div_ceil(each).clamp(1, most_parts(len));
    let end = |p: usize| n.min(blocks * p / parts * tile::MOST_ROWS);
    (0..parts).map(|p| end(p)..end(p + 1)).collect()
}

/// Scratch memory of a walk.
struct Room<S: Simd> {
    x: Packed<f64>,
    scaled: Vectors<S, f64>,
    sum: Vectors<S, f64>,
}

impl<S: Simd> Room<S> {
    fn new(rows: usize, columns: usize, stride: usize) -> Self {
        let x = Packed::new(rows, columns);
        Room { scaled: Vectors::zeros(x.rows, stride), sum: Vectors::zeros(columns + 1, stride), x }
    }
}

struct DenseWalk<'a, S: Simd> {
    simd: S,
    rows: &'a dyn Rows,
    factors: &'a [f64],
    span: Range<usize>,
    sum: &'a mut [f64],
    stride: usize,
    room: &'a mut Room<S>,
}

impl<S: Simd> WithSimd for DenseWalk<'_, S> {
    type Output = ();

    /// The rows, each times its factor, take the place that residuals have in a gradient.
    #[inline(always)]
    fn with_simd<Same: Simd>(self, _: Same) {
        let (simd, columns) = (self.simd, self.rows.n_columns());
        let Room { x, scaled, sum: block_sum } = self.room;
        for start in self.span.clone().step_by(x.rows) {
            let block = start..self.span.end.min(start + x.rows);
            let to = scaled.numbers_mut().chunks_exact_mut(self.stride);
            for ((i, &factor), to) in self.factors[block.clone()].iter().enumerate().zip(to) {
                if let Row::Dense(row) = self.rows.row(start + i) {
                    x.pack(i, row);
                    to.iter_mut().zip(row).for_each(|(to, x)| *to = factor * x);
                    to[columns] = factor;
                }
            }
            let rows = block.len();
            simd.vectorize(Differentiate { simd, x, residuals: scaled, rows, gradient: block_sum, lower: true });
            self.sum.iter_mut().zip(block_sum.numbers()).for_each(|(to, from)| *to += from);
        }
    }
}

struct SparseWalk<'a> {
    rows: &'a dyn Rows,
    factors: &'a [f64],
    span: Range<usize>,
    sum: &'a mut [f64],
}

impl WithSimd for SparseWalk<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.rows.n_columns() + 1;
        for i in self.span {
            let (factor, row) = (self.factors[i], self.rows.row(i));
            if let Row::Sparse { columns, values } = row {
                for (place, (&j, &x)) in columns.iter().zip(values).enumerate() {
                    let to = &mut self.sum[j as usize * width..][..width];
                    let scaled = factor * x;
                    columns[..=place].iter().zip(values).for_each(|(&k, value)| to[k as usize] += scaled * value);
                }
            }
            let last = &mut self.sum[(width - 1) * width..];
            row.for_each(|j, x| last[j] += factor * x);
            last[width - 1] += factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::random::{Purpose, Stream};

    #[test]
    fn the_sum_of_all_parts_is_that_of_all_rows() {
        let mut stream = Stream::new(4, Purpose::Split, 0);
        // One part, several parts, and enough products to be worth threads; widths around whole vectors.
        for (n, d) in [(0, 3), (5, 0), (200, 7), (1000, 8), (1700, 41), (1500, 100)] {
            let rows: Matrix =
                Dense::new(n, d, (0..n * d).map(|_| (5.0 * stream.unit()).floor()).collect()).unwrap().into();
            let factors: Vec<f64> = (0..n).map(|_| (3.0 * stream.unit()).floor()).collect();
            let value = |i: usize, j: usize| match rows.rows().row(i) {
                Row::Dense(row) if j < d => row[j],
                _ => 1.0,
            };
            for rows in [rows.clone(), rows.to_sparse().into()] {
                let found = gram(rows.rows(), &factors);
                for j in 0..=d {
                    for k in 0..=j {
                        // Whole numbers: exact in whatever order.
                        let expected: f64 = (0..n).map(|i| factors[i] * value(i, j) * value(i, k)).sum();
                        assert_eq!(found[j * (d + 1) + k], expected, "{n} x {d}: {j}, {k}");
                    }
                }
            }
        }
    }
}

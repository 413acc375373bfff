//! Rows with only some values stored.

use std::ops::Range;

use crate::data::{Block, Blocks, Buffer, Dense, Extent, Matrix, Row, Rows, dense_size, sparse_size};
use crate::error::{Error, Place, Result};
use crate::parallel;

/// Compressed sparse rows: for each row the columns that are stored, ascending, and their values. What is not stored is
/// zero.
///
/// ```
/// use udeed::data::{Csr, Rows};
///
/// // [ 0 5 0 ]
/// // [ 7 0 8 ]
/// let rows = Csr::new(3, vec![0, 1, 3], vec![1, 0, 2], vec![5.0, 7.0, 8.0])?;
/// assert_eq!((rows.n_rows(), rows.n_columns(), rows.n_stored()), (2, 3, 3));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    n_columns: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// Takes the parts of compressed sparse rows: `starts[i]..starts[i + 1]` are the stored values of row `i`.
    ///
    /// # Errors
    /// If the parts do not fit together, or the columns of a row do not ascend below `n_columns`.
    pub fn new(n_columns: usize, starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        let wrong = |found: String, expected: &str| Err(Error::input(Place::new("sparse rows"), found, expected));
        if columns.len() != values.len() {
            return wrong(
                format!("{} columns and {} values", columns.len(), values.len()),
                "as many columns as values",
            );
        }
        let fits = starts.first() == Some(&0)
            && starts.last() == Some(&values.len())
            && starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !fits {
            return wrong(
                "row starts that do not span the values".into(),
                "starts that ascend from 0 to the number of values",
            );
        }
        for (i, span) in starts.windows(2).enumerate() {
            let row = &columns[span[0]..span[1]];
            let ascending = row.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = row.last().is_none_or(|&last| (last as usize) < n_columns);
            if !ascending || !inside {
                return Err(Error::input(
                    Place::new("sparse rows").row(i as u64 + 1),
                    "columns that repeat, descend or lie outside",
                    format!("columns that ascend below {n_columns}"),
                ));
            }
        }
        Ok(Csr { n_columns, starts, columns, values })
    }

    /// Number of stored values.
    pub fn n_stored(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn empty(n_columns: usize) -> Self {
        Csr { n_columns, starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Appends a row. The columns must ascend; the callers sort.
    pub(crate) fn push_row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (j, x) in entries {
            debug_assert!(j < self.n_columns);
            self.columns.push(j as u32);
            self.values.push(x);
        }
        self.starts.push(self.values.len());
    }

    /// Puts the rows of another matrix of the same width below the own ones.
    pub(crate) fn append(&mut self, below: &Csr) {
        debug_assert_eq!(self.n_columns, below.n_columns);
        let above = self.values.len();
        self.starts.extend(below.starts[1..].iter().map(|start| above + start));
        self.columns.extend_from_slice(&below.columns);
        self.values.extend_from_slice(&below.values);
    }

    /// Reserves memory for the rest of the rows when `share` of them has been read.
    pub(crate) fn reserve_rest(&mut self, share: f64) {
        let rest = |length: usize| (length as f64 * (1.02 / share - 1.0).max(0.0)) as usize;
        // An estimate only: if that much cannot be had, what is needed may be.
        let _ = self.starts.try_reserve_exact(rest(self.starts.len()));
        let _ = self.columns.try_reserve_exact(rest(self.columns.len()));
        let _ = self.values.try_reserve_exact(rest(self.values.len()));
    }

    /// Whether this number of further values needs more memory.
    pub(crate) fn is_full(&self, more: usize) -> bool {
        self.values.len() + more > self.values.capacity()
    }

    /// The same rows with every value stored, in little more memory than these take.
    pub(crate) fn into_dense(self) -> Result<Dense> {
        let (n_rows, d) = (self.n_rows(), self.n_columns);
        if 2 * sparse_size(n_rows, self.n_stored()) <= dense_size(n_rows, d) { self.spread() } else { self.unfold() }
    }

    /// The same rows with every value stored, in other memory and by all threads.
    fn spread(&self) -> Result<Dense> {
        const ROWS: usize = 1024;
        let d = self.n_columns;
        let mut dense = Dense::zeros(self.n_rows(), d)?;
        parallel::chunks_mut(dense.values_mut(), ROWS * d.max(1), |chunk, values| {
            for (i, row) in values.chunks_exact_mut(d).enumerate() {
                self.row(chunk * ROWS + i).copy_to(row);
            }
        });
        Ok(dense)
    }

    /// The same rows with every value stored, made in the memory of the stored values: from the last row to the first
    /// each moves to a place that is not before its own.
    fn unfold(self) -> Result<Dense> {
        let (n_rows, d) = (self.n_rows(), self.n_columns);
        let Csr { starts, columns, mut values, .. } = self;
        let cells = n_rows.saturating_mul(d);
        if values.try_reserve_exact(cells - values.len()).is_err() {
            // In other memory, if there is some; else `to_dense` returns the error.
            return Matrix::Sparse(Csr { n_columns: d, starts, columns, values }).to_dense();
        }
        values.resize(cells, 0.0);
        let mut row = vec![0.0; d];
        for i in (0..n_rows).rev() {
            let span = starts[i]..starts[i + 1];
            row.fill(0.0);
            for (&j, &x) in columns[span.clone()].iter().zip(&values[span]) {
                row[j as usize] = x;
            }
            values[i * d..(i + 1) * d].copy_from_slice(&row);
        }
        Dense::new(n_rows, d, values)
    }

    /// The largest column that is stored.
    pub(crate) fn largest_column(&self) -> Option<u32> {
        self.columns.iter().copied().max()
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Where each row starts, the columns and the stored values.
    pub(crate) fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.starts, &self.columns, &self.values)
    }

    /// The columns of the stored values.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Gives each column another number. The new numbers must ascend as the old ones do.
    pub(crate) fn renumber(&mut self, n_columns: usize, number: impl Fn(u32) -> u32) {
        self.n_columns = n_columns;
        self.columns.iter_mut().for_each(|column| *column = number(*column));
    }

    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        let mut selected = Csr::empty(self.n_columns);
        for &i in indices {
            selected.push_row(self.row(i).iter());
        }
        selected
    }
}

impl Blocks for Csr {
    fn extent(&self) -> Extent {
        Extent { shape: (self.starts.len() - 1, self.n_columns), is_sparse: true }
    }

    fn block<'a>(&'a self, rows: Range<usize>, _: &'a mut Buffer) -> Result<Block<'a>> {
        let stored = self.starts[rows.start]..self.starts[rows.end];
        Ok(Block::Sparse {
            starts: &self.starts[rows.start..=rows.end],
            columns: &self.columns[stored.clone()],
            values: &self.values[stored],
        })
    }
}

impl Rows for Csr {
    fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn n_columns(&self) -> usize {
        self.n_columns
    }

    fn row(&self, i: usize) -> Row<'_> {
        let span = self.starts[i]..self.starts[i + 1];
        Row::Sparse { columns: &self.columns[span.clone()], values: &self.values[span] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_dense_in_their_own_memory_and_in_other() {
        let starts = vec![0, 3, 3, 4, 6];
        let rows = Csr::new(3, starts, vec![0, 1, 2, 2, 0, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let expected = crate::data::Matrix::Sparse(rows.clone()).to_dense().unwrap();
        assert_eq!(rows.spread().unwrap(), expected);
        assert_eq!(rows.unfold().unwrap(), expected);
        assert_eq!(Csr::empty(0).into_dense().unwrap().values(), [0.0; 0]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(Csr::new(2, vec![0, 1], vec![0], vec![]).is_err());
        assert!(Csr::new(2, vec![], vec![], vec![]).is_err());
        assert!(Csr::new(2, vec![0, 2, 1], vec![0], vec![1.0]).is_err());
        assert!(Csr::new(2, vec![0, 2], vec![1, 1], vec![1.0, 1.0]).is_err());
        assert!(Csr::new(2, vec![0, 1], vec![2], vec![1.0]).is_err());
        assert!(Csr::new(0, vec![0, 0], vec![], vec![]).is_ok());
    }
}

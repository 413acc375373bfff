//! Rows with every value stored.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::data::{Block, Blocks, Buffer, Extent, Row, Rows, dense_size};
use crate::error::{Error, Hint, Place, Result};
use crate::text::byte_size;

/// Rows of numbers, one after the other in memory.
///
/// ```
/// use udeed::data::{Dense, Rows};
///
/// let rows = Dense::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!((rows.n_rows(), rows.n_columns()), (2, 3));
/// assert_eq!(rows.get(1), &[4.0, 5.0, 6.0]);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    n_rows: usize,
    n_columns: usize,
    values: Values,
}

/// Where the values are.
#[derive(Clone)]
enum Values {
    Owned(Vec<f64>),
    /// In memory that somebody else made; it is only read.
    Shared(Arc<dyn AsRef<[f64]> + Send + Sync>),
}

impl Values {
    fn as_slice(&self) -> &[f64] {
        match self {
            Values::Owned(values) => values,
            Values::Shared(values) => (**values).as_ref(),
        }
    }

    /// The values to write to: shared ones are copied first.
    fn to_mut(&mut self) -> &mut Vec<f64> {
        if let Values::Shared(values) = self {
            *self = Values::Owned((**values).as_ref().to_vec());
        }
        match self {
            Values::Owned(values) => values,
            Values::Shared(_) => unreachable!("shared values were copied"),
        }
    }
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl Dense {
    /// Takes `n_rows * n_columns` values, row after row. A missing value is NaN.
    ///
    /// # Errors
    /// If the number of values is another.
    pub fn new(n_rows: usize, n_columns: usize, values: Vec<f64>) -> Result<Self> {
        Dense::from_values(n_rows, n_columns, Values::Owned(values))
    }

    /// Takes values that somebody else owns, such as an array of another language, without a copy.
    ///
    /// # Errors
    /// As [`Dense::new`].
    ///
    /// ```
    /// use std::sync::Arc;
    /// use udeed::prelude::*;
    ///
    /// let values = Arc::new([1.0, 2.0, 3.0, 4.0]);
    /// let rows = Dense::shared(2, 2, values.clone())?;
    /// assert!(std::ptr::eq(rows.get(0).as_ptr(), values.as_ptr()));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn shared(n_rows: usize, n_columns: usize, values: Arc<dyn AsRef<[f64]> + Send + Sync>) -> Result<Self> {
        Dense::from_values(n_rows, n_columns, Values::Shared(values))
    }

    fn from_values(n_rows: usize, n_columns: usize, values: Values) -> Result<Self> {
        let found = values.as_slice().len();
        if n_rows.checked_mul(n_columns) != Some(found) {
            return Err(Error::input(
                Place::new("dense rows"),
                format!("{found} values"),
                format!("{n_rows} rows x {n_columns} columns"),
            ));
        }
        Ok(Dense { n_rows, n_columns, values })
    }

    /// Rows of zeros.
    ///
    /// # Errors
    /// If the memory for them cannot be had.
    pub fn zeros(n_rows: usize, n_columns: usize) -> Result<Self> {
        // Asked for twice: only the first can be refused without ending the process, only the second are zeros that cost
        // nothing until they are written, by as many threads as write them.
        drop(Self::room(n_rows, n_columns)?);
        Ok(Dense { n_rows, n_columns, values: Values::Owned(vec![0.0; n_rows * n_columns]) })
    }

    /// Memory for `n_rows` rows.
    ///
    /// # Errors
    /// If it cannot be had.
    pub(crate) fn room(n_rows: usize, n_columns: usize) -> Result<Vec<f64>> {
        let refused = |_| {
            Error::input(
                Place::new("dense rows"),
                format!("{n_rows} rows x {n_columns} columns, {}", byte_size(dense_size(n_rows, n_columns))),
                "rows that fit into memory",
            )
            .with_hint(Hint::Sparse)
        };
        let mut room = Vec::new();
        room.try_reserve_exact(n_rows.saturating_mul(n_columns)).map_err(refused)?;
        Ok(room)
    }

    /// Like [`Dense::new`], of values that fit for sure.
    pub(crate) fn from_parts(n_rows: usize, n_columns: usize, values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), n_rows * n_columns);
        Dense { n_rows, n_columns, values: Values::Owned(values) }
    }

    /// Row `i`, counted from 0.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, i: usize) -> &[f64] {
        &self.values()[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// All values, row after row, taken out; a copy where they are shared.
    pub fn into_values(mut self) -> Vec<f64> {
        std::mem::take(self.values.to_mut())
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        self.values.as_slice()
    }

    /// Random numbers between 0 and 1, for tests.
    #[cfg(test)]
    pub(crate) fn random(n_rows: usize, n_columns: usize, seed: u64) -> Self {
        let mut stream = crate::random::Stream::new(seed, crate::random::Purpose::Split, 0);
        Dense::from_parts(n_rows, n_columns, (0..n_rows * n_columns).map(|_| stream.unit()).collect())
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        self.values.to_mut()
    }

    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values.to_mut()[i * self.n_columns..(i + 1) * self.n_columns]
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        // No columns: chunks of none would be refused.
        self.values.to_mut().chunks_mut(self.n_columns.max(1))
    }

    pub(crate) fn select(&self, indices: &[usize]) -> Self {
        let mut values = Vec::with_capacity(indices.len() * self.n_columns);
        for &i in indices {
            values.extend_from_slice(self.get(i));
        }
        Dense { n_rows: indices.len(), n_columns: self.n_columns, values: Values::Owned(values) }
    }
}

impl Blocks for Dense {
    fn extent(&self) -> Extent {
        Extent { shape: (self.n_rows, self.n_columns), is_sparse: false }
    }

    fn block<'a>(&'a self, rows: Range<usize>, _: &'a mut Buffer) -> Result<Block<'a>> {
        Ok(Block::Dense(&self.values()[rows.start * self.n_columns..rows.end * self.n_columns]))
    }
}

impl Rows for Dense {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_columns(&self) -> usize {
        self.n_columns
    }

    fn row(&self, i: usize) -> Row<'_> {
        Row::Dense(self.get(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_values_are_copied_before_they_are_written() {
        let values = Arc::new(vec![1.0, 2.0]);
        let mut rows = Dense::shared(1, 2, values.clone()).unwrap();
        assert_eq!(rows, Dense::new(1, 2, vec![1.0, 2.0]).unwrap());
        rows.row_mut(0)[0] = 7.0;
        assert_eq!((rows.values(), values.as_slice()), (&[7.0, 2.0][..], &[1.0, 2.0][..]));
        assert!(Dense::shared(3, 1, values).is_err());
    }
}

//! Rows of numbers in memory, dense or sparse.

use crate::data::{Blocks, Csr, Dense, fill_rows};
use crate::error::{Error, Place, Result};

/// One row of a matrix.
///
/// ```
/// use udeed::data::{Dense, Row, Rows};
///
/// let rows = Dense::new(1, 3, vec![1.0, 0.0, 2.0])?;
/// assert_eq!(rows.row(0).dot(&[10.0, 10.0, 10.0]), 30.0);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// Every value, zeros included.
    Dense(&'a [f64]),
    /// The values that are stored, with their columns in ascending order.
    Sparse {
        /// Columns of the stored values.
        columns: &'a [u32],
        /// The stored values.
        values: &'a [f64],
    },
}

impl<'a> Row<'a> {
    /// Inner product with a vector of one number for each column.
    pub fn dot(self, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.for_each(|j, x| sum += x * weights[j]);
        sum
    }

    /// Copies the row over a row of zeros.
    pub(crate) fn copy_to(self, to: &mut [f64]) {
        match self {
            Row::Dense(values) => to.copy_from_slice(values),
            Row::Sparse { .. } => self.for_each(|j, x| to[j] = x),
        }
    }

    /// Calls `visit` with the column and the value of every stored entry, columns ascending.
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| visit(j, x)),
            Row::Sparse { columns, values } => {
                columns.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
        }
    }

    /// The stored entries as pairs of column and value.
    pub fn iter(self) -> Box<dyn Iterator<Item = (usize, f64)> + 'a> {
        match self {
            Row::Dense(values) => Box::new(values.iter().copied().enumerate()),
            Row::Sparse { columns, values } => Box::new(columns.iter().zip(values).map(|(&j, &x)| (j as usize, x))),
        }
    }
}

/// Rows that an ensemble can be fitted on: [`Dense`] or [`Csr`]. The trait is sealed: the arithmetic knows both layouts.
///
/// ```
/// use udeed::data::{Csr, Dense, Rows};
///
/// let dense = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
/// let sparse = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0])?;
/// let total = |rows: &dyn Rows| (0..rows.n_rows()).map(|i| rows.row(i).dot(&[1.0, 1.0])).sum::<f64>();
/// assert_eq!(total(&dense), total(&sparse));
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Rows: Blocks {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of columns.
    fn n_columns(&self) -> usize;

    /// Row `i`, counted from 0.
    fn row(&self, i: usize) -> Row<'_>;
}

/// Rows in one of the two layouts.
///
/// ```
/// use udeed::data::{Csr, Matrix, Rows};
///
/// let matrix = Matrix::from(Csr::new(3, vec![0, 1], vec![2], vec![5.0])?);
/// assert_eq!(matrix.rows().n_columns(), 3);
/// assert_eq!(matrix.to_dense()?.values(), &[0.0, 0.0, 5.0]);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Every value stored.
    Dense(Dense),
    /// Only some values stored, the others zero.
    Sparse(Csr),
}

impl Matrix {
    /// The rows behind the trait that both layouts share.
    pub fn rows(&self) -> &dyn Rows {
        match self {
            Matrix::Dense(rows) => rows,
            Matrix::Sparse(rows) => rows,
        }
    }

    /// Whether the rows are sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Matrix::Sparse(_))
    }

    /// The given rows, in the given order, in the same layout.
    ///
    /// # Panics
    /// If an index is not that of a row.
    pub fn select(&self, indices: &[usize]) -> Matrix {
        match self {
            Matrix::Dense(rows) => Matrix::Dense(rows.select(indices)),
            Matrix::Sparse(rows) => Matrix::Sparse(rows.select(indices)),
        }
    }

    /// The given rows, in the given order, of rows in either layout.
    pub(crate) fn gather(rows: &dyn Rows, indices: &[usize]) -> Matrix {
        if rows.is_sparse() {
            let mut sparse = Csr::empty(rows.n_columns());
            indices.iter().for_each(|&i| sparse.push_row(rows.row(i).iter()));
            return sparse.into();
        }
        let mut values = Vec::with_capacity(indices.len() * rows.n_columns());
        for &i in indices {
            if let Row::Dense(row) = rows.row(i) {
                values.extend_from_slice(row);
            }
        }
        Dense::from_parts(indices.len(), rows.n_columns(), values).into()
    }

    /// The given columns of all rows, in the same layout.
    ///
    /// # Errors
    /// If the result does not fit into memory.
    pub(crate) fn columns(&self, columns: &[usize]) -> Result<Matrix> {
        if let Matrix::Sparse(rows) = self {
            let mut place = vec![None; rows.n_columns()];
            columns.iter().enumerate().for_each(|(to, &from)| place[from] = Some(to));
            let mut some = Csr::empty(columns.len());
            for i in 0..rows.n_rows() {
                let mut row: Vec<(usize, f64)> = rows.row(i).iter().filter_map(|(j, x)| Some((place[j]?, x))).collect();
                row.sort_unstable_by_key(|&(j, _)| j);
                some.push_row(row);
            }
            return Ok(some.into());
        }
        let pick = |row: Row<'_>, scratch: &mut [f64], to: &mut [f64]| {
            row.copy_to(scratch);
            to.iter_mut().zip(columns).for_each(|(to, &from)| *to = scratch[from]);
            scratch.fill(0.0);
        };
        Ok(fill_rows(self.rows(), columns.len(), pick)?.into())
    }

    /// Appends the rows of another matrix of the same width: sparse where both are.
    ///
    /// # Errors
    /// If the result does not fit into memory, or the widths differ.
    pub fn stack(&self, below: &Matrix) -> Result<Matrix> {
        let (width, other) = (self.rows().n_columns(), below.rows().n_columns());
        if width != other {
            return Err(Error::input(Place::new("the rows below"), format!("{other} columns"), format!("{width}")));
        }
        if let (Matrix::Sparse(above), Matrix::Sparse(below)) = (self, below) {
            let mut all = above.clone();
            (0..below.n_rows()).for_each(|i| all.push_row(below.row(i).iter()));
            return Ok(all.into());
        }
        let n_above = self.rows().n_rows();
        if let (Matrix::Dense(above), Matrix::Dense(below)) = (self, below) {
            let n_rows = n_above + below.n_rows();
            let mut values = Dense::room(n_rows, width)?;
            [above, below].iter().for_each(|rows| values.extend_from_slice(rows.values()));
            return Ok(Dense::from_parts(n_rows, width, values).into());
        }
        let mut all = Dense::zeros(n_above + below.rows().n_rows(), width)?;
        for (rows, first) in [(self.rows(), 0), (below.rows(), n_above)] {
            (0..rows.n_rows()).for_each(|i| rows.row(i).copy_to(all.row_mut(first + i)));
        }
        Ok(all.into())
    }

    /// The same rows, every value times a factor.
    pub(crate) fn scaled(&self, factor: f64) -> Matrix {
        let mut scaled = self.clone();
        scaled.values_mut().iter_mut().for_each(|x| *x *= factor);
        scaled
    }

    /// The stored values.
    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        match self {
            Matrix::Dense(rows) => rows.values_mut(),
            Matrix::Sparse(rows) => rows.values_mut(),
        }
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        let (n_rows, n_columns) = self.rows().shape();
        match self {
            Matrix::Dense(_) => dense_size(n_rows, n_columns),
            Matrix::Sparse(rows) => sparse_size(n_rows, rows.n_stored()),
        }
    }

    /// The same rows, dense.
    ///
    /// # Errors
    /// If the result does not fit into memory.
    pub fn to_dense(&self) -> Result<Dense> {
        let rows = self.rows();
        let mut dense = Dense::zeros(rows.n_rows(), rows.n_columns())?;
        for i in 0..rows.n_rows() {
            let out = dense.row_mut(i);
            rows.row(i).for_each(|j, x| out[j] = x);
        }
        Ok(dense)
    }

    /// The same rows, sparse: only values other than zero are stored.
    pub fn to_sparse(&self) -> Csr {
        let rows = self.rows();
        let mut sparse = Csr::empty(rows.n_columns());
        for i in 0..rows.n_rows() {
            sparse.push_row(rows.row(i).iter().filter(|&(_, x)| x != 0.0));
        }
        sparse
    }
}

/// Size of dense rows in bytes.
pub(crate) fn dense_size(n_rows: usize, n_columns: usize) -> u64 {
    (n_rows as u64).saturating_mul(n_columns as u64).saturating_mul(8)
}

/// Size of sparse rows in bytes: the stored values, the column of each, and where each row starts.
pub(crate) fn sparse_size(n_rows: usize, n_stored: usize) -> u64 {
    12 * n_stored as u64 + 8 * n_rows as u64
}

impl From<Dense> for Matrix {
    fn from(rows: Dense) -> Self {
        Matrix::Dense(rows)
    }
}

impl From<Csr> for Matrix {
    fn from(rows: Csr) -> Self {
        Matrix::Sparse(rows)
    }
}

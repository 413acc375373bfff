//! Rows of numbers, whatever their layout.

use std::ops::Range;

use crate::data::{Csr, Dense, Spilled};
use crate::error::{Error, Place, Result};
use crate::parallel;

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Dense {}
    impl Sealed for super::Csr {}
    impl Sealed for super::Spilled {}
}

/// One row of a matrix.
///
/// ```
/// use udeed::{Dense, Row, Rows};
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
    /// The inner product with a vector as long as the row is wide.
    pub fn dot(self, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.for_each(|j, x| sum += x * weights[j]);
        sum
    }

    /// Writes the stored values to where they belong in a row of zeros.
    pub(crate) fn copy_to(self, to: &mut [f64]) {
        match self {
            Row::Dense(values) => to.copy_from_slice(values),
            Row::Sparse { .. } => self.for_each(|j, x| to[j] = x),
        }
    }

    /// Calls `visit` with the column and the value of every stored value, in ascending order of the columns.
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| visit(j, x)),
            Row::Sparse { columns, values } => {
                columns.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
        }
    }

    /// The stored values as pairs of column and value.
    pub fn iter(self) -> Box<dyn Iterator<Item = (usize, f64)> + 'a> {
        match self {
            Row::Dense(values) => Box::new(values.iter().copied().enumerate()),
            Row::Sparse { columns, values } => Box::new(columns.iter().zip(values).map(|(&j, &x)| (j as usize, x))),
        }
    }
}

/// Some rows that follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block<'a> {
    /// Every value, row after row.
    Dense(&'a [f64]),
    /// The stored values: those of row `i` of the block are `starts[i]..starts[i + 1]`, counted from `starts[0]`.
    Sparse {
        /// Where each row begins, and the last one ends.
        starts: &'a [usize],
        /// Columns of the stored values, ascending in each row.
        columns: &'a [u32],
        /// The stored values.
        values: &'a [f64],
    },
}

impl<'a> Block<'a> {
    /// Row `i` of the block, if a row is so wide.
    pub(crate) fn row(self, i: usize, width: usize) -> Row<'a> {
        match self {
            Block::Dense(values) => Row::Dense(&values[i * width..][..width]),
            Block::Sparse { starts, columns, values } => {
                let own = starts[i] - starts[0]..starts[i + 1] - starts[0];
                Row::Sparse { columns: &columns[own.clone()], values: &values[own] }
            }
        }
    }

    /// The block as rows of their own, if it has `n` and they are so wide.
    fn to_matrix(self, n: usize, width: usize) -> Matrix {
        match self {
            Block::Dense(values) => Dense::from_parts(n, width, values.to_vec()).into(),
            Block::Sparse { .. } => {
                let mut rows = Csr::empty(width);
                (0..n).for_each(|i| rows.push_row(self.row(i, width).iter()));
                rows.into()
            }
        }
    }
}

/// Makes a row of `width` numbers of each row, in parallel. `f` gets the row, scratch memory as long as the row is wide
/// that is and must stay all zero, and the numbers to fill in.
///
/// # Errors
/// If the rows cannot be read, or the memory for the result cannot be had.
pub(crate) fn fill_rows(
    rows: &dyn Blocks,
    width: usize,
    f: impl Fn(Row<'_>, &mut [f64], &mut [f64]) + Sync,
) -> Result<Dense> {
    const ROWS: usize = 64;
    let (n, d) = rows.shape();
    let mut values = Dense::zeros(n, width)?.into_values();
    let fill = |(memory, scratch): &mut (Buffer, Vec<f64>), chunk: usize, out: &mut [f64]| {
        let first = chunk * ROWS;
        let block = rows.block(first..(first + ROWS).min(n), memory)?;
        out.chunks_exact_mut(width).enumerate().for_each(|(i, to)| f(block.row(i, d), scratch, to));
        Ok(())
    };
    let state = || (Buffer::default(), vec![0.0; d]);
    parallel::try_chunks_mut(&mut values, ROWS * width, state, fill)?;
    Dense::new(n, width, values)
}

/// As [`fill_rows`], but `f` gets many rows at once, and the numbers of all of them to fill in. It makes `room` numbers of
/// each on the way.
///
/// # Errors
/// As [`fill_rows`].
pub(crate) fn fill_stretches(
    rows: &dyn Blocks,
    width: usize,
    room: usize,
    f: impl Fn(&dyn Rows, &mut [f64]) + Sync,
) -> Result<Dense> {
    /// Rows, and the numbers that they and what is made of them take, at once.
    const MOST: (usize, usize) = (256, 1 << 19);
    let (n, d) = rows.shape();
    let at_once = (MOST.1 / (d + room).max(1)).clamp(1, MOST.0);
    let mut values = Dense::zeros(n, width)?.into_values();
    let fill = |memory: &mut Buffer, stretch: usize, out: &mut [f64]| {
        let span = stretch * at_once..n.min((stretch + 1) * at_once);
        f(rows.block(span.clone(), memory)?.to_matrix(span.len(), d).rows(), out);
        Ok(())
    };
    parallel::try_chunks_mut(&mut values, at_once * width, Buffer::default, fill)?;
    Dense::new(n, width, values)
}

/// Memory for a block of rows that do not lie in memory already.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
    pub(crate) offsets: Vec<u64>,
}

/// Rows that can be walked over block by block: all that the descent asks of them, so that they need not fit into memory.
/// The trait is sealed.
///
/// ```
/// use udeed::{Block, Blocks, Buffer, Dense};
///
/// let rows = Dense::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(rows.block(1..3, &mut Buffer::default())?, Block::Dense(&[3.0, 4.0, 5.0, 6.0]));
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Blocks: sealed::Sealed + Send + Sync {
    /// How many rows and columns there are.
    fn shape(&self) -> (usize, usize);

    /// Whether the blocks are sparse.
    fn is_sparse(&self) -> bool;

    /// Some rows, from where they lie or read into the buffer.
    ///
    /// # Errors
    /// If they cannot be read.
    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>>;
}

/// Some of the rows, which follow each other.
pub(crate) struct Stretch<'a> {
    pub(crate) rows: &'a dyn Blocks,
    pub(crate) span: Range<usize>,
}

impl sealed::Sealed for Stretch<'_> {}

impl Blocks for Stretch<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.span.len(), self.rows.shape().1)
    }

    fn is_sparse(&self) -> bool {
        self.rows.is_sparse()
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        self.rows.block(self.span.start + rows.start..self.span.start + rows.end, buffer)
    }
}

/// Rows that an ensemble can be fitted on: [`Dense`] or [`Csr`]. The trait is sealed: the arithmetic knows both layouts.
///
/// ```
/// use udeed::{Csr, Dense, Rows};
///
/// let dense = Dense::new(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
/// let sparse = Csr::new(2, vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0])?;
/// let total = |rows: &dyn Rows| (0..rows.n_rows()).map(|i| rows.row(i).dot(&[1.0, 1.0])).sum::<f64>();
/// assert_eq!(total(&dense), total(&sparse));
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Rows: Blocks {
    /// How many rows there are.
    fn n_rows(&self) -> usize;

    /// How many columns every row has.
    fn n_columns(&self) -> usize;

    /// Row `i`, counted from 0.
    fn row(&self, i: usize) -> Row<'_>;
}

/// Rows in one of the two layouts.
///
/// ```
/// use udeed::{Csr, Matrix, Rows};
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

    /// Whether the rows are stored sparsely.
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

    /// The given rows, in the given order, of rows in whatever layout.
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
    /// If the memory for it cannot be had.
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

    /// The rows of another matrix of the same width below the own ones: sparse where both are.
    ///
    /// # Errors
    /// If the memory for it cannot be had, or the widths differ.
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

    /// The same rows, every value multiplied.
    pub(crate) fn scaled(&self, factor: f64) -> Matrix {
        let mut scaled = self.clone();
        let values = match &mut scaled {
            Matrix::Dense(rows) => rows.values_mut(),
            Matrix::Sparse(rows) => rows.values_mut(),
        };
        values.iter_mut().for_each(|x| *x *= factor);
        scaled
    }

    /// How many bytes the rows take.
    pub(crate) fn size(&self) -> u64 {
        let (n_rows, n_columns) = self.rows().shape();
        match self {
            Matrix::Dense(_) => dense_size(n_rows, n_columns),
            Matrix::Sparse(rows) => sparse_size(n_rows, rows.n_stored()),
        }
    }

    /// The same rows with every value stored.
    ///
    /// # Errors
    /// If the memory for it cannot be had.
    pub fn to_dense(&self) -> Result<Dense> {
        let rows = self.rows();
        let mut dense = Dense::zeros(rows.n_rows(), rows.n_columns())?;
        for i in 0..rows.n_rows() {
            let out = dense.row_mut(i);
            rows.row(i).for_each(|j, x| out[j] = x);
        }
        Ok(dense)
    }

    /// The same rows with only the values stored that are not zero.
    pub fn to_sparse(&self) -> Csr {
        let rows = self.rows();
        let mut sparse = Csr::empty(rows.n_columns());
        for i in 0..rows.n_rows() {
            sparse.push_row(rows.row(i).iter().filter(|&(_, x)| x != 0.0));
        }
        sparse
    }
}

/// How many bytes so many dense rows take.
pub(crate) fn dense_size(n_rows: usize, n_columns: usize) -> u64 {
    (n_rows as u64).saturating_mul(n_columns as u64).saturating_mul(8)
}

/// How many bytes sparse rows take with so many stored values: each with its column, and where each row starts.
pub(crate) fn sparse_size(n_rows: usize, n_stored: usize) -> u64 {
    12 * n_stored as u64 + 8 * n_rows as u64
}

/// Ranges that so many rows fall into, in order, when each shall take a few megabytes.
pub(crate) fn pieces(n_rows: usize, row_size: u64) -> impl Iterator<Item = Range<usize>> {
    let step = (PIECE / row_size.max(1)).max(1) as usize;
    (0..n_rows).step_by(step).map(move |start| start..n_rows.min(start + step))
}

/// How many bytes of rows are taken from a file at a time.
pub(crate) const PIECE: u64 = 8 << 20;

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

//! Rows as blocks: what the arithmetic walks over, wherever the rows lie.

use std::ops::Range;

use crate::data::{Csr, Dense, DiskRows, Matrix, Row, Rows};
use crate::error::Result;
use crate::parallel;

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Dense {}
    impl Sealed for super::Csr {}
    impl Sealed for super::DiskRows {}
}

/// Consecutive rows, dense or sparse.
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
    /// Row `i` of the block, whose rows have `width` columns.
    pub(crate) fn row(self, i: usize, width: usize) -> Row<'a> {
        match self {
            Block::Dense(values) => Row::Dense(&values[i * width..][..width]),
            Block::Sparse { starts, columns, values } => {
                let own = starts[i] - starts[0]..starts[i + 1] - starts[0];
                Row::Sparse { columns: &columns[own.clone()], values: &values[own] }
            }
        }
    }

    /// A copy of the block, which has `n` rows of `width` columns.
    pub(crate) fn to_matrix(self, n: usize, width: usize) -> Matrix {
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

/// Reusable memory for a block whose rows have to be read or computed first.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
    pub(crate) offsets: Vec<u64>,
}

/// Shape and kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Number of rows and of columns.
    pub shape: (usize, usize),
    /// Whether the blocks are sparse.
    pub is_sparse: bool,
}

/// Rows that can be visited block by block. The descent needs nothing else, so the rows may be larger than memory. The trait
/// is sealed.
///
/// ```
/// use udeed::data::{Block, Blocks, Buffer, Dense};
///
/// let rows = Dense::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(rows.block(1..3, &mut Buffer::default())?, Block::Dense(&[3.0, 4.0, 5.0, 6.0]));
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Blocks: sealed::Sealed + Send + Sync {
    /// Shape and kind of the rows.
    fn extent(&self) -> Extent;

    /// Number of rows and of columns.
    fn shape(&self) -> (usize, usize) {
        self.extent().shape
    }

    /// Whether the blocks are sparse.
    fn is_sparse(&self) -> bool {
        self.extent().is_sparse
    }

    /// Consecutive rows, borrowed where they are in memory, else read into the buffer.
    ///
    /// # Errors
    /// If they cannot be read.
    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>>;
}

/// A range of other rows.
pub(crate) struct Stretch<'a> {
    pub(crate) rows: &'a dyn Blocks,
    pub(crate) span: Range<usize>,
}

impl sealed::Sealed for Stretch<'_> {}

impl Blocks for Stretch<'_> {
    fn extent(&self) -> Extent {
        Extent { shape: (self.span.len(), self.rows.shape().1), is_sparse: self.rows.is_sparse() }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        self.rows.block(self.span.start + rows.start..self.span.start + rows.end, buffer)
    }
}

/// Maps each row to `width` numbers, in parallel. `f` gets the row, a scratch vector of zeros with one number for each
/// column, which it must leave all zero, and the numbers to fill in.
///
/// # Errors
/// If the rows cannot be read, or the result does not fit into memory.
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

/// Like [`fill_rows`], but `f` gets many rows at once, `most` of them or fewer, and the numbers of all of them to fill in.
/// `room` is the number of values that `f` itself allocates for each row.
///
/// # Errors
/// As [`fill_rows`], and those of `f`.
pub(crate) fn fill_stretches(
    rows: &dyn Blocks,
    width: usize,
    room: usize,
    most: usize,
    f: impl Fn(&dyn Rows, &mut [f64]) -> Result<()> + Sync,
) -> Result<Dense> {
    /// Upper bound for the numbers allocated for 256 rows.
    const NUMBERS: usize = 1 << 19;
    let (n, d) = rows.shape();
    let at_once = (NUMBERS * most.div_ceil(256) / (d + room).max(1)).clamp(1, most);
    let mut values = Dense::zeros(n, width)?.into_values();
    let fill = |memory: &mut Buffer, stretch: usize, out: &mut [f64]| {
        let span = stretch * at_once..n.min((stretch + 1) * at_once);
        f(rows.block(span.clone(), memory)?.to_matrix(span.len(), d).rows(), out)
    };
    parallel::try_chunks_mut(&mut values, at_once * width, Buffer::default, fill)?;
    Dense::new(n, width, values)
}

/// Divides rows of `row_size` bytes into consecutive ranges of a few megabytes each.
pub(crate) fn pieces(n_rows: usize, row_size: u64) -> impl Iterator<Item = Range<usize>> {
    let step = (PIECE / row_size.max(1)).max(1) as usize;
    (0..n_rows).step_by(step).map(move |start| start..n_rows.min(start + step))
}

/// Bytes of rows that are read from disk at a time.
pub(crate) const PIECE: u64 = 8 << 20;

//! Preparation of rows on demand, block by block.

use std::borrow::Cow;
use std::ops::Range;

use crate::data::{Block, Blocks, Buffer, Csr, Dense, Extent, Kind, Matrix, Sealed, Table};
use crate::error::{Error, Hint, Place, Result};
use crate::parallel;
use crate::prepare::fourier::check_memory;
use crate::prepare::{FourierMap, LARGEST, Preparation};

/// The features of a table, computed block by block on demand.
pub(crate) struct Features<'a> {
    scaled: Scaled<'a>,
    fourier: Option<&'a FourierMap>,
}

impl<'a> Features<'a> {
    pub(super) fn new(preparation: &'a Preparation, table: &'a Table) -> Result<Self> {
        Ok(Features { scaled: Scaled::new(preparation, table)?, fourier: preparation.fourier.as_ref() })
    }

    /// The features of all rows.
    pub(super) fn all(&self) -> Result<Matrix> {
        self.of(&(0..self.shape().0).collect::<Vec<usize>>())
    }

    /// The features of the given rows, in the given order.
    pub(crate) fn of(&self, rows: &[usize]) -> Result<Matrix> {
        const ROWS: usize = 256;
        let (n, width) = (rows.len(), self.shape().1);
        if self.is_sparse() {
            let mut buffer = Buffer::default();
            self.scaled.fill_sparse(rows.iter().copied(), &mut buffer)?;
            return Ok(Csr::new(width, buffer.starts, buffer.columns, buffer.values)?.into());
        }
        if self.fourier.is_some() {
            check_memory(width, n, "rows")?;
        }
        let mut features = Dense::zeros(n, width)?;
        let fill = |(): &mut (), block: usize, values: &mut [f64]| self.fill_dense(rows, block * ROWS, values);
        parallel::try_chunks_mut(features.values_mut(), ROWS * width.max(1), || (), fill)?;
        Ok(features.into())
    }

    /// Fills `values` with the features of the rows from index `first` on.
    fn fill_dense(&self, rows: &[usize], first: usize, values: &mut [f64]) -> Result<()> {
        match self.fourier {
            Some(map) => {
                let picked = Picked { scaled: &self.scaled, rows };
                map.fill(&picked, first..first + values.len() / map.n_features(), values)
            }
            None => self.scaled.fill_dense(rows[first..].iter().copied(), values),
        }
    }
}

impl Sealed for Features<'_> {}

impl Blocks for Features<'_> {
    fn extent(&self) -> Extent {
        let (n, width) = self.scaled.shape();
        Extent {
            shape: (n, self.fourier.map_or(width, FourierMap::n_features)),
            is_sparse: self.fourier.is_none() && self.scaled.is_sparse(),
        }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        if self.fourier.is_none() {
            return self.scaled.block(rows, buffer);
        }
        buffer.values.resize(rows.len() * self.shape().1, 0.0);
        match self.fourier {
            Some(map) => map.fill(&self.scaled, rows, &mut buffer.values)?,
            None => self.scaled.fill_dense(rows, &mut buffer.values)?,
        }
        Ok(Block::Dense(&buffer.values))
    }
}

/// A selection of the rows, in any order.
struct Picked<'a> {
    scaled: &'a Scaled<'a>,
    rows: &'a [usize],
}

impl Sealed for Picked<'_> {}

impl Blocks for Picked<'_> {
    fn extent(&self) -> Extent {
        Extent { shape: (self.rows.len(), self.scaled.shape().1), is_sparse: self.scaled.is_sparse() }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        self.scaled.fill(self.rows[rows].iter().copied(), buffer)
    }
}

/// The columns of a table: imputed, encoded and scaled.
struct Scaled<'a> {
    preparation: &'a Preparation,
    table: Cow<'a, Table>,
    /// The first feature of each column.
    starts: Vec<usize>,
    /// Whether each column is one feature.
    all_numeric: bool,
}

impl<'a> Scaled<'a> {
    fn new(preparation: &'a Preparation, table: &'a Table) -> Result<Self> {
        let table = table.conform(&preparation.columns)?;
        let all_numeric = preparation.columns.iter().all(|column| column.kind == Kind::Numeric);
        Ok(Scaled { preparation, table, starts: preparation.feature_starts(), all_numeric })
    }

    /// Fills `values` with the features of the rows.
    ///
    /// # Errors
    /// If a cell is too large to be scaled.
    fn fill_dense(&self, places: impl Iterator<Item = usize>, values: &mut [f64]) -> Result<()> {
        let Preparation { shift, factor, fill, columns, .. } = self.preparation;
        let rows = self.table.matrix().rows();
        let mut cells = vec![0.0; columns.len()];
        // Without features there is nothing to write, and chunks of length 0 would panic.
        for (features, i) in values.chunks_exact_mut(shift.len().max(1)).zip(places) {
            cells.fill(0.0);
            rows.row(i).copy_to(&mut cells);
            if self.all_numeric {
                let settings = fill.iter().zip(shift).zip(factor);
                for ((feature, &x), ((&fill, shift), factor)) in features.iter_mut().zip(&cells).zip(settings) {
                    *feature = (if x.is_nan() { fill } else { x } - shift) * factor;
                }
                self.check(i, features)?;
                continue;
            }
            for (feature, (shift, factor)) in features.iter_mut().zip(shift.iter().zip(factor)) {
                *feature = (0.0 - shift) * factor;
            }
            for (c, &x) in cells.iter().enumerate() {
                self.preparation.encode(c, self.starts[c], x, |j, value| features[j] = value);
            }
            self.check(i, features)?;
        }
        Ok(())
    }

    /// Refuses row `i` if one of its features is too large for the arithmetic of members: an overflow there would make a
    /// prediction of nothing.
    fn check(&self, i: usize, features: &[f64]) -> Result<()> {
        // Not `all`, which would stop at the first and so cannot use vectors.
        if features.iter().fold(true, |all, x| all & (x.abs() <= LARGEST)) { Ok(()) } else { Err(self.too_large(i)) }
    }

    /// The first cell of row `i` that is too large to be scaled.
    fn too_large(&self, i: usize) -> Error {
        let place = Place::new(Place::TABLE).row(i as u64 + 1);
        let columns = &self.preparation.columns;
        let mut found = None;
        self.table.matrix().rows().row(i).for_each(|c, x| {
            self.preparation.encode(c, self.starts[c], x, |_, value| {
                if found.is_none() && (value.is_nan() || value.abs() > LARGEST) {
                    found = Some((place.clone().column(&columns[c].name), x, value));
                }
            });
        });
        let (place, x, value) = found.unwrap_or((place, 0.0, f64::INFINITY));
        let scaled = if value.is_finite() { format!("{value:e}") } else { "beyond all numbers".into() };
        let expected = format!("a number that is at most {LARGEST:e} in size when scaled");
        Error::input(place, format!("{x:e}, which is {scaled} when scaled"), expected).with_hint(Hint::LargeCell)
    }

    /// Computes the features of rows in a buffer.
    fn fill<'b>(&self, rows: impl ExactSizeIterator<Item = usize>, buffer: &'b mut Buffer) -> Result<Block<'b>> {
        if self.is_sparse() {
            self.fill_sparse(rows, buffer)?;
            let Buffer { starts, columns, values, .. } = buffer;
            return Ok(Block::Sparse { starts, columns, values });
        }
        buffer.values.resize(rows.len() * self.preparation.factor.len(), 0.0);
        self.fill_dense(rows, &mut buffer.values)?;
        Ok(Block::Dense(&buffer.values))
    }

    fn fill_sparse(&self, rows: impl Iterator<Item = usize>, buffer: &mut Buffer) -> Result<()> {
        let Buffer { starts, columns, values, .. } = buffer;
        starts.clear();
        columns.clear();
        values.clear();
        starts.push(0);
        for i in rows {
            self.table.matrix().rows().row(i).for_each(|c, x| {
                self.preparation.encode(c, self.starts[c], x, |j, value| {
                    columns.push(j as u32);
                    values.push(value);
                });
            });
            self.check(i, &values[starts[starts.len() - 1]..])?;
            starts.push(values.len());
        }
        Ok(())
    }
}

impl Sealed for Scaled<'_> {}

impl Blocks for Scaled<'_> {
    fn extent(&self) -> Extent {
        Extent {
            shape: (self.table.n_rows(), self.preparation.factor.len()),
            is_sparse: self.preparation.sparse && self.table.matrix().is_sparse(),
        }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        self.fill(rows, buffer)
    }
}

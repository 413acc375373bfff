//! Rows that are made ready while they are looked at.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::data::{Block, Blocks, Buffer, Csr, Dense, Kind, Matrix, Sealed, Table};
use crate::error::Result;
use crate::prepare::fourier::check_memory;
use crate::prepare::{FourierMap, Preparation};

/// The features of a table, computed block by block where they are wanted and kept nowhere.
pub(crate) struct Features<'a> {
    scaled: Scaled<'a>,
    fourier: Option<&'a FourierMap>,
}

impl<'a> Features<'a> {
    pub(super) fn new(preparation: &'a Preparation, table: &'a Table) -> Result<Self> {
        Ok(Features { scaled: Scaled::new(preparation, table)?, fourier: preparation.fourier.as_ref() })
    }

    /// All of them.
    pub(super) fn collect(&self) -> Result<Matrix> {
        const ROWS: usize = 256;
        let (n, width) = self.shape();
        if self.is_sparse() {
            let mut buffer = Buffer::default();
            self.scaled.fill_sparse(0..n, &mut buffer);
            return Ok(Csr::new(width, buffer.starts, buffer.columns, buffer.values)?.into());
        }
        if self.fourier.is_some() {
            check_memory(width, n, "rows")?;
        }
        let mut features = Dense::zeros(n, width)?;
        let blocks = features.values_mut().par_chunks_mut(ROWS * width.max(1)).enumerate();
        blocks.map(|(block, values)| self.fill_dense(block * ROWS, values)).collect::<Result<()>>()?;
        Ok(features.into())
    }

    /// Calls `visit` with the features of some rows at a time, that take a few megabytes, in order.
    pub(super) fn for_each_piece(&self, mut visit: impl FnMut(Matrix) -> Result<()>) -> Result<()> {
        const ENOUGH: usize = 1 << 20;
        let (n, width) = self.shape();
        let rows = (ENOUGH / width.max(1)).max(1);
        for start in (0..n).step_by(rows) {
            let mut piece = Dense::zeros(rows.min(n - start), width)?;
            self.fill_dense(start, piece.values_mut())?;
            visit(piece.into())?;
        }
        Ok(())
    }

    /// The features of as many rows as there is room for, from row `first` on.
    fn fill_dense(&self, first: usize, values: &mut [f64]) -> Result<()> {
        match self.fourier {
            Some(map) => map.fill(&self.scaled, first..first + values.len() / map.n_features(), values),
            None => {
                self.scaled.fill_dense(first, values);
                Ok(())
            }
        }
    }
}

impl Sealed for Features<'_> {}

impl Blocks for Features<'_> {
    fn shape(&self) -> (usize, usize) {
        let (n, width) = self.scaled.shape();
        (n, self.fourier.map_or(width, FourierMap::n_features))
    }

    fn is_sparse(&self) -> bool {
        self.fourier.is_none() && self.scaled.is_sparse()
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        if self.fourier.is_none() {
            return self.scaled.block(rows, buffer);
        }
        buffer.values.resize(rows.len() * self.shape().1, 0.0);
        self.fill_dense(rows.start, &mut buffer.values)?;
        Ok(Block::Dense(&buffer.values))
    }
}

/// The columns of a table, filled, encoded and scaled.
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

    /// The features of as many rows as there is room for, from row `first` on.
    fn fill_dense(&self, first: usize, values: &mut [f64]) {
        let Preparation { shift, factor, fill, columns, .. } = self.preparation;
        let rows = self.table.matrix().rows();
        let mut cells = vec![0.0; columns.len()];
        // Without features there is nothing to write, and chunks of none would be refused.
        for (i, features) in values.chunks_exact_mut(shift.len().max(1)).enumerate() {
            cells.fill(0.0);
            rows.row(first + i).copy_to(&mut cells);
            if self.all_numeric {
                let settings = fill.iter().zip(shift).zip(factor);
                for ((feature, &x), ((&fill, shift), factor)) in features.iter_mut().zip(&cells).zip(settings) {
                    *feature = (if x.is_nan() { fill } else { x } - shift) * factor;
                }
                continue;
            }
            for (feature, (shift, factor)) in features.iter_mut().zip(shift.iter().zip(factor)) {
                *feature = (0.0 - shift) * factor;
            }
            for (c, &x) in cells.iter().enumerate() {
                self.preparation.encode(c, self.starts[c], x, |j, value| features[j] = value);
            }
        }
    }

    fn fill_sparse(&self, rows: Range<usize>, buffer: &mut Buffer) {
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
            starts.push(values.len());
        }
    }
}

impl Sealed for Scaled<'_> {}

impl Blocks for Scaled<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.table.n_rows(), self.preparation.factor.len())
    }

    fn is_sparse(&self) -> bool {
        self.preparation.sparse && self.table.matrix().is_sparse()
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        if self.is_sparse() {
            self.fill_sparse(rows, buffer);
            let Buffer { starts, columns, values, .. } = buffer;
            return Ok(Block::Sparse { starts, columns, values });
        }
        buffer.values.resize(rows.len() * self.preparation.factor.len(), 0.0);
        self.fill_dense(rows.start, &mut buffer.values);
        Ok(Block::Dense(&buffer.values))
    }
}

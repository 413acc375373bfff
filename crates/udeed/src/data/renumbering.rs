//! Recoding of levels and columns, once the whole file was read.

use crate::data::Csr;
use crate::parallel;

/// Number of values from which recoding takes longer than starting threads.
const WORTH_THREADS: usize = 1 << 20;

/// New codes for levels and new numbers for columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renumbering {
    /// For some columns of dense rows the new code of each level.
    levels: Vec<(usize, Vec<f64>)>,
    /// The columns of sparse rows that occur, ascending, if the others are left out.
    used: Option<Vec<u32>>,
}

impl Renumbering {
    /// Numbers the columns of sparse rows that occur, in this order.
    pub(crate) fn columns(used: Vec<u32>) -> Self {
        Renumbering { levels: Vec::new(), used: Some(used) }
    }

    /// Gives level `i` of column `j` the code `codes[i]`.
    pub(crate) fn add_levels(&mut self, j: usize, codes: Vec<f64>) {
        if codes.iter().enumerate().any(|(i, &code)| code != i as f64) {
            self.levels.push((j, codes));
        }
    }

    /// Recodes the levels in dense rows, given row by row.
    pub(crate) fn recode_dense(&self, values: &mut [f64], n_columns: usize) {
        if self.levels.is_empty() {
            return;
        }
        let renumber = |values: &mut [f64]| {
            for row in values.chunks_exact_mut(n_columns) {
                for (j, codes) in &self.levels {
                    if !row[*j].is_nan() {
                        row[*j] = codes[row[*j] as usize];
                    }
                }
            }
        };
        if values.len() < WORTH_THREADS {
            renumber(values);
        } else {
            parallel::chunks_mut(values, n_columns * 1024, |_, values| renumber(values));
        }
    }

    /// Renumbers the columns of sparse rows, of which `n_columns` remain.
    pub(crate) fn renumber_sparse(&self, rows: &mut Csr, n_columns: usize) {
        match &self.used {
            Some(used) => rows.renumber(n_columns, |j| used.binary_search(&j).unwrap_or_default() as u32),
            None => rows.renumber(n_columns, |j| j),
        }
    }
}

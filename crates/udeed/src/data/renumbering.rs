//! New numbers for what the rows of a file hold, once all of it was seen.

use crate::data::Csr;
use crate::parallel;

/// So many values take longer to renumber than threads to start.
const WORTH_THREADS: usize = 1 << 20;

/// New numbers for levels and columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renumbering {
    /// For some columns of dense rows the number of each level.
    levels: Vec<(usize, Vec<f64>)>,
    /// The columns of sparse rows that occur, ascending, where the others are left out.
    used: Option<Vec<u32>>,
}

impl Renumbering {
    /// Only these columns of sparse rows occur; they are numbered in this order.
    pub(crate) fn columns(used: Vec<u32>) -> Self {
        Renumbering { levels: Vec::new(), used: Some(used) }
    }

    /// The level `i` of column `j` gets the number `places[i]`.
    pub(crate) fn add_levels(&mut self, j: usize, places: Vec<f64>) {
        if places.iter().enumerate().any(|(i, &place)| place != i as f64) {
            self.levels.push((j, places));
        }
    }

    /// Renumbers the levels in dense rows, given row after row.
    pub(crate) fn dense(&self, values: &mut [f64], n_columns: usize) {
        if self.levels.is_empty() {
            return;
        }
        let renumber = |values: &mut [f64]| {
            for row in values.chunks_exact_mut(n_columns) {
                for (j, places) in &self.levels {
                    if !row[*j].is_nan() {
                        row[*j] = places[row[*j] as usize];
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

    /// Renumbers the columns of sparse rows, of which there are then so many.
    pub(crate) fn sparse(&self, rows: &mut Csr, n_columns: usize) {
        match &self.used {
            Some(used) => rows.renumber(n_columns, |j| used.binary_search(&j).unwrap_or_default() as u32),
            None => rows.renumber(n_columns, |j| j),
        }
    }
}

//! Rows seen column by column, each value as its rank among the values of its column: what trees are grown on.
//!
//! Sorting is done here, once. A node then orders its rows by counting ranks, which are small whole numbers, and many trees
//! on the same rows share the work.

use rayon::prelude::*;

use crate::data::{Row, Rows};
use crate::error::{Error, Result};

/// The columns of some rows, as ranks.
pub(crate) struct SortedColumns {
    n_rows: usize,
    columns: Vec<Column>,
}

/// One column.
pub(super) struct Column {
    /// The values that occur, ascending, each once.
    pub(super) values: Vec<f64>,
    /// The place of each row's value among them.
    pub(super) ranks: Ranks,
}

pub(super) enum Ranks {
    /// Of every row.
    Dense(Vec<u32>),
    /// Of some rows, which ascend; all others have the rank of zero.
    Sparse { zero: u32, rows: Vec<u32>, ranks: Vec<u32> },
}

impl SortedColumns {
    /// Sorts the columns. Sparse rows are not spread out: a column takes 8 bytes for a value that is not zero, or 4 for a
    /// row, whichever is less, and 8 more for each distinct value.
    ///
    /// # Errors
    /// If there are more than 2^31 rows.
    pub(crate) fn new(rows: &dyn Rows) -> Result<Self> {
        let n_rows = rows.n_rows();
        if n_rows > i32::MAX as usize {
            return Err(Error::training(format!("{n_rows} rows"), format!("at most {} for a tree", i32::MAX)));
        }
        let columns = if rows.is_sparse() {
            transposed(rows).into_par_iter().map(|(stored, values)| Column::of_stored(n_rows, stored, values)).collect()
        } else {
            let column = |j: usize| {
                let value = |i: usize| match rows.row(i) {
                    Row::Dense(values) => values[j],
                    Row::Sparse { .. } => unreachable!("dense rows"),
                };
                Column::of_all((0..n_rows).map(value))
            };
            (0..rows.n_columns()).into_par_iter().map(column).collect()
        };
        Ok(SortedColumns { n_rows, columns })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn column(&self, j: u32) -> &Column {
        &self.columns[j as usize]
    }
}

/// For each column the rows whose value is not zero, ascending, and these values.
fn transposed(rows: &dyn Rows) -> Vec<(Vec<u32>, Vec<f64>)> {
    let mut columns = vec![(Vec::new(), Vec::new()); rows.n_columns()];
    for i in 0..rows.n_rows() {
        rows.row(i).for_each(|j, x| {
            if x != 0.0 {
                columns[j].0.push(i as u32);
                columns[j].1.push(x);
            }
        });
    }
    columns
}

impl Column {
    fn of_all(of_rows: impl Iterator<Item = f64>) -> Self {
        let (values, ranks) = ranked(of_rows);
        Column { values, ranks: Ranks::Dense(ranks) }
    }

    fn of_stored(n_rows: usize, stored: Vec<u32>, of_stored: Vec<f64>) -> Self {
        if 2 * stored.len() >= n_rows {
            let mut all = vec![0.0; n_rows];
            stored.iter().zip(of_stored).for_each(|(&i, x)| all[i as usize] = x);
            return Column::of_all(all.into_iter());
        }
        // One row that is not stored stands for all of them.
        let (values, mut ranks) = ranked(of_stored.into_iter().chain([0.0]));
        let zero = ranks.pop().unwrap_or_default();
        Column { values, ranks: Ranks::Sparse { zero, rows: stored, ranks } }
    }

    /// The rank of each of some rows, which ascend.
    pub(super) fn ranks_of(&self, of_rows: impl Iterator<Item = u32>, mut visit: impl FnMut(u32)) {
        match &self.ranks {
            Ranks::Dense(ranks) => of_rows.for_each(|row| visit(ranks[row as usize])),
            Ranks::Sparse { zero, rows, ranks } => {
                let mut from = 0;
                for row in of_rows {
                    from += rows[from..].partition_point(|&stored| stored < row);
                    visit(if rows.get(from) == Some(&row) { ranks[from] } else { *zero });
                }
            }
        }
    }
}

/// The distinct values, ascending, and the place of each value among them.
fn ranked(values: impl Iterator<Item = f64>) -> (Vec<f64>, Vec<u32>) {
    // Adding 0 makes -0 the same as 0. The bits of numbers ascend as they do, those of negative ones once turned around.
    let key = |x: f64| {
        let bits = (x + 0.0).to_bits();
        if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
    };
    let mut keys: Vec<(u64, u32)> = values.zip(0..).map(|(x, i)| (key(x), i)).collect();
    keys.sort_unstable_by_key(|&(key, _)| key);
    let number = |key: u64| f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key });
    let mut ranks = vec![0; keys.len()];
    let mut distinct: Vec<f64> = Vec::new();
    let mut last = None;
    for (key, i) in keys {
        if last != Some(key) {
            distinct.push(number(key));
            last = Some(key);
        }
        ranks[i as usize] = (distinct.len() - 1) as u32;
    }
    (distinct, ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};

    #[test]
    fn values_become_ranks() {
        let (values, ranks) = ranked([3.0, -0.0, -2.5, 0.0, 3.0, 1e-300, f64::MAX, -f64::MAX].into_iter());
        assert_eq!(values, [-f64::MAX, -2.5, 0.0, 1e-300, 3.0, f64::MAX]);
        assert_eq!(ranks, [4, 2, 1, 2, 4, 3, 5, 0]);
    }

    #[test]
    fn sparse_columns_have_the_ranks_of_dense_ones() {
        let values: Vec<f64> = (0..200).map(|i| if i % 7 == 3 { f64::from(i % 5) - 2.0 } else { 0.0 }).collect();
        let dense = Dense::new(50, 4, values).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let (dense, sparse) = (SortedColumns::new(&dense).unwrap(), SortedColumns::new(&sparse).unwrap());
        for j in 0..4 {
            let of = |columns: &SortedColumns, rows: &[u32]| {
                let mut ranks = Vec::new();
                let column = columns.column(j);
                column.ranks_of(rows.iter().copied(), |rank| ranks.push(column.values[rank as usize]));
                ranks
            };
            assert!(matches!(sparse.column(j).ranks, Ranks::Sparse { .. }));
            for rows in [(0..50).collect(), vec![3, 9, 10, 49], vec![]] {
                assert_eq!(of(&dense, &rows), of(&sparse, &rows));
            }
        }
    }
}

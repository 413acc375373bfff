//! Rows seen column by column, each value as its rank among the values of its column: what trees are grown on.
//!
//! Sorting is done here, once. A node then orders its rows by counting ranks, which are small whole numbers, and many trees
//! on the same rows share the work.

use crate::data::{Row, Rows};
use crate::error::{Error, Result};
use crate::parallel;

/// The columns of some rows, as ranks.
pub(crate) struct SortedColumns {
    n_rows: usize,
    columns: Vec<Column>,
}

/// One column.
struct Column {
    /// The values that occur, ascending, each once.
    values: Vec<f64>,
    ranks: Stored,
}

enum Stored {
    Bytes(Vec<u8>),
    Dense(Vec<u32>),
    Sparse { zero: u32, rows: Vec<u32>, ranks: Vec<u32> },
}

/// One column to look at.
#[derive(Clone, Copy)]
pub(super) struct Ranked<'a> {
    /// The values that occur, ascending, each once.
    pub(super) values: &'a [f64],
    /// The place of each row's value among them.
    pub(super) ranks: Ranks<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Ranks<'a> {
    /// Ranks of all rows in one byte each, where there are at most 256 ranks: less memory to load.
    Bytes(&'a [u8]),
    /// Ranks of all rows.
    Dense(&'a [u32]),
    /// Ranks of some rows, ascending; all others have the rank of zero.
    Sparse { zero: u32, rows: &'a [u32], ranks: &'a [u32] },
}

impl SortedColumns {
    /// Sorts the columns. Sparse rows are not spread out: a column takes 8 bytes for a value that is not zero, or 1
    /// or 4 for a row where at least half are not, and 8 more for each distinct value.
    ///
    /// # Errors
    /// If there are more than 2^31 rows.
    pub(crate) fn new(rows: &dyn Rows) -> Result<Self> {
        let n_rows = rows.n_rows();
        if n_rows > i32::MAX as usize {
            return Err(Error::training(format!("{n_rows} rows"), format!("at most {} for a tree", i32::MAX)));
        }
        let columns = if rows.is_sparse() {
            parallel::map_owned(transposed(rows), |(stored, values)| Column::of_stored(n_rows, stored, values))
        } else {
            let columns = |some: usize| -> Vec<Column> {
                taken(rows, some * TOGETHER).iter().map(|values| Column::of_all(values)).collect()
            };
            parallel::map(rows.n_columns().div_ceil(TOGETHER), columns).into_iter().flatten().collect()
        };
        Ok(SortedColumns { n_rows, columns })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn column(&self, j: u32) -> Ranked<'_> {
        let Column { values, ranks } = &self.columns[j as usize];
        let ranks = match ranks {
            Stored::Bytes(ranks) => Ranks::Bytes(ranks),
            Stored::Dense(ranks) => Ranks::Dense(ranks),
            Stored::Sparse { zero, rows, ranks } => Ranks::Sparse { zero: *zero, rows, ranks },
        };
        Ranked { values, ranks }
    }
}

/// Columns taken out of dense rows at once: those that lie in the same lines of the cache.
const TOGETHER: usize = 16;

/// The values of some columns of dense rows, from the given one on.
fn taken(rows: &dyn Rows, first: usize) -> Vec<Vec<f64>> {
    let width = TOGETHER.min(rows.n_columns() - first);
    let mut columns = vec![Vec::with_capacity(rows.n_rows()); width];
    for i in 0..rows.n_rows() {
        if let Row::Dense(values) = rows.row(i) {
            columns.iter_mut().zip(&values[first..]).for_each(|(column, &x)| column.push(x));
        }
    }
    columns
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
    fn of_all(of_rows: &[f64]) -> Self {
        let (values, ranks) = ranked(of_rows);
        let ranks = if values.len() <= 256 {
            Stored::Bytes(ranks.into_iter().map(|rank| rank as u8).collect())
        } else {
            Stored::Dense(ranks)
        };
        Column { values, ranks }
    }

    fn of_stored(n_rows: usize, stored: Vec<u32>, mut of_stored: Vec<f64>) -> Self {
        if 2 * stored.len() >= n_rows {
            let mut all = vec![0.0; n_rows];
            stored.iter().zip(of_stored).for_each(|(&i, x)| all[i as usize] = x);
            return Column::of_all(&all);
        }
        // One row that is not stored stands for all of them.
        of_stored.push(0.0);
        let (values, mut ranks) = ranked(&of_stored);
        let zero = ranks.pop().unwrap_or_default();
        Column { values, ranks: Stored::Sparse { zero, rows: stored, ranks } }
    }
}

impl Ranks<'_> {
    /// Calls `visit` with the rank of each of some rows, which ascend.
    #[inline(always)]
    pub(super) fn for_each(self, of_rows: impl Iterator<Item = u32>, mut visit: impl FnMut(u32)) {
        match self {
            Ranks::Bytes(ranks) => of_rows.for_each(|row| visit(ranks[row as usize].into())),
            Ranks::Dense(ranks) => of_rows.for_each(|row| visit(ranks[row as usize])),
            Ranks::Sparse { zero, rows, ranks } => {
                let mut from = 0;
                for row in of_rows {
                    from += rows[from..].partition_point(|&stored| stored < row);
                    visit(if rows.get(from) == Some(&row) { ranks[from] } else { zero });
                }
            }
        }
    }
}

/// The distinct values, ascending, and the place of each value among them.
fn ranked(values: &[f64]) -> (Vec<f64>, Vec<u32>) {
    if let Some(distinct) = few(values) {
        let rank = |x: &f64| distinct.iter().map(|other| u32::from(other < x)).sum();
        let ranks = values.iter().map(rank).collect();
        return (distinct, ranks);
    }
    // Adding 0 makes -0 the same as 0. The bits of numbers ascend as they do, those of negative ones once turned around.
    let key = |x: f64| {
        let bits = (x + 0.0).to_bits();
        if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
    };
    let mut keys: Vec<(u64, u32)> = values.iter().zip(0..).map(|(&x, i)| (key(x), i)).collect();
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

/// The distinct values, ascending, if there are so few that nothing needs to be sorted. What is no number counts as many.
fn few(values: &[f64]) -> Option<Vec<f64>> {
    const MOST: usize = 8;
    let mut distinct = Vec::with_capacity(MOST);
    for &x in values {
        if !distinct.contains(&x) {
            if distinct.len() == MOST || x.is_nan() {
                return None;
            }
            distinct.push(x + 0.0);
        }
    }
    distinct.sort_unstable_by(f64::total_cmp);
    Some(distinct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};

    #[test]
    fn values_become_ranks() {
        let all = [3.0, -0.0, -2.5, 0.0, 3.0, 1e-300, f64::MAX, -f64::MAX, 8.0, -1e-300, 9.0, f64::MIN_POSITIVE, 8.0];
        let many = [-f64::MAX, -2.5, -1e-300, 0.0, f64::MIN_POSITIVE, 1e-300, 3.0, 8.0, 9.0, f64::MAX];
        assert_eq!(ranked(&all), (many.to_vec(), vec![6, 3, 1, 3, 6, 5, 9, 0, 7, 2, 8, 4, 7]));
        let few = vec![-f64::MAX, -2.5, 0.0, 1e-300, 3.0, f64::MAX];
        assert_eq!(ranked(&all[..8]), (few, vec![4, 2, 1, 2, 4, 3, 5, 0]));
        assert_eq!(ranked(&[]), (vec![], vec![]));
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
                column.ranks.for_each(rows.iter().copied(), |rank| ranks.push(column.values[rank as usize]));
                ranks
            };
            assert!(matches!(sparse.column(j).ranks, Ranks::Sparse { .. }));
            for rows in [(0..50).collect(), vec![3, 9, 10, 49], vec![]] {
                assert_eq!(of(&dense, &rows), of(&sparse, &rows));
            }
        }
    }
}

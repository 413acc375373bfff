//! Landmarks: a random sample of rows that stands for all.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::data::{Block, Blocks, Buffer, Csr, Dense, Matrix, Row};
use crate::error::Result;
use crate::random::{Purpose, Stream};

/// Landmarks: rows that stand for all, labeled ones before unlabeled ones; all rows where they are not too many.
pub(crate) struct Landmarks {
    /// Which, in ascending order.
    pub(crate) rows: Vec<usize>,
    n_labeled: usize,
}

impl Landmarks {
    pub(crate) fn choose(n_labeled: usize, n_unlabeled: usize, most: usize, seed: u64) -> Self {
        let n = n_labeled + n_unlabeled;
        if n <= most {
            return Landmarks { rows: (0..n).collect(), n_labeled };
        }
        // Floyd's draw without repetition: all rows may be too many to list.
        let mut stream = Stream::new(seed, Purpose::Landmarks, most as u32);
        let mut rows = BTreeSet::new();
        for last in n - most..n {
            let row = stream.below(last + 1);
            if !rows.insert(row) {
                rows.insert(last);
            }
        }
        Landmarks { rows: rows.into_iter().collect(), n_labeled }
    }

    /// Whether every labeled row is one.
    pub(crate) fn has_all_labeled(&self) -> bool {
        self.rows.get(..self.n_labeled).is_some_and(|rows| rows.last().is_none_or(|&last| last < self.n_labeled))
    }

    /// The rows themselves: sparse where all are.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn gather(&self, labeled: &dyn Blocks, unlabeled: &dyn Blocks) -> Result<Matrix> {
        let width = labeled.shape().1;
        let mut buffer = Buffer::default();
        let mut visit = |row: usize, visit: &mut dyn FnMut(Row<'_>)| {
            let (rows, i) = match row.checked_sub(self.n_labeled) {
                None => (labeled, row),
                Some(i) => (unlabeled, i),
            };
            visit(rows.block(i..i + 1, &mut buffer)?.row(0, width));
            Ok(())
        };
        if labeled.is_sparse() && unlabeled.is_sparse() {
            let mut all = Csr::empty(width);
            self.rows.iter().try_for_each(|&row| visit(row, &mut |row| all.push_row(row.iter())))?;
            return Ok(all.into());
        }
        let mut all = Dense::zeros(self.rows.len(), width)?;
        for (&row, to) in self.rows.iter().zip(all.rows_mut()) {
            visit(row, &mut |row| row.copy_to(to))?;
        }
        Ok(all.into())
    }
}

/// Some rows that follow each other, every value stored.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn gather(rows: &dyn Blocks, span: Range<usize>) -> Result<Dense> {
    let (width, n) = (rows.shape().1, span.len());
    let mut buffer = Buffer::default();
    let block = rows.block(span, &mut buffer)?;
    if let Block::Dense(values) = block {
        return Dense::new(n, width, values.to_vec());
    }
    let mut all = Dense::zeros(n, width)?;
    all.rows_mut().enumerate().for_each(|(i, to)| Row::copy_to(block.row(i, width), to));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_stand_for_themselves_unless_they_are_many() {
        let all = Landmarks::choose(3, 4, 7, 1);
        assert_eq!(all.rows, [0, 1, 2, 3, 4, 5, 6]);
        assert!(all.has_all_labeled());
        let some = Landmarks::choose(30, 40, 7, 1);
        assert_eq!(some.rows.len(), 7);
        assert!(some.rows.windows(2).all(|pair| pair[0] < pair[1]) && some.rows[6] < 70);
        assert!(!some.has_all_labeled());
        assert_ne!(some.rows, Landmarks::choose(30, 40, 7, 2).rows);
    }

    #[test]
    fn labeled_rows_come_first() {
        let labeled = Dense::new(2, 1, vec![1.0, 2.0]).unwrap();
        let unlabeled = Dense::new(2, 1, vec![3.0, 4.0]).unwrap();
        let rows = Landmarks::choose(2, 2, 9, 0).gather(&labeled, &unlabeled).unwrap();
        assert_eq!(rows.to_dense().unwrap().values(), [1.0, 2.0, 3.0, 4.0]);
        let sparse = |rows: &Dense| Matrix::from(rows.clone()).to_sparse();
        let few = Landmarks::choose(2, 2, 9, 0).gather(&sparse(&labeled), &sparse(&unlabeled)).unwrap();
        assert!(few.is_sparse() && few.to_dense().unwrap() == rows.to_dense().unwrap());
        assert_eq!(gather(&unlabeled, 1..2).unwrap().values(), [4.0]);
    }
}

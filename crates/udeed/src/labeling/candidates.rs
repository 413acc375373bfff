//! Candidates: a random sample of the unlabeled rows, among which suggestions are found.

use crate::data::{Table, TrainSet};
use crate::error::{Error, Result};
use crate::random::{Purpose, Stream};
use crate::view::Landmarks;

/// Some unlabeled rows in random order.
pub(crate) struct Candidates {
    pub(crate) table: Table,
    /// Where each stands: among the rows in memory, and after them those in the file.
    pub(crate) positions: Vec<usize>,
}

impl Candidates {
    /// Draws at most `most` unlabeled rows, all where they are not more.
    ///
    /// # Errors
    /// If the rows in the file cannot be read.
    pub(crate) fn draw(train: &TrainSet, most: usize, seed: u64) -> Result<Self> {
        let labels = train.labels();
        let unlabeled: Vec<usize> = (0..labels.len()).filter(|&i| labels.get(i).is_none()).collect();
        let mut drawn = Landmarks::choose(0, train.n_unlabeled(), most, seed).rows;
        let here = drawn.partition_point(|&row| row < unlabeled.len());
        let beyond: Vec<usize> = drawn.drain(here..).map(|row| row - unlabeled.len()).collect();
        let mut positions: Vec<usize> = drawn.into_iter().map(|row| unlabeled[row]).collect();
        let mut table = train.table().select(&positions);
        append_from_file(train, &beyond, &mut table)?;
        positions.extend(beyond.into_iter().map(|row| labels.len() + row));
        // In random order the first ones stand for all, and of equal candidates the first is any.
        let mut order: Vec<usize> = (0..positions.len()).collect();
        Stream::new(seed, Purpose::Candidates, 0).shuffle(&mut order);
        Ok(Candidates { table: table.select(&order), positions: order.into_iter().map(|i| positions[i]).collect() })
    }

    /// Learns from the labeled rows, and the candidates as the only unlabeled ones. Errors name a row by its
    /// position among all.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn learn<T>(&self, train: &TrainSet, learn: impl FnOnce(&TrainSet) -> Result<T>) -> Result<T> {
        let place = |error: Error| error.among_rows(&[&labeled(train)[..], &self.positions].concat());
        self.below_labeled(train).and_then(|some| learn(&some)).map_err(place)
    }

    /// Asks about the candidates, as [`Candidates::learn`] does.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Table) -> Result<T>) -> Result<T> {
        ask(&self.table).map_err(|error| error.among_rows(&self.positions))
    }

    fn below_labeled(&self, train: &TrainSet) -> Result<TrainSet> {
        let mut some = train.select(&labeled(train)).without_file();
        some.add_unlabeled(&self.table)?;
        Ok(some)
    }
}

/// Appends rows of the file, given in ascending order.
fn append_from_file(train: &TrainSet, rows: &[usize], table: &mut Table) -> Result<()> {
    let Some(file) = train.on_disk().filter(|_| !rows.is_empty()) else { return Ok(()) };
    let (mut first, mut rest) = (0, rows);
    file.for_each_piece(|piece| {
        let (here, later) = rest.split_at(rest.partition_point(|&row| row < first + piece.n_rows()));
        let here: Vec<usize> = here.iter().map(|row| row - first).collect();
        (first, rest) = (first + piece.n_rows(), later);
        if here.is_empty() { Ok(()) } else { table.append(&piece.select(&here)) }
    })
}

/// The positions of the labeled rows.
pub(crate) fn labeled(train: &TrainSet) -> Vec<usize> {
    let labels = train.labels();
    (0..labels.len()).filter(|&i| labels.get(i).is_some()).collect()
}

/// At most `most` of the labeled rows.
pub(crate) fn some_labeled(train: &TrainSet, most: usize, seed: u64) -> Table {
    let mut labeled = labeled(train);
    if labeled.len() > most {
        Stream::new(seed, Purpose::LabeledRows, 0).shuffle(&mut labeled);
        labeled.truncate(most);
    }
    train.table().select(&labeled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{HeldTable, Labels, Matrix};
    use crate::memory::Room;

    #[test]
    fn candidates_of_a_file_are_the_rows_of_their_positions() {
        let numbered = |rows: std::ops::Range<u32>| Table::from_rows(&rows.map(|i| [f64::from(i)]).collect::<Vec<_>>());
        let labels = Labels::new([Some("a"), None, Some("b")]);
        let mut train = TrainSet::new(numbered(0..3).unwrap(), labels).unwrap();
        let folder = std::env::temp_dir();
        let room = Room { most: 0, folder: Some(&folder) };
        train.add_held(&HeldTable::InMemory(numbered(3..2_000_000).unwrap()), room).unwrap();
        let mut pieces = 0;
        let count = |_: &Table| {
            pieces += 1;
            Ok(())
        };
        train.on_disk().unwrap().for_each_piece(count).unwrap();
        assert!(pieces > 1);
        let found = Candidates::draw(&train, 100, 1).unwrap();
        let Matrix::Dense(rows) = found.table.matrix() else { panic!("one column of numbers") };
        let numbers: Vec<usize> = (0..100).map(|i| rows.get(i)[0] as usize).collect();
        assert_eq!(numbers, found.positions);
        assert!(numbers.iter().any(|&row| row > 1_500_000) && !numbers.is_sorted(), "{numbers:?}");
    }
}

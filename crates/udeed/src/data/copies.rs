//! Copies: labeled rows that were entered more than once.

use std::collections::HashMap;

use crate::data::{Row, Rows};
use crate::parallel;

/// Labeled rows of which some are copies of others: they have the same features and the same label, and are too unlike all
/// other rows to be the same by chance.
///
/// A member that learned from one copy of a row may not judge the others. Rows of few values, such as answers of yes and
/// no or a single column of categories, recur by themselves, and new rows do so as well: they are no copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copies {
    /// For each row the place of the first one that it is a copy of; its own where it is the first.
    first: Vec<usize>,
}

impl Copies {
    /// The copies among some rows, given with their classes; none where there are none.
    pub(crate) fn among(rows: &dyn Rows, some: &[usize], classes: &[usize]) -> Option<Self> {
        let cells = equal_rows(rows, some)?;
        let mut recurs = vec![false; some.len()];
        cells.iter().enumerate().for_each(|(i, &cell)| recurs[cell] |= cell != i);
        let mut first: Vec<usize> = (0..some.len()).collect();
        let mut seen = HashMap::new();
        for i in (0..some.len()).filter(|&i| recurs[cells[i]]) {
            first[i] = *seen.entry((cells[i], classes[i])).or_insert(i);
        }
        let mut repeated: Vec<usize> = (0..some.len()).filter(|&i| first[i] != i).map(|i| cells[i]).collect();
        repeated.sort_unstable();
        repeated.dedup();
        (!repeated.is_empty() && are_no_chance(rows, some, &cells, &repeated)).then_some(Copies { first })
    }

    /// The places of the rows without copies of earlier ones.
    pub(crate) fn distinct(&self) -> Vec<usize> {
        (0..self.first.len()).filter(|&i| self.first[i] == i).collect()
    }

    /// The place of the first row that row `i` is a copy of; `i` itself where it is the first.
    pub(crate) fn first(&self, i: usize) -> usize {
        self.first[i]
    }

    /// Draws of distinct rows as draws of all: copies are drawn together.
    pub(crate) fn together(&self, draws: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut place = vec![0; self.first.len()];
        self.distinct().into_iter().enumerate().for_each(|(k, i)| place[i] = k);
        let of_all = |draw: &Vec<u8>| self.first.iter().map(|&first| draw[place[first]]).collect();
        draws.iter().map(of_all).collect()
    }

    /// For each draw how often each row or a copy of it was drawn, and the number of rows of which every draw has a copy: these
    /// are left as they were drawn.
    pub(crate) fn seen(&self, draws: &[Vec<u8>]) -> (Vec<Vec<u8>>, usize) {
        let of_first = |draw: &Vec<u8>| {
            let mut counts = vec![0u8; draw.len()];
            for (&first, &n) in self.first.iter().zip(draw) {
                counts[first] = counts[first].saturating_add(n);
            }
            counts
        };
        let firsts: Vec<Vec<u8>> = draws.iter().map(of_first).collect();
        let everywhere: Vec<bool> =
            self.first.iter().map(|&first| firsts.iter().all(|counts| counts[first] > 0)).collect();
        let seen = |(draw, firsts): (&Vec<u8>, &Vec<u8>)| {
            let count = |i: usize| if everywhere[i] { draw[i] } else { firsts[self.first[i]] };
            (0..draw.len()).map(count).collect()
        };
        let flattered = |&i: &usize| everywhere[i] && draws.iter().any(|draw| draw[i] == 0);
        let n_flattered = (0..self.first.len()).filter(flattered).count();
        (draws.iter().zip(&firsts).map(seen).collect(), n_flattered)
    }
}

/// For each of some rows the place of the first that has the same features; none where all differ.
fn equal_rows(rows: &dyn Rows, some: &[usize]) -> Option<Vec<usize>> {
    /// Columns by which most dense rows differ already.
    const FEW: usize = 8;
    let alike_by = |places: &[usize], most: usize| -> Vec<(u64, usize)> {
        let prints = parallel::map(places.len(), |k| fingerprint(rows.row(some[places[k]]), most));
        let recurring = recurring(prints.clone());
        let found = prints.into_iter().zip(places.iter().copied());
        found.filter(|(print, _)| recurring.binary_search(print).is_ok()).collect()
    };
    let all: Vec<usize> = (0..some.len()).collect();
    let alike: Vec<usize> = alike_by(&all, FEW).into_iter().map(|(_, place)| place).collect();
    let mut of_print: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut cells = all;
    for (print, i) in alike_by(&alike, usize::MAX) {
        let row = rows.row(some[i]);
        let alike = of_print.entry(print).or_default();
        match alike.iter().find(|&&other| entries(rows.row(some[other])).eq(entries(row))) {
            Some(&other) => cells[i] = other,
            None => alike.push(i),
        }
    }
    (!of_print.is_empty()).then_some(cells)
}

/// The values that occur more than once, ascending.
fn recurring(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    let mut recurring: Vec<u64> = values.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    recurring.dedup();
    recurring
}

/// The values that are not 0, with their columns: the same in both layouts.
fn entries(row: Row<'_>) -> impl Iterator<Item = (usize, u64)> + '_ {
    row.iter().filter(|(_, x)| *x != 0.0).map(|(j, x)| (j, x.to_bits()))
}

/// A sum over the values, of a dense row over the first `most`, so that no term waits for another. A value of 0 adds nothing.
fn fingerprint(row: Row<'_>, most: usize) -> u64 {
    let mixed = |j: usize, x: f64| {
        // `x + 0.0` turns -0 into 0.
        let mixed = (x + 0.0).to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15u64.wrapping_add(2 * j as u64));
        (mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    match row {
        Row::Dense(values) => {
            let first = values.iter().take(most).enumerate();
            first.fold(0, |sum, (j, &x)| sum.wrapping_add(mixed(j, x)))
        }
        Row::Sparse { columns, values } => {
            columns.iter().zip(values).fold(0, |sum, (&j, &x)| sum.wrapping_add(mixed(j as usize, x)))
        }
    }
}

/// Whether at least half of the rows that recur have a value in some column that no other row has there: such rows are not the
/// same by chance, however much the columns depend on each other. But where all rows are of a few kinds, each kind has such
/// values of its own and recurs nevertheless: these are at most the square root of the number of rows, or a quarter of it where
/// a single column tells them apart.
fn are_no_chance(rows: &dyn Rows, some: &[usize], cells: &[usize], repeated: &[usize]) -> bool {
    /// Largest number of rows by which it is decided.
    const MOST: usize = 1000;
    let asked: Vec<usize> = repeated.iter().copied().step_by(repeated.len().div_ceil(MOST)).collect();
    // Of each value the row that alone has it so far, and of each row the number of its own values.
    let mut owners: HashMap<(usize, u64), Option<usize>> = HashMap::new();
    let mut own: HashMap<usize, usize> = asked.iter().map(|&cell| (cell, 0)).collect();
    let mut without = asked.len();
    for &cell in &asked {
        for value in entries(rows.row(some[cell])) {
            owners.entry(value).and_modify(|owner| *owner = None).or_insert(Some(cell));
        }
    }
    for cell in owners.values().flatten() {
        let values = own.entry(*cell).or_default();
        without -= usize::from(*values == 0);
        *values += 1;
    }
    for (&row, cell) in some.iter().zip(cells) {
        for value in entries(rows.row(row)) {
            let Some(owner) = owners.get_mut(&value) else { continue };
            if let Some(former) = owner.take_if(|owner| owner != cell) {
                let values = own.entry(former).or_default();
                *values -= 1;
                without += usize::from(*values == 0);
            }
        }
        if 2 * without > asked.len() {
            return false;
        }
    }
    let at_least = |least: usize| 2 * own.values().filter(|&&values| values >= least).count() >= asked.len();
    let kinds = cells.iter().enumerate().filter(|&(i, cell)| i == *cell).count();
    let are_few = kinds * kinds <= some.len() || (4 * kinds <= some.len() && !at_least(2));
    at_least(1) && !are_few
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};

    fn among(values: &[f64], width: usize, classes: &[usize]) -> Option<Copies> {
        let dense = Matrix::from(Dense::new(classes.len(), width, values.to_vec()).unwrap());
        let all: Vec<usize> = (0..classes.len()).collect();
        let found = Copies::among(dense.rows(), &all, classes);
        let sparse: Matrix = dense.to_sparse().into();
        assert_eq!(Copies::among(sparse.rows(), &all, classes), found);
        found
    }

    #[test]
    fn rows_of_equal_features_and_label_are_copies_unless_chance_makes_them() {
        let copies = among(&[0.3, 1.0, 0.7, 1.0, 0.3, 1.0, 0.3, 1.0, 0.9, 0.0], 2, &[0, 1, 0, 1, 1]).unwrap();
        assert_eq!(copies.first, [0, 1, 0, 3, 4], "another label is another row");
        assert_eq!(copies.distinct(), [0, 1, 3, 4]);
        assert_eq!(among(&[0.3, 0.7, 0.9], 1, &[0, 1, 0]), None);
        // Each value occurs in other rows.
        assert_eq!(among(&[1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 4.0, 2.0, 4.0, 3.0], 2, &[0, 1, 0, 1, 1]), None);
    }

    /// A value that only one kind of row has is no sign of a copy where there are but a few kinds.
    #[test]
    fn rows_of_few_kinds_are_no_copies() {
        let kinds = |n: usize, of: usize, columns: usize| {
            let values: Vec<f64> = (0..n).flat_map(|i| vec![1.5 + (i % of) as f64; columns]).collect();
            among(&values, columns, &(0..n).map(|i| i % of % 2).collect::<Vec<usize>>())
        };
        // A column of five categories, and of eight; as one feature, and as one for each.
        assert_eq!((kinds(100, 5, 1), kinds(40, 8, 1)), (None, None));
        let apart: Vec<f64> = (0..40).flat_map(|i| (0..8).map(move |j| f64::from(u8::from(i % 8 == j)))).collect();
        assert_eq!(among(&apart, 8, &(0..40).map(|i| i % 2).collect::<Vec<usize>>()), None);
        // Columns that say the same, such as a town and its number.
        assert_eq!(kinds(100, 10, 2), None);
        // Twenty rows that were entered five times.
        assert_eq!(kinds(100, 20, 2).unwrap().distinct().len(), 20);
        assert_eq!(kinds(100, 26, 1).unwrap().distinct().len(), 26);
    }

    #[test]
    fn copies_are_drawn_and_seen_together() {
        let copies = Copies { first: vec![0, 1, 0, 3] };
        assert_eq!(copies.together(&[vec![2, 0, 1]]), [[2, 0, 2, 1]]);
        let (seen, flattered) = copies.seen(&[vec![0, 2, 1, 1], vec![0, 1, 0, 3]]);
        assert_eq!((seen, flattered), (vec![vec![1, 2, 1, 1], vec![0, 1, 0, 3]], 0));
        // Every draw has a copy: better a judge who saw one than none.
        let draws = [vec![0, 2, 1, 1], vec![1, 1, 0, 2]];
        assert_eq!(copies.seen(&draws), (draws.to_vec(), 2));
    }
}

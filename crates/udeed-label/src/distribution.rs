//! Numbers beside their distribution: where a value stands among those of other rows.

use std::io;

use serde::Serialize;

use crate::cells::Rows;

/// Number of rows that a distribution is made of, at most.
const MOST_ROWS: usize = 500;
/// Number of cells that are read for all distributions, at most, where columns are many.
const MOST_CELLS: usize = 2_000_000;
const BINS: usize = 20;

/// The distributions of the columns that hold numbers.
#[derive(Debug, Default)]
pub(crate) struct Distributions {
    /// The values of each column in ascending order; none for a column of something else.
    columns: Vec<Option<Vec<f64>>>,
}

/// A value in its distribution.
#[derive(Debug, Serialize)]
pub(crate) struct Placed {
    low: f64,
    high: f64,
    /// How many values lie in each of equal intervals between the two.
    counts: Vec<usize>,
    /// Where the value lies between the two, from 0 to 1; none where it is missing.
    at: Option<f64>,
    /// The share of values below it.
    below: Option<f64>,
}

impl Distributions {
    /// Reads some of the rows, evenly spread.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn read(rows: &dyn Rows, n_rows: usize) -> io::Result<Self> {
        let n_columns = rows.columns().len();
        let n = MOST_ROWS.min(MOST_CELLS / n_columns.max(1)).clamp(1, n_rows.max(1)).min(n_rows);
        let wanted: Vec<usize> = (0..n).map(|i| i * n_rows / n).collect();
        let mut columns = vec![Some(Vec::new()); n_columns];
        // Few at a time: a cell may be large.
        for some in wanted.chunks(50) {
            for cells in rows.read(some)?.values() {
                for (values, cell) in columns.iter_mut().zip(cells) {
                    let cell = cell.trim();
                    match cell.parse::<f64>() {
                        _ if matches!(cell, "" | "?" | "NA") => {}
                        Ok(value) if value.is_nan() => {}
                        Ok(value) => values.iter_mut().for_each(|values| values.push(value)),
                        Err(_) => *values = None,
                    }
                }
            }
        }
        for values in columns.iter_mut() {
            *values = values.take().filter(|values| !values.is_empty());
            values.iter_mut().for_each(|values| values.sort_by(f64::total_cmp));
        }
        Ok(Distributions { columns })
    }

    /// A cell in the distribution of its column, if that holds finite numbers that differ.
    pub(crate) fn placed(&self, column: usize, cell: &str) -> Option<Placed> {
        let values = self.columns.get(column)?.as_ref()?;
        // Outliers would leave one bar: they are counted at the edge.
        let edge = values.len() / 100;
        let (low, high) = (values[edge], values[values.len() - 1 - edge]);
        if !(low.is_finite() && high.is_finite() && (high - low).is_finite() && high > low) {
            return None;
        }
        let at = |value: f64| ((value - low) / (high - low)).clamp(0.0, 1.0);
        let mut counts = vec![0; BINS];
        values.iter().for_each(|&value| counts[((at(value) * BINS as f64) as usize).min(BINS - 1)] += 1);
        let value = cell.trim().parse::<f64>().ok().filter(|value| !value.is_nan());
        let below = |value: f64| values.partition_point(|other| *other < value) as f64 / values.len() as f64;
        Some(Placed { low, high, counts, at: value.map(at), below: value.map(below) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_among_the_others() {
        let values = (0..200).map(f64::from).collect();
        let all =
            Distributions { columns: vec![Some(values), None, Some(vec![1.0, 1.0]), Some(vec![0.0, f64::INFINITY])] };
        let placed = all.placed(0, " 50 ").unwrap();
        assert_eq!((placed.low, placed.high, placed.counts.iter().sum::<usize>()), (2.0, 197.0, 200));
        assert_eq!(placed.below, Some(0.25));
        assert!((placed.at.unwrap() - 48.0 / 195.0).abs() < 1e-12);
        let outside = all.placed(0, "1e300").unwrap();
        assert_eq!((outside.at, outside.below), (Some(1.0), Some(1.0)));
        assert_eq!(all.placed(0, "").unwrap().at, None);
        assert!(all.placed(1, "1").is_none() && all.placed(2, "1").is_none() && all.placed(3, "1").is_none());
    }
}

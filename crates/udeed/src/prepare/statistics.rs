//! Statistics of the columns of the training rows.

use crate::data::{Column, Kind, Rows};
use crate::error::Result;

/// Squares of smaller deviations lose digits, and then are 0.
const SMALL: f64 = 1e-140;
/// The unit in which those are measured: 2 to the power of -900. Deviations over it overflow for none below [`SMALL`].
const SMALL_UNIT: f64 = f64::from_bits((1023 - 900) << 52);

/// The statistics of one column.
#[derive(Debug, Clone)]
pub(super) struct ColumnStatistics {
    n_rows: usize,
    /// Number of missing values.
    pub(super) missing: usize,
    sum: f64,
    /// The sum of the squared deviations from the mean, over the square of `unit`.
    squares: f64,
    /// A power of 2: 1, unless the squares of so small deviations would be 0.
    unit: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How often each level of a nominal column occurs.
    pub(super) counts: Vec<usize>,
}

/// Calls back with the rows, a piece at a time, in the same order in every call.
pub(super) type EachRows<'a> = &'a dyn Fn(&mut dyn FnMut(&dyn Rows)) -> Result<()>;

impl ColumnStatistics {
    /// The statistics of all columns. Rows are added one by one, so the result does not depend on the pieces.
    pub(super) fn of(columns: &[Column], each_rows: EachRows<'_>) -> Result<Vec<Self>> {
        let empty = |column: &Column| ColumnStatistics {
            n_rows: 0,
            missing: 0,
            sum: 0.0,
            squares: 0.0,
            unit: 1.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            counts: match &column.kind {
                Kind::Numeric => Vec::new(),
                Kind::Nominal { levels } => vec![0; levels.len()],
            },
        };
        let mut all: Vec<Self> = columns.iter().map(empty).collect();
        let mut stored = vec![0; all.len()];
        let mut n_rows = 0;
        each_rows(&mut |rows| {
            n_rows += rows.n_rows();
            for i in 0..rows.n_rows() {
                rows.row(i).for_each(|j, x| {
                    stored[j] += 1;
                    all[j].count(x, 1);
                });
            }
        })?;
        for (column, &stored) in all.iter_mut().zip(&stored) {
            column.n_rows = n_rows;
            column.count(0.0, n_rows - stored);
        }
        // A second pass for the deviations: sums of squares about zero lose precision if the mean is large.
        let means: Vec<f64> = all.iter().map(ColumnStatistics::mean).collect();
        for (column, mean) in all.iter_mut().zip(&means) {
            let widest = (column.high - mean).max(mean - column.low);
            column.unit = if widest > 0.0 && widest < SMALL { SMALL_UNIT } else { 1.0 };
        }
        // Powers of 2: multiplying by their inverses is exact, as dividing by them is.
        let inverses: Vec<f64> = all.iter().map(|column| 1.0 / column.unit).collect();
        each_rows(&mut |rows| {
            for i in 0..rows.n_rows() {
                rows.row(i).for_each(|j, x| {
                    if !x.is_nan() {
                        let deviation = (x - means[j]) * inverses[j];
                        all[j].squares += deviation * deviation;
                    }
                });
            }
        })?;
        for ((column, &mean), &stored) in all.iter_mut().zip(&means).zip(&stored) {
            let zero = mean / column.unit;
            column.squares += (n_rows - stored) as f64 * zero * zero;
            if column.low > column.high {
                (column.low, column.high) = (0.0, 0.0);
            }
        }
        Ok(all)
    }

    fn count(&mut self, x: f64, times: usize) {
        if times == 0 {
            return;
        }
        if x.is_nan() {
            self.missing += times;
            return;
        }
        self.sum += x * times as f64;
        self.low = self.low.min(x);
        self.high = self.high.max(x);
        if let Some(count) = self.counts.get_mut(x as usize) {
            *count += times;
        }
    }

    /// The mean of the values that are not missing; 0 if all are.
    pub(super) fn mean(&self) -> f64 {
        match self.n_rows - self.missing {
            0 => 0.0,
            present => self.sum / present as f64,
        }
    }

    /// The replacement of a missing value: the mean, or the middle of the range if the sum overflows.
    pub(super) fn fill(&self) -> f64 {
        let mean = self.mean();
        if mean.is_finite() { mean } else { 0.5 * self.low + 0.5 * self.high }
    }

    /// The standard deviation with missing values replaced by the mean.
    pub(super) fn deviation(&self) -> f64 {
        (self.squares / self.n_rows as f64).sqrt() * self.unit
    }

    /// The levels that occur; in sparse rows also the first one, the implied zero.
    pub(super) fn seen_levels(&self, sparse: bool) -> Vec<usize> {
        (0..self.counts.len()).filter(|&level| self.counts[level] > 0 || (sparse && level == 0)).collect()
    }

    /// The index of the most frequent of these levels; the first of several.
    pub(super) fn most_frequent(&self, seen: &[usize]) -> usize {
        let mut most = 0;
        for place in 1..seen.len() {
            if self.counts[seen[place]] > self.counts[seen[most]] {
                most = place;
            }
        }
        most
    }
}

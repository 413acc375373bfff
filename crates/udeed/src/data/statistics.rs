//! Statistics of the columns of the training rows.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::data::exact_sum::ExactSum;
use crate::data::{Column, Kind, Naming, Rows, Table};
use crate::error::{Error, Hint, Place, Result};
use crate::text::quoted;

/// A nominal column with more values than this is an identifier, not a feature.
pub(crate) const MOST_LEVELS: usize = 1000;

/// So many are no longer added up: the column is refused in any case, and parts of a table would send and hold all its words.
const MANY_LEVELS: usize = 10 * MOST_LEVELS;

/// The refusal of a nominal column with too many values.
pub(crate) fn too_many_levels(n_levels: usize, column: &Column) -> Error {
    Error::Training {
        found: format!("{n_levels} different values in column {}", quoted(&column.name)),
        expected: format!("at most {MOST_LEVELS}"),
        hint: Some(Hint::Identifier { column: column.name.as_str().into() }),
    }
}

/// Squares of smaller deviations lose digits, and then are 0.
const SMALL: f64 = 1e-140;
/// The unit in which those are measured: 2 to the power of -900. Deviations over it overflow for none below [`SMALL`].
const SMALL_UNIT: f64 = f64::from_bits((1023 - 900) << 52);

/// Statistics of the columns of a table, from which a [`Preparation`](crate::prepare::Preparation) follows. Those of the parts of
/// a table make those of the whole, to rounding errors of the mean and the deviation; in the same order always the same.
///
/// ```
/// use udeed::data::{Statistics, Table};
/// use udeed::prepare::{Preparation, Scaling};
///
/// let [above, below] = [Table::from_rows(&[[2.0], [6.0]])?, Table::from_rows(&[[4.0], [10.0]])?];
/// let mut all = Statistics::of(&above)?;
/// all.merge(&Statistics::from_bytes(&Statistics::of(&below)?.to_bytes())?)?;
/// let preparation = Preparation::of(&all, Scaling::MinMax)?;
/// assert_eq!((preparation.shifts(), preparation.factors()), (&[2.0][..], &[0.125][..]));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub(crate) columns: Vec<Column>,
    pub(crate) naming: Naming,
    /// Whether all rows are sparse.
    pub(crate) sparse: bool,
    pub(crate) n_rows: usize,
    pub(crate) of_columns: Vec<ColumnStatistics>,
}

impl Statistics {
    /// The statistics of a table.
    ///
    /// # Errors
    /// If there is no row.
    pub fn of(table: &Table) -> Result<Self> {
        Statistics::summed(table, false)
    }

    /// The same with exact sums, which take longer: those of the parts of a table make those of the whole, in any order to the
    /// last bit. A fit with exact sums needs them.
    ///
    /// # Errors
    /// As [`Statistics::of`].
    ///
    /// ```
    /// use udeed::data::{Statistics, Table};
    /// use udeed::prepare::{Preparation, Scaling};
    ///
    /// let rows = [[0.1], [0.2], [0.3], [0.4]];
    /// let of = |rows: &[[f64; 1]]| Statistics::exact_of(&Table::from_rows(rows)?);
    /// let (all, mut parts) = (of(&rows)?, of(&rows[2..])?);
    /// parts.merge(&of(&rows[..2])?)?;
    /// assert_eq!(Preparation::of(&parts, Scaling::Standard)?, Preparation::of(&all, Scaling::Standard)?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn exact_of(table: &Table) -> Result<Self> {
        Statistics::summed(table, true)
    }

    fn summed(table: &Table, exactly: bool) -> Result<Self> {
        let each_rows: EachRows<'_> = &|visit| {
            visit(table.matrix().rows());
            Ok(())
        };
        if table.n_rows() == 0 {
            return Err(Error::input(Place::new(Place::TABLE), "no rows", "one at least"));
        }
        let columns = table.columns().to_vec();
        let of_columns = ColumnStatistics::of(&columns, exactly, each_rows)?;
        let (naming, sparse, n_rows) = (table.naming(), table.matrix().is_sparse(), table.n_rows());
        Ok(Statistics { columns, naming, sparse, n_rows, of_columns })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Whether all sums are exact.
    pub fn are_exact(&self) -> bool {
        self.of_columns.iter().all(|column| column.exact.is_some())
    }

    /// The columns, with the levels that are known so far.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds the statistics of further rows, whose columns are matched by name.
    ///
    /// # Errors
    /// If their columns are others, some rows are sparse and others are not, a column holds numbers here and words there, or far
    /// more words than a nominal column may have.
    pub fn merge(&mut self, other: &Statistics) -> Result<()> {
        let here = || Place::new(Place::TABLE);
        if self.columns.len() != other.columns.len() {
            let expected = format!("{}, as in the rows before", self.columns.len());
            return Err(Error::input(here(), format!("{} columns", other.columns.len()), expected));
        }
        if self.sparse != other.sparse {
            return Err(Error::input(here(), "sparse rows beside dense ones", "one of both"));
        }
        let mut merged = Vec::with_capacity(self.columns.len());
        // Mostly columns stand in the same places: only where they do not are all of them looked up.
        let mut places: Option<HashMap<&str, usize>> = None;
        for (i, (column, own)) in self.columns.iter().zip(&self.of_columns).enumerate() {
            let place = if other.columns[i].name == column.name {
                Some(i)
            } else {
                let all = || other.columns.iter().enumerate().map(|(place, other)| (&*other.name, place)).collect();
                places.get_or_insert_with(all).get(&*column.name).copied()
            };
            let Some(place) = place else {
                return Err(Error::input(here().column(&column.name), "no such column", "it, as in the rows before"));
            };
            merged.push(own.merged(column, &other.of_columns[place], &other.columns[place])?);
        }
        (self.columns, self.of_columns) = merged.into_iter().unzip();
        self.n_rows += other.n_rows;
        Ok(())
    }

    /// The statistics as bytes, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Packed, as hundreds of thousands of columns are 200 bytes of JSON each, mostly the same.
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let written = packed.write_all(&serde_json::to_vec(self).unwrap_or_default());
        // Text and numbers into memory: neither can fail.
        written.and_then(|()| packed.finish()).unwrap_or_default()
    }

    /// The statistics that [`Statistics::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are no such statistics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut json = Vec::new();
        let unpacked = GzDecoder::new(bytes).read_to_end(&mut json);
        let read: Option<Statistics> = unpacked.ok().and_then(|_| serde_json::from_slice(&json).ok());
        let fits = |of: &Statistics| {
            let fits = |(column, of): (&Column, &ColumnStatistics)| {
                let n_levels = if let Kind::Nominal { levels } = &column.kind { levels.len() } else { 0 };
                of.counts.len() == n_levels && of.n_rows == of.n_rows.max(of.missing) && of.low <= of.high
            };
            of.columns.len() == of.of_columns.len() && of.columns.iter().zip(&of.of_columns).all(fits)
        };
        read.filter(fits).ok_or_else(|| {
            Error::input(Place::new("the statistics"), "bytes that are none", "those that `Statistics::to_bytes` wrote")
        })
    }
}

/// Numbers by their bits: JSON has neither infinity nor NaN.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(x.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

/// The statistics of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnStatistics {
    n_rows: usize,
    /// Number of missing values.
    pub(crate) missing: usize,
    #[serde(with = "bits")]
    sum: f64,
    /// The sum of the squared deviations from the mean, over the square of `unit`.
    #[serde(with = "bits")]
    squares: f64,
    /// A power of 2: 1, unless the squares of so small deviations would be 0.
    #[serde(with = "bits")]
    unit: f64,
    #[serde(with = "bits")]
    pub(crate) low: f64,
    #[serde(with = "bits")]
    pub(crate) high: f64,
    /// How often each level of a nominal column occurs.
    pub(crate) counts: Vec<usize>,
    /// Sums that do not depend on the order of the rows, if they were asked for: they take the place of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<Box<Moments>>,
}

/// The sums of the values of a column and of their squares; of a nominal one they are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Moments {
    values: ExactSum,
    squares: ExactSum,
}

/// Calls back with the rows, a piece at a time, in the same order in every call.
pub(crate) type EachRows<'a> = &'a dyn Fn(&mut dyn FnMut(&dyn Rows)) -> Result<()>;

impl ColumnStatistics {
    /// The statistics of all columns. Rows are added one by one, so the result does not depend on the pieces.
    pub(crate) fn of(columns: &[Column], exactly: bool, each_rows: EachRows<'_>) -> Result<Vec<Self>> {
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
            exact: exactly.then(Box::default),
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

    /// Those of both columns, and the column with the levels of both.
    fn merged(&self, column: &Column, other: &Self, of: &Column) -> Result<(Column, Self)> {
        let (Kind::Nominal { levels: own }, Kind::Nominal { levels: others }) = (&column.kind, &of.kind) else {
            if column.kind == of.kind {
                return Ok((column.clone(), self.added(other, Vec::new())));
            }
            let place = Place::new(Place::TABLE).column(&column.name);
            return Err(Error::input(place, "numbers in some rows and text in others", "one of both"));
        };
        let mut all: Vec<(&String, usize)> = own.iter().zip(self.counts.iter().copied()).collect();
        let places: HashMap<&String, usize> = own.iter().enumerate().map(|(place, level)| (level, place)).collect();
        for (level, &count) in others.iter().zip(&other.counts) {
            match places.get(level) {
                Some(&place) => all[place].1 += count,
                None => all.push((level, count)),
            }
        }
        let n_seen = all.iter().filter(|(_, count)| *count > 0).count();
        if n_seen > MANY_LEVELS {
            return Err(too_many_levels(n_seen, column));
        }
        if own.is_sorted() && others.is_sorted() {
            all.sort_unstable();
        }
        let (levels, counts) = all.into_iter().map(|(level, count)| (level.clone(), count)).unzip();
        Ok((Column::nominal(&column.name, levels), self.added(other, counts)))
    }

    /// Those of the values of both: deviations from the means of the parts, and of these from the mean of all.
    fn added(&self, other: &Self, counts: Vec<usize>) -> Self {
        let (own, others) = (self.n_rows - self.missing, other.n_rows - other.missing);
        let (n_rows, missing) = (self.n_rows + other.n_rows, self.missing + other.missing);
        let mut exact = self.exact.clone().filter(|_| other.exact.is_some());
        if let (Some(exact), Some(more)) = (&mut exact, &other.exact) {
            exact.values.merge(&more.values);
            exact.squares.merge(&more.squares);
        }
        if own == 0 || others == 0 {
            let some = if own == 0 { other } else { self };
            return ColumnStatistics { n_rows, missing, counts, exact, ..*some };
        }
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        let sum = self.sum + other.sum;
        let mean = sum / (own + others) as f64;
        let widest = (high - mean).max(mean - low);
        let unit = if widest > 0.0 && widest < SMALL { SMALL_UNIT } else { 1.0 };
        let in_unit = |of: &Self| of.squares * (of.unit / unit) * (of.unit / unit);
        let between = (other.mean() - self.mean()) / unit;
        let share = own as f64 * (others as f64 / (own + others) as f64);
        let squares = in_unit(self) + in_unit(other) + between * between * share;
        ColumnStatistics { n_rows, missing, sum, squares, unit, low, high, counts, exact }
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
        } else if let Some(exact) = self.exact.as_mut().filter(|_| x != 0.0) {
            exact.values.add(x);
            exact.squares.add_square(x);
        }
    }

    /// The mean of the values that are not missing; 0 if all are.
    pub(crate) fn mean(&self) -> f64 {
        match self.n_rows - self.missing {
            0 => 0.0,
            present => self.exact.as_ref().map_or(self.sum, |exact| exact.values.value()) / present as f64,
        }
    }

    /// The replacement of a missing value: the mean, or the middle of the range if the sum overflows.
    pub(crate) fn fill(&self) -> f64 {
        let mean = self.mean();
        if mean.is_finite() { mean } else { 0.5 * self.low + 0.5 * self.high }
    }

    /// The standard deviation with missing values replaced by the mean.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        if let Some(exact) = self.exact.as_ref().filter(|_| mean.is_finite()) {
            let about = exact.values.squares_about(&exact.squares, mean, self.n_rows - self.missing);
            let (squares, exponent) = about.scaled();
            return libm::ldexp((squares / self.n_rows as f64).sqrt(), exponent / 2);
        }
        (self.squares / self.n_rows as f64).sqrt() * self.unit
    }

    /// The levels that occur; in sparse rows also the first one, the implied zero.
    pub(crate) fn seen_levels(&self, sparse: bool) -> Vec<usize> {
        (0..self.counts.len()).filter(|&level| self.counts[level] > 0 || (sparse && level == 0)).collect()
    }

    /// The index of the most frequent of these levels; the first of several.
    pub(crate) fn most_frequent(&self, seen: &[usize]) -> usize {
        let mut most = 0;
        for place in 1..seen.len() {
            if self.counts[seen[place]] > self.counts[seen[most]] {
                most = place;
            }
        }
        most
    }
}

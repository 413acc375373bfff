//! Preparation of rows, fitted to the training rows and saved with the model: imputation of missing values, one-hot encoding
//! of nominal columns, scaling, random Fourier features.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{
    Blocks, Column, ColumnStatistics, DiskRowsWriter, DiskTable, EachRows, Kind, MOST_LEVELS, Matrix, Naming,
    Statistics, Table, dense_size, pieces, spreads, too_many_levels,
};
use crate::error::{Error, Hint, Place, Result};
use crate::words::words;

mod fourier;
mod transform;
mod unseen;

pub use fourier::FourierMap;
pub use unseen::Unseen;

use transform::Features;

words! {
    /// Scaling of the features.
    pub enum Scaling = MinMax {
        /// To `[0, 1]` over the training rows. Sparse rows keep their zeros: they are divided by the largest value, and
        /// negative values are refused.
        MinMax = "minmax",
        /// To mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the deviation only.
        Standard = "standard",
        /// No scaling.
        None = "none",
    }
}

/// The largest feature, in size, and the largest factor: sums of many of them, times weights, stay numbers.
const LARGEST: f64 = 1e300;

/// The largest feature, in size, that scaling makes of the mean of the training rows, with much room for rounding.
const LARGEST_USUAL: f64 = 1e20;

/// The preparation of rows, fitted to the training rows.
///
/// A missing number is replaced by the mean of its column, a missing nominal value by the most frequent one. A nominal column
/// is one-hot encoded: one column of 0 and 1 for each value that occurs in training (in sparse rows not for the first
/// declared one, which is the implied zero). Then every column is scaled. A value that does not occur in training is encoded
/// as all zeros.
///
/// ```
/// use udeed::format::{Format, Reader};
/// use udeed::prepare::{Preparation, Scaling};
///
/// let read = |text: &str| Reader::new().format(Format::Csv).read_from("rows", text.as_bytes());
/// let train = read("size,colour\n2,red\n4,blue\n,red\n")?.table;
/// let preparation = Preparation::fit(&train, Scaling::MinMax)?;
/// assert_eq!(preparation.features(), ["size", "colour=blue", "colour=red"]);
///
/// let rows = preparation.apply(&train)?.to_dense()?;
/// assert_eq!(rows.get(2), [0.5, 0.0, 1.0]);
///
/// let unseen = preparation.apply(&read("size,colour\n4,green\n")?.table)?.to_dense()?;
/// assert_eq!(unseen.get(0), [1.0, 0.0, 0.0]);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    pub(crate) columns: Arc<[Column]>,
    pub(crate) naming: Naming,
    pub(crate) scaling: Scaling,
    /// Whether zeros stay zeros, so that sparse rows stay sparse.
    pub(crate) sparse: bool,
    /// The replacement of a missing value in each column: a number, or the index of a level.
    pub(crate) fill: Vec<f64>,
    /// Each feature is `(value - shift) * factor`.
    pub(crate) shift: Vec<f64>,
    pub(crate) factor: Vec<f64>,
    /// The map of scaled rows, if any.
    pub(crate) fourier: Option<FourierMap>,
}

/// A preparation, and what else is known of the rows that it was fitted to.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) preparation: Preparation,
    /// The columns that have the same value in all rows.
    pub(crate) constant: Vec<String>,
    /// The largest size of each feature, before a Fourier feature map.
    pub(crate) largest: Vec<f64>,
}

/// A preparation as it is written.
#[derive(Serialize, Deserialize)]
struct Stored {
    columns: Vec<Column>,
    naming: Naming,
    scaling: Scaling,
    sparse: bool,
    fill: Vec<f64>,
    shift: Vec<f64>,
    factor: Vec<f64>,
    /// Frequencies and phases.
    fourier: Option<(Vec<f64>, Vec<f64>)>,
}

impl Preparation {
    /// Fits a preparation to training rows, labeled and unlabeled.
    ///
    /// # Errors
    /// If there is no row or no column, a nominal column has too many values, a number is above 1e300 in size or too large to be
    /// scaled, or sparse rows with negative values are to be scaled by [`Scaling::MinMax`].
    pub fn fit(table: &Table, scaling: Scaling) -> Result<Self> {
        Ok(Preparation::fit_with(table, None, scaling, false)?.preparation)
    }

    /// Fits a preparation to training rows in memory and to more rows in a file. The result has the same bits as that of all rows
    /// in memory, and with exact sums as that of the rows in any order.
    ///
    /// # Errors
    /// As [`Preparation::fit`]; also if the rows in the file lack a column or hold another kind of values in it, or it
    /// cannot be read.
    pub(crate) fn fit_with(
        table: &Table,
        below: Option<&DiskTable>,
        scaling: Scaling,
        exactly: bool,
    ) -> Result<Fitted> {
        let Some(below) = below else {
            let preparation = Preparation::empty(table.naming(), scaling, table.matrix().is_sparse());
            return preparation.learn(table.columns(), table.n_rows(), exactly, &|visit| {
                visit(table.matrix().rows());
                Ok(())
            });
        };
        let columns = table.united(below.shared_columns(), below.naming());
        let above = table.conform(&columns)?;
        let below_is_sparse = below.is_sparse() || spreads(below.naming(), below.columns(), &columns);
        let sparse = above.matrix().is_sparse() && below_is_sparse;
        let preparation = Preparation::empty(table.naming(), scaling, sparse);
        preparation.learn(&columns, table.n_rows() + below.n_rows(), exactly, &|visit| {
            let mut visit_table = |table: &Table| {
                let rows = table.matrix();
                if sparse || !rows.is_sparse() {
                    visit(rows.rows());
                    return Ok(());
                }
                pieces(table.n_rows(), dense_size(1, columns.len())).try_for_each(|range| {
                    visit(&rows.select(&range.collect::<Vec<_>>()).to_dense()?);
                    Ok(())
                })
            };
            visit_table(&above)?;
            below.for_each_piece(|piece| visit_table(piece.conform(&columns)?.as_ref()))
        })
    }

    /// The same preparation followed by a random Fourier feature map, see [`FourierMap`]: `n_features` features replace all
    /// others. The bandwidth is the median distance of a sample of the training rows, labeled and unlabeled, in memory and in
    /// the file. [`Scaling::Standard`] suits it best.
    ///
    /// # Errors
    /// If `n_features` is 0, the map takes more than half of the memory, a column of the fit is missing, the distances
    /// overflow, or a file cannot be read.
    pub fn with_fourier(
        mut self,
        n_features: usize,
        table: &Table,
        below: Option<&DiskTable>,
        seed: u64,
    ) -> Result<Self> {
        if n_features == 0 {
            return Err(Error::setting("fourier", n_features, "at least 1"));
        }
        self.fourier = None;
        let bandwidth = fourier::bandwidth(&self.drawn_features(table, below, seed)?, seed)?;
        self.fourier = Some(FourierMap::draw(self.factor.len(), n_features, bandwidth, seed)?);
        Ok(self)
    }

    /// The features of the rows sampled for the bandwidth.
    fn drawn_features(&self, table: &Table, below: Option<&DiskTable>, seed: u64) -> Result<Matrix> {
        let mut first = table.n_rows();
        let drawn = fourier::drawn_rows(first + below.map_or(0, DiskTable::n_rows), seed);
        let (above, mut rest) = drawn.split_at(drawn.partition_point(|&row| row < first));
        let mut features = self.apply(&table.select(above))?;
        let Some(below) = below else { return Ok(features) };
        below.for_each_piece(|piece| {
            let end = first + piece.n_rows();
            let (here, later) = rest.split_at(rest.partition_point(|&row| row < end));
            let here: Vec<usize> = here.iter().map(|row| row - first).collect();
            if !here.is_empty() {
                features = features.stack(&self.apply(&piece.select(&here))?)?;
            }
            (first, rest) = (end, later);
            Ok(())
        })?;
        Ok(features)
    }

    fn empty(naming: Naming, scaling: Scaling, sparse: bool) -> Self {
        let (fill, shift, factor) = Default::default();
        Preparation { columns: Arc::new([]), naming, scaling, sparse, fill, shift, factor, fourier: None }
    }

    /// Follows from the statistics of all training rows, which may lie in several places.
    ///
    /// # Errors
    /// As [`Preparation::fit`].
    pub fn of(statistics: &Statistics, scaling: Scaling) -> Result<Self> {
        Ok(Preparation::of_all(statistics, scaling)?.preparation)
    }

    /// The same with what else follows from them.
    pub(crate) fn of_all(statistics: &Statistics, scaling: Scaling) -> Result<Fitted> {
        let preparation = Preparation::empty(statistics.naming, scaling, statistics.sparse);
        if let Some(large) = large_column(&statistics.of_columns) {
            let (column, of) = (&statistics.columns[large], &statistics.of_columns[large]);
            return Err(too_large(
                Place::new(Place::TABLE).column(&column.name),
                if is_large(of.low) { of.low } else { of.high },
            ));
        }
        preparation.fitted(&statistics.columns, &statistics.of_columns, statistics.n_rows)
    }

    /// The preparation as bytes, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let map = self.fourier.as_ref();
        let stored = Stored {
            columns: self.columns.to_vec(),
            naming: self.naming,
            scaling: self.scaling,
            sparse: self.sparse,
            fill: self.fill.clone(),
            shift: self.shift.clone(),
            factor: self.factor.clone(),
            fourier: map.map(|map| (map.frequencies().to_vec(), map.phases().to_vec())),
        };
        // Finite numbers and text: serialising these cannot fail.
        serde_json::to_vec(&stored).unwrap_or_default()
    }

    /// The preparation that [`Preparation::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are no such preparation.
    ///
    /// ```
    /// use udeed::data::Table;
    /// use udeed::prepare::{Preparation, Scaling};
    ///
    /// let preparation = Preparation::fit(&Table::from_rows(&[[0.1], [0.3]])?, Scaling::Standard)?;
    /// assert_eq!(Preparation::from_bytes(&preparation.to_bytes())?, preparation);
    /// assert!(Preparation::from_bytes(b"{}").is_err());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read: Option<Stored> = serde_json::from_slice(bytes).ok();
        let preparation = read.map(|stored| Preparation {
            columns: stored.columns.into(),
            naming: stored.naming,
            scaling: stored.scaling,
            sparse: stored.sparse,
            fill: stored.fill,
            shift: stored.shift,
            factor: stored.factor,
            fourier: stored.fourier.map(|(frequencies, phases)| FourierMap::from_parts(frequencies, &phases)),
        });
        preparation.filter(Preparation::is_sound).ok_or_else(|| {
            let expected = "those that `Preparation::to_bytes` wrote";
            Error::input(Place::new("the preparation"), "bytes that are none", expected)
        })
    }

    /// Fits all columns.
    fn learn(self, columns: &[Column], n_rows: usize, exactly: bool, each_rows: EachRows<'_>) -> Result<Fitted> {
        let statistics = ColumnStatistics::of(columns, exactly, each_rows)?;
        check_sizes(columns, &statistics, each_rows)?;
        self.fitted(columns, &statistics, n_rows)
    }

    /// The same from the statistics of the columns.
    fn fitted(mut self, columns: &[Column], statistics: &[ColumnStatistics], n_rows: usize) -> Result<Fitted> {
        if n_rows == 0 || columns.is_empty() {
            return Err(Error::training(
                format!("{n_rows} rows and {} columns", columns.len()),
                "at least one of each",
            ));
        }
        let kept = columns.iter().zip(statistics).map(|(column, statistics)| self.add(column, statistics, n_rows));
        self.columns = kept.collect::<Result<_>>()?;
        let constant = self.columns.iter().zip(statistics).filter(|(column, found)| self.is_constant(column, found));
        let constant = constant.map(|(column, _)| column.name.clone()).collect();
        Ok(Fitted { largest: self.largest_features(statistics), preparation: self, constant })
    }

    /// The largest size of each feature before a Fourier feature map. Scaling keeps the order of values, also of rounded ones: so
    /// that of the ends of a range is none that a value between them exceeds.
    fn largest_features(&self, statistics: &[ColumnStatistics]) -> Vec<f64> {
        let size = |j: usize, x: f64| ((x - self.shift[j]) * self.factor[j]).abs();
        let mut largest = Vec::with_capacity(self.factor.len());
        for ((column, of), fill) in self.columns.iter().zip(statistics).zip(&self.fill) {
            let ends: &[f64] = if column.kind == Kind::Numeric { &[of.low, of.high, *fill] } else { &[0.0, 1.0] };
            for j in largest.len()..largest.len() + self.width(column) {
                largest.push(ends.iter().map(|&x| size(j, x)).fold(0.0, f64::max));
            }
        }
        largest
    }

    /// Whether a column has the same value in all rows, missing ones replaced. Sparse rows and numbered columns may lack a
    /// feature that others have: a column of zeros there is usual.
    fn is_constant(&self, column: &Column, statistics: &ColumnStatistics) -> bool {
        let is_usual = self.sparse || (self.naming == Naming::Index && statistics.high == 0.0);
        match &column.kind {
            _ if is_usual => false,
            Kind::Numeric => statistics.low == statistics.high,
            Kind::Nominal { levels } => levels.len() < 2,
        }
    }

    /// Fits a column; returns it with the levels that occur.
    fn add(&mut self, column: &Column, statistics: &ColumnStatistics, n_rows: usize) -> Result<Column> {
        match &column.kind {
            Kind::Numeric => {
                self.fill.push(statistics.fill());
                let (shift, factor) = self.scale(column, statistics)?;
                self.shift.push(shift);
                self.factor.push(factor);
                Ok(column.clone())
            }
            Kind::Nominal { levels } => {
                let seen = statistics.seen_levels(self.sparse);
                if seen.len() > MOST_LEVELS {
                    return Err(too_many_levels(seen.len(), column));
                }
                let most = statistics.most_frequent(&seen);
                self.fill.push(most as f64);
                for (place, &level) in seen.iter().enumerate().skip(usize::from(self.sparse)) {
                    let filled = if place == most { statistics.missing } else { 0 };
                    let share = (statistics.counts[level] + filled) as f64 / n_rows as f64;
                    let (shift, factor) = scale_indicator(self.scaling, share, self.sparse);
                    self.shift.push(shift);
                    self.factor.push(factor);
                }
                let levels = seen.into_iter().map(|level| levels[level].clone()).collect();
                Ok(Column::nominal(&column.name, levels))
            }
        }
    }

    fn scale(&self, column: &Column, statistics: &ColumnStatistics) -> Result<(f64, f64)> {
        let place = || Place::new("the training rows").column(&column.name);
        let (low, high) = (statistics.low, statistics.high);
        // The deviation of a constant column is rounding error.
        let rounding = 1e-12 * low.abs().max(high.abs());
        let deviation = Some(statistics.deviation()).filter(|deviation| *deviation > rounding).unwrap_or(0.0);
        let refused = |expected: &str| Err(Error::input(place(), format!("values from {low:e} to {high:e}"), expected));
        let (shift, width) = match self.scaling {
            Scaling::None => return Ok((0.0, 1.0)),
            Scaling::MinMax if self.sparse && low < 0.0 => {
                return Err(Error::input(place(), format!("{low} in sparse rows"), "no negative values for `minmax`")
                    .with_hint(Hint::NegativeSparse));
            }
            Scaling::MinMax if self.sparse => (0.0, high.max(0.0)),
            Scaling::MinMax => (low, high - low),
            Scaling::Standard if self.sparse => (0.0, deviation),
            Scaling::Standard => (statistics.mean(), deviation),
        };
        let factor = 1.0 / width;
        if !shift.is_finite() || !width.is_finite() || (width > 0.0 && factor > LARGEST) {
            return refused("a range that can be scaled");
        }
        // A constant column carries no information: it becomes zero, whatever its later values.
        Ok((shift, if width > 0.0 { factor } else { 0.0 }))
    }

    /// The names of the features, without the constant one.
    pub fn features(&self) -> Vec<String> {
        if let Some(map) = &self.fourier {
            return (1..=map.n_features()).map(|k| format!("fourier {k}")).collect();
        }
        let mut names = Vec::with_capacity(self.factor.len());
        for column in self.columns.iter() {
            match &column.kind {
                Kind::Numeric => names.push(column.name.clone()),
                Kind::Nominal { levels } => {
                    let shown = levels.iter().skip(usize::from(self.sparse));
                    names.extend(shown.map(|level| format!("{}={level}", column.name)));
                }
            }
        }
        names
    }

    /// The index of the column from which each feature comes.
    pub(crate) fn columns_of_features(&self) -> Vec<usize> {
        let features = |(place, column): (usize, &Column)| {
            let shown = match &column.kind {
                Kind::Numeric => 1,
                Kind::Nominal { levels } => levels.len() - usize::from(self.sparse).min(levels.len()),
            };
            std::iter::repeat_n(place, shown)
        };
        self.columns.iter().enumerate().flat_map(features).collect()
    }

    /// Number of features, without the constant one.
    pub fn n_features(&self) -> usize {
        self.fourier.as_ref().map_or(self.factor.len(), FourierMap::n_features)
    }

    /// The random Fourier feature map of scaled rows, if any.
    pub fn fourier(&self) -> Option<&FourierMap> {
        self.fourier.as_ref()
    }

    /// The shift of each feature: a feature is `(value - shift) * factor`, see [`Preparation::factors`]. A Fourier feature map
    /// is applied after that.
    ///
    /// ```
    /// use udeed::data::Table;
    /// use udeed::prepare::{Preparation, Scaling};
    ///
    /// let preparation = Preparation::fit(&Table::from_rows(&[[2.0], [6.0]])?, Scaling::MinMax)?;
    /// assert_eq!((preparation.shifts(), preparation.factors()), (&[2.0][..], &[0.25][..]));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn shifts(&self) -> &[f64] {
        &self.shift
    }

    /// The factor of each feature, see [`Preparation::shifts`].
    pub fn factors(&self) -> &[f64] {
        &self.factor
    }

    /// The columns that rows must have.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How the columns of the training rows got their names.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Scaling of the features.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Computes the features of rows. Columns are matched by name; further ones are ignored.
    ///
    /// # Errors
    /// If a column is missing or holds another kind of values, or Fourier features take more than half of the memory.
    pub fn apply(&self, table: &Table) -> Result<Matrix> {
        Features::new(self, table)?.all()
    }

    /// As [`Preparation::apply`], but computes the features block by block on demand.
    pub(crate) fn features_of<'a>(&'a self, table: &'a Table) -> Result<Features<'a>> {
        Features::new(self, table)
    }

    /// Computes the features of rows in a file and appends them to another one.
    ///
    /// # Errors
    /// As [`Preparation::apply`]; also if a file cannot be read or written.
    pub(crate) fn apply_on_disk(&self, table: &DiskTable, into: &mut DiskRowsWriter) -> Result<()> {
        table.for_each_piece(|piece| {
            let features = Features::new(self, piece)?;
            // Nominal columns become many features: a few megabytes may become gigabytes.
            let row_size = if features.is_sparse() { 1 } else { dense_size(1, self.n_features()) };
            pieces(piece.n_rows(), row_size)
                .try_for_each(|range| into.push(&features.of(&range.collect::<Vec<usize>>())?))
        })
    }

    /// Calls `set` with the features of the value `x` in column `c`.
    fn encode(&self, c: usize, start: usize, x: f64, mut set: impl FnMut(usize, f64)) {
        let x = if x.is_nan() { self.fill[c] } else { x };
        match &self.columns[c].kind {
            Kind::Numeric => set(start, (x - self.shift[start]) * self.factor[start]),
            Kind::Nominal { levels } => {
                let level = x as usize;
                let first = usize::from(self.sparse);
                if level >= first && level < levels.len() {
                    let j = start + level - first;
                    set(j, (1.0 - self.shift[j]) * self.factor[j]);
                }
            }
        }
    }

    fn feature_starts(&self) -> Vec<usize> {
        let mut next = 0;
        let mut start_of = |column: &Column| {
            let start = next;
            next += self.width(column);
            start
        };
        self.columns.iter().map(&mut start_of).collect()
    }

    /// Number of features of a column.
    fn width(&self, column: &Column) -> usize {
        match &column.kind {
            Kind::Numeric => 1,
            Kind::Nominal { levels } => levels.len().saturating_sub(usize::from(self.sparse)),
        }
    }

    /// Whether the parts are consistent; checked when a model is loaded.
    pub(crate) fn is_sound(&self) -> bool {
        let width: usize = self.columns.iter().map(|column| self.width(column)).sum();
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        self.fill.len() == self.columns.len()
            && self.shift.len() == width
            && self.factor.len() == width
            && finite(&self.fill)
            && finite(&self.shift)
            && self.factor.iter().all(|factor| factor.abs() <= LARGEST)
            && self.scales_what_is_usual()
            && self.fourier.as_ref().is_none_or(|map| map.is_sound(width))
    }

    /// Whether the mean of a numeric column and the 0 and 1 of a nominal one are scaled to what training rows may have.
    fn scales_what_is_usual(&self) -> bool {
        let most = if self.scaling == Scaling::None { LARGEST } else { LARGEST_USUAL };
        let is_fine = |j: usize, x: f64| ((x - self.shift[j]) * self.factor[j]).abs() <= most;
        let starts = self.feature_starts();
        self.columns.iter().zip(&self.fill).zip(starts).all(|((column, &fill), start)| match column.kind {
            Kind::Numeric => is_fine(start, fill),
            Kind::Nominal { .. } => (start..start + self.width(column)).all(|j| is_fine(j, 0.0) && is_fine(j, 1.0)),
        })
    }
}

/// Refuses a number that no other rows could be scaled beside: it is most likely a mark of what is missing.
fn check_sizes(columns: &[Column], statistics: &[ColumnStatistics], each_rows: EachRows<'_>) -> Result<()> {
    let Some(large) = large_column(statistics) else { return Ok(()) };
    let (mut above, mut found) = (0, None);
    each_rows(&mut |rows| {
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, x| {
                if found.is_none() && j == large && is_large(x) {
                    found = Some((above + i as u64 + 1, x));
                }
            });
        }
        above += rows.n_rows() as u64;
    })?;
    let (row, x) = found.unwrap_or_default();
    Err(too_large(Place::new(Place::TABLE).row(row).column(&columns[large].name), x))
}

fn is_large(x: f64) -> bool {
    x.abs() > LARGEST
}

/// The first column with a number that no other rows could be scaled beside.
fn large_column(statistics: &[ColumnStatistics]) -> Option<usize> {
    statistics.iter().position(|column| is_large(column.low) || is_large(column.high))
}

fn too_large(place: Place, x: f64) -> Error {
    Error::input(place, format!("{x:e}"), format!("a number that is at most {LARGEST:e} in size"))
        .with_hint(Hint::LargeCell)
}

/// The shift and factor of a column of 0 and 1, which is 1 in this share of the rows.
fn scale_indicator(scaling: Scaling, share: f64, sparse: bool) -> (f64, f64) {
    let constant = share == 0.0 || share == 1.0;
    match scaling {
        Scaling::None => (0.0, 1.0),
        _ if constant && !sparse => (share, 0.0),
        Scaling::MinMax => (0.0, 1.0),
        Scaling::Standard if constant => (0.0, 0.0),
        Scaling::Standard => {
            let deviation = (share * (1.0 - share)).sqrt();
            (if sparse { 0.0 } else { share }, 1.0 / deviation)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::{DiskRows, HeldTable};
    use crate::format::{Format, Layout, Reader};
    use crate::memory::Room;

    fn numbers(rows: &[[f64; 2]]) -> Table {
        Table::from_rows(rows).unwrap()
    }

    #[test]
    fn minmax_spans_zero_to_one_and_a_constant_column_is_harmless() {
        let preparation = Preparation::fit(&numbers(&[[1.0, 7.0], [3.0, 7.0], [2.0, 7.0]]), Scaling::MinMax).unwrap();
        let rows = preparation.apply(&numbers(&[[1.0, 7.0], [3.0, 7.0], [5.0, 900.0]])).unwrap();
        assert_eq!(rows.to_dense().unwrap().values(), [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]);
    }

    #[test]
    fn standard_centres() {
        let preparation = Preparation::fit(&numbers(&[[1.0, 0.0], [3.0, 0.0]]), Scaling::Standard).unwrap();
        let rows = preparation.apply(&numbers(&[[1.0, 0.0], [3.0, 0.0]])).unwrap();
        assert_eq!(rows.to_dense().unwrap().values(), [-1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn sparse_rows_stay_sparse_and_agree_with_dense_ones() {
        let dense = numbers(&[[0.0, 4.0], [2.0, 0.0], [1.0, 2.0]]);
        let sparse = Table::from_matrix(dense.matrix().to_sparse()).unwrap();
        for scaling in [Scaling::MinMax, Scaling::None] {
            let one = Preparation::fit(&dense, scaling).unwrap().apply(&dense).unwrap();
            let other = Preparation::fit(&sparse, scaling).unwrap().apply(&sparse).unwrap();
            assert!(other.is_sparse());
            assert_eq!(one.to_dense().unwrap(), other.to_dense().unwrap());
        }
    }

    #[test]
    fn negative_sparse_values_are_refused_with_a_hint() {
        let sparse = Table::from_matrix(numbers(&[[0.0, -4.0]]).matrix().to_sparse()).unwrap();
        let error = Preparation::fit(&sparse, Scaling::MinMax).unwrap_err();
        assert_eq!(error.hint(), Some(&Hint::NegativeSparse));
    }

    #[test]
    fn a_column_that_is_always_missing_becomes_zero() {
        let preparation = Preparation::fit(&numbers(&[[f64::NAN, 1.0], [f64::NAN, 2.0]]), Scaling::MinMax).unwrap();
        let rows = preparation.apply(&numbers(&[[f64::NAN, 1.0], [9.0, 2.0]])).unwrap();
        assert_eq!(rows.to_dense().unwrap().values(), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_range_beyond_floats_is_refused() {
        assert!(Preparation::fit(&numbers(&[[1e200, 0.0], [-1e200, 0.0]]), Scaling::Standard).is_err());
    }

    #[test]
    fn a_number_that_is_too_large_is_refused_by_row_and_column() {
        let table = numbers(&[[1.0, 2.0], [f64::NAN, 0.0], [3.0, -1.7e308], [-f64::MAX, 1.0]]);
        let sparse = Table::from_matrix(table.matrix().to_sparse()).unwrap();
        for (table, scaling) in [(&table, Scaling::MinMax), (&table, Scaling::Standard), (&sparse, Scaling::None)] {
            let error = Preparation::fit(table, scaling).unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with("the table, row 4, column `1`: found -1.79"), "{message}");
            assert!(message.ends_with("expected a number that is at most 1e300 in size"), "{message}");
            assert_eq!(error.hint(), Some(&Hint::LargeCell));
        }
        assert!(Preparation::fit(&numbers(&[[1e300, 0.0], [-1e300, 1.0]]), Scaling::MinMax).is_ok());
    }

    /// The bits of every value: a zero may or may not be stored.
    fn bits(rows: &Matrix) -> Vec<u64> {
        rows.to_dense().unwrap().values().iter().map(|x| x.to_bits()).collect()
    }

    /// The features of rows on disk, below those that are given.
    fn apply_on_disk(preparation: &Preparation, above: Option<&Matrix>, below: &DiskTable) -> DiskRows {
        let mut writer = DiskRowsWriter::new(&std::env::temp_dir()).unwrap();
        above.into_iter().for_each(|rows| writer.push(rows).unwrap());
        preparation.apply_on_disk(below, &mut writer).unwrap();
        writer.finish()
    }

    /// Text of rows in each format, with missing values, levels of their own, and sometimes a column less.
    fn rows_as_text() -> impl Strategy<Value = (Format, Layout, String, String)> {
        let number = prop::sample::select(vec!["", "0", "-2.5", "7", "1e3"]);
        let level = prop::sample::select(vec!["", "red", "blue", "green"]);
        let csv = (prop::collection::vec((number, level), 1..6), prop::bool::weighted(0.9)).prop_map(|(rows, both)| {
            let line = |(number, level): (&str, &str)| {
                if both { format!("{number},{level}\n") } else { format!("{number}\n") }
            };
            let header = if both { "size,colour\n" } else { "size\n" };
            header.to_owned() + &rows.into_iter().map(line).collect::<String>()
        });
        let entries = prop::collection::btree_map(0..5u8, prop::sample::select(vec!["0", "3", "nan", "0.25"]), 0..4);
        let libsvm = prop::collection::vec(entries, 1..6).prop_map(|rows| {
            let entry = |(j, x): (u8, &str)| format!(" {}:{x}", j + 1);
            rows.into_iter()
                .map(|row| format!("1{}\n", row.into_iter().map(entry).collect::<String>()))
                .collect::<String>()
        });
        let layout = prop::sample::select(vec![Layout::Auto, Layout::Dense, Layout::Sparse]);
        let files = prop_oneof![(Just(Format::Csv), csv.clone(), csv), (Just(Format::Libsvm), libsvm.clone(), libsvm),];
        (layout, files).prop_map(|(layout, (format, above, below))| (format, layout, above, below))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Statistics, and the features made with them, have the same bits.
        #[test]
        fn rows_on_disk_are_prepared_as_in_memory((format, layout, above, below) in rows_as_text()) {
            let reader = Reader::new().format(format).layout(layout);
            let read = |text: &str| reader.read_from("rows", text.as_bytes()).map(|sheet| sheet.table);
            // Texts that cannot be read prove nothing: others are drawn in their place.
            let (Ok(above), Ok(in_memory)) = (read(&above), read(&below)) else {
                return Err(TestCaseError::reject("text that cannot be read"));
            };
            let room = Room { most: 0, folder: Some(&std::env::temp_dir()) };
            let HeldTable::InFile(on_disk) = reader.hold_from("rows", below.as_bytes(), room).unwrap().table else {
                panic!("rows in memory")
            };
            let mut both = above.clone();
            let appended = both.append(&in_memory);
            for scaling in [Scaling::MinMax, Scaling::Standard, Scaling::None] {
                let found = Preparation::fit_with(&above, Some(&on_disk), scaling, false);
                let expected = appended.as_ref().map_err(ToString::to_string).and_then(|()| {
                    Preparation::fit_with(&both, None, scaling, false).map_err(|error| error.to_string())
                });
                let (found, expected) = match (found, expected) {
                    (Ok(found), Ok(expected)) => (found, expected),
                    (found, expected) => {
                        prop_assert_eq!(found.unwrap_err().to_string(), expected.unwrap_err());
                        continue;
                    }
                };
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                let (found, expected) = (found.preparation, expected.preparation);
                let rows = apply_on_disk(&found, None, &on_disk);
                let features = expected.apply(&both).unwrap();
                let features = features.select(&(above.n_rows()..both.n_rows()).collect::<Vec<_>>());
                prop_assert_eq!(rows.is_sparse(), features.is_sparse());
                prop_assert_eq!(bits(&rows.matrix(0..rows.n_rows()).unwrap()), bits(&features));
            }
        }
    }

    #[test]
    fn fourier_features_of_rows_on_disk_have_the_same_bits() {
        // More than one piece, and more rows than the bandwidth is taken from.
        let points: Vec<[f64; 2]> = (0..600_000).map(|i| [f64::from(i % 977), f64::from(i % 1009) / 7.0]).collect();
        let (above, below) = points.split_at(100);
        let (above, all) = (numbers(above), numbers(&points));
        let below = DiskTable::new(&numbers(below), &std::env::temp_dir()).unwrap();

        let in_memory = Preparation::fit(&all, Scaling::Standard).unwrap().with_fourier(4, &all, None, 9).unwrap();
        let streamed = Preparation::fit_with(&above, Some(&below), Scaling::Standard, false).unwrap().preparation;
        let streamed = streamed.with_fourier(4, &above, Some(&below), 9).unwrap();
        assert_eq!(streamed, in_memory);

        let rows = apply_on_disk(&streamed, Some(&streamed.apply(&above).unwrap()), &below);
        assert!(rows.ranges().count() > 1);
        assert!(bits(&rows.matrix(0..rows.n_rows()).unwrap()) == bits(&in_memory.apply(&all).unwrap()));
    }
}

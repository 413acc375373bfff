//! Rows whose columns have names and kinds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Csr, Dense, Matrix, dense_size, sparse_size};
use crate::error::{Error, Hint, Place, Result};
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::text::{listed, quoted};

/// Kind of the values of a column.
///
/// ```
/// use udeed::data::Kind;
///
/// let colour = Kind::Nominal { levels: vec!["blue".into(), "red".into()] };
/// assert_ne!(colour, Kind::Numeric);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Numeric,
    /// One of some values that have no order. A table holds the index of the level as a number.
    Nominal {
        /// The values, each once.
        levels: Vec<String>,
    },
}

/// A column: its name and the kind of its values.
///
/// ```
/// use udeed::data::{Column, Kind};
///
/// assert_eq!(Column::numeric("age").kind, Kind::Numeric);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name.
    pub name: String,
    /// Kind of its values.
    pub kind: Kind,
}

impl Column {
    /// A column of numbers.
    pub fn numeric(name: impl Into<String>) -> Self {
        Column { name: name.into(), kind: Kind::Numeric }
    }

    /// A column of values without an order.
    pub fn nominal(name: impl Into<String>, levels: Vec<String>) -> Self {
        Column { name: name.into(), kind: Kind::Nominal { levels } }
    }
}

/// How the columns of a table got their names, and so what a column that is not there means.
///
/// ```
/// use udeed::data::{Naming, Table};
///
/// let table = Table::from_rows(&[[1.0, 2.0]])?;
/// assert_eq!(table.naming(), Naming::Position { width: 2 });
/// assert_eq!(table.columns()[1].name, "2");
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Naming {
    /// The source names them.
    Given,
    /// They are numbered by their place, from 1.
    Position {
        /// Number of columns in the source, including those left out, without the labels.
        width: usize,
    },
    /// They are numbered by the source, and a number that does not occur is a column of zeros.
    Index,
}

/// Rows whose columns have names and kinds: what a file holds, before it is prepared for learning.
///
/// Values are numbers; a nominal column holds the index of the level, a missing value is NaN.
///
/// ```
/// use udeed::data::{Column, Dense, Table};
///
/// let columns = vec![
///     Column::numeric("age"),
///     Column::nominal("colour", vec!["blue".into(), "red".into()]),
/// ];
/// let table = Table::new(columns, Dense::new(2, 2, vec![31.0, 1.0, f64::NAN, 0.0])?)?;
/// assert_eq!(table.n_rows(), 2);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Shared by all tables that come of the same file: of many columns a copy would cost more than some rows.
    columns: Arc<[Column]>,
    naming: Naming,
    matrix: Matrix,
}

impl Table {
    /// Names the columns of rows.
    ///
    /// # Errors
    /// If there are more or fewer names than columns, a name occurs twice, a value is infinite, or a nominal value is
    /// not the index of a level.
    pub fn new(columns: Vec<Column>, matrix: impl Into<Matrix>) -> Result<Self> {
        let table = Table { columns: columns.into(), naming: Naming::Given, matrix: matrix.into() };
        table.check()?;
        Ok(table)
    }

    /// Takes rows of numbers; the columns are called `1`, `2`, ...
    ///
    /// # Errors
    /// If a value is infinite, or sparse rows are so wide that the names of their columns would not fit into half of the memory.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let table = Table::from_matrix(Csr::new(4, vec![0, 1], vec![3], vec![2.5])?)?;
    /// assert_eq!(table.columns().len(), 4);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn from_matrix(matrix: impl Into<Matrix>) -> Result<Self> {
        let matrix = matrix.into();
        check_width(matrix.rows().n_columns())?;
        let columns = (1..=matrix.rows().n_columns()).map(|i| Column::numeric(i.to_string()));
        let mut table = Table::new(columns.collect(), matrix)?;
        table.naming = Naming::Position { width: table.columns.len() };
        Ok(table)
    }

    /// Copies rows of numbers; the columns are called `1`, `2`, ...
    ///
    /// # Errors
    /// If the rows differ in length or a value is infinite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let n_columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * n_columns);
        for (i, row) in rows.iter().enumerate() {
            if row.as_ref().len() != n_columns {
                return Err(Error::input(
                    Place::new("the rows").row(i as u64 + 1),
                    format!("{} values", row.as_ref().len()),
                    format!("{n_columns}, as in the first row"),
                ));
            }
            values.extend_from_slice(row.as_ref());
        }
        Table::from_matrix(Dense::new(rows.len(), n_columns, values)?)
    }

    /// Makes a table of values that a reader has checked.
    pub(crate) fn from_reader(columns: Arc<[Column]>, naming: Naming, matrix: Matrix) -> Self {
        debug_assert_eq!(columns.len(), matrix.rows().n_columns());
        Table { columns, naming, matrix }
    }

    /// The same rows, sparse.
    pub(crate) fn into_sparse(self) -> Self {
        Table { matrix: self.matrix.to_sparse().into(), ..self }
    }

    fn check(&self) -> Result<()> {
        let rows = self.matrix.rows();
        let place = || Place::new(Place::TABLE);
        if self.columns.len() != rows.n_columns() {
            return Err(Error::input(
                place(),
                format!("{} column names", self.columns.len()),
                format!("{}, one for each column", rows.n_columns()),
            ));
        }
        check_names(&self.columns, place)?;
        let stored = match &self.matrix {
            Matrix::Dense(dense) => dense.values(),
            Matrix::Sparse(csr) => csr.parts().2,
        };
        // Not `any`, which would stop at the first and so cannot use vectors.
        let are_finite = stored.iter().fold(true, |all, x| all & !x.is_infinite());
        if are_finite && self.columns.iter().all(|column| column.kind == Kind::Numeric) {
            return Ok(());
        }
        for i in 0..rows.n_rows() {
            for (j, x) in rows.row(i).iter() {
                let column = &self.columns[j];
                let here = || place().row(i as u64 + 1).column(&column.name);
                if x.is_infinite() {
                    return Err(Error::input(here(), x.to_string(), "a finite number, or NaN where it is missing"));
                }
                if let Kind::Nominal { levels } = &column.kind {
                    let is_level = x.is_nan() || (x >= 0.0 && x.fract() == 0.0 && x < levels.len() as f64);
                    if !is_level {
                        return Err(Error::input(
                            here(),
                            x.to_string(),
                            format!("the index of one of {} levels", levels.len()),
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn shared_columns(&self) -> &Arc<[Column]> {
        &self.columns
    }

    /// How the columns got their names.
    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// The values.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.matrix.rows().n_rows()
    }

    /// The given rows, in the given order.
    ///
    /// # Panics
    /// If an index is not that of a row.
    pub fn select(&self, indices: &[usize]) -> Self {
        Table { columns: self.columns.clone(), naming: self.naming, matrix: self.matrix.select(indices) }
    }

    /// The same table with other columns: matched by name, in the given order. Further columns are left out. A value
    /// that is not among the given levels of a nominal column gets the index after the last one.
    ///
    /// # Errors
    /// If a column is missing, or is nominal where numbers are wanted.
    pub(crate) fn conform(&self, wanted: &Arc<[Column]>) -> Result<Cow<'_, Table>> {
        if self.columns == *wanted {
            return Ok(Cow::Borrowed(self));
        }
        let sources = self.sources(wanted)?;
        let mut places: Vec<Option<(usize, &Recode)>> = vec![None; self.columns.len()];
        for (to, (from, recode)) in sources.iter().enumerate() {
            if let Some(from) = from {
                places[*from] = Some((to, recode));
            }
        }
        let rows = self.matrix.rows();
        let moved = |i: usize| {
            let place = |(j, x): (usize, f64)| places[j].map(|(to, recode)| (to, recode.apply(x)));
            rows.row(i).iter().filter_map(place).collect::<Vec<_>>()
        };
        let matrix = if self.matrix.is_sparse() || spreads(self.naming, &self.columns, wanted) {
            // What is not stored means level 0 of the own levels, which may be another one of the wanted.
            let zero =
                |(to, (from, recode)): (usize, &(Option<usize>, Recode))| (from.is_some(), to, recode.apply(0.0));
            let implied = sources.iter().enumerate().map(zero).filter(|&(is_here, _, x)| is_here && x != 0.0);
            let implied: Vec<(usize, f64)> = implied.map(|(_, to, x)| (to, x)).collect();
            let mut sparse = Csr::empty(wanted.len());
            for i in 0..rows.n_rows() {
                let mut entries = moved(i);
                let stored: HashSet<usize> = match implied.is_empty() {
                    true => HashSet::new(),
                    false => entries.iter().map(|&(j, _)| j).collect(),
                };
                entries.extend(implied.iter().filter(|(to, _)| !stored.contains(to)));
                entries.sort_unstable_by_key(|&(j, _)| j);
                sparse.push_row(entries);
            }
            Matrix::Sparse(sparse)
        } else {
            let mut dense = Dense::zeros(rows.n_rows(), wanted.len())?;
            for i in 0..rows.n_rows() {
                let out = dense.row_mut(i);
                moved(i).into_iter().for_each(|(j, x)| out[j] = x);
            }
            Matrix::Dense(dense)
        };
        Ok(Cow::Owned(Table::from_reader(Arc::clone(wanted), self.naming, matrix)))
    }

    /// For each wanted column where it stands here (nowhere: all zeros) and what becomes of its values.
    fn sources(&self, wanted: &[Column]) -> Result<Vec<(Option<usize>, Recode)>> {
        let index: HashMap<&str, usize> = self.columns.iter().zip(0..).map(|(c, i)| (c.name.as_str(), i)).collect();
        wanted
            .iter()
            .map(|column| match index.get(column.name.as_str()) {
                Some(&from) => Ok((Some(from), Recode::new(&self.columns[from], column)?)),
                None if self.naming == Naming::Index && column.kind == Kind::Numeric && is_index(&column.name) => {
                    Ok((None, Recode::Keep))
                }
                None => {
                    let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
                    Err(missing_column(Place::TABLE, &column.name, &names, wanted, self.naming))
                }
            })
            .collect()
    }

    /// The rows of another table below the own ones, its columns matched by name. New levels of nominal columns are
    /// added, in order where those of both tables are sorted.
    ///
    /// # Errors
    /// If the other table lacks a column, or has another kind of values in it.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let mut table = Table::from_rows(&[[1.0, 2.0]])?;
    /// table.append(&Table::from_rows(&[[3.0, 4.0], [5.0, 6.0]])?)?;
    /// assert_eq!(table.n_rows(), 3);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn append(&mut self, other: &Table) -> Result<()> {
        let columns = self.united(&other.columns, other.naming);
        let below = other.conform(&columns)?;
        let above = self.conform(&columns)?;
        let matrix = above.matrix.stack(&below.matrix)?;
        *self = Table::from_reader(columns, self.naming, matrix);
        Ok(())
    }

    /// Bytes that the rows of another table take below its own, or while they are converted if that is more.
    pub(crate) fn size_below(&self, other: &Table) -> u64 {
        let columns = self.united(&other.columns, other.naming);
        let is_sparse = |table: &Table| table.matrix.is_sparse() || spreads(table.naming, &table.columns, &columns);
        let (n_rows, stored) = (other.n_rows(), other.matrix.size());
        let levels = columns.iter().filter_map(|column| match &column.kind {
            Kind::Numeric => None,
            Kind::Nominal { levels } => Some(levels.len()),
        });
        if is_sparse(self) && is_sparse(other) {
            // A level that is not stored there may have to be here.
            return stored.saturating_add(sparse_size(n_rows, n_rows.saturating_mul(levels.count())));
        }
        let (n_nominal, n_levels) = levels.fold((0, 0), |(count, sum), levels| (count + 1, sum + levels));
        let n_features = columns.len() - n_nominal + n_levels;
        dense_size(n_rows, columns.len().max(n_features))
    }

    /// The columns of this table with the levels that others add, sorted where those of both are; of numbered ones also those
    /// that only others have.
    pub(crate) fn united(&self, others: &Arc<[Column]>, naming: Naming) -> Arc<[Column]> {
        if self.columns == *others {
            return Arc::clone(&self.columns);
        }
        let mut columns = self.columns.to_vec();
        if self.naming == Naming::Index && naming == Naming::Index {
            // A number that occurs only in the other file is a column of zeros here.
            let own: HashSet<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
            columns.extend(others.iter().filter(|c| !own.contains(c.name.as_str())).cloned());
            columns.sort_by_key(|c| c.name.parse::<u64>().unwrap_or(u64::MAX));
        }
        let others: HashMap<&str, &Kind> = others.iter().map(|c| (c.name.as_str(), &c.kind)).collect();
        for column in &mut columns {
            if let (Kind::Nominal { levels }, Some(Kind::Nominal { levels: more })) =
                (&mut column.kind, others.get(column.name.as_str()))
            {
                // As if all rows were read from one file. Of sparse rows the first level is what is not stored.
                let in_order = !self.matrix.is_sparse() && levels.is_sorted() && more.is_sorted();
                let known: HashSet<String> = levels.iter().cloned().collect();
                levels.extend(more.iter().filter(|level| !known.contains(*level)).cloned());
                if in_order {
                    levels.sort_unstable();
                }
            }
        }
        columns.into()
    }
}

/// Whether dense rows become sparse when they get the wanted columns: a few numbered columns among very many, of which
/// the others are zero and need no memory.
pub(crate) fn spreads(naming: Naming, own: &[Column], wanted: &[Column]) -> bool {
    own != wanted && naming == Naming::Index && wanted.len() / 6 > own.len()
}

impl From<Table> for Matrix {
    fn from(table: Table) -> Self {
        table.matrix
    }
}

/// Change of a column's values when it takes the levels of another.
enum Recode {
    Keep,
    Levels(Vec<f64>),
}

impl Recode {
    fn new(own: &Column, wanted: &Column) -> Result<Self> {
        match (&own.kind, &wanted.kind) {
            (Kind::Nominal { levels }, Kind::Nominal { levels: new }) if levels == new => Ok(Recode::Keep),
            (Kind::Nominal { levels }, Kind::Nominal { levels: new }) => {
                let places: HashMap<&str, usize> = new.iter().zip(0..).map(|(l, i)| (l.as_str(), i)).collect();
                let unseen = new.len();
                let code = |level: &String| *places.get(level.as_str()).unwrap_or(&unseen) as f64;
                Ok(Recode::Levels(levels.iter().map(code).collect()))
            }
            (Kind::Numeric, Kind::Numeric) => Ok(Recode::Keep),
            (Kind::Nominal { levels }, Kind::Numeric) => Err(Error::input(
                Place::new(Place::TABLE).column(&own.name),
                format!("text such as {}", quoted(levels.first().map_or("", String::as_str))),
                "numbers",
            )),
            (Kind::Numeric, Kind::Nominal { levels }) => Err(Error::input(
                Place::new(Place::TABLE).column(&own.name),
                "numbers",
                format!("values such as {}", quoted(levels.first().map_or("", String::as_str))),
            )
            .with_hint(Hint::Nominal { column: own.name.as_str().into() })),
        }
    }

    fn apply(&self, x: f64) -> f64 {
        match self {
            Recode::Levels(places) if !x.is_nan() => places.get(x as usize).copied().unwrap_or(x),
            _ => x,
        }
    }
}

/// A column that is not there, with what its name suggests about the header.
pub(crate) fn missing_column<S: AsRef<str>>(
    source: &str,
    missing: &str,
    found: &[S],
    expected: &[Column],
    naming: Naming,
) -> Error {
    let numbered = missing.parse::<u32>().is_ok();
    let hint = match naming {
        Naming::Position { .. } => Some(Hint::UnnamedColumns),
        Naming::Index => Some(Hint::IndexedColumns),
        Naming::Given if numbered => Some(Hint::NumberedColumns),
        Naming::Given => None,
    };
    Error::Columns {
        place: source.to_owned(),
        missing: missing.to_owned(),
        found: listed(found.iter().map(AsRef::as_ref)),
        expected: listed(expected.iter().map(|column| &column.name)),
        hint,
    }
}

/// Refuses columns whose names and statistics would take more than half of the memory.
fn check_width(n_columns: usize) -> Result<()> {
    const OF_COLUMN: u64 = 256;
    let bytes = (n_columns as u64).saturating_mul(OF_COLUMN);
    // Few columns fit into any machine, and asking it takes longer than to name them.
    if bytes < MUCH_MEMORY {
        return Ok(());
    }
    check_memory(bytes, half_of_memory(), Hint::Sparse, || format!("the names of {n_columns} columns"))
}

/// Refuses a name that occurs twice.
pub(crate) fn check_names(columns: &[Column], place: impl Fn() -> Place) -> Result<()> {
    let mut seen = HashMap::new();
    for (i, column) in columns.iter().enumerate() {
        if let Some(first) = seen.insert(column.name.as_str(), i) {
            return Err(Error::input(
                place(),
                format!("the name {} in columns {} and {}", quoted(&column.name), first + 1, i + 1),
                "a name for each column",
            ));
        }
    }
    Ok(())
}

fn is_index(name: &str) -> bool {
    name.parse::<u32>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(levels: &[&str], values: Vec<f64>) -> Table {
        let levels = levels.iter().map(ToString::to_string).collect();
        let n = values.len();
        Table::new(vec![Column::nominal("colour", levels)], Dense::new(n, 1, values).unwrap()).unwrap()
    }

    #[test]
    fn levels_are_matched_by_name_and_unseen_ones_marked() {
        let train = colours(&["blue", "red"], vec![0.0, 1.0]);
        let test = colours(&["green", "red"], vec![0.0, 1.0, f64::NAN]);
        let conformed = test.conform(&train.columns).unwrap();
        let values = conformed.matrix().to_dense().unwrap().values().to_vec();
        assert_eq!(&values[..2], [2.0, 1.0]);
        assert!(values[2].is_nan());
    }

    #[test]
    fn a_sparse_level_that_is_not_stored_is_recoded_too() {
        let sparse = |levels: &[&str]| {
            let levels = levels.iter().map(ToString::to_string).collect();
            let rows = Csr::new(1, vec![0, 0, 1], vec![0], vec![1.0]).unwrap();
            Table::new(vec![Column::nominal("colour", levels)], rows).unwrap()
        };
        let conformed = sparse(&["red", "blue"]);
        let conformed = conformed.conform(&sparse(&["blue", "red"]).columns).unwrap();
        assert_eq!(conformed.matrix().to_dense().unwrap().values(), [1.0, 0.0]);
    }

    #[test]
    fn appending_adds_levels() {
        let mut table = colours(&["blue"], vec![0.0]);
        table.append(&colours(&["red"], vec![0.0])).unwrap();
        assert_eq!(table.matrix().to_dense().unwrap().values(), [0.0, 1.0]);
    }

    #[test]
    fn a_missing_column_is_named() {
        let named = |name: &str| Table::new(vec![Column::numeric(name)], Dense::new(1, 1, vec![0.0]).unwrap()).unwrap();
        let error = named("b").conform(&named("a").columns).unwrap_err();
        assert_eq!(error.to_string(), "the table: column `a` is missing: found `b`, expected `a`");
    }

    #[test]
    fn infinity_and_impossible_levels_are_refused() {
        assert!(Table::from_rows(&[[1.0, f64::NAN]]).is_ok());
        let error = Table::from_rows(&[[1.0, f64::NAN], [2.0, f64::NEG_INFINITY]]).unwrap_err();
        assert!(error.to_string().starts_with("the table, row 2, column `2`"), "{error}");
        assert!(Table::from_matrix(Csr::new(2, vec![0, 1], vec![1], vec![f64::INFINITY]).unwrap()).is_err());
        let columns = vec![Column::nominal("c", vec!["x".into()])];
        assert!(Table::new(columns, Dense::new(1, 1, vec![1.0]).unwrap()).is_err());
    }
}

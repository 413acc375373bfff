//! Values between delimiters, one row a line.
//!
//! The kind of a column follows from its first value that is not missing: a number makes it numeric, text nominal. A
//! column in which both occur is refused, because a typing error among numbers looks just like that.

use ::csv::{ByteRecord, ReaderBuilder};

use crate::data::{Column, Dense, Dictionary, Kind, Labels, Matrix, check_names};
use crate::error::{Error, Place, Result, quoted};
use crate::file::{Source, checked_utf8};
use crate::format::reader::{Feature, Plan, Reader, Sheet, Wanted, is_missing, parse_number};

pub(super) fn read(options: &Reader, source: Source<'_>, delimiter: u8) -> Result<Sheet> {
    let place = source.place();
    let (name, text, gzipped) = source.into_parts();
    let mut records = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text);
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| {
        records.read_byte_record(record).map_err(|error| match error.into_kind() {
            ::csv::ErrorKind::Io(error) => Source::failed(&name, gzipped, error),
            other => Error::input(Place::new(&name), format!("{other:?}"), "CSV"),
        })
    };
    if !next(&mut record)? {
        return Err(Error::input(place, "an empty file", "a header and rows"));
    }
    let names =
        if options.header { header(&record, &place)? } else { (1..=record.len()).map(|i| i.to_string()).collect() };
    let plan = options.plan(&names, || place.clone()).map_err(|error| hint_delimiter(error, &names, delimiter))?;
    let mut rows = RowsBuilder::new(options, &plan, names.len(), place.clone());
    if !options.header {
        rows.push(&record)?;
    }
    while next(&mut record)? {
        rows.push(&record)?;
    }
    if rows.n_rows == 0 {
        return Err(Error::input(place, "a header and no rows", "rows"));
    }
    let label = plan.label.map(|i| names[i].clone());
    rows.finish(options, &plan, label)
}

fn header(record: &ByteRecord, place: &Place) -> Result<Vec<String>> {
    let here = || place.clone().line(1);
    let mut names = Vec::with_capacity(record.len());
    for (i, cell) in record.iter().enumerate() {
        let mut name = checked_utf8(cell, here)?;
        if i == 0 {
            name = name.strip_prefix('\u{feff}').unwrap_or(name);
        }
        names.push(name.trim().to_owned());
    }
    let columns: Vec<Column> = names.iter().map(Column::numeric).collect();
    check_names(&columns, here)
        .map_err(|error| error.with_hint("if the first line is no header, say `--no-header`"))?;
    Ok(names)
}

fn hint_delimiter(error: Error, names: &[String], delimiter: u8) -> Error {
    match names {
        [only] => match [';', '\t', ',', '|'].into_iter().find(|&c| c != delimiter as char && only.contains(c)) {
            Some('\t') => error.with_hint("the header holds tabs: say `--delimiter tab`"),
            Some(other) => error.with_hint(format!("the header holds `{other}`: say `--delimiter '{other}'`")),
            None => error,
        },
        _ => error,
    }
}

/// The rows read so far.
struct RowsBuilder<'a> {
    options: &'a Reader,
    plan: &'a Plan,
    width: usize,
    place: Place,
    columns: Vec<ColumnBuilder>,
    n_rows: usize,
    values: Vec<f64>,
    classes: Dictionary,
    labels: Vec<Option<u32>>,
}

impl<'a> RowsBuilder<'a> {
    fn new(options: &'a Reader, plan: &'a Plan, width: usize, place: Place) -> Self {
        RowsBuilder {
            options,
            plan,
            width,
            place,
            columns: plan.features.iter().map(ColumnBuilder::new).collect(),
            n_rows: 0,
            values: Vec::new(),
            classes: Dictionary::default(),
            labels: Vec::new(),
        }
    }

    fn push(&mut self, record: &ByteRecord) -> Result<()> {
        let line = record.position().map_or(0, ::csv::Position::line);
        let here = || self.place.clone().line(line);
        if record.len() != self.width {
            return Err(Error::input(
                here(),
                format!("{} cells", record.len()),
                format!("{}, as in the first line", self.width),
            ));
        }
        for (feature, column) in self.plan.features.iter().zip(&mut self.columns) {
            let here = || self.place.clone().line(line).column(&feature.name);
            let cell = checked_utf8(&record[feature.source], here)?.trim();
            self.values.push(column.value(cell, line).map_err(|wrong| wrong.at(here(), feature))?);
        }
        if let Some(label) = self.plan.label {
            let cell = checked_utf8(&record[label], here)?.trim();
            let code = (!self.options.is_unlabeled(cell)).then(|| self.classes.code(cell));
            self.labels.push(code);
        }
        self.n_rows += 1;
        Ok(())
    }

    fn finish(mut self, options: &Reader, plan: &Plan, label: Option<String>) -> Result<Sheet> {
        let width = self.columns.len();
        let mut columns = Vec::with_capacity(width);
        for (j, (column, feature)) in self.columns.into_iter().zip(&plan.features).enumerate() {
            let (kind, places) = column.finish();
            if let Some(places) = places {
                for x in self.values[j..].iter_mut().step_by(width).filter(|x| !x.is_nan()) {
                    *x = places[*x as usize];
                }
            }
            columns.push(Column { name: feature.name.clone(), kind });
        }
        let labels = match plan.label {
            Some(_) => Labels::from_codes(self.classes.into_names(), self.labels),
            None => Labels::unlabeled(self.n_rows),
        };
        let matrix = Matrix::Dense(Dense::new(self.n_rows, width, self.values)?);
        Ok(Sheet { table: options.table(columns, plan.naming, matrix)?, labels, label })
    }
}

/// What is known of a column so far. A kind that was found, not asked for, comes with the line that told it.
enum ColumnBuilder {
    Unknown,
    Numeric { told: Option<(u64, String)> },
    Nominal { told: Option<(u64, String)>, levels: Dictionary },
}

/// Why a cell cannot stand in its column.
enum Wrong {
    Cell(String, &'static str),
    Mixed { cell: String, other: String, line: u64 },
}

impl Wrong {
    fn at(self, place: Place, feature: &Feature) -> Error {
        match self {
            Wrong::Cell(found, expected) => Error::input(place, found, expected),
            Wrong::Mixed { cell, other, line } => {
                let (found, expected) = (quoted(&cell), quoted(&other));
                let what = if cell.parse::<f64>().is_ok() { "text" } else { "a number" };
                Error::input(place, found, format!("{what}, like {expected} in line {line}")).with_hint(format!(
                    "if the column holds names, say `--nominal {0}`; to leave it out, `--drop {0}`",
                    feature.name
                ))
            }
        }
    }
}

impl ColumnBuilder {
    fn new(feature: &Feature) -> Self {
        match feature.kind {
            None => ColumnBuilder::Unknown,
            Some(Wanted::Numeric) => ColumnBuilder::Numeric { told: None },
            Some(Wanted::Nominal) => ColumnBuilder::Nominal { told: None, levels: Dictionary::default() },
        }
    }

    fn value(&mut self, cell: &str, line: u64) -> std::result::Result<f64, Wrong> {
        if is_missing(cell) {
            return Ok(f64::NAN);
        }
        let is_number = cell.parse::<f64>().is_ok();
        if matches!(self, ColumnBuilder::Unknown) {
            let told = Some((line, cell.to_owned()));
            *self = match is_number {
                true => ColumnBuilder::Numeric { told },
                false => ColumnBuilder::Nominal { told, levels: Dictionary::default() },
            };
        }
        match self {
            ColumnBuilder::Nominal { told: Some((line, other)), .. } if is_number => {
                Err(Wrong::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnBuilder::Numeric { told: Some((line, other)) } if !is_number => {
                Err(Wrong::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnBuilder::Nominal { levels, .. } => Ok(f64::from(levels.code(cell))),
            _ => parse_number(cell).map_err(|(found, expected)| Wrong::Cell(found, expected)),
        }
    }

    /// The kind, and for a nominal column where its levels went when they were sorted: the order of the rows shall not
    /// decide the order of the features.
    fn finish(self) -> (Kind, Option<Vec<f64>>) {
        let ColumnBuilder::Nominal { levels, .. } = self else {
            return (Kind::Numeric, None);
        };
        let names = levels.into_names();
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by(|&a, &b| names[a].cmp(&names[b]));
        let mut places = vec![0.0; names.len()];
        for (place, &level) in order.iter().enumerate() {
            places[level] = place as f64;
        }
        let levels = order.into_iter().map(|level| names[level].clone()).collect();
        (Kind::Nominal { levels }, Some(places))
    }
}

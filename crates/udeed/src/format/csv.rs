//! Values between delimiters, one row a line.
//!
//! The kind of a column follows from its first value that is not missing: a number makes it numeric, text nominal. A
//! column in which both occur is refused, because a typing error among numbers looks just like that.

use ::csv::{ByteRecord, ReaderBuilder};

use crate::data::{Column, Dense, Dictionary, Kind, Labels, Matrix, check_names};
use crate::error::{Error, Place, Result, quoted, shown};
use crate::file::{Source, checked_utf8};
use crate::format::reader::{Feature, Plan, Reader, Sheet, Wanted, is_missing, parse_number};

pub(super) fn read(options: &Reader, source: Source<'_>, delimiter: u8) -> Result<Sheet> {
    let place = source.place();
    let (name, text, gzipped) = source.into_parts();
    let mut records = ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text);
    let mut record = ByteRecord::new();
    // Whether there was another record, and the line it begins in.
    let mut next = |record: &mut ByteRecord| {
        let read = records.read_byte_record(record).map_err(|error| match error.into_kind() {
            ::csv::ErrorKind::Io(error) => Source::failed(&name, gzipped, error),
            other => Error::input(Place::new(&name), format!("{other:?}"), "CSV"),
        })?;
        Ok(read.then(|| first_line(record, records.position().line())))
    };
    let Some(line) = next(&mut record)? else {
        return Err(Error::input(place, "an empty file", "a header and rows"));
    };
    let names = if options.header {
        header(&record, &place.clone().line(line))?
    } else {
        (1..=record.len()).map(|i| i.to_string()).collect()
    };
    let plan = options
        .plan(&names, || place.clone())
        .map_err(|error| hint_header(error, &names, delimiter, options.header))?;
    if plan.features.is_empty() {
        let error = Error::input(place, "no column beside the labels", "at least one to learn from");
        return Err(hint_header(error, &names, delimiter, options.header));
    }
    let mut rows = RowsBuilder::new(options, &plan, &names, place.clone());
    if !options.header {
        rows.push(&record, line)?;
    }
    while let Some(line) = next(&mut record)? {
        rows.push(&record, line)?;
    }
    if rows.n_rows == 0 {
        return Err(Error::input(place, "a header and no rows", "rows"));
    }
    let label = plan.label.map(|i| names[i].clone());
    rows.finish(options, &plan, label)
}

/// The line that a record begins in, from the line where the reader stood before it and where it stands after it. Blank
/// lines before a record are read with it, and it may hold the ends of lines itself.
fn first_line(record: &ByteRecord, after: u64) -> u64 {
    let before = record.position().map_or(1, ::csv::Position::line);
    let inside: usize = record.iter().map(|cell| cell.iter().filter(|&&byte| byte == b'\n').count()).sum();
    after.saturating_sub(inside as u64 + 1).max(before)
}

fn header(record: &ByteRecord, place: &Place) -> Result<Vec<String>> {
    let here = || place.clone();
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

/// What may be wrong with the way the header was read, where a column was not found in it.
fn hint_header(error: Error, names: &[String], delimiter: u8, header: bool) -> Error {
    let numbers = names.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    if header && numbers > 1 && error.hint().is_none() {
        return error.with_hint("the first line holds numbers: if it is no header, say `--no-header`");
    }
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
    label_name: String,
    columns: Vec<ColumnBuilder>,
    n_rows: usize,
    values: Vec<f64>,
    classes: Dictionary,
    labels: Vec<Option<u32>>,
}

impl<'a> RowsBuilder<'a> {
    fn new(options: &'a Reader, plan: &'a Plan, names: &[String], place: Place) -> Self {
        RowsBuilder {
            options,
            plan,
            width: names.len(),
            place,
            label_name: plan.label.map(|i| names[i].clone()).unwrap_or_default(),
            columns: plan.features.iter().map(ColumnBuilder::new).collect(),
            n_rows: 0,
            values: Vec::new(),
            classes: Dictionary::default(),
            labels: Vec::new(),
        }
    }

    fn push(&mut self, record: &ByteRecord, line: u64) -> Result<()> {
        let here = || self.place.clone().line(line);
        if record.len() != self.width {
            let error = Error::input(
                here(),
                format!("{} cells", record.len()),
                format!("{}, as in the first line", self.width),
            );
            let runs_on = record.iter().any(|cell| cell.contains(&b'\n'));
            let hint = "a cell holds the end of a line: is there a quote that never closes?";
            return Err(if runs_on { error.with_hint(hint) } else { error });
        }
        for (feature, column) in self.plan.features.iter().zip(&mut self.columns) {
            let here = || self.place.clone().line(line).column(&feature.name);
            let cell = checked_utf8(&record[feature.source], here)?.trim();
            self.values.push(column.value(cell, line).map_err(|wrong| wrong.at(here(), feature))?);
        }
        if let Some(label) = self.plan.label {
            let cell = checked_utf8(&record[label], || here().column(&self.label_name))?.trim();
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
            Wrong::Cell(found, expected) => {
                let first = place.line == Some(1);
                let error = Error::input(place, found, expected);
                if first {
                    error.with_hint("if the first line is a header, the columns have names: the model has none")
                } else {
                    error
                }
            }
            Wrong::Mixed { cell, other, line } => {
                let (found, expected) = (quoted(&cell), quoted(&other));
                let is_number = cell.parse::<f64>().is_ok();
                let what = if is_number { "text" } else { "a number" };
                let hint = match line {
                    1 if is_number => "the first line looks like a header: leave `--no-header` away".to_owned(),
                    _ => format!(
                        "if the column holds names, say `--nominal {0}`; to leave it out, `--drop {0}`",
                        shown(&feature.name)
                    ),
                };
                Error::input(place, found, format!("{what}, like {expected} in line {line}")).with_hint(hint)
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
        let asked_for = matches!(self, ColumnBuilder::Nominal { told: None, .. });
        if !is_number && !asked_for && cell.replacen(',', ".", 1).parse::<f64>().is_ok() {
            return Err(Wrong::Cell(quoted(cell), "a number with a decimal point"));
        }
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

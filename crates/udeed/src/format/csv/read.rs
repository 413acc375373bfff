//! Reading of CSV rows.
//!
//! The kind of a column follows from its first value that is not missing: a number makes it numeric, text nominal. A
//! column in which both occur is refused, because a typing error among numbers looks just like that.

use std::sync::Arc;

use crate::data::{Column, Dense, Dictionary, Kind, Renumbering, Table, check_names, means_missing};
use crate::error::{Error, Hint, Place, Result};
use crate::format::cells::is_missing;
use crate::format::chunk_labels::ChunkLabels;
use crate::format::chunks::{Chunk, Chunks, Ends, RecordEnds};
use crate::format::column_plan::{ColumnOptions, ColumnPlan, Feature, FeatureKind};
use crate::format::csv::tokenizer::{Joined, Tokenizer};
use crate::format::csv::usual_delimiter;
use crate::format::number::{leading_number, parse_number};
use crate::format::options::ReadOptions;
use crate::format::pipeline::{Collector, Parser, read_all};
use crate::format::sink::{RowSink, Schema};
use crate::format::source::{Source, checked_utf8};
use crate::text::quoted;

pub(super) fn read(options: &ReadOptions, source: Source<'_>, rows: &mut dyn RowSink) -> Result<Schema> {
    let place = source.place();
    let delimiter = options.delimiter.unwrap_or_else(|| usual_delimiter(&place.source));
    let columns = &options.columns;
    let mut chunks = Chunks::new(source, Ends::Records(RecordEnds::new(delimiter, options.largest_cell)), options);
    let Some((names, first)) = first_record(options, &mut chunks, delimiter)? else {
        return Err(Error::input(place, "an empty file", "a header and rows"));
    };
    let plan = columns
        .plan(&names, || place.clone())
        .map_err(|error| hint_header(error, &names, delimiter, columns.header))?;
    if plan.features.is_empty() {
        let error = Error::input(place, "no column beside the labels", "at least one to learn from");
        return Err(hint_header(error, &names, delimiter, columns.header));
    }
    let label = plan.label.map(|i| names[i].clone());
    let parser = CsvParser::new(columns, &plan, &names, place.clone(), delimiter);
    let mut table = CsvRows::new(&parser, rows);
    read_all(Some(first), &mut chunks, &parser, &mut table)?;
    if table.rows.n_rows() == 0 {
        return Err(Error::input(place, "a header and no rows", "rows"));
    }
    Ok(table.finish(&plan, label))
}

/// The names of the columns, and the chunk in which the rows begin.
fn first_record(options: &ReadOptions, chunks: &mut Chunks<'_>, delimiter: u8) -> Result<Option<(Vec<String>, Chunk)>> {
    let mut blank = None;
    while let Some(mut chunk) = chunks.next()? {
        let mut record = Tokenizer::new(chunk.text(), chunk.line(), delimiter, options.most_columns);
        let next = record.next();
        blank = blank.or(record.blank_line());
        let Some(line) = next else { continue };
        check_quotes(&record, || chunks.place())?;
        options.check_width(record.len(), || chunks.place().line(line))?;
        if !options.columns.header {
            check_blank(&chunks.place(), record.len(), blank)?;
            let names = (1..=record.len()).map(|i| i.to_string()).collect();
            return Ok(Some((names, chunk)));
        }
        let names = column_names(&record, &chunks.place().line(line))?;
        let (bytes, line) = record.position();
        chunk.skip(bytes, line);
        return Ok(Some((names, chunk)));
    }
    Ok(None)
}

/// Refuses a blank line where it may be a row: one whose only cell is missing.
fn check_blank(place: &Place, n_columns: usize, line: Option<u64>) -> Result<()> {
    match line {
        Some(line) if n_columns == 1 => {
            let place = place.clone().line(line);
            Err(Error::input(place, "a blank line", "a cell of the only column").with_hint(Hint::BlankLine))
        }
        _ => Ok(()),
    }
}

/// Refuses a cell that most likely holds several rows: its quotes hold the end of a line, and text follows them.
fn check_quotes(record: &Tokenizer<'_>, place: impl Fn() -> Place) -> Result<()> {
    let Some(Joined { line, cell }) = record.joined_cell() else { return Ok(()) };
    let found = format!("a quote in cell {cell} that closes in a later line, with text after it");
    Err(Error::input(place().line(line), found, "a closing quote at the end of the cell")
        .with_hint(Hint::UnclosedQuote))
}

/// The names in a header.
fn column_names(record: &Tokenizer<'_>, place: &Place) -> Result<Vec<String>> {
    let here = || place.clone();
    let mut names = Vec::with_capacity(record.len());
    for (i, cell) in record.cells().enumerate() {
        let mut name = checked_utf8(cell, here)?;
        if i == 0 {
            name = name.strip_prefix('\u{feff}').unwrap_or(name);
        }
        names.push(name.trim().to_owned());
    }
    let columns: Vec<Column> = names.iter().map(Column::numeric).collect();
    check_names(&columns, here).map_err(|error| error.with_hint(Hint::NoHeader))?;
    Ok(names)
}

/// Adds a hint to the error that a column was not found: the file may have no header, or another delimiter.
fn hint_header(error: Error, names: &[String], delimiter: u8, header: bool) -> Error {
    let numbers = names.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    if header && numbers > 1 && error.hint().is_none() {
        return error.with_hint(Hint::NumericHeader);
    }
    match names {
        [only] => match [';', '\t', ',', '|'].into_iter().find(|&c| c != delimiter as char && only.contains(c)) {
            Some(found) => error.with_hint(Hint::Delimiter { found }),
            None => error,
        },
        _ => error,
    }
}

/// The kind of a column as far as it is known. A kind that follows from a cell comes with the line and text of that cell.
#[derive(Clone)]
enum ColumnKind {
    Unknown,
    Numeric { evidence: Option<(u64, String)> },
    Nominal { evidence: Option<(u64, String)> },
}

/// Parses chunks into rows.
struct CsvParser<'a> {
    options: &'a ColumnOptions,
    plan: &'a ColumnPlan,
    /// The role of each column of the file.
    roles: Vec<Role>,
    place: Place,
    label_name: String,
    delimiter: u8,
}

/// The rows of a chunk. Levels have codes in the order in which they occur in it.
struct CsvPart {
    kinds: Arc<Vec<ColumnKind>>,
    values: Vec<f64>,
    levels: Vec<Option<Box<Dictionary>>>,
    labels: ChunkLabels,
    n_rows: usize,
}

impl Parser for CsvParser<'_> {
    type Context = Arc<Vec<ColumnKind>>;
    type Part = Result<CsvPart>;

    fn parse(&self, chunk: &Chunk, kinds: &Self::Context) -> Result<CsvPart> {
        let mut part = CsvPart {
            kinds: Arc::clone(kinds),
            values: Vec::new(),
            levels: vec![None; kinds.len()],
            labels: ChunkLabels::default(),
            n_rows: 0,
        };
        let mut tokens = Tokenizer::new(chunk.text(), chunk.line(), self.delimiter, self.roles.len());
        loop {
            let start = part.values.len();
            let rest = tokens.rest();
            if let Some(length) = self.parse_plain_row(&mut part, rest) {
                tokens.skip_line(length);
                if start == 0 {
                    // An estimate: the other rows are about as long.
                    part.values.reserve(rest.len() / length * part.values.len());
                }
                continue;
            }
            part.values.truncate(start);
            let next = tokens.next();
            check_blank(&self.place, self.roles.len(), tokens.blank_line())?;
            let Some(line) = next else { return Ok(part) };
            self.push(&mut part, &tokens, line)?;
        }
    }
}

/// The role of a column.
#[derive(Clone, Copy)]
enum Role {
    Feature(usize),
    Label,
    None,
}

impl<'a> CsvParser<'a> {
    fn new(options: &'a ColumnOptions, plan: &'a ColumnPlan, names: &[String], place: Place, delimiter: u8) -> Self {
        let mut roles = vec![Role::None; names.len()];
        for (j, feature) in plan.features.iter().enumerate() {
            roles[feature.source] = Role::Feature(j);
        }
        if let Some(label) = plan.label {
            roles[label] = Role::Label;
        }
        let label_name = plan.label.map(|i| names[i].clone()).unwrap_or_default();
        CsvParser { options, plan, roles, place, label_name, delimiter }
    }

    /// Fast path for a usual line: numbers in numeric columns, levels and labels that occurred before, no quotes. Returns
    /// the length of the line with its end. `None` means only that the line needs the slow path, which gives the same rows.
    fn parse_plain_row(&self, part: &mut CsvPart, text: &[u8]) -> Option<usize> {
        if !matches!(self.delimiter, b',' | b';' | b'\t' | b'|') || matches!(text.first(), None | Some(b'\n' | b'\r')) {
            return None;
        }
        let ends_cell = |byte: u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        let mut label = None;
        let mut at = 0;
        for (i, role) in self.roles.iter().enumerate() {
            if i > 0 {
                (text.get(at) == Some(&self.delimiter)).then_some(())?;
                at += 1;
            }
            let rest = &text[at..];
            if let Role::Feature(j) = *role
                && let ColumnKind::Numeric { .. } = part.kinds[j]
            {
                let (x, length) = match rest.first() {
                    Some(&byte) if ends_cell(byte) => (f64::NAN, 0),
                    _ => leading_number(rest)?,
                };
                part.values.push(x);
                at += length;
                continue;
            }
            let cell = &rest[..rest.iter().position(|&byte| ends_cell(byte)).unwrap_or(rest.len())];
            at += cell.len();
            match *role {
                _ if cell.first() == Some(&b'"') => return None,
                Role::Feature(j) => part.values.push(part.levels[j].as_ref()?.find(cell).map(f64::from)?),
                Role::Label => label = Some(part.labels.cached(cell)?),
                Role::None => {}
            }
        }
        let end = match text[at..] {
            [] => 0,
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        part.labels.codes.extend(label);
        part.n_rows += 1;
        Some(at + end)
    }

    /// Slow path for any record.
    fn push(&self, part: &mut CsvPart, record: &Tokenizer<'_>, line: u64) -> Result<()> {
        let here = || self.place.clone().line(line);
        check_quotes(record, || self.place.clone())?;
        let width = self.roles.len();
        if record.len() != width {
            let error =
                Error::input(here(), format!("{} cells", record.len()), format!("{width}, as in the first line"));
            let runs_on = record.cells().any(|cell| cell.contains(&b'\n'));
            return Err(if runs_on { error.with_hint(Hint::LineEndInCell) } else { error });
        }
        for (j, feature) in self.plan.features.iter().enumerate() {
            let cell = record.cell(feature.source);
            let here = || self.place.clone().line(line).column(&feature.name);
            let cell = checked_utf8(cell, here)?.trim();
            let x = part.value(j, cell, line).map_err(|error| error.at(here(), feature))?;
            part.values.push(x);
        }
        if let Some(label) = self.plan.label {
            let bytes = record.cell(label);
            let code = match part.labels.cached(bytes) {
                Some(code) => code,
                None => {
                    let cell = checked_utf8(bytes, || here().column(&self.label_name))?.trim();
                    (!self.options.is_unlabeled(cell)).then(|| part.labels.classes.code(cell))
                }
            };
            part.labels.cache(bytes, code);
            part.labels.codes.push(code);
        }
        part.n_rows += 1;
        Ok(())
    }
}

impl CsvPart {
    /// The columns with the levels that occur in this chunk.
    fn columns(&mut self, plan: &ColumnPlan) -> Vec<Column> {
        let column = |((kind, levels), feature): ((&ColumnKind, &mut Option<Box<Dictionary>>), &Feature)| match kind {
            ColumnKind::Nominal { .. } => {
                Column::nominal(&feature.name, levels.take().map_or_else(Vec::new, |levels| levels.into_names()))
            }
            _ => Column::numeric(&feature.name),
        };
        self.kinds.iter().zip(&mut self.levels).zip(&plan.features).map(column).collect()
    }

    /// The value of a cell in column `j`.
    fn value(&mut self, j: usize, cell: &str, line: u64) -> std::result::Result<f64, CellError> {
        if is_missing(cell) {
            return Ok(f64::NAN);
        }
        let is_number = cell.parse::<f64>().is_ok();
        let asked_for = matches!(self.kinds[j], ColumnKind::Nominal { evidence: None });
        if !is_number && !asked_for && cell.replacen(',', ".", 1).parse::<f64>().is_ok() {
            return Err(CellError::Cell(quoted(cell), "a number with a decimal point"));
        }
        if matches!(self.kinds[j], ColumnKind::Unknown) {
            // Of a long cell the beginning says enough.
            let evidence = Some((line, cell.chars().take(100).collect()));
            Arc::make_mut(&mut self.kinds)[j] =
                if is_number { ColumnKind::Numeric { evidence } } else { ColumnKind::Nominal { evidence } };
        }
        match &self.kinds[j] {
            ColumnKind::Nominal { evidence: Some((line, other)) } if is_number => {
                Err(CellError::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnKind::Numeric { evidence: Some((line, other)) } if !is_number => {
                Err(CellError::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnKind::Nominal { .. } => Ok(f64::from(self.levels[j].get_or_insert_default().code(cell))),
            _ => parse_number(cell).map_err(|(found, expected)| CellError::Cell(found, expected)),
        }
    }
}

/// What is wrong with a cell.
enum CellError {
    /// What was found and what was expected.
    Cell(String, &'static str),
    /// Text in a numeric column or a number in a nominal one, by another cell.
    Mixed { cell: String, other: String, line: u64 },
}

impl CellError {
    fn at(self, place: Place, feature: &Feature) -> Error {
        match self {
            CellError::Cell(found, expected) => {
                let first = place.line == Some(1);
                let error = Error::input(place, found, expected);
                if first { error.with_hint(Hint::HeaderForUnnamed) } else { error }
            }
            CellError::Mixed { cell, other, line } => {
                let (found, expected) = (quoted(&cell), quoted(&other));
                let is_number = cell.parse::<f64>().is_ok();
                let what = if is_number { "text" } else { "a number" };
                let hint = match line {
                    1 if is_number => Hint::Header,
                    _ if means_missing(&cell) || means_missing(&other) => {
                        Hint::MissingWord { column: feature.name.as_str().into() }
                    }
                    _ => Hint::NominalOrDrop { column: feature.name.as_str().into() },
                };
                Error::input(place, found, format!("{what}, like {expected} in line {line}")).with_hint(hint)
            }
        }
    }
}

/// The rows of all chunks so far.
struct CsvRows<'a> {
    parser: &'a CsvParser<'a>,
    kinds: Arc<Vec<ColumnKind>>,
    levels: Vec<Option<Box<Dictionary>>>,
    classes: Dictionary,
    rows: &'a mut dyn RowSink,
}

impl<'a> CsvRows<'a> {
    fn new(parser: &'a CsvParser<'a>, rows: &'a mut dyn RowSink) -> Self {
        let kind = |feature: &Feature| match feature.kind {
            None => ColumnKind::Unknown,
            Some(FeatureKind::Numeric) => ColumnKind::Numeric { evidence: None },
            Some(FeatureKind::Nominal | FeatureKind::Carried) => ColumnKind::Nominal { evidence: None },
        };
        let kinds: Vec<ColumnKind> = parser.plan.features.iter().map(kind).collect();
        CsvRows {
            parser,
            levels: vec![None; kinds.len()],
            kinds: Arc::new(kinds),
            classes: Dictionary::default(),
            rows,
        }
    }

    /// The columns, the levels of nominal ones sorted: the order of the features must not depend on that of the rows.
    fn finish(self, plan: &ColumnPlan, label: Option<String>) -> Schema {
        let mut columns = Vec::with_capacity(plan.features.len());
        let mut renumbering = Renumbering::default();
        for (j, ((kind, levels), feature)) in self.kinds.iter().zip(self.levels).zip(&plan.features).enumerate() {
            if !matches!(kind, ColumnKind::Nominal { .. }) {
                columns.push(Column::numeric(&feature.name));
                continue;
            }
            let (levels, codes) = levels.map_or_else(Default::default, |levels| levels.into_sorted());
            renumbering.add_levels(j, codes);
            columns.push(Column { name: feature.name.clone(), kind: Kind::Nominal { levels } });
        }
        let classes = plan.label.map(|_| self.classes.into_names());
        Schema {
            columns,
            naming: plan.naming,
            kept: None,
            renumbering,
            classes,
            class_names: plan.class_names(),
            label,
        }
    }
}

impl<'a> Collector<CsvParser<'a>> for CsvRows<'a> {
    fn context(&self) -> Arc<Vec<ColumnKind>> {
        Arc::clone(&self.kinds)
    }

    fn add(
        &mut self,
        chunk: Chunk,
        context: &Arc<Vec<ColumnKind>>,
        part: Result<CsvPart>,
        share: Option<f64>,
    ) -> Result<()> {
        // An earlier chunk determined the kind of a column since: the rows of this one, or its error, may be wrong.
        let part = if Arc::ptr_eq(context, &self.kinds) { part } else { self.parser.parse(&chunk, &self.kinds) };
        let mut part = part?;
        if self.rows.takes_tables() {
            let columns = part.columns(self.parser.plan);
            self.kinds = part.kinds;
            let rows = Dense::new(part.n_rows, columns.len(), part.values)?;
            return self.rows.push_table(Table::from_reader(columns.into(), self.parser.plan.naming, rows.into()));
        }
        self.kinds = part.kinds;
        let mut renumbering = Renumbering::default();
        for (j, (all, own)) in self.levels.iter_mut().zip(&part.levels).enumerate() {
            if let Some(own) = own {
                let codes = all.get_or_insert_default().merge(own);
                renumbering.add_levels(j, codes.into_iter().map(f64::from).collect());
            }
        }
        let width = self.kinds.len();
        renumbering.recode_dense(&mut part.values, width);
        let labels = part.labels.merge_into(&mut self.classes);
        let levels: u64 = self.levels.iter().flatten().map(|levels| levels.size()).sum();
        self.rows.count_words(levels + self.classes.size())?;
        self.rows.push(Dense::new(part.n_rows, width, part.values)?.into(), labels, share)
    }
}

//! Values between delimiters, one row a line.
//!
//! The kind of a column follows from its first value that is not missing: a number makes it numeric, text nominal. A
//! column in which both occur is refused, because a typing error among numbers looks just like that.

pub(super) mod label_cache;
mod tokenizer;

use std::sync::Arc;

use crate::data::{Column, Dense, Dictionary, Kind, Renumbering, check_names};
use crate::error::{Error, Place, Result};
use crate::format::chunks::{Chunk, Chunks, Ends, RecordEnds};
use crate::format::csv::label_cache::Met;
use crate::format::csv::tokenizer::Records;
use crate::format::number::{leading_number, parse_number};
use crate::format::parallel::{Gather, Parser, read_all};
use crate::format::reader::{Feature, Plan, Reader, Wanted, is_missing};
use crate::format::sink::{Gathered, Keep};
use crate::format::source::{Source, checked_utf8};
use crate::text::{quoted, shown};

pub(super) fn read<K: Keep>(options: &Reader, source: Source<'_>, delimiter: u8, rows: K) -> Result<Gathered<K>> {
    let place = source.place();
    let mut chunks = Chunks::new(source, Ends::Records(RecordEnds::new(delimiter)), options.chunk);
    let Some((names, first)) = first_record(options, &mut chunks, delimiter)? else {
        return Err(Error::input(place, "an empty file", "a header and rows"));
    };
    let plan = options
        .plan(&names, || place.clone())
        .map_err(|error| hint_header(error, &names, delimiter, options.header))?;
    if plan.features.is_empty() {
        let error = Error::input(place, "no column beside the labels", "at least one to learn from");
        return Err(hint_header(error, &names, delimiter, options.header));
    }
    let label = plan.label.map(|i| names[i].clone());
    let parser = CsvParser::new(options, &plan, &names, place.clone(), delimiter);
    let mut table = CsvRows::new(&parser, rows);
    read_all(Some(first), &mut chunks, &parser, &mut table)?;
    if table.rows.n_rows() == 0 {
        return Err(Error::input(place, "a header and no rows", "rows"));
    }
    Ok(table.finish(&plan, label))
}

/// The names of the columns, and the chunk that the rows begin with.
fn first_record(options: &Reader, chunks: &mut Chunks<'_>, delimiter: u8) -> Result<Option<(Vec<String>, Chunk)>> {
    while let Some(mut chunk) = chunks.next()? {
        let mut records = Records::new(chunk.text(), chunk.line(), delimiter);
        let Some(line) = records.next() else { continue };
        if !options.header {
            let names = (1..=records.len()).map(|i| i.to_string()).collect();
            return Ok(Some((names, chunk)));
        }
        let names = header(&records, &chunks.place().line(line))?;
        let (bytes, line) = records.position();
        chunk.skip(bytes, line);
        return Ok(Some((names, chunk)));
    }
    Ok(None)
}

fn header(record: &Records<'_>, place: &Place) -> Result<Vec<String>> {
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

/// What is known of a column so far. A kind that was found, not asked for, comes with the line that told it.
#[derive(Clone)]
enum ColumnKind {
    Unknown,
    Numeric { told: Option<(u64, String)> },
    Nominal { told: Option<(u64, String)> },
}

/// Turns chunks into rows.
struct CsvParser<'a> {
    options: &'a Reader,
    plan: &'a Plan,
    /// For each column of the file.
    roles: Vec<Role>,
    place: Place,
    label_name: String,
    delimiter: u8,
}

/// What a chunk holds. Levels and classes are numbered as they occur in it.
struct CsvPart {
    kinds: Arc<Vec<ColumnKind>>,
    values: Vec<f64>,
    levels: Vec<Option<Box<Dictionary>>>,
    labels: Vec<Option<u32>>,
    classes: Dictionary,
    met: Met,
    n_rows: usize,
}

impl Parser for CsvParser<'_> {
    type Known = Arc<Vec<ColumnKind>>;
    type Part = Result<CsvPart>;

    fn parse(&self, chunk: &Chunk, known: &Self::Known) -> Result<CsvPart> {
        let mut part = CsvPart {
            kinds: Arc::clone(known),
            values: Vec::new(),
            levels: vec![None; known.len()],
            labels: Vec::new(),
            classes: Dictionary::default(),
            met: Met::default(),
            n_rows: 0,
        };
        let mut records = Records::new(chunk.text(), chunk.line(), self.delimiter);
        loop {
            let start = part.values.len();
            let rest = records.rest();
            if let Some(length) = self.plain_row(&mut part, rest) {
                records.pass_line(length);
                if start == 0 {
                    // As if the other rows were as long.
                    part.values.reserve(rest.len() / length * part.values.len());
                }
                continue;
            }
            part.values.truncate(start);
            let Some(line) = records.next() else { return Ok(part) };
            self.push(&mut part, &records, line)?;
        }
    }
}

/// What the cells of a column are read for.
#[derive(Clone, Copy)]
enum Role {
    Feature(usize),
    Label,
    None,
}

impl<'a> CsvParser<'a> {
    fn new(options: &'a Reader, plan: &'a Plan, names: &[String], place: Place, delimiter: u8) -> Self {
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

    /// The short way for a line in which all is as it mostly is: numbers where numbers are, levels and labels that were
    /// met before, no quotes. Tells how long the line is with its end. `None` says nothing about the line but that it
    /// needs the long way, which would give the same.
    fn plain_row(&self, part: &mut CsvPart, text: &[u8]) -> Option<usize> {
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
                Role::Label => label = Some(part.met.find(cell)?),
                Role::None => {}
            }
        }
        let end = match text[at..] {
            [] => 0,
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        part.labels.extend(label);
        part.n_rows += 1;
        Some(at + end)
    }

    fn push(&self, part: &mut CsvPart, record: &Records<'_>, line: u64) -> Result<()> {
        let here = || self.place.clone().line(line);
        let width = self.roles.len();
        if record.len() != width {
            let error =
                Error::input(here(), format!("{} cells", record.len()), format!("{width}, as in the first line"));
            let runs_on = record.cells().any(|cell| cell.contains(&b'\n'));
            let hint = "a cell holds the end of a line: is there a quote that never closes?";
            return Err(if runs_on { error.with_hint(hint) } else { error });
        }
        for (j, feature) in self.plan.features.iter().enumerate() {
            let cell = record.cell(feature.source);
            let here = || self.place.clone().line(line).column(&feature.name);
            let cell = checked_utf8(cell, here)?.trim();
            let x = part.value(j, cell, line).map_err(|wrong| wrong.at(here(), feature))?;
            part.values.push(x);
        }
        if let Some(label) = self.plan.label {
            let bytes = record.cell(label);
            let code = match part.met.find(bytes) {
                Some(code) => code,
                None => {
                    let cell = checked_utf8(bytes, || here().column(&self.label_name))?.trim();
                    (!self.options.is_unlabeled(cell)).then(|| part.classes.code(cell))
                }
            };
            part.met.remember(bytes, code);
            part.labels.push(code);
        }
        part.n_rows += 1;
        Ok(())
    }
}

impl CsvPart {
    /// The value of a cell in column `j`.
    fn value(&mut self, j: usize, cell: &str, line: u64) -> std::result::Result<f64, Wrong> {
        if is_missing(cell) {
            return Ok(f64::NAN);
        }
        let is_number = cell.parse::<f64>().is_ok();
        let asked_for = matches!(self.kinds[j], ColumnKind::Nominal { told: None });
        if !is_number && !asked_for && cell.replacen(',', ".", 1).parse::<f64>().is_ok() {
            return Err(Wrong::Cell(quoted(cell), "a number with a decimal point"));
        }
        if matches!(self.kinds[j], ColumnKind::Unknown) {
            let told = Some((line, cell.to_owned()));
            Arc::make_mut(&mut self.kinds)[j] =
                if is_number { ColumnKind::Numeric { told } } else { ColumnKind::Nominal { told } };
        }
        match &self.kinds[j] {
            ColumnKind::Nominal { told: Some((line, other)) } if is_number => {
                Err(Wrong::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnKind::Numeric { told: Some((line, other)) } if !is_number => {
                Err(Wrong::Mixed { cell: cell.to_owned(), other: other.clone(), line: *line })
            }
            ColumnKind::Nominal { .. } => Ok(f64::from(self.levels[j].get_or_insert_default().code(cell))),
            _ => parse_number(cell).map_err(|(found, expected)| Wrong::Cell(found, expected)),
        }
    }
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

/// The rows of all chunks so far.
struct CsvRows<'a, K> {
    parser: &'a CsvParser<'a>,
    kinds: Arc<Vec<ColumnKind>>,
    levels: Vec<Option<Box<Dictionary>>>,
    classes: Dictionary,
    rows: K,
}

impl<'a, K: Keep> CsvRows<'a, K> {
    fn new(parser: &'a CsvParser<'a>, rows: K) -> Self {
        let kind = |feature: &Feature| match feature.kind {
            None => ColumnKind::Unknown,
            Some(Wanted::Numeric) => ColumnKind::Numeric { told: None },
            Some(Wanted::Nominal) => ColumnKind::Nominal { told: None },
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

    /// The columns, and for nominal ones where their levels went when they were sorted: the order of the rows shall not
    /// decide the order of the features.
    fn finish(self, plan: &Plan, label: Option<String>) -> Gathered<K> {
        let mut columns = Vec::with_capacity(plan.features.len());
        let mut renumbering = Renumbering::default();
        for (j, ((kind, levels), feature)) in self.kinds.iter().zip(self.levels).zip(&plan.features).enumerate() {
            if !matches!(kind, ColumnKind::Nominal { .. }) {
                columns.push(Column::numeric(&feature.name));
                continue;
            }
            let names = levels.map_or_else(Vec::new, |levels| levels.into_names());
            let mut order: Vec<usize> = (0..names.len()).collect();
            order.sort_by(|&a, &b| names[a].cmp(&names[b]));
            let mut places = vec![0.0; names.len()];
            for (place, &level) in order.iter().enumerate() {
                places[level] = place as f64;
            }
            renumbering.add_levels(j, places);
            let levels = order.into_iter().map(|level| names[level].clone()).collect();
            columns.push(Column { name: feature.name.clone(), kind: Kind::Nominal { levels } });
        }
        let classes = plan.label.map(|_| self.classes.into_names());
        Gathered { columns, naming: plan.naming, kept: None, rows: self.rows, renumbering, classes, label }
    }
}

impl<'a, K: Keep> Gather<CsvParser<'a>> for CsvRows<'a, K> {
    fn known(&self) -> Arc<Vec<ColumnKind>> {
        Arc::clone(&self.kinds)
    }

    fn add(
        &mut self,
        chunk: Chunk,
        known: &Arc<Vec<ColumnKind>>,
        part: Result<CsvPart>,
        share: Option<f64>,
    ) -> Result<()> {
        // A chunk before it told the kind of a column: what was made of this one, also an error, may not hold.
        let part = if Arc::ptr_eq(known, &self.kinds) { part } else { self.parser.parse(&chunk, &self.kinds) };
        let mut part = part?;
        self.kinds = part.kinds;
        let mut renumbering = Renumbering::default();
        for (j, (all, own)) in self.levels.iter_mut().zip(&part.levels).enumerate() {
            if let Some(own) = own {
                let places = all.get_or_insert_default().merge(own);
                renumbering.add_levels(j, places.into_iter().map(f64::from).collect());
            }
        }
        let width = self.kinds.len();
        renumbering.recode_dense(&mut part.values, width);
        let places = self.classes.merge(&part.classes);
        part.labels.iter_mut().flatten().for_each(|code| *code = places[*code as usize]);
        self.rows.keep(Dense::new(part.n_rows, width, part.values)?.into(), part.labels, share)
    }
}

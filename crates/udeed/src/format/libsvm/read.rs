//! Reading of LIBSVM rows.

use crate::data::{ClassNames, Column, Csr, Dictionary, Naming, Renumbering};
use crate::error::{Error, Hint, Place, Result};
use crate::format::cells::is_missing;
use crate::format::chunk_labels::ChunkLabels;
use crate::format::chunks::{Chunk, Chunks, Ends, Line};
use crate::format::column_plan::ColumnOptions;
use crate::format::number::{digits, leading_number, parse_number};
use crate::format::options::{Layout, ReadOptions};
use crate::format::pipeline::{Collector, Parser, read_all};
use crate::format::sink::{RowSink, Schema};
use crate::format::source::Source;
use crate::text::quoted;

/// The largest index.
const LARGEST: u64 = (1 << 31) - 1;

pub(super) fn read(options: &ReadOptions, source: Source<'_>, rows: &mut dyn RowSink) -> Result<Schema> {
    let place = source.place();
    let mut chunks = Chunks::new(source, Ends::Lines, options);
    let parser = LibsvmParser { options: &options.columns, place: place.clone() };
    let mut all = LibsvmRows { rows, n_columns: 0, classes: Dictionary::default() };
    let first = chunks.next()?;
    read_all(first, &mut chunks, &parser, &mut all)?;
    if all.rows.n_rows() == 0 {
        return Err(Error::input(place, "an empty file", "rows"));
    }
    let (columns, renumbering) = all.columns(options.layout)?;
    Ok(Schema {
        kept: without_dropped(&options.columns, &columns, &place)?,
        columns,
        naming: Naming::Index,
        renumbering,
        classes: Some(all.classes.into_names()),
        // What stands there is a number, however it is written.
        class_names: ClassNames::Numbers,
        label: None,
    })
}

/// The columns that remain, if any are to be dropped.
fn without_dropped(options: &ColumnOptions, columns: &[Column], source: &Place) -> Result<Option<Vec<Column>>> {
    if let [column, ..] = options.nominal.as_slice() {
        let expected = format!("no nominal column {}", quoted(column));
        return Err(Error::input(source.clone(), "LIBSVM rows, which are numbers", expected));
    }
    if let [column, ..] = options.carried.as_slice() {
        let expected = format!("one that is called {}", quoted(column));
        return Err(Error::input(source.clone(), "columns without names", expected));
    }
    if options.drop.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let dropping = ColumnOptions { drop: options.drop.clone(), ..ColumnOptions::default() };
    let plan = dropping.plan(&names, || source.clone())?;
    Ok(Some(plan.features.into_iter().map(|feature| Column::numeric(feature.name)).collect()))
}

/// The rows of all chunks so far.
struct LibsvmRows<'a> {
    rows: &'a mut dyn RowSink,
    n_columns: usize,
    classes: Dictionary,
}

impl LibsvmRows<'_> {
    /// The columns `1..=d`, or only those that occur if `d` is much larger than the number of values: a single large index
    /// must not cost memory.
    fn columns(&self, layout: Layout) -> Result<(Vec<Column>, Renumbering)> {
        let numbered = |j: u32| Column::numeric((u64::from(j) + 1).to_string());
        let few = if layout == Layout::Dense { 0 } else { 1 << 16 };
        if self.n_columns <= self.rows.n_stored().max(few) {
            return Ok(((0..self.n_columns as u32).map(numbered).collect(), Renumbering::default()));
        }
        let used = self.rows.used_columns()?;
        Ok((used.iter().copied().map(numbered).collect(), Renumbering::columns(used)))
    }
}

impl<'a> Collector<LibsvmParser<'a>> for LibsvmRows<'_> {
    fn context(&self) {}

    fn add(&mut self, _: Chunk, (): &(), part: Result<LibsvmPart>, share: Option<f64>) -> Result<()> {
        let part = part?;
        let labels = part.labels.merge_into(&mut self.classes);
        self.rows.count_words(self.classes.size())?;
        self.n_columns = self.n_columns.max(part.rows.largest_column().map_or(0, |j| j as usize + 1));
        self.rows.push(part.rows.into(), labels, share)
    }
}

/// The rows of a chunk.
struct LibsvmPart {
    rows: Csr,
    labels: ChunkLabels,
}

/// Parses chunks into rows.
struct LibsvmParser<'a> {
    options: &'a ColumnOptions,
    place: Place,
}

impl Parser for LibsvmParser<'_> {
    type Context = ();
    type Part = Result<LibsvmPart>;

    fn parse(&self, chunk: &Chunk, (): &()) -> Result<LibsvmPart> {
        // The width of the rows is known only after the last chunk.
        let rows = Csr::empty(LARGEST as usize);
        let mut part = LibsvmPart { rows, labels: ChunkLabels::default() };
        let mut entries = Vec::new();
        let mut lines = chunk.lines();
        while let Some(line) = lines.next() {
            let is_first = part.labels.codes.is_empty();
            entries.clear();
            if let Some(label) = part.parse_plain_row(line.bytes, &mut entries) {
                part.push(label, &entries);
            } else {
                entries.clear();
                self.read_row(&mut part, line, &mut entries)?;
            }
            if is_first {
                // An estimate: the other rows are about as long.
                part.rows.reserve_rest(lines.at as f64 / chunk.text().len() as f64);
            }
        }
        Ok(part)
    }
}

impl LibsvmParser<'_> {
    /// Slow path for any line, also one with a comment, without a row, or with an error.
    fn read_row(&self, part: &mut LibsvmPart, line: Line<'_>, entries: &mut Vec<(usize, f64)>) -> Result<()> {
        let place = || self.place.clone().line(line.number);
        let text = line.text(&self.place)?.split('#').next().unwrap_or_default();
        let mut row = Row::parse(text);
        let Some(label) = row.label() else { return Ok(()) };
        let code = match label {
            Some(text) if !self.options.is_unlabeled(text) => {
                if let Err((found, _)) = parse_number(text) {
                    let expected = "a label that is a number, or `?` for none";
                    return Err(Error::input(place(), found, expected));
                }
                Some(part.labels.classes.code(text))
            }
            _ => None,
        };
        let mut previous = 0;
        for token in row.tokens {
            let (index, x) = entry(token, previous).map_err(|error| error.at(place()))?;
            previous = index;
            entries.push((index as usize - 1, x));
        }
        part.push(code, entries);
        if let Some(label) = label {
            part.labels.cache(label.as_bytes(), code);
        }
        Ok(())
    }
}

impl LibsvmPart {
    fn push(&mut self, label: Option<u32>, entries: &[(usize, f64)]) {
        self.labels.codes.push(label);
        self.rows.push_row(entries.iter().copied());
    }

    /// Fast path for a usual row: the class of a label that occurred before, and the entries. `None` means only that the row
    /// needs the slow path, which gives the same.
    fn parse_plain_row(&self, line: &[u8], entries: &mut Vec<(usize, f64)>) -> Option<Option<u32>> {
        let end = line.iter().position(|&byte| byte == b' ' || byte == b'\t').unwrap_or(line.len());
        let (code, mut rest) = match self.labels.cached(&line[..end]) {
            Some(code) => (code, &line[end..]),
            // A row that starts with an entry has no label.
            None => (line[..end].contains(&b':').then_some(None)?, line),
        };
        let mut previous = 0;
        loop {
            let blank = rest.iter().position(|&byte| byte != b' ' && byte != b'\t');
            let Some(blank) = blank else { return Some(code) };
            rest = &rest[blank..];
            let mut index = 0;
            let length = digits(rest, &mut index);
            if !(1..=10).contains(&length) || index <= previous || index > LARGEST || rest.get(length) != Some(&b':') {
                return None;
            }
            let (x, end) = leading_number(&rest[length + 1..])?;
            rest = &rest[length + 1 + end..];
            if !matches!(rest.first(), None | Some(b' ' | b'\t')) {
                return None;
            }
            entries.push((index as usize - 1, x));
            previous = index;
        }
    }
}

/// The tokens of a line, the label first if there is one.
struct Row<'a> {
    tokens: std::iter::Peekable<std::str::SplitAsciiWhitespace<'a>>,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Self {
        Row { tokens: line.split_ascii_whitespace().peekable() }
    }

    /// `None` for a blank line, `Some(None)` for a row that starts with a feature and so has no label.
    fn label(&mut self) -> Option<Option<&'a str>> {
        let first = *self.tokens.peek()?;
        if first.contains(':') {
            return Some(None);
        }
        self.tokens.next();
        Some(Some(first))
    }
}

/// What is wrong with an entry.
struct EntryError {
    found: String,
    expected: String,
    column: Option<String>,
    hint: Option<Hint>,
}

impl EntryError {
    fn at(self, place: Place) -> Error {
        let place = match self.column {
            Some(column) => place.column(column),
            None => place,
        };
        let error = Error::input(place, self.found, self.expected);
        match self.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// Parses `index:value`, after an entry with the index `previous`.
fn entry(token: &str, previous: u64) -> std::result::Result<(u64, f64), EntryError> {
    let wrong = |found: String, expected: String| EntryError { found, expected, column: None, hint: None };
    let Some((index, value)) = token.split_once(':') else {
        return Err(wrong(quoted(token), "`index:value`".into()));
    };
    let Ok(number) = index.parse::<u64>() else {
        return Err(wrong(format!("the index {}", quoted(index)), "a whole number from 1".into()));
    };
    if number == 0 {
        return Err(EntryError {
            hint: Some(Hint::CountFromOne),
            ..wrong("the index 0".into(), "an index from 1".into())
        });
    }
    if number > LARGEST {
        return Err(wrong(format!("the index {number}"), format!("at most {LARGEST}")));
    }
    if number <= previous {
        let how = if number == previous { "twice" } else { "out of order" };
        return Err(wrong(format!("the index {number} {how}"), format!("an index over {previous}")));
    }
    if is_missing(value) && !value.is_empty() {
        return Ok((number, f64::NAN));
    }
    let x = parse_number(value)
        .map_err(|(found, expected)| EntryError { column: Some(index.to_owned()), ..wrong(found, expected.into()) })?;
    Ok((number, x))
}

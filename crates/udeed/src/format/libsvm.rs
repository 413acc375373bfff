//! `label index:value index:value ...`, indices counted from 1 and ascending, `#` before a comment.

use std::collections::HashMap;

use crate::data::{Column, Csr, Dictionary, Labels, Matrix, Naming, Table};
use crate::error::{Error, Place, Result, quoted};
use crate::file::Source;
use crate::format::reader::{Layout, Reader, Sheet, is_missing, parse_number};

const LARGEST: u64 = (1 << 31) - 1;

pub(super) fn read(options: &Reader, source: Source<'_>) -> Result<Sheet> {
    let mut lines = source.lines();
    let mut classes = Dictionary::default();
    let mut labels = Vec::new();
    let mut starts = vec![0];
    let mut entries: Vec<(u32, f64)> = Vec::new();
    while let Some(line) = lines.next_line()? {
        let line = line.split('#').next().unwrap_or_default();
        let mut row = Row::parse(line);
        let Some(label) = row.label() else { continue };
        match label {
            Some(text) if !options.is_unlabeled(text) => {
                if let Err((found, _)) = parse_number(text) {
                    let expected = "a label that is a number, or `?` for none";
                    return Err(Error::input(lines.place(), found, expected));
                }
                labels.push(Some(classes.code(text)));
            }
            _ => labels.push(None),
        }
        let mut previous = 0;
        for token in row.tokens {
            match entry(token, previous) {
                Ok((index, x)) => {
                    previous = index;
                    entries.push((index as u32 - 1, x));
                }
                Err(wrong) => return Err(wrong.at(lines.place())),
            }
        }
        starts.push(entries.len());
    }
    if labels.is_empty() {
        return Err(Error::input(lines.source(), "an empty file", "rows"));
    }
    let (columns, matrix) = compact(starts, entries, options.layout)?;
    let table = options.table(columns, Naming::Index, matrix)?;
    Ok(Sheet {
        table: without_dropped(options, table, &lines.source())?,
        labels: Labels::from_codes(classes.into_names(), labels),
        label: None,
    })
}

/// The table without the columns that are not wanted.
fn without_dropped(options: &Reader, table: Table, source: &Place) -> Result<Table> {
    if let [column, ..] = options.nominal.as_slice() {
        let expected = format!("no nominal column {}", quoted(column));
        return Err(Error::input(source.clone(), "LIBSVM rows, which are numbers", expected));
    }
    if options.drop.is_empty() {
        return Ok(table);
    }
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let plan = Reader::new().drop(options.drop.iter().cloned()).plan(&names, || source.clone())?;
    let kept: Vec<Column> = plan.features.into_iter().map(|feature| Column::numeric(feature.name)).collect();
    Ok(table.conform(&kept)?.into_owned())
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

struct Wrong {
    found: String,
    expected: String,
    column: Option<String>,
    hint: Option<&'static str>,
}

impl Wrong {
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

fn entry(token: &str, previous: u64) -> std::result::Result<(u64, f64), Wrong> {
    let wrong = |found: String, expected: String| Wrong { found, expected, column: None, hint: None };
    let Some((index, value)) = token.split_once(':') else {
        return Err(wrong(quoted(token), "`index:value`".into()));
    };
    let Ok(number) = index.parse::<u64>() else {
        return Err(wrong(format!("the index {}", quoted(index)), "a whole number from 1".into()));
    };
    if number == 0 {
        return Err(Wrong {
            hint: Some("LIBSVM counts from 1; add 1 to every index"),
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
        .map_err(|(found, expected)| Wrong { column: Some(index.to_owned()), ..wrong(found, expected.into()) })?;
    Ok((number, x))
}

/// The columns `1..=d`, or only those that occur where `d` is much larger than the number of values: a single large index
/// must not cost memory.
fn compact(starts: Vec<usize>, entries: Vec<(u32, f64)>, layout: Layout) -> Result<(Vec<Column>, Matrix)> {
    let d = entries.iter().map(|&(j, _)| j as usize + 1).max().unwrap_or(0);
    let (indices, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
    let numbered = |j: u32| Column::numeric((u64::from(j) + 1).to_string());
    let few = if layout == Layout::Dense { 0 } else { 1 << 16 };
    if d <= values.len().max(few) {
        let columns = (0..d as u32).map(numbered).collect();
        return Ok((columns, Csr::new(d, starts, indices, values)?.into()));
    }
    let mut used = indices.clone();
    used.sort_unstable();
    used.dedup();
    let place: HashMap<u32, u32> = used.iter().copied().zip(0..).collect();
    let moved = indices.iter().map(|j| place[j]).collect();
    let matrix = Csr::new(used.len(), starts, moved, values)?;
    Ok((used.into_iter().map(numbered).collect(), matrix.into()))
}

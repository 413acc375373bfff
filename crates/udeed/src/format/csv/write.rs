//! Writing of CSV rows.

use std::io::{self, Write};

use crate::data::Kind;
use crate::error::{Error, Hint, Place, Result};
use crate::format::Sheet;
use crate::format::cells::{cell_text, for_each_cell, is_missing, label_name, not_written};
use crate::format::options::WriteOptions;
use crate::text::quoted;

pub(super) fn write(sheet: &Sheet, options: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    check(sheet)?;
    write_rows(sheet, options.delimiter, out).map_err(not_written)
}

/// Refuses text that a reader of CSV would not read back: it means a missing value, or begins or ends with spaces.
fn check(sheet: &Sheet) -> Result<()> {
    let is_kept = |name: &str| name.trim() == name && !name.starts_with('\u{feff}');
    let refused = |what: &str, text: &str| {
        Err(Error::input(
            Place::new("the rows"),
            format!("the {what} {}", quoted(text)),
            "text that CSV keeps as it is",
        )
        .with_hint(Hint::WriteAs { formats: &["ARFF"] }))
    };
    for column in sheet.table.columns() {
        if !is_kept(&column.name) {
            return refused("name", &column.name);
        }
        if let Kind::Nominal { levels } = &column.kind
            && let Some(level) = levels.iter().find(|level| is_missing(level) || level.trim() != **level)
        {
            return refused("value", level);
        }
    }
    if let Some(label) = label_name(sheet).filter(|label| !is_kept(label)) {
        return refused("name", &label);
    }
    match sheet.labels.classes().iter().find(|class| is_missing(class) || class.trim() != **class) {
        Some(class) => refused("class", class),
        None => Ok(()),
    }
}

fn write_rows(sheet: &Sheet, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let table = &sheet.table;
    let label = label_name(sheet);
    let names = table.columns().iter().map(|column| column.name.as_str());
    writer.write_record(names.chain(label.as_deref())).map_err(io_error)?;
    let mut cells = Vec::new();
    for i in 0..table.n_rows() {
        cells.clear();
        for_each_cell(sheet, i, |column, x| cells.push(cell_text(column, x, "")));
        if label.is_some() {
            cells.push(sheet.labels.name(i).unwrap_or("").to_owned());
        }
        writer.write_record(&cells).map_err(io_error)?;
    }
    writer.flush()
}

/// The system's own error: callers ask for its kind.
fn io_error(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

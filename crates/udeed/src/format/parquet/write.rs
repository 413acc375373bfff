//! Writing of Parquet rows.

use std::io::Write;

use crate::data::Kind;
use crate::error::{Error, Hint, Place, Result};
use crate::format::Sheet;
use crate::format::cells::{for_each_cell, is_missing, label_name};
use crate::format::options::WriteOptions;
use crate::format::parquet::record_writer::{RecordColumn, RecordWriter};
use crate::text::quoted;

pub(super) fn write(sheet: &Sheet, _: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    let columns = sheet.table.columns();
    for column in columns {
        check_name(&column.name)?;
        if let Kind::Nominal { levels } = &column.kind {
            levels.iter().try_for_each(|level| check("value", level))?;
        }
    }
    sheet.labels.classes().iter().try_for_each(|class| check("class", class))?;
    let label = label_name(sheet);
    label.as_deref().map_or(Ok(()), check_name)?;
    let fields = columns.iter().map(|column| {
        let kind = if matches!(column.kind, Kind::Numeric) { RecordColumn::Number } else { RecordColumn::Text };
        (column.name.as_str(), kind)
    });
    let mut records = RecordWriter::new(out, fields.chain(label.as_deref().map(|label| (label, RecordColumn::Text))))?;
    for i in 0..sheet.table.n_rows() {
        let mut written = Ok(());
        for_each_cell(sheet, i, |column, x| {
            if written.is_ok() {
                written = match &column.kind {
                    Kind::Numeric => records.number(x),
                    Kind::Nominal { .. } if x.is_nan() => records.text(None),
                    // What a sparse row leaves out is the first level, if there is any.
                    Kind::Nominal { levels } => records.text(levels.get(x as usize).map(String::as_str)),
                };
            }
        });
        written?;
        if label.is_some() {
            records.text(sheet.labels.name(i))?;
        }
    }
    records.finish()
}

/// Refuses a name that would not be read back as it is.
fn check_name(name: &str) -> Result<()> {
    if name.trim() == name {
        return Ok(());
    }
    let found = format!("the name {}", quoted(name));
    Err(Error::input(Place::new("the rows"), found, "a name without spaces around it")
        .with_hint(Hint::WriteAs { formats: &["ARFF"] }))
}

/// Refuses text that would not be read back as it is: it means a missing value, or begins or ends with spaces.
fn check(what: &str, text: &str) -> Result<()> {
    if !is_missing(text) && text.trim() == text {
        return Ok(());
    }
    let found = format!("the {what} {}", quoted(text));
    Err(Error::input(Place::new("the rows"), found, "text that is read back as it is")
        .with_hint(Hint::WriteAs { formats: &["ARFF"] }))
}

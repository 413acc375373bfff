//! Writing of ARFF rows.

use std::io::{self, Write};

use crate::data::{Column, Kind};
use crate::error::Result;
use crate::format::Sheet;
use crate::format::cells::{cell_text, for_each_cell, is_missing, label_name, not_written};
use crate::format::options::WriteOptions;

pub(super) fn write(sheet: &Sheet, _: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    let label = label_name(sheet);
    write_header(sheet, label.as_deref(), out).map_err(not_written)?;
    write_rows(sheet, label.is_some(), out).map_err(not_written)
}

fn write_header(sheet: &Sheet, label: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "@relation rows\n")?;
    for column in sheet.table.columns() {
        let kind = match &column.kind {
            Kind::Numeric => "numeric".to_owned(),
            Kind::Nominal { levels } => declaration(levels),
        };
        writeln!(out, "@attribute {} {kind}", name_text(&column.name))?;
    }
    if let Some(label) = label {
        writeln!(out, "@attribute {} {}", name_text(label), declaration(sheet.labels.classes()))?;
    }
    writeln!(out, "\n@data")
}

fn write_rows(sheet: &Sheet, with_labels: bool, out: &mut dyn Write) -> io::Result<()> {
    let table = &sheet.table;
    // A value that a sparse row leaves out is the first level: without one the rows are written dense.
    let no_level = |column: &Column| matches!(&column.kind, Kind::Nominal { levels } if levels.is_empty());
    let sparse = table.matrix().is_sparse() && !table.columns().iter().any(no_level);
    for i in 0..table.n_rows() {
        let label = with_labels.then(|| sheet.labels.name(i).map_or("?".to_owned(), name_text));
        if sparse {
            let mut entries = Vec::new();
            table.matrix().rows().row(i).for_each(|j, x| {
                entries.push(format!("{j} {}", value_text(&table.columns()[j], x)));
            });
            entries.extend(label.map(|label| format!("{} {label}", table.columns().len())));
            writeln!(out, "{{{}}}", entries.join(", "))?;
        } else {
            let mut cells = Vec::new();
            for_each_cell(sheet, i, |column, x| cells.push(value_text(column, x)));
            cells.extend(label);
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// The text of a value, quoted where it must be.
fn value_text(column: &Column, x: f64) -> String {
    match column.kind {
        Kind::Nominal { .. } if !x.is_nan() => name_text(&cell_text(column, x, "?")),
        _ => cell_text(column, x, "?"),
    }
}

/// The declaration of a nominal attribute.
fn declaration(levels: &[String]) -> String {
    let levels: Vec<String> = levels.iter().map(|level| name_text(level)).collect();
    format!("{{{}}}", levels.join(","))
}

/// A name, quoted where it must be.
fn name_text(name: &str) -> String {
    let special = |c: char| c.is_whitespace() || c.is_control() || "{},%'\"\\?".contains(c);
    if !name.is_empty() && !name.contains(special) && !is_missing(name) {
        return name.to_owned();
    }
    let mut text = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

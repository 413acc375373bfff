//! Cells of a file: which are missing, and their text when rows are written.

use std::io;

use crate::data::{Column, Kind, Naming};
use crate::error::Error;
use crate::format::Sheet;

/// Whether a cell says that its value is missing.
pub(crate) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || cell == "?" || cell.eq_ignore_ascii_case("na") || cell.eq_ignore_ascii_case("nan")
}

/// The text of a value, `missing` for one that is missing.
pub(super) fn cell_text(column: &Column, x: f64, missing: &str) -> String {
    match &column.kind {
        _ if x.is_nan() => missing.to_owned(),
        Kind::Nominal { levels } => levels[x as usize].clone(),
        Kind::Numeric => x.to_string(),
    }
}

/// Calls `visit` with every value of row `i`, also with those that are not stored.
pub(super) fn for_each_cell(sheet: &Sheet, i: usize, mut visit: impl FnMut(&Column, f64)) {
    let columns = sheet.table.columns();
    let mut next = 0;
    sheet.table.matrix().rows().row(i).for_each(|j, x| {
        columns[next..j].iter().for_each(|column| visit(column, 0.0));
        visit(&columns[j], x);
        next = j + 1;
    });
    columns[next..].iter().for_each(|column| visit(column, 0.0));
}

/// The name under which a label column is written, if there are labels: its own or `class`, with underscores if another
/// column has that name.
pub(super) fn label_name(sheet: &Sheet) -> Option<String> {
    let any = sheet.label.is_some() || sheet.labels.n_labeled() > 0;
    let taken = |name: &str| sheet.table.columns().iter().any(|column| column.name == name);
    let named = sheet.label.as_ref().filter(|_| !matches!(sheet.table.naming(), Naming::Position { .. }));
    any.then(|| {
        let mut name = named.map_or("class", String::as_str).to_owned();
        while taken(&name) {
            name.push('_');
        }
        name
    })
}

/// The error of a failed write.
pub(super) fn not_written(error: io::Error) -> Error {
    Error::io("the rows".as_ref(), "write", error)
}

//! Writing of LIBSVM rows.

use std::io::Write;

use crate::data::{Kind, Labels, Naming, plain_number, two_spellings};
use crate::error::{Error, Hint, Place, Result};
use crate::format::Sheet;
use crate::format::cells::not_written;
use crate::format::options::WriteOptions;

/// The number that stands for each class: its name if all names are different numbers, else -1 and 1 for two classes and
/// 0, 1, 2, ... for more.
pub(super) fn class_labels(labels: &Labels) -> Vec<String> {
    let classes = labels.classes();
    let numbers: Option<Vec<String>> = classes.iter().map(|class| plain_number(class)).collect();
    if let (Some(numbers), None) = (numbers, two_spellings(classes)) {
        return numbers;
    }
    match classes.len() {
        2 => vec!["-1".into(), "1".into()],
        n => (0..n).map(|i| i.to_string()).collect(),
    }
}

pub(super) fn write(sheet: &Sheet, _: &WriteOptions, out: &mut dyn Write) -> Result<()> {
    let columns = sheet.table.columns();
    if let Some(column) = columns.iter().find(|column| column.kind != Kind::Numeric) {
        let place = Place::new("the rows").column(&column.name);
        return Err(Error::input(place, "a nominal column", "numbers, for LIBSVM")
            .with_hint(Hint::WriteAs { formats: &["CSV", "ARFF"] }));
    }
    let index: Vec<u64> = match sheet.table.naming() {
        Naming::Index => columns.iter().map(|column| column.name.parse().unwrap_or(0)).collect(),
        _ => (1..=columns.len() as u64).collect(),
    };
    let classes = class_labels(&sheet.labels);
    let rows = sheet.table.matrix().rows();
    for i in 0..rows.n_rows() {
        let mut line = sheet.labels.get(i).map_or("?".to_owned(), |class| classes[class].clone());
        // The last column of the first row is always written: readers take the width from the largest index.
        let last = if i == 0 { columns.len().checked_sub(1) } else { None };
        let mut wrote_last = false;
        rows.row(i).for_each(|j, x| {
            if x.is_nan() || x != 0.0 || Some(j) == last {
                line.push_str(&format!(" {}:{}", index[j], if x.is_nan() { "nan".into() } else { x.to_string() }));
                wrote_last |= Some(j) == last;
            }
        });
        if let (Some(j), false) = (last, wrote_last) {
            line.push_str(&format!(" {}:0", index[j]));
        }
        writeln!(out, "{line}").map_err(not_written)?;
    }
    Ok(())
}

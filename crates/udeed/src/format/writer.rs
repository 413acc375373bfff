//! Rows back into a file.

use std::io::{self, Write};

use crate::data::{Column, Kind, Labels, Naming, plain_number};
use crate::error::{Error, Hint, Place, Result};
use crate::format::reader::is_missing;
use crate::format::{Format, Sheet};
use crate::text::quoted;

/// How to write rows into a file.
///
/// ```
/// use udeed::{Format, Writer, built_in};
///
/// let sheet = built_in("house")?.read()?;
/// let mut text = Vec::new();
/// Writer::new(Format::Libsvm).write(&sheet, &mut text)?;
/// assert!(text.starts_with(b"-1 "));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Writer {
    format: Format,
    delimiter: u8,
}

impl Writer {
    /// A writer of a format.
    pub fn new(format: Format) -> Self {
        Writer { format, delimiter: b',' }
    }

    /// The format that it writes.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What stands between the values of a CSV file. Default: a comma.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = delimiter;
        self
    }

    /// Writes the rows; the labels come last, in LIBSVM first. A missing value or label is empty in CSV, `?` in ARFF and
    /// for LIBSVM's labels, `nan` for its values. LIBSVM knows only numbers: see [`Writer::libsvm_labels`].
    ///
    /// # Errors
    /// If the format cannot hold the rows, or writing fails.
    pub fn write(&self, sheet: &Sheet, out: &mut dyn Write) -> Result<()> {
        match self.format {
            Format::Csv => {
                check_csv(sheet)?;
                write_csv(sheet, self.delimiter, out)
            }
            Format::Arff => write_arff(sheet, out),
            Format::Libsvm => return write_libsvm(sheet, out),
        }
        .map_err(refused)
    }

    /// What the column of the labels is called in CSV and ARFF files, if there are any to write: by its own name, `class`
    /// where it has none, with underscores where another column has that name.
    ///
    /// ```
    /// use udeed::{Writer, built_in};
    ///
    /// assert_eq!(Writer::label_name(&built_in("vote")?.read()?).as_deref(), Some("class"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn label_name(sheet: &Sheet) -> Option<String> {
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

    /// What stands for each class in a LIBSVM file: its name where all are numbers, else -1 and 1 for two classes and 0,
    /// 1, 2, ... for more.
    ///
    /// ```
    /// use udeed::{Labels, Writer};
    ///
    /// assert_eq!(Writer::libsvm_labels(&Labels::new([Some("no"), Some("yes")])), ["-1", "1"]);
    /// ```
    pub fn libsvm_labels(labels: &Labels) -> Vec<String> {
        let classes = labels.classes();
        if classes.iter().all(|class| plain_number(class).is_some()) {
            return classes.to_vec();
        }
        match classes.len() {
            2 => vec!["-1".into(), "1".into()],
            n => (0..n).map(|i| i.to_string()).collect(),
        }
    }
}

fn refused(error: io::Error) -> Error {
    Error::io("the rows".as_ref(), "write", error)
}

/// The system's own error, whose kind callers look at.
fn plain(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Refuses what a reader of CSV would take for something else: text that means a missing value, or ends in spaces.
fn check_csv(sheet: &Sheet) -> Result<()> {
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
    if let Some(label) = Writer::label_name(sheet).filter(|label| !is_kept(label)) {
        return refused("name", &label);
    }
    match sheet.labels.classes().iter().find(|class| is_missing(class) || class.trim() != **class) {
        Some(class) => refused("class", class),
        None => Ok(()),
    }
}

fn cell(column: &Column, x: f64, missing: &str) -> String {
    match &column.kind {
        _ if x.is_nan() => missing.to_owned(),
        Kind::Nominal { levels } => levels[x as usize].clone(),
        Kind::Numeric => x.to_string(),
    }
}

fn write_csv(sheet: &Sheet, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    let table = &sheet.table;
    let label = Writer::label_name(sheet);
    let names = table.columns().iter().map(|column| column.name.as_str());
    writer.write_record(names.chain(label.as_deref())).map_err(plain)?;
    let mut cells = Vec::new();
    for i in 0..table.n_rows() {
        cells.clear();
        dense_row(sheet, i, |column, x| cells.push(cell(column, x, "")));
        if label.is_some() {
            cells.push(sheet.labels.name(i).unwrap_or("").to_owned());
        }
        writer.write_record(&cells).map_err(plain)?;
    }
    writer.flush()
}

fn dense_row(sheet: &Sheet, i: usize, mut visit: impl FnMut(&Column, f64)) {
    let columns = sheet.table.columns();
    let mut next = 0;
    sheet.table.matrix().rows().row(i).for_each(|j, x| {
        columns[next..j].iter().for_each(|column| visit(column, 0.0));
        visit(&columns[j], x);
        next = j + 1;
    });
    columns[next..].iter().for_each(|column| visit(column, 0.0));
}

fn write_arff(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    let table = &sheet.table;
    writeln!(out, "@relation rows\n")?;
    for column in table.columns() {
        let kind = match &column.kind {
            Kind::Numeric => "numeric".to_owned(),
            Kind::Nominal { levels } => declaration(levels),
        };
        writeln!(out, "@attribute {} {kind}", arff_name(&column.name))?;
    }
    let label_name = Writer::label_name(sheet);
    if let Some(label) = &label_name {
        writeln!(out, "@attribute {} {}", arff_name(label), declaration(sheet.labels.classes()))?;
    }
    writeln!(out, "\n@data")?;
    // What a sparse row leaves out is the first level: without one the rows are written whole.
    let no_level = |column: &Column| matches!(&column.kind, Kind::Nominal { levels } if levels.is_empty());
    let sparse = table.matrix().is_sparse() && !table.columns().iter().any(no_level);
    for i in 0..table.n_rows() {
        let label = label_name.as_ref().map(|_| sheet.labels.name(i).map_or("?".to_owned(), arff_name));
        if sparse {
            let mut entries = Vec::new();
            table.matrix().rows().row(i).for_each(|j, x| {
                entries.push(format!("{j} {}", arff_cell(&table.columns()[j], x)));
            });
            entries.extend(label.map(|label| format!("{} {label}", table.columns().len())));
            writeln!(out, "{{{}}}", entries.join(", "))?;
        } else {
            let mut cells = Vec::new();
            dense_row(sheet, i, |column, x| cells.push(arff_cell(column, x)));
            cells.extend(label);
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

fn arff_cell(column: &Column, x: f64) -> String {
    match column.kind {
        Kind::Nominal { .. } if !x.is_nan() => arff_name(&cell(column, x, "?")),
        _ => cell(column, x, "?"),
    }
}

fn declaration(levels: &[String]) -> String {
    let levels: Vec<String> = levels.iter().map(|level| arff_name(level)).collect();
    format!("{{{}}}", levels.join(","))
}

/// A name, quoted where it must be.
fn arff_name(name: &str) -> String {
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

fn write_libsvm(sheet: &Sheet, out: &mut dyn Write) -> Result<()> {
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
    let classes = Writer::libsvm_labels(&sheet.labels);
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
        writeln!(out, "{line}").map_err(refused)?;
    }
    Ok(())
}

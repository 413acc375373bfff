//! Some rows of a file, cell by cell as they are there: for people who go on with them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use udeed::data::{Kind, Labels, Table};
use udeed::format::Format;

use crate::input::{Reading, built_in_name, is_read_once};
use crate::output::plain;

/// Rows as text, with the names of their columns.
pub struct Records {
    pub columns: Vec<String>,
    /// The cells of each row, by its number from 0.
    pub rows: BTreeMap<usize, Vec<String>>,
}

impl Records {
    /// Some rows of a CSV file; none if the file is no such, or cannot be read twice.
    ///
    /// # Errors
    /// If it cannot be read, or has fewer rows by now.
    pub fn of_csv(path: &Path, reading: &Reading, wanted: &[usize]) -> anyhow::Result<Option<Self>> {
        let name = path.display().to_string();
        let format = reading.format.or_else(|| Format::of(&name));
        if is_read_once(path) || built_in_name(path).is_some() || format != Some(Format::Csv) {
            return Ok(None);
        }
        let failed = |error: csv::Error| udeed::Error::Io {
            path: name.clone(),
            action: "read",
            cause: plain(error),
            hint: None,
        };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(reading.delimiter.unwrap_or_else(|| usual_delimiter(&name)))
            .has_headers(!reading.no_header)
            .flexible(true)
            .from_reader(unzipped(File::open(path).map_err(|error| failed(error.into()))?)?);
        let mut columns = match reading.no_header {
            true => Vec::new(),
            false => text_of(reader.byte_headers().map_err(failed)?),
        };
        let mut wanted: Vec<usize> = wanted.to_vec();
        wanted.sort_unstable();
        let (mut record, mut rows, mut next) = (csv::ByteRecord::new(), BTreeMap::new(), 0);
        for row in wanted {
            while next <= row {
                if !reader.read_byte_record(&mut record).map_err(failed)? {
                    anyhow::bail!("{name}: found {next} rows, expected at least {}: the file has changed", row + 1);
                }
                next += 1;
            }
            rows.insert(row, text_of(&record));
        }
        if reading.no_header {
            columns = (1..=record.len()).map(|column| column.to_string()).collect();
        }
        Ok(Some(Records { columns, rows }))
    }

    /// Some rows of a table, with their labels in the last column. `first` is the number of the first row of the table.
    pub fn of_table(table: &Table, labels: Option<(&str, &Labels)>, first: usize, wanted: &[usize]) -> Self {
        let columns = table.columns().iter().map(|column| column.name.clone());
        let columns = columns.chain(labels.map(|(name, _)| name.to_owned())).collect();
        let cells = |row: usize| {
            let mut cells = vec!["0".to_owned(); table.columns().len()];
            let nothing_stored = |(cell, column): (&mut String, &udeed::data::Column)| {
                if let Kind::Nominal { levels } = &column.kind {
                    *cell = levels.first().cloned().unwrap_or_default();
                }
            };
            cells.iter_mut().zip(table.columns()).for_each(nothing_stored);
            table.matrix().rows().row(row - first).for_each(|j, x| {
                cells[j] = match &table.columns()[j].kind {
                    _ if x.is_nan() => String::new(),
                    Kind::Numeric => x.to_string(),
                    Kind::Nominal { levels } => levels.get(x as usize).cloned().unwrap_or_default(),
                };
            });
            cells.extend(labels.map(|(_, labels)| labels.name(row).unwrap_or_default().to_owned()));
            (row, cells)
        };
        let inside = first..first + table.n_rows();
        Records { columns, rows: wanted.iter().filter(|row| inside.contains(row)).map(|&row| cells(row)).collect() }
    }

    /// The cell of a row in the column of this name; empty where there is none.
    pub fn cell(&self, row: usize, column: &str) -> &str {
        let place = self.columns.iter().position(|name| name == column);
        let cells = self.rows.get(&row);
        place.zip(cells).and_then(|(place, cells)| cells.get(place)).map_or("", String::as_str)
    }
}

fn text_of(record: &csv::ByteRecord) -> Vec<String> {
    record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
}

fn usual_delimiter(name: &str) -> u8 {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".tsv") || name.ends_with(".tab") { b'\t' } else { b',' }
}

/// A file, unzipped where it is zipped.
fn unzipped(file: File) -> std::io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_zipped = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

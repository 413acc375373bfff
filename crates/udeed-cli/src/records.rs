//! Some rows of a file, cell by cell as they are there: for people who go on with them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use udeed::data::{Kind, Labels, Table};
use udeed::file::Version;
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
        let Some(file) = CsvFile::of(path, reading) else { return Ok(None) };
        let mut reader = file.open()?;
        let mut columns = match file.has_header {
            false => Vec::new(),
            true => names_of(reader.byte_headers().map_err(|error| file.failed(error))?),
        };
        let mut wanted: Vec<usize> = wanted.to_vec();
        wanted.sort_unstable();
        let (mut record, mut rows, mut next) = (csv::ByteRecord::new(), BTreeMap::new(), 0);
        for row in wanted {
            while next <= row {
                if !reader.read_byte_record(&mut record).map_err(|error| file.failed(error))? {
                    let name = path.display();
                    anyhow::bail!("{name}: found {next} rows, expected at least {}: the file has changed", row + 1);
                }
                next += 1;
            }
            rows.insert(row, text_of(&record));
        }
        if !file.has_header {
            columns = numbers(record.len());
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

/// A CSV file, and how it is read again.
#[derive(Clone)]
pub struct CsvFile {
    path: PathBuf,
    /// What it was when it was first looked at; none where it was not there.
    version: Option<Version>,
    pub delimiter: u8,
    pub has_header: bool,
}

impl CsvFile {
    /// None for what is no CSV file, or cannot be read twice.
    pub fn of(path: &Path, reading: &Reading) -> Option<Self> {
        let name = path.display().to_string();
        let format = reading.format.or_else(|| Format::of(&name));
        if is_read_once(path) || built_in_name(path).is_some() || format != Some(Format::Csv) {
            return None;
        }
        let delimiter = reading.delimiter.unwrap_or_else(|| usual_delimiter(&name));
        let version = path.metadata().ok().as_ref().and_then(Version::of);
        Some(CsvFile { path: path.to_path_buf(), version, delimiter, has_header: !reading.no_header })
    }

    /// Refuses a file that is another by now than when it was first looked at.
    ///
    /// # Errors
    /// If it is.
    pub fn check(&self) -> udeed::Result<()> {
        self.version.as_ref().map_or(Ok(()), |version| version.check(&self.path, self.path.metadata()))
    }

    /// A reader of all rows.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(&self) -> udeed::Result<csv::Reader<Box<dyn Read>>> {
        let opened = File::open(&self.path).and_then(unzipped);
        Ok(self.reader(opened.map_err(|error| self.failed(error.into()))?, self.has_header))
    }

    fn reader<R: Read>(&self, from: R, has_header: bool) -> csv::Reader<R> {
        let mut how = csv::ReaderBuilder::new();
        how.delimiter(self.delimiter).has_headers(has_header).flexible(true).from_reader(from)
    }

    pub fn failed(&self, error: csv::Error) -> udeed::Error {
        let path = self.path.display().to_string();
        udeed::Error::Io { path, action: "read", cause: plain(error), hint: None }
    }
}

/// The rows of a CSV file, each found at once.
pub struct CsvRows {
    file: CsvFile,
    columns: Vec<String>,
    /// Where each row begins; none in a zipped file, which is read from its beginning.
    starts: Option<Vec<u64>>,
    n_rows: usize,
}

impl CsvRows {
    /// Finds all rows.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn index(file: CsvFile) -> udeed::Result<Self> {
        let mut reader = file.open()?;
        let mut columns = match file.has_header {
            true => names_of(reader.byte_headers().map_err(|error| file.failed(error))?),
            false => Vec::new(),
        };
        let (mut starts, mut record, mut width) = (Vec::new(), csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).map_err(|error| file.failed(error))? {
            // At the end of the file it holds nothing.
            width = record.len();
            starts.push(record.position().map_or(0, csv::Position::byte));
        }
        if !file.has_header {
            columns = numbers(width);
        }
        let is_zipped = File::open(&file.path).is_ok_and(|mut opened| {
            let mut first = [0; 2];
            opened.read_exact(&mut first).is_ok() && first == ZIPPED
        });
        let n_rows = starts.len();
        Ok(CsvRows { file, columns, starts: Some(starts).filter(|_| !is_zipped), n_rows })
    }

    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// What was read, unless the file changed: other rows stand then where these stood, which may well be why it failed.
    fn of_unchanged<T>(&self, read: io::Result<T>) -> io::Result<T> {
        self.file.check().map_err(io::Error::other)?;
        read
    }

    /// Reads rows, from the beginning or where each stands.
    fn visit(&self, wanted: &[usize], visit: &mut dyn FnMut(usize, &csv::ByteRecord)) -> io::Result<()> {
        let mut record = csv::ByteRecord::new();
        let Some(starts) = &self.starts else {
            let mut sorted = wanted.to_vec();
            sorted.sort_unstable();
            let mut reader = self.file.open().map_err(io::Error::other)?;
            let mut next = 0;
            for row in sorted {
                while next <= row && reader.read_byte_record(&mut record).map_err(plain)? {
                    next += 1;
                }
                visit(row, &record);
            }
            return Ok(());
        };
        let mut file = File::open(&self.file.path)?;
        for &row in wanted {
            let start = starts.get(row).ok_or_else(|| io::Error::other("no such row"))?;
            file.seek(SeekFrom::Start(*start))?;
            self.file.reader(BufReader::new(&file), false).read_byte_record(&mut record).map_err(plain)?;
            visit(row, &record);
        }
        Ok(())
    }

    /// The first rows with a cell that matches, up to a limit.
    fn matching(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> io::Result<Vec<usize>> {
        let mut reader = self.file.open().map_err(io::Error::other)?;
        let (mut found, mut record, mut row) = (Vec::new(), csv::ByteRecord::new(), 0);
        while found.len() < most && row < self.n_rows && reader.read_byte_record(&mut record).map_err(plain)? {
            if record.iter().any(|cell| matches(&String::from_utf8_lossy(cell))) {
                found.push(row);
            }
            row += 1;
        }
        Ok(found)
    }
}

impl udeed_label::Rows for CsvRows {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&self, wanted: &[usize]) -> io::Result<BTreeMap<usize, Vec<String>>> {
        let mut rows = BTreeMap::new();
        let visited = self.visit(wanted, &mut |row, record| {
            rows.insert(row, text_of(record));
        });
        self.of_unchanged(visited.map(|()| rows))
    }

    fn find(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> io::Result<Vec<usize>> {
        self.of_unchanged(self.matching(matches, most))
    }
}

/// The rows of a table in memory, with their labels in the last column.
pub struct TableRows {
    table: Table,
    columns: Vec<String>,
}

impl TableRows {
    pub fn new(table: Table, label: &str) -> Self {
        let columns = Records::of_table(&table, Some((label, &Labels::unlabeled(0))), 0, &[]).columns;
        TableRows { table, columns }
    }
}

impl udeed_label::Rows for TableRows {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&self, wanted: &[usize]) -> io::Result<BTreeMap<usize, Vec<String>>> {
        Ok(Records::of_table(&self.table, None, 0, wanted).rows)
    }

    fn find(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> io::Result<Vec<usize>> {
        let has = |row: &usize| {
            let records = Records::of_table(&self.table, None, 0, &[*row]);
            records.rows.values().flatten().any(|cell| matches(cell))
        };
        Ok((0..self.table.n_rows()).filter(has).take(most).collect())
    }
}

/// The names in a header, without the spaces around them, as they are where rows are learned from.
fn names_of(header: &csv::ByteRecord) -> Vec<String> {
    text_of(header).iter().map(|name| name.trim().to_owned()).collect()
}

/// The names of columns without names.
fn numbers(n: usize) -> Vec<String> {
    (1..=n).map(|column| column.to_string()).collect()
}

pub fn text_of(record: &csv::ByteRecord) -> Vec<String> {
    record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
}

pub fn usual_delimiter(name: &str) -> u8 {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".tsv") || name.ends_with(".tab") { b'\t' } else { b',' }
}

/// What a zipped file begins with.
const ZIPPED: [u8; 2] = [0x1f, 0x8b];

/// A file, unzipped where it is zipped.
fn unzipped(file: File) -> std::io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_zipped = file.fill_buf()?.starts_with(&ZIPPED);
    Ok(if is_zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

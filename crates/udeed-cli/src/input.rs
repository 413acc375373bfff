//! Where rows come from: a file, standard input, or a built-in set.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use udeed::{Format, Layout, Reader, Sheet};

/// How files of rows are read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading rows")]
pub struct Reading {
    /// Format of the rows [default: what the name of the file tells]
    #[arg(long, value_enum)]
    pub format: Option<FormatName>,
    /// What stands between CSV cells: a character, or `tab` [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// The first CSV line is a row: columns are numbered from 1, the label left out
    #[arg(long)]
    pub no_header: bool,
    /// Leave columns out: names or numbers, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub drop: Vec<String>,
    /// CSV columns whose numbers are names
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub nominal: Vec<String>,
    /// A label that marks unlabeled rows, besides an empty cell, `?`, `NA` and `NaN`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub unlabeled_mark: Option<String>,
    /// How rows are kept: sparse files become dense where a sixth of their values is stored
    #[arg(long, value_enum, default_value = "auto")]
    pub layout: LayoutName,
}

#[derive(ValueEnum, Clone, Copy)]
pub enum FormatName {
    Csv,
    Arff,
    Libsvm,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Csv => Format::Csv,
            FormatName::Arff => Format::Arff,
            FormatName::Libsvm => Format::Libsvm,
        }
    }
}

#[derive(ValueEnum, Clone, Copy)]
pub enum LayoutName {
    Auto,
    Dense,
    Sparse,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Self {
        match name {
            LayoutName::Auto => Layout::Auto,
            LayoutName::Dense => Layout::Dense,
            LayoutName::Sparse => Layout::Sparse,
        }
    }
}

pub fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one ASCII character or `tab`".into()),
    }
}

impl Reading {
    /// Adds what was asked for to a reader.
    pub fn reader(&self, mut reader: Reader) -> Reader {
        if let Some(format) = self.format {
            reader = reader.format(format.into());
        }
        if let Some(delimiter) = self.delimiter {
            reader = reader.delimiter(delimiter);
        }
        if self.no_header {
            reader = reader.header(false);
        }
        if let Some(mark) = &self.unlabeled_mark {
            reader = reader.unlabeled_mark(mark);
        }
        reader.drop(self.drop.iter().cloned()).nominal(self.nominal.iter().cloned()).layout(self.layout.into())
    }
}

/// Reads a file, or standard input for `-`.
pub fn read_file(reader: &Reader, path: &Path) -> udeed::Result<Sheet> {
    if path == Path::new("-") {
        return reader.read_from("standard input", std::io::stdin().lock());
    }
    reader.read(path)
}

/// Reads a file, standard input for `-`, or else a built-in set of that name.
pub fn read_any(reader: &Reader, name: &Path) -> udeed::Result<Sheet> {
    match built_in_name(name) {
        Some(set) => udeed::built_in(&set)?.read(),
        None => read_file(reader, name),
    }
}

/// The name of a data set for tables: that of the file without its endings.
pub fn short_name(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| "rows".into(), |name| name.to_string_lossy().into_owned());
    if name == "-" {
        return "standard input".into();
    }
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_owned()
}

/// A bare word that is no file names a built-in set.
fn built_in_name(name: &Path) -> Option<String> {
    let text = name.to_str()?;
    let bare = text != "-" && !text.contains(['/', '.', '\\']);
    (bare && !PathBuf::from(text).exists()).then(|| text.to_owned())
}

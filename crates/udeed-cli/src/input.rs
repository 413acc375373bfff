//! Where rows come from: a file, standard input, or a built-in set.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use udeed::data::{Kind, Labels, Naming, Table, TrainSet, doubtful_classes};
use udeed::file::Version;
use udeed::format::{Format, HeldSheet, Layout, PartedSheet, Reader, Sheet};
use udeed::memory::Room;
use udeed::prepare::Unseen;
use udeed::text::{listed, shown};

use crate::laboratory::named;
use crate::output::{Usage, is_stream};
use crate::progress::Progress;
use crate::settings::{Memory, parse_size, words};

/// How files of rows are read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading rows")]
pub struct Reading {
    /// Format of the rows [default: by the extension of the file]
    #[arg(long, value_parser = format_parser(), hide_short_help = true)]
    pub format: Option<Format>,
    /// Delimiter of CSV cells: a character, or `tab` [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter, hide_short_help = true)]
    pub delimiter: Option<u8>,
    /// CSV files have no header: columns are numbered from 1, the label left out
    #[arg(long, hide_short_help = true)]
    pub no_header: bool,
    /// Leave columns out: names, or numbers as they are in the file, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true, hide_short_help = true)]
    pub drop: Vec<String>,
    /// CSV columns of numbers that are nominal
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true, hide_short_help = true)]
    pub nominal: Vec<String>,
    /// A label that marks unlabeled rows, besides an empty cell, `?`, `NA` and `NaN`
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub unlabeled_mark: Option<String>,
    /// Layout of rows in memory; `auto`: sparse files become dense where at least a sixth of their values are stored
    #[arg(long, value_enum, default_value = "auto", hide_short_help = true)]
    pub layout: LayoutName,
    /// Longest line, unzipped; lines below 512K always pass. Above 16M it also limits quoted CSV cells [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    pub longest_line: Option<u64>,
    /// Largest number of columns of a CSV or ARFF file [default: 1048576]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub most_columns: Option<usize>,
    #[command(flatten)]
    pub memory: Memory,
}

words!(LayoutName, Layout { Auto = "auto", Dense = "dense", Sparse = "sparse" });

/// Parses the name of a format; help and messages list the names.
pub fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name()))
        .try_map(|name| Format::named(&name).ok_or("expected a format"))
}

pub fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one ASCII character or `tab`".into()),
    }
}

/// A delimiter as `--delimiter` takes it.
pub fn delimiter_word(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".into() } else { char::from(delimiter).to_string() }
}

impl Reading {
    /// Adds what was asked for to a reader.
    pub fn reader(&self, mut reader: Reader) -> Reader {
        if let Some(format) = self.format {
            reader = reader.format(format);
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
        if let Some(bytes) = self.longest_line {
            reader = reader.longest_line(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        if let Some(columns) = self.most_columns {
            reader = reader.most_columns(columns);
        }
        let reader = self.memory.reader(reader);
        reader.drop(self.drop.iter().cloned()).nominal(self.nominal.iter().cloned()).layout(self.layout.into())
    }

    /// How a further file is read, which may have another format: its name tells.
    pub fn of_more(&self, path: &Path) -> Reading {
        let tells = Format::of(&path.display().to_string()).is_some();
        Reading { format: self.format.filter(|_| !tells), ..self.clone() }
    }
}

/// Rows that are sampled: the random seed, and how they are read.
#[derive(Args)]
pub struct Sampling {
    /// Random seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub reading: Reading,
}

/// Where the labels of rows are, and which of them are classes.
#[derive(Args)]
pub struct Labeled {
    /// Column with the labels: its name or number
    ///
    /// -1 is the last. LIBSVM files need none [default: in ARFF files the attribute `class`]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<String>,
    /// Classes whose names look like missing labels, such as `none`: they are not warned of
    #[arg(long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(hide_short_help = true)]
    class: Vec<String>,
}

impl Labeled {
    /// Reads rows with labels, if they have any.
    pub fn read(&self, reading: &Reading, path: &Path, progress: &Progress) -> anyhow::Result<Sheet> {
        self.read_by(Reader::new(), reading, path, progress)
    }

    /// As [`Labeled::read`], by a reader that knows the columns.
    pub fn read_by(
        &self,
        reader: Reader,
        reading: &Reading,
        path: &Path,
        progress: &Progress,
    ) -> anyhow::Result<Sheet> {
        let sheet = read_any(&self.reader(reader, reading, true)?, path, progress)?;
        self.doubt(&sheet, path, progress);
        Ok(sheet)
    }

    /// As [`Labeled::read`], but there need not be a column of that name yet.
    pub fn read_if_present(&self, reading: &Reading, path: &Path, progress: &Progress) -> anyhow::Result<Sheet> {
        let is_number = self.label.as_deref().is_some_and(|label| label.parse::<i64>().is_ok());
        let sheet = read_any(&self.reader(Reader::new(), reading, is_number)?, path, progress)?;
        self.doubt(&sheet, path, progress);
        Ok(sheet)
    }

    /// As [`Labeled::read_by`]; where there is no room in memory, unlabeled rows go to a temporary file.
    pub fn part_by(
        &self,
        reader: Reader,
        reading: &Reading,
        path: &Path,
        room: Room<'_>,
        progress: &Progress,
    ) -> anyhow::Result<PartedSheet> {
        if built_in_name(path).is_some() {
            let sheet = self.read_by(reader, reading, path, progress)?;
            return Ok(PartedSheet { sheet, unlabeled: None, positions: Vec::new() });
        }
        let reader = self.reader(reader, reading, true)?;
        let sign = progress.reading(path);
        let parted = match is_stream(path) {
            true => reader.part_from(STANDARD_INPUT, std::io::stdin().lock(), room),
            false => reader.part(path, room),
        };
        sign.finish_and_clear();
        let parted = parted?;
        warn_of_mark(&parted.sheet, path, progress);
        self.doubt(&parted.sheet, path, progress);
        Ok(parted)
    }

    /// A reader that knows where the labels are; the column may be missing where it is not required.
    fn reader(&self, reader: Reader, reading: &Reading, required: bool) -> Result<Reader, Usage> {
        self.check(reading)?;
        let reader = reading.reader(reader);
        Ok(match &self.label {
            Some(label) if required => reader.label(label),
            Some(label) => reader.label_if_present(label),
            None => reader,
        })
    }

    /// The column of the labels as it was asked for.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The classes that are meant although their names look like missing labels.
    pub fn meant(&self) -> &[String] {
        &self.class
    }

    /// Reads rows to learn from: they need labels, whose column CSV files do not name by themselves.
    pub fn read_to_learn(&self, reading: &Reading, path: &Path, progress: &Progress) -> anyhow::Result<Sheet> {
        let sheet = self.read(reading, path, progress)?;
        let none = sheet.labels.n_labeled() == 0 && sheet.label.is_none() && self.label.is_none();
        if none && sheet.table.naming() != Naming::Index {
            return Err(no_label(&sheet, path));
        }
        Ok(sheet)
    }

    /// Refuses a class whose rows are said to have no label.
    pub fn check(&self, reading: &Reading) -> Result<(), Usage> {
        let Some(mark) = reading.unlabeled_mark.as_ref().filter(|mark| self.class.contains(mark)) else {
            return Ok(());
        };
        let mark = shown(mark);
        Err(Usage(format!(
            "`--class {mark}`: by `--unlabeled-mark {mark}` such rows have no label, expected one of the two"
        )))
    }

    /// Refuses a class that no row has: it is most likely misspelt.
    pub fn check_occur<'a>(&self, all: impl IntoIterator<Item = &'a Labels>) -> Result<(), Usage> {
        let known: Vec<&String> = all.into_iter().flat_map(Labels::classes).collect();
        match self.class.iter().find(|class| !known.contains(class)) {
            None => Ok(()),
            Some(class) => {
                let known = listed(&known);
                Err(Usage(format!("`--class {}`: no row has this label, expected one of {known}", shown(class))))
            }
        }
    }

    /// Warns of classes that look like missing labels, unless they are said to be meant.
    fn doubt(&self, sheet: &Sheet, path: &Path, progress: &Progress) {
        let doubtful: Vec<&str> = doubtful_classes(sheet.labels.classes())
            .into_iter()
            .filter(|class| !self.class.iter().any(|meant| meant == class))
            .collect();
        let [first, ..] = doubtful.as_slice() else { return };
        let shown: Vec<String> = doubtful.iter().map(|class| udeed::text::shown(class)).collect();
        let (path, names) = (path.display(), shown.join("`, `"));
        let (what, unmark) = (if shown.len() == 1 { "class" } else { "classes" }, udeed::text::shown(first));
        progress.note(format_args!(
            "warning: {path}: found the {what} `{names}`: if such rows have no label, say `--unlabeled-mark {unmark}`; if \
             they do, `--class {}`",
            shown.join(",")
        ));
    }
}

/// A reader of further rows, all taken as unlabeled: they must have the columns of the others; their file may have another
/// format.
pub fn unlabeled_reader(reading: &Reading, train: &TrainSet, path: &Path) -> Reader {
    let table = train.table();
    let own = Reading { drop: Vec::new(), nominal: Vec::new(), ..reading.of_more(path) };
    let reader = Reader::new().expect(table.columns(), table.naming());
    let reader = own.reader(reader).header(!reading.no_header);
    match train.label_name() {
        Some(label) => reader.label_if_present(label),
        None => reader,
    }
}

/// Files of rows.
#[derive(Default)]
pub struct Files {
    pub paths: Vec<PathBuf>,
    /// What lies beside them in their folders: folders, and files that are no rows by their names.
    passed_over: Vec<PathBuf>,
}

impl Files {
    /// Says what was passed over.
    pub fn tell(&self, progress: &Progress) {
        let [first, others @ ..] = &self.passed_over[..] else { return };
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let kind = if first.is_dir() { "a folder" } else { "no file of rows by its name" };
        progress.note(format_args!("note: passed over {}{more}: {kind}", first.display()));
    }

    /// Leaves out the file that holds the labeled rows, which need not be read a second time, and says so.
    pub fn without(mut self, labeled: &Path, progress: &Progress) -> Self {
        if let Some(path) = self.paths.iter().find(|path| is_same_file(path, labeled)) {
            progress.note(format_args!("note: passed over {}: its rows are the labeled ones", path.display()));
        }
        self.paths.retain(|path| !is_same_file(path, labeled));
        self
    }
}

/// The files that names stand for: those of a folder that are rows by their name, and those that a pattern with `*` and `?` in its
/// last part fits, in the order of their names.
pub fn files_of(paths: &[PathBuf]) -> anyhow::Result<Files> {
    let (mut files, mut passed_over) = (Vec::new(), Vec::new());
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_pattern = name.contains(['*', '?']) && !path.exists();
        if !is_pattern && !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let folder = if is_pattern { udeed::file::folder_of(path) } else { path };
        let cannot = |cause| udeed::Error::Io { path: folder.display().to_string(), action: "read", cause, hint: None };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            // Those that begin so are no rows, but belong to the program that wrote the others.
            let is_meant = match is_pattern {
                true => fits(&name, &own) && (!own.starts_with('.') || name.starts_with('.')),
                false => !own.starts_with(['.', '_']),
            };
            // As it was said: without the dot that stands for the folder of a bare pattern.
            let at = if is_pattern { path.with_file_name(&own) } else { entry.path() };
            if is_meant && !at.is_dir() && (is_pattern || Format::of(&own).is_some()) {
                found.push(at);
            } else if is_meant {
                passed_over.push(at);
            }
        }
        if found.is_empty() {
            let what = if is_pattern { "no file fits the pattern" } else { "a folder without files of rows" };
            return Err(Usage(format!("{}: {what}, expected at least one", path.display())).into());
        }
        found.sort();
        files.append(&mut found);
    }
    passed_over.sort();
    Ok(Files { paths: files, passed_over })
}

/// Whether two names are of one file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    !is_read_once(a) && whole(a).is_some() && whole(a) == whole(b)
}

/// Whether a name fits a pattern, in which `*` stands for any text and `?` for one character.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last star stands, and how much of the name it takes.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&c) if c == '?' || c == name[read] => {
                at += 1;
                read += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((begun, taken)) => {
                    *taken += 1;
                    (at, read) = (*begun + 1, *taken);
                }
            },
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

/// Whether there is no second time to read rows: of standard input, a pipe, or a device.
pub fn is_read_once(path: &Path) -> bool {
    is_stream(path) || path.metadata().is_ok_and(|at| Version::of(&at).is_none())
}

/// Files that are read twice, as they are at first.
pub struct Versions<'a>(Vec<(&'a Path, Version)>);

impl<'a> Versions<'a> {
    pub fn of(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let version = |path: &'a Path| Some((path, Version::of(&path.metadata().ok()?)?));
        Versions(paths.into_iter().filter_map(version).collect())
    }

    /// Refuses files of which rows were read that are gone by now.
    pub fn check(&self) -> udeed::Result<()> {
        self.0.iter().try_for_each(|(path, version)| version.check(path, path.metadata()))
    }
}

/// Reads a file, or standard input for `-`.
pub fn read_file(reader: &Reader, path: &Path, progress: &Progress) -> udeed::Result<Sheet> {
    let sign = progress.reading(path);
    let sheet = match is_stream(path) {
        true => reader.read_from(STANDARD_INPUT, std::io::stdin().lock()),
        false => reader.read(path),
    };
    sign.finish_and_clear();
    sheet
}

/// Reads files one after the other, as [`hold_file`] reads one.
pub fn hold_files(reader: &Reader, paths: &[PathBuf], room: Room<'_>, progress: &Progress) -> udeed::Result<HeldSheet> {
    let [path] = paths else {
        let sign = progress.reading(paths.first().map_or(Path::new(""), PathBuf::as_path));
        let sheet = reader.hold_all(paths, room);
        sign.finish_and_clear();
        return sheet;
    };
    hold_file(reader, path, room, progress)
}

/// Reads a file, or standard input for `-`, into memory if there is room, else into a temporary file.
pub fn hold_file(reader: &Reader, path: &Path, room: Room<'_>, progress: &Progress) -> udeed::Result<HeldSheet> {
    let sign = progress.reading(path);
    let sheet = match is_stream(path) {
        true => reader.hold_from(STANDARD_INPUT, std::io::stdin().lock(), room),
        false => reader.hold(path, room),
    };
    sign.finish_and_clear();
    sheet
}

/// Reads a file, standard input for `-`, or else a built-in set of that name, and calls `visit` with its rows, some at a
/// time.
pub fn for_each_table(
    reader: &Reader,
    name: &Path,
    room: Room<'_>,
    progress: &Progress,
    visit: &mut dyn FnMut(&Table) -> udeed::Result<()>,
) -> anyhow::Result<()> {
    if built_in_name(name).is_some() {
        return named(visit(&read_any(reader, name, progress)?.table), name);
    }
    let sign = progress.reading(name);
    let visited = match is_stream(name) {
        true => reader.for_each_table_from(STANDARD_INPUT, std::io::stdin().lock(), room, visit),
        false => reader.for_each_table(name, room, visit),
    };
    sign.finish_and_clear();
    Ok(visited?)
}

/// The name of what `-` stands for.
const STANDARD_INPUT: &str = "standard input";

/// Reads a file, standard input for `-`, or else a built-in set of that name. Warns of a mark of unlabeled rows that none has.
pub fn read_any(reader: &Reader, name: &Path, progress: &Progress) -> anyhow::Result<Sheet> {
    let sheet = match built_in_name(name) {
        None => read_file(reader, name, progress)?,
        Some(set) => match udeed::format::built_in(&set) {
            Ok(set) => set.read_with(reader)?,
            Err(error) => anyhow::bail!("{}: there is no such file, and {error}", udeed::text::quoted(&set)),
        },
    };
    warn_of_mark(&sheet, name, progress);
    Ok(sheet)
}

/// Warns of a mark of unlabeled rows that none has.
fn warn_of_mark(sheet: &Sheet, path: &Path, progress: &Progress) {
    if let Some(mark) = &sheet.unused_mark {
        let (path, mark) = (path.display(), udeed::text::quoted(mark));
        progress.note(format_args!("warning: {path}: no row has the label {mark} of `--unlabeled-mark`"));
    }
}

/// The error of rows to learn from whose label column nobody named.
fn no_label(sheet: &Sheet, path: &Path) -> anyhow::Error {
    const MOST: usize = 12;
    let columns = sheet.table.columns();
    let mut names: Vec<String> = columns.iter().take(MOST).map(|column| udeed::text::quoted(&column.name)).collect();
    if columns.len() > MOST {
        names.push(format!("and {} more", columns.len() - MOST));
    }
    let (path, names) = (path.display(), names.join(", "));
    Usage(format!("{path}: no `--label`, expected the column with the labels: {names}")).into()
}

/// Says that labels of further rows, all of which are taken as unlabeled, are not used.
pub fn note_unused_labels(more: &HeldSheet, path: &Path, are_several: bool, progress: &Progress) {
    let path = path.display();
    match &more.label {
        _ if more.n_labeled > 0 => progress.note(format_args!("note: the labels in {path} are not used")),
        Some(label) if are_several => {
            progress.note(format_args!("note: column {} of {path} is not used", udeed::text::quoted(label)));
        }
        _ => {}
    }
}

/// Warns of text columns that identify rows, and of the index of a data frame: most likely neither is a feature.
pub fn note_identifiers(table: &Table, n_rows: usize, progress: &Progress) {
    for column in table.columns() {
        if is_index(&column.name) {
            let name = udeed::text::quoted(&column.name);
            progress.note(format_args!(
                "note: column {name} is the index of a data frame by its name; `--drop` leaves columns out"
            ));
            continue;
        }
        if let Kind::Nominal { levels } = &column.kind
            && levels.len() > 20
            && 2 * levels.len() > n_rows
        {
            let (name, n) = (udeed::text::quoted(&column.name), levels.len());
            progress
                .note(format_args!("note: column {name} has {n} values in {n_rows} rows; `--drop` leaves columns out"));
        }
    }
}

/// Whether a name is one under which pandas writes an index.
fn is_index(name: &str) -> bool {
    name.is_empty() || name == "Unnamed: 0" || (name.starts_with("__index_level_") && name.ends_with("__"))
}

/// Says what rows hold that no training row has.
pub fn warn_of_unseen(unseen: &Unseen, path: &Path, progress: &Progress) {
    for warning in unseen.warnings() {
        progress.note(format_args!("warning: {}: {warning}", path.display()));
    }
}

/// Names for tables: that of each file without its endings, more of it where names would be the same.
pub fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        let name = path.file_name().map_or_else(|| "rows".into(), |name| name.to_string_lossy().into_owned());
        match name.as_str() {
            "-" => STANDARD_INPUT.to_owned(),
            _ => name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_owned(),
        }
    };
    let full = |path: &PathBuf| path.display().to_string();
    let stems: Vec<String> = paths.iter().map(stem).collect();
    let is_once = |name: &String| stems.iter().filter(|other| *other == name).count() == 1;
    paths.iter().zip(&stems).map(|(path, name)| if is_once(name) { name.clone() } else { full(path) }).collect()
}

/// A bare word that is no file names a built-in set.
pub fn built_in_name(name: &Path) -> Option<String> {
    let text = name.to_str()?;
    let bare = !is_stream(name) && !text.contains(['/', '.', '\\']);
    (bare && !name.exists()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let fitting = [
            ("*", ""),
            ("*.csv", "a.csv"),
            ("a*b*c", "aXbYbZc"),
            ("part-??.pq", "part-07.pq"),
            ("é?", "éü"),
            ("**a", "a"),
        ];
        fitting.into_iter().for_each(|(pattern, name)| assert!(fits(pattern, name), "{pattern} {name}"));
        let others = [("*.csv", "a.csv.gz"), ("?", ""), ("a*b", "ac"), ("part-??.pq", "part-7.pq"), ("", "a")];
        others.into_iter().for_each(|(pattern, name)| assert!(!fits(pattern, name), "{pattern} {name}"));
        assert!(!fits(&"*a".repeat(30), &"a".repeat(29)));
    }
}

//! Where results go.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use udeed::format::{Format, RecordColumn, RecordWriter};

use crate::progress::Progress;
use crate::terminal::Escaped;

/// A call that makes no sense, whatever the files hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// An error with a hint of its own, which is a line below.
#[derive(Debug, thiserror::Error)]
#[error("{message}\nhint: {hint}")]
pub struct Hinted {
    pub message: String,
    pub hint: String,
}

/// A wrong call that is not reported on standard error, as that stream is an input.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unsaid(pub String);

/// Whether a path stands for standard output or input.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Where temporary files go: beside the result, as temporary folders often lie in memory themselves.
pub fn temporary_folder(out: Option<&Path>) -> PathBuf {
    let out = out.filter(|out| !is_stream(out));
    out.map_or_else(std::env::temp_dir, |out| udeed::file::folder_of(out).to_path_buf())
}

/// Checks before long work that every output can be written, and that none would replace an input or another output. Standard
/// output and standard error are among them: what is read must not be written to there either.
pub fn check_outputs(outputs: &[Option<&Path>], inputs: &[Option<&Path>]) -> anyhow::Result<()> {
    if outputs.iter().flatten().filter(|path| is_stream(path)).count() > 1 {
        return Err(Usage("`-`: standard output takes one result, expected a file for each other".into()).into());
    }
    check_streams(inputs)?;
    let mut taken: Vec<(Place, &str)> =
        inputs.iter().flatten().filter_map(|path| Some((Place::of_input(path)?, "read from"))).collect();
    for path in outputs.iter().flatten().filter(|path| !is_stream(path)) {
        let here = Place::of_output(path);
        if let Some((_, use_)) = taken.iter().find(|(other, _)| other.is(&here)) {
            return Err(Usage(format!("{}: cannot be written, it is {use_} too", path.display())).into());
        }
        udeed::file::check_writable(path)?;
        // A device such as /dev/null may be written to twice.
        if !path.exists() || path.is_file() {
            taken.push((here, "written to"));
        }
    }
    Ok(())
}

/// Refuses to print into what is read: a shell that was told to append to it, or to replace it, has opened it already.
fn check_streams(inputs: &[Option<&Path>]) -> anyhow::Result<()> {
    for (stream, name) in [(redirected(&io::stdout()), "output"), (redirected(&io::stderr()), "error")] {
        let is_printed = |path: &&Path| stream.is_some() && Place::of_input(path).is_some_and(|it| it.file == stream);
        if let Some(path) = inputs.iter().flatten().find(|path| is_printed(path)) {
            let read = if is_stream(path) { "standard input".into() } else { path.display().to_string() };
            let refusal = format!("{read}: cannot be read, standard {name} goes there");
            return Err(if name == "error" { Unsaid(refusal).into() } else { Usage(refusal).into() });
        }
    }
    Ok(())
}

/// Where a file lies: two names may lead to the same place.
struct Place {
    /// The name without links, also of a file that is not there yet.
    path: Option<PathBuf>,
    /// The file itself, which may have several such names.
    file: Option<FileId>,
}

type FileId = (u64, u64);

impl Place {
    /// None for what is no file, such as a built-in set.
    fn of_input(path: &Path) -> Option<Self> {
        if is_stream(path) {
            return Some(Place { path: None, file: redirected(&io::stdin()) });
        }
        path.exists().then(|| Place::of_output(path))
    }

    fn of_output(path: &Path) -> Self {
        let target = udeed::file::target(path).unwrap_or_else(|_| path.to_path_buf());
        let below = || Some(target.parent()?.canonicalize().ok()?.join(target.file_name()?));
        let here = || Some(std::env::current_dir().ok()?.join(&target));
        Place { path: below().or_else(here), file: std::fs::metadata(&target).ok().as_ref().and_then(file_id) }
    }

    fn is(&self, other: &Place) -> bool {
        let same_name = self.path.is_some() && self.path == other.path;
        same_name || self.file.is_some() && self.file == other.file
    }
}

/// Device and inode of a regular file: a terminal may well be both input and output.
#[cfg(unix)]
fn file_id(at: &std::fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    at.is_file().then(|| (at.dev(), at.ino()))
}

#[cfg(not(unix))]
fn file_id(_: &std::fs::Metadata) -> Option<FileId> {
    None
}

/// The file that a stream was redirected from or to.
#[cfg(unix)]
fn redirected(stream: &impl std::os::fd::AsFd) -> Option<FileId> {
    let copy = stream.as_fd().try_clone_to_owned().ok()?;
    file_id(&std::fs::File::from(copy).metadata().ok()?)
}

#[cfg(not(unix))]
fn redirected<T>(_: &T) -> Option<FileId> {
    None
}

/// Prints text for people. Nothing in it drives a terminal, also where it is kept and shown later.
pub fn print(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = Escaped::new(io::BufWriter::new(io::stdout().lock()));
    fill(&mut out).and_then(|()| out.finish()).map_err(|error| named(error.into()))
}

/// A result that was written. It is to be reported: the compiler warns where that is forgotten.
#[must_use = "say what was written"]
pub struct Written<'a>(Option<&'a Path>);

impl<'a> Written<'a> {
    /// What was written to a file by other means than [`write_to`].
    pub fn to(path: &'a Path) -> Self {
        Written(Some(path))
    }

    /// Reports the file name; says nothing for standard output.
    pub fn tell(self, progress: &Progress) {
        self.tell_of("", progress);
    }

    /// Tells the name of the file and what it holds, such as `3 predictions`.
    pub fn tell_of(self, what: &str, progress: &Progress) {
        if let Some(sentence) = self.sentence(what) {
            progress.note(format_args!("{sentence}"));
        }
    }

    /// The sentence that tells it; none of standard output.
    pub fn sentence(self, what: &str) -> Option<String> {
        let path = self.0.filter(|path| !is_stream(path))?;
        let what = if what.is_empty() { String::new() } else { format!("{what} to ") };
        Some(format!("wrote {what}{}", path.display()))
    }
}

/// How wide a line of text is at most.
const WIDTH: usize = 80;

/// A word and, beside it, a text in lines that end at the edge.
pub fn write_wrapped(out: &mut dyn Write, word: &str, indent: usize, text: &str) -> std::io::Result<()> {
    let mut line = format!("{word:<indent$}");
    let mut begun = false;
    for next in text.split_whitespace() {
        if begun && line.chars().count() + 1 + next.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            (line, begun) = (" ".repeat(indent), false);
        }
        if begun {
            line.push(' ');
        }
        line.push_str(next);
        begun = true;
    }
    writeln!(out, "{line}")
}

/// Writes a result for programs to a file, gzipped if its name ends in `.gz`, or to standard output; to a terminal as
/// [`print`] does.
pub fn write_to(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<Written<'_>> {
    let mut fill = Some(fill);
    write_by(path, &mut |out| fill.take().map_or(Ok(()), |fill| fill(out)))?;
    Ok(Written(path))
}

/// What writes a result.
type Fill<'a> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'a;

/// As [`write_to`], but compiled once and not for each result.
fn write_by(path: Option<&Path>, fill: &mut Fill<'_>) -> anyhow::Result<()> {
    let Some(path) = path.filter(|path| !is_stream(path)) else {
        if io::stdout().is_terminal() {
            let mut out = Escaped::new(io::BufWriter::new(io::stdout().lock()));
            return fill(&mut out).and_then(|()| Ok(out.finish()?)).map_err(named);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        fill(&mut out).and_then(|()| Ok(out.flush()?)).map_err(named)?;
        return Ok(());
    };
    // The library's errors say more than an `io::Error` can carry.
    let mut failed = None;
    let written = udeed::file::write_file(path, |file| {
        let outcome = if path.extension().is_some_and(|end| end == "gz") {
            let mut zipped = GzEncoder::new(file, Compression::default());
            fill(&mut zipped).and_then(|()| Ok(zipped.finish().map(|_| ())?))
        } else {
            fill(file)
        };
        outcome.map_err(|error| {
            system_error(error).unwrap_or_else(|error| {
                failed = Some(error);
                io::Error::other("incomplete")
            })
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// A failure of standard output, with its name.
fn named(error: anyhow::Error) -> anyhow::Error {
    match system_error(error) {
        Ok(error) => anyhow::Error::new(error).context("standard output: cannot write"),
        Err(error) => error,
    }
}

/// What the system said, where writing is what went wrong: rows that cannot be read have a name of their own.
fn system_error(error: anyhow::Error) -> Result<io::Error, anyhow::Error> {
    match error.downcast::<udeed::Error>() {
        Ok(udeed::Error::Io { cause, action: "write", .. }) => Ok(cause),
        Ok(error) => Err(error.into()),
        Err(error) => error.downcast::<io::Error>(),
    }
}

/// The system's own error, whose kind tells a closed pipe.
pub fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Records for programs, cell by cell: Parquet where the name of the file says so, else CSV.
pub enum RecordFile<'a> {
    Csv { out: Box<csv::Writer<&'a mut dyn Write>>, width: usize, next: usize },
    Parquet(Box<RecordWriter<'a>>),
}

impl<'a> RecordFile<'a> {
    /// Writes the names of the columns.
    pub fn begin(
        path: Option<&Path>,
        out: &'a mut dyn Write,
        columns: impl IntoIterator<Item = (String, RecordColumn)>,
    ) -> udeed::Result<Self> {
        if path.and_then(|path| Format::of(&path.display().to_string())) == Some(Format::Parquet) {
            return RecordWriter::new(out, columns).map(|records| RecordFile::Parquet(Box::new(records)));
        }
        let names: Vec<String> = columns.into_iter().map(|(name, _)| name).collect();
        let mut out = csv::Writer::from_writer(out);
        out.write_record(&names).map_err(unwritten)?;
        Ok(RecordFile::Csv { out: Box::new(out), width: names.len(), next: 0 })
    }

    /// The next cell, of a column of text.
    pub fn text(&mut self, text: &str) -> udeed::Result<()> {
        match self {
            RecordFile::Csv { .. } => self.cell(text),
            RecordFile::Parquet(records) => records.text(Some(text)),
        }
    }

    /// The next cell, of a column of numbers.
    pub fn number(&mut self, number: f64) -> udeed::Result<()> {
        match self {
            RecordFile::Csv { .. } => self.cell(&number.to_string()),
            RecordFile::Parquet(records) => records.number(number),
        }
    }

    /// The next cell, of a column of whole numbers.
    pub fn count(&mut self, count: usize) -> udeed::Result<()> {
        match self {
            RecordFile::Csv { .. } => self.cell(&count.to_string()),
            RecordFile::Parquet(records) => records.count(count),
        }
    }

    /// The next cell as the text that a file has: of a column of text, or of numbers.
    pub fn plain(&mut self, text: &str, kind: RecordColumn) -> udeed::Result<()> {
        match self {
            RecordFile::Parquet(records) if kind == RecordColumn::Text => {
                records.text(Some(text).filter(|text| !text.is_empty()))
            }
            RecordFile::Parquet(records) => records.number(text.parse().unwrap_or(f64::NAN)),
            RecordFile::Csv { .. } => self.cell(text),
        }
    }

    pub fn finish(self) -> udeed::Result<()> {
        match self {
            RecordFile::Csv { mut out, .. } => out.flush().map_err(|error| unwritten(error.into())),
            RecordFile::Parquet(records) => records.finish(),
        }
    }

    fn cell(&mut self, text: &str) -> udeed::Result<()> {
        let RecordFile::Csv { out, width, next } = self else { return Ok(()) };
        out.write_field(text).map_err(unwritten)?;
        *next += 1;
        if next == width {
            *next = 0;
            out.write_record(None::<&[u8]>).map_err(unwritten)?;
        }
        Ok(())
    }
}

/// What a column of these cells is: numbers if all are, or are missing. Digits that a number would not keep are text: `007`, or
/// more of them than an `f64` has.
pub fn kind_of<'t>(cells: impl IntoIterator<Item = &'t str>) -> RecordColumn {
    let mut known = cells.into_iter().filter(|cell| !cell.is_empty()).peekable();
    let are_numbers = known.peek().is_some() && known.all(is_kept_as_number);
    if are_numbers { RecordColumn::Number } else { RecordColumn::Text }
}

fn is_kept_as_number(cell: &str) -> bool {
    const EXACT: f64 = (1u64 << 53) as f64;
    let Ok(x) = cell.parse::<f64>() else { return false };
    let digits = cell.trim_start_matches(['-', '+']);
    let are_all = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_code = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    x.is_finite() && !is_code && !(are_all && x.abs() >= EXACT)
}

fn unwritten(error: csv::Error) -> udeed::Error {
    udeed::Error::Io { path: "the records".into(), action: "write", cause: plain(error), hint: None }
}

/// Writes pretty JSON to a file or to standard output.
pub fn write_json<'a>(path: Option<&'a Path>, value: &impl serde::Serialize) -> anyhow::Result<Written<'a>> {
    let text = serde_json::to_string_pretty(value)?;
    write_to(path, |out| Ok(writeln!(out, "{text}")?))
}

/// Prints pretty JSON.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    write_json(None, value).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::{RecordColumn, kind_of};

    #[test]
    fn what_a_number_would_not_keep_is_text() {
        for cells in [&["1", "", "-2.5", "1e9", "0", "0.5", "+3"][..], &["9007199254740991"], &["123456789012345678.5"]]
        {
            assert_eq!(kind_of(cells.iter().copied()), RecordColumn::Number, "{cells:?}");
        }
        for cells in [&["1", "x"][..], &["007"], &["-01"], &["9007199254740993"], &["inf"], &["nan"], &[""], &[]] {
            assert_eq!(kind_of(cells.iter().copied()), RecordColumn::Text, "{cells:?}");
        }
    }
}

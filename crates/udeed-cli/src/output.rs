//! Where results go.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// A call that makes no sense, whatever the files hold.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Whether a path stands for standard output or input.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Checks before long work that every output can be written, and that none would replace an input or another output.
pub fn check_outputs(outputs: &[Option<&Path>], inputs: &[Option<&Path>]) -> anyhow::Result<()> {
    let mut taken: Vec<(PathBuf, &str)> =
        inputs.iter().flatten().filter(|path| !is_stream(path)).map(|path| (place(path), "read from")).collect();
    for path in outputs.iter().flatten().filter(|path| !is_stream(path)) {
        let here = place(path);
        if let Some((_, use_)) = taken.iter().find(|(other, _)| *other == here) {
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

/// The one name of a file, also of one that is not there yet.
fn place(path: &Path) -> PathBuf {
    let whole = || path.canonicalize().ok();
    let below = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let here = || Some(std::env::current_dir().ok()?.join(path));
    whole().or_else(below).or_else(here).unwrap_or_else(|| path.to_path_buf())
}

/// Writes a result to a file, gzipped if its name ends in `.gz`, or to standard output.
pub fn write_to(path: Option<&Path>, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut fill = Some(fill);
    write_by(path, &mut |out| fill.take().map_or(Ok(()), |fill| fill(out)))
}

/// What writes a result.
type Fill<'a> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'a;

/// As [`write_to`], but compiled once and not for each result.
fn write_by(path: Option<&Path>, fill: &mut Fill<'_>) -> anyhow::Result<()> {
    let Some(path) = path.filter(|path| !is_stream(path)) else {
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

/// What the system said, where that is what went wrong.
fn system_error(error: anyhow::Error) -> Result<io::Error, anyhow::Error> {
    match error.downcast::<udeed::Error>() {
        Ok(udeed::Error::Io { cause, .. }) => Ok(cause),
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

/// Writes pretty JSON to a file or to standard output.
pub fn write_json(path: Option<&Path>, value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    write_to(path, |out| Ok(writeln!(out, "{text}")?))
}

//! Files: read plain or gzipped, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Place, Result};

/// Text from a file or a stream, unzipped where it is gzipped, with a name for messages.
pub(crate) struct Source<'a> {
    name: String,
    text: Box<dyn BufRead + 'a>,
    gzipped: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &Path) -> Result<Source<'static>> {
        let refused = |error| Error::io(path, "read", error);
        if path.is_dir() {
            return Err(Error::input(Place::new(path.display().to_string()), "a directory", "a file"));
        }
        let file = File::open(path).map_err(refused)?;
        Source::new(path.display().to_string(), file)
    }

    /// Gzip is recognised by its first bytes, not by a name: a stream has none.
    pub(crate) fn new(name: String, bytes: impl Read + 'a) -> Result<Source<'a>> {
        let mut bytes = BufReader::with_capacity(1 << 16, bytes);
        let gzipped =
            bytes.fill_buf().map_err(|error| Error::io(Path::new(&name), "read", error))?.starts_with(&[0x1f, 0x8b]);
        let text: Box<dyn BufRead + 'a> = if gzipped {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes)))
        } else {
            Box::new(bytes)
        };
        Ok(Source { name, text, gzipped })
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(&self.name)
    }

    /// What a failed read means: a broken gzip stream looks like any other failure to the system.
    pub(crate) fn failed(name: &str, gzipped: bool, error: io::Error) -> Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        if gzipped && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
            return Error::input(Place::new(name), format!("a broken gzip stream ({error})"), "a whole one");
        }
        Error::io(Path::new(name), "read", error)
    }

    /// The name, the text, and whether it is gzipped (for [`Source::failed`]).
    pub(crate) fn into_parts(self) -> (String, Box<dyn BufRead + 'a>, bool) {
        (self.name, self.text, self.gzipped)
    }

    /// The lines with their numbers.
    pub(crate) fn lines(self) -> Lines<'a> {
        Lines { source: self, number: 0, bytes: Vec::new() }
    }
}

/// The lines of a source, one at a time, checked to be UTF-8.
pub(crate) struct Lines<'a> {
    source: Source<'a>,
    number: u64,
    bytes: Vec<u8>,
}

impl Lines<'_> {
    /// The next line without its end, or `None` after the last one.
    pub(crate) fn next_line(&mut self) -> Result<Option<&str>> {
        self.bytes.clear();
        let read = self.source.text.read_until(b'\n', &mut self.bytes);
        let n = read.map_err(|error| Source::failed(&self.source.name, self.source.gzipped, error))?;
        if n == 0 {
            return Ok(None);
        }
        self.number += 1;
        let place = self.place();
        let mut line = checked_utf8(&self.bytes, || place)?;
        line = line.strip_suffix('\n').unwrap_or(line);
        line = line.strip_suffix('\r').unwrap_or(line);
        if self.number == 1 {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        Ok(Some(line))
    }

    /// Where the last line stands.
    pub(crate) fn place(&self) -> Place {
        self.source.place().line(self.number.max(1))
    }

    /// The source as a whole.
    pub(crate) fn source(&self) -> Place {
        self.source.place()
    }
}

/// Bytes as text.
pub(crate) fn checked_utf8(bytes: &[u8], place: impl FnOnce() -> Place) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::input(place(), format!("the byte 0x{:02x}, which is not UTF-8", bytes[at]), "text in UTF-8")
            .with_hint("text of Excel may be converted by `iconv -f WINDOWS-1252 -t UTF-8`")
    })
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name. What cannot be
/// replaced, such as a pipe or `/dev/stdout`, is written to directly.
///
/// # Errors
/// If the path is a directory or cannot be written, or `fill` fails. The old file is then as it was.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("note.txt");
/// udeed::write_file(&path, |file| file.write_all(b"kept"))?;
/// assert!(udeed::write_file(&path, |_| Err(std::io::Error::other("no"))).is_err());
/// assert_eq!(std::fs::read(&path).unwrap(), b"kept");
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let refused = |error| Error::io(path, "write", error);
    let Some(folder) = replaceable(path)? else {
        let mut file = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path).map_err(refused)?);
        return fill(&mut file).and_then(|()| file.flush()).map_err(refused);
    };
    // A link stays a link: what it points to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut file = io::BufWriter::new(temporary(&folder).map_err(refused)?);
    fill(&mut file).map_err(refused)?;
    let file = file.into_inner().map_err(|error| refused(error.into_error()))?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions()).map_err(refused)?;
    }
    file.as_file().sync_all().map_err(refused)?;
    file.persist(path).map_err(|error| refused(error.error))?;
    Ok(())
}

/// Whether [`write_file`] could write there, asked before long work.
///
/// # Errors
/// If the path is a directory or cannot be written.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// assert!(udeed::check_writable(folder.path()).is_err());
/// assert!(udeed::check_writable(&folder.path().join("model.safetensors")).is_ok());
/// ```
pub fn check_writable(path: &Path) -> Result<()> {
    if let Some(folder) = replaceable(path)? {
        temporary(&folder).map_err(|error| Error::io(path, "write", error))?;
    }
    Ok(())
}

/// The folder of a path that a finished file can be renamed to, or `None` for a device or a pipe.
fn replaceable(path: &Path) -> Result<Option<PathBuf>> {
    let refused = |error| Error::io(path, "write", error);
    match fs::metadata(path) {
        Ok(at) if at.is_dir() => return Err(refused(io::ErrorKind::IsADirectory.into())),
        Ok(at) if !at.is_file() => return Ok(None),
        Ok(at) if at.permissions().readonly() => return Err(refused(io::ErrorKind::PermissionDenied.into())),
        _ => {}
    }
    if path.file_name().is_none() {
        return Err(refused(io::ErrorKind::InvalidFilename.into()));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(refused(io::Error::other(format!("there is no folder {}", folder.display()))));
    }
    Ok(Some(folder.to_path_buf()))
}

fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".udeed-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is private by default; this one becomes an ordinary file, as the umask wants it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The name of the temporary file means nothing to the user.
    builder.tempfile_in(folder).map_err(|error| error.kind().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        assert!(write_file(&path, |_| Err(io::Error::other("full"))).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_path_that_is_a_folder_or_in_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_file(folder.path(), |_| Ok(())).is_err());
        assert!(write_file(&folder.path().join("no/such"), |_| Ok(())).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_written_to_and_stays_a_device() {
        use std::os::unix::fs::FileTypeExt;
        write_file(Path::new("/dev/null"), |file| file.write_all(b"x")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn lines_are_numbered_and_cleaned() {
        let mut lines = Source::new("x".into(), &b"\xef\xbb\xbfa\r\nb"[..]).unwrap().lines();
        assert_eq!(lines.next_line().unwrap(), Some("a"));
        assert_eq!(lines.next_line().unwrap(), Some("b"));
        assert_eq!(lines.place().to_string(), "x, line 2");
        assert_eq!(lines.next_line().unwrap(), None);
    }
}

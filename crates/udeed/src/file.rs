//! Files: read plain or gzipped, written whole or not at all.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Place, Result};

/// Bytes of text from a file or a stream, unzipped where it is gzipped, with a name for messages.
pub(crate) struct Source<'a> {
    name: String,
    text: Box<dyn BufRead + 'a>,
    gzipped: bool,
    /// How many bytes the file has, where that is known, and how many were taken from it.
    length: Option<u64>,
    taken: Rc<Cell<u64>>,
}

impl<'a> Source<'a> {
    pub(crate) fn open(path: &Path) -> Result<Source<'static>> {
        let refused = |error| Error::io(path, "read", error);
        if path.is_dir() {
            return Err(Error::input(Place::new(path.display().to_string()), "a directory", "a file"));
        }
        let file = File::open(path).map_err(refused)?;
        let length = file.metadata().ok().filter(fs::Metadata::is_file).map(|at| at.len());
        Ok(Source { length, ..Source::new(path.display().to_string(), file)? })
    }

    /// Gzip is recognised by its first bytes, not by a name: a stream has none.
    pub(crate) fn new(name: String, bytes: impl Read + 'a) -> Result<Source<'a>> {
        let taken = Rc::new(Cell::new(0));
        let mut bytes = BufReader::with_capacity(1 << 16, Counted { bytes, taken: Rc::clone(&taken) });
        let gzipped =
            bytes.fill_buf().map_err(|error| Error::io(Path::new(&name), "read", error))?.starts_with(&[0x1f, 0x8b]);
        let text: Box<dyn BufRead + 'a> = if gzipped {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes)))
        } else {
            Box::new(bytes)
        };
        Ok(Source { name, text, gzipped, length: None, taken })
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(&self.name)
    }

    /// Appends up to so many bytes of text; fewer only at the end. What was read before a failure is kept.
    pub(crate) fn read(&mut self, most: usize, text: &mut Vec<u8>) -> Result<usize> {
        let before = text.len();
        while text.len() < before + most {
            // Through the buffer: how much of a broken gzip stream can be read then does not depend on `most`.
            match self.text.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => {
                    let n = bytes.len().min(before + most - text.len());
                    text.extend_from_slice(&bytes[..n]);
                    self.text.consume(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(text.len() - before)
    }

    /// The share of the file that was read, where its length is known.
    pub(crate) fn share(&self) -> Option<f64> {
        Some((self.taken.get() as f64 / self.length.filter(|&length| length > 0)? as f64).min(1.0))
    }

    /// What a failed read means: a broken gzip stream looks like any other failure to the system.
    fn failed(&self, error: io::Error) -> Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        if self.gzipped && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
            return Error::input(self.place(), format!("a broken gzip stream ({error})"), "a whole one");
        }
        Error::io(Path::new(&self.name), "read", error)
    }
}

/// Counts the bytes that are read.
struct Counted<R> {
    bytes: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.bytes.read(buffer)?;
        self.taken.set(self.taken.get() + n as u64);
        Ok(n)
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
}

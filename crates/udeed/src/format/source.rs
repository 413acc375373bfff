//! Sources of text: files and streams, plain or gzipped.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Hint, Place, Result};
use crate::file::Version;
#[cfg(feature = "parquet")]
use crate::text::byte_size;

/// Text of a file or a stream, unzipped if it is gzipped, with a name for messages.
pub(crate) struct Source<'a> {
    name: String,
    text: Box<dyn BufRead + 'a>,
    gzipped: bool,
    /// The file itself, if these are its bytes as they are: for formats that are not read from front to back.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    file: Option<File>,
    /// Length of the file in bytes, if it is known.
    length: Option<u64>,
    /// Number of bytes that were read from it.
    taken: Rc<Cell<u64>>,
}

/// Reads a file, and refuses it if it changed meanwhile: rows of two versions, or half of them, are worse than none.
///
/// # Errors
/// If it cannot be opened, `read` fails, or it changed, which may well be why `read` failed.
pub(crate) fn read_file<T>(path: &Path, read: impl FnOnce(Source<'static>) -> Result<T>) -> Result<T> {
    let refused = |error| Error::io(path, "read", error);
    if path.is_dir() {
        return Err(Error::input(Place::new(path.display().to_string()), "a directory", "a file"));
    }
    let file = File::open(path).map_err(refused)?;
    let version = file.metadata().ok().as_ref().and_then(Version::of);
    let watched = file.try_clone().map_err(refused)?;
    let length = version.as_ref().map(Version::length);
    let itself = version.as_ref().map(|_| file.try_clone()).transpose().map_err(refused)?;
    let source = Source::new(path.display().to_string(), file)?;
    let found = read(Source { length, file: itself.filter(|_| !source.gzipped), ..source });
    if let Some(version) = version {
        version.check(path, watched.metadata())?;
    }
    found
}

impl<'a> Source<'a> {
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
        Ok(Source { name, text, gzipped, file: None, length: None, taken })
    }

    pub(crate) fn place(&self) -> Place {
        Place::new(&self.name)
    }

    /// The bytes that come next, at least one unless there are no more; they are not taken.
    pub(crate) fn peek(&mut self) -> Result<&[u8]> {
        // Twice, because the borrow of what is returned must not last over an error.
        if let Err(error) = self.text.fill_buf() {
            return Err(self.failed(error));
        }
        Ok(self.text.fill_buf().unwrap_or_default())
    }

    /// The file to be read anywhere, at its full length; a stream of at most `most` bytes is copied into a temporary one.
    #[cfg(feature = "parquet")]
    pub(crate) fn into_file(mut self, most: u64) -> Result<File> {
        if let Some(file) = self.file.take() {
            return Ok(file);
        }
        let unwritten = |error| Error::io(&std::env::temp_dir(), "write", error);
        let mut copy = tempfile::tempfile().map_err(unwritten)?;
        let (mut bytes, mut left) = (Vec::new(), most);
        while self.read(1 << 20, &mut bytes)? > 0 {
            left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
                let expected = format!("at most {}, as it is copied to be read from its end", byte_size(most));
                Error::input(self.place(), "a longer stream than may be copied", expected).with_hint(Hint::LongStream)
            })?;
            io::Write::write_all(&mut copy, &bytes).map_err(unwritten)?;
            bytes.clear();
        }
        Ok(copy)
    }

    /// Appends up to `most` bytes of text, fewer only at the end. Text that was read before a failure is kept.
    pub(crate) fn read(&mut self, most: usize, text: &mut Vec<u8>) -> Result<usize> {
        let before = text.len();
        while text.len() < before + most {
            // Through the buffer, so that `most` does not change how much of a broken gzip stream can be read.
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

    /// The share of the file that was read, if its length is known.
    pub(crate) fn share(&self) -> Option<f64> {
        Some((self.taken.get() as f64 / self.length.filter(|&length| length > 0)? as f64).min(1.0))
    }

    /// The error of a failed read. To the system a broken gzip stream is a failure like any other.
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

/// Checks that bytes are UTF-8.
pub(crate) fn checked_utf8(bytes: &[u8], place: impl FnOnce() -> Place) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Error::input(place(), format!("the byte 0x{:02x}, which is not UTF-8", bytes[at]), "text in UTF-8")
            .with_hint(if is_utf16(&bytes[at..]) { Hint::Utf16 } else { Hint::Encoding })
    })
}

/// Whether bytes begin with a byte order mark of UTF-16.
fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use crate::file::in_a_folder;

    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_read_is_refused_by_name() {
        let (_folder, path) = in_a_folder("rows.csv");
        let changes: [&dyn Fn(&File); 4] = [
            &|file| file.set_len(3).unwrap(),
            &|file| file.set_len(1000).unwrap(),
            &|file| file.set_modified(SystemTime::UNIX_EPOCH).unwrap(),
            &|_| fs::write(&path, "other").unwrap(),
        ];
        for change in changes {
            for fails in [false, true] {
                fs::write(&path, "a,b\n1,2\n").unwrap();
                let found = read_file(&path, |source| {
                    change(&File::options().write(true).open(&path).unwrap());
                    if fails { Err(Error::input(source.place(), "half a row", "a whole one")) } else { Ok(()) }
                });
                let message = found.unwrap_err().to_string();
                let expected = "found a file that changed while it was read, expected one that stays as it is";
                assert_eq!(message, format!("{}: {expected}", path.display()));
            }
        }
    }

    #[test]
    fn a_file_that_is_replaced_or_removed_is_read_as_it_was() {
        let (folder, path) = in_a_folder("rows.csv");
        let other = folder.path().join("other.csv");
        for replace in [true, false] {
            fs::write(&path, "old").unwrap();
            fs::write(&other, "newer").unwrap();
            let text = read_file(&path, |mut source| {
                if replace {
                    fs::rename(&other, &path).unwrap();
                } else {
                    fs::remove_file(&path).unwrap();
                }
                let mut text = Vec::new();
                source.read(100, &mut text).map(|_| text)
            });
            assert_eq!(text.unwrap(), b"old");
        }
    }
}

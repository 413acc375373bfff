//! Prepared rows in a file with a name, for other processes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::data::{Block, Blocks, Buffer, DiskRows, DiskRowsPlan, DiskRowsWriter, Extent, Matrix, Sealed};
use crate::error::{Error, Place, Result};
use crate::file::{Version, checksum, folder_of, temporary};

/// How a file ends: after the rows come what they are, its length, its checksum, and this.
const MAGIC: [u8; 8] = *b"UDEEDrow";
/// Length and checksum of the footer, and the magic.
const END: u64 = 8 + 4 + 8;

/// The end of a file.
#[derive(Serialize, Deserialize)]
struct Footer {
    plan: DiskRowsPlan,
    length: u64,
    checksum: u32,
    /// Whether the machine that wrote the numbers is little-endian.
    is_little_endian: bool,
}

/// A file of prepared rows, which any process on the machine reads, block by block. It is written whole or not at all, and
/// ends with what it holds and its checksum.
///
/// ```
/// use udeed::data::{Blocks, Dense, Spill};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("part-0.rows");
/// let mut writer = Spill::writer(&path)?;
/// writer.push(&Dense::new(2, 1, vec![1.0, 2.0])?.into())?;
/// let written = writer.finish()?;
/// let read = Spill::open(&path)?;
/// assert_eq!((read.shape(), read.checksum()), ((2, 1), written.checksum()));
/// read.verify()?;
/// std::fs::write(&path, b"UDEEDrow").unwrap();
/// assert!(Spill::open(&path).is_err());
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug)]
pub struct Spill {
    rows: DiskRows,
    path: PathBuf,
    length: u64,
    checksum: u32,
    /// None of what is no plain file.
    version: Option<Version>,
}

impl Spill {
    /// Begins a file.
    ///
    /// # Errors
    /// If its folder cannot be written to.
    pub fn writer(path: &Path) -> Result<SpillWriter> {
        let folder = folder_of(path);
        let refused = |error| Error::io(path, "write", error);
        let temporary = temporary(folder).map_err(refused)?;
        let rows = DiskRowsWriter::checked(temporary.as_file().try_clone().map_err(refused)?, folder);
        Ok(SpillWriter { rows, temporary, path: path.to_path_buf() })
    }

    /// Opens a file. Only its end is looked at.
    ///
    /// # Errors
    /// If it cannot be read, or is no whole file of rows.
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |error| Error::io(path, "read", error);
        let mut file = File::open(path).map_err(refused)?;
        let at = file.metadata().map_err(refused)?;
        let (size, version) = (at.len(), Version::of(&at));
        let broken = || {
            Error::input(Place::new(path.display().to_string()), "a file that is no whole one", "one of prepared rows")
        };
        let mut read = |from: u64, n: u64| -> Result<Vec<u8>> {
            let mut bytes = vec![0; usize::try_from(n).map_err(|_| broken())?];
            file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut bytes)).map_err(refused)?;
            Ok(bytes)
        };
        let at_end = size.checked_sub(END).ok_or_else(broken)?;
        let end = read(at_end, END)?;
        let length = end[..8].try_into().map(u64::from_le_bytes).map_err(|_| broken())?;
        let begin = at_end.checked_sub(length).filter(|_| end[12..] == MAGIC).ok_or_else(broken)?;
        let footer = read(begin, length)?;
        let checked = checksum(&footer).to_le_bytes() == end[8..12];
        let footer: Option<Footer> = serde_json::from_slice(&footer).ok().filter(|_| checked);
        let footer = footer.filter(|footer| footer.length == begin).ok_or_else(broken)?;
        if footer.is_little_endian != cfg!(target_endian = "little") {
            let found = "numbers with their bytes in another order";
            return Err(Error::input(Place::new(path.display().to_string()), found, "those of this machine"));
        }
        let rows = DiskRows::of_plan(file, folder_of(path), footer.plan, begin).ok_or_else(broken)?;
        Ok(Spill { rows, path: path.to_path_buf(), length: begin, checksum: footer.checksum, version })
    }

    /// The name of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checksum of the rows, as it was when they were written.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Refuses a file of other rows than those with a checksum. The rows are read for it once in a process, and again when the
    /// file has changed since.
    ///
    /// # Errors
    /// If that of the file is another, or as [`Spill::verify`].
    pub fn check(&self, checksum: u32) -> Result<()> {
        /// The files whose rows were read, as they were then.
        static VERIFIED: Mutex<BTreeMap<PathBuf, Version>> = Mutex::new(BTreeMap::new());
        if checksum != self.checksum {
            let place = Place::new(self.path.display().to_string());
            return Err(Error::input(place, "other rows", "those that were kept there"));
        }
        let verified = || VERIFIED.lock().unwrap_or_else(PoisonError::into_inner);
        if self.version.is_some() && verified().get(&self.path) == self.version.as_ref() {
            return Ok(());
        }
        self.verify()?;
        if let Some(version) = &self.version {
            verified().insert(self.path.clone(), version.clone());
        }
        Ok(())
    }

    /// Reads all rows, and compares their checksum.
    ///
    /// # Errors
    /// If it is another, or the file cannot be read.
    pub fn verify(&self) -> Result<()> {
        let found = self.rows.checksum(self.length)?;
        if found == self.checksum {
            return Ok(());
        }
        let place = Place::new(self.path.display().to_string());
        Err(Error::input(place, "rows that are not those that were written", "the checksum at the end of the file"))
    }
}

impl Sealed for Spill {}

impl Blocks for Spill {
    fn extent(&self) -> Extent {
        Extent { shape: self.rows.shape(), is_sparse: self.rows.is_sparse() }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        self.rows.block(rows, buffer)
    }
}

/// Writes a [`Spill`]: rows, then what they are. What is not finished leaves nothing.
#[derive(Debug)]
pub struct SpillWriter {
    rows: DiskRowsWriter,
    temporary: tempfile::NamedTempFile,
    path: PathBuf,
}

impl SpillWriter {
    /// Appends rows.
    ///
    /// # Errors
    /// If the number of columns differs from that of the rows before, or the file cannot be written, as on a full disk.
    pub fn push(&mut self, rows: &Matrix) -> Result<()> {
        // Rows without any have columns, too.
        if rows.rows().n_rows() == 0 { self.rows.push(rows) } else { self.rows.push_in_pieces(rows) }
    }

    /// Gives the file its name, in place of one that may be there.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<Spill> {
        let SpillWriter { rows, temporary, path } = self;
        let refused = |error| Error::io(&path, "write", error);
        let (plan, length, of_rows) = rows.plan();
        let footer = Footer { plan, length, checksum: of_rows, is_little_endian: cfg!(target_endian = "little") };
        let footer = serde_json::to_vec(&footer).map_err(|error| refused(error.into()))?;
        let mut file = temporary.as_file();
        file.write_all(&footer).map_err(refused)?;
        file.write_all(&(footer.len() as u64).to_le_bytes()).map_err(refused)?;
        file.write_all(&checksum(&footer).to_le_bytes()).map_err(refused)?;
        file.write_all(&MAGIC).map_err(refused)?;
        drop(rows);
        temporary.persist(&path).map_err(|error| refused(error.error))?;
        Spill::open(&path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use crate::data::Dense;
    use crate::file::in_a_folder;

    use super::*;

    #[test]
    fn a_flipped_byte_of_the_rows_is_found_also_after_they_were_checked() {
        let (_folder, path) = in_a_folder("part.rows");
        let mut writer = Spill::writer(&path).unwrap();
        writer.push(&Dense::new(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap().into()).unwrap();
        let checksum = writer.finish().unwrap().checksum();
        let whole = fs::read(&path).unwrap();
        // Each at a time of its own: a clock may be coarser than a test is fast.
        let put = |bytes: &[u8], seconds: u64| {
            fs::write(&path, bytes).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            Spill::open(&path).unwrap().check(checksum)
        };
        for place in 0..32 {
            put(&whole, 10 * place).unwrap();
            Spill::open(&path).unwrap().check(checksum).unwrap();
            let mut flipped = whole.clone();
            flipped[place as usize] ^= 1;
            let error = put(&flipped, 10 * place + 5).unwrap_err().to_string();
            assert!(error.ends_with("expected the checksum at the end of the file"), "{place}: {error}");
        }
    }
}

//! Files: read plain or gzipped, written whole or not at all, by one process at a time.

mod lock;

pub use lock::{Lock, LockError};

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use flate2::Crc;
use tempfile::NamedTempFile;

use crate::error::{Error, Place, Result};

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its name. What cannot be
/// replaced, such as a pipe or `/dev/stdout`, is written to directly. A link stays a link: what it leads to is written,
/// also where that is not there yet.
///
/// The content is on the disk before it takes the name. Temporary files of processes that died are removed by the next
/// one that writes into the folder.
///
/// # Errors
/// If the path is a directory or cannot be written, or `fill` fails. The old file is then as it was.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("note.txt");
/// udeed::file::write_file(&path, |file| file.write_all(b"kept"))?;
/// assert!(udeed::file::write_file(&path, |_| Err(std::io::Error::other("no"))).is_err());
/// assert_eq!(std::fs::read(&path).unwrap(), b"kept");
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let refused = |error| Error::io(path, "write", error);
    let Some(target) = replaceable(path)? else {
        let mut file = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path).map_err(refused)?);
        return fill(&mut file).and_then(|()| file.flush()).map_err(refused);
    };
    let folder = folder_of(&target);
    remove_abandoned(folder);
    let temporary = temporary(folder).map_err(refused)?;
    // Not by way of the temporary file, whose errors name it: its name means nothing to the user.
    let mut file = io::BufWriter::new(temporary.as_file());
    fill(&mut file).and_then(|()| file.flush()).map_err(refused)?;
    drop(file);
    if let Ok(old) = fs::metadata(&target) {
        temporary.as_file().set_permissions(old.permissions()).map_err(refused)?;
    }
    temporary.as_file().sync_all().map_err(refused)?;
    temporary.persist(&target).map_err(|error| refused(error.error))?;
    sync_folder_of(&target);
    Ok(())
}

/// Whether [`write_file`] could write there, asked before long work.
///
/// # Errors
/// If the path is a directory or cannot be written.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// assert!(udeed::file::check_writable(folder.path()).is_err());
/// assert!(udeed::file::check_writable(&folder.path().join("model.safetensors")).is_ok());
/// ```
pub fn check_writable(path: &Path) -> Result<()> {
    if let Some(target) = replaceable(path)? {
        temporary(folder_of(&target)).map_err(|error| Error::io(path, "write", error))?;
    }
    Ok(())
}

/// The path behind all links, also where nothing is there yet.
///
/// # Errors
/// If links lead in a circle.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(udeed::file::target(Path::new("no/such/file")).unwrap(), Path::new("no/such/file"));
/// ```
pub fn target(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        // A canonical name holds no links; a file that is not there has none, but its name may be that of a link.
        if let Ok(whole) = fs::canonicalize(&target) {
            return Ok(whole);
        }
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("links that lead in a circle"))
}

/// Puts the names in the folder of a file on the disk, so that a new or renamed file outlives a loss of power. A file
/// system that cannot do this is not asked twice: what the file holds is safe already.
pub fn sync_folder_of(path: &Path) {
    #[cfg(unix)]
    if let Ok(path) = fs::canonicalize(path)
        && let Ok(folder) = File::open(folder_of(&path))
    {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// The path that a finished file can be renamed to, or `None` for a device or a pipe.
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
    let target = target(path).map_err(refused)?;
    let folder = folder_of(&target);
    if !folder.is_dir() {
        return Err(refused(io::Error::other(format!("there is no folder {}", folder.display()))));
    }
    Ok(Some(target))
}

/// The folder in which a file lies.
///
/// ```
/// use std::path::Path;
/// use udeed::file::folder_of;
///
/// assert_eq!(folder_of(Path::new("models/vote.safetensors")), Path::new("models"));
/// assert_eq!(folder_of(Path::new("vote.safetensors")), Path::new("."));
/// ```
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The CRC-32 of some bytes, which tells a damaged file from a whole one.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A version of a plain file: its length and the time of its last change.
///
/// ```
/// use udeed::file::Version;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rows.csv");
/// std::fs::write(&path, "x\n1\n").unwrap();
/// let version = Version::of(&path.metadata().unwrap()).unwrap();
/// version.check(&path, path.metadata())?;
/// std::fs::write(&path, "x\n1\n2\n").unwrap();
/// assert!(version.check(&path, path.metadata()).is_err());
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    length: u64,
    modified: Option<SystemTime>,
}

impl Version {
    /// The version of a file; none of what is no plain file.
    pub fn of(at: &fs::Metadata) -> Option<Self> {
        at.is_file().then(|| Version { length: at.len(), modified: at.modified().ok() })
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Checks that a file is of the same version by now.
    ///
    /// # Errors
    /// If it is of another, or is gone.
    pub fn check(&self, path: &Path, now: io::Result<fs::Metadata>) -> Result<()> {
        if now.ok().as_ref().and_then(Version::of).as_ref() == Some(self) {
            return Ok(());
        }
        let place = Place::new(path.display().to_string());
        Err(Error::input(place, "a file that changed while it was read", "one that stays as it is"))
    }
}

const PREFIX: &str = ".udeed-";
const SUFFIX: &str = ".tmp";

/// A temporary file, locked as long as it is open, so that others know that somebody writes to it.
pub(crate) fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is private by default; this one becomes an ordinary file, as the umask wants it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    loop {
        // The name of the temporary file means nothing to the user.
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        // Before it was locked, another process may have taken it for abandoned; then it is gone, or will be.
        match file.as_file().try_lock() {
            Err(TryLockError::WouldBlock) => {}
            _ if !file.path().exists() => {}
            // Where the file system knows no locks, abandoned files cannot be told either, and stay.
            _ => return Ok(file),
        }
    }
}

/// Removes the temporary files of processes that died. Once for a folder is enough: it may hold many files.
fn remove_abandoned(folder: &Path) {
    static LOOKED_INTO: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = |mut folders: MutexGuard<'_, BTreeSet<PathBuf>>| folders.insert(folder.to_path_buf());
    if LOOKED_INTO.lock().is_ok_and(is_new) {
        remove_abandoned_now(folder);
    }
}

/// A file whose lock nobody holds is abandoned.
fn remove_abandoned_now(folder: &Path) {
    let is_temporary = |name: &OsStr| {
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        random.is_some_and(|random| random.len() == 6 && random.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && is_temporary(&entry.file_name())
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // What cannot be removed, such as the file of another user, is no reason to fail.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The path of a file that is not there yet, in a folder of its own, which is removed when it is dropped.
#[cfg(test)]
pub(crate) fn in_a_folder(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_nothing_behind() {
        let (folder, path) = in_a_folder("new");
        assert!(write_file(&path, |_| Err(io::Error::other("full"))).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_path_that_is_a_folder_or_in_none_is_refused() {
        let (folder, path) = in_a_folder("no/such");
        assert!(write_file(folder.path(), |_| Ok(())).is_err());
        assert!(write_file(&path, |_| Ok(())).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays_a_link_whether_or_not_it_leads_to_a_file() {
        use std::os::unix::fs::symlink;
        let (folder, link) = in_a_folder("link");
        let (over, to) = (folder.path().join("over"), folder.path().join("to"));
        symlink("over", &link).unwrap();
        symlink(&to, &over).unwrap();
        for content in ["new", "old"] {
            check_writable(&link).unwrap();
            write_file(&link, |file| file.write_all(content.as_bytes())).unwrap();
            assert!(
                fs::symlink_metadata(&link).unwrap().is_symlink() && fs::symlink_metadata(&over).unwrap().is_symlink()
            );
            assert_eq!(fs::read_to_string(&to).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_nowhere_is_refused_and_stays() {
        use std::os::unix::fs::symlink;
        let (folder, circle) = in_a_folder("circle");
        let nowhere = folder.path().join("nowhere");
        symlink("circle", &circle).unwrap();
        symlink("no/such/folder", &nowhere).unwrap();
        for (link, expected) in [(&circle, "circle"), (&nowhere, "no folder")] {
            let message = check_writable(link).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert!(write_file(link, |_| Ok(())).is_err());
            assert!(fs::symlink_metadata(link).unwrap().is_symlink());
        }
    }

    #[test]
    fn the_files_of_dead_processes_are_removed_and_those_of_living_ones_are_not() {
        let (folder, new) = in_a_folder("new");
        let here = |name: &str| folder.path().join(name);
        let living = temporary(folder.path()).unwrap();
        for name in [".udeed-abc123.tmp", ".udeed-notes", ".udeed-config.tmp.bak", ".other-abc123.tmp"] {
            fs::write(here(name), "x").unwrap();
        }
        write_file(&new, |file| file.write_all(b"x")).unwrap();
        assert!(!here(".udeed-abc123.tmp").exists());
        assert!(living.path().exists());
        for name in [".udeed-notes", ".udeed-config.tmp.bak", ".other-abc123.tmp", "new"] {
            assert!(here(name).exists(), "{name}");
        }
    }

    /// What one process takes for abandoned may be what another has just made: no write may fail by that.
    #[test]
    fn cleaning_and_writing_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..300 {
                    remove_abandoned_now(folder.path());
                }
            });
            for i in 0..300 {
                write_file(&folder.path().join(format!("{i}")), |file| file.write_all(b"x")).unwrap();
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 300);
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_written_to_and_stays_a_device() {
        use std::os::unix::fs::FileTypeExt;
        write_file(Path::new("/dev/null"), |file| file.write_all(b"x")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}

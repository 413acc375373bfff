//! One process at a time: a file beside another, locked as long as somebody works on that one.
//!
//! The system takes the lock from a process that dies, so a file that is left behind locks nothing. A file of that name that is
//! no such lock, or a link, is left as it is: somebody else needs it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The lock of a file, released when it is dropped.
///
/// ```
/// use udeed::file::{Lock, LockError};
///
/// let folder = tempfile::tempdir().unwrap();
/// let journal = folder.path().join("journal");
/// let lock = Lock::take(&journal).unwrap();
/// let LockError::Held { by } = Lock::take(&journal).unwrap_err() else { panic!("it is held") };
/// assert_eq!(by, Some(std::process::id()));
/// drop(lock);
/// assert!(Lock::take(&journal).is_ok());
/// ```
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// What a file of a lock begins with; the number of its process follows.
const MARK: &str = "udeed ";

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it.
    Held {
        /// That process, where it can be told.
        by: Option<u32>,
    },
    /// The system refused.
    Io {
        /// The file of the lock.
        path: String,
        /// What was tried.
        action: &'static str,
        /// The error of the system.
        cause: io::Error,
    },
}

impl Lock {
    /// Takes the lock of a file, which need not be there yet.
    ///
    /// # Errors
    /// If another process has it, or the file system knows no locks.
    pub fn take(of: &Path) -> Result<Self, LockError> {
        // All links to a file have the same lock.
        let mut path = OsString::from(std::fs::canonicalize(of).unwrap_or_else(|_| of.to_path_buf()));
        path.push(".lock");
        let path = PathBuf::from(path);
        let refused = |action| {
            let path = path.display().to_string();
            move |cause| LockError::Io { path, action, cause }
        };
        loop {
            let mut file = match open(&path) {
                // It was removed, or made, in between.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) && is_in(&path) =>
                {
                    continue;
                }
                opened => opened.map_err(refused("open"))?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held { by: holder(&mut file) }),
                Err(TryLockError::Error(cause)) => return Err(refused("lock")(cause)),
            }
            // Its last holder may have removed the file between our opening and locking it.
            if is_at(&file, &path) {
                check_content(&mut file).map_err(refused("lock"))?;
                file.set_len(0).and_then(|()| file.rewind()).map_err(refused("write"))?;
                file.write_all(format!("{MARK}{}", std::process::id()).as_bytes()).map_err(refused("write"))?;
                return Ok(Lock { path, file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What cannot be removed locks nothing; what took its place is not ours.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens the file of a lock, or makes it. No link is followed.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match std::fs::symlink_metadata(path) {
        Ok(at) if at.is_file() => options.open(path),
        Ok(_) => Err(not_ours()),
        Err(_) => options.create_new(true).open(path),
    }
}

/// Whether the folder of a file is there, so that the file can be.
fn is_in(path: &Path) -> bool {
    super::folder_of(path).is_dir()
}

/// Refuses a file that is not of a lock. One whose process died at once may be empty.
fn check_content(file: &mut File) -> io::Result<()> {
    let mut text = Vec::new();
    file.take(100).read_to_end(&mut text)?;
    let is_ours = |process: &[u8]| process.len() < 20 && process.iter().all(u8::is_ascii_digit);
    if text.is_empty() || text.strip_prefix(MARK.as_bytes()).is_some_and(is_ours) { Ok(()) } else { Err(not_ours()) }
}

fn not_ours() -> io::Error {
    io::Error::other("another file has this name, which is left as it is")
}

/// The process that holds a lock, by what it wrote into the file, which it does right after locking it.
fn holder(file: &mut File) -> Option<u32> {
    for _ in 0..50 {
        let mut text = String::new();
        if file.take(100).read_to_string(&mut text).is_ok_and(|read| read > 0) {
            return text.strip_prefix(MARK)?.parse().ok();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::in_a_folder;

    #[test]
    fn only_one_holds_it() {
        let (folder, journal) = in_a_folder("journal");
        let lock = Lock::take(&journal).unwrap();
        let Err(LockError::Held { by }) = Lock::take(&journal) else { panic!("it was taken twice") };
        assert_eq!(by, Some(std::process::id()));
        drop(lock);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        Lock::take(&journal).unwrap();
    }

    #[test]
    fn the_file_of_a_dead_process_locks_nothing() {
        let (folder, journal) = in_a_folder("journal");
        for content in ["udeed 123456789", "udeed ", ""] {
            std::fs::write(folder.path().join("journal.lock"), content).unwrap();
            let _lock = Lock::take(&journal).unwrap();
            let holder = std::fs::read_to_string(folder.path().join("journal.lock")).unwrap();
            assert_eq!(holder, format!("udeed {}", std::process::id()));
        }
    }

    #[test]
    fn what_is_no_lock_is_refused_and_stays() {
        let (folder, journal) = in_a_folder("journal");
        let lock = folder.path().join("journal.lock");
        for content in ["[[package]]\n", "x,y\n1,a\n", "12345", "udeed 12\n", "udeed is a word"] {
            std::fs::write(&lock, content).unwrap();
            let Err(LockError::Io { path, cause, .. }) = Lock::take(&journal) else { panic!("{content} was taken") };
            assert_eq!((path, cause.kind()), (lock.display().to_string(), ErrorKind::Other));
            assert_eq!(std::fs::read_to_string(&lock).unwrap(), content);
        }
    }

    #[test]
    #[cfg(unix)]
    fn no_link_is_followed() {
        let (folder, journal) = in_a_folder("journal");
        let other = folder.path().join("other");
        std::os::unix::fs::symlink(&other, folder.path().join("journal.lock")).unwrap();
        assert!(Lock::take(&journal).is_err());
        assert!(!other.exists());
        std::fs::write(&other, "udeed 1").unwrap();
        assert!(Lock::take(&journal).is_err());
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "udeed 1");
    }

    #[test]
    #[cfg(unix)]
    fn what_took_the_place_of_a_lock_stays() {
        let (folder, journal) = in_a_folder("journal");
        let (lock, other) = (folder.path().join("journal.lock"), folder.path().join("other"));
        let taken = Lock::take(&journal).unwrap();
        std::fs::write(&other, "of somebody").unwrap();
        std::fs::rename(&other, &lock).unwrap();
        drop(taken);
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), "of somebody");
    }

    /// The race of opening, removing and locking: never two at once.
    #[test]
    fn many_threads_take_turns() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (_folder, journal) = in_a_folder("journal");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(lock) = Lock::take(&journal) {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }
}

//! One process at a time: a file beside another, locked as long as somebody works on that one.
//!
//! The system takes the lock from a process that dies, so a file that is left behind locks nothing.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
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
    _file: File,
}

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
            let mut options = OpenOptions::new();
            let mut file =
                options.read(true).write(true).create(true).truncate(false).open(&path).map_err(refused("open"))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held { by: holder(&mut file) }),
                Err(TryLockError::Error(cause)) => return Err(refused("lock")(cause)),
            }
            // Its last holder may have removed the file between our opening and locking it.
            if is_at(&file, &path) {
                file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(refused("write"))?;
                return Ok(Lock { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What cannot be removed locks nothing.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The process that holds a lock, by what it wrote into the file, which it does right after locking it.
fn holder(file: &mut File) -> Option<u32> {
    for _ in 0..50 {
        let mut text = String::new();
        if file.read_to_string(&mut text).is_ok_and(|read| read > 0) {
            return text.parse().ok();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
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
        std::fs::write(folder.path().join("journal.lock"), "123456789").unwrap();
        let _lock = Lock::take(&journal).unwrap();
        let holder = std::fs::read_to_string(folder.path().join("journal.lock")).unwrap();
        assert_eq!(holder, std::process::id().to_string());
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

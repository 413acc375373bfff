//! Files: read plain or gzipped, written whole or not at all.

use std::fs::{self};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

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
/// udeed::file::write_file(&path, |file| file.write_all(b"kept"))?;
/// assert!(udeed::file::write_file(&path, |_| Err(std::io::Error::other("no"))).is_err());
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
/// assert!(udeed::file::check_writable(folder.path()).is_err());
/// assert!(udeed::file::check_writable(&folder.path().join("model.safetensors")).is_ok());
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

//! Pictures and sounds that cells name, in the folder of the rows or below it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A larger file is not shown.
const LARGEST: u64 = 64 << 20;
const IMAGE: &str = "image";
const AUDIO: &str = "audio";

/// Endings of names, the kind and the type of what they mean. SVG is not among them: it may hold programs.
const KINDS: [(&str, &str, &str); 14] = [
    ("png", IMAGE, "image/png"),
    ("jpg", IMAGE, "image/jpeg"),
    ("jpeg", IMAGE, "image/jpeg"),
    ("gif", IMAGE, "image/gif"),
    ("webp", IMAGE, "image/webp"),
    ("avif", IMAGE, "image/avif"),
    ("bmp", IMAGE, "image/bmp"),
    ("wav", AUDIO, "audio/wav"),
    ("mp3", AUDIO, "audio/mpeg"),
    ("ogg", AUDIO, "audio/ogg"),
    ("opus", AUDIO, "audio/ogg"),
    ("flac", AUDIO, "audio/flac"),
    ("m4a", AUDIO, "audio/mp4"),
    ("aac", AUDIO, "audio/aac"),
];

/// The files that cells may name.
#[derive(Debug)]
pub(crate) struct Media {
    /// Without links.
    folder: PathBuf,
}

impl Media {
    /// The files in a folder and below it; none if there is no such folder.
    pub(crate) fn below(folder: &Path) -> Option<Self> {
        folder.canonicalize().ok().map(|folder| Media { folder })
    }

    /// Whether a cell names a picture or a sound that is there.
    pub(crate) fn kind(&self, cell: &str) -> Option<&'static str> {
        let (_, kind, _) = known(cell)?;
        self.file(cell).map(|_| kind)
    }

    /// The file that a cell names, unless it lies elsewhere. Links are followed before that is asked.
    fn file(&self, cell: &str) -> Option<PathBuf> {
        let path = self.folder.join(cell.trim()).canonicalize().ok()?;
        (path.starts_with(&self.folder) && path.is_file()).then_some(path)
    }

    /// The type and the content of the file that a cell names; none if it may not be shown.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&self, cell: &str) -> io::Result<Option<(&'static str, Vec<u8>)>> {
        let Some(((_, _, kind), path)) = known(cell).zip(self.file(cell)) else { return Ok(None) };
        let mut content = Vec::new();
        File::open(path)?.take(LARGEST + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= LARGEST).then_some((kind, content)))
    }
}

fn known(cell: &str) -> Option<(&'static str, &'static str, &'static str)> {
    // No name of a file is longer.
    let cell = Some(cell.trim()).filter(|cell| cell.len() < 4096 && !cell.contains(char::is_control))?;
    let (_, ending) = cell.rsplit_once('.')?;
    KINDS.into_iter().find(|(known, ..)| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folder_are_shown() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("data");
        std::fs::create_dir_all(folder.join("a")).unwrap();
        std::fs::write(folder.join("a/b.PNG"), b"picture").unwrap();
        std::fs::write(folder.join("rows.csv"), b"a").unwrap();
        std::fs::write(outside.path().join("secret.png"), b"secret").unwrap();
        let media = Media::below(&folder).unwrap();
        assert_eq!(media.read("a/b.PNG").unwrap(), Some(("image/png", b"picture".to_vec())));
        assert_eq!(media.kind("./a/../a/b.PNG"), Some("image"));
        let absolute = outside.path().join("secret.png").display().to_string();
        for other in ["../secret.png", &absolute, "a", "rows.csv", "none.png", "a/b.PNG\0", "..", "/etc/passwd"] {
            assert_eq!((media.kind(other), media.read(other).unwrap()), (None, None), "{other}");
        }
        for (longer, is_shown) in [(0, true), (1, false)] {
            File::create(folder.join("large.png")).unwrap().set_len(LARGEST + longer).unwrap();
            assert_eq!(media.read("large.png").unwrap().is_some(), is_shown, "{longer} bytes more");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path().join("secret.png"), folder.join("link.png")).unwrap();
            assert_eq!(media.kind("link.png"), None);
        }
    }
}

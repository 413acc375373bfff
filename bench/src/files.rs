//! Numbers in files, eight little-endian bytes each.

use std::path::Path;

use anyhow::Context;

/// All doubles of a file.
pub fn read_doubles(path: &Path) -> anyhow::Result<Vec<f64>> {
    read_words(path, |word| Ok(f64::from_le_bytes(word)))
}

/// All integers of a file.
pub fn read_integers(path: &Path) -> anyhow::Result<Vec<usize>> {
    read_words(path, |word| Ok(usize::try_from(u64::from_le_bytes(word))?))
}

/// Writes doubles, one after the other.
pub fn write_doubles(path: &Path, values: &[f64]) -> anyhow::Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}

fn read_words<T>(path: &Path, value: impl Fn([u8; 8]) -> anyhow::Result<T>) -> anyhow::Result<Vec<T>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let (words, rest) = bytes.as_chunks::<8>();
    anyhow::ensure!(rest.is_empty(), "{}: found {} bytes, expected a multiple of 8", path.display(), bytes.len());
    words.iter().copied().map(value).collect()
}

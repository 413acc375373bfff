//! A Parquet file: its bytes at any place, and what its end says about it.

use std::fs::File;
use std::io;

use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};

use crate::error::{Error, Place, Result};
use crate::format::parquet::guard::guarded;
use crate::format::parquet::header::is_encrypted;
use crate::format::parquet::pages::general;
use crate::text::byte_size;

/// First and last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// The same of a file whose metadata are encrypted.
const ENCRYPTED: &[u8] = b"PARE";
/// Message for bytes that no decoder was made for.
pub(super) const DAMAGED: &str = "bytes that cannot be decoded";
/// Length of the metadata's length and the magic bytes after it.
const TAIL: u64 = 8;
/// Largest metadata, in bytes: those of 5 000 columns in 1 000 row groups take half of it.
const LARGEST_METADATA: u64 = 1 << 30;

/// Bytes of a file, at any place and from any thread.
pub(super) struct Bytes {
    file: File,
    pub(super) length: u64,
}

impl Bytes {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Bytes { file, length })
    }

    /// Some bytes, all of which must be in the file.
    pub(super) fn at(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(length, 0);
        self.fill(start, &mut bytes)?;
        Ok(bytes)
    }

    #[cfg(unix)]
    fn fill(&self, start: u64, bytes: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, start)
    }

    #[cfg(windows)]
    fn fill(&self, mut start: u64, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, bytes, start)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    start += n as u64;
                    bytes = &mut bytes[n..];
                }
            }
        }
        Ok(())
    }
}

/// Refuses what cannot be a Parquet file that is not encrypted, by its first bytes, however few.
pub(super) fn check_start(first: &[u8], place: &Place) -> Result<()> {
    let first = &first[..first.len().min(MAGIC.len())];
    if first == ENCRYPTED {
        return Err(Error::input(place.clone(), "an encrypted Parquet file", "one that is not encrypted"));
    }
    if !MAGIC.starts_with(first) {
        return Err(Error::input(place.clone(), "a file that does not begin with `PAR1`", "a Parquet file"));
    }
    Ok(())
}

/// The metadata at the end of a file.
pub(super) fn metadata(bytes: &Bytes, place: &Place) -> Result<ParquetMetaData> {
    let refused = |found: &str, expected: &str| Error::input(place.clone(), found, expected);
    let failed = |error: io::Error| Error::io(place.source.as_ref(), "read", error);
    let least = MAGIC.len() as u64 + TAIL;
    if bytes.length == 0 {
        return Err(refused("an empty file", "a Parquet file"));
    }
    check_start(&bytes.at(0, MAGIC.len().min(bytes.length as usize)).map_err(failed)?, place)?;
    if bytes.length < least {
        return Err(refused(&format!("a file of {}", byte_size(bytes.length)), "a whole Parquet file"));
    }
    let tail = bytes.at(bytes.length - TAIL, TAIL as usize).map_err(failed)?;
    let (length, magic) = tail.split_at(4);
    if magic != MAGIC {
        return Err(refused("a Parquet file that does not end with `PAR1`", "a whole one"));
    }
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > bytes.length - least || length > LARGEST_METADATA {
        let found = format!("metadata of {} in a file of {}", byte_size(length), byte_size(bytes.length));
        return Err(refused(&found, "a whole Parquet file"));
    }
    let metadata = bytes.at(bytes.length - TAIL - length, length as usize).map_err(failed)?;
    if is_encrypted(&metadata) {
        return Err(refused("a Parquet file with encrypted columns", "one that is not encrypted"));
    }
    // Statistics are not used: of thousands of columns they take longer to read than the rows.
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll);
    guarded(|| ParquetMetaDataReader::decode_metadata_with_options(&metadata, Some(&options)))
        .unwrap_or_else(|| Err(general(DAMAGED)))
        .map_err(|error| refused(&format!("damaged metadata ({})", cause(&error)), "a whole Parquet file"))
}

/// What went wrong, without the words that every such error begins with.
pub(super) fn cause(error: &ParquetError) -> String {
    let text = error.to_string();
    ["Parquet error: ", "External: ", "EOF: "]
        .iter()
        .fold(text.as_str(), |text, start| text.strip_prefix(start).unwrap_or(text))
        .to_owned()
}

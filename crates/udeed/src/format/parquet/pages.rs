//! Pages of a column: found one after the other, and unpacked.
//!
//! Their headers say how large they are. Nothing is believed that the bytes which are there cannot make true: what is asked of
//! memory follows from the length of the file, and all pages together have a limit. Text refers to the page that it lies in: after
//! some pages it is used before there are more.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;

use crate::file::checksum;
use crate::format::parquet::file::Bytes;
use crate::format::parquet::header::{Fault, PageBody, PageHeader};
use crate::memory::half_of_memory;
use crate::text::byte_size;

/// Bytes in which most headers end.
const HEADER: usize = 256;
/// Largest header, in bytes: it may hold two values of a column.
const LARGEST_HEADER: usize = 16 << 20;
/// Largest page, in bytes. Most writers end a page after one mebibyte; some make one page of a whole row group.
const LARGEST_PAGE: usize = 1 << 30;
/// Bytes of a value in a dictionary, beside those that it refers to, at most.
const VALUE: u64 = 32;
/// Largest number of values of a page whose encoding makes a list of their lengths before the first of them is read.
const MOST_LENGTHS: u64 = 1 << 24;

/// Bytes of such a length.
const LENGTH: u64 = 4;
/// Bytes of pages that there is always room for, and those for each byte of the file: real rows are hardly packed further.
const ROOM: u64 = 128 << 20;
const ROOM_PER_BYTE: u64 = 64;
/// Bytes of pages after which the values in them are used.
const BATCH: u64 = 1 << 20;
/// Bytes of texts that are put together from pieces, at most, before they are used.
const TEXTS: usize = 16 << 20;

/// Memory that the pages of a row group take.
pub(super) struct PageMemory {
    taken: AtomicU64,
    most: u64,
}

/// More than the pages of a row group may take.
#[derive(Debug, thiserror::Error)]
#[error("pages of more than {most} bytes")]
pub(super) struct PagesTooLarge {
    pub(super) most: u64,
}

impl PageMemory {
    /// For a file of this length; rows may take `allowed` bytes, if there is a limit.
    pub(super) fn new(length: u64, allowed: Option<u64>) -> Self {
        let usual = ROOM.saturating_add(ROOM_PER_BYTE.saturating_mul(length));
        // Asking the machine takes long.
        let usual = if usual > 2 * ROOM { usual.min(half_of_memory()).max(ROOM) } else { usual };
        PageMemory { taken: AtomicU64::new(0), most: allowed.unwrap_or(0).max(usual) }
    }

    fn take(&self, bytes: u64) -> Result<()> {
        if self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.most {
            return Ok(());
        }
        Err(ParquetError::External(Box::new(PagesTooLarge { most: self.most })))
    }

    fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// State of the pages of a column for readers of values: how many may be read at once, and whether there are more.
pub(super) struct Batch {
    has_begun: AtomicBool,
    has_ended: AtomicBool,
    at_once: AtomicUsize,
}

impl Default for Batch {
    fn default() -> Self {
        Batch {
            has_begun: AtomicBool::new(true),
            has_ended: AtomicBool::new(false),
            at_once: AtomicUsize::new(usize::MAX),
        }
    }
}

impl Batch {
    /// All values that were read have been used. Returns how many may be read next.
    pub(super) fn begin(&self) -> usize {
        self.has_begun.store(true, Ordering::Relaxed);
        self.at_once.load(Ordering::Relaxed)
    }

    /// Whether there are no more pages.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }
}

/// Reads the pages of a column in a row group.
pub(super) struct Pages {
    bytes: Arc<Bytes>,
    memory: Arc<PageMemory>,
    batch: Arc<Batch>,
    /// Bytes of memory that this column holds.
    held: Held,
    column: ColumnDescPtr,
    compression: Compression,
    /// Where the next page begins, and where the column ends.
    at: u64,
    end: u64,
    /// Number of values that are still to come.
    left: u64,
}

/// Bytes of the memory that a column holds.
#[derive(Default)]
struct Held {
    dictionary: u64,
    /// Of the latest page, and of those before it whose values are in use.
    latest: u64,
    earlier: u64,
}

impl Pages {
    pub(super) fn new(
        bytes: Arc<Bytes>,
        memory: Arc<PageMemory>,
        batch: Arc<Batch>,
        chunk: &ColumnChunkMetaData,
        column: ColumnDescPtr,
    ) -> Result<Self> {
        if chunk.file_path().is_some() {
            return Err(general("its values lie in another file"));
        }
        let data = chunk.data_page_offset();
        let first = chunk.dictionary_page_offset().filter(|&dictionary| 0 < dictionary && dictionary < data);
        let (start, length) = (first.unwrap_or(data), chunk.compressed_size());
        let range = u64::try_from(start).ok().zip(u64::try_from(length).ok());
        let end = range.and_then(|(start, length)| start.checked_add(length)).filter(|&end| end <= bytes.length);
        let (Some((at, _)), Some(end)) = (range, end) else {
            return Err(general(format!("{length} bytes at {start} in a file of {}", bytes.length)));
        };
        let left = u64::try_from(chunk.num_values()).map_err(|_| general("a negative number of values"))?;
        let compression = chunk.compression();
        Ok(Pages { bytes, memory, batch, held: Held::default(), column, compression, at, end, left })
    }

    /// The next page, unpacked; none where the values read so far are to be used first, or where it was the last.
    fn next_page(&mut self) -> Result<Option<Page>> {
        loop {
            if self.left == 0 || self.at >= self.end {
                self.batch.has_ended.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            let header = self.header()?;
            let start = self.at + header.length as u64;
            let end = start.checked_add(header.packed as u64).filter(|&end| end <= self.end);
            let end = end.ok_or_else(|| general("a page that goes on after its column"))?;
            if header.body == PageBody::Other {
                self.at = end;
                continue;
            }
            if header.unpacked > LARGEST_PAGE {
                let [found, most] = [header.unpacked, LARGEST_PAGE].map(|bytes| byte_size(bytes as u64));
                return Err(general(format!("a page of {found}, more than {most}")));
            }
            if !self.make_room(&header)? {
                return Ok(None);
            }
            self.at = end;
            let packed = self.bytes.at(start, header.packed)?;
            if header.crc.is_some_and(|crc| crc != checksum(&packed)) {
                return Err(general("a page whose checksum does not match"));
            }
            return self.page(header, packed).map(Some);
        }
    }

    /// Makes room for a page, if it may be handed out now.
    fn make_room(&mut self, header: &PageHeader) -> Result<bool> {
        let size = header.unpacked as u64;
        let encoding = match header.body {
            PageBody::Dictionary { n_values, .. } => {
                // The values are kept beside their bytes.
                let size = size + VALUE * u64::from(n_values);
                self.memory.give_back(std::mem::replace(&mut self.held.dictionary, size));
                return self.memory.take(size).map(|()| true);
            }
            PageBody::Data { encoding, .. } | PageBody::DataV2 { encoding, .. } => encoding,
            PageBody::Other => return Ok(true),
        };
        let at_once = match encoding {
            // Each text is put together from pieces of the page.
            Encoding::DELTA_BYTE_ARRAY => (TEXTS / header.unpacked.max(1)).max(1),
            _ => usize::MAX,
        };
        let before = self.batch.at_once.swap(at_once, Ordering::Relaxed);
        let is_first = self.batch.has_begun.swap(false, Ordering::Relaxed);
        if at_once < before || (!is_first && self.held.earlier + self.held.latest + size > BATCH) {
            return Ok(false);
        }
        if is_first {
            self.memory.give_back(std::mem::take(&mut self.held.earlier));
        }
        self.held.earlier += std::mem::replace(&mut self.held.latest, size);
        self.memory.take(size).map(|()| true)
    }

    fn header(&self) -> Result<PageHeader> {
        let rest = self.end - self.at;
        let mut length = HEADER;
        loop {
            let there = (length as u64).min(rest) as usize;
            match PageHeader::parse(&self.bytes.at(self.at, there)?) {
                Ok(header) => return Ok(header),
                Err(Fault::Short) if (there as u64) < rest && length < LARGEST_HEADER => length *= 8,
                Err(_) => return Err(general("a page without a header")),
            }
        }
    }

    fn page(&mut self, header: PageHeader, packed: Vec<u8>) -> Result<Page> {
        let size = header.unpacked;
        Ok(match header.body {
            PageBody::Dictionary { n_values, encoding } => {
                let buf = self.unpacked(packed, size)?;
                let n_bytes = n_values as usize * self.least_width();
                if n_bytes > buf.len() {
                    return Err(general(format!("a dictionary of {n_values} values in {} bytes", buf.len())));
                }
                Page::DictionaryPage { buf: buf.into(), num_values: n_values, encoding, is_sorted: false }
            }
            PageBody::Data { n_values, encoding, levels, repetition } => {
                let buf = self.unpacked(packed, size)?;
                let start = if self.column.max_def_level() > 0 { level_bytes(&buf, levels, n_values) } else { 0 };
                self.check(encoding, &buf[start..], n_values)?;
                Page::DataPage {
                    buf: buf.into(),
                    num_values: n_values,
                    encoding,
                    def_level_encoding: levels,
                    rep_level_encoding: repetition,
                    statistics: None,
                }
            }
            PageBody::DataV2 { n_values, n_nulls, n_rows, encoding, levels, repetition, packed: is_packed } => {
                // Levels are never packed.
                let plain = levels as usize + repetition as usize;
                if plain > packed.len() || plain > size || n_nulls > n_values {
                    return Err(general("a page that is shorter than its levels"));
                }
                let buf = if is_packed && self.compression != Compression::UNCOMPRESSED {
                    let mut buf = packed[..plain].to_vec();
                    // Without values there is nothing to unpack.
                    if size > plain {
                        buf.append(&mut self.unpacked(packed[plain..].to_vec(), size - plain)?);
                    }
                    buf
                } else {
                    packed
                };
                self.check(encoding, &buf[plain..], n_values)?;
                Page::DataPageV2 {
                    buf: buf.into(),
                    num_values: n_values,
                    encoding,
                    num_nulls: n_nulls,
                    num_rows: n_rows,
                    def_levels_byte_len: levels,
                    rep_levels_byte_len: repetition,
                    is_compressed: is_packed,
                    statistics: None,
                }
            }
            PageBody::Other => return Err(general("an index in place of a page")),
        })
    }

    /// Bytes that a value in a dictionary takes at least.
    fn least_width(&self) -> usize {
        match self.column.physical_type() {
            Type::BOOLEAN => 0,
            Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(self.column.type_length()).unwrap_or_default().max(1),
        }
    }

    /// Counts the values of a page, and checks those numbers in it by which the decoders ask for memory.
    fn check(&mut self, encoding: Encoding, data: &[u8], n_values: u32) -> Result<()> {
        self.left = self
            .left
            .checked_sub(u64::from(n_values))
            .ok_or_else(|| general("pages with more values than their column"))?;
        if !matches!(encoding, Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY) {
            return Ok(());
        }
        // The lengths of texts, or of what they share with the one above; then those of the rest.
        let mut rest = data;
        for _ in 0..if encoding == Encoding::DELTA_BYTE_ARRAY { 2 } else { 1 } {
            let (n_lengths, end) =
                packed_deltas(rest).ok_or_else(|| general("a page without the lengths of its texts"))?;
            if n_lengths > u64::from(n_values) || n_lengths > MOST_LENGTHS {
                let most = u64::from(n_values).min(MOST_LENGTHS);
                return Err(general(format!("a page of {n_lengths} texts, more than {most}")));
            }
            // The decoder keeps them.
            self.held.latest += LENGTH * n_lengths;
            self.memory.take(LENGTH * n_lengths)?;
            rest = &rest[end..];
        }
        Ok(())
    }

    /// The bytes of a page.
    fn unpacked(&self, packed: Vec<u8>, size: usize) -> Result<Vec<u8>> {
        let sizes = |found: usize| general(format!("a page of {found} bytes that says it has {size}"));
        let broken = |what: &dyn std::fmt::Display| general(format!("a broken page ({what})"));
        // More than any such page can be unpacked to is not asked for.
        let length = packed.len();
        let most = |ratio: usize| length.saturating_mul(ratio).saturating_add(64);
        let bytes = match self.compression {
            Compression::UNCOMPRESSED => packed,
            Compression::SNAPPY => {
                let length = snap::raw::decompress_len(&packed).map_err(|error| broken(&error))?;
                if length != size || size > most(32) {
                    return Err(sizes(length));
                }
                let mut bytes = vec![0; size];
                snap::raw::Decoder::new().decompress(&packed, &mut bytes).map_err(|error| broken(&error))?;
                bytes
            }
            Compression::LZ4_RAW | Compression::LZ4 if size > most(256) => return Err(sizes(length)),
            Compression::LZ4_RAW => lz4_block(&packed, size).ok_or_else(|| broken(&"LZ4"))?,
            Compression::LZ4 => {
                hadoop_blocks(&packed, size).or_else(|| lz4_block(&packed, size)).ok_or_else(|| broken(&"LZ4"))?
            }
            Compression::GZIP(_) => {
                read_up_to(size, MultiGzDecoder::new(&packed[..])).map_err(|error| broken(&error))?
            }
            Compression::ZSTD(_) => unpack_zstd(&packed, size).map_err(|error| broken(&error))?,
            other => return Err(general(format!("a page packed by {other}"))),
        };
        if bytes.len() == size { Ok(bytes) } else { Err(sizes(bytes.len())) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.memory.give_back(self.held.dictionary + self.held.latest + self.held.earlier);
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.next_page()
    }

    // Only for rows that are skipped, which is never asked for.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(general("pages are read one after the other"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(general("pages are read one after the other"))
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        Ok(true)
    }
}

/// How a page that is packed says so, for messages; `None` if it can be unpacked.
pub(super) fn unknown_packing(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    }
}

pub(super) fn general(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// Bytes of the levels that a page of the first kind begins with.
fn level_bytes(page: &[u8], levels: Encoding, n_values: u32) -> usize {
    let length = match (levels, page.first_chunk()) {
        (Encoding::RLE, Some(&length)) => 4 + u32::from_le_bytes(length) as usize,
        (Encoding::RLE, None) => 0,
        _ => n_values.div_ceil(8) as usize,
    };
    length.min(page.len())
}

/// Number of values packed as differences at the beginning of a page, and their bytes.
fn packed_deltas(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut at = 0;
    let mut number = || {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(at)?;
            at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some((number, at));
            }
        }
        None
    };
    let ((block, _), (per_block, _), (count, _), (_, mut at)) = (number()?, number()?, number()?, number()?);
    let size = block.checked_div(per_block).filter(|size| *size > 0 && size % 8 == 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        // The least difference, the widths of the others, and these in as many pieces as are needed.
        at += bytes.get(at..)?.iter().position(|&byte| byte < 0x80)? + 1;
        let widths = bytes.get(at..at.checked_add(usize::try_from(per_block).ok()?)?)?;
        at += widths.len();
        for &width in widths {
            if left == 0 {
                break;
            }
            at = at.checked_add(usize::try_from(size / 8).ok()?.checked_mul(usize::from(width))?)?;
            left = left.saturating_sub(size);
        }
    }
    (at <= bytes.len()).then_some((count, at))
}

fn lz4_block(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let n = lz4_flex::block::decompress_into(packed, &mut bytes).ok()?;
    bytes.truncate(n);
    Some(bytes)
}

/// LZ4 as Hadoop writes it: blocks, each after its two lengths. Such files say only `LZ4`, as do some without lengths.
fn hadoop_blocks(mut packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let (lengths, rest) = packed.split_at_checked(8)?;
        let length = |at: usize| lengths[at..at + 4].iter().fold(0, |all, &byte| all << 8 | usize::from(byte));
        let (unpacked, length) = (length(0), length(4));
        let (block, rest) = rest.split_at_checked(length)?;
        if bytes.len() + unpacked > size {
            return None;
        }
        let mut block = lz4_block(block, unpacked).filter(|block| block.len() == unpacked)?;
        bytes.append(&mut block);
        packed = rest;
    }
    (bytes.len() == size).then_some(bytes)
}

/// Unpacks frames of Zstandard, of which a page may have several.
fn unpack_zstd(mut packed: &[u8], size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while !packed.is_empty() && bytes.len() <= size {
        let frame = ruzstd::decoding::StreamingDecoder::new(&mut packed).map_err(io::Error::other)?;
        bytes.append(&mut read_up_to(size - bytes.len(), frame)?);
    }
    Ok(bytes)
}

/// Reads bytes, one more than wanted at most.
fn read_up_to(size: usize, bytes: impl Read) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    found.try_reserve_exact(size + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.take(size as u64 + 1).read_to_end(&mut found)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_take_what_a_file_of_their_length_may_hold_or_what_was_allowed() {
        let refused =
            |length: u64, allowed: Option<u64>, bytes: u64| PageMemory::new(length, allowed).take(bytes).is_err();
        assert!(!refused(1000, None, ROOM) && refused(1000, None, ROOM + 64_001));
        assert!(!refused(1 << 20, None, ROOM + (64 << 20)) && refused(1 << 20, None, ROOM + (65 << 20)));
        assert!(!refused(1000, Some(1 << 30), 1 << 30) && refused(1000, Some(1 << 30), (1 << 30) + 1));
        assert!(!refused(1000, Some(1), ROOM));
        assert!(refused(u64::MAX, None, u64::MAX / 2));
        let memory = PageMemory::new(0, None);
        memory.take(ROOM).unwrap();
        assert!(memory.take(1).is_err());
        memory.give_back(ROOM);
        memory.take(ROOM - 1).unwrap();
    }
}

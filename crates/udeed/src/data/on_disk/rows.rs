//! Rows in a temporary file.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::{cast_slice, cast_slice_mut};
use flate2::Crc;
use serde::{Deserialize, Serialize};

use crate::data::{Block, Blocks, Buffer, Csr, Dense, Extent, Matrix, PIECE, pieces};
use crate::error::{Error, Hint, Place, Result};

/// Rows in a temporary file. Several threads may read any ranges of them at once. The file is gone when this is dropped,
/// or when the process ends in whatever way.
#[derive(Debug)]
pub(crate) struct DiskRows {
    file: File,
    folder: PathBuf,
    n_rows: usize,
    n_columns: usize,
    n_stored: usize,
    is_sparse: bool,
    segments: Vec<Segment>,
}

/// Rows that were written together. On disk dense rows are their values; sparse rows are where each row starts, then the
/// values, then their columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Segment {
    rows: Range<usize>,
    offset: u64,
    /// Number of stored values, if the rows are sparse.
    n_stored: Option<usize>,
}

/// Writes [`DiskRows`].
#[derive(Debug)]
pub(crate) struct DiskRowsWriter {
    rows: DiskRows,
    offset: u64,
    /// Checksum of all that was written, where another process will read it.
    checksum: Option<Crc>,
}

/// Layout of the rows of a file, without the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DiskRowsPlan {
    n_rows: usize,
    n_columns: usize,
    n_stored: usize,
    is_sparse: bool,
    segments: Vec<Segment>,
}

impl DiskRowsWriter {
    /// Creates an empty file in a folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| not_written(folder, error))?;
        Ok(DiskRowsWriter::of_file(file, folder))
    }

    fn of_file(file: File, folder: &Path) -> Self {
        let folder = folder.to_path_buf();
        let rows =
            DiskRows { file, folder, n_rows: 0, n_columns: 0, n_stored: 0, is_sparse: false, segments: Vec::new() };
        DiskRowsWriter { rows, offset: 0, checksum: None }
    }

    /// Begins with a file of a folder that others will read, whose content has a checksum.
    pub(crate) fn checked(file: File, folder: &Path) -> Self {
        DiskRowsWriter { checksum: Some(Crc::new()), ..DiskRowsWriter::of_file(file, folder) }
    }

    /// Layout of what was written, its length and its checksum.
    pub(crate) fn plan(&self) -> (DiskRowsPlan, u64, u32) {
        let DiskRows { n_rows, n_columns, n_stored, is_sparse, ref segments, .. } = self.rows;
        let plan = DiskRowsPlan { n_rows, n_columns, n_stored, is_sparse, segments: segments.clone() };
        (plan, self.offset, self.checksum.as_ref().map_or(0, Crc::sum))
    }

    /// Writes the bytes of a segment.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut file = &self.rows.file;
        file.write_all(bytes).map_err(|error| not_written(&self.rows.folder, error))?;
        if let Some(checksum) = &mut self.checksum {
            checksum.update(bytes);
        }
        Ok(())
    }

    /// Appends rows. One sparse matrix makes all rows sparse.
    ///
    /// # Errors
    /// If the number of columns differs from that of the rows before, or the file cannot be written, as on a full disk.
    pub(crate) fn push(&mut self, rows: &Matrix) -> Result<()> {
        let (n_rows, n_columns) = (rows.rows().n_rows(), rows.rows().n_columns());
        if self.rows.segments.is_empty() {
            self.rows.n_columns = n_columns;
        } else if self.rows.n_columns != n_columns {
            let expected = format!("{}, as in the rows before", self.rows.n_columns);
            return Err(Error::input(Place::new("the rows"), format!("{n_columns} columns"), expected));
        }
        if n_rows == 0 {
            return Ok(());
        }
        let (stored, length) = match rows {
            Matrix::Dense(rows) => {
                self.write(cast_slice(rows.values()))?;
                self.rows.n_stored += rows.values().iter().filter(|&&x| x != 0.0).count();
                (None, size_of_val(rows.values()))
            }
            Matrix::Sparse(rows) => {
                let (starts, columns, values) = rows.parts();
                let starts: Vec<u64> = starts.iter().map(|&start| start as u64).collect();
                self.write(cast_slice(&starts))?;
                self.write(cast_slice(values))?;
                self.write(cast_slice(columns))?;
                self.rows.n_stored += values.len();
                self.rows.is_sparse = true;
                (Some(values.len()), size_of_val(&starts[..]) + size_of_val(values) + size_of_val(columns))
            }
        };
        let rows = self.rows.n_rows..self.rows.n_rows + n_rows;
        self.rows.n_rows = rows.end;
        self.rows.segments.push(Segment { rows, offset: self.offset, n_stored: stored });
        self.offset += length as u64;
        Ok(())
    }

    /// Like [`DiskRowsWriter::push`], in segments of the size in which rows are read again.
    pub(crate) fn push_in_pieces(&mut self, rows: &Matrix) -> Result<()> {
        let n_rows = rows.rows().n_rows();
        let row_size = rows.size() / n_rows.max(1) as u64;
        pieces(n_rows, row_size).try_for_each(|range| self.push(&rows.select(&range.collect::<Vec<_>>())))
    }

    /// The rows written so far.
    pub(crate) fn written(&self) -> &DiskRows {
        &self.rows
    }

    /// All rows that were written.
    pub(crate) fn finish(self) -> DiskRows {
        self.rows
    }
}

impl Blocks for DiskRows {
    fn extent(&self) -> Extent {
        Extent { shape: (self.n_rows, self.n_columns), is_sparse: self.is_sparse }
    }

    fn block<'a>(&'a self, rows: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        assert!(rows.start <= rows.end && rows.end <= self.n_rows, "rows {rows:?} of {}", self.n_rows);
        let read = if self.is_sparse { self.read_sparse(rows, buffer) } else { self.read_dense(rows, buffer) };
        read.map_err(|error| Error::io(&self.folder, "read", error))?;
        let Buffer { values, starts, columns, .. } = buffer;
        Ok(if self.is_sparse { Block::Sparse { starts, columns, values } } else { Block::Dense(values) })
    }
}

impl DiskRows {
    /// Rows of a file that was written earlier, of this length; none where the plan does not fit.
    pub(crate) fn of_plan(file: File, folder: &Path, plan: DiskRowsPlan, length: u64) -> Option<Self> {
        let DiskRowsPlan { n_rows, n_columns, n_stored, is_sparse, segments } = plan;
        let (mut rows, mut offset) = (0, 0);
        for segment in &segments {
            let (here, values) = (segment.rows.end.checked_sub(segment.rows.start)? as u64, size_of::<f64>() as u64);
            let size = match segment.n_stored {
                None => here.checked_mul(n_columns as u64)?.checked_mul(values)?,
                Some(stored) => (here + 1).checked_mul(8)?.checked_add((stored as u64).checked_mul(values + 4)?)?,
            };
            let fits = segment.rows.start == rows && here > 0 && segment.offset == offset;
            if !fits || (segment.n_stored.is_some() && !is_sparse) {
                return None;
            }
            (rows, offset) = (segment.rows.end, offset.checked_add(size)?);
        }
        let folder = folder.to_path_buf();
        let read = DiskRows { file, folder, n_rows, n_columns, n_stored, is_sparse, segments };
        (rows == n_rows && offset == length).then_some(read)
    }

    /// The checksum of the first bytes of the file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn checksum(&self, length: u64) -> Result<u32> {
        let (mut crc, mut offset, mut bytes) = (Crc::new(), 0, vec![0; 1 << 20]);
        while offset < length {
            let here = (length - offset).min(bytes.len() as u64);
            let piece = &mut bytes[..here as usize];
            read_at(&self.file, piece, offset).map_err(|error| Error::io(&self.folder, "read", error))?;
            crc.update(piece);
            offset += here;
        }
        Ok(crc.sum())
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of stored values; of dense rows, of values other than zero.
    pub(crate) fn n_stored(&self) -> usize {
        self.n_stored
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads a range of rows into memory.
    ///
    /// # Errors
    /// If the file cannot be read.
    ///
    /// # Panics
    /// If there are no such rows.
    pub(crate) fn matrix(&self, rows: Range<usize>) -> Result<Matrix> {
        let n_rows = rows.len();
        let mut buffer = Buffer::default();
        self.block(rows, &mut buffer)?;
        let Buffer { values, starts, columns, .. } = buffer;
        match self.is_sparse {
            true => Ok(Csr::new(self.n_columns, starts, columns, values)?.into()),
            false => Ok(Dense::new(n_rows, self.n_columns, values)?.into()),
        }
    }

    /// Ranges of rows, in order, that take a few megabytes each and were written together.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let pieces = self.segments.chunk_by(|a, b| a.offset / PIECE == b.offset / PIECE);
        pieces.map(|segments| segments[0].rows.start..segments[segments.len() - 1].rows.end)
    }

    /// Reads rows of a file without a sparse segment, in which the values of all rows are contiguous.
    fn read_dense(&self, rows: Range<usize>, buffer: &mut Buffer) -> io::Result<()> {
        buffer.values.resize(rows.len() * self.n_columns, 0.0);
        let offset = (rows.start * self.n_columns * size_of::<f64>()) as u64;
        read_at(&self.file, cast_slice_mut(&mut buffer.values), offset)
    }

    fn read_sparse(&self, rows: Range<usize>, buffer: &mut Buffer) -> io::Result<()> {
        buffer.values.clear();
        buffer.columns.clear();
        buffer.starts.clear();
        buffer.starts.push(0);
        let first = self.segments.partition_point(|segment| segment.rows.end <= rows.start);
        for segment in self.segments[first..].iter().take_while(|segment| segment.rows.start < rows.end) {
            let here = rows.start.max(segment.rows.start)..rows.end.min(segment.rows.end);
            let here = here.start - segment.rows.start..here.end - segment.rows.start;
            match segment.n_stored {
                Some(n_stored) => self.add_sparse(segment, n_stored, here, buffer)?,
                None => self.add_dense(segment, here, buffer)?,
            }
        }
        Ok(())
    }

    /// Appends rows of a sparse segment; `rows` counts from its first row.
    fn add_sparse(
        &self,
        segment: &Segment,
        n_stored: usize,
        rows: Range<usize>,
        buffer: &mut Buffer,
    ) -> io::Result<()> {
        let Buffer { values, starts, columns, offsets } = buffer;
        offsets.resize(rows.len() + 1, 0);
        read_at(&self.file, cast_slice_mut(offsets), segment.offset + 8 * rows.start as u64)?;
        let (first, last) = (offsets[0], offsets[rows.len()]);
        let above = values.len();
        starts.extend(offsets[1..].iter().map(|&start| above + (start - first) as usize));
        let count = above + (last - first) as usize;
        values.resize(count, 0.0);
        columns.resize(count, 0);
        let all_values = segment.offset + 8 * (segment.rows.len() as u64 + 1);
        let all_columns = all_values + 8 * n_stored as u64;
        read_at(&self.file, cast_slice_mut(&mut values[above..]), all_values + 8 * first)?;
        read_at(&self.file, cast_slice_mut(&mut columns[above..]), all_columns + 4 * first)
    }

    /// Appends rows of a dense segment to a sparse block: only values other than zero are stored.
    fn add_dense(&self, segment: &Segment, rows: Range<usize>, buffer: &mut Buffer) -> io::Result<()> {
        let mut dense = vec![0.0; rows.len() * self.n_columns];
        let offset = segment.offset + (rows.start * self.n_columns * size_of::<f64>()) as u64;
        read_at(&self.file, cast_slice_mut(&mut dense), offset)?;
        for i in 0..rows.len() {
            let row = &dense[i * self.n_columns..][..self.n_columns];
            for (j, &x) in row.iter().enumerate().filter(|&(_, &x)| x != 0.0) {
                buffer.columns.push(j as u32);
                buffer.values.push(x);
            }
            buffer.starts.push(buffer.values.len());
        }
        Ok(())
    }
}

/// The error of a failed write in a folder.
fn not_written(folder: &Path, error: io::Error) -> Error {
    let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    let failed = Error::io(folder, "keep rows in a temporary file there", error);
    match is_full {
        true => failed.with_hint(Hint::FullDisk),
        false => failed,
    }
}

/// Reads bytes at an offset of a file, independent of what other threads read from it.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Reads bytes at an offset of a file, independent of what other threads read from it.
#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                bytes = &mut bytes[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_disk(parts: &[Matrix]) -> DiskRows {
        let mut writer = DiskRowsWriter::new(&std::env::temp_dir()).unwrap();
        parts.iter().for_each(|part| writer.push(part).unwrap());
        writer.finish()
    }

    /// Dense and sparse rows; a zero is stored in one of the sparse ones.
    fn parts() -> [Matrix; 3] {
        let dense = Dense::new(2, 3, vec![1.0, 0.0, f64::NAN, 0.0, 0.0, 4.0]).unwrap();
        let sparse = Csr::new(3, vec![0, 2, 2, 3], vec![0, 2, 1], vec![5.0, 0.0, 7.0]).unwrap();
        [dense.clone().into(), sparse.into(), dense.into()]
    }

    /// As text: a missing value is not equal to itself.
    fn shown(matrix: &Matrix) -> String {
        format!("{matrix:?}")
    }

    fn assert_every_range_is_read(rows: &DiskRows, all: &Matrix) {
        let n = all.rows().n_rows();
        for (start, end) in (0..=n).flat_map(|start| (start..=n).map(move |end| (start, end))) {
            let expected = all.select(&(start..end).collect::<Vec<_>>());
            assert_eq!(shown(&rows.matrix(start..end).unwrap()), shown(&expected));
        }
    }

    #[test]
    fn any_range_of_dense_rows_is_read() {
        let [dense, ..] = parts();
        let rows = on_disk(&[dense.clone(), dense.clone()]);
        let all = dense.stack(&dense).unwrap();
        assert!(!rows.is_sparse());
        assert_every_range_is_read(&rows, &all);
    }

    #[test]
    fn any_range_of_mixed_rows_is_read_sparse() {
        let [above, middle, below] = parts();
        let rows = on_disk(&[above.clone(), middle.clone(), below.clone()]);
        let [above, below] = [above, below].map(|part| Matrix::Sparse(part.to_sparse()));
        let all = above.stack(&middle).unwrap().stack(&below).unwrap();
        assert!(rows.is_sparse());
        assert_every_range_is_read(&rows, &all);
    }

    #[test]
    fn rows_in_pieces_are_the_same_rows() {
        for rows in parts() {
            let many = rows.select(&(0..1_200_000).map(|i| i % rows.rows().n_rows()).collect::<Vec<_>>());
            let mut writer = DiskRowsWriter::new(&std::env::temp_dir()).unwrap();
            writer.push_in_pieces(&many).unwrap();
            let read = writer.finish();
            assert!(read.ranges().count() > 1);
            assert_eq!(shown(&read.matrix(0..1_200_000).unwrap()), shown(&many));
        }
    }

    /// Every write to this device fails as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_with_what_helps() {
        let mut writer = DiskRowsWriter::new(&std::env::temp_dir()).unwrap();
        writer.rows.file = File::options().write(true).open("/dev/full").unwrap();
        writer.rows.folder = "models".into();
        let error = writer.push(&parts()[0]).unwrap_err();
        assert!(error.to_string().starts_with("models: cannot keep rows in a temporary file there: "), "{error}");
        assert_eq!(error.hint(), Some(&Hint::FullDisk));
    }

    #[test]
    fn several_threads_read_at_once() {
        let values: Vec<f64> = (0..30_000).map(f64::from).collect();
        let rows = on_disk(&[Dense::new(10_000, 3, values).unwrap().into()]);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let rows = &rows;
                scope.spawn(move || {
                    let mut buffer = Buffer::default();
                    for start in (thread..9_000).step_by(37) {
                        let Block::Dense(block) = rows.block(start..start + 5, &mut buffer).unwrap() else {
                            panic!("sparse rows")
                        };
                        assert_eq!((block.len(), block[0]), (15, 3.0 * start as f64));
                    }
                });
            }
        });
    }
}

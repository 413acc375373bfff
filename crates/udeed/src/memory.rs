//! How much memory rows may take, and where they go when they take more.

use std::path::Path;
use std::sync::OnceLock;

use crate::error::{Error, Hint, Place, Result};
use crate::text::size;

/// How often rows are in memory at most while they are learned from: as they were read, those of a fold, the same with
/// the levels that occur there, and made ready, twice where candidates begin in two ways.
const COPIES: u64 = 5;

/// What is kept of each row besides its values, such as its place and its label.
const BESIDE: u64 = 16;

/// How much memory rows and all that is made of them may take, and the folder for the temporary file that they go to
/// when they would take more.
///
/// ```
/// use udeed::{Format, HeldTable, Reader, Room};
///
/// let reader = Reader::new().format(Format::Csv);
/// let read = |most| {
///     let room = Room { most, folder: Some(&std::env::temp_dir()) };
///     Ok::<_, udeed::Error>(reader.hold_from("rows", &b"size\n1\n2\n"[..], room)?.table)
/// };
/// assert!(matches!(read(1 << 20)?, HeldTable::InMemory(_)));
/// assert!(matches!(read(10)?, HeldTable::InFile(_)));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// The most bytes.
    pub most: u64,
    /// Where the temporary file goes; without a folder more rows are an error.
    pub folder: Option<&'a Path>,
}

impl<'a> Room<'a> {
    /// Whether there is room for so many rows that take so many bytes as they are, or made ready if that is more.
    pub(crate) fn holds(&self, n_rows: usize, bytes: u64) -> bool {
        bytes.saturating_add(BESIDE * n_rows as u64) <= self.most / COPIES
    }

    /// The folder for rows that need more room.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn folder(&self, source: &str) -> Result<&'a Path> {
        self.folder.ok_or_else(|| {
            let expected = format!("at most {}", size(self.most));
            Error::input(Place::new(source), "rows that take more memory than they may", expected)
                .with_hint(Hint::RowsInMemory)
        })
    }
}

/// Similarities that take more than this many bytes are warned of.
pub(crate) const MUCH_MEMORY: u64 = 1 << 28;

/// Half of the memory that this process may have, in bytes: of the machine's, or of what its control group allows. 4 GiB
/// where that cannot be found out.
///
/// ```
/// assert!(udeed::half_of_memory() > 1 << 20);
/// ```
pub fn half_of_memory() -> u64 {
    // Asking the system takes longer than a small fit.
    static HALF: OnceLock<u64> = OnceLock::new();
    *HALF.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let machine = read("/proc/meminfo").and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
            Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
        });
        let group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok());
        machine.into_iter().chain(group).min().map_or(4 << 30, |bytes| bytes / 2)
    })
}

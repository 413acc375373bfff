//! Memory: what the machine has, what rows may take, and the one refusal of more.

use std::path::Path;
use std::sync::OnceLock;

use sysinfo::{MemoryRefreshKind, System};

use crate::error::{Error, Hint, Place, Result};
use crate::text::byte_size;

/// Copies of the rows in memory during a fit, at most: as read, of a fold, the same with the levels that occur there, and
/// prepared, twice where candidates begin in two ways.
const COPIES: u64 = 5;

/// Bytes for each row besides its values, such as its place and its label.
const BESIDE: u64 = 16;

/// Memory budget for rows and all that is made of them, and the folder for the temporary file of rows that exceed it.
///
/// ```
/// use udeed::data::HeldTable;
/// use udeed::format::{Format, Reader};
/// use udeed::memory::Room;
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
    /// The budget in bytes.
    pub most: u64,
    /// Folder for the temporary file; without one, rows that exceed the budget are an error.
    pub folder: Option<&'a Path>,
}

impl<'a> Room<'a> {
    /// Whether there is room for rows of `bytes` bytes in all, as they are or prepared, whichever is more.
    pub(crate) fn holds(&self, n_rows: usize, bytes: u64) -> bool {
        bytes.saturating_add(BESIDE * n_rows as u64) <= self.most / COPIES
    }

    /// The folder for rows that exceed the budget.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn folder(&self, source: &str) -> Result<&'a Path> {
        self.folder.ok_or_else(|| too_many_rows(source, self.most, Hint::RowsInMemory))
    }
}

/// The refusal of rows that take more than `most` bytes.
pub(crate) fn too_many_rows(source: &str, most: u64, hint: Hint) -> Error {
    let expected = format!("at most {}", byte_size(most));
    Error::input(Place::new(source), "rows that take more memory than they may", expected).with_hint(hint)
}

/// Bytes of words that are not counted among those of the rows: every machine has them.
pub(crate) const FEW_WORDS: u64 = 1 << 20;

/// Similarities larger than this, in bytes, cause a warning.
pub(crate) const MUCH_MEMORY: u64 = 1 << 28;

/// Half of the memory that this process may have, in bytes: of the machine's, of the least limit of its control group and those
/// above it, or of its own (`ulimit -v`). 4 GiB where the system does not say.
///
/// ```
/// assert!(udeed::memory::half_of_memory() > 1 << 20);
/// ```
pub fn half_of_memory() -> u64 {
    // Asking the system takes longer than a small fit.
    static HALF: OnceLock<u64> = OnceLock::new();
    *HALF.get_or_init(|| {
        let mut system = System::new();
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let own = std::fs::read_to_string("/proc/self/limits").ok().and_then(|limits| address_space(&limits));
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
        let machine = Some(system.total_memory()).filter(|&bytes| bytes > 0).unwrap_or(8 << 30);
        [own, group].into_iter().flatten().fold(machine, u64::min) / 2
    })
}

/// The least limit of the control groups that hold this process, each inside the next: the kernel holds it to all of them.
/// `groups` names them, in the words of Linux; `root` is the folder of all groups.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        // The first version has a folder for each controller, the second one for all.
        let (top, file) = match controllers {
            "" => (root.to_path_buf(), "memory.max"),
            some if some.split(',').any(|controller| controller == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let own = top.join(group.trim_start_matches('/'));
        let limit = |group: &Path| std::fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        own.ancestors().take_while(|group| group.starts_with(&top)).filter_map(limit).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// The limit of the address space, in the words of Linux; none where it is unlimited.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Refuses what takes more than `most` bytes: asking for more memory than there is would end the process.
///
/// `what` names in the plural what takes them.
///
/// # Errors
/// [`Error::Memory`] if `bytes` are more than `most`.
///
/// ```
/// use udeed::Hint;
/// use udeed::memory::check_memory;
///
/// let check = |n: u64| check_memory(8 * n * n, 1 << 20, Hint::Similarities, || format!("the similarities of {n} rows"));
/// assert!(check(100).is_ok());
/// let error = check(1000).unwrap_err();
/// assert_eq!(error.to_string(), "the similarities of 1000 rows take 7.6 MiB, expected at most 1.0 MiB");
/// ```
pub fn check_memory(bytes: u64, most: u64, hint: Hint, what: impl FnOnce() -> String) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    Err(Error::Memory { what: what(), bytes, most, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine's memory as the kernel says it, where it does.
    #[cfg(target_os = "linux")]
    #[test]
    fn half_of_memory_is_at_most_half_of_the_machines() {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
        let machine = 1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
        assert!(half_of_memory() <= machine / 2 && half_of_memory() > 0);
    }

    #[test]
    fn a_limit_of_the_process_is_known() {
        let limits = |text: &str| {
            format!(
                "Limit                     Soft Limit   Hard Limit   Units\nMax address space         {text}   bytes\n"
            )
        };
        assert_eq!(address_space(&limits("1073741824   unlimited")), Some(1 << 30));
        assert_eq!(address_space(&limits("unlimited    unlimited")), None);
        assert_eq!(address_space(""), None);
    }

    /// A group may be allowed more than the one it lies in.
    #[test]
    fn the_least_limit_of_nested_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let limit = |group: &str, file: &str, text: &str| {
            std::fs::create_dir_all(root.path().join(group)).unwrap();
            std::fs::write(root.path().join(group).join(file), text).unwrap();
        };
        limit("work.slice", "memory.max", "1048576\n");
        limit("work.slice/job.scope", "memory.max", "8388608\n");
        limit("other.slice", "memory.max", "max\n");
        let found = |groups: &str| group_limit(root.path(), groups);
        assert_eq!(found("0::/work.slice/job.scope\n"), Some(1 << 20));
        assert_eq!(found("0::/other.slice\n"), None);
        // In a container only its own group is seen, as the root, by whatever name.
        limit("", "memory.max", "4194304\n");
        assert_eq!(found("0::/not/here\n"), Some(4 << 20));
        assert_eq!(found("0::/other.slice\n"), Some(4 << 20));
        // The first version.
        limit("memory/a/b", "memory.limit_in_bytes", "9223372036854771712\n");
        limit("memory/a", "memory.limit_in_bytes", "2097152\n");
        assert_eq!(found("7:cpu,cpuacct:/a\n6:memory:/a/b\n"), Some(2 << 20));
        assert_eq!(found("7:cpu,cpuacct:/a\nnonsense\n"), None);
    }

    #[test]
    fn as_much_as_the_limit_is_allowed() {
        let check = |bytes| check_memory(bytes, 1000, Hint::Members, || "votes".into());
        assert!(check(1000).is_ok());
        assert_eq!(check(1001).unwrap_err().to_string(), "votes take 1001 bytes, expected at most 1000 bytes");
    }
}

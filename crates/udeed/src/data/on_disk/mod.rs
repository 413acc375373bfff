//! Rows larger than memory, or for other processes: they lie in a file and are read piece by piece.

mod rows;
mod spill;
mod table;

pub(crate) use rows::{DiskRows, DiskRowsPlan, DiskRowsWriter};
pub use spill::{Spill, SpillWriter};
pub use table::{DiskTable, HeldTable};

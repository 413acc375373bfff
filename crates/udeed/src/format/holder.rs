//! Rows that come table by table, from no file.

use crate::data::{HeldTable, Table};
use crate::error::Result;
use crate::format::sink::{RowSink, UnitedSink};
use crate::memory::Room;

/// Holds tables that come one after the other as one: in memory as long as there is room, then in a temporary file.
///
/// Their columns may stand in any order, and those of words may have other levels each.
///
/// ```
/// use udeed::data::{Column, Dense, HeldTable, Table};
/// use udeed::format::Holder;
/// use udeed::memory::Room;
///
/// let folder = std::env::temp_dir();
/// let mut holder = Holder::new("batches", Room { most: 100, folder: Some(&folder) });
/// for (level, value) in [("red", 1.0), ("blue", 2.0)] {
///     let columns = vec![Column::nominal("colour", vec![level.into()]), Column::numeric("size")];
///     holder.push(Table::new(columns, Dense::new(1, 2, vec![0.0, value])?)?)?;
/// }
/// let HeldTable::InFile(table) = holder.finish()? else { panic!("there is no room for two rows") };
/// assert_eq!(table.n_rows(), 2);
/// assert_eq!(table.columns()[0], Column::nominal("colour", vec!["blue".into(), "red".into()]));
/// # Ok::<(), udeed::Error>(())
/// ```
pub struct Holder<'a>(UnitedSink<'a>);

impl<'a> Holder<'a> {
    /// Holds nothing yet; `source` names the rows in messages.
    pub fn new(source: &'a str, room: Room<'a>) -> Self {
        let mut rows = UnitedSink::new(source, room);
        rows.begin(source);
        Holder(rows)
    }

    /// Takes the rows of the next table.
    ///
    /// # Errors
    /// If its columns are others than those of the first, there is no room and no folder, or the folder cannot be written to.
    pub fn push(&mut self, table: Table) -> Result<()> {
        self.0.push_table(table)
    }

    /// All rows: sparse if those of all tables are.
    ///
    /// # Errors
    /// If there is no room for them, and no folder.
    pub fn finish(self) -> Result<HeldTable> {
        let layout = self.0.layout();
        Ok(self.0.into_sheet(layout)?.table)
    }
}

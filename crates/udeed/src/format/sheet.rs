//! Contents of a file: rows, and labels beside them.

use std::sync::Arc;

use crate::data::{DiskTable, HeldTable, Labels, Table, TrainSet};
use crate::error::Result;

/// Contents of a file: rows, and labels beside them.
///
/// ```
/// use udeed::format::{Format, Reader};
/// use udeed::method::Udeed;
///
/// let rows = "+1 1:0.5 2:1\n-1 2:0.25\n? 1:0.75\n";
/// let train = Reader::new().format(Format::Libsvm).read_from("rows", rows.as_bytes())?.into_train()?;
/// assert_eq!((train.n_labeled(), train.n_unlabeled()), (2, 1));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The rows, without the labels.
    pub table: Table,
    /// The labels; every row is unlabeled if the file has none.
    pub labels: Labels,
    /// Name of the label column.
    pub label: Option<String>,
    /// The label of [`Reader::unlabeled_mark`](crate::format::Reader::unlabeled_mark), if no row has it: it may be misspelt.
    pub unused_mark: Option<String>,
}

impl Sheet {
    /// The given rows with their labels.
    ///
    /// # Panics
    /// If an index is not that of a row.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        Sheet {
            table: self.table.select(indices),
            labels: self.labels.select(indices),
            label: self.label.clone(),
            unused_mark: self.unused_mark.clone(),
        }
    }

    /// The rows and labels to learn from.
    ///
    /// # Errors
    /// If there are more or fewer labels than rows, which no reader makes.
    pub fn into_train(self) -> Result<TrainSet> {
        Ok(TrainSet::new(self.table, self.labels)?.label(self.label))
    }
}

/// Contents of a file, in memory or in a temporary file. The labels are only counted.
///
/// See [`Reader::hold`](crate::format::Reader::hold) for an example.
#[derive(Debug)]
#[non_exhaustive]
pub struct HeldSheet {
    /// The rows, without the labels.
    pub table: HeldTable,
    /// Number of labeled rows; 0 of several files, whose labels are not read.
    pub n_labeled: usize,
    /// Name of the label column, if there is one.
    pub label: Option<String>,
}

/// Contents of a file whose unlabeled rows need not fit into memory.
///
/// See [`Reader::part`](crate::format::Reader::part) for an example.
#[derive(Debug)]
pub struct PartedSheet {
    /// The rows in memory: all of them, or the labeled ones.
    pub sheet: Sheet,
    /// The unlabeled rows, where there was no room for all rows in memory.
    pub unlabeled: Option<Arc<DiskTable>>,
    /// Where the rows in memory stand in the file, counted from 0, if these are the labeled ones alone.
    pub positions: Vec<usize>,
}

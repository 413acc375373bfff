//! What rows are: dense or sparse numbers, named columns around them, labels beside them.

mod blocks;
mod copies;
mod csr;
mod dense;
mod dictionary;
mod doubtful;
mod exact_sum;
mod labels;
mod matrix;
mod on_disk;
mod renumbering;
mod split;
mod statistics;
mod table;
mod train_set;

pub use blocks::{Block, Blocks, Buffer, Extent};
pub use csr::Csr;
pub use dense::Dense;
pub use doubtful::doubtful_classes;
pub use labels::Labels;
pub use matrix::{Matrix, Row, Rows};
pub use on_disk::{DiskTable, HeldTable, Spill, SpillWriter};
pub use split::{Labeled, Shares, Split, stratified_deal, stratified_folds, stratified_split};
pub use statistics::Statistics;
pub use table::{Column, Kind, Naming, Table};
pub use train_set::TrainSet;

pub(crate) use blocks::sealed::Sealed;
pub(crate) use blocks::{PIECE, Stretch, fill_rows, fill_stretches, pieces};
pub(crate) use copies::Copies;
pub(crate) use dictionary::Dictionary;
pub(crate) use doubtful::means_missing;
pub(crate) use labels::{ClassNames, plain_number, same_number, two_spellings};
pub(crate) use matrix::{dense_size, sparse_size};
pub(crate) use on_disk::{DiskRows, DiskRowsPlan, DiskRowsWriter};
pub(crate) use renumbering::Renumbering;
pub(crate) use statistics::{ColumnStatistics, EachRows, MOST_LEVELS, too_many_levels};
pub(crate) use table::{check_names, missing_column, spreads};

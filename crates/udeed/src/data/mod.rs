//! What rows are: dense or sparse numbers, named columns around them, labels beside them.

mod csr;
mod dense;
mod dictionary;
mod labels;
mod renumbering;
mod rows;
mod spilled;
mod spilled_table;
mod split;
mod table;
mod train_set;

pub use csr::Csr;
pub use dense::Dense;
pub use labels::Labels;
pub use rows::{Block, Blocks, Buffer, Matrix, Row, Rows};
pub use spilled::{Spilled, SpilledBuilder};
pub use spilled_table::{HeldTable, SpilledTable};
pub use split::{Labeled, Shares, Split, stratified_folds, stratified_split};
pub use table::{Column, Kind, Naming, Table};
pub use train_set::TrainSet;

pub(crate) use dictionary::Dictionary;
pub(crate) use labels::{plain_number, same_number};
pub(crate) use renumbering::Renumbering;
pub(crate) use rows::sealed::Sealed;
pub(crate) use rows::{PIECE, dense_size, pieces, sparse_size};
pub(crate) use rows::{Stretch, fill_rows, fill_stretches};
pub(crate) use table::{check_names, missing_column, spreads};

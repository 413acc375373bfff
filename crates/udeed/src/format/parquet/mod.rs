//! Apache Parquet: columns in row groups, in pages that are encoded and compressed.
//!
//! The crate `parquet` knows the metadata and the encodings. Pages are found and unpacked here, so that no number in a file
//! decides how much memory is asked for.

mod column;
mod file;
mod guard;
mod header;
mod pages;
mod read;
mod record_writer;
mod write;

use crate::format::FormatCard;

pub use record_writer::{RecordColumn, RecordWriter};

pub(super) const CARD: FormatCard = FormatCard {
    name: "parquet",
    title: "Parquet",
    extensions: &["parquet", "pq"],
    read: read::read,
    write: write::write,
    class_labels: |labels| labels.classes().to_vec(),
};

//! Weka's attribute-relation file: declared attributes, then rows, dense (`5.1, red`) or sparse (`{0 5.1, 3 red}`).
//!
//! Sparse rows count attributes from 0. A value that they leave out is 0: the first one declared of a nominal attribute.

mod header;
mod read;
mod tokenizer;
mod write;

use crate::format::FormatCard;

pub(super) const CARD: FormatCard = FormatCard {
    name: "arff",
    title: "ARFF",
    extensions: &["arff"],
    read: read::read,
    write: write::write,
    class_labels: |labels| labels.classes().to_vec(),
};

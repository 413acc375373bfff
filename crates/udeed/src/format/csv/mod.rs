//! Comma-separated values: cells between delimiters, one row a line.

mod read;
mod tokenizer;
mod write;

use crate::format::FormatCard;

pub(super) const CARD: FormatCard = FormatCard {
    name: "csv",
    title: "CSV",
    extensions: &["csv", "tsv", "tab", "txt", "data"],
    read: read::read,
    write: write::write,
    class_labels: |labels| labels.classes().to_vec(),
};

/// The delimiter that the extension of a file indicates: a tab in `.tsv` and `.tab` files, else a comma.
pub(super) fn usual_delimiter(name: &str) -> u8 {
    match super::extension(name).as_deref() {
        Some("tsv" | "tab") => b'\t',
        _ => b',',
    }
}

//! LIBSVM's sparse rows: `label index:value index:value ...`, indices counted from 1 and ascending, `#` before a comment.

mod read;
mod write;

use crate::format::FormatCard;

pub(super) const CARD: FormatCard = FormatCard {
    name: "libsvm",
    title: "LIBSVM",
    extensions: &["libsvm", "svm", "svmlight", "t"],
    read: read::read,
    write: write::write,
    class_labels: write::class_labels,
};

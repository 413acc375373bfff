//! Tables as Markdown.

use std::io::{self, Write};

use super::markup::Markup;
use crate::results::Results;

pub(super) const MARKDOWN: Markup = Markup {
    backslashed: "\\`*[]|",
    special: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")],
    plus_minus: " ± ",
    bold: ["**", "**"],
    row: ["| ", " | ", " |"],
    head: |grid| {
        let line = " --- |".repeat(grid.header.len());
        format!("### {}\n\n{}\n|{line}", grid.title, MARKDOWN.names(grid))
    },
    foot: "",
};

/// Writes all tables as Markdown.
///
/// # Errors
/// If writing fails.
pub fn write_markdown(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    MARKDOWN.write(results, out)
}

//! Tables as Markdown.

use std::io::{self, Write};

use super::{Cell, grids, mark, verdict_word};
use crate::results::Results;

/// Writes all tables as Markdown.
///
/// # Errors
/// If writing fails.
pub fn write_markdown(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for grid in grids(results) {
        writeln!(out, "### {}\n", grid.title)?;
        let escape = |text: &str| text.replace('|', "\\|");
        writeln!(out, "| {} |", grid.header.iter().map(|h| escape(h)).collect::<Vec<_>>().join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(grid.header.len()))?;
        for row in &grid.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => escape(text),
                Cell::Figure { mean, std, mark: verdict } => format!("{mean:.3} ± {std:.3}{}", mark(*verdict)),
                Cell::Verdict(verdict) => verdict_word(*verdict).to_owned(),
                Cell::Record(record) => format!("**{record}**"),
            });
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

//! Tables as Markdown.

use std::io::{self, Write};

use udeed::text::printable;

use super::{BASELINE, Cell, grids, mark, verdict_word};
use crate::results::Results;

/// Writes all tables as Markdown.
///
/// # Errors
/// If writing fails.
pub fn write_markdown(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for grid in grids(results) {
        writeln!(out, "### {}\n", grid.title)?;
        writeln!(out, "| {} |", grid.header.iter().map(|h| escape(h)).collect::<Vec<_>>().join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(grid.header.len()))?;
        for row in &grid.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => escape(text),
                Cell::Figure { mean, std, mark: verdict, is_baseline } => {
                    let dagger = if *is_baseline { BASELINE } else { "" };
                    format!("{mean:.3} ± {std:.3}{}{dagger}", mark(*verdict))
                }
                Cell::Verdict(verdict) => verdict_word(*verdict).to_owned(),
                Cell::Record(record) => format!("**{record}**"),
            });
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Escapes text for Markdown: names become neither HTML nor links nor pictures.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_only_names() {
        assert_eq!(escape("kr_vs_kp"), "kr_vs_kp");
        assert_eq!(escape("<img src=x onerror=alert(1)>&"), "&lt;img src=x onerror=alert(1)&gt;&amp;");
        assert_eq!(escape("![x](http://x) a|b `c`\n"), "!\\[x\\](http://x) a\\|b \\`c\\`\\\\n");
    }
}

//! How a markup language writes tables.

use std::io::{self, Write};

use udeed::text::printable;

use super::{BASELINE, Cell, Grid, grids, mark, verdict_word};
use crate::results::Results;

/// A markup language.
pub(super) struct Markup {
    /// Characters that a backslash makes plain.
    pub(super) backslashed: &'static str,
    /// Other characters that are written differently.
    pub(super) special: &'static [(char, &'static str)],
    /// Between a mean and its standard deviation.
    pub(super) plus_minus: &'static str,
    /// Before and after bold text.
    pub(super) bold: [&'static str; 2],
    /// Before, between and after the cells of a row.
    pub(super) row: [&'static str; 3],
    /// What stands before the rows of a table, and after them.
    pub(super) head: fn(&Grid) -> String,
    pub(super) foot: &'static str,
}

impl Markup {
    /// Writes all tables.
    pub(super) fn write(&self, results: &Results, out: &mut dyn Write) -> io::Result<()> {
        for grid in grids(results) {
            writeln!(out, "{}", (self.head)(&grid))?;
            for row in &grid.rows {
                writeln!(out, "{}", self.line(row.iter().map(|cell| self.cell(cell))))?;
            }
            writeln!(out, "{}", self.foot)?;
        }
        Ok(())
    }

    /// The line of the column names.
    pub(super) fn names(&self, grid: &Grid) -> String {
        self.line(grid.header.iter().map(|name| self.text(name)))
    }

    fn line(&self, cells: impl Iterator<Item = String>) -> String {
        let [before, between, after] = self.row;
        [before, &cells.collect::<Vec<_>>().join(between), after].concat()
    }

    fn cell(&self, cell: &Cell) -> String {
        match cell {
            Cell::Text(text) => self.text(text),
            Cell::Figure { mean, std, mark: verdict, is_baseline } => {
                let marks = [mark(*verdict), if *is_baseline { BASELINE } else { "" }].concat();
                let spread = std.map_or_else(String::new, |std| format!("{}{std:.3}", self.plus_minus));
                format!("{mean:.3}{spread}{}", self.text(&marks))
            }
            Cell::Verdict(verdict) => verdict_word(*verdict).to_owned(),
            Cell::Record(record) => format!("{}{record}{}", self.bold[0], self.bold[1]),
        }
    }

    /// Text that is nothing but text: names become neither markup nor links.
    pub(super) fn text(&self, text: &str) -> String {
        let mut escaped = String::new();
        for c in printable(text).chars() {
            match self.special.iter().find(|(special, _)| *special == c) {
                Some((_, written)) => escaped.push_str(written),
                None if self.backslashed.contains(c) => escaped.extend(['\\', c]),
                None => escaped.push(c),
            }
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use crate::tables::latex::LATEX;
    use crate::tables::markdown::MARKDOWN;

    #[test]
    fn names_are_only_names() {
        let names = [
            (LATEX, "• < 0.01", "$\\bullet$ $<$ 0.01"),
            (LATEX, "kr_vs_kp 50 % {x}\\", "kr\\_vs\\_kp 50 \\% \\{x\\}\\textbackslash{}"),
            (MARKDOWN, "kr_vs_kp", "kr_vs_kp"),
            (MARKDOWN, "<img src=x onerror=alert(1)>&", "&lt;img src=x onerror=alert(1)&gt;&amp;"),
            (MARKDOWN, "![x](http://x) a|b `c`\n", "!\\[x\\](http://x) a\\|b \\`c\\`\\\\n"),
        ];
        for (markup, name, written) in names {
            assert_eq!(markup.text(name), written);
        }
    }
}

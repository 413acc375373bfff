//! Tables as LaTeX.

use std::io::{self, Write};

use udeed::text::printable;

use super::{Cell, grids, verdict_word};
use crate::results::Results;
use crate::statistics::Verdict;

/// Writes all tables in the paper's LaTeX form.
///
/// # Errors
/// If writing fails.
pub fn write_latex(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for grid in grids(results) {
        writeln!(out, "\\begin{{table}}[t]\n  \\centering\n  \\caption{{{}}}", latex(&grid.title))?;
        writeln!(out, "\\begin{{tabular}}{{l{}}}\n\\hline", "c".repeat(grid.header.len() - 1))?;
        writeln!(out, "{} \\\\\n\\hline", grid.header.iter().map(|h| latex(h)).collect::<Vec<_>>().join(" & "))?;
        for row in &grid.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => latex(text),
                Cell::Figure { mean, std, mark, is_baseline } => {
                    let mark = match mark {
                        Some(Verdict::Win) => "$\\bullet$",
                        Some(Verdict::Loss) => "$\\circ$",
                        _ => "",
                    };
                    let dagger = if *is_baseline { "$\\dagger$" } else { "" };
                    format!("{mean:.3}$\\pm${std:.3}{mark}{dagger}")
                }
                Cell::Verdict(verdict) => verdict_word(*verdict).to_owned(),
                Cell::Record(record) => format!("\\textbf{{{record}}}"),
            });
            writeln!(out, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))?;
        }
        writeln!(out, "\\hline\n\\end{{tabular}}\n\\end{{table}}\n")?;
    }
    Ok(())
}

/// Escapes text for LaTeX.
fn latex(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' | '>' => escaped.extend(['$', c, '$']),
            '•' => escaped.push_str("$\\bullet$"),
            '∘' => escaped.push_str("$\\circ$"),
            '†' => escaped.push_str("$\\dagger$"),
            '_' | '&' | '%' | '$' | '#' | '{' | '}' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latex_is_escaped() {
        assert_eq!(latex("• < 0.01"), "$\\bullet$ $<$ 0.01");
        assert_eq!(latex("kr_vs_kp 50 % {x}\\"), "kr\\_vs\\_kp 50 \\% \\{x\\}\\textbackslash{}");
    }
}

//! Tables as LaTeX.

use std::io::{self, Write};

use super::Grid;
use super::markup::Markup;
use crate::results::Results;

pub(super) const LATEX: Markup = Markup {
    backslashed: "_&%$#{}",
    special: &[
        ('\\', "\\textbackslash{}"),
        ('~', "\\textasciitilde{}"),
        ('^', "\\textasciicircum{}"),
        ('<', "$<$"),
        ('>', "$>$"),
        ('•', "$\\bullet$"),
        ('∘', "$\\circ$"),
        ('†', "$\\dagger$"),
    ],
    plus_minus: "$\\pm$",
    bold: ["\\textbf{", "}"],
    row: ["", " & ", " \\\\"],
    head,
    foot: "\\hline\n\\end{tabular}\n\\end{table}\n",
};

fn head(grid: &Grid) -> String {
    let (title, columns) = (LATEX.text(&grid.title), "c".repeat(grid.header.len() - 1));
    let caption = format!("\\begin{{table}}[t]\n  \\centering\n  \\caption{{{title}}}");
    format!("{caption}\n\\begin{{tabular}}{{l{columns}}}\n\\hline\n{}\n\\hline", LATEX.names(grid))
}

/// Writes all tables in the paper's LaTeX form.
///
/// # Errors
/// If writing fails.
pub fn write_latex(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    LATEX.write(results, out)
}

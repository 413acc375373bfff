//! Results as text: for a terminal, and as CSV, Markdown and LaTeX.
//!
//! Every table is a [`Grid`] of cells that know what they are; how a cell is written is up to the form.

use std::io::{self, Write};

use crate::experiment::Contender;
use crate::paper::{PaperCell, PaperReport, SIZES};
use crate::results::Results;
use crate::statistics::{Record, Verdict, verdict};

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A mean with its deviation, and whether UDEED wins against it.
    Figure {
        /// The mean.
        mean: f64,
        /// The deviation.
        std: f64,
        /// The verdict of the paired t-test.
        mark: Option<Verdict>,
    },
    /// A verdict alone.
    Verdict(Option<Verdict>),
    /// Wins, ties and losses.
    Record(Record),
}

/// A table with a title.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// Whether UDEED is better or worse, as the paper marks it.
fn mark(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Win) => "•",
        Some(Verdict::Loss) => "∘",
        _ => "",
    }
}

/// The tables of an experiment in the paper's form: accuracies for each size, the gain of LcUd, diversity.
///
/// ```
/// use udeed_lab::{Experiment, Journal, Results, Set, run, tables};
///
/// let data = udeed::built_in("labor")?.read()?.into_train()?;
/// let sets = [Set { name: "labor".into(), data }];
/// let experiment = Experiment { splits: 2, ..Experiment::default() };
/// let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
/// let results = Results::new(&experiment, &sets, &trials, "an example")?;
/// let mut markdown = Vec::new();
/// tables::write_markdown(&results, &mut markdown).unwrap();
/// assert!(String::from_utf8(markdown).unwrap().contains("| labor |"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
pub fn grids(results: &Results) -> Vec<Grid> {
    let mut grids: Vec<Grid> = results.experiment.sizes.iter().map(|&size| accuracies(results, size)).collect();
    grids.extend(gains(results));
    grids.extend(diversity(results));
    grids.extend(
        results.paper.iter().flat_map(|report| SIZES.map(|(_, table)| printed(results, report, table))).flatten(),
    );
    grids
}

/// A table of the paper as it is printed there, of the sets that were run.
fn printed(results: &Results, report: &PaperReport, table: &str) -> Option<Grid> {
    let cells: Vec<&PaperCell> =
        report.cells.iter().filter(|cell| cell.table == table && cell.paper_std.is_some()).collect();
    let size = cells.first()?.size;
    let mut columns: Vec<&str> = cells.iter().map(|cell| cell.column.as_str()).collect();
    columns.dedup();
    let mut seen = Vec::new();
    columns.retain(|column| {
        !seen.contains(column) && {
            seen.push(*column);
            true
        }
    });
    let rows = results.sets.iter().map(|set| {
        let cell = |column: &&str| {
            let found = cells.iter().find(|cell| cell.dataset == set.name && cell.column == **column);
            match found.map(|cell| (cell.paper, cell.paper_std, cell.paper_verdict)) {
                Some((Some(mean), Some(std), mark)) => Cell::Figure { mean, std, mark },
                _ => Cell::Text(String::new()),
            }
        };
        std::iter::once(Cell::Text(set.name.clone())).chain(columns.iter().map(cell)).collect()
    });
    Some(Grid {
        title: format!("The paper's table {table}, {size} members"),
        header: std::iter::once("data set").chain(columns.iter().copied()).map(str::to_owned).collect(),
        rows: rows.collect(),
    })
}

fn accuracies(results: &Results, size: usize) -> Grid {
    let (methods, champion) = (&results.experiment.methods, results.champion());
    let mut rows = Vec::new();
    let mut records = vec![Record::default(); methods.len()];
    for set in &results.sets {
        let mut row = vec![Cell::Text(set.name.clone())];
        for (&method, record) in methods.iter().zip(&mut records) {
            let mark = results.verdict_against(&set.name, size, method);
            if let Some(verdict) = mark {
                *record += verdict;
            }
            row.push(match results.outcome(&set.name, size, method) {
                Some(outcome) => Cell::Figure { mean: outcome.mean, std: outcome.std, mark },
                None => Cell::Text(String::new()),
            });
        }
        rows.push(row);
    }
    if results.sets.len() > 1 {
        let mut last = vec![Cell::Text("win/tie/loss".into())];
        last.extend(methods.iter().zip(records).map(|(&method, record)| match method == champion {
            true => Cell::Text(String::new()),
            false => Cell::Record(record),
        }));
        rows.push(last);
    }
    let header = std::iter::once("data set").chain(methods.iter().map(|method| method.name()));
    Grid { title: format!("Test accuracy, {size} members"), header: header.map(str::to_owned).collect(), rows }
}

/// The gain of LcUd over Lc and Lcd at each size.
fn gains(results: &Results) -> Option<Grid> {
    let others: Vec<Contender> =
        [Contender::Lc, Contender::Lcd].into_iter().filter(|m| results.experiment.methods.contains(m)).collect();
    if others.is_empty() || !results.experiment.methods.contains(&Contender::Lcud) {
        return None;
    }
    let columns: Vec<(Contender, usize)> =
        others.iter().flat_map(|&m| results.experiment.sizes.iter().map(move |&size| (m, size))).collect();
    let header = columns.iter().map(|(method, size)| format!("{} {size}", method.name()));
    let cell = |set: &str, (method, size): (Contender, usize)| {
        let lcud = results.outcome(set, size, Contender::Lcud)?;
        let other = results.outcome(set, size, method)?;
        let gains: Vec<f64> = lcud.accuracies.iter().zip(&other.accuracies).map(|(a, b)| a - b).collect();
        Some(Cell::Figure {
            mean: crate::statistics::mean(&gains)?,
            std: crate::statistics::deviation(&gains).unwrap_or(0.0),
            mark: verdict(&lcud.accuracies, &other.accuracies),
        })
    };
    let rows = results.sets.iter().map(|set| {
        let cells = columns.iter().map(|&at| cell(&set.name, at).unwrap_or(Cell::Text(String::new())));
        std::iter::once(Cell::Text(set.name.clone())).chain(cells).collect()
    });
    Some(Grid {
        title: "Gain of lcud over lc and lcd".into(),
        header: std::iter::once("data set".to_owned()).chain(header).collect(),
        rows: rows.collect(),
    })
}

/// Whether the members are more diverse after the descent, by the paper's four measures, at each size.
fn diversity(results: &Results) -> Option<Grid> {
    const MEASURES: [&str; 4] = ["dis", "df", "ent", "cfd"];
    if results.diversity.is_empty() {
        return None;
    }
    let columns: Vec<(usize, &str)> =
        results.experiment.sizes.iter().flat_map(|&size| MEASURES.map(|measure| (size, measure))).collect();
    let find = |set: &str, size: usize, measure: &str| {
        let found = results.diversity.iter().find(|d| d.dataset == set && d.size == size && d.measure == measure);
        Cell::Verdict(found.and_then(|outcome| outcome.verdict))
    };
    let rows = results.sets.iter().map(|set| {
        let cells = columns.iter().map(|&(size, measure)| find(&set.name, size, measure));
        std::iter::once(Cell::Text(set.name.clone())).chain(cells).collect()
    });
    Some(Grid {
        title: "More diverse after the descent than before (on test rows)".into(),
        header: std::iter::once("data set".to_owned())
            .chain(columns.iter().map(|(size, m)| format!("{m} {size}")))
            .collect(),
        rows: rows.collect(),
    })
}

/// Writes the accuracies for a terminal.
///
/// # Errors
/// If writing fails.
pub fn write_text(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for set in &results.sets {
        let [labeled, unlabeled, test] = set.dealt;
        writeln!(
            out,
            "{}: {} rows, {} columns; {} splits of {labeled} labeled, {unlabeled} unlabeled, {test} test rows",
            set.name, set.n_rows, set.n_columns, results.experiment.splits
        )?;
        let sizes = results.experiment.sizes.iter().map(|size| format!("{size} members"));
        let mut table = TextTable::new(std::iter::once("test accuracy".to_owned()).chain(sizes));
        for method in &results.experiment.methods {
            let cells = results.experiment.sizes.iter().filter_map(|&size| {
                let outcome = results.outcome(&set.name, size, *method)?;
                Some(match outcome.accuracies.len() {
                    1 => format!("{:.3}", outcome.mean),
                    _ => format!("{:.3} ± {:.3}", outcome.mean, outcome.std),
                })
            });
            table.push(std::iter::once(method.name().to_owned()).chain(cells));
        }
        let methods = &results.experiment.methods;
        let champion = results.champion();
        let simplest = [Contender::Logistic, Contender::Initial, Contender::Bagging];
        let baseline = simplest.into_iter().find(|method| methods.contains(method)).unwrap_or(methods[0]);
        if champion != baseline {
            let gains = results.experiment.sizes.iter().map(|&size| gain(results, &set.name, size, champion, baseline));
            table.push(std::iter::once(format!("{} - {}", champion.name(), baseline.name())).chain(gains));
        }
        table.write(out)?;
        writeln!(out)?;
    }
    write_rankings(results, out)
}

/// The mean difference of two methods, and on how many splits it is for better or worse.
fn gain(results: &Results, set: &str, size: usize, method: Contender, baseline: Contender) -> String {
    let of = |method| results.outcome(set, size, method);
    let (Some(ours), Some(theirs)) = (of(method), of(baseline)) else { return String::new() };
    let differences = ours.accuracies.iter().zip(&theirs.accuracies).map(|(a, b)| a - b);
    let (mut up, mut down, mut sum) = (0, 0, 0.0);
    for difference in differences {
        up += usize::from(difference > 0.0);
        down += usize::from(difference < 0.0);
        sum += difference;
    }
    format!("{:+.3} ({up} up, {down} down)", sum / ours.accuracies.len() as f64)
}

fn write_rankings(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for ranking in &results.rankings {
        let friedman = &ranking.ranks.friedman;
        writeln!(
            out,
            "{} sets, {} members: average rank, 1 is best (Friedman p = {:.2e})",
            friedman.n_sets, ranking.size, friedman.chi_square_p
        )?;
        let mut table = TextTable::new(Vec::<String>::new());
        for (method, rank) in ranking.ranks.sorted() {
            table.push([format!("  {method}"), format!("{rank:.2}")]);
        }
        table.write(out)?;
        if let Some(difference) = ranking.ranks.critical_difference {
            writeln!(out, "ranks that differ by less than {difference:.2} are not told apart (Nemenyi, 95 %)\n")?;
        }
    }
    Ok(())
}

/// Writes the paper's tables for a terminal, ours above the paper's.
///
/// # Errors
/// If writing fails.
pub fn write_paper(results: &Results, report: &PaperReport, out: &mut dyn Write) -> io::Result<()> {
    for table in ["II", "III", "IV"] {
        let cells: Vec<&PaperCell> = report.cells.iter().filter(|cell| cell.table == table).collect();
        if let Some(first) = cells.first() {
            writeln!(out, "Table {table}: test accuracy, {} members (• LcUd better, ∘ worse)", first.size)?;
            write_beside(results, &cells, &["lcud", "bagging", "adaboost", "assemble", "semiboost", "lc", "lcd"], out)?;
        }
    }
    for &size in &results.experiment.sizes {
        let of = |table: &str| -> Vec<&PaperCell> {
            report.cells.iter().filter(|cell| cell.table == table && cell.size == size).collect()
        };
        let (gains, diversity) = (of("V"), of("VI"));
        if !gains.is_empty() {
            writeln!(out, "Table V: gain of LcUd over Lc and Lcd, {size} members (• better, ∘ worse)")?;
            write_beside(results, &gains, &["lc", "lcd"], out)?;
        }
        if !diversity.is_empty() {
            writeln!(out, "Table VI: more diverse after the descent, {size} members (• more, ∘ less)")?;
            write_beside(results, &diversity, &["dis", "df", "ent", "cfd"], out)?;
        }
    }
    write_agreement(report, out)
}

/// Three lines a set: ours, the paper's, the difference; two where there are only verdicts.
fn write_beside(results: &Results, cells: &[&PaperCell], columns: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let present: Vec<&str> = columns.iter().copied().filter(|c| cells.iter().any(|cell| cell.column == *c)).collect();
    let sound = present.contains(&"adaboost") && results.experiment.methods.contains(&Contender::Adaboost);
    let extra = if sound { vec!["(sound)"] } else { vec![] };
    // Short enough for all methods in 80 columns.
    let short = |column: &&str| {
        match *column {
            "adaboost" => "adab.",
            "assemble" => "assem.",
            "semiboost" => "semib.",
            other => other,
        }
        .to_owned()
    };
    let header = present.iter().map(short).chain(extra.into_iter().map(str::to_owned));
    let mut table = TextTable::left(["data set", ""].map(str::to_owned).into_iter().chain(header));
    let names = results.sets.iter().map(|set| &set.name);
    for name in names.filter(|name| cells.iter().any(|cell| cell.dataset == **name)) {
        let find = |column: &str| cells.iter().find(|cell| cell.dataset == *name && cell.column == column);
        let row = |of: &dyn Fn(&PaperCell) -> String| -> Vec<String> {
            present.iter().map(|column| find(column).map_or("-".to_owned(), |cell| of(cell))).collect()
        };
        let shown = |mean: Option<f64>, verdict: Option<Verdict>, missing: &str| match (mean, verdict) {
            (Some(mean), verdict) => format!("{mean:.3}{}", mark(verdict)),
            (None, Some(verdict)) => if verdict == Verdict::Tie { "=" } else { mark(Some(verdict)) }.to_owned(),
            (None, None) => missing.to_owned(),
        };
        let mut ours = row(&|cell| shown(cell.ours, cell.our_verdict, ""));
        if sound && let Some(outcome) = results.outcome(name, cells[0].size, Contender::Adaboost) {
            ours.push(format!("{:.3}", outcome.mean));
        }
        table.push([name.clone(), "ours".into()].into_iter().chain(ours));
        let paper = row(&|cell| shown(cell.paper, cell.paper_verdict, "N/A"));
        table.push([String::new(), "paper".into()].into_iter().chain(paper));
        if cells.iter().any(|cell| cell.ours.is_some()) {
            let differences = row(&|cell| cell.difference().map_or(String::new(), |d| format!("{d:+.3}")));
            table.push([String::new(), "diff".into()].into_iter().chain(differences));
        }
    }
    if cells.iter().any(|cell| cell.ours.is_some()) {
        for (name, of) in [
            ("ours", (|cell: &PaperCell| cell.our_verdict) as fn(&PaperCell) -> Option<Verdict>),
            ("paper", |cell| cell.paper_verdict),
        ] {
            let records = present.iter().map(|column| {
                let record: Record =
                    cells.iter().filter(|cell| cell.column == *column).filter_map(|cell| of(cell)).collect();
                if record == Record::default() { String::new() } else { record.to_string() }
            });
            let first = if name == "ours" { "win/tie/l." } else { "" };
            table.push([first.to_owned(), name.to_owned()].into_iter().chain(records));
        }
    }
    table.write(out)?;
    writeln!(out)
}

fn write_agreement(report: &PaperReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Agreement with the paper")?;
    let mut table =
        TextTable::new(["table", "cells", "mean |diff|", "in 0.01", "in 0.02", "in 0.03", "verdicts agree"]);
    for agreement in &report.agreement {
        let share = |share: f64| format!("{:.0} %", 100.0 * share);
        let figures = match agreement.cells {
            0 => ["-".to_owned(), "-".into(), "-".into(), "-".into()],
            _ => [
                format!("{:.4}", agreement.mean_absolute_difference),
                share(agreement.within_001),
                share(agreement.within_002),
                share(agreement.within_003),
            ],
        };
        let verdicts = match agreement.verdicts {
            0 => "-".to_owned(),
            all => format!("{} of {all}", agreement.verdicts_agree),
        };
        let start = [agreement.table.clone(), agreement.cells.to_string()];
        table.push(start.into_iter().chain(figures).chain([verdicts]));
    }
    table.write(out)?;
    if report.sign_of_gain.1 > 0 {
        let (same, all) = report.sign_of_gain;
        writeln!(out, "sign of LcUd - Lc where the paper finds it significant: the same in {same} of {all}")?;
    }
    Ok(())
}

/// Writes every mean as a row: dataset, size, method, mean, std, splits, and the champion's verdict against it.
///
/// # Errors
/// If writing fails.
pub fn write_csv(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["dataset", "size", "method", "mean", "std", "splits", results.champion().name()])?;
    for outcome in &results.outcomes {
        let method = Contender::named(outcome.method).ok();
        let verdict = method.and_then(|method| results.verdict_against(&outcome.dataset, outcome.size, method));
        writer.write_record([
            outcome.dataset.as_str(),
            &outcome.size.to_string(),
            outcome.method,
            &outcome.mean.to_string(),
            &outcome.std.to_string(),
            &outcome.accuracies.len().to_string(),
            verdict_word(verdict),
        ])?;
    }
    writer.flush()
}

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

fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Win) => "win",
        Some(Verdict::Tie) => "tie",
        Some(Verdict::Loss) => "loss",
        None => "",
    }
}

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
                Cell::Figure { mean, std, mark } => {
                    let mark = match mark {
                        Some(Verdict::Win) => "$\\bullet$",
                        Some(Verdict::Loss) => "$\\circ$",
                        _ => "",
                    };
                    format!("{mean:.3}$\\pm${std:.3}{mark}")
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

/// Text that LaTeX takes as it is meant.
fn latex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '_' | '&' | '%' | '$' | '#' | '{' | '}' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A table of text: columns of figures to the right, others to the left. An empty header is not shown.
///
/// ```
/// let mut table = udeed_lab::tables::TextTable::new(["set", "rows"]);
/// table.push(["labor", "57"]);
/// let mut text = Vec::new();
/// table.write(&mut text).unwrap();
/// assert_eq!(text, b"set    rows\nlabor    57\n");
/// ```
#[derive(Debug, Clone)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
    all_left: bool,
}

impl TextTable {
    /// A table with a header.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        TextTable { rows: vec![header.into_iter().map(Into::into).collect()], all_left: false }
    }

    /// A narrow table with every column to the left.
    pub fn left<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        TextTable { all_left: true, ..TextTable::new(header) }
    }

    /// Adds a row.
    pub fn push<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = || self.rows.iter().filter(|row| !row.is_empty());
        let columns = rows().map(Vec::len).max().unwrap_or(0);
        let cells = |j: usize| rows().filter_map(move |row| row.get(j));
        let widths: Vec<usize> =
            (0..columns).map(|j| cells(j).map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
        let is_figure = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
        let figures: Vec<bool> =
            (0..columns).map(|j| !self.all_left && j > 0 && cells(j).skip(1).all(is_figure)).collect();
        for row in rows() {
            let mut line = String::new();
            for (j, cell) in row.iter().enumerate() {
                let gap = match j {
                    0 => "",
                    _ if self.all_left => " ",
                    _ => "  ",
                };
                let width = widths[j];
                line.push_str(&if figures[j] {
                    format!("{gap}{cell:>width$}")
                } else {
                    format!("{gap}{cell:<width$}")
                });
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latex_is_escaped() {
        assert_eq!(latex("kr_vs_kp 50 % {x}\\"), "kr\\_vs\\_kp 50 \\% \\{x\\}\\textbackslash{}");
    }
}

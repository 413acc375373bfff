//! Tables for a terminal.

use std::io::{self, Write};

use udeed::text::{counted, printable};

use super::{BASELINE, by_weight, verdict_word};
use crate::experiment::Entry;
use crate::results::Results;
use crate::statistics::{DecidingTest, p_value};

/// Writes the accuracies and average ranks for a terminal.
///
/// # Errors
/// If writing fails.
pub fn write_text(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    for set in &results.sets {
        let [labeled, unlabeled, test] = set.dealt;
        writeln!(
            out,
            "{}: {}, {}\n{} of {labeled} labeled, {unlabeled} unlabeled, {test} test rows",
            printable(&set.name),
            counted(set.n_rows, "row"),
            counted(set.n_columns, "column"),
            counted(results.experiment.n_splits() as usize, "split")
        )?;
        let sizes = results.experiment.sizes.iter().map(|&size| counted(size, "member"));
        let mut table = TextTable::new(std::iter::once("test accuracy".to_owned()).chain(sizes));
        let any_baseline =
            results.outcomes.iter().any(|outcome| outcome.dataset == set.name && outcome.baseline_splits > 0);
        for method in &results.experiment.methods {
            let cells = results.experiment.sizes.iter().filter_map(|&size| {
                let outcome = results.outcome(&set.name, size, *method)?;
                let dagger = match outcome.baseline_splits > 0 {
                    true => BASELINE,
                    // The figures stay below each other.
                    false if any_baseline => " ",
                    false => "",
                };
                Some(match outcome.std {
                    None => format!("{:.3}{dagger}", outcome.mean),
                    Some(std) => format!("{:.3} ± {std:.3}{dagger}", outcome.mean),
                })
            });
            table.push(std::iter::once(method.name().to_owned()).chain(cells));
        }
        let methods = &results.experiment.methods;
        let champion = results.champion();
        let simplest = ["logistic", "initial", "bagging"];
        let given = |name: &&str| methods.iter().find(|method| method.name() == *name).copied();
        let baseline = simplest.iter().find_map(given).unwrap_or(methods[0]);
        if champion != baseline {
            let gains = results.experiment.sizes.iter().map(|&size| gain(results, &set.name, size, champion, baseline));
            let (gains, splits): (Vec<String>, Vec<String>) = gains.map(Option::unwrap_or_default).unzip();
            table.push(std::iter::once(format!("{} - {}", champion.name(), baseline.name())).chain(gains));
            table.push(std::iter::once("splits".to_owned()).chain(splits));
            for test in by_weight(results).into_iter().filter(|_| results.experiment.n_splits() > 1) {
                let sizes = results.experiment.sizes.iter();
                let cells = sizes.map(|&size| significance(results, &set.name, size, baseline, test));
                table.push(std::iter::once(format!("p, {}-test", test.short())).chain(cells));
            }
        }
        table.write(out)?;
        write_baselines(results, &set.name, out)?;
        writeln!(out)?;
    }
    write_rankings(results, out)
}

/// The mean difference of two methods, and the numbers of splits with a higher and a lower accuracy.
fn gain(results: &Results, set: &str, size: usize, method: Entry, baseline: Entry) -> Option<(String, String)> {
    let of = |method| results.outcome(set, size, method);
    let (ours, theirs) = (of(method)?, of(baseline)?);
    let differences = ours.accuracies.iter().zip(&theirs.accuracies).map(|(a, b)| a - b);
    let (mut up, mut down, mut sum) = (0, 0, 0.0);
    for difference in differences {
        up += usize::from(difference > 0.0);
        down += usize::from(difference < 0.0);
        sum += difference;
    }
    Some((format!("{:+.3}", sum / ours.accuracies.len() as f64), format!("{up} up, {down} down")))
}

/// The p-value of a t-test of the champion against a method, with the verdict if it is the test that decides.
fn significance(results: &Results, set: &str, size: usize, method: Entry, test: DecidingTest) -> String {
    let Some(against) = results.against(set, size, method) else { return String::new() };
    let p = against.t_test(test).map_or_else(|| "-".to_owned(), |test| p_value(test.p));
    match against.verdict.filter(|_| test == results.verdicts) {
        Some(verdict) => format!("{p} ({})", verdict_word(Some(verdict))),
        None => p,
    }
}

/// Which methods ended as their baselines, below a table that marks them.
fn write_baselines(results: &Results, set: &str, out: &mut dyn Write) -> io::Result<()> {
    for outcome in results.outcomes.iter().filter(|outcome| outcome.dataset == set) {
        if let Some(how_often) = outcome.as_baseline() {
            writeln!(out, "{BASELINE} {}, {} members: {how_often}", outcome.method, outcome.size)?;
        }
    }
    Ok(())
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
            writeln!(out, "ranks closer than {difference:.2} are not significantly different (Nemenyi, 95 %)\n")?;
        }
    }
    Ok(())
}

/// A text table: columns of numbers are right-aligned, others left-aligned. An empty header is not shown.
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

/// The widest column. Where names are longer, which strangers may make them, other rows are not padded for them.
const WIDEST: usize = 200;

impl TextTable {
    /// A table with a header.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        let mut table = TextTable { rows: Vec::new(), all_left: false };
        table.push(header);
        table
    }

    /// A narrow table, every column left-aligned.
    pub fn left<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        TextTable { all_left: true, ..TextTable::new(header) }
    }

    /// Adds a row.
    pub fn push<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        // A name from a file may hold line ends and worse.
        let printed = |cell: S| printable(&cell.into()).into_owned();
        self.rows.push(row.into_iter().map(printed).collect());
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
            (0..columns).map(|j| cells(j).map(|cell| cell.chars().count()).max().unwrap_or(0).min(WIDEST)).collect();
        let is_figure = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "+-<".contains(c));
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
    fn a_cell_longer_than_any_line_is_written() {
        let long = "x".repeat(100_000);
        let mut table = TextTable::new(["name", "rows"]);
        table.push([long.as_str(), "1"]);
        table.push(["short", "2"]);
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        let lengths: Vec<usize> = String::from_utf8(text).unwrap().lines().map(str::len).collect();
        assert_eq!(lengths, [WIDEST + 6, long.len() + 6, WIDEST + 6]);
    }
}

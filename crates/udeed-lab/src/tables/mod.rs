//! Results as tables: text for a terminal, CSV, Markdown and LaTeX.
//!
//! A [`Grid`] holds the cells of a table; each format writes them in its own way.

mod csv;
mod latex;
mod markdown;
mod markup;
mod paper;
mod text;

pub use csv::write_csv;
pub use latex::write_latex;
pub use markdown::write_markdown;
pub(crate) use paper::whole_or_tenths;
pub use paper::write_paper;
pub use text::{TextTable, write_text};

use udeed::text::counted;

use crate::experiment::Entry;
use crate::paper::{Agreement, PaperCell, PaperReport, SIZES, columns};
use crate::results::{Results, SetSummary};
use crate::statistics::{DecidingTest, Pairwise, Record, Verdict, p_value};

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A mean with its standard deviation, and the verdict of the champion against it.
    Figure {
        /// The mean.
        mean: f64,
        /// The standard deviation; none of a single split.
        std: Option<f64>,
        /// The verdict of the deciding test.
        mark: Option<Verdict>,
        /// Whether the method ended as its baseline on some splits.
        is_baseline: bool,
    },
    /// A verdict alone.
    Verdict(Option<Verdict>),
    /// Wins, ties and losses.
    Record(Record),
}

/// A table with a title.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The title.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The mark of a method that ended as its baseline on some splits.
pub(crate) const BASELINE: &str = "\u{2020}";

/// The paper's mark of a verdict.
fn mark(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Win) => "•",
        Some(Verdict::Loss) => "∘",
        _ => "",
    }
}

/// A verdict in words.
fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Win) => "win",
        Some(Verdict::Tie) => "tie",
        Some(Verdict::Loss) => "loss",
        None => "",
    }
}

/// Both t-tests, the one that decides last.
fn by_weight(results: &Results) -> [DecidingTest; 2] {
    match results.verdicts {
        DecidingTest::Corrected => [DecidingTest::Paired, DecidingTest::Corrected],
        DecidingTest::Paired => [DecidingTest::Corrected, DecidingTest::Paired],
    }
}

/// The p-values of both t-tests, the paired one first.
pub(crate) fn p_values(pairwise: &Pairwise) -> String {
    let p = |test| pairwise.t_test(test).map_or_else(|| "-".to_owned(), |test| p_value(test.p));
    format!("{} / {}", p(DecidingTest::Paired), p(DecidingTest::Corrected))
}

/// The tables of an experiment in the paper's form: for each size the accuracies and the p-values of both t-tests; the
/// gain of LcUd; diversity.
///
/// ```
/// use udeed_lab::statistics::DecidingTest;
/// use udeed_lab::{Experiment, Journal, Results, Set, run, tables};
///
/// let data = udeed::format::built_in("labor")?.read()?.into_train()?;
/// let sets = [Set { name: "labor".into(), data }];
/// let experiment = Experiment { splits: 2, ..Experiment::default() };
/// let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
/// let results = Results::new(&experiment, &sets, &trials, "an example", DecidingTest::Corrected)?;
/// let mut markdown = Vec::new();
/// tables::write_markdown(&results, &mut markdown).unwrap();
/// assert!(String::from_utf8(markdown).unwrap().contains("| labor |"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
pub fn grids(results: &Results) -> Vec<Grid> {
    let of_size = |&size: &usize| std::iter::once(accuracies(results, size)).chain(tests(results, size));
    let mut grids: Vec<Grid> = results.experiment.sizes.iter().flat_map(of_size).collect();
    grids.extend(gains(results));
    grids.extend(diversity(results));
    if let Some(report) = &results.paper {
        grids.extend(SIZES.iter().filter_map(|(_, table)| printed(results, report, table)));
        grids.extend(
            SIZES
                .iter()
                .flat_map(|&(size, table)| [(table, size), ("V", size)])
                .filter_map(|of| noise(results, report, of)),
        );
        grids.push(agreement(report));
    }
    grids
}

/// Our differences from a table of the paper in terms of their noise.
fn noise(results: &Results, report: &PaperReport, (table, size): (&str, usize)) -> Option<Grid> {
    let cells: Vec<&PaperCell> =
        report.cells.iter().filter(|cell| cell.table == table && cell.size == size && cell.z.is_some()).collect();
    cells.first()?;
    let columns = columns(&cells);
    let row = |set: &SetSummary| {
        let z = |column: &&str| cells.iter().find(|cell| cell.dataset == set.name && cell.column == **column)?.z;
        let shown = |column: &&str| Cell::Text(z(column).map_or_else(String::new, |z| format!("{z:+.1}")));
        std::iter::once(Cell::Text(set.name.clone())).chain(columns.iter().map(shown)).collect()
    };
    Some(Grid {
        title: format!(
            "Differences from the paper's table {table} over their standard errors (z), {}",
            counted(size, "member")
        ),
        header: std::iter::once("data set").chain(columns.iter().copied()).map(str::to_owned).collect(),
        rows: results.sets.iter().map(row).collect(),
    })
}

/// The agreement of each table with the paper's.
fn agreement(report: &PaperReport) -> Grid {
    let text = |value: Option<String>| Cell::Text(value.unwrap_or_default());
    let row = |row: &Agreement| {
        let some = (row.cells > 0).then_some(row.mean_absolute_difference);
        let noise = row.mean_square.as_ref();
        vec![
            Cell::Text(row.table.clone()),
            Cell::Text(row.cells.to_string()),
            text(some.map(|difference| format!("{difference:.4}"))),
            text(noise.map(|found| format!("{:+.2}", found.mean))),
            text(noise.map(|found| format!("{:.2}", found.value))),
            text(noise.map(|found| format!("{:.2} to {:.2}", found.by_chance[0], found.by_chance[1]))),
            text(row.mean_square_without_rebuilt.map(|found| format!("{:.2}", found.value))),
            text(row.log_std.map(|found| format!("{:+.2}", found.value))),
            text(row.log_std.map(|found| format!("{:.2} to {:.2}", found.by_chance[0], found.by_chance[1]))),
            text((row.verdicts > 0).then(|| format!("{} of {}", whole_or_tenths(row.verdicts_agree), row.verdicts))),
            text(row.runs_agree.map(whole_or_tenths)),
        ]
    };
    let header = [
        "table",
        "cells",
        "mean |difference|",
        "mean z",
        "mean z^2",
        "by chance",
        "public sets",
        "log std ratio",
        "by chance",
        "verdicts agree",
        "our runs agree",
    ];
    Grid {
        title: "Agreement with the paper".into(),
        header: header.map(str::to_owned).to_vec(),
        rows: report.agreement.iter().map(row).collect(),
    }
}

/// A table of the paper as printed, restricted to the data sets of the run.
fn printed(results: &Results, report: &PaperReport, table: &str) -> Option<Grid> {
    let cells: Vec<&PaperCell> =
        report.cells.iter().filter(|cell| cell.table == table && cell.paper_std.is_some()).collect();
    let size = cells.first()?.size;
    let columns = columns(&cells);
    let rows = results.sets.iter().map(|set| {
        let cell = |column: &&str| {
            let found = cells.iter().find(|cell| cell.dataset == set.name && cell.column == **column);
            match found.map(|cell| (cell.paper, cell.paper_std, cell.paper_verdict)) {
                Some((Some(mean), Some(std), mark)) => Cell::Figure { mean, std: Some(std), mark, is_baseline: false },
                _ => Cell::Text(String::new()),
            }
        };
        std::iter::once(Cell::Text(set.name.clone())).chain(columns.iter().map(cell)).collect()
    });
    Some(Grid {
        title: format!("The paper's table {table}, {}", counted(size, "member")),
        header: std::iter::once("data set").chain(columns.iter().copied()).map(str::to_owned).collect(),
        rows: rows.collect(),
    })
}

fn accuracies(results: &Results, size: usize) -> Grid {
    let (methods, champion) = (&results.experiment.methods, results.champion());
    let mut rows = Vec::new();
    for set in &results.sets {
        let mut row = vec![Cell::Text(set.name.clone())];
        for &method in methods {
            let mark = results.against(&set.name, size, method).and_then(|against| against.verdict);
            row.push(match results.outcome(&set.name, size, method) {
                Some(outcome) => {
                    let (mean, std, is_baseline) = (outcome.mean, outcome.std, outcome.baseline_splits > 0);
                    Cell::Figure { mean, std, mark, is_baseline }
                }
                None => Cell::Text(String::new()),
            });
        }
        rows.push(row);
    }
    if results.sets.len() > 1 {
        for test in by_weight(results).into_iter().rev() {
            let record = |&method: &Entry| match method == champion {
                true => Cell::Text(String::new()),
                false => Cell::Record(results.record(test, size, champion, method)),
            };
            let title = Cell::Text(format!("win/tie/loss, {}", test.short()));
            rows.push(std::iter::once(title).chain(methods.iter().map(record)).collect());
        }
    }
    let header = std::iter::once("data set").chain(methods.iter().map(|method| method.name()));
    let marks = match methods.len() {
        1 => String::new(),
        _ => format!(" (• {} better, ∘ worse: {}, 95 %)", champion.name(), results.verdicts.title()),
    };
    let any = rows.iter().flatten().any(|cell| matches!(cell, Cell::Figure { is_baseline: true, .. }));
    let daggers = if any { format!("; {BASELINE} ended as its baseline on some splits") } else { String::new() };
    let title = format!("Test accuracy, {}{marks}{daggers}", counted(size, "member"));
    Grid { title, header: header.map(str::to_owned).collect(), rows }
}

/// The p-values of the champion against each method; none for a single method or split.
fn tests(results: &Results, size: usize) -> Option<Grid> {
    let champion = results.champion();
    let others: Vec<Entry> = results.experiment.methods.iter().copied().filter(|&other| other != champion).collect();
    if others.is_empty() || results.experiment.n_splits() < 2 {
        return None;
    }
    let rows = results.sets.iter().map(|set| {
        let cell = |&other: &Entry| results.against(&set.name, size, other).map_or_else(String::new, p_values);
        std::iter::once(set.name.clone()).chain(others.iter().map(cell)).map(Cell::Text).collect()
    });
    Some(Grid {
        title: format!("{} against each method, {size} members: p of the paired / corrected t-test", champion.name()),
        header: std::iter::once("data set").chain(others.iter().map(|other| other.name())).map(str::to_owned).collect(),
        rows: rows.collect(),
    })
}

/// The gain of LcUd over Lc and Lcd at each size.
fn gains(results: &Results) -> Option<Grid> {
    let others: Vec<Entry> =
        [Entry::LC, Entry::LCD].into_iter().filter(|m| results.experiment.methods.contains(m)).collect();
    if others.is_empty() || !results.experiment.methods.contains(&Entry::LCUD) {
        return None;
    }
    let columns: Vec<(Entry, usize)> =
        others.iter().flat_map(|&m| results.experiment.sizes.iter().map(move |&size| (m, size))).collect();
    let header = columns.iter().map(|(method, size)| format!("{} {size}", method.name()));
    let cell = |set: &str, (method, size): (Entry, usize)| {
        let lcud = results.outcome(set, size, Entry::LCUD)?;
        let other = results.outcome(set, size, method)?;
        let gains: Vec<f64> = lcud.accuracies.iter().zip(&other.accuracies).map(|(a, b)| a - b).collect();
        Some(Cell::Figure {
            mean: crate::statistics::mean(&gains)?,
            std: crate::statistics::deviation(&gains),
            mark: results.verdict(results.verdicts, set, size, Entry::LCUD, method),
            is_baseline: false,
        })
    };
    let rows = results.sets.iter().map(|set| {
        let cells = columns.iter().map(|&at| cell(&set.name, at).unwrap_or(Cell::Text(String::new())));
        std::iter::once(Cell::Text(set.name.clone())).chain(cells).collect()
    });
    Some(Grid {
        title: format!("Gain of lcud over lc and lcd (• significant: {}, 95 %)", results.verdicts.title()),
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
        title: format!("More diverse after the descent than before (test rows; {}, 95 %)", results.verdicts.title()),
        header: std::iter::once("data set".to_owned())
            .chain(columns.iter().map(|(size, m)| format!("{m} {size}")))
            .collect(),
        rows: rows.collect(),
    })
}

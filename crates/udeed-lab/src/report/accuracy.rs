//! The accuracy of each method on each data set: a picture with confidence intervals, and a table in the paper's form.

use std::ops::Range;

use maud::{Markup, html};

use super::chart::{Picture, Rows, Scale, WIDE, pieces, whisker};
use super::table::{Cell, Table};
use super::words::{count, listed, number};
use super::{Section, method, set_names};
use crate::experiment::Entry;
use crate::results::{Outcome, Results, SetSummary};
use crate::statistics::{DecidingTest, Record, Verdict, mean, mean_interval};
use crate::tables::BASELINE;

pub(super) fn section(results: &Results) -> Section {
    let body = html! {
        p {
            "Accuracy is the share of test rows that are classified correctly. Each mark is the mean over the splits, "
            "the line through it its 95 % confidence interval."
        }
        @for &size in &results.experiment.sizes {
            h3 { (count(size, "member")) }
            @for piece in pieces(results.sets.len(), (TALLEST / pitch(results)) as usize) {
                (picture(results, size, piece))
            }
            (table(results, size))
        }
    };
    Section { id: "accuracy", title: "Accuracy", body }
}

/// The greatest height of the rows of one picture: more does not fit on a printed page.
const TALLEST: f64 = 900.0;

/// The distance between two methods in the row of a set: the fewer sets, the more room.
fn lane(results: &Results) -> f64 {
    match results.sets.len() {
        0..=4 => 10.0,
        5..=10 => 8.0,
        _ => 6.0,
    }
}

fn pitch(results: &Results) -> f64 {
    (lane(results) * results.experiment.methods.len() as f64 + 8.0).max(24.0)
}

fn picture(results: &Results, size: usize, piece: Range<usize>) -> Markup {
    let methods = &results.experiment.methods;
    let sets = &results.sets[piece.clone()];
    let names = set_names(results);
    let rows = Rows::new(&names, names[piece.clone()].to_vec(), pitch(results), WIDE);
    // The same scale for all pictures, so that they can be compared.
    let ends = results.outcomes.iter().flat_map(|outcome| {
        let (low, high) = interval(outcome).unwrap_or((outcome.mean, outcome.mean));
        [low, high]
    });
    let scale = Scale::covering(ends, rows.frame.left, rows.frame.right);
    let lane_height = lane(results);
    let y = |row: usize, lane: usize| rows.middle(row) + lane_height * (lane as f64 - 0.5 * (methods.len() - 1) as f64);
    let drawing = html! {
        (rows.draw())
        (rows.frame.across(&scale, "accuracy (share of test rows)"))
        @for (lane, &method) in methods.iter().enumerate() {
            g class=(method::class(method)) {
                @for (row, set) in sets.iter().enumerate() {
                    @if let Some(outcome) = results.outcome(&set.name, size, method).filter(|o| o.mean.is_finite()) {
                        g {
                            title { (described(outcome, method)) }
                            @if let Some(interval) = interval(outcome) {
                                (whisker(&scale, y(row, lane), interval))
                            }
                            (method::mark(method, scale.at(outcome.mean), y(row, lane)))
                        }
                    }
                }
            }
        }
    };
    let is_whole = sets.len() == results.sets.len();
    let part = if is_whole { String::new() } else { format!(", sets {} to {}", piece.start + 1, piece.end) };
    Picture {
        id: format!("accuracy-{size}-{}", piece.start),
        title: format!("Mean accuracy with {}{part}.", count(size, "member")),
        finding: finding(results, size, sets),
        legend: method::legend(methods),
        width: WIDE,
        height: rows.height(),
    }
    .draw(&drawing)
}

/// The confidence interval of the mean, within the range of an accuracy.
fn interval(outcome: &Outcome) -> Option<(f64, f64)> {
    mean_interval(&outcome.accuracies).map(|(low, high)| (low.max(0.0), high.min(1.0)))
}

fn described(outcome: &Outcome, method: Entry) -> String {
    let interval =
        interval(outcome).map_or(String::new(), |(low, high)| format!(", 95 % interval {low:.3} to {high:.3}"));
    format!("{}, {}: {:.3}{interval}", outcome.dataset, method.title(), outcome.mean)
}

/// The methods with the highest mean on a set; several where they tie.
fn best(results: &Results, size: usize, set: &str) -> Vec<Entry> {
    let means: Vec<(Entry, f64)> = results
        .experiment
        .methods
        .iter()
        .filter_map(|&method| Some((method, results.outcome(set, size, method)?.mean)))
        .collect();
    let highest = means.iter().map(|&(_, mean)| mean).fold(f64::NEG_INFINITY, f64::max);
    means.into_iter().filter(|&(_, mean)| mean == highest).map(|(method, _)| method).collect()
}

fn finding(results: &Results, size: usize, sets: &[SetSummary]) -> String {
    let winners: Vec<Vec<Entry>> = sets.iter().map(|set| best(results, size, &set.name)).collect();
    if let ([set], [winners]) = (sets, &winners[..]) {
        let labels: Vec<&str> = winners.iter().map(|&method| method.title()).collect();
        let highest = winners.first().and_then(|&method| results.outcome(&set.name, size, method));
        return highest.map_or(String::new(), |outcome| {
            format!("On {}, the most accurate is {} with {:.3}.", set.name, listed(&labels), outcome.mean)
        });
    }
    let mut counts: Vec<(usize, &str)> = results
        .experiment
        .methods
        .iter()
        .map(|method| (winners.iter().filter(|best| best.contains(method)).count(), method.title()))
        .filter(|&(wins, _)| wins > 0)
        .collect();
    counts.sort_by_key(|&(wins, _)| std::cmp::Reverse(wins));
    let first: Vec<String> = counts.iter().take(3).map(|(wins, label)| format!("{label} on {wins}")).collect();
    format!("Highest mean of {}: {}.", count(sets.len(), "set"), listed(&first))
}

fn table(results: &Results, size: usize) -> Markup {
    let methods = &results.experiment.methods;
    let champion = results.champion();
    let heads = std::iter::once(html! { "set" }).chain(methods.iter().map(|&method| method::name(method))).collect();
    let row = |set: &SetSummary| {
        let best = best(results, size, &set.name);
        let cells = methods.iter().map(|&method| cell(results, &set.name, size, method, best.contains(&method)));
        std::iter::once(Cell::text(&set.name)).chain(cells).collect()
    };
    let caption = html! {
        "Mean accuracy \u{b1} standard deviation over the splits, " (count(size, "member"))
        ". Underlined: the highest mean of a set."
        @if methods.len() > 1 {
            " \u{2022} " (champion.title()) " is significantly better than this method, \u{2218} worse "
            "(" (results.verdicts.title()) ", 95 %)."
        }
        @if results.outcomes.iter().any(|outcome| outcome.size == size && outcome.baseline_splits > 0) {
            " " (BASELINE) " The method ended as its baseline on some splits; the warnings say why."
        }
    };
    Table { caption, heads, rows: results.sets.iter().map(row).collect(), foot: foot(results, size) }.draw()
}

fn cell(results: &Results, set: &str, size: usize, method: Entry, is_best: bool) -> Cell {
    let Some(outcome) = results.outcome(set, size, method) else { return Cell::empty() };
    let verdict = results.against(set, size, method).and_then(|against| against.verdict);
    let sign = match verdict {
        Some(Verdict::Win) => html! { span.sign role="img" aria-label="significantly worse" { "\u{2022}" } },
        Some(Verdict::Loss) => html! { span.sign role="img" aria-label="significantly better" { "\u{2218}" } },
        _ => html! { span.sign {} },
    };
    let shown = html! {
        span.mean {
            @if is_best { strong { (number(outcome.mean, 3)) } } @else { (number(outcome.mean, 3)) }
            (sign)
            @if let Some(how_often) = outcome.as_baseline() {
                sup title=(how_often) role="img" aria-label=(how_often) { (BASELINE) }
            }
        }
        @if let Some(std) = outcome.std { " " span.soft { "\u{b1} " (number(std, 3)) } }
    };
    Cell::of(shown, Some(outcome.mean))
}

/// Below the sets: the mean over them, and the champion's record by both t-tests.
fn foot(results: &Results, size: usize) -> Vec<Vec<Cell>> {
    if results.sets.len() < 2 {
        return Vec::new();
    }
    let methods = &results.experiment.methods;
    let champion = results.champion();
    let over_sets = methods.iter().map(|&method| {
        // The mean over some sets cannot be compared with means over all.
        let means = results.sets.iter().map(|set| Some(results.outcome(&set.name, size, method)?.mean));
        let means: Option<Vec<f64>> = means.collect();
        means.and_then(|means| mean(&means)).map_or_else(Cell::empty, |mean| Cell::figure(mean, 3))
    });
    let record = |test: DecidingTest, method: Entry| match results.record(test, size, champion, method) {
        _ if method == champion => Cell::empty(),
        Record { win: 0, tie: 0, loss: 0 } => Cell::empty(),
        record => Cell::of(html! { (record.to_string()) }, None),
    };
    let mut foot = vec![std::iter::once(Cell::text("mean over sets")).chain(over_sets).collect()];
    if methods.len() > 1 {
        for test in DecidingTest::ALL {
            let title = format!("{}: win/tie/loss, {}", champion.title(), test.short());
            let records = methods.iter().map(|&method| record(test, method));
            foot.push(std::iter::once(Cell::text(&title)).chain(records).collect());
        }
    }
    foot
}

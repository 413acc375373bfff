//! Pairwise wins, ties and losses of all methods over the data sets.

use maud::{Markup, html};

use super::table::{Cell, Table};
use super::words::count;
use super::{Section, method};
use crate::experiment::Entry;
use crate::results::{Results, SetSummary};
use crate::statistics::{DecidingTest, Record};
use crate::tables::p_values;

pub(super) fn section(results: &Results) -> Option<Section> {
    if results.experiment.methods.len() < 2 || results.outcomes.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "The number of data sets, out of " (results.sets.len()) ", on which the method of the row wins, ties and "
            "loses against the method of the column. A win or a loss is a significant difference over the splits at "
            "95 %. The paired t-test, which the paper uses, takes the splits for independent and finds too much; the "
            "corrected resampled t-test allows for the rows that they share. Elsewhere on this page the "
            (results.verdicts.title()) " decides."
        }
        @for &size in &results.experiment.sizes {
            @for test in DecidingTest::ALL { (matrix(results, size, test)) }
            (p_table(results, size))
        }
    };
    Some(Section { id: "wins", title: "Wins, ties and losses", body })
}

/// The methods, the champion first, the others in the order of the experiment.
fn contestants(results: &Results) -> Vec<Entry> {
    let champion = results.champion();
    let others = results.experiment.methods.iter().copied().filter(|&method| method != champion);
    std::iter::once(champion).chain(others).collect()
}

fn cell(record: Record) -> Cell {
    let total = record.win + record.tie + record.loss;
    if total == 0 {
        return Cell::empty();
    }
    let balance = record.win as f64 - record.loss as f64;
    Cell::of(html! { (record.to_string()) }, Some(balance)).shaded(balance / total as f64)
}

fn matrix(results: &Results, size: usize, test: DecidingTest) -> Markup {
    let methods = contestants(results);
    let row = |&a: &Entry| {
        let against = |&b: &Entry| (a != b).then(|| results.record(test, size, a, b));
        let records: Vec<Option<Record>> = methods.iter().map(against).collect();
        let sum = records.iter().flatten().fold(Record::default(), |sum, record| Record {
            win: sum.win + record.win,
            tie: sum.tie + record.tie,
            loss: sum.loss + record.loss,
        });
        let cells = records.into_iter().map(|record| record.map_or_else(Cell::empty, cell));
        let name = Cell::of(method::name(a), None);
        std::iter::once(name).chain(cells).chain([cell(sum)]).collect()
    };
    let columns = methods.iter().map(|&method| method::name(method));
    let heads = std::iter::once(html! { "against" }).chain(columns).chain([html! { "all" }]);
    let caption = html! {
        "Win/tie/loss of the row against the column, " (count(size, "member")) ", by the " (test.title())
        ". The sort key is wins minus losses."
    };
    Table::new(caption, heads, methods.iter().map(row)).draw()
}

/// The p-values of the champion against each method, by both t-tests.
fn p_table(results: &Results, size: usize) -> Markup {
    let methods = contestants(results);
    let row = |set: &SetSummary| {
        let cell = |&other: &Entry| match results.against(&set.name, size, other) {
            Some(against) => Cell::of(html! { (p_values(against)) }, against.corrected.map(|test| test.p)),
            None => Cell::empty(),
        };
        std::iter::once(Cell::text(&set.name)).chain(methods[1..].iter().map(cell)).collect()
    };
    let heads = std::iter::once(html! { "set" }).chain(methods[1..].iter().map(|&other| method::name(other)));
    let caption = html! {
        (methods[0].title()) " against each method, " (count(size, "member")) ": p-values of the paired t-test and "
        "of the corrected one, which is the sort key."
    };
    Table::new(caption, heads, results.sets.iter().map(row)).draw()
}

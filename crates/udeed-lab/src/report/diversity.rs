//! The diversity of the members before and after the descent, by each of the ten measures.

use std::ops::Range;

use maud::{Markup, html};
use udeed::diversity::Measure;

use super::Section;
use super::chart::{Picture, Px, Rows, SMALL, Scale, Shape, key, legend, mark, pieces};
use super::table::{Cell, Table};
use super::words::{count, number};
use crate::results::{DiversityOutcome, Results};
use crate::statistics::{Record, Verdict};

pub(super) fn section(results: &Results) -> Section {
    let body = html! {
        p {
            "The diversity of LcUd's members on the test rows, before the descent (open) and after it (filled), mean "
            "over the splits. The sign at the right of a row is the verdict of the " (results.verdicts.title())
            " (95 %): more diverse after the descent (+), less diverse (\u{2212}) or no significant change (=)."
        }
        (summary(results))
        @for &size in &results.experiment.sizes {
            h3 { (count(size, "member")) }
            (legend(&[
                (key("change-tie", Shape::Circle, true), "before".to_owned()),
                (key("change-win", Shape::Circle, false), "after: more diverse (+)".to_owned()),
                (key("change-loss", Shape::Circle, false), "after: less diverse (\u{2212})".to_owned()),
                (key("change-tie", Shape::Circle, false), "after: no significant change (=)".to_owned()),
            ]))
            div.multiples {
                @for measure in Measure::ALL {
                    @let rows = of(results, size, measure);
                    @for piece in pieces(rows.len(), MOST_ROWS) { (picture(&rows, size, measure, piece)) }
                }
            }
        }
    };
    Section { id: "diversity", title: "Diversity before and after the descent", body }
}

fn of(results: &Results, size: usize, measure: Measure) -> Vec<&DiversityOutcome> {
    let wanted = |outcome: &&DiversityOutcome| outcome.size == size && outcome.measure == measure.name();
    results.diversity.iter().filter(wanted).collect()
}

fn record(outcomes: &[&DiversityOutcome]) -> Record {
    outcomes.iter().filter_map(|outcome| outcome.verdict).collect()
}

/// The numbers of data sets on which the members are more, equally and less diverse after the descent.
fn summary(results: &Results) -> Markup {
    let sizes = &results.experiment.sizes;
    let row = |&measure: &Measure| {
        let cells = sizes.iter().map(|&size| {
            let record = record(&of(results, size, measure));
            let total = (record.win + record.tie + record.loss).max(1) as f64;
            let balance = record.win as f64 - record.loss as f64;
            Cell::of(html! { (record.to_string()) }, Some(balance)).shaded(balance / total)
        });
        let direction = if measure.more_diverse_is_higher() { "higher" } else { "lower" };
        [Cell::text(measure.title()), Cell::text(direction)].into_iter().chain(cells).collect()
    };
    let heads = sizes.iter().map(|&size| count(size, "member"));
    let caption = html! {
        "The numbers of data sets on which the members are significantly more diverse after the descent, not "
        "significantly changed, and less diverse. The sort key is the first number minus the last."
    };
    let heads = ["measure".to_owned(), "more diverse is".to_owned()].into_iter().chain(heads);
    Table::new(caption, heads, Measure::ALL.iter().map(row)).draw()
}

/// Rows of one picture.
const MOST_ROWS: usize = 44;
/// The width of the verdicts, right of the rows.
const VERDICTS: f64 = 16.0;

fn picture(outcomes: &[&DiversityOutcome], size: usize, measure: Measure, piece: Range<usize>) -> Markup {
    let shown = &outcomes[piece.clone()];
    let pitch = if outcomes.len() > 8 { 16.0 } else { 22.0 };
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.dataset.as_str()).collect();
    let mut rows = Rows::new(&names, names[piece.clone()].to_vec(), pitch, SMALL);
    rows.frame.right -= VERDICTS;
    let values = outcomes.iter().flat_map(|outcome| [outcome.initial, outcome.last]).flatten();
    let scale = Scale::covering(values, rows.frame.left + 6.0, rows.frame.right - 6.0);
    let towards = if measure.more_diverse_is_higher() { "more diverse \u{2192}" } else { "\u{2190} more diverse" };
    let drawing = html! {
        (rows.draw())
        (rows.frame.across(&scale, &format!("{} ({towards})", measure.name())))
        @for (row, outcome) in shown.iter().enumerate() { (change(outcome, &scale, &rows, row)) }
    };
    Picture {
        id: format!("diversity-{}-{size}-{}", measure.name(), piece.start),
        title: format!("{}, {}.", measure.title(), count(size, "member")),
        finding: finding(outcomes, measure),
        legend: html! {},
        width: SMALL,
        height: rows.height(),
    }
    .draw(&drawing)
}

fn change(outcome: &DiversityOutcome, scale: &Scale, rows: &Rows, row: usize) -> Markup {
    let y = rows.middle(row);
    let (class, sign) = match outcome.verdict {
        Some(Verdict::Win) => ("change-win", "+"),
        Some(Verdict::Loss) => ("change-loss", "\u{2212}"),
        Some(Verdict::Tie) => ("change-tie", "="),
        None => ("change-tie", ""),
    };
    let (Some(initial), Some(last)) = (outcome.initial, outcome.last) else {
        return html! { text.tick x=(Px(rows.frame.left + 6.0)) y=(Px(y + 4.0)) { "not defined" } };
    };
    html! {
        g class=(class) {
            title { (outcome.dataset) ": " (number(initial, 4)) " before, " (number(last, 4)) " after" }
            line.change x1=(Px(scale.at(initial))) x2=(Px(scale.at(last))) y1=(Px(y)) y2=(Px(y)) {}
            (mark(Shape::Circle, true, scale.at(initial), y, 3.2))
            (mark(Shape::Circle, false, scale.at(last), y, 3.2))
            text.sign x=(Px(rows.frame.right + VERDICTS)) y=(Px(y + 4.5)) text-anchor="middle" { (sign) }
        }
    }
}

fn finding(outcomes: &[&DiversityOutcome], measure: Measure) -> String {
    let direction = if measure.more_diverse_is_higher() { "Higher" } else { "Lower" };
    let record = record(outcomes);
    format!(
        "{direction} is more diverse. After the descent: more diverse on {}, less on {}, unchanged on {}.",
        count(record.win, "set"),
        record.loss,
        record.tie
    )
}

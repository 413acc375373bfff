//! Our results beside the paper's: scatter plots and tables of the agreement.

use maud::{Markup, html};

use super::chart::{Frame, Picture, Px, Scale, clipped, legend, text_width};
use super::table::{Cell, Table};
use super::words::{count, number, shortened, signed};
use super::{Section, method};
use crate::experiment::Entry;
use crate::paper::{self, Agreement, PaperCell, PaperReport};
use crate::results::Results;
use crate::tables::whole_or_tenths;

const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 420.0;
const FRAME: Frame = Frame { left: 66.0, right: WIDTH - 12.0, top: 10.0, bottom: HEIGHT - 46.0 };
/// The numbers of cells that a picture names and a table lists.
const NAMED: usize = 6;
const LISTED: usize = 15;
/// The bands around the diagonal, the widest first.
const BANDS: [(f64, &str); 2] = [(0.02, "band-wide"), (0.01, "band-narrow")];

pub(super) fn section(results: &Results) -> Option<Section> {
    let paper = results.paper.as_ref()?;
    if paper.cells.is_empty() {
        return None;
    }
    let (same, marked) = paper.sign_of_gain;
    let body = html! {
        p {
            "Tables II to VI of M.-L. Zhang and Z.-H. Zhou, \u{201c}Exploiting Unlabeled Data to Enhance Ensemble "
            "Diversity\u{201d}, ICDM 2010. Cells on the diagonal have the same mean accuracy in both. The paper's "
            "accuracies of Lc and Lcd are computed from its table V; its AdaBoost is compared with our \u{201c}"
            (Entry::ADABOOST_DISCARD.title()) "\u{201d}. Bars are standard errors of the means; z is the difference over "
            "its standard error, and the mean of its square is near 1 where both are draws of the same thing."
            @if marked > 0 {
                " Of the " (count(marked, "cell")) " in which the paper finds LcUd significantly better or worse "
                "than Lc, "
                (same) " of ours have the same sign."
            }
        }
        div.multiples.pairs { @for &size in &results.experiment.sizes { (picture(paper, size)) } }
        (agreement(&paper.agreement))
        (differences(paper))
    };
    Some(Section { id: "paper", title: "Comparison with the paper", body })
}

/// A cell of tables II to IV.
struct Point<'a> {
    cell: &'a PaperCell,
    method: Entry,
    paper: f64,
    ours: f64,
}

impl Point<'_> {
    fn difference(&self) -> f64 {
        self.ours - self.paper
    }
}

/// The accuracies that both have, by decreasing difference.
fn points(paper: &PaperReport, size: Option<usize>) -> Vec<Point<'_>> {
    let accuracies = paper.cells.iter().filter(|cell| ["II", "III", "IV"].contains(&cell.table));
    let mut points: Vec<Point> = accuracies
        .filter(|cell| size.is_none_or(|size| cell.size == size))
        .filter_map(|cell| {
            Some(Point { cell, method: paper::entry(&cell.column)?, paper: cell.paper?, ours: cell.ours? })
        })
        .collect();
    points.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    points
}

fn picture(paper: &PaperReport, size: usize) -> Markup {
    let points = points(paper, Some(size));
    if points.is_empty() {
        return html! {};
    }
    let values = || points.iter().flat_map(|point| [point.paper, point.ours]);
    let across = Scale::covering(values(), FRAME.left, FRAME.right);
    let up = Scale::covering(values(), FRAME.bottom, FRAME.top);
    let present = |method: &Entry| points.iter().any(|point| point.method == *method);
    let methods: Vec<Entry> = Entry::all().iter().copied().filter(present).collect();
    let drawing = html! {
        (clipped(&FRAME, &diagonal(&across, &up)))
        (FRAME.up(&up, "our mean accuracy"))
        (FRAME.across(&across, "the paper's mean accuracy"))
        (FRAME.outline())
        @for point in points.iter().rev() {
            g class=(method::class(point.method)) {
                title { (described(point)) }
                (error_bars(point, &across, &up))
                (method::mark(point.method, across.at(point.paper), up.at(point.ours)))
            }
        }
        (names(&points, &across, &up))
    };
    let bands = [(BANDS[1].1, "within 0.01"), (BANDS[0].1, "within 0.02")];
    let bands = bands.map(|(class, words)| {
        (
            html! { svg.key viewBox="0 0 14 14" aria-hidden="true" { rect.(class) width="14" height="14" {} } },
            words.to_owned(),
        )
    });
    let marks = methods.iter().map(|&m| (method::key(m), m.title().to_owned()));
    Picture {
        id: format!("paper-{size}"),
        title: format!("Ours against the paper's, {}.", count(size, "member")),
        finding: finding(&points),
        legend: legend(&marks.chain(bands).collect::<Vec<_>>()),
        width: WIDTH,
        height: HEIGHT,
    }
    .draw(&drawing)
}

fn described(point: &Point) -> String {
    let noise = point.cell.z.map_or(String::new(), |z| format!(", z {}", signed(z, 1)));
    format!(
        "{}, {}: ours {}, the paper's {}, {}{noise}",
        point.cell.dataset,
        point.method.title(),
        number(point.ours, 3),
        number(point.paper, 3),
        signed(point.difference(), 3)
    )
}

/// One standard error on either side of both means, where they are known.
fn error_bars(point: &Point, across: &Scale, up: &Scale) -> Markup {
    let (x, y) = (across.at(point.paper), up.at(point.ours));
    html! {
        @if let Some(error) = point.cell.ours_error() {
            line.error-bar x1=(Px(x)) x2=(Px(x)) y1=(Px(up.at(point.ours - error))) y2=(Px(up.at(point.ours + error))) {}
        }
        @if let Some(error) = point.cell.paper_error() {
            line.error-bar x1=(Px(across.at(point.paper - error))) x2=(Px(across.at(point.paper + error))) y1=(Px(y)) y2=(Px(y)) {}
        }
    }
}

/// The diagonal and the bands around it, long enough for any accuracies.
fn diagonal(across: &Scale, up: &Scale) -> Markup {
    let (low, high) = (-1.0, 2.0);
    let corner = |paper: f64, ours: f64| format!("{} {}", Px(across.at(paper)), Px(up.at(ours)));
    html! {
        @for (width, class) in BANDS {
            path class=(class) d={
                "M" (corner(low, low - width)) "L" (corner(high, high - width)) "L" (corner(high, high + width))
                "L" (corner(low, low + width)) "Z"
            } {}
        }
        path.diagonal d={ "M" (corner(low, low)) "L" (corner(high, high)) } {}
    }
}

/// A rectangle: left, right, top, bottom.
type Area = [f64; 4];

fn overlap(a: &Area, b: &Area) -> bool {
    a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3]
}

/// A label beside a mark, at its right or left.
struct Name {
    words: String,
    area: Area,
    is_left: bool,
}

/// The possible places of the label of a mark at `x` and `y`.
fn places(words: &str, x: f64, y: f64) -> impl Iterator<Item = Name> {
    let width = text_width(words);
    [0.0, -10.0, 10.0].into_iter().flat_map(move |down| {
        [false, true].map(|is_left| {
            let left = if is_left { x - 8.0 - width } else { x + 8.0 };
            let area = [left, left + width, y + down - 7.0, y + down + 7.0];
            Name { words: words.to_owned(), area, is_left }
        })
    })
}

/// The labels of the cells that differ most, each where it covers no other label and the fewest marks.
fn names(points: &[Point], across: &Scale, up: &Scale) -> Markup {
    let at = |point: &Point| (across.at(point.paper), up.at(point.ours));
    let marks: Vec<Area> = points.iter().map(at).map(|(x, y)| [x - 4.0, x + 4.0, y - 4.0, y + 4.0]).collect();
    let mut placed: Vec<Name> = Vec::new();
    for point in points.iter().filter(|point| point.difference().abs() > BANDS[1].0).take(NAMED) {
        let words = format!("{}, {}", point.cell.dataset, point.method.title());
        let (x, y) = at(point);
        let fits = |name: &Name| {
            let [left, right, top, bottom] = name.area;
            let inside = left > FRAME.left && right < FRAME.right && top > FRAME.top && bottom < FRAME.bottom;
            inside && !placed.iter().any(|other| overlap(&name.area, &other.area))
        };
        let covered = |name: &Name| marks.iter().filter(|mark| overlap(&name.area, mark)).count();
        let best = places(&shortened(&words, 180.0, text_width), x, y).filter(fits).min_by_key(covered);
        placed.extend(best);
    }
    html! {
        @for Name { words, area, is_left } in &placed {
            @let (x, anchor) = if *is_left { (area[1], "end") } else { (area[0], "start") };
            text.point x=(Px(x)) y=(Px(area[3] - 3.0)) text-anchor=(anchor) { (words) }
        }
    }
}

fn finding(points: &[Point]) -> String {
    let within = |most: f64| points.iter().filter(|point| point.difference().abs() <= most).count();
    let mean = points.iter().map(|point| point.difference().abs()).sum::<f64>() / points.len() as f64;
    let farthest = points.first().map_or(String::new(), |point| {
        let of = format!("{} on {}", point.method.title(), point.cell.dataset);
        format!(" {of} differs most ({}).", signed(point.difference(), 3))
    });
    format!(
        "Of {}, {} are within 0.01 and {} within 0.02; the mean absolute difference is {}.{farthest}",
        count(points.len(), "cell"),
        within(0.01),
        within(0.02),
        number(mean, 4)
    )
}

fn agreement(agreement: &[Agreement]) -> Markup {
    let share = |share: f64, cells: usize| {
        if cells == 0 { Cell::empty() } else { Cell::of(html! { (number(100.0 * share, 0)) " %" }, Some(share)) }
    };
    let row = |row: &Agreement| {
        let difference = if row.cells == 0 { Cell::empty() } else { Cell::figure(row.mean_absolute_difference, 4) };
        let verdicts = match row.verdicts {
            0 => Cell::empty(),
            all => Cell::of(
                html! { (whole_or_tenths(row.verdicts_agree)) " of " (all) },
                Some(row.verdicts_agree / all as f64),
            ),
        };
        let figure = |value: Option<f64>| value.map_or_else(Cell::empty, |value| Cell::figure(value, 2));
        let chance = |range: Option<[f64; 2]>| {
            range.map_or_else(Cell::empty, |[low, high]| {
                Cell::of(html! { (number(low, 2)) " to " (number(high, 2)) }, Some(high))
            })
        };
        vec![
            Cell::text(&row.table),
            if row.cells == 0 { Cell::empty() } else { Cell::count(row.cells) },
            difference,
            share(row.within_001, row.cells),
            share(row.within_002, row.cells),
            share(row.within_003, row.cells),
            figure(row.mean_square.map(|found| found.value)),
            chance(row.mean_square.map(|found| found.by_chance)),
            figure(row.mean_square_without_rebuilt.map(|found| found.value)),
            figure(row.log_std.map(|found| found.value)),
            chance(row.log_std.map(|found| found.by_chance)),
            verdicts,
            row.runs_agree.map_or_else(Cell::empty, |agree| Cell::of(html! { (whole_or_tenths(agree)) }, Some(agree))),
        ]
    };
    let heads = [
        "table of the paper",
        "cells",
        "mean |difference|",
        "within 0.01",
        "within 0.02",
        "within 0.03",
        "mean z\u{b2}",
        "by chance",
        "public sets",
        "log std ratio",
        "by chance",
        "same verdicts",
        "our runs agree",
    ];
    let caption = html! {
        "The agreement of each table with the paper's. By chance: the range of the mean z\u{b2} in 95 % of all cases if both "
        "are draws of the same thing. Public sets: without " (paper::REBUILT.join(", ")) ", whose features are rebuilt. Log std "
        "ratio: the mean logarithm of our standard deviations over the paper's. Verdicts are wins, ties and losses of LcUd; no more "
        "of them can be the paper's than two of our runs agree on."
    };
    Table::new(caption, heads, agreement.iter().map(row)).draw()
}

fn differences(paper: &PaperReport) -> Markup {
    let row = |point: &Point| {
        vec![
            Cell::text(&point.cell.dataset),
            Cell::count(point.cell.size),
            Cell::text(point.method.title()),
            Cell::figure(point.ours, 3),
            Cell::figure(point.paper, 3),
            Cell::of(html! { (signed(point.difference(), 3)) }, Some(point.difference())),
            point.cell.z.map_or_else(Cell::empty, |z| Cell::of(html! { (signed(z, 1)) }, Some(z))),
        ]
    };
    let caption = html! { "The accuracies that differ most from the paper's." };
    let heads = ["set", "members", "method", "ours", "the paper's", "difference", "z"];
    Table::new(caption, heads, points(paper, None).iter().take(LISTED).map(row)).draw()
}

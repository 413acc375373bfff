//! Kappa-error diagrams (Margineantu and Dietterich, 1997): agreement and error of the pairs of members.

use maud::{Markup, html};

use super::Gallery;
use super::chart::{Frame, Picture, Px, Scale, Shape, mark};
use super::words::{count, number};
use crate::experiment::Showcase;
use crate::statistics::mean;

const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 340.0;
const FRAME: Frame = Frame { left: 66.0, right: WIDTH - 12.0, top: 10.0, bottom: HEIGHT - 46.0 };
/// The most pairs that are drawn: more only hide each other.
const MOST: usize = 600;

type Cloud = [(f64, f64)];

pub(super) const KAPPA_ERROR: Gallery = Gallery {
    id: "kappa",
    title: "Kappa-error diagrams",
    about: "Each small mark is a pair of LcUd's members on the test rows of the first split: kappa, the agreement beyond \
            chance, on the horizontal axis, mean error on the vertical axis. Pairs further left are more diverse, pairs \
            further down more accurate. The large marks are the means.",
    marks: &[("before", Shape::Cross, "before the descent"), ("after", Shape::Circle, "after the descent")],
    is_shown: |showcase| !showcase.initial.is_empty(),
    picture,
};

fn picture(showcase: &Showcase, place: usize) -> Markup {
    let all = || showcase.initial.iter().chain(&showcase.last);
    let across = Scale::covering(all().map(|pair| pair.0), FRAME.left + 4.0, FRAME.right - 4.0);
    let up = Scale::covering(all().map(|pair| pair.1), FRAME.bottom - 4.0, FRAME.top + 4.0);
    let center = |cloud: &Cloud| center(cloud).map(|(kappa, error)| (across.at(kappa), up.at(error)));
    let drawing = html! {
        (FRAME.up(&up, "mean error of the pair (share of rows)"))
        (FRAME.across(&across, "kappa of the pair (\u{2190} more diverse)"))
        (FRAME.outline())
        path.cloud.before d=(crosses(&showcase.initial, &across, &up)) {}
        path.cloud.dots.after d=(dots(&showcase.last, &across, &up)) {}
        @if let (Some(from), Some(to)) = (center(&showcase.initial), center(&showcase.last)) {
            line.drift x1=(Px(from.0)) y1=(Px(from.1)) x2=(Px(to.0)) y2=(Px(to.1)) {}
            g.center.before { (mark(Shape::Cross, false, from.0, from.1, 6.0)) }
            g.center.after { (mark(Shape::Circle, false, to.0, to.1, 6.5)) }
        }
    };
    Picture {
        id: format!("kappa-{place}"),
        title: format!("Pairs of members on {}, {}.", showcase.dataset, count(showcase.size, "member")),
        finding: finding(showcase),
        legend: html! {},
        width: WIDTH,
        height: HEIGHT,
    }
    .draw(&drawing)
}

/// Every nth pair, where there are too many.
fn thinned(cloud: &Cloud) -> impl Iterator<Item = &(f64, f64)> {
    cloud.iter().step_by(cloud.len().div_ceil(MOST).max(1))
}

/// Thousands of marks as one path keep the page small.
fn crosses(cloud: &Cloud, across: &Scale, up: &Scale) -> String {
    let cross = |&(kappa, error): &(f64, f64)| {
        format!("M{} {}l5 5m0-5l-5 5", Px(across.at(kappa) - 2.5), Px(up.at(error) - 2.5))
    };
    thinned(cloud).map(cross).collect()
}

/// Lines of no length with round ends are dots.
fn dots(cloud: &Cloud, across: &Scale, up: &Scale) -> String {
    thinned(cloud).map(|&(kappa, error)| format!("M{} {}h0", Px(across.at(kappa)), Px(up.at(error)))).collect()
}

fn center(cloud: &Cloud) -> Option<(f64, f64)> {
    let of = |part: fn(&(f64, f64)) -> f64| mean(&cloud.iter().map(part).collect::<Vec<_>>());
    Some((of(|pair| pair.0)?, of(|pair| pair.1)?))
}

fn finding(showcase: &Showcase) -> String {
    let (Some(before), Some(after)) = (center(&showcase.initial), center(&showcase.last)) else { return String::new() };
    let few = if showcase.initial.len() > MOST { " Only some of the pairs are drawn." } else { "" };
    format!(
        "Mean kappa changes from {} to {}, mean error from {} to {}.{few}",
        number(before.0, 3),
        number(after.0, 3),
        number(before.1, 3),
        number(after.1, 3)
    )
}

//! Average ranks over all sets, and which of them cannot be told apart: the diagram of Demsar (2006).

use maud::{Markup, html};

use super::chart::{Frame, Picture, Px, Scale, text_width};
use super::words::{count, listed, number, probability};
use super::{Section, method};
use crate::experiment::Contender;
use crate::results::{Ranking, Results};

const WIDTH: f64 = 800.0;
/// Where the axis begins: left of it stand the names of the better half.
const MARGIN: f64 = 190.0;
const AXIS: f64 = 64.0;
const LINE: f64 = 24.0;

pub(super) fn section(results: &Results) -> Option<Section> {
    if results.rankings.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "On each set the most accurate method has rank 1; methods that tie share their ranks. A bar joins methods "
            "whose average ranks differ by less than the critical difference (Nemenyi, 95 %): they are not told apart."
        }
        @for ranking in &results.rankings { (picture(ranking)) }
    };
    Some(Section { id: "ranks", title: "Average ranks", body })
}

/// A method with its average rank.
type Ranked = (Contender, f64);

fn sorted(ranking: &Ranking) -> Vec<Ranked> {
    let named = ranking.methods.iter().zip(&ranking.friedman.average_ranks);
    let mut ranked: Vec<Ranked> =
        named.filter_map(|(name, &rank)| Some((Contender::named(name).ok()?, rank))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranked
}

/// The longest runs of methods within a critical difference, as the places of the first and last.
fn groups(ranked: &[Ranked], difference: f64) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranked.len() {
        let near = ranked[first..].iter().take_while(|(_, rank)| rank - ranked[first].1 < difference).count();
        let last = first + near.max(1) - 1;
        if last > first && groups.last().is_none_or(|&(_, end)| last > end) {
            groups.push((first, last));
        }
    }
    groups
}

fn picture(ranking: &Ranking) -> Markup {
    let ranked = sorted(ranking);
    let scale = Scale::new((1.0, ranked.len().max(2) as f64), MARGIN, WIDTH - MARGIN);
    let groups = ranking.critical_difference.map_or_else(Vec::new, |difference| groups(&ranked, difference));
    let names_at = AXIS + 22.0 + 9.0 * groups.len() as f64;
    let half = ranked.len().div_ceil(2);
    let drawing = html! {
        (axis(&scale))
        @if let Some(difference) = ranking.critical_difference { (ruler(&scale, difference, ranked.len())) }
        @for (i, &method) in ranked[..half].iter().enumerate() {
            (flag(&scale, method, names_at + LINE * i as f64, true))
        }
        @for (i, &method) in ranked[half..].iter().rev().enumerate() {
            (flag(&scale, method, names_at + LINE * i as f64, false))
        }
        @for (level, &(first, last)) in groups.iter().enumerate() {
            @let y = Px(AXIS + 12.0 + 9.0 * level as f64);
            line.group x1=(Px(scale.at(ranked[first].1) - 5.0)) x2=(Px(scale.at(ranked[last].1) + 5.0)) y1=(y) y2=(y) {}
        }
    };
    Picture {
        id: format!("ranks-{}", ranking.size),
        title: format!(
            "Average ranks over {}, {}.",
            count(ranking.friedman.n_sets, "set"),
            count(ranking.size, "member")
        ),
        finding: finding(ranking, &ranked),
        legend: html! {},
        width: WIDTH,
        height: names_at + LINE * half as f64,
    }
    .draw(&drawing)
}

fn axis(scale: &Scale) -> Markup {
    let frame = Frame { left: MARGIN, right: WIDTH - MARGIN, top: AXIS - 6.0, bottom: AXIS };
    html! {
        line.axis-line x1=(Px(frame.left)) x2=(Px(frame.right)) y1=(Px(AXIS)) y2=(Px(AXIS)) {}
        @for (value, label) in scale.ticks(|label| text_width(label) + 12.0) {
            @let x = Px(scale.at(value));
            line.axis-line x1=(x) x2=(x) y1=(Px(frame.top)) y2=(Px(AXIS)) {}
            text.tick x=(x) y=(Px(AXIS - 10.0)) text-anchor="middle" { (label) }
        }
        text.axis x=(Px(MARGIN - 14.0)) y=(Px(AXIS + 4.0)) text-anchor="end" { "\u{2190} better" }
        text.axis x=(Px(WIDTH - MARGIN + 14.0)) y=(Px(AXIS + 4.0)) { "average rank (1 is best)" }
    }
}

/// The critical difference as a length, where the axis is long enough for it.
fn ruler(scale: &Scale, difference: f64, methods: usize) -> Markup {
    let words = format!("critical difference {}", number(difference, 2));
    let (from, to) = (scale.at(1.0), scale.at(1.0 + difference));
    html! {
        @if 1.0 + difference <= methods as f64 {
            line.ruler x1=(Px(from)) x2=(Px(to)) y1="22" y2="22" {}
            @for x in [from, to] { line.ruler x1=(Px(x)) x2=(Px(x)) y1="17" y2="27" {} }
            text.tick x=(Px(to + 10.0)) y="26" { (words) }
        } @else {
            text.tick x=(Px(from)) y="26" { (words) ": more than these ranks can differ" }
        }
    }
}

/// A line from the axis to the name of a method.
fn flag(scale: &Scale, (method, rank): Ranked, y: f64, to_the_left: bool) -> Markup {
    let x = scale.at(rank);
    let (end, anchor) = if to_the_left { (MARGIN - 24.0, "end") } else { (WIDTH - MARGIN + 24.0, "start") };
    let outward = if to_the_left { -1.0 } else { 1.0 };
    html! {
        path.flag d={ "M" (Px(x)) " " (Px(AXIS)) "V" (Px(y)) "H" (Px(end)) } {}
        g class=(method::class(method)) {
            (method::mark(method, x, AXIS))
            (method::mark(method, end + 8.0 * outward, y))
        }
        text.name x=(Px(end + 18.0 * outward)) y=(Px(y + 4.0)) text-anchor=(anchor) {
            (method::label(method)) " " tspan.soft { (number(rank, 2)) }
        }
    }
}

fn finding(ranking: &Ranking, ranked: &[Ranked]) -> String {
    let p = ranking.friedman.f_p;
    let test = format!(
        "Friedman's test with Iman and Davenport's correction: {} (chi-square: {}), so the methods {}.",
        probability(p),
        probability(ranking.friedman.chi_square_p),
        if p < 0.05 { "are not all alike" } else { "may all be alike" }
    );
    let (Some(&(best, rank)), Some(difference)) = (ranked.first(), ranking.critical_difference) else { return test };
    let near: Vec<&str> = ranked[1..]
        .iter()
        .filter(|(_, other)| other - rank < difference)
        .map(|&(method, _)| method::label(method))
        .collect();
    let told = if near.is_empty() { "all others".to_owned() } else { format!("all others but {}", listed(&near)) };
    let told = if near.len() + 1 == ranked.len() { "none of the others".to_owned() } else { told };
    format!("{test} {} ranks best ({rank:.2}) and is told apart from {told}.", method::label(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_longest_runs_within_the_difference() {
        let ranked: Vec<Ranked> = [1.5, 2.0, 3.0, 3.2, 5.0].iter().map(|&rank| (Contender::Lc, rank)).collect();
        assert_eq!(groups(&ranked, 1.3), [(0, 1), (1, 3)]);
        assert_eq!(groups(&ranked, 9.0), [(0, 4)]);
        assert!(groups(&ranked, 0.1).is_empty());
    }
}

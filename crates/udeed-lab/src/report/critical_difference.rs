//! The critical-difference diagram of Demsar (2006): average ranks, and which of them are not significantly different.

use maud::{Markup, PreEscaped, html};

use super::chart::{self, Frame, Picture, Px, Scale, Shape, text_width};
use super::words::{count, listed, number, probability, shortened};
use super::{Section, method};
use crate::comparison::{ClassifierScores, average_ranks};
use crate::error::Result;
use crate::experiment::Entry;
use crate::results::{Ranking, Results};
use crate::statistics::AverageRanks;

const WIDTH: f64 = 800.0;
const AXIS: f64 = 64.0;
const LINE: f64 = 24.0;
/// Above a diagram that stands alone, for its title.
const TITLE: f64 = 28.0;

pub(super) fn section(results: &Results) -> Section {
    let body = html! {
        p {
            "On each set the most accurate method has rank 1; methods that tie share their ranks. A bar joins methods "
            "whose average ranks differ by less than the critical difference (Nemenyi, 95 %): they are not "
            "significantly different."
        }
        @for ranking in &results.rankings { (picture(ranking)) }
    };
    Section { id: "ranks", title: "Average ranks", body }
}

fn picture(ranking: &Ranking) -> Markup {
    let ours = |(name, rank): (&str, f64)| {
        let entry = Entry::named(name).ok()?;
        Some(Ranked { label: entry.title().to_owned(), rank, entry: Some(entry) })
    };
    let ranked = ranking.ranks.sorted().into_iter().filter_map(ours).collect();
    let diagram = Diagram::new(&ranking.ranks, ranked);
    let sets = count(ranking.ranks.friedman.n_sets, "set");
    Picture {
        id: format!("ranks-{}", ranking.size),
        title: format!("Average ranks over {sets}, {}.", count(ranking.size, "member")),
        finding: diagram.finding(),
        legend: html! {},
        width: WIDTH,
        height: diagram.height(),
    }
    .draw(&diagram.draw())
}

/// The critical-difference diagram of any classifiers as an SVG picture that needs nothing else. The scores of a
/// classifier are one for each data set; higher is better.
///
/// ```
/// use udeed_lab::{ClassifierScores, report::critical_difference};
///
/// let scores = |name: &str, scores: [f64; 3]| ClassifierScores { name: name.into(), scores: scores.to_vec() };
/// let classifiers = [scores("forest", [0.8, 0.9, 0.7]), scores("udeed", [0.9, 0.95, 0.85])];
/// let svg = critical_difference(&classifiers, "20 labels")?;
/// assert!(svg.starts_with("<svg") && svg.contains("forest"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
///
/// # Errors
/// As [`average_ranks`].
pub fn critical_difference(classifiers: &[ClassifierScores], title: &str) -> Result<String> {
    let ranks = average_ranks(classifiers)?;
    let foreign = |(name, rank): (&str, f64)| Ranked { label: name.to_owned(), rank, entry: None };
    let diagram = Diagram::new(&ranks, ranks.sorted().into_iter().map(foreign).collect());
    let words = format!("{title}: average ranks over {}", count(ranks.friedman.n_sets, "set"));
    let (width, height) = (Px(WIDTH), Px(diagram.height() + TITLE));
    let svg = html! {
        svg.picture xmlns="http://www.w3.org/2000/svg" viewBox={ "0 " (Px(-TITLE)) " " (width) " " (height) }
            width=(width) height=(height) role="img" aria-labelledby="title finding" {
            title id="title" { (words) }
            desc id="finding" { (diagram.finding()) }
            style { (PreEscaped(include_str!("diagram.css"))) }
            rect.background y=(Px(-TITLE)) width=(width) height=(height) {}
            text.panel x=(Px(0.5 * WIDTH)) y="-8" text-anchor="middle" { (words) }
            (diagram.draw())
        }
    };
    Ok(svg.into_string() + "\n")
}

/// A method of a diagram.
struct Ranked {
    label: String,
    rank: f64,
    /// One of our methods, which has a mark of its own; none for any other classifier.
    entry: Option<Entry>,
}

impl Ranked {
    fn mark(&self, x: f64, y: f64) -> Markup {
        match self.entry {
            Some(entry) => method::mark(entry, x, y),
            None => chart::mark(Shape::Circle, false, x, y, 3.6),
        }
    }
}

struct Diagram<'a> {
    ranks: &'a AverageRanks,
    /// The best first.
    ranked: Vec<Ranked>,
    groups: Vec<(usize, usize)>,
    /// The left end of the axis; the names of the better half are left of it.
    margin: f64,
    scale: Scale,
}

impl<'a> Diagram<'a> {
    fn new(ranks: &'a AverageRanks, ranked: Vec<Ranked>) -> Self {
        let groups = ranks.critical_difference.map_or_else(Vec::new, |difference| groups(&ranked, difference));
        let longest = ranked.iter().map(|method| text_width(&method.label)).fold(0.0, f64::max);
        let margin = (longest + 92.0).clamp(190.0, 300.0);
        let scale = Scale::new((1.0, ranked.len().max(2) as f64), margin, WIDTH - margin);
        Diagram { ranks, ranked, groups, margin, scale }
    }

    fn half(&self) -> usize {
        self.ranked.len().div_ceil(2)
    }

    /// The height of the first name.
    fn names_at(&self) -> f64 {
        AXIS + 22.0 + 9.0 * self.groups.len() as f64
    }

    fn height(&self) -> f64 {
        self.names_at() + LINE * self.half() as f64
    }

    fn draw(&self) -> Markup {
        let (better, worse) = self.ranked.split_at(self.half());
        html! {
            (self.axis())
            @if let Some(difference) = self.ranks.critical_difference { (self.ruler(difference)) }
            @for (i, method) in better.iter().enumerate() {
                (self.flag(method, self.names_at() + LINE * i as f64, true))
            }
            @for (i, method) in worse.iter().rev().enumerate() {
                (self.flag(method, self.names_at() + LINE * i as f64, false))
            }
            @for (level, &(first, last)) in self.groups.iter().enumerate() {
                @let y = Px(AXIS + 12.0 + 9.0 * level as f64);
                @let [from, to] = [first, last].map(|place| self.scale.at(self.ranked[place].rank));
                line.group x1=(Px(from - 5.0)) x2=(Px(to + 5.0)) y1=(y) y2=(y) {}
            }
        }
    }

    fn axis(&self) -> Markup {
        let frame = Frame { left: self.margin, right: WIDTH - self.margin, top: AXIS - 6.0, bottom: AXIS };
        html! {
            line.axis-line x1=(Px(frame.left)) x2=(Px(frame.right)) y1=(Px(AXIS)) y2=(Px(AXIS)) {}
            @for (value, label) in self.scale.ticks(|label| text_width(label) + 12.0) {
                @let x = Px(self.scale.at(value));
                line.axis-line x1=(x) x2=(x) y1=(Px(frame.top)) y2=(Px(AXIS)) {}
                text.tick x=(x) y=(Px(AXIS - 10.0)) text-anchor="middle" { (label) }
            }
            text.axis x=(Px(frame.left - 14.0)) y=(Px(AXIS + 4.0)) text-anchor="end" { "\u{2190} better" }
            text.axis x=(Px(frame.right + 14.0)) y=(Px(AXIS + 4.0)) { "average rank (1 is best)" }
        }
    }

    /// The critical difference as a length, where the axis is long enough for it.
    fn ruler(&self, difference: f64) -> Markup {
        let words = format!("critical difference {}", number(difference, 2));
        let (from, to) = (self.scale.at(1.0), self.scale.at(1.0 + difference));
        html! {
            @if 1.0 + difference <= self.ranked.len() as f64 {
                line.ruler x1=(Px(from)) x2=(Px(to)) y1="22" y2="22" {}
                @for x in [from, to] { line.ruler x1=(Px(x)) x2=(Px(x)) y1="17" y2="27" {} }
                text.tick x=(Px(to + 10.0)) y="26" { (words) }
            } @else {
                text.tick x=(Px(from)) y="26" { (words) ": more than these ranks can differ" }
            }
        }
    }

    /// A line from the axis to the name of a method.
    fn flag(&self, method: &Ranked, y: f64, to_the_left: bool) -> Markup {
        let x = self.scale.at(method.rank);
        let (end, anchor, outward) = match to_the_left {
            true => (self.margin - 24.0, "end", -1.0),
            false => (WIDTH - self.margin + 24.0, "start", 1.0),
        };
        html! {
            path.flag d={ "M" (Px(x)) " " (Px(AXIS)) "V" (Px(y)) "H" (Px(end)) } {}
            g class=[method.entry.map(method::class)] {
                (method.mark(x, AXIS))
                (method.mark(end + 8.0 * outward, y))
            }
            text.name x=(Px(end + 18.0 * outward)) y=(Px(y + 4.0)) text-anchor=(anchor) {
                (shortened(&method.label, self.margin - 92.0, text_width)) " "
                tspan.soft { (number(method.rank, 2)) }
            }
        }
    }

    fn finding(&self) -> String {
        let friedman = &self.ranks.friedman;
        let test = format!(
            "Friedman's test with Iman and Davenport's correction: {} (chi-square: {}), so the methods {}.",
            probability(friedman.f_p),
            probability(friedman.chi_square_p),
            if friedman.f_p < 0.05 { "are not all alike" } else { "may all be alike" }
        );
        let Some((best, others)) = self.ranked.split_first() else { return test };
        let Some(difference) = self.ranks.critical_difference else { return test };
        let near = others.iter().filter(|other| other.rank - best.rank < difference);
        let near: Vec<&str> = near.map(|other| other.label.as_str()).collect();
        let differs = match near.len() {
            0 => "is significantly different from all others".to_owned(),
            alike if alike == others.len() => "is not significantly different from any other".to_owned(),
            _ => format!("is significantly different from all others but {}", listed(&near)),
        };
        format!("{test} {} ranks best ({:.2}) and {differs}.", best.label, best.rank)
    }
}

/// The longest runs of methods within a critical difference, as the places of the first and last.
fn groups(ranked: &[Ranked], difference: f64) -> Vec<(usize, usize)> {
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for first in 0..ranked.len() {
        let near = ranked[first..].iter().take_while(|method| method.rank - ranked[first].rank < difference).count();
        let last = first + near.max(1) - 1;
        if last > first && groups.last().is_none_or(|&(_, end)| last > end) {
            groups.push((first, last));
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(name: &str, scores: &[f64]) -> ClassifierScores {
        ClassifierScores { name: name.to_owned(), scores: scores.to_vec() }
    }

    #[test]
    fn groups_are_the_longest_runs_within_the_difference() {
        let ranked = |rank: f64| Ranked { label: String::new(), rank, entry: None };
        let ranked = [1.5, 2.0, 3.0, 3.2, 5.0].map(ranked);
        assert_eq!(groups(&ranked, 1.3), [(0, 1), (1, 3)]);
        assert_eq!(groups(&ranked, 9.0), [(0, 4)]);
        assert!(groups(&ranked, 0.1).is_empty());
    }

    #[test]
    fn a_picture_of_its_own_is_escaped_and_loads_nothing() {
        let svg = critical_difference(&[scores("<b>", &[0.5, 0.6]), scores("a & b", &[0.7, 0.9])], "<t>").unwrap();
        assert!(svg.contains("&lt;b&gt; ") && svg.contains("a &amp; b ") && svg.contains("&lt;t&gt;: average ranks"));
        assert!(
            !svg.contains("<b>") && !svg.contains("url(") && !svg.contains("NaN") && !svg.contains("var(--paper, ")
        );
        assert_eq!(svg.matches("http").count(), 1, "the name space only");
    }

    #[test]
    fn every_class_of_the_diagram_has_a_style_of_its_own() {
        let svg = critical_difference(&[scores("a", &[0.5, 0.6]), scores("b", &[0.7, 0.9])], "t").unwrap();
        let style = include_str!("diagram.css");
        for class in svg.split("class=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]) {
            assert!(["picture", "name", "panel"].contains(&class) || style.contains(&format!(".{class}")), "{class}");
        }
    }

    #[test]
    fn a_rank_needs_two_sets_and_two_classifiers() {
        let message = |classifiers: &[ClassifierScores]| critical_difference(classifiers, "t").unwrap_err().to_string();
        assert!(message(&[]).contains("no score"));
        assert!(message(&[scores("a", &[0.1, 0.2])]).contains("1 classifier"));
        assert!(message(&[scores("a", &[0.1]), scores("b", &[0.2])]).contains("1 data set"));
        assert!(message(&[scores("a", &[0.1, 0.2]), scores("b", &[0.2])]).contains("`b`"));
    }
}

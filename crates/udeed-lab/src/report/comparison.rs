//! The report of a comparison: one picture of all splits, and a table with the tests.

use maud::{Markup, html};

use super::chart::{Picture, Rows, Scale, Shape, WIDE, mark, whisker};
use super::table::{Cell, Table};
use super::words::{count, listed, number, signed};
use super::{Page, SORT};
use crate::comparison::{Comparison, Standing};
use crate::error::Result;
use crate::statistics::Verdict;

/// The report of a comparison as an HTML page that needs nothing else.
///
/// # Errors
/// As [`Comparison::standings`].
pub fn comparison(comparison: &Comparison, reference: &str) -> Result<String> {
    let standings = comparison.standings(reference)?;
    let names: Vec<&str> = comparison.classifiers.iter().map(|classifier| classifier.name.as_str()).collect();
    let title = format!("{} on {}", count(names.len(), "classifier"), comparison.title);
    let [labeled, unlabeled, test] = comparison.dealt;
    let sentence = format!(
        "{} on {} of {labeled} labeled, {unlabeled} unlabeled and {test} test rows.",
        listed(&names),
        count(comparison.classifiers[0].scores.len(), "split"),
    );
    let content = html! {
        section id="scores" {
            h2 { (comparison.scoring) }
            (picture(comparison, &standings))
            (table(comparison, &standings, reference))
        }
    };
    Ok(Page { title, sentence, glance: html! {}, scripts: &[SORT] }.draw(&content))
}

fn picture(comparison: &Comparison, standings: &[Standing]) -> Markup {
    let names: Vec<&str> = standings.iter().map(|standing| standing.name.as_str()).collect();
    let rows = Rows::new(&names, names.clone(), 30.0, WIDE);
    let scores = || comparison.classifiers.iter().flat_map(|classifier| classifier.scores.iter().copied());
    let intervals = standings.iter().filter_map(|standing| standing.interval).flat_map(|(low, high)| [low, high]);
    let scale = Scale::covering(scores().chain(intervals), rows.frame.left, rows.frame.right);
    let drawing = html! {
        (rows.draw())
        (rows.frame.across(&scale, &comparison.scoring))
        @for (row, (classifier, standing)) in comparison.classifiers.iter().zip(standings).enumerate() {
            @let y = rows.middle(row);
            g.each-split {
                @for (split, &score) in classifier.scores.iter().enumerate() {
                    g {
                        title { "split " (split + 1) ": " (number(score, 4)) }
                        (mark(Shape::Circle, true, scale.at(score), y - 5.0, 2.4))
                    }
                }
            }
            g.over-splits {
                title { (standing.name) ": mean " (number(standing.mean, 4)) }
                @if let Some(interval) = standing.interval { (whisker(&scale, y + 6.0, interval)) }
                (mark(Shape::Circle, false, scale.at(standing.mean), y + 6.0, 4.0))
            }
        }
    };
    let best = standings.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
    Picture {
        id: "comparison".into(),
        title: format!("{} on each split, and the mean.", comparison.scoring),
        finding: best
            .map_or(String::new(), |best| format!("{} has the highest mean, {}.", best.name, number(best.mean, 3))),
        legend: html! {},
        width: WIDE,
        height: rows.height(),
    }
    .draw(&drawing)
}

fn table(comparison: &Comparison, standings: &[Standing], reference: &str) -> Markup {
    let row = |standing: &Standing| {
        let against = standing.against.as_ref();
        let p = |p: Option<f64>| p.map_or_else(Cell::empty, |p| Cell::figure(p, 4));
        let shade = match against.and_then(|against| against.verdict) {
            Some(Verdict::Win) => 1.0,
            Some(Verdict::Loss) => -1.0,
            _ => 0.0,
        };
        let difference = against.and_then(|against| against.t).map(|t| t.mean_difference);
        let splits = against.map(|against| against.splits.map(|n| n.to_string()).join("/"));
        vec![
            Cell::text(&standing.name),
            Cell::figure(standing.mean, 4),
            Cell::figure(standing.std, 4),
            difference.map_or_else(Cell::empty, |d| Cell::of(html! { (signed(d, 4)) }, Some(d)).shaded(shade)),
            splits.map_or_else(Cell::empty, |splits| Cell::words(html! { (splits) })),
            p(against.and_then(|against| against.t).map(|t| t.p)),
            p(against.and_then(|against| against.corrected).map(|t| t.p)),
            p(against.and_then(|against| against.wilcoxon).map(|test| test.p)),
        ]
    };
    let heads = [
        "classifier",
        "mean",
        "std. deviation",
        "difference",
        "better/equal/worse",
        "p, paired t",
        "p, corrected t",
        "p, Wilcoxon",
    ];
    let caption = html! {
        (comparison.scoring) " over the splits, and its difference from " strong { (reference) }
        ", tinted where it is significant (" (comparison.verdicts.title()) ", 95 %). The corrected t-test allows for "
        "splits that overlap; Wilcoxon's test uses signed ranks."
    };
    Table::new(caption, heads, standings.iter().map(row)).draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::ClassifierScores;
    use crate::statistics::DecidingTest;

    fn page(names: [&str; 2], scores: [&[f64]; 2]) -> String {
        let classifiers = names
            .iter()
            .zip(scores)
            .map(|(name, scores)| ClassifierScores { name: (*name).to_owned(), scores: scores.to_vec() });
        let classifiers = classifiers.collect();
        let held = Comparison {
            title: "<rows>".into(),
            scoring: "<score>".into(),
            dealt: [4, 0, 4],
            verdicts: DecidingTest::default(),
            classifiers,
        };
        comparison(&held, names[0]).unwrap()
    }

    #[test]
    fn what_comes_from_elsewhere_is_escaped() {
        let page = page(["<b>one</b>", "two\"'&"], [&[0.5, 0.6], &[0.7, 0.9]]);
        for word in ["<rows>", "<score>", "<b>one"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("&lt;b&gt;one") && page.contains("two&quot;"));
    }

    #[test]
    fn a_single_split_has_no_tests_and_a_page_all_the_same() {
        let page = page(["one", "two"], [&[0.5], &[0.5]]);
        assert!(page.contains("<svg") && !page.contains("NaN"));
    }
}

//! What the words of the report mean.

use maud::{Markup, html};
use udeed::Measure;

use super::{Section, diversity, method};
use crate::experiment::Contender;
use crate::results::Results;

pub(super) fn section(results: &Results) -> Section {
    let methods = &results.experiment.methods;
    let body = html! {
        h3 { "Methods" }
        dl { @for &method in methods { (method_entry(method)) } }
        @if !results.diversity.is_empty() {
            h3 { "Measures of diversity" }
            p {
                "Of m members on N rows, by which member is right on which row. N11, N00, N10 and N01 count the rows "
                "on which both of a pair are right, both wrong, only the first right and only the second right. r is "
                "the number of members that fail on a row, p the mean accuracy of the members. After Kuncheva and "
                "Whitaker, Machine Learning 51, 2003."
            }
            dl { @for measure in Measure::ALL { (measure_entry(measure)) } }
        }
        h3 { "Statistics" }
        dl {
            @for (word, meaning) in STATISTICS { dt { (word) } dd { (meaning) } }
        }
    };
    Section { id: "glossary", title: "Glossary", body }
}

fn method_entry(method: Contender) -> Markup {
    html! {
        dt { (method::name(method)) " " code { (method.name()) } }
        dd { (method::look(method).about) }
    }
}

fn measure_entry(measure: Measure) -> Markup {
    let direction = if measure.more_diverse_is_higher() { "Higher" } else { "Lower" };
    html! {
        dt { (diversity::title(measure)) " " code { (measure.name()) } }
        dd { (meaning(measure)) " " (direction) " is more diverse." }
    }
}

fn meaning(measure: Measure) -> &'static str {
    match measure {
        Measure::Q => "(N11 N00 \u{2212} N01 N10) / (N11 N00 + N01 N10), mean over pairs.",
        Measure::Rho => "The correlation of being right, mean over pairs.",
        Measure::Dis => {
            "(N01 + N10) / N, mean over pairs: the share of rows on which one is right and the other wrong."
        }
        Measure::Df => "N00 / N, mean over pairs: the share of rows on which both are wrong.",
        Measure::Ent => {
            "The mean of min(r, m \u{2212} r) / (m \u{2212} \u{2308}m/2\u{2309}): 1 where half fail on every row."
        }
        Measure::Kw => "The mean of r (m \u{2212} r) / m\u{b2}.",
        Measure::Kappa => {
            "1 \u{2212} the mean of r (m \u{2212} r) / (m (m \u{2212} 1) p (1 \u{2212} p)): 0 is agreement by chance."
        }
        Measure::Theta => "The variance over the rows of the share of members that are right.",
        Measure::Gd => "1 less how likely two members drawn at random both fail, over how likely one fails.",
        Measure::Cfd => "1 where at most one member fails on any row, 0 where all fail together.",
    }
}

const STATISTICS: [(&str, &str); 5] = [
    (
        "95 % interval",
        "Of a mean over the splits, by Student's t. Splits share training rows, so it is somewhat too narrow.",
    ),
    (
        "paired t-test",
        "Whether the mean difference of two methods on the same splits is more than luck (p < 0.05), as in the paper.",
    ),
    ("Friedman's test", "Whether the average ranks of the methods over the sets differ by more than luck."),
    (
        "critical difference",
        "Nemenyi: two average ranks that differ by at least this much are significantly different at 95 %.",
    ),
    (
        "V, V_emp, V_div",
        "UDEED's loss and its parts: V = V_emp + \u{3b3} V_div, with V_emp the mean loss of the members on the labeled \
         rows and V_div the mean product of the outputs of two members.",
    ),
];

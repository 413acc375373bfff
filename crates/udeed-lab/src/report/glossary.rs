//! What the words of the report mean.

use maud::{Markup, html};
use udeed::Measure;

use super::{Section, method};
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
        dt { (measure.title()) " " code { (measure.name()) } }
        dd { (measure.meaning()) " " (direction) " is more diverse." }
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

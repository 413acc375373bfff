//! The glossary: methods, measures of diversity and statistics.

use maud::{Markup, html};
use udeed::diversity::Measure;

use super::{Section, method};
use crate::experiment::Entry;
use crate::results::Results;

pub(super) fn section(results: &Results) -> Section {
    let methods = &results.experiment.methods;
    let body = html! {
        h3 { "Methods" }
        dl { @for &method in methods { (method_entry(method)) } }
        @if !results.diversity.is_empty() {
            h3 { "Measures of diversity" }
            p {
                "The measures of Kuncheva and Whitaker (Machine Learning 51, 2003) for m members on N rows. N11, N00, "
                "N10 and N01 are the numbers of rows on which both members of a pair are correct, both wrong, only the "
                "first correct and only the second correct. r is the number of members that are wrong on a row, p the "
                "mean accuracy of the members."
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

fn method_entry(method: Entry) -> Markup {
    html! {
        dt { (method::name(method)) " " code { (method.name()) } }
        dd { (method.sentence()) }
    }
}

fn measure_entry(measure: Measure) -> Markup {
    let direction = if measure.more_diverse_is_higher() { "Higher" } else { "Lower" };
    html! {
        dt { (measure.title()) " " code { (measure.name()) } }
        dd { (measure.meaning()) " " (direction) " is more diverse." }
    }
}

const STATISTICS: [(&str, &str); 6] = [
    (
        "confidence interval",
        "Of a mean over the splits, 95 %, by Student's t. Splits share training rows, so it is somewhat too narrow.",
    ),
    (
        "paired t-test",
        "Tests whether two methods have the same mean on the same splits; significant where p < 0.05, as in the paper. It \
         takes the splits for independent; they share rows, so it finds differences too often.",
    ),
    (
        "corrected resampled t-test",
        "The paired t-test of Nadeau and Bengio (Machine Learning 52, 2003), which allows for the shared rows: the \
         variance of the mean difference over k splits is 1/k + test rows / training rows times that of the \
         differences, not 1/k times.",
    ),
    ("Friedman's test", "Tests whether all methods have the same average rank over the data sets."),
    (
        "critical difference",
        "Nemenyi's test: two average ranks that differ by at least this much are significantly different at 95 %.",
    ),
    (
        "V, V_emp, V_div",
        "The loss of UDEED and its parts: V = V_emp + \u{3b3} V_div, with V_emp the mean loss of the members on the \
         labeled rows and V_div the mean product of the outputs of two members.",
    ),
];

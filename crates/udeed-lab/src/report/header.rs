//! The top of the page: what was compared, on what, with which settings, and by which command.

use maud::{Markup, html};
use serde_json::Value;

use super::method;
use super::table::{Cell, Table};
use super::words::{count, listed, number};
use crate::experiment::Contender;
use crate::results::{Ranking, Results, SetSummary};
use crate::statistics::Record;

/// What the page is called.
pub(super) fn title(results: &Results) -> String {
    let sets = match &results.sets[..] {
        [set] => set.name.clone(),
        sets => count(sets.len(), "data set"),
    };
    format!("{} on {sets}", count(results.experiment.methods.len(), "method"))
}

/// What was compared, in one sentence.
pub(super) fn sentence(results: &Results) -> String {
    let experiment = &results.experiment;
    let champion = results.champion();
    let others: Vec<&str> =
        experiment.methods.iter().filter(|&&method| method != champion).map(|&method| method::label(method)).collect();
    let what = match others.len() {
        0 => format!("{} was tried", method::label(champion)),
        _ => format!("{} was compared with {}", method::label(champion), listed(&others)),
    };
    let names: Vec<&str> = results.sets.iter().map(|set| set.name.as_str()).collect();
    let on = if names.len() <= 3 { listed(&names) } else { count(names.len(), "data set") };
    format!(
        "{what} on {on}: {} of each set, ensembles of {} members.",
        count(experiment.splits as usize, "random split"),
        listed(&experiment.sizes)
    )
}

/// The outcome for those in a hurry: how the champion fares at each size, and how near the paper's figures are.
pub(super) fn glance(results: &Results) -> Markup {
    let rivals = results.experiment.methods.len().saturating_sub(1);
    let accuracies = results.paper.as_ref().map_or(&[][..], |paper| &paper.agreement);
    let accuracies = accuracies.iter().filter(|row| ["II", "III", "IV"].contains(&row.table.as_str()));
    html! {
        ul.glance {
            @if rivals > 0 {
                @for &size in &results.experiment.sizes {
                    li { strong { (count(size, "member")) } ": " (fared(results, size)) }
                }
            }
            @for row in accuracies {
                li {
                    strong { "Table " (row.table) " of the paper" } ": "
                    (count(row.cells, "accuracy cell")) " compared, mean absolute "
                    "difference " (number(row.mean_absolute_difference, 4)) ", " (number(100.0 * row.within_002, 0)) "
                    "" % within 0.02."
                }
            }
        }
    }
}

fn fared(results: &Results, size: usize) -> String {
    let champion = method::label(results.champion());
    let verdicts = results.comparisons.iter().filter(|comparison| comparison.size == size);
    let Record { win, tie, loss } = verdicts.filter_map(|comparison| comparison.verdict).collect();
    let all = if results.sets.len() > 1 { "over all sets and rivals " } else { "" };
    let record = format!("{all}{champion} wins {win}, ties {tie} and loses {loss} comparisons");
    let ranked = |ranking: &Ranking| {
        let ranks = ranking.methods.iter().zip(&ranking.friedman.average_ranks);
        let own = ranks.clone().find(|(name, _)| **name == results.champion().name())?.1;
        let (best, rank) = ranks.min_by(|a, b| a.1.total_cmp(b.1))?;
        let best = method::label(Contender::named(best).ok()?);
        let others =
            if best == champion { "the best".to_owned() } else { format!("the best is that of {best}, {rank:.2}") };
        Some(format!("; its average rank is {own:.2} of {}, {others}", ranking.methods.len()))
    };
    let rank = results.rankings.iter().find(|ranking| ranking.size == size).and_then(ranked);
    format!("{record}{}.", rank.unwrap_or_default())
}

/// The command, the settings and the sets.
pub(super) fn draw(results: &Results) -> Markup {
    html! {
        section id="run" {
            h2 { "The run" }
            p { "This command made the page:" }
            div.command {
                pre { code id="command" { (results.command) } }
                button.copy type="button" hidden data-copy="command" { "Copy" }
            }
            (sets(&results.sets))
            (settings(results))
        }
    }
}

fn sets(sets: &[SetSummary]) -> Markup {
    let row = |set: &SetSummary| {
        let classes: Vec<String> = set.classes.iter().map(|(name, rows)| format!("{name} ({rows})")).collect();
        vec![
            Cell::text(&set.name),
            Cell::count(set.n_rows),
            Cell::count(set.n_columns),
            Cell::count(set.dealt[0]),
            Cell::count(set.dealt[1]),
            Cell::count(set.dealt[2]),
            Cell::text(&classes.join(", ")),
        ]
    };
    let heads = ["set", "rows", "columns", "labeled", "unlabeled", "test", "classes (rows)"];
    Table {
        caption: html! { "Data sets, and how each split deals out their rows." },
        heads: heads.iter().map(|head| html! { (head) }).collect(),
        rows: sets.iter().map(row).collect(),
        foot: Vec::new(),
    }
    .draw()
}

/// Settings of UDEED that a comparison does not use: it decides them itself.
const NOT_UDEEDS: [&str; 2] = ["members", "variant"];
/// Settings of rivals that are those of UDEED or of the comparison.
const SHARED: [&str; 6] = ["method", "members", "lambda", "scaling", "fourier", "seed"];

/// What each group of settings is called, and which of its settings are not shown.
fn group(name: &str) -> (&str, &'static [&'static str]) {
    match name {
        "udeed" => ("UDEED", &NOT_UDEEDS),
        "shares" => ("shares of rows", &[]),
        other => (other, &[]),
    }
}

fn settings(results: &Results) -> Markup {
    let mut rows = Vec::new();
    // By way of JSON every setting is shown, also one that does not exist yet.
    if let Ok(Value::Object(mut settings)) = serde_json::to_value(&results.experiment) {
        settings.remove("rivals");
        let (groups, own): (Vec<_>, Vec<_>) = settings.iter().partition(|(_, value)| value.is_object());
        rows.push(row("comparison", own));
        for (name, values) in groups {
            let (title, hidden) = group(name);
            let values = values.as_object().into_iter().flatten();
            rows.push(row(title, values.filter(|(name, _)| !hidden.contains(&name.as_str())).collect()));
        }
    }
    let mut methods: Vec<Contender> = results.experiment.methods.clone();
    methods.retain(|&contender| contender != Contender::AdaboostDiscard);
    for contender in methods {
        let method = contender.method().map(|name| results.experiment.settings_of(name));
        let settings = method.map(|method| serde_json::to_value(&method));
        if let Some(Ok(Value::Object(settings))) = settings {
            let own = settings.iter().filter(|(name, _)| !SHARED.contains(&name.as_str()));
            rows.push(row(method::label(contender), own.collect()));
        }
    }
    Table {
        caption: html! { "Settings. Lambda, scaling, Fourier features and seed of UDEED are those of all methods but Auto, which has the seed only." },
        heads: ["of", "settings"].iter().map(|head| html! { (head) }).collect(),
        rows,
        foot: Vec::new(),
    }
    .draw_fixed()
}

fn row(title: &str, settings: Vec<(&String, &Value)>) -> Vec<Cell> {
    let list = html! {
        @for (name, value) in settings {
            span.setting { span.soft { (name.replace('_', " ")) } " " (shown(value)) } " "
        }
    };
    vec![Cell::text(title), Cell::words(list)]
}

/// A setting as words.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(values) => {
            values.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

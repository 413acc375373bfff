//! The experimental setup: the command, the data sets and the settings.

use maud::{Markup, html};
use serde_json::Value;

use super::Section;
use super::table::{Cell, Table};
use crate::experiment::SHARED;
use crate::results::{Results, SetSummary};

pub(super) fn section(results: &Results) -> Section {
    let body = html! {
        p { "This command made the page:" }
        div.command {
            pre { code id="command" { (results.command) } }
            button.copy type="button" hidden data-copy="command" { "Copy" }
        }
        (folded("sets", &format!("Data sets ({})", results.sets.len()), &sets(&results.sets)))
        (folded("settings", "Settings", &settings(results)))
    };
    Section { id: "setup", title: "Experimental setup", body }
}

/// A table that few readers need: closed on a screen, open on paper.
fn folded(id: &str, title: &str, content: &Markup) -> Markup {
    html! { details id=(id) { summary { (title) } (content) } }
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
    let caption = html! { "The size of each data set, and of the parts of a split." };
    Table::new(caption, heads, sets.iter().map(row)).draw()
}

/// Settings of UDEED that the comparison sets itself.
const NOT_UDEEDS: [&str; 2] = ["members", "variant"];

/// The title of a group of settings, and the settings of it that are not shown.
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
    for &entry in &results.experiment.methods {
        let Ok(Some(method)) = results.experiment.settings_of(entry) else { continue };
        if let Ok(Value::Object(settings)) = serde_json::to_value(&method) {
            let is_own = |name: &str| name != "method" && !SHARED.contains(&name);
            let own = settings.iter().filter(|(name, _)| is_own(name));
            rows.push(row(entry.title(), own.collect()));
        }
    }
    let caption = html! {
        "Methods share the lambda, scaling, Fourier features and seed of UDEED, as far as they have these settings."
    };
    Table::new(caption, ["group", "settings"], rows).draw_fixed()
}

fn row(title: &str, settings: Vec<(&String, &Value)>) -> Vec<Cell> {
    let list = html! {
        @for (name, value) in settings {
            span.setting { span.soft { (name.replace('_', " ")) } " " (shown(value)) } " "
        }
    };
    vec![Cell::text(title), Cell::words(list)]
}

/// A setting as text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(values) => {
            values.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

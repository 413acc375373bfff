//! `udeed inspect`: what a saved model is and how it was trained.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use udeed::data::Kind;
use udeed::model::{HeldRows, Model};
use udeed::text::{counted, printable};

use crate::fit::{MOST_CLASSES, short_name, write_training};
use crate::output::{check_outputs, is_stream, print, print_json, write_to, write_wrapped};
use crate::progress::Progress;
use crate::settings::{ModelMemory, shown};
use crate::training_rows::TrainingRows;

/// Show what a saved model is and how it was trained
#[derive(Args)]
#[command(after_help = "Example:\n  udeed inspect model.safetensors")]
pub struct Inspect {
    /// The model, as `fit` wrote it
    model: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show what became of the training rows: class, probability, and the round in which a row was labeled
    #[arg(long)]
    rows: bool,
    /// With `--rows`: number of rows to print
    #[arg(long, value_name = "N", default_value_t = 20, requires = "rows")]
    count: usize,
    /// With `--rows`: CSV file for all rows; `-` prints it instead of the table
    #[arg(long, short, value_name = "FILE", requires = "rows", conflicts_with = "json")]
    out: Option<PathBuf>,
    #[command(flatten)]
    memory: ModelMemory,
}

/// More columns than this are not listed for a person.
const MOST_COLUMNS: usize = 40;
/// Largest number of columns that are shown with their importance.
const MOST_IMPORTANT: usize = 10;

impl Inspect {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[self.out.as_deref()], &[Some(&self.model)])?;
        let model = self.memory.load(&self.model)?;
        if self.rows {
            return self.show_rows(&model, progress);
        }
        if self.json {
            return print_json(&json!({
                "method": model.method().name(),
                "classes": model.classes(),
                "label": model.label(),
                "columns": model.preparation().columns(),
                "features": model.preparation().features(),
                "settings": model.method(),
                "members": model.ensemble().n_members(),
                "weights": weights(&model),
                "importances": model.feature_importances(),
                "threshold": model.threshold(),
                "holds": model.held_rows(),
                "kept_rows": model.n_kept_rows(),
                "training": model.training(),
            }));
        }
        print(|out| describe(&model, out))
    }

    fn show_rows(&self, model: &Model, progress: &Progress) -> anyhow::Result<()> {
        let Some(rows) = model.transduction()? else {
            let path = self.model.display();
            anyhow::bail!("{path}: found no training rows in the model, expected one fitted with `--keep-rows`");
        };
        let rows = TrainingRows { model, rows };
        if self.json {
            return print_json(&rows.json());
        }
        if let Some(path) = &self.out {
            let written = write_to(Some(path), |out| rows.write_csv(out))?;
            written.tell_of(&counted(rows.rows.classes.len(), "row"), progress);
            if is_stream(path) {
                return Ok(());
            }
        }
        print(|out| rows.summarise(self.count, out))
    }
}

/// What the voices of the members count; where each class has its own members, a list for each.
fn weights(model: &Model) -> Value {
    let ensemble = model.ensemble();
    if !ensemble.is_one_against_rest() {
        return json!(ensemble.weights(0));
    }
    json!((0..model.classes().len()).map(|class| ensemble.weights(class)).collect::<Vec<_>>())
}

fn describe(model: &Model, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}, {}", short_name(model), counted(model.ensemble().n_members(), "member"))?;
    let shown: Vec<_> = model.classes().iter().take(MOST_CLASSES).map(|class| printable(class)).collect();
    write!(out, "classes: {}", shown.join(", "))?;
    if let left @ 1.. = model.classes().len() - shown.len() {
        write!(out, " and {left} more")?;
    }
    match model.label() {
        Some(label) => writeln!(out, " (column {})", udeed::text::quoted(label))?,
        None => writeln!(out)?,
    }
    write_held(&model.held_rows(), out)?;
    if let kept @ 1.. = model.n_kept_rows() {
        writeln!(out, "what became of {}: `--rows`", counted(kept, "training row"))?;
    }
    writeln!(out, "\nSettings")?;
    // The settings are written as the file holds them: a new method needs no new words here.
    if let Ok(Value::Object(settings)) = serde_json::to_value(model.method()) {
        let widest = settings.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, value) in settings {
            write_wrapped(out, &format!("  {name}"), widest + 3, &printable(&setting(&value)))?;
        }
    }
    writeln!(out, "\nTraining")?;
    write_training(model, out)?;
    for warning in &model.training().warnings {
        writeln!(out, "warning: {warning}")?;
    }
    write_importances(model, out)?;
    write_columns(model, out)
}

/// The columns that trees split by most, where the members are trees.
fn write_importances(model: &Model, out: &mut dyn Write) -> std::io::Result<()> {
    let mut ranked: Vec<(usize, f64)> = model.feature_importances().into_iter().flatten().enumerate().collect();
    ranked.retain(|(_, importance)| *importance > 0.0);
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if ranked.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nImportances (mean decrease of impurity)")?;
    for (column, importance) in ranked.iter().take(MOST_IMPORTANT) {
        writeln!(out, "  {importance:.3}  {}", printable(&model.preparation().columns()[*column].name))?;
    }
    match ranked.len().saturating_sub(MOST_IMPORTANT) {
        0 => Ok(()),
        left => writeln!(out, "  and {left} more: `--json` lists them"),
    }
}

/// What the file holds of the training rows, for those who hand it on.
fn write_held(held: &HeldRows, out: &mut dyn Write) -> std::io::Result<()> {
    let parts = [
        (held.kernels, "labeled (kernels)"),
        (held.nodes, "labeled or not (graph)"),
        (held.neighbors, "of each member (neighbours)"),
        (held.values, "values of single columns (ranks)"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() {
        return Ok(());
    }
    write_wrapped(out, "holds training rows:", 21, &parts.join(", "))
}

/// The value of a setting; a base learner with its own settings.
fn setting(value: &Value) -> String {
    match value {
        Value::Object(only) if only.len() == 1 => {
            only.iter().map(|(name, settings)| format!("{name} ({})", shown(settings))).collect()
        }
        value => shown(value),
    }
}

fn write_columns(model: &Model, out: &mut dyn Write) -> std::io::Result<()> {
    let columns = model.preparation().columns();
    writeln!(out, "\nColumns")?;
    for column in columns.iter().take(MOST_COLUMNS) {
        match &column.kind {
            Kind::Numeric => writeln!(out, "  {}", printable(&column.name))?,
            Kind::Nominal { levels } => {
                writeln!(out, "  {}: one of {}", printable(&column.name), printable(&levels.join(", ")))?;
            }
        }
    }
    match columns.len().saturating_sub(MOST_COLUMNS) {
        0 => Ok(()),
        left => writeln!(out, "  and {left} more: `--json` lists them"),
    }
}

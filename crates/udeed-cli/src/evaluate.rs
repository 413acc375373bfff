//! `udeed evaluate`: how well a model does on labeled rows, beside what the labels alone give.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use udeed::model::{Evaluation, Model};
use udeed::prepare::Unseen;
use udeed::text::counted;
use udeed_lab::tables::TextTable;

use crate::fit::MOST_CLASSES;
use crate::input::{Reading, read_any, warn_of_unseen};
use crate::laboratory::named;
use crate::output::{check_outputs, print, print_json};
use crate::progress::Progress;

/// Measure a saved model on rows whose labels are known
#[derive(Args)]
#[command(
    after_help = "AUC: the probability that a row of the second class is ranked above one of the first; of more than \
    two classes the mean over them, each ranked by its probability against the rest.\n\nExample:\n  udeed evaluate \
    model.safetensors test.csv"
)]
pub struct Evaluate {
    /// The model, as `fit` wrote it
    model: PathBuf,
    /// Labeled rows: a file, `-` for standard input, or a built-in set. Unlabeled ones are left out
    file: PathBuf,
    /// Column with the labels [default: that of the training rows]
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// The figures of the model, and of what it started from.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    model: Evaluation,
    baselines: Baselines,
}

#[derive(Serialize)]
struct Baselines {
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<Evaluation>,
    logistic: Evaluation,
}

impl Evaluate {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[], &[Some(&self.model), Some(&self.file)])?;
        let model = self.reading.memory.load(&self.model)?;
        let mut reader = model.reader();
        if let Some(label) = &self.label {
            reader = reader.label(label);
        }
        let sheet = read_any(&self.reading.reader(reader), &self.file, progress)?;
        if let (None, Some(label), false) = (&sheet.label, model.label(), sheet.labels.n_labeled() > 0) {
            let column = udeed::text::quoted(label);
            anyhow::bail!("{}: found no column {column}, expected the labels there, or `--label`", self.file.display());
        }
        let column =
            sheet.label.as_ref().map_or(String::new(), |label| format!(", column {}", udeed::text::quoted(label)));
        let place = PathBuf::from(format!("{}{column}", self.file.display()));
        let name = self.file.display().to_string();
        let evaluate = |model: &Model| {
            let evaluation = model.evaluate(&sheet.table, &sheet.labels).map_err(|error| error.in_source(&name, 0));
            match evaluation {
                // A row that cannot be predicted has a place of its own, not that of the labels.
                Err(error) if matches!(&error, udeed::Error::Input { place, .. } if place.source == name) => {
                    Err(error.into())
                }
                evaluation => named(evaluation, &place),
            }
        };
        let report = Report {
            model: evaluate(&model)?,
            baselines: Baselines {
                initial: model.initial().as_ref().map(evaluate).transpose()?,
                logistic: evaluate(&model.logistic())?,
            },
        };
        let mut unseen = Unseen::default();
        unseen.add(model.preparation(), &sheet.table);
        warn_of_unseen(&unseen, &self.file, progress);
        if self.json {
            return print_json(&report);
        }
        print(|out| report.write(out))
    }
}

impl Report {
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{}", counted(self.model.n_rows, "labeled row"))?;
        let mut table = TextTable::new(["", "accuracy", "balanced", "AUC", "log loss"]);
        let mut rows = vec![("this model", &self.model)];
        rows.extend(self.baselines.initial.iter().map(|initial| ("initial ensemble, labels alone", initial)));
        rows.push(("logistic regression, labels alone", &self.baselines.logistic));
        for (name, figures) in rows {
            table.push([
                name.to_owned(),
                format!("{:.4}", figures.accuracy),
                format!("{:.4}", figures.balanced_accuracy),
                figures.auc.map_or("one class".into(), |auc| format!("{auc:.4}")),
                format!("{:.4}", figures.log_loss),
            ]);
        }
        table.write(out)?;
        writeln!(out)?;
        let classes = &self.model.classes;
        if classes.len() > MOST_CLASSES {
            return writeln!(out, "{} classes: `--json` has which were taken for which", classes.len());
        }
        let mut table = TextTable::new(std::iter::once("true \\ predicted").chain(classes.iter().map(String::as_str)));
        for (class, row) in classes.iter().zip(&self.model.confusion) {
            table.push(std::iter::once(class.clone()).chain(row.iter().map(usize::to_string)));
        }
        table.write(out)
    }
}

//! `udeed predict`: the classes of new rows.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use udeed::data::{Dense, Rows, Table};
use udeed::memory::Room;
use udeed::model::Model;
use udeed::prepare::Unseen;
use udeed::text::{counted, quoted};

use crate::input::{Reading, for_each_table, warn_of_unseen};
use crate::output::{check_outputs, plain, temporary_folder, write_to};
use crate::progress::Progress;

/// Predict the classes of rows with a saved model
#[derive(Args)]
#[command(after_help = "Example:\n  udeed predict model.safetensors new.csv --proba --out predictions.csv")]
pub struct Predict {
    /// The model, as `fit` wrote it
    model: PathBuf,
    /// Rows to predict: a file, `-` for standard input, or a built-in set. Columns are matched by name
    file: PathBuf,
    /// Add the probability of each class
    #[arg(long)]
    proba: bool,
    /// Add a conformal prediction set, its classes parted by `|`: they include the true one for this share of the rows of each
    /// class, such as 0.9
    #[arg(long, value_name = "SHARE")]
    coverage: Option<f64>,
    /// File for the predictions [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Predict {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[self.out.as_deref()], &[Some(&self.model), Some(&self.file)])?;
        let model = Model::load(&self.model)?;
        if let Some(coverage) = self.coverage {
            warn_of_few(&model, coverage, progress)?;
        }
        let reader = self.reading.reader(model.reader());
        // Sparse rows cannot be predicted as they come.
        let folder = temporary_folder(self.out.as_deref());
        let room = Room { most: self.reading.memory.most(), folder: Some(&folder) };
        let mut n_rows = 0;
        let written = write_to(self.out.as_deref(), |out| {
            let out = csv::Writer::from_writer(out);
            let unseen = Unseen::default();
            let mut predictions =
                Predictions { model: &model, proba: self.proba, coverage: self.coverage, begun: false, unseen, out };
            for_each_table(&reader, &self.file, room, progress, &mut |rows| {
                n_rows += rows.n_rows();
                predictions.write(rows)
            })?;
            warn_of_unseen(&predictions.unseen, &self.file, progress);
            Ok(predictions.out.flush()?)
        })?;
        written.tell_of(&counted(n_rows, "prediction"), progress);
        Ok(())
    }
}

/// Says which classes are in every set, for want of labels.
fn warn_of_few(model: &Model, coverage: f64, progress: &Progress) -> udeed::Result<()> {
    for class in model.too_few_for(coverage)? {
        let least = (coverage / (1.0 - coverage) - 1e-9).ceil();
        progress.note(format_args!(
            "warning: too few labeled rows of {} were held out for a coverage of {coverage}, which takes {least}: it is in every set",
            quoted(class)
        ));
    }
    Ok(())
}

/// The name of a class in a set, whose names `|` parts: one of its own has a backslash before it.
fn parted(class: &str) -> String {
    class.replace('\\', "\\\\").replace('|', "\\|")
}

/// Predictions as CSV.
struct Predictions<'a, W: Write> {
    model: &'a Model,
    proba: bool,
    coverage: Option<f64>,
    /// Whether there is a header: nothing is written of rows of which not even the first can be read.
    begun: bool,
    unseen: Unseen,
    out: csv::Writer<W>,
}

impl<W: Write> Predictions<'_, W> {
    /// Predicts some rows.
    fn write(&mut self, rows: &Table) -> udeed::Result<()> {
        let decisions = self.model.decision(rows)?;
        self.unseen.add(self.model.preparation(), rows);
        let probabilities = self.model.probabilities(&decisions)?;
        let sets = self.coverage.map(|coverage| self.model.sets(&decisions, coverage)).transpose()?;
        self.write_rows(&decisions, &probabilities, sets.as_deref()).map_err(|error| udeed::Error::Io {
            path: "the predictions".into(),
            action: "write",
            cause: plain(error),
            hint: None,
        })
    }

    fn write_rows(&mut self, decisions: &Dense, probabilities: &Dense, sets: Option<&[Vec<usize>]>) -> csv::Result<()> {
        let classes = self.model.classes();
        if !std::mem::replace(&mut self.begun, true) {
            let names = classes.iter().filter(|_| self.proba).map(|class| format!("p({class})"));
            let set = sets.map(|_| "set".to_owned());
            self.out.write_record(std::iter::once("prediction".to_owned()).chain(names).chain(set))?;
        }
        for i in 0..decisions.n_rows() {
            self.out.write_field(&classes[self.model.class_of(decisions.get(i))])?;
            if self.proba {
                probabilities.get(i).iter().try_for_each(|p| self.out.write_field(p.to_string()))?;
            }
            if let Some(sets) = sets {
                let names: Vec<String> = sets[i].iter().map(|&class| parted(&classes[class])).collect();
                self.out.write_field(names.join("|"))?;
            }
            self.out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }
}

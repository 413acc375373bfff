//! `udeed predict`: the classes of new rows.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use udeed::data::{Dense, Rows, Table};
use udeed::memory::Room;
use udeed::model::Model;
use udeed::prepare::Unseen;
use udeed::text::counted;

use crate::input::{Reading, for_each_table, warn_of_unseen};
use crate::output::{check_outputs, note_written, plain, temporary_folder, write_to};
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
        let reader = self.reading.reader(model.reader());
        // Sparse rows cannot be predicted as they come.
        let folder = temporary_folder(self.out.as_deref());
        let room = Room { most: self.reading.memory.most(), folder: Some(&folder) };
        let mut n_rows = 0;
        write_to(self.out.as_deref(), |out| {
            let out = csv::Writer::from_writer(out);
            let unseen = Unseen::default();
            let mut predictions = Predictions { model: &model, proba: self.proba, begun: false, unseen, out };
            for_each_table(&reader, &self.file, room, progress, &mut |rows| {
                n_rows += rows.n_rows();
                predictions.write(rows)
            })?;
            warn_of_unseen(&predictions.unseen, &self.file, progress);
            Ok(predictions.out.flush()?)
        })?;
        note_written(self.out.as_deref(), &counted(n_rows, "prediction"), progress);
        Ok(())
    }
}

/// Predictions as CSV.
struct Predictions<'a, W: Write> {
    model: &'a Model,
    proba: bool,
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
        self.write_rows(&decisions, &probabilities).map_err(|error| udeed::Error::Io {
            path: "the predictions".into(),
            action: "write",
            cause: plain(error),
            hint: None,
        })
    }

    fn write_rows(&mut self, decisions: &Dense, probabilities: &Dense) -> csv::Result<()> {
        let classes = self.model.classes();
        if !std::mem::replace(&mut self.begun, true) {
            let names = classes.iter().filter(|_| self.proba).map(|class| format!("p({class})"));
            self.out.write_record(std::iter::once("prediction".to_owned()).chain(names))?;
        }
        for i in 0..decisions.n_rows() {
            self.out.write_field(&classes[self.model.class_of(decisions.get(i))])?;
            if self.proba {
                probabilities.get(i).iter().try_for_each(|p| self.out.write_field(p.to_string()))?;
            }
            self.out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }
}

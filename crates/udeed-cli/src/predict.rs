//! `udeed predict`: the classes of new rows.

use std::path::PathBuf;

use clap::Args;
use udeed::model::Model;

use crate::input::{Reading, read_any};
use crate::laboratory::named;
use crate::output::{check_outputs, plain, write_to};
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
    /// Where the predictions go [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Predict {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let model = Model::load(&self.model)?;
        check_outputs(&[self.out.as_deref()], &[Some(&self.model), Some(&self.file)])?;
        let sheet = read_any(&self.reading.reader(model.reader()), &self.file, progress)?;
        let decisions = named(model.decision(&sheet.table), &self.file)?;
        let probabilities = model.probabilities(&decisions)?;
        write_to(self.out.as_deref(), |out| {
            let mut writer = csv::Writer::from_writer(out);
            let mut header = vec!["prediction".to_owned()];
            if self.proba {
                header.extend(model.classes().iter().map(|class| format!("p({class})")));
            }
            writer.write_record(&header).map_err(plain)?;
            for i in 0..sheet.table.n_rows() {
                writer.write_field(&model.classes()[model.class_of(decisions.get(i))]).map_err(plain)?;
                if self.proba {
                    let mut probabilities = probabilities.get(i).iter();
                    probabilities.try_for_each(|p| writer.write_field(p.to_string())).map_err(plain)?;
                }
                writer.write_record(None::<&[u8]>).map_err(plain)?;
            }
            Ok(writer.flush()?)
        })
    }
}

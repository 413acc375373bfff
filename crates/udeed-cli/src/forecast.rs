//! `udeed forecast`: what further labels would bring.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use udeed::labeling::{self, Expected, Forecasts};
use udeed::text::counted;
use udeed_lab::tables::TextTable;

use crate::input::{Labeled, Sampling, note_identifiers};
use crate::laboratory::{named, placed};
use crate::output::{check_outputs, print, print_json, write_wrapped};
use crate::progress::Progress;
use crate::settings::seeded_method;
use crate::suggest::Warned;

/// Forecast the accuracy that further labels would bring
#[derive(Args)]
#[command(after_help = "\
Models of parts of the labels are tested on the others, and their learning curve is followed beyond the labels at hand. The \
labels, those at hand and the further ones, are taken as drawn at random: labels that `suggest` chose are worth more, and the \
accuracy on them is not that on other rows.

Example:
  udeed forecast rows.csv --label species --more 10,50,100")]
pub struct Forecast {
    /// Rows, some of them labeled: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// Numbers of further labels
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = labeling::Forecast::new().more)]
    more: Vec<usize>,
    /// Method of the models: one that `udeed methods` lists
    #[arg(long, default_value = "auto")]
    method: String,
    /// How often the labels are dealt anew; each time 13 models are fitted
    #[arg(long, value_name = "N", default_value_t = labeling::Forecast::new().repetitions)]
    repetitions: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sampling: Sampling,
}

impl Forecast {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[], &[Some(&self.file)])?;
        let mut forecast =
            labeling::Forecast::new().more(self.more.clone()).repetitions(self.repetitions).seed(self.sampling.seed);
        if let Some(method) = seeded_method(&self.method, self.sampling.seed)? {
            forecast = forecast.method(method);
        }
        let sheet = self.labeled.read_to_learn(&self.sampling.reading, &self.file, progress)?;
        self.labeled.check_occur([&sheet.labels])?;
        let train = named(sheet.into_train(), &self.file)?;
        let found = named(forecast.forecast_observed(&train, &mut Warned::new(progress)), &self.file);
        let found = found.map_err(|error| placed(error, &[(&self.file, usize::MAX)]))?;
        note_identifiers(train.table(), train.table().n_rows(), progress);
        match self.json {
            true => print_json(&self.as_json(&found)),
            false => print(|out| self.summarise(&found, out)),
        }
    }

    fn as_json(&self, found: &Forecasts) -> serde_json::Value {
        let expected = |expected: &Expected| {
            json!({
                "more": expected.more,
                "accuracy": expected.accuracy,
                "interval": expected.interval,
                "gain": expected.gain,
            })
        };
        json!({
            "method": self.method,
            "labels": found.n_labeled,
            "curve": found.curve,
            "now": expected(&found.now),
            "expected": found.expected.iter().map(expected).collect::<Vec<_>>(),
            "is_open": found.is_open(),
        })
    }

    fn summarise(&self, found: &Forecasts, out: &mut dyn Write) -> std::io::Result<()> {
        let labels = counted(found.n_labeled, "label");
        write_wrapped(out, "", 0, &format!("{labels}, method {}; accuracy with 90 % intervals", self.method))?;
        let mut table = TextTable::new(["further labels", "accuracy", "between", "gain, between"]);
        for expected in std::iter::once(&found.now).chain(&found.expected) {
            let [low, high] = expected.interval;
            let gain = match expected.more {
                0 => "-".to_owned(),
                _ => format!("{:+.3} and {:+.3}", expected.gain[0], expected.gain[1]),
            };
            table.push([
                expected.more.to_string(),
                format!("{:.3}", expected.accuracy),
                format!("{low:.3} and {high:.3}"),
                gain,
            ]);
        }
        table.write(out)?;
        if found.is_open() {
            writeln!(out, "the labels at hand do not tell whether further ones help")?;
        }
        Ok(())
    }
}

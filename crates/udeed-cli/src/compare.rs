//! `udeed compare`: methods side by side on repeated splits of labeled rows.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use udeed::{Model, Reader, Shares, Sheet, Split, TrainSet, Udeed, Variant, stratified_split};

use crate::input::{Reading, read_any, short_name};
use crate::output::{TextTable, deviation, mean, write_json, write_to};
use crate::progress::Progress;
use crate::settings::{Settings, SharesArgs};

/// Compare methods on repeated splits of labeled rows
///
/// Each split keeps some rows for testing, the labels of some others, and hides the labels of the rest. All methods see
/// the same splits. Preparation is fitted on the training rows only.
#[derive(Args)]
#[command(after_help = "Example:\n  udeed compare ionosphere rows.csv --label species --sizes 20,50 --gamma 2")]
pub struct Compare {
    /// Files or built-in sets [default: ionosphere]
    sets: Vec<PathBuf>,
    /// Column with the labels, in files that have names
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<String>,
    /// Ensemble sizes
    #[arg(long, value_delimiter = ',', default_value = "20")]
    sizes: Vec<usize>,
    /// How often the rows are split anew
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    splits: u32,
    #[command(flatten)]
    shares: SharesArgs,
    /// Write results and settings to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: Reading,
}

/// The accuracies of one method, one size and one data set.
#[derive(Serialize)]
struct Outcome {
    dataset: String,
    size: usize,
    method: &'static str,
    mean: f64,
    std: f64,
    accuracies: Vec<f64>,
}

const METHODS: [&str; 5] = ["logistic", "initial", "lc", "lcd", "lcud"];

impl Compare {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let settings = self.settings.udeed();
        for &size in &self.sizes {
            settings.clone().members(size).validate()?;
        }
        if let Some(path) = &self.json {
            udeed::check_writable(path)?;
        }
        let default = [PathBuf::from("ionosphere")];
        let sets = if self.sets.is_empty() { default.as_slice() } else { &self.sets };
        let mut reader = self.reading.reader(Reader::new());
        if let Some(label) = &self.label {
            reader = reader.label(label);
        }
        let sheets = sets.iter().map(|set| read_any(&reader, set)).collect::<udeed::Result<Vec<Sheet>>>()?;
        let mut results = Vec::new();
        for (set, sheet) in sets.iter().zip(sheets) {
            let outcomes = self.compare(set, sheet, &settings, progress)?;
            results.extend(outcomes);
        }
        if let Some(path) = &self.json {
            let shares = Shares::from(&self.shares);
            let settings = json!({ "udeed": settings, "sizes": self.sizes, "splits": self.splits, "shares": shares });
            write_json(Some(path), &json!({ "results": results, "settings": settings }))?;
        }
        Ok(())
    }

    fn compare(&self, set: &Path, sheet: Sheet, settings: &Udeed, progress: &Progress) -> anyhow::Result<Vec<Outcome>> {
        let name = short_name(set);
        let shares = Shares::from(&self.shares);
        let data = sheet.into_train()?;
        let splits = (0..self.splits)
            .map(|repetition| stratified_split(data.labels(), shares, settings.seed, repetition))
            .collect::<udeed::Result<Vec<Split>>>()?;
        let bar = progress.bar(&name, splits.len());
        let accuracies = splits
            .par_iter()
            .map(|split| {
                let accuracies = self.accuracies(&data, split, settings);
                bar.inc(1);
                accuracies
            })
            .collect::<udeed::Result<Vec<Vec<[f64; 5]>>>>()?;
        bar.finish_and_clear();
        let mut outcomes = Vec::new();
        for (s, &size) in self.sizes.iter().enumerate() {
            for (m, method) in METHODS.into_iter().enumerate() {
                let accuracies: Vec<f64> = accuracies.iter().map(|split| split[s][m]).collect();
                let (mean, std) = (mean(&accuracies), deviation(&accuracies));
                outcomes.push(Outcome { dataset: name.clone(), size, method, mean, std, accuracies });
            }
        }
        write_to(None, |out| Ok(self.write(&data, &splits[0], &outcomes, out)?))?;
        Ok(outcomes)
    }

    /// The accuracy of every method at every size on one split.
    fn accuracies(&self, data: &TrainSet, split: &Split, settings: &Udeed) -> udeed::Result<Vec<[f64; 5]>> {
        let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
        let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
        let train = data.select(&rows).hide_labels(&hidden);
        let test = data.select(&split.test);
        let accuracy = |model: &Model| Ok(model.evaluate(test.table(), test.labels())?.accuracy);
        let largest = self.sizes.iter().copied().max().unwrap_or(settings.members);
        let settings = settings.clone().seed(split.seed);
        // The ensembles of smaller sizes begin with the first members of the largest.
        let start = settings.clone().members(largest).start(&train, &mut ())?;
        let of_size = |&size: &usize| {
            let descend = |variant| start.descend(&settings.clone().members(size).variant(variant), &mut ());
            let lc = descend(Variant::Lc)?;
            Ok([
                accuracy(&lc.logistic())?,
                accuracy(&lc.initial())?,
                accuracy(&lc)?,
                accuracy(&descend(Variant::Lcd)?)?,
                accuracy(&descend(Variant::LcUd)?)?,
            ])
        };
        self.sizes.iter().map(of_size).collect()
    }

    fn write(&self, data: &TrainSet, split: &Split, outcomes: &[Outcome], out: &mut dyn Write) -> std::io::Result<()> {
        let Some(first) = outcomes.first() else { return Ok(()) };
        writeln!(
            out,
            "{}: {} rows, {} columns; {} splits of {} labeled, {} unlabeled, {} test rows",
            first.dataset,
            data.labels().len(),
            data.table().columns().len(),
            self.splits,
            split.labeled.len(),
            split.unlabeled.len(),
            split.test.len()
        )?;
        let sizes = self.sizes.iter().map(|size| format!("{size} members"));
        let mut table = TextTable::new(std::iter::once("test accuracy".to_owned()).chain(sizes));
        for method in METHODS {
            let cells = outcomes.iter().filter(|outcome| outcome.method == method);
            let cells = cells.map(|outcome| format!("{:.3} ± {:.3}", outcome.mean, outcome.std));
            table.push(std::iter::once(method.to_owned()).chain(cells));
        }
        table.push(
            std::iter::once("lcud - logistic".to_owned()).chain(self.sizes.iter().map(|&size| gain(outcomes, size))),
        );
        table.write(out)?;
        writeln!(out)
    }
}

/// What unlabeled rows brought: the mean difference, and on how many splits it was for better or worse.
fn gain(outcomes: &[Outcome], size: usize) -> String {
    let of = |method: &str| outcomes.iter().find(|outcome| outcome.size == size && outcome.method == method);
    let (Some(ours), Some(theirs)) = (of("lcud"), of("logistic")) else { return String::new() };
    let differences: Vec<f64> = ours.accuracies.iter().zip(&theirs.accuracies).map(|(a, b)| a - b).collect();
    let better = differences.iter().filter(|&&d| d > 0.0).count();
    let worse = differences.iter().filter(|&&d| d < 0.0).count();
    format!("{:+.3} ({better} up, {worse} down)", mean(&differences))
}

//! `udeed fit`: learn a model from a file and save it.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use udeed::{CrossValidation, Model, Observer, Reader, Step, TrainSet, Udeed, Warning};

use crate::input::{Reading, read_any, read_file};
use crate::output::{TextTable, deviation, mean, write_to};
use crate::progress::Progress;
use crate::settings::{Settings, VariantName};

/// Learn an ensemble from labeled and unlabeled rows
#[derive(Args)]
#[command(after_help = "Example:\n  udeed fit rows.csv --label species --unlabeled more.csv --out model.safetensors")]
pub struct Fit {
    /// Rows to learn from: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    /// Column with the labels: its name, its number, or -1 for the last. LIBSVM files need none
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    label: Option<String>,
    /// More rows, all taken as unlabeled
    #[arg(long, value_name = "FILE")]
    unlabeled: Option<PathBuf>,
    /// Where the model goes
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,
    /// Write every descent step to a CSV file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Folds of the cross-validation that tells the gain over the labels alone; 0 leaves it out
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Where members are made to differ: nowhere, on labeled rows, on unlabeled rows
    #[arg(long, value_enum, default_value = "lcud", help_heading = "Learning")]
    variant: VariantName,
    /// Size of the ensemble
    #[arg(long, default_value_t = 20, help_heading = "Learning")]
    members: usize,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: Reading,
}

impl Fit {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let settings = self.settings.udeed().members(self.members).variant(self.variant.into());
        settings.validate()?;
        for path in [Some(&self.out), self.trace.as_ref()].into_iter().flatten() {
            udeed::check_writable(path)?;
        }
        let train = self.train(progress)?;
        let mut watcher = Watcher::new(progress, &settings);
        let model = settings.fit_observed(&train, &mut watcher)?;
        watcher.bar.finish_and_clear();
        let validation = self.validate(&settings, &train, progress)?;
        if let Some(path) = &self.trace {
            write_to(Some(path), |out| Ok(out.write_all(watcher.trace.as_bytes())?))?;
        }
        model.save(&self.out)?;
        write_to(None, |out| Ok(summarise(&model, validation.as_ref(), out)?))?;
        progress.note(format_args!("wrote {}", self.out.display()));
        Ok(())
    }

    fn train(&self, progress: &Progress) -> anyhow::Result<TrainSet> {
        let mut reader = self.reading.reader(Reader::new());
        if let Some(label) = &self.label {
            reader = reader.label(label);
        }
        let sheet = read_any(&reader, &self.file)?;
        let no_labels = sheet.labels.n_labeled() == 0 && sheet.label.is_none();
        if no_labels && self.label.is_none() {
            let names: Vec<String> = sheet.table.columns().iter().map(|column| udeed::quoted(&column.name)).collect();
            anyhow::bail!("no `--label`, expected the column with the labels: one of {}", names.join(", "));
        }
        let mut train = sheet.into_train()?;
        if let Some(path) = &self.unlabeled {
            let table = train.table();
            let mut reader = self.reading.reader(Reader::new()).expect(table.columns(), table.naming());
            reader = reader.header(!self.reading.no_header).drop(Vec::<String>::new()).nominal(Vec::<String>::new());
            if let Some(label) = train.label_name() {
                reader = reader.label_if_present(label);
            }
            let more = read_file(&reader, path)?;
            if more.labels.n_labeled() > 0 {
                progress.note(format_args!("note: the labels in {} are not used", path.display()));
            }
            train.add_unlabeled(&more.table).with_context(|| path.display().to_string())?;
        }
        Ok(train)
    }

    /// Cross-validation, with as many folds as the smaller class allows.
    fn validate(
        &self,
        settings: &Udeed,
        train: &TrainSet,
        progress: &Progress,
    ) -> anyhow::Result<Option<CrossValidation>> {
        let fewest = train.labels().counts().into_iter().filter(|&count| count > 0).min().unwrap_or(0);
        let folds = self.folds.min(fewest);
        if folds < 2 {
            if self.folds >= 2 {
                progress.note("note: no cross-validation, a class has a single labeled row");
            }
            return Ok(None);
        }
        let mut watcher = Watcher::new(progress, settings);
        watcher.bar.set_length((folds * settings.members) as u64);
        watcher.bar.set_message("cross-validation");
        watcher.counts_all = true;
        let validation = udeed::cross_validate(settings, train, folds, &mut watcher)?;
        watcher.bar.finish_and_clear();
        Ok(Some(validation))
    }
}

/// Shows progress, keeps the trace.
struct Watcher<'a> {
    progress: &'a Progress,
    bar: ProgressBar,
    trace: String,
    /// Whether the bar runs over several fits, which then warn only once.
    counts_all: bool,
}

impl<'a> Watcher<'a> {
    fn new(progress: &'a Progress, settings: &Udeed) -> Self {
        Watcher {
            progress,
            bar: progress.bar("members", settings.members),
            trace: String::from("stage,step,v_emp,v_div,v,accepted\n"),
            counts_all: false,
        }
    }
}

impl Observer for Watcher<'_> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.bar.inc(1);
        if done == total && !self.counts_all {
            self.bar.set_message("descent");
        }
        ControlFlow::Continue(())
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        let stage = format!("{:?}", step.stage).to_lowercase();
        let losses = step.losses;
        self.trace.push_str(&format!(
            "{stage},{},{},{},{},{}\n",
            step.step, losses.empirical, losses.diversity, losses.total, step.accepted
        ));
        ControlFlow::Continue(())
    }

    fn warn(&mut self, warning: &Warning) {
        if !self.counts_all {
            self.progress.note(format_args!("warning: {warning}"));
        }
    }
}

fn summarise(model: &Model, validation: Option<&CrossValidation>, out: &mut dyn Write) -> std::io::Result<()> {
    write_training(model, out)?;
    let Some(validation) = validation else { return Ok(()) };
    let folds = validation.model.len();
    writeln!(out, "\naccuracy on labeled rows left out ({folds} folds, mean ± deviation)")?;
    let mut table = TextTable::new(Vec::<String>::new());
    let variant = format!("{:?}", model.settings().variant).to_lowercase();
    for (name, values) in [
        ("logistic regression, labels alone", &validation.logistic),
        ("initial ensemble, labels alone", &validation.initial),
        (variant.as_str(), &validation.model),
    ] {
        table.push([format!("  {name}"), format!("{:.3} ± {:.3}", mean(values), deviation(values))]);
    }
    table.write(out)
}

/// What a model was trained on and how the descent went.
pub fn write_training(model: &Model, out: &mut dyn Write) -> std::io::Result<()> {
    let training = model.training();
    let counts = model.classes().iter().zip(&training.class_counts);
    let counts: Vec<String> = counts.map(|(class, count)| format!("{class}: {count}")).collect();
    writeln!(
        out,
        "{} labeled rows ({}), {} unlabeled rows, {} features",
        training.n_labeled,
        counts.join(", "),
        training.n_unlabeled,
        training.n_features
    )?;
    let mut table = TextTable::new(["stage", "steps", "V", "V_div", "why it ended"]);
    for stage in &training.stages {
        table.push([
            stage.stage.to_string(),
            stage.steps.to_string(),
            format!("{:.4} -> {:.4}", stage.first.total, stage.last.total),
            format!("{:.4} -> {:.4}", stage.first.diversity, stage.last.diversity),
            stage.stop.to_string(),
        ]);
    }
    table.write(out)
}

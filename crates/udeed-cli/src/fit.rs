//! `udeed fit`: learn a model from a file and save it.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use udeed::data::TrainSet;
use udeed::file::folder_of;
use udeed::memory::Room;
use udeed::method::{Auto, Method};
use udeed::model::{Model, Transduction};
use udeed::observer::{Observer, Stage, Step, Warning};
use udeed::text::{counted, printable};
use udeed::validation::{CrossValidation, Grid, Threshold, choose_threshold};
use udeed_lab::statistics::{deviation, mean};
use udeed_lab::tables::TextTable;

use crate::input::{
    Files, Labeled, Reading, files_of, hold_files, note_identifiers, note_unused_labels, unlabeled_reader,
};
use crate::laboratory::{is_of_rows, named, placed};
use crate::output::{Usage, Written, check_outputs, is_stream, print, write_to, write_wrapped};
use crate::progress::Progress;
use crate::settings::{Settings, method_named};

/// Learn an ensemble from labeled and unlabeled rows
#[derive(Args)]
#[command(after_help = "Example:\n  udeed fit rows.csv --label species --out model.safetensors")]
pub struct Fit {
    /// Rows to learn from: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// More rows, all taken as unlabeled: a file, a folder of them, or a pattern with `*` and `?`
    #[arg(long, value_name = "FILE")]
    unlabeled: Option<PathBuf>,
    /// File for the model
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,
    /// Write every step of the descent to a CSV file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    trace: Option<PathBuf>,
    /// Folds of the cross-validation that measures the gain over the labels alone; 0 for none
    ///
    /// `auto` stands beside the method where it is quick.
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Method: udeed, or another that `udeed methods` lists
    #[arg(long, default_value = "udeed", help_heading = "Learning")]
    method: String,
    /// Where the descent runs: `cpu`, `cuda` (an NVIDIA card) or `cuda:N` (card N, from 0). UDEED with linear members and dense
    /// rows; in double precision results agree with the processor's to 9 digits
    #[arg(long, value_name = "DEVICE", default_value = "cpu", help_heading = "Learning", hide_short_help = true)]
    device: String,
    /// UDEED: choose gamma, lambda and scaling by cross-validation; bagging where diversity does not help
    #[arg(long, help_heading = "Learning", conflicts_with_all = ["gamma", "lambda", "scaling"], hide_short_help = true)]
    choose: bool,
    /// Number of members [default: 20]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    members: Option<usize>,
    /// Give all classes the same total weight
    ///
    /// However many labels they have.
    #[arg(long, help_heading = "Learning")]
    balanced: bool,
    /// Decision threshold from -1 to 1, or its goal: `balanced`, `f1`, `rate=0.05` [default: 0]
    ///
    /// Of two classes, rows above it belong to the second. `balanced`: the highest balanced accuracy; `f1`: the highest F1 score
    /// of the second class; `rate=0.05`: this share of the rows is above it. Goals are reached on out-of-bag rows, or by the folds
    /// where a method has no bootstraps.
    #[arg(long, value_name = "THRESHOLD", help_heading = "Learning", allow_hyphen_values = true)]
    threshold: Option<Threshold>,
    /// For `inspect --rows`: store class, probabilities and round of up to N training rows in the model, 100000 if N is left
    /// out. With K classes, more than two, up to N/K rows
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, hide_short_help = true)]
    #[arg(default_value_t = 0, default_missing_value = Transduction::MOST_ROWS.to_string(), hide_default_value = true)]
    keep_rows: usize,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: Reading,
}

impl Fit {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let settings = self.settings()?;
        let method = settings.method(&self.method)?;
        method.validate()?;
        self.check()?;
        let method = self.on_device(method)?;
        settings.warn_of_idle(&method, progress);
        let (train, own_rows) = self.train(&method, progress)?;
        let files = [(self.file.as_path(), own_rows), (self.unlabeled.as_deref().unwrap_or(&self.file), usize::MAX)];
        let learned = self.learn(method, &train, progress).map_err(|error| placed(error, &files));
        let (method, model) = learned?;
        let validation = match self.validate(&method, model.threshold(), &train, progress) {
            Err(error) if is_of_rows(&error) => {
                // Each fold has its own scale, which may be too small for a row that the whole has room for.
                let error = placed(error, &files);
                progress.note(format_args!("warning: no cross-validation, a fold cannot be scaled: {error:#}"));
                None
            }
            validation => validation?,
        };
        let auto = if validation.is_some() { self.validate_auto(&method, &train, progress)? } else { None };
        print(|out| summarise(&model, validation.as_ref(), auto.as_ref(), out))
    }

    /// The method, with settings that the rows choose if they are to, and a model of the rows, which is saved.
    fn learn(&self, method: Method, train: &TrainSet, progress: &Progress) -> anyhow::Result<(Method, Model)> {
        let method = if self.choose { self.chosen(method, train, progress)? } else { method };
        let mut watcher = Watcher::new(progress, &method);
        let (model, _) = named(method.fit_keeping_rows(train, self.keep_rows, &mut watcher), &self.file)?;
        watcher.bar.finish_and_clear();
        self.note_rows(&model, train, progress);
        let model = self.with_threshold(model, &method, train, &mut watcher)?;
        note_identifiers(train.table(), train.table().n_rows(), progress);
        if let Some(path) = &self.trace {
            write_to(Some(path), |out| Ok(out.write_all(watcher.trace.as_bytes())?))?.tell(progress);
        }
        // Saved before the cross-validation: whatever becomes of that, the model is there.
        model.save(&self.out)?;
        Written::to(&self.out).tell(progress);
        Ok((method, model))
    }

    /// Says why the model does not keep what became of the rows.
    fn note_rows(&self, model: &Model, train: &TrainSet, progress: &Progress) {
        if model.n_kept_rows() > 0 || self.keep_rows == 0 {
            return;
        }
        let why = match train.on_disk() {
            Some(_) => "rows outside of memory would have to be read once more: `udeed predict` does".to_owned(),
            None => format!("they are more than `--keep-rows={}`", self.keep_rows),
        };
        progress.note(format_args!("note: the model does not keep what became of the training rows: {why}"));
    }

    /// All that was said about the method.
    fn settings(&self) -> anyhow::Result<Settings> {
        let named = method_named(&self.method)?;
        let mut settings = self.reading.memory.of(self.settings.clone(), std::iter::once(named.card()));
        if let Some(members) = self.members {
            settings = settings.with("--members", "members", members);
        }
        Ok(settings)
    }

    /// The method on the device; a card is opened before rows are read, which may take long.
    fn on_device(&self, method: Method) -> anyhow::Result<Method> {
        if self.device == "cpu" {
            return Ok(method);
        }
        method.check_device(&self.device)?;
        let Some(device) = crate::device::named(&self.device)? else { return Ok(method) };
        let method = method.on(device)?;
        method.validate()?;
        Ok(method)
    }

    fn check(&self) -> anyhow::Result<()> {
        if is_stream(&self.out) {
            return Err(Usage("`--out -`: a model goes to a file, expected its name".into()).into());
        }
        if self.trace.as_deref().is_some_and(is_stream) {
            return Err(Usage("`--trace -`: the summary goes to standard output, expected a file".into()).into());
        }
        if is_stream(&self.file) && self.unlabeled.as_deref().is_some_and(is_stream) {
            return Err(Usage("standard input cannot be both the rows and the unlabeled ones".into()).into());
        }
        if self.folds == 1 {
            return Err(Usage("`--folds 1`: expected at least 2, or 0 for none".into()).into());
        }
        if self.trace.is_some() && self.method != "udeed" {
            return Err(Usage(format!("`--trace`: only `udeed` descends, not `{}`", self.method)).into());
        }
        if self.choose && self.method != "udeed" {
            return Err(Usage(format!("`--choose`: chooses settings of `udeed`, not of `{}`", self.method)).into());
        }
        if self.choose && self.folds == 0 {
            return Err(Usage("`--choose`: expected `--folds` to choose by".into()).into());
        }
        self.labeled.check(&self.reading)?;
        let more = self.unlabeled_files()?;
        let inputs: Vec<Option<&Path>> =
            more.paths.iter().map(PathBuf::as_path).chain([self.file.as_path()]).map(Some).collect();
        check_outputs(&[Some(&self.out), self.trace.as_deref()], &inputs)
    }

    fn unlabeled_files(&self) -> anyhow::Result<Files> {
        self.unlabeled.as_ref().map_or(Ok(Files::default()), |path| files_of(std::slice::from_ref(path)))
    }

    /// The rows to learn from, and how many of them are those of the file; `--unlabeled` adds the others.
    fn train(&self, method: &Method, progress: &Progress) -> anyhow::Result<(TrainSet, usize)> {
        let sheet = self.labeled.read_to_learn(&self.reading, &self.file, progress)?;
        self.labeled.check_occur([&sheet.labels])?;
        let mut train = named(sheet.into_train(), &self.file)?;
        let own_rows = train.table().n_rows();
        let files = self.unlabeled_files()?;
        files.tell(progress);
        let files = files.without(&self.file, progress).paths;
        if let (Some(path), [first, others @ ..]) = (&self.unlabeled, &files[..]) {
            let room = self.room(method, train.table().columns().len());
            let more = hold_files(&unlabeled_reader(&self.reading, &train, first), &files, room, progress)?;
            note_unused_labels(&more, path, !others.is_empty(), progress);
            named(train.add_held(&more.table, room), path)?;
            if train.on_disk().is_some() {
                progress.note(format_args!("note: the rows of {} are read again in every step", path.display()));
            }
        }
        Ok((if self.balanced { train.balanced() } else { train }, own_rows))
    }

    /// The model with the threshold that was given, or that labeled rows choose.
    fn with_threshold(
        &self,
        model: Model,
        method: &Method,
        train: &TrainSet,
        told: &mut Watcher<'_>,
    ) -> anyhow::Result<Model> {
        let Some(goal) = self.threshold else { return Ok(model) };
        let is_chosen = !matches!(goal, Threshold::At(_));
        let by_folds = is_chosen && !model.has_held_out();
        if by_folds && self.folds == 0 {
            let found = format!("`{}` has no out-of-bag rows", method.name());
            return Err(Usage(format!("`--threshold`: {found}, expected `--folds` to choose by")).into());
        }
        let folds = if by_folds { self.folds_to_choose_by(train)? } else { 0 };
        let mut watcher = Watcher::over_folds(told.progress, method, folds, "choosing a threshold");
        let chosen = choose_threshold(&model, goal, train, folds, &mut watcher);
        watcher.bar.finish_and_clear();
        let threshold = named(chosen, &self.file)?;
        if is_chosen {
            told.progress.note(format_args!("chosen threshold: {threshold:.3}"));
        }
        named(model.with_threshold_on(train, goal, threshold, told), &self.file)
    }

    /// Memory for the unlabeled rows. More of them go beside the model, as temporary folders often lie in memory themselves.
    fn room(&self, method: &Method, n_columns: usize) -> Room<'_> {
        method.room(self.reading.memory.most(), n_columns, folder_of(&self.out))
    }

    /// Folds asked for, at most the size of the smallest class.
    fn folds_of(&self, train: &TrainSet) -> usize {
        let fewest = train.distinct_labels().counts().into_iter().filter(|&count| count > 0).min().unwrap_or(0);
        self.folds.min(fewest)
    }

    /// The same where something is chosen by them: two at least.
    fn folds_to_choose_by(&self, train: &TrainSet) -> anyhow::Result<usize> {
        match self.folds_of(train) {
            0 | 1 => {
                let found =
                    "found a class with a single labeled row, copies aside, expected two of each to choose by folds";
                Err(Usage(format!("{}: {found}", self.file.display())).into())
            }
            folds => Ok(folds),
        }
    }

    /// The method with the settings that the labeled rows choose.
    fn chosen(&self, method: Method, train: &TrainSet, progress: &Progress) -> anyhow::Result<Method> {
        let Method::Udeed(settings) = &method else { return Ok(method) };
        let folds = train.folds(self.folds_to_choose_by(train)?, settings.seed);
        let grid = Grid { members: vec![settings.members], ..Grid::default() };
        let mut watcher = Watcher::new(progress, &method);
        watcher.bar.set_length((folds.len() * grid.lambda.len() * grid.scaling.len() * settings.members) as u64);
        watcher.bar.set_message("choosing");
        watcher.counts_all = true;
        let choice = named(udeed::validation::choose(settings, &grid, train, &folds, &mut watcher), &self.file)?;
        watcher.bar.finish_and_clear();
        let best = &choice.candidates[choice.best];
        if best.gamma.is_none() && self.device != "cpu" {
            progress.note("note: bagging has no descent: it is fitted by the processor");
        }
        let scaling = serde_json::to_value(best.scaling)?;
        let gamma = match best.gamma {
            Some(gamma) => format!("gamma {gamma}"),
            None => "bagging, as diversity does not pay".to_owned(),
        };
        progress.note(format_args!(
            "chosen from {} candidates: {gamma}, lambda {}, scaling {}",
            choice.candidates.len(),
            best.lambda,
            scaling.as_str().unwrap_or_default()
        ));
        Ok(choice.method)
    }

    /// Cross-validation, with as many folds as the smaller class allows.
    fn validate(
        &self,
        method: &Method,
        threshold: f64,
        train: &TrainSet,
        progress: &Progress,
    ) -> anyhow::Result<Option<CrossValidation>> {
        let folds = self.folds_of(train);
        if folds < 2 {
            if self.folds >= 2 {
                progress.note("note: no cross-validation, a class has a single labeled row");
            }
            return Ok(None);
        }
        let mut watcher = Watcher::over_folds(progress, method, folds, "cross-validation");
        let validation = udeed::validation::cross_validate_at(threshold, method, train, folds, &mut watcher)?;
        watcher.bar.finish_and_clear();
        if self.choose {
            progress.note("note: the settings were chosen by the folds they are validated on, which flatters them");
        }
        if !matches!(self.threshold, None | Some(Threshold::At(_))) {
            progress.note("note: the threshold was chosen by the rows it is validated on, which flatters it");
        }
        Ok(Some(validation))
    }

    /// Cross-validation of `auto` on the same folds, so that nobody keeps a worse model unknowingly; none where it is the method
    /// itself, would take long, or accuracy is not what the threshold was moved for.
    fn validate_auto(
        &self,
        method: &Method,
        train: &TrainSet,
        progress: &Progress,
    ) -> anyhow::Result<Option<CrossValidation>> {
        if matches!(method, Method::Auto(_)) || self.threshold.is_some() || !auto_is_fast(train) {
            return Ok(None);
        }
        let auto = Method::from(Auto::new().seed(method.shared().seed));
        let folds = self.folds_of(train);
        let mut watcher = Watcher::over_folds(progress, &auto, folds, "cross-validation of auto");
        let validation = udeed::validation::cross_validate(&auto, train, folds, &mut watcher);
        watcher.bar.finish_and_clear();
        match validation {
            Err(error) if !matches!(error, udeed::Error::Stopped) => {
                progress.note(format_args!("note: no cross-validation of auto: {error}"));
                Ok(None)
            }
            validation => Ok(Some(validation?)),
        }
    }
}

/// Whether the folds of `auto` take less than two seconds, by the number of rows alone: what is shown is the same everywhere.
fn auto_is_fast(train: &TrainSet) -> bool {
    /// Kernels of labeled rows for every head, and a graph of all rows; both about half a second for a fold at most.
    const MOST: [usize; 2] = [40_000, 500_000_000];
    let labels = train.n_labeled();
    let classes = train.labels().counts().into_iter().filter(|&count| count > 0).count();
    let rows = train.table().n_rows() + train.on_disk().map_or(0, udeed::data::DiskTable::n_rows);
    let product = |factors: &[usize]| factors.iter().fold(1usize, |product, &factor| product.saturating_mul(factor));
    let heads = if classes == 2 { 1 } else { classes };
    product(&[labels, labels, heads]) <= MOST[0] && product(&[rows, rows, train.table().columns().len()]) <= MOST[1]
}

/// Shows progress, keeps the trace.
struct Watcher<'a> {
    progress: &'a Progress,
    bar: ProgressBar,
    trace: String,
    /// Whether the bar runs over several fits, which then warn only once.
    counts_all: bool,
    /// How many members an ensemble has.
    members: usize,
    /// How many members of the present fit are done.
    done: usize,
}

impl<'a> Watcher<'a> {
    /// For as many fits as there are folds.
    fn over_folds(progress: &'a Progress, method: &Method, folds: usize, message: &'static str) -> Self {
        let watcher = Watcher { counts_all: true, ..Watcher::new(progress, method) };
        watcher.bar.set_length((folds * method.shared().members) as u64);
        watcher.bar.set_message(message);
        watcher
    }

    fn new(progress: &'a Progress, method: &Method) -> Self {
        Watcher {
            progress,
            bar: progress.bar("members", method.shared().members),
            trace: String::from("stage,step,v_emp,v_div,v,accepted\n"),
            counts_all: false,
            members: method.shared().members,
            done: 0,
        }
    }
}

impl Observer for Watcher<'_> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        if !self.counts_all && self.bar.length() != Some(total as u64) {
            self.bar.set_length(total as u64);
        }
        // Over folds the bar counts members; each fold has the same number of them, however many fits these take.
        let (done, total) =
            if self.counts_all { (done * self.members / total.max(1), self.members) } else { (done, total) };
        self.bar.inc(done.saturating_sub(self.done) as u64);
        self.done = if done == total { 0 } else { done };
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

fn summarise(
    model: &Model,
    validation: Option<&CrossValidation>,
    auto: Option<&CrossValidation>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    write_training(model, out)?;
    let Some(validation) = validation else { return Ok(()) };
    let folds = validation.model.len();
    writeln!(out, "\naccuracy on labeled rows left out ({folds} folds, mean ± deviation)")?;
    let mut table = TextTable::new(Vec::<String>::new());
    for (name, values) in [
        ("logistic regression, labels alone", &validation.logistic),
        ("initial ensemble, labels alone", &validation.initial),
        (short_name(model).as_str(), &validation.model),
        ("auto, for comparison", auto.map_or(&Vec::new(), |auto| &auto.model)),
    ] {
        if let (Some(mean), Some(deviation)) = (mean(values), deviation(values)) {
            table.push([format!("  {name}"), format!("{mean:.3} ± {deviation:.3}")]);
        }
    }
    table.write(out)
}

/// The method, for UDEED its variant.
pub fn short_name(model: &Model) -> String {
    match model.method() {
        Method::Udeed(_) if model.training().warnings.contains(&Warning::NoUnlabeledRows) => "lcd".to_owned(),
        Method::Udeed(settings) => format!("{:?}", settings.variant).to_lowercase(),
        method => method.name().to_owned(),
    }
}

/// More classes than this are not listed for a person.
pub const MOST_CLASSES: usize = 20;

/// What a model was trained on and how the descent went.
pub fn write_training(model: &Model, out: &mut dyn Write) -> std::io::Result<()> {
    let training = model.training();
    let counts = model.classes().iter().zip(&training.class_counts).take(MOST_CLASSES);
    let mut counts: Vec<String> = counts.map(|(class, count)| format!("{}: {count}", printable(class))).collect();
    if let left @ 1.. = model.classes().len().saturating_sub(MOST_CLASSES) {
        counts.push(format!("{left} more classes"));
    }
    let rows = format!(
        "{} ({}), {}, {}",
        counted(training.n_labeled, "labeled row"),
        counts.join(", "),
        counted(training.n_unlabeled, "unlabeled row"),
        counted(training.n_features, "feature")
    );
    write_wrapped(out, "", 0, &rows)?;
    if model.threshold() != 0.0 {
        let second = printable(model.classes().last().map_or("", String::as_str));
        writeln!(out, "rows are {second} above a decision of {:.3}", model.threshold())?;
    }
    if let Some(findings) = &training.findings {
        writeln!(out, "{findings}")?;
    }
    if training.stages.is_empty() {
        return writeln!(out, "{}: {}", short_name(model), counted(model.ensemble().n_members(), "member"));
    }
    let mut table = TextTable::new(["diversity on", "steps", "V", "V_div", "why it ended"]);
    for stage in &training.stages {
        table.push([
            rows_of(stage.stage).to_owned(),
            stage.steps.to_string(),
            format!("{} -> {}", loss(stage.first.total), loss(stage.last.total)),
            format!("{} -> {}", loss(stage.first.diversity), loss(stage.last.diversity)),
            stage.stop.to_string(),
        ]);
    }
    table.write(out)
}

/// The rows on which a stage measures diversity, below the title that says so.
fn rows_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Empirical => "no rows",
        Stage::Labeled => "labeled rows",
        Stage::Unlabeled => "unlabeled rows",
    }
}

/// A loss in five digits, so that a table of them fits a terminal.
fn loss(loss: f64) -> String {
    let before = if loss.abs() < 10.0 { 1 } else { loss.abs().log10() as usize + 1 };
    format!("{loss:.*}", 5_usize.saturating_sub(before))
}

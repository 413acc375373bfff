//! `udeed label`: a page on this machine to label rows on.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use tempfile::NamedTempFile;
use udeed::data::{Column, Kind, TrainSet};
use udeed::file::folder_of;
use udeed::format::Format;
use udeed::labeling::Estimate;
use udeed::text::{counted, quoted};
use udeed_label::{Conflict, Damaged, Desk, Ending, Finished, Hint, Part, Project, Rows, Server};

use crate::hints::worded_label;
use crate::input::{Labeled, Reading, delimiter_word, note_identifiers};
use crate::laboratory::{command, named, option, said, shell_word};
use crate::output::{Hinted, Usage, check_outputs, is_stream, plain, print, write_to, write_wrapped};
use crate::progress::Progress;
use crate::records::{CsvFile, CsvRows, Records, TableRows, text_of, usual_delimiter};
use crate::settings::method_named;
use crate::suggest::Warned;

/// Label rows on a page on this machine, the most useful first
#[derive(Args)]
#[command(after_help = "\
The page is on 127.0.0.1 only, its address holds a random token, and it loads nothing from elsewhere. Every answer is on the \
disk before the next question; the same command goes on after a crash. The file of rows is never changed.

Examples:
  udeed label rows.csv --label species
  udeed label rows.csv --label species --part 1/2
  udeed label rows.csv --label species --merge rows.part-1-of-2.labels.csv rows.part-2-of-2.labels.csv")]
pub struct Label {
    /// Rows, some of them labeled or none: a file
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// File of the answers, to begin or to go on with [default: beside the rows, such as rows.labels.csv]
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// CSV file for all rows with their labels, written at the end [default: beside the rows, such as rows.labeled.csv]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// File for the model, written at the end [default: beside the rows, such as rows.labeled.safetensors]
    #[arg(long, value_name = "MODEL")]
    save: Option<PathBuf>,
    /// Ask only for a part of the rows, so that several people can label: 2/3 is the second of three
    #[arg(long, value_name = "N/OF", value_parser = parse_part)]
    part: Option<Part>,
    /// Merge the answers of several people into those of `--answers`, and open no page
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with_all = ["part", "save", "port", "no_open"])]
    merge: Vec<PathBuf>,
    /// Merge also where labels differ, and leave these rows without a label
    #[arg(long, requires = "merge")]
    #[arg(hide_short_help = true)]
    leave_conflicts: bool,
    /// Leave damaged lines out of the answers
    #[arg(long)]
    #[arg(hide_short_help = true)]
    repair: bool,
    /// Port of the page [default: any that is free]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    #[arg(hide_short_help = true)]
    port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,
    /// Method of the models: one that `udeed methods` lists
    #[arg(long, default_value = "auto")]
    method: String,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    #[arg(hide_short_help = true)]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
}

fn parse_part(text: &str) -> Result<Part, String> {
    let part = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match part {
        Some((number, of)) if 1 <= number && number <= of => Ok(Part { number, of }),
        _ => Err("expected a part and how many there are, such as `2/3`".into()),
    }
}

/// The rows, to learn from and to read.
struct Sheet {
    train: TrainSet,
    rows: Box<dyn Rows>,
    kept: Kept,
}

/// The files that are written.
struct Files {
    answers: PathBuf,
    out: PathBuf,
    save: PathBuf,
}

/// The label of each row that was answered, by its number from 0; none for rows whose class could not be told.
type Answered = HashMap<usize, Option<String>>;

/// Where all rows are written from in the end.
enum Source {
    /// Their file, as they are there.
    File(CsvFile),
    /// Memory: what is no CSV file.
    Memory(TrainSet),
}

/// All rows, to be written with their labels.
struct Kept {
    source: Source,
    /// The name of the column of labels, and which it is, if there is one.
    label: String,
    column: Option<usize>,
}

impl Kept {
    /// Writes all rows with the labels that were given.
    fn write(&self, answered: &Answered, out: &mut dyn Write) -> anyhow::Result<()> {
        match &self.source {
            Source::File(file) => self.copy(file, answered, out),
            Source::Memory(train) => self.write_table(train, answered, out),
        }
    }

    /// Writes the rows of a file, which must be those that were labeled.
    fn copy(&self, file: &CsvFile, answered: &Answered, out: &mut dyn Write) -> anyhow::Result<()> {
        let check = || file.check().map_err(changed);
        check()?;
        let copied = self.copy_rows(file, answered, out);
        check()?;
        copied
    }

    fn copy_rows(&self, file: &CsvFile, answered: &Answered, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut out = csv::WriterBuilder::new().delimiter(file.delimiter).from_writer(out);
        let failed = |error: csv::Error| anyhow::Error::from(plain(error));
        let mut reader = file.open()?;
        let place = |mut cells: Vec<String>, new: Option<String>| {
            match (self.column, new) {
                (Some(column), Some(new)) if column < cells.len() => cells[column] = new,
                (None, new) => cells.push(new.unwrap_or_default()),
                _ => {}
            }
            cells
        };
        if file.has_header {
            let header = text_of(reader.byte_headers().map_err(|error| file.failed(error))?);
            out.write_record(place(header, self.column.is_none().then(|| self.label.clone()))).map_err(failed)?;
        }
        let (mut record, mut row) = (csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).map_err(|error| file.failed(error))? {
            out.write_record(place(text_of(&record), answer(answered, row))).map_err(failed)?;
            row += 1;
        }
        Ok(out.flush()?)
    }

    fn write_table(&self, train: &TrainSet, answered: &Answered, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        let failed = |error: csv::Error| anyhow::Error::from(plain(error));
        let labels = Some((self.label.as_str(), train.labels()));
        out.write_record(&Records::of_table(train.table(), labels, 0, &[]).columns).map_err(failed)?;
        for row in 0..train.table().n_rows() {
            for mut cells in Records::of_table(train.table(), labels, 0, &[row]).rows.into_values() {
                if let (Some(own), Some(new)) = (cells.last_mut(), answer(answered, row)) {
                    *own = new;
                }
                out.write_record(&cells).map_err(failed)?;
            }
        }
        Ok(out.flush()?)
    }
}

/// The error of rows that are others by now than those that were labeled.
fn changed(error: udeed::Error) -> anyhow::Error {
    let hint = format!("the answers are kept: {}", worded_label(Hint::Changed));
    Hinted { message: error.to_string(), hint }.into()
}

/// What a row was answered, empty where its class could not be told.
fn answer(answered: &Answered, row: usize) -> Option<String> {
    answered.get(&row).map(|label| label.clone().unwrap_or_default())
}

impl Label {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        if is_stream(&self.file) {
            return Err(Usage("`-`: rows are read again while they are labeled, expected a file".into()).into());
        }
        let files = self.files();
        let mut inputs = vec![Some(self.file.as_path())];
        inputs.extend(self.merge.iter().map(|path| Some(path.as_path())));
        check_outputs(&[Some(&files.answers), Some(&files.out), Some(&files.save)], &inputs)?;
        let sheet = self.read(progress)?;
        match self.merge.is_empty() {
            true => self.serve(sheet, &files, progress),
            false => self.merge(&sheet, &files),
        }
    }

    /// The files that were named, or are named after the rows.
    fn files(&self) -> Files {
        let name = self.file.file_name().map_or_else(|| "rows".into(), |name| name.to_string_lossy().into_owned());
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        let stem = match self.part {
            Some(Part { number, of }) => format!("{stem}.part-{number}-of-{of}"),
            None => stem,
        };
        let beside = |own: &Option<PathBuf>, ending: &str| {
            own.clone().unwrap_or_else(|| self.file.with_file_name(format!("{stem}.{ending}")))
        };
        Files {
            answers: beside(&self.answers, "labels.csv"),
            out: beside(&self.out, "labeled.csv"),
            save: beside(&self.save, "labeled.safetensors"),
        }
    }

    fn read(&self, progress: &Progress) -> anyhow::Result<Sheet> {
        // Before it is read for the first time: all that is read later must be of this version.
        let csv = CsvFile::of(&self.file, &self.reading);
        let sheet = self.labeled.read_if_present(&self.reading, &self.file, progress)?;
        let label = sheet.label.clone();
        let name = label.clone().or_else(|| self.labeled.label().map(str::to_owned)).unwrap_or_else(|| "label".into());
        if label.is_none() && sheet.labels.n_labeled() == 0 {
            let (path, name) = (self.file.display(), quoted(&name));
            progress.note(format_args!("note: {path}: no column {name}: every row is unlabeled; the column is added"));
        }
        let train = named(sheet.into_train(), &self.file)?;
        note_identifiers(train.table(), train.table().n_rows(), progress);
        let Some(file) = csv else {
            let rows = Box::new(TableRows::new(train.table().clone(), &name));
            let kept = Kept { source: Source::Memory(train.clone()), label: name, column: None };
            return Ok(Sheet { train, rows, kept });
        };
        let rows = CsvRows::index(file.clone())?;
        let (found, expected) = (rows.n_rows(), train.table().n_rows());
        if found != expected {
            let path = self.file.display();
            anyhow::bail!("{path}: found {found} rows, expected {expected}: the file has changed");
        }
        let column = label.and_then(|label| self.column(&label, rows.columns()));
        let kept = Kept { source: Source::File(file), label: name, column };
        Ok(Sheet { train, rows: Box::new(rows), kept })
    }

    /// The place of the column of labels. Without a header it is known by its number only.
    fn column(&self, label: &str, columns: &[String]) -> Option<usize> {
        if !self.reading.no_header {
            return columns.iter().position(|name| name == label);
        }
        let number: i64 = self.labeled.label()?.parse().ok()?;
        let place = if number < 0 { columns.len() as i64 + number } else { number - 1 };
        usize::try_from(place).ok().filter(|place| *place < columns.len())
    }

    fn serve(&self, sheet: Sheet, files: &Files, progress: &Progress) -> anyhow::Result<()> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second time it ends at once: answers are on the disk.
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
        }
        let Sheet { train, rows, kept } = sheet;
        let method = method_named(&self.method)?;
        let shared = udeed::ensemble::Shared { seed: self.seed, ..method.shared() };
        let project = Project {
            label_column: kept.column,
            unlabeled_mark: self.reading.unlabeled_mark.clone(),
            meant: self.labeled.meant().to_vec(),
            folder: Some(folder_of(&self.file).to_path_buf()),
            seed: self.seed,
            part: self.part,
            observer: Box::new(Warned::new(progress)),
            ..Project::new(&self.file.display().to_string(), train, rows, method.with_shared(shared))
        };
        let damaged = if self.repair { Damaged::LeftOut } else { Damaged::Refused };
        let mut desk = Desk::open(project, &files.answers, damaged)?;
        let server = Server::start(&desk, self.port)?;
        print(|out| writeln!(out, "{}", server.address()))?;
        progress.note(format_args!("answers go to {}; Ctrl-C ends", files.answers.display()));
        // Removed when all is finished.
        let _opening = if self.no_open { None } else { open_browser(server.address()) };
        server.wait(&interrupted);
        let finished = desk.finish()?;
        let problem = finished.problem.clone();
        let ending = self.write(&kept, files, finished);
        let words = ending.as_ref().map_or_else(
            |error| Ending { sentences: vec![format!("{error:#}")], commands: vec![command()] },
            Ending::clone,
        );
        server.end(words);
        let ending = ending?;
        print(|out| told(&ending, out))?;
        // The exit code tells it, too.
        problem.map_or(Ok(()), |why| Err(anyhow::anyhow!("the last fit failed: {why}")))
    }

    /// Writes the rows with their labels and the model, and says so.
    fn write(&self, kept: &Kept, files: &Files, finished: Finished) -> anyhow::Result<Ending> {
        let Finished { labels, answered, model, progress, problem, .. } = finished;
        let mut ending = Ending::default();
        let answers = files.answers.display();
        ending.sentences.push(format!("{} in {answers}", counted(progress.answered, "answer")));
        if let Some(estimate) = progress.estimate() {
            ending.sentences.push(estimated(&estimate));
        }
        if progress.answered > 0 {
            let written = write_to(Some(&files.out), |out| kept.write(&answered, out))?;
            let what = format!("{}, {} of them labeled,", counted(labels.len(), "row"), labels.n_labeled());
            ending.sentences.extend(written.sentence(&what));
        }
        match model {
            Some(model) if progress.answered > 0 => {
                model.save(&files.save)?;
                let (known, save) = (counted(model.training().n_labeled, "label"), files.save.display());
                ending.sentences.push(format!("wrote the model of {known} to {save}"));
                if let Some(why) = problem {
                    let all = counted(labels.n_labeled(), "label");
                    ending.sentences.push(format!("it is an older one, as the fit to all {all} failed: {why}"));
                }
                let [model, rows] = [&files.save, &self.file].map(|path| shell_word(&path.display().to_string()));
                let mut words = vec![format!("udeed predict {model} {rows}")];
                words.extend(said::<Reading>(&[]));
                words.push("--out predictions.csv".into());
                ending.commands.push(words.join(" "));
            }
            Some(_) => {}
            None => {
                let why = problem.unwrap_or_else(|| "it needs labels of two classes".into());
                ending.sentences.push(format!("no model: {why}"));
            }
        }
        ending.commands.push(command());
        Ok(ending)
    }

    fn merge(&self, sheet: &Sheet, files: &Files) -> anyhow::Result<()> {
        let (name, n_rows) = (self.file.display().to_string(), sheet.train.table().n_rows());
        let (rows, column) = (sheet.rows.as_ref(), sheet.kept.column);
        let merged =
            udeed_label::merge(&files.answers, &self.merge, &name, rows, column, n_rows, self.leave_conflicts)?;
        let differing = counted(merged.conflicts.len(), "row");
        if !merged.conflicts.is_empty() && !self.leave_conflicts {
            print(|out| merged.conflicts.iter().try_for_each(|conflict| writeln!(out, "{}", worded(conflict))))?;
            let message = format!("{differing} with different labels, expected the same: nothing is merged");
            let hint = "label them again in one of the files, or say `--leave-conflicts`".into();
            return Err(Hinted { message, hint }.into());
        }
        let answered: Answered = merged.answered.into_iter().collect();
        let written = write_to(Some(&files.out), |out| sheet.kept.write(&answered, out))?;
        let (added, answers) = (counted(merged.added, "answer"), files.answers.display());
        let mut sentences = vec![format!("{added} merged into {answers}, which has {}", answered.len())];
        sentences.extend(written.sentence(&counted(n_rows, "row")));
        if !merged.conflicts.is_empty() {
            sentences.push(format!("{differing} with different labels left without one"));
            sentences.extend(merged.conflicts.iter().map(worded));
        }
        let fit = self.fit_command(sheet, &answered, &files.out);
        print(|out| told(&Ending { sentences, commands: vec![fit] }, out))
    }

    /// The command that fits a model to the rows as they were written: they are read as they were here.
    fn fit_command(&self, sheet: &Sheet, answered: &Answered, out: &Path) -> String {
        let name = out.display().to_string();
        let mut words = vec!["udeed fit".to_owned(), shell_word(&name)];
        words.extend(match &sheet.kept.source {
            Source::File(file) => self.file_words(sheet, file, &name),
            Source::Memory(train) => self.table_words(sheet, train),
        });
        if Format::of(&name) != Some(Format::Csv) {
            words.push("--format csv".into());
        }
        let occurs = |class: &&String| {
            sheet.train.labels().classes().contains(class) || answered.values().flatten().any(|label| label == *class)
        };
        let meant: Vec<&str> = self.labeled.meant().iter().filter(occurs).map(String::as_str).collect();
        if !meant.is_empty() {
            words.push(option("class", &meant.join(",")));
        }
        words.push(option("method", &self.method));
        if self.seed > 0 {
            words.push(format!("--seed {}", self.seed));
        }
        words.push("--out model.safetensors".into());
        words.join(" ")
    }

    /// The options to read a copy of a file that has the labels, too.
    fn file_words(&self, sheet: &Sheet, file: &CsvFile, copy: &str) -> Vec<String> {
        let Kept { label, column, .. } = &sheet.kept;
        let names = sheet.rows.columns();
        let number = column.map_or(names.len(), |place| place) + 1;
        let label = if file.has_header { label.clone() } else { number.to_string() };
        let mut words = vec![option("label", &label)];
        if file.delimiter != usual_delimiter(copy) {
            words.push(option("delimiter", &delimiter_word(file.delimiter)));
        }
        // Counted from the end, columns are others where one was added there.
        let counted = |name: &String| match name.parse::<i64>() {
            Ok(number) if number < 0 && column.is_none() && !names.contains(name) => {
                (names.len() as i64 + 1 + number).to_string()
            }
            _ => name.clone(),
        };
        for (long, columns) in [("drop", &self.reading.drop), ("nominal", &self.reading.nominal)] {
            if !columns.is_empty() {
                words.push(option(long, &columns.iter().map(counted).collect::<Vec<_>>().join(",")));
            }
        }
        words.extend(said::<Reading>(&["format", "delimiter", "drop", "nominal"]));
        words
    }

    /// The options to read the table that was written of other formats: columns are as they were left, and unlabeled rows have
    /// no label.
    fn table_words(&self, sheet: &Sheet, train: &TrainSet) -> Vec<String> {
        let mut words = vec![option("label", &sheet.kept.label)];
        let is_name = |column: &Column| match &column.kind {
            // What would be read as numbers.
            Kind::Nominal { levels } => levels.iter().all(|level| level.parse::<f64>().is_ok()),
            Kind::Numeric => false,
        };
        let columns = train.table().columns().iter().enumerate().filter(|(_, column)| is_name(column));
        // A name with a comma would be two.
        let word = |(place, column): (usize, &Column)| match column.name.contains(',') {
            true => (place + 1).to_string(),
            false => column.name.clone(),
        };
        let nominal: Vec<String> = columns.map(word).collect();
        if !nominal.is_empty() {
            words.push(option("nominal", &nominal.join(",")));
        }
        if train.table().matrix().is_sparse() {
            words.push("--layout sparse".into());
        }
        let of_file = ["format", "delimiter", "no_header", "drop", "nominal", "unlabeled_mark", "layout"];
        words.extend(said::<Reading>(&of_file));
        words
    }
}

fn worded(conflict: &Conflict) -> String {
    let labels = conflict.labels.iter().map(|(label, path)| format!("{} in {}", quoted(label), path.display()));
    format!("row {}: {}", conflict.row + 1, labels.collect::<Vec<_>>().join(", "))
}

fn estimated(estimate: &Estimate) -> String {
    let [low, high] = estimate.interval().map(|bound| 100.0 * bound);
    let (share, rows) = (100.0 * estimate.share(), counted(estimate.of, "random row"));
    format!("estimated accuracy {share:.0} %, 95 % interval {low:.0} to {high:.0}, by {rows}")
}

/// Prints the summary and follow-up commands.
fn told(ending: &Ending, out: &mut dyn Write) -> std::io::Result<()> {
    ending.sentences.iter().try_for_each(|sentence| write_wrapped(out, "", 0, sentence))?;
    if !ending.commands.is_empty() {
        writeln!(out, "go on with:")?;
    }
    ending.commands.iter().try_for_each(|command| writeln!(out, "  {command}"))
}

/// Opens a page in the browser of the desktop, if there is one, by a file that leads to it: others see the arguments of
/// programs, and the address holds the token, but only this user may read the file. Where that fails, the address is printed
/// already.
fn open_browser(address: &str) -> Option<NamedTempFile> {
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let program: &[&str] = match std::env::consts::OS {
        "macos" => &["open"],
        "windows" => &["rundll32", "url.dll,FileProtocolHandler"],
        _ if desktop => &["xdg-open"],
        _ => return None,
    };
    let mut page = tempfile::Builder::new().prefix("udeed-label-").suffix(".html").tempfile().ok()?;
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"0; url={address}\">");
    let html = format!("<!doctype html><meta charset=\"utf-8\"><title>udeed label</title>{refresh}");
    writeln!(page, "{html}<a href=\"{address}\">To the page</a>").ok()?;
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(page.path());
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = spawned {
        std::thread::spawn(move || child.wait());
    }
    Some(page)
}

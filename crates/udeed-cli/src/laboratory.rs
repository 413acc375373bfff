//! What the verbs of the laboratory share: running, and every form of its results.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, Args};
use serde_json::json;
use udeed::Place;
use udeed::method::Method;
use udeed_lab::statistics::DecidingTest;
use udeed_lab::{Damaged, Experiment, Journal, Protocol, Results, Set, Source, report, run, tables};

use crate::output::{Usage, Written, check_outputs, is_stream, print, write_json, write_to};
use crate::progress::Progress;

/// The files that results go to, besides the terminal.
#[derive(Args, Clone)]
#[command(next_help_heading = "Results")]
pub struct Outputs {
    /// Write results, tests and settings to a JSON file; `-`, here and below, prints them instead of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write one row for each set, size and method to a CSV file
    #[arg(long, value_name = "FILE")]
    #[arg(hide_short_help = true)]
    csv: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    #[arg(hide_short_help = true)]
    markdown: Option<PathBuf>,
    /// Write the tables as LaTeX, in the paper's form
    #[arg(long, value_name = "FILE")]
    #[arg(hide_short_help = true)]
    latex: Option<PathBuf>,
    /// Write a report with pictures: one page that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Significance test that decides between win, tie and loss [default: corrected; paired, as the paper's, for `reproduce`]
    #[arg(long, value_name = "TEST", value_parser = test_parser())]
    #[arg(hide_short_help = true)]
    verdicts: Option<DecidingTest>,
    /// Keep finished splits in a file, so that a killed run can go on
    #[arg(long, value_name = "FILE")]
    #[arg(hide_short_help = true)]
    journal: Option<PathBuf>,
    /// Leave damaged lines out of the journal and run their splits again
    #[arg(long, requires = "journal")]
    #[arg(hide_short_help = true)]
    journal_repair: bool,
}

impl Outputs {
    /// Checks before long work that everything can be written.
    pub fn check(&self, inputs: &[PathBuf]) -> anyhow::Result<()> {
        if self.journal.as_deref().is_some_and(is_stream) {
            return Err(Usage("`--journal -`: expected a file to go on with".into()).into());
        }
        // The journal is read and written; another file must be neither.
        let outputs = [&self.journal, &self.json, &self.csv, &self.markdown, &self.latex, &self.html];
        let inputs: Vec<Option<&Path>> = inputs.iter().map(|path| Some(path.as_path())).collect();
        check_outputs(&outputs.map(Option::as_deref), &inputs)
    }

    /// Runs the experiment, going on with the journal where there is one. Unless another is asked for, the usual test
    /// decides what is a win.
    pub fn run(
        &self,
        experiment: &Experiment,
        sets: &[Set],
        usual: DecidingTest,
        progress: &Progress,
    ) -> anyhow::Result<Results> {
        experiment.validate()?;
        warn_of_memory(experiment, sets, progress);
        let journal = match &self.journal {
            Some(path) => self.open_journal(path, experiment, sets, progress)?,
            None => Journal::in_memory(),
        };
        let bar = progress.bar("splits", sets.len() * experiment.n_splits() as usize);
        let trials = run(experiment, sets, journal, &|done, total| {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        })?;
        bar.finish_and_clear();
        if let Some(path) = &self.journal {
            Written::to(path).tell(progress);
        }
        let results = Results::new(experiment, sets, &trials, &command(), self.verdicts.unwrap_or(usual))?;
        results.warnings.iter().for_each(|warning| progress.note(format_args!("warning: {warning}")));
        Ok(results)
    }

    fn open_journal(
        &self,
        path: &Path,
        experiment: &Experiment,
        sets: &[Set],
        progress: &Progress,
    ) -> anyhow::Result<Journal> {
        let damaged = if self.journal_repair { Damaged::LeftOut } else { Damaged::Refused };
        let journal = Journal::open(path, experiment, sets, damaged)?;
        if let [first, others @ ..] = journal.left_out() {
            let rest = match others.len() {
                0 => "; its split runs again".to_owned(),
                more => format!(" and {more} more damaged lines; their splits run again"),
            };
            let (path, damage) = (path.display(), journal.damage());
            progress.note(format_args!("note: {path}: left out line {first} ({damage}){rest}"));
        }
        Ok(journal)
    }

    /// Writes every file that was asked for, then the tables to standard output, unless one of the files is that.
    pub fn write(
        &self,
        results: &mut Results,
        sets: &[Set],
        progress: &Progress,
        text: impl FnOnce(&Results, &mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.html.is_some() {
            let prepared =
                |set: &Set| results.experiment.prepare(set).and_then(|set| results.experiment.showcase(&set));
            results.showcases = sets.iter().map(prepared).collect::<udeed_lab::Result<_>>()?;
        }
        let results = &*results;
        if let Some(path) = &self.json {
            write_json(Some(path), &document(results))?.tell(progress);
        }
        for (path, write) in [
            (&self.csv, tables::write_csv as fn(&Results, &mut dyn std::io::Write) -> std::io::Result<()>),
            (&self.markdown, tables::write_markdown),
            (&self.latex, tables::write_latex),
        ] {
            if let Some(path) = path {
                write_to(Some(path), |out| Ok(write(results, out)?))?.tell(progress);
            }
        }
        if let Some(path) = &self.html {
            let page = report::html(results);
            write_to(Some(path), |out| Ok(out.write_all(page.as_bytes())?))?.tell(progress);
        }
        let printed = [&self.json, &self.csv, &self.markdown, &self.latex, &self.html];
        if printed.iter().any(|path| path.as_deref().is_some_and(is_stream)) {
            return Ok(());
        }
        print(|out| text(results, out))
    }
}

fn test_parser() -> impl TypedValueParser<Value = DecidingTest> {
    let named = |name: String| DecidingTest::ALL.into_iter().find(|test| test.name() == name).ok_or("expected a test");
    PossibleValuesParser::new(DecidingTest::ALL.map(DecidingTest::name)).try_map(named)
}

pub fn protocol_parser() -> impl TypedValueParser<Value = &'static Protocol> {
    let value = |protocol: &Protocol| PossibleValue::new(protocol.name).help(protocol.sentence);
    PossibleValuesParser::new(Protocol::all().iter().map(value)).try_map(|name| Protocol::named(&name))
}

/// What each protocol chooses, what the paper prints apart from what is inferred.
pub fn protocol_help() -> String {
    let mut help = String::new();
    for protocol in Protocol::all() {
        help += &format!("Protocol {}: {}\n", protocol.name, protocol.sentence);
        for (source, title) in Source::ALL {
            let choices: Vec<&str> =
                protocol.choices().filter(|choice| choice.source == source).map(|choice| choice.text).collect();
            if !choices.is_empty() {
                help += &format!("  {title}:\n  - {}\n", choices.join("\n  - "));
            }
        }
    }
    help
}

/// Says what the similarities of rows will take, and which method is left out for them, before anything is done.
fn warn_of_memory(experiment: &Experiment, sets: &[Set], progress: &Progress) {
    let pairs = sets.iter().flat_map(|set| experiment.methods.iter().map(move |&entry| (set, entry)));
    for (set, entry) in pairs {
        let Ok(split) = experiment.split(set, 0) else { continue };
        let (labeled, unlabeled) = (split.labeled.len(), split.unlabeled.len());
        let Some(bytes) = experiment.similarity_bytes(entry, labeled, unlabeled) else { continue };
        let (size, method) = (udeed::text::byte_size(bytes), entry.name());
        if experiment.leaves_out(entry, labeled, unlabeled) {
            let hint = "`--neighbors 20` runs it";
            progress.note(format_args!("note: {}: no {method}, its similarities take {size}; {hint}", set.name));
        } else if bytes > Method::MUCH_MEMORY {
            progress.note(format_args!("note: {}: {method}'s similarities take {size} for each split", set.name));
        }
    }
}

/// The results as one JSON document.
fn document(results: &Results) -> serde_json::Value {
    json!({
        "results": results.outcomes,
        "diversity": results.diversity,
        "tests": {
            "verdicts": results.verdicts,
            "comparisons": results.comparisons,
            "rankings": results.rankings,
        },
        "sets": results.sets,
        "settings": results.experiment,
        "warnings": results.warnings,
        "command": results.command,
        "paper": results.paper,
    })
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    match word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,:=+%@".contains(c)) {
        true if !word.is_empty() => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The command line, for the record, without what does not change results.
pub fn command() -> String {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut kept = vec!["udeed".to_owned()];
    while let Some(word) = words.next() {
        match word.as_str() {
            "--threads" => drop(words.next()),
            "--quiet" | "-q" | "--journal-repair" => {}
            _ if word.starts_with("--threads=") => {}
            _ => kept.push(shell_word(&word)),
        }
    }
    kept.join(" ")
}

/// The options of a group as they were said on the command line, but for some.
pub fn said<A: Args>(but: &[&str]) -> Vec<String> {
    let matches = crate::help::command().get_matches();
    let Some((_, own)) = matches.subcommand() else { return Vec::new() };
    let is_said = |id: &str| own.value_source(id) == Some(ValueSource::CommandLine) && !but.contains(&id);
    let word = |said: &Arg| {
        let (id, long) = (said.get_id().as_str(), said.get_long().filter(|_| is_said(said.get_id().as_str()))?);
        let values = own.get_raw(id)?.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
        Some(if said.get_action().takes_values() { option(long, &values) } else { format!("--{long}") })
    };
    A::augment_args(clap::Command::new("group")).get_arguments().filter_map(word).collect()
}

/// An option with its value, as a shell takes it.
pub fn option(long: &str, value: &str) -> String {
    // What begins with a hyphen would be another option.
    let between = if value.starts_with('-') { "=" } else { " " };
    format!("--{long}{between}{}", shell_word(value))
}

/// Names the file of a row that something is wrong with: of each file, how many rows of it lie one below the other.
pub fn placed(error: anyhow::Error, files: &[(&Path, usize)]) -> anyhow::Error {
    if !is_of_rows(&error) {
        return error;
    }
    let mut error = match error.downcast() {
        Ok(error) => error,
        Err(error) => return error,
    };
    if let udeed::Error::Input { place, .. } = &mut error {
        for &(path, n_rows) in files {
            place.source = path.display().to_string();
            match place.row {
                Some(row) if row > n_rows as u64 => place.row = Some(row - n_rows as u64),
                _ => break,
            }
        }
    }
    error.into()
}

/// Whether rows in memory cannot be used as they are, and nothing else went wrong.
pub fn is_of_rows(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(udeed::Error::Input { place, .. }) if place.source == Place::TABLE)
}

/// Adds the name of a set to what went wrong with it.
pub fn named<T>(result: udeed::Result<T>, name: &Path) -> anyhow::Result<T> {
    result.with_context(|| name.display().to_string())
}

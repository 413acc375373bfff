//! `udeed data`: the built-in sets, and files from one format into another.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use udeed::data::{Kind, Rows, stratified_split};
use udeed::format::{BuiltIn, Format, Sheet, Writer};
use udeed::text::{counted, printable};
use udeed_lab::tables::TextTable;

use crate::input::{Labeled, Reading, Sampling, format_parser, parse_delimiter};
use crate::laboratory::named;
use crate::output::{Usage, check_outputs, is_stream, note_written, print, write_to, write_wrapped};
use crate::progress::Progress;
use crate::settings::SharesArgs;

/// List, describe and convert data sets
#[derive(Args)]
#[command(
    after_help = "Example:\n  udeed data write ionosphere --out ionosphere.arff",
    args_conflicts_with_subcommands = true
)]
pub struct Data {
    #[command(subcommand)]
    verb: Option<DataVerb>,
}

#[derive(Subcommand)]
enum DataVerb {
    /// List the built-in sets
    #[command(after_help = "Example:\n  udeed data list")]
    List,
    /// Describe a set: rows, classes, columns
    #[command(after_help = "Example:\n  udeed data describe vote")]
    Describe {
        #[command(flatten)]
        from: From,
        #[command(flatten)]
        reading: Reading,
    },
    /// Write a set into a file of another format
    #[command(after_help = "Example:\n  udeed data write rows.arff --out rows.csv.gz")]
    Write {
        #[command(flatten)]
        from: From,
        /// File for the rows; a name ending in `.gz` is gzipped [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Format to write [default: what the name tells, else CSV]
        #[arg(long, value_parser = format_parser())]
        to: Option<Format>,
        /// Delimiter of a CSV file that is written [default: a comma]
        #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
        to_delimiter: Option<u8>,
        #[command(flatten)]
        reading: Reading,
    },
    /// Split a set at random, stratified by class: a file to train on, with most labels hidden, and one to test on
    #[command(after_help = "Example:\n  udeed data split ionosphere train.csv test.csv --labeled 0.25")]
    Split {
        #[command(flatten)]
        from: From,
        /// File for the training rows; its format follows from the name
        #[arg(value_name = "TRAIN")]
        train_file: PathBuf,
        /// File for the test rows
        #[arg(value_name = "TEST")]
        test_file: PathBuf,
        #[command(flatten)]
        shares: SharesArgs,
        #[command(flatten)]
        sampling: Sampling,
    },
}

/// Where the rows come from.
#[derive(Args)]
struct From {
    /// A built-in set, a file, or `-` for standard input
    set: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
}

impl From {
    fn read(&self, reading: &Reading, progress: &Progress) -> anyhow::Result<Sheet> {
        let sheet = self.labeled.read(reading, &self.set, progress)?;
        self.labeled.check_occur([&sheet.labels])?;
        Ok(sheet)
    }
}

impl Data {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        match &self.verb {
            None | Some(DataVerb::List) => list(),
            Some(DataVerb::Describe { from, reading }) => {
                check_outputs(&[], &[Some(&from.set)])?;
                let sheet = from.read(reading, progress)?;
                print(|out| describe(&from.set, &sheet, out))
            }
            Some(DataVerb::Write { from, out, to, to_delimiter, reading }) => {
                check_outputs(&[out.as_deref()], &[Some(&from.set)])?;
                let sheet = from.read(reading, progress)?;
                write(&sheet, out.as_deref(), *to, *to_delimiter, progress)?;
                note_written(out.as_deref(), &counted(sheet.table.n_rows(), "row"), progress);
                Ok(())
            }
            Some(DataVerb::Split { from, train_file, test_file, shares, sampling }) => {
                let outputs = [train_file, test_file].map(|path| Some(path.as_path()));
                if outputs.iter().flatten().any(|path| is_stream(path)) {
                    return Err(Usage("`-`: two files are written, expected two names".into()).into());
                }
                check_outputs(&outputs, &[Some(&from.set)])?;
                let sheet = from.read(&sampling.reading, progress)?;
                named(sheet.clone().into_train().and_then(|data| data.classes()), &from.set)?;
                let split = named(stratified_split(&sheet.labels, shares.into(), sampling.seed, 0), &from.set)?;
                let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
                let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
                let mut training = sheet.select(&rows);
                training.labels = training.labels.without(&hidden);
                // Both are made before one is written: a format may not be able to hold the rows.
                let parts = [(train_file, training), (test_file, sheet.select(&split.test))];
                for (path, part) in &parts {
                    writer(Some(path), None, None).write(part, &mut std::io::sink())?;
                }
                for (path, part) in &parts {
                    write(part, Some(path), None, None, progress)?;
                }
                progress.note(format_args!(
                    "{} labeled and {} unlabeled rows to train on, {} to test on",
                    split.labeled.len(),
                    split.unlabeled.len(),
                    split.test.len()
                ));
                Ok(())
            }
        }
    }
}

fn list() -> anyhow::Result<()> {
    let mut table = TextTable::new(["set", "rows", "features", "classes"]);
    for set in BuiltIn::ALL {
        let sheet = set.read()?;
        let classes: Vec<String> = class_counts(&sheet);
        table.push([
            set.name.to_owned(),
            sheet.table.n_rows().to_string(),
            sheet.table.columns().len().to_string(),
            classes.join(", "),
        ]);
    }
    print(|out| table.write(out))
}

fn class_counts(sheet: &Sheet) -> Vec<String> {
    let counts = sheet.labels.counts();
    sheet.labels.classes().iter().zip(counts).map(|(class, count)| format!("{}: {count}", printable(class))).collect()
}

fn describe(name: &Path, sheet: &Sheet, out: &mut dyn Write) -> std::io::Result<()> {
    let table = &sheet.table;
    if let Some(set) = BuiltIn::ALL.iter().find(|set| Path::new(set.name) == name) {
        write_wrapped(out, "", 0, &format!("{}: {}", set.name, set.about))?;
        write_wrapped(out, "source: ", 0, set.attribution)?;
    }
    let layout = if table.matrix().is_sparse() { "sparse" } else { "dense" };
    let (rows, columns) = (counted(table.n_rows(), "row"), counted(table.columns().len(), "column"));
    writeln!(out, "{rows}, {columns}, {layout}")?;
    let unlabeled = sheet.labels.len() - sheet.labels.n_labeled();
    match class_counts(sheet).as_slice() {
        [] => writeln!(out, "no labels; `--label` names their column")?,
        counts => writeln!(out, "labels: {}; unlabeled: {unlabeled}", counts.join(", "))?,
    }
    let rows = table.matrix().rows();
    let figures: Vec<Figures> = Figures::of(rows, table.columns().len());
    let mut text = TextTable::new(["column", "missing", "least", "mean", "largest"]);
    for (column, figures) in table.columns().iter().zip(&figures) {
        let missing = figures.missing.to_string();
        match &column.kind {
            Kind::Nominal { levels } => text.push([column.name.clone(), missing, counted(levels.len(), "value")]),
            Kind::Numeric if figures.present == 0 => text.push([column.name.clone(), missing]),
            Kind::Numeric => {
                let shown = [figures.least, figures.mean(), figures.largest].map(short);
                text.push([column.name.clone(), missing].into_iter().chain(shown));
            }
        }
    }
    text.write(out)
}

/// What `describe` says of a column.
#[derive(Clone)]
struct Figures {
    present: usize,
    missing: usize,
    sum: f64,
    least: f64,
    largest: f64,
}

impl Figures {
    fn of(rows: &dyn Rows, n_columns: usize) -> Vec<Figures> {
        let empty = Figures { present: 0, missing: 0, sum: 0.0, least: f64::INFINITY, largest: f64::NEG_INFINITY };
        let mut all = vec![empty; n_columns];
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, x| all[j].add(x));
        }
        for figures in &mut all {
            // What sparse rows do not store is zero.
            for _ in figures.present + figures.missing..rows.n_rows() {
                figures.add(0.0);
            }
        }
        all
    }

    fn add(&mut self, x: f64) {
        if x.is_nan() {
            self.missing += 1;
            return;
        }
        self.present += 1;
        self.sum += SMALL * x;
        self.least = self.least.min(x);
        self.largest = self.largest.max(x);
    }

    /// The sum is one of numbers made small, so that the largest have a mean, too.
    fn mean(&self) -> f64 {
        self.sum / self.present as f64 / SMALL
    }
}

/// A power of two by which numbers are made small before they are added.
const SMALL: f64 = 1.0 / (1u64 << 60) as f64;

/// A number for people: large ones with a power of ten.
fn short(x: f64) -> String {
    if x.abs() < 1e12 { format!("{x:.4}") } else { format!("{x:.4e}") }
}

/// A writer of what was asked for, or of what the name tells.
fn writer(path: Option<&Path>, to: Option<Format>, delimiter: Option<u8>) -> Writer {
    let name = path.map(|path| path.display().to_string()).unwrap_or_default();
    let format = to.or_else(|| Format::of(&name)).unwrap_or(Format::Csv);
    let writer = Writer::new(format).named(&name);
    match delimiter {
        Some(delimiter) => writer.delimiter(delimiter),
        None => writer,
    }
}

fn write(
    sheet: &Sheet,
    path: Option<&Path>,
    to: Option<Format>,
    delimiter: Option<u8>,
    progress: &Progress,
) -> anyhow::Result<()> {
    let writer = writer(path, to, delimiter);
    write_to(path, |out| Ok(writer.write(sheet, out)?))?;
    let numbers = writer.class_labels(&sheet.labels);
    if numbers != sheet.labels.classes() {
        let classes: Vec<String> = numbers
            .iter()
            .zip(sheet.labels.classes())
            .map(|(number, class)| format!("{number} is {}", printable(class)))
            .collect();
        let (title, classes) = (writer.format().title(), classes.join(", "));
        progress.note(format_args!("note: {title} labels are numbers: {classes}"));
    }
    Ok(())
}

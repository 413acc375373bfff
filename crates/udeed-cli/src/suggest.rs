//! `udeed suggest`: which rows to label next.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use udeed::data::{Column, Naming, TrainSet};
use udeed::format::Reader;
use udeed::labeling::{Strategy, Suggestion, Suggestions};
use udeed::memory::Room;
use udeed::model::Model;
use udeed::observer::{Observer, Warning};
use udeed::text::{counted, printable};
use udeed_lab::tables::TextTable;

use crate::input::{
    Labeled, Reading, Versions, for_each_table, hold_file, is_read_once, note_identifiers, unlabeled_reader,
};
use crate::laboratory::{named, placed};
use crate::output::{
    Usage, Written, check_outputs, is_stream, plain, print, temporary_folder, write_to, write_wrapped,
};
use crate::progress::Progress;
use crate::records::Records;
use crate::settings::method_named;

/// Suggest which rows to label next
#[derive(Args)]
#[command(after_help = "\
Labels chosen so are no random sample: measure accuracy and class shares on rows drawn at random.

Example:
  udeed suggest rows.csv --label species --count 10 --out ask.csv")]
pub struct Suggest {
    /// Rows, some of them labeled or none: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// More rows, all taken as unlabeled
    #[arg(long, value_name = "FILE")]
    unlabeled: Option<PathBuf>,
    /// Number of rows to suggest
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: usize,
    /// Query strategy
    #[arg(long, value_parser = strategy_parser(), default_value_t = Strategy::default())]
    strategy: Strategy,
    /// Model of the rows, as `fit` wrote it [default: one is fitted]
    #[arg(long, value_name = "MODEL", conflicts_with = "method")]
    model: Option<PathBuf>,
    /// Method of the model that is fitted: one that `udeed methods` lists
    #[arg(long, default_value = "auto")]
    method: String,
    /// Largest number of suggestions that are predicted to be of the same class
    #[arg(long, value_name = "N")]
    per_class: Option<usize>,
    /// Column with the cost of each label, by which scores are divided; it is no feature
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    cost: Option<String>,
    /// CSV file for the suggested rows, whole and with their numbers, ready to be labeled; `-` prints them instead of the table
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
}

/// Parses the name of a strategy; help lists the names with their meaning.
fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    let value = |strategy: Strategy| PossibleValue::new(strategy.name()).help(strategy.about());
    PossibleValuesParser::new(Strategy::all().map(value))
        .try_map(|name| Strategy::named(&name).ok_or("expected a strategy"))
}

/// Memory for more rows than those of the first file: they are read twice, and so need not stay in memory.
const MOST_IN_MEMORY: u64 = 32 << 20;

/// The rows, and how many of them are those of the first file.
struct Pool {
    train: TrainSet,
    own_rows: usize,
}

impl Suggest {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        self.check()?;
        let model = self.model.as_ref().map(Model::load).transpose()?;
        let versions = Versions::of(std::iter::once(&self.file).chain(&self.unlabeled).map(PathBuf::as_path));
        let pool = self.read(model.as_ref(), progress)?;
        let files = self.files(pool.own_rows);
        let found = self.suggest(&pool, model.as_ref(), progress).map_err(|error| placed(error, &files))?;
        if let Some(out) = &self.out {
            let written = self.write_rows(out, &pool, &found.suggestions, &versions)?;
            written.tell_of(&counted(found.suggestions.len(), "row"), progress);
            if is_stream(out) {
                return Ok(());
            }
        }
        print(|out| self.summarise(&pool, &found, out))
    }

    fn check(&self) -> anyhow::Result<()> {
        if is_stream(&self.file) && self.unlabeled.as_deref().is_some_and(is_stream) {
            return Err(Usage("standard input cannot be both the rows and the unlabeled ones".into()).into());
        }
        let once = is_read_once(&self.file) || self.unlabeled.as_deref().is_some_and(is_read_once);
        if self.cost.is_some() && (once || self.reading.no_header) {
            let expected = "expected files that can be read twice, with a header, in which the column has a name";
            return Err(Usage(format!("`--cost`: {expected}")).into());
        }
        let inputs = [Some(self.file.as_path()), self.unlabeled.as_deref(), self.model.as_deref()];
        check_outputs(&[self.out.as_deref()], &inputs)
    }

    /// The files and how many rows they have.
    fn files(&self, own_rows: usize) -> [(&Path, usize); 2] {
        [(&self.file, own_rows), (self.unlabeled.as_deref().unwrap_or(&self.file), usize::MAX)]
    }

    fn read(&self, model: Option<&Model>, progress: &Progress) -> anyhow::Result<Pool> {
        let mut reading = self.reading.clone();
        // The model's reader reads no other columns.
        if model.is_none() {
            reading.drop.extend(self.cost.clone());
        }
        let reader = model.map_or_else(Reader::new, Model::reader);
        let sheet = self.labeled.read_by(reader, &reading, &self.file, progress)?;
        self.labeled.check_occur([&sheet.labels])?;
        if sheet.label.is_none() && sheet.labels.n_labeled() == 0 {
            progress.note("note: no column of labels: every row is taken as unlabeled, every column as a feature");
        }
        let mut train = named(sheet.into_train(), &self.file)?;
        let own_rows = train.table().n_rows();
        if let Some(path) = &self.unlabeled {
            let folder = temporary_folder(self.out.as_deref());
            let room = Room { most: self.reading.memory.most().min(MOST_IN_MEMORY), folder: Some(&folder) };
            let more = hold_file(&unlabeled_reader(&reading, &train, path), path, room, progress)?;
            if more.n_labeled > 0 {
                progress.note(format_args!("note: the labels in {} are not used", path.display()));
            }
            named(train.add_held(more.table, room), path)?;
        }
        Ok(Pool { train, own_rows })
    }

    fn suggest(&self, pool: &Pool, model: Option<&Model>, progress: &Progress) -> anyhow::Result<Suggestions> {
        let mut suggest = udeed::labeling::Suggest::new()
            .count(self.count)
            .strategy(self.strategy)
            .per_class(self.per_class)
            .costs(self.costs(progress)?)
            .seed(self.seed);
        if self.method != "auto" {
            let method = method_named(&self.method)?;
            let shared = udeed::ensemble::Shared { seed: self.seed, ..method.shared() };
            suggest = suggest.method(method.with_shared(shared));
        }
        let found = named(suggest.suggest_observed(&pool.train, model, &mut Warned::new(progress)), &self.file)?;
        note_identifiers(pool.train.table(), progress);
        Ok(found)
    }

    /// The column of costs, of all files.
    fn costs(&self, progress: &Progress) -> anyhow::Result<Option<Vec<f64>>> {
        let Some(column) = &self.cost else { return Ok(None) };
        let folder = temporary_folder(self.out.as_deref());
        let room = Room { most: self.reading.memory.most(), folder: Some(&folder) };
        let mut costs = Vec::new();
        for (path, reading) in self.all_files() {
            let reading = Reading { drop: Vec::new(), nominal: Vec::new(), ..reading };
            let reader = reading.reader(Reader::new().expect(&[Column::numeric(column)], Naming::Given));
            let above = costs.len();
            for_each_table(&reader, path, room, progress, &mut |table| {
                costs.extend_from_slice(table.matrix().to_dense()?.values());
                Ok(())
            })?;
            if let Some(row) = costs[above..].iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
                let (path, name, found) = (path.display(), udeed::text::quoted(column), costs[above + row]);
                let found = if found.is_nan() { "nothing".to_owned() } else { found.to_string() };
                let expected = "expected a positive number, the cost of a label";
                anyhow::bail!("{path}, row {}, column {name}: found {found}, {expected}", row + 1);
            }
        }
        Ok(Some(costs))
    }

    /// The files, and how each is read.
    fn all_files(&self) -> impl Iterator<Item = (&Path, Reading)> {
        let more = self.unlabeled.iter().map(|path| (path.as_path(), self.reading.of_more(path)));
        std::iter::once((self.file.as_path(), self.reading.clone())).chain(more)
    }

    /// Writes the rows with all columns of their files.
    fn write_rows<'a>(
        &self,
        out: &'a Path,
        pool: &Pool,
        suggestions: &[Suggestion],
        versions: &Versions<'_>,
    ) -> anyhow::Result<Written<'a>> {
        let all: Vec<usize> = suggestions.iter().map(|suggestion| suggestion.row).collect();
        let (own, more): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&row| row < pool.own_rows);
        let more: Vec<usize> = more.iter().map(|row| row - pool.own_rows).collect();
        let own = self.own_records(pool, &own)?;
        let more = match &self.unlabeled {
            Some(path) => Some((path, self.more_records(pool, path, &more)?)),
            None => None,
        };
        versions.check()?;
        let mut columns = own.columns.clone();
        let others = more.iter().flat_map(|(_, records)| &records.columns);
        columns.extend(others.filter(|name| !own.columns.contains(name)).cloned());
        write_to(Some(out), |to| {
            let mut to = csv::Writer::from_writer(to);
            let failed = |error: csv::Error| anyhow::Error::from(plain(error));
            let files = more.iter().map(|_| free_name("file", &columns));
            let header = files.chain([free_name("row", &columns)]).chain(columns.clone());
            to.write_record(header).map_err(failed)?;
            for row in all {
                let (path, records, row) = match &more {
                    Some((path, records)) if row >= pool.own_rows => (*path, records, row - pool.own_rows),
                    _ => (&self.file, &own, row),
                };
                if more.is_some() {
                    to.write_field(path.display().to_string()).map_err(failed)?;
                }
                to.write_field((row + 1).to_string()).map_err(failed)?;
                columns.iter().try_for_each(|column| to.write_field(records.cell(row, column))).map_err(failed)?;
                to.write_record(None::<&[u8]>).map_err(failed)?;
            }
            Ok(to.flush()?)
        })
    }

    fn own_records(&self, pool: &Pool, rows: &[usize]) -> anyhow::Result<Records> {
        if let Some(records) = Records::of_csv(&self.file, &self.reading, rows)? {
            return Ok(records);
        }
        let label = pool.train.label_name().map(|name| (name, pool.train.labels()));
        Ok(Records::of_table(pool.train.table(), label, 0, rows))
    }

    fn more_records(&self, pool: &Pool, path: &Path, rows: &[usize]) -> anyhow::Result<Records> {
        if let Some(records) = Records::of_csv(path, &self.reading.of_more(path), rows)? {
            return Ok(records);
        }
        let Some(file) = pool.train.on_disk() else {
            let all: Vec<usize> = rows.iter().map(|row| row + pool.own_rows).collect();
            let found = Records::of_table(pool.train.table(), None, 0, &all);
            let rows = found.rows.into_iter().map(|(row, cells)| (row - pool.own_rows, cells)).collect();
            return Ok(Records { rows, ..found });
        };
        let columns = file.columns().iter().map(|column| column.name.clone()).collect();
        let mut all = Records { columns, rows: Default::default() };
        let mut first = 0;
        file.for_each_piece(|piece| {
            all.rows.extend(Records::of_table(piece, None, first, rows).rows);
            first += piece.n_rows();
            Ok(())
        })?;
        Ok(all)
    }

    fn summarise(&self, pool: &Pool, found: &Suggestions, out: &mut dyn Write) -> std::io::Result<()> {
        let train = &pool.train;
        let (labeled, unlabeled) = (train.n_labeled(), train.n_unlabeled());
        let sample = match found.n_candidates < unlabeled {
            true => format!(", of which {} were drawn at random as candidates", found.n_candidates),
            false => String::new(),
        };
        let by = match found.cold && self.strategy != Strategy::Random {
            true => "no model: the labels are too few".to_owned(),
            false => format!("strategy {}", self.strategy),
        };
        let rows = counted(unlabeled, "unlabeled row");
        write_wrapped(out, "", 0, &format!("{}, {rows}{sample}; {by}", counted(labeled, "labeled row")))?;
        let with_files = self.unlabeled.is_some();
        let mut header = vec!["row", "score", "undecided", "unlike labeled", "share of unknown", "predicted"];
        if with_files {
            header.push("file");
        }
        let mut table = TextTable::new(header);
        for suggestion in &found.suggestions {
            let is_own = suggestion.row < pool.own_rows;
            let row = if is_own { suggestion.row } else { suggestion.row - pool.own_rows };
            let class = suggestion.class.as_deref().map_or("-".into(), |class| shortened(class, 12));
            let mut cells = vec![
                (row + 1).to_string(),
                format!("{:.3}", suggestion.score),
                format!("{:.2}", suggestion.undecided),
                format!("{:.2}", suggestion.unlike),
                format!("{:.1} %", 100.0 * suggestion.share),
                class,
            ];
            if with_files {
                let path = if is_own { &self.file } else { self.unlabeled.as_ref().unwrap_or(&self.file) };
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                cells.push(shortened(&name, 14));
            }
            table.push(cells);
        }
        table.write(out)
    }
}

/// A name that no column has.
fn free_name(name: &str, columns: &[String]) -> String {
    let mut name = name.to_owned();
    while columns.contains(&name) {
        name.push('_');
    }
    name
}

/// A text that does not widen a table.
pub fn shortened(text: &str, most: usize) -> String {
    let text = printable(text);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

/// Passes warnings on, each once: several models may be fitted to the same rows.
pub struct Warned<'a> {
    progress: &'a Progress,
    told: Vec<Warning>,
}

impl<'a> Warned<'a> {
    pub fn new(progress: &'a Progress) -> Self {
        Warned { progress, told: Vec::new() }
    }
}

impl Observer for Warned<'_> {
    fn warn(&mut self, warning: &Warning) {
        if !self.told.contains(warning) {
            self.progress.note(format_args!("warning: {warning}"));
            self.told.push(warning.clone());
        }
    }
}

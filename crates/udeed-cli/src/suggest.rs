//! `udeed suggest`: which rows to label next.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::RangedU64ValueParser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use udeed::Hint;
use udeed::data::{Column, DiskTable, HeldTable, Naming, TrainSet};
use udeed::format::{PartedSheet, Reader, RecordColumn};
use udeed::labeling::{self, Strategy, Suggestion, Suggestions};
use udeed::memory::{Room, check_memory};
use udeed::model::Model;
use udeed::observer::{Observer, Warning};
use udeed::text::{counted, printable, quoted};
use udeed_lab::tables::TextTable;

use crate::input::{
    Labeled, Reading, Sampling, Versions, for_each_table, hold_file, is_read_once, is_same_file, note_identifiers,
    note_unused_labels, unlabeled_reader,
};
use crate::laboratory::{is_of_rows, named, placed};
use crate::output::{
    RecordFile, Usage, Written, check_outputs, is_stream, kind_of, print, temporary_folder, write_to, write_wrapped,
};
use crate::progress::Progress;
use crate::records::{CsvFile, Records};
use crate::settings::seeded_method;

/// Suggest which rows to label next
#[derive(Args)]
#[command(after_help = "\
Labels chosen this way are not a random sample: measure accuracy and class shares on rows drawn at random.

Example:
  udeed suggest rows.csv --label species --count 10 --out ask.csv")]
pub struct Suggest {
    /// Rows, of which some or none are labeled: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// More rows, all taken as unlabeled
    #[arg(long, value_name = "FILE")]
    unlabeled: Option<PathBuf>,
    /// Number of rows to suggest
    #[arg(long, value_name = "N", default_value_t = labeling::Suggest::new().count)]
    count: usize,
    /// Query strategy
    #[arg(long, value_parser = strategy_parser(), default_value_t = labeling::Suggest::new().strategy)]
    strategy: Strategy,
    /// Model of the rows, as `fit` wrote it [default: one is fitted]
    #[arg(long, value_name = "MODEL", conflicts_with = "method")]
    model: Option<PathBuf>,
    /// Method of the model that is fitted: one that `udeed methods` lists
    #[arg(long, default_value = "auto")]
    method: String,
    /// Largest number of suggestions that are predicted to be of the same class
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    per_class: Option<usize>,
    /// Column with the cost of each label; scores are divided by it. It is not used as a feature
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    #[arg(hide_short_help = true)]
    cost: Option<String>,
    /// Column with the weight of each row: how much it matters to know its class. It is not used as a feature
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    #[arg(hide_short_help = true)]
    weight: Option<String>,
    /// CSV or Parquet file for the suggested rows with their numbers, ready to be labeled (whole, where they are CSV); `-` prints
    /// them instead of the table
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sampling: Sampling,
}

/// Parses the name of a strategy; help lists the names with their meaning.
fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    let value = |strategy: Strategy| PossibleValue::new(strategy.name()).help(strategy.about());
    PossibleValuesParser::new(Strategy::all().map(value))
        .try_map(|name| Strategy::named(&name).ok_or("expected a strategy"))
}

/// Memory for rows: more unlabeled ones than fit are read again from a file, and so need not stay in memory.
const MOST_IN_MEMORY: u64 = 32 << 20;

/// The rows of the files: those in memory, and after them those on disk.
struct Pool {
    train: TrainSet,
    /// Number of rows in memory that are of the first file.
    own_rows: usize,
    /// Where these stand in the file, if they are the labeled ones alone. The unlabeled ones are then those on disk.
    labeled: Option<Vec<usize>>,
}

/// The place of a row: whether it is of the first file, and its number in its file, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileRow {
    is_own: bool,
    row: usize,
}

impl Pool {
    fn place(&self, row: usize) -> FileRow {
        match &self.labeled {
            Some(labeled) if row < self.own_rows => FileRow { is_own: true, row: labeled[row] },
            Some(labeled) => FileRow { is_own: true, row: unlabeled_row(labeled, row - self.own_rows) },
            _ if row < self.own_rows => FileRow { is_own: true, row },
            _ => FileRow { is_own: false, row: row - self.own_rows },
        }
    }

    /// Names the file of a row that something is wrong with.
    fn placed(&self, error: anyhow::Error, own: &Path, more: Option<&Path>) -> anyhow::Error {
        let Some(udeed::Error::Input { place, .. }) = error.downcast_ref().filter(|_| is_of_rows(&error)) else {
            return error;
        };
        let Some(row) = place.row.and_then(|row| usize::try_from(row).ok()?.checked_sub(1)) else {
            return placed(error, &[(own, usize::MAX)]);
        };
        let at = self.place(row);
        let path = if at.is_own { own } else { more.unwrap_or(own) };
        let mut error = placed(error, &[(path, usize::MAX)]);
        if let Some(udeed::Error::Input { place, .. }) = error.downcast_mut::<udeed::Error>() {
            place.row = Some(at.row as u64 + 1);
        }
        error
    }
}

/// File row of an unlabeled row, given the labeled ones, ascending.
fn unlabeled_row(labeled: &[usize], unlabeled: usize) -> usize {
    // Before the labeled row `i` stand `labeled[i] - i` unlabeled ones.
    let mut above = 0..labeled.len();
    while !above.is_empty() {
        let middle = above.start + above.len() / 2;
        if labeled[middle] - middle <= unlabeled { above.start = middle + 1 } else { above.end = middle }
    }
    unlabeled + above.start
}

impl Suggest {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        self.check()?;
        let memory = &self.sampling.reading.memory;
        let model = self.model.as_ref().map(|path| memory.load(path)).transpose()?;
        let versions = Versions::of(std::iter::once(&self.file).chain(&self.unlabeled).map(PathBuf::as_path));
        let pool = self.read(model.as_ref(), progress)?;
        let found = self.suggest(&pool, model.as_ref(), progress);
        let found = found.map_err(|error| pool.placed(error, &self.file, self.unlabeled.as_deref()))?;
        // Costs and weights were read after the rows.
        versions.check()?;
        if let Some(out) = &self.out {
            let written = self.write_rows(out, &pool, &found.suggestions, &versions)?;
            written.tell_of(&counted(found.suggestions.len(), "row"), progress);
            self.note_left_out(progress);
            if is_stream(out) {
                return Ok(());
            }
        }
        print(|out| self.summarise(&pool, &found, out))
    }

    /// Says of which files the written rows are not whole: those that are not CSV are not read a second time.
    fn note_left_out(&self, progress: &Progress) {
        for (path, reading) in self.all_files() {
            if !reading.drop.is_empty() && CsvFile::of(path, &reading).is_none() {
                let path = path.display();
                progress.note(format_args!(
                    "note: the rows of {path} are written without the columns of `--drop`, as it is not CSV"
                ));
            }
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        if is_stream(&self.file) && self.unlabeled.as_deref().is_some_and(is_stream) {
            return Err(Usage("standard input cannot be both the rows and the unlabeled ones".into()).into());
        }
        let once = is_read_once(&self.file) || self.unlabeled.as_deref().is_some_and(is_read_once);
        let of_columns = [("--cost", &self.cost), ("--weight", &self.weight)];
        if let Some((option, _)) = of_columns.iter().find(|(_, column)| column.is_some())
            && (once || self.sampling.reading.no_header)
        {
            let expected = "expected files that can be read twice, with a header, in which the column has a name";
            return Err(Usage(format!("`{option}`: {expected}")).into());
        }
        self.check_columns(self.labeled.label())?;
        if let Some(more) = self.unlabeled.as_deref().filter(|more| is_same_file(more, &self.file)) {
            let found = format!("`--unlabeled {}`: its rows are suggested from as they are", more.display());
            return Err(Usage(format!("{found}, expected another file")).into());
        }
        let inputs = [Some(self.file.as_path()), self.unlabeled.as_deref(), self.model.as_deref()];
        check_outputs(&[self.out.as_deref()], &inputs)
    }

    /// Refuses the labels as costs or weights.
    fn check_columns(&self, label: Option<&str>) -> anyhow::Result<()> {
        let Some(label) = label else { return Ok(()) };
        for (option, column) in [("--cost", &self.cost), ("--weight", &self.weight)] {
            if column.as_deref() == Some(label) {
                let name = quoted(label);
                return Err(
                    Usage(format!("`{option}` names {name}, the column of the labels, expected another one")).into()
                );
            }
        }
        Ok(())
    }

    fn read(&self, model: Option<&Model>, progress: &Progress) -> anyhow::Result<Pool> {
        let mut reading = self.sampling.reading.clone();
        // The model's reader reads no other columns.
        if model.is_none() {
            reading.drop.extend(self.cost.iter().chain(&self.weight).cloned());
        }
        let reader = model.map_or_else(Reader::new, Model::reader);
        let folder = temporary_folder(self.out.as_deref());
        let room = Room { most: self.sampling.reading.memory.most().min(MOST_IN_MEMORY), folder: Some(&folder) };
        // One file of rows lies outside of memory at most: the second one, where there is one.
        let own_room = if self.unlabeled.is_some() { Room { most: u64::MAX, folder: None } } else { room };
        let PartedSheet { sheet, unlabeled, positions } =
            self.labeled.part_by(reader, &reading, &self.file, own_room, progress)?;
        self.check_columns(sheet.label.as_deref())?;
        self.labeled.check_occur([&sheet.labels])?;
        if sheet.label.is_none() && sheet.labels.n_labeled() == 0 {
            progress.note("note: no column of labels: every row is taken as unlabeled, every column as a feature");
        }
        let mut train = named(sheet.into_train(), &self.file)?;
        let own_rows = train.table().n_rows();
        if let Some(path) = &self.unlabeled {
            let more = hold_file(&unlabeled_reader(&reading, &train, path), path, room, progress)?;
            note_unused_labels(&more, path, false, progress);
            named(train.add_held(&more.table, room), path)?;
        }
        let labeled = unlabeled.as_ref().map(|_| positions);
        if let Some(rows) = unlabeled {
            named(train.add_held(&HeldTable::InFile(rows), room), &self.file)?;
        }
        Ok(Pool { train, own_rows, labeled })
    }

    fn suggest(&self, pool: &Pool, model: Option<&Model>, progress: &Progress) -> anyhow::Result<Suggestions> {
        let mut suggest = labeling::Suggest::new()
            .count(self.count)
            .strategy(self.strategy)
            .per_class(self.per_class)
            .costs(self.numbers(self.cost.as_ref(), pool, progress)?)
            .weights(self.numbers(self.weight.as_ref(), pool, progress)?)
            .seed(self.sampling.seed);
        if let Some(method) = seeded_method(&self.method, self.sampling.seed)? {
            suggest = suggest.method(method);
        }
        let found = named(suggest.suggest_observed(&pool.train, model, &mut Warned::new(progress)), &self.file)?;
        note_identifiers(pool.train.table(), pool.train.n_labeled() + pool.train.n_unlabeled(), progress);
        Ok(found)
    }

    /// A column of numbers, of all files: costs, or weights, which may be 0.
    fn numbers(&self, column: Option<&String>, pool: &Pool, progress: &Progress) -> anyhow::Result<Option<Vec<f64>>> {
        let Some(column) = column else { return Ok(None) };
        let is_cost = self.cost.as_ref() == Some(column);
        let rows = pool.train.table().n_rows() + pool.train.on_disk().map_or(0, DiskTable::n_rows);
        // Each number is kept by its place in the files, then by that of its row, beside those of the other column.
        let both = self.cost.is_some() && self.weight.is_some();
        let bytes = 8 * rows as u64 * if both { 3 } else { 2 };
        let memory = self.sampling.reading.memory.most();
        check_memory(bytes, memory, Hint::RowsOfFile, || format!("the numbers of column {}", quoted(column)))?;
        let may_be = |number: f64| number.is_finite() && if is_cost { number > 0.0 } else { number >= 0.0 };
        let folder = temporary_folder(self.out.as_deref());
        let room = Room { most: memory, folder: Some(&folder) };
        let (mut numbers, mut of_own) = (Vec::new(), 0);
        for (path, reading) in self.all_files() {
            let reading = Reading { drop: Vec::new(), nominal: Vec::new(), ..reading };
            let reader = reading.reader(Reader::new().expect(&[Column::numeric(column)], Naming::Given));
            let above = numbers.len();
            for_each_table(&reader, path, room, progress, &mut |table| {
                numbers.extend_from_slice(table.matrix().to_dense()?.values());
                Ok(())
            })?;
            if let Some(row) = numbers[above..].iter().position(|&number| !may_be(number)) {
                let (path, name, found) = (path.display(), udeed::text::quoted(column), numbers[above + row]);
                let found = if found.is_nan() { "nothing".to_owned() } else { found.to_string() };
                let expected = match is_cost {
                    true => "a positive number, the cost of a label",
                    false => "0 or a positive number, the weight of a row",
                };
                anyhow::bail!("{path}, row {}, column {name}: found {found}, expected {expected}", row + 1);
            }
            of_own = if of_own == 0 { numbers.len() } else { of_own };
        }
        if numbers.len() != rows {
            let (name, found) = (quoted(column), counted(numbers.len(), "row"));
            anyhow::bail!("column {name}: found {found}, expected {rows}: a file has changed");
        }
        let number = |row: usize| {
            let FileRow { is_own, row } = pool.place(row);
            numbers[if is_own { row } else { of_own + row }]
        };
        Ok(Some((0..rows).map(number).collect()))
    }

    /// The files, and how each is read.
    fn all_files(&self) -> impl Iterator<Item = (&Path, Reading)> {
        let more = self.unlabeled.iter().map(|path| (path.as_path(), self.sampling.reading.of_more(path)));
        std::iter::once((self.file.as_path(), self.sampling.reading.clone())).chain(more)
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
        let own = self.records(pool, &self.file, true, &all)?;
        let more = match &self.unlabeled {
            Some(path) => Some((path, self.records(pool, path, false, &all)?)),
            None => None,
        };
        versions.check()?;
        let mut columns = own.columns.clone();
        let others = more.iter().flat_map(|(_, records)| &records.columns);
        columns.extend(others.filter(|name| !own.columns.contains(name)).cloned());
        write_to(Some(out), |to| {
            let records_of = |row: usize| {
                let FileRow { is_own, row } = pool.place(row);
                match &more {
                    Some((path, records)) if !is_own => (*path, records, row),
                    _ => (&self.file, &own, row),
                }
            };
            let cell = |row: usize, column: &str| {
                let (_, records, row) = records_of(row);
                records.cell(row, column)
            };
            let kinds: Vec<RecordColumn> =
                columns.iter().map(|column| kind_of(all.iter().map(|&row| cell(row, column)))).collect();
            let files = more.iter().map(|_| (free_name("file", &columns), RecordColumn::Text));
            let header = files.chain([(free_name("row", &columns), RecordColumn::Count)]);
            let mut to =
                RecordFile::begin(Some(out), to, header.chain(columns.iter().cloned().zip(kinds.iter().copied())))?;
            for &row in &all {
                let (path, _, own_row) = records_of(row);
                if more.is_some() {
                    to.text(&path.display().to_string())?;
                }
                to.count(own_row + 1)?;
                columns.iter().zip(&kinds).try_for_each(|(column, &kind)| to.plain(cell(row, column), kind))?;
            }
            Ok(to.finish()?)
        })
    }

    /// Those of some rows that are of a file, by their numbers there.
    fn records(&self, pool: &Pool, path: &Path, of_own: bool, rows: &[usize]) -> anyhow::Result<Records> {
        let rows: Vec<usize> = rows.iter().copied().filter(|&row| pool.place(row).is_own == of_own).collect();
        let numbers: Vec<usize> = rows.iter().map(|&row| pool.place(row).row).collect();
        let reading = self.sampling.reading.of_more(path);
        let reading = if of_own { &self.sampling.reading } else { &reading };
        if let Some(records) = Records::of_csv(path, reading, &numbers)? {
            return Ok(records);
        }
        let train = &pool.train;
        let label = train.label_name().filter(|_| of_own).map(|name| (name, train.labels()));
        let mut found = Records::of_table(train.table(), label, 0, &rows);
        let mut first = train.table().n_rows();
        if let Some(file) = train.on_disk() {
            file.for_each_piece(|piece| {
                found.rows.extend(Records::of_table(piece, None, first, &rows).rows);
                first += piece.n_rows();
                Ok(())
            })?;
        }
        let rows = found.rows.into_iter().map(|(row, cells)| (pool.place(row).row, cells)).collect();
        Ok(Records { rows, ..found })
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
            let FileRow { is_own, row } = pool.place(suggestion.row);
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
pub struct Warned {
    progress: Progress,
    told: Vec<Warning>,
}

impl Warned {
    pub fn new(progress: &Progress) -> Self {
        Warned { progress: *progress, told: Vec::new() }
    }
}

impl Observer for Warned {
    fn warn(&mut self, warning: &Warning) {
        if !self.told.contains(warning) {
            self.progress.note(format_args!("warning: {warning}"));
            self.told.push(warning.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unlabeled_row;

    #[test]
    fn unlabeled_rows_stand_between_the_labeled_ones() {
        let labeled = [0, 1, 4, 7];
        let unlabeled: Vec<usize> = (0..5).map(|i| unlabeled_row(&labeled, i)).collect();
        assert_eq!(unlabeled, [2, 3, 5, 6, 8]);
        assert_eq!(unlabeled_row(&[], 3), 3);
    }
}

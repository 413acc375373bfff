//! `udeed predict`: the classes of new rows.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use udeed::data::{Column, Dense, Kind, Rows, Table};
use udeed::format::{Format, RecordColumn};
use udeed::memory::Room;
use udeed::model::Model;
use udeed::prepare::Unseen;
use udeed::text::{counted, quoted, shown};

use crate::input::{Reading, files_of, for_each_table, warn_of_unseen};
use crate::output::{RecordFile, Usage, check_outputs, is_stream, temporary_folder, write_to};
use crate::progress::Progress;

/// Predict the classes of rows with a saved model
#[derive(Args)]
#[command(after_help = "\
Examples:
  udeed predict model.safetensors new.csv --proba --out predictions.csv
  udeed predict model.safetensors 'data/*.parquet' --columns id --out predictions/")]
pub struct Predict {
    /// The model, as `fit` wrote it
    model: PathBuf,
    /// Rows to predict: files, folders of them, patterns with `*` and `?`, `-` for standard input, or a built-in set. Columns are
    /// matched by name
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Add the probability of each class
    #[arg(long)]
    proba: bool,
    /// Columns of the rows to write beside their predictions, by name, such as one of identifiers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// Add a conformal prediction set, its classes parted by `|`: they include the true one for this share of the rows of each
    /// class, such as 0.9
    #[arg(long, value_name = "SHARE")]
    coverage: Option<f64>,
    /// File for the predictions, CSV or Parquet by its name; of several files, the folder for a file of predictions each [default:
    /// standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Pass over files whose predictions are there, newer than the rows and the model
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Predict {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let found = files_of(&self.files)?;
        found.tell(progress);
        let files = found.paths;
        let pairs = self.pairs(&files)?;
        let inputs = files.iter().map(PathBuf::as_path).chain([self.model.as_path()]).map(Some).collect::<Vec<_>>();
        let outputs: Vec<Option<&Path>> = pairs.iter().map(|(_, out)| out.as_deref()).collect();
        check_outputs(&outputs, &inputs)?;
        let model = self.reading.memory.load(&self.model)?;
        self.check_columns(&model)?;
        if let Some(coverage) = self.coverage {
            warn_of_few(&model, coverage, progress)?;
        }
        for (file, out) in &pairs {
            if let (true, Some(out)) = (self.resume, out.as_deref().filter(|out| out.exists())) {
                if is_newer(out, file) && is_newer(out, &self.model) {
                    progress.note(format_args!("note: {} is passed over, its predictions are there", file.display()));
                    continue;
                }
                progress
                    .note(format_args!("note: {} is older than its rows or the model: predicted again", out.display()));
            }
            // One of several has the format of its name.
            let reading = if pairs.len() > 1 { self.reading.of_more(file) } else { self.reading.clone() };
            self.predict(&model, file, &reading, out.as_deref(), progress)?;
        }
        Ok(())
    }

    /// Each file, and where its predictions go.
    fn pairs<'a>(&self, files: &'a [PathBuf]) -> anyhow::Result<Vec<(&'a Path, Option<PathBuf>)>> {
        let folder = self.out.as_ref().filter(|out| !is_stream(out) && (out.is_dir() || ends_as_folder(out)));
        let Some(folder) = folder else {
            if self.resume {
                return Err(Usage("`--resume`: expected a folder for the predictions, `--out FOLDER/`".into()).into());
            }
            return match files {
                [file] => Ok(vec![(file, self.out.clone())]),
                _ => {
                    let found = format!("{} are to be predicted", counted(files.len(), "file"));
                    Err(Usage(format!("{found}: expected a folder for the predictions, `--out FOLDER/`")).into())
                }
            };
        };
        let mut pairs: Vec<(&Path, Option<PathBuf>)> = Vec::new();
        for file in files {
            let out = folder.join(predictions_name(file));
            if let Some((other, _)) = pairs.iter().find(|(_, known)| known.as_ref() == Some(&out)) {
                let (file, other) = (file.display(), other.display());
                return Err(Usage(format!(
                    "{file}, {other}: both would go to {}, expected other names",
                    out.display()
                ))
                .into());
            }
            pairs.push((file, Some(out)));
        }
        std::fs::create_dir_all(folder).map_err(|cause| udeed::Error::Io {
            path: folder.display().to_string(),
            action: "create",
            cause,
            hint: None,
        })?;
        Ok(pairs)
    }

    /// The names of the columns of predictions.
    fn names(&self, model: &Model) -> Vec<String> {
        let classes = model.classes().iter().filter(|_| self.proba).map(|class| format!("p({class})"));
        let set = self.coverage.map(|_| "set".to_owned());
        std::iter::once("prediction".to_owned()).chain(classes).chain(set).collect()
    }

    /// Refuses columns that would have the name of another one.
    fn check_columns(&self, model: &Model) -> Result<(), Usage> {
        let own = self.names(model);
        for (place, name) in self.columns.iter().enumerate() {
            let what = match () {
                () if own.contains(name) => "one of the predictions is called so",
                () if self.columns[..place].contains(name) => "it is named twice",
                () => continue,
            };
            return Err(Usage(format!("`--columns {}`: {what}, expected columns of other names", shown(name))));
        }
        Ok(())
    }

    fn predict(
        &self,
        model: &Model,
        file: &Path,
        reading: &Reading,
        out: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        let reader = reading.reader(model.reader()).carry(&self.columns);
        // Sparse rows cannot be predicted as they come.
        let folder = temporary_folder(out);
        let room = Room { most: self.reading.memory.most(), folder: Some(&folder) };
        let mut n_rows = 0;
        let written = write_to(out, |to| {
            let mut predictions = Predictions {
                options: self,
                model,
                path: out,
                out: Some(to),
                records: None,
                unseen: Unseen::default(),
            };
            for_each_table(&reader, file, room, progress, &mut |rows| {
                n_rows += rows.n_rows();
                predictions.write(rows)
            })?;
            let Predictions { unseen, records, .. } = predictions;
            warn_of_unseen(&unseen, file, progress);
            Ok(records.map_or(Ok(()), RecordFile::finish)?)
        })?;
        written.tell_of(&counted(n_rows, "prediction"), progress);
        Ok(())
    }
}

/// Whether a file is not older than another; so where the system does not say.
fn is_newer(file: &Path, than: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|at| at.modified());
    match (written(file), written(than)) {
        (Ok(file), Ok(than)) => file >= than,
        _ => true,
    }
}

/// Whether the name of what need not be there yet is that of a folder.
fn ends_as_folder(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

/// The name for the predictions of a file: its own, or for rows in other formats one of CSV.
fn predictions_name(file: &Path) -> PathBuf {
    let name = file.file_name().map_or_else(|| "predictions".into(), |name| name.to_string_lossy().into_owned());
    match Format::of(&name) {
        Some(Format::Csv | Format::Parquet) => name.into(),
        Some(_) => name.split('.').next().map_or_else(|| name.clone(), |stem| format!("{stem}.csv")).into(),
        None => format!("{name}.csv").into(),
    }
}

/// Says which classes are in every set, for want of labels.
fn warn_of_few(model: &Model, coverage: f64, progress: &Progress) -> udeed::Result<()> {
    for class in model.too_few_for(coverage)? {
        let least = (coverage / (1.0 - coverage) - 1e-9).ceil();
        progress.note(format_args!(
            "warning: too few labeled rows of {} were held out for a coverage of {coverage}, which takes {least}: it is in every set",
            quoted(class)
        ));
    }
    Ok(())
}

/// The name of a class in a set, whose names `|` parts: one of its own has a backslash before it.
fn parted(class: &str) -> String {
    class.replace('\\', "\\\\").replace('|', "\\|")
}

/// Predictions as records.
struct Predictions<'a> {
    options: &'a Predict,
    model: &'a Model,
    path: Option<&'a Path>,
    /// Where they go, until there are any: nothing is written of rows of which not even the first can be read.
    out: Option<&'a mut dyn Write>,
    records: Option<RecordFile<'a>>,
    unseen: Unseen,
}

impl Predictions<'_> {
    /// Predicts some rows.
    fn write(&mut self, rows: &Table) -> udeed::Result<()> {
        let decisions = self.model.decision(rows)?;
        self.unseen.add(self.model.preparation(), rows);
        let probabilities = self.model.probabilities(&decisions)?;
        let sets = self.options.coverage.map(|coverage| self.model.sets(&decisions, coverage)).transpose()?;
        let carried = Carried::of(&self.options.columns, rows);
        self.begin(&carried)?;
        self.write_rows(&carried, &decisions, &probabilities, sets.as_deref())
    }

    fn begin(&mut self, carried: &Carried<'_>) -> udeed::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let kind = |name: &str| match name {
            "prediction" | "set" => RecordColumn::Text,
            _ => RecordColumn::Number,
        };
        let own = self.options.names(self.model).into_iter().map(|name| (name.clone(), kind(&name)));
        let columns = carried.columns.iter().map(|(column, kind)| (column.name.clone(), *kind)).chain(own);
        self.records = Some(RecordFile::begin(self.path, out, columns)?);
        Ok(())
    }

    fn write_rows(
        &mut self,
        carried: &Carried<'_>,
        decisions: &Dense,
        probabilities: &Dense,
        sets: Option<&[Vec<usize>]>,
    ) -> udeed::Result<()> {
        let classes = self.model.classes();
        let Some(records) = &mut self.records else { return Ok(()) };
        for i in 0..decisions.n_rows() {
            carried.write(i, records)?;
            records.text(&classes[self.model.class_of(decisions.get(i))])?;
            if self.options.proba {
                probabilities.get(i).iter().try_for_each(|&p| records.number(p))?;
            }
            if let Some(sets) = sets {
                let names: Vec<String> = sets[i].iter().map(|&class| parted(&classes[class])).collect();
                records.text(&names.join("|"))?;
            }
        }
        Ok(())
    }
}

/// The columns of some rows that are written beside their predictions.
struct Carried<'a> {
    rows: &'a Table,
    columns: Vec<(&'a Column, RecordColumn)>,
    /// For each column of the rows its place among these.
    places: Vec<Option<usize>>,
}

impl<'a> Carried<'a> {
    fn of(names: &[String], rows: &'a Table) -> Self {
        let kind = |column: &Column| match column.kind {
            Kind::Numeric => RecordColumn::Number,
            Kind::Nominal { .. } => RecordColumn::Text,
        };
        let columns = names.iter().filter_map(|name| rows.columns().iter().find(|column| column.name == *name));
        let places = rows.columns().iter().map(|column| names.iter().position(|name| *name == column.name)).collect();
        Carried { rows, columns: columns.map(|column| (column, kind(column))).collect(), places }
    }

    /// The cells of a row.
    fn write(&self, row: usize, records: &mut RecordFile<'_>) -> udeed::Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        // What sparse rows do not store.
        let mut values = vec![0.0; self.columns.len()];
        self.rows.matrix().rows().row(row).for_each(|j, x| {
            if let Some(place) = self.places[j] {
                values[place] = x;
            }
        });
        self.columns.iter().zip(values).try_for_each(|((column, kind), x)| {
            let text = match &column.kind {
                _ if x.is_nan() => String::new(),
                Kind::Numeric => x.to_string(),
                Kind::Nominal { levels } => levels.get(x as usize).cloned().unwrap_or_default(),
            };
            records.plain(&text, *kind)
        })
    }
}

//! `udeed doubt`: which labels may be wrong.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use udeed::format::RecordColumn;
use udeed::labeling::{DoubtedLabel, Doubts};
use udeed::text::counted;
use udeed_lab::tables::TextTable;

use crate::input::{Labeled, Sampling, note_identifiers};
use crate::laboratory::{named, placed};
use crate::output::{RecordFile, check_outputs, is_stream, print, write_to, write_wrapped};
use crate::progress::Progress;
use crate::suggest::{Warned, shortened};

/// Rank labels by how strongly out-of-bag predictions contradict them
#[derive(Args)]
#[command(after_help = "\
The predictions are those of `auto` and of a random forest. The number of wrong labels is a range: where few labels are \
wrong, estimates of it are too high.

Example:
  udeed doubt rows.csv --label species --out doubted.csv")]
pub struct Doubt {
    /// Rows, some of them labeled: a file, `-` for standard input, or a built-in set
    file: PathBuf,
    #[command(flatten)]
    labeled: Labeled,
    /// Number of labels to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
    /// CSV or Parquet file for all labels, the most doubtful first; `-` prints it instead of the table
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    sampling: Sampling,
}

impl Doubt {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[self.out.as_deref()], &[Some(&self.file)])?;
        let sheet = self.labeled.read_to_learn(&self.sampling.reading, &self.file, progress)?;
        self.labeled.check_occur([&sheet.labels])?;
        let train = named(sheet.into_train(), &self.file)?;
        let doubt = udeed::labeling::Doubt::new().seed(self.sampling.seed);
        let found = named(doubt.find_observed(&train, &mut Warned::new(progress)), &self.file);
        let found = found.map_err(|error| placed(error, &[(&self.file, usize::MAX)]))?;
        note_identifiers(train.table(), train.table().n_rows(), progress);
        if let Some(out) = &self.out {
            let written = write_to(Some(out), |to| write(&found.labels, out, to))?;
            written.tell_of(&counted(found.labels.len(), "label"), progress);
            if is_stream(out) {
                return Ok(());
            }
        }
        print(|out| self.summarise(&found, out))
    }

    fn summarise(&self, found: &Doubts, out: &mut dyn Write) -> std::io::Result<()> {
        let labels = counted(found.labels.len(), "label");
        let (least, most) = (found.n_wrong.start(), found.n_wrong.end());
        let unjudged = match found.n_unjudged {
            0 => String::new(),
            n => format!("; {} cannot be judged, as no member knows the class without it", counted(n, "label")),
        };
        write_wrapped(out, "", 0, &format!("{labels}, of which {least} to {most} are likely to be wrong{unjudged}"))?;
        let mut table = TextTable::new(["rank", "row", "probability of label", "label", "suggested"]);
        for (rank, label) in found.labels.iter().take(self.count).enumerate() {
            table.push([
                (rank + 1).to_string(),
                (label.row + 1).to_string(),
                format!("{:.3}", label.probability),
                shortened(&label.label, 20),
                shortened(&label.suggested, 20),
            ]);
        }
        table.write(out)
    }
}

fn write(labels: &[DoubtedLabel], path: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let columns = [
        ("rank", RecordColumn::Count),
        ("row", RecordColumn::Count),
        ("label", RecordColumn::Text),
        ("suggested", RecordColumn::Text),
        ("probability", RecordColumn::Number),
    ];
    let mut records = RecordFile::begin(Some(path), out, columns.map(|(name, kind)| (name.to_owned(), kind)))?;
    for (rank, label) in labels.iter().enumerate() {
        records.count(rank + 1)?;
        records.count(label.row + 1)?;
        records.text(&label.label)?;
        records.text(&label.suggested)?;
        records.number(label.probability)?;
    }
    Ok(records.finish()?)
}

//! What results look like, and where they go.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Writes a result to a file, gzipped if its name ends in `.gz`, or to standard output.
pub fn write_to(path: Option<&Path>, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        fill(&mut out)?;
        return Ok(out.flush()?);
    };
    // The library's errors say more than an `io::Error` can carry.
    let mut failed = None;
    let written = udeed::write_file(path, |file| {
        let outcome = if path.extension().is_some_and(|end| end == "gz") {
            let mut zipped = GzEncoder::new(file, Compression::default());
            fill(&mut zipped).and_then(|()| Ok(zipped.finish().map(|_| ())?))
        } else {
            fill(file)
        };
        outcome.map_err(|error| {
            failed = Some(error);
            io::Error::other("incomplete")
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// Writes pretty JSON to a file or to standard output.
pub fn write_json(path: Option<&Path>, value: &impl serde::Serialize) -> anyhow::Result<()> {
    write_to(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        Ok(writeln!(out)?)
    })
}

/// A table of text: the first column to the left, the others to the right. An empty header is not shown.
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        TextTable { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    pub fn push<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |j: usize| self.rows.iter().filter_map(|row| row.get(j)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|j| width(j).unwrap_or(0)).collect();
        for row in self.rows.iter().filter(|row| !row.is_empty()) {
            let mut line = String::new();
            for (j, cell) in row.iter().enumerate() {
                match j {
                    0 => line.push_str(&format!("{cell:<0$}", widths[0])),
                    _ => line.push_str(&format!("  {cell:>0$}", widths[j])),
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The mean of some numbers.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Their sample deviation; 0 for a single one.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

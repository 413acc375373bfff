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

/// A table of text: columns of figures to the right, others to the left. An empty header is not shown.
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
        let rows = || self.rows.iter().filter(|row| !row.is_empty());
        let columns = rows().map(Vec::len).max().unwrap_or(0);
        let cells = |j: usize| rows().filter_map(move |row| row.get(j));
        let widths: Vec<usize> =
            (0..columns).map(|j| cells(j).map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
        let is_figure = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
        let figures: Vec<bool> = (0..columns).map(|j| j > 0 && cells(j).skip(1).all(is_figure)).collect();
        for row in rows() {
            let mut line = String::new();
            for (j, cell) in row.iter().enumerate() {
                let gap = if j == 0 { "" } else { "  " };
                let width = widths[j];
                line.push_str(&if figures[j] {
                    format!("{gap}{cell:>width$}")
                } else {
                    format!("{gap}{cell:<width$}")
                });
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

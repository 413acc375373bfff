//! How long a fit of UDEED takes, without anything around it. `bench/python_overhead.py` compares it with Python's.
//!
//! Arguments: a file of doubles (row after row), one of labels (a byte a row: 0, 1, or 255 for none), the number of
//! columns, of members and of threads.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use udeed::data::{Dense, Labels, Table, TrainSet};
use udeed::method::Udeed;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, labels, columns, members, threads] = arguments.as_slice() else {
        return Err("expected: ROWS LABELS COLUMNS MEMBERS THREADS".into());
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let bytes = std::fs::read(rows)?;
    let doubles = bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    let values: Vec<f64> = doubles.collect();
    let labels = std::fs::read(labels)?;
    let columns: usize = columns.parse()?;
    let settings = Udeed::new().members(members.parse()?).seed(0);

    let begin = Instant::now();
    let classes = vec!["0".to_owned(), "1".to_owned()];
    let codes = labels.iter().map(|&label| (label < 2).then_some(usize::from(label)));
    let table = Table::from_matrix(Dense::new(values.len() / columns, columns, values)?)?;
    let model = settings.fit(&TrainSet::new(table, Labels::with_classes(classes, codes)?)?)?;
    let seconds = begin.elapsed().as_secs_f64();

    let sum: f64 = model.ensemble().linear(0).map_or(0.0, |members| members.weights().iter().sum());
    println!("{seconds} {sum:e}");
    Ok(())
}

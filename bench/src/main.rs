//! Times udeed at the request of `run.py`, which times its peers beside it.
//!
//! One JSON object a line comes in, one goes out: `{"work": "step", ...}` is answered by how long it took and by what
//! is needed to compare the result with a peer's. Matrices and weights travel through files of little-endian doubles,
//! so that rows are loaded once and both sides see the same bits. Work that fails is answered by `{"error": ...}`.

mod bounds;
mod files;
mod memory;
mod request;
mod work;

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::request::Request;
use crate::work::Shelf;

fn main() -> anyhow::Result<()> {
    let mut shelf = Shelf::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&line?, &mut shelf).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(line: &str, shelf: &mut Shelf) -> anyhow::Result<Value> {
    let request: Request = serde_json::from_str(line)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.threads).build()?;
    pool.install(|| shelf.answer(request.work))
}

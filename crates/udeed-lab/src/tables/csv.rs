//! Accuracies as CSV.

use std::io::{self, Write};

use super::verdict_word;
use crate::experiment::Entry;
use crate::results::Results;

/// Writes a row for each mean: data set, size, method, mean, standard deviation, splits, and the champion's verdict.
///
/// # Errors
/// If writing fails.
pub fn write_csv(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(["dataset", "size", "method", "mean", "std", "splits", results.champion().name()])?;
    for outcome in &results.outcomes {
        let method = Entry::named(outcome.method).ok();
        let verdict = method.and_then(|method| results.verdict_against(&outcome.dataset, outcome.size, method));
        writer.write_record([
            outcome.dataset.as_str(),
            &outcome.size.to_string(),
            outcome.method,
            &outcome.mean.to_string(),
            &outcome.std.to_string(),
            &outcome.accuracies.len().to_string(),
            verdict_word(verdict),
        ])?;
    }
    writer.flush()
}

//! Accuracies as CSV.

use std::io::{self, Write};

use super::verdict_word;
use crate::experiment::Entry;
use crate::results::Results;
use crate::statistics::DecidingTest;

/// Writes a row for each mean: data set, size, method, mean, standard deviation, splits, those on which the method ended
/// as its baseline, the champion's verdict, the test that decided it, and the p-values of both t-tests.
///
/// # Errors
/// If writing fails.
pub fn write_csv(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    let champion = results.champion().name();
    let header = [
        "dataset",
        "size",
        "method",
        "mean",
        "std",
        "splits",
        "baseline_splits",
        champion,
        "test",
        "p_paired_t",
        "p_corrected_t",
    ];
    writer.write_record(header)?;
    for outcome in &results.outcomes {
        let method = Entry::named(outcome.method).ok();
        let against = method.and_then(|method| results.against(&outcome.dataset, outcome.size, method));
        let verdict = against.and_then(|against| against.verdict);
        let p =
            |test| against.and_then(|against| against.t_test(test)).map_or_else(String::new, |test| test.p.to_string());
        writer.write_record([
            outcome.dataset.as_str(),
            &outcome.size.to_string(),
            outcome.method,
            &outcome.mean.to_string(),
            &outcome.std.map_or_else(String::new, |std| std.to_string()),
            &outcome.accuracies.len().to_string(),
            &outcome.baseline_splits.to_string(),
            verdict_word(verdict),
            verdict.map_or("", |_| results.verdicts.name()),
            &p(DecidingTest::Paired),
            &p(DecidingTest::Corrected),
        ])?;
    }
    writer.flush()
}

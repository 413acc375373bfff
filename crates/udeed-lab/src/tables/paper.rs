//! The paper's tables for a terminal: our values, the paper's and their differences.

use std::io::{self, Write};

use super::{TextTable, mark};
use crate::experiment::Entry;
use crate::paper::{PaperCell, PaperReport, REBUILT};
use crate::results::Results;
use crate::statistics::{DecidingTest, Record, Verdict};

/// Writes the paper's tables for a terminal, our values above the paper's.
///
/// # Errors
/// If writing fails.
pub fn write_paper(results: &Results, report: &PaperReport, out: &mut dyn Write) -> io::Result<()> {
    for table in ["II", "III", "IV"] {
        let cells: Vec<&PaperCell> = report.cells.iter().filter(|cell| cell.table == table).collect();
        if let Some(first) = cells.first() {
            writeln!(out, "Table {table}: test accuracy, {} members (• LcUd better, ∘ worse)", first.size)?;
            write_beside(results, &cells, &["lcud", "bagging", "adaboost", "assemble", "semiboost", "lc", "lcd"], out)?;
        }
    }
    for &size in &results.experiment.sizes {
        let of = |table: &str| -> Vec<&PaperCell> {
            report.cells.iter().filter(|cell| cell.table == table && cell.size == size).collect()
        };
        let (gains, diversity) = (of("V"), of("VI"));
        if !gains.is_empty() {
            writeln!(out, "Table V: gain of LcUd over Lc and Lcd, {size} members (• better, ∘ worse)")?;
            write_beside(results, &gains, &["lc", "lcd"], out)?;
        }
        if !diversity.is_empty() {
            writeln!(out, "Table VI: more diverse after the descent, {size} members (• more, ∘ less)")?;
            write_beside(results, &diversity, &["dis", "df", "ent", "cfd"], out)?;
        }
    }
    write_agreement(report, out)?;
    write_corrected(results, out)
}

/// What the other t-test says of LcUd: that of the paper takes the splits for independent.
fn write_corrected(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let champion = results.champion();
    let others: Vec<Entry> = results.experiment.methods.iter().copied().filter(|&other| other != champion).collect();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWin/tie/loss of {} by both t-tests; the corrected one allows for shared rows", champion.name())?;
    let sizes = &results.experiment.sizes;
    let header = sizes.iter().flat_map(|size| DecidingTest::ALL.map(|test| format!("{} {size}", test.name())));
    let mut table = TextTable::left(std::iter::once("against".to_owned()).chain(header));
    for other in others {
        let record =
            |&size: &usize| DecidingTest::ALL.map(|test| results.record(test, size, champion, other).to_string());
        table.push(std::iter::once(other.name().to_owned()).chain(sizes.iter().flat_map(record)));
    }
    table.write(out)
}

/// Four lines for each data set: our value, the paper's, the difference, and that in terms of its noise; two where there are only verdicts.
fn write_beside(results: &Results, cells: &[&PaperCell], columns: &[&str], out: &mut dyn Write) -> io::Result<()> {
    let present: Vec<&str> = columns.iter().copied().filter(|c| cells.iter().any(|cell| cell.column == *c)).collect();
    let adaboost = Entry::named("adaboost").ok().filter(|entry| results.experiment.methods.contains(entry));
    let sound = adaboost.filter(|_| present.contains(&"adaboost"));
    let extra = if sound.is_some() { vec!["(sound)"] } else { vec![] };
    // Short enough for all methods in 80 columns.
    let short = |column: &&str| {
        match *column {
            "adaboost" => "adab.",
            "assemble" => "assem.",
            "semiboost" => "semib.",
            other => other,
        }
        .to_owned()
    };
    let header = present.iter().map(short).chain(extra.into_iter().map(str::to_owned));
    let mut table = TextTable::left(["data set", ""].map(str::to_owned).into_iter().chain(header));
    let names = results.sets.iter().map(|set| &set.name);
    for name in names.filter(|name| cells.iter().any(|cell| cell.dataset == **name)) {
        let find = |column: &str| cells.iter().find(|cell| cell.dataset == *name && cell.column == column);
        let row = |of: &dyn Fn(&PaperCell) -> String| -> Vec<String> {
            present.iter().map(|column| find(column).map_or("-".to_owned(), |cell| of(cell))).collect()
        };
        let shown = |mean: Option<f64>, verdict: Option<Verdict>, missing: &str| match (mean, verdict) {
            (Some(mean), verdict) => format!("{mean:.3}{}", mark(verdict)),
            (None, Some(verdict)) => if verdict == Verdict::Tie { "=" } else { mark(Some(verdict)) }.to_owned(),
            (None, None) => missing.to_owned(),
        };
        let mut ours = row(&|cell| shown(cell.ours, cell.our_verdict(), ""));
        if let Some(outcome) = sound.and_then(|entry| results.outcome(name, cells[0].size, entry)) {
            ours.push(format!("{:.3}", outcome.mean));
        }
        table.push([name.clone(), "ours".into()].into_iter().chain(ours));
        let paper = row(&|cell| shown(cell.paper, cell.paper_verdict, "N/A"));
        table.push([String::new(), "paper".into()].into_iter().chain(paper));
        if cells.iter().any(|cell| cell.ours.is_some()) {
            let differences = row(&|cell| cell.difference().map_or(String::new(), |d| format!("{d:+.3}")));
            table.push([String::new(), "diff".into()].into_iter().chain(differences));
            let noise = row(&|cell| cell.z.map_or(String::new(), |z| format!("{z:+.1}")));
            table.push([String::new(), "z".into()].into_iter().chain(noise));
        }
    }
    if cells.iter().any(|cell| cell.ours.is_some()) {
        for (name, of) in [
            ("ours", PaperCell::our_verdict as fn(&PaperCell) -> Option<Verdict>),
            ("paper", |cell| cell.paper_verdict),
        ] {
            let records = present.iter().map(|column| {
                let record: Record =
                    cells.iter().filter(|cell| cell.column == *column).filter_map(|cell| of(cell)).collect();
                if record == Record::default() { String::new() } else { record.to_string() }
            });
            let first = if name == "ours" { "win/tie/l." } else { "" };
            table.push([first.to_owned(), name.to_owned()].into_iter().chain(records));
        }
    }
    table.write(out)?;
    writeln!(out)
}

fn write_agreement(report: &PaperReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Agreement with the paper (z: the difference over its standard error)")?;
    let several = report.agreement.iter().any(|agreement| agreement.runs_agree.is_some());
    let last = if several { vec!["own runs"] } else { vec![] };
    let header = ["table", "cells", "|diff|", "in 0.01", "z", "z^2", "by chance", "verdicts"];
    let mut table = TextTable::new(header.into_iter().chain(last));
    for agreement in &report.agreement {
        let figures = match agreement.cells {
            0 => ["-".to_owned(), "-".into()],
            _ => {
                [format!("{:.4}", agreement.mean_absolute_difference), format!("{:.0} %", 100.0 * agreement.within_001)]
            }
        };
        let noise = match &agreement.mean_square {
            None => ["-".to_owned(), "-".into(), "-".into()],
            Some(found) => {
                let [low, high] = found.by_chance;
                [format!("{:+.1}", found.mean), format!("{:.1}", found.value), format!("{low:.1} to {high:.1}")]
            }
        };
        let verdicts = match agreement.verdicts {
            0 => "-".to_owned(),
            all => format!("{} of {all}", whole_or_tenths(agreement.verdicts_agree)),
        };
        let own = agreement.runs_agree.map_or("-".to_owned(), whole_or_tenths);
        let start = [agreement.table.clone(), agreement.cells.to_string()];
        let row = start.into_iter().chain(figures).chain(noise).chain([verdicts]);
        table.push(row.chain(several.then_some(own)));
    }
    table.write(out)?;
    write_further(report, out)?;
    if !several {
        writeln!(out, "more than one run says how many verdicts two runs of ours agree on")?;
    }
    if report.sign_of_gain.1 > 0 {
        let (same, all) = report.sign_of_gain;
        writeln!(out, "sign of LcUd - Lc where the paper finds it significant: the same in {same} of {all}")?;
    }
    Ok(())
}

/// Two further views of the agreement: without the rebuilt sets, and by the standard deviations.
fn write_further(report: &PaperReport, out: &mut dyn Write) -> io::Result<()> {
    let range = |[low, high]: [f64; 2]| format!("{low:.2} to {high:.2}");
    let mut table = TextTable::new(["table", "z^2", "public sets", "by chance", "log std ratio", "by chance"]);
    for agreement in &report.agreement {
        let Some(all) = agreement.mean_square else { continue };
        let public = agreement.mean_square_without_rebuilt;
        let [square, chance] = public
            .map_or(["-".to_owned(), "-".into()], |found| [format!("{:.2}", found.value), range(found.by_chance)]);
        let [std, std_chance] = agreement
            .log_std
            .map_or(["-".to_owned(), "-".into()], |found| [format!("{:+.2}", found.value), range(found.by_chance)]);
        table.push([agreement.table.clone(), format!("{:.2}", all.value), square, chance, std, std_chance]);
    }
    writeln!(out, "\nPublic sets: without {}, whose features are rebuilt", REBUILT.join(", "))?;
    writeln!(out, "Log std ratio: the mean of log(our deviation / the paper's)")?;
    table.write(out)
}

/// A mean of counts: with a decimal only where it is no whole number.
pub(crate) fn whole_or_tenths(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean}") } else { format!("{mean:.1}") }
}

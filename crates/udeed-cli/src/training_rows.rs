//! What became of the training rows of a model, as a table, as CSV and as JSON.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};
use udeed::model::{Model, Transduction};
use udeed::text::counted;
use udeed_lab::tables::TextTable;

use crate::output::{plain, write_wrapped};
use crate::suggest::shortened;

/// The training rows of a model, in their order: those of the file, and after them those of `--unlabeled`.
pub struct TrainingRows<'a> {
    pub model: &'a Model,
    pub rows: Transduction,
}

impl TrainingRows<'_> {
    /// How many rows were labeled when, and the first rows.
    pub fn summarise(&self, count: usize, out: &mut dyn Write) -> std::io::Result<()> {
        let rows = &self.rows;
        write_wrapped(out, "", 0, &self.counts())?;
        let mut header = vec!["row", "class", "probability", "label"];
        header.extend(rows.by.as_ref().map(|_| "by member"));
        let mut table = TextTable::new(header);
        for row in 0..rows.classes.len().min(count) {
            let mut cells = vec![
                (row + 1).to_string(),
                shortened(self.class(row), 30),
                format!("{:.3}", rows.probabilities.get(row)[rows.classes[row]]),
                origin(rows.rounds[row]),
            ];
            cells.extend(rows.by.as_ref().map(|by| members(&by[row])));
            table.push(cells);
        }
        table.write(out)?;
        match rows.classes.len().saturating_sub(count) {
            0 => Ok(()),
            left => writeln!(out, "and {left} more: `--count`, `--out` or `--json` shows them"),
        }
    }

    /// Numbers of rows by how they got their class.
    fn counts(&self) -> String {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        self.rows.rounds.iter().for_each(|round| *counts.entry(*round).or_default() += 1);
        let of = |round: i64| counts.get(&round).copied().unwrap_or(0);
        let mut parts = vec![format!("{}: {} with a label", counted(self.rows.classes.len(), "training row"), of(0))];
        if self.model.method().card().labels_rows {
            let rounds: Vec<String> =
                counts.range(1..).map(|(round, rows)| format!("{rows} labeled in round {round}")).collect();
            parts.extend(rounds);
            parts.push(format!("{} predicted, never labeled", of(-1)));
        } else {
            parts.push(format!("{} predicted", of(-1)));
        }
        parts.join(", ")
    }

    fn class(&self, row: usize) -> &str {
        &self.model.classes()[self.rows.classes[row]]
    }

    /// Writes all rows: class, the probability of each class, the round (0: a label, -1: never labeled), and by whom.
    pub fn write_csv(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        let failed = |error: csv::Error| anyhow::Error::from(plain(error));
        let rows = &self.rows;
        let probabilities = self.model.classes().iter().map(|class| format!("p({class})"));
        let header = ["row", "class"].map(str::to_owned).into_iter().chain(probabilities).chain(["round".to_owned()]);
        out.write_record(header.chain(rows.by.as_ref().map(|_| "by".to_owned()))).map_err(failed)?;
        for row in 0..rows.classes.len() {
            let numbers = rows.probabilities.get(row).iter().map(ToString::to_string);
            let cells = [(row + 1).to_string(), self.class(row).to_owned()].into_iter().chain(numbers);
            let by = rows.by.as_ref().map(|by| joined(&by[row], "|"));
            out.write_record(cells.chain([rows.rounds[row].to_string()]).chain(by)).map_err(failed)?;
        }
        Ok(out.flush()?)
    }

    /// All rows, a list for each column.
    pub fn json(&self) -> Value {
        let rows = &self.rows;
        let n = rows.classes.len();
        let numbered = |members: &Vec<usize>| members.iter().map(|member| member + 1).collect::<Vec<_>>();
        let by = rows.by.as_ref().map(|by| by.iter().map(numbered).collect::<Vec<_>>());
        json!({
            "method": self.model.method().name(),
            "classes": self.model.classes(),
            "class": (0..n).map(|row| self.class(row)).collect::<Vec<_>>(),
            "probabilities": (0..n).map(|row| rows.probabilities.get(row)).collect::<Vec<_>>(),
            "round": rows.rounds,
            "by": by,
        })
    }
}

/// Where the class of a row comes from.
fn origin(round: i64) -> String {
    match round {
        0 => "given".to_owned(),
        -1 => "-".to_owned(),
        round => format!("round {round}"),
    }
}

fn members(by: &[usize]) -> String {
    if by.is_empty() { "-".to_owned() } else { joined(by, ", ") }
}

/// Numbers of members, from 1 on.
fn joined(members: &[usize], between: &str) -> String {
    members.iter().map(|member| (member + 1).to_string()).collect::<Vec<_>>().join(between)
}

//! What rows to predict hold that no training row has.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::data::{Column, Kind, Naming, Table};
use crate::observer::Warning;
use crate::prepare::Preparation;

/// Number of values or features that a warning names.
const NAMED: usize = 3;

/// What rows to predict hold that no training row has, and that predictions do not use: values of nominal columns, numbered
/// features of LIBSVM files. Rows may come in several tables.
///
/// ```
/// use udeed::format::{Format, Reader};
/// use udeed::prepare::{Preparation, Scaling, Unseen};
///
/// let read = |text: &str| Reader::new().format(Format::Csv).read_from("rows", text.as_bytes());
/// let preparation = Preparation::fit(&read("colour\nred\nblue\n")?.table, Scaling::MinMax)?;
/// let mut unseen = Unseen::default();
/// unseen.add(&preparation, &read("colour\nred\ngreen\ngreen\n")?.table);
/// let warning = unseen.warnings().next().unwrap().to_string();
/// assert_eq!(warning, "column `colour`: values in 2 rows occur in no training row, such as `green`: they count as none");
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Unseen {
    /// By the place of the column among those of the preparation.
    values: BTreeMap<usize, (String, Found)>,
    features: Found,
}

/// Findings: the first few names, and the number of rows.
#[derive(Debug, Clone, Default)]
struct Found {
    names: Vec<String>,
    rows: usize,
}

impl Found {
    fn name(&mut self, name: &str) {
        if self.names.len() < NAMED && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

/// What is looked for in a column of a table.
enum Wanted {
    Nothing,
    /// A numbered feature that no training row has.
    Feature,
    /// For each of its values whether no training row has it; the place among the columns of the preparation.
    Values(usize, Vec<bool>),
}

impl Wanted {
    fn of(column: &Column, naming: Naming, known: &HashMap<&str, (usize, &Kind)>) -> Self {
        match (known.get(column.name.as_str()), &column.kind) {
            (None, _) if naming == Naming::Index => Wanted::Feature,
            (Some((place, Kind::Nominal { levels: known })), Kind::Nominal { levels }) if levels != known => {
                let known: HashSet<&String> = known.iter().collect();
                let is_new: Vec<bool> = levels.iter().map(|level| !known.contains(level)).collect();
                if is_new.contains(&true) { Wanted::Values(*place, is_new) } else { Wanted::Nothing }
            }
            _ => Wanted::Nothing,
        }
    }
}

impl Unseen {
    /// Adds what a table has.
    pub fn add(&mut self, preparation: &Preparation, table: &Table) {
        let columns = table.columns();
        if columns == preparation.columns() {
            return;
        }
        let known = preparation.columns().iter().zip(0..).map(|(column, place)| (&*column.name, (place, &column.kind)));
        let known: HashMap<&str, (usize, &Kind)> = known.collect();
        let wanted: Vec<Wanted> = columns.iter().map(|column| Wanted::of(column, table.naming(), &known)).collect();
        if wanted.iter().all(|wanted| matches!(wanted, Wanted::Nothing)) {
            return;
        }
        let rows = table.matrix().rows();
        let mut stored = vec![0; columns.len()];
        for i in 0..rows.n_rows() {
            let mut has_feature = false;
            rows.row(i).for_each(|j, x| {
                stored[j] += 1;
                if matches!(wanted[j], Wanted::Feature) && x != 0.0 {
                    self.features.name(&columns[j].name);
                    has_feature = true;
                }
                self.count(&wanted[j], &columns[j], x, 1);
            });
            self.features.rows += usize::from(has_feature);
        }
        // What sparse rows do not store is the first value.
        for (j, column) in columns.iter().enumerate() {
            self.count(&wanted[j], column, 0.0, rows.n_rows() - stored[j]);
        }
    }

    /// Adds the number of rows that have a value, if no training row has it.
    fn count(&mut self, wanted: &Wanted, column: &Column, x: f64, rows: usize) {
        let (Wanted::Values(place, is_new), Kind::Nominal { levels }) = (wanted, &column.kind) else { return };
        if rows > 0 && !x.is_nan() && is_new.get(x as usize) == Some(&true) {
            let (_, found) = self.values.entry(*place).or_insert_with(|| (column.name.clone(), Found::default()));
            found.name(&levels[x as usize]);
            found.rows += rows;
        }
    }

    /// A warning for each column with unseen values, and one for unseen features.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let values = self.values.values().map(|(column, found)| Warning::UnseenValues {
            column: column.clone(),
            values: found.names.clone(),
            rows: found.rows,
        });
        let features = Some(&self.features).filter(|found| found.rows > 0);
        values.chain(features.map(|found| Warning::UnseenFeatures { features: found.names.clone(), rows: found.rows }))
    }
}

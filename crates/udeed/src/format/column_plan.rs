//! The column plan: which columns of a file are read, and as what.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::data::{ClassNames, Column, Kind, Naming, missing_column, same_number};
use crate::error::{Error, Hint, Place, Result};
use crate::format::cells::is_missing;
use crate::text::{listed, quoted};

/// Options for the columns of a file.
#[derive(Debug, Clone)]
pub(super) struct ColumnOptions {
    /// Whether the file names its columns.
    pub(super) header: bool,
    pub(super) label: LabelColumn,
    /// A label that marks unlabeled rows, besides those that are missing.
    pub(super) unlabeled: Option<UnlabeledMark>,
    pub(super) nominal: Vec<String>,
    pub(super) drop: Vec<String>,
    /// Names of columns that are read besides those that the rows must have.
    pub(super) carried: Vec<String>,
    /// The columns that the rows must have, and how these got their names.
    pub(super) expected: Option<(Vec<Column>, Naming)>,
}

/// A label that marks unlabeled rows, and whether a row had it. No row had that of a clone, which is for another file.
#[derive(Debug)]
pub(super) struct UnlabeledMark {
    label: String,
    occurs: AtomicBool,
}

impl UnlabeledMark {
    pub(super) fn new(label: String) -> Self {
        UnlabeledMark { label, occurs: AtomicBool::new(false) }
    }

    fn is(&self, label: &str) -> bool {
        let is_mark = self.label == label || same_number(&self.label, label);
        self.occurs.fetch_or(is_mark, Ordering::Relaxed);
        is_mark
    }
}

impl Clone for UnlabeledMark {
    fn clone(&self) -> Self {
        UnlabeledMark::new(self.label.clone())
    }
}

/// The column with the labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LabelColumn {
    None,
    Required(String),
    IfPresent(String),
}

/// The columns that are read, each with its position in the file.
pub(super) struct ColumnPlan {
    /// Position of the label.
    pub(super) label: Option<usize>,
    /// Whether the labels are text, even if they look like numbers.
    pub(super) label_is_text: bool,
    /// The other columns, in order.
    pub(super) features: Vec<Feature>,
    pub(super) naming: Naming,
}

impl ColumnPlan {
    /// Kind of the labels, if the file does not say.
    pub(super) fn class_names(&self) -> ClassNames {
        if self.label_is_text { ClassNames::Text } else { ClassNames::Any }
    }
}

/// A column that is read as a feature.
pub(super) struct Feature {
    /// Position in the file, from 0.
    pub(super) source: usize,
    pub(super) name: String,
    /// The kind that it must have, if that is known before the file is read.
    pub(super) kind: Option<FeatureKind>,
}

/// The kind of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeatureKind {
    Numeric,
    Nominal,
    /// No feature: names, as exactly as the file has them.
    Carried,
}

impl FeatureKind {
    fn of(column: &Column) -> Self {
        match column.kind {
            Kind::Numeric => FeatureKind::Numeric,
            Kind::Nominal { .. } => FeatureKind::Nominal,
        }
    }
}

impl Default for ColumnOptions {
    fn default() -> Self {
        ColumnOptions {
            header: true,
            label: LabelColumn::None,
            unlabeled: None,
            nominal: Vec::new(),
            drop: Vec::new(),
            carried: Vec::new(),
            expected: None,
        }
    }
}

impl ColumnOptions {
    /// Whether a label marks an unlabeled row.
    pub(super) fn is_unlabeled(&self, label: &str) -> bool {
        is_missing(label) || self.unlabeled.as_ref().is_some_and(|mark| mark.is(label))
    }

    /// The label that was to mark unlabeled rows, if no row of the file has it that was read with these options.
    pub(super) fn unused_mark(&self) -> Option<String> {
        let mark = self.unlabeled.as_ref()?;
        // Those that mark unlabeled rows anyway are not looked for.
        (!mark.occurs.load(Ordering::Relaxed) && !is_missing(&mark.label)).then(|| mark.label.clone())
    }

    /// Whether a column is to be left out.
    pub(super) fn drops(&self, names: &[String], position: usize) -> bool {
        self.drop.iter().any(|column| find_column(names, column) == Some(position))
    }

    /// Plans the columns of a file with these names.
    pub(super) fn plan(&self, names: &[String], place: impl Fn() -> Place) -> Result<ColumnPlan> {
        let unknown = |column: &str, what: &str| {
            Error::input(place(), format!("no column {}", quoted(column)), format!("a {what} among {}", listed(names)))
        };
        let label = match &self.label {
            LabelColumn::None => None,
            LabelColumn::Required(column) => {
                Some(find_column(names, column).ok_or_else(|| unknown(column, "label column"))?)
            }
            LabelColumn::IfPresent(column) => self.find_label(names, column),
        };
        let all = |columns: &[String]| -> Result<HashSet<usize>> {
            columns.iter().map(|column| find_column(names, column).ok_or_else(|| unknown(column, "column"))).collect()
        };
        let (drop, nominal) = (all(&self.drop)?, all(&self.nominal)?);
        let naming = if self.header {
            Naming::Given
        } else {
            Naming::Position { width: names.len() - usize::from(label.is_some()) }
        };
        let carried = self.carried(names, naming, &place)?;
        if let (Some((_, Naming::Position { width: wanted })), Naming::Position { width }) = (&self.expected, naming)
            && *wanted != width
        {
            return Err(Error::input(
                place(),
                format!("{} columns", names.len()),
                format!("{wanted}, or {} with the labels", wanted.saturating_add(1)),
            )
            .with_hint(Hint::WidthOfTraining));
        }
        if let (LabelColumn::Required(_), Some(position)) = (&self.label, label)
            && drop.contains(&position)
        {
            let found = format!("column {} both as the labels and to be left out", quoted(&names[position]));
            return Err(Error::input(place(), found, "one of the two"));
        }
        let label = label.filter(|position| !carried.contains(position));
        let features = self.features(names, label, &drop, &nominal, &carried, naming);
        self.check_expected(&features, names, label, naming, place)?;
        let label_is_text = label.is_some_and(|position| nominal.contains(&position));
        Ok(ColumnPlan { label, label_is_text, features, naming })
    }

    /// The positions of the columns that are carried along.
    fn carried(&self, names: &[String], naming: Naming, place: impl Fn() -> Place) -> Result<HashSet<usize>> {
        if let ([column, ..], true) = (&self.carried[..], naming != Naming::Given) {
            return Err(Error::input(
                place(),
                "columns without names",
                format!("one that is called {}", quoted(column)),
            ));
        }
        let position = |column: &String| {
            let unknown = || {
                let expected = format!("a column to carry along among {}", listed(names));
                Error::input(place(), format!("no column {}", quoted(column)), expected)
            };
            names.iter().position(|name| name == column).ok_or_else(unknown)
        };
        self.carried.iter().map(position).collect()
    }

    /// The position of a label that the file need not have.
    fn find_label(&self, names: &[String], column: &str) -> Option<usize> {
        match &self.expected {
            // Numbered columns: the label is there if there is one column more than the others.
            Some((_, Naming::Position { width })) if !self.header => {
                if names.len() == width.saturating_add(1) {
                    find_column(names, column)
                } else {
                    None
                }
            }
            // A label that was given by name: a number in a name is no position.
            _ => names.iter().position(|name| name == column),
        }
    }

    /// The columns that are read as features.
    fn features(
        &self,
        names: &[String],
        label: Option<usize>,
        drop: &HashSet<usize>,
        nominal: &HashSet<usize>,
        carried: &HashSet<usize>,
        naming: Naming,
    ) -> Vec<Feature> {
        let expected: Option<HashMap<&str, &Column>> =
            self.expected.as_ref().map(|(columns, _)| columns.iter().map(|c| (c.name.as_str(), c)).collect());
        let mut features = Vec::new();
        let mut number = 0;
        for (source, name) in names.iter().enumerate() {
            if Some(source) == label {
                continue;
            }
            number += 1;
            let name = if naming == Naming::Given { name.clone() } else { number.to_string() };
            let mut kind = nominal.contains(&source).then_some(FeatureKind::Nominal);
            if let Some(expected) = &expected {
                match expected.get(name.as_str()) {
                    None if carried.contains(&source) => kind = Some(FeatureKind::Carried),
                    None => continue,
                    Some(column) => kind = Some(FeatureKind::of(column)),
                }
            }
            if !drop.contains(&source) || carried.contains(&source) {
                features.push(Feature { source, name, kind });
            }
        }
        features
    }

    /// Checks that every expected column is there.
    fn check_expected(
        &self,
        features: &[Feature],
        names: &[String],
        label: Option<usize>,
        naming: Naming,
        place: impl Fn() -> Place,
    ) -> Result<()> {
        let Some((expected, _)) = &self.expected else { return Ok(()) };
        let present: HashSet<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
        let Some(column) = expected.iter().find(|column| !present.contains(column.name.as_str())) else {
            return Ok(());
        };
        match names.iter().position(|name| naming == Naming::Given && *name == column.name) {
            // It is there, but was asked for as something else.
            Some(position) => {
                let asked = if label == Some(position) { "as the labels" } else { "to be left out" };
                let found = format!("column {} {asked}", quoted(&column.name));
                Err(Error::input(place(), found, "it among the features, as in training"))
            }
            None => Err(missing_column(&place().source, &column.name, names, expected, naming)),
        }
    }
}

/// The position of a column given by name or by number: `3` is the third, `-1` the last.
fn find_column(names: &[String], column: &str) -> Option<usize> {
    if let Some(position) = names.iter().position(|name| name == column) {
        return Some(position);
    }
    let number: i64 = column.parse().ok()?;
    let distance = usize::try_from(number.unsigned_abs()).ok()?;
    match number {
        0 => None,
        _ if distance > names.len() => None,
        1.. => Some(distance - 1),
        _ => Some(names.len() - distance),
    }
}

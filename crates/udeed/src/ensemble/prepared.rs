//! Training rows made ready for learning.

use std::sync::Arc;

use crate::data::{Blocks, Matrix, Spilled, SpilledBuilder, TrainSet};
use crate::ensemble::{Members, Shared};
use crate::error::{Error, Result};
use crate::learner::Logistic;
use crate::prepare::Preparation;

/// Training rows made ready: features, and the labels as -1 and 1.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) preparation: Preparation,
    pub(crate) classes: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) labeled: Matrix,
    pub(crate) targets: Vec<f64>,
    /// How much each labeled row counts.
    pub(crate) counts: Vec<f64>,
    pub(crate) unlabeled: Unlabeled,
    /// Logistic regression on all labels: what every ensemble is compared with, and where many searches begin.
    pub(crate) logistic: Members,
}

/// Unlabeled rows made ready.
#[derive(Debug, Clone)]
pub(crate) enum Unlabeled {
    InMemory(Matrix),
    InFile(Arc<Spilled>),
}

impl Unlabeled {
    pub(crate) fn blocks(&self) -> &dyn Blocks {
        match self {
            Unlabeled::InMemory(rows) => rows.rows(),
            Unlabeled::InFile(rows) => rows.as_ref(),
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.blocks().shape().0
    }

    /// The rows, for methods that need all of them at once.
    ///
    /// # Errors
    /// If they lie in a file.
    pub(crate) fn in_memory(&self) -> Result<&Matrix> {
        match self {
            Unlabeled::InMemory(rows) => Ok(rows),
            Unlabeled::InFile(rows) => {
                let found = format!("{} unlabeled rows in a file", rows.n_rows());
                Err(Error::training(found, "rows in memory, which this method needs")
                    .with_hint("allow more with `--memory`, or use `udeed` or `bagging`"))
            }
        }
    }
}

impl Prepared {
    pub(crate) fn new(train: &TrainSet, shared: Shared) -> Result<Self> {
        let classes = train.classes()?;
        let preparation = match train.spilled() {
            Some(below) => Preparation::fit_spilled(train.table(), below, shared.scaling)?,
            None => Preparation::fit(train.table(), shared.scaling)?,
        };
        let features = preparation.apply(train.table())?;
        let labels = train.labels();
        let (labeled, unlabeled): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(|&i| labels.get(i).is_some());
        let target = |&i: &usize| if labels.name(i) == Some(&classes[1]) { 1.0 } else { -1.0 };
        let targets: Vec<f64> = labeled.iter().map(target).collect();
        let rows = features.select(&labeled);
        let counts: Vec<f64> = labeled.iter().map(|&i| train.weight(i)).collect();
        let fit = Logistic { lambda: shared.lambda }.fit(rows.rows(), &targets, &counts, None)?;
        Ok(Prepared {
            labeled: rows,
            targets,
            counts,
            unlabeled: unlabeled_rows(features.select(&unlabeled), train, &preparation)?,
            logistic: Members::from_rows(&[fit.weights]),
            label: train.label_name().map(str::to_owned),
            preparation,
            classes,
        })
    }
}

fn unlabeled_rows(above: Matrix, train: &TrainSet, preparation: &Preparation) -> Result<Unlabeled> {
    let Some(below) = train.spilled() else { return Ok(Unlabeled::InMemory(above)) };
    let mut all = SpilledBuilder::new(below.folder())?;
    all.push(&above)?;
    preparation.spill(below, &mut all)?;
    Ok(Unlabeled::InFile(Arc::new(all.finish())))
}

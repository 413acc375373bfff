//! Training rows made ready for learning.

use std::sync::Arc;

use crate::data::{Blocks, Matrix, Spilled, SpilledBuilder, TrainSet};
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, Members, Shared, Vote};
use crate::error::{Error, Result};
use crate::learner::{Hypothesis, Linear, Logistic, n_heads, targets};
use crate::prepare::Preparation;

/// Training rows made ready: features, and the labels as numbers.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) preparation: Preparation,
    pub(crate) classes: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) labeled: Matrix,
    /// The class of each labeled row.
    pub(crate) codes: Vec<u8>,
    /// How much each labeled row counts.
    pub(crate) counts: Vec<f64>,
    pub(crate) unlabeled: Unlabeled,
    /// The question that two classes pose, or those whether a row is of each class or of another.
    pub(crate) heads: Vec<Head>,
}

/// A question with two answers.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The answer of each labeled row, -1 or 1.
    pub(crate) targets: Vec<f64>,
    /// Logistic regression on all labels: what every ensemble is compared with, and where many searches begin.
    pub(crate) logistic: Vec<f64>,
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
        let preparation = match shared.fourier {
            0 => preparation,
            n_features => preparation.with_fourier(n_features, train.table(), train.spilled(), shared.seed)?,
        };
        let features = preparation.apply(train.table())?;
        let labels = train.labels();
        let (labeled, unlabeled): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(|&i| labels.get(i).is_some());
        let known = labels.aligned(&classes)?;
        let codes: Vec<u8> = labeled.iter().filter_map(|&i| known.get(i)).map(|class| class as u8).collect();
        let rows = features.select(&labeled);
        let counts: Vec<f64> = labeled.iter().map(|&i| train.weight(i)).collect();
        let head = |head: usize| {
            let targets = targets(&codes, classes.len(), head);
            let logistic = Logistic { lambda: shared.lambda }.fit(rows.rows(), &targets, &counts, None)?.weights;
            Ok(Head { targets, logistic })
        };
        let heads: Vec<Head> = (0..n_heads(classes.len())).map(head).collect::<Result<_>>()?;
        Ok(Prepared {
            labeled: rows,
            codes,
            counts,
            unlabeled: unlabeled_rows(features.select(&unlabeled), train, &preparation)?,
            heads,
            label: train.label_name().map(str::to_owned),
            preparation,
            classes,
        })
    }
}

impl Prepared {
    pub(crate) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Logistic regression on the labels alone.
    pub(crate) fn logistic(&self) -> Ensemble {
        let part = |head: &Head| Part::alike(Members::from_rows(&[head.logistic.clone()]), Vote::Weighted);
        Ensemble::against_rest(self.n_classes(), self.heads.iter().map(part).collect())
    }

    /// The same as something that was learned.
    pub(crate) fn start(&self) -> Hypothesis {
        Hypothesis::Linear(Linear::new(self.heads.iter().map(|head| head.logistic.clone()).collect()))
    }
}

fn unlabeled_rows(above: Matrix, train: &TrainSet, preparation: &Preparation) -> Result<Unlabeled> {
    let Some(below) = train.spilled() else { return Ok(Unlabeled::InMemory(above)) };
    let mut all = SpilledBuilder::new(below.folder())?;
    all.push(&above)?;
    preparation.spill(below, &mut all)?;
    Ok(Unlabeled::InFile(Arc::new(all.finish())))
}

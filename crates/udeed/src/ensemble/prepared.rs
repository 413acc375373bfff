//! Training rows made ready for learning.

use crate::data::{Matrix, TrainSet};
use crate::ensemble::{Members, Shared};
use crate::error::Result;
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
    pub(crate) unlabeled: Matrix,
    /// Logistic regression on all labels: what every ensemble is compared with, and where many searches begin.
    pub(crate) logistic: Members,
}

impl Prepared {
    pub(crate) fn new(train: &TrainSet, shared: Shared) -> Result<Self> {
        let classes = train.classes()?;
        let preparation = Preparation::fit(train.table(), shared.scaling)?;
        let features = preparation.apply(train.table())?;
        let labels = train.labels();
        let (labeled, unlabeled): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(|&i| labels.get(i).is_some());
        let target = |&i: &usize| if labels.name(i) == Some(&classes[1]) { 1.0 } else { -1.0 };
        let targets: Vec<f64> = labeled.iter().map(target).collect();
        let rows = features.select(&labeled);
        let ones = vec![1.0; targets.len()];
        let fit = Logistic { lambda: shared.lambda }.fit(rows.rows(), &targets, &ones, None)?;
        Ok(Prepared {
            labeled: rows,
            targets,
            unlabeled: features.select(&unlabeled),
            logistic: Members::from_rows(&[fit.weights]),
            label: train.label_name().map(str::to_owned),
            preparation,
            classes,
        })
    }
}

//! Cross-validation on the labeled rows: accuracies, settings, thresholds.

mod grid;
mod threshold;

pub use grid::{Candidate, Choice, Grid, choose};
pub use threshold::{Threshold, choose_threshold};

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::error::Result;
use crate::fit::each_fold;
use crate::method::Method;
use crate::model::Model;
use crate::observer::Observer;

/// The accuracy on each held-out fold, of the ensemble and of its baselines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CrossValidation {
    /// Rows in each fold.
    pub n_rows: Vec<usize>,
    /// Accuracy of logistic regression on the labels alone.
    pub logistic: Vec<f64>,
    /// Accuracy of the initial members, before the descent; empty for methods without one.
    pub initial: Vec<f64>,
    /// Accuracy of the ensemble.
    pub model: Vec<f64>,
}

/// Stratified cross-validation: holds out each fold of the labeled rows in turn, fits to the others and to all unlabeled
/// rows, and measures the accuracy on the fold. Unlabeled rows are in every training part and in no test part.
///
/// # Errors
/// If there are fewer than 2 folds, a class has fewer labeled rows than there are folds, or a fit fails.
///
/// ```
/// use udeed::prelude::*;
///
/// let train = built_in("labor")?.read()?.into_train()?;
/// let validation = cross_validate(&Udeed::new().into(), &train, 4, &mut ())?;
/// assert_eq!(validation.model.len(), 4);
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn cross_validate(
    method: &Method,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
) -> Result<CrossValidation> {
    cross_validate_at(0.0, method, train, folds, observer)
}

/// As [`cross_validate`], with a decision threshold between two classes, see [`Model::with_threshold`].
///
/// # Errors
/// As [`cross_validate`] and [`Model::with_threshold`].
pub fn cross_validate_at(
    threshold: f64,
    method: &Method,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
) -> Result<CrossValidation> {
    let mut validation =
        CrossValidation { n_rows: Vec::new(), logistic: Vec::new(), initial: Vec::new(), model: Vec::new() };
    each_fold(method, train, folds, observer, |model, fold, test| {
        let accuracy = |model: &Model| Ok(model.evaluate(test.table(), test.labels())?.accuracy);
        validation.n_rows.push(fold.len());
        validation.logistic.push(accuracy(&model.logistic())?);
        if let Some(initial) = model.initial() {
            validation.initial.push(accuracy(&initial)?);
        }
        validation.model.push(accuracy(&model.with_threshold(threshold)?)?);
        Ok(())
    })?;
    Ok(validation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Table};

    #[test]
    fn a_row_of_a_fold_is_named_by_its_number_among_all() {
        // The fourth number fits the range of all, but not that of the others.
        let rows = [0.0, 1e-200, 2e-200, 1e200, 0.5e-200, 1.5e-200, 2.5e-200, 3e-200].map(|x| [x]);
        let labels = Labels::new((0..8).map(|i| Some(["a", "b"][i % 2])));
        let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
        let method = Method::named("bagging").unwrap();
        method.fit(&train).unwrap();
        let error = cross_validate(&method, &train, 4, &mut ()).unwrap_err();
        assert!(error.to_string().starts_with("the table, row 4, column `1`: found 1e200"), "{error}");
    }
}

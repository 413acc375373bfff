//! Cross-validation on the labeled rows: accuracies, settings, thresholds.

mod grid;

pub use grid::{Candidate, Choice, Grid, choose};

use serde::{Deserialize, Serialize};

use crate::data::{TrainSet, stratified_folds};
use crate::error::{Error, Result};
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

/// Fits a model without each fold of the labeled rows in turn, and calls `visit` with it, the indices of the fold and its
/// rows.
fn each_fold(
    method: &Method,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
    mut visit: impl FnMut(Model, &[usize], &TrainSet) -> Result<()>,
) -> Result<()> {
    if folds < 2 {
        return Err(Error::setting("folds", folds, "at least 2"));
    }
    let counts = train.labels().counts();
    if let Some(&fewest) = counts.iter().filter(|&&count| count > 0).min()
        && fewest < folds
    {
        return Err(Error::training(
            format!("{fewest} labeled rows of one class"),
            format!("at least {folds}, the folds"),
        ));
    }
    for fold in stratified_folds(train.labels(), folds, method.shared().seed) {
        let rest: Vec<usize> = (0..train.labels().len()).filter(|i| fold.binary_search(i).is_err()).collect();
        let fitted = method.fit_observed(&train.select(&rest), observer);
        let model = fitted.map_err(|error| error.among_rows(&rest))?;
        // The accuracy of an unfinished descent is no measure of the method.
        if model.training().was_stopped() {
            return Err(Error::Stopped);
        }
        visit(model, &fold, &train.select(&fold)).map_err(|error| error.among_rows(&fold))?;
    }
    Ok(())
}

/// Chooses the decision threshold between two classes that maximises the balanced accuracy of cross-validation on the labeled
/// rows; of several, the one nearest to 0.
///
/// # Errors
/// As [`cross_validate`]; also if there are more than two classes.
///
/// ```
/// use udeed::format::built_in;
/// use udeed::method::Udeed;
/// use udeed::validation::choose_threshold;
///
/// let train = built_in("diabetes")?.read()?.into_train()?;
/// let threshold = choose_threshold(&Udeed::new().into(), &train, 5, &mut ())?;
/// let plain = Udeed::new().fit(&train)?;
/// let before = plain.evaluate(train.table(), train.labels())?.balanced_accuracy;
/// let after = plain.with_threshold(threshold)?.evaluate(train.table(), train.labels())?.balanced_accuracy;
/// assert!(after > before);
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn choose_threshold(method: &Method, train: &TrainSet, folds: usize, observer: &mut dyn Observer) -> Result<f64> {
    let classes = train.classes()?;
    if classes.len() != 2 {
        return Err(Error::training(format!("{} classes", classes.len()), "two, between which a threshold decides"));
    }
    // For each held-out row its decision, whether it is of the second class, and its weight.
    let mut decided: Vec<(f64, bool, f64)> = Vec::new();
    each_fold(method, train, folds, observer, |model, fold, test| {
        let decisions = model.decision(test.table())?;
        let rows = fold.iter().enumerate().map(|(place, &row)| {
            let second = test.labels().name(place) == Some(classes[1].as_str());
            (decisions.get(place)[0], second, train.weight(row))
        });
        decided.extend(rows);
        Ok(())
    })?;
    Ok(best_threshold(decided))
}

fn best_threshold(mut decided: Vec<(f64, bool, f64)>) -> f64 {
    decided.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total = |of: bool| decided.iter().filter(|row| row.1 == of).map(|row| row.2).sum::<f64>();
    let (first, second) = (total(false), total(true));
    // With a threshold below all decisions, every row is predicted as the second class.
    let (mut below_first, mut below_second) = (0.0, 0.0);
    let (mut best, mut threshold) = (f64::NEG_INFINITY, 0.0);
    let mut lower = -1.0;
    for ties in decided.chunk_by(|a, b| a.0 == b.0) {
        let balance = below_first / first + (second - below_second) / second;
        // No threshold lies below a decision of -1.
        if let Some(between) = between(lower, ties[0].0)
            && (balance > best + 1e-12 || (balance > best - 1e-12 && between.abs() < f64::abs(threshold)))
        {
            (best, threshold) = (balance, between);
        }
        for row in ties {
            if row.1 { below_second += row.2 } else { below_first += row.2 }
        }
        lower = ties[0].0;
    }
    threshold
}

/// The threshold that leaves one decision below and the next above it: 0, or half way. Decisions at it count as below.
fn between(lower: f64, upper: f64) -> Option<f64> {
    let middle = if lower <= 0.0 && 0.0 < upper { 0.0 } else { 0.5 * (lower + upper) };
    // Between two neighbouring numbers there is none.
    (lower < upper).then_some(if middle < upper { middle } else { lower })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Table};

    #[test]
    fn a_row_of_a_fold_is_named_by_its_number_among_all() {
        // The fourth number fits the range of all, but not that of the others.
        let rows = [0.0, 1e-200, 2e-200, 1e200, 0.0, 1e-200, 2e-200, 3e-200].map(|x| [x]);
        let labels = Labels::new((0..8).map(|i| Some(["a", "b"][i % 2])));
        let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
        let method = Method::named("bagging").unwrap();
        method.fit(&train).unwrap();
        let error = cross_validate(&method, &train, 4, &mut ()).unwrap_err();
        assert!(error.to_string().starts_with("the table, row 4, column `1`: found 1e200"), "{error}");
    }

    #[test]
    fn the_threshold_lies_where_the_classes_part() {
        let rows = |list: &[(f64, bool)]| list.iter().map(|&(f, second)| (f, second, 1.0)).collect::<Vec<_>>();
        let found = best_threshold(rows(&[(-0.8, false), (-0.7, false), (-0.4, true), (0.3, true)]));
        assert!((found + 0.55).abs() < 1e-12, "{found}");
        // 0 wins ties.
        assert_eq!(best_threshold(rows(&[(-0.8, false), (0.3, true)])), 0.0);
        assert_eq!(best_threshold(rows(&[(0.3, true), (-0.8, false), (-0.2, false), (0.9, true)])), 0.0);
        // A decision at the threshold is of the first class.
        assert!(best_threshold(rows(&[(-0.8, false), (0.0, true)])) < 0.0);
        assert_eq!(best_threshold(rows(&[(0.0, false), (0.4, true)])), 0.0);
        assert_eq!(best_threshold(rows(&[(-1.0, false), (-1.0, true)])), 0.0);
        let next = 0.3_f64.next_up();
        assert_eq!(best_threshold(rows(&[(0.3, false), (next, true)])), 0.3);
        // A few rows of the second class among many of the first.
        let mut many = rows(&[(-0.5, true), (-0.45, true), (-0.1, true)]);
        many.extend((0..50).map(|i| (-0.99 + 0.0085 * f64::from(i), false, 1.0)));
        assert!(best_threshold(many) < -0.5);
    }
}

//! What the unlabeled rows gain, told by the labeled rows alone.

mod grid;

pub use grid::{Candidate, Choice, Grid, choose};

use serde::{Deserialize, Serialize};

use crate::data::{TrainSet, stratified_folds};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::model::Model;
use crate::observer::Observer;

/// The accuracy of each fold that was left out: of the ensemble, and of what the labels alone give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// Rows in each fold.
    pub n_rows: Vec<usize>,
    /// Logistic regression on the labels alone.
    pub logistic: Vec<f64>,
    /// The members before a descent; empty for methods without one.
    pub initial: Vec<f64>,
    /// The ensemble.
    pub model: Vec<f64>,
}

/// Leaves each fold of the labeled rows out in turn, fits the others together with all unlabeled rows, and measures the
/// accuracy on what was left out. Unlabeled rows are in every training part and in no test part.
///
/// # Errors
/// If there are fewer than 2 folds, a class has fewer labeled rows than there are folds, or a fit fails.
///
/// ```
/// use udeed::{Udeed, built_in, cross_validate};
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

/// The same, of ensembles with a threshold between two classes, see [`Model::with_threshold`].
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

/// Fits all but each fold of the labeled rows, and calls `visit` with the model, the rows of the fold and their places.
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
        let model = method.fit_observed(&train.select(&rest), observer)?;
        // A descent that was cut short says nothing of the rows left out.
        if model.training().was_stopped() {
            return Err(Error::Stopped);
        }
        visit(model, &fold, &train.select(&fold))?;
    }
    Ok(())
}

/// The threshold between two classes at which the mean of their shares of rows predicted right is the largest: by the
/// decisions on each fold of the labeled rows that models without it make. Of several the one nearest to 0.
///
/// # Errors
/// As [`cross_validate`]; also if there are more than two classes.
///
/// ```
/// use udeed::{Udeed, built_in, choose_threshold};
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
    // For each row left out its decision, whether it is of the second class, and how much it counts.
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
    // Below all decisions every row is of the second class.
    let (mut below_first, mut below_second) = (0.0, 0.0);
    let (mut best, mut threshold) = (f64::NEG_INFINITY, 0.0);
    let mut lower = -1.0;
    for ties in decided.chunk_by(|a, b| a.0 == b.0) {
        let between = if lower <= 0.0 && 0.0 <= ties[0].0 { 0.0 } else { 0.5 * (lower + ties[0].0) };
        let balance = below_first / first + (second - below_second) / second;
        if balance > best + 1e-12 || (balance > best - 1e-12 && between.abs() < f64::abs(threshold)) {
            (best, threshold) = (balance, between);
        }
        for row in ties {
            if row.1 { below_second += row.2 } else { below_first += row.2 }
        }
        lower = ties[0].0;
    }
    threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_lies_where_the_classes_part() {
        let rows = |list: &[(f64, bool)]| list.iter().map(|&(f, second)| (f, second, 1.0)).collect::<Vec<_>>();
        let found = best_threshold(rows(&[(-0.8, false), (-0.7, false), (-0.4, true), (0.3, true)]));
        assert!((found + 0.55).abs() < 1e-12, "{found}");
        // Where 0 is as good as any it stays.
        assert_eq!(best_threshold(rows(&[(-0.8, false), (0.3, true)])), 0.0);
        assert_eq!(best_threshold(rows(&[(0.3, true), (-0.8, false), (-0.2, false), (0.9, true)])), 0.0);
        // A few rows of the second class among many of the first.
        let mut many = rows(&[(-0.5, true), (-0.45, true), (-0.1, true)]);
        many.extend((0..50).map(|i| (-0.99 + 0.0085 * f64::from(i), false, 1.0)));
        assert!(best_threshold(many) < -0.5);
    }
}

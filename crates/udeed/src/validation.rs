//! What the unlabeled rows gain, told by the labeled rows alone.

use serde::{Deserialize, Serialize};

use crate::data::{TrainSet, stratified_folds};
use crate::ensemble::{Method, Observer};
use crate::error::{Error, Result};

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
    let mut validation =
        CrossValidation { n_rows: Vec::new(), logistic: Vec::new(), initial: Vec::new(), model: Vec::new() };
    for fold in stratified_folds(train.labels(), folds, method.shared().seed) {
        let rest: Vec<usize> = (0..train.labels().len()).filter(|i| fold.binary_search(i).is_err()).collect();
        let test = train.select(&fold);
        let model = method.fit_observed(&train.select(&rest), observer)?;
        let accuracy = |model: &crate::Model| Ok(model.evaluate(test.table(), test.labels())?.accuracy);
        validation.n_rows.push(fold.len());
        validation.logistic.push(accuracy(&model.logistic())?);
        if let Some(initial) = model.initial() {
            validation.initial.push(accuracy(&initial)?);
        }
        validation.model.push(accuracy(&model)?);
    }
    Ok(validation)
}

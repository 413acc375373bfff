//! Rounds of learning: after some answers a new model, new suggestions, and what has changed.

use std::collections::HashMap;

use crate::data::{Labels, TrainSet};
use crate::error::{Error, Result};
use crate::labeling::candidates::Candidates;
use crate::labeling::suggest::{Suggest, Suggestion};
use crate::method::Method;
use crate::model::Model;
use crate::observer::Observer;
use crate::random::{Purpose, Stream};

/// Number of suggestions of a round: enough to go on with while the next round is under way.
const SUGGESTIONS: usize = 20;
/// Largest number of unlabeled rows that a model learns from, and whose predictions are compared.
const MOST_UNLABELED: usize = 2000;

/// Learns from labels as they come in.
///
/// ```
/// use udeed::labeling::Rounds;
/// use udeed::prelude::*;
///
/// let train = built_in("vote")?.read()?.into_train()?;
/// let few = |n: usize| Labels::new((0..435).map(|i| train.labels().name(i).filter(|_| i < n)));
/// let mut rounds = Rounds::new(train.clone(), Auto::new(), 0);
/// let first = rounds.learn(few(20), &[], &mut ())?;
/// assert!(first.model.is_some() && first.changed.is_none());
/// assert!(first.suggestions.iter().all(|suggestion| suggestion.row >= 20));
/// let second = rounds.learn(few(30), &[400], &mut ())?;
/// assert!(second.changed.unwrap().1 > 400 && second.predictions.contains_key(&400));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug)]
pub struct Rounds {
    /// Taken out while its labels are replaced, and not while a model is fitted: a fit that panics leaves it here.
    train: Option<TrainSet>,
    suggest: Suggest,
    method: Method,
    seed: u64,
    /// The rows whose predictions are compared.
    compared: Vec<usize>,
    /// Predictions of the last model for them.
    before: HashMap<usize, String>,
}

/// A round: a model learned from some labels.
#[derive(Debug)]
#[non_exhaustive]
pub struct Round {
    /// The model; none while there are fewer than two classes.
    pub model: Option<Model>,
    /// The rows to label next, the most useful first.
    pub suggestions: Vec<Suggestion>,
    /// Whether no model was asked for them, as the labels are too few.
    pub cold: bool,
    /// Predictions of the model for suggested and other rows, none of whose labels it has seen.
    pub predictions: HashMap<usize, String>,
    /// How many predictions of unlabeled rows are others than those of the model before, and how many were compared; none
    /// where there was no such model.
    pub changed: Option<(usize, usize)>,
    /// Number of labels.
    pub n_labeled: usize,
}

impl Rounds {
    /// Learns from these rows by a method.
    pub fn new(train: TrainSet, method: impl Into<Method>, seed: u64) -> Self {
        let mut compared: Vec<usize> = (0..train.labels().len()).collect();
        Stream::new(seed, Purpose::RandomRows, 1).shuffle(&mut compared);
        compared.truncate(MOST_UNLABELED);
        let suggest = Suggest::new().count(SUGGESTIONS).seed(seed);
        Rounds { train: Some(train), suggest, method: method.into(), seed, compared, before: HashMap::new() }
    }

    /// Fits a model to labels, and suggests which rows to label next. Of the rows in `wanted` predictions are wanted, too.
    ///
    /// A model learns from the labels, and from all unlabeled rows or 2000 random ones.
    ///
    /// # Errors
    /// If there are more or fewer labels than rows, the labels cannot be learned from, or the observer ends the work.
    pub fn learn(&mut self, labels: Labels, wanted: &[usize], observer: &mut dyn Observer) -> Result<Round> {
        let found = format!("{} labels", labels.len());
        let Some(train) = self.train.take_if(|train| train.labels().len() == labels.len()) else {
            return Err(Error::training(found, "a label, or none, for each row"));
        };
        self.train = Some(train.with_labels(labels)?);
        let round = self.round(wanted, observer)?;
        let predicted = |row: &usize| Some((*row, round.predictions.get(row)?.clone()));
        self.before = self.compared.iter().filter_map(predicted).collect();
        Ok(round)
    }

    fn round(&self, wanted: &[usize], observer: &mut dyn Observer) -> Result<Round> {
        let train = self.train.as_ref().ok_or_else(|| Error::training("no rows", "some to learn from"))?;
        let occurring = train.labels().counts().into_iter().filter(|&count| count > 0).count();
        let model = match occurring {
            0 | 1 => None,
            _ => {
                let candidates = Candidates::draw(train, MOST_UNLABELED, self.seed)?;
                Some(candidates.learn(train, |some| self.method.fit_observed(some, observer))?)
            }
        };
        let asked = model.as_ref().filter(|_| self.suggest.wants_model(train));
        let suggestions = match train.n_unlabeled() {
            0 => Vec::new(),
            n => self.suggest.clone().count(SUGGESTIONS.min(n)).suggest_observed(train, asked, observer)?.suggestions,
        };
        let mut rows = self.compared.clone();
        rows.extend(suggestions.iter().map(|suggestion| suggestion.row).chain(wanted.iter().copied()));
        let predictions = match &model {
            Some(model) => predictions(model, train, rows)?,
            None => HashMap::new(),
        };
        let changed = self.changed(&predictions);
        let cold = asked.is_none();
        Ok(Round { model, suggestions, cold, predictions, changed, n_labeled: train.n_labeled() })
    }

    fn changed(&self, now: &HashMap<usize, String>) -> Option<(usize, usize)> {
        let both = self.before.iter().filter_map(|(row, before)| Some((before, now.get(row)?)));
        let (changed, of) = both.fold((0, 0), |(n, of), (before, now)| (n + usize::from(before != now), of + 1));
        (of > 0).then_some((changed, of))
    }
}

/// The predicted classes of those rows that have no label.
fn predictions(model: &Model, train: &TrainSet, mut rows: Vec<usize>) -> Result<HashMap<usize, String>> {
    rows.sort_unstable();
    rows.dedup();
    rows.retain(|&row| row < train.labels().len() && train.labels().get(row).is_none());
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    let table = train.table().select(&rows);
    let classes = model.predict(&table)?;
    Ok(rows.into_iter().zip(classes.into_iter().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::built_in;
    use crate::method::Bagging;

    /// The same labels give the same model, so that nothing changes; what a model has learned from it does not predict.
    #[test]
    fn what_changed_are_predictions_of_rows_without_a_label() {
        let train = built_in("vote").unwrap().read().unwrap().into_train().unwrap();
        let few = |n: usize| Labels::new((0..435).map(|i| train.labels().name(i).filter(|_| i < n)));
        let mut rounds = Rounds::new(train.clone(), Bagging::new(), 0);
        let first = rounds.learn(few(12), &[3, 100], &mut ()).unwrap();
        assert!(first.predictions.contains_key(&100) && first.predictions.keys().all(|&row| row >= 12));
        assert_eq!((first.predictions.len(), first.changed), (423, None));
        assert_eq!(rounds.learn(few(12), &[], &mut ()).unwrap().changed, Some((0, 423)));
        let other = rounds.learn(few(60), &[], &mut ()).unwrap();
        let differ = other.predictions.iter().filter(|(row, class)| first.predictions[*row] != **class).count();
        assert!(differ > 0);
        assert_eq!(other.changed, Some((differ, 375)));
    }
}

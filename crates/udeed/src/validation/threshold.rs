//! Decision thresholds between two classes, chosen by held-out rows.

use std::str::FromStr;

use crate::data::TrainSet;
use crate::error::{Error, Result};
use crate::fit::each_fold;
use crate::model::Model;
use crate::observer::{Observer, Warning};
use crate::text::quoted;

/// Decision threshold between two classes: a number, or a goal by which labeled rows choose it.
///
/// ```
/// use udeed::validation::Threshold;
///
/// assert_eq!("balanced".parse::<Threshold>()?, Threshold::Balanced);
/// assert_eq!("rate=0.05".parse::<Threshold>()?, Threshold::Rate(0.05));
/// assert_eq!("-0.2".parse::<Threshold>()?, Threshold::At(-0.2));
/// assert!("rate=2".parse::<Threshold>().is_err());
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This number, from -1 to 1.
    At(f64),
    /// The highest balanced accuracy: the mean of the shares of each class that are predicted as such.
    Balanced,
    /// The highest F1 score of the second class.
    F1,
    /// This share of the rows is predicted as the second class.
    Rate(f64),
}

impl Threshold {
    const EXPECTED: &'static str =
        "a number between -1 and 1, `balanced`, `f1`, or `rate=` and a share of the rows between 0 and 1";
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = match text {
            "balanced" => Some(Threshold::Balanced),
            "f1" => Some(Threshold::F1),
            _ => match text.strip_prefix("rate=") {
                Some(rate) => rate.parse().ok().filter(|rate| *rate > 0.0 && *rate < 1.0).map(Threshold::Rate),
                None => text.parse().ok().filter(|at| (-1.0..=1.0).contains(at)).map(Threshold::At),
            },
        };
        found.ok_or_else(|| Error::setting("threshold", quoted(text), Self::EXPECTED))
    }
}

/// The decision threshold between two classes that a goal asks for; of several, the one nearest to 0. Chosen by votes on
/// labeled rows of members that did not learn from them: out-of-bag ones where the model has such votes, see
/// [`Model::has_held_out`], and otherwise by cross-validation.
///
/// # Errors
/// If there are more than two classes, or no held-out row of one; without held-out votes as
/// [`cross_validate`](crate::validation::cross_validate).
///
/// ```
/// use udeed::method::Udeed;
/// use udeed::format::built_in;
/// use udeed::validation::{Threshold, choose_threshold};
///
/// let train = built_in("diabetes")?.read()?.into_train()?;
/// let model = Udeed::new().fit(&train)?;
/// let threshold = choose_threshold(&model, Threshold::Balanced, &train, 5, &mut ())?;
/// let before = model.evaluate(train.table(), train.labels())?.balanced_accuracy;
/// let after = model.with_threshold(threshold)?.evaluate(train.table(), train.labels())?.balanced_accuracy;
/// assert!(after > before);
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn choose_threshold(
    model: &Model,
    goal: Threshold,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
) -> Result<f64> {
    if let Threshold::At(threshold) = goal {
        return Ok(threshold);
    }
    let [_, second] = model.classes() else {
        let found = format!("{} classes", model.classes().len());
        return Err(Error::training(found, "two, between which a threshold decides"));
    };
    let decided = match &model.held_out {
        Some(held_out) => {
            let own = |(class, sign): (usize, f64)| {
                held_out.classes[class].iter().map(move |own| Decided {
                    decision: sign * own.vote,
                    second: class == 1,
                    weight: own.weight,
                })
            };
            [(0, -1.0), (1, 1.0)].into_iter().flat_map(own).collect()
        }
        None => decided_by_folds(model, second, train, folds, observer)?,
    };
    for (class, name) in model.classes().iter().enumerate() {
        if !decided.iter().any(|row| row.second == (class == 1)) {
            let found = format!("no out-of-bag row of class {}", quoted(name));
            return Err(Error::training(found, "at least 2 labeled rows of each class to choose a threshold by"));
        }
    }
    Ok(best_threshold(goal, decided))
}

impl Model {
    /// As [`Model::with_threshold`], with a warning if the threshold gives all training rows the same class, or does not
    /// give the rate that was its goal: votes may be coarse, and those of fits to folds on another scale.
    ///
    /// # Errors
    /// As [`Model::with_threshold`] and [`Model::decision`].
    ///
    /// ```
    /// use udeed::observer::Warning;
    /// use udeed::prelude::*;
    /// use udeed::validation::Threshold;
    ///
    /// let train = built_in("house")?.read()?.into_train()?;
    /// let model = Udeed::new().fit(&train)?.with_threshold_on(&train, Threshold::At(1.0), 1.0, &mut ())?;
    /// assert!(matches!(&model.training().warnings[..], [.., Warning::OneClassPredicted { .. }]));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn with_threshold_on(
        self,
        train: &TrainSet,
        goal: Threshold,
        threshold: f64,
        observer: &mut dyn Observer,
    ) -> Result<Model> {
        let mut model = self.with_threshold(threshold)?;
        if threshold == 0.0 && !matches!(goal, Threshold::Rate(_)) {
            return Ok(model);
        }
        let predicted = model.predict(train.table())?;
        let warning = rate_not_met(&model, goal, &predicted, train.n_labeled())
            .or_else(|| one_class_predicted(threshold, &predicted));
        if let Some(warning) = warning {
            observer.warn(&warning);
            model.training.warnings.push(warning);
        }
        Ok(model)
    }
}

/// A warning if the share of rows of the second class differs from the wanted one by more than chance explains for a threshold
/// chosen by `n_labeled` labels: by two standard errors, and by one in a hundred.
fn rate_not_met(model: &Model, goal: Threshold, predicted: &[&str], n_labeled: usize) -> Option<Warning> {
    let (Threshold::Rate(rate), [_, second]) = (goal, model.classes()) else { return None };
    let reached = predicted.iter().filter(|class| *class == second).count() as f64 / predicted.len().max(1) as f64;
    let error = (rate * (1.0 - rate) / n_labeled.max(1) as f64).sqrt();
    ((reached - rate).abs() > f64::max(2.0 * error, 0.01)).then(|| Warning::RateNotMet {
        wanted: rate.to_string(),
        reached: format!("{reached:.3}"),
        class: second.clone(),
    })
}

/// A warning if all rows are of one class.
fn one_class_predicted(threshold: f64, predicted: &[&str]) -> Option<Warning> {
    let [first, others @ ..] = predicted else { return None };
    others
        .iter()
        .all(|class| class == first)
        .then(|| Warning::OneClassPredicted { threshold: format!("{threshold:.3}"), class: (*first).to_owned() })
}

/// The decision on a row by members that did not learn from it.
#[derive(Clone, Copy)]
struct Decided {
    decision: f64,
    /// Whether the row is of the second class.
    second: bool,
    weight: f64,
}

fn decided_by_folds(
    model: &Model,
    second: &str,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
) -> Result<Vec<Decided>> {
    let mut decided = Vec::new();
    each_fold(model.method(), train, folds, observer, |model, fold, test| {
        let decisions = model.decision(test.table())?;
        let row = |(place, &row): (usize, &usize)| Decided {
            decision: decisions.get(place)[0],
            second: test.labels().name(place) == Some(second),
            weight: train.row_weight(row),
        };
        decided.extend(fold.iter().enumerate().map(row));
        Ok(())
    })?;
    Ok(decided)
}

fn best_threshold(goal: Threshold, mut decided: Vec<Decided>) -> f64 {
    decided.sort_by(|a, b| a.decision.total_cmp(&b.decision));
    let total = |of: bool| decided.iter().filter(|row| row.second == of).map(|row| row.weight).sum::<f64>();
    let (first, second) = (total(false), total(true));
    // With a threshold below all decisions, every row is predicted as the second class.
    let (mut below_first, mut below_second) = (0.0, 0.0);
    let (mut best, mut threshold) = (f64::NEG_INFINITY, 0.0);
    let mut lower = -1.0;
    let groups: Vec<&[Decided]> = decided.chunk_by(|a, b| a.decision == b.decision).collect();
    // Above all decisions lies 1.
    for place in 0..=groups.len() {
        let upper = groups.get(place).map_or(1.0, |ties| ties[0].decision);
        let (right, wrong) = (second - below_second, first - below_first);
        let value = match goal {
            Threshold::Balanced | Threshold::At(_) => below_first / first + right / second,
            Threshold::F1 => 2.0 * right / (second + right + wrong),
            Threshold::Rate(rate) => -((right + wrong) / (first + second) - rate).abs(),
        };
        // No threshold lies below a decision of -1.
        if let Some(between) = between(lower, upper)
            && (value > best + 1e-12 || (value > best - 1e-12 && between.abs() < f64::abs(threshold)))
        {
            (best, threshold) = (value, between);
        }
        for row in groups.get(place).into_iter().copied().flatten() {
            if row.second { below_second += row.weight } else { below_first += row.weight }
        }
        lower = upper;
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

    fn rows(list: &[(f64, bool)]) -> Vec<Decided> {
        list.iter().map(|&(decision, second)| Decided { decision, second, weight: 1.0 }).collect()
    }

    #[test]
    fn the_threshold_lies_where_the_classes_part() {
        let balanced = |list: &[(f64, bool)]| best_threshold(Threshold::Balanced, rows(list));
        let found = balanced(&[(-0.8, false), (-0.7, false), (-0.4, true), (0.3, true)]);
        assert!((found + 0.55).abs() < 1e-12, "{found}");
        // 0 wins ties.
        assert_eq!(balanced(&[(-0.8, false), (0.3, true)]), 0.0);
        assert_eq!(balanced(&[(0.3, true), (-0.8, false), (-0.2, false), (0.9, true)]), 0.0);
        // A decision at the threshold is of the first class.
        assert!(balanced(&[(-0.8, false), (0.0, true)]) < 0.0);
        assert_eq!(balanced(&[(0.0, false), (0.4, true)]), 0.0);
        assert_eq!(balanced(&[(-1.0, false), (-1.0, true)]), 0.0);
        let next = 0.3_f64.next_up();
        assert_eq!(balanced(&[(0.3, false), (next, true)]), 0.3);
        // A few rows of the second class among many of the first.
        let mut many = rows(&[(-0.5, true), (-0.45, true), (-0.1, true)]);
        many.extend((0..50).map(|i| Decided { decision: -0.99 + 0.0085 * f64::from(i), second: false, weight: 1.0 }));
        assert!(best_threshold(Threshold::Balanced, many.clone()) < -0.5);
        // Among negatives as high, the F1 score counts the many wrong ones, where the balanced accuracy counts their share.
        many.iter_mut().filter(|row| !row.second).for_each(|row| row.decision = 2.0 * row.decision + 0.97);
        let [balanced, f1] = [Threshold::Balanced, Threshold::F1].map(|goal| best_threshold(goal, many.clone()));
        assert!(f1 > -0.2 && balanced < -0.5, "{f1} {balanced}");
    }

    #[test]
    fn every_goal_is_met_as_nearly_as_a_threshold_can() {
        // Against all thresholds one by one.
        let list: Vec<(f64, bool)> = (0..40).map(|i| (f64::from(i * 17 % 40) / 20.0 - 0.97, i % 7 < i % 3)).collect();
        let counts = |threshold: f64| {
            let above = |of: bool| list.iter().filter(|row| row.1 == of && row.0 > threshold).count() as f64;
            let total = |of: bool| list.iter().filter(|row| row.1 == of).count() as f64;
            (above(true), above(false), total(true), total(false))
        };
        let value = |goal: Threshold, threshold: f64| {
            let (right, wrong, second, first) = counts(threshold);
            match goal {
                Threshold::F1 => 2.0 * right / (2.0 * right + wrong + (second - right)),
                Threshold::Rate(rate) => -((right + wrong) / (first + second) - rate).abs(),
                _ => 0.5 * (right / second + (first - wrong) / first),
            }
        };
        let goals =
            [Threshold::Balanced, Threshold::F1, Threshold::Rate(0.05), Threshold::Rate(0.01), Threshold::Rate(0.6)];
        for goal in goals {
            let found = value(goal, best_threshold(goal, rows(&list)));
            let best = (0..=400).map(|i| value(goal, f64::from(i) / 200.0 - 1.0)).fold(f64::NEG_INFINITY, f64::max);
            assert!((found - best).abs() < 1e-12, "{goal:?}: {found} against {best}");
        }
        // A share so small that no row is the nearest to it.
        assert_eq!(counts(best_threshold(Threshold::Rate(0.01), rows(&list))).0, 0.0);
    }
}

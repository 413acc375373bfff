//! Where the descent begins: prepared rows, members fitted on the labels alone.

use std::ops::ControlFlow;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::data::{Matrix, TrainSet};
use crate::ensemble::{Initial, Members, Observer, Udeed};
use crate::error::{Error, Result, listed};
use crate::learner::Logistic;
use crate::prepare::Preparation;
use crate::rng::{Purpose, Stream};

/// Training rows made ready: features, and the labels as -1 and 1.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) preparation: Preparation,
    pub(crate) classes: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) labeled: Matrix,
    pub(crate) targets: Vec<f64>,
    pub(crate) unlabeled: Matrix,
}

impl Prepared {
    fn new(settings: &Udeed, train: &TrainSet) -> Result<Self> {
        let classes = two_classes(train)?;
        let preparation = Preparation::fit(train.table(), settings.scaling)?;
        let features = preparation.apply(train.table())?;
        let labels = train.labels();
        let (labeled, unlabeled): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(|&i| labels.get(i).is_some());
        let target = |&i: &usize| if labels.name(i) == Some(&classes[1]) { 1.0 } else { -1.0 };
        Ok(Prepared {
            targets: labeled.iter().map(target).collect(),
            labeled: features.select(&labeled),
            unlabeled: features.select(&unlabeled),
            label: train.label_name().map(str::to_owned),
            preparation,
            classes,
        })
    }
}

/// The classes that occur, which must be two.
fn two_classes(train: &TrainSet) -> Result<Vec<String>> {
    let labels = train.labels();
    let counts = labels.counts();
    let present = labels.classes().iter().zip(&counts).filter(|&(_, &count)| count > 0);
    let classes: Vec<String> = present.map(|(class, _)| class.clone()).collect();
    match classes.as_slice() {
        [] => Err(Error::training("no labeled row", "some of each of two classes")
            .with_hint("labels are read from the column given by `--label`")),
        [only] => Err(Error::training(format!("one class, `{only}`"), "two")
            .with_hint("rows of another class need labels too")),
        [_, _] => Ok(classes),
        more => Err(Error::training(format!("{} classes: {}", more.len(), listed(more)), "two").with_hint(
            "more than two are not supported yet; if this column holds numbers to predict, another one holds the labels",
        )),
    }
}

/// The start of a fit: the rows made ready, logistic regression on the labels alone, and the initial members. Descents
/// with different settings can begin here.
///
/// ```
/// use udeed::{Udeed, Variant, built_in};
///
/// let train = built_in("labor")?.read()?.into_train()?;
/// let start = Udeed::new().members(10).start(&train, &mut ())?;
/// let small = start.descend(&Udeed::new().members(5).variant(Variant::Lcd), &mut ())?;
/// assert_eq!(small.members().n_members(), 5);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct InitialEnsemble {
    pub(crate) settings: Udeed,
    pub(crate) prepared: Prepared,
    pub(crate) logistic: Members,
    pub(crate) members: Members,
}

impl InitialEnsemble {
    pub(crate) fn new(settings: &Udeed, train: &TrainSet, observer: &mut dyn Observer) -> Result<Self> {
        settings.validate()?;
        let prepared = Prepared::new(settings, train)?;
        let learner = Logistic { lambda: settings.lambda };
        let ones = vec![1.0; prepared.targets.len()];
        let logistic = learner.fit(prepared.labeled.rows(), &prepared.targets, &ones, None)?.weights;
        let members = match settings.initial {
            Initial::Bootstrap => bootstrapped(settings, &prepared, &logistic, observer)?,
            Initial::Random => random(settings, logistic.len()),
        };
        Ok(InitialEnsemble {
            settings: settings.clone(),
            prepared,
            logistic: Members::from_rows(&[logistic]),
            members: Members::from_rows(&members),
        })
    }
}

/// Each member on rows drawn with replacement.
fn bootstrapped(
    settings: &Udeed,
    prepared: &Prepared,
    start: &[f64],
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<f64>>> {
    let total = settings.members;
    let learner = Logistic { lambda: settings.lambda };
    let seen = Mutex::new((0, observer));
    (0..total)
        .into_par_iter()
        .map(|member| {
            let counts = bootstrap(&prepared.targets, settings.seed, member as u32);
            // All members are near the fit on all labels: beginning there saves half of the steps.
            let fit = learner.fit(prepared.labeled.rows(), &prepared.targets, &counts, Some(start))?;
            // A poisoned lock means that an observer panicked; that panic is already on its way.
            if let Ok(mut seen) = seen.lock() {
                seen.0 += 1;
                let done = seen.0;
                if let ControlFlow::Break(()) = seen.1.member(done, total) {
                    return Err(Error::Stopped);
                }
            }
            Ok(fit.weights)
        })
        .collect()
}

/// How often each row is drawn. A draw with one class only is repeated.
fn bootstrap(targets: &[f64], seed: u64, member: u32) -> Vec<f64> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0.0; targets.len()];
        for _ in targets {
            counts[stream.below(targets.len())] += 1.0;
        }
        let drawn = |class: f64| targets.iter().zip(&counts).any(|(&y, &count)| y == class && count > 0.0);
        if drawn(1.0) && drawn(-1.0) {
            return counts;
        }
    }
}

/// Uniform in `[-1, 1)`, over the root of the number of features so that scores do not grow with it.
fn random(settings: &Udeed, width: usize) -> Vec<Vec<f64>> {
    let scale = 2.0 / (width as f64).sqrt();
    (0..settings.members)
        .map(|member| {
            let mut stream = Stream::new(settings.seed, Purpose::RandomStart, member as u32);
            (0..width).map(|_| scale * (stream.unit() - 0.5)).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_has_both_classes() {
        let mut targets = vec![-1.0; 30];
        targets[7] = 1.0;
        for member in 0..200 {
            let counts = bootstrap(&targets, 5, member);
            assert!(counts[7] > 0.0);
            assert_eq!(counts.iter().sum::<f64>(), 30.0);
        }
    }
}

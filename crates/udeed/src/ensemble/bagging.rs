//! Bagging: members on rows drawn with replacement.
//!
//! L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

use std::ops::ControlFlow;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::{Members, Observer, Prepared, Vote};
use crate::error::{Error, Result};
use crate::learner::Logistic;
use crate::prepare::Scaling;
use crate::rng::{Purpose, Stream};

settings! {
    /// Bagging: each member is a logistic regression on labeled rows drawn with replacement. Unlabeled rows only help to
    /// scale the features. This is also where UDEED begins.
    ///
    /// ```
    /// use udeed::{Bagging, built_in};
    ///
    /// let train = built_in("vote")?.read()?.into_train()?;
    /// let model = Bagging::new().members(10).fit(&train)?;
    /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.9);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Bagging {
        /// How many members the ensemble has.
        members: usize = 20,
        /// How much the labels count against small weights in each member.
        lambda: f64 = 1.0,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How the members vote.
        vote: Vote = Vote::Weighted,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

impl Learn for Bagging {
    fn check(&self) -> Result<()> {
        check_members(self.members, 1)?;
        check_positive("lambda", self.lambda)
    }

    fn learn(&self, prepared: &Prepared, observer: &mut dyn Observer) -> Result<Learned> {
        let members = bootstrapped(prepared, self.members, self.lambda, self.seed, observer)?;
        Ok(Learned::alike(members, self.vote))
    }
}

/// Logistic regressions on bootstraps of the labeled rows.
pub(crate) fn bootstrapped(
    prepared: &Prepared,
    total: usize,
    lambda: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Members> {
    let learner = Logistic { lambda };
    // All members are near the fit on all labels: beginning there saves half of the steps.
    let start = prepared.logistic.weights_of(0);
    let seen = Mutex::new((0, observer));
    let fit = |member: usize| {
        let counts = bootstrap(&prepared.targets, seed, member as u32);
        let fit = learner.fit(prepared.labeled.rows(), &prepared.targets, &counts, Some(&start))?;
        // A poisoned lock means that an observer panicked; that panic is already on its way.
        if let Ok(mut seen) = seen.lock() {
            seen.0 += 1;
            let done = seen.0;
            if let ControlFlow::Break(()) = seen.1.member(done, total) {
                return Err(Error::Stopped);
            }
        }
        Ok(fit.weights)
    };
    let members: Vec<Vec<f64>> = (0..total).into_par_iter().map(fit).collect::<Result<_>>()?;
    Ok(Members::from_rows(&members))
}

/// How often each row is drawn. A draw with one class only is repeated.
fn bootstrap(targets: &[f64], seed: u64, member: u32) -> Vec<f64> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0.0; targets.len()];
        for _ in targets {
            counts[stream.below(targets.len())] += 1.0;
        }
        if has_both_classes(targets, &counts) {
            return counts;
        }
    }
}

/// Whether rows of both classes count.
pub(crate) fn has_both_classes(targets: &[f64], counts: &[f64]) -> bool {
    let counted = |class: f64| targets.iter().zip(counts).any(|(&y, &count)| y == class && count > 0.0);
    counted(1.0) && counted(-1.0)
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

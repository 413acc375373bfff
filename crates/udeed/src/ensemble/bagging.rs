//! Bagging: members on rows drawn with replacement.
//!
//! L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::{Members, Observer, Prepared, Vote};
use crate::error::{Error, Result};
use crate::learner::{Batch, Logistic};
use crate::neighbors::{half_of_memory, size};
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
    check_memory(prepared.targets.len(), total)?;
    let draw = |member: usize| bootstrap(&prepared.targets, seed, member as u32);
    let counts: Vec<Vec<u8>> = (0..total).into_par_iter().map(draw).collect();
    let batch = Batch {
        learner: Logistic { lambda },
        rows: prepared.labeled.rows(),
        targets: &prepared.targets,
        counts: &counts,
        weights: &prepared.counts,
        start: &prepared.logistic.weights_of(0),
    };
    let members = batch.fit(|done| match observer.member(done, total) {
        ControlFlow::Break(()) => Err(Error::Stopped),
        ControlFlow::Continue(()) => Ok(()),
    })?;
    Ok(Members::from_rows(&members))
}

/// Refuses bootstraps that take more than half of the memory: to ask for too much would end the process.
fn check_memory(n_rows: usize, total: usize) -> Result<()> {
    let (bytes, most) = ((n_rows as u64).saturating_mul(total as u64), half_of_memory());
    if bytes > most {
        let found = format!("{n_rows} labeled rows, of which {total} bootstraps take {}", size(bytes));
        return Err(Error::training(found, format!("at most {}", size(most))));
    }
    Ok(())
}

/// How often each row is drawn. A draw with one class only is repeated.
pub(crate) fn bootstrap(targets: &[f64], seed: u64, member: u32) -> Vec<u8> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0u8; targets.len()];
        for _ in targets {
            // More than 255 times is likelier to be an error of the machine.
            let count = &mut counts[stream.below(targets.len())];
            *count = count.saturating_add(1);
        }
        if has_both_classes(targets, &counts) {
            return counts;
        }
    }
}

/// Whether rows of both classes count.
pub(crate) fn has_both_classes<T: Default + PartialOrd>(targets: &[f64], counts: &[T]) -> bool {
    let counted = |class: f64| targets.iter().zip(counts).any(|(&y, count)| y == class && *count > T::default());
    counted(1.0) && counted(-1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::built_in;

    #[test]
    fn more_bootstraps_than_fit_into_memory_are_refused() {
        let train = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
        let error = Bagging::new().members(u32::MAX as usize).fit(&train).unwrap_err().to_string();
        assert!(error.contains("351 labeled rows, of which 4294967295 bootstraps take 1"), "{error}");
    }

    #[test]
    fn a_bootstrap_has_both_classes() {
        let mut targets = vec![-1.0; 30];
        targets[7] = 1.0;
        for member in 0..200 {
            let counts = bootstrap(&targets, 5, member);
            assert!(counts[7] > 0);
            assert_eq!(counts.iter().map(|&count| u32::from(count)).sum::<u32>(), 30);
        }
    }
}

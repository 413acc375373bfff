//! Bagging: members on rows drawn with replacement.
//!
//! L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::prepared::Head;
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, Members, Prepared, Vote, Watch};
use crate::error::{Error, Result, size};
use crate::learner::{Base, Batch, Logistic, Sample};
use crate::neighbors::half_of_memory;
use crate::parallel;
use crate::prepare::Scaling;
use crate::rng::{Purpose, Stream, member_seed};

settings! {
    /// Bagging: each member is fitted to labeled rows drawn with replacement. Unlabeled rows only help to scale the features.
    /// With logistic regressions, the default, this is where UDEED begins.
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
        /// Which base learner makes the members. With trees that look at some features only, it is a random forest.
        base: Base = Base::Logistic,
        /// How much the labels count against small weights in logistic regression.
        lambda: f64 = 1.0,
        /// Whether rows that members were not fitted to choose lambda, as they do in [`Auto`](crate::Auto).
        choose_lambda: bool = false,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How many random Fourier features the members see in place of the scaled ones, so that they draw curved
        /// boundaries, see [`FourierMap`](crate::FourierMap); 0 for none. `Scaling::Standard` and a larger lambda, such
        /// as 10, go well with it.
        fourier: usize = 0,
        /// How the members vote.
        vote: Vote = Vote::Weighted,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

impl Learn for Bagging {
    fn check(&self) -> Result<()> {
        check_members(self.members, 1)?;
        self.base.validate()?;
        if self.choose_lambda && self.base != Base::Logistic {
            return Err(Error::setting("choose_lambda", true, "`false`: only logistic regression has a lambda"));
        }
        check_positive("lambda", self.lambda)
    }

    fn learn(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned> {
        if self.base != Base::Logistic {
            return self.learn_any(prepared, watch);
        }
        let heads = bootstrapped(prepared, self.members, self.lambda, self.seed, watch)?;
        let parts = heads.into_iter().map(|members| Part::alike(members, self.vote)).collect();
        Ok(Ensemble::against_rest(prepared.n_classes(), parts).into())
    }
}

impl Bagging {
    /// Members that are not logistic regressions.
    fn learn_any(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned> {
        let counts = bootstraps(&prepared.codes, self.seed, self.members)?;
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes[..], prepared.n_classes());
        let sample = Sample { rows, classes, n_classes, weights: &prepared.counts, seed: self.seed };
        let learner = self.base.learner(self.lambda, watch);
        let mut members = Vec::with_capacity(counts.len());
        // Some at a time, so that whoever looks on can end it.
        for some in counts.chunks(SOME) {
            let seed = member_seed(self.seed, members.len());
            members.extend(learner.learn_each(&Sample { seed, ..sample }, some)?);
            watch.member(members.len(), self.members)?;
        }
        Ok(Ensemble::whole(n_classes, Part::alike(members, self.vote)).into())
    }
}

/// How many members are learned between two looks of an observer.
const SOME: usize = 10;

/// Logistic regressions on bootstraps of the labeled rows, for each question the same bootstraps.
pub(crate) fn bootstrapped(
    prepared: &Prepared,
    total: usize,
    lambda: f64,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Vec<Members>> {
    let counts = bootstraps(&prepared.codes, seed, total)?;
    let all = total * prepared.heads.len();
    let fit = |(place, head): (usize, &Head)| {
        let batch = Batch {
            learner: Logistic { lambda },
            rows: prepared.labeled.rows(),
            targets: &head.targets,
            counts: &counts,
            weights: &prepared.counts,
            start: &head.logistic,
            before: (place * total, all),
        };
        Ok(Members::from_rows(&batch.fit(watch)?))
    };
    prepared.heads.iter().enumerate().map(fit).collect()
}

/// How often each row is drawn, for so many members.
pub(crate) fn bootstraps(classes: &[u8], seed: u64, total: usize) -> Result<Vec<Vec<u8>>> {
    check_memory(classes.len(), total)?;
    Ok(parallel::map(total, |member| bootstrap(classes, seed, member as u32)))
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
pub(crate) fn bootstrap(classes: &[u8], seed: u64, member: u32) -> Vec<u8> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0u8; classes.len()];
        for _ in classes {
            // More than 255 times is likelier to be an error of the machine.
            let count = &mut counts[stream.below(classes.len())];
            *count = count.saturating_add(1);
        }
        if has_two_classes(classes, &counts) {
            return counts;
        }
    }
}

/// Whether rows of more than one class count.
pub(crate) fn has_two_classes<T: Default + PartialOrd>(classes: &[u8], counts: &[T]) -> bool {
    let mut counted = classes.iter().zip(counts).filter(|(_, count)| **count > T::default()).map(|(class, _)| class);
    let first = counted.next();
    counted.any(|class| Some(class) != first)
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
        let mut classes = vec![0; 30];
        classes[7] = 1;
        for member in 0..200 {
            let counts = bootstrap(&classes, 5, member);
            assert!(counts[7] > 0);
            assert_eq!(counts.iter().map(|&count| u32::from(count)).sum::<u32>(), 30);
        }
    }
}

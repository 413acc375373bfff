//! Bagging: members on rows drawn with replacement.
//!
//! L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

use crate::ensemble::Learned;
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, TrainingRows, Vote};
use crate::ensemble::{bootstrapped, bootstraps};
use crate::error::{Error, Result};
use crate::learner::{Base, Sample};
use crate::method::Learn;
use crate::method::declare::{check_members, check_positive, settings};
use crate::observer::Watch;
use crate::prepare::Scaling;
use crate::random::member_seed;

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

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
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
    fn learn_any(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
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
}

//! Bagging: members fitted to bootstraps.

use crate::data::Dense;
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, Lambda, Learned, TrainingRows, Vote, bootstrapped, bootstraps, out_of_bag};
use crate::error::{Error, Result};
use crate::learner::{Base, Sample};
use crate::method::Learn;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::random::member_seed;

method! {
    /// Bagging: each member is fitted to a bootstrap, labeled rows drawn with replacement.
    ///
    /// With logistic regressions, the default, these are the initial members of UDEED. Unlabeled rows only help to scale the
    /// features.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("vote")?.read()?.into_train()?;
    /// let model = Bagging::new().members(10).fit(&train)?;
    /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.9);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Bagging = "bagging" {
        title: "Bagging",
        python: "BaggingClassifier",
        paper: "L. Breiman, \"Bagging predictors\", Machine Learning 24, 1996",
        streams: true,
        grows: true,
    }
    settings {
        members = 20, from 1;
        /// Base learner of the members. Trees with random features at each split make a random forest.
        base: Base = Base::Logistic;
        lambda_or_auto; scaling; fourier; calibrated;
        /// Vote of the members.
        vote: Vote = Vote::Weighted;
        seed;
    }
}

impl Learn for Bagging {
    fn check(&self) -> Result<()> {
        if self.lambda == Lambda::Auto && self.base != Base::Logistic {
            return Err(Error::setting("lambda", "`auto`", "a number: only logistic regression is regularised"));
        }
        Ok(())
    }

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        if self.base != Base::Logistic {
            return self.learn_any(prepared, watch);
        }
        let draws = bootstraps(&prepared.codes, self.seed, self.members)?;
        let heads = bootstrapped(prepared, &draws, self.lambda.value(), watch)?;
        let parts = heads.into_iter().map(|members| Part::alike(members, self.vote)).collect();
        let ensemble = Ensemble::against_rest(prepared.n_classes(), parts);
        Learned::of_bootstraps(ensemble, prepared, &draws, watch)
    }

    fn out_of_bag(&self, prepared: &TrainingRows, learned: &Learned) -> Result<Option<Dense>> {
        let draws = bootstraps(&prepared.codes, self.seed, self.members)?;
        Ok(Some(out_of_bag::estimates(&learned.ensemble, &prepared.seen(&draws).0, &prepared.labeled)?))
    }
}

impl Bagging {
    /// Fits members that are not logistic regressions.
    fn learn_any(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let counts = bootstraps(&prepared.codes, self.seed, self.members)?;
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes[..], prepared.n_classes());
        let sample = Sample { rows, classes, n_classes, weights: &prepared.weights, seed: self.seed };
        let learner = self.base.learner(self.lambda.value(), watch);
        let mut members = Vec::with_capacity(counts.len());
        // In chunks, so that the observer can end the fit.
        for some in counts.chunks(SOME) {
            let seed = member_seed(self.seed, members.len());
            let fitted = learner.learn_each(&Sample { seed, ..sample }, some);
            members.extend(fitted.map_err(|error| error.after_members(members.len()))?);
            watch.member(members.len(), self.members)?;
        }
        let ensemble = Ensemble::whole(n_classes, Part::alike(members, self.vote));
        Learned::of_bootstraps(ensemble, prepared, &counts, watch)
    }
}

/// Number of members fitted between two reports to the observer.
const SOME: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::built_in;

    #[test]
    fn more_members_than_fit_into_memory_are_refused() {
        let train = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
        let error = Bagging::new().members(u32::MAX as usize).fit(&train).unwrap_err().to_string();
        let expected = "4294967295 members of 35 weights for 351 labeled rows take 5884.0 GiB, expected at most";
        assert!(error.starts_with(expected), "{error}");
    }
}

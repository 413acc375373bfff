//! AdaBoost with strong base learners.

use crate::ensemble::boosting::{Boosted, Emphasis, chance, weight_of};
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample, normalise};
use crate::method::Learn;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::random::{Purpose, Stream};

/// Largest number of consecutive resampled members no better than chance before boosting ends.
const MOST_RETRIES: usize = 25;

method! {
    /// AdaBoost: each member is fitted with larger weights on the rows that its predecessors misclassify.
    ///
    /// For more than two classes it is SAMME. Unlabeled rows only help to scale the features.
    ///
    /// ```
    /// use udeed::learner::{Base, TreeSettings};
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("diabetes")?.read()?.into_train()?;
    /// let stumps = Base::Tree(TreeSettings { depth: Some(1), ..TreeSettings::default() });
    /// let model = AdaBoost::new().members(50).base(stumps).fit(&train)?;
    /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.75);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    AdaBoost = "adaboost" {
        title: "AdaBoost",
        python: "AdaBoostClassifier",
        paper: "Y. Freund and R. Schapire, \"A decision-theoretic generalization of on-line learning and an application to boosting\", EuroCOLT 1995; more than two classes: J. Zhu, H. Zou, S. Rosset and T. Hastie, \"Multi-class AdaBoost\", Statistics and its Interface 2, 2009",
        streams: true,
        grows: true,
    }
    settings {
        boosting;
        emphasis = Weighting;
        /// Treatment of a member without weighted error.
        zero_error: ZeroError = Keep, one of {
            /// It is kept, with the weight of an error of 1e-10, and boosting ends.
            Keep = "keep",
            /// It is discarded and boosting ends, possibly without any member. The AdaBoost results of the UDEED paper seem to
            /// be obtained in this way.
            Discard = "discard",
        };
        seed;
    }
}

impl Learn for AdaBoost {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let boosted = self.boost(&*learner, prepared, watch)?;
        Ok(boosted.finish(watch))
    }
}

impl AdaBoost {
    fn boost(&self, learner: &dyn Learner, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Boosted> {
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes, prepared.n_classes());
        let total: f64 = prepared.weights.iter().sum();
        let mut first = prepared.weights.clone();
        normalise(&mut first);
        let mut shares = first.clone();
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut boosted = Boosted::new(self.members, prepared.start());
        boosted.first_is_baseline = true;
        let mut retries = 0;
        while boosted.wants_more() {
            let weights = self.emphasis.row_weights(&mut stream, &shares, classes, classes.len(), total);
            let sample = Sample { rows, classes, n_classes, weights: &weights, seed: boosted.seed(self.seed) };
            let (member, outputs) = boosted.learn(learner, &sample, rows)?;
            let wrong = |i: usize| outputs[i] != classes[i];
            let error: f64 = (0..classes.len()).filter(|&i| wrong(i)).map(|i| shares[i]).sum();
            if error >= chance(n_classes) {
                retries += 1;
                if self.emphasis == Emphasis::Weighting || retries > MOST_RETRIES {
                    break;
                }
                shares.clone_from(&first);
                continue;
            }
            retries = 0;
            if error <= 0.0 && self.zero_error == ZeroError::Discard {
                boosted.discarded = true;
                break;
            }
            let weight = weight_of(error, n_classes);
            boosted.push(member, weight, watch)?;
            if error <= 0.0 {
                break;
            }
            for (i, share) in shares.iter_mut().enumerate() {
                *share *= libm::exp(if wrong(i) { weight } else { -weight });
            }
            normalise(&mut shares);
        }
        Ok(boosted)
    }
}

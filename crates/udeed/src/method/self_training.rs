//! Self-training: one learner that learns from its own surest guesses.
//!
//! D. Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", ACL 1995.

use crate::ensemble::Learned;
use crate::ensemble::pseudo_labels::{Growing, Guesses};
use crate::ensemble::{Ensemble, Part, Rule, TrainingRows};
use crate::error::{Error, Result};
use crate::learner::Base;
use crate::method::Learn;
use crate::method::declare::{check_positive, settings};
use crate::observer::{Warning, Watch};
use crate::prepare::Scaling;

settings! {
    /// Self-training: a learner is fitted to the labeled rows, labels the unlabeled ones that it is sure of, and is fitted
    /// again. The plain baseline of its kind: one member.
    ///
    /// ```
    /// use udeed::{SelfTraining, built_in};
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = SelfTraining::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.75);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    SelfTraining [1] {
        /// Which base learner it is.
        base: Base = Base::Logistic,
        /// How much the labels count against small weights in logistic regression.
        lambda: f64 = 1.0,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How many random Fourier features take the place of the features; 0 for none. They go well with `Scaling::Standard`
        /// and a lambda of 10.
        fourier: usize = 0,
        /// A label is given to rows whose class is more probable than this.
        threshold: f64 = 0.75,
        /// The most rounds.
        rounds: usize = 10,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

impl Learn for SelfTraining {
    fn check(&self) -> Result<()> {
        self.base.validate()?;
        check_positive("lambda", self.lambda)?;
        if !(0.0..1.0).contains(&self.threshold) {
            return Err(Error::setting("threshold", self.threshold, "at least 0 and below 1"));
        }
        Ok(())
    }

    fn grows(&self) -> bool {
        false
    }

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let mut growing = Growing::new(prepared)?;
        let mut left = growing.unlabeled();
        let nothing = left.is_empty();
        let mut member = growing.learn(&*learner, self.seed, Some(&prepared.start()))?;
        for round in 0..self.rounds {
            watch.member(round, self.rounds)?;
            let guesses = Guesses::by(&member, growing.rows(), &left);
            let before = left.len();
            let mut place = 0;
            left.retain(|&row| {
                let sure = guesses.confidences[place] > self.threshold;
                if sure {
                    growing.add(row, guesses.classes[place], 1.0);
                }
                place += 1;
                !sure
            });
            if left.len() == before {
                break;
            }
            member = growing.learn(&*learner, self.seed, Some(&member))?;
        }
        let part = Part::alike(vec![member], Rule::Weighted);
        let mut learned = Learned::from(Ensemble::whole(prepared.n_classes(), part));
        learned.warn(nothing.then_some(Warning::NothingUnlabeled), watch);
        Ok(learned)
    }
}

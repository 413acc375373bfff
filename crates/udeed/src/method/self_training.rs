//! Self-training: a base learner that is refitted with its own most confident pseudo-labels.

use crate::ensemble::pseudo_labels::{Predictions, PseudoLabels};
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows};
use crate::error::{Error, Result};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;

method! {
    /// Self-training: a base learner gives pseudo-labels to the unlabeled rows of which it is confident, and is refitted.
    ///
    /// The simplest semi-supervised baseline, with a single member.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = SelfTraining::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.75);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    SelfTraining = "self-training" {
        title: "Self-training",
        python: "SelfTrainingClassifier",
        paper: "D. Yarowsky, \"Unsupervised word sense disambiguation rivaling supervised methods\", ACL 1995",
        labels_rows: true,
        size: 1,
    }
    settings {
        learning;
        /// Confidence above which a row gets its predicted class as pseudo-label.
        confidence: f64 = 0.75, in Range::UNSURE;
        /// Largest number of rounds.
        rounds: usize = 10;
        seed;
    }
}

impl Learn for SelfTraining {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let mut pseudo_labels = PseudoLabels::new(prepared)?;
        let mut left = pseudo_labels.unlabeled();
        let mut rounds = LabelRounds::by_members(left.len());
        let mut member = pseudo_labels.learn(&*learner, self.seed, &prepared.start())?;
        for round in 0..self.rounds {
            watch.member(round, self.rounds)?;
            let in_round = |error: Error| error.in_round(round);
            let predictions = Predictions::by(&member, pseudo_labels.rows(), &left).map_err(in_round)?;
            let before = left.len();
            let mut place = 0;
            left.retain(|&row| {
                let sure = predictions.confidences[place] > self.confidence;
                if sure {
                    pseudo_labels.add(row, predictions.classes[place], 1.0);
                    rounds.note(row - pseudo_labels.n_labeled, round, &[0]);
                }
                place += 1;
                !sure
            });
            if left.len() == before {
                break;
            }
            member = pseudo_labels.learn(&*learner, self.seed, &member).map_err(in_round)?;
        }
        let part = Part::alike(vec![member], Rule::Weighted);
        let mut learned = Learned { rounds: Some(rounds), ..Ensemble::whole(prepared.n_classes(), part).into() };
        learned.warn(pseudo_labels.warning(pseudo_labels.any()), watch);
        Ok(learned)
    }
}

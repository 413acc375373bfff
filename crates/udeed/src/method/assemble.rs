//! ASSEMBLE: boosting with pseudo-labels from its own vote.

use crate::ensemble::boosting::{Boosted, Votes, chance, weight_of};
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample, normalise};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::nearest_point;
use crate::observer::{Warning, Watch};
use crate::random::{Purpose, Stream};

method! {
    /// ASSEMBLE.AdaBoost: boosting that gives the unlabeled rows pseudo-labels by its own vote.
    ///
    /// The first pseudo-label of a row is the label of its nearest labeled neighbour, later ones are the vote of the ensemble. Each
    /// member is fitted to rows drawn or weighted by `exp(-margin)`: the less certain the vote, the larger the weight.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = Assemble::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Assemble = "assemble" {
        title: "ASSEMBLE",
        python: "AssembleClassifier",
        paper: "K. Bennett, A. Demiriz and R. Maclin, \"Exploiting unlabeled data in ensemble methods\", KDD 2002 (ASSEMBLE.AdaBoost)",
        grows: true,
        labels_rows: true,
    }
    settings {
        boosting;
        emphasis = Resampling;
        /// Share of the labeled rows in the initial weights.
        labeled_share: f64 = 0.9, in Range::SHARE;
        seed;
    }
}

impl Learn for Assemble {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let mut learned = self.boost(&*learner, prepared, watch)?.finish(watch);
        let nothing = prepared.unlabeled.n_rows() == 0;
        learned.warn(nothing.then_some(Warning::NothingUnlabeled), watch);
        Ok(learned)
    }
}

impl Assemble {
    fn boost(&self, learner: &dyn Learner, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Boosted> {
        let unlabeled = prepared.unlabeled.in_memory()?;
        let all = prepared.labeled.stack(unlabeled)?;
        let (rows, l, n_classes) = (all.rows(), prepared.codes.len(), prepared.n_classes());
        let u = rows.n_rows() - l;
        let mut labels = prepared.codes.clone();
        let nearest = nearest_point(unlabeled.rows(), prepared.labeled.rows(), watch)?;
        labels.extend(nearest.into_iter().map(|k| prepared.codes[k]));
        let counted: f64 = prepared.weights.iter().sum();
        // The weight of each row apart from the vote: that of an unlabeled row is the mean weight of the labeled ones.
        let mut counts: Vec<f64> = prepared.weights.iter().map(|count| count * l as f64 / counted).collect();
        counts.resize(l + u, 1.0);
        let share =
            |i: usize| if i < l { self.labeled_share / l as f64 } else { (1.0 - self.labeled_share) / u as f64 };
        let mut shares: Vec<f64> = counts.iter().enumerate().map(|(i, count)| count * share(i)).collect();
        normalise(&mut shares);
        let mut votes = Votes::new(rows.n_rows(), n_classes);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut boosted = Boosted::new(self.members, prepared.start());
        while boosted.wants_more() {
            // The first member is drawn like the others: of the variants tried that comes nearest to the UDEED paper's results.
            let draws = self.emphasis.draws(l, labels.len());
            let drawn = self.emphasis.row_weights(&mut stream, &shares, &labels, draws, draws as f64);
            let seed = boosted.seed(self.seed);
            let sample = Sample { rows, classes: &labels, n_classes, weights: &drawn, seed };
            let (member, outputs) = boosted.learn(learner, &sample, rows)?;
            let error: f64 = (0..labels.len()).filter(|&i| outputs[i] != labels[i]).map(|i| shares[i]).sum();
            // At exactly chance the member's vote would have weight 0.
            if error >= chance(n_classes) {
                break;
            }
            let weight = weight_of(error, n_classes);
            boosted.push(member, weight, watch)?;
            boosted.learned_from(&drawn[l..]);
            votes.add(weight, &outputs);
            labels.iter_mut().enumerate().skip(l).for_each(|(i, label)| *label = votes.winner(i));
            // With large margins all shares but a few would vanish: the exponent is clamped to where they stay distinct.
            let margins = labels.iter().enumerate().map(|(i, &label)| votes.margin(i, label));
            let shares_now =
                margins.zip(&counts).map(|(margin, count)| count * libm::exp(-margin.clamp(-200.0, 200.0)));
            shares = shares_now.collect();
            normalise(&mut shares);
        }
        Ok(boosted)
    }
}

//! ASSEMBLE: boosting that labels the unlabeled rows by its own vote.
//!
//! K. Bennett, A. Demiriz and R. Maclin, "Exploiting unlabeled data in ensemble methods", KDD 2002 (ASSEMBLE.AdaBoost).

use crate::ensemble::adaboost::{Boosted, Emphasis, normalise, weight_of};
use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::{Observer, Prepared};
use crate::error::{Error, Result};
use crate::learner::{Learner, Logistic};
use crate::neighbors::nearest_point;
use crate::prepare::Scaling;
use crate::rng::{Purpose, Stream};

settings! {
    /// ASSEMBLE.AdaBoost: unlabeled rows begin with the label of their nearest labeled neighbour, then take the one that
    /// the ensemble votes for; each member is fitted to rows that are drawn, or weighted, by how unsure the vote is.
    ///
    /// ```
    /// use udeed::{Assemble, built_in};
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = Assemble::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Assemble {
        /// How many members the ensemble has at most; boosting may end earlier.
        members: usize = 20,
        /// How much the labels count against small weights in each member.
        lambda: f64 = 1.0,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How a member is told which rows matter: as many rows as are labeled are drawn, or all are weighted.
        emphasis: Emphasis = Emphasis::Resampling,
        /// What share of the first weights the labeled rows get.
        labeled_share: f64 = 0.9,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

impl Learn for Assemble {
    fn check(&self) -> Result<()> {
        check_members(self.members, 1)?;
        check_positive("lambda", self.lambda)?;
        if !(self.labeled_share > 0.0 && self.labeled_share <= 1.0) {
            return Err(Error::setting("labeled_share", self.labeled_share, "above 0 and at most 1"));
        }
        Ok(())
    }

    fn learn(&self, prepared: &Prepared, observer: &mut dyn Observer) -> Result<Learned> {
        let learner = Logistic { lambda: self.lambda };
        let boosted = self.boost(&learner, prepared, observer)?;
        Ok(boosted.finish(prepared, observer))
    }
}

impl Assemble {
    fn boost(&self, learner: &dyn Learner, prepared: &Prepared, observer: &mut dyn Observer) -> Result<Boosted> {
        let unlabeled = prepared.unlabeled.in_memory()?;
        let all = prepared.labeled.stack(unlabeled)?;
        let (rows, l) = (all.rows(), prepared.targets.len());
        let u = rows.n_rows() - l;
        let mut labels = prepared.targets.clone();
        let nearest = nearest_point(unlabeled.rows(), prepared.labeled.rows());
        labels.extend(nearest.into_iter().map(|k| prepared.targets[k]));
        let counted: f64 = prepared.counts.iter().sum();
        // How much each row counts beside the vote: unlabeled ones as much as a labeled one does on average.
        let mut counts: Vec<f64> = prepared.counts.iter().map(|count| count * l as f64 / counted).collect();
        counts.resize(l + u, 1.0);
        let share =
            |i: usize| if i < l { self.labeled_share / l as f64 } else { (1.0 - self.labeled_share) / u as f64 };
        let mut shares: Vec<f64> = counts.iter().enumerate().map(|(i, count)| count * share(i)).collect();
        normalise(&mut shares);
        let mut votes = vec![0.0; rows.n_rows()];
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut boosted = Boosted::new(self.members, prepared);
        while boosted.wants_more() {
            let draws = self.draws(l, labels.len());
            let drawn = self.emphasis.counts(&mut stream, &shares, &labels, draws, draws as f64);
            let member = learner.relearn(rows, &labels, &drawn, boosted.latest())?;
            let outputs = member.classify(rows);
            let error: f64 = (0..labels.len()).filter(|&i| outputs[i] != labels[i]).map(|i| shares[i]).sum();
            // At exactly one half the vote of the member would count nothing.
            if error >= 0.5 {
                break;
            }
            let weight = weight_of(error);
            boosted.push(member, weight, observer)?;
            for (vote, output) in votes.iter_mut().zip(&outputs) {
                *vote += weight * output;
            }
            for (label, &vote) in labels.iter_mut().zip(&votes).skip(l) {
                *label = if vote >= 0.0 { 1.0 } else { -1.0 };
            }
            // A certain vote makes every share but a few vanish; the exponent is kept where they can be told apart.
            let margins = labels.iter().zip(&votes).map(|(label, vote)| label * vote);
            let shares_now =
                margins.zip(&counts).map(|(margin, count)| count * libm::exp(-margin.clamp(-200.0, 200.0)));
            shares = shares_now.collect();
            normalise(&mut shares);
        }
        Ok(boosted)
    }

    /// As many rows are drawn as are labeled, the cheap way of the paper; weighted are all. The first member is drawn for
    /// like the others: of the ways that were tried, this came nearest to the UDEED paper's figures for ASSEMBLE.
    fn draws(&self, l: usize, n: usize) -> usize {
        if self.emphasis == Emphasis::Resampling { l } else { n }
    }
}

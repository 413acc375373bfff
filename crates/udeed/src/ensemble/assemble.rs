//! ASSEMBLE: boosting that labels the unlabeled rows by its own vote.
//!
//! K. Bennett, A. Demiriz and R. Maclin, "Exploiting unlabeled data in ensemble methods", KDD 2002 (ASSEMBLE.AdaBoost).

use crate::ensemble::adaboost::{Emphasis, chance, normalise, weight_of};
use crate::ensemble::boosted::Boosted;
use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, check_share, settings};
use crate::ensemble::{Prepared, Warning, Watch};
use crate::error::Result;
use crate::learner::{Base, Learner, Sample, n_heads, winner};
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
        /// Which base learner makes the members.
        base: Base = Base::Logistic,
        /// How much the labels count against small weights in logistic regression.
        lambda: f64 = 1.0,
        /// How features are scaled.
        scaling: Scaling = Scaling::MinMax,
        /// How many random Fourier features the members see in place of the scaled ones, so that they draw curved
        /// boundaries, see [`FourierMap`](crate::FourierMap); 0 for none. `Scaling::Standard` and a larger lambda, such
        /// as 10, go well with it.
        fourier: usize = 0,
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
        self.base.validate()?;
        check_positive("lambda", self.lambda)?;
        check_share("labeled_share", self.labeled_share)
    }

    fn learn(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let mut learned = self.boost(&*learner, prepared, watch)?.finish(watch);
        let nothing = prepared.unlabeled.n_rows() == 0;
        learned.warn(nothing.then_some(Warning::NothingUnlabeled), watch);
        Ok(learned)
    }
}

impl Assemble {
    fn boost(&self, learner: &dyn Learner, prepared: &Prepared, watch: &Watch<'_>) -> Result<Boosted> {
        let unlabeled = prepared.unlabeled.in_memory()?;
        let all = prepared.labeled.stack(unlabeled)?;
        let (rows, l, n_classes) = (all.rows(), prepared.codes.len(), prepared.n_classes());
        let u = rows.n_rows() - l;
        let mut labels = prepared.codes.clone();
        let nearest = nearest_point(unlabeled.rows(), prepared.labeled.rows(), watch)?;
        labels.extend(nearest.into_iter().map(|k| prepared.codes[k]));
        let counted: f64 = prepared.counts.iter().sum();
        // How much each row counts beside the vote: unlabeled ones as much as a labeled one does on average.
        let mut counts: Vec<f64> = prepared.counts.iter().map(|count| count * l as f64 / counted).collect();
        counts.resize(l + u, 1.0);
        let share =
            |i: usize| if i < l { self.labeled_share / l as f64 } else { (1.0 - self.labeled_share) / u as f64 };
        let mut shares: Vec<f64> = counts.iter().enumerate().map(|(i, count)| count * share(i)).collect();
        normalise(&mut shares);
        let mut votes = Votes::new(rows.n_rows(), n_classes);
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let mut boosted = Boosted::new(self.members, prepared.start());
        while boosted.wants_more() {
            let draws = self.draws(l, labels.len());
            let drawn = self.emphasis.counts(&mut stream, &shares, &labels, draws, draws as f64);
            let seed = boosted.seed(self.seed);
            let sample = Sample { rows, classes: &labels, n_classes, weights: &drawn, seed };
            let member = learner.relearn(&sample, boosted.latest())?;
            let outputs = member.classify(rows);
            let error: f64 = (0..labels.len()).filter(|&i| outputs[i] != labels[i]).map(|i| shares[i]).sum();
            // At exactly chance the vote of the member would count nothing.
            if error >= chance(n_classes) {
                break;
            }
            let weight = weight_of(error, n_classes);
            boosted.push(member, weight, watch)?;
            votes.add(weight, &outputs);
            labels.iter_mut().enumerate().skip(l).for_each(|(i, label)| *label = votes.winner(i));
            // A certain vote makes every share but a few vanish; the exponent is kept where they can be told apart.
            let margins = labels.iter().enumerate().map(|(i, &label)| votes.margin(i, label));
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

/// What the members said of each row so far: of two classes the voices for the second less those for the first, of more the
/// voices for each.
pub(crate) struct Votes {
    n_classes: usize,
    values: Vec<f64>,
}

impl Votes {
    pub(crate) fn new(n_rows: usize, n_classes: usize) -> Self {
        Votes { n_classes, values: vec![0.0; n_rows * n_heads(n_classes)] }
    }

    pub(crate) fn add(&mut self, weight: f64, outputs: &[u8]) {
        for (votes, &class) in self.values.chunks_exact_mut(n_heads(self.n_classes)).zip(outputs) {
            match votes {
                [vote] => *vote += if class == 1 { weight } else { -weight },
                votes => votes[usize::from(class)] += weight,
            }
        }
    }

    fn of(&self, i: usize) -> &[f64] {
        let width = n_heads(self.n_classes);
        &self.values[i * width..][..width]
    }

    pub(crate) fn winner(&self, i: usize) -> u8 {
        winner(self.of(i)) as u8
    }

    /// The voices for a class less those for the best other one.
    pub(crate) fn margin(&self, i: usize, class: u8) -> f64 {
        match self.of(i) {
            [vote] => {
                if class == 1 {
                    *vote
                } else {
                    -vote
                }
            }
            votes => {
                let others = votes.iter().enumerate().filter(|&(other, _)| other != usize::from(class));
                votes[usize::from(class)] - others.map(|(_, &vote)| vote).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_what_is_left_of_the_voices() {
        let mut two = Votes::new(1, 2);
        two.add(0.5, &[1]);
        two.add(0.7, &[0]);
        assert_eq!((two.winner(0), two.margin(0, 0), two.margin(0, 1)), (0, 0.7 - 0.5, 0.5 - 0.7));
        let mut three = Votes::new(1, 3);
        three.add(0.5, &[2]);
        three.add(0.25, &[1]);
        assert_eq!((three.winner(0), three.margin(0, 2), three.margin(0, 0)), (2, 0.25, -0.5));
    }
}

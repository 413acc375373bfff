//! SSMBoost: margin boosting in which an unlabeled row has the margin of its predicted class.

use crate::ensemble::boosting::{Boosted, boost_heads};
use crate::ensemble::pseudo_labels::PseudoLabels;
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Learned, TrainingRows};
use crate::error::Result;
use crate::learner::{Learner, Sample};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;

method! {
    /// SSMBoost: margin boosting in which an unlabeled row has the margin of its predicted class.
    ///
    /// The vote `g` is a weighted mean of the members; each further one lowers the mean of `exp(-margin)`. The margin of a labeled row
    /// is `y g`, that of an unlabeled one `g^2` or `|g|`. The first member is fitted to the labeled rows only, because base learners
    /// need labels. More than two classes are learned one against the rest.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = SsmBoost::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    SsmBoost = "ssmboost" {
        title: "SSMBoost",
        python: "SSMBoostClassifier",
        paper: "F. d'Alche-Buc, Y. Grandvalet and C. Ambroise, \"Semi-supervised MarginBoost\", NIPS 2001",
        grows: true,
        labels_rows: true,
    }
    settings {
        boosting;
        /// Margin of an unlabeled row.
        margin: UnlabeledMargin = Square, one of {
            /// The square of the vote.
            Square = "square",
            /// The absolute value of the vote.
            Absolute = "absolute",
        };
        /// Total weight of the unlabeled rows relative to the labeled ones.
        unlabeled_weight: f64 = 1.0, in Range::NOT_NEGATIVE;
        seed;
    }
}

impl Learn for SsmBoost {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let pseudo_labels = PseudoLabels::new(prepared)?;
        boost_heads(prepared, self.members, watch, |head, boosted| {
            self.boost(&*learner, prepared, &pseudo_labels, head, boosted, watch)
        })
    }
}

impl SsmBoost {
    fn boost(
        &self,
        learner: &dyn Learner,
        prepared: &TrainingRows,
        pseudo_labels: &PseudoLabels,
        head: &Head,
        boosted: &mut Boosted,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let cost = Cost::new(self, &head.targets, &prepared.weights, pseudo_labels.unlabeled().len());
        let mut votes = vec![0.0; pseudo_labels.classes.len()];
        boosted.first_is_baseline = true;
        // The total weight of the members: the vote is their mean.
        let mut total = 0.0;
        while boosted.wants_more() {
            let slopes = cost.slopes(&votes);
            let classes: Vec<u8> = slopes.iter().map(|&slope| u8::from(slope >= 0.0)).collect();
            // The total weight is that of the labels, so that lambda means the same in every round.
            let scale = prepared.weights.iter().sum::<f64>() / slopes.iter().map(|slope| slope.abs()).sum::<f64>();
            let weights: Vec<f64> = slopes.iter().map(|slope| scale * slope.abs()).collect();
            if !scale.is_finite() {
                break;
            }
            let seed = boosted.seed(self.seed);
            let sample =
                Sample { rows: pseudo_labels.rows(), classes: &classes, n_classes: 2, weights: &weights, seed };
            let (member, outputs) = boosted.learn(learner, &sample, pseudo_labels.rows())?;
            let outputs: Vec<f64> = outputs.iter().map(|&class| if class == 1 { 1.0 } else { -1.0 }).collect();
            let gain = |of: &[f64]| -> f64 { slopes.iter().zip(of).map(|(slope, f)| slope * f).sum() };
            if gain(&outputs) <= gain(&votes) {
                break;
            }
            let share = if total > 0.0 { cost.best_share(&votes, &outputs) } else { 1.0 };
            if share <= 0.0 {
                break;
            }
            // The weight that gives it the best share; a share of 1 would need an infinite weight.
            let weight = if total > 0.0 { total * share / (1.0 - share) } else { 1.0 };
            total += weight;
            votes.iter_mut().zip(&outputs).for_each(|(vote, output)| *vote += share * (output - *vote));
            boosted.push(member, weight, watch)?;
            boosted.learned_from(&weights[pseudo_labels.n_labeled..]);
        }
        Ok(())
    }
}

/// The mean of `exp(-margin)` over the labeled rows, and that over the unlabeled ones.
struct Cost<'a> {
    targets: &'a [f64],
    margin: UnlabeledMargin,
    /// The weight of each row.
    weights: Vec<f64>,
}

impl<'a> Cost<'a> {
    fn new(settings: &SsmBoost, targets: &'a [f64], counts: &[f64], n_unlabeled: usize) -> Self {
        let total: f64 = counts.iter().sum();
        let mut weights: Vec<f64> = counts.iter().map(|count| count / total).collect();
        weights.resize(targets.len() + n_unlabeled, settings.unlabeled_weight / n_unlabeled.max(1) as f64);
        Cost { targets, margin: settings.margin, weights }
    }

    fn value(&self, votes: &[f64]) -> f64 {
        let cost = |(i, &vote): (usize, &f64)| self.weights[i] * libm::exp(-self.margin_of(i, vote));
        votes.iter().enumerate().map(cost).sum()
    }

    fn margin_of(&self, i: usize, vote: f64) -> f64 {
        match (self.targets.get(i), self.margin) {
            (Some(target), _) => target * vote,
            (None, UnlabeledMargin::Square) => vote * vote,
            (None, UnlabeledMargin::Absolute) => vote.abs(),
        }
    }

    /// The negative derivative of the cost by the vote on each row: how much a vote for the second class lowers it.
    fn slopes(&self, votes: &[f64]) -> Vec<f64> {
        let slope = |(i, &vote): (usize, &f64)| {
            let rise = match (self.targets.get(i), self.margin) {
                (Some(&target), _) => target,
                (None, UnlabeledMargin::Square) => 2.0 * vote,
                // An undecided row has the subgradient 0.
                (None, UnlabeledMargin::Absolute) => {
                    if vote == 0.0 {
                        0.0
                    } else {
                        vote.signum()
                    }
                }
            };
            self.weights[i] * libm::exp(-self.margin_of(i, vote)) * rise
        };
        votes.iter().enumerate().map(slope).collect()
    }

    /// The share of a further member in the mean, below 1, that minimises the cost.
    fn best_share(&self, votes: &[f64], outputs: &[f64]) -> f64 {
        let at = |share: f64| {
            let mixed: Vec<f64> =
                votes.iter().zip(outputs).map(|(vote, output)| vote + share * (output - vote)).collect();
            self.value(&mixed)
        };
        // The cost of unlabeled rows is not convex: a grid search, then a ternary search between the neighbours of its best.
        const STEPS: usize = 16;
        let costs: Vec<f64> = (0..STEPS).map(|step| at(step as f64 / STEPS as f64)).collect();
        let best = (0..STEPS).fold(0, |best, step| if costs[step] < costs[best] { step } else { best });
        let (mut low, mut high) =
            (best.saturating_sub(1) as f64 / STEPS as f64, ((best + 1) as f64 / STEPS as f64).min(0.999));
        while high - low > 1e-6 {
            let third = (high - low) / 3.0;
            if at(low + third) <= at(high - third) { high -= third } else { low += third }
        }
        let share = 0.5 * (low + high);
        if at(share) < costs[0] { share } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(margin: UnlabeledMargin) -> Cost<'static> {
        let settings = SsmBoost::new().margin(margin).unlabeled_weight(0.7);
        Cost::new(&settings, &[1.0, -1.0], &[1.0, 3.0], 3)
    }

    #[test]
    fn slopes_are_the_gradient_of_the_cost() {
        for margin in [UnlabeledMargin::Square, UnlabeledMargin::Absolute] {
            let cost = cost(margin);
            let votes = [0.3, 0.2, -0.4, 0.9, 0.05];
            for (i, slope) in cost.slopes(&votes).into_iter().enumerate() {
                let at = |by: f64| {
                    let mut votes = votes;
                    votes[i] += by;
                    cost.value(&votes)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope + difference).abs() < 1e-8, "{margin:?}: {slope} against {difference}");
            }
        }
    }

    #[test]
    fn unlabeled_rows_have_no_say_before_there_is_a_vote() {
        for margin in [UnlabeledMargin::Square, UnlabeledMargin::Absolute] {
            assert_eq!(cost(margin).slopes(&[0.0; 5])[2..], [0.0; 3]);
        }
    }

    #[test]
    fn the_best_share_is_the_best() {
        let cost = cost(UnlabeledMargin::Square);
        let (votes, outputs) = ([1.0, 1.0, -1.0, 1.0, 1.0], [1.0, -1.0, -1.0, -1.0, 1.0]);
        let share = cost.best_share(&votes, &outputs);
        let at = |share: f64| {
            let mixed: Vec<f64> = votes.iter().zip(outputs).map(|(v, o)| v + share * (o - v)).collect();
            cost.value(&mixed)
        };
        assert!(share > 0.0 && at(share) < at(0.0));
        assert!((0..999).all(|k| at(share) <= at(k as f64 / 1000.0) + 1e-9));
        assert_eq!(cost.best_share(&outputs, &votes.map(|v| -v)), 0.0, "what only makes it worse has no share");
    }
}

//! The mixture of all candidates: its weights by expectation-maximisation on out-of-bag rows.

use crate::ensemble::ViewFound;
use crate::ensemble::mixed_members::{self, Group};
use crate::learner::normalise;
use crate::method::auto::fitted::{Candidate, Fitted};
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::observer::Warning;

/// Candidates of less weight are left out.
const LEAST_WEIGHT: f64 = 1e-3;
/// Number of iterations.
const ROUNDS: usize = 100;
/// Weight of the prior, in rows.
const PRIOR: f64 = 3.0;
/// Least probability, so that one confident error does not exclude a candidate.
const LEAST: f64 = 0.01;

/// The mixture weights of candidates that maximise the likelihood of the rows, by expectation-maximisation. `probabilities`
/// has, for each candidate, the probability it gives to the class of each row; `weights` are those of the rows; `prior` has the
/// prior weights of the candidates, together 1.
pub(crate) fn shares(probabilities: &[Vec<f64>], weights: &[f64], prior: &[f64]) -> Vec<f64> {
    let candidates = probabilities.len();
    let total: f64 = weights.iter().sum();
    let mut shares = prior.to_vec();
    for _ in 0..ROUNDS {
        let mut sums: Vec<f64> = prior.iter().map(|weight| PRIOR * weight).collect();
        for (i, weight) in weights.iter().enumerate() {
            let own = |c: usize| shares[c] * probabilities[c][i].clamp(LEAST, 1.0);
            let all: f64 = (0..candidates).map(own).sum();
            sums.iter_mut().enumerate().for_each(|(c, sum)| *sum += weight * own(c) / all);
        }
        shares = sums.into_iter().map(|sum| sum / (total + PRIOR)).collect();
    }
    shares
}

/// Shifts the log odds of the classes in the outputs of the heads on all rows.
pub(crate) fn shift(outputs: &mut Outputs, odds: &[f64]) {
    for i in 0..outputs[0].len() {
        let mut votes: Vec<f64> = outputs.iter().map(|head| head[i]).collect();
        mixed_members::shift(&mut votes, odds);
        outputs.iter_mut().zip(votes).for_each(|(head, vote)| head[i] = vote);
    }
}

/// All candidates with their weights.
pub(crate) struct Mixture {
    pub(crate) views: Vec<Fitted>,
    /// For each view the weights of its candidates; 0 for those that are left out, together 1.
    weights: Vec<Vec<f64>>,
}

impl Mixture {
    /// Weighs the candidates by the likelihood of the out-of-bag rows.
    pub(crate) fn choose(views: Vec<Fitted>, out_of_bag: &OutOfBag<'_>, warnings: &mut Vec<Warning>) -> Self {
        let outputs: Vec<&Outputs> =
            views.iter().flat_map(|view| view.candidates.iter().map(|candidate| &candidate.outputs)).collect();
        let prior = |view: &Fitted| vec![view.prior / view.candidates.len() as f64; view.candidates.len()];
        let prior: Vec<f64> = views.iter().flat_map(prior).collect();
        let mut shares = out_of_bag.shares(&outputs, &prior, warnings);
        shares.iter_mut().for_each(|share| *share = if *share < LEAST_WEIGHT { 0.0 } else { *share });
        normalise(&mut shares);
        let mut rest = shares.into_iter();
        let weights = views.iter().map(|view| rest.by_ref().take(view.candidates.len()).collect()).collect();
        Mixture { views, weights }
    }

    /// The members of some views, and the weight of each.
    pub(crate) fn groups(&self, out_of_bag: &OutOfBag<'_>, wanted: impl Fn(&Fitted) -> bool) -> (Vec<Group>, Vec<f64>) {
        let (mut groups, mut all) = (Vec::new(), Vec::new());
        for (view, weights) in self.views.iter().zip(&self.weights).filter(|(view, _)| wanted(view)) {
            let (own, weights) = view.groups(weights, out_of_bag.n_heads());
            groups.extend(own);
            all.extend(weights);
        }
        (groups, all)
    }

    /// For each head the out-of-bag outputs of all candidates, after shifts of the log odds.
    pub(crate) fn outputs(&self, out_of_bag: &OutOfBag<'_>, odds: Option<&[f64]>) -> Outputs {
        let mut all = vec![vec![0.0; out_of_bag.prepared.codes.len()]; out_of_bag.n_heads()];
        for (candidate, weight) in
            self.views.iter().flat_map(|view| &view.candidates).zip(self.weights.iter().flatten())
        {
            for (to, own) in all.iter_mut().zip(&candidate.outputs) {
                to.iter_mut().zip(own).for_each(|(to, f)| *to += weight * f);
            }
        }
        if let Some(odds) = odds {
            shift(&mut all, odds);
        }
        all
    }

    /// The weight of each view and the mean of its lambdas, those of trees have none.
    pub(crate) fn found(&self) -> Vec<ViewFound> {
        let found = |(view, weights): (&Fitted, &Vec<f64>)| {
            let weight: f64 = weights.iter().sum();
            let log = |candidate: &Candidate| candidate.lambda.map(libm::log);
            let logs: Option<Vec<f64>> = view.candidates.iter().map(log).collect();
            let mean = |logs: Vec<f64>| logs.iter().zip(weights).map(|(log, w)| log * w).sum::<f64>() / weight;
            let lambda = logs.filter(|_| weight > 0.0).map(|logs| libm::exp(mean(logs)));
            ViewFound { view: view.name.clone(), weight, lambda }
        };
        self.views.iter().zip(&self.weights).map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_right_counts_and_nobody_is_out() {
        let probabilities = [vec![0.9; 50], vec![0.5; 50], vec![0.0; 50]];
        let found = shares(&probabilities, &[1.0; 50], &[1.0 / 3.0; 3]);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(found[0] > 0.9 && found[1] > found[2] && found[2] > 0.0, "{found:?}");
        // Where all are right alike, nothing but the prior counts.
        let alike = shares(&[vec![0.7; 4], vec![0.7; 4]], &[1.0; 4], &[0.25, 0.75]);
        assert!((alike[0] - 0.25).abs() < 1e-12, "{alike:?}");
    }

    #[test]
    fn the_shares_are_a_fixed_point_of_the_likelihood() {
        // At the optimum the derivatives of the likelihood, with its prior, by all shares are equal.
        let probabilities = [vec![0.9, 0.2, 0.6, 0.8], vec![0.3, 0.9, 0.7, 0.1]];
        let weights = [1.0, 2.0, 1.0, 0.5];
        let found = shares(&probabilities, &weights, &[0.5; 2]);
        let slope = |c: usize| {
            let of = |i: usize| {
                let all: f64 = (0..2).map(|c| found[c] * probabilities[c][i]).sum();
                weights[i] * probabilities[c][i] / all
            };
            (0..4).map(of).sum::<f64>() + 0.5 * PRIOR / found[c]
        };
        assert!((slope(0) - slope(1)).abs() < 1e-6, "{} {}", slope(0), slope(1));
    }
}

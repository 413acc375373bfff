//! Calibrated probabilities: a logistic function of each vote.
//!
//! J. Platt, "Probabilistic outputs for support vector machines", in Advances in Large Margin Classifiers, 1999; H.-T. Lin,
//! C.-J. Lin, R. Weng, "A note on Platt's probabilistic outputs for support vector machines", Machine Learning 68, 2007.

use crate::ensemble::held_out::{HeldOut, HeldOutRow};
use crate::kernel::tanh_halves;

/// For each head the log odds of its class as a rising linear function of its vote: slope and intercept. A few dozen rows
/// suffice for two numbers a class, but not for isotonic regression. With more than two classes each head is calibrated against
/// the rest, and probabilities are normalised.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibration {
    heads: Vec<[f64; 2]>,
}

/// Largest plausible slope and intercept.
const LARGEST: f64 = 1e6;

impl Calibration {
    /// Fits the function of each head to held-out votes; none if a vote does not rise with the share of its class.
    pub(crate) fn fit(held_out: &HeldOut) -> Option<Self> {
        let heads = held_out.rows().first()?.votes.len();
        let class = |head: usize| if heads == 1 { 1 } else { head };
        let fit = |head: usize| {
            let point = |row: &HeldOutRow| (row.votes[head], usize::from(row.class) == class(head), row.weight);
            platt(&held_out.rows().iter().map(point).collect::<Vec<_>>())
        };
        Some(Calibration { heads: (0..heads).map(fit).collect::<Option<_>>()? })
    }

    /// The calibration of given heads; none if it makes no sense.
    pub(crate) fn from_heads(heads: Vec<[f64; 2]>) -> Option<Self> {
        let sound = |[slope, intercept]: &[f64; 2]| *slope > 0.0 && *slope <= LARGEST && intercept.abs() <= LARGEST;
        heads.iter().all(sound).then_some(Calibration { heads })
    }

    /// Slope and intercept of each head.
    pub(crate) fn heads(&self) -> &[[f64; 2]] {
        &self.heads
    }

    /// Calibrates the votes of the heads on a row.
    pub(crate) fn apply(&self, votes: &mut [f64]) {
        for (vote, [slope, intercept]) in votes.iter_mut().zip(&self.heads) {
            *vote = slope * *vote + intercept;
        }
        tanh_halves(votes);
    }
}

/// Slope and intercept of the log odds of a class as a function of the vote, by Newton's method on the likelihood of smoothed
/// targets. A point is a vote, whether the row is of the class, and its weight, of mean 1. None if the slope is not above 0.
fn platt(points: &[(f64, bool, f64)]) -> Option<[f64; 2]> {
    const STEPS: usize = 100;
    const LEAST_SLOPE: f64 = 1e-3;
    let total = |of: bool| points.iter().filter(|point| point.1 == of).map(|point| point.2).sum::<f64>();
    let (inside, outside) = (total(true), total(false));
    if inside == 0.0 || outside == 0.0 {
        return None;
    }
    // As if there were one more row of each class: no probability is 0 or 1, however well the votes separate the classes.
    let targets = [1.0 / (outside + 2.0), (inside + 1.0) / (inside + 2.0)];
    let target = |of: bool| targets[usize::from(of)];
    let loss = |[slope, intercept]: [f64; 2]| -> f64 {
        let of = |&(vote, is_inside, weight): &(f64, bool, f64)| {
            let z = slope * vote + intercept;
            // log(1 + exp(z)) without overflow.
            weight * (z.max(0.0) + libm::log1p(libm::exp(-z.abs())) - target(is_inside) * z)
        };
        points.iter().map(of).sum()
    };
    let mut now = [0.0, libm::log((inside + 1.0) / (outside + 1.0))];
    let mut value = loss(now);
    for _ in 0..STEPS {
        // Gradient, and the upper triangle of the Hessian with a ridge: votes may all be the same.
        let (mut gradient, mut hessian) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for &(vote, is_inside, weight) in points {
            let p = 1.0 / (1.0 + libm::exp(-(now[0] * vote + now[1])));
            let (g, h) = (weight * (p - target(is_inside)), weight * p * (1.0 - p));
            gradient = [gradient[0] + g * vote, gradient[1] + g];
            hessian = [hessian[0] + h * vote * vote, hessian[1] + h * vote, hessian[2] + h];
        }
        if gradient.iter().all(|g| g.abs() < 1e-9) {
            break;
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        let step = [
            (hessian[1] * gradient[1] - hessian[2] * gradient[0]) / determinant,
            (hessian[1] * gradient[0] - hessian[0] * gradient[1]) / determinant,
        ];
        let slope_along = gradient[0] * step[0] + gradient[1] * step[1];
        let Some((next, lower)) = (0..30)
            .map(|halvings| f64::from(1u32 << halvings).recip())
            .map(|share| ([now[0] + share * step[0], now[1] + share * step[1]], share))
            .map(|(next, share)| (next, loss(next), share))
            .find(|(_, lower, share)| *lower < value + 1e-4 * share * slope_along)
            .map(|(next, lower, _)| (next, lower))
        else {
            break;
        };
        (now, value) = (next, lower);
    }
    (now[0] > LEAST_SLOPE && now[0] <= LARGEST && now[1].abs() <= LARGEST).then_some(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Votes of which the log odds are linear.
    fn points(n: usize, [slope, intercept]: [f64; 2]) -> Vec<(f64, bool, f64)> {
        let mut stream = Stream::new(3, Purpose::Split, 0);
        let mut point = || {
            let vote = 2.0 * stream.unit() - 1.0;
            let p = 1.0 / (1.0 + libm::exp(-(slope * vote + intercept)));
            (vote, stream.unit() < p, 1.0)
        };
        (0..n).map(|_| point()).collect()
    }

    #[test]
    fn the_log_odds_are_found() {
        let found = platt(&points(20_000, [5.0, -1.0])).unwrap();
        assert!((found[0] - 5.0).abs() < 0.2 && (found[1] + 1.0).abs() < 0.1, "{found:?}");
        // Weights count as often as a row is there.
        let few = points(60, [3.0, 0.5]);
        let weighted: Vec<_> = few.iter().enumerate().map(|(i, p)| (p.0, p.1, f64::from(i as u32 % 3))).collect();
        let repeated: Vec<_> = few.iter().enumerate().flat_map(|(i, &p)| vec![p; i % 3]).collect();
        let [a, b] = [weighted, repeated].map(|points| platt(&points).unwrap());
        assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}");
    }

    #[test]
    fn the_gradient_vanishes_and_hard_cases_are_finite() {
        let few = points(40, [4.0, 0.0]);
        let [slope, intercept] = platt(&few).unwrap();
        let n = few.iter().filter(|point| point.1).count() as f64;
        let (low, high) = (1.0 / (40.0 - n + 2.0), (n + 1.0) / (n + 2.0));
        let gap = |point: &(f64, bool, f64)| {
            1.0 / (1.0 + libm::exp(-(slope * point.0 + intercept))) - if point.1 { high } else { low }
        };
        let gradient = [few.iter().map(gap).sum::<f64>(), few.iter().map(|p| p.0 * gap(p)).sum()];
        assert!(gradient.iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
        // Votes that part the rows, all the same votes, votes that mislead.
        let parted: Vec<_> = (0..20).map(|i| (f64::from(i) / 10.0 - 0.95, i > 9, 1.0)).collect();
        assert!(platt(&parted).is_some_and(|[slope, _]| slope < 100.0));
        assert_eq!(platt(&(0..20).map(|i| (0.3, i > 9, 1.0)).collect::<Vec<_>>()), None);
        assert_eq!(platt(&parted.iter().map(|p| (-p.0, p.1, p.2)).collect::<Vec<_>>()), None);
        assert_eq!(platt(&parted[..10]), None, "one class");
    }
}

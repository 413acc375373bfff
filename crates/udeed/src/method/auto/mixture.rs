//! Mixture weights by expectation-maximisation.

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

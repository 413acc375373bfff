//! Class shares that are known move the log odds of the classes.

/// Largest number of steps.
const STEPS: usize = 200;
/// Largest shift: where members are sure of all rows, no shift changes the shares.
const MOST: f64 = 10.0;
/// The shares are met when no class is farther from its own.
const NEAR: f64 = 1e-10;

/// The shifts of the log odds of the classes after which the mean probabilities of the rows are the wanted shares, or as near as
/// bounded shifts bring them: by iterated scaling. `probabilities` has a number for each class, row by row.
pub(crate) fn log_odds(probabilities: &[f64], wanted: &[f64]) -> Vec<f64> {
    let mut odds = vec![0.0; wanted.len()];
    for _ in 0..STEPS {
        let found = means(probabilities, &odds);
        if found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < NEAR) {
            break;
        }
        for ((odds, found), wanted) in odds.iter_mut().zip(found).zip(wanted) {
            // A class that no row can have stays so.
            if found > 0.0 {
                *odds += libm::log(wanted / found);
            }
        }
        let first = odds[0];
        odds.iter_mut().for_each(|odds| *odds = (*odds - first).clamp(-MOST, MOST));
    }
    odds
}

/// The mean probability of each class after shifts of its log odds.
pub(crate) fn means(probabilities: &[f64], odds: &[f64]) -> Vec<f64> {
    let (k, n) = (odds.len(), probabilities.len() / odds.len());
    let factors: Vec<f64> = odds.iter().map(|odds| libm::exp(*odds)).collect();
    let mut means = vec![0.0; k];
    for row in probabilities.chunks_exact(k) {
        let total: f64 = row.iter().zip(&factors).map(|(p, factor)| p * factor).sum();
        for ((mean, p), factor) in means.iter_mut().zip(row).zip(&factors) {
            *mean += p * factor / total / n as f64;
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn the_shifted_probabilities_have_the_wanted_shares() {
        let mut stream = Stream::new(1, Purpose::Split, 0);
        for wanted in [vec![0.9, 0.1], vec![0.2, 0.5, 0.3]] {
            let row = |_| {
                let drawn: Vec<f64> = wanted.iter().map(|_| stream.unit()).collect();
                let total: f64 = drawn.iter().sum();
                drawn.into_iter().map(move |x| x / total).collect::<Vec<f64>>()
            };
            let probabilities: Vec<f64> = (0..300).flat_map(row).collect();
            let odds = log_odds(&probabilities, &wanted);
            assert_eq!(odds[0], 0.0);
            for (found, wanted) in means(&probabilities, &odds).iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-9, "{found} against {wanted}");
            }
            // Rows that are sure of their class do not move, and the shifts stay numbers.
            let sure: Vec<f64> =
                (0..20).flat_map(|i| (0..wanted.len()).map(move |c| f64::from(u8::from(c == i % 2)))).collect();
            let odds = log_odds(&sure, &wanted);
            assert!(odds.iter().all(|odds| odds.abs() <= MOST), "{odds:?}");
            assert!((means(&sure, &odds)[0] - 0.5).abs() < 1e-12);
            let still = means(&probabilities, &vec![0.0; wanted.len()]);
            assert!(log_odds(&probabilities, &still).iter().all(|odds| odds.abs() < 1e-9));
        }
    }
}

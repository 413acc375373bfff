//! The opinion of a model and of its members on rows.

use crate::data::{Dense, Rows, Table};
use crate::error::Result;
use crate::model::Model;

/// How undecided a model is about each row: `1 - (p1 - p2)` with the probabilities of its two most probable classes.
pub(crate) fn undecided(probabilities: &Dense) -> Vec<f64> {
    let of_row =
        |i: usize| {
            let (first, second) = probabilities.get(i).iter().fold((0.0, 0.0), |(first, second): (f64, f64), &p| {
                if p > first { (p, first) } else { (first, second.max(p)) }
            });
            1.0 - (first - second)
        };
    (0..probabilities.n_rows()).map(of_row).collect()
}

/// The entropy of the votes of all members on each row.
///
/// # Errors
/// As [`Model::classify`].
pub(crate) fn vote_entropies(model: &Model, rows: &Table) -> Result<Vec<f64>> {
    let votes = model.classify(rows)?;
    let members = model.ensemble().n_members();
    let of_row = |votes: &[u8]| {
        let mut shares = vec![0.0; model.classes().len()];
        votes.iter().for_each(|&class| shares[usize::from(class)] += 1.0 / members as f64);
        entropy(&shares)
    };
    Ok(votes.chunks_exact(members).map(of_row).collect())
}

/// The mean Kullback-Leibler divergence of the members' class probabilities from their mean, for each row.
///
/// # Errors
/// As [`Model::classify`].
pub(crate) fn disagreements(model: &Model, rows: &Table) -> Result<Vec<f64>> {
    let features = model.preparation().apply(rows)?;
    let (n, classes) = (rows.n_rows(), model.classes().len());
    let shares = model.ensemble().member_shares();
    let mut means = Dense::zeros(n, classes)?;
    let mut entropies = vec![0.0; n];
    model.ensemble().for_each_distribution(&features, &mut |i, member, probabilities| {
        let share = shares[member];
        means.row_mut(i).iter_mut().zip(probabilities).for_each(|(mean, p)| *mean += share * p);
        entropies[i] += share * entropy(probabilities);
    })?;
    // The mean divergence is the entropy of the mean less the mean entropy.
    Ok(entropies.iter().enumerate().map(|(i, own)| (entropy(means.get(i)) - own).max(0.0)).collect())
}

fn entropy(shares: &[f64]) -> f64 {
    shares.iter().filter(|share| **share > 0.0).map(|share| -share * libm::log(*share)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_most_probable_classes_decide() {
        let probabilities = Dense::new(3, 3, vec![0.2, 0.5, 0.3, 1.0, 0.0, 0.0, 0.4, 0.4, 0.2]).unwrap();
        let found = undecided(&probabilities);
        let expected = [0.8, 0.0, 1.0];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
    }

    /// By the definition of the divergence, with the members' weights in the vote.
    #[test]
    fn members_disagree_by_their_weights() {
        let train = crate::format::built_in("vote").unwrap().read().unwrap().into_train().unwrap();
        let model = crate::method::AdaBoost::new().fit(&train).unwrap();
        let shares = model.ensemble().member_shares();
        assert!(shares.iter().any(|share| (share - shares[0]).abs() > 1e-3), "{shares:?}");
        let features = model.preparation().apply(train.table()).unwrap();
        let mut said = vec![vec![Vec::new(); shares.len()]; 435];
        let mut hear = |i: usize, member: usize, p: &[f64]| said[i][member] = p.to_vec();
        model.ensemble().for_each_distribution(&features, &mut hear).unwrap();
        let found = disagreements(&model, train.table()).unwrap();
        for (found, said) in found.iter().zip(&said) {
            let mean = |class: usize| said.iter().zip(&shares).map(|(p, share)| share * p[class]).sum::<f64>();
            let of = |p: &[f64]| {
                p.iter().enumerate().map(|(k, p)| if *p > 0.0 { p * (p / mean(k)).ln() } else { 0.0 }).sum::<f64>()
            };
            let expected: f64 = said.iter().zip(&shares).map(|(p, share)| share * of(p)).sum();
            assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
        }
    }

    #[test]
    fn votes_that_agree_have_no_entropy() {
        assert_eq!(entropy(&[1.0, 0.0]), 0.0);
        assert!((entropy(&[0.5, 0.5]) - std::f64::consts::LN_2).abs() < 1e-15);
    }
}

//! Out-of-bag votes: what members say of the labeled rows that they did not learn from.

use crate::data::{Dense, Matrix, pieces};
use crate::ensemble::Ensemble;
use crate::ensemble::vote::{Opinions, Part, decision_of, probabilities};
use crate::error::Result;
use crate::learner::n_heads;
use crate::parallel;

/// The class probabilities of all labeled rows by [`votes`]; not a number where every member has learned from the row.
///
/// # Errors
/// If the members cannot see the rows.
pub(crate) fn estimates(ensemble: &Ensemble, draws: &[Vec<u8>], labeled: &Matrix) -> Result<Dense> {
    let n = labeled.rows().n_rows();
    let mut estimates = Dense::zeros(n, ensemble.n_classes())?;
    // What all members say of all rows may be more than memory holds.
    for piece in pieces(n, (ensemble.n_members() * ensemble.n_classes() * size_of::<f64>()) as u64) {
        let some: Vec<usize> = piece.collect();
        for (&row, votes) in some.iter().zip(votes(ensemble, draws, labeled, &some)?) {
            let to = estimates.row_mut(row);
            match votes {
                Some(votes) => to.copy_from_slice(&probabilities(&votes)),
                None => to.fill(f64::NAN),
            }
        }
    }
    Ok(estimates)
}

/// The vote on each of some labeled rows, as [`Ensemble::decide`] gives it, by the members for which the row is out of bag;
/// none where there is no such member, and none by members of several kinds. `draws` has for each member how often each
/// labeled row was drawn.
///
/// # Errors
/// If the members cannot see the rows.
pub(crate) fn votes(
    ensemble: &Ensemble,
    draws: &[Vec<u8>],
    labeled: &Matrix,
    some: &[usize],
) -> Result<Vec<Option<Vec<f64>>>> {
    let rows = labeled.select(some);
    let opinions: Vec<Opinions> =
        ensemble.parts.iter().map(|part| part.opinions(rows.rows())).collect::<Result<_>>()?;
    Ok(parallel::map(some.len(), |place| {
        let is_out = |k: usize| draws[k][some[place]] == 0;
        let parts = ensemble.parts.iter().zip(&opinions);
        let votes: Option<Vec<Vec<f64>>> = parts.map(|(part, opinions)| vote(part, opinions, is_out, place)).collect();
        votes.map(|votes| votes.concat())
    }))
}

/// The vote of some members of a part on the row at `place`.
fn vote(part: &Part, opinions: &Opinions, is_asked: impl Fn(usize) -> bool, place: usize) -> Option<Vec<f64>> {
    let (n_members, n_classes) = opinions.shape();
    let mut probabilities = Vec::with_capacity(n_members * n_classes);
    let mut weights = Vec::with_capacity(n_members);
    for k in (0..n_members).filter(|&k| is_asked(k)) {
        opinions.append(k, place, &mut probabilities);
        weights.push(part.weights[k]);
    }
    if weights.is_empty() {
        return None;
    }
    let (mut shares, mut votes) = (vec![0.0; n_classes], vec![0.0; n_heads(n_classes)]);
    part.rule.combine(&probabilities, &weights, &mut shares);
    decision_of(&shares, &mut votes);
    Some(votes)
}

//! Out-of-bag votes: what members say of the labeled rows that they did not learn from.

use crate::data::{Dense, Matrix, Rows, pieces};
use crate::ensemble::Ensemble;
use crate::ensemble::vote::{Part, decision_of, probabilities};
use crate::error::Result;
use crate::learner::n_heads;

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
    let tables: Vec<Vec<Dense>> = ensemble.parts.iter().map(|part| part.distributions(&rows)).collect::<Result<_>>()?;
    let vote = |(place, &row): (usize, &usize)| {
        let parts = ensemble.parts.iter().zip(&tables);
        let votes: Option<Vec<Vec<f64>>> = parts
            .map(|(part, tables)| {
                let out: Vec<usize> = (0..tables.len()).filter(|&k| draws[k][row] == 0).collect();
                vote(part, &out, tables, place)
            })
            .collect();
        votes.map(|votes| votes.concat())
    };
    Ok(some.iter().enumerate().map(vote).collect())
}

/// The vote of some members of a part on the row at `place`, by the class probabilities of all its members.
fn vote(part: &Part, members: &[usize], tables: &[Dense], place: usize) -> Option<Vec<f64>> {
    let n_classes = tables[*members.first()?].n_columns();
    let all: Vec<f64> = members.iter().flat_map(|&k| tables[k].get(place)).copied().collect();
    let weights: Vec<f64> = members.iter().map(|&k| part.weights[k]).collect();
    let (mut shares, mut votes) = (vec![0.0; n_classes], vec![0.0; n_heads(n_classes)]);
    part.rule.combine(&all, &weights, &mut shares);
    decision_of(&shares, &mut votes);
    Some(votes)
}

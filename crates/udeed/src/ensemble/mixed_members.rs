//! Members of several kinds in one vote: linear ones on mapped features, and trees.

use std::sync::Arc;

use crate::data::{Blocks, Dense};
use crate::ensemble::Members;
use crate::ensemble::forest::Forest;
use crate::ensemble::vote::{decision_of, probabilities};
use crate::error::Result;
use crate::kernel::tanh_halves;
use crate::learner::{n_heads, normalise, winner};
use crate::observer::Watch;
use crate::parallel;
use crate::view::{FeatureMap, SeenRows};

/// Number of rows seen at a time.
const ROWS: usize = 512;

/// Members of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Group {
    Mapped(Mapped),
    Trees(Arc<Forest>),
}

/// Linear members that share a feature map. Each has a score for every head, see [`n_heads`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mapped {
    pub(crate) map: Arc<FeatureMap>,
    /// The weights of all members for the first head, then those for the next.
    pub(crate) scores: Members,
    pub(crate) heads: usize,
}

impl Mapped {
    pub(crate) fn n_members(&self) -> usize {
        self.scores.n_members() / self.heads
    }

    /// The outputs of all members on each row, row after row and there head after head, between -1 and 1.
    fn outputs(&self, seen: &SeenRows<'_>, watch: &Watch<'_>) -> Result<Vec<f64>> {
        let mut outputs = self.map.scores(seen, self.scores.weights(), self.scores.n_members(), watch)?;
        tanh_halves(&mut outputs);
        Ok(outputs)
    }
}

impl Group {
    pub(crate) fn n_members(&self) -> usize {
        match self {
            Group::Mapped(mapped) => mapped.n_members(),
            Group::Trees(forest) => forest.trees().len(),
        }
    }

    /// The first members.
    fn prefix(&self, members: usize) -> Self {
        match self {
            Group::Trees(forest) => Group::Trees(Arc::new(Forest::new(forest.trees()[..members].to_vec()))),
            Group::Mapped(Mapped { map, scores, heads }) => {
                let first: Vec<Members> = scores.apart(*heads).iter().map(|head| head.prefix(members)).collect();
                Group::Mapped(Mapped { map: Arc::clone(map), scores: Members::side_by_side(&first), heads: *heads })
            }
        }
    }

    /// Adds the votes of the members, of these weights, to those on each row, head by head.
    fn vote(&self, seen: &SeenRows<'_>, weights: &[f64], votes: &mut Dense, watch: &Watch<'_>) -> Result<()> {
        match self {
            Group::Mapped(mapped) => {
                // Votes lie row after row and there head after head too.
                let outputs = mapped.outputs(seen, watch)?;
                for (to, outputs) in votes.values_mut().iter_mut().zip(outputs.chunks_exact(weights.len())) {
                    *to += outputs.iter().zip(weights).map(|(f, weight)| f * weight).sum::<f64>();
                }
            }
            Group::Trees(forest) => forest.vote(seen, weights, votes)?,
        }
        Ok(())
    }

    /// Calls `visit` with the place of every row and member, and its output for each head, between -1 and 1.
    fn for_each(
        &self,
        seen: &SeenRows<'_>,
        visit: &mut dyn FnMut(usize, usize, &[f64]),
        watch: &Watch<'_>,
    ) -> Result<()> {
        match self {
            Group::Mapped(mapped) => {
                let m = mapped.n_members();
                for (i, outputs) in mapped.outputs(seen, watch)?.chunks_exact(m * mapped.heads).enumerate() {
                    for k in 0..m {
                        let own: Vec<f64> = outputs.iter().skip(k).step_by(m).copied().collect();
                        visit(i, k, &own);
                    }
                }
            }
            Group::Trees(forest) => forest.for_each(seen, |tree, k, first, leaves| {
                for (i, &leaf) in leaves.iter().enumerate() {
                    let shares = tree.node_distribution(leaf as usize);
                    let mut own = vec![0.0; n_heads(shares.len())];
                    add(shares, 1.0, &mut own);
                    visit(first + i, k, &own);
                }
            })?,
        }
        Ok(())
    }
}

/// Adds probabilities as outputs between -1 and 1: of two classes that of the second, of more one for each.
fn add(probabilities: &[f64], weight: f64, to: &mut [f64]) {
    match to {
        [one] => *one += weight * (probabilities[1] - probabilities[0]),
        each => each.iter_mut().zip(probabilities).for_each(|(to, p)| *to += weight * (2.0 * p - 1.0)),
    }
}

/// The first `members` members of all groups.
pub(crate) fn prefix(all: &[Group], members: usize) -> Vec<Group> {
    let mut left = members;
    let mut first = Vec::new();
    for group in all {
        if left == 0 {
            break;
        }
        let own = group.n_members().min(left);
        first.push(group.prefix(own));
        left -= own;
    }
    first
}

/// The vote of all members on each row, for each head: the weighted mean of their outputs.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn decide(all: &[Group], weights: &[f64], heads: usize, rows: &dyn Blocks) -> Result<Dense> {
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let parts = in_parts(rows, |seen, watch| {
        let mut votes = Dense::zeros(seen.span.len(), heads)?;
        let mut rest = &shares[..];
        for group in all {
            let (own, others) = rest.split_at(group.n_members());
            group.vote(seen, own, &mut votes, watch)?;
            rest = others;
        }
        Ok(votes.into_values())
    })?;
    Dense::new(rows.shape().0, heads, parts.concat())
}

/// Results for some rows at a time.
fn in_parts<R: Send>(
    rows: &dyn Blocks,
    make: impl Fn(&SeenRows<'_>, &Watch<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let n = rows.shape().0;
    let mut nobody = ();
    let watch = Watch::new(&mut nobody);
    parallel::try_map(n.div_ceil(ROWS), |part| {
        make(&SeenRows::new(rows, part * ROWS..n.min((part + 1) * ROWS)), &watch)
    })
}

/// Shifts the log odds of the classes in the votes of the heads on one row.
pub(crate) fn shift(votes: &mut [f64], odds: &[f64]) {
    // What rounding puts beyond the ends would be a negative probability.
    votes.iter_mut().for_each(|vote| *vote = vote.clamp(-1.0, 1.0));
    let mut probabilities = probabilities(votes);
    probabilities.iter_mut().zip(odds).for_each(|(p, odds)| *p *= libm::exp(*odds));
    normalise(&mut probabilities);
    decision_of(&probabilities, votes);
}

/// Calls `visit` with the place of every row and member, and the class probabilities of the member.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn for_each_distribution(
    all: &[Group],
    rows: &dyn Blocks,
    visit: &mut dyn FnMut(usize, usize, &[f64]),
) -> Result<()> {
    let (mut nobody, n) = ((), rows.shape().0);
    let watch = Watch::new(&mut nobody);
    for part in (0..n).step_by(ROWS) {
        let seen = SeenRows::new(rows, part..n.min(part + ROWS));
        let mut first = 0;
        for group in all {
            group.for_each(&seen, &mut |i, k, own| visit(part + i, first + k, &probabilities(own)), &watch)?;
            first += group.n_members();
        }
    }
    Ok(())
}

/// The class that each member predicts: row by row, member by member.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn classify(all: &[Group], rows: &dyn Blocks) -> Result<Vec<u8>> {
    let n_members: usize = all.iter().map(Group::n_members).sum();
    let parts = in_parts(rows, |seen, watch| {
        let mut classes = vec![0; seen.span.len() * n_members];
        let mut first = 0;
        for group in all {
            group.for_each(seen, &mut |i, k, own| classes[i * n_members + first + k] = winner(own) as u8, watch)?;
            first += group.n_members();
        }
        Ok(classes)
    })?;
    Ok(parts.concat())
}

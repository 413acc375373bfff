//! Linear members on mapped features.

use std::sync::Arc;

use crate::data::{Blocks, Dense, Stretch};
use crate::ensemble::Members;
use crate::error::Result;
use crate::kernel::{Real, map_rows};
use crate::learner::winner;
use crate::observer::Watch;
use crate::view::FeatureMap;

/// Number of rows mapped at a time.
const ROWS: usize = 1024;

/// Members that share a feature map. Each has a score for every head, see [`n_heads`](crate::learner::n_heads).
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

    /// The first members.
    pub(crate) fn prefix(&self, members: usize) -> Self {
        let first: Vec<Members> = self.scores.apart(self.heads).iter().map(|head| head.prefix(members)).collect();
        Mapped { map: Arc::clone(&self.map), scores: Members::side_by_side(&first), heads: self.heads }
    }

    /// Calls `visit` with the index of every row and the outputs of all members on it, between -1 and 1.
    fn for_each(&self, rows: &dyn Blocks, mut visit: impl FnMut(usize, &[f64])) -> Result<()> {
        let (n, lanes) = (rows.shape().0, self.scores.n_members());
        let outputs = |rows: &dyn Blocks| {
            map_rows(rows, self.scores.weights(), lanes, |scores| {
                scores.iter_mut().for_each(|z| *z = z.tanh_half());
                scores[..lanes].to_vec()
            })
        };
        let mut nobody = ();
        let watch = Watch::new(&mut nobody);
        for first in (0..n).step_by(ROWS) {
            let span = first..n.min(first + ROWS);
            let outputs = match self.map.apply(rows, span.clone(), &watch)? {
                Some(features) => outputs(&features)?,
                None => outputs(&Stretch { rows, span })?,
            };
            outputs.iter().enumerate().for_each(|(i, outputs)| visit(first + i, outputs));
        }
        Ok(())
    }
}

/// The first `members` members of all groups.
pub(crate) fn prefix(all: &[Mapped], members: usize) -> Vec<Mapped> {
    let mut left = members;
    let mut first = Vec::new();
    for mapped in all {
        if left == 0 {
            break;
        }
        let own = mapped.n_members().min(left);
        first.push(mapped.prefix(own));
        left -= own;
    }
    first
}

/// The vote of all members on each row, for each head: the weighted mean of their outputs.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn decide(all: &[Mapped], weights: &[f64], heads: usize, rows: &dyn Blocks) -> Result<Dense> {
    let mut decisions = Dense::zeros(rows.shape().0, heads)?;
    let total: f64 = weights.iter().sum();
    let mut rest = weights;
    for mapped in all {
        let (own, others) = rest.split_at(mapped.n_members());
        mapped.for_each(rows, |i, outputs| {
            for (to, outputs) in decisions.row_mut(i).iter_mut().zip(outputs.chunks_exact(own.len())) {
                *to += outputs.iter().zip(own).map(|(f, weight)| f * weight).sum::<f64>() / total;
            }
        })?;
        rest = others;
    }
    Ok(decisions)
}

/// The class that each member predicts: row by row, member by member.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn classify(all: &[Mapped], rows: &dyn Blocks) -> Result<Vec<u8>> {
    let n_members: usize = all.iter().map(Mapped::n_members).sum();
    let mut classes = vec![0; rows.shape().0 * n_members];
    let mut first = 0;
    for mapped in all {
        let m = mapped.n_members();
        mapped.for_each(rows, |i, outputs| {
            for k in 0..m {
                let own: Vec<f64> = outputs.iter().skip(k).step_by(m).copied().collect();
                classes[i * n_members + first + k] = winner(&own) as u8;
            }
        })?;
        first += m;
    }
    Ok(classes)
}

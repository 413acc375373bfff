//! Linear members of one head.

use crate::data::{Blocks, Dense, Rows};
use crate::ensemble::Vote;
use crate::error::Result;
use crate::kernel::{Real, in_memory, map_rows, scores, tanh_halves};
use crate::learner::{Hypothesis, Linear};

/// The vote of a score, -1 or 1; a tie is -1, the first class.
fn sign(score: f64) -> f64 {
    if score > 0.0 { 1.0 } else { -1.0 }
}

/// The weights of linear members: the output of member `k` is `f_k(x) = tanh(w_k.(x, 1) / 2)`, which is `2 P(+1|x) - 1` of a
/// logistic regression.
///
/// ```
/// use udeed::ensemble::Members;
///
/// let members = Members::from_rows(&[vec![1.0, 0.5], vec![-1.0, 0.0]]);
/// assert_eq!((members.n_members(), members.n_features()), (2, 1));
/// assert_eq!(members.weights_of(1), [-1.0, 0.0]);
/// assert_eq!(members.prefix(1).n_members(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Members {
    m: usize,
    /// Feature by feature: `weights[j * m + k]`, the constant feature last.
    weights: Vec<f64>,
}

impl Members {
    /// Members from the weights of each, that of the constant feature last.
    ///
    /// # Panics
    /// If there is no member, or they differ in length.
    pub fn from_rows(rows: &[Vec<f64>]) -> Self {
        let (m, width) = (rows.len(), rows[0].len());
        assert!(rows.iter().all(|row| row.len() == width), "members of different length");
        let mut weights = vec![0.0; m * width];
        for (k, row) in rows.iter().enumerate() {
            for (j, &w) in row.iter().enumerate() {
                weights[j * m + k] = w;
            }
        }
        Members { m, weights }
    }

    pub(crate) fn from_weights(m: usize, weights: Vec<f64>) -> Self {
        debug_assert_eq!(weights.len() % m, 0);
        Members { m, weights }
    }

    /// All weights, without a copy.
    pub(crate) fn into_weights(self) -> Vec<f64> {
        self.weights
    }

    /// Number of members.
    pub fn n_members(&self) -> usize {
        self.m
    }

    /// Whether all weights are 0, so that every vote is undecided.
    pub fn is_silent(&self) -> bool {
        self.weights.iter().all(|&weight| weight == 0.0)
    }

    /// Number of features, without the constant one.
    pub fn n_features(&self) -> usize {
        self.weights.len() / self.m - 1
    }

    /// The weights of member `k`, that of the constant feature last.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn weights_of(&self, k: usize) -> Vec<f64> {
        assert!(k < self.m, "no member {k} among {}", self.m);
        self.weights.iter().skip(k).step_by(self.m).copied().collect()
    }

    /// All weights, feature by feature: that of feature `j` in member `k` is at `j * m + k`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The first members.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn prefix(&self, m: usize) -> Self {
        assert!((1..=self.m).contains(&m), "the first {m} of {} members", self.m);
        let weights = self.weights.chunks(self.m).flat_map(|feature| &feature[..m]).copied().collect();
        Members { m, weights }
    }

    /// Concatenates several lists of members.
    pub(crate) fn side_by_side(lists: &[Members]) -> Self {
        let [only] = lists else {
            let width = lists[0].weights.len() / lists[0].m;
            let feature = |j: usize| lists.iter().flat_map(move |list| &list.weights[j * list.m..][..list.m]).copied();
            let m = lists.iter().map(|list| list.m).sum();
            return Members { m, weights: (0..width).flat_map(feature).collect() };
        };
        only.clone()
    }

    /// Splits the members into lists of equal length.
    pub(crate) fn apart(&self, lists: usize) -> Vec<Self> {
        let m = self.m / lists;
        let list = |list: usize| {
            let own = |feature: &[f64]| feature[list * m..][..m].to_vec();
            Members { m, weights: self.weights.chunks(self.m).flat_map(own).collect() }
        };
        (0..lists).map(list).collect()
    }

    /// The members as hypotheses.
    pub(crate) fn hypotheses(&self) -> Vec<Hypothesis> {
        (0..self.m).map(|k| Hypothesis::Linear(Linear::new(vec![self.weights_of(k)]))).collect()
    }

    /// Whether each member predicts the second class: row by row, member by member.
    ///
    /// ```
    /// use udeed::data::Dense;
    /// use udeed::ensemble::Members;
    ///
    /// let members = Members::from_rows(&[vec![1.0, -0.5], vec![-1.0, 0.5]]);
    /// let rows = Dense::new(2, 1, vec![0.0, 1.0])?;
    /// assert_eq!(members.classify(&rows), [false, true, true, false]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn classify(&self, rows: &dyn Rows) -> Vec<bool> {
        in_memory(self.classify_blocks(rows))
    }

    /// As [`Members::classify`], for rows that need not be in memory.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn classify_blocks(&self, rows: &dyn Blocks) -> Result<Vec<bool>> {
        let votes = map_rows(rows, &self.weights, self.m, |scores| {
            scores[..self.m].iter().map(|&z| z > 0.0).collect::<Vec<bool>>()
        })?;
        Ok(votes.concat())
    }

    /// The outputs of all members on each row, between -1 and 1.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn outputs(&self, rows: &dyn Blocks) -> Result<Dense> {
        let mut outputs = scores(rows, &self.weights, self.m)?;
        tanh_halves(&mut outputs);
        Dense::new(rows.shape().0, self.m, outputs)
    }

    /// The vote of the members on each row: the weighted mean of their outputs, or of the signs of these. Above 0 is the second
    /// class.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn decide(&self, rows: &dyn Blocks, vote: Vote, weights: &[f64]) -> Result<Vec<f64>> {
        let total: f64 = weights.iter().sum();
        map_rows(
            rows,
            &self.weights,
            self.m,
            #[inline(always)]
            |scores| {
                match vote {
                    Vote::Weighted => scores.iter_mut().for_each(|z| *z = z.tanh_half()),
                    Vote::Unweighted => scores.iter_mut().for_each(|z| *z = sign(*z)),
                }
                let votes = scores.iter_mut().zip(weights.iter().chain(std::iter::repeat(&0.0)));
                votes.for_each(|(f, weight)| *f *= weight);
                scores.iter().sum::<f64>() / total
            },
        )
    }
}

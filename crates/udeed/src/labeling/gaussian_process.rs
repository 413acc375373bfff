//! A Gaussian process over rows: their covariance given the labeled ones.
//!
//! With the kernel `k(x, x') = exp(-|x - x'|^2 / s2)` and labels of variance [`NOISE`], the covariance of two rows that remains
//! after the rows `L` were labeled is
//!
//! ```text
//! c(x, x') = k(x, x') - k(x, L) (k(L, L) + noise I)^-1 k(L, x')
//! ```
//!
//! whatever the labels are. After one more label, of row `x`, it is `c - c(., x) c(x, .) / (c(x, x) + noise)`.

use crate::data::{Matrix, Row, Rows};
use crate::error::{Hint, Result};
use crate::kernel::{dot, sum_of};
use crate::linalg::cholesky;
use crate::memory::{check_memory, half_of_memory};
use crate::neighbors::{distance_percentile, for_each_distance};
use crate::observer::Watch;
use crate::parallel;

/// Variance of a label.
pub(crate) const NOISE: f64 = 0.3;

/// The covariance of the candidates given the labels.
pub(crate) struct Covariance {
    candidates: Matrix,
    /// The first candidates are the reference rows, which stand for all rows.
    n_references: usize,
    /// The inverse of the width `s2` of the kernel.
    per_width: f64,
    /// For each candidate its covariance with the labels, by Cholesky factors: the labels explain `dot(explained(x),
    /// explained(x'))` of the covariance of two candidates.
    explained: Vec<Vec<f64>>,
    /// The covariance of each candidate with each reference row.
    with_references: Vec<f64>,
    /// The variance of each candidate.
    variances: Vec<f64>,
}

impl Covariance {
    /// The covariance given the labeled rows; at most `to_label` candidates will be labeled. The width of the kernel is the
    /// median squared distance of the reference rows.
    ///
    /// # Errors
    /// If it takes too much memory, or the observer ends the work.
    pub(crate) fn new(
        candidates: Matrix,
        labeled: &Matrix,
        n_references: usize,
        to_label: usize,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let (n, l) = (candidates.rows().n_rows(), labeled.rows().n_rows());
        // Of each candidate its covariances with reference rows, and with labels: twice, as a list doubles when it grows.
        let bytes = ((n * (n_references + l + 2 * to_label) + l * l) * size_of::<f64>()) as u64;
        let what = || format!("the covariances of {n} candidates");
        check_memory(bytes, half_of_memory(), Hint::Suggestions, what)?;
        let references: Vec<usize> = (0..n_references).collect();
        let median = distance_percentile(candidates.select(&references).rows(), 50.0, 0, watch)?;
        let per_width = if median > 0.0 { 1.0 / (median * median) } else { 1.0 };
        let explained = explained(&candidates, labeled, per_width, watch)?;
        let variances = explained.iter().map(|own| (1.0 - dot(own, own)).max(0.0)).collect();
        let mut with_references = vec![0.0; n * n_references];
        let first = candidates.select(&references);
        let width = candidates.rows().n_columns();
        parallel::try_chunks_mut(
            &mut with_references,
            n_references,
            || vec![0.0; width],
            |scratch, i, to| {
                watch.ask()?;
                similarities(candidates.rows().row(i), first.rows(), per_width, scratch, to);
                to.iter_mut().zip(&explained).for_each(|(c, other)| *c -= dot(&explained[i], other));
                Ok(())
            },
        )?;
        Ok(Covariance { candidates, n_references, per_width, explained, with_references, variances })
    }

    /// Number of reference rows: they are the first candidates.
    pub(crate) fn n_references(&self) -> usize {
        self.n_references
    }

    /// The variance of each candidate given the labels: 1 far from all of them.
    pub(crate) fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// For each candidate, the weighted reduction of the reference rows' variances by its label.
    pub(crate) fn reductions(&self, weights: &[f64]) -> Vec<f64> {
        parallel::map(self.variances.len(), |i| {
            let own = &self.with_references[i * self.n_references..][..self.n_references];
            sum_of(own, weights, |c, weight| weight * c * c) / (self.variances[i] + NOISE)
        })
    }

    /// The sum of the variances of the reference rows, each of some weight.
    pub(crate) fn total(&self, weights: &[f64]) -> f64 {
        self.variances.iter().zip(weights).map(|(variance, weight)| variance * weight).sum()
    }

    /// Labels a candidate.
    pub(crate) fn label(&mut self, picked: usize) {
        let rows = self.candidates.rows();
        let mut similar = vec![0.0; self.variances.len()];
        similarities(rows.row(picked), rows, self.per_width, &mut vec![0.0; rows.n_columns()], &mut similar);
        let own = self.explained[picked].clone();
        let root = (self.variances[picked] + NOISE).sqrt();
        let explains = |i: usize| (similar[i] - dot(&own, &self.explained[i])) / root;
        let news: Vec<f64> = parallel::map(self.variances.len(), explains);
        for ((more, explained), variance) in news.iter().zip(&mut self.explained).zip(&mut self.variances) {
            explained.push(*more);
            *variance = (*variance - more * more).max(0.0);
        }
        parallel::chunks_mut(&mut self.with_references, self.n_references, |i, to| {
            to.iter_mut().zip(&news).for_each(|(c, other)| *c -= news[i] * other);
        });
    }
}

/// The part of each candidate that labels explain: `F^-1 k(L, x)` with the Cholesky factor `F` of `k(L, L) + noise I`.
fn explained(candidates: &Matrix, labeled: &Matrix, per_width: f64, watch: &Watch<'_>) -> Result<Vec<Vec<f64>>> {
    let (l, width) = (labeled.rows().n_rows(), labeled.rows().n_columns());
    let mut factor = vec![0.0; l * l];
    let scratch = || vec![0.0; width];
    parallel::try_chunks_mut(&mut factor, l.max(1), scratch, |scratch, i, to| {
        similarities(labeled.rows().row(i), labeled.rows(), per_width, scratch, to);
        to[i] += NOISE;
        watch.ask()
    })?;
    // The noise makes it positive definite.
    let is_factor = cholesky::factor(&mut factor, l);
    debug_assert!(is_factor);
    parallel::try_map_with(candidates.rows().n_rows(), scratch, |scratch, i| {
        watch.ask()?;
        let mut own = vec![0.0; l];
        similarities(candidates.rows().row(i), labeled.rows(), per_width, scratch, &mut own);
        cholesky::solve_lower(&factor, l, &mut own);
        Ok(own)
    })
}

/// The kernel of a row and each of others.
fn similarities(row: Row<'_>, others: &dyn Rows, per_width: f64, scratch: &mut [f64], to: &mut [f64]) {
    for_each_distance(row, others, scratch, |j, squared| to[j] = libm::exp(-squared * per_width));
}

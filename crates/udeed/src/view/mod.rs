//! Views of the members of an automatic ensemble: maps of prepared rows into features.

mod kernel;
mod landmarks;
mod rank_normal;
mod relevance;
mod spectral;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::data::{Blocks, Buffer, Dense, Matrix, Rows, Stretch};
use crate::error::Result;
use crate::kernel::{PackedRows, scores};
use crate::neighbors::{Nearest, Points, nearest};
use crate::observer::Watch;
use crate::words::{Words, words};

pub(crate) use crate::kernel::Decay;
pub(crate) use kernel::KernelMap;
pub(crate) use landmarks::{Landmarks, gather};
pub(crate) use rank_normal::RankNormal;
pub(crate) use relevance::{median_distances, relevance};
pub(crate) use spectral::SpectralMap;

words! {
    /// A view of the rows: what members of [`Auto`](crate::method::Auto) see and how they judge it.
    ///
    /// ```
    /// assert_eq!(udeed::method::auto::View::Relevance.to_string(), "relevance");
    /// ```
    pub enum View = Linear {
        /// Logistic regressions on the features as they are.
        Linear = "linear",
        /// A Gaussian kernel in which features that correlate with the labels weigh more.
        Relevance = "relevance",
        /// A Laplace kernel on the ranks of the features, in which those that correlate with the labels weigh more.
        Laplace = "laplace",
        /// A Gaussian kernel of half the usual width.
        Narrow = "narrow",
        /// Spectral embeddings of two nearest-neighbour graphs of all rows, labeled and unlabeled.
        Spectral = "spectral",
        /// Extra trees and a random forest.
        Trees = "trees",
    }
}

impl View {
    /// All of them.
    pub const ALL: [View; 6] =
        [View::Linear, View::Relevance, View::Laplace, View::Narrow, View::Spectral, View::Trees];
}

impl AsRef<str> for View {
    fn as_ref(&self) -> &str {
        self.word()
    }
}

/// Number of views that `spectral` stands for.
pub(crate) const N_SPECTRAL: usize = spectral::EMBEDDINGS.len();

/// A map of prepared rows into features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FeatureMap {
    /// The features as they are.
    Plain,
    Kernel(KernelMap),
    Spectral(SpectralMap),
}

impl FeatureMap {
    /// Number of features that it makes of `n_inputs`.
    pub(crate) fn n_features(&self, n_inputs: usize) -> usize {
        match self {
            FeatureMap::Plain => n_inputs,
            FeatureMap::Kernel(map) => map.n_features(),
            FeatureMap::Spectral(map) => map.values.n_columns(),
        }
    }

    /// The scores on some rows, row after row, of `m` linear members on these features.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn scores(&self, seen: &SeenRows<'_>, weights: &[f64], m: usize, watch: &Watch<'_>) -> Result<Vec<f64>> {
        match self {
            FeatureMap::Plain => scores(&Stretch { rows: seen.rows, span: seen.span.clone() }, weights, m),
            FeatureMap::Kernel(map) => map.scores(seen, weights, m),
            FeatureMap::Spectral(map) => scores(&map.features(&seen.near(map, watch)?)?, weights, m),
        }
    }
}

/// Number of rows that go through trees side by side.
pub(crate) const SIDE_BY_SIDE: usize = 32;

/// Some rows, and what several maps and forests make of them first.
pub(crate) struct SeenRows<'a> {
    pub(crate) rows: &'a dyn Blocks,
    pub(crate) span: Range<usize>,
    dense: OnceLock<Dense>,
    columns: OnceLock<Vec<f64>>,
    packed: OnceLock<PackedRows>,
    ranked: OnceLock<(Dense, PackedRows)>,
    near: OnceLock<Vec<Nearest>>,
}

impl<'a> SeenRows<'a> {
    pub(crate) fn new(rows: &'a dyn Blocks, span: Range<usize>) -> Self {
        SeenRows {
            rows,
            span,
            dense: OnceLock::new(),
            columns: OnceLock::new(),
            packed: OnceLock::new(),
            ranked: OnceLock::new(),
            near: OnceLock::new(),
        }
    }

    /// Every value of them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn dense(&self) -> Result<&Dense> {
        if let Some(dense) = self.dense.get() {
            return Ok(dense);
        }
        let dense = gather(self.rows, self.span.clone())?;
        Ok(self.dense.get_or_init(|| dense))
    }

    /// Every value of them, [`SIDE_BY_SIDE`] rows at a time and there feature by feature; zeros after the last row.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn columns(&self) -> Result<&[f64]> {
        let dense = self.dense()?;
        let turned = || {
            let block = SIDE_BY_SIDE * dense.n_columns();
            let mut columns = vec![0.0; block * dense.n_rows().div_ceil(SIDE_BY_SIDE)];
            for (to, rows) in columns.chunks_exact_mut(block).zip(dense.values().chunks(block)) {
                for (i, row) in rows.chunks_exact(dense.n_columns()).enumerate() {
                    to[i..].iter_mut().step_by(SIDE_BY_SIDE).zip(row).for_each(|(to, x)| *to = *x);
                }
            }
            columns
        };
        Ok(self.columns.get_or_init(turned))
    }

    /// The rows in their own layout.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn matrix(&self) -> Result<Matrix> {
        if !self.rows.is_sparse() {
            return Ok(self.dense()?.clone().into());
        }
        let mut buffer = Buffer::default();
        Ok(self.rows.block(self.span.clone(), &mut buffer)?.to_matrix(self.span.len(), self.rows.shape().1))
    }

    /// Their normal scores: those of the first ranks that are asked for, as all maps of a model have the same.
    ///
    /// # Errors
    /// If they cannot be read.
    fn ranked(&self, ranks: &RankNormal) -> Result<(&Dense, &PackedRows)> {
        let dense = self.dense()?;
        let (ranked, packed) = self.ranked.get_or_init(|| {
            let mut ranked = dense.clone();
            ranks.apply_to_all(&mut ranked);
            let packed = PackedRows::new(&ranked);
            (ranked, packed)
        });
        Ok((ranked, packed))
    }

    /// They themselves, as kernels want them.
    ///
    /// # Errors
    /// If they cannot be read.
    fn packed(&self) -> Result<&PackedRows> {
        let dense = self.dense()?;
        Ok(self.packed.get_or_init(|| PackedRows::new(dense)))
    }

    /// The nodes near each of them: at least as many as the map connects, found once for all maps of a model, which have the
    /// same nodes.
    ///
    /// # Errors
    /// If they cannot be read.
    fn near(&self, map: &SpectralMap, watch: &Watch<'_>) -> Result<Cow<'_, [Nearest]>> {
        let wanted = map.neighbors.min(map.nodes.rows().n_rows());
        if let Some(near) = self.near.get().filter(|near| near.iter().all(|near| near.len() >= wanted)) {
            return Ok(Cow::Borrowed(near));
        }
        let most = most_neighbors().max(map.neighbors);
        let near = map.nodes.nearest(self.dense()?, most, watch)?;
        match self.near.get() {
            None => Ok(Cow::Borrowed(self.near.get_or_init(|| near))),
            Some(_) => Ok(Cow::Owned(near)),
        }
    }
}

/// The most neighbours of a row in any graph.
fn most_neighbors() -> usize {
    spectral::EMBEDDINGS.iter().map(|embedding| embedding.neighbors).max().unwrap_or(0)
}

/// The spectral views: of each its name, its map, and the features of the nodes.
pub(crate) fn by_graph(nodes: Dense, seed: u64, watch: &Watch<'_>) -> Result<Vec<(String, SpectralMap, Dense)>> {
    let nearest = nearest(&nodes, most_neighbors(), watch)?;
    let nodes = Arc::new(Points::new(nodes));
    let mut found = Vec::new();
    for embedding in spectral::EMBEDDINGS {
        if let Some(spectrum) = spectral::embed(&nodes, &nearest, embedding, seed, watch)? {
            found.push((format!("spectral, {} neighbors", embedding.neighbors), spectrum.map, spectrum.features));
        }
    }
    Ok(found)
}

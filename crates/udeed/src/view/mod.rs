//! Views of the members of an automatic ensemble: maps of prepared rows into features.

mod landmarks;
mod relevance;
mod spectral;

use std::ops::Range;
use std::sync::Arc;

use crate::data::{Blocks, Dense, Rows};
use crate::error::Result;
use crate::observer::Watch;
use crate::parallel;
use crate::prepare::FourierMap;
use crate::words::{Words, words};

pub(crate) use landmarks::{Landmarks, gather};
pub(crate) use relevance::RelevanceMap;
pub(crate) use spectral::SpectralMap;

words! {
    /// A view of the rows: the features of members of [`Auto`](crate::method::Auto).
    ///
    /// ```
    /// assert_eq!(udeed::method::auto::View::Relevance.to_string(), "relevance");
    /// ```
    pub enum View = Linear {
        /// The features as they are.
        Linear = "linear",
        /// Random Fourier features, drawn anew for each member, in which features that correlate with the labels weigh more.
        Relevance = "relevance",
        /// Spectral embeddings of two nearest-neighbour graphs of all rows, labeled and unlabeled.
        Spectral = "spectral",
    }
}

impl View {
    /// All of them.
    pub const ALL: [View; 3] = [View::Linear, View::Relevance, View::Spectral];
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
    Relevance(RelevanceMap),
    Spectral(SpectralMap),
}

impl FeatureMap {
    /// Number of features that it makes of `n_inputs`.
    pub(crate) fn n_features(&self, n_inputs: usize) -> usize {
        match self {
            FeatureMap::Plain => n_inputs,
            FeatureMap::Relevance(map) => map.fourier.n_features(),
            FeatureMap::Spectral(map) => map.values.n_columns(),
        }
    }

    /// The features of some rows; none where they are the rows themselves.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn apply(&self, rows: &dyn Blocks, span: Range<usize>, watch: &Watch<'_>) -> Result<Option<Dense>> {
        match self {
            FeatureMap::Plain => Ok(None),
            FeatureMap::Relevance(map) => fourier_features(&map.fourier, rows, span).map(Some),
            FeatureMap::Spectral(map) => map.apply(&gather(rows, span)?, watch).map(Some),
        }
    }
}

fn fourier_features(map: &FourierMap, rows: &dyn Blocks, span: Range<usize>) -> Result<Dense> {
    let mut features = Dense::zeros(span.len(), map.n_features())?;
    map.fill(rows, span, features.values_mut())?;
    Ok(features)
}

/// Relevance maps, one for each list of weights of the labeled rows. The bandwidth of each is the median distance of the rows
/// `near`.
///
/// # Errors
/// If the maps take more memory than there is.
pub(crate) fn by_relevance(
    labeled: &Dense,
    classes: (&[u8], usize),
    weights: &[Vec<f64>],
    near: &Dense,
    n_features: usize,
    seeds: &[u64],
) -> Result<Vec<RelevanceMap>> {
    relevance::check_memory(weights.len(), labeled.n_columns(), n_features)?;
    let relevances: Vec<Vec<f64>> =
        parallel::map(weights.len(), |k| relevance::relevance(labeled, classes.0, classes.1, &weights[k]));
    let widths = relevance::median_distances(near, &relevances)?;
    parallel::try_map(relevances.len(), |k| RelevanceMap::draw(relevances[k].clone(), widths[k], n_features, seeds[k]))
}

/// The spectral views: of each its name, its map, and the features of the nodes.
pub(crate) fn by_graph(nodes: &Arc<Dense>, seed: u64, watch: &Watch<'_>) -> Result<Vec<(String, SpectralMap, Dense)>> {
    let most = spectral::EMBEDDINGS.iter().map(|embedding| embedding.neighbors).max().unwrap_or(0);
    let nearest = crate::neighbors::nearest(nodes.as_ref(), most, watch)?;
    let mut found = Vec::new();
    for embedding in spectral::EMBEDDINGS {
        if let Some(spectrum) = spectral::embed(nodes, &nearest, embedding, seed, watch)? {
            found.push((format!("spectral, {} neighbors", embedding.neighbors), spectrum.map, spectrum.features));
        }
    }
    Ok(found)
}

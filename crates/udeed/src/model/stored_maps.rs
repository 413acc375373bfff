//! Members that look through maps, as tensors. What follows from a seed is not stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Dense, Rows};
use crate::ensemble::{Mapped, Members};
use crate::learner::n_heads;
use crate::model::safetensors::Tensor;
use crate::model::stored::{Named, Stored};
use crate::view::{FeatureMap, RelevanceMap, SpectralMap};

/// What a map is, besides its numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredMap {
    Plain,
    Relevance { features: usize, seed: u64 },
    Spectral { neighbors: usize },
}

/// Writes members under a name.
pub(super) fn write(prefix: &str, all: &[Mapped], tensors: &mut Named) -> Vec<StoredMap> {
    let spectral = all.iter().find_map(|mapped| match mapped.map.as_ref() {
        FeatureMap::Spectral(map) => Some(map),
        _ => None,
    });
    // All graphs have the same nodes.
    tensors.extend(spectral.map(|map| (format!("{prefix}.nodes"), Tensor::table(&map.nodes))));
    let mut write_map = |(place, mapped): (usize, &Mapped)| {
        let mut push = |part: &str, tensor: Tensor| tensors.push((format!("{prefix}.{place}.{part}"), tensor));
        push("scores", Tensor::members(&mapped.scores));
        match mapped.map.as_ref() {
            FeatureMap::Plain => StoredMap::Plain,
            FeatureMap::Relevance(map) => {
                push("relevance", Tensor::vector(&map.relevance));
                push("bandwidth", Tensor::vector(&[map.bandwidth]));
                StoredMap::Relevance { features: map.fourier.n_features(), seed: map.seed }
            }
            FeatureMap::Spectral(map) => {
                push("reach", Tensor::vector(&map.reach));
                push("values", Tensor::table(&map.values));
                StoredMap::Spectral { neighbors: map.neighbors }
            }
        }
    };
    all.iter().enumerate().map(&mut write_map).collect()
}

impl Stored<'_> {
    /// Reads what [`write()`] wrote; none where it does not fit together.
    pub(super) fn mapped(&self, prefix: &str, maps: &[StoredMap], n_classes: usize) -> Option<Vec<Mapped>> {
        let nodes = self.nodes(prefix);
        let read = |(place, map): (usize, &StoredMap)| {
            let prefix = format!("{prefix}.{place}");
            let values = self.finite(&format!("{prefix}.scores"))?;
            // Before a map is drawn, which may take long: whether there are weights for it.
            if let StoredMap::Relevance { features, .. } = map
                && *features >= values.len()
            {
                return None;
            }
            let map = self.map(&prefix, map, nodes.as_ref())?;
            let (heads, width) = (n_heads(n_classes), map.n_features(self.n_features).checked_add(1)?);
            let whole = !values.is_empty() && values.len() % width == 0 && (values.len() / width) % heads == 0;
            let rows: Vec<Vec<f64>> = whole.then(|| values.chunks(width).map(<[f64]>::to_vec).collect())?;
            Some(Mapped { map: Arc::new(map), scores: Members::from_rows(&rows), heads })
        };
        maps.iter().enumerate().map(read).collect()
    }

    fn nodes(&self, prefix: &str) -> Option<Arc<Dense>> {
        let values = self.finite(&format!("{prefix}.nodes"))?;
        let n = values.len().checked_div(self.n_features)?;
        Some(Arc::new(Dense::new(n, self.n_features, values).ok()?))
    }

    fn map(&self, prefix: &str, stored: &StoredMap, nodes: Option<&Arc<Dense>>) -> Option<FeatureMap> {
        Some(match stored {
            StoredMap::Plain => FeatureMap::Plain,
            StoredMap::Relevance { features, seed } => {
                let relevance = self.finite(&format!("{prefix}.relevance"))?;
                let bandwidth = *self.finite(&format!("{prefix}.bandwidth"))?.first()?;
                let sound =
                    relevance.len() == self.n_features && RelevanceMap::is_sound(&relevance, bandwidth, *features);
                FeatureMap::Relevance(sound.then(|| RelevanceMap::draw(relevance, bandwidth, *features, *seed).ok())??)
            }
            StoredMap::Spectral { neighbors } => {
                let (nodes, reach) = (Arc::clone(nodes?), self.finite(&format!("{prefix}.reach"))?);
                let values = self.finite(&format!("{prefix}.values"))?;
                let (n, width) = (nodes.n_rows(), values.len().checked_div(nodes.n_rows())?);
                let sound = *neighbors > 0 && reach.len() == n && width > 0 && reach.iter().all(|reach| *reach >= 0.0);
                let values = sound.then(|| Dense::new(n, width, values).ok())??;
                FeatureMap::Spectral(SpectralMap { nodes, neighbors: *neighbors, reach, values })
            }
        })
    }
}

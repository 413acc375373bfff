//! The tensors of a model: its ensembles as numbers.

use std::sync::Arc;

use crate::data::{Dense, Rows};
use crate::ensemble::{Ensemble, Mapped, Members, Part, Rule, Voters};
use crate::learner::{Hypothesis, Linear, Shape, n_heads};
use crate::model::description::{StoredMap, StoredPart, StoredRule};
use crate::tensor::{Tensor, TensorReader, TensorWriter};
use crate::view::{FeatureMap, RelevanceMap, SpectralMap};

/// Writes an ensemble.
pub(super) fn write_ensemble(ensemble: &Ensemble, tensors: &mut TensorWriter<'_>) -> Vec<StoredPart> {
    let write = |(place, part): (usize, &Part)| write_part(part, &mut tensors.within(place));
    ensemble.parts.iter().enumerate().map(write).collect()
}

fn write_part(part: &Part, tensors: &mut TensorWriter<'_>) -> StoredPart {
    tensors.write("weights", Tensor::vector(&part.weights));
    if let Rule::Stacked(last) = &part.rule {
        tensors.write("stacked", Tensor::rows(last.heads()));
    }
    let mut stored = StoredPart { rule: (&part.rule).into(), members: None, maps: None };
    match &part.members {
        Voters::Linear(members) => tensors.write("members", members_tensor(members)),
        Voters::Mapped(members) => stored.maps = Some(write_mapped(members, tensors)),
        Voters::Any(members) => {
            let write = |(k, member): (usize, &Hypothesis)| member.store(&mut tensors.within(k));
            stored.members = Some(members.iter().enumerate().map(write).collect());
        }
    }
    stored
}

/// The weights of linear members, one row a member.
fn members_tensor(members: &Members) -> Tensor {
    let m = members.n_members();
    let values: Vec<f64> = (0..m).flat_map(|k| members.weights_of(k)).collect();
    Tensor { shape: vec![m, members.n_features() + 1], ..Tensor::vector(&values) }
}

/// Writes members with feature maps.
fn write_mapped(all: &[Mapped], tensors: &mut TensorWriter<'_>) -> Vec<StoredMap> {
    let spectral = all.iter().find_map(|mapped| match mapped.map.as_ref() {
        FeatureMap::Spectral(map) => Some(map),
        _ => None,
    });
    // All graphs have the same nodes.
    if let Some(map) = spectral {
        tensors.write("nodes", Tensor::table(&map.nodes));
    }
    let write = |(place, mapped): (usize, &Mapped)| {
        let mut tensors = tensors.within(place);
        tensors.write("scores", members_tensor(&mapped.scores));
        match mapped.map.as_ref() {
            FeatureMap::Plain => StoredMap::Plain,
            FeatureMap::Relevance(map) => {
                tensors.write("relevance", Tensor::vector(&map.relevance));
                tensors.write("bandwidth", Tensor::vector(&[map.bandwidth]));
                StoredMap::Relevance { features: map.fourier.n_features(), seed: map.seed }
            }
            FeatureMap::Spectral(map) => {
                tensors.write("reach", Tensor::vector(&map.reach));
                tensors.write("values", Tensor::table(&map.values));
                StoredMap::Spectral { neighbors: map.neighbors }
            }
        }
    };
    all.iter().enumerate().map(write).collect()
}

/// Reads what [`write_ensemble`] wrote; none where it does not fit together, or not the shape of the model.
pub(super) fn read_ensemble(parts: Vec<StoredPart>, tensors: &TensorReader<'_>, shape: Shape) -> Option<Ensemble> {
    let whole = parts.len() == 1;
    if !whole && parts.len() != shape.n_classes {
        return None;
    }
    // Parts for each class against the rest have two classes.
    let of_part = if whole { shape } else { Shape { n_classes: 2, ..shape } };
    let read = |(place, part): (usize, StoredPart)| read_part(part, &tensors.within(place), of_part);
    let parts: Option<Vec<Part>> = parts.into_iter().enumerate().map(read).collect();
    let parts = parts.filter(|parts| whole || !parts.iter().any(|part| matches!(part.members, Voters::Mapped(_))));
    Some(Ensemble::of_parts(shape.n_classes, parts?))
}

fn read_part(stored: StoredPart, tensors: &TensorReader<'_>, shape: Shape) -> Option<Part> {
    let members = match (stored.members, stored.maps) {
        (Some(members), _) => {
            let read = |(k, stored)| Hypothesis::load(stored, &tensors.within(k), shape);
            Voters::Any(members.into_iter().enumerate().map(read).collect::<Option<_>>()?)
        }
        (None, Some(maps)) => Voters::Mapped(read_mapped(&maps, tensors, shape)?),
        (None, None) => {
            Voters::Linear(Members::from_rows(&tensors.finite_rows("members", shape.n_features.checked_add(1)?)?))
        }
    };
    let rule = match stored.rule {
        StoredRule::Weighted => Rule::Weighted,
        StoredRule::Unweighted => Rule::Unweighted,
        StoredRule::Product => Rule::Product,
        StoredRule::Stacked => {
            let n_features = members.len().checked_mul(n_heads(shape.n_classes))?;
            Rule::Stacked(Linear::read("stacked", tensors, Shape { n_features, ..shape })?)
        }
    };
    let fits = match &members {
        Voters::Linear(_) => shape.n_classes == 2,
        Voters::Mapped(_) => rule == Rule::Weighted,
        Voters::Any(members) => members.iter().all(|member| member.n_classes() == shape.n_classes),
    };
    let weights = tensors.vector("weights")?;
    let sound = fits && is_sound(&weights, members.len());
    sound.then_some(Part { members, weights, rule })
}

/// The largest weight of all members of a vote together: products with logarithms of probabilities stay numbers.
const LARGEST_VOTE: f64 = 1e100;

/// Whether these can be the weights of members in a vote.
fn is_sound(weights: &[f64], members: usize) -> bool {
    let total: f64 = weights.iter().sum();
    weights.len() == members && members > 0 && weights.iter().all(|weight| *weight > 0.0) && total <= LARGEST_VOTE
}

/// Reads what [`write_mapped`] wrote.
fn read_mapped(maps: &[StoredMap], tensors: &TensorReader<'_>, shape: Shape) -> Option<Vec<Mapped>> {
    let nodes = read_nodes(tensors, shape.n_features);
    let read = |(place, map): (usize, &StoredMap)| {
        let tensors = tensors.within(place);
        // Before a map is drawn, which may take long: whether there are weights for it.
        if let StoredMap::Relevance { features, .. } = map
            && *features >= tensors.finite("scores")?.len()
        {
            return None;
        }
        let map = read_map(map, &tensors, shape.n_features, nodes.as_ref())?;
        let heads = n_heads(shape.n_classes);
        let rows = tensors.finite_rows("scores", map.n_features(shape.n_features).checked_add(1)?)?;
        let whole = rows.len().is_multiple_of(heads);
        whole.then(|| Mapped { map: Arc::new(map), scores: Members::from_rows(&rows), heads })
    };
    maps.iter().enumerate().map(read).collect()
}

fn read_nodes(tensors: &TensorReader<'_>, n_features: usize) -> Option<Arc<Dense>> {
    let values = tensors.finite("nodes")?;
    let n = values.len().checked_div(n_features)?;
    Some(Arc::new(Dense::new(n, n_features, values).ok()?))
}

fn read_map(
    stored: &StoredMap,
    tensors: &TensorReader<'_>,
    n_features: usize,
    nodes: Option<&Arc<Dense>>,
) -> Option<FeatureMap> {
    Some(match stored {
        StoredMap::Plain => FeatureMap::Plain,
        StoredMap::Relevance { features, seed } => {
            let relevance = tensors.finite("relevance")?;
            let bandwidth = *tensors.finite("bandwidth")?.first()?;
            let sound = relevance.len() == n_features && RelevanceMap::is_sound(&relevance, bandwidth, *features);
            FeatureMap::Relevance(sound.then(|| RelevanceMap::draw(relevance, bandwidth, *features, *seed).ok())??)
        }
        StoredMap::Spectral { neighbors } => {
            let (nodes, reach) = (Arc::clone(nodes?), tensors.finite("reach")?);
            let values = tensors.finite("values")?;
            let (n, width) = (nodes.n_rows(), values.len().checked_div(nodes.n_rows())?);
            let sound = *neighbors > 0 && reach.len() == n && width > 0 && reach.iter().all(|reach| *reach >= 0.0);
            let values = sound.then(|| Dense::new(n, width, values).ok())??;
            FeatureMap::Spectral(SpectralMap { nodes, neighbors: *neighbors, reach, values })
        }
    })
}

//! The tensors of a model: its ensembles as numbers.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::data::{Dense, Rows};
use crate::ensemble::calibration::Calibration;
use crate::ensemble::forest::Forest;
use crate::ensemble::{Ensemble, Group, Mapped, Members, Part, Rule, Voters};
use crate::learner::{Hypothesis, Linear, Shape, Tree, n_heads};
use crate::model::description::{StoredGroup, StoredPart, StoredRule};
use crate::neighbors::Points;
use crate::tensor::{Tensor, TensorReader, TensorWriter};
use crate::view::{FeatureMap, KernelMap, RankNormal, SpectralMap};

/// Writes an ensemble.
pub(super) fn write_ensemble(ensemble: &Ensemble, tensors: &mut TensorWriter<'_>) -> Vec<StoredPart> {
    if let Some(calibration) = &ensemble.calibration {
        let heads: Vec<Vec<f64>> = calibration.heads().iter().map(|head| head.to_vec()).collect();
        tensors.write("calibration", Tensor::rows(&heads));
    }
    let write = |(place, part): (usize, &Part)| write_part(part, &mut tensors.within(place));
    ensemble.parts.iter().enumerate().map(write).collect()
}

fn write_part(part: &Part, tensors: &mut TensorWriter<'_>) -> StoredPart {
    tensors.write("weights", Tensor::vector(&part.weights));
    if let Rule::Stacked(last) = &part.rule {
        tensors.write("stacked", Tensor::rows(last.heads()));
    }
    if let Rule::Shifted(odds) = &part.rule {
        tensors.write("odds", Tensor::vector(odds));
    }
    let mut stored = StoredPart { rule: (&part.rule).into(), members: None, groups: None };
    match &part.members {
        Voters::Linear(members) => tensors.write("members", members_tensor(members)),
        Voters::Mixed(all) => stored.groups = Some(write_groups(all, tensors)),
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

/// Writes members of several kinds. What several maps have in common is written once: the nodes of graphs, the labeled rows of
/// kernels, and ranks.
fn write_groups(all: &[Group], tensors: &mut TensorWriter<'_>) -> Vec<StoredGroup> {
    let maps = all.iter().filter_map(|group| match group {
        Group::Mapped(mapped) => Some(mapped.map.as_ref()),
        Group::Trees(_) => None,
    });
    for map in maps {
        match map {
            FeatureMap::Spectral(map) if !tensors.has("nodes") => {
                tensors.write("nodes", Tensor::table(map.nodes.rows()));
            }
            FeatureMap::Kernel(map) => {
                let name = labeled_name(map.ranks.is_some());
                if !tensors.has(name) {
                    tensors.write(name, Tensor::table(&map.labeled));
                }
                if let Some(ranks) = map.ranks.as_ref().filter(|_| !tensors.has("knots")) {
                    let (counts, values, scores) = ranks.parts();
                    tensors.write("knots", Tensor::integers(counts.into_iter().map(|count| count as u64)));
                    tensors.write("ranked", Tensor::vector(&values));
                    tensors.write("ranks", Tensor::vector(&scores));
                }
            }
            _ => {}
        }
    }
    let write = |(place, group): (usize, &Group)| match group {
        Group::Mapped(mapped) => write_mapped(mapped, &mut tensors.within(place)),
        Group::Trees(forest) => {
            write_trees(forest.trees(), &mut tensors.within(place));
            StoredGroup::Trees
        }
    };
    all.iter().enumerate().map(write).collect()
}

/// The name of the labeled rows, or of their ranks.
fn labeled_name(ranks: bool) -> &'static str {
    if ranks { "labeled.ranks" } else { "labeled" }
}

fn write_mapped(mapped: &Mapped, tensors: &mut TensorWriter<'_>) -> StoredGroup {
    tensors.write("scores", members_tensor(&mapped.scores));
    match mapped.map.as_ref() {
        FeatureMap::Plain => StoredGroup::Plain,
        FeatureMap::Kernel(map) => {
            tensors.write("factors", Tensor::vector(&map.factors));
            tensors.write("basis", Tensor::integers(map.basis.iter().map(|&i| i as u64)));
            StoredGroup::Kernel { decay: map.decay, ranks: map.ranks.is_some() }
        }
        FeatureMap::Spectral(map) => {
            tensors.write("reach", Tensor::vector(&map.reach));
            tensors.write("values", Tensor::table(&map.values));
            StoredGroup::Spectral { neighbors: map.neighbors }
        }
    }
}

/// Writes trees one after the other: their many tensors would take more room than their numbers.
fn write_trees(trees: &[Tree], tensors: &mut TensorWriter<'_>) {
    let integers = |of: fn(&Tree) -> &[u32]| Tensor::integers(trees.iter().flat_map(of).map(|&x| u64::from(x)));
    let numbers = |of: fn(&Tree) -> &[f64]| Tensor::vector(&trees.iter().flat_map(of).copied().collect::<Vec<f64>>());
    tensors.write("nodes", Tensor::integers(trees.iter().map(|tree| tree.n_nodes() as u64)));
    tensors.write("features", integers(Tree::features));
    tensors.write("thresholds", numbers(Tree::thresholds));
    tensors.write("left", integers(Tree::left));
    tensors.write("right", integers(Tree::right));
    tensors.write("shares", numbers(Tree::distributions));
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
    let parts = parts.filter(|parts| whole || !parts.iter().any(|part| matches!(part.members, Voters::Mixed(_))));
    let calibration = match tensors.has("calibration") {
        true => Some(read_calibration(tensors, shape.n_classes)?),
        false => None,
    };
    let mut ensemble = Ensemble::of_parts(shape.n_classes, parts?);
    ensemble.calibration = calibration;
    Some(ensemble)
}

fn read_calibration(tensors: &TensorReader<'_>, n_classes: usize) -> Option<Calibration> {
    let heads: Vec<[f64; 2]> = tensors.finite("calibration")?.as_chunks().0.to_vec();
    Calibration::from_heads(heads).filter(|calibration| calibration.heads().len() == n_heads(n_classes))
}

fn read_part(stored: StoredPart, tensors: &TensorReader<'_>, shape: Shape) -> Option<Part> {
    let members = match (stored.members, stored.groups) {
        (Some(members), _) => {
            let read = |(k, stored)| Hypothesis::load(stored, &tensors.within(k), shape);
            Voters::Any(members.into_iter().enumerate().map(read).collect::<Option<_>>()?)
        }
        (None, Some(groups)) => Voters::Mixed(read_groups(&groups, tensors, shape)?),
        (None, None) => {
            Voters::Linear(Members::from_rows(&tensors.finite_rows("members", shape.n_features.checked_add(1)?)?))
        }
    };
    let rule = match stored.rule {
        StoredRule::Weighted => Rule::Weighted,
        StoredRule::Unweighted => Rule::Unweighted,
        StoredRule::Product => Rule::Product,
        StoredRule::Shifted => {
            let odds = tensors.finite("odds")?;
            let sound = odds.len() == shape.n_classes && odds.iter().all(|odds| odds.abs() <= LARGEST_SHIFT);
            Rule::Shifted(sound.then_some(odds)?)
        }
        StoredRule::Stacked => {
            let n_features = members.len().checked_mul(n_heads(shape.n_classes))?;
            Rule::Stacked(Linear::read("stacked", tensors, Shape { n_features, ..shape })?)
        }
    };
    let fits = match &members {
        Voters::Linear(_) => shape.n_classes == 2,
        Voters::Mixed(_) => matches!(rule, Rule::Weighted | Rule::Shifted(_)),
        Voters::Any(members) => members.iter().all(|member| member.n_classes() == shape.n_classes),
    };
    let weights = tensors.vector("weights")?;
    let sound = fits && is_sound(&weights, members.len());
    sound.then_some(Part { members, weights, rule })
}

/// The largest weight of all members of a vote together: products with logarithms of probabilities stay numbers.
const LARGEST_VOTE: f64 = 1e100;

/// The largest shift of log odds: its exponential is a number, and so are products with probabilities.
const LARGEST_SHIFT: f64 = 500.0;

/// Whether these can be the weights of members in a vote.
fn is_sound(weights: &[f64], members: usize) -> bool {
    let total: f64 = weights.iter().sum();
    weights.len() == members && members > 0 && weights.iter().all(|weight| *weight > 0.0) && total <= LARGEST_VOTE
}

/// Tensors that several maps share.
struct Common {
    nodes: Option<Arc<Points>>,
    /// The labeled rows, and their ranks.
    labeled: [Option<Arc<Dense>>; 2],
    ranks: Option<Arc<RankNormal>>,
}

/// Reads what [`write_groups`] wrote.
fn read_groups(groups: &[StoredGroup], tensors: &TensorReader<'_>, shape: Shape) -> Option<Vec<Group>> {
    let ranks = || {
        let counts: Vec<usize> = tensors.integers("knots")?;
        let ranks = RankNormal::from_parts(&counts, &tensors.finite("ranked")?, &tensors.finite("ranks")?)?;
        (counts.len() == shape.n_features).then(|| Arc::new(ranks))
    };
    let common = Common {
        nodes: read_rows("nodes", tensors, shape.n_features).map(|rows| Arc::new(Points::new(rows))),
        labeled: [false, true].map(|ranks| read_rows(labeled_name(ranks), tensors, shape.n_features).map(Arc::new)),
        ranks: ranks(),
    };
    let read = |(place, group): (usize, &StoredGroup)| {
        let tensors = tensors.within(place);
        if matches!(group, StoredGroup::Trees) {
            return Some(Group::Trees(Arc::new(Forest::new(read_trees(&tensors, shape)?))));
        }
        let map = read_map(group, &tensors, shape.n_features, &common)?;
        let heads = n_heads(shape.n_classes);
        let rows = tensors.finite_rows("scores", map.n_features(shape.n_features).checked_add(1)?)?;
        let whole = rows.len().is_multiple_of(heads);
        whole.then(|| Group::Mapped(Mapped { map: Arc::new(map), scores: Members::from_rows(&rows), heads }))
    };
    groups.iter().enumerate().map(read).collect()
}

fn read_rows(name: &str, tensors: &TensorReader<'_>, n_features: usize) -> Option<Dense> {
    let values = tensors.finite(name)?;
    let n = values.len().checked_div(n_features)?;
    Dense::new(n, n_features, values).ok()
}

/// Reads what [`write_trees`] wrote.
fn read_trees(tensors: &TensorReader<'_>, shape: Shape) -> Option<Vec<Tree>> {
    let sizes: Vec<usize> = tensors.integers("nodes")?;
    let [features, left, right]: [Option<Vec<u32>>; 3] =
        ["features", "left", "right"].map(|name| tensors.integers(name));
    let (features, left, right) = (features?, left?, right?);
    let (thresholds, shares) = (tensors.vector("thresholds")?, tensors.vector("shares")?);
    let mut first = 0usize;
    let mut trees = Vec::with_capacity(sizes.len().min(features.len()));
    for size in sizes {
        let span = first..first.checked_add(size)?;
        let of_classes = span.start.checked_mul(shape.n_classes)?..span.end.checked_mul(shape.n_classes)?;
        let integers = |all: &[u32]| Some(all.get(span.clone())?.to_vec());
        trees.push(Tree::from_parts(
            shape.n_features,
            shape.n_classes,
            (integers(&features)?, thresholds.get(span.clone())?.to_vec()),
            (integers(&left)?, integers(&right)?),
            shares.get(of_classes)?.to_vec(),
        )?);
        first = span.end;
    }
    (first == features.len() && !trees.is_empty()).then_some(trees)
}

fn read_map(
    stored: &StoredGroup,
    tensors: &TensorReader<'_>,
    n_features: usize,
    common: &Common,
) -> Option<FeatureMap> {
    Some(match stored {
        StoredGroup::Trees => return None,
        StoredGroup::Plain => FeatureMap::Plain,
        StoredGroup::Kernel { decay, ranks } => {
            let labeled = Arc::clone(common.labeled[usize::from(*ranks)].as_ref()?);
            let ranks = if *ranks { Some(Arc::clone(common.ranks.as_ref()?)) } else { None };
            let (factors, basis): (_, Vec<usize>) = (tensors.finite("factors")?, tensors.integers("basis")?);
            let largest = factors.iter().copied().fold(0.0, |most: f64, factor| most.max(factor.abs()));
            let sound = factors.len() == n_features
                && largest <= LARGEST_FACTOR
                && !basis.is_empty()
                && basis.iter().all(|&i| i < labeled.n_rows())
                // Each once: a short list of rows stays short.
                && basis.iter().collect::<BTreeSet<_>>().len() == basis.len();
            FeatureMap::Kernel(sound.then(|| KernelMap::new(*decay, ranks, factors, labeled, basis))?)
        }
        StoredGroup::Spectral { neighbors } => {
            let (nodes, reach) = (Arc::clone(common.nodes.as_ref()?), tensors.finite("reach")?);
            let values = tensors.finite("values")?;
            let n = nodes.rows().n_rows();
            let width = values.len().checked_div(n)?;
            let sound = *neighbors > 0 && reach.len() == n && width > 0 && reach.iter().all(|reach| *reach >= 0.0);
            let values = sound.then(|| Dense::new(n, width, values).ok())??;
            FeatureMap::Spectral(SpectralMap { nodes, neighbors: *neighbors, reach, values })
        }
    })
}

/// The largest factor of a feature in a kernel: squares of scaled features that are not huge stay numbers.
const LARGEST_FACTOR: f64 = 1e50;

//! The eigenvectors of a graph of near rows: features that hardly change where rows lie close together.
//!
//! R. Coifman, S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 21, 2006; scaled to each row's own
//! surroundings as by L. Zelnik-Manor, P. Perona, "Self-tuning spectral clustering", NIPS 2004.

use std::sync::Arc;

use crate::data::{Csr, Dense, Rows};
use crate::error::Result;
use crate::linalg::eigen;
use crate::neighbors::{Nearest, Points};
use crate::observer::Watch;

/// A spectral embedding of a nearest-neighbour graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Embedding {
    /// Number of nearest rows that each row is connected with.
    pub(crate) neighbors: usize,
    /// Most eigenvectors.
    pub(crate) vectors: usize,
    /// Diffusion time: steps of a random walk along the graph.
    pub(crate) steps: i32,
}

/// A coarse graph of many neighbours and a fine one of few: together they do well on more data than either.
pub(crate) const EMBEDDINGS: [Embedding; 2] =
    [Embedding { neighbors: 20, vectors: 30, steps: 3 }, Embedding { neighbors: 5, vectors: 60, steps: 1 }];

/// Smaller eigenvalues stand for noise.
const LEAST: f64 = 0.05;

/// A map of rows into features of a graph whose nodes are known rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpectralMap {
    pub(crate) nodes: Arc<Points>,
    pub(crate) neighbors: usize,
    /// The squared distance of each node from the last of its neighbours.
    pub(crate) reach: Vec<f64>,
    /// The features that a row takes over from each node near it.
    pub(crate) values: Dense,
}

/// A map and the features of its own nodes.
pub(super) struct Spectrum {
    pub(super) map: SpectralMap,
    pub(super) features: Dense,
}

/// Embeds a graph; `nearest` are the neighbours of each node, at least as many as the embedding connects. None where no
/// eigenvalue but the first is above [`LEAST`].
pub(super) fn embed(
    nodes: &Arc<Points>,
    nearest: &[Nearest],
    embedding: Embedding,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Option<Spectrum>> {
    let n = nodes.rows().n_rows();
    let near = |i: usize| &nearest[i][..embedding.neighbors.min(nearest[i].len())];
    let reach: Vec<f64> = (0..n).map(|i| near(i).last().map_or(0.0, |(_, squared)| *squared)).collect();
    let weights = connected(n, near, &reach);
    let degrees: Vec<f64> = weights.iter().map(|edges| edges.iter().map(|(_, weight)| weight).sum()).collect();
    // A node that is near to none has no features.
    let scales: Vec<f64> = degrees.iter().map(|&degree| if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }).collect();
    let mut matrix = Csr::empty(n);
    for (i, edges) in weights.iter().enumerate() {
        matrix.push_row(edges.iter().map(|&(j, weight)| (j, scales[i] * weight * scales[j])));
    }
    let found = eigen::largest(&matrix, (embedding.vectors + 1).min(n), LEAST, seed, watch)?;
    // The first tells nothing but how many neighbours a row has.
    let kept: Vec<usize> = (1..found.values.len()).filter(|&k| found.values[k] > LEAST).collect();
    if kept.is_empty() {
        return Ok(None);
    }
    // A row takes over from its neighbours what is one step less of a walk.
    let features = |steps: i32| -> Result<Dense> {
        let value = |i: usize, k: usize| scales[i] * found.vectors[k][i] * found.values[k].powi(steps);
        Dense::new(n, kept.len(), (0..n).flat_map(|i| kept.iter().map(move |&k| value(i, k))).collect())
    };
    let (mut own, mut values) = (features(embedding.steps)?, features(embedding.steps - 1)?);
    let square: f64 = own.values().iter().map(|x| x * x).sum::<f64>() / n as f64;
    if square.is_nan() || square <= 0.0 {
        return Ok(None);
    }
    let scale = 1.0 / square.sqrt();
    for features in [&mut own, &mut values] {
        features.values_mut().iter_mut().for_each(|x| *x *= scale);
    }
    let map = SpectralMap { nodes: Arc::clone(nodes), neighbors: embedding.neighbors, reach, values };
    Ok(Some(Spectrum { map, features: own }))
}

/// For each node those that it is connected with, because either is near to the other, and how closely.
fn connected<'a>(n: usize, near: impl Fn(usize) -> &'a [(usize, f64)], reach: &[f64]) -> Vec<Vec<(usize, f64)>> {
    let mut edges = vec![Vec::new(); n];
    for i in 0..n {
        for &(j, squared) in near(i) {
            let weight = libm::exp(-nearness(squared, reach[i], reach[j]));
            edges[i].push((j, weight));
            edges[j].push((i, weight));
        }
    }
    for edges in &mut edges {
        edges.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        edges.dedup_by_key(|edge| edge.0);
    }
    edges
}

/// A squared distance in terms of how far the neighbours of both ends lie.
fn nearness(squared: f64, reach: f64, other: f64) -> f64 {
    if squared == 0.0 { 0.0 } else { squared / (reach * other).sqrt() }
}

impl SpectralMap {
    /// The features of rows.
    pub(crate) fn apply(&self, rows: &Dense, watch: &Watch<'_>) -> Result<Dense> {
        self.features(&self.nodes.nearest(rows, self.neighbors, watch)?)
    }

    /// The features of rows of which the nearest nodes are known, or more of them than count: those of the nodes near by, the
    /// nearest of which count most.
    pub(super) fn features(&self, near: &[Nearest]) -> Result<Dense> {
        let mut features = Dense::zeros(near.len(), self.values.n_columns())?;
        let mut shares = Vec::new();
        for (near, to) in near.iter().zip(features.rows_mut()) {
            let near = &near[..self.neighbors.min(near.len())];
            self.shares(near, &mut shares);
            for (&(node, _), share) in near.iter().zip(&shares) {
                to.iter_mut().zip(self.values.get(node)).for_each(|(to, value)| *to += share * value);
            }
        }
        Ok(features)
    }

    /// The share of each of the nearest nodes; together 1.
    fn shares(&self, near: &[(usize, f64)], shares: &mut Vec<f64>) {
        let reach = near.last().map_or(0.0, |(_, squared)| *squared);
        shares.clear();
        shares.extend(near.iter().map(|&(node, squared)| nearness(squared, reach, self.reach[node])));
        // Against the nearest, so that not all vanish where a row lies far from everything.
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let weight = |far: f64| if least.is_finite() { libm::exp(least - far) } else { 1.0 };
        shares.iter_mut().for_each(|share| *share = weight(*share));
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::nearest;
    use crate::random::{Purpose, Stream};

    /// Two rings, one within the other.
    fn rings(n: usize) -> Dense {
        let mut stream = Stream::new(4, Purpose::Split, 0);
        let row = |i: usize| {
            let (radius, angle) = (if i.is_multiple_of(2) { 1.0 } else { 3.0 }, std::f64::consts::TAU * stream.unit());
            [radius * angle.cos(), radius * angle.sin()]
        };
        Dense::new(n, 2, (0..n).flat_map(row).collect()).unwrap()
    }

    /// The spectrum of the graph of nearest neighbours, and these.
    fn spectrum(nodes: &Arc<Points>, embedding: Embedding) -> (Spectrum, Vec<Nearest>) {
        let mut nobody = ();
        let watch = Watch::new(&mut nobody);
        let near = nearest(nodes.rows(), embedding.neighbors, &watch).unwrap();
        (embed(nodes, &near, embedding, 1, &watch).unwrap().unwrap(), near)
    }

    #[test]
    fn a_feature_tells_parts_of_a_graph_apart() {
        let nodes = Arc::new(Points::new(rings(200)));
        let (Spectrum { map, features }, _) = spectrum(&nodes, EMBEDDINGS[1]);
        let mean_square: f64 = features.values().iter().map(|x| x * x).sum::<f64>() / 200.0;
        assert!((mean_square - 1.0).abs() < 1e-12);
        // Some feature has one sign on each ring.
        let tells = |k: usize| (0..200).all(|i| (features.get(i)[k] > 0.0) == (features.get(0)[k] > 0.0) || i % 2 == 1);
        assert!((0..features.n_columns()).any(tells));
        // A row that nobody has seen is given what its neighbours have: nearly what it would have itself.
        let seen = map.apply(nodes.rows(), &Watch::new(&mut ())).unwrap();
        let (mut off, mut all) = (0.0, 0.0);
        for (a, b) in seen.values().iter().zip(features.values()) {
            (off, all) = (off + (a - b) * (a - b), all + b * b);
        }
        assert!(off < 0.2 * all, "{off} of {all}");
    }

    #[test]
    fn the_features_of_nodes_are_those_of_a_walk() {
        // Of a node, the mean of what its neighbours hand on is its own feature: the eigenvectors are exact.
        let (Spectrum { map, features }, near) = spectrum(&Arc::new(Points::new(rings(120))), EMBEDDINGS[0]);
        let reach: Vec<f64> = near.iter().map(|near| near[19].1).collect();
        assert_eq!(map.reach, reach);
        for (i, edges) in connected(120, |i| &near[i], &reach).iter().enumerate() {
            let total: f64 = edges.iter().map(|(_, weight)| weight).sum();
            for k in 0..features.n_columns() {
                let mean = edges.iter().map(|&(j, weight)| weight * map.values.get(j)[k]).sum::<f64>() / total;
                assert!((mean - features.get(i)[k]).abs() < 1e-5, "{mean} against {}", features.get(i)[k]);
            }
        }
    }

    #[test]
    fn rows_that_are_all_the_same_show_nothing() {
        let mut nobody = ();
        let watch = Watch::new(&mut nobody);
        for n in [1, 2, 30] {
            let nodes = Arc::new(Points::new(Dense::new(n, 2, vec![1.0; 2 * n]).unwrap()));
            let near = nearest(nodes.rows(), 20, &watch).unwrap();
            assert!(embed(&nodes, &near, EMBEDDINGS[0], 1, &watch).unwrap().is_none(), "{n} rows");
        }
    }

    /// All distances within a group are 0, and so are the scales that they are measured by.
    #[test]
    fn two_groups_of_equal_rows_are_told_apart() {
        let rows = Dense::new(30, 1, (0..30).map(|i| f64::from(i / 15)).collect()).unwrap();
        let nodes = Arc::new(Points::new(rows));
        let (Spectrum { map, features }, _) = spectrum(&nodes, EMBEDDINGS[1]);
        let seen = map.apply(nodes.rows(), &Watch::new(&mut ())).unwrap();
        for features in [features, seen] {
            for k in 0..features.n_columns() {
                let (first, second) = (features.get(0)[k], features.get(15)[k]);
                assert!((first - second).abs() > 0.1, "{first} and {second}");
                for i in 0..30 {
                    let own = if i < 15 { first } else { second };
                    assert!((features.get(i)[k] - own).abs() < 1e-5, "row {i}: {} and {own}", features.get(i)[k]);
                }
            }
        }
    }
}

//! Linear members on mapped features, and trees, as nodes of a graph.

use crate::data::Rows;
use crate::ensemble::{Group, Mapped, Rule};
use crate::error::Result;
use crate::learner::{Tree, n_heads};
use crate::model::onnx::graph::Graph;
use crate::model::onnx::kernel::{Kernels, is_alike};
use crate::model::onnx::nearest;
use crate::model::onnx::trees::Seeing;
use crate::view::{FeatureMap, KernelMap, SpectralMap};

/// Linear members that share a map, and the shares of their votes.
#[derive(Clone, Copy)]
struct Voting<'a> {
    members: &'a Mapped,
    shares: &'a [f64],
}

/// Members of several kinds, put together by what they have in common.
#[derive(Default)]
struct Sorted<'a> {
    plain: Vec<Voting<'a>>,
    /// Each list has kernels that can be taken at once.
    kernels: Vec<Vec<(&'a KernelMap, Voting<'a>)>>,
    /// Each list is about the same nodes.
    spectral: Vec<Vec<(&'a SpectralMap, Voting<'a>)>>,
    trees: Vec<(Seeing<'a>, f64)>,
}

impl<'a> Sorted<'a> {
    fn new(all: &'a [Group], mut shares: &'a [f64]) -> Self {
        let mut sorted = Sorted::default();
        for group in all {
            let (own, others) = shares.split_at(group.n_members());
            shares = others;
            let members = match group {
                Group::Mapped(members) => members,
                Group::Trees(forest) => {
                    let each = |(tree, &share): (&'a Tree, &f64)| (Seeing::all(tree), share);
                    sorted.trees.extend(forest.trees().iter().zip(own).map(each));
                    continue;
                }
            };
            let voting = Voting { members, shares: own };
            match members.map.as_ref() {
                FeatureMap::Plain => sorted.plain.push(voting),
                FeatureMap::Kernel(map) => put(&mut sorted.kernels, map, voting, is_alike),
                FeatureMap::Spectral(map) => put(&mut sorted.spectral, map, voting, |a, b| a.nodes == b.nodes),
            }
        }
        sorted
    }

    /// Numbers per row in the largest table of the maps.
    fn n_numbers(&self) -> usize {
        let kernels = self.kernels.iter().map(|some| kernels_of(some).n_numbers());
        let spectral =
            self.spectral.iter().map(|some| nearest::n_numbers(some[0].0.nodes.rows(), most_neighbors(some)));
        kernels.chain(spectral).max().unwrap_or(0)
    }
}

/// Puts a map into the first list whose maps are alike, or into one of its own.
fn put<'a, M>(
    lists: &mut Vec<Vec<(&'a M, Voting<'a>)>>,
    map: &'a M,
    voting: Voting<'a>,
    is_alike: impl Fn(&M, &M) -> bool,
) {
    match lists.iter_mut().find(|list| is_alike(list[0].0, map)) {
        Some(list) => list.push((map, voting)),
        None => lists.push(vec![(map, voting)]),
    }
}

fn kernels_of<'a>(some: &[(&'a KernelMap, Voting<'a>)]) -> Kernels<'a> {
    Kernels::of(some.iter().map(|(map, _)| *map).collect())
}

fn most_neighbors(some: &[(&SpectralMap, Voting<'_>)]) -> usize {
    some.iter().map(|(map, _)| map.neighbors).max().unwrap_or(0).min(some[0].0.nodes.rows().n_rows())
}

impl Graph {
    /// The decisions of members of several kinds.
    ///
    /// # Errors
    /// As [`Graph::in_blocks`].
    pub(super) fn mixed(&mut self, all: &[Group], weights: &[f64], n_classes: usize, rows: &str) -> Result<String> {
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let sorted = Sorted::new(all, &shares);
        let mut votes = Vec::new();
        if !sorted.trees.is_empty() {
            votes.push(self.forest(&sorted.trees, &Rule::Weighted, n_classes, rows));
        }
        for voting in &sorted.plain {
            let columns: Vec<usize> = (0..voting.members.scores.n_features()).collect();
            votes.push(self.voices(&[(*voting, &columns)], columns.len(), rows));
        }
        if !sorted.kernels.is_empty() || !sorted.spectral.is_empty() {
            let (width, numbers) = (n_heads(n_classes), sorted.n_numbers());
            let pivots: Vec<String> = sorted.kernels.iter().map(|some| self.pivots(&kernels_of(some))).collect();
            votes.push(self.in_blocks(rows, width, numbers, |graph, rows| Ok(graph.by_maps(&sorted, &pivots, rows)))?);
        }
        Ok(self.sum(&votes))
    }

    /// The votes of members that see rows through maps.
    fn by_maps(&mut self, sorted: &Sorted<'_>, pivots: &[String], rows: &str) -> String {
        let mut votes = Vec::new();
        for (some, pivots) in sorted.kernels.iter().zip(pivots) {
            let kernels = kernels_of(some);
            let seen = match &some[0].0.ranks {
                None => rows.to_owned(),
                Some(ranks) => self.ranked(ranks, rows),
            };
            let near = self.kernels(&kernels, pivots, &seen);
            let places = some.iter().map(|(map, voting)| {
                // Each is among them.
                let place = |row: &usize| kernels.pivots.binary_search(row).unwrap_or_default();
                (*voting, map.basis.iter().map(place).collect::<Vec<usize>>())
            });
            let places: Vec<(Voting<'_>, Vec<usize>)> = places.collect();
            let places: Vec<(Voting<'_>, &[usize])> = places.iter().map(|(v, columns)| (*v, &columns[..])).collect();
            votes.push(self.voices(&places, kernels.pivots.len(), &near));
        }
        for some in &sorted.spectral {
            let near = self.nearest(some[0].0.nodes.rows(), most_neighbors(some), rows);
            for (map, voting) in some {
                let features = self.spectral(map, &near);
                let columns: Vec<usize> = (0..map.values.n_columns()).collect();
                votes.push(self.voices(&[(*voting, &columns)], columns.len(), &features));
            }
        }
        self.sum(&votes)
    }

    /// The sum of the votes of members of several maps. `seen` has a table of `width` columns for each map, or one for all; a
    /// member has weights for some columns, whose places are given.
    fn voices(&mut self, all: &[(Voting<'_>, &[usize])], width: usize, seen: &str) -> String {
        let heads = all[0].0.members.heads;
        let lanes = all.iter().map(|(voting, _)| voting.members.scores.n_members()).max().unwrap_or(0);
        let (mut weights, mut constants, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (Voting { members, shares }, columns) in all {
            let own = members.scores.n_members();
            let mut table = vec![0.0; width * lanes];
            let mut rows = members.scores.weights().chunks_exact(own);
            for (&column, row) in columns.iter().zip(&mut rows) {
                table[column * lanes..][..own].copy_from_slice(row);
            }
            weights.append(&mut table);
            constants.extend(rows.next().into_iter().flatten().copied().chain(std::iter::repeat(0.0)).take(lanes));
            // The members of the first head come first, then those of the next.
            let count = |lane: usize, head: usize| {
                if lane < own && lane / shares.len() == head { shares[lane % shares.len()] } else { 0.0 }
            };
            counts.extend((0..lanes * heads).map(|place| count(place / heads, place % heads)));
        }
        let m = all.len();
        let weights = self.doubles(&[m, width, lanes], &weights);
        let constants = self.doubles(&[m, 1, lanes], &constants);
        let counts = self.doubles(&[m, lanes, heads], &counts);
        let products = self.op("MatMul", &[seen, &weights]);
        let scores = self.op("Add", &[&products, &constants]);
        let outputs = self.tanh_half(&scores);
        let voices = self.op("MatMul", &[&outputs, &counts]);
        let sum = self.sum_over(&voices, 0);
        self.without_axis(&sum, 0)
    }
}

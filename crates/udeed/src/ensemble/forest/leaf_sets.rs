//! The leaves of small trees by sets of bits: C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto, R. Venturini,
//! "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees", SIGIR 2015.
//!
//! A set has a bit for each leaf of a tree, from left to right. A row begins with all of them; where it goes right, the leaves
//! on the left fall out. Whatever the order of the nodes, the first leaf that is left is that of the row. So many rows go
//! through the nodes of a tree side by side, without a branch.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::kernel::instructions;
use crate::learner::Tree;

/// Number of rows that go through a tree side by side.
pub(super) const ROWS: usize = 32;
/// Largest number of leaves of a tree: the bits of a set.
const MOST_LEAVES: usize = 64;

/// The small trees of a forest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeafSets {
    /// The thresholds of each feature in all trees, ascending.
    thresholds: Vec<Vec<f64>>,
    splits: Vec<Split>,
    /// The nodes of the trees that are leaves.
    leaves: Vec<u32>,
    /// Of each tree its splits and leaves; none of a tree that is not small.
    trees: Vec<Option<[Range<usize>; 2]>>,
}

/// An inner node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    feature: u32,
    /// The place of its threshold among those of the feature.
    threshold: u16,
    /// The leaves that are left where a row goes right.
    right: u64,
}

/// For each feature and row the number of thresholds below its value.
pub(super) struct Ranks(Vec<u16>);

impl LeafSets {
    /// None if a feature has too many thresholds.
    pub(super) fn of(trees: &[Tree]) -> Option<Self> {
        let d = trees.first().map_or(0, Tree::n_columns);
        let mut thresholds = vec![Vec::new(); d];
        for tree in trees.iter().filter(|tree| is_small(tree)) {
            for (&feature, &threshold) in tree.features().iter().zip(tree.thresholds()) {
                if feature != Tree::LEAF {
                    thresholds[feature as usize].push(threshold);
                }
            }
        }
        for own in &mut thresholds {
            own.sort_by(f64::total_cmp);
            own.dedup();
            if own.len() > usize::from(u16::MAX) {
                return None;
            }
        }
        let mut sets = LeafSets { thresholds, splits: Vec::new(), leaves: Vec::new(), trees: Vec::new() };
        for tree in trees {
            let begin = (sets.splits.len(), sets.leaves.len());
            let small = is_small(tree) && sets.add(tree, 0, begin.1).is_some();
            sets.trees.push(small.then_some([begin.0..sets.splits.len(), begin.1..sets.leaves.len()]));
        }
        Some(sets)
    }

    /// Adds a node of a tree, whose leaves begin at `first`, and what is below it. None if there are too many leaves.
    fn add(&mut self, tree: &Tree, node: usize, first: usize) -> Option<()> {
        let feature = tree.features()[node];
        if feature == Tree::LEAF {
            self.leaves.push(node as u32);
            return (self.leaves.len() - first <= MOST_LEAVES).then_some(());
        }
        let begin = self.leaves.len() - first;
        self.add(tree, tree.left()[node] as usize, first)?;
        let end = self.leaves.len() - first;
        let threshold = self.thresholds[feature as usize].partition_point(|t| *t < tree.thresholds()[node]) as u16;
        let left = (u64::MAX >> (MOST_LEAVES - (end - begin))) << begin;
        self.splits.push(Split { feature, threshold, right: !left });
        self.add(tree, tree.right()[node] as usize, first)
    }

    /// The ranks of at most [`ROWS`] rows.
    pub(super) fn ranks(&self, rows: &[f64], ranks: &mut Ranks) {
        let d = self.thresholds.len();
        ranks.0.resize(d * ROWS, 0);
        for (i, row) in rows.chunks_exact(d).enumerate() {
            for (j, (thresholds, x)) in self.thresholds.iter().zip(row).enumerate() {
                ranks.0[j * ROWS + i] = thresholds.partition_point(|threshold| threshold < x) as u16;
            }
        }
    }

    /// Puts the leaf of each row in a tree to `leaves`; says whether the tree is a small one.
    pub(super) fn find(&self, tree: usize, ranks: &Ranks, leaves: &mut [u32]) -> bool {
        let Some([splits, own]) = &self.trees[tree] else { return false };
        let left = instructions().dispatch(Remaining { splits: &self.splits[splits.clone()], ranks: &ranks.0 });
        let own = &self.leaves[own.clone()];
        for (to, left) in leaves.iter_mut().zip(left) {
            *to = own[left.trailing_zeros() as usize];
        }
        true
    }
}

impl Ranks {
    pub(super) fn new() -> Self {
        Ranks(Vec::new())
    }
}

/// Whether all leaves of a tree have a bit. Deep trees are left alone too: they are walked down by a function that calls itself.
fn is_small(tree: &Tree) -> bool {
    tree.n_nodes() < 2 * MOST_LEAVES
}

/// The leaves that are left of each row. No closure: that would be compiled without the instructions of the machine.
struct Remaining<'a> {
    splits: &'a [Split],
    ranks: &'a [u16],
}

impl WithSimd for Remaining<'_> {
    type Output = [u64; ROWS];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [u64; ROWS] {
        let mut left = [u64::MAX; ROWS];
        for split in self.splits {
            let ranks = &self.ranks[split.feature as usize * ROWS..][..ROWS];
            for i in 0..ROWS {
                left[i] &= if ranks[i] > split.threshold { split.right } else { u64::MAX };
            }
        }
        left
    }
}

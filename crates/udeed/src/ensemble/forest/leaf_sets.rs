//! The leaves of trees by sets of bits: C. Lucchese, F. M. Nardini, S. Orlando, R. Perego, N. Tonellotto, R. Venturini,
//! "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees", SIGIR 2015.
//!
//! A set has a bit for each leaf of a tree, from left to right. A row begins with all of them; where it goes right, the leaves
//! on the left fall out. Whatever the order of the nodes, the first leaf that is left is that of the row. Many rows then go
//! through the nodes of a tree side by side, without a branch and without a search.

use std::ops::Range;

use pulp::{Simd, WithSimd, bytemuck};

use crate::kernel::instructions;
use crate::learner::Tree;
use crate::view::SIDE_BY_SIDE;

/// Number of leaves in a part of a set: the bits of a number.
const BITS: usize = 64;
/// Largest number of leaves of a tree: rows walk down a larger one in less time than it takes to see all of its nodes.
const MOST_LEAVES: usize = 8 * BITS;

/// The small trees of a forest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeafSets {
    splits: Vec<Split>,
    /// The nodes of the trees that are leaves.
    leaves: Vec<u32>,
    parts: Vec<Part>,
    /// The parts of each tree; none of a tree that is not small.
    trees: Vec<Range<usize>>,
}

/// Up to [`BITS`] leaves of a tree, and the inner nodes at which some of them fall out.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    splits: Range<usize>,
    /// The first leaf.
    leaf: usize,
    /// The bits of the leaves.
    all: u64,
}

/// An inner node.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    threshold: f64,
    /// The leaves that are left where a row goes right.
    right: u64,
    feature: u32,
}

/// An inner node with the leaves on its left.
struct Inner {
    node: usize,
    left: Range<usize>,
}

impl LeafSets {
    pub(super) fn of(trees: &[Tree]) -> Self {
        let mut sets = LeafSets { splits: Vec::new(), leaves: Vec::new(), parts: Vec::new(), trees: Vec::new() };
        for tree in trees {
            let begin = sets.parts.len();
            let (mut leaves, mut inner) = (Vec::new(), Vec::new());
            // A deep tree is left alone too: the function that walks down calls itself.
            if tree.n_nodes() < 2 * MOST_LEAVES && walk(tree, 0, &mut leaves, &mut inner).is_some() {
                sets.add(tree, &leaves, &inner);
            }
            sets.trees.push(begin..sets.parts.len());
        }
        sets
    }

    fn add(&mut self, tree: &Tree, leaves: &[u32], inner: &[Inner]) {
        for (part, some) in leaves.chunks(BITS).enumerate() {
            let (first, leaf, begin) = (self.splits.len(), self.leaves.len(), part * BITS);
            for Inner { node, left } in inner {
                let own = left.start.max(begin)..left.end.min(begin + some.len());
                if !own.is_empty() {
                    let right = !(bits(own.len()) << (own.start - begin));
                    let (threshold, feature) = (tree.thresholds()[*node], tree.features()[*node]);
                    self.splits.push(Split { threshold, right, feature });
                }
            }
            self.leaves.extend(some);
            self.parts.push(Part { splits: first..self.splits.len(), leaf, all: bits(some.len()) });
        }
    }

    /// Puts the leaf of each row in a tree to `leaves`; says whether the tree is a small one. `columns` has the values of
    /// [`SIDE_BY_SIDE`] rows, feature by feature.
    pub(super) fn find(&self, tree: usize, columns: &[f64], leaves: &mut [u32]) -> bool {
        let parts = &self.parts[self.trees[tree].clone()];
        // Of several parts the first that has a leaf left has that of the row.
        for part in parts.iter().rev() {
            let splits = &self.splits[part.splits.clone()];
            let left = instructions().dispatch(Remaining { all: part.all, splits, columns });
            for (to, left) in leaves.iter_mut().zip(left) {
                if left != 0 {
                    *to = self.leaves[part.leaf + left.trailing_zeros() as usize];
                }
            }
        }
        !parts.is_empty()
    }
}

/// The lowest bits of a number.
fn bits(n: usize) -> u64 {
    u64::MAX >> (BITS - n)
}

/// Adds the leaves below a node, from left to right, and the inner nodes. None if there are too many leaves.
fn walk(tree: &Tree, node: usize, leaves: &mut Vec<u32>, inner: &mut Vec<Inner>) -> Option<()> {
    if tree.features()[node] == Tree::LEAF {
        leaves.push(node as u32);
        return (leaves.len() <= MOST_LEAVES).then_some(());
    }
    let begin = leaves.len();
    walk(tree, tree.left()[node] as usize, leaves, inner)?;
    inner.push(Inner { node, left: begin..leaves.len() });
    walk(tree, tree.right()[node] as usize, leaves, inner)
}

/// The leaves that are left of each row. No closure: that would be compiled without the instructions of the machine.
struct Remaining<'a> {
    all: u64,
    splits: &'a [Split],
    columns: &'a [f64],
}

impl WithSimd for Remaining<'_> {
    type Output = [u64; SIDE_BY_SIDE];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [u64; SIDE_BY_SIDE] {
        /// Vectors that are held side by side.
        const VECTORS: usize = 4;
        let mut left = [0; SIDE_BY_SIDE];
        let to: &mut [S::u64s] = bytemuck::cast_slice_mut(&mut left);
        for first in (0..to.len()).step_by(VECTORS) {
            let mut sets = [simd.splat_u64s(self.all); VECTORS];
            for split in self.splits {
                let values = &self.columns[split.feature as usize * SIDE_BY_SIDE..][..SIDE_BY_SIDE];
                let values: &[S::f64s] = &bytemuck::cast_slice(values)[first..][..VECTORS];
                let (threshold, right) = (simd.splat_f64s(split.threshold), simd.splat_u64s(split.right));
                for v in 0..VECTORS {
                    let goes_right = simd.greater_than_f64s(values[v], threshold);
                    sets[v] = simd.select_u64s(goes_right, simd.and_u64s(sets[v], right), sets[v]);
                }
            }
            to[first..][..VECTORS].copy_from_slice(&sets);
        }
        left
    }
}

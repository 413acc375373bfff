//! Trees side by side, laid out for prediction.

mod leaf_sets;

use crate::data::{Dense, Rows};
use crate::ensemble::forest::leaf_sets::LeafSets;
use crate::error::Result;
use crate::learner::Tree;
use crate::view::{SIDE_BY_SIDE, SeenRows};

/// Number of rows that walk down a tree together: while one waits for memory, the others go on.
const TOGETHER: usize = 8;

/// Trees, and their nodes as predictions want them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Forest {
    trees: Vec<Tree>,
    /// The nodes of all trees, one after the other.
    nodes: Vec<Node>,
    /// The first node of each tree.
    roots: Vec<u32>,
    /// Of two classes the output of each node between -1 and 1, as those of `nodes`; none of more.
    outputs: Vec<f64>,
    sets: LeafSets,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    /// The left and the right child; a leaf is its own.
    children: [u32; 2],
}

impl Forest {
    /// Gains of splits are not kept: forests are members among others, whose features have no importances.
    pub(crate) fn new(trees: Vec<Tree>) -> Self {
        let trees: Vec<Tree> = trees.into_iter().map(Tree::without_gains).collect();
        let (mut nodes, mut roots, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for tree in &trees {
            let first = nodes.len() as u32;
            roots.push(first);
            let output = |node: usize| match tree.node_distribution(node) {
                [first, second] => Some(second - first),
                _ => None,
            };
            outputs.extend((0..tree.n_nodes()).filter_map(output));
            for (i, &feature) in tree.features().iter().enumerate() {
                let own = first + i as u32;
                nodes.push(if feature == Tree::LEAF {
                    Node { threshold: 0.0, feature: 0, children: [own; 2] }
                } else {
                    let children = [first + tree.left()[i], first + tree.right()[i]];
                    Node { threshold: tree.thresholds()[i], feature, children }
                });
            }
        }
        Forest { sets: LeafSets::of(&trees), trees, nodes, roots, outputs }
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Calls `visit` with every tree, its number, the first of some rows, and the leaves of the tree where these rows end.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn for_each(
        &self,
        seen: &SeenRows<'_>,
        mut visit: impl FnMut(&Tree, usize, usize, &[u32]),
    ) -> Result<()> {
        let (n, d) = (seen.span.len(), seen.rows.shape().1);
        if seen.rows.is_sparse() || d == 0 {
            let rows = seen.matrix()?;
            for (k, tree) in self.trees.iter().enumerate() {
                (0..n).for_each(|i| visit(tree, k, i, &[tree.leaf(rows.rows().row(i)) as u32]));
            }
            return Ok(());
        }
        let rows = seen.dense()?;
        // A few rows are faster one by one.
        let columns = if n >= TOGETHER { seen.columns()? } else { &[] };
        let mut leaves = [0; SIDE_BY_SIDE];
        for (block, first) in (0..n).step_by(SIDE_BY_SIDE).enumerate() {
            let some = &rows.values()[first * d..n.min(first + SIDE_BY_SIDE) * d];
            let leaves = &mut leaves[..some.len() / d];
            let columns = columns.get(block * d * SIDE_BY_SIDE..).filter(|_| leaves.len() >= TOGETHER);
            for (k, (tree, &root)) in self.trees.iter().zip(&self.roots).enumerate() {
                if !columns.is_some_and(|columns| self.sets.find(k, columns, leaves)) {
                    for (leaves, some) in leaves.chunks_mut(TOGETHER).zip(some.chunks(TOGETHER * d)) {
                        self.walk(root, some, d, leaves);
                    }
                }
                visit(tree, k, first, leaves);
            }
        }
        Ok(())
    }

    /// Adds the votes of the trees, of these weights, to those on each row, head by head.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn vote(&self, seen: &SeenRows<'_>, weights: &[f64], votes: &mut Dense) -> Result<()> {
        let heads = votes.n_columns();
        let votes = votes.values_mut();
        self.for_each(seen, |tree, k, first, leaves| {
            let weight = weights[k];
            if heads == 1 {
                let outputs = &self.outputs[self.roots[k] as usize..];
                for (&leaf, to) in leaves.iter().zip(&mut votes[first..]) {
                    *to += weight * outputs[leaf as usize];
                }
                return;
            }
            for (&leaf, to) in leaves.iter().zip(votes[first * heads..].chunks_exact_mut(heads)) {
                let shares = tree.node_distribution(leaf as usize);
                to.iter_mut().zip(shares).for_each(|(to, p)| *to += weight * (2.0 * p - 1.0));
            }
        })
    }

    /// Puts the leaves where a few rows end to `leaves`.
    fn walk(&self, root: u32, rows: &[f64], d: usize, leaves: &mut [u32]) {
        let mut places = [root; TOGETHER];
        loop {
            let mut moved = false;
            for (place, row) in places.iter_mut().zip(rows.chunks_exact(d)) {
                let node = &self.nodes[*place as usize];
                let next = node.children[usize::from(row[node.feature as usize] > node.threshold)];
                moved |= next != *place;
                *place = next;
            }
            if !moved {
                break;
            }
        }
        leaves.iter_mut().zip(places).for_each(|(leaf, place)| *leaf = place - root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Blocks, Dense, Matrix, Rows};
    use crate::learner::{Sample, TreeSettings};

    #[test]
    fn rows_end_where_each_tree_alone_puts_them() {
        let n = 1601;
        let rows = Dense::random(n, 4, 1);
        let classes: Vec<u8> = (0..n).map(|i| (i * i % 3) as u8).collect();
        let weights = vec![1.0; n];
        let grow = |seed: u64| {
            let sample = Sample { rows: &rows, classes: &classes, n_classes: 3, weights: &weights, seed };
            TreeSettings { depth: (seed < 11).then_some(1 + seed as usize), ..TreeSettings::extra() }
                .fit(&sample)
                .unwrap()
        };
        // Trees whose leaves are one number of bits, several, and more than a set has.
        let forest = Forest::new((0..12).map(grow).collect());
        let leaves = [4, 8, 11].map(|k: usize| forest.trees()[k].n_leaves());
        assert!((16..64).contains(&leaves[0]) && (65..512).contains(&leaves[1]) && leaves[2] > 512, "{leaves:?}");
        let sparse_rows = Matrix::from(rows.clone()).to_sparse();
        for (span, sparse) in [(3..50, false), (3..50, true), (3..4, false), (0..160, false)] {
            let layout: &dyn Blocks = if sparse { &sparse_rows } else { &rows };
            let mut count = 0;
            let mut check = |tree: &Tree, k: usize, first: usize, leaves: &[u32]| {
                assert_eq!(tree, &forest.trees()[k]);
                for (i, &leaf) in leaves.iter().enumerate() {
                    assert_eq!(leaf as usize, tree.leaf(rows.row(span.start + first + i)));
                    count += 1;
                }
            };
            forest.for_each(&SeenRows::new(layout, span.clone()), &mut check).unwrap();
            assert_eq!(count, 12 * span.len());
        }
        // Rows of no columns all end at the root.
        let nothing = Dense::zeros(3, 0).unwrap();
        let sample = Sample { rows: &nothing, classes: &[0, 1, 1], n_classes: 2, weights: &[1.0; 3], seed: 0 };
        let root = Forest::new(vec![TreeSettings::extra().fit(&sample).unwrap()]);
        let mut shares = Vec::new();
        let mut push = |tree: &Tree, _, _, leaves: &[u32]| shares.push(tree.node_distribution(leaves[0] as usize)[1]);
        root.for_each(&SeenRows::new(&nothing, 0..3), &mut push).unwrap();
        assert_eq!(shares, [2.0 / 3.0; 3]);
    }
}

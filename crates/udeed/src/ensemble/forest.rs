//! Trees side by side, laid out for prediction.

use crate::error::Result;
use crate::learner::Tree;
use crate::view::SeenRows;

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
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    /// The left and the right child; a leaf is its own.
    children: [u32; 2],
}

impl Forest {
    pub(crate) fn new(trees: Vec<Tree>) -> Self {
        let (mut nodes, mut roots) = (Vec::new(), Vec::new());
        for tree in &trees {
            let first = nodes.len() as u32;
            roots.push(first);
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
        Forest { trees, nodes, roots }
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Calls `visit` with every tree, every row, and the shares of the classes where the row ends in the tree.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(crate) fn for_each(&self, seen: &SeenRows<'_>, mut visit: impl FnMut(usize, usize, &[f64])) -> Result<()> {
        let (n, d) = (seen.span.len(), seen.rows.shape().1);
        if seen.rows.is_sparse() || d == 0 {
            let rows = seen.matrix()?;
            for (k, tree) in self.trees.iter().enumerate() {
                for i in 0..rows.rows().n_rows() {
                    visit(k, i, tree.node_distribution(tree.leaf(rows.rows().row(i))));
                }
            }
            return Ok(());
        }
        let rows = seen.dense()?;
        for (k, (tree, &root)) in self.trees.iter().zip(&self.roots).enumerate() {
            for first in (0..n).step_by(TOGETHER) {
                let some = &rows.values()[first * d..n.min(first + TOGETHER) * d];
                for (i, leaf) in self.leaves(root, some, d).into_iter().take(some.len() / d).enumerate() {
                    visit(k, first + i, tree.node_distribution((leaf - root) as usize));
                }
            }
        }
        Ok(())
    }

    /// The leaves where rows end.
    fn leaves(&self, root: u32, rows: &[f64], d: usize) -> [u32; TOGETHER] {
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
                return places;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix, Rows};
    use crate::learner::{Sample, TreeSettings};

    #[test]
    fn rows_end_where_each_tree_alone_puts_them() {
        let n = 61;
        let rows = Dense::random(n, 4, 1);
        let classes: Vec<u8> = (0..n).map(|i| (i * i % 3) as u8).collect();
        let weights = vec![1.0; n];
        let grow = |seed: u64| {
            let sample = Sample { rows: &rows, classes: &classes, n_classes: 3, weights: &weights, seed };
            TreeSettings { depth: Some(1 + seed as usize), ..TreeSettings::extra() }.fit(&sample).unwrap()
        };
        let forest = Forest::new((0..7).map(grow).collect());
        let sparse = Matrix::from(rows.clone()).to_sparse();
        let dense = SeenRows::new(&rows, 3..50);
        for seen in [dense, SeenRows::new(&sparse, 3..50)] {
            let mut count = 0;
            let mut check = |k: usize, i: usize, shares: &[f64]| {
                let tree = &forest.trees()[k];
                assert_eq!(shares, tree.node_distribution(tree.leaf(rows.row(3 + i))));
                count += 1;
            };
            forest.for_each(&seen, &mut check).unwrap();
            assert_eq!(count, 7 * 47);
        }
        // Rows of no columns all end at the root.
        let nothing = Dense::zeros(3, 0).unwrap();
        let sample = Sample { rows: &nothing, classes: &[0, 1, 1], n_classes: 2, weights: &[1.0; 3], seed: 0 };
        let root = Forest::new(vec![TreeSettings::extra().fit(&sample).unwrap()]);
        let mut shares = Vec::new();
        root.for_each(&SeenRows::new(&nothing, 0..3), |_, _, own| shares.push(own[1])).unwrap();
        assert_eq!(shares, [2.0 / 3.0; 3]);
    }
}

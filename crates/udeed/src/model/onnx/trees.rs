//! Trees as nodes of a graph.

use crate::ensemble::Rule;
use crate::learner::{Hypothesis, Tree, n_heads, winner};
use crate::model::onnx::graph::{Element, Graph, numbers, texts, to, whole, wholes};

/// A tree, and the columns that it sees if not all.
#[derive(Clone, Copy)]
pub(super) struct Seeing<'a> {
    tree: &'a Tree,
    columns: Option<&'a [usize]>,
}

impl<'a> Seeing<'a> {
    pub(super) fn all(tree: &'a Tree) -> Self {
        Seeing { tree, columns: None }
    }

    /// The tree that a hypothesis is; none if it is something else.
    pub(super) fn of(hypothesis: &'a Hypothesis) -> Option<Self> {
        match hypothesis {
            Hypothesis::Tree(tree) => Some(Seeing::all(tree)),
            Hypothesis::View { columns, of } => match of.as_ref() {
                Hypothesis::Tree(tree) => Some(Seeing { tree, columns: Some(columns) }),
                _ => None,
            },
            _ => None,
        }
    }

    fn feature(&self, node: usize) -> usize {
        let feature = self.tree.features()[node] as usize;
        self.columns.map_or(feature, |columns| columns[feature])
    }
}

impl Graph {
    /// The votes of trees with their weights: for each head the sum of outputs between -1 and 1.
    pub(super) fn forest(&mut self, trees: &[(Seeing<'_>, f64)], rule: &Rule, n_classes: usize, rows: &str) -> String {
        let output = |tree: usize, node: usize| {
            let (seeing, weight) = &trees[tree];
            let mut shares = seeing.tree.node_distribution(node).to_vec();
            if *rule == Rule::Unweighted {
                let class = winner(&shares);
                shares.fill(0.0);
                shares[class] = 1.0;
            }
            match shares.as_slice() {
                [first, second] => vec![weight * (second - first)],
                all => all.iter().map(|share| weight * share).collect(),
            }
        };
        let all: Vec<Seeing<'_>> = trees.iter().map(|(seeing, _)| *seeing).collect();
        let votes = self.ends(&all, n_heads(n_classes), output, rows);
        if n_classes == 2 {
            return votes;
        }
        let [two, total] = [2.0, trees.iter().map(|(_, weight)| weight).sum()].map(|number| self.number(number));
        let votes = self.op("Mul", &[&votes, &two]);
        self.op("Sub", &[&votes, &total])
    }

    /// The probability of each class, by one tree: to the last bit, as a product of them may need.
    pub(super) fn tree(&mut self, seeing: Seeing<'_>, rows: &str) -> String {
        let end = self.ends(&[seeing], 1, |_, node| vec![node as f64], rows);
        let end = self.node("Cast", &[&end], vec![to(Element::Int64)]);
        let end = self.without_axis(&end, 1);
        let table = self.doubles(&[seeing.tree.n_nodes(), seeing.tree.n_classes()], seeing.tree.distributions());
        self.gather(&table, &end, 0)
    }

    /// The sums over trees of what `output` says of a tree and the leaf where a row ends, in single precision.
    fn ends(
        &mut self,
        trees: &[Seeing<'_>],
        n_outputs: usize,
        output: impl Fn(usize, usize) -> Vec<f64>,
        rows: &str,
    ) -> String {
        let places: Vec<(usize, usize)> =
            trees.iter().enumerate().flat_map(|(k, seeing)| (0..seeing.tree.n_nodes()).map(move |i| (k, i))).collect();
        let is_leaf = |&(k, i): &(usize, usize)| trees[k].tree.features()[i] == Tree::LEAF;
        let of_split = |place: &(usize, usize), of: &dyn Fn(&Seeing<'_>, usize) -> usize| {
            if is_leaf(place) { 0 } else { of(&trees[place.0], place.1) as i64 }
        };
        let list = |name: &str, of: &dyn Fn(&Seeing<'_>, usize) -> usize| {
            wholes(name, places.iter().map(|place| of_split(place, of)))
        };
        let thresholds: Vec<f64> = trees.iter().flat_map(|seeing| seeing.tree.thresholds()).copied().collect();
        // What is 0 need not be said, but every leaf says something.
        let outputs: Vec<(usize, usize, usize, f64)> = places
            .iter()
            .filter(|place| is_leaf(place))
            .flat_map(|&(k, i)| output(k, i).into_iter().enumerate().map(move |(o, value)| (k, i, o, value)))
            .filter(|(_, _, output, value)| *value != 0.0 || *output == 0)
            .collect();
        let weights: Vec<f64> = outputs.iter().map(|output| output.3).collect();
        let attributes = vec![
            whole("n_targets", n_outputs as i64),
            wholes("nodes_treeids", places.iter().map(|place| place.0 as i64)),
            wholes("nodes_nodeids", places.iter().map(|place| place.1 as i64)),
            texts("nodes_modes", places.iter().map(|place| if is_leaf(place) { "LEAF" } else { "BRANCH_LEQ" })),
            list("nodes_featureids", &|seeing, i| seeing.feature(i)),
            list("nodes_truenodeids", &|seeing, i| seeing.tree.left()[i] as usize),
            list("nodes_falsenodeids", &|seeing, i| seeing.tree.right()[i] as usize),
            numbers("nodes_values_as_tensor", &thresholds),
            wholes("target_treeids", outputs.iter().map(|output| output.0 as i64)),
            wholes("target_nodeids", outputs.iter().map(|output| output.1 as i64)),
            wholes("target_ids", outputs.iter().map(|output| output.2 as i64)),
            numbers("target_weights_as_tensor", &weights),
        ];
        let sums = self.node("TreeEnsembleRegressor", &[rows], attributes);
        self.node("Cast", &[&sums], vec![to(Element::Double)])
    }
}

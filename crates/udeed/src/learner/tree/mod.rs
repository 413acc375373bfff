//! Decision trees.

mod columns;
mod grow;
mod split;

pub use split::{Criterion, Thresholds};

pub(crate) use columns::SortedColumns;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Dense, Row, Rows, fill_rows};
use crate::error::{Error, Result};
use crate::learner::base::BaseLearner;
use crate::learner::card::{SettingKind, learner_settings};
use crate::learner::sample::{Subsample, rows_with_weight};
use crate::learner::tree::grow::Growth;
use crate::learner::{Hypothesis, Learned, Learner, Sample, Shape};
use crate::parallel;
use crate::tensor::{Tensor, TensorReader, TensorWriter};

learner_settings! {
    /// How a decision tree is grown: as CART, with scikit-learn's rules.
    ///
    /// Sparse rows stay sparse. Weights are rounded to units of about 2^-52 of their sum.
    ///
    /// A node is split where that makes both sides purest, halfway between two neighbouring values or, in an extra tree, at the
    /// best of thresholds drawn uniformly between the least and the largest value of each feature. Values that agree in
    /// fourteen digits count as equal, so that a tree does not depend on the scale of a feature or on an outlier. Of several
    /// best splits the first column wins, or the first that was drawn, and there the lowest value. A node that is pure, or has
    /// no split, becomes a leaf.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    TreeSettings {
        /// Impurity of a node.
        criterion: Criterion = Criterion::Gini, in ["`gini` or `entropy`"];
        /// Maximum number of splits between the root and a leaf; none for no limit.
        depth: Option<usize> = None, in [1 ..];
        /// Minimum number of rows in a leaf, whatever their weights.
        leaf: usize = 1, in [1 ..];
        /// Minimum number of rows in a node that is split.
        split: usize = 2, in [2 ..];
        /// Number of features drawn at each node to look for a split.
        features: SplitFeatures = SplitFeatures::All,
            in ["`all`, `root`, `log2`, `log2-plus-one`, a count from 1 on, or a share above 0 and up to 1" by check_features];
        /// Thresholds of the features drawn at a node: the best of each, or one at random.
        thresholds: Thresholds = Thresholds::Best, in ["`best` or `random`"];
    }
}

/// Refuses a number of features that is none.
fn check_features(features: &SplitFeatures) -> Result<()> {
    match *features {
        SplitFeatures::Count(0) => Err(Error::setting("features", 0, "at least 1")),
        SplitFeatures::Share(share) if !(share > 0.0 && share <= 1.0) => {
            Err(Error::setting("features", share, "a share above 0 and up to 1"))
        }
        _ => Ok(()),
    }
}

impl SettingKind for Criterion {
    const KIND: &'static str = "word";
}

impl SettingKind for Thresholds {
    const KIND: &'static str = "word";
}

impl SettingKind for SplitFeatures {
    const KIND: &'static str = "word, count or share";
}

/// Number of features of `d` that are drawn at a node. Features that are constant in it count, but if only such are drawn,
/// the draw goes on until there is another.
///
/// ```
/// use udeed::learner::SplitFeatures;
///
/// assert_eq!(SplitFeatures::Log2PlusOne.count(60), 6);
/// assert_eq!(SplitFeatures::Share(0.25).count(60), 15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitFeatures {
    /// All of them.
    #[default]
    All,
    /// The square root of `d`.
    Root,
    /// The logarithm of `d` to the base 2.
    Log2,
    /// One more, as in the random trees of Co-forest.
    Log2PlusOne,
    /// This number, at most `d`.
    Count(usize),
    /// This share of them.
    Share(f64),
}

impl SplitFeatures {
    /// The number of `d` features: rounded down, but at least one.
    pub fn count(&self, d: usize) -> usize {
        let log2 = d.max(1).ilog2() as usize;
        let count = match *self {
            SplitFeatures::All => d,
            SplitFeatures::Root => d.isqrt(),
            SplitFeatures::Log2 => log2,
            SplitFeatures::Log2PlusOne => log2 + 1,
            SplitFeatures::Count(count) => count,
            SplitFeatures::Share(share) => (share * d as f64) as usize,
        };
        count.clamp(1, d.max(1))
    }
}

impl TreeSettings {
    /// A tree of a random forest: the square root of the features at each node.
    pub fn random() -> Self {
        TreeSettings { features: SplitFeatures::Root, ..TreeSettings::default() }
    }

    /// An extra tree: a random tree with random thresholds.
    pub fn extra() -> Self {
        TreeSettings { thresholds: Thresholds::Random, ..TreeSettings::random() }
    }

    /// Grows a tree.
    ///
    /// # Errors
    /// If a setting is out of its range, no row has a weight, or a value is not finite.
    pub fn fit(&self, sample: &Sample<'_>) -> Result<Tree> {
        let rows = rows_with_weight(sample)?;
        if rows.len() < sample.rows.n_rows() {
            let some = Subsample::gather(sample, &rows);
            let sample = some.sample(sample.n_classes, sample.seed);
            return self.fit_sorted(&SortedColumns::new(sample.rows)?, &sample);
        }
        self.fit_sorted(&SortedColumns::new(sample.rows)?, sample)
    }

    /// Grows a tree on rows whose columns were sorted before, as they are for many trees on the same rows.
    pub(crate) fn fit_sorted(&self, columns: &SortedColumns, sample: &Sample<'_>) -> Result<Tree> {
        self.validate()?;
        Ok(Growth::new(self, columns, sample)?.grow())
    }
}

impl Learner for TreeSettings {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        Ok(Hypothesis::Tree(self.fit(sample)?))
    }

    /// The columns are sorted once for all trees.
    fn learn_each(&self, sample: &Sample<'_>, counts: &[Vec<u8>]) -> Result<Vec<Hypothesis>> {
        let columns = SortedColumns::new(sample.rows)?;
        let learn = |k: usize| {
            let weights = sample.repeated(&counts[k]);
            let sample = Sample { weights: &weights, seed: sample.seed.wrapping_add(k as u64), ..*sample };
            Ok(Hypothesis::Tree(self.fit_sorted(&columns, &sample)?))
        };
        parallel::try_map(counts.len(), learn)
    }
}

impl BaseLearner for TreeSettings {
    const NAME: &'static str = "tree";
    const ABOUT: &'static str = "Decision tree: CART, with scikit-learn's rules";
}

/// The largest gain: the entropy of as many classes as there may be.
const LARGEST_GAIN: f64 = 8.0;

/// A decision tree: nodes in depth-first order, the root first, each left child right after its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    n_columns: usize,
    n_classes: usize,
    features: Vec<u32>,
    thresholds: Vec<f64>,
    left: Vec<u32>,
    right: Vec<u32>,
    distributions: Vec<f64>,
    /// Impurity decrease of each split, times the share of the rows there; none in trees of earlier versions.
    gains: Vec<f64>,
}

impl Tree {
    /// The feature of a node that is a leaf.
    pub const LEAF: u32 = u32::MAX;

    pub(super) fn empty(n_columns: usize, n_classes: usize) -> Self {
        let (features, thresholds, left, right) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (distributions, gains) = (Vec::new(), Vec::new());
        Tree { n_columns, n_classes, features, thresholds, left, right, distributions, gains }
    }

    /// Puts a tree together of its parts, of which each but the last has one number a node; none if they do not fit.
    pub(crate) fn from_parts(
        n_columns: usize,
        n_classes: usize,
        (features, thresholds): (Vec<u32>, Vec<f64>),
        (left, right): (Vec<u32>, Vec<u32>),
        distributions: Vec<f64>,
    ) -> Option<Self> {
        let n = features.len();
        // Children come after their parent, so every walk ends.
        let is_sound = |i: usize| {
            let child = |child: u32| child as usize > i && (child as usize) < n;
            features[i] == Self::LEAF
                || ((features[i] as usize) < n_columns
                    && thresholds[i].is_finite()
                    && child(left[i])
                    && child(right[i]))
        };
        let lengths = n > 0
            && [thresholds.len(), left.len(), right.len()] == [n; 3]
            && n_classes > 0
            && Some(distributions.len()) == n.checked_mul(n_classes);
        let sound = lengths && (0..n).all(is_sound) && distributions.iter().all(|share| (0.0..=1.0).contains(share));
        let gains = Vec::new();
        sound.then_some(Tree { n_columns, n_classes, features, thresholds, left, right, distributions, gains })
    }

    /// The same tree with the impurity decrease of each split; none if their number does not fit.
    pub(crate) fn with_gains(mut self, gains: Vec<f64>) -> Option<Self> {
        let sound = gains.len() == self.n_nodes() && gains.iter().all(|gain| (0.0..=LARGEST_GAIN).contains(gain));
        self.gains = gains;
        sound.then_some(self)
    }

    /// The same tree without the impurity decreases.
    pub(crate) fn without_gains(mut self) -> Self {
        self.gains = Vec::new();
        self
    }

    /// The importance of each feature: the mean decrease of impurity by its splits, as scikit-learn has it. They sum to 1, or
    /// are all 0 in a tree without a split; none in trees of earlier versions.
    pub fn feature_importances(&self) -> Option<Vec<f64>> {
        if self.gains.is_empty() {
            return None;
        }
        let mut importances = vec![0.0; self.n_columns];
        for (&feature, gain) in self.features.iter().zip(&self.gains).filter(|(feature, _)| **feature != Self::LEAF) {
            importances[feature as usize] += gain;
        }
        let sum: f64 = importances.iter().sum();
        if sum > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= sum);
        }
        Some(importances)
    }

    /// Adds a leaf and its impurity, times the share of the rows there. A right child is made known to its parent.
    pub(super) fn push(&mut self, totals: &[f64], impurity: f64, right_of: Option<usize>) -> usize {
        let place = self.features.len();
        if let Some(parent) = right_of {
            self.right[parent] = place as u32;
        }
        self.features.push(Self::LEAF);
        self.thresholds.push(0.0);
        self.left.push(0);
        self.right.push(0);
        let sum: f64 = totals.iter().sum();
        self.distributions.extend(totals.iter().map(|total| total / sum));
        self.gains.push(impurity);
        place
    }

    /// Makes gains of impurities: what is left of a node's after those of its children; nothing in a leaf.
    pub(super) fn subtract_children(&mut self) {
        // Children come after their parent: theirs are still impurities.
        for i in 0..self.n_nodes() {
            let children = self.gains[self.left[i] as usize] + self.gains[self.right[i] as usize];
            let is_leaf = self.features[i] == Self::LEAF;
            // Rounding may leave less than nothing.
            self.gains[i] = if is_leaf { 0.0 } else { (self.gains[i] - children).max(0.0) };
        }
    }

    /// Makes a leaf an inner node, whose children are added next.
    pub(super) fn split(&mut self, place: usize, feature: u32, threshold: f64) {
        self.features[place] = feature;
        self.thresholds[place] = threshold;
        self.left[place] = place as u32 + 1;
    }

    /// The leaf that a row falls into.
    pub(crate) fn leaf(&self, row: Row<'_>) -> usize {
        let value = |feature: u32| match row {
            Row::Dense(values) => values[feature as usize],
            Row::Sparse { columns, values } => columns.binary_search(&feature).map_or(0.0, |i| values[i]),
        };
        let mut node = 0;
        while self.features[node] != Self::LEAF {
            let side = if value(self.features[node]) <= self.thresholds[node] { &self.left } else { &self.right };
            node = side[node] as usize;
        }
        node
    }

    /// The shares of the classes among the training rows of a node.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node_distribution(&self, node: usize) -> &[f64] {
        &self.distributions[node * self.n_classes..][..self.n_classes]
    }

    /// Writes the probability of each class for a row.
    pub(crate) fn distribution(&self, row: Row<'_>, to: &mut [f64]) {
        to.copy_from_slice(self.node_distribution(self.leaf(row)));
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Number of columns of its rows.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of nodes, leaves included.
    pub fn n_nodes(&self) -> usize {
        self.features.len()
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.features.iter().filter(|&&feature| feature == Self::LEAF).count()
    }

    /// Number of splits between the root and the farthest leaf.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.n_nodes()];
        for i in 0..self.n_nodes() {
            if self.features[i] != Self::LEAF {
                depths[self.left[i] as usize] = depths[i] + 1;
                depths[self.right[i] as usize] = depths[i] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// The feature by which each node is split, [`Tree::LEAF`] for a leaf.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// The value up to which rows go left, for each node; 0 for a leaf.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// The left child of each node; 0 for a leaf.
    pub fn left(&self) -> &[u32] {
        &self.left
    }

    /// The right child of each node; 0 for a leaf.
    pub fn right(&self) -> &[u32] {
        &self.right
    }

    /// The shares of the classes in each node, node after node.
    pub fn distributions(&self) -> &[f64] {
        &self.distributions
    }
}

impl Learned for Tree {
    const NAME: &'static str = "tree";

    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        fill_rows(rows, self.n_classes, |row, _, to| self.distribution(row, to))
    }

    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value {
        let integers = |values: &[u32]| Tensor::integers(values.iter().map(|&value| u64::from(value)));
        tensors.write("features", integers(&self.features));
        tensors.write("thresholds", Tensor::vector(&self.thresholds));
        tensors.write("left", integers(&self.left));
        tensors.write("right", integers(&self.right));
        tensors.write("shares", Tensor::vector(&self.distributions));
        if !self.gains.is_empty() {
            tensors.write("gains", Tensor::vector(&self.gains));
        }
        Value::Null
    }

    fn load(_: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        let [features, left, right] = ["features", "left", "right"].map(|name| tensors.integers(name));
        let tree = Tree::from_parts(
            shape.n_features,
            shape.n_classes,
            (features?, tensors.vector("thresholds")?),
            (left?, right?),
            tensors.vector("shares")?,
        )?;
        match tensors.vector("gains") {
            Some(gains) => tree.with_gains(gains),
            None => Some(tree),
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;
    use crate::data::{Dense, Matrix, Rows};
    use crate::learner::scikit_learn::{assert_near, problems};
    use crate::random::{Purpose, Stream};

    /// Rows of few levels, so that many values are tied, or of many; three classes that depend on them; weights.
    fn problem(n: usize, d: usize, levels: f64) -> (Dense, Vec<u8>, Vec<f64>) {
        let mut stream = Stream::new(n as u64, Purpose::Split, d as u32);
        let values: Vec<f64> = (0..n * d).map(|_| (levels * stream.unit()).floor().max(1.0) - 1.0).collect();
        let class = |row: &[f64]| {
            let noise = levels * stream.unit();
            ((row[0] + row[d / 2] - row[d - 1] + noise) / levels).clamp(0.0, 2.0) as u8
        };
        let classes = values.chunks_exact(d).map(class).collect();
        let weights = (0..n).map(|i| (i % 3) as f64).collect();
        (Dense::new(n, d, values).unwrap(), classes, weights)
    }

    fn sample<'a>(rows: &'a dyn Rows, classes: &'a [u8], weights: &'a [f64]) -> Sample<'a> {
        Sample { rows, classes, n_classes: 3, weights, seed: 5 }
    }

    /// Trees of several kinds.
    fn kinds() -> [TreeSettings; 6] {
        let plain = TreeSettings::default();
        [
            TreeSettings { criterion: Criterion::Entropy, ..plain.clone() },
            TreeSettings { leaf: 4, split: 20, ..plain.clone() },
            TreeSettings::random(),
            TreeSettings::extra(),
            TreeSettings { leaf: 3, ..TreeSettings::extra() },
            plain,
        ]
    }

    #[test]
    fn splits_are_scikit_learns() {
        for problem in problems() {
            let rows = problem.rows();
            assert!(problem.trees.len() >= 6);
            for expected in &problem.trees {
                let weights = problem.weights(expected.weighted);
                let tree = expected.settings.fit(&problem.sample(&rows, &weights)).unwrap();
                assert_eq!(tree.features(), expected.features, "{:?}", expected.settings);
                assert_eq!(tree.thresholds(), expected.thresholds, "{:?}", expected.settings);
                assert_near(tree.distributions(), &expected.distributions, 1e-14);
            }
        }
    }

    #[test]
    fn a_tree_by_hand() {
        // Exclusive or: no split gains anything at the root, but the next ones do.
        let rows = Dense::new(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
        let sample = Sample { rows: &rows, classes: &[0, 1, 1, 0], n_classes: 2, weights: &[1.0; 4], seed: 0 };
        let tree = TreeSettings::default().fit(&sample).unwrap();
        let leaf = Tree::LEAF;
        assert_eq!(tree.features(), [0, 1, leaf, leaf, 1, leaf, leaf]);
        assert_eq!(tree.thresholds(), [0.5, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]);
        assert_eq!((tree.left(), tree.right()), (&[1, 2, 0, 0, 5, 0, 0][..], &[4, 3, 0, 0, 6, 0, 0][..]));
        assert_eq!((tree.n_nodes(), tree.n_leaves(), tree.depth()), (7, 4, 2));
        let mut to = [0.0; 2];
        for (row, expected) in [([0.0, 9.0], [0.0, 1.0]), ([0.5, 0.5], [1.0, 0.0]), ([0.6, 0.0], [0.0, 1.0])] {
            tree.distribution(Row::Dense(&row), &mut to);
            assert_eq!(to, expected);
        }
        tree.distribution(Row::Sparse { columns: &[1], values: &[1.0] }, &mut to);
        assert_eq!(to, [0.0, 1.0]);
        let shallow = TreeSettings { depth: Some(1), ..TreeSettings::default() }.fit(&sample).unwrap();
        assert_eq!(shallow.distributions(), [0.5; 6]);
    }

    #[test]
    fn there_is_nothing_to_split() {
        let fit = |values: &[f64], d: usize, classes: &[u8]| {
            let n = classes.len();
            let rows = Dense::new(n, d, values.to_vec()).unwrap();
            kinds().map(|kind| kind.fit(&sample(&rows, classes, &vec![1.0; n])).unwrap())
        };
        for (values, d, classes, expected) in [
            (&[1.0, 2.0, 3.0][..], 1, &[1u8, 1, 1][..], [0.0, 1.0, 0.0]),
            (&[1.0, 2.0], 2, &[2], [0.0, 0.0, 1.0]),
            (&[7.0, 7.0, 7.0, 7.0], 1, &[0, 1, 0, 2], [0.5, 0.25, 0.25]),
            (&[0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2], 1, &[0, 1, 0, 1], [0.5, 0.5, 0.0]),
            (&[], 0, &[0, 1], [0.5, 0.5, 0.0]),
        ] {
            for tree in fit(values, d, classes) {
                assert_eq!((tree.n_nodes(), tree.distributions()), (1, &expected[..]));
            }
        }
    }

    #[test]
    fn neither_scale_nor_an_outlier_hides_what_values_tell() {
        let classes: Vec<u8> = (0..40).map(|i| u8::from(i % 3 == 0)).collect();
        for (unit, outlier) in [(1.0, 39.0), (1e-12, 1.0), (1e-300, 1e300), (1e12, 1e30)] {
            let value = |i: u8| if i == 39 { outlier } else { unit * f64::from(i) };
            let rows = Dense::new(40, 1, (0..40).map(value).collect()).unwrap();
            for kind in kinds().iter().filter(|kind| kind.leaf == 1 && kind.depth.is_none()) {
                let tree = kind.fit(&Sample { n_classes: 2, ..sample(&rows, &classes, &[1.0; 40]) }).unwrap();
                let right = |i: usize| tree.distributions()[2 * tree.leaf(rows.row(i)) + classes[i] as usize] == 1.0;
                assert!((0..40).all(right), "{unit} {outlier} {kind:?}");
            }
        }
    }

    #[test]
    fn a_weight_is_a_row_repeated_and_no_weight_is_no_row() {
        for levels in [3.0, 1e9] {
            let (rows, classes, weights) = problem(240, 6, levels);
            let times: Vec<usize> = (0..240).flat_map(|i| vec![i; weights[i] as usize]).collect();
            let repeated = Matrix::from(rows.clone()).select(&times);
            let repeated_classes: Vec<u8> = times.iter().map(|&i| classes[i]).collect();
            // Rows are counted as they are where a leaf needs several, so this kind is left out.
            for kind in kinds().iter().filter(|kind| kind.leaf == 1) {
                let once = kind.fit(&sample(&rows, &classes, &weights)).unwrap();
                let ones = vec![1.0; times.len()];
                let often = kind.fit(&sample(repeated.rows(), &repeated_classes, &ones)).unwrap();
                assert_eq!(once, often);
                let shared = SortedColumns::new(&rows).unwrap();
                assert_eq!(once, kind.fit_sorted(&shared, &sample(&rows, &classes, &weights)).unwrap());
                let scaled: Vec<f64> = weights.iter().map(|weight| weight / 512.0).collect();
                assert_eq!(once.features(), kind.fit(&sample(&rows, &classes, &scaled)).unwrap().features());
            }
        }
    }

    #[test]
    fn sparse_rows_give_the_same_tree() {
        for levels in [3.0, 1e9] {
            let (rows, classes, _) = problem(300, 9, levels);
            let thin = rows.values().iter().enumerate().map(|(i, x)| if i % 4 == 0 { x - 1.0 } else { 0.0 });
            let rows = Matrix::from(Dense::new(300, 9, thin.collect()).unwrap());
            let weights: Vec<f64> = (0..300).map(|i| 0.1 + f64::from(i % 7)).collect();
            let sparse = rows.to_sparse();
            for kind in kinds() {
                let tree = kind.fit(&sample(rows.rows(), &classes, &weights)).unwrap();
                assert!(tree.n_leaves() > 10);
                assert_eq!(tree, kind.fit(&sample(&sparse, &classes, &weights)).unwrap());
                let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
                for i in 0..300 {
                    tree.distribution(rows.rows().row(i), &mut a);
                    tree.distribution(sparse.row(i), &mut b);
                    assert_eq!(a, b);
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (rows, classes, _) = problem(9000, 12, 50.0);
        let weights: Vec<f64> = (0..9000).map(|i| 1.0 / f64::from(1 + i % 11)).collect();
        for kind in kinds() {
            let [one, three] = [1, 3].map(|threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| kind.fit(&sample(&rows, &classes, &weights)).unwrap())
            });
            assert_eq!(one, three);
        }
    }

    #[test]
    fn limits_hold() {
        let (rows, classes, _) = problem(400, 5, 20.0);
        let weights = vec![0.5; 400];
        let fit = |settings: TreeSettings| settings.fit(&sample(&rows, &classes, &weights)).unwrap();
        assert_eq!(fit(TreeSettings { depth: Some(3), ..TreeSettings::default() }).depth(), 3);
        let tree = fit(TreeSettings { leaf: 15, ..TreeSettings::default() });
        let mut counts = vec![0; tree.n_nodes()];
        (0..400).for_each(|i| counts[tree.leaf(rows.row(i))] += 1);
        assert!(tree.n_leaves() > 5 && counts.iter().all(|&count| count == 0 || count >= 15), "{counts:?}");
        let large = fit(TreeSettings { split: 401, ..TreeSettings::default() });
        assert_eq!(large.n_nodes(), 1);
    }

    #[test]
    fn draws_follow_from_the_seed_and_find_what_varies() {
        let (rows, classes, weights) = problem(300, 8, 9.0);
        let one = TreeSettings { features: SplitFeatures::Count(1), ..TreeSettings::default() };
        let fit = |seed| one.fit(&Sample { seed, ..sample(&rows, &classes, &weights) }).unwrap();
        assert_eq!(fit(1), fit(1));
        let roots: Vec<u32> = (0..400).map(|seed| fit(seed).features()[0]).collect();
        for feature in 0..8 {
            // 50 of 400 on average: five deviations are 33.
            let count = roots.iter().filter(|&&root| root == feature).count();
            assert!((17..=83).contains(&count), "feature {feature}: {count} times");
        }
        // One column among many that are constant is found by one draw.
        let values = (0..2000).map(|i| if i % 20 == 13 { f64::from(i / 20 % 2) } else { 4.0 }).collect();
        let rows = Dense::new(100, 20, values).unwrap();
        let classes: Vec<u8> = (0..100).map(|i| i % 2).collect();
        let tree = one.fit(&sample(&rows, &classes, &[1.0; 100])).unwrap();
        assert_eq!(tree.features(), [13, Tree::LEAF, Tree::LEAF]);
    }

    #[test]
    fn random_thresholds_are_uniform_between_the_least_and_the_largest_value() {
        // Most values lie near 0: the middle of the rows is not the middle of the range.
        let values: Vec<f64> = (0..40).map(|i| if i == 39 { 1.0 } else { 0.001 * f64::from(i) }).collect();
        let rows = Dense::new(40, 1, values).unwrap();
        let classes: Vec<u8> = (0..40).map(|i| u8::from(i % 2 == 0)).collect();
        let weights = vec![1.0; 40];
        let threshold = |seed: u64| {
            let tree = TreeSettings::extra().fit(&Sample { seed, ..sample(&rows, &classes, &weights) }).unwrap();
            assert!(tree.n_leaves() == 40, "every leaf is pure");
            tree.thresholds()[0]
        };
        let mut drawn: Vec<f64> = (0..200).map(threshold).collect();
        drawn.sort_by(f64::total_cmp);
        // Kolmogorov and Smirnov: 1.63 / sqrt(200) is exceeded once in a hundred.
        let far = |(i, t): (usize, &f64)| (t - i as f64 / 200.0).abs().max((t - (i + 1) as f64 / 200.0).abs());
        let farthest = drawn.iter().enumerate().map(far).fold(0.0, f64::max);
        assert!(farthest < 0.115, "{farthest}");
    }

    #[test]
    fn of_columns_that_split_alike_the_first_is_taken_or_the_first_drawn() {
        // Three columns are the same, the fourth is constant.
        let rows =
            Dense::new(4, 4, (0..4).flat_map(|i| [f64::from(i), f64::from(i), f64::from(i), 0.0]).collect()).unwrap();
        let roots = |features: SplitFeatures| {
            let settings = TreeSettings { features, ..TreeSettings::default() };
            let mut counts = [0; 4];
            for seed in 0..300 {
                let sample = Sample { rows: &rows, classes: &[0, 0, 1, 1], n_classes: 2, weights: &[1.0; 4], seed };
                counts[settings.fit(&sample).unwrap().features()[0] as usize] += 1;
            }
            counts
        };
        assert_eq!(roots(SplitFeatures::All), [300, 0, 0, 0]);
        let drawn = roots(SplitFeatures::Count(3));
        assert!(drawn[..3].iter().all(|count| (75..=125).contains(count)), "{drawn:?}");
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let plain = TreeSettings::default();
        for (settings, message) in [
            (TreeSettings { depth: Some(0), ..plain.clone() }, "`depth` is 0"),
            (TreeSettings { split: 1, ..plain.clone() }, "`split` is 1"),
            (TreeSettings { features: SplitFeatures::Count(0), ..plain.clone() }, "`features` is 0"),
            (TreeSettings { features: SplitFeatures::Share(1.5), ..plain.clone() }, "`features` is 1.5"),
            (TreeSettings { features: SplitFeatures::Share(f64::NAN), ..plain.clone() }, "`features` is NaN"),
        ] {
            let error = settings.validate().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let read: TreeSettings =
            serde_json::from_str(r#"{"features": {"share": 0.5}, "criterion": "entropy"}"#).unwrap();
        let features = SplitFeatures::Share(0.5);
        assert_eq!(read, TreeSettings { features, criterion: Criterion::Entropy, ..plain });
        assert_eq!(serde_json::to_string(&SplitFeatures::Log2PlusOne).unwrap(), r#""log2-plus-one""#);
    }

    /// Two rows of class 0 and three of class 1. By hand: gini is 12/25 at the root. x0 <= 2.5 leaves 4/9 in three of five rows,
    /// a gain of 12/25 - 3/5 * 4/9 = 16/75; x1 takes away the rest, 20/75.
    #[test]
    fn importances_are_those_by_hand() {
        let values =
            [[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [2.0, 9.0, 5.0], [3.0, 0.0, 5.0], [4.0, 0.0, 5.0], [9.0, 9.0, 9.0]];
        let rows = Dense::new(6, 3, values.concat()).unwrap();
        let importances = |settings: TreeSettings, weights: &[f64]| {
            let classes = &[0, 0, 1, 1, 1, 0];
            let tree = settings.fit(&Sample { rows: &rows, classes, n_classes: 2, weights, seed: 0 }).unwrap();
            tree.feature_importances().unwrap()
        };
        let (plain, alike) = (TreeSettings::default(), [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_near(&importances(plain.clone(), &alike), &[4.0 / 9.0, 5.0 / 9.0, 0.0], 1e-15);
        // A row twice: 4/9 at the root, half of it in the left half of the rows.
        assert_near(&importances(plain.clone(), &[1.0, 1.0, 1.0, 2.0, 1.0, 0.0]), &[0.5, 0.5, 0.0], 1e-15);
        let entropy = |share: f64| -share * share.log2() - (1.0 - share) * (1.0 - share).log2();
        let left = 0.6 * entropy(1.0 / 3.0) / entropy(0.4);
        let by_entropy = importances(TreeSettings { criterion: Criterion::Entropy, ..plain.clone() }, &alike);
        assert_near(&by_entropy, &[1.0 - left, left, 0.0], 1e-14);
        assert_eq!(importances(TreeSettings { depth: Some(1), ..plain.clone() }, &alike), [1.0, 0.0, 0.0]);
        assert_eq!(importances(TreeSettings { split: 100, ..plain }, &alike), [0.0; 3]);
    }

    #[test]
    fn parts_that_do_not_fit_are_no_tree() {
        let (rows, classes, weights) = problem(60, 3, 5.0);
        let tree = TreeSettings::default().fit(&sample(&rows, &classes, &weights)).unwrap();
        let put = |change: &dyn Fn(&mut Tree)| {
            let mut parts = tree.clone();
            change(&mut parts);
            let Tree { n_columns, n_classes, features, thresholds, left, right, distributions, gains } = parts;
            let tree = Tree::from_parts(n_columns, n_classes, (features, thresholds), (left, right), distributions);
            tree.and_then(|tree| tree.with_gains(gains))
        };
        assert_eq!(put(&|_| ()), Some(tree.clone()));
        let wrong: [&dyn Fn(&mut Tree); 10] = [
            &|tree| tree.gains[0] = -0.5,
            &|tree| tree.gains[0] = f64::NAN,
            &|tree| tree.gains.clear(),
            &|tree| tree.left[0] = 0,
            &|tree| tree.right[0] = u32::MAX,
            &|tree| tree.features[0] = 3,
            &|tree| tree.thresholds[0] = f64::NAN,
            &|tree| tree.thresholds.clear(),
            &|tree| tree.distributions[0] = -0.5,
            &|tree| tree.n_classes = 2,
        ];
        assert!(wrong.iter().all(|&change| put(change).is_none()));
    }
}

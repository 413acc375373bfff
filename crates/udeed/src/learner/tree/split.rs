//! The best split of the rows of a node by one column.
//!
//! Weights are whole numbers, so all sums are exact: they may be taken in whatever order is fast, and the sum of what is
//! left over is a difference.

use serde::{Deserialize, Serialize};

use crate::learner::tree::columns::{Ranked, Ranks};

/// Impurity of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The probability that two rows drawn from the node are of different classes.
    #[default]
    Gini,
    /// The entropy of the classes.
    Entropy,
}

impl Criterion {
    /// The impurity of a node with these weights of the classes.
    pub(super) fn impurity(self, totals: &[f64]) -> f64 {
        let sum: f64 = totals.iter().sum();
        let shares = totals.iter().filter(|&&total| total > 0.0).map(|total| total / sum);
        match self {
            Criterion::Gini => 1.0 - shares.map(|share| share * share).sum::<f64>(),
            Criterion::Entropy => -shares.map(|share| share * libm::log2(share)).sum::<f64>(),
        }
    }
}

/// Which thresholds of a feature are tried at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thresholds {
    /// All of them, of which the best is taken.
    #[default]
    Best,
    /// One drawn uniformly between the least and the largest value, as in extra trees.
    Random,
}

/// Values that agree to this share of their size count as equal: what rounding makes of one number. A bound that is not
/// relative, as scikit-learn has one, would hide all other values of a column behind one far outlier once it is scaled.
const NEAREST: f64 = 1e-14;

/// A row of a node.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) row: u32,
    pub(super) class: u32,
    pub(super) weight: f64,
}

/// A node as the search sees it.
pub(super) struct NodeRows<'a> {
    /// Its rows, ascending.
    pub(super) entries: &'a [Entry],
    /// The weight of each class.
    pub(super) totals: &'a [f64],
    /// The least number of rows that a side may have.
    pub(super) leaf: usize,
    pub(super) purity: &'a Purity,
}

/// Where to split a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    /// How pure both sides are together: comparable in one node only.
    pub(super) purity: f64,
    /// The largest rank that goes left.
    pub(super) rank: u32,
    pub(super) threshold: f64,
}

/// Result of a search in a column.
pub(super) enum Found {
    /// All values are the same.
    Constant,
    /// Values differ, but one side has too few rows wherever it is split.
    Nothing,
    Split(Split),
}

/// Memory that every search uses again.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) ranks: Vec<u32>,
    keys: Vec<u64>,
    tally: Tally,
    left: Vec<f64>,
}

impl NodeRows<'_> {
    /// The best split by a column, of several the lowest.
    pub(super) fn split(&self, column: Ranked<'_>, scratch: &mut Scratch) -> Found {
        match self.totals.len() {
            2 => self.search::<2>(column, scratch),
            // Any number.
            _ => self.search::<0>(column, scratch),
        }
    }

    /// The split by a column at a share of the way from its least to its largest value.
    pub(super) fn split_at(&self, column: Ranked<'_>, share: f64, scratch: &mut Scratch) -> Found {
        let Scratch { ranks, left, .. } = scratch;
        ranks.clear();
        column.ranks.for_each(self.entries.iter().map(|entry| entry.row), |rank| ranks.push(rank));
        let (least, most) = ranks.iter().fold((u32::MAX, 0), |(least, most), &rank| (least.min(rank), most.max(rank)));
        if most <= least {
            return Found::Constant;
        }
        let (low, high) = (column.values[least as usize], column.values[most as usize]);
        if !are_apart(low, high) {
            return Found::Constant;
        }
        let drawn = (1.0 - share) * low + share * high;
        let threshold = if drawn < high { drawn.max(low) } else { low };
        let within = &column.values[least as usize..=most as usize];
        let rank = least + within.partition_point(|value| *value <= threshold) as u32 - 1;
        left.clear();
        left.resize(self.totals.len(), 0.0);
        let mut n_left = 0;
        for (entry, _) in self.entries.iter().zip(&*ranks).filter(|(_, of_row)| **of_row <= rank) {
            left[entry.class as usize] += entry.weight;
            n_left += 1;
        }
        if n_left < self.leaf || self.entries.len() - n_left < self.leaf {
            return Found::Nothing;
        }
        Found::Split(Split { purity: self.purity.of(left, self.totals), rank, threshold })
    }

    fn search<const K: usize>(&self, column: Ranked<'_>, scratch: &mut Scratch) -> Found {
        let Scratch { ranks, keys, tally, left } = scratch;
        left.clear();
        left.resize(self.totals.len(), 0.0);
        let mut scan = Scan::<K> { node: self, values: column.values, left, n_left: 0, last: None, best: None };
        let width = column.values.len();
        let few = width * self.totals.len() <= FEW;
        match column.ranks {
            Ranks::Bytes(all) if few => tally.add_few::<K, _>(self, all, width),
            Ranks::Dense(all) if few => tally.add_few::<K, _>(self, all, width),
            all => {
                ranks.clear();
                all.for_each(self.entries.iter().map(|entry| entry.row), |rank| ranks.push(rank));
                let around = |(least, most): (u32, u32), &rank: &u32| (least.min(rank), most.max(rank));
                let (least, most) = ranks.iter().fold((u32::MAX, 0), around);
                if most <= least {
                    return Found::Constant;
                }
                // Where most ranks would stay empty, sorting takes less than counting.
                let width = (most - least) as usize + 1;
                if width > 4 * ranks.len() {
                    keys.clear();
                    keys.extend(ranks.iter().zip(0u64..).map(|(&rank, i)| u64::from(rank) << 32 | i));
                    keys.sort_unstable();
                    scan.walk_sorted(keys, &mut tally.sums);
                    return scan.found();
                }
                tally.add::<K>(self, ranks, least, width);
            }
        }
        scan.walk(tally);
        scan.found()
    }
}

/// Statistics of each rank, in ascending order.
#[derive(Default)]
struct Tally {
    least: u32,
    /// The weight of each class.
    sums: Vec<f64>,
    /// The number of rows, counted only where a side needs several.
    counts: Vec<u32>,
}

/// Most sums of weights, one for each value in each class, of a column of few values.
const FEW: usize = 64;
/// For two values and two classes, or a few more.
const VERY_FEW: usize = 8;
/// Partial sums kept for each of the few: an addition has to wait for the one before it.
const LANES: usize = 4;

impl Tally {
    fn add<const K: usize>(&mut self, node: &NodeRows<'_>, ranks: &[u32], least: u32, width: usize) {
        let n_classes = if K == 0 { node.totals.len() } else { K };
        self.least = least;
        self.sums.clear();
        self.sums.resize(width * n_classes, 0.0);
        for (entry, rank) in node.entries.iter().zip(ranks) {
            self.sums[(rank - least) as usize * n_classes + entry.class as usize] += entry.weight;
        }
        if node.leaf > 1 {
            self.count(width, ranks.iter().map(|rank| (rank - least) as usize));
        }
    }

    /// The same for few ranks, straight from those of all rows.
    fn add_few<const K: usize, T: Copy + Into<u32>>(&mut self, node: &NodeRows<'_>, all: &[T], width: usize) {
        let n_classes = if K == 0 { node.totals.len() } else { K };
        let rank = |entry: &Entry| -> usize { all[entry.row as usize].into() as usize };
        let sum = |entry: &Entry| rank(entry) * n_classes + entry.class as usize;
        self.least = 0;
        // In a small node the sums of the many that there could be would take longer to clear than to make.
        match width * n_classes {
            n_sums @ ..=VERY_FEW => self.sum_up::<VERY_FEW>(node, n_sums, sum),
            n_sums => self.sum_up::<FEW>(node, n_sums, sum),
        }
        if node.leaf > 1 {
            self.count(width, node.entries.iter().map(rank));
        }
    }

    /// Adds the weight of each row to the sum, of at most `MOST`, that it belongs to.
    #[inline(always)]
    fn sum_up<const MOST: usize>(&mut self, node: &NodeRows<'_>, n_sums: usize, sum: impl Fn(&Entry) -> usize) {
        let mut lanes = [[0.0; LANES]; MOST];
        for (i, entry) in node.entries.iter().enumerate() {
            lanes[sum(entry) % MOST][i % LANES] += entry.weight;
        }
        self.sums.clear();
        self.sums.extend(lanes[..n_sums].iter().map(|lanes| lanes.iter().sum::<f64>()));
    }

    fn count(&mut self, width: usize, ranks: impl Iterator<Item = usize>) {
        self.counts.clear();
        self.counts.resize(width, 0);
        ranks.for_each(|rank| self.counts[rank] += 1);
    }
}

/// A walk over the values of a column, from the smallest on.
struct Scan<'a, const K: usize> {
    node: &'a NodeRows<'a>,
    values: &'a [f64],
    /// The weight of each class before the present value.
    left: &'a mut [f64],
    n_left: usize,
    /// The lowest rank, and the one before the present one.
    last: Option<(u32, u32)>,
    best: Option<Split>,
}

impl<const K: usize> Scan<'_, K> {
    fn walk(&mut self, tally: &Tally) {
        let n_classes = if K == 0 { self.left.len() } else { K };
        for (i, sums) in tally.sums.chunks_exact(n_classes).enumerate() {
            if sums.iter().any(|&sum| sum > 0.0) {
                let count = if self.node.leaf > 1 { tally.counts[i] } else { 1 };
                self.step(tally.least + i as u32, sums, count as usize);
            }
        }
    }

    /// The same over ranks in order, each with the place of its row in the node below.
    fn walk_sorted(&mut self, keys: &[u64], sums: &mut Vec<f64>) {
        let n_classes = if K == 0 { self.left.len() } else { K };
        for same in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            sums.clear();
            sums.resize(n_classes, 0.0);
            for key in same {
                let entry = &self.node.entries[*key as u32 as usize];
                sums[entry.class as usize] += entry.weight;
            }
            self.step((same[0] >> 32) as u32, sums, same.len());
        }
    }

    /// Looks at the split before the next rank, then puts the rank to the left.
    #[inline(always)]
    fn step(&mut self, rank: u32, sums: &[f64], count: usize) {
        let n_classes = if K == 0 { self.left.len() } else { K };
        let (left, totals) = (&mut self.left[..n_classes], &self.node.totals[..n_classes]);
        let node = self.node;
        let enough = node.leaf <= 1 || (self.n_left >= node.leaf && node.entries.len() - self.n_left >= node.leaf);
        if let Some((_, last)) = self.last
            && enough
        {
            let (below, above) = (self.values[last as usize], self.values[rank as usize]);
            let purity = node.purity.of(left, totals);
            if self.best.is_none_or(|best| purity > best.purity) && are_apart(below, above) {
                self.best = Some(Split { purity, rank: last, threshold: between(below, above) });
            }
        }
        left.iter_mut().zip(sums).for_each(|(left, sum)| *left += sum);
        self.n_left += count;
        self.last = Some((self.last.map_or(rank, |(first, _)| first), rank));
    }

    /// The best split so far.
    fn found(&self) -> Found {
        let is_constant =
            |(first, last): (u32, u32)| !are_apart(self.values[first as usize], self.values[last as usize]);
        match self.best {
            Some(best) => Found::Split(best),
            None if self.last.is_none_or(is_constant) => Found::Constant,
            None => Found::Nothing,
        }
    }
}

/// Whether a number is above another by more than rounding.
fn are_apart(below: f64, above: f64) -> bool {
    above - below > NEAREST * above.abs().max(below.abs())
}

/// The middle of two numbers; the lower one, where the middle is so near that it is the upper one.
fn between(below: f64, above: f64) -> f64 {
    let middle = below / 2.0 + above / 2.0;
    if middle < above { middle.max(below) } else { below }
}

/// How pure the sides of a split are.
pub(super) enum Purity {
    Gini,
    /// With `x ln x` of the whole numbers from 0 on, if there are not too many.
    Entropy(Vec<f64>),
}

impl Purity {
    /// For nodes of whole weights up to the total.
    pub(super) fn new(criterion: Criterion, total: f64) -> Self {
        const LONGEST: f64 = (1 << 20) as f64;
        match criterion {
            Criterion::Gini => Purity::Gini,
            Criterion::Entropy if total > LONGEST => Purity::Entropy(Vec::new()),
            Criterion::Entropy => {
                let term = |x: usize| if x == 0 { 0.0 } else { x as f64 * libm::log(x as f64) };
                Purity::Entropy((0..=total as usize).map(term).collect())
            }
        }
    }

    /// The negative of the impurity of both sides, each weighted as its rows are, less what is the same for all splits.
    /// It is the same number, to the last bit, if the sides change places.
    #[inline(always)]
    pub(super) fn of(&self, left: &[f64], totals: &[f64]) -> f64 {
        let left = || left.iter().copied();
        let right = || left().zip(totals).map(|(left, total)| total - left);
        self.of_side(left) + self.of_side(right)
    }

    #[inline(always)]
    fn of_side<I: Iterator<Item = f64>>(&self, counts: impl Fn() -> I) -> f64 {
        let total: f64 = counts().sum();
        match self {
            Purity::Gini => counts().map(|count| count * count).sum::<f64>() / total,
            Purity::Entropy(terms) if terms.is_empty() => {
                counts().map(|count| if count > 0.0 { count * libm::log(count / total) } else { 0.0 }).sum()
            }
            Purity::Entropy(terms) => counts().map(|count| terms[count as usize]).sum::<f64>() - terms[total as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_parts_what_it_lies_between() {
        for (below, above) in
            [(0.0, 1.0), (1.0, 1.0 + f64::EPSILON), (-f64::MAX, f64::MAX), (0.0, 5e-324), (-3.0, -2.0)]
        {
            let threshold = between(below, above);
            assert!(below <= threshold && threshold < above, "{below:e} {threshold:e} {above:e}");
        }
    }

    #[test]
    fn purities_order_splits_as_impurities_do() {
        let (totals, splits) = ([7.0, 5.0, 4.0], [[1.0, 0.0, 0.0], [7.0, 1.0, 0.0], [3.0, 3.0, 3.0], [0.0, 5.0, 4.0]]);
        let impurity = |counts: [f64; 3], criterion| {
            let total: f64 = counts.iter().sum();
            let shares = counts.iter().map(|count| count / total).filter(|&share| share > 0.0);
            total
                * match criterion {
                    Criterion::Gini => 1.0 - shares.map(|p| p * p).sum::<f64>(),
                    Criterion::Entropy => -shares.map(|p| p * p.ln()).sum::<f64>(),
                }
        };
        for criterion in [Criterion::Gini, Criterion::Entropy] {
            let base = impurity(totals, criterion);
            let gain = |left: [f64; 3]| {
                let right = [totals[0] - left[0], totals[1] - left[1], totals[2] - left[2]];
                base - impurity(left, criterion) - impurity(right, criterion)
            };
            for total in [16.0, 1e9] {
                let purity = Purity::new(criterion, total);
                for pair in splits.windows(2) {
                    let difference = purity.of(&pair[1], &totals) - purity.of(&pair[0], &totals);
                    assert!((difference - (gain(pair[1]) - gain(pair[0]))).abs() < 1e-12, "{difference}");
                }
            }
        }
    }
}

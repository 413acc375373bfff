//! Growth of a tree: node after node, depth first, each split by the best of its columns.

use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::learner::sample::{rows_with_weight, whole_weights};
use crate::learner::tree::columns::{Ranked, Ranks, SortedColumns};
use crate::learner::tree::split::{Entry, Found, NodeRows, Purity, Scratch, Split};
use crate::learner::tree::{Thresholds, Tree, TreeSettings};
use crate::parallel;
use crate::random::{Purpose, Stream};

/// Cells of a node from which on its columns are searched in parallel.
const PARALLEL: usize = 1 << 16;
/// An excerpt is made of a node with at most one in this many of the rows around it, ...
const SHRUNK: usize = 8;
/// ... and at most this many cells.
const LARGEST_EXCERPT: usize = 1 << 20;

/// A node that waits to be split or to become a leaf.
struct Waiting {
    start: usize,
    end: usize,
    depth: usize,
    /// Number of columns known to be constant here.
    n_constant: usize,
    /// Number of excerpts around the node.
    n_excerpts: usize,
    /// The parent, if this is its right child. A left child comes right after its parent.
    right_of: Option<usize>,
}

/// The columns of the rows of one node, side by side: below a small node the search stays in the cache.
struct Excerpt {
    n_rows: usize,
    /// Where the ranks of each column begin; those of constant columns are not here.
    starts: Vec<usize>,
    ranks: Vec<u32>,
}

/// A tree that grows.
pub(super) struct Growth<'a> {
    settings: &'a TreeSettings,
    columns: &'a SortedColumns,
    /// The rows of all nodes: those of one node are together and ascend.
    entries: Vec<Entry>,
    spare: Vec<Entry>,
    /// Around the present node, each within the one before it. The entries there have the numbers of its rows.
    excerpts: Vec<Excerpt>,
    purity: Purity,
    /// The columns. Those that are constant in the present node come first, in the order in which they were found on the
    /// way to it, so that the next node can go back to fewer of them.
    order: Vec<u32>,
    /// Number of columns drawn at a node.
    n_drawn: usize,
    stream: Stream,
    scratch: Scratch,
    tree: Tree,
}

impl<'a> Growth<'a> {
    pub(super) fn new(settings: &'a TreeSettings, columns: &'a SortedColumns, sample: &Sample<'_>) -> Result<Self> {
        let rows = rows_with_weight(sample)?;
        if columns.n_rows() != sample.weights.len() {
            let found = format!("{} rows in columns and {} weights", columns.n_rows(), sample.weights.len());
            return Err(Error::training(found, "one weight a row"));
        }
        let weights = whole_weights(sample.weights);
        let entry = |i: usize| Entry { row: i as u32, class: sample.classes[i].into(), weight: weights[i] };
        let entries: Vec<Entry> = rows.into_iter().map(entry).filter(|entry| entry.weight > 0.0).collect();
        Ok(Growth {
            settings,
            columns,
            spare: Vec::with_capacity(entries.len()),
            excerpts: Vec::new(),
            purity: Purity::new(settings.criterion, entries.iter().map(|entry| entry.weight).sum()),
            entries,
            order: (0..columns.n_columns() as u32).collect(),
            n_drawn: settings.features.count(columns.n_columns()),
            stream: Stream::new(sample.seed, Purpose::SplitFeatures, 0),
            scratch: Scratch::default(),
            tree: Tree::empty(columns.n_columns(), sample.n_classes),
        })
    }

    pub(super) fn grow(mut self) -> Tree {
        let end = self.entries.len();
        let mut waiting = vec![Waiting { start: 0, end, depth: 0, n_constant: 0, n_excerpts: 0, right_of: None }];
        let mut totals = vec![0.0; self.tree.n_classes()];
        let whole: f64 = self.entries.iter().map(|entry| entry.weight).sum();
        while let Some(node) = waiting.pop() {
            totals.fill(0.0);
            self.entries[node.start..node.end].iter().for_each(|entry| totals[entry.class as usize] += entry.weight);
            let share = totals.iter().sum::<f64>() / whole;
            let place = self.tree.push(&totals, share * self.settings.criterion.impurity(&totals), node.right_of);
            self.excerpts.truncate(node.n_excerpts);
            let Some((column, split, n_constant)) = self.best_split(&node, &totals) else { continue };
            let middle = node.start + self.part(node.start..node.end, column, split.rank);
            self.tree.split(place, column, split.threshold);
            let child = |start, end, right_of| {
                let (depth, n_excerpts) = (node.depth + 1, self.excerpts.len());
                Waiting { start, end, depth, n_constant, n_excerpts, right_of }
            };
            waiting.push(child(middle, node.end, Some(place)));
            waiting.push(child(node.start, middle, None));
        }
        self.tree.subtract_children();
        self.tree
    }

    /// The column to split by, how, and how many columns are known to be constant now; none for a leaf.
    fn best_split(&mut self, node: &Waiting, totals: &[f64]) -> Option<(u32, Split, usize)> {
        let settings = self.settings;
        let n_rows = node.end - node.start;
        let pure = totals.iter().filter(|&&total| total > 0.0).count() < 2;
        let few = n_rows < settings.split.max(2 * settings.leaf);
        if pure || few || settings.depth.is_some_and(|depth| node.depth >= depth) {
            return None;
        }
        self.make_excerpt(node);
        let mut next = self.draw(node.n_constant);
        let entries = &self.entries[node.start..node.end];
        let rows = NodeRows { entries, totals, leaf: settings.leaf, purity: &self.purity };
        let n_columns = self.order.len();
        let draws = self.n_drawn < n_columns;
        let (mut n_constant, mut looked_at) = (node.n_constant, node.n_constant);
        let mut best: Option<(u32, Split)> = None;
        // As scikit-learn and Weka do it: constant columns count among those that are drawn, but if there are only
        // constant ones, the draw goes on until there is one that is not.
        while looked_at < n_columns && looked_at == n_constant {
            if looked_at == next {
                next += 1;
                let drawn = looked_at + self.stream.below(n_columns - looked_at);
                self.order.swap(looked_at, drawn);
            }
            let view = |j| view(self.columns, self.excerpts.last(), j);
            let drawn: Option<Vec<f64>> = match settings.thresholds {
                Thresholds::Best => None,
                Thresholds::Random => Some((looked_at..next).map(|_| self.stream.unit()).collect()),
            };
            let found = look(&rows, &self.order[looked_at..next], drawn.as_deref(), view, &mut self.scratch);
            for (i, found) in found.into_iter().enumerate() {
                let column = self.order[looked_at + i];
                match found {
                    Found::Constant => {
                        self.order.swap(looked_at + i, n_constant);
                        n_constant += 1;
                    }
                    Found::Nothing => (),
                    Found::Split(split) => {
                        // Of equals the first column; where columns are drawn, the first that was: the same one again
                        // and again would make trees alike.
                        let better = |&(other, than): &(u32, Split)| {
                            split.purity > than.purity || (split.purity == than.purity && !draws && column < other)
                        };
                        if best.as_ref().is_none_or(better) {
                            best = Some((column, split));
                        }
                    }
                }
            }
            looked_at = next;
        }
        best.map(|(column, split)| (column, split, n_constant))
    }

    /// Takes out the columns of a node that is far smaller than what they lie in now.
    fn make_excerpt(&mut self, node: &Waiting) {
        let entries = &mut self.entries[node.start..node.end];
        let varying = &self.order[node.n_constant..];
        let around = self.excerpts.last().map_or(self.columns.n_rows(), |excerpt| excerpt.n_rows);
        let large = SHRUNK * entries.len() > around || entries.len().saturating_mul(varying.len()) > LARGEST_EXCERPT;
        // Where few columns are drawn, taking out all of them takes longer than it saves.
        if large || 4 * self.n_drawn < varying.len() {
            return;
        }
        let mut excerpt = Excerpt {
            n_rows: entries.len(),
            starts: vec![usize::MAX; self.order.len()],
            ranks: Vec::with_capacity(entries.len() * varying.len()),
        };
        for &j in varying {
            excerpt.starts[j as usize] = excerpt.ranks.len();
            let column = view(self.columns, self.excerpts.last(), j);
            column.ranks.for_each(entries.iter().map(|entry| entry.row), |rank| excerpt.ranks.push(rank));
        }
        entries.iter_mut().zip(0..).for_each(|(entry, i)| entry.row = i);
        self.excerpts.push(excerpt);
    }

    /// Draws columns, without replacement. They are moved to right after those that are known to be
    /// constant; returned is where they end.
    fn draw(&mut self, n_constant: usize) -> usize {
        let n_columns = self.order.len();
        if self.n_drawn >= n_columns {
            return n_columns;
        }
        let (mut constant_left, mut end) = (n_constant, n_constant);
        for _ in 0..self.n_drawn {
            let left = n_columns - end;
            let drawn = self.stream.below(constant_left + left);
            if drawn < constant_left {
                constant_left -= 1;
            } else {
                self.order.swap(end, end + drawn - constant_left);
                end += 1;
            }
            if end == n_columns {
                break;
            }
        }
        end
    }

    /// Moves the rows up to a rank of a column to the front, all in order, and returns their number.
    fn part(&mut self, node: std::ops::Range<usize>, column: u32, rank: u32) -> usize {
        let entries = &mut self.entries[node];
        let ranks = &mut self.scratch.ranks;
        ranks.clear();
        let column = view(self.columns, self.excerpts.last(), column);
        column.ranks.for_each(entries.iter().map(|entry| entry.row), |rank| ranks.push(rank));
        self.spare.clear();
        let mut n_left = 0;
        for (i, &of_row) in ranks.iter().enumerate() {
            if of_row <= rank {
                entries[n_left] = entries[i];
                n_left += 1;
            } else {
                self.spare.push(entries[i]);
            }
        }
        entries[n_left..].copy_from_slice(&self.spare);
        n_left
    }
}

/// A column of the rows of an excerpt, or of all.
fn view<'a>(columns: &'a SortedColumns, excerpt: Option<&'a Excerpt>, j: u32) -> Ranked<'a> {
    let column = columns.column(j);
    let Some(excerpt) = excerpt else { return column };
    let ranks = Ranks::Dense(&excerpt.ranks[excerpt.starts[j as usize]..][..excerpt.n_rows]);
    Ranked { ranks, ..column }
}

/// The split of each of some columns: its best one, or that at a drawn share of its range.
fn look<'a>(
    rows: &NodeRows<'_>,
    which: &[u32],
    drawn: Option<&[f64]>,
    column: impl Fn(u32) -> Ranked<'a> + Sync,
    scratch: &mut Scratch,
) -> Vec<Found> {
    let split = |scratch: &mut Scratch, place: usize| match drawn {
        None => rows.split(column(which[place]), scratch),
        Some(shares) => rows.split_at(column(which[place]), shares[place], scratch),
    };
    if which.len() > 1 && rows.entries.len() * which.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        return parallel::map_with(which.len(), Scratch::default, split);
    }
    (0..which.len()).map(|place| split(scratch, place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::learner::Criterion;

    /// The feature and the threshold of each node, found by trying all of them.
    fn by_hand(settings: &TreeSettings, sample: &Sample<'_>, rows: &Dense, inside: &[usize], to: &mut Vec<(u32, f64)>) {
        let total = |of: &[usize]| {
            let mut totals = vec![0.0; sample.n_classes];
            of.iter().for_each(|&i| totals[usize::from(sample.classes[i])] += sample.weights[i]);
            totals
        };
        let totals = total(inside);
        let purity = Purity::new(settings.criterion, sample.weights.iter().sum());
        let mut best: Option<(f64, u32, f64)> = None;
        if totals.iter().filter(|&&total| total > 0.0).count() > 1 {
            for j in 0..sample.rows.n_columns() {
                let mut order = inside.to_vec();
                order.sort_by(|&a, &b| rows.get(a)[j].total_cmp(&rows.get(b)[j]));
                for n_left in settings.leaf..(order.len() + 1).saturating_sub(settings.leaf) {
                    let (below, above) = (rows.get(order[n_left - 1])[j], rows.get(order[n_left])[j]);
                    let found = purity.of(&total(&order[..n_left]), &totals);
                    if above > below && best.is_none_or(|best| found > best.0) {
                        best = Some((found, j as u32, below / 2.0 + above / 2.0));
                    }
                }
            }
        }
        to.push(best.map_or((Tree::LEAF, 0.0), |(_, feature, threshold)| (feature, threshold)));
        if let Some((_, feature, threshold)) = best {
            let (left, right): (Vec<usize>, _) =
                inside.iter().partition(|&&i| rows.get(i)[feature as usize] <= threshold);
            by_hand(settings, sample, rows, &left, to);
            by_hand(settings, sample, rows, &right, to);
        }
    }

    #[test]
    fn every_split_is_the_best_of_all() {
        // Few levels are added up, many sorted; two classes and more have code of their own.
        for (levels, n_classes, leaf) in [(2.0, 2, 1), (7.0, 3, 4), (60.0, 2, 5), (1e9, 2, 1), (1e9, 4, 3)] {
            let mut stream = Stream::new(3, Purpose::Split, n_classes);
            let (n, d) = (260, 7);
            let values: Vec<f64> = (0..n * d).map(|i| (levels * stream.unit()).floor() * (i % 2) as f64).collect();
            let rows = Dense::new(n, d, values).unwrap();
            let classes: Vec<u8> = (0..n).map(|_| stream.below(n_classes as usize) as u8).collect();
            let weights: Vec<f64> = (0..n).map(|i| (1 + i % 2) as f64).collect();
            let n_classes = n_classes as usize;
            let sample = Sample { rows: &rows, classes: &classes, n_classes, weights: &weights, seed: 0 };
            let sparse = Matrix::from(rows.clone()).to_sparse();
            for criterion in [Criterion::Gini, Criterion::Entropy] {
                let settings = TreeSettings { criterion, leaf, ..TreeSettings::default() };
                let mut expected = Vec::new();
                by_hand(&settings, &sample, &rows, &(0..n).collect::<Vec<_>>(), &mut expected);
                for rows in [sample.rows, &sparse] {
                    let tree = settings.fit(&Sample { rows, ..sample }).unwrap();
                    let found: Vec<(u32, f64)> =
                        tree.features().iter().copied().zip(tree.thresholds().iter().copied()).collect();
                    assert!(found.len() > 20);
                    assert_eq!(found, expected, "{levels} levels, {n_classes} classes, {criterion:?}");
                }
            }
        }
    }
}

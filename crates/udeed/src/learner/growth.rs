//! How a tree grows: node after node, depth first, each split by the best column that it looks at.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::learner::columns::SortedColumns;
use crate::learner::counted::{counted, whole_weights};
use crate::learner::split::{Entry, Found, NodeRows, Purity, Scratch, Split};
use crate::learner::tree::{Tree, TreeSettings};
use crate::rng::{Purpose, Stream};

/// Cells of a node from which on its columns are looked at in parallel.
const PARALLEL: usize = 1 << 16;

/// A node that waits to be split or to become a leaf.
struct Waiting {
    start: usize,
    end: usize,
    depth: usize,
    /// How many columns are known to be constant here.
    n_constant: usize,
    /// The parent, if this is its right child. A left child comes right after its parent.
    right_of: Option<usize>,
}

/// A tree that grows.
pub(super) struct Growth<'a> {
    settings: &'a TreeSettings,
    columns: &'a SortedColumns,
    /// The rows of all nodes: those of one node are together and ascend.
    entries: Vec<Entry>,
    spare: Vec<Entry>,
    purity: Purity,
    /// The columns. Those that are constant in the present node come first, in the order in which they were found on the
    /// way to it, so that the next node can go back to fewer of them.
    order: Vec<u32>,
    /// How many columns a node looks at.
    n_looked_at: usize,
    stream: Stream,
    scratch: Scratch,
    tree: Tree,
}

impl<'a> Growth<'a> {
    pub(super) fn new(settings: &'a TreeSettings, columns: &'a SortedColumns, sample: &Sample<'_>) -> Result<Self> {
        let counted = counted(sample)?;
        if columns.n_rows() != sample.weights.len() {
            let found = format!("{} rows in columns and {} weights", columns.n_rows(), sample.weights.len());
            return Err(Error::training(found, "one weight a row"));
        }
        let weights = whole_weights(sample.weights);
        let entry = |i: usize| Entry { row: i as u32, class: sample.classes[i].into(), weight: weights[i] };
        let entries: Vec<Entry> = counted.into_iter().map(entry).filter(|entry| entry.weight > 0.0).collect();
        Ok(Growth {
            settings,
            columns,
            spare: Vec::with_capacity(entries.len()),
            purity: Purity::new(settings.criterion, entries.iter().map(|entry| entry.weight).sum()),
            entries,
            order: (0..columns.n_columns() as u32).collect(),
            n_looked_at: settings.features.count(columns.n_columns()),
            stream: Stream::new(sample.seed, Purpose::SplitFeatures, 0),
            scratch: Scratch::default(),
            tree: Tree::empty(columns.n_columns(), sample.n_classes),
        })
    }

    pub(super) fn grow(mut self) -> Tree {
        let mut waiting = vec![Waiting { start: 0, end: self.entries.len(), depth: 0, n_constant: 0, right_of: None }];
        let mut totals = vec![0.0; self.tree.n_classes()];
        while let Some(node) = waiting.pop() {
            totals.fill(0.0);
            self.entries[node.start..node.end].iter().for_each(|entry| totals[entry.class as usize] += entry.weight);
            let place = self.tree.push(&totals, node.right_of);
            let Some((column, split, n_constant)) = self.best_split(&node, &totals) else { continue };
            let middle = node.start + self.part(node.start..node.end, column, split.rank);
            self.tree.split(place, column, split.threshold);
            let depth = node.depth + 1;
            waiting.push(Waiting { start: middle, end: node.end, depth, n_constant, right_of: Some(place) });
            waiting.push(Waiting { start: node.start, end: middle, depth, n_constant, right_of: None });
        }
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
        let mut next = self.draw(node.n_constant);
        let entries = &self.entries[node.start..node.end];
        let rows = NodeRows { entries, totals, leaf: settings.leaf, purity: &self.purity };
        let n_columns = self.order.len();
        let (mut n_constant, mut looked_at) = (node.n_constant, node.n_constant);
        let mut best: Option<(u32, Split)> = None;
        // As scikit-learn and Weka do it: constant columns count among those that are looked at, but if there are only
        // constant ones, the draw goes on until there is one that is not.
        while looked_at < n_columns && looked_at == n_constant {
            if looked_at == next {
                next += 1;
                let drawn = looked_at + self.stream.below(n_columns - looked_at);
                self.order.swap(looked_at, drawn);
            }
            let found = look(&rows, self.columns, &self.order[looked_at..next], &mut self.scratch);
            for (i, found) in found.into_iter().enumerate() {
                let column = self.order[looked_at + i];
                match found {
                    Found::Constant => {
                        self.order.swap(looked_at + i, n_constant);
                        n_constant += 1;
                    }
                    Found::Nothing => (),
                    Found::Split(split) => {
                        let better = |&(other, than): &(u32, Split)| {
                            split.purity > than.purity || (split.purity == than.purity && column < other)
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

    /// Draws the columns to look at, without replacement. They are moved to right after those that are known to be
    /// constant; returned is where they end.
    fn draw(&mut self, n_constant: usize) -> usize {
        let n_columns = self.order.len();
        if self.n_looked_at >= n_columns {
            return n_columns;
        }
        let (mut constant_left, mut end) = (n_constant, n_constant);
        for _ in 0..self.n_looked_at {
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

    /// Moves the rows up to a rank of a column to the front, all in order, and says how many they are.
    fn part(&mut self, node: std::ops::Range<usize>, column: u32, rank: u32) -> usize {
        let entries = &mut self.entries[node];
        let (mut i, mut n_left) = (0, 0);
        self.spare.clear();
        let ranks = &mut self.scratch.ranks;
        ranks.clear();
        self.columns.column(column).ranks_of(entries.iter().map(|entry| entry.row), |rank| ranks.push(rank));
        while i < entries.len() {
            let entry = entries[i];
            if ranks[i] <= rank {
                entries[n_left] = entry;
                n_left += 1;
            } else {
                self.spare.push(entry);
            }
            i += 1;
        }
        entries[n_left..].copy_from_slice(&self.spare);
        n_left
    }
}

/// What each of some columns has to offer.
fn look(rows: &NodeRows<'_>, columns: &SortedColumns, which: &[u32], scratch: &mut Scratch) -> Vec<Found> {
    if which.len() > 1 && rows.entries.len() * which.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let split = |scratch: &mut Scratch, &j: &u32| rows.split(columns.column(j), scratch);
        return which.par_iter().map_init(Scratch::default, split).collect();
    }
    which.iter().map(|&j| rows.split(columns.column(j), scratch)).collect()
}

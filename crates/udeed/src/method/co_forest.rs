//! Co-forest: a random forest in which the other trees pseudo-label rows for each tree.
//!
//! Two details that the paper leaves open follow the authors' program: the initial weight of the pseudo-labels, and errors
//! measured on confident predictions only.

use crate::data::Dense;
use crate::ensemble::pseudo_labels::{MOST_ROUNDS, NewLabels, PseudoLabels, Teachers};
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows, bootstraps};
use crate::error::{Hint, Result};
use crate::learner::{Hypothesis, Learner, SplitFeatures, TreeSettings, normalise, winner};
use crate::memory::{check_memory, half_of_memory};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream, member_seed};

method! {
    /// Co-forest: a random forest in which each tree also learns from rows that the other trees are confident of.
    ///
    /// In every round a tree is refitted with pseudo-labels from the other trees, as long as these are likely to lower its error.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = CoForest::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    CoForest = "co-forest" {
        title: "Co-forest",
        python: "CoForestClassifier",
        paper: "M. Li and Z.-H. Zhou, \"Improve computer-aided diagnosis with machine learning techniques using undiagnosed samples\", IEEE Transactions on Systems, Man and Cybernetics A 37, 2007",
        labels_rows: true,
    }
    settings {
        /// Number of trees; the paper uses 6.
        members: usize = 20, in Range::at_least(2);
        scaling; fourier; calibrated;
        /// Settings of the trees.
        tree: TreeSettings = TreeSettings { features: SplitFeatures::Log2PlusOne, ..TreeSettings::default() };
        /// Confidence of the other trees above which a row gets their class as pseudo-label.
        confidence: f64 = 0.75, in Range::UNSURE;
        seed;
    }
}

impl Learn for CoForest {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let pseudo_labels = PseudoLabels::new(prepared)?;
        check_votes(self.members, pseudo_labels.classes.len(), pseudo_labels.n_classes)?;
        let draws = bootstraps(&prepared.codes, self.seed, self.members)?;
        let (seen, warning) = prepared.seen(&draws);
        let seen = seen.into_owned();
        let mut forest = Forest::new(self, &pseudo_labels, draws)?;
        forest.draws = seen;
        forest.add_up();
        // Of the initial trees: those that are refitted learn from all labels.
        let out_of_bag = forest.out_of_bag()?;
        // The teachers of a tree are all other trees: its concomitant ensemble.
        let mut teachers = vec![Teachers::default(); self.members];
        // Who gave a label is no news: all trees but the one that learns from it.
        let mut rounds = LabelRounds::new(pseudo_labels.unlabeled().len());
        for round in 0..MOST_ROUNDS {
            if rounds.rounds.is_empty() {
                break;
            }
            watch.member(round.min(self.members - 1), self.members)?;
            let stream = |i: usize| Stream::new(self.seed, Purpose::CoForest, (round * self.members + i) as u32);
            let labels_for = |i: usize| {
                watch.ask()?;
                Ok(forest.new_labels(i, teachers[i], self.confidence, &mut stream(i)))
            };
            let new_labels: Vec<Option<NewLabels>> = parallel::try_map(self.members, labels_for)?;
            if new_labels.iter().all(Option::is_none) {
                break;
            }
            forest.grow_again(self, &new_labels, round)?;
            let rows = new_labels.iter().flatten().flat_map(|new| &new.rows);
            rows.for_each(|row| rounds.note(row.0 - pseudo_labels.n_labeled, round, &[]));
            for (teachers, new) in teachers.iter_mut().zip(new_labels) {
                *teachers = new.map_or(*teachers, |new| new.teachers);
            }
        }
        watch.member(self.members, self.members)?;
        let part = Part::alike(forest.trees, Rule::Weighted);
        let (out_of_bag, rounds) = (Some(out_of_bag), Some(rounds));
        let mut learned = Learned { out_of_bag, rounds, ..Ensemble::whole(prepared.n_classes(), part).into() };
        learned.warn(warning, watch);
        learned.warn(pseudo_labels.warning(teachers.iter().any(|teachers| teachers.weight > 0.0)), watch);
        Ok(learned)
    }
}

/// Refuses forests whose votes on all rows take more than half of the memory.
fn check_votes(members: usize, n_rows: usize, n_classes: usize) -> Result<()> {
    let bytes =
        [members, n_rows, n_classes, size_of::<f64>()].iter().fold(1u64, |all, &n| all.saturating_mul(n as u64));
    let what = || format!("the votes of {members} trees on {n_rows} rows");
    check_memory(bytes, half_of_memory(), Hint::Members, what)
}

/// The trees, and their class distributions on the training rows.
struct Forest<'a> {
    pseudo_labels: &'a PseudoLabels,
    /// The bootstraps of the initial trees: how often each labeled row, or a copy of it, is drawn.
    draws: Vec<Vec<u8>>,
    trees: Vec<Hypothesis>,
    distributions: Vec<Dense>,
    /// Row by row, the sum of the distributions of all trees that vote on the row, and how many these are.
    sums: Vec<f64>,
    n_votes: Vec<usize>,
}

impl<'a> Forest<'a> {
    fn new(settings: &CoForest, pseudo_labels: &'a PseudoLabels, draws: Vec<Vec<u8>>) -> Result<Self> {
        let grow = |i: usize| {
            let mut weights = vec![0.0; pseudo_labels.classes.len()];
            for ((weight, own), &count) in weights.iter_mut().zip(&pseudo_labels.weights).zip(&draws[i]) {
                *weight = own * f64::from(count);
            }
            let seed = member_seed(settings.seed, i);
            settings.tree.learn(&pseudo_labels.sample(&pseudo_labels.classes, &weights, seed))
        };
        let trees: Vec<Hypothesis> = parallel::try_map(draws.len(), grow)?;
        let distributions = trees.iter().map(|tree| tree.distributions(pseudo_labels.rows())).collect::<Result<_>>()?;
        let mut forest = Forest { pseudo_labels, draws, trees, distributions, sums: Vec::new(), n_votes: Vec::new() };
        forest.add_up();
        Ok(forest)
    }

    /// Whether a tree votes on a row: on a labeled one only if the row is out of bag for the tree.
    fn votes_on(&self, tree: usize, row: usize) -> bool {
        row >= self.pseudo_labels.n_labeled || self.draws[tree][row] == 0
    }

    /// Sums the distributions of all trees.
    fn add_up(&mut self) {
        let (n, k) = (self.pseudo_labels.classes.len(), self.pseudo_labels.n_classes);
        let of_row = |row: usize| {
            let (mut sums, mut n_votes) = (vec![0.0; k], 0);
            for tree in (0..self.trees.len()).filter(|&tree| self.votes_on(tree, row)) {
                sums.iter_mut().zip(self.distributions[tree].get(row)).for_each(|(sum, p)| *sum += p);
                n_votes += 1;
            }
            (sums, n_votes)
        };
        let (sums, n_votes): (Vec<Vec<f64>>, Vec<usize>) = parallel::map(n, of_row).into_iter().unzip();
        (self.sums, self.n_votes) = (sums.concat(), n_votes);
    }

    /// The mean class probabilities of the trees that vote on each labeled row; not a number where none does.
    fn out_of_bag(&self) -> Result<Dense> {
        let (n, k) = (self.pseudo_labels.n_labeled, self.pseudo_labels.n_classes);
        let mean = |i: usize| self.sums[i] / self.n_votes[i / k] as f64;
        Dense::new(n, k, (0..n * k).map(mean).collect())
    }

    /// The vote of all trees but one on a row: the most probable class and its confidence; none if no other tree votes on it.
    fn others(&self, without: usize, row: usize) -> Option<(u8, f64)> {
        let k = self.pseudo_labels.n_classes;
        let mut shares = self.sums[row * k..][..k].to_vec();
        let votes = self.votes_on(without, row);
        if self.n_votes[row] == usize::from(votes) {
            return None;
        }
        if votes {
            let own = self.distributions[without].get(row);
            // Differences within rounding are 0.
            shares.iter_mut().zip(own).for_each(|(share, p)| *share = if *share - p > 1e-9 { *share - p } else { 0.0 });
        }
        normalise(&mut shares);
        let class = winner(&shares);
        Some((class as u8, shares[class]))
    }

    /// Pseudo-labels of the other trees for a tree, if they are likely to lower its error.
    fn new_labels(&self, tree: usize, last: Teachers, threshold: f64, stream: &mut Stream) -> Option<NewLabels> {
        let error = error_of_others(self, tree, threshold)?;
        if error >= last.error {
            return None;
        }
        let mut unlabeled = self.pseudo_labels.unlabeled();
        let weight = if last.weight > 0.0 { last.weight } else { (0.1 * unlabeled.len() as f64).min(100.0) };
        let most = most_weight(last.error, weight, error);
        stream.shuffle(&mut unlabeled);
        let (mut drawn, mut rows) = (0.0, Vec::new());
        for row in unlabeled {
            let Some((class, confidence)) = self.others(tree, row) else { continue };
            if drawn + confidence >= most {
                break;
            }
            drawn += confidence;
            if confidence > threshold {
                rows.push((row, class, confidence));
            }
        }
        let labeled: f64 = rows.iter().map(|row| row.2).sum();
        let helps = weight < rows.len() as f64 && error * labeled < last.error * weight;
        rows.sort_unstable_by_key(|row| row.0);
        helps.then_some(NewLabels { rows, teachers: Teachers { error, weight: labeled } })
    }

    fn grow_again(&mut self, settings: &CoForest, new_labels: &[Option<NewLabels>], round: usize) -> Result<()> {
        let pseudo_labels = self.pseudo_labels;
        let grow = |i: usize| {
            let Some(new) = &new_labels[i] else { return Ok(None) };
            let seed = member_seed(settings.seed, (round + 1) * new_labels.len() + i);
            let tree = pseudo_labels.learn_with(new, &settings.tree, seed, &self.trees[i])?;
            let distributions = tree.distributions(pseudo_labels.rows())?;
            Ok(Some((tree, distributions)))
        };
        let grown: Result<Vec<Option<(Hypothesis, Dense)>>> = parallel::try_map(new_labels.len(), grow);
        for (i, grown) in grown?.into_iter().enumerate() {
            if let Some((tree, distributions)) = grown {
                (self.trees[i], self.distributions[i]) = (tree, distributions);
            }
        }
        self.add_up();
        Ok(())
    }
}

/// The largest total weight of pseudo-labels; unlimited if the concomitant ensemble makes no error.
fn most_weight(before: f64, weight: f64, error: f64) -> f64 {
    if error > 0.0 { (before * weight / error - 1.0).ceil() } else { f64::INFINITY }
}

/// The error of the concomitant ensemble on the out-of-bag rows of which it is confident; none if there are none.
fn error_of_others(forest: &Forest<'_>, tree: usize, threshold: f64) -> Option<f64> {
    let (mut sure, mut wrong) = (0.0, 0.0);
    for row in 0..forest.pseudo_labels.n_labeled {
        if let Some((class, confidence)) = forest.others(tree, row)
            && confidence > threshold
        {
            sure += forest.pseudo_labels.weights[row];
            if class != forest.pseudo_labels.classes[row] {
                wrong += forest.pseudo_labels.weights[row];
            }
        }
    }
    (sure > 0.0).then(|| wrong / sure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Linear;

    /// Three "trees" with given distributions on two labeled and three unlabeled rows.
    fn forest(pseudo_labels: &PseudoLabels, distributions: [[f64; 5]; 3]) -> Forest<'_> {
        let silent = Hypothesis::Linear(Linear::new(vec![vec![0.0, 0.0]]));
        let table = |second: [f64; 5]| Dense::new(5, 2, second.iter().flat_map(|p| [1.0 - p, *p]).collect()).unwrap();
        // The first row is in the bootstrap of the first tree, the second in those of the others.
        let draws = vec![vec![1, 0], vec![0, 1], vec![0, 1]];
        let distributions = distributions.map(table).to_vec();
        let mut forest = Forest {
            pseudo_labels,
            draws,
            trees: vec![silent; 3],
            distributions,
            sums: Vec::new(),
            n_votes: Vec::new(),
        };
        forest.add_up();
        forest
    }

    fn pseudo_labels() -> PseudoLabels {
        PseudoLabels {
            rows: Dense::zeros(5, 1).unwrap().into(),
            classes: vec![0, 1, 0, 0, 0],
            weights: vec![1.0, 1.0, 0.0, 0.0, 0.0],
            n_classes: 2,
            n_labeled: 2,
        }
    }

    #[test]
    fn only_trees_that_have_not_seen_a_labeled_row_judge_it() {
        let pseudo_labels = pseudo_labels();
        let forest =
            forest(&pseudo_labels, [[0.9, 0.8, 0.9, 0.6, 0.1], [0.1, 0.3, 1.0, 0.2, 0.1], [0.3, 0.1, 0.8, 0.4, 0.3]]);
        // Trees 1 and 2 vote on row 0; without tree 1 only tree 2.
        let near = |found: Option<(u8, f64)>, class: u8, share: f64| {
            assert!(found.is_some_and(|found| found.0 == class && (found.1 - share).abs() < 1e-12), "{found:?}");
        };
        near(forest.others(0, 0), 0, 0.8);
        near(forest.others(1, 0), 0, 0.7);
        // Only tree 0 votes on row 1; without it none does.
        assert_eq!(forest.others(0, 1), None);
        near(forest.others(2, 1), 1, 0.8);
        // All other trees vote on unlabeled rows.
        near(forest.others(0, 2), 1, 0.9);
        // Without tree 1, the vote on row 0 is not confident (0.7), that on row 1 is, and correct.
        assert_eq!(error_of_others(&forest, 1, 0.75), Some(0.0));
        assert_eq!(error_of_others(&forest, 0, 0.85), None, "no vote is confident");
    }

    #[test]
    fn without_an_error_all_rows_may_be_taught() {
        assert_eq!(most_weight(0.5, 10.0, 0.0), f64::INFINITY);
        assert_eq!(most_weight(0.5, 10.0, 0.25), 19.0);
    }

    #[test]
    fn a_lesson_must_be_likely_to_help() {
        let pseudo_labels = pseudo_labels();
        let forest =
            forest(&pseudo_labels, [[0.1, 0.9, 0.9, 0.9, 0.1], [0.1, 0.3, 0.9, 0.9, 0.1], [0.1, 0.1, 0.9, 0.9, 0.1]]);
        let mut stream = Stream::new(0, Purpose::CoForest, 0);
        // Without an error all three rows are labeled: the initial weight min(3 / 10, 100) is below their number.
        let new = forest.new_labels(1, Teachers::default(), 0.75, &mut stream).unwrap();
        let labeled: Vec<(usize, u8)> = new.rows.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(labeled, [(2, 1), (3, 1), (4, 0)]);
        assert!((new.teachers.weight - 2.7).abs() < 1e-12);
        // A tree with a larger weight of pseudo-labels gets no new ones.
        for last in [Teachers { error: 0.5, weight: 3.0 }, Teachers { error: 0.0, weight: 0.0 }] {
            assert_eq!(forest.new_labels(1, last, 0.75, &mut stream), None);
        }
    }
}

//! Co-forest: a random forest whose other trees teach each tree.
//!
//! M. Li and Z.-H. Zhou, "Improve computer-aided diagnosis with machine learning techniques using undiagnosed samples",
//! IEEE Transactions on Systems, Man and Cybernetics A 37, 2007. Where the paper leaves something open, as in the authors'
//! program: the first weight of what was learned, and errors measured where the other trees are sure.

use crate::data::Dense;
use crate::ensemble::Learned;
use crate::ensemble::bootstraps;
use crate::ensemble::pseudo_labels::Growing;
use crate::ensemble::{Ensemble, Part, Rule, TrainingRows};
use crate::error::{Error, Result};
use crate::learner::{Hypothesis, Learner, Sample, SplitFeatures, TreeSettings, likeliest, normalise};
use crate::memory::half_of_memory;
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::{Warning, Watch};
use crate::random::{Purpose, Stream, member_seed};
use crate::text::size;
use crate::parallel;

method! {
    /// Co-forest: a random forest in which each tree also learns from rows that the other trees are confident of.
    ///
    /// Trees are grown again, with labels from the other trees, as long as these are likely to lower the error.
    ///
    /// ```
    /// use udeed::{CoForest, built_in};
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
        streams: false,
        grows: false,
    }
    settings {
        /// Number of trees; the paper has 6.
        members: usize = 20, in Range::at_least(2);
        scaling;
        fourier;
        /// Growth of the trees.
        tree: TreeSettings = TreeSettings { features: SplitFeatures::Log2PlusOne, ..TreeSettings::default() };
        /// Share of the other trees' votes above which a row takes their class as label.
        confidence: f64 = 0.75, in Range::UNSURE;
        seed;
    }
}

/// The error of the teachers of a tree falls with every round, so rounds end; this only guards against a very long fall.
const MOST_ROUNDS: usize = 100;

impl Learn for CoForest {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let growing = Growing::new(prepared)?;
        check_memory(self.members, growing.classes.len(), growing.n_classes)?;
        let bags = bootstraps(&prepared.codes, self.seed, self.members)?;
        let mut forest = Forest::new(self, &growing, bags)?;
        let mut teachers = vec![Teachers::default(); self.members];
        let nothing = growing.unlabeled().is_empty();
        for round in 0..MOST_ROUNDS {
            if nothing {
                break;
            }
            watch.member(round.min(self.members - 1), self.members)?;
            let draws = |i: usize| Stream::new(self.seed, Purpose::CoForest, (round * self.members + i) as u32);
            let lesson = |i: usize| {
                watch.ask()?;
                Ok(teachers[i].lesson(&forest, i, self.confidence, &mut draws(i)))
            };
            let lessons: Vec<Option<Lesson>> = parallel::try_map(self.members, lesson)?;
            if lessons.iter().all(Option::is_none) {
                break;
            }
            forest.grow_again(self, &lessons, round)?;
            for (teachers, lesson) in teachers.iter_mut().zip(lessons) {
                if let Some(lesson) = lesson {
                    *teachers = Teachers { error: lesson.error, weight: lesson.weight };
                }
            }
        }
        watch.member(self.members, self.members)?;
        let part = Part::alike(forest.trees, Rule::Weighted);
        let mut learned = Learned::from(Ensemble::whole(prepared.n_classes(), part));
        learned.warn(nothing.then_some(Warning::NothingUnlabeled), watch);
        Ok(learned)
    }
}

/// Refuses forests whose voices on all rows take more than half of the memory.
fn check_memory(members: usize, n_rows: usize, n_classes: usize) -> Result<()> {
    let bytes =
        [members, n_rows, n_classes, size_of::<f64>()].iter().fold(1u64, |all, &n| all.saturating_mul(n as u64));
    if bytes > half_of_memory() {
        let found = format!("{n_rows} rows, of which what {members} trees say takes {}", size(bytes));
        return Err(Error::training(found, format!("at most {}", size(half_of_memory()))));
    }
    Ok(())
}

/// The trees, and what each says of each training row.
struct Forest<'a> {
    growing: &'a Growing,
    /// How often each labeled row was drawn for each tree at first.
    bags: Vec<Vec<u8>>,
    trees: Vec<Hypothesis>,
    said: Vec<Dense>,
    /// What all trees that may speak of a row say together, row by row, and how many these are.
    sums: Vec<f64>,
    voices: Vec<usize>,
}

impl<'a> Forest<'a> {
    fn new(settings: &CoForest, growing: &'a Growing, bags: Vec<Vec<u8>>) -> Result<Self> {
        let grow = |i: usize| {
            let mut weights = vec![0.0; growing.classes.len()];
            for ((weight, own), &count) in weights.iter_mut().zip(&growing.weights).zip(&bags[i]) {
                *weight = own * f64::from(count);
            }
            settings.tree.learn(&sample(growing, &growing.classes, &weights, member_seed(settings.seed, i)))
        };
        let trees: Vec<Hypothesis> = parallel::try_map(bags.len(), grow)?;
        let said = trees.iter().map(|tree| tree.distributions(growing.rows())).collect();
        let mut forest = Forest { growing, bags, trees, said, sums: Vec::new(), voices: Vec::new() };
        forest.add_up();
        Ok(forest)
    }

    /// Whether a tree may speak of a row: of a labeled one only if it was not grown on it at first.
    fn speaks(&self, tree: usize, row: usize) -> bool {
        row >= self.growing.n_labeled || self.bags[tree][row] == 0
    }

    /// Sums up what all trees say.
    fn add_up(&mut self) {
        let (n, k) = (self.growing.classes.len(), self.growing.n_classes);
        let of_row = |row: usize| {
            let (mut sums, mut voices) = (vec![0.0; k], 0);
            for tree in (0..self.trees.len()).filter(|&tree| self.speaks(tree, row)) {
                sums.iter_mut().zip(self.said[tree].get(row)).for_each(|(sum, p)| *sum += p);
                voices += 1;
            }
            (sums, voices)
        };
        let (sums, voices): (Vec<Vec<f64>>, Vec<usize>) = parallel::map(n, of_row).into_iter().unzip();
        (self.sums, self.voices) = (sums.concat(), voices);
    }

    /// What all trees but one say of a row: the most probable class and its share. Of a labeled row only trees speak that
    /// were not grown on it at first; none where there are none.
    fn others(&self, without: usize, row: usize) -> Option<(u8, f64)> {
        let k = self.growing.n_classes;
        let mut shares = self.sums[row * k..][..k].to_vec();
        let speaks = self.speaks(without, row);
        if self.voices[row] == usize::from(speaks) {
            return None;
        }
        if speaks {
            let own = self.said[without].get(row);
            // What rounding leaves of nothing is nothing.
            shares.iter_mut().zip(own).for_each(|(share, p)| *share = if *share - p > 1e-9 { *share - p } else { 0.0 });
        }
        normalise(&mut shares);
        let class = likeliest(&shares);
        Some((class as u8, shares[class]))
    }

    fn grow_again(&mut self, settings: &CoForest, lessons: &[Option<Lesson>], round: usize) -> Result<()> {
        let growing = self.growing;
        let grow = |i: usize| {
            let Some(lesson) = &lessons[i] else { return Ok(None) };
            let (mut classes, mut weights) = (growing.classes.clone(), growing.weights.clone());
            for &(row, class, confidence) in &lesson.rows {
                (classes[row], weights[row]) = (class, confidence);
            }
            let seed = member_seed(settings.seed, (round + 1) * lessons.len() + i);
            let tree = settings.tree.learn(&sample(growing, &classes, &weights, seed))?;
            let said = tree.distributions(growing.rows());
            Ok(Some((tree, said)))
        };
        let grown: Result<Vec<Option<(Hypothesis, Dense)>>> = parallel::try_map(lessons.len(), grow);
        for (i, grown) in grown?.into_iter().enumerate() {
            if let Some((tree, said)) = grown {
                (self.trees[i], self.said[i]) = (tree, said);
            }
        }
        self.add_up();
        Ok(())
    }
}

fn sample<'a>(growing: &'a Growing, classes: &'a [u8], weights: &'a [f64], seed: u64) -> Sample<'a> {
    Sample { rows: growing.rows(), classes, n_classes: growing.n_classes, weights, seed }
}

/// What is known of the other trees of a tree: their error when they last taught it, and the weight of what they taught.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Teachers {
    error: f64,
    weight: f64,
}

impl Default for Teachers {
    fn default() -> Self {
        Teachers { error: 0.5, weight: 0.0 }
    }
}

/// Rows with the class and the confidence that the other trees give them.
struct Lesson {
    rows: Vec<(usize, u8, f64)>,
    error: f64,
    weight: f64,
}

impl Teachers {
    fn lesson(&self, forest: &Forest<'_>, tree: usize, threshold: f64, stream: &mut Stream) -> Option<Lesson> {
        let error = error_of_others(forest, tree, threshold)?;
        if error >= self.error {
            return None;
        }
        let mut unlabeled = forest.growing.unlabeled();
        let weight = if self.weight > 0.0 { self.weight } else { (0.1 * unlabeled.len() as f64).min(100.0) };
        let most = most_weight(self.error, weight, error);
        stream.shuffle(&mut unlabeled);
        let (mut drawn, mut rows) = (0.0, Vec::new());
        for row in unlabeled {
            let Some((class, confidence)) = forest.others(tree, row) else { continue };
            if drawn + confidence >= most {
                break;
            }
            drawn += confidence;
            if confidence > threshold {
                rows.push((row, class, confidence));
            }
        }
        let taught: f64 = rows.iter().map(|row| row.2).sum();
        let helps = weight < rows.len() as f64 && error * taught < self.error * weight;
        rows.sort_unstable_by_key(|row| row.0);
        helps.then_some(Lesson { rows, error, weight: taught })
    }
}

/// The most that unlabeled rows may weigh together; everything where the teachers make no error.
fn most_weight(before: f64, weight: f64, error: f64) -> f64 {
    if error > 0.0 { (before * weight / error - 1.0).ceil() } else { f64::INFINITY }
}

/// The error of the other trees on labeled rows that they were not grown on and are sure of; none where there is no such row.
fn error_of_others(forest: &Forest<'_>, tree: usize, threshold: f64) -> Option<f64> {
    let (mut sure, mut wrong) = (0.0, 0.0);
    for row in 0..forest.growing.n_labeled {
        if let Some((class, confidence)) = forest.others(tree, row)
            && confidence > threshold
        {
            sure += forest.growing.weights[row];
            if class != forest.growing.classes[row] {
                wrong += forest.growing.weights[row];
            }
        }
    }
    (sure > 0.0).then(|| wrong / sure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Linear;

    /// Three "trees" that say given things of two labeled and three unlabeled rows.
    fn forest(growing: &Growing, said: [[f64; 5]; 3]) -> Forest<'_> {
        let silent = Hypothesis::Linear(Linear::new(vec![vec![0.0, 0.0]]));
        let table = |second: [f64; 5]| Dense::new(5, 2, second.iter().flat_map(|p| [1.0 - p, *p]).collect()).unwrap();
        // The first row is in the bag of the first tree, the second in those of the others.
        let bags = vec![vec![1, 0], vec![0, 1], vec![0, 1]];
        let said = said.map(table).to_vec();
        let mut forest = Forest { growing, bags, trees: vec![silent; 3], said, sums: Vec::new(), voices: Vec::new() };
        forest.add_up();
        forest
    }

    fn growing() -> Growing {
        Growing {
            rows: Dense::zeros(5, 1).unwrap().into(),
            classes: vec![0, 1, 0, 0, 0],
            weights: vec![1.0, 1.0, 0.0, 0.0, 0.0],
            n_classes: 2,
            n_labeled: 2,
        }
    }

    #[test]
    fn only_trees_that_have_not_seen_a_labeled_row_judge_it() {
        let growing = growing();
        let forest =
            forest(&growing, [[0.9, 0.8, 0.9, 0.6, 0.1], [0.1, 0.3, 1.0, 0.2, 0.1], [0.3, 0.1, 0.8, 0.4, 0.3]]);
        // Of row 0, trees 1 and 2 speak; without tree 1 only tree 2.
        let near = |found: Option<(u8, f64)>, class: u8, share: f64| {
            assert!(found.is_some_and(|found| found.0 == class && (found.1 - share).abs() < 1e-12), "{found:?}");
        };
        near(forest.others(0, 0), 0, 0.8);
        near(forest.others(1, 0), 0, 0.7);
        // Of row 1 only tree 0 speaks, so without it nobody.
        assert_eq!(forest.others(0, 1), None);
        near(forest.others(2, 1), 1, 0.8);
        // Unlabeled rows are judged by all others.
        near(forest.others(0, 2), 1, 0.9);
        // Without tree 1: row 0 is not sure (0.7), row 1 is, and right.
        assert_eq!(error_of_others(&forest, 1, 0.75), Some(0.0));
        assert_eq!(error_of_others(&forest, 0, 0.85), None, "nobody is sure");
    }

    #[test]
    fn without_an_error_all_rows_may_be_taught() {
        assert_eq!(most_weight(0.5, 10.0, 0.0), f64::INFINITY);
        assert_eq!(most_weight(0.5, 10.0, 0.25), 19.0);
    }

    #[test]
    fn a_lesson_must_be_likely_to_help() {
        let growing = growing();
        let forest =
            forest(&growing, [[0.1, 0.9, 0.9, 0.9, 0.1], [0.1, 0.3, 0.9, 0.9, 0.1], [0.1, 0.1, 0.9, 0.9, 0.1]]);
        let mut stream = Stream::new(0, Purpose::CoForest, 0);
        // Without an error all three rows are taught: first weight min(3 / 10, 100) is below their number.
        let lesson = Teachers::default().lesson(&forest, 1, 0.75, &mut stream).unwrap();
        let taught: Vec<(usize, u8)> = lesson.rows.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(taught, [(2, 1), (3, 1), (4, 0)]);
        assert!((lesson.weight - 2.7).abs() < 1e-12);
        // Whoever learned more than that before is not taught again.
        assert!(Teachers { error: 0.5, weight: 3.0 }.lesson(&forest, 1, 0.75, &mut stream).is_none());
        assert!(Teachers { error: 0.0, weight: 0.0 }.lesson(&forest, 1, 0.75, &mut stream).is_none());
    }
}

//! Doubt: labels that contradict their out-of-bag predictions.

use std::ops::RangeInclusive;

use crate::data::{Dense, Rows, TrainSet};
use crate::error::{Error, Result};
use crate::labeling::candidates::{Candidates, labeled};
use crate::labeling::settings::settings;
use crate::learner::{Base, TreeSettings, winner};
use crate::method::{Auto, Bagging, Method};
use crate::observer::Observer;
use crate::prepare::Scaling;

/// Number of trees of the forest.
const TREES: usize = 100;
/// Largest number of unlabeled rows that the automatic ensemble sees.
const MOST_UNLABELED: usize = 2000;
/// Probability of a label below which it is firmly contradicted.
const FIRM: f64 = 0.25;

settings! {
    /// Finds labels that may be wrong.
    ///
    /// Labeled rows are ranked by `1 - p`, where `p` is the out-of-bag probability of their label: the mean of those by the
    /// automatic ensemble and by a random forest. The only row of a class is always doubted: members that did not learn from it
    /// do not know the class.
    ///
    /// ```
    /// use udeed::labeling::Doubt;
    /// use udeed::prelude::*;
    ///
    /// let sheet = built_in("wdbc")?.read()?;
    /// // The label of row 3 is wrong.
    /// let class = |i: usize| sheet.labels.name(i).map(|own| if i == 3 { "benign" } else { own });
    /// let labels = Labels::new((0..100).map(class));
    /// let train = TrainSet::new(sheet.table.select(&(0..100).collect::<Vec<usize>>()), labels)?;
    /// let found = Doubt::new().find(&train)?;
    /// let wrong = found.labels[..5].iter().find(|label| label.row == 3).unwrap();
    /// assert_eq!((wrong.label.as_str(), wrong.suggested.as_str()), ("benign", "malignant"));
    /// assert!(wrong.probability < 0.5);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Doubt {
        /// Random seed.
        seed: u64 = 0;
    }
}

/// A label and its out-of-bag prediction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DoubtedLabel {
    /// The position of its row, counted from 0.
    pub row: usize,
    /// The label.
    pub label: String,
    /// The most probable class out of bag.
    pub suggested: String,
    /// The out-of-bag probability of the label.
    pub probability: f64,
}

/// All labels, the most doubtful first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Doubts {
    /// The labels.
    pub labels: Vec<DoubtedLabel>,
    /// Number of labels that are likely to be wrong, as a range: from half of those that are contradicted firmly, with a
    /// probability below a quarter, to all that are contradicted, which are many more where few are wrong. Labels without a
    /// judge do not count, see [`Doubts::n_unjudged`].
    pub n_wrong: RangeInclusive<usize>,
    /// Number of labels without a judge: those that every member learned from, and those of the only row of a class, also where
    /// it was entered more than once: members that did not learn from it do not know the class.
    pub n_unjudged: usize,
    /// The classes.
    pub classes: Vec<String>,
    /// The out-of-bag class probabilities of each labeled row, in the order of the rows.
    pub probabilities: Dense,
}

impl Doubt {
    /// Ranks all labels.
    ///
    /// # Errors
    /// If there are fewer than two classes, or no model can be fitted.
    pub fn find(&self, train: &TrainSet) -> Result<Doubts> {
        self.find_observed(train, &mut ())
    }

    /// Ranks all labels, and reports to an observer.
    ///
    /// # Errors
    /// As [`Doubt::find`]; also [`Error::Stopped`] if the observer ends the work.
    pub fn find_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Doubts> {
        let classes = train.classes()?;
        // Trees do not care for the scale; sparse rows may be negative.
        let forest = Bagging::new().members(TREES).base(Base::Tree(TreeSettings::random())).seed(self.seed);
        let forest = forest.scaling(Scaling::Standard);
        let (auto, forest) = Candidates::draw(train, MOST_UNLABELED, self.seed)?.learn(train, |some| {
            let auto = out_of_bag(Auto::new().seed(self.seed), some, observer)?;
            Ok((auto, out_of_bag(forest, some, observer)?))
        })?;
        let rows = labeled(train);
        let probabilities = mean(&auto, &forest, classes.len())?;
        let labels = train.labels().aligned(&classes)?;
        let codes: Vec<usize> = rows.iter().filter_map(|&row| labels.get(row)).collect();
        let doubted = |(i, (&row, &code)): (usize, (&usize, &usize))| DoubtedLabel {
            row,
            label: classes[code].clone(),
            suggested: classes[suggested(probabilities.get(i), code)].clone(),
            probability: probabilities.get(i)[code],
        };
        let mut found: Vec<DoubtedLabel> = rows.iter().zip(&codes).enumerate().map(doubted).collect();
        // Members that did not learn from a row have not seen its copies either.
        let distinct = train.distinct_labels();
        let mut counts = vec![0; classes.len()];
        let places = rows.iter().zip(&codes).filter(|(row, _)| distinct.get(**row).is_some());
        places.for_each(|(_, &code)| counts[code] += 1);
        let known = |estimates: &Dense, i: usize| !estimates.get(i)[0].is_nan();
        let is_judged = |i: usize| (known(&auto, i) || known(&forest, i)) && counts[codes[i]] > 1;
        let judged: Vec<bool> = (0..codes.len()).map(is_judged).collect();
        let n_wrong = n_wrong(found.iter().zip(&judged).filter(|(_, judged)| **judged).map(|(label, _)| label));
        let n_unjudged = judged.iter().filter(|judged| !**judged).count();
        // A stable sort: of equal ones the first row comes first.
        found.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        Ok(Doubts { labels: found, n_wrong, n_unjudged, classes, probabilities })
    }
}

fn out_of_bag(method: impl Into<Method>, train: &TrainSet, observer: &mut dyn Observer) -> Result<Dense> {
    let (_, estimates) = method.into().fit_out_of_bag(train, observer)?;
    estimates.ok_or_else(|| Error::training("no row that members did not learn from", "a method with bootstraps"))
}

/// The mean of two estimates; one of them where the other is not a number, and uniform probabilities where neither is.
fn mean(a: &Dense, b: &Dense, n_classes: usize) -> Result<Dense> {
    let mean = |(&a, &b): (&f64, &f64)| match (a.is_nan(), b.is_nan()) {
        (false, false) => 0.5 * (a + b),
        (false, true) => a,
        (true, false) => b,
        (true, true) => 1.0 / n_classes as f64,
    };
    let values = a.values().iter().zip(b.values()).map(mean).collect();
    Dense::new(a.n_rows(), n_classes, values)
}

/// From half of the labels that are contradicted firmly to all that are contradicted. Of 100 labels of 19 sets that is on
/// average from 2 to 18 where 5 are wrong, from 3 to 23 where 10 are, from 3 to 32 where 20 are, and nearly always holds the number;
/// where none is wrong it is from 1 to 12.
fn n_wrong<'a>(labels: impl Iterator<Item = &'a DoubtedLabel>) -> RangeInclusive<usize> {
    let (mut firmly, mut contradicted) = (0, 0);
    for label in labels {
        firmly += usize::from(label.probability < FIRM);
        contradicted += usize::from(label.suggested != label.label);
    }
    firmly / 2..=contradicted.max(firmly / 2)
}

/// The most probable class: the label, where none is more probable.
fn suggested(probabilities: &[f64], label: usize) -> usize {
    let best = winner(probabilities);
    if probabilities[best] > probabilities[label] { best } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Matrix, Table};
    use crate::format::built_in;
    use crate::random::{Purpose, Stream};

    /// 100 rows of a set, the labels of some of them flipped; which these are.
    fn flipped(name: &str, wrong: usize) -> (TrainSet, Vec<usize>) {
        let sheet = built_in(name).unwrap().read().unwrap();
        let mut rows: Vec<usize> = (0..sheet.labels.len()).collect();
        Stream::new(1, Purpose::Split, 0).shuffle(&mut rows);
        rows.truncate(100);
        let sheet = sheet.select(&rows);
        let class = |i: usize| {
            let code = sheet.labels.get(i).unwrap();
            Some(sheet.labels.classes()[if i < wrong { 1 - code } else { code }].clone())
        };
        let labels = Labels::new((0..100).map(class));
        (TrainSet::new(sheet.table, labels).unwrap(), (0..wrong).collect())
    }

    #[test]
    fn flipped_labels_are_found() {
        for (name, at_least) in [("wdbc", 8), ("vote", 8), ("ionosphere", 6)] {
            let (train, wrong) = flipped(name, 10);
            let found = Doubt::new().find(&train).unwrap();
            let hits = found.labels[..10].iter().filter(|label| wrong.contains(&label.row)).count();
            assert!(hits >= at_least, "{name}: {hits} of 10");
            assert!(found.n_wrong.contains(&10), "{name}: {:?}", found.n_wrong);
            let first = &found.labels[0];
            assert!(first.suggested != first.label && first.probability < 0.2);
            assert!(found.labels.windows(2).all(|pair| pair[0].probability <= pair[1].probability));
            assert_eq!(found.probabilities.n_rows(), 100);
        }
    }

    #[test]
    fn labels_that_are_contradicted_bound_the_number_of_wrong_ones() {
        let label = |(suggested, probability): (&str, f64)| DoubtedLabel {
            row: 0,
            label: "no".into(),
            suggested: suggested.into(),
            probability,
        };
        let labels = [("yes", 0.1), ("yes", 0.2), ("yes", 0.3), ("yes", 0.4), ("no", 0.6)].map(label);
        assert_eq!(n_wrong(labels.iter()), 1..=4);
        assert_eq!(n_wrong(labels[4..].iter()), 0..=0);
    }

    #[test]
    fn both_ensembles_judge_and_one_where_the_other_cannot() {
        let none = f64::NAN;
        let table = |values: [f64; 8]| Dense::new(4, 2, values.to_vec()).unwrap();
        let auto = table([0.25, 0.75, 0.4, 0.6, none, none, none, none]);
        let forest = table([0.5, 0.5, none, none, 0.1, 0.9, none, none]);
        let found = mean(&auto, &forest, 2).unwrap();
        assert_eq!(found.values(), [0.375, 0.625, 0.4, 0.6, 0.1, 0.9, 0.5, 0.5]);
    }

    #[test]
    fn labels_that_nobody_can_judge_are_not_counted_as_wrong() {
        // Two rows: whoever did not learn from one does not know its class.
        let rows = |n: usize| Table::from_rows(&(0..n).map(|i| [i as f64]).collect::<Vec<_>>()).unwrap();
        let two = TrainSet::new(rows(2), Labels::new([Some("a"), Some("b")])).unwrap();
        let found = Doubt::new().find(&two).unwrap();
        assert_eq!((found.n_wrong, found.n_unjudged), (0..=0, 2));
        // Many rows of one class, and single ones of others.
        let name = |i: usize| Some(if i < 40 { "many".to_owned() } else { format!("single {i}") });
        let singles = TrainSet::new(rows(45), Labels::new((0..45).map(name))).unwrap();
        let found = Doubt::new().find(&singles).unwrap();
        assert_eq!(found.n_unjudged, 5);
        assert!(*found.n_wrong.end() <= 2, "{:?}", found.n_wrong);
        assert_eq!((suggested(&[0.5, 0.5], 1), suggested(&[0.6, 0.4], 1)), (1, 0));
    }

    /// Members that did not learn from a row entered three times know nothing of its class, if it has no other row.
    #[test]
    fn copies_of_the_only_row_of_a_class_are_not_judged() {
        let value = |i: usize| if i < 40 { [i as f64, (i * 7 % 40) as f64] } else { [55.5, 66.5] };
        let table = Table::from_rows(&(0..43).map(value).collect::<Vec<_>>()).unwrap();
        let name = |i: usize| Some(["left", "right", "copied"][if i < 40 { i / 20 } else { 2 }]);
        let train = TrainSet::new(table, Labels::new((0..43).map(name))).unwrap();
        let found = Doubt::new().find(&train).unwrap();
        assert_eq!(found.n_unjudged, 3);
        assert!(found.labels[..3].iter().all(|label| label.row >= 40), "{:?}", found.labels);
        assert!(*found.n_wrong.end() <= 2, "{:?}", found.n_wrong);
        // Equal rows of few values are no copies: each is judged by the others.
        let few = Table::from_rows(&(0..60).map(|i| [f64::from(i % 3)]).collect::<Vec<_>>()).unwrap();
        let labels = Labels::new((0..60).map(|i| Some(["a", "b", "c"][i % 3])));
        assert_eq!(Doubt::new().find(&TrainSet::new(few, labels).unwrap()).unwrap().n_unjudged, 0);
    }

    #[test]
    fn sparse_rows_may_be_negative() {
        let dense = Dense::random(40, 5, 3);
        let values: Vec<f64> = dense.values().iter().map(|x| if *x > 0.3 { x - 0.5 } else { 0.0 }).collect();
        let sparse = Matrix::from(Dense::new(40, 5, values).unwrap()).to_sparse();
        let labels = Labels::new((0..40).map(|i| Some(["a", "b"][i % 2])));
        let train = TrainSet::new(Table::from_matrix(sparse).unwrap(), labels).unwrap();
        assert_eq!(Doubt::new().find(&train).unwrap().labels.len(), 40);
    }

    /// A wrong label that was entered three times is found as one that was entered once.
    #[test]
    fn copies_do_not_hide_a_wrong_label() {
        let (train, _) = flipped("wdbc", 0);
        let n = train.labels().len();
        let mut rows: Vec<usize> = (0..n).collect();
        rows.extend([4, 4]);
        let class = |&i: &usize| {
            let code = train.labels().get(i).unwrap();
            Some(train.labels().classes()[if i == 4 { 1 - code } else { code }].clone())
        };
        let labels = Labels::new(rows.iter().map(class));
        let copied = TrainSet::new(train.table().select(&rows), labels).unwrap();
        let found = Doubt::new().find(&copied).unwrap();
        let first: Vec<usize> = found.labels[..3].iter().map(|label| label.row).collect();
        assert!([4, n, n + 1].iter().all(|row| first.contains(row)), "{first:?}");
    }
}

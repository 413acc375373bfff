//! Splits of labeled rows that keep the shares of the classes.

use serde::{Deserialize, Serialize};

use crate::data::Labels;
use crate::error::{Error, Hint, Result};
use crate::random::{Purpose, Stream};
use crate::text::quoted;

/// How labeled rows are dealt out for an experiment: a share of all for testing, and of the others a share whose labels
/// are kept. The default is the paper's: half, and a quarter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// The share of all rows that is kept for testing.
    pub test: f64,
    /// Training rows, of the others, that keep their labels.
    pub labeled: Labeled,
}

/// Share or number of training rows that keep their labels.
///
/// ```
/// use udeed::data::Labeled;
///
/// assert_eq!("0.25".parse(), Ok(Labeled::Share(0.25)));
/// assert_eq!("10".parse(), Ok(Labeled::Count(10)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Labeled {
    /// A share of them.
    Share(f64),
    /// A number of them, each class in proportion and with at least one.
    Count(usize),
}

impl std::str::FromStr for Labeled {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text.parse::<usize>(), text.parse::<f64>()) {
            (Ok(count), _) => Ok(Labeled::Count(count)),
            (_, Ok(share)) => Ok(Labeled::Share(share)),
            _ => Err("expected a share such as 0.25 or a number of rows such as 10".into()),
        }
    }
}

impl Default for Shares {
    fn default() -> Self {
        Shares { test: 0.5, labeled: Labeled::Share(0.25) }
    }
}

/// One deal of labeled rows. The indices ascend.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Split {
    /// Rows to train on with their labels.
    pub labeled: Vec<usize>,
    /// Rows to train on without their labels.
    pub unlabeled: Vec<usize>,
    /// Rows to test on.
    pub test: Vec<usize>,
    /// A seed for fits on this split.
    pub seed: u64,
}

/// Deals the labeled rows out at random, each class by itself, so that its share is the same everywhere. Rows without a
/// label are always among the unlabeled ones of the result.
///
/// # Errors
/// If a share is not between 0 and 1, or a class has too few rows for one labeled and one test row.
///
/// ```
/// use udeed::data::{Labels, Shares, stratified_split};
///
/// let labels = Labels::new((0..40).map(|i| Some(if i % 2 == 0 { "a" } else { "b" })));
/// let split = stratified_split(&labels, Shares::default(), 1, 0)?;
/// assert_eq!((split.labeled.len(), split.unlabeled.len(), split.test.len()), (6, 14, 20));
/// assert_eq!(split, stratified_split(&labels, Shares::default(), 1, 0)?);
/// assert_ne!(split, stratified_split(&labels, Shares::default(), 1, 1)?);
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn stratified_split(labels: &Labels, shares: Shares, seed: u64, repetition: u32) -> Result<Split> {
    if !(shares.test > 0.0 && shares.test < 1.0) {
        return Err(Error::setting("test", shares.test, "a share between 0 and 1"));
    }
    stratified_deal(labels, Some(Labeled::Share(shares.test)), shares.labeled, seed, repetition)
}

/// As [`stratified_split`], with a number of test rows in place of their share, or without any.
///
/// # Errors
/// As [`stratified_split`]; also if there are fewer test or labeled rows than classes, or more than there are.
///
/// ```
/// use udeed::data::{Labeled, Labels, stratified_deal};
///
/// let labels = Labels::new((0..40).map(|i| Some(if i % 4 == 0 { "a" } else { "b" })));
/// let split = stratified_deal(&labels, None, Labeled::Count(8), 1, 0)?;
/// assert_eq!((split.labeled.len(), split.unlabeled.len(), split.test.len()), (8, 32, 0));
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn stratified_deal(
    labels: &Labels,
    test: Option<Labeled>,
    labeled: Labeled,
    seed: u64,
    repetition: u32,
) -> Result<Split> {
    let mut stream = Stream::new(seed, Purpose::Split, repetition);
    let mut split = Split {
        labeled: Vec::new(),
        unlabeled: (0..labels.len()).filter(|&i| labels.get(i).is_none()).collect(),
        test: Vec::new(),
        seed: stream.seed(),
    };
    let classes = rows_by_class(labels);
    let sizes: Vec<usize> = classes.iter().map(Vec::len).collect();
    let tested = test.map_or(Ok(vec![0; sizes.len()]), |test| test.tested(&sizes))?;
    let left: Vec<usize> = classes.iter().zip(&tested).map(|(rows, n_test)| rows.len() - n_test).collect();
    let labeled = labeled.of(&left)?;
    for (class, mut rows) in classes.into_iter().enumerate() {
        let (n_test, n_labeled) = (tested[class], labeled[class]);
        if rows.is_empty() {
            continue;
        }
        if (n_test == 0 && test.is_some()) || n_labeled == 0 {
            return Err(Error::training(
                format!("{} rows of class {}", rows.len(), quoted(&labels.classes()[class])),
                "at least 2 of each class, one to learn from and one to test on",
            )
            .with_hint(Hint::Shares));
        }
        stream.shuffle(&mut rows);
        split.test.extend(&rows[..n_test]);
        split.labeled.extend(&rows[n_test..n_test + n_labeled]);
        split.unlabeled.extend(&rows[n_test + n_labeled..]);
    }
    split.labeled.sort_unstable();
    split.unlabeled.sort_unstable();
    split.test.sort_unstable();
    Ok(split)
}

impl Labeled {
    /// Rows of each class that keep their labels, given the sizes of the classes.
    fn of(self, classes: &[usize]) -> Result<Vec<usize>> {
        match self {
            Labeled::Share(share) if share > 0.0 && share <= 1.0 => {
                Ok(classes.iter().map(|&n| share_of(n, share, 1, n)).collect())
            }
            Labeled::Share(share) => Err(Error::setting("labeled", share, "a share above 0 and at most 1")),
            Labeled::Count(count) => {
                let (total, present) = (classes.iter().sum::<usize>(), classes.iter().filter(|&&n| n > 0).count());
                if count < present || count > total {
                    let expected = format!("between {present}, one of each class, and the {total} rows to train on");
                    return Err(Error::setting("labeled", count, expected));
                }
                Ok(in_proportion(count, classes, total))
            }
        }
    }

    /// Number of test rows of each class: at most all but one.
    fn tested(self, classes: &[usize]) -> Result<Vec<usize>> {
        let most: Vec<usize> = classes.iter().map(|n| n.saturating_sub(1)).collect();
        match self {
            Labeled::Share(share) if share > 0.0 && share < 1.0 => {
                Ok(classes.iter().zip(&most).map(|(&n, &most)| share_of(n, share, 1, most)).collect())
            }
            Labeled::Share(share) => Err(Error::setting("test", share, "a share between 0 and 1")),
            Labeled::Count(count) => {
                let (fewest, total) = (classes.iter().filter(|&&n| n > 0).count(), most.iter().sum::<usize>());
                if count < fewest || count > total {
                    let expected = format!("between {fewest}, one of each class, and {total}, all but one of each");
                    return Err(Error::setting("test", count, expected));
                }
                Ok(dealt_up_to(&most, count, classes, classes.iter().sum()))
            }
        }
    }
}

/// Deals a count out in proportion to the classes, at least one to each: one by one to the class that lacks most.
fn in_proportion(count: usize, classes: &[usize], total: usize) -> Vec<usize> {
    dealt_up_to(classes, count, classes, total)
}

/// As [`in_proportion`], with a limit for each class.
fn dealt_up_to(most: &[usize], count: usize, classes: &[usize], total: usize) -> Vec<usize> {
    let share = |class: usize| count as f64 * classes[class] as f64 / total as f64;
    // What small classes get beyond their share is less than a row each: no class ends further below its share than this.
    let first = |class: usize| (share(class) as usize).saturating_sub(classes.len()).max(1).min(most[class]);
    let mut dealt: Vec<usize> = (0..classes.len()).map(first).collect();
    for _ in dealt.iter().sum::<usize>()..count {
        let lack = |class: usize| share(class) - dealt[class] as f64;
        let open = (0..classes.len()).filter(|&class| dealt[class] < most[class]);
        if let Some(class) = open.max_by(|&a, &b| lack(a).total_cmp(&lack(b)).then(b.cmp(&a))) {
            dealt[class] += 1;
        }
    }
    dealt
}

/// A whole number of rows near a share of `n`, between `least` and `most`.
fn share_of(n: usize, share: f64, least: usize, most: usize) -> usize {
    ((n as f64 * share).round() as usize).clamp(least.min(most), most)
}

/// Deals the labeled rows into folds, each class by itself. Rows without a label are in none.
///
/// ```
/// use udeed::data::{Labels, stratified_folds};
///
/// let labels = Labels::new([Some("a"), Some("a"), None, Some("b"), Some("b")]);
/// let folds = stratified_folds(&labels, 2, 0);
/// assert_eq!(folds.len(), 2);
/// assert!(folds.iter().all(|fold| fold.len() == 2 && !fold.contains(&2)));
/// ```
pub fn stratified_folds(labels: &Labels, n_folds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut stream = Stream::new(seed, Purpose::Folds, 0);
    let mut folds = vec![Vec::new(); n_folds];
    let mut next = 0;
    for mut rows in rows_by_class(labels) {
        stream.shuffle(&mut rows);
        for row in rows {
            folds[next % n_folds].push(row);
            next += 1;
        }
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

fn rows_by_class(labels: &Labels) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); labels.classes().len()];
    for i in 0..labels.len() {
        if let Some(class) = labels.get(i) {
            rows[class].push(i);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(a: usize, b: usize, none: usize) -> Labels {
        let named = |name, n| std::iter::repeat_n(name, n);
        Labels::new(named(Some("a"), a).chain(named(Some("b"), b)).chain(named(None, none)))
    }

    #[test]
    fn every_row_is_dealt_once() {
        let split = stratified_split(&labels(21, 8, 5), Shares::default(), 3, 0).unwrap();
        let mut all = [split.labeled, split.unlabeled, split.test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..34).collect::<Vec<_>>());
    }

    #[test]
    fn a_class_too_small_says_so() {
        let error = stratified_split(&labels(20, 1, 0), Shares::default(), 3, 0).unwrap_err();
        assert!(error.to_string().contains("1 rows of class `b`"), "{error}");
    }

    #[test]
    fn a_number_of_labels_is_dealt_in_proportion() {
        assert_eq!(in_proportion(10, &[30, 10], 40), [8, 2]);
        assert_eq!(in_proportion(2, &[1000, 1], 1001), [1, 1]);
        assert_eq!(in_proportion(7, &[2, 5], 7), [2, 5]);
        let split = |count| {
            let shares = Shares { test: 0.5, labeled: Labeled::Count(count) };
            stratified_split(&labels(40, 20, 0), shares, 1, 0)
        };
        assert_eq!(split(9).unwrap().labeled.len(), 9);
        assert!(split(1).unwrap_err().is_usage());
        assert!(split(31).is_err());
    }

    #[test]
    fn a_number_of_rows_to_test_on_leaves_one_of_each_class() {
        let deal =
            |test, labels: &Labels| stratified_deal(labels, Some(Labeled::Count(test)), Labeled::Share(1.0), 1, 0);
        let split = deal(58, &labels(40, 20, 3)).unwrap();
        assert_eq!((split.test.len(), split.labeled.len(), split.unlabeled.len()), (58, 2, 3));
        assert!(deal(59, &labels(40, 20, 0)).is_err() && deal(1, &labels(40, 20, 0)).is_err());
        assert!(deal(2, &labels(40, 1, 0)).unwrap_err().to_string().contains("1 rows of class `b`"));
    }

    #[test]
    fn many_rows_are_dealt_as_one_by_one() {
        for classes in [vec![700, 290, 9, 1], vec![5, 3, 2], vec![1; 20], vec![1000, 1, 1, 1, 1, 1, 1, 1]] {
            let total = classes.iter().sum();
            for count in classes.len()..=total {
                let mut one_by_one = vec![1; classes.len()];
                for _ in classes.len()..count {
                    let lack =
                        |class: usize| count as f64 * classes[class] as f64 / total as f64 - one_by_one[class] as f64;
                    let open = (0..classes.len()).filter(|&class| one_by_one[class] < classes[class]);
                    let next = open.max_by(|&a, &b| lack(a).total_cmp(&lack(b)).then(b.cmp(&a))).unwrap();
                    one_by_one[next] += 1;
                }
                assert_eq!(in_proportion(count, &classes, total), one_by_one, "{count} of {classes:?}");
            }
        }
    }

    #[test]
    fn bad_shares_are_refused() {
        for test in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(stratified_split(&labels(9, 9, 0), Shares { test, labeled: Labeled::Share(0.5) }, 0, 0).is_err());
        }
    }
}

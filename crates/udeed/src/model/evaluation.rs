//! How well predictions agree with labels.

use serde::Serialize;

use crate::data::{Dense, Labels, Rows};
use crate::ensemble::vote::probabilities;
use crate::error::{Error, Place, Result};
use crate::model::class_at;

/// How well the predictions for some labeled rows agree with their labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// Number of rows with a label.
    pub n_rows: usize,
    /// The share of rows that are predicted right.
    pub accuracy: f64,
    /// The mean over the classes that occur of the share of their rows that are predicted right.
    pub balanced_accuracy: f64,
    /// The probability that a row of the second class is ranked above one of the first, ties counting half. Of more than two
    /// classes the mean over those that occur, each ranked by its probability against the rest: where all occur, scikit-learn's
    /// `roc_auc_score(y, p, multi_class="ovr")`. None where only one class occurs.
    pub auc: Option<f64>,
    /// The mean of `-ln` of the probability given to the right class, which is kept from 0 by 1e-15.
    pub log_loss: f64,
    /// The classes.
    pub classes: Vec<String>,
    /// `confusion[i][j]`: number of rows of class `i` that are predicted as class `j`.
    pub confusion: Vec<Vec<usize>>,
}

impl Evaluation {
    /// Compares decisions (see [`Model::decision`](crate::model::Model::decision)) with the labels of the same rows.
    ///
    /// # Errors
    /// If no row has a label, there are more classes in the labels than are known, or a decision is no number.
    ///
    /// ```
    /// use udeed::data::{Dense, Labels};
    /// use udeed::model::Evaluation;
    ///
    /// let labels = Labels::new([Some("a"), Some("b"), Some("b"), None]);
    /// let decisions = Dense::new(4, 1, vec![-0.5, 0.5, -0.1, 0.9])?;
    /// let evaluation = Evaluation::new(labels.classes(), &decisions, &labels)?;
    /// assert_eq!(evaluation.confusion, [[1, 0], [1, 1]]);
    /// assert_eq!(evaluation.balanced_accuracy, 0.75);
    /// assert_eq!(evaluation.auc, Some(1.0));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn new(classes: &[String], decisions: &Dense, labels: &Labels) -> Result<Self> {
        Self::at(0.0, classes, decisions, labels)
    }

    /// The same, if of two classes the second lies above a threshold.
    pub(crate) fn at(threshold: f64, classes: &[String], decisions: &Dense, labels: &Labels) -> Result<Self> {
        let n_classes = classes.len();
        if n_classes < 2 || labels.classes().len() > n_classes {
            let found = format!("{} classes", labels.classes().len().max(n_classes));
            return Err(Error::input(Place::new("the labels"), found, format!("{}", n_classes.max(2))));
        }
        let labeled = (0..labels.len()).filter_map(|i| labels.get(i).map(|class| (class, decisions.get(i))));
        let rows: Vec<(usize, &[f64])> = labeled.collect();
        if rows.is_empty() {
            return Err(Error::input(Place::new("the rows"), "no labeled row", "labels to compare with"));
        }
        if let Some(i) = (0..decisions.n_rows()).find(|&i| decisions.get(i).iter().any(|decision| decision.is_nan())) {
            let place = Place::new("the decisions").row(i as u64 + 1);
            return Err(Error::input(place, "NaN", "a number between -1 and 1"));
        }
        let mut confusion = vec![vec![0; n_classes]; n_classes];
        let mut loss = 0.0;
        for &(class, decision) in &rows {
            confusion[class][class_at(threshold, decision)] += 1;
            let right = match decision {
                [f] => 0.5 * if class == 1 { 1.0 + f } else { 1.0 - f },
                many => probabilities(many)[class],
            };
            loss -= libm::log(right.max(1e-15));
        }
        let right: usize = (0..n_classes).map(|class| confusion[class][class]).sum();
        let occurring = || confusion.iter().enumerate().filter(|(_, row)| row.iter().sum::<usize>() > 0);
        let recalls = occurring().map(|(class, row)| row[class] as f64 / row.iter().sum::<usize>() as f64);
        Ok(Evaluation {
            n_rows: rows.len(),
            accuracy: right as f64 / rows.len() as f64,
            balanced_accuracy: recalls.sum::<f64>() / occurring().count() as f64,
            auc: mean_auc(&rows),
            log_loss: loss / rows.len() as f64,
            classes: classes.to_vec(),
            confusion,
        })
    }
}

/// Of more than two classes, the mean over those that occur, each against the rest by its probability: a decision says how sure
/// its own members are, not how the others compare.
fn mean_auc(rows: &[(usize, &[f64])]) -> Option<f64> {
    if rows[0].1.len() == 1 {
        return auc(rows.iter().map(|&(class, decision)| (class, decision[0])).collect());
    }
    let shown: Vec<(usize, Vec<f64>)> =
        rows.iter().map(|&(class, decision)| (class, probabilities(decision))).collect();
    let against = |class: usize| auc(shown.iter().map(|(own, p)| (usize::from(*own == class), p[class])).collect());
    let areas: Vec<f64> = (0..shown[0].1.len()).filter_map(against).collect();
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

/// By Mann and Whitney's rank sum, equal decisions sharing their mean rank.
fn auc(mut rows: Vec<(usize, f64)>) -> Option<f64> {
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    let positive = rows.iter().filter(|row| row.0 == 1).count();
    let negative = rows.len() - positive;
    if positive == 0 || negative == 0 {
        return None;
    }
    let mut ranks = 0.0;
    let mut below = 0;
    for ties in rows.chunk_by(|a, b| a.1 == b.1) {
        let rank = below as f64 + 0.5 * (ties.len() + 1) as f64;
        ranks += rank * ties.iter().filter(|row| row.0 == 1).count() as f64;
        below += ties.len();
    }
    let least = 0.5 * positive as f64 * (positive + 1) as f64;
    Some((ranks - least) / (positive as f64 * negative as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_classes_than_are_known_are_refused() {
        let labels = Labels::new([Some("a"), Some("b"), Some("c")]);
        let decisions = Dense::new(3, 1, vec![0.0; 3]).unwrap();
        assert!(Evaluation::new(&labels.classes()[..2], &decisions, &labels).is_err());
    }

    #[test]
    fn three_classes_are_each_measured_against_the_rest() {
        let labels = Labels::new([Some("a"), Some("b"), Some("c"), Some("c")]);
        let decisions =
            Dense::new(4, 3, vec![0.5, -0.5, -1.0, -0.5, 0.0, -0.5, -1.0, -0.2, 0.6, -0.9, 0.2, 0.15]).unwrap();
        let figures = Evaluation::new(labels.classes(), &decisions, &labels).unwrap();
        assert_eq!(figures.confusion, [[1, 0, 0], [0, 1, 0], [0, 1, 1]]);
        assert_eq!(figures.accuracy, 0.75);
        assert!((figures.balanced_accuracy - 2.5 / 3.0).abs() < 1e-15);
        // By the decisions for b, the last row lies above that of b; by its probabilities, which c shares, below.
        assert_eq!(figures.auc, Some(1.0));
        let expected = -(0.75f64.ln() + 0.5f64.ln() + (0.8f64 / 1.2).ln() + (0.575f64 / 1.225).ln()) / 4.0;
        assert!((figures.log_loss - expected).abs() < 1e-12, "{} {expected}", figures.log_loss);
    }

    #[test]
    fn ties_count_half() {
        assert_eq!(auc(vec![(0, 0.5), (1, 0.5)]), Some(0.5));
        assert_eq!(auc(vec![(0, 0.1), (1, 0.1), (1, 0.9), (0, 0.0)]), Some(0.875));
        assert_eq!(auc(vec![(1, 0.5)]), None);
    }
}

//! What an automatic ensemble found out by the rows that its members were not fitted to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the out-of-bag rows chose, and how well it does on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// What was chosen of each view.
    pub views: Vec<ViewFound>,
    /// The share of the out-of-bag rows that the ensemble tells right.
    pub accuracy: f64,
    /// The same of logistic regressions on the labels alone.
    pub logistic: f64,
    /// How many rows were out of bag for some member.
    pub rows: usize,
    /// What the unlabeled rows did; none where they could only help to scale the features.
    pub changed: Option<Changed>,
}

/// What was chosen of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewFound {
    /// What it is called.
    pub view: String,
    /// What its members count, all views together 1.
    pub weight: f64,
    /// How much labels count against small weights in its members.
    pub lambda: f64,
}

/// How many predictions are other ones than the same labels give without the unlabeled rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// So many.
    pub rows: usize,
    /// Of so many unlabeled rows that were looked at.
    pub of: usize,
}

impl Findings {
    /// Half the width of the interval in which the accuracy lies with 95 % (Wilson's).
    ///
    /// ```
    /// let found = udeed::Findings { views: vec![], accuracy: 0.9, logistic: 0.8, rows: 100, changed: None };
    /// assert!((found.margin() - 0.059).abs() < 0.001);
    /// ```
    pub fn margin(&self) -> f64 {
        const Z: f64 = 1.96;
        let (p, n) = (self.accuracy, self.rows.max(1) as f64);
        Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24} {:>8} {:>10}", "view", "weight", "lambda")?;
        for ViewFound { view, weight, lambda } in &self.views {
            writeln!(f, "{view:<24} {:>6.1} % {lambda:>10.1}", 100.0 * weight)?;
        }
        writeln!(
            f,
            "out-of-bag accuracy {:.1} +- {:.1} % of {} rows\nlogistic regression on the labels alone {:.1} %",
            100.0 * self.accuracy,
            100.0 * self.margin(),
            self.rows,
            100.0 * self.logistic
        )?;
        match self.changed {
            None => f.write_str("the unlabeled rows helped to scale the features, no more"),
            Some(Changed { rows: 0, of }) => {
                write!(f, "the unlabeled rows changed no prediction, of {of} that were looked at")
            }
            Some(Changed { rows, of }) => {
                write!(f, "the unlabeled rows changed {rows} predictions of {of} that were looked at")
            }
        }
    }
}

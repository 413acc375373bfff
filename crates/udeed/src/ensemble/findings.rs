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
    /// What the unlabeled rows did; none where there are none, or nobody looked.
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

/// How many predictions are other ones than those of the views that labels alone make, at the weights these have among
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// So many.
    pub rows: usize,
    /// Of so many unlabeled rows that were looked at; 0 where no view looks at them.
    pub of: usize,
}

impl Findings {
    /// The interval in which the accuracy lies with 95 % (Wilson's). The rows also chose weights and lambdas, which flatters
    /// it a little.
    ///
    /// ```
    /// let found = udeed::Findings { views: vec![], accuracy: 0.9, logistic: 0.8, rows: 100, changed: None };
    /// let [low, high] = found.interval();
    /// assert!((low - 0.826).abs() < 0.001 && (high - 0.945).abs() < 0.001);
    /// ```
    pub fn interval(&self) -> [f64; 2] {
        const Z: f64 = 1.96;
        let (p, n) = (self.accuracy, self.rows.max(1) as f64);
        let scale = 1.0 / (1.0 + Z * Z / n);
        let (centre, half) = (p + Z * Z / (2.0 * n), Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt());
        [(scale * (centre - half)).max(0.0), (scale * (centre + half)).min(1.0)]
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24} {:>8} {:>10}", "view", "weight", "lambda")?;
        for ViewFound { view, weight, lambda } in &self.views {
            writeln!(f, "{view:<24} {:>6.1} % {lambda:>10.1}", 100.0 * weight)?;
        }
        if self.rows == 0 {
            f.write_str("no row was out of bag: nothing tells how well it does")?;
        } else {
            let [low, high] = self.interval().map(|bound| 100.0 * bound);
            write!(
                f,
                "out-of-bag accuracy {:.1} %, 95 % interval {low:.1} to {high:.1}, of {} rows\n\
                 logistic regressions on the labels alone {:.1} %",
                100.0 * self.accuracy,
                self.rows,
                100.0 * self.logistic
            )?;
        }
        match self.changed {
            None => Ok(()),
            Some(Changed { of: 0, .. }) => {
                f.write_str("\nno view looks at unlabeled rows: they helped to scale the features, no more")
            }
            Some(Changed { rows: 0, of }) => {
                write!(f, "\nthe unlabeled rows changed no prediction of {of} that were looked at")
            }
            Some(Changed { rows, of }) => {
                write!(f, "\nthe unlabeled rows changed {rows} of {of} predictions that were looked at")
            }
        }
    }
}

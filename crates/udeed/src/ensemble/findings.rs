//! Findings: what out-of-bag rows chose and how accurate the result is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Choices made by out-of-bag rows, and the accuracy on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Findings {
    /// The weight and the lambda of each view.
    pub views: Vec<ViewFound>,
    /// Out-of-bag accuracy of the ensemble: of all rows alike, whatever they weigh. 0 if there are none.
    pub accuracy: f64,
    /// Out-of-bag accuracy of logistic regressions on the labels alone.
    pub logistic: f64,
    /// Number of rows that are out of bag for some member.
    pub rows: usize,
    /// The effect of the unlabeled rows on predictions; none if there are no unlabeled rows or it was not measured.
    pub changed: Option<Changed>,
}

/// The chosen weight and lambda of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ViewFound {
    /// Name of the view.
    pub view: String,
    /// Weight of its members; the weights of all views sum to 1.
    pub weight: f64,
    /// Inverse regularisation strength of its members, the geometric mean where there are several; none for trees.
    pub lambda: Option<f64>,
}

/// Number of predictions that the unlabeled rows changed, compared with a mixture of the views that depend on labeled rows only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Changed {
    /// Predictions that changed.
    pub rows: usize,
    /// Unlabeled rows compared; 0 if no view uses them.
    pub of: usize,
}

impl Findings {
    /// Wilson's 95 % confidence interval of the accuracy. Slightly optimistic, because the same rows chose the weights and
    /// lambdas.
    pub fn interval(&self) -> [f64; 2] {
        wilson(self.accuracy, self.rows)
    }
}

/// Wilson's 95 % confidence interval of a share of `n` rows (E. Wilson, "Probable inference, the law of succession, and
/// statistical inference", JASA 22, 1927).
pub(crate) fn wilson(share: f64, n: usize) -> [f64; 2] {
    const Z: f64 = 1.96;
    let (p, n) = (share, n.max(1) as f64);
    let scale = 1.0 / (1.0 + Z * Z / n);
    let (centre, half) = (p + Z * Z / (2.0 * n), Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt());
    [(scale * (centre - half)).max(0.0), (scale * (centre + half)).min(1.0)]
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24} {:>8} {:>10}", "view", "weight", "lambda")?;
        for ViewFound { view, weight, lambda } in &self.views {
            let lambda = lambda.map_or_else(|| "-".into(), |lambda| format!("{lambda:.1}"));
            writeln!(f, "{view:<24} {:>6.1} % {lambda:>10}", 100.0 * weight)?;
        }
        if self.rows == 0 {
            f.write_str("no row is out of bag: the accuracy is unknown")?;
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
                f.write_str("\nno view is a graph of unlabeled rows: they only helped to scale the features")
            }
            Some(Changed { rows: 0, of }) => {
                write!(f, "\nthe unlabeled rows changed none of {of} predictions compared")
            }
            Some(Changed { rows, of }) => {
                write!(f, "\nthe unlabeled rows changed {rows} of {of} predictions compared")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let found = Findings { views: vec![], accuracy: 0.9, logistic: 0.8, rows: 100, changed: None };
        let [low, high] = found.interval();
        assert!((low - 0.826).abs() < 0.001 && (high - 0.945).abs() < 0.001, "{low} {high}");
    }

    /// The score method in table I of R. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
    /// Medicine 17, 1998.
    #[test]
    fn intervals_are_those_published() {
        let published = [
            (81, 263, [0.2553, 0.3662]),
            (15, 148, [0.0624, 0.1605]),
            (0, 20, [0.0, 0.1611]),
            (1, 29, [0.0061, 0.1718]),
        ];
        for (right, n, expected) in published {
            let found = wilson(f64::from(right) / f64::from(n), n as usize);
            let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.5e-4 + 1e-9);
            assert!(is_near, "{right} of {n}: {found:?}");
        }
    }
}

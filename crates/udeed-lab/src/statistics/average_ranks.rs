//! Average ranks of methods over data sets, with both of their tests.

use serde::Serialize;

use super::{Friedman, friedman, nemenyi_critical_difference};

/// Average ranks of methods over data sets: Friedman's test, and Nemenyi's test after it.
///
/// ```
/// use udeed_lab::statistics::AverageRanks;
///
/// let methods = ["logistic", "bagging", "lcud"].map(String::from).to_vec();
/// let ranks = AverageRanks::new(methods, &[[0.7, 0.8, 0.9], [0.5, 0.5, 0.6], [0.6, 0.9, 0.8]]).unwrap();
/// assert_eq!(ranks.sorted()[0], ("lcud", 4.0 / 3.0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AverageRanks {
    /// The methods.
    pub methods: Vec<String>,
    /// Friedman's test, with the average rank of each method.
    pub friedman: Friedman,
    /// Nemenyi's critical difference at 95 %: average ranks that differ by less are not significantly different.
    pub critical_difference: Option<f64>,
}

impl AverageRanks {
    /// Ranks methods by their scores; a row is a data set, a column a method, and higher is better.
    ///
    /// None where [`friedman()`] is, or where a row has not one score for each method.
    pub fn new<R: AsRef<[f64]>>(methods: Vec<String>, sets: &[R]) -> Option<Self> {
        let friedman = friedman(sets).filter(|friedman| friedman.average_ranks.len() == methods.len())?;
        let critical_difference = nemenyi_critical_difference(methods.len(), sets.len());
        Some(AverageRanks { methods, friedman, critical_difference })
    }

    /// The methods with their average ranks, the best first.
    pub fn sorted(&self) -> Vec<(&str, f64)> {
        let names = self.methods.iter().map(String::as_str);
        let mut ranked: Vec<(&str, f64)> = names.zip(self.friedman.average_ranks.iter().copied()).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked
    }
}

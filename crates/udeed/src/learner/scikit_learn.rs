//! What scikit-learn learned, for the tests. `tests/oracle/learners.py` made the figures.

use serde::Deserialize;

use crate::data::Dense;
use crate::learner::{Sample, TreeSettings};

#[derive(Deserialize)]
pub(super) struct Problem {
    pub(super) n_classes: usize,
    rows: Vec<Vec<f64>>,
    queries: Vec<Vec<f64>>,
    pub(super) classes: Vec<u8>,
    eighths: Vec<f64>,
    pub(super) trees: Vec<Grown>,
    /// Probabilities without weights and with.
    pub(super) bayes: [Vec<f64>; 2],
    pub(super) neighbors: Vec<Voted>,
}

#[derive(Deserialize)]
pub(super) struct Grown {
    pub(super) settings: TreeSettings,
    pub(super) weighted: bool,
    pub(super) features: Vec<u32>,
    pub(super) thresholds: Vec<f64>,
    pub(super) distributions: Vec<f64>,
}

#[derive(Deserialize)]
pub(super) struct Voted {
    pub(super) k: usize,
    pub(super) probabilities: Vec<f64>,
}

pub(super) fn problems() -> Vec<Problem> {
    let problems: Vec<Problem> = serde_json::from_str(include_str!("../../tests/oracle/learners.json")).unwrap();
    assert_eq!(problems.len(), 4);
    problems
}

fn dense(units: &[Vec<f64>]) -> Dense {
    let values = units.iter().flatten().map(|units| units / f64::from(1 << 20)).collect();
    Dense::new(units.len(), units[0].len(), values).unwrap()
}

impl Problem {
    pub(super) fn rows(&self) -> Dense {
        dense(&self.rows)
    }

    pub(super) fn queries(&self) -> Dense {
        dense(&self.queries)
    }

    pub(super) fn weights(&self, weighted: bool) -> Vec<f64> {
        self.eighths.iter().map(|eighths| if weighted { eighths / 8.0 } else { 1.0 }).collect()
    }

    pub(super) fn sample<'a>(&'a self, rows: &'a Dense, weights: &'a [f64]) -> Sample<'a> {
        Sample { rows, classes: &self.classes, n_classes: self.n_classes, weights, seed: 0 }
    }
}

/// Checks that numbers are those that are expected, up to a small difference.
pub(super) fn assert_near(found: &[f64], expected: &[f64], most: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= most, "{i}: found {found}, expected {expected}");
    }
}

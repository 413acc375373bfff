//! Logistic regressions against scikit-learn. `tests/oracle/logistic.py` made the figures.

use crate::data::Rows;
use crate::format::built_in;
use crate::learner::Logistic;
use crate::observer::Watch;
use crate::prepare::{Preparation, Scaling};
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    dataset: String,
    scaling: Scaling,
    lambda: f64,
    coefficients: Vec<f64>,
}

fn cases() -> Vec<Case> {
    let oracle: Oracle = serde_json::from_str(include_str!("../../../tests/oracle/logistic.json")).unwrap();
    assert!(oracle.cases.len() >= 8);
    oracle.cases
}

/// Fits a case on dense or sparse rows and returns the largest difference from scikit-learn's coefficients.
fn difference(case: &Case, sparse: bool) -> f64 {
    let sheet = built_in(&case.dataset).unwrap().read().unwrap();
    let features = Preparation::fit(&sheet.table, case.scaling).unwrap().apply(&sheet.table).unwrap();
    let targets: Vec<f64> =
        (0..sheet.labels.len()).map(|i| if sheet.labels.get(i) == Some(1) { 1.0 } else { -1.0 }).collect();
    let counts: Vec<f64> = (0..targets.len()).map(|i| ((7 * i + 3) % 4) as f64).collect();
    let rows = features.to_sparse();
    let rows: &dyn Rows = if sparse { &rows } else { features.rows() };
    let fit = Logistic::new(case.lambda).fit(rows, &targets, &counts, None, &Watch::new(&mut ())).unwrap();
    assert!(fit.distance <= Logistic::TOLERANCE, "{} Newton steps, {}", fit.steps, fit.distance);
    assert_eq!(fit.weights.len(), case.coefficients.len());
    // In this order NaN, which is less than no tolerance, is the largest.
    fit.weights.iter().zip(&case.coefficients).map(|(a, b)| (a - b).abs()).max_by(f64::total_cmp).unwrap()
}

#[test]
fn members_are_scikit_learns() {
    for case in cases() {
        let difference = difference(&case, false);
        assert!(difference < 1e-5, "{} {:?} lambda {}: {difference}", case.dataset, case.scaling, case.lambda);
    }
}

#[test]
fn sparse_members_are_scikit_learns() {
    for case in cases() {
        let difference = difference(&case, true);
        assert!(difference < 1e-5, "{} {:?} lambda {}: {difference}", case.dataset, case.scaling, case.lambda);
    }
}

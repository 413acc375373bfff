//! Comparisons of any classifiers, with the laboratory's tests and its report.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use udeed_lab::{ClassifierScores, Comparison, report};

use crate::ensemble::{from_json, to_json};

/// How each classifier of a comparison did against the reference: JSON in, JSON out.
#[pyfunction]
pub fn compare(comparison: &str, reference: &str) -> PyResult<String> {
    let comparison: Comparison = from_json(comparison)?;
    to_json(&comparison.standings(reference).map_err(exception)?)
}

/// The laboratory's page about a comparison.
#[pyfunction]
pub fn comparison_report(comparison: &str, reference: &str) -> PyResult<String> {
    report::comparison(&from_json(comparison)?, reference).map_err(exception)
}

/// Average ranks over data sets as JSON, and their critical-difference diagram as SVG.
#[pyfunction]
pub fn average_ranks(scores: &str, title: &str) -> PyResult<(String, String)> {
    let scores: Vec<ClassifierScores> = from_json(scores)?;
    let ranks = udeed_lab::average_ranks(&scores).map_err(exception)?;
    Ok((to_json(&ranks)?, report::critical_difference(&scores, title).map_err(exception)?))
}

fn exception(error: udeed_lab::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

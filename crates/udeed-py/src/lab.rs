//! Comparisons of any classifiers, with the laboratory's tests and its report.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use udeed_lab::{Contest, report};

use crate::ensemble::{from_json, to_json};

/// How each entrant of a contest did against the reference: JSON in, JSON out.
#[pyfunction]
pub fn compare(contest: &str, reference: &str) -> PyResult<String> {
    let contest: Contest = from_json(contest)?;
    to_json(&contest.standings(reference).map_err(exception)?)
}

/// The laboratory's page about a contest.
#[pyfunction]
pub fn contest_report(contest: &str, reference: &str) -> PyResult<String> {
    report::contest(&from_json(contest)?, reference).map_err(exception)
}

fn exception(error: udeed_lab::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

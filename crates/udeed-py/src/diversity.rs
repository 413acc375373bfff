//! The measures of diversity.

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use udeed::diversity::{Measure, Oracle};

use crate::ensemble::to_json;
use crate::observer::run;

/// The measures of an oracle matrix, one row a row and one column a member, as JSON.
#[pyfunction]
pub fn diversity(py: Python<'_>, oracle: PyReadonlyArray2<'_, bool>) -> PyResult<String> {
    let right = oracle.as_array();
    let (n_rows, n_members) = right.dim();
    let oracle = Oracle::new(n_members, n_rows, |member, row| right[[row, member]]);
    let (measures, _) = run(py, 1, false, None, move |_| oracle.measures())?;
    to_json(&measures)
}

/// The table of measures: the name of each, its title, and whether a higher value means more diverse members.
#[pyfunction]
pub fn measures() -> Vec<(&'static str, &'static str, bool)> {
    Measure::ALL.map(|measure| (measure.name(), measure.title(), measure.more_diverse_is_higher())).into()
}

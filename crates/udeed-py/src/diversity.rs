//! The ten measures of diversity.

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use udeed::Oracle;

use crate::ensemble::to_json;
use crate::observer::run;

/// The ten measures of an oracle matrix, one row a row and one column a member, as JSON.
#[pyfunction]
pub fn diversity(py: Python<'_>, oracle: PyReadonlyArray2<'_, bool>) -> PyResult<String> {
    let right = oracle.as_array();
    let (n_rows, n_members) = right.dim();
    let oracle = Oracle::new(n_members, n_rows, |member, row| right[[row, member]]);
    let (measures, _) = run(py, 1, false, None, move |_| oracle.measures())?;
    to_json(&measures)
}

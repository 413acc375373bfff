//! Settings of UDEED chosen by cross-validation.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use udeed::method::Method;
use udeed::observer::Observer;
use udeed::validation::Grid;

use crate::data::{Columns, Rows, check_labeled, train_set};
use crate::ensemble::{from_json, is_small, to_json};
use crate::error::exception;
use crate::observer::run;

/// Chooses settings. Returns those of the chosen method, its place among the candidates, and the candidates, all as JSON.
#[pyfunction]
#[pyo3(signature = (settings, grid, rows, columns, classes, codes, weights, balanced, folds, n_jobs, progress))]
#[allow(clippy::too_many_arguments)]
pub fn choose(
    py: Python<'_>,
    settings: &str,
    grid: &str,
    rows: Rows<'_>,
    columns: Option<Columns>,
    classes: Vec<String>,
    codes: PyReadonlyArray1<'_, i64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    balanced: bool,
    folds: Vec<Vec<usize>>,
    n_jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, usize, String)> {
    let Method::Udeed(settings) = from_json(settings)? else {
        return Err(PyValueError::new_err("settings: expected those of `udeed`"));
    };
    let grid: Grid = from_json(grid)?;
    let most = grid.members.iter().copied().max().unwrap_or(1);
    rows.check_width(most, classes.len())?;
    check_labeled(&codes, most)?;
    let places = places(codes.as_slice()?.len(), weights.as_ref())?;
    let folds: Vec<Vec<usize>> = folds.iter().map(|fold| moved(fold, &places)).collect::<PyResult<_>>()?;
    let train = train_set(&rows, columns, classes, &codes, weights, balanced)?;
    let is_small = is_small(&settings.clone().members(most).into(), &train);
    let work = move |observer: &mut dyn Observer| udeed::validation::choose(&settings, &grid, &train, &folds, observer);
    let (choice, _) = run(py, n_jobs, is_small, progress.as_ref(), work)?;
    let choice = choice.map_err(exception)?;
    Ok((to_json(&choice.method)?, choice.best, to_json(&choice.candidates)?))
}

/// Where each row is once those of weight 0, which are not there for the library, are gone.
fn places(n_rows: usize, weights: Option<&PyReadonlyArray1<'_, f64>>) -> PyResult<Vec<Option<usize>>> {
    let Some(weights) = weights else { return Ok((0..n_rows).map(Some).collect()) };
    let mut next = 0..n_rows;
    Ok(weights.as_slice()?.iter().map(|&weight| if weight > 0.0 { next.next() } else { None }).collect())
}

/// The rows of a fold by their new places.
fn moved(fold: &[usize], places: &[Option<usize>]) -> PyResult<Vec<usize>> {
    let outside =
        |row: usize| PyValueError::new_err(format!("a fold holds row {row}, expected one below {}", places.len()));
    let place = |&row: &usize| places.get(row).ok_or_else(|| outside(row));
    let found: Vec<&Option<usize>> = fold.iter().map(place).collect::<PyResult<_>>()?;
    Ok(found.into_iter().flatten().copied().collect())
}

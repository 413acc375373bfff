//! Settings of UDEED chosen by cross-validation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use udeed::method::Method;
use udeed::observer::Observer;
use udeed::validation::Grid;

use crate::data::Training;
use crate::device::put_on;
use crate::ensemble::{from_json, is_small, to_json};
use crate::error::exception;
use crate::observer::run;

/// Chooses settings. Returns those of the chosen method, its place among the candidates, and the candidates, all as JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (settings, grid, training, folds, n_jobs, listener, device = "cpu"))]
pub fn choose(
    py: Python<'_>,
    settings: &str,
    grid: &str,
    training: Training<'_>,
    folds: Vec<Vec<usize>>,
    n_jobs: usize,
    listener: Option<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<(String, usize, String)> {
    let Method::Udeed(settings) = put_on(py, from_json(settings)?, device)? else {
        return Err(PyValueError::new_err("settings: expected those of `udeed`"));
    };
    let grid: Grid = from_json(grid)?;
    let most = grid.members.iter().copied().max().unwrap_or(1);
    training.check_votes(most)?;
    let places = training.places()?;
    let folds: Vec<Vec<usize>> = folds.iter().map(|fold| moved(fold, &places)).collect::<PyResult<_>>()?;
    let train = training.train_set()?;
    let is_small = is_small(&settings.clone().members(most).into(), &train);
    let work = move |observer: &mut dyn Observer| udeed::validation::choose(&settings, &grid, &train, &folds, observer);
    let (choice, _) = run(py, n_jobs, is_small, listener.as_ref(), work)?;
    let choice = choice.map_err(exception)?;
    Ok((to_json(&choice.method)?, choice.best, to_json(&choice.candidates)?))
}

/// The rows of a fold by their new places.
fn moved(fold: &[usize], places: &[Option<usize>]) -> PyResult<Vec<usize>> {
    let outside =
        |row: usize| PyValueError::new_err(format!("a fold holds row {row}, expected one below {}", places.len()));
    let place = |&row: &usize| places.get(row).ok_or_else(|| outside(row));
    let found: Vec<&Option<usize>> = fold.iter().map(place).collect::<PyResult<_>>()?;
    Ok(found.into_iter().flatten().copied().collect())
}

//! Rows to label next, labels to doubt, and what further ones would bring.

use std::ops::ControlFlow;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use udeed::labeling::{Doubt, Expected, Forecast, Strategy, Suggest};
use udeed::method::Method;
use udeed::observer::{Observer, Step, Warning};

use crate::data::Training;
use crate::device::put_on;
use crate::ensemble::from_json;
use crate::error::exception;
use crate::foreign::put_learners;
use crate::model::Model;
use crate::observer::run;

/// The query strategies, each with what it does; the first is the default.
#[pyfunction]
pub fn strategies() -> Vec<(String, String)> {
    let default = Strategy::default();
    let others = Strategy::all().filter(|strategy| *strategy != default);
    std::iter::once(default).chain(others).map(|strategy| (strategy.to_string(), strategy.about())).collect()
}

/// Suggestions: positions, the columns `score`, `undecided`, `unlike` and `share`, predicted classes, and warnings.
type Suggested<'py> = (Bound<'py, PyArray1<i64>>, [Bound<'py, PyArray1<f64>>; 4], Vec<Option<String>>, Vec<String>);

/// Suggests rows to label, by a model or the settings of one to fit.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn suggest<'py>(
    py: Python<'py>,
    training: Training<'py>,
    model: Option<PyRef<'py, Model>>,
    settings: Option<&str>,
    learners: Vec<Bound<'py, PyAny>>,
    device: &str,
    strategy: &str,
    count: usize,
    per_class: Option<usize>,
    costs: Option<PyReadonlyArray1<'py, f64>>,
    seed: u64,
    n_jobs: usize,
) -> PyResult<Suggested<'py>> {
    let train = training.train_set_of(model.as_ref().map(|model| model.columns()))?;
    let model = model.map(|model| model.0.clone());
    // Rows of weight 0 are not there for the library.
    let kept: Vec<usize> = training.kept()?;
    let costs = match costs {
        Some(costs) => Some(costs.as_slice()?.to_vec()),
        None => None,
    };
    let costs = costs.map(|costs| kept.iter().filter_map(|&row| costs.get(row).copied()).collect());
    let strategy = Strategy::named(strategy).unwrap_or_default();
    let mut suggest = Suggest::new().count(count).strategy(strategy).per_class(per_class).costs(costs).seed(seed);
    if let Some(method) = method_of(py, settings, learners, device)? {
        suggest = suggest.method(method);
    }
    let (found, warnings) = run_told(py, n_jobs, move |told| suggest.suggest_observed(&train, model.as_deref(), told))?;
    let rows = found.suggestions.iter().map(|own| kept[own.row] as i64);
    let column =
        |value: fn(&udeed::labeling::Suggestion) -> f64| PyArray1::from_iter(py, found.suggestions.iter().map(value));
    Ok((
        PyArray1::from_iter(py, rows),
        [column(|own| own.score), column(|own| own.undecided), column(|own| own.unlike), column(|own| own.share)],
        found.suggestions.iter().map(|own| own.class.clone()).collect(),
        warnings,
    ))
}

/// Labels, the most doubtful first: positions, the probability of each, the number of the suggested class, the least and the
/// largest number of wrong ones, the number of those that nobody can judge, and warnings.
type Doubted<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i64>>,
    (usize, usize),
    usize,
    Vec<String>,
);

/// Ranks labels by how doubtful they are.
#[pyfunction]
pub fn doubt<'py>(py: Python<'py>, training: Training<'py>, seed: u64, n_jobs: usize) -> PyResult<Doubted<'py>> {
    let train = training.train_set()?;
    let kept = training.kept()?;
    let (found, warnings) = run_told(py, n_jobs, move |told| Doubt::new().seed(seed).find_observed(&train, told))?;
    let place = |name: &String| training.classes.iter().position(|class| class == name).unwrap_or_default() as i64;
    let labels = &found.labels;
    Ok((
        PyArray1::from_iter(py, labels.iter().map(|label| kept[label.row] as i64)),
        PyArray1::from_iter(py, labels.iter().map(|label| label.probability)),
        PyArray1::from_iter(py, labels.iter().map(|label| place(&label.suggested))),
        (*found.n_wrong.start(), *found.n_wrong.end()),
        found.n_unjudged,
        warnings,
    ))
}

/// A number of further labels, the accuracy, its interval, and that of the gain.
type ExpectedOf = (usize, f64, [f64; 2], [f64; 2]);

/// What is expected now and of further labels, the numbers of labels and accuracies that it rests on, whether it is open, and
/// warnings.
type Forecasted = (Vec<ExpectedOf>, Vec<(f64, f64)>, bool, Vec<String>);

/// Forecasts the accuracy that further labels would bring.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn forecast(
    py: Python<'_>,
    training: Training<'_>,
    more: Vec<usize>,
    settings: Option<&str>,
    learners: Vec<Bound<'_, PyAny>>,
    device: &str,
    repetitions: usize,
    seed: u64,
    n_jobs: usize,
) -> PyResult<Forecasted> {
    let train = training.train_set()?;
    let mut forecast = Forecast::new().more(more).repetitions(repetitions).seed(seed);
    if let Some(method) = method_of(py, settings, learners, device)? {
        forecast = forecast.method(method);
    }
    let (found, warnings) = run_told(py, n_jobs, move |told| forecast.forecast_observed(&train, told))?;
    let row = |expected: &Expected| (expected.more, expected.accuracy, expected.interval, expected.gain);
    let expected = std::iter::once(&found.now).chain(&found.expected).map(row).collect();
    let is_open = found.is_open();
    Ok((expected, found.curve, is_open, warnings))
}

/// The method of settings on a device, with its learners from Python; none without settings.
fn method_of(
    py: Python<'_>,
    settings: Option<&str>,
    learners: Vec<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<Option<Method>> {
    let Some(settings) = settings else { return Ok(None) };
    let mut method: Method = from_json(settings)?;
    put_learners(&mut method, learners)?;
    put_on(py, method, device).map(Some)
}

/// What long work finds, and its warnings.
fn run_told<R: Send + 'static>(
    py: Python<'_>,
    n_jobs: usize,
    work: impl FnOnce(&mut dyn Observer) -> udeed::Result<R> + Send + 'static,
) -> PyResult<(R, Vec<String>)> {
    let told = move |observer: &mut dyn Observer| {
        let mut told = Told { observer, warnings: Vec::new() };
        work(&mut told).map(|found| (found, told.warnings))
    };
    run(py, n_jobs, false, None, told)?.0.map_err(exception)
}

/// Passes everything on, and keeps warnings, each once.
struct Told<'a> {
    observer: &'a mut dyn Observer,
    warnings: Vec<String>,
}

impl Observer for Told<'_> {
    fn member(&mut self, done: usize, total: usize) -> ControlFlow<()> {
        self.observer.member(done, total)
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        self.observer.step(step)
    }

    fn warn(&mut self, warning: &Warning) {
        let warning = warning.to_string();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

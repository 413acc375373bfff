//! Methods that learn ensembles: all of them through one door, by the JSON of their settings.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use udeed::data::TrainSet;
use udeed::diversity::{Diversity, Oracle};
use udeed::ensemble::Shared;
use udeed::method::Method;
use udeed::method::card::Cards;
use udeed::model::Transduction;
use udeed::observer::{Observer, Step};
use udeed::validation::Threshold;

use crate::data::Training;
use crate::device::put_on;
use crate::distributed::put_elsewhere;
use crate::error::exception;
use crate::foreign::put_learners;
use crate::model::{Model, Table2, table2};
use crate::observer::run;

/// A step of the descent: stage, number, V_emp, V_div, V, and whether it was kept.
pub type History = Vec<(String, usize, f64, f64, f64, bool)>;

/// The cards of all methods and base learners, from which their classes are generated, as JSON.
#[pyfunction]
pub fn cards() -> PyResult<String> {
    to_json(&Cards::all())
}

/// The settings of a method with their defaults, as JSON.
#[pyfunction]
pub fn defaults(method: &str) -> PyResult<String> {
    to_json(&Method::named(method).map_err(exception)?)
}

/// The settings that differ from their defaults and do not change the ensemble, each with the reason.
#[pyfunction]
pub fn idle_settings(settings: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    Ok(from_json::<Method>(settings)?.idle_settings())
}

pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("settings: {error}")))
}

/// Into how many folds the labeled rows are dealt at most to choose a threshold, as the command does.
const FOLDS: usize = 5;

/// What a fit returns: the model, the steps of its descent, how diverse its members are on the labeled rows, and the
/// out-of-bag class probabilities of these where there are bootstraps.
type Fitted<'py> = (Model, History, String, Option<Table2<'py, f64>>);

/// Learns an ensemble. Of two classes the second lies above a threshold, a number or what labeled rows choose it by.
#[pyfunction]
#[pyo3(signature = (settings, training, threshold, n_jobs, listener, learners = Vec::new(), device = "cpu"))]
#[allow(clippy::too_many_arguments)]
pub fn fit<'py>(
    py: Python<'py>,
    settings: &str,
    training: Training<'_>,
    threshold: &str,
    n_jobs: usize,
    listener: Option<Bound<'_, PyAny>>,
    learners: Vec<Bound<'_, PyAny>>,
    device: &str,
) -> PyResult<Fitted<'py>> {
    let mut method: Method = from_json(settings)?;
    put_learners(&mut method, learners)?;
    method = put_on(py, method, device)?;
    if let Some(ask) = training.asker(py) {
        method = put_elsewhere(method, ask)?;
    }
    method.validate().map_err(exception)?;
    training.check_votes(method.shared().members)?;
    let train = training.train_set()?;
    let is_small = is_small(&method, &train);
    let goal: Threshold = threshold.parse().map_err(exception)?;
    let work = move |observer: &mut dyn Observer| {
        let (model, out_of_bag) = method.fit_keeping_rounds(&train, Transduction::MOST_ROWS, observer)?;
        let threshold = chosen_threshold(&model, goal, &train, observer)?;
        let model = model.with_threshold_on(&train, goal, threshold, observer)?;
        let diversity = diversity(&model, &train)?;
        Ok((model, diversity, out_of_bag))
    };
    let (learned, steps) = run(py, n_jobs, is_small, listener.as_ref(), work)?;
    let (model, diversity, out_of_bag) = learned.map_err(exception)?;
    let out_of_bag = out_of_bag.map(|estimates| table2(py, &estimates)).transpose()?;
    Ok((Model::new(model), steps.iter().map(history_of).collect(), to_json(&diversity)?, out_of_bag))
}

/// Whether no part of a fit takes long: a walk over all rows, a comparison of all with all, or of all members. All parts
/// together may, but between them it asks for Ctrl-C.
pub fn is_small(method: &Method, train: &TrainSet) -> bool {
    let Shared { members, fourier, .. } = method.shared();
    let n = train.table().n_rows();
    let features = if fourier > 0 { fourier } else { train.table().columns().len() };
    let heads = match train.labels().counts().len() {
        0..=2 => 1,
        classes => classes,
    };
    let hidden = if let Method::Udeed(settings) = method { settings.hidden.max(1) } else { 1 };
    let product = |factors: &[usize]| factors.iter().fold(1usize, |product, &factor| product.saturating_mul(factor));
    let walk = product(&[n, features, members, heads, hidden]);
    let comparisons = product(&[n, n]).saturating_add(product(&[members, members, n / 64 + 1]));
    // Rows in a file are not few.
    train.on_disk().is_none() && walk.saturating_add(comparisons) < 1 << 23
}

fn chosen_threshold(
    model: &udeed::model::Model,
    goal: Threshold,
    train: &TrainSet,
    observer: &mut dyn Observer,
) -> udeed::Result<f64> {
    let fewest = train.labels().counts().into_iter().filter(|&count| count > 0).min().unwrap_or(0);
    udeed::validation::choose_threshold(model, goal, train, FOLDS.min(fewest), observer)
}

/// A step as Python has it.
pub fn history_of(step: &Step) -> (String, usize, f64, f64, f64, bool) {
    let (stage, losses) = (format!("{:?}", step.stage).to_lowercase(), step.losses);
    (stage, step.step, losses.empirical, losses.diversity, losses.total, step.accepted)
}

/// How diverse the members are on the labeled training rows.
pub fn diversity(model: &udeed::model::Model, train: &TrainSet) -> udeed::Result<Diversity> {
    let labeled: Vec<usize> = (0..train.labels().len()).filter(|&i| train.labels().get(i).is_some()).collect();
    let rows = train.select(&labeled);
    let said = model.classify(rows.table())?;
    let m = model.ensemble().n_members();
    let labels = rows.labels().aligned(model.classes())?;
    let right = |member: usize, row: usize| labels.get(row) == Some(usize::from(said[row * m + member]));
    Ok(Oracle::new(m, labeled.len(), right).measures())
}

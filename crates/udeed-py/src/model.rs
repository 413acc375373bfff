//! What was learned.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use udeed::data::{Dense, Kind, Rows as _, Table};
use udeed::learner::Predict;
use udeed::model::Transduction;
use udeed::prepare::Unseen;

use crate::data::{Columns, Rows, Training, columns_of};
use crate::ensemble::to_json;
use crate::error::exception;
use crate::foreign::Member;
use crate::observer::run;

/// A row of weights for each member, and its constant; of more than two classes one table of them a class.
type Coefficients<'py> = (Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<f64>>);

/// What became of the training rows: the number of each class, probabilities, rounds, and whether each member gave a label.
type Transduced<'py> =
    (Bound<'py, PyArray1<i64>>, Table2<'py, f64>, Bound<'py, PyArray1<i64>>, Option<Table2<'py, bool>>);

/// A row for each row.
pub type Table2<'py, T> = Bound<'py, PyArray2<T>>;

/// Decisions, probabilities and numbers of classes.
type Told<'py> = (Table2<'py, f64>, Table2<'py, f64>, Bound<'py, PyArray1<i64>>);

/// The bytes of a model, and the classifiers from outside that are members, each with its number of classes.
type Parts<'py> = (Bound<'py, PyBytes>, Vec<(usize, Py<PyAny>)>);

/// The classifier that a member is.
fn as_member(predictor: &Arc<dyn Predict>) -> Option<&Member> {
    let any: &dyn Any = predictor.as_ref();
    any.downcast_ref()
}

/// A trained ensemble.
#[pyclass(frozen, module = "udeed._core")]
pub struct Model(pub Arc<udeed::model::Model>);

#[pymethods]
impl Model {
    /// The names of the classes, in the order of their numbers.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The columns that rows must have, with the levels of nominal ones.
    #[getter]
    pub fn columns(&self) -> Columns {
        columns_of(self.0.preparation().columns())
    }

    /// The names of the columns of words.
    #[getter]
    fn words(&self) -> Vec<String> {
        let columns = self.0.preparation().columns().iter();
        columns.filter(|column| column.kind != Kind::Numeric).map(|column| column.name.clone()).collect()
    }

    /// Whether the columns were named, not only numbered.
    #[getter]
    fn is_named(&self) -> bool {
        self.0.preparation().naming() == udeed::data::Naming::Given
    }

    /// The names of the features that the members see.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.0.preparation().features()
    }

    /// The method and its settings, as JSON.
    #[getter]
    fn settings(&self) -> PyResult<String> {
        to_json(self.0.method())
    }

    /// How the training went, as JSON.
    #[getter]
    fn training(&self) -> PyResult<String> {
        to_json(self.0.training())
    }

    /// What was worth knowing about the training.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.training().warnings.iter().map(ToString::to_string).collect()
    }

    /// What out-of-bag rows chose, in words.
    #[getter]
    fn findings(&self) -> Option<String> {
        self.0.training().findings.as_ref().map(ToString::to_string)
    }

    /// What it holds of the training rows, as JSON.
    #[getter]
    fn held_rows(&self) -> PyResult<String> {
        to_json(&self.0.held_rows())
    }

    /// What the vote of each member counts: one list, or one for the members of each class.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        let ensemble = self.0.ensemble();
        let n_parts = if ensemble.is_one_against_rest() { self.0.classes().len() } else { 1 };
        (0..n_parts).map(|part| PyArray1::from_slice(py, ensemble.weights(part))).collect()
    }

    /// The importance of each column; none where members are no trees.
    #[getter]
    fn feature_importances<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.0.feature_importances().map(|importances| PyArray1::from_vec(py, importances))
    }

    /// Above which decision a row is of the second of two classes.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// How many members there are.
    #[getter]
    fn n_members(&self) -> usize {
        self.0.ensemble().n_members()
    }

    /// The weights of the members for features as they are before scaling, and their constants; none where members are not
    /// linear.
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Option<Coefficients<'py>>> {
        let (preparation, m) = (self.0.preparation(), self.n_members());
        let Some(scores) = self.0.ensemble().scores(preparation.n_features()) else { return Ok(None) };
        let width = preparation.n_features();
        let (mut coefficients, mut constants) = (Vec::new(), Vec::new());
        // Classes whose boosting ended early have fewer members: the others say nothing, as their weights do.
        let silent = vec![0.0; width + 1];
        for member in scores.iter().flat_map(|members| members.iter().chain(std::iter::repeat(&silent)).take(m)) {
            let (weights, constant) = member.split_at(member.len() - 1);
            // Behind a Fourier feature map there is no way back: the weights are those of the mapped features.
            if preparation.fourier().is_some() {
                coefficients.extend_from_slice(weights);
                constants.push(constant[0]);
                continue;
            }
            let start = coefficients.len();
            coefficients.extend(weights.iter().zip(preparation.factors()).map(|(weight, factor)| weight * factor));
            let own = coefficients[start..].iter().zip(preparation.shifts());
            constants.push(constant[0] - own.map(|(weight, shift)| weight * shift).sum::<f64>());
        }
        let classes = if scores.len() > 1 { vec![scores.len()] } else { vec![] };
        let shape = |rest: &[usize]| [&classes, rest].concat();
        let coefficients = PyArray1::from_vec(py, coefficients).reshape(shape(&[m, width]))?;
        Ok(Some((coefficients, PyArray1::from_vec(py, constants).reshape(shape(&[m]))?)))
    }

    /// What rows hold that no training row has, in words.
    fn unseen(&self, rows: Rows<'_>) -> PyResult<Vec<String>> {
        let mut unseen = Unseen::default();
        unseen.add(self.0.preparation(), &rows.table(Some(self.columns()))?);
        Ok(unseen.warnings().map(|warning| warning.to_string()).collect())
    }

    /// What the vote says of each row: of two classes one column, between -1 and 1, of more one column a class.
    fn decision<'py>(&self, py: Python<'py>, rows: Rows<'py>, n_jobs: usize) -> PyResult<Table2<'py, f64>> {
        table2(py, &self.of_rows(py, &rows, n_jobs, udeed::model::Model::decision)?)
    }

    /// The probability of each class for each row, one column a class.
    fn probabilities<'py>(&self, py: Python<'py>, rows: Rows<'py>, n_jobs: usize) -> PyResult<Table2<'py, f64>> {
        table2(py, &self.of_rows(py, &rows, n_jobs, udeed::model::Model::predict_proba)?)
    }

    /// The number of the class of each row.
    fn predict<'py>(&self, py: Python<'py>, rows: Rows<'py>, n_jobs: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let work = |model: &udeed::model::Model, table: &Table| -> udeed::Result<Vec<i64>> {
            let decisions = model.decision(table)?;
            Ok((0..table.n_rows()).map(|i| model.class_of(decisions.get(i)) as i64).collect())
        };
        Ok(PyArray1::from_vec(py, self.of_rows(py, &rows, n_jobs, work)?))
    }

    /// Decisions, probabilities and numbers of classes of each row, by one look at the rows.
    fn told<'py>(&self, py: Python<'py>, rows: Rows<'py>, n_jobs: usize) -> PyResult<Told<'py>> {
        let work = |model: &udeed::model::Model, table: &Table| -> udeed::Result<(Dense, Dense, Vec<i64>)> {
            let decisions = model.decision(table)?;
            let classes = (0..table.n_rows()).map(|i| model.class_of(decisions.get(i)) as i64).collect();
            let probabilities = model.probabilities(&decisions)?;
            Ok((decisions, probabilities, classes))
        };
        let (decisions, probabilities, classes) = self.of_rows(py, &rows, n_jobs, work)?;
        Ok((table2(py, &decisions)?, table2(py, &probabilities)?, PyArray1::from_vec(py, classes)))
    }

    /// Whether each class is among those that a row may be of, at a coverage in each class.
    fn sets<'py>(&self, py: Python<'py>, rows: Rows<'py>, coverage: f64, n_jobs: usize) -> PyResult<Table2<'py, bool>> {
        let n_classes = self.0.classes().len();
        let work = move |model: &udeed::model::Model, table: &Table| -> udeed::Result<Vec<bool>> {
            let sets = model.predict_set(table, coverage)?;
            let row = |set: &Vec<usize>| (0..n_classes).map(|class| set.contains(&class)).collect::<Vec<bool>>();
            Ok(sets.iter().flat_map(row).collect())
        };
        let found = self.of_rows(py, &rows, n_jobs, work)?;
        let n_rows = found.len() / n_classes;
        PyArray1::from_vec(py, found).reshape([n_rows, n_classes])
    }

    /// The classes that are in every set at a coverage, for want of labels.
    fn too_few_for(&self, coverage: f64) -> PyResult<Vec<String>> {
        let names = self.0.too_few_for(coverage).map_err(exception)?;
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Whether the probabilities are calibrated.
    #[getter]
    fn is_calibrated(&self) -> bool {
        self.0.is_calibrated()
    }

    /// The number of the class that each member gives each row.
    fn classify<'py>(&self, py: Python<'py>, rows: Rows<'py>, n_jobs: usize) -> PyResult<Table2<'py, u8>> {
        let m = self.n_members();
        rows.check_votes(m)?;
        let said = self.of_rows(py, &rows, n_jobs, udeed::model::Model::classify)?;
        let n_rows = said.len() / m;
        PyArray1::from_vec(py, said).reshape([n_rows, m])
    }

    /// Whether it keeps what became of the training rows.
    #[getter]
    fn keeps_rows(&self) -> bool {
        self.0.n_kept_rows() > 0
    }

    /// Whether it may keep what became of these: not of very many.
    fn may_keep(&self, training: Training<'_>) -> PyResult<bool> {
        let n_rows = training.kept()?.len() + training.n_more();
        if training.has_elsewhere() {
            return Ok(false);
        }
        if training.n_more() > 0 && training.train_set_of(Some(self.columns()))?.on_disk().is_some() {
            return Ok(false);
        }
        Ok(Transduction::holds(Transduction::MOST_ROWS, n_rows, self.0.classes().len()))
    }

    /// The same model, which keeps what became of the rows that it was trained on.
    fn keeping_rows(&self, py: Python<'_>, training: Training<'_>, n_jobs: usize) -> PyResult<Model> {
        let (model, train) = (self.0.clone(), training.train_set_of(Some(self.columns()))?);
        let kept = run(py, n_jobs, false, None, move |_| model.keep_rows(&train))?.0;
        kept.map(Model::new).map_err(exception)
    }

    /// What became of the training rows, where that is kept.
    fn transduction<'py>(&self, py: Python<'py>) -> PyResult<Option<Transduced<'py>>> {
        let Some(found) = self.0.transduction().map_err(exception)? else { return Ok(None) };
        let m = self.n_members();
        let by = found.by.map(|by| {
            let gave = by.iter().flat_map(|by| (0..m).map(move |member| by.contains(&member)));
            PyArray1::from_iter(py, gave).reshape([by.len(), m])
        });
        let classes = found.classes.iter().map(|&class| class as i64);
        Ok(Some((
            PyArray1::from_iter(py, classes),
            table2(py, &found.probabilities)?,
            PyArray1::from_vec(py, found.rounds),
            by.transpose()?,
        )))
    }

    /// The ensemble before the descent, where there was one.
    fn initial(&self) -> Option<Model> {
        self.0.initial().map(Model::new)
    }

    /// Logistic regression on the labels alone.
    fn logistic(&self) -> Model {
        Model::new(self.0.logistic())
    }

    /// The model as an ONNX graph.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_onnx().map_err(exception)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(exception)?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        udeed::model::Model::from_bytes(bytes).map(Model::new).map_err(exception)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(exception)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| udeed::model::Model::load(path)).map(Model::new).map_err(exception)
    }

    /// The classifiers from outside that are members.
    #[getter]
    fn foreign(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.0.foreign().iter().filter_map(as_member).map(|own| own.member.clone_ref(py)).collect()
    }

    /// The bytes of a model, and the classifiers from outside that belong to it.
    #[staticmethod]
    fn from_parts(bytes: &[u8], foreign: Vec<(usize, Py<PyAny>)>) -> PyResult<Self> {
        let member = |(n_classes, member)| Arc::new(Member::new(member, n_classes)) as Arc<dyn Predict>;
        let foreign = foreign.into_iter().map(member).collect();
        udeed::model::Model::from_parts(bytes, foreign).map(Model::new).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (bytes, foreign) = self.0.to_parts().map_err(exception)?;
        let foreign = foreign.iter().filter_map(as_member);
        let foreign = foreign.map(|own| (own.n_classes, own.member.clone_ref(py))).collect();
        Ok((py.get_type::<Model>().getattr("from_parts")?, (PyBytes::new(py, &bytes), foreign)))
    }

    fn __eq__(&self, other: &Model) -> bool {
        self.0 == other.0
    }
}

impl Model {
    pub fn new(model: udeed::model::Model) -> Self {
        Model(Arc::new(model))
    }

    /// What the library makes of rows. Those without names have the columns of the model, in its order.
    fn of_rows<T: Send + 'static>(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        n_jobs: usize,
        work: impl FnOnce(&udeed::model::Model, &Table) -> udeed::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        /// What a model says of so few rows takes milliseconds at most, unless it asks stored neighbours or classifiers from
        /// outside: to start threads for it would take as long.
        const FEW_ROWS: usize = 16;
        let (model, table) = (self.0.clone(), rows.table(Some(self.columns()))?);
        let is_short = rows.n_rows() <= FEW_ROWS && model.held_rows().neighbors == 0 && model.foreign().is_empty();
        let n_jobs = if is_short { 1 } else { n_jobs };
        run(py, n_jobs, is_short, None, move |_| work(&model, &table))?.0.map_err(exception)
    }
}

/// Rows of numbers for Python.
pub fn table2<'py>(py: Python<'py>, values: &Dense) -> PyResult<Table2<'py, f64>> {
    PyArray1::from_slice(py, values.values()).reshape([values.n_rows(), values.n_columns()])
}

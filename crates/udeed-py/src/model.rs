//! What was learned.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use udeed::{Kind, Table};

use crate::data::{Columns, Rows};
use crate::ensemble::to_json;
use crate::error::exception;
use crate::observer::{Reporter, run};

/// A row of weights for each member, and its constant.
type Coefficients<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// A trained ensemble.
#[pyclass(frozen, module = "udeed._core")]
pub struct Model(pub Arc<udeed::Model>);

#[pymethods]
impl Model {
    /// The names of the classes, in the order of their numbers.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    /// The columns that rows must have, with the levels of nominal ones.
    #[getter]
    fn columns(&self) -> Columns {
        let levels = |kind: &Kind| match kind {
            Kind::Nominal { levels } => Some(levels.clone()),
            Kind::Numeric => None,
        };
        self.0.preparation().columns().iter().map(|column| (column.name.clone(), levels(&column.kind))).collect()
    }

    /// Whether the columns were named, not only numbered.
    #[getter]
    fn is_named(&self) -> bool {
        self.0.preparation().naming() == udeed::Naming::Given
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

    /// What the vote of each member counts.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.weights())
    }

    /// The weights of the members for features as they are before scaling, and their constants.
    fn coefficients<'py>(&self, py: Python<'py>) -> PyResult<Coefficients<'py>> {
        let (preparation, members) = (self.0.preparation(), self.0.members());
        let (mut coefficients, mut constants) = (Vec::new(), Vec::new());
        for k in 0..members.n_members() {
            let weights = members.weights_of(k);
            let (weights, constant) = weights.split_at(weights.len() - 1);
            let scaled = weights.iter().zip(preparation.factors()).map(|(weight, factor)| weight * factor);
            let start = coefficients.len();
            coefficients.extend(scaled);
            let own = coefficients[start..].iter().zip(preparation.shifts());
            constants.push(constant[0] - own.map(|(weight, shift)| weight * shift).sum::<f64>());
        }
        let shape = [members.n_members(), members.n_features()];
        Ok((PyArray1::from_vec(py, coefficients).reshape(shape)?, PyArray1::from_vec(py, constants)))
    }

    /// What the vote says of each row, between -1 and 1.
    fn decision<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        columns: Option<Columns>,
        n_jobs: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let decisions = self.with_table(py, &rows, columns, n_jobs, udeed::Model::decision)?;
        Ok(PyArray1::from_slice(py, decisions.values()))
    }

    /// Whether each member takes each row for the second class.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        columns: Option<Columns>,
        n_jobs: usize,
    ) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let m = self.0.members().n_members();
        rows.check_votes(m)?;
        let classify = |model: &udeed::Model, table: &Table| {
            model.preparation().apply(table).map(|features| model.members().classify(features.rows()))
        };
        let said = self.with_table(py, &rows, columns, n_jobs, classify)?;
        let n_rows = said.len() / m;
        PyArray1::from_vec(py, said).reshape([n_rows, m])
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
        udeed::Model::from_bytes(bytes).map(Model::new).map_err(exception)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(exception)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| udeed::Model::load(path)).map(Model::new).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Model>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __eq__(&self, other: &Model) -> bool {
        self.0 == other.0
    }
}

impl Model {
    pub fn new(model: udeed::Model) -> Self {
        Model(Arc::new(model))
    }

    /// Does something with rows, on threads of its own.
    fn with_table<T: Send + 'static>(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        columns: Option<Columns>,
        n_jobs: usize,
        work: impl FnOnce(&udeed::Model, &Table) -> udeed::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        rows.check_width(self.0.members().n_members())?;
        let table = match columns {
            Some(columns) => rows.table(Some(columns))?,
            None => self.named(rows)?,
        };
        let model = self.0.clone();
        run(py, n_jobs, None, move |_: &mut Reporter<_>| work(&model, &table))?.0.map_err(exception)
    }

    /// Rows without names have the columns of the model, in its order.
    fn named(&self, rows: &Rows<'_>) -> PyResult<Table> {
        rows.table(Some(self.columns()))
    }
}

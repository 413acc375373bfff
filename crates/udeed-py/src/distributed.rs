//! The parts of a fit whose unlabeled rows lie in other processes.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use udeed::data::{Blocks as _, Spill};
use udeed::method::Method;
use udeed::method::udeed::{DiversityTerm, Elsewhere, Partial};
use udeed::{Error, Result};

use crate::data::{Columns, Rows, columns_of};
use crate::ensemble::{from_json, to_json};
use crate::error::exception;
use crate::observer::{in_python, run};

/// What `__reduce__` answers: a function, and the bytes that it makes the same object from.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// An object of a class whose `from_bytes` reads these bytes.
fn pickled<'py, T: PyTypeInfo>(py: Python<'py>, bytes: &[u8]) -> PyResult<Pickled<'py>> {
    Ok((py.get_type::<T>().getattr("from_bytes")?, (PyBytes::new(py, bytes),)))
}

/// Statistics of columns, which add up.
#[pyclass(frozen, module = "udeed._core")]
pub struct Statistics(pub udeed::data::Statistics);

#[pymethods]
impl Statistics {
    /// Those of some rows, with exact sums or rounded ones.
    #[staticmethod]
    fn of(rows: Rows<'_>, exact: bool) -> PyResult<Self> {
        let table = rows.table(None)?;
        let found = if exact { udeed::data::Statistics::exact_of(&table) } else { udeed::data::Statistics::of(&table) };
        found.map(Statistics).map_err(exception)
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn __add__(&self, other: &Statistics) -> PyResult<Self> {
        let mut sum = self.0.clone();
        sum.merge(&other.0).map_err(exception)?;
        Ok(Statistics(sum))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        udeed::data::Statistics::from_bytes(bytes).map(Statistics).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, &self.0.to_bytes())
    }
}

/// What makes rows ready.
#[pyclass(frozen, module = "udeed._core")]
pub struct Preparation(udeed::prepare::Preparation);

#[pymethods]
impl Preparation {
    /// The preparation that follows from the statistics of all rows, for the method of some settings.
    #[staticmethod]
    fn of(settings: &str, statistics: &Statistics) -> PyResult<Self> {
        let scaling = from_json::<Method>(settings)?.shared().scaling;
        udeed::prepare::Preparation::of(&statistics.0, scaling).map(Preparation).map_err(exception)
    }

    /// The columns that rows must have, with the levels of nominal ones; none where they are numbered.
    #[getter]
    fn columns(&self) -> Option<Columns> {
        (self.0.naming() == udeed::data::Naming::Given).then(|| columns_of(self.0.columns()))
    }

    #[getter]
    fn n_columns(&self) -> usize {
        self.0.columns().len()
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        udeed::prepare::Preparation::from_bytes(bytes).map(Preparation).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        pickled::<Self>(py, &self.0.to_bytes())
    }
}

/// Makes rows ready and writes them into a file, batch by batch. Returns their number and checksum.
#[pyfunction]
pub fn spill(
    py: Python<'_>,
    path: PathBuf,
    preparation: &Preparation,
    batches: &Bound<'_, PyIterator>,
) -> PyResult<(usize, u32)> {
    let mut writer = Spill::writer(&path).map_err(exception)?;
    for batch in batches {
        let table = batch?.extract::<Rows<'_>>()?.table(None)?;
        let rows = preparation.0.apply(&table).map_err(exception)?;
        writer.push(&rows).map_err(exception)?;
        py.check_signals()?;
    }
    let written = writer.finish().map_err(exception)?;
    Ok((written.shape().0, written.checksum()))
}

/// Reads all rows of a file, and compares their checksum with that of when they were written.
#[pyfunction]
pub fn verify(path: PathBuf) -> PyResult<()> {
    Spill::open(&path).and_then(|spill| spill.verify()).map_err(exception)
}

/// The sums of a term, as JSON, over the rows of a file with this checksum, as bytes.
#[pyfunction]
pub fn partial<'py>(
    py: Python<'py>,
    path: PathBuf,
    checksum: u32,
    term: &str,
    weights: PyReadonlyArray1<'py, f64>,
    n_jobs: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (term, weights): (DiversityTerm, Vec<f64>) = (from_json(term)?, weights.as_slice()?.to_vec());
    let work = move |_: &mut dyn udeed::observer::Observer| {
        let rows = Spill::open(&path)?;
        rows.check(checksum)?;
        term.partial(&rows, &weights)
    };
    let sums = run(py, n_jobs, false, None, work)?.0.map_err(exception)?;
    Ok(PyBytes::new(py, &sums.to_bytes()))
}

/// Half of the memory of this machine or process, in bytes: what rows may take.
#[pyfunction]
pub fn half_of_memory() -> u64 {
    udeed::memory::half_of_memory()
}

/// Runs the descent of a method on what a function answers: it gets a term as JSON and weights, and returns sums over parts of the
/// rows.
pub fn put_elsewhere(method: Method, ask: Py<PyAny>) -> PyResult<Method> {
    let ask = Arc::new(ask);
    let answer = move |term: &DiversityTerm, weights: &[f64]| -> Result<Vec<Partial>> {
        let (ask, term, weights) = (ask.clone(), to_json(term).map_err(Error::learner)?, weights.to_vec());
        let sums = in_python(move |py| -> PyResult<Vec<Vec<u8>>> {
            let answered = ask.bind(py).call1((term, PyArray1::from_vec(py, weights)))?;
            answered.try_iter()?.map(|part| part?.extract()).collect()
        });
        let sums = sums.ok_or(Error::Stopped)?.map_err(Error::learner)?;
        sums.iter().map(|part| Partial::from_bytes(part)).collect()
    };
    method.on(Arc::new(Elsewhere::new(answer))).map_err(exception)
}

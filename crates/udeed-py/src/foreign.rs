//! Classifiers of scikit-learn, and what behaves like one, as base learners: `_foreign.py` has what is said to them.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use udeed::data::{Dense, Row, Rows};
use udeed::learner::{Base, Hypothesis, Learner, Predict, Sample};
use udeed::method::Method;
use udeed::{Error, Result};

use crate::observer::in_python;

/// The module that speaks with classifiers.
const MODULE: &str = "udeed._foreign";

/// Gives the places of a method for classifiers these, in their order.
pub fn put_learners(method: &mut Method, learners: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    let places = method.bases_mut().into_iter().filter_map(|base| match base {
        Base::Foreign(place) => Some(place),
        _ => None,
    });
    for (place, learner) in places.zip(learners) {
        let takes_weights = learner.py().import(MODULE)?.call_method1("takes_weights", (&learner,))?.extract()?;
        place.put(Arc::new(Classifier { learner: Arc::new(learner.unbind()), takes_weights }));
    }
    Ok(())
}

/// A classifier to be cloned and fitted.
struct Classifier {
    /// Shared, so that threads without the interpreter can hand it on.
    learner: Arc<Py<PyAny>>,
    takes_weights: bool,
}

impl Learner for Classifier {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        // Without weights, rows are repeated or drawn.
        let chosen = if self.takes_weights { sample.weighted()? } else { sample.resampled()? };
        let rows = Handed::new(sample.rows, &chosen);
        let classes: Vec<i64> = chosen.iter().map(|&row| i64::from(sample.classes[row])).collect();
        let weights = self.takes_weights.then(|| chosen.iter().map(|&row| sample.weights[row]).collect::<Vec<f64>>());
        let (seed, learner) = (sample.seed, self.learner.clone());
        let fitted = in_python(move |py| -> PyResult<Py<PyAny>> {
            let weights = weights.map(|weights| weights.into_pyarray(py));
            let arguments = (learner.bind(py), rows.into_python(py)?, classes.into_pyarray(py), weights, seed);
            Ok(py.import(MODULE)?.call_method1("fit", arguments)?.unbind())
        });
        let member = fitted.ok_or(Error::Stopped)?.map_err(Error::learner)?;
        Ok(Hypothesis::foreign(sample.n_classes, Member::new(member, sample.n_classes)))
    }
}

/// A fitted classifier.
pub struct Member {
    pub member: Arc<Py<PyAny>>,
    pub n_classes: usize,
}

impl Member {
    pub fn new(member: Py<PyAny>, n_classes: usize) -> Self {
        Member { member: Arc::new(member), n_classes }
    }
}

impl Predict for Member {
    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        let (n_rows, n_classes) = (rows.n_rows(), self.n_classes);
        let rows = Handed::new(rows, &(0..n_rows).collect::<Vec<usize>>());
        let member = self.member.clone();
        let found = in_python(move |py| -> PyResult<Vec<f64>> {
            let arguments = (member.bind(py), rows.into_python(py)?, n_classes);
            let found = py.import(MODULE)?.call_method1("probabilities", arguments)?;
            Ok(found.extract::<PyReadonlyArray2<'_, f64>>()?.as_array().iter().copied().collect())
        });
        let values = found.ok_or(Error::Stopped)?.map_err(Error::learner)?;
        Dense::new(n_rows, n_classes, values)
    }
}

/// Rows on their way to Python.
enum Handed {
    Dense { width: usize, values: Vec<f64> },
    Sparse { width: usize, starts: Vec<i64>, columns: Vec<i64>, values: Vec<f64> },
}

impl Handed {
    fn new(rows: &dyn Rows, chosen: &[usize]) -> Self {
        let (width, mut values) = (rows.n_columns(), Vec::new());
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for &i in chosen {
            match rows.row(i) {
                Row::Dense(row) => values.extend_from_slice(row),
                Row::Sparse { columns: own, values: stored } => {
                    columns.extend(own.iter().map(|&column| i64::from(column)));
                    values.extend_from_slice(stored);
                    starts.push(values.len() as i64);
                }
            }
        }
        if rows.is_sparse() {
            return Handed::Sparse { width, starts, columns, values };
        }
        Handed::Dense { width, values }
    }

    /// An array, or the parts of a sparse one as the package hands them over itself.
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Handed::Dense { width, values } => {
                let n_rows = values.len() / width.max(1);
                let rows: Bound<'_, PyArray2<f64>> = PyArray1::from_vec(py, values).reshape([n_rows, width])?;
                rows.into_any()
            }
            Handed::Sparse { width, starts, columns, values } => {
                let parts = (width, starts.into_pyarray(py), columns.into_pyarray(py), values.into_pyarray(py));
                parts.into_pyobject(py)?.into_any()
            }
        })
    }
}

//! Splits of labeled rows that keep the shares of the classes.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use udeed::data::{Labeled, Labels, stratified_deal};

use crate::error::exception;

/// A number of rows, or a share of them.
#[derive(FromPyObject)]
pub enum Amount {
    Count(usize),
    Share(f64),
}

impl From<Amount> for Labeled {
    fn from(amount: Amount) -> Self {
        match amount {
            Amount::Count(count) => Labeled::Count(count),
            Amount::Share(share) => Labeled::Share(share),
        }
    }
}

/// Row numbers that ascend.
type Numbers<'py> = Bound<'py, PyArray1<i64>>;

/// Deals the labeled rows out as `udeed data split` does. Returns the rows that keep their labels, the unlabeled ones and
/// those to test on.
#[pyfunction]
#[pyo3(signature = (classes, codes, test, labeled, seed, repetition))]
pub fn stratified_split<'py>(
    py: Python<'py>,
    classes: Vec<String>,
    codes: PyReadonlyArray1<'py, i64>,
    test: Option<Amount>,
    labeled: Amount,
    seed: u64,
    repetition: u32,
) -> PyResult<(Numbers<'py>, Numbers<'py>, Numbers<'py>)> {
    let codes = codes.as_slice()?.iter().map(|&code| usize::try_from(code).ok());
    let labels = Labels::with_classes(classes, codes).map_err(exception)?;
    let split = stratified_deal(&labels, test.map(Into::into), labeled.into(), seed, repetition).map_err(exception)?;
    let numbers = |rows: Vec<usize>| rows.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py);
    Ok((numbers(split.labeled), numbers(split.unlabeled), numbers(split.test)))
}

//! The library's errors as Python exceptions.

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use udeed::{Error, MemberPlace};

use crate::hints::worded;

pyo3::create_exception!(udeed, FitStopped, PyRuntimeError, "A callback ended a fit before there was an ensemble.");

/// The exception for an error, with its hint if there is one for Python.
pub fn exception(error: Error) -> PyErr {
    let hint = error.hint().and_then(worded);
    let message = match &error {
        // scikit-learn's name for it.
        Error::Setting { name, found, expected } if name == "lambda" => format!("`C` is {found}, expected {expected}"),
        _ => error.to_string(),
    };
    let message = match hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message,
    };
    match error {
        Error::Io { cause, .. } => match cause.raw_os_error() {
            // With its number Python chooses the class, such as FileNotFoundError.
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        Error::NotConverged { .. } | Error::Device { .. } => PyRuntimeError::new_err(message),
        Error::Stopped => FitStopped::new_err(message),
        Error::Learner { at, cause } => match cause.downcast::<PyErr>() {
            Ok(raised) => noted(*raised, &at),
            Err(_) => PyValueError::new_err(message),
        },
        _ => PyValueError::new_err(message),
    }
}

/// What a base learner raised, as it is, with a note of where that was.
fn noted(raised: PyErr, at: &MemberPlace) -> PyErr {
    let place = at.to_string();
    Python::attach(|py| {
        if !place.is_empty() {
            let note = format!("udeed: the base learner failed at {}", place.trim_end_matches(": "));
            // Python 3.10 has no notes.
            let _ = raised.value(py).call_method1("add_note", (note,));
        }
    });
    raised
}

/// A panic, which is always a bug.
pub fn bug(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("a bug in udeed, please report it: {text}"))
}

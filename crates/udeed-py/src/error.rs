//! The library's errors as Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use udeed::Error;

use crate::hints::worded;

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
        Error::NotConverged { .. } => PyRuntimeError::new_err(message),
        Error::Stopped => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// A panic, which is always a bug.
pub fn bug(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("a bug in udeed, please report it: {text}"))
}

//! The device that a parameter names.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use udeed::method::Method;
use udeed::method::udeed::Device;

use crate::error::exception;

/// Devices by the names that they were asked for. They stay open as long as the process: to open a card for every fit of a search
/// would take longer than most of these.
static OPEN: Mutex<Vec<(String, Arc<dyn Device>)>> = Mutex::new(Vec::new());

/// The method on a device, which is opened if it was not; `cpu` is none.
pub fn put_on(py: Python<'_>, method: Method, device: &str) -> PyResult<Method> {
    if device == "cpu" {
        return Ok(method);
    }
    method.check_device(device).map_err(exception)?;
    match py.detach(|| opened(device)).map_err(exception)? {
        Some(device) => method.on(device).map_err(exception),
        None => Ok(method),
    }
}

fn opened(name: &str) -> udeed::Result<Option<Arc<dyn Device>>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, device)) = open.iter().find(|(known, _)| known == name) {
        return Ok(Some(device.clone()));
    }
    let Some(device) = named(name)? else { return Ok(None) };
    open.push((name.to_owned(), device.clone()));
    Ok(Some(device))
}

#[cfg(feature = "cuda")]
fn named(name: &str) -> udeed::Result<Option<Arc<dyn Device>>> {
    Ok(udeed_cuda::Cuda::named(name)?.map(|cuda| Arc::new(cuda) as Arc<dyn Device>))
}

#[cfg(not(feature = "cuda"))]
fn named(name: &str) -> udeed::Result<Option<Arc<dyn Device>>> {
    let found = "a package that was built without the feature `cuda`";
    Err(udeed::Error::device(name, found, "one with it", Some(udeed::Hint::OtherDevice)))
}

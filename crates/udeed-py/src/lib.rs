//! The extension module `udeed._core`: what the Python package needs of the library, and no more.
//!
//! The files mirror those of the library. Nothing here decides anything: the estimators are Python, generated
//! from the cards of the methods; the arithmetic is the library's. What is here is the seam: arrays are lent and not copied,
//! the interpreter is free while Rust works, and every error is a Python exception.

mod data;
mod device;
mod distributed;
mod diversity;
mod ensemble;
mod error;
mod foreign;
mod hints;
mod lab;
mod labeling;
mod model;
mod observer;
mod selection;
mod split;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::data::{Held, bootstraps, doubtful_classes, hold, hold_file, shuffles};
    #[pymodule_export]
    use crate::distributed::{Preparation, Statistics, half_of_memory, partial, spill, verify};
    #[pymodule_export]
    use crate::diversity::{diversity, measures};
    #[pymodule_export]
    use crate::ensemble::{cards, defaults, fit, idle_settings};
    #[pymodule_export]
    use crate::error::FitStopped;
    #[pymodule_export]
    use crate::lab::{average_ranks, compare, comparison_report};
    #[pymodule_export]
    use crate::labeling::{doubt, forecast, strategies, suggest};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::selection::choose;
    #[pymodule_export]
    use crate::split::stratified_split;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

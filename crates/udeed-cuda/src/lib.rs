//! The descent of UDEED on NVIDIA cards.
//!
//! ```no_run
//! use std::sync::Arc;
//! use udeed::prelude::*;
//! use udeed_cuda::Cuda;
//!
//! let train = built_in("ionosphere")?.read()?.into_train()?;
//! let model = Udeed::new().on(Arc::new(Cuda::open(None)?)).fit(&train)?;
//! # Ok::<(), udeed::Error>(())
//! ```
//!
//! Nothing of CUDA is needed to build this crate, and nothing is loaded before [`Cuda::open`], which looks for the driver: the
//! kernels are committed as PTX, which the driver compiles for its card. It takes dense rows, linear members, any loss but
//! `printed`, any number of members, features and heads, in both precisions. What it does not take is refused, never done
//! elsewhere.
//!
//! # What is promised
//!
//! * The same bits on the same model of card with the same driver: sums are taken in an order that only the shapes of the rows
//!   and of the ensemble decide.
//! * Against the processor, the gradient is within 1e-12 of its largest element in double precision, and 1e-5 in single; where
//!   weights make scores large, within as many times that.
//!
//! Rows are sent once for a descent, and all of them must fit into the memory of the card.

mod descent;
mod driver;
mod kernels;
mod rows;

use udeed::{Error, Result};

#[doc(hidden)]
pub use descent::{Evaluated, evaluated};

/// An NVIDIA card.
#[derive(Debug)]
pub struct Cuda {
    card: driver::Card,
}

impl Cuda {
    /// Opens a card by its number, or the first one.
    ///
    /// # Errors
    /// If there is no driver, no such card, or it is too old; the message says which.
    pub fn open(number: Option<usize>) -> Result<Self> {
        Ok(Cuda { card: driver::Card::open(number)? })
    }

    /// Opens the card that a text names: `cuda`, or `cuda:0`. None for `cpu`, which needs none.
    ///
    /// # Errors
    /// If it is another text, or the card cannot be opened.
    ///
    /// ```
    /// assert!(udeed_cuda::Cuda::named("cpu")?.is_none());
    /// let error = udeed_cuda::Cuda::named("gpu").unwrap_err();
    /// assert_eq!(error.to_string(), "`device` is `gpu`, expected `cpu`, `cuda` or `cuda:N`");
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Option<Self>> {
        let number = match name.split_once(':') {
            None if name == "cpu" => return Ok(None),
            None if name == "cuda" => Some(None),
            Some(("cuda", number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok().map(Some),
            _ => None,
        };
        let expected = "`cpu`, `cuda` or `cuda:N`";
        let unknown =
            || Error::Setting { name: "device".into(), found: format!("`{name}`"), expected: expected.into() };
        Ok(Some(Cuda::open(number.ok_or_else(unknown)?)?))
    }
}

//! Labels: which rows to label next ([`Suggest`]), which labels to doubt ([`Doubt`]), what further ones would bring
//! ([`Forecast`]), and how labeling goes on ([`Session`]).
//!
//! ```
//! use udeed::labeling::Suggest;
//! use udeed::prelude::*;
//!
//! let train = built_in("ionosphere")?.read()?.into_train()?.hide_labels(&(20..351).collect::<Vec<usize>>());
//! let found = Suggest::new().count(5).suggest(&train, None)?;
//! for suggestion in &found.suggestions {
//!     println!("label row {}: {:.1} % of what is unknown", suggestion.row + 1, 100.0 * suggestion.share);
//! }
//! assert_eq!(found.suggestions.len(), 5);
//! # Ok::<(), udeed::Error>(())
//! ```

mod candidates;
mod committee;
mod doubt;
mod forecast;
mod gaussian_process;
mod learning_curve;
mod rounds;
mod session;
mod settings;
mod strategy;
mod suggest;

pub use doubt::{Doubt, DoubtedLabel, Doubts};
pub use forecast::{Expected, Forecast, Forecasts};
pub use rounds::{Round, Rounds};
pub use session::{Answer, Entry, Estimate, Origin, Point, Progress, Question, Reply, Session};
pub use strategy::Strategy;
pub use suggest::{Suggest, Suggestion, Suggestions};

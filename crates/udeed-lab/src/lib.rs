//! Experiments around the library `udeed`: what turns many fits on many splits of many data sets into a statement that
//! can be trusted. Methods meet on the same splits, their figures are compared in pairs, and what is reported is not only
//! which mean is higher but whether the difference is more than luck.
//!
//! An [`Experiment`] says what is compared, [`run()`] runs it (and goes on where a killed run was, by a [`Journal`]),
//! [`Results`] holds what came out with its [`statistics`], [`paper`] the figures of the UDEED paper beside it.
//!
//! ```
//! use udeed_lab::{Experiment, Journal, Results, Set, run};
//!
//! let data = udeed::built_in("house")?.read()?.into_train()?;
//! let sets = [Set { name: "house".into(), data }];
//! let experiment = Experiment { splits: 3, ..Experiment::default() };
//! let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
//! let results = Results::new(&experiment, &sets, &trials, "an example")?;
//! assert_eq!(results.outcomes.len(), 5);
//! assert!(results.outcomes.iter().all(|outcome| outcome.mean > 0.8));
//! # Ok::<(), udeed_lab::Error>(())
//! ```

mod contest;
mod error;
mod experiment;
mod journal;
pub mod paper;
pub mod report;
mod results;
mod run;
pub mod statistics;
pub mod tables;

pub use contest::{Against, Contest, Entrant, Standing};
pub use error::{Error, Hint, Result};
pub use experiment::{Contender, Experiment, Scale, Set, Showcase, Trial};
pub use journal::Journal;
pub use results::{Comparison, DiversityOutcome, Outcome, Ranking, Results, SetSummary};
pub use run::run;

//! Experiments with the library `udeed`: methods are compared on the same random splits of many data sets, by paired
//! tests. A report says which mean is higher, and whether the difference is significant.
//!
//! An [`Experiment`] holds the methods, the splits and the settings. [`run()`] runs it and resumes a killed run by a
//! [`Journal`]. [`Results`] holds the accuracies with their [`statistics`], and [`paper`] the numbers of the UDEED
//! paper. A [`Comparison`] takes the scores of any other classifiers.
//!
//! ```
//! use udeed_lab::statistics::DecidingTest;
//! use udeed_lab::{Experiment, Journal, Results, Set, run};
//!
//! let data = udeed::format::built_in("house")?.read()?.into_train()?;
//! let sets = [Set { name: "house".into(), data }];
//! let experiment = Experiment { splits: 3, ..Experiment::default() };
//! let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
//! let results = Results::new(&experiment, &sets, &trials, "an example", DecidingTest::Corrected)?;
//! assert_eq!(results.outcomes.len(), 5);
//! assert!(results.outcomes.iter().all(|outcome| outcome.mean > 0.8));
//! # Ok::<(), udeed_lab::Error>(())
//! ```

mod comparison;
mod error;
mod experiment;
mod journal;
pub mod paper;
mod protocol;
pub mod report;
mod results;
mod run;
pub mod statistics;
pub mod tables;

pub use comparison::{ClassifierScores, Comparison, Standing, average_ranks};
pub use error::{Error, Hint, Result};
pub use experiment::{Baseline, Entry, Experiment, Scale, Set, Showcase, Trial, Variation};
pub use journal::{Damaged, Journal};
pub use protocol::{Choice, Protocol, Source};
pub use results::{DiversityOutcome, MethodComparison, Outcome, Ranking, Results, SetSummary};
pub use run::run;

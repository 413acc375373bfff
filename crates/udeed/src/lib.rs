//! Ensembles that are accurate on labeled rows and diverse on unlabeled ones.
//!
//! You have a table in which a few rows carry a label and many do not. This crate learns from all of them: it implements
//! **UDEED** ("Unlabeled Data to Enhance Ensemble Diversity", Zhang and Zhou, ICDM 2010), an ensemble of logistic
//! regressions that starts as bagging on the labeled rows and is then moved, by gradient descent on one loss, so that its
//! members stay accurate where labels are known and disagree where none are.
//!
//! # A complete example
//!
//! ```
//! use udeed::{Reader, Udeed, Model, built_in};
//!
//! # fn main() -> udeed::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("model.safetensors");
//! // Rows and labels: from a file with `Reader`, from memory with `Table` and `Labels`, or a built-in set.
//! let sheet = built_in("ionosphere")?.read()?;
//! let all: Vec<usize> = (0..sheet.labels.len()).collect();
//! let (train, test) = all.split_at(176);
//!
//! // Pretend that only the first 44 rows were ever labeled.
//! let test = sheet.clone().into_train()?.select(test);
//! let train = sheet.into_train()?.select(train).hide_labels(&train[44..]);
//!
//! let model = Udeed::new()        // the paper's defaults
//!     .members(20)
//!     .gamma(2.0)
//!     .seed(7)
//!     .fit(&train)?;
//! let gained = model.evaluate(test.table(), test.labels())?;
//! let labels_alone = model.logistic().evaluate(test.table(), test.labels())?;
//! println!("{:.3} with unlabeled rows, {:.3} without", gained.accuracy, labels_alone.accuracy);
//!
//! model.save(&path)?;
//! let model = Model::load(&path)?;
//! let probabilities = model.predict_proba(test.table())?;
//! # assert_eq!(probabilities.values().len(), 2 * 175);
//! # Ok(())
//! # }
//! ```
//!
//! # The way of the data
//!
//! [`Reader`] turns a CSV, ARFF or LIBSVM file into a [`Table`] (columns with names and kinds, dense or sparse) and
//! [`Labels`] (some of them missing). [`Udeed`] holds the settings; its [`fit`](Udeed::fit) learns a [`Preparation`]
//! (missing values, nominal columns, scaling), the initial members, and descends. The [`Model`] that comes out predicts,
//! is evaluated beside what the labels alone give, and is saved as one safetensors file. An [`Observer`] sees every step
//! of a fit; the crate itself never prints.
//!
//! # What is promised
//!
//! One seed gives the same bits, whatever the number of threads and the instruction set (which [`check_instructions`]
//! tells more about). A file, a setting or a table
//! that makes no sense is an [`Error`] that says where, what was found and what was expected; never a panic.

mod data;
mod diversity;
mod ensemble;
mod error;
mod file;
mod fit;
mod format;
mod kernel;
mod learner;
mod linalg;
mod memory;
mod method;
mod model;
mod neighbors;
mod observer;
mod parallel;
mod prepare;
mod random;
mod tensor;
mod text;
mod validation;
mod view;
mod words;

pub use data::{
    Block, Blocks, Buffer, Column, Csr, Dense, DiskTable, HeldTable, Kind, Labeled, Labels, Matrix, Naming, Row, Rows,
    Shares, Split, Table, TrainSet, stratified_folds, stratified_split,
};
pub use diversity::{Diversity, Measure, Oracle};
pub use ensemble::{Changed, Emphasis, Ensemble, Findings, Members, Shared, ViewFound, Vote};
pub use error::{Error, Hint, Place, Result};
pub use file::{check_writable, write_file};
pub use fit::InitialEnsemble;
pub use format::{BuiltIn, Format, HeldSheet, Layout, Reader, Sheet, Writer, built_in};
pub use kernel::check_instructions;
pub use learner::{
    Base, Bayes, Criterion, GaussianBayes, Hypothesis, Learner, LearnerCard, LearnerSetting, Linear, Logistic,
    LogisticFit, NearestNeighbors, Neighbors, Network, Sample, SplitFeatures, Tree, TreeSettings,
};
pub use memory::{Room, check_memory, half_of_memory};
pub use method::adaboost::ZeroError;
pub use method::auto::Prior;
pub use method::card::{Kind as SettingKind, Range, Setting};
pub use method::semiboost::Pick;
pub use method::ssmboost::UnlabeledMargin;
pub use method::udeed::{EnsembleLoss, Initial, Loss, Objective, Precision, Variant};
pub use method::*;
pub use model::{Evaluation, Model, Training};
pub use observer::{Losses, Observer, Stage, StageSummary, Step, Stop, Warning};
pub use prepare::{FourierMap, Preparation, Scaling};
pub use text::{byte_size, quoted, shown};
pub use validation::{
    Candidate, Choice, CrossValidation, Grid, choose, choose_threshold, cross_validate, cross_validate_at,
};
pub use view::View;

/// What `bench/` looks at besides the interface. No part of it: it may change in any release.
#[doc(hidden)]
pub mod bench {
    use crate::kernel::{Real, vectorized};

    /// The kernel's `tanh(z / 2)`, in place: the bound of a step needs its speed.
    pub fn tanh_half(scores: &mut [f64]) {
        vectorized(|| scores.iter_mut().for_each(|z| *z = z.tanh_half()));
    }

    /// The same in single precision.
    pub fn tanh_half_single(scores: &mut [f32]) {
        vectorized(|| scores.iter_mut().for_each(|z| *z = z.tanh_half()));
    }

    /// How often each row is drawn for a member of a bagged ensemble: peers are fitted on the same draws.
    pub fn bootstrap(targets: &[f64], seed: u64, member: u32) -> Vec<u8> {
        let classes: Vec<u8> = targets.iter().map(|&target| u8::from(target > 0.0)).collect();
        crate::ensemble::bootstrap(&classes, seed, member)
    }
}

//! Semi-supervised classification with ensembles: learning from a few labeled rows and many unlabeled ones.
//!
//! The crate is built around **UDEED** ("Exploiting Unlabeled Data to Enhance Ensemble Diversity", Zhang and Zhou, ICDM
//! 2010). Its members are logistic regressions, fitted to bootstraps of the labeled rows as in bagging. Gradient descent
//! on one loss then keeps them accurate on the labeled rows and makes them differ on the unlabeled ones. The other
//! methods share its data types, its preparation and its models: [`Auto`], which needs no tuning; the supervised baselines
//! [`Bagging`], [`AdaBoost`] and [`Stacking`]; and semi-supervised boosting, self-training, co-training and their
//! relatives, see [`Method`].
//!
//! # A complete example
//!
//! ```
//! use udeed::prelude::*;
//!
//! # fn main() -> udeed::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("model.safetensors");
//! // Rows and labels come from a file with `Reader`, from memory with `Table` and `Labels`, or from a built-in set.
//! let sheet = built_in("ionosphere")?.read()?;
//! let all: Vec<usize> = (0..sheet.labels.len()).collect();
//! let (train, test) = all.split_at(176);
//!
//! // Of the training rows, only the first 44 keep their labels.
//! let test = sheet.clone().into_train()?.select(test);
//! let train = sheet.into_train()?.select(train).hide_labels(&train[44..]);
//!
//! // The defaults are those of the paper.
//! let model = Udeed::new().members(20).seed(7).fit(&train)?;
//!
//! // Every model also holds the baseline: logistic regression on the labels alone.
//! let ensemble = model.evaluate(test.table(), test.labels())?;
//! let baseline = model.logistic().evaluate(test.table(), test.labels())?;
//! println!("accuracy {:.3}, labels alone {:.3}", ensemble.accuracy, baseline.accuracy);
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
//! 1. **Read.** A [`Reader`] turns a CSV, ARFF, LIBSVM or Parquet file into a [`Sheet`]: a [`Table`] of named columns,
//!    numeric or nominal, dense or sparse, and its [`Labels`], some of them missing. Together they are a [`TrainSet`]. Unlabeled
//!    rows that exceed the memory stay in a file.
//! 2. **Prepare.** A [`Preparation`] is fitted to all training rows: it fills missing values, encodes nominal columns and
//!    scales the features. It is saved with the model, so that new rows are prepared in the same way.
//! 3. **Learn.** The settings of a method, such as [`Udeed`] or [`Bagging`], are a struct with one setter each;
//!    [`Method`] is any of them, and [`MethodCard`] describes each for programs that list them. `fit` trains the members,
//!    [base learners](learner::Base) such as logistic regression or trees, and combines them in an [`Ensemble`]. An [`Observer`]
//!    follows the fit and can end it.
//! 4. **Use.** A [`Model`] predicts classes and probabilities, is evaluated beside its baseline, and is saved as one
//!    safetensors file.
//!
//! [`cross_validate`] estimates the accuracy of a method from the labeled rows, [`choose`] its settings, and
//! [`choose_threshold`] the decision threshold; [`Diversity`] measures how much the members differ. [`Suggest`] says which rows
//! to label next, [`Doubt`] which labels may be wrong, and [`Forecast`] what further ones would bring.
//!
//! # What is promised
//!
//! * **Reproducible.** The same random seed gives the same bits for any number of threads and on any instruction set, see
//!   [`check_instructions`].
//! * **No panic on bad input.** A file, table or setting that is invalid gives an [`Error`], which says where, what was
//!   found and what was expected.
//! * **Silent.** The library never prints. Progress and warnings go to the [`Observer`], warnings also into the model.
//!
//! [`AdaBoost`]: method::AdaBoost
//! [`Auto`]: method::Auto
//! [`Bagging`]: method::Bagging
//! [`Diversity`]: diversity::Diversity
//! [`Doubt`]: labeling::Doubt
//! [`Forecast`]: labeling::Forecast
//! [`Ensemble`]: ensemble::Ensemble
//! [`Labels`]: data::Labels
//! [`Method`]: method::Method
//! [`MethodCard`]: method::MethodCard
//! [`Model`]: model::Model
//! [`Observer`]: observer::Observer
//! [`Preparation`]: prepare::Preparation
//! [`Reader`]: format::Reader
//! [`Sheet`]: format::Sheet
//! [`Stacking`]: method::Stacking
//! [`Suggest`]: labeling::Suggest
//! [`Table`]: data::Table
//! [`TrainSet`]: data::TrainSet
//! [`Udeed`]: method::Udeed
//! [`choose`]: validation::choose
//! [`choose_threshold`]: validation::choose_threshold
//! [`cross_validate`]: validation::cross_validate

pub mod data;
pub mod diversity;
pub mod ensemble;
mod error;
pub mod file;
pub mod fit;
pub mod format;
mod kernel;
pub mod labeling;
pub mod learner;
mod linalg;
pub mod memory;
pub mod method;
pub mod model;
mod neighbors;
pub mod observer;
mod parallel;
pub mod prepare;
mod random;
pub mod setting;
mod tensor;
pub mod text;
pub mod validation;
mod view;
mod words;

pub use error::{Error, Hint, MemberPlace, Place, Result};
pub use kernel::check_instructions;

/// What most programs need: `use udeed::prelude::*`.
pub mod prelude {
    pub use crate::data::{Csr, Dense, Labels, Matrix, Table, TrainSet};
    pub use crate::error::{Error, Result};
    pub use crate::format::{Reader, built_in};
    pub use crate::learner::Base;
    pub use crate::method::all::*;
    pub use crate::method::udeed::Variant;
    pub use crate::method::{Lambda, Method};
    pub use crate::model::Model;
    pub use crate::observer::{Observer, Step};
    pub use crate::prepare::Scaling;
    pub use crate::validation::cross_validate;
}

/// Internals that benchmarks measure, and tests redo by hand. Not part of the public interface: may change in any release.
#[doc(hidden)]
pub mod bench {
    use crate::kernel::{Real, vectorized};
    use crate::random::{Purpose, Stream};

    /// The kernel's `tanh(z / 2)`, in place: its speed bounds that of a step.
    pub fn tanh_half(scores: &mut [f64]) {
        vectorized(|| scores.iter_mut().for_each(|z| *z = z.tanh_half()));
    }

    /// `tanh_half` in single precision.
    pub fn tanh_half_single(scores: &mut [f32]) {
        vectorized(|| scores.iter_mut().for_each(|z| *z = z.tanh_half()));
    }

    /// The bootstrap of a member: how often each row is drawn. Other libraries are measured on the same draws.
    pub fn bootstrap(targets: &[f64], seed: u64, member: u32) -> Vec<u8> {
        let classes: Vec<u8> = targets.iter().map(|&target| u8::from(target > 0.0)).collect();
        crate::ensemble::bootstrap(&classes, seed, member)
    }

    /// Tri-training's shuffles of the given lengths, from one stream.
    pub fn shuffles(seed: u64, lengths: &[usize]) -> Vec<Vec<usize>> {
        let mut stream = Stream::new(seed, Purpose::Boosting, 0);
        let shuffled = |&length: &usize| {
            let mut order: Vec<usize> = (0..length).collect();
            stream.shuffle(&mut order);
            order
        };
        lengths.iter().map(shuffled).collect()
    }
}

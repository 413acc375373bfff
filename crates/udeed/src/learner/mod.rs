//! Base learners, one file each.

mod cholesky;
mod logistic;

pub use logistic::{Logistic, LogisticFit};

//! Methods that learn ensembles, one file each, and what they share.

mod adaboost;
mod assemble;
mod bagging;
mod members;
mod method;
mod objective;
mod observer;
mod prepared;
mod semiboost;
mod settings;
mod udeed;

pub use adaboost::{AdaBoost, Emphasis, ZeroError};
pub use assemble::Assemble;
pub use bagging::Bagging;
pub use members::Members;
pub use method::{Method, Shared};
pub use objective::{EnsembleLoss, Loss, Losses, Objective, Precision};
pub use observer::{Observer, Stage, StageSummary, Step, Stop, Training, Warning};
pub use semiboost::{Pick, SemiBoost};
pub use udeed::{Initial, InitialEnsemble, Udeed, Variant, Vote};

pub(crate) use bagging::bootstrap;
pub(crate) use method::Learn;
pub(crate) use prepared::Prepared;

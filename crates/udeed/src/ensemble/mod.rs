//! Methods that learn ensembles, one file each, and what they share.

mod initial;
mod members;
mod objective;
mod observer;
mod udeed;

pub use initial::InitialEnsemble;
pub use members::Members;
pub use objective::{EnsembleLoss, Loss, Losses, Objective};
pub use observer::{Observer, Stage, Step, Stop, Warning};
pub use udeed::{Initial, StageSummary, Training, Udeed, Variant, Vote};

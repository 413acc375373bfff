//! What methods are built from: training rows, bootstraps, members, votes, boosting, pseudo-labels.

pub(crate) mod boosting;
pub(crate) mod bootstrap;
pub(crate) mod calibration;
mod findings;
pub(crate) mod forest;
pub(crate) mod held_out;
mod label_rounds;
mod lambda;
mod learned;
mod linear_members;
pub(crate) mod mixed_members;
pub(crate) mod out_of_bag;
pub(crate) mod pseudo_labels;
pub(crate) mod training_rows;
pub(crate) mod vote;

pub use boosting::Emphasis;
pub use bootstrap::draw_bootstraps;
pub(crate) use findings::wilson;
pub use findings::{Changed, Findings, ViewFound};
pub use lambda::Lambda;
pub use linear_members::Members;
pub use training_rows::Shared;
pub use vote::{Ensemble, Vote};

pub(crate) use bootstrap::{
    bootstrap, bootstrapped, bootstraps, bootstraps_of_distinct, has_two_classes, stratified_bootstraps,
};
pub(crate) use held_out::HeldOut;
pub(crate) use label_rounds::LabelRounds;
pub(crate) use learned::Learned;
pub(crate) use mixed_members::{Group, Mapped};
pub(crate) use training_rows::TrainingRows;
pub(crate) use vote::{LEAST_PROBABILITY, Part, Rule, Voters};

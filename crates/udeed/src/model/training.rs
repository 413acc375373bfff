//! How a model was trained.

use serde::{Deserialize, Serialize};

use crate::ensemble::Findings;
use crate::observer::{StageSummary, Stop, Warning};

/// How a model was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Training {
    /// Rows with a label.
    pub n_labeled: usize,
    /// Number of them in each class.
    pub class_counts: Vec<usize>,
    /// Rows without a label.
    pub n_unlabeled: usize,
    /// Number of features after preparation, the constant one left out.
    pub n_features: usize,
    /// The stages of the descent.
    pub stages: Vec<StageSummary>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// What was chosen by out-of-bag rows, where a method does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Findings>,
}

impl Training {
    /// Whether an observer ended the descent.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stages.iter().any(|stage| stage.stop == Stop::Observer)
    }
}

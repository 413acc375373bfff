//! The result of a method.

use crate::data::Dense;
use crate::ensemble::{Ensemble, Findings};
use crate::observer::{StageSummary, Warning, Watch};

/// The result of a method: an ensemble, and how it was learned.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    pub(crate) ensemble: Ensemble,
    /// The ensemble before a descent.
    pub(crate) initial: Option<Ensemble>,
    pub(crate) stages: Vec<StageSummary>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) findings: Option<Findings>,
    /// The out-of-bag class probabilities of the labeled rows, where learning needed them anyway.
    pub(crate) out_of_bag: Option<Dense>,
}

impl Learned {
    /// Reports a warning to the observer and records it in the model, once.
    pub(crate) fn warn(&mut self, warning: impl IntoIterator<Item = Warning>, watch: &Watch<'_>) {
        for warning in warning {
            if !self.warnings.contains(&warning) {
                watch.warn(&warning);
                self.warnings.push(warning);
            }
        }
    }
}

impl From<Ensemble> for Learned {
    fn from(ensemble: Ensemble) -> Self {
        Learned { ensemble, initial: None, stages: Vec::new(), warnings: Vec::new(), findings: None, out_of_bag: None }
    }
}

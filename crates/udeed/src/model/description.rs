//! The description of a model: everything in its file but numbers, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Column, Naming};
use crate::ensemble::{Rule, Vote};
use crate::learner::StoredHypothesis;
use crate::method::Method;
use crate::model::Training;
use crate::prepare::Scaling;
use crate::view::Decay;

/// The version of the file format. Files of other versions are refused.
pub(super) const FORMAT: u32 = 2;

/// The description of a model.
#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) format: u32,
    pub(super) written_by: String,
    pub(super) classes: Vec<String>,
    pub(super) label: Option<String>,
    pub(super) columns: Vec<Column>,
    pub(super) naming: Naming,
    pub(super) scaling: Scaling,
    pub(super) sparse: bool,
    pub(super) settings: Method,
    /// Not read: the rule of each part says how its members vote.
    pub(super) vote: Vote,
    pub(super) training: Training,
    /// The decision threshold.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) threshold: f64,
    /// The parts of each ensemble, by its name.
    pub(super) ensembles: BTreeMap<String, Vec<StoredPart>>,
}

fn is_zero(threshold: &f64) -> bool {
    *threshold == 0.0
}

/// Read before the rest: another version may have another rest.
#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) format: u32,
}

/// A part of an ensemble.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPart {
    pub(super) rule: StoredRule,
    /// What each member is; none where all are linear and share one tensor.
    pub(super) members: Option<Vec<StoredHypothesis>>,
    /// The kinds of members, where they are of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<Vec<StoredGroup>>,
}

/// How the members of a part are combined.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredRule {
    Weighted,
    Unweighted,
    Product,
    Shifted,
    Stacked,
}

impl From<&Rule> for StoredRule {
    fn from(rule: &Rule) -> Self {
        match rule {
            Rule::Weighted => StoredRule::Weighted,
            Rule::Unweighted => StoredRule::Unweighted,
            Rule::Product => StoredRule::Product,
            Rule::Shifted(_) => StoredRule::Shifted,
            Rule::Stacked(_) => StoredRule::Stacked,
        }
    }
}

/// Members of a kind: trees, or linear ones after a feature map.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredGroup {
    Plain,
    Kernel { decay: Decay, ranks: bool },
    Spectral { neighbors: usize },
    Trees,
}

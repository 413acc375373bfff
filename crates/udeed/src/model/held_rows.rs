//! What a model holds of the rows that it was trained on.

use serde::Serialize;

use crate::data::Rows;
use crate::ensemble::{Group, Voters};
use crate::learner::Hypothesis;
use crate::model::Model;
use crate::view::{FeatureMap, KernelMap};

/// Training rows that a model holds, after imputation, encoding and scaling: whoever has its file or its ONNX graph has them
/// too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct HeldRows {
    /// Labeled rows of kernels.
    pub kernels: usize,
    /// Nodes of nearest-neighbour graphs: labeled and unlabeled rows.
    pub nodes: usize,
    /// Rows of nearest neighbours: the most that a member holds.
    pub neighbors: usize,
    /// Values of single columns, from which ranks are computed.
    pub values: usize,
}

impl HeldRows {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == HeldRows::default()
    }

    fn add_group(&mut self, group: &Group) {
        let Group::Mapped(members) = group else { return };
        match members.map.as_ref() {
            FeatureMap::Plain => {}
            FeatureMap::Kernel(KernelMap { labeled, ranks, .. }) => {
                self.kernels = self.kernels.max(labeled.n_rows());
                if let Some(ranks) = ranks {
                    self.values = self.values.max(ranks.n_values());
                }
            }
            FeatureMap::Spectral(map) => self.nodes = self.nodes.max(map.nodes.rows().n_rows()),
        }
    }

    fn add_member(&mut self, member: &Hypothesis) {
        match member {
            Hypothesis::Neighbors(neighbors) => {
                self.neighbors = self.neighbors.max(neighbors.rows().rows().n_rows());
            }
            Hypothesis::View { of, .. } => self.add_member(of),
            // What a learner from outside holds is not known, and it is in no file.
            _ => {}
        }
    }
}

impl Model {
    /// The training rows that the model holds.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("vote")?.read()?.into_train()?;
    /// assert!(Bagging::new().fit(&train)?.held_rows().is_empty());
    /// let near = Bagging::new().base(Base::Neighbors(Default::default())).fit(&train)?;
    /// assert!(near.held_rows().neighbors > 200);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn held_rows(&self) -> HeldRows {
        let mut held = HeldRows::default();
        for part in &self.ensemble.parts {
            match &part.members {
                Voters::Linear(_) => {}
                Voters::Any(members) => members.iter().for_each(|member| held.add_member(member)),
                Voters::Mixed(groups) => groups.iter().for_each(|group| held.add_group(group)),
            }
        }
        held
    }
}

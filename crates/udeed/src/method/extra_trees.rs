//! Extra trees: trees with random thresholds.

use crate::data::Dense;
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, Learned, Rule, TrainingRows, bootstraps, out_of_bag};
use crate::error::Result;
use crate::learner::{Learner, Sample, TreeSettings};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::random::member_seed;

method! {
    /// Extra trees: every tree learns from all labeled rows and splits at random thresholds.
    ///
    /// At each node some features are drawn, and a threshold of each; the best of these splits is taken. Unlabeled rows are not used.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?.hide_labels(&(100..351).collect::<Vec<usize>>());
    /// let model = ExtraTrees::new().members(50).fit(&train)?;
    /// assert_eq!(model.ensemble().n_members(), 50);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    ExtraTrees = "extra-trees" {
        title: "Extra trees",
        python: "ExtraTreesClassifier",
        paper: "P. Geurts, D. Ernst and L. Wehenkel, \"Extremely randomized trees\", Machine Learning 63, 2006",
        streams: true,
        grows: true,
    }
    settings {
        /// Number of trees.
        members: usize = 100, in Range::at_least(1);
        scaling; fourier; calibrated;
        /// Whether each tree learns from a bootstrap, labeled rows drawn with replacement, in place of all labeled rows. Trees
        /// that did not draw a row can then judge it.
        bootstrap: bool = false;
        /// Settings of the trees.
        tree: TreeSettings = TreeSettings::extra();
        seed;
    }
}

impl Learn for ExtraTrees {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes[..], prepared.n_classes());
        let sample = Sample { rows, classes, n_classes, weights: &prepared.weights, seed: self.seed };
        let counts = match self.bootstrap {
            true => bootstraps(classes, self.seed, self.members)?,
            // Every row once.
            false => vec![vec![1; classes.len()]; self.members.min(SOME)],
        };
        let mut trees = Vec::with_capacity(self.members);
        while trees.len() < self.members {
            let seed = member_seed(self.seed, trees.len());
            let first = if self.bootstrap { trees.len() } else { 0 };
            let some = &counts[first..][..SOME.min(self.members - trees.len())];
            trees.extend(self.tree.learn_each(&Sample { seed, ..sample }, some)?);
            watch.member(trees.len(), self.members)?;
        }
        let ensemble = Ensemble::whole(n_classes, Part::alike(trees, Rule::Weighted));
        match self.bootstrap {
            true => Learned::of_bootstraps(ensemble, prepared, &counts, watch),
            false => Ok(ensemble.into()),
        }
    }

    fn out_of_bag(&self, prepared: &TrainingRows, learned: &Learned) -> Result<Option<Dense>> {
        if !self.bootstrap {
            return Ok(None);
        }
        let draws = bootstraps(&prepared.codes, self.seed, self.members)?;
        Ok(Some(out_of_bag::estimates(&learned.ensemble, &prepared.seen(&draws).0, &prepared.labeled)?))
    }
}

/// Number of trees grown between two reports to the observer.
const SOME: usize = 10;

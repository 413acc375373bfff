//! An ensemble that grows by one member at a time.

use crate::ensemble::method::Learned;
use crate::ensemble::prepared::Head;
use crate::ensemble::{Ensemble, Part, Prepared, Rule, Warning, Watch};
use crate::error::Result;
use crate::learner::{Hypothesis, Linear};
use crate::rng::member_seed;

/// The members of a boosted ensemble so far.
pub(crate) struct Boosted {
    wanted: usize,
    /// Logistic regression on all labels.
    start: Hypothesis,
    members: Vec<Hypothesis>,
    weights: Vec<f64>,
    /// Whether the last member was thrown away on purpose.
    pub(crate) discarded: bool,
}

impl Boosted {
    pub(crate) fn new(wanted: usize, start: Hypothesis) -> Self {
        Boosted { wanted, start, members: Vec::new(), weights: Vec::new(), discarded: false }
    }

    /// Where the search for the next member begins.
    pub(crate) fn latest(&self) -> &Hypothesis {
        self.members.last().unwrap_or(&self.start)
    }

    pub(crate) fn wants_more(&self) -> bool {
        self.members.len() < self.wanted
    }

    /// What the draws of the next member follow from.
    pub(crate) fn seed(&self, seed: u64) -> u64 {
        member_seed(seed, self.members.len())
    }

    pub(crate) fn push(&mut self, member: Hypothesis, weight: f64, watch: &Watch<'_>) -> Result<()> {
        self.members.push(member);
        self.weights.push(weight);
        watch.member(self.members.len(), self.wanted)?;
        Ok(())
    }

    /// The members that were kept, with a warning if there are none: logistic regression on the labels takes their place,
    /// or, if they were thrown away on purpose, a member that knows nothing, and whose vote is undecided.
    pub(crate) fn into_part(mut self) -> (Part, Option<Warning>) {
        let (warning, rule) = match (self.members.is_empty(), self.discarded) {
            (false, _) => (None, Rule::Unweighted),
            (true, false) => (Some(Warning::NothingBoosted), Rule::Unweighted),
            (true, true) => (Some(Warning::NothingLeft), Rule::Weighted),
        };
        if warning.is_some() {
            self.members.push(if self.discarded { silent(&self.start) } else { self.start });
            self.weights.push(1.0);
        }
        (Part { members: self.members.into(), weights: self.weights, rule }, warning)
    }

    /// The ensemble of members that know all classes.
    pub(crate) fn finish(self, watch: &Watch<'_>) -> Learned {
        let n_classes = self.start.n_classes();
        let (part, warning) = self.into_part();
        let mut learned = Learned::from(Ensemble::whole(n_classes, part));
        learned.warn(warning, watch);
        learned
    }
}

/// Boosts an ensemble for the question that two classes pose, or for each class against the rest.
pub(crate) fn boost_heads(
    prepared: &Prepared,
    members: usize,
    watch: &Watch<'_>,
    mut boost: impl FnMut(&Head, &mut Boosted) -> Result<()>,
) -> Result<Learned> {
    if prepared.unlabeled.n_rows() == 0 {
        let mut learned = Learned::from(prepared.logistic());
        learned.warn([Warning::NothingUnlabeled], watch);
        return Ok(learned);
    }
    let (mut parts, mut warnings) = (Vec::new(), Vec::new());
    for head in &prepared.heads {
        let mut boosted = Boosted::new(members, Hypothesis::Linear(Linear::new(vec![head.logistic.clone()])));
        boost(head, &mut boosted)?;
        let (mut part, warning) = boosted.into_part();
        // The voices of few members for each of several classes are often tied: how sure they are tells them apart.
        if prepared.heads.len() > 1 {
            part.rule = Rule::Weighted;
        }
        parts.push(part);
        warnings.extend(warning);
    }
    let mut learned = Learned::from(Ensemble::against_rest(prepared.n_classes(), parts));
    learned.warn(warnings, watch);
    Ok(learned)
}

/// What says nothing about any row, about as many classes and features.
fn silent(like: &Hypothesis) -> Hypothesis {
    match like {
        Hypothesis::Linear(linear) => {
            Hypothesis::Linear(Linear::new(linear.heads().iter().map(|head| vec![0.0; head.len()]).collect()))
        }
        other => other.clone(),
    }
}

//! What boosting methods share: members added one at a time, their weights, row weights and votes.

use crate::data::Rows;
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows, has_two_classes};
use crate::error::Result;
use crate::learner::{Hypothesis, Learner, Linear, Sample, n_heads, winner};
use crate::observer::{Warning, Watch};
use crate::random::{Stream, member_seed};
use crate::words::words;

/// Votes are clamped to this where their exponentials are summed: larger ones would dominate all others.
pub(crate) const LARGEST_VOTE: f64 = 20.0;

/// The members of a boosted ensemble so far.
pub(crate) struct Boosted {
    wanted: usize,
    /// Logistic regression on the labels alone.
    start: Hypothesis,
    members: Vec<Hypothesis>,
    weights: Vec<f64>,
    /// Whether the last member was discarded because it made no error.
    pub(crate) discarded: bool,
    /// Whether the first member learns from the labels alone: an ensemble of it alone is the baseline.
    pub(crate) first_is_baseline: bool,
    /// When members first learned from each unlabeled row, where they do.
    rounds: Option<LabelRounds>,
}

impl Boosted {
    pub(crate) fn new(wanted: usize, start: Hypothesis) -> Self {
        let (members, weights) = (Vec::new(), Vec::new());
        Boosted { wanted, start, members, weights, discarded: false, first_is_baseline: false, rounds: None }
    }

    pub(crate) fn wants_more(&self) -> bool {
        self.members.len() < self.wanted
    }

    /// The random seed of the next member.
    pub(crate) fn seed(&self, seed: u64) -> u64 {
        member_seed(seed, self.members.len())
    }

    /// The next member, and the class that it gives each of some rows.
    pub(crate) fn learn(
        &self,
        learner: &dyn Learner,
        sample: &Sample<'_>,
        rows: &dyn Rows,
    ) -> Result<(Hypothesis, Vec<u8>)> {
        let member = learner.relearn(sample, self.members.last().unwrap_or(&self.start));
        let with_classes = |member: Hypothesis| member.classify(rows).map(|classes| (member, classes));
        member.and_then(with_classes).map_err(|error| error.in_member(self.members.len()))
    }

    pub(crate) fn push(&mut self, member: Hypothesis, weight: f64, watch: &Watch<'_>) -> Result<()> {
        self.members.push(member);
        self.weights.push(weight);
        watch.member(self.members.len(), self.wanted)?;
        Ok(())
    }

    /// The latest member learned from the unlabeled rows that have a weight.
    pub(crate) fn learned_from(&mut self, unlabeled: &[f64]) {
        let rounds = self.rounds.get_or_insert_with(|| LabelRounds::new(unlabeled.len()));
        rounds.note_weights(self.members.len() - 1, unlabeled);
    }

    /// The members kept, with a warning where they are few. If there are none, a warning and a substitute: logistic regression on
    /// the labels alone or, if members were discarded for making no error, a member whose vote is undecided.
    pub(crate) fn into_part(mut self) -> (Part, Option<Warning>) {
        let (warning, rule) = match (self.members.len(), self.discarded) {
            (0, false) => (Some(Warning::NothingBoosted), Rule::Unweighted),
            (0, true) => (Some(Warning::NothingLeft), Rule::Weighted),
            (1, _) if self.first_is_baseline && self.wanted > 1 => (Some(Warning::OneMember), Rule::Unweighted),
            (members, _) if 2 * members < self.wanted => {
                (Some(Warning::FewMembers { of: self.wanted }), Rule::Unweighted)
            }
            _ => (None, Rule::Unweighted),
        };
        if self.members.is_empty() {
            self.members.push(if self.discarded { silent(&self.start) } else { self.start });
            self.weights.push(1.0);
        }
        (Part { members: self.members.into(), weights: self.weights, rule }, warning)
    }

    /// The ensemble of members that each predict all classes.
    pub(crate) fn finish(mut self, watch: &Watch<'_>) -> Learned {
        let (n_classes, rounds) = (self.start.n_classes(), self.rounds.take());
        let (part, warning) = self.into_part();
        let mut learned = Learned { rounds, ..Ensemble::whole(n_classes, part).into() };
        learned.warn(warning, watch);
        learned
    }
}

/// Boosts an ensemble for each head.
pub(crate) fn boost_heads(
    prepared: &TrainingRows,
    members: usize,
    watch: &Watch<'_>,
    mut boost: impl FnMut(&Head, &mut Boosted) -> Result<()>,
) -> Result<Learned> {
    if prepared.unlabeled.n_rows() == 0 {
        let mut learned = Learned::from(prepared.logistic());
        learned.warn([Warning::NothingUnlabeled], watch);
        return Ok(learned);
    }
    let (mut parts, mut warnings, mut rounds) = (Vec::new(), Vec::new(), None::<LabelRounds>);
    let mut few = None;
    for head in &prepared.heads {
        let mut boosted = Boosted::new(members, Hypothesis::Linear(Linear::new(vec![head.logistic.clone()])));
        boost(head, &mut boosted)?;
        rounds = match (rounds, boosted.rounds.take()) {
            (Some(first), Some(other)) => Some(first.or_earlier(&other)),
            (first, other) => first.or(other),
        };
        let (mut part, warning) = boosted.into_part();
        // Unweighted votes of few members for several classes are often tied: their confidences break the ties.
        if prepared.heads.len() > 1 {
            part.rule = Rule::Weighted;
        }
        parts.push(part);
        match warning {
            Some(Warning::FewMembers { .. }) => few = warning,
            _ => warnings.extend(warning),
        }
    }
    let (heads, of) = (warnings.len(), parts.len());
    let mut learned = Learned { rounds, ..Ensemble::against_rest(prepared.n_classes(), parts).into() };
    match warnings.pop() {
        Some(warning) if heads == of && warnings.iter().all(|other| *other == warning) => {
            learned.warn([warning], watch);
        }
        Some(_) => learned.warn([Warning::HeadsNotBoosted { heads, of }], watch),
        None => learned.warn(few, watch),
    }
    Ok(learned)
}

/// A hypothesis with weights of 0 for the same classes and features: undecided on every row.
fn silent(like: &Hypothesis) -> Hypothesis {
    match like {
        Hypothesis::Linear(linear) => {
            Hypothesis::Linear(Linear::new(linear.heads().iter().map(|head| vec![0.0; head.len()]).collect()))
        }
        other => other.clone(),
    }
}

words! {
    /// How row weights reach the base learner.
    pub enum Emphasis = Weighting {
        /// Rows keep their weights.
        Weighting = "weighting",
        /// Rows are drawn with replacement, with probabilities proportional to their weights.
        Resampling = "resampling",
    }
}

/// Least error from which a weight is computed.
const LEAST_ERROR: f64 = 1e-10;

/// Error rate of random guessing.
pub(crate) fn chance(n_classes: usize) -> f64 {
    1.0 - 1.0 / n_classes as f64
}

/// The weight of a member's vote from its weighted error, as in AdaBoost and SAMME: positive if the member is better than
/// chance.
pub(crate) fn weight_of(error: f64, n_classes: usize) -> f64 {
    0.5 * libm::log((1.0 - error) / error.max(LEAST_ERROR)) + 0.5 * libm::log(n_classes as f64 - 1.0)
}

impl Emphasis {
    /// Number of draws from labeled and unlabeled rows: of resampling that of the labeled ones, as in ASSEMBLE, of weighting
    /// that of all.
    pub(crate) fn draws(self, labeled: usize, all: usize) -> usize {
        if self == Emphasis::Resampling { labeled } else { all }
    }

    /// The weight of each row for the base learner: its share of `total`, or how often it occurs in `draws` draws by the
    /// shares. Draws of a single class are repeated; after 1000 of them, the shares are used instead.
    pub(crate) fn row_weights(
        self,
        stream: &mut Stream,
        shares: &[f64],
        classes: &[u8],
        draws: usize,
        total: f64,
    ) -> Vec<f64> {
        if self == Emphasis::Resampling {
            for _ in 0..1000 {
                let counts = draw(stream, shares, draws);
                if has_two_classes(classes, &counts) {
                    return counts;
                }
            }
        }
        shares.iter().map(|share| share * total).collect()
    }
}

/// Draws `n` times with replacement by the shares: how often each row is drawn.
fn draw(stream: &mut Stream, shares: &[f64], n: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(shares.len());
    let mut sum = 0.0;
    for share in shares {
        sum += share;
        sums.push(sum);
    }
    let mut counts = vec![0.0; shares.len()];
    for _ in 0..n {
        let at = stream.unit() * sum;
        let row = sums.partition_point(|&s| s <= at).min(shares.len() - 1);
        counts[row] += 1.0;
    }
    counts
}

/// The weighted votes on each row so far: for two classes those for the second less those for the first, for more one sum per
/// class.
pub(crate) struct Votes {
    n_classes: usize,
    values: Vec<f64>,
}

impl Votes {
    pub(crate) fn new(n_rows: usize, n_classes: usize) -> Self {
        Votes { n_classes, values: vec![0.0; n_rows * n_heads(n_classes)] }
    }

    pub(crate) fn add(&mut self, weight: f64, outputs: &[u8]) {
        for (votes, &class) in self.values.chunks_exact_mut(n_heads(self.n_classes)).zip(outputs) {
            match votes {
                [vote] => *vote += if class == 1 { weight } else { -weight },
                votes => votes[usize::from(class)] += weight,
            }
        }
    }

    fn of(&self, i: usize) -> &[f64] {
        let width = n_heads(self.n_classes);
        &self.values[i * width..][..width]
    }

    pub(crate) fn winner(&self, i: usize) -> u8 {
        winner(self.of(i)) as u8
    }

    /// The margin: the votes for a class less those for the best other one.
    pub(crate) fn margin(&self, i: usize, class: u8) -> f64 {
        match self.of(i) {
            [vote] => {
                if class == 1 {
                    *vote
                } else {
                    -vote
                }
            }
            votes => {
                let others = votes.iter().enumerate().filter(|&(other, _)| other != usize::from(class));
                votes[usize::from(class)] - others.map(|(_, &vote)| vote).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn draws_follow_the_shares() {
        let mut stream = Stream::new(1, Purpose::Boosting, 0);
        let counts = draw(&mut stream, &[0.0, 0.5, 0.25, 0.25, 0.0], 4000);
        assert_eq!((counts[0], counts[4]), (0.0, 0.0));
        assert!((counts[1] - 2000.0).abs() < 150.0, "{counts:?}");
        assert_eq!(counts.iter().sum::<f64>(), 4000.0);
    }

    #[test]
    fn a_class_without_a_share_does_not_hang() {
        let mut stream = Stream::new(1, Purpose::Boosting, 0);
        let counts = Emphasis::Resampling.row_weights(&mut stream, &[1.0, 1e-300], &[1, 0], 2, 2.0);
        assert!(counts[1] > 0.0);
    }

    #[test]
    fn a_margin_is_what_is_left_of_the_voices() {
        let mut two = Votes::new(1, 2);
        two.add(0.5, &[1]);
        two.add(0.7, &[0]);
        assert_eq!((two.winner(0), two.margin(0, 0), two.margin(0, 1)), (0, 0.7 - 0.5, 0.5 - 0.7));
        let mut three = Votes::new(1, 3);
        three.add(0.5, &[2]);
        three.add(0.25, &[1]);
        assert_eq!((three.winner(0), three.margin(0, 2), three.margin(0, 0)), (2, 0.25, -0.5));
    }
}

//! Ensembles: members, the weights of their votes, and the rule that combines them.

use crate::data::{Blocks, Dense, Matrix, Row, Rows, fill_stretches};
use crate::ensemble::calibration::Calibration;
use crate::ensemble::mixed_members::Group;
use crate::ensemble::{Members, mixed_members};
use crate::error::{Error, Hint, Place, Result};
use crate::learner::{Foreign, Hypothesis, Linear, n_heads, normalise, winner};
use crate::words::words;

/// Least probability in a product of probabilities.
pub(crate) const LEAST_PROBABILITY: f64 = 1e-300;

/// An ensemble: members that vote on all classes, or members for each class against the rest.
///
/// ```
/// use udeed::prelude::*;
///
/// let model = Udeed::new().fit(&built_in("vote")?.read()?.into_train()?)?;
/// assert_eq!(model.ensemble().n_members(), 20);
/// assert_eq!(model.ensemble().linear(0).unwrap().n_members(), 20);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    n_classes: usize,
    /// One part, or one for each class against the rest.
    pub(crate) parts: Vec<Part>,
    /// Calibration, which turns votes into probabilities; none where they are not calibrated.
    pub(crate) calibration: Option<Calibration>,
}

/// Members with the weights of their votes and the rule that combines these.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) members: Voters,
    /// The weight of each member's vote.
    pub(crate) weights: Vec<f64>,
    pub(crate) rule: Rule,
}

/// The members of a part: linear ones of one head in the layout of the kernel, or any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Voters {
    Linear(Members),
    Any(Vec<Hypothesis>),
    /// Linear members on mapped features, and trees.
    Mixed(Vec<Group>),
}

/// How votes are combined.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rule {
    /// The mean of the probabilities.
    Weighted,
    /// The mean of the predicted classes.
    Unweighted,
    /// The product of the probabilities.
    Product,
    /// The mean of the probabilities, with the log odds of each class shifted.
    Shifted(Vec<f64>),
    /// A meta-learner on the probabilities of all members.
    Stacked(Linear),
}

words! {
    /// Vote of the members.
    pub enum Vote = Weighted {
        /// Votes weighted by confidence: the mean of the outputs.
        Weighted = "weighted",
        /// Majority vote: the mean of the signs of the outputs.
        Unweighted = "unweighted",
    }
}

impl From<Vote> for Rule {
    fn from(vote: Vote) -> Self {
        match vote {
            Vote::Weighted => Rule::Weighted,
            Vote::Unweighted => Rule::Unweighted,
        }
    }
}

impl Ensemble {
    /// An ensemble of members that each predict all classes.
    pub(crate) fn whole(n_classes: usize, part: Part) -> Self {
        Ensemble { n_classes, parts: vec![part], calibration: None }
    }

    /// An ensemble with a part for each class against the rest; a single part for two classes.
    pub(crate) fn against_rest(n_classes: usize, parts: Vec<Part>) -> Self {
        debug_assert_eq!(parts.len(), n_heads(n_classes));
        Ensemble { n_classes, parts, calibration: None }
    }

    /// An ensemble of one part for all classes, or of one for each class.
    pub(crate) fn of_parts(n_classes: usize, parts: Vec<Part>) -> Self {
        Ensemble { n_classes, parts, calibration: None }
    }

    /// Number of members; if each class has its own, the largest number of a class.
    pub fn n_members(&self) -> usize {
        self.parts.iter().map(Part::n_members).max().unwrap_or(0)
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Whether each class has members of its own, which predict it against the rest.
    pub fn is_one_against_rest(&self) -> bool {
        self.parts.len() > 1
    }

    /// The weight of each member's vote; of the members for class `part`, if each class has its own.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn weights(&self, part: usize) -> &[f64] {
        &self.parts[part].weights
    }

    /// The members, if they are linear in the prepared features; those for class `part`, if each class has its own.
    pub fn linear(&self, part: usize) -> Option<&Members> {
        match &self.parts.get(part)?.members {
            Voters::Linear(members) => Some(members),
            Voters::Any(_) | Voters::Mixed(_) => None,
        }
    }

    /// The weights of all members for `width` features, that of the constant feature last, if all are linear: one list of
    /// members per head.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let model = AdaBoost::new().fit(&built_in("vote")?.read()?.into_train()?)?;
    /// let width = model.preparation().n_features();
    /// let scores = model.ensemble().scores(width).unwrap();
    /// assert_eq!((scores.len(), scores[0].len()), (1, model.ensemble().n_members()));
    /// assert_eq!(scores[0][0].len(), width + 1);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn scores(&self, width: usize) -> Option<Vec<Vec<Vec<f64>>>> {
        let parts: Option<Vec<_>> = self.parts.iter().map(|part| part.scores(width)).collect();
        Some(parts?.concat())
    }

    /// Whether all members are linear with weights of 0, so that every vote is undecided.
    pub fn is_silent(&self) -> bool {
        self.parts.iter().all(|part| matches!(&part.members, Voters::Linear(members) if members.is_silent()))
    }

    /// The ensemble of the first `members` members. A stacked ensemble stays whole.
    ///
    /// # Panics
    /// If `members` is 0 or more than there are.
    #[must_use]
    pub fn prefix(&self, members: usize) -> Self {
        assert!((1..=self.n_members()).contains(&members), "the first {members} of {} members", self.n_members());
        Ensemble { parts: self.parts.iter().map(|part| part.prefix(members)).collect(), ..self.clone() }
    }

    /// The vote on each row: for two classes one number between -1 and 1, above 0 for the second class; for more one number
    /// per class, the largest for the predicted one.
    ///
    /// # Errors
    /// If the rows cannot be read, or hold numbers so large that a vote is no number.
    pub(crate) fn decide(&self, rows: &dyn Blocks) -> Result<Dense> {
        let mut votes = checked(self.votes(rows)?)?;
        if let Some(calibration) = &self.calibration {
            votes.rows_mut().for_each(|votes| calibration.apply(votes));
        }
        Ok(votes)
    }

    fn votes(&self, rows: &dyn Blocks) -> Result<Dense> {
        if let [part] = self.parts.as_slice() {
            return part.decide(rows, n_heads(self.n_classes));
        }
        let columns: Result<Vec<Dense>> = self.parts.iter().map(|part| part.decide(rows, 1)).collect();
        let (columns, n) = (columns?, rows.shape().0);
        let values = (0..n).flat_map(|i| columns.iter().map(move |column| column.get(i)[0])).collect();
        Dense::new(n, columns.len(), values)
    }

    /// The class that each member predicts: row by row, member by member. If each class has members of its own, those at the
    /// same position form one member.
    ///
    /// # Errors
    /// If a learner from outside the library made the members, and fails.
    pub fn classify(&self, rows: &dyn Rows) -> Result<Vec<u8>> {
        self.classify_blocks(rows)
    }

    /// As [`Ensemble::classify`], for rows that need not be in memory.
    ///
    /// # Errors
    /// As [`Ensemble::classify`], and if the rows cannot be read.
    pub(crate) fn classify_blocks(&self, rows: &dyn Blocks) -> Result<Vec<u8>> {
        let m = self.n_members();
        if let ([Part { members: Voters::Linear(members), .. }], 2) = (self.parts.as_slice(), self.n_classes) {
            return Ok(members.classify_blocks(rows)?.into_iter().map(u8::from).collect());
        }
        if let [Part { members: Voters::Mixed(all), .. }] = self.parts.as_slice() {
            return mixed_members::classify(all, rows);
        }
        if let [Part { members: Voters::Any(members), .. }] = self.parts.as_slice() {
            let classes = fill_stretches(rows, m, m + self.n_classes, self.at_once(), |rows, to| {
                for (k, member) in members.iter().enumerate() {
                    let classes = member.classify(rows).map_err(|error| error.in_member(k))?;
                    to[k..].iter_mut().step_by(m).zip(classes).for_each(|(to, class)| *to = f64::from(class));
                }
                Ok(())
            })?;
            return Ok(classes.values().iter().map(|&class| class as u8).collect());
        }
        let room = m * (1 + 2 * self.parts.len());
        let parts: Vec<Vec<Hypothesis>> =
            self.parts.iter().map(|part| part.members.hypotheses().unwrap_or_default()).collect();
        let classes = fill_stretches(rows, m, room, self.at_once(), |rows, to| {
            let mut class = to.iter_mut();
            let each = parts.iter().map(|members| distributions(members, rows)).collect::<Result<Vec<_>>>()?;
            for i in 0..rows.n_rows() {
                for k in 0..m {
                    // A class with fewer members has no vote here.
                    let of_class = |part: &Vec<Dense>| part.get(k).map_or(0.0, |own| own.get(i)[1]);
                    let votes: Vec<f64> = each.iter().map(of_class).collect();
                    class.next().into_iter().for_each(|class| *class = winner(&votes) as f64);
                }
            }
            Ok(())
        })?;
        Ok(classes.values().iter().map(|&class| class as u8).collect())
    }

    /// Calls `visit` with the place of every row and member, and the class probabilities of the member. If each class has
    /// members of its own, those at the same position form one member.
    ///
    /// # Errors
    /// If the members cannot see the rows.
    pub(crate) fn for_each_distribution(
        &self,
        rows: &Matrix,
        visit: &mut dyn FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        if let [Part { members: Voters::Mixed(all), .. }] = self.parts.as_slice() {
            return mixed_members::for_each_distribution(all, rows.rows(), visit);
        }
        let all: Vec<Vec<Dense>> =
            self.parts.iter().map(|part| part.distributions(rows.rows())).collect::<Result<_>>()?;
        for k in 0..self.n_members() {
            let tables: Vec<Option<&Dense>> = all.iter().map(|part| part.get(k)).collect();
            for i in 0..rows.rows().n_rows() {
                match &tables[..] {
                    [Some(own)] => visit(i, k, own.get(i)),
                    heads => {
                        // A class with fewer members has no vote here.
                        let of_class = |head: &Option<&Dense>| head.map_or(0.0, |own| own.get(i)[1]);
                        let mut probabilities: Vec<f64> = heads.iter().map(of_class).collect();
                        normalise(&mut probabilities);
                        visit(i, k, &probabilities);
                    }
                }
            }
        }
        Ok(())
    }

    /// The importance of each of `width` features, if all members are trees: the mean over the members that have a split,
    /// weighted by their votes. They sum to 1, or are all 0 if no member has one.
    pub(crate) fn feature_importances(&self, width: usize) -> Option<Vec<f64>> {
        let mut importances = vec![0.0; width];
        for part in &self.parts {
            let Voters::Any(members) = &part.members else { return None };
            let parts_total: f64 = part.weights.iter().sum();
            for (member, weight) in members.iter().zip(&part.weights) {
                let own = member.feature_importances(width)?;
                importances.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight / parts_total * own);
            }
        }
        let sum: f64 = importances.iter().sum();
        if sum > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= sum);
        }
        Some(importances)
    }

    /// All that learners from outside the library made.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Foreign> {
        let members = self.parts.iter().filter_map(|part| match &part.members {
            Voters::Any(members) => Some(members),
            Voters::Linear(_) | Voters::Mixed(_) => None,
        });
        members.flatten().filter_map(Hypothesis::as_foreign)
    }

    /// As [`Ensemble::foreign`], to change it.
    pub(crate) fn foreign_mut(&mut self) -> impl Iterator<Item = &mut Foreign> {
        let members = self.parts.iter_mut().filter_map(|part| match &mut part.members {
            Voters::Any(members) => Some(members),
            Voters::Linear(_) | Voters::Mixed(_) => None,
        });
        members.flatten().filter_map(Hypothesis::foreign_mut)
    }

    /// The share of each member in the vote. Those of members of different classes are the same.
    pub(crate) fn member_shares(&self) -> Vec<f64> {
        let mut shares = match self.parts.as_slice() {
            [part] => part.weights.clone(),
            _ => vec![1.0; self.n_members()],
        };
        normalise(&mut shares);
        shares
    }

    /// Number of rows to predict at once.
    fn at_once(&self) -> usize {
        self.parts.iter().map(|part| part.members.at_once()).max().unwrap_or(1)
    }
}

impl Part {
    /// Members with votes of equal weight.
    pub(crate) fn alike(members: impl Into<Voters>, rule: impl Into<Rule>) -> Self {
        let members = members.into();
        Part { weights: vec![1.0; members.len()], members, rule: rule.into() }
    }

    pub(crate) fn n_members(&self) -> usize {
        self.weights.len()
    }

    /// The first members; all of a stacked ensemble, whose meta-learner needs every member.
    fn prefix(&self, members: usize) -> Self {
        let n = if matches!(self.rule, Rule::Stacked(_)) { self.n_members() } else { members.min(self.n_members()) };
        let first = match &self.members {
            Voters::Linear(members) => Voters::Linear(members.prefix(n)),
            Voters::Any(members) => Voters::Any(members[..n].to_vec()),
            Voters::Mixed(all) => Voters::Mixed(mixed_members::prefix(all, n)),
        };
        Part { members: first, weights: self.weights[..n].to_vec(), rule: self.rule.clone() }
    }

    /// For each head the weights of all members, if these are linear.
    fn scores(&self, width: usize) -> Option<Vec<Vec<Vec<f64>>>> {
        let members = self.members.hypotheses()?;
        let heads: Vec<Vec<Vec<f64>>> = members.iter().map(|member| member.heads(width)).collect::<Option<_>>()?;
        let score = |score: usize| heads.iter().map(|member| member[score].clone()).collect();
        Some((0..heads.first()?.len()).map(score).collect())
    }

    /// The class probabilities of each member for all rows; none of mixed members.
    pub(crate) fn distributions(&self, rows: &dyn Rows) -> Result<Vec<Dense>> {
        match self.opinions(rows)? {
            Opinions::Any(tables) => Ok(tables),
            Opinions::Linear(outputs) => {
                let n = outputs.n_rows();
                let of_member = |k: usize| Dense::new(n, 2, (0..n).flat_map(|i| pair(outputs.get(i)[k])).collect());
                (0..self.members.len()).map(of_member).collect()
            }
        }
    }

    /// Outputs of each member on each row.
    pub(crate) fn opinions(&self, rows: &dyn Rows) -> Result<Opinions> {
        match &self.members {
            Voters::Linear(members) => Ok(Opinions::Linear(members.outputs(rows)?)),
            Voters::Any(members) => Ok(Opinions::Any(distributions(members, rows)?)),
            Voters::Mixed(_) => Ok(Opinions::Any(Vec::new())),
        }
    }

    /// The vote on each row: one column for two classes, one per class for more.
    fn decide(&self, rows: &dyn Blocks, width: usize) -> Result<Dense> {
        if let (Voters::Linear(members), Some(vote)) = (&self.members, self.rule.vote()) {
            let decisions = members.decide(rows, vote, &self.weights)?;
            return Dense::new(decisions.len(), 1, decisions);
        }
        let own;
        let members: &[Hypothesis] = match &self.members {
            Voters::Mixed(all) => {
                let mut votes = mixed_members::decide(all, &self.weights, width, rows)?;
                if let Rule::Shifted(odds) = &self.rule {
                    votes.rows_mut().for_each(|votes| mixed_members::shift(votes, odds));
                }
                return Ok(votes);
            }
            Voters::Any(members) => members,
            Voters::Linear(members) => {
                own = members.hypotheses();
                &own
            }
        };
        let n_classes = width.max(2);
        fill_stretches(rows, width, n_classes * members.len(), self.members.at_once(), |rows, to| {
            let tables = distributions(members, rows)?;
            let (mut all, mut probabilities) = (Vec::new(), vec![0.0; n_classes]);
            for (i, to) in to.chunks_exact_mut(width).enumerate() {
                all.clear();
                tables.iter().for_each(|table| all.extend_from_slice(table.get(i)));
                probabilities.fill(0.0);
                self.rule.combine(&all, &self.weights, &mut probabilities);
                decision_of(&probabilities, to);
            }
            Ok(())
        })
    }
}

/// Outputs of members on rows.
pub(crate) enum Opinions {
    /// The outputs of linear members, one column a member.
    Linear(Dense),
    /// The class probabilities by each member; none of mixed members.
    Any(Vec<Dense>),
}

impl Opinions {
    /// Number of members, and of classes.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Opinions::Linear(outputs) => (outputs.n_columns(), 2),
            Opinions::Any(tables) => (tables.len(), tables.first().map_or(0, Dense::n_columns)),
        }
    }

    /// Appends the class probabilities of a row by a member.
    pub(crate) fn append(&self, member: usize, row: usize, to: &mut Vec<f64>) {
        match self {
            Opinions::Linear(outputs) => to.extend(pair(outputs.get(row)[member])),
            Opinions::Any(tables) => to.extend_from_slice(tables[member].get(row)),
        }
    }
}

/// The probabilities of two classes by the output of a linear member.
fn pair(output: f64) -> [f64; 2] {
    [0.5 * (1.0 - output), 0.5 * (1.0 + output)]
}

/// The class probabilities of each member for rows.
fn distributions(members: &[Hypothesis], rows: &dyn Rows) -> Result<Vec<Dense>> {
    let of_member = |(k, member): (usize, &Hypothesis)| member.distributions(rows).map_err(|error| error.in_member(k));
    members.iter().enumerate().map(of_member).collect()
}

/// The decision that class probabilities stand for: one number for two classes, one per class for more.
pub(crate) fn decision_of(probabilities: &[f64], to: &mut [f64]) {
    match to {
        [decision] => *decision = probabilities[1] - probabilities[0],
        decisions => decisions.iter_mut().zip(probabilities).for_each(|(to, p)| *to = 2.0 * p - 1.0),
    }
}

/// The probabilities of the classes that decisions stand for.
pub(crate) fn probabilities(decision: &[f64]) -> Vec<f64> {
    if let [f] = decision {
        let second = 0.5 * (1.0 + f);
        return vec![1.0 - second, second];
    }
    let mut shares: Vec<f64> = decision.iter().map(|f| 0.5 * (1.0 + f)).collect();
    normalise(&mut shares);
    shares
}

/// Refuses votes that are no numbers, and takes back what rounding puts beyond -1 and 1.
fn checked(mut votes: Dense) -> Result<Dense> {
    let width = votes.n_columns();
    for (i, vote) in votes.values_mut().iter_mut().enumerate() {
        if vote.is_nan() {
            let place = Place::new(Place::TABLE).row((i / width) as u64 + 1);
            let found = "numbers so large that the vote of the members is no number";
            return Err(
                Error::input(place, found, "numbers like those of the training rows").with_hint(Hint::LargeCell)
            );
        }
        *vote = vote.clamp(-1.0, 1.0);
    }
    Ok(votes)
}

/// The features of a stack's meta-learner: the class probabilities of the members, for two classes only that of the second.
pub(crate) fn stacked(probabilities: &[f64], n_classes: usize) -> Vec<f64> {
    if n_classes == 2 { probabilities.iter().skip(1).step_by(2).copied().collect() } else { probabilities.to_vec() }
}

impl Rule {
    /// Combines the class probabilities of members, given one after the other, by the weights of their votes.
    pub(crate) fn combine(&self, probabilities: &[f64], weights: &[f64], to: &mut [f64]) {
        let votes = probabilities.chunks_exact(to.len()).zip(weights);
        match self {
            Rule::Weighted | Rule::Shifted(_) => votes.for_each(|(probabilities, weight)| {
                to.iter_mut().zip(probabilities).for_each(|(p, q)| *p += weight * q);
            }),
            Rule::Unweighted => votes.for_each(|(probabilities, weight)| to[winner(probabilities)] += weight),
            Rule::Product => {
                votes.for_each(|(probabilities, weight)| {
                    to.iter_mut()
                        .zip(probabilities)
                        .for_each(|(p, q)| *p += weight * libm::log(q.max(LEAST_PROBABILITY)));
                });
                let largest = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                to.iter_mut().for_each(|p| *p = libm::exp(*p - largest));
            }
            Rule::Stacked(last) => last.distribution(Row::Dense(&stacked(probabilities, to.len())), to),
        }
        if let Rule::Shifted(odds) = self {
            to.iter_mut().zip(odds).for_each(|(p, odds)| *p *= libm::exp(*odds));
        }
        normalise(to);
    }

    /// The vote of linear members, if the rule is one.
    pub(crate) fn vote(&self) -> Option<Vote> {
        match self {
            Rule::Weighted => Some(Vote::Weighted),
            Rule::Unweighted => Some(Vote::Unweighted),
            Rule::Product | Rule::Stacked(_) | Rule::Shifted(_) => None,
        }
    }
}

impl Voters {
    pub(crate) fn len(&self) -> usize {
        match self {
            Voters::Linear(members) => members.n_members(),
            Voters::Any(members) => members.len(),
            Voters::Mixed(all) => all.iter().map(Group::n_members).sum(),
        }
    }

    /// Number of rows to predict at once: learners from outside the library are made for many.
    fn at_once(&self) -> usize {
        match self {
            Voters::Any(members) if members.iter().any(|member| member.as_foreign().is_some()) => 1 << 16,
            _ => 256,
        }
    }

    /// The members as hypotheses; none if they are of several kinds.
    pub(crate) fn hypotheses(&self) -> Option<Vec<Hypothesis>> {
        match self {
            Voters::Linear(members) => Some(members.hypotheses()),
            Voters::Any(members) => Some(members.clone()),
            Voters::Mixed(_) => None,
        }
    }
}

impl From<Members> for Voters {
    fn from(members: Members) -> Self {
        Voters::Linear(members)
    }
}

/// Linear members of one head in the layout of the kernel, all others unchanged.
impl From<Vec<Hypothesis>> for Voters {
    fn from(members: Vec<Hypothesis>) -> Self {
        let single = |member: &Hypothesis| match member {
            Hypothesis::Linear(linear) => match linear.heads() {
                [head] => Some(head.clone()),
                _ => None,
            },
            _ => None,
        };
        match members.iter().map(single).collect::<Option<Vec<Vec<f64>>>>() {
            Some(rows) if !rows.is_empty() => Voters::Linear(Members::from_rows(&rows)),
            _ => Voters::Any(members),
        }
    }
}

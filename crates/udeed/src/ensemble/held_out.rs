//! Held-out votes on labeled rows: by members that did not learn from them.

use crate::ensemble::calibration::Calibration;
use crate::ensemble::vote::{Ensemble, probabilities};
use crate::ensemble::{TrainingRows, out_of_bag};
use crate::error::Result;
use crate::tensor::{Tensor, TensorReader, TensorWriter};

/// Largest number of rows of a class: with 1000 the error of a quantile is one percent.
const MOST_OF_CLASS: usize = 1000;

/// Votes on labeled rows of members that did not learn from them: out of bag, or in folds.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeldOut {
    rows: Vec<HeldOutRow>,
}

/// A labeled row and the vote on it, as [`Ensemble::decide`] gives it.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutRow {
    pub(crate) class: u8,
    pub(crate) weight: f64,
    pub(crate) votes: Vec<f64>,
}

impl HeldOut {
    /// The votes on labeled rows, all of a class or a sample of [`MOST_OF_CLASS`]; none on a row without weight, or without a
    /// member that can vote.
    pub(crate) fn new(prepared: &TrainingRows, vote: impl FnMut(usize) -> Option<Vec<f64>>) -> Self {
        let some = some_of_each(prepared);
        let votes = some.iter().copied().map(vote).collect();
        HeldOut::of_votes(prepared, &some, votes)
    }

    /// The votes of the members of an ensemble on rows that their bootstraps leave out.
    ///
    /// # Errors
    /// If the members cannot see the rows.
    pub(crate) fn out_of_bag(prepared: &TrainingRows, ensemble: &Ensemble, draws: &[Vec<u8>]) -> Result<Self> {
        let some = some_of_each(prepared);
        let votes = out_of_bag::votes(ensemble, draws, &prepared.labeled, &some)?;
        Ok(HeldOut::of_votes(prepared, &some, votes))
    }

    fn of_votes(prepared: &TrainingRows, some: &[usize], votes: Vec<Option<Vec<f64>>>) -> Self {
        let row = |(&i, votes): (&usize, Option<Vec<f64>>)| {
            let (class, weight) = (prepared.codes[i], prepared.row_weights[i]);
            votes.filter(|_| weight > 0.0).map(|votes| HeldOutRow { class, weight, votes })
        };
        let rows = some.iter().zip(votes).filter_map(row).collect();
        HeldOut::with_frequencies(rows, &prepared.class_frequencies())
    }

    /// The rows with weights of mean 1 that give each class its share of all labeled rows, however many of it are in the
    /// sample.
    fn with_frequencies(mut rows: Vec<HeldOutRow>, frequencies: &[f64]) -> Self {
        let mut totals = vec![0.0; frequencies.len()];
        rows.iter().for_each(|row| totals[usize::from(row.class)] += row.weight);
        let factor = |class: u8| frequencies[usize::from(class)] / totals[usize::from(class)];
        rows.iter_mut().for_each(|row| row.weight *= factor(row.class));
        rows.into_iter().collect()
    }

    pub(crate) fn rows(&self) -> &[HeldOutRow] {
        &self.rows
    }

    /// The mean vote for the class of a row.
    pub(crate) fn mean_own_vote(&self) -> f64 {
        let own = |row: &HeldOutRow| own_vote(usize::from(row.class), &row.votes);
        self.rows.iter().map(own).sum::<f64>() / self.rows.len() as f64
    }

    /// The same rows with calibrated votes.
    pub(crate) fn calibrated(mut self, calibration: &Calibration) -> Self {
        self.rows.iter_mut().for_each(|row| calibration.apply(&mut row.votes));
        self
    }

    /// The votes of each class's rows for their own class.
    pub(crate) fn own_votes(&self, n_classes: usize) -> OwnVotes {
        let mut classes = vec![Vec::new(); n_classes];
        for row in &self.rows {
            let class = usize::from(row.class);
            classes[class].push(OwnVote { vote: own_vote(class, &row.votes), weight: row.weight });
        }
        classes.iter_mut().for_each(|own| own.sort_by(|a, b| a.vote.total_cmp(&b.vote)));
        OwnVotes { classes }
    }
}

/// Rows with weights of mean 1.
impl FromIterator<HeldOutRow> for HeldOut {
    fn from_iter<T: IntoIterator<Item = HeldOutRow>>(rows: T) -> Self {
        let mut rows: Vec<HeldOutRow> = rows.into_iter().filter(|row| row.weight > 0.0).collect();
        let mean = rows.iter().map(|row| row.weight / rows.len() as f64).sum::<f64>();
        rows.iter_mut().for_each(|row| row.weight /= mean);
        HeldOut { rows }
    }
}

/// The labeled rows of each class, or an evenly spaced sample; ascending.
fn some_of_each(prepared: &TrainingRows) -> Vec<usize> {
    let mut counts = vec![0; prepared.n_classes()];
    prepared.codes.iter().for_each(|&class| counts[usize::from(class)] += 1);
    let mut seen = vec![0; counts.len()];
    let is_taken = |&i: &usize| {
        let class = usize::from(prepared.codes[i]);
        let (place, count) = (seen[class], counts[class].max(1));
        seen[class] += 1;
        let taken = |place: usize| place * MOST_OF_CLASS.min(count) / count;
        taken(place + 1) > taken(place)
    };
    (0..prepared.codes.len()).filter(is_taken).collect()
}

/// The vote for a class, from -1 to 1: twice its probability, less 1.
pub(crate) fn own_vote(class: usize, votes: &[f64]) -> f64 {
    match votes {
        [only] if class == 1 => *only,
        [only] => -only,
        many => 2.0 * probabilities(many)[class] - 1.0,
    }
}

/// For each class the held-out votes of its rows for it, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnVotes {
    pub(crate) classes: Vec<Vec<OwnVote>>,
}

impl OwnVotes {
    /// Writes votes and weights of each class.
    pub(crate) fn store(&self, tensors: &mut TensorWriter<'_>) {
        for (class, own) in self.classes.iter().enumerate() {
            let mut tensors = tensors.within(class);
            let numbers = |of: fn(&OwnVote) -> f64| Tensor::vector(&own.iter().map(of).collect::<Vec<f64>>());
            tensors.write("votes", numbers(|own| own.vote));
            tensors.write("weights", numbers(|own| own.weight));
        }
    }

    /// Whether there is what [`OwnVotes::store`] writes.
    pub(crate) fn is_stored(tensors: &TensorReader<'_>) -> bool {
        tensors.within(0).has("votes")
    }

    /// Reads what [`OwnVotes::store`] wrote; none where it makes no sense.
    pub(crate) fn load(tensors: &TensorReader<'_>, n_classes: usize) -> Option<Self> {
        let read = |class: usize| {
            let tensors = tensors.within(class);
            let (votes, weights) = (tensors.finite("votes")?, tensors.finite("weights")?);
            let sound = votes.len() == weights.len()
                && votes.is_sorted()
                && votes.iter().all(|vote| vote.abs() <= 1.0)
                && weights.iter().all(|&weight| weight > 0.0 && weight <= LARGEST_WEIGHT);
            let own = votes.into_iter().zip(weights).map(|(vote, weight)| OwnVote { vote, weight });
            sound.then(|| own.collect())
        };
        Some(OwnVotes { classes: (0..n_classes).map(read).collect::<Option<_>>()? })
    }
}

/// The largest weight of a row: the sum of all stays a number.
const LARGEST_WEIGHT: f64 = 1e100;

/// A vote for the class of a row, see [`own_vote`], and the weight of the row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OwnVote {
    pub(crate) vote: f64,
    pub(crate) weight: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Members, Part, Vote, Voters, bootstraps};
    use crate::format::built_in;
    use crate::method::{Bagging, Learn, Method};
    use crate::observer::Watch;

    #[test]
    fn only_members_that_did_not_draw_a_row_vote_on_it() {
        let train = built_in("labor").unwrap().read().unwrap().into_train().unwrap();
        let watch = &mut ();
        let watch = Watch::new(watch);
        for vote in [Vote::Weighted, Vote::Unweighted] {
            let bagging = Bagging::new().members(3).vote(vote);
            let prepared = TrainingRows::new(&train, Method::from(bagging.clone()).shared(), &watch).unwrap();
            let learned = bagging.learn(&prepared, &watch).unwrap();
            let draws = bootstraps(&prepared.codes, 0, 3).unwrap();
            let Voters::Linear(members) = &learned.ensemble.parts[0].members else { panic!("members are linear") };
            let is_out = |k: usize, row: usize| draws[k][row] == 0;
            let held_out = learned.held_out.unwrap();
            let mut rows = held_out.rows.iter();
            for i in 0..prepared.codes.len() {
                let out: Vec<Vec<f64>> = (0..3).filter(|&k| is_out(k, i)).map(|k| members.weights_of(k)).collect();
                if out.is_empty() {
                    continue;
                }
                let alone = Ensemble::whole(2, Part::alike(Members::from_rows(&out), vote));
                let expected = alone.decide(prepared.labeled.select(&[i]).rows()).unwrap();
                let row = rows.next().unwrap();
                assert_eq!(row.class, prepared.codes[i]);
                assert!((row.votes[0] - expected.get(0)[0]).abs() < 1e-12, "{:?} {:?}", row.votes, expected.get(0));
            }
            assert!(rows.next().is_none());
        }
    }

    #[test]
    fn votes_for_the_own_class_ascend() {
        let row = |class: u8, vote: f64| HeldOutRow { class, weight: 1.0, votes: vec![vote] };
        let held_out = HeldOut { rows: vec![row(0, -0.5), row(1, 0.25), row(1, -0.75), row(0, 0.1)] };
        let votes = |own: &[OwnVote]| own.iter().map(|own| own.vote).collect::<Vec<f64>>();
        let found: Vec<Vec<f64>> = held_out.own_votes(2).classes.iter().map(|own| votes(own)).collect();
        assert_eq!(found, [vec![-0.1, 0.5], vec![-0.75, 0.25]]);
        assert!((own_vote(2, &[-1.0, 0.0, 1.0]) - 1.0 / 3.0).abs() < 1e-12);
    }
}

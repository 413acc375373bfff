//! Conformal prediction sets: the classes that a row may have, with a coverage that holds in each class.
//!
//! V. Vovk, "Conditional validity of inductive conformal predictors", Machine Learning 92, 2013; R. Barber, E. Candès,
//! A. Ramdas, R. Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49, 2021.

use crate::data::{Dense, Rows, Table};
use crate::ensemble::held_out::{OwnVote, OwnVotes, own_vote};
use crate::error::{Error, Hint, Place, Result};
use crate::model::Model;

impl Model {
    /// For each row the numbers of the classes that it may have: the true class is among them for at least a share `coverage`
    /// of the rows of each class.
    ///
    /// A class is left out where at most `1 - coverage` of its labeled rows got a held-out vote as low (class-conditional
    /// conformal prediction). The coverage is that of new rows drawn as the labeled ones of the class were. It is approximate,
    /// as labeled rows are judged by some of the members and new ones by all. It was measured to be too high with bootstraps,
    /// and with folds too low by up to 0.07 in a class (docs/methods.md). A class with fewer than `coverage / (1 - coverage)`
    /// rows to compare with is in every set, see [`Model::too_few_for`]. A set is empty where a row is unlike all classes.
    ///
    /// # Errors
    /// As [`Model::decision`]; also if the coverage is not between 0 and 1, or the model has no held-out votes, see
    /// [`Model::has_held_out`].
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?;
    /// let model = Bagging::new().fit(&train)?;
    /// let (narrow, wide) = (model.predict_set(train.table(), 0.5)?, model.predict_set(train.table(), 0.99)?);
    /// assert!(narrow.iter().zip(&wide).all(|(narrow, wide)| narrow.iter().all(|class| wide.contains(class))));
    /// assert!(wide.iter().filter(|classes| classes.len() == 2).count() > 30);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn predict_set(&self, rows: &Table, coverage: f64) -> Result<Vec<Vec<usize>>> {
        self.held_out_for(coverage)?;
        self.sets(&self.decision(rows)?, coverage)
    }

    /// As [`Model::predict_set`], by decisions, see [`Model::decision`].
    ///
    /// # Errors
    /// If the coverage is not between 0 and 1, or the model has no held-out votes.
    pub fn sets(&self, decisions: &Dense, coverage: f64) -> Result<Vec<Vec<usize>>> {
        let held_out = self.held_out_for(coverage)?;
        let least: Vec<f64> = held_out.classes.iter().map(|own| least_vote(own, coverage)).collect();
        let set = |i: usize| {
            let votes = decisions.get(i);
            (0..least.len()).filter(|&class| own_vote(class, votes) >= least[class]).collect()
        };
        Ok((0..decisions.n_rows()).map(set).collect())
    }

    /// The classes with too few held-out rows for a coverage: they are in every set.
    ///
    /// # Errors
    /// As [`Model::sets`].
    pub fn too_few_for(&self, coverage: f64) -> Result<Vec<&str>> {
        let held_out = self.held_out_for(coverage)?;
        let few = |own: &Vec<OwnVote>| least_vote(own, coverage) == f64::NEG_INFINITY;
        let names = self.classes.iter().zip(&held_out.classes).filter(|(_, own)| few(own));
        Ok(names.map(|(class, _)| class.as_str()).collect())
    }

    fn held_out_for(&self, coverage: f64) -> Result<&OwnVotes> {
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::setting("coverage", coverage, "between 0 and 1"));
        }
        self.held_out.as_ref().ok_or_else(|| {
            let found = format!("`{}` without held-out votes", self.method.name());
            let expected = "members with bootstraps, or calibrated probabilities";
            Error::input(Place::new("the model"), found, expected).with_hint(Hint::Calibrated)
        })
    }
}

/// The smallest vote for a class that puts it into the set of a row: a quantile of the held-out votes of its own rows.
fn least_vote(own: &[OwnVote], coverage: f64) -> f64 {
    /// Rounding error of a share.
    const ROUNDING: f64 = 1e-12;
    let mean = own.iter().map(|row| row.weight).sum::<f64>() / own.len().max(1) as f64;
    let enough = |below: f64| (below + 1.0) / (own.len() as f64 + 1.0) > 1.0 - coverage + ROUNDING;
    let mut below = 0.0;
    if enough(below) {
        return f64::NEG_INFINITY;
    }
    for ties in own.chunk_by(|a, b| a.vote == b.vote) {
        below += ties.iter().map(|row| row.weight / mean).sum::<f64>();
        if enough(below) {
            return ties[0].vote;
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn votes(list: impl IntoIterator<Item = f64>) -> Vec<OwnVote> {
        let mut votes: Vec<OwnVote> = list.into_iter().map(|vote| OwnVote { vote, weight: 1.0 }).collect();
        votes.sort_by(|a, b| a.vote.total_cmp(&b.vote));
        votes
    }

    #[test]
    fn few_rows_exclude_nothing() {
        // A coverage of 0.9 takes 9 rows at least.
        assert_eq!(least_vote(&votes((0..8).map(f64::from)), 0.9), f64::NEG_INFINITY);
        assert_eq!(least_vote(&votes((0..9).map(f64::from)), 0.9), 0.0);
        assert_eq!(least_vote(&votes((0..19).map(f64::from)), 0.9), 1.0);
        assert_eq!(least_vote(&[], 0.5), f64::NEG_INFINITY);
        assert_eq!(least_vote(&votes([0.1, 0.1, 0.1, 0.5]), 0.5), 0.1);
    }

    #[test]
    fn the_coverage_of_exchangeable_votes_is_exact() {
        // Over many draws of n votes and a new one, the new one is at least the cutoff in 1 - floor(alpha (n + 1)) / (n + 1).
        let mut stream = Stream::new(1, Purpose::Split, 0);
        for (n, coverage, exact) in [(9, 0.9, 0.9), (14, 0.8, 0.8), (30, 0.9, 1.0 - 3.0 / 31.0)] {
            let rounds = 20_000;
            let covered = (0..rounds).filter(|_| {
                let own = votes((0..n).map(|_| stream.unit()).collect::<Vec<f64>>());
                stream.unit() >= least_vote(&own, coverage)
            });
            let share = covered.count() as f64 / f64::from(rounds);
            assert!((share - exact).abs() < 0.01, "{n} rows: {share} against {exact}");
        }
    }
}

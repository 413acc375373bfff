//! Co-training: two members with different views pseudo-label rows for each other.

use crate::data::Matrix;
use crate::ensemble::pseudo_labels::{Predictions, PseudoLabels};
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows};
use crate::error::{Error, Place, Result};
use crate::learner::{Hypothesis, Learner, Sample};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::random::{Purpose, Stream, member_seed};
use crate::text::{listed, quoted};

method! {
    /// Co-training: two members that see different columns give pseudo-labels to each other.
    ///
    /// In every round each member labels the rows of which it is most confident. For predictions their probabilities are multiplied.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = CoTraining::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    CoTraining = "co-training" {
        title: "Co-training",
        python: "CoTrainingClassifier",
        paper: "A. Blum and T. Mitchell, \"Combining labeled and unlabeled data with co-training\", COLT 1998",
        labels_rows: true,
        size: 2,
    }
    settings {
        learning;
        /// Columns that the first member sees; the second sees the others. By default each sees a random half of the features.
        view: Vec<String> = Vec::new();
        /// Number of unlabeled rows, drawn at random, from which a round takes the most confident predictions.
        pool: usize = 75, in Range::at_least(1);
        /// Largest number of rounds.
        rounds: usize = 30;
        seed;
    }
}

impl Learn for CoTraining {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let views = self.views(prepared)?;
        let mut pseudo_labels = PseudoLabels::new(prepared)?;
        let view_rows: Result<Vec<Matrix>> = views.iter().map(|columns| pseudo_labels.rows.columns(columns)).collect();
        let view_rows = view_rows?;
        let mut left = pseudo_labels.unlabeled();
        let mut rounds = LabelRounds::by_members(left.len());
        Stream::new(self.seed, Purpose::Boosting, 0).shuffle(&mut left);
        let mut pool: Vec<usize> = left.split_off(left.len().saturating_sub(self.pool));
        let wanted = per_class(&prepared.class_shares(), self.pool);
        let mut members = Vec::new();
        for round in 0..self.rounds {
            if pool.is_empty() {
                break;
            }
            watch.member(round, self.rounds)?;
            let in_round = |error: Error| error.in_round(round);
            members = self.members(&*learner, &pseudo_labels, &view_rows, &members).map_err(in_round)?;
            for (place, (member, rows)) in members.iter().zip(&view_rows).enumerate() {
                let predictions = Predictions::by(member, rows.rows(), &pool).map_err(in_round)?;
                let mut chosen = predictions.most_confident(&wanted);
                for &chosen in &chosen {
                    pseudo_labels.add(pool[chosen], predictions.classes[chosen], 1.0);
                    rounds.note(pool[chosen] - pseudo_labels.n_labeled, round, &[place]);
                }
                chosen.sort_unstable();
                chosen.iter().rev().for_each(|&chosen| _ = pool.remove(chosen));
            }
            let missing = self.pool.saturating_sub(pool.len()).min(left.len());
            pool.extend(left.split_off(left.len() - missing));
        }
        let members = self.members(&*learner, &pseudo_labels, &view_rows, &members)?;
        let views = members.into_iter().zip(views);
        let members = views.map(|(of, columns)| Hypothesis::View { columns, of: Box::new(of) }).collect::<Vec<_>>();
        let part = Part::alike(members, Rule::Product);
        let mut learned = Learned { rounds: Some(rounds), ..Ensemble::whole(prepared.n_classes(), part).into() };
        learned.warn(pseudo_labels.warning(pseudo_labels.any()), watch);
        Ok(learned)
    }
}

impl CoTraining {
    /// Fits both members to the labels and pseudo-labels so far, starting from the previous members, if there are any.
    fn members(
        &self,
        learner: &dyn Learner,
        pseudo_labels: &PseudoLabels,
        view_rows: &[Matrix],
        before: &[Hypothesis],
    ) -> Result<Vec<Hypothesis>> {
        let (classes, weights, n_classes) =
            (&pseudo_labels.classes[..], &pseudo_labels.weights[..], pseudo_labels.n_classes);
        let learn = |(place, rows): (usize, &Matrix)| {
            let seed = member_seed(self.seed, place);
            let sample = Sample { rows: rows.rows(), classes, n_classes, weights, seed };
            let member = match before.get(place) {
                Some(before) => learner.relearn(&sample, before),
                None => learner.learn(&sample),
            };
            member.map_err(|error| error.in_member(place))
        };
        view_rows.iter().enumerate().map(learn).collect()
    }

    /// The features that each member sees.
    fn views(&self, prepared: &TrainingRows) -> Result<[Vec<usize>; 2]> {
        let preparation = &prepared.preparation;
        if self.view.is_empty() {
            let mut all: Vec<usize> = (0..preparation.n_features()).collect();
            if all.len() < 2 {
                let found = format!("{} features", all.len());
                return Err(Error::training(found, "at least two, of which each member sees some"));
            }
            Stream::new(self.seed, Purpose::View, 0).shuffle(&mut all);
            let mut second = all.split_off(all.len() / 2);
            all.sort_unstable();
            second.sort_unstable();
            return Ok([all, second]);
        }
        if preparation.fourier().is_some() {
            let expected = "none beside Fourier features, of which each is made of all columns";
            return Err(Error::setting("view", self.view.join(","), expected));
        }
        let columns = preparation.columns();
        if let Some(unknown) = self.view.iter().find(|&name| columns.iter().all(|column| column.name != *name)) {
            let expected = format!("names of columns: {}", listed(columns.iter().map(|column| &column.name)));
            return Err(Error::input(Place::new("the setting `view`"), quoted(unknown), expected));
        }
        let of_column = preparation.columns_of_features();
        let (first, second): (Vec<usize>, Vec<usize>) =
            (0..preparation.n_features()).partition(|&j| self.view.contains(&columns[of_column[j]].name));
        if first.is_empty() || second.is_empty() {
            return Err(Error::setting("view", self.view.join(","), "columns that leave some for the other member"));
        }
        Ok([first, second])
    }
}

/// The number of rows of each class that a member labels in a round: one of the rarest class, of the others in proportion,
/// together at most half of the pool.
fn per_class(shares: &[f64], pool: usize) -> Vec<usize> {
    let rarest = shares.iter().copied().filter(|&share| share > 0.0).fold(f64::INFINITY, f64::min);
    let most = (pool / (2 * shares.len())).max(1);
    shares.iter().map(|share| ((share / rarest).round() as usize).clamp(1, most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_labeled_in_proportion() {
        assert_eq!(per_class(&[0.25, 0.75], 75), [1, 3]);
        assert_eq!(per_class(&[0.001, 0.999], 75), [1, 18]);
        assert_eq!(per_class(&[0.4, 0.3, 0.3], 2), [1, 1, 1]);
    }
}

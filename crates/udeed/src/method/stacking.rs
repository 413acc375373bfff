//! Stacking: a meta-learner combines the probabilities of different base learners.

use crate::data::Dense;
use crate::ensemble::vote::stacked;
use crate::ensemble::{Ensemble, Learned, Part, Rule, TrainingRows, Voters};
use crate::error::Result;
use crate::learner::{Base, Hypothesis, Learner, Logistic, Sample, n_heads};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream, member_seed};

method! {
    /// Stacking: logistic regression combines the out-of-fold probabilities of different base learners.
    ///
    /// Unlabeled rows only help to scale the features.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("diabetes")?.read()?.into_train()?;
    /// let model = Stacking::new().fit(&train)?;
    /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.7);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Stacking = "stacking" {
        title: "Stacking",
        python: "StackingClassifier",
        paper: "D. Wolpert, \"Stacked generalization\", Neural Networks 5, 1992",
        streams: true,
        size: Base::NAMES.len(),
    }
    settings {
        /// Base learners: one member each.
        bases: Vec<Base> = Base::all();
        lambda; scaling; fourier; calibrated;
        /// Number of folds whose out-of-fold probabilities the combination is learned from.
        folds: usize = 5, in Range::at_least(2);
        seed;
    }
}

impl Learn for Stacking {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let (rows, classes, n_classes) = (prepared.labeled.rows(), &prepared.codes[..], prepared.n_classes());
        let n = classes.len();
        let width = self.bases.len() * n_heads(n_classes);
        let folds = self.folds_of(prepared);
        let mut probabilities = Dense::zeros(n, width)?;
        let members_of = |weights: &[f64]| -> Result<Vec<Hypothesis>> {
            let start = prepared.start();
            let learn = |place: usize| {
                let (base, seed) = (&self.bases[place], member_seed(self.seed, place));
                let sample = Sample { rows, classes, n_classes, weights, seed };
                let member = base.learner(self.lambda, watch).relearn(&sample, &start);
                member.map_err(|error| error.in_member(place))
            };
            parallel::try_map(self.bases.len(), learn)
        };
        for fold in 0..folds.iter().max().map_or(0, |last| last + 1) {
            let kept = |i: usize| if folds[i] == fold { 0.0 } else { prepared.weights[i] };
            let weights: Vec<f64> = (0..n).map(kept).collect();
            let members = members_of(&weights)?;
            let own: Vec<usize> = (0..n).filter(|&i| folds[i] == fold).collect();
            let left_out = crate::data::Matrix::gather(rows, &own);
            let tables: Vec<Dense> =
                members.iter().map(|member| member.distributions(left_out.rows())).collect::<Result<_>>()?;
            for (place, &i) in own.iter().enumerate() {
                let all: Vec<f64> = tables.iter().flat_map(|table| table.get(place)).copied().collect();
                probabilities.row_mut(i).copy_from_slice(&stacked(&all, n_classes));
            }
            watch.member(fold, self.folds + 1)?;
        }
        let last = Logistic::new(self.lambda);
        let sample = Sample { rows: &probabilities, classes, n_classes, weights: &prepared.weights, seed: self.seed };
        let Hypothesis::Linear(last) = last.learn(&sample)? else { unreachable!("logistic regression is linear") };
        let members = members_of(&prepared.weights)?;
        let weights = vec![1.0; members.len()];
        let part = Part { members: Voters::Any(members), weights, rule: Rule::Stacked(last) };
        Ok(Ensemble::whole(n_classes, part).into())
    }
}

impl Stacking {
    /// The stratified fold of each labeled row.
    fn folds_of(&self, prepared: &TrainingRows) -> Vec<usize> {
        let mut order: Vec<usize> = (0..prepared.codes.len()).collect();
        Stream::new(self.seed, Purpose::Folds, 1).shuffle(&mut order);
        order.sort_by_key(|&i| prepared.codes[i]);
        let folds = self.folds.min(order.len());
        let mut of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &i)| of[i] = place % folds);
        of
    }
}

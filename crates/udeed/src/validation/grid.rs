//! Grid search: settings of UDEED chosen by cross-validation on the labeled rows.

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::error::{Error, Result};
use crate::fit::InitialEnsemble;
use crate::method::udeed::Initial;
use crate::method::{Bagging, Method, Udeed};
use crate::model::Model;
use crate::observer::Observer;
use crate::prepare::Scaling;

/// The values of a grid search, of which all combinations are tried. See [`choose`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Weights of diversity.
    pub gamma: Vec<f64>,
    /// Inverse regularisation strengths.
    pub lambda: Vec<f64>,
    /// Scalings of the features.
    pub scaling: Vec<Scaling>,
    /// Numbers of members.
    pub members: Vec<usize>,
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            gamma: vec![0.5, 1.0, 2.0, 4.0],
            lambda: vec![0.1, 1.0, 10.0],
            scaling: vec![Scaling::MinMax, Scaling::Standard],
            members: vec![20],
        }
    }
}

/// A candidate of a grid search, and its results on the held-out rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Weight of diversity; none for bagging.
    pub gamma: Option<f64>,
    /// Inverse regularisation strength.
    pub lambda: f64,
    /// Scaling of the features.
    pub scaling: Scaling,
    /// Number of members.
    pub members: usize,
    /// Accuracy on each fold.
    pub accuracies: Vec<f64>,
    /// Accuracy on all held-out rows.
    pub accuracy: f64,
    /// Log loss on all held-out rows.
    pub log_loss: f64,
}

/// The result of a grid search.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The chosen method: UDEED, or bagging if diversity did not help.
    pub method: Method,
    /// The index of the chosen candidate.
    pub best: usize,
    /// All candidates.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Whether UDEED was chosen over bagging.
    pub fn diversity_pays(&self) -> bool {
        self.candidates[self.best].gamma.is_some()
    }
}

/// Chooses settings of UDEED by cross-validation: each fold of labeled rows is held out in turn, and candidates are fitted
/// to the others and to all unlabeled rows. The most accurate candidate wins; the smaller log loss breaks ties, then bagging
/// wins over UDEED.
///
/// All candidates of a fold with the same scaling and lambda share the prepared rows and the initial members, of which
/// smaller ensembles take the first. The members of bagging are always fitted to bootstraps.
///
/// # Errors
/// If the grid is empty, there are fewer than 2 folds, a fold has a row that does not exist, or a fit fails; also
/// [`Error::Stopped`] if the observer ends it.
///
/// ```
/// use udeed::data::stratified_folds;
/// use udeed::format::built_in;
/// use udeed::method::Udeed;
/// use udeed::validation::{Grid, choose};
///
/// let train = built_in("labor")?.read()?.into_train()?;
/// let folds = stratified_folds(train.labels(), 3, 0);
/// let grid = Grid { lambda: vec![1.0], ..Grid::default() };
/// let choice = choose(&Udeed::new(), &grid, &train, &folds, &mut ())?;
/// assert_eq!(choice.candidates.len(), 2 * (1 + 4)); // bagging and four gammas, for two scalings
/// let model = choice.method.fit(&train)?;
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn choose(
    settings: &Udeed,
    grid: &Grid,
    train: &TrainSet,
    folds: &[Vec<usize>],
    observer: &mut dyn Observer,
) -> Result<Choice> {
    let mut candidates = grid.candidates(settings)?;
    if folds.len() < 2 {
        return Err(Error::setting("folds", folds.len(), "at least 2"));
    }
    let n_rows = train.labels().len();
    if let Some(row) = folds.iter().flatten().find(|&&row| row >= n_rows) {
        return Err(Error::setting("folds", format!("a list with row {row}"), format!("rows below {n_rows}")));
    }
    let (mut tested, mut tried, all) = (0, 0, candidates.len() * folds.len());
    for fold in folds {
        tested += fold.len();
        let mut left_out = vec![false; n_rows];
        fold.iter().for_each(|&row| left_out[row] = true);
        let rest: Vec<usize> = (0..left_out.len()).filter(|&row| !left_out[row]).collect();
        let of_rest = |error: Error| error.among_rows(&rest);
        let (kept, test) = (train.select(&rest), train.select(fold));
        // Adjacent candidates share their initial members.
        for group in candidates.chunk_by_mut(|a, b| (a.lambda, a.scaling) == (b.lambda, b.scaling)) {
            let most = group.iter().map(|candidate| candidate.members).max().unwrap_or(2);
            let begin = settings.clone().lambda(group[0].lambda).scaling(group[0].scaling).members(most);
            let bootstraps = begin.clone().initial(Initial::Bootstrap).start(&kept, observer).map_err(of_rest)?;
            let others = match settings.initial {
                Initial::Bootstrap => None,
                Initial::Random => Some(begin.start(&kept, observer).map_err(of_rest)?),
            };
            for candidate in group {
                let own = others.as_ref().filter(|_| candidate.gamma.is_some());
                let tested = candidate.test(settings, own.unwrap_or(&bootstraps), &test, observer);
                tested.map_err(|error| error.among_rows(fold))?;
                tried += 1;
                if observer.candidate(tried, all).is_break() {
                    return Err(Error::Stopped);
                }
            }
        }
    }
    candidates.iter_mut().for_each(|candidate| candidate.finish(tested));
    let best = best(&candidates);
    Ok(Choice { method: candidates[best].method(settings), best, candidates })
}

impl Grid {
    /// All candidates, bagging before UDEED; those that share their initial members are adjacent.
    fn candidates(&self, settings: &Udeed) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        for &scaling in &self.scaling {
            for &lambda in &self.lambda {
                for &members in &self.members {
                    let none = std::iter::once(None);
                    for gamma in none.chain(self.gamma.iter().copied().map(Some)) {
                        let candidate = Candidate {
                            gamma,
                            lambda,
                            scaling,
                            members,
                            accuracies: Vec::new(),
                            accuracy: 0.0,
                            log_loss: 0.0,
                        };
                        candidate.method(settings).validate()?;
                        candidates.push(candidate);
                    }
                }
            }
        }
        if candidates.is_empty() || self.gamma.is_empty() {
            return Err(Error::setting("grid", "empty", "at least one value of each setting"));
        }
        Ok(candidates)
    }
}

impl Candidate {
    fn method(&self, settings: &Udeed) -> Method {
        let (members, lambda, scaling) = (self.members, self.lambda, self.scaling);
        match self.gamma {
            Some(gamma) => settings.clone().gamma(gamma).members(members).lambda(lambda).scaling(scaling).into(),
            None => {
                let bagging = Bagging::new().members(members).lambda(lambda).scaling(scaling);
                let bagging = bagging.fourier(settings.fourier).vote(settings.vote).seed(settings.seed);
                bagging.calibrated(settings.calibrated).into()
            }
        }
    }

    /// Adds the results of one fold. Accuracy and log loss are sums until all folds are done.
    fn test(
        &mut self,
        settings: &Udeed,
        start: &InitialEnsemble,
        test: &TrainSet,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let model: Model = match self.gamma {
            Some(gamma) => {
                // Of the candidates only the one that is chosen is calibrated: bagging is not, either.
                let settings = settings.clone().gamma(gamma).members(self.members).calibrated(false);
                start.descend(&settings, observer)?
            }
            None => start.model(self.members)?,
        };
        // The accuracy of an unfinished descent is no measure of its settings.
        if model.training().was_stopped() {
            return Err(Error::Stopped);
        }
        let evaluation = model.evaluate(test.table(), test.labels())?;
        let n_rows = evaluation.n_rows as f64;
        self.accuracies.push(evaluation.accuracy);
        self.accuracy += (evaluation.accuracy * n_rows).round();
        self.log_loss += evaluation.log_loss * n_rows;
        Ok(())
    }

    fn finish(&mut self, tested: usize) {
        self.accuracy /= tested as f64;
        self.log_loss /= tested as f64;
    }
}

/// The most accurate candidate, then the least log loss, then the first: bagging comes before UDEED.
fn best(candidates: &[Candidate]) -> usize {
    let mut best = 0;
    for (place, candidate) in candidates.iter().enumerate() {
        let so_far = &candidates[best];
        let better = candidate.accuracy > so_far.accuracy
            || (candidate.accuracy == so_far.accuracy && candidate.log_loss < so_far.log_loss);
        if better {
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::stratified_folds;
    use crate::format::built_in;
    use crate::observer::Step;
    use crate::validation::cross_validate;

    fn train() -> TrainSet {
        let hidden: Vec<usize> = (0..351).filter(|i| i % 4 != 0).collect();
        built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap().hide_labels(&hidden)
    }

    /// Sharing initial members changes nothing: each candidate has the accuracy that it has alone.
    #[test]
    fn candidates_are_what_they_are_alone() {
        let train = train();
        let grid =
            Grid { gamma: vec![1.0, 3.0], lambda: vec![1.0], scaling: vec![Scaling::Standard], members: vec![5, 9] };
        for initial in [Initial::Bootstrap, Initial::Random] {
            let settings = Udeed::new().seed(3).initial(initial);
            let folds = stratified_folds(train.labels(), 4, settings.seed);
            let choice = choose(&settings, &grid, &train, &folds, &mut ()).unwrap();
            assert_eq!(choice.candidates.len(), 6);
            for candidate in &choice.candidates {
                let alone = cross_validate(&candidate.method(&settings), &train, 4, &mut ()).unwrap();
                assert_eq!(alone.model, candidate.accuracies, "{initial:?}: {candidate:?}");
            }
            let best = &choice.candidates[choice.best];
            assert!(choice.candidates.iter().all(|candidate| candidate.accuracy <= best.accuracy));
        }
    }

    #[test]
    fn a_row_that_is_not_there_is_refused() {
        let error = choose(&Udeed::new(), &Grid::default(), &train(), &[vec![0], vec![4, 351]], &mut ()).unwrap_err();
        assert_eq!(error.to_string(), "`folds` is a list with row 351, expected rows below 351");
    }

    /// Unfinished descents choose nothing.
    #[test]
    fn an_observer_ends_the_choice() {
        struct Impatient;
        impl Observer for Impatient {
            fn step(&mut self, _: &Step) -> ControlFlow<()> {
                ControlFlow::Break(())
            }
        }
        let train = train();
        let folds = stratified_folds(train.labels(), 3, 0);
        let stopped = choose(&Udeed::new(), &Grid::default(), &train, &folds, &mut Impatient);
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    }

    /// Too much diversity does not pay.
    #[test]
    fn bagging_is_chosen_where_diversity_does_not_pay() {
        let train = train();
        let folds = stratified_folds(train.labels(), 3, 0);
        // Diversity dominates the labels.
        let grid = Grid { gamma: vec![1e6], lambda: vec![1.0], scaling: vec![Scaling::Standard], members: vec![4] };
        let choice = choose(&Udeed::new().rate(10.0), &grid, &train, &folds, &mut ()).unwrap();
        assert!(!choice.diversity_pays(), "{:?}", choice.candidates);
        assert_eq!(choice.method.name(), "bagging");
    }

    #[test]
    fn an_empty_grid_is_refused() {
        let folds = [vec![0], vec![4]];
        for grid in [Grid { gamma: vec![], ..Grid::default() }, Grid { members: vec![], ..Grid::default() }] {
            assert!(choose(&Udeed::new(), &grid, &train(), &folds, &mut ()).unwrap_err().is_usage());
        }
        assert!(choose(&Udeed::new(), &Grid::default(), &train(), &folds[..1], &mut ()).is_err());
    }
}

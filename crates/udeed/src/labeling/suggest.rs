//! Suggestions: the rows whose labels are the most informative.

use crate::data::{Matrix, Table, TrainSet};
use crate::error::{Error, Result};
use crate::labeling::candidates::{Candidates, some_labeled};
use crate::labeling::committee::{disagreements, undecided, vote_entropies};
use crate::labeling::gaussian_process::Covariance;
use crate::labeling::settings::settings;
use crate::labeling::strategy::Strategy;
use crate::method::{Auto, Method};
use crate::model::Model;
use crate::observer::{Observer, Warning, Watch};
use crate::prepare::{Fitted, Preparation, Scaling};
use crate::random::{Purpose, Stream};

settings! {
    /// Suggests rows to label next.
    ///
    /// The default strategy is the expected variance reduction of a Gaussian process over the rows that are still undecided (D.
    /// Cohn, Z. Ghahramani and M. Jordan, "Active learning with statistical models", JAIR 4, 1996), which a model weighs:
    ///
    /// ```text
    /// score(x) = u(x)^a  sum over j of (1 - a + a u(j)) c(x, j)^2 / (c(x, x) + 0.3)
    /// ```
    ///
    /// `c` is the covariance that the labels leave, with features standardised over all rows and cut at 6, and the median squared
    /// distance as width; `u = 1 - (p1 - p2)` is how undecided the model is, and `a = l / (l + 20)` how far it is trusted after
    /// `l` labels. With fewer than 10 labels, or fewer than 2 of a class, `a` is 0: no model is needed, and no label. A model that is
    /// given is always asked, and `l` is the number of labels that it has learned from. A batch is chosen one by one, each as if
    /// those before were labeled.
    ///
    /// Of many rows, 2000 drawn at random are candidates, and 1000 of these stand for all. After 1000 suggestions further ones follow
    /// by their scores, as if none of these were labeled.
    ///
    /// ```
    /// use udeed::labeling::{Strategy, Suggest};
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("vote")?.read()?.into_train()?.hide_labels(&(30..435).collect::<Vec<usize>>());
    /// let found = Suggest::new().count(3).seed(1).suggest(&train, None)?;
    /// assert!(found.suggestions.iter().all(|suggestion| suggestion.row >= 30 && suggestion.share > 0.0));
    ///
    /// // Without any label.
    /// let none = train.clone().hide_labels(&(0..30).collect::<Vec<usize>>());
    /// assert!(Suggest::new().suggest(&none, None)?.cold);
    ///
    /// // With a model of one's own, and another strategy.
    /// let model = Bagging::new().fit(&train)?;
    /// let found = Suggest::new().strategy(Strategy::Margin).suggest(&train, Some(&model))?;
    /// assert_eq!(found.suggestions.len(), 10);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Suggest {
        /// Number of suggestions.
        count: usize = 10;
        /// Query strategy.
        strategy: Strategy = Strategy::VarianceReduction;
        /// Method of the model that is fitted if none is given, to the labeled rows and the candidates; none for [`Auto`] with
        /// the random seed of the suggestions.
        method: Option<Method> = None, by impl Into<Method> => Some(method.into());
        /// Largest number of suggestions that the model predicts to be of the same class, where it is known that some are rare;
        /// none for any.
        per_class: Option<usize> = None;
        /// Cost of the label of each row; scores are divided by it. One number for each row, also for labeled ones, those in
        /// memory first; none if all cost the same.
        costs: Option<Vec<f64>> = None;
        /// Importance of the class of each row: the variance that labels leave is summed with these weights. One
        /// number for each row, as of [`Suggest::costs`]; they are multiplied with the weights of the training rows, which a
        /// model sees, too. A row of weight 0 may be suggested for what it tells about others. Only variance reduction goes by
        /// them. None if all matter alike.
        weights: Option<Vec<f64>> = None;
        /// Random seed.
        seed: u64 = 0;
    }
}

/// Largest number of candidates, unless more suggestions are asked for.
const MOST_CANDIDATES: usize = 2000;
/// Largest number of reference rows, which stand for all unlabeled ones.
const MOST_REFERENCES: usize = 1000;
/// Largest number of suggestions that exclude rows like them: each takes time and memory for every candidate.
const MOST_APART: usize = 1000;
/// Largest number of labeled rows in the Gaussian process.
const MOST_LABELED: usize = 1000;
/// Limit of standardised features, which bounds the distance of outliers.
const FARTHEST: f64 = 6.0;
/// A model is asked from this many labels on, and from this many of each class.
const LEAST_LABELED: usize = 10;
const LEAST_OF_CLASS: usize = 2;
/// Number of labels with which the model weighs half.
const HALF_TRUST: f64 = 20.0;

/// A row to label, with the reasons in numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its position: among the rows in memory, and after them those in the file, counted from 0.
    pub row: usize,
    /// The score of the strategy, divided by the cost of the row.
    pub score: f64,
    /// How undecided the model is, from 0 to 1: 1 less the margin between its two most probable classes. 1 without a model.
    pub undecided: f64,
    /// How unlike the labeled rows and the suggestions before it is, from 0 to 1: the variance that these leave.
    pub unlike: f64,
    /// The share of the variance of all rows that its label is expected to remove.
    pub share: f64,
    /// The class that the model predicts, if there is one.
    pub class: Option<String>,
}

/// Rows to label, the most useful first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestions {
    /// The rows.
    pub suggestions: Vec<Suggestion>,
    /// Whether no model was asked: the strategy asks none, or the labels are too few.
    pub cold: bool,
    /// Number of unlabeled rows among which they were found; of very many it is a random sample.
    pub n_candidates: usize,
}

impl Suggest {
    /// Suggests rows. The weights of the unlabeled rows tell how much it matters to know their classes.
    ///
    /// # Errors
    /// If a setting is invalid, no row is unlabeled, the model does not fit the rows or has one member where members are
    /// compared, or none can be fitted.
    pub fn suggest(&self, train: &TrainSet, model: Option<&Model>) -> Result<Suggestions> {
        self.suggest_observed(train, model, &mut ())
    }

    /// Suggests rows, and reports to an observer.
    ///
    /// # Errors
    /// As [`Suggest::suggest`]; also [`Error::Stopped`] if the observer ends the work.
    pub fn suggest_observed(
        &self,
        train: &TrainSet,
        model: Option<&Model>,
        observer: &mut dyn Observer,
    ) -> Result<Suggestions> {
        self.validate(train)?;
        let candidates = Candidates::draw(train, MOST_CANDIDATES.max(self.count), self.seed)?;
        let fitted = match model {
            None if self.wants_model(train) => Some(self.fit(train, &candidates, observer)?),
            _ => None,
        };
        let model = model.or(fitted.as_ref());
        self.check_committee(model)?;
        self.warn(train, model, observer);
        let watch = Watch::new(observer);
        let covariance = covariance(train, &candidates, self.count.min(MOST_APART), self.seed, &watch)?;
        let opinion = candidates.ask(|rows| Opinion::of(model, rows))?;
        let fixed = self.fixed_scores(model, &opinion, &candidates)?;
        let suggestions = self.pick(train, &candidates, &opinion, covariance, fixed.as_deref(), &watch)?;
        let (rows, count) = (suggestions.len(), self.count);
        if let Some(per_class) = self.per_class.filter(|_| rows < count.min(candidates.positions.len())) {
            watch.warn(&Warning::ClassesLimited { rows, count, per_class });
        }
        Ok(Suggestions { suggestions, cold: model.is_none(), n_candidates: candidates.positions.len() })
    }

    fn validate(&self, train: &TrainSet) -> Result<()> {
        if self.count == 0 {
            return Err(Error::setting("count", self.count, "at least 1"));
        }
        if self.per_class == Some(0) {
            return Err(Error::setting("per_class", 0, "at least 1"));
        }
        let n_unlabeled = train.n_unlabeled();
        if n_unlabeled == 0 {
            return Err(Error::training("no unlabeled row", "some to choose from"));
        }
        let n_rows = train.n_labeled() + n_unlabeled;
        check_numbers("costs", self.costs.as_deref(), n_rows, "positive numbers", |cost| cost > 0.0)?;
        check_numbers("weights", self.weights.as_deref(), n_rows, "0 or positive numbers", |weight| weight >= 0.0)
    }

    /// Refuses a model whose members have nobody to disagree with.
    fn check_committee(&self, model: Option<&Model>) -> Result<()> {
        let compares = matches!(self.strategy, Strategy::VoteEntropy | Strategy::Committee);
        if compares && model.is_some_and(|model| model.ensemble().n_members() == 1) {
            let found = format!("`{}` and the model has 1 member", self.strategy);
            return Err(Error::setting(
                "strategy",
                found,
                "a model of several members, or a strategy that compares none",
            ));
        }
        Ok(())
    }

    /// Whether the strategy asks a model, and the labels allow one.
    pub(crate) fn wants_model(&self, train: &TrainSet) -> bool {
        let counts: Vec<usize> = train.labels().counts().into_iter().filter(|&count| count > 0).collect();
        if counts.len() < 2 {
            return false;
        }
        match self.strategy {
            Strategy::Random => self.per_class.is_some(),
            strategy if strategy.needs_model() => true,
            _ => train.n_labeled() >= LEAST_LABELED && counts.iter().all(|&count| count >= LEAST_OF_CLASS),
        }
    }

    /// Fits a model to the labeled rows and the candidates, which stand for all unlabeled rows.
    fn fit(&self, train: &TrainSet, candidates: &Candidates, observer: &mut dyn Observer) -> Result<Model> {
        let usual = || Auto::new().seed(self.seed).into();
        let method: Method = self.method.clone().unwrap_or_else(usual);
        candidates.learn(train, |some| method.fit_observed(some, observer))
    }

    fn warn(&self, train: &TrainSet, model: Option<&Model>, observer: &mut dyn Observer) {
        let rows = train.n_unlabeled();
        if rows < self.count {
            observer.warn(&Warning::FewToSuggest { rows, count: self.count });
        }
        if rows.min(self.count) > MOST_APART && self.strategy == Strategy::VarianceReduction {
            observer.warn(&Warning::ManySuggestions { most: MOST_APART });
        }
        if model.is_none() && self.strategy.needs_model() {
            observer.warn(&Warning::NoModelToAsk);
        }
        if model.is_none() && self.per_class.is_some() {
            observer.warn(&Warning::NothingPredicted);
        }
        let weighs = match self.strategy {
            Strategy::VarianceReduction => true,
            strategy => strategy.needs_model() && model.is_none(),
        };
        if !weighs && self.has_weights(train) {
            observer.warn(&Warning::WeightsNotUsed { strategy: self.strategy.to_string() });
        }
    }

    /// Whether weights are given, or those of the unlabeled rows differ.
    fn has_weights(&self, train: &TrainSet) -> bool {
        let labels = train.labels();
        let mut own = (0..labels.len()).filter(|&i| labels.get(i).is_none()).map(|i| train.row_weight(i));
        let first = own.next();
        self.weights.is_some() || own.any(|weight| Some(weight) != first)
    }

    /// The scores of strategies whose suggestions do not depend on each other.
    fn fixed_scores(
        &self,
        model: Option<&Model>,
        opinion: &Opinion,
        candidates: &Candidates,
    ) -> Result<Option<Vec<f64>>> {
        let scores = match (self.strategy, model) {
            (Strategy::Random, _) => {
                let mut stream = Stream::new(self.seed, Purpose::RandomRows, 0);
                candidates.positions.iter().map(|_| stream.unit()).collect()
            }
            (Strategy::VarianceReduction, _) | (_, None) => return Ok(None),
            (Strategy::Margin, Some(_)) => opinion.undecided.clone(),
            (Strategy::VoteEntropy, Some(model)) => vote_entropies(model, &candidates.table)?,
            (Strategy::Committee, Some(model)) => disagreements(model, &candidates.table)?,
        };
        Ok(Some(scores))
    }

    /// Takes the best candidate, one after the other.
    fn pick(
        &self,
        train: &TrainSet,
        candidates: &Candidates,
        opinion: &Opinion,
        mut covariance: Covariance,
        fixed: Option<&[f64]>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Suggestion>> {
        let positions = &candidates.positions;
        let weights = self.weights_of(train, opinion, &positions[..covariance.n_references()]);
        let cost = |i: usize| self.costs.as_ref().map_or(1.0, |costs| costs[positions[i]]);
        let mut open = Open::all(positions.len(), opinion);
        let mut picked = Vec::new();
        let mut reductions = Vec::new();
        while picked.len() < self.count.min(positions.len()) {
            watch.ask()?;
            let is_apart = picked.len() < MOST_APART;
            if is_apart || picked.len() == MOST_APART {
                reductions = covariance.reductions(&weights);
            }
            let score =
                |i: usize| fixed.map_or_else(|| opinion.trust_in(i) * reductions[i], |fixed| fixed[i]) / cost(i);
            // Every class has as many suggestions as it may have.
            let Some((best, score)) = open.best(score) else { break };
            let class = open.take(best, opinion, self.per_class);
            let total = covariance.total(&weights);
            picked.push(Suggestion {
                row: positions[best],
                score,
                undecided: opinion.undecided[best],
                unlike: covariance.variances()[best],
                share: if total > 0.0 { reductions[best] / total } else { 0.0 },
                class: class.map(|class| opinion.classes[class].clone()),
            });
            if is_apart {
                covariance.label(best);
            }
        }
        Ok(picked)
    }

    /// Weight of each reference row.
    fn weights_of(&self, train: &TrainSet, opinion: &Opinion, references: &[usize]) -> Vec<f64> {
        let mut weights = opinion.weights(train, references);
        if let Some(own) = &self.weights {
            let largest = references.iter().map(|&row| own[row]).fold(f64::MIN_POSITIVE, f64::max);
            weights.iter_mut().zip(references).for_each(|(weight, &row)| *weight *= own[row] / largest);
        }
        weights
    }
}

/// The candidates that may still be suggested.
struct Open {
    is_open: Vec<bool>,
    /// Number of suggestions of each predicted class.
    of_class: Vec<usize>,
}

impl Open {
    fn all(n: usize, opinion: &Opinion) -> Self {
        Open { is_open: vec![true; n], of_class: vec![0; opinion.classes.len()] }
    }

    /// The candidate of the highest score, and its score; of equal ones the first.
    fn best(&self, score: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
        let open = (0..self.is_open.len()).filter(|&i| self.is_open[i]).map(|i| (i, score(i)));
        open.fold(None, |best: Option<(usize, f64)>, (i, score)| match best {
            Some((_, highest)) if highest >= score => best,
            _ => Some((i, score)),
        })
    }

    /// Closes a candidate, and all of its predicted class where this has as many suggestions as it may have. Returns the class.
    fn take(&mut self, i: usize, opinion: &Opinion, per_class: Option<usize>) -> Option<usize> {
        self.is_open[i] = false;
        let predicted = opinion.predicted.as_ref()?;
        let class = predicted[i];
        self.of_class[class] += 1;
        if per_class == Some(self.of_class[class]) {
            self.is_open.iter_mut().zip(predicted).for_each(|(open, other)| *open &= *other != class);
        }
        Some(class)
    }
}

/// Refuses numbers that are not one for each row, or that may not be.
fn check_numbers(
    name: &'static str,
    numbers: Option<&[f64]>,
    n_rows: usize,
    expected: &str,
    may_be: fn(f64) -> bool,
) -> Result<()> {
    let Some(numbers) = numbers else { return Ok(()) };
    if numbers.len() != n_rows {
        let found = format!("{} numbers", numbers.len());
        return Err(Error::setting(name, found, format!("one for each of {n_rows} rows")));
    }
    match numbers.iter().position(|&number| !(number.is_finite() && may_be(number))) {
        None => Ok(()),
        Some(bad) => Err(Error::setting(name, format!("{} in row {}", numbers[bad], bad + 1), expected)),
    }
}

/// Covariance of the candidates that the labels leave.
fn covariance(
    train: &TrainSet,
    candidates: &Candidates,
    to_label: usize,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Covariance> {
    let Fitted { preparation, .. } = Preparation::fit_with(train.table(), train.on_disk(), Scaling::Standard, false)?;
    let standardised = |table: &Table| Ok(cut(preparation.apply(table)?));
    let labeled = standardised(&some_labeled(train, MOST_LABELED, seed))?;
    let references = candidates.positions.len().min(MOST_REFERENCES);
    Covariance::new(standardised(&candidates.table)?, &labeled, references, to_label, watch)
}

/// The features, no farther from 0 than [`FARTHEST`].
fn cut(mut features: Matrix) -> Matrix {
    features.values_mut().iter_mut().for_each(|x| *x = x.clamp(-FARTHEST, FARTHEST));
    features
}

/// Predictions of a model for the candidates.
struct Opinion {
    /// How undecided it is about each; 1 without a model.
    undecided: Vec<f64>,
    /// How far it is trusted.
    trust: f64,
    /// The class that it predicts for each.
    predicted: Option<Vec<usize>>,
    classes: Vec<String>,
}

impl Opinion {
    fn of(model: Option<&Model>, rows: &Table) -> Result<Self> {
        let Some(model) = model else {
            let undecided = vec![1.0; rows.n_rows()];
            return Ok(Opinion { undecided, trust: 0.0, predicted: None, classes: Vec::new() });
        };
        let decisions = model.decision(rows)?;
        let probabilities = model.probabilities(&decisions)?;
        let labels = model.training().n_labeled as f64;
        Ok(Opinion {
            undecided: undecided(&probabilities),
            trust: labels / (labels + HALF_TRUST),
            predicted: Some((0..rows.n_rows()).map(|i| model.class_of(decisions.get(i))).collect()),
            classes: model.classes().to_vec(),
        })
    }

    /// `u^a` of a candidate.
    fn trust_in(&self, i: usize) -> f64 {
        libm::pow(self.undecided[i], self.trust)
    }

    /// Weight of each reference row.
    fn weights(&self, train: &TrainSet, references: &[usize]) -> Vec<f64> {
        let in_memory = train.labels().len();
        let weight = |row: usize| if row < in_memory { train.weight(row) } else { 1.0 };
        let own: Vec<f64> = references.iter().map(|&row| weight(row)).collect();
        let largest = own.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let matters = |(u, weight): (&f64, f64)| (1.0 - self.trust + self.trust * u) * weight / largest;
        self.undecided.iter().zip(own).map(matters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Dense, Labels};
    use crate::format::built_in;
    use crate::method::Bagging;

    #[derive(serde::Deserialize)]
    struct Problem {
        rows: Vec<Vec<f64>>,
        labeled: Vec<usize>,
        undecided: Option<Vec<f64>>,
        weights: Vec<f64>,
        costs: Vec<f64>,
        /// Row, score, variance, share.
        picked: Vec<(usize, f64, f64, f64)>,
    }

    impl Problem {
        fn train(&self) -> TrainSet {
            let label = |i: usize| self.labeled.contains(&i).then(|| ["no", "yes"][i % 2]);
            let labels = Labels::new((0..self.rows.len()).map(label));
            let train = TrainSet::new(Table::from_rows(&self.rows).unwrap(), labels).unwrap();
            train.weights(self.weights.clone()).unwrap()
        }

        /// The opinion of a model that is as undecided as the problem says.
        fn opinion(&self, positions: &[usize]) -> Opinion {
            let labels = self.labeled.len() as f64;
            let (undecided, trust) = match &self.undecided {
                None => (vec![1.0; positions.len()], 0.0),
                Some(all) => (positions.iter().map(|&row| all[row]).collect(), labels / (labels + HALF_TRUST)),
            };
            Opinion { undecided, trust, predicted: None, classes: Vec::new() }
        }
    }

    /// As numpy finds them from the definitions, see `tests/oracle/suggest.py`.
    #[test]
    fn batches_are_those_of_the_oracle() {
        let problems: Vec<Problem> = serde_json::from_str(include_str!("../../tests/oracle/suggest.json")).unwrap();
        for problem in &problems {
            let train = problem.train();
            let suggest = Suggest::new().count(problem.picked.len()).costs(Some(problem.costs.clone()));
            let candidates = Candidates::draw(&train, MOST_CANDIDATES, 5).unwrap();
            let mut nobody = ();
            let watch = Watch::new(&mut nobody);
            let covariance = covariance(&train, &candidates, 5, 5, &watch).unwrap();
            let opinion = problem.opinion(&candidates.positions);
            let found = suggest.pick(&train, &candidates, &opinion, covariance, None, &watch).unwrap();
            let expected: Vec<usize> = problem.picked.iter().map(|picked| picked.0).collect();
            assert_eq!(found.iter().map(|own| own.row).collect::<Vec<_>>(), expected);
            for (own, (_, score, unlike, share)) in found.iter().zip(&problem.picked) {
                for (found, expected) in [(own.score, score), (own.unlike, unlike), (own.share, share)] {
                    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} against {expected}");
                }
            }
        }
    }

    fn few_labels(name: &str, labels: usize) -> TrainSet {
        let train = built_in(name).unwrap().read().unwrap().into_train().unwrap();
        let hidden: Vec<usize> = (labels..train.labels().len()).collect();
        train.hide_labels(&hidden)
    }

    fn rows(found: &Suggestions) -> Vec<usize> {
        found.suggestions.iter().map(|suggestion| suggestion.row).collect()
    }

    #[test]
    fn a_row_and_its_copies_are_suggested_once() {
        // Three groups of equal rows.
        let values: Vec<[f64; 1]> = (0..30).map(|i| [[0.0, 5.0, 20.0][i % 3]]).collect();
        let train = TrainSet::new(Table::from_rows(&values).unwrap(), Labels::unlabeled(30)).unwrap();
        let found = rows(&Suggest::new().count(3).suggest(&train, None).unwrap());
        let mut groups: Vec<usize> = found.iter().map(|row| row % 3).collect();
        groups.sort_unstable();
        assert_eq!(groups, [0, 1, 2]);
    }

    #[test]
    fn sparse_rows_get_the_suggestions_of_dense_ones() {
        let mut stream = Stream::new(4, Purpose::Split, 0);
        let values: Vec<f64> = (0..400).map(|_| (3.0 * stream.unit()).floor()).collect();
        let dense = Dense::new(80, 5, values).unwrap();
        let sparse: Csr = Matrix::from(dense.clone()).to_sparse();
        let suggest = |matrix: Matrix| {
            let train = TrainSet::new(Table::from_matrix(matrix).unwrap(), Labels::unlabeled(80)).unwrap();
            rows(&Suggest::new().count(12).suggest(&train, None).unwrap())
        };
        assert_eq!(suggest(dense.into()), suggest(sparse.into()));
    }

    #[test]
    fn a_model_that_is_given_is_asked_whatever_labels_there_are() {
        let model = Bagging::new().fit(&few_labels("vote", 6)).unwrap();
        for labels in [0, 6, 40] {
            let suggest = Suggest::new().count(5);
            let train = few_labels("vote", labels);
            let found = suggest.suggest(&train, Some(&model)).unwrap();
            assert!(!found.cold && found.suggestions.iter().all(|own| own.undecided < 1.0), "{labels}");
            assert_eq!(suggest.suggest(&train, None).unwrap().cold, labels < 10, "{labels}");
            // By its own six labels.
            let opinion = Opinion::of(Some(&model), train.table()).unwrap();
            assert_eq!(opinion.trust, 6.0 / 26.0);
        }
    }

    #[test]
    fn every_strategy_suggests_unlabeled_rows_once() {
        let train = few_labels("vote", 40);
        let mut all = Vec::new();
        for strategy in Strategy::all() {
            let found = Suggest::new().strategy(strategy).count(15).suggest(&train, None).unwrap();
            let mut unique = rows(&found);
            all.push(unique.clone());
            unique.sort_unstable();
            unique.dedup();
            assert!(unique.len() == 15 && unique[0] >= 40, "{strategy}: {unique:?}");
            assert_eq!(found.cold, strategy == Strategy::Random);
            assert!(found.suggestions.iter().all(|own| own.score >= 0.0 && (0.0..=1.0).contains(&own.share)));
        }
        assert!((1..all.len()).all(|k| !all[..k].contains(&all[k])), "two strategies are the same");
    }

    /// Suggestions and warnings.
    fn told(suggest: &Suggest, train: &TrainSet) -> (Suggestions, Vec<Warning>) {
        struct Told(Vec<Warning>);
        impl Observer for Told {
            fn warn(&mut self, warning: &Warning) {
                self.0.push(warning.clone());
            }
        }
        let mut told = Told(Vec::new());
        let found = suggest.suggest_observed(train, None, &mut told).unwrap();
        (found, told.0)
    }

    #[test]
    fn without_a_model_to_ask_its_strategies_say_so() {
        let train = few_labels("labor", 0);
        let told = |suggest: &Suggest| {
            let (found, told) = told(suggest, &train);
            assert!(found.cold);
            (rows(&found), told)
        };
        let (expected, silent) = told(&Suggest::new());
        assert_eq!(silent, []);
        assert_eq!(told(&Suggest::new().strategy(Strategy::Margin)), (expected, vec![Warning::NoModelToAsk]));
        assert_eq!(told(&Suggest::new().per_class(Some(2))).1, [Warning::NothingPredicted]);
        assert_eq!(told(&Suggest::new().count(60)).1, [Warning::FewToSuggest { rows: 57, count: 60 }]);
    }

    #[test]
    fn classes_are_limited_and_costs_avoided() {
        let train = few_labels("ionosphere", 60);
        let (found, warnings) = told(&Suggest::new().count(8).per_class(Some(3)), &train);
        assert_eq!(warnings[warnings.len() - 1], Warning::ClassesLimited { rows: 6, count: 8, per_class: 3 });
        for class in ["b", "g"] {
            let of_class = found.suggestions.iter().filter(|own| own.class.as_deref() == Some(class)).count();
            assert!(of_class <= 3, "{of_class} of {class}");
        }
        assert_eq!(found.suggestions.len(), 6, "every class has as many as it may have");
        let free = rows(&Suggest::new().count(8).suggest(&train, None).unwrap());
        let mut costs = vec![1.0; 351];
        free.iter().for_each(|&row| costs[row] = 1e6);
        let dear = rows(&Suggest::new().count(8).costs(Some(costs)).suggest(&train, None).unwrap());
        assert!(dear.iter().all(|row| !free.contains(row)), "{free:?} {dear:?}");
    }

    /// Rows that matter are those near which labels are asked for.
    #[test]
    fn labels_are_asked_for_where_rows_matter() {
        // Two groups far from each other.
        let rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i % 2) * 50.0 + f64::from(i) * 0.01]).collect();
        let train = TrainSet::new(Table::from_rows(&rows).unwrap(), Labels::unlabeled(60)).unwrap();
        for group in [0, 1] {
            let weights = (0..60).map(|i| f64::from(u8::from(i % 2 == group))).collect();
            let found = Suggest::new().count(1).weights(Some(weights)).suggest(&train, None).unwrap();
            assert_eq!(found.suggestions[0].row % 2, group);
        }
    }

    #[test]
    fn a_model_is_asked_from_ten_labels_on_two_of_each_class_and_trusted_by_their_number() {
        let is_cold = |train: &TrainSet| Suggest::new().count(1).suggest(train, None).unwrap().cold;
        assert!(is_cold(&few_labels("vote", 9)) && !is_cold(&few_labels("vote", 10)));
        let train = few_labels("vote", 30);
        let first = |class: &str, most: usize| -> Vec<usize> {
            (0..30).filter(|&row| train.labels().name(row) == Some(class)).skip(most).collect()
        };
        for (most, cold) in [(1, true), (2, false)] {
            assert_eq!(is_cold(&train.clone().hide_labels(&first("republican", most))), cold, "{most} of a class");
        }
        let model = Auto::new().fit(&train).unwrap();
        let opinion = Opinion::of(Some(&model), train.table()).unwrap();
        assert_eq!(opinion.trust, 0.6, "30 of 30 and 20 labels");
    }

    #[test]
    fn rows_of_the_smallest_margin_come_first() {
        let train = few_labels("vote", 40);
        let model = Auto::new().fit(&train).unwrap();
        let found = Suggest::new().strategy(Strategy::Margin).count(395).suggest(&train, Some(&model)).unwrap();
        let probabilities = model.predict_proba(train.table()).unwrap();
        let margins: Vec<f64> =
            rows(&found).iter().map(|&row| (probabilities.get(row)[0] - probabilities.get(row)[1]).abs()).collect();
        assert!(margins.is_sorted() && margins[0] < margins[394], "{margins:?}");
        for (own, margin) in found.suggestions.iter().zip(&margins) {
            assert!((own.score - (1.0 - margin)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_committee_of_one_is_refused() {
        let train = few_labels("vote", 40);
        let one = Bagging::new().members(1).fit(&train).unwrap();
        for strategy in Strategy::all() {
            let found = Suggest::new().strategy(strategy).suggest(&train, Some(&one));
            let Err(error) = found else {
                assert!(!matches!(strategy, Strategy::VoteEntropy | Strategy::Committee), "{strategy}");
                continue;
            };
            let expected = "a model of several members, or a strategy that compares none";
            assert_eq!(
                error.to_string(),
                format!("`strategy` is `{strategy}` and the model has 1 member, expected {expected}")
            );
        }
        let fitted = Suggest::new().strategy(Strategy::VoteEntropy).method(Bagging::new().members(1));
        assert!(fitted.suggest(&train, None).is_err());
    }

    #[test]
    fn strategies_that_weigh_no_rows_say_so() {
        let train = few_labels("vote", 40);
        let weights: Vec<f64> = (0..435).map(|i| if i % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let of_labels: Vec<f64> = weights.iter().enumerate().map(|(i, own)| if i < 40 { *own } else { 1.0 }).collect();
        let own = train.clone().weights(weights.clone()).unwrap();
        let labels_only = train.clone().weights(of_labels).unwrap();
        for strategy in Strategy::all() {
            let (suggest, uses) = (Suggest::new().strategy(strategy), strategy == Strategy::VarianceReduction);
            let expected = if uses { vec![] } else { vec![Warning::WeightsNotUsed { strategy: strategy.to_string() }] };
            assert_eq!(told(&suggest.clone().weights(Some(weights.clone())), &train).1, expected, "{strategy}");
            assert_eq!(told(&suggest, &own).1, expected, "{strategy}");
            // The model learns from these.
            assert_eq!(told(&suggest, &labels_only).1, [], "{strategy}");
        }
        // Without a model to ask, rows are chosen by variance reduction.
        let margin = Suggest::new().strategy(Strategy::Margin).weights(Some(weights));
        assert_eq!(told(&margin, &few_labels("vote", 0)).1, [Warning::NoModelToAsk]);
    }

    #[test]
    fn bad_settings_are_refused() {
        let train = few_labels("labor", 20);
        let refused = |suggest: Suggest| suggest.suggest(&train, None).unwrap_err().to_string();
        assert_eq!(refused(Suggest::new().count(0)), "`count` is 0, expected at least 1");
        assert_eq!(refused(Suggest::new().per_class(Some(0))), "`per_class` is 0, expected at least 1");
        let costs = |costs: Vec<f64>| refused(Suggest::new().costs(Some(costs)));
        assert_eq!(costs(vec![1.0; 3]), "`costs` is 3 numbers, expected one for each of 57 rows");
        let mut free = vec![1.0; 57];
        free[4] = 0.0;
        assert_eq!(costs(free), "`costs` is 0 in row 5, expected positive numbers");
        let mut minus = vec![1.0; 57];
        minus[4] = -1.0;
        assert_eq!(
            refused(Suggest::new().weights(Some(minus))),
            "`weights` is -1 in row 5, expected 0 or positive numbers"
        );
        let all = few_labels("labor", 57);
        let error = Suggest::new().suggest(&all, None).unwrap_err().to_string();
        assert_eq!(error, "the training rows have no unlabeled row, expected some to choose from");
    }
}

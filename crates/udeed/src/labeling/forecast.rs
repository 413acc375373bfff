//! Forecasts: the accuracy that further labels would bring.

use crate::data::{Labels, TrainSet};
use crate::error::{Error, Result};
use crate::labeling::candidates::{Candidates, labeled};
use crate::labeling::learning_curve::{Curve, Point};
use crate::labeling::settings::settings;
use crate::method::{Auto, Method};
use crate::observer::{Observer, OfFolds};
use crate::random::{Purpose, Stream};

/// Largest number of unlabeled rows that the models see.
const MOST_UNLABELED: usize = 1000;
/// Least number of labels, and of those of two classes at least.
const LEAST_LABELED: usize = 10;
const LEAST_OF_CLASS: usize = 3;
/// Numbers of folds: models learn from one fold, or from all but one. Each label is held out equally often.
const DEALS: [(usize, Learns); 4] = [(3, Learns::One), (2, Learns::One), (3, Learns::Others), (5, Learns::Others)];
/// Number of curves that the intervals are taken of.
const CURVES: usize = 1000;
/// The share of the curves that an interval holds.
const COVERAGE: f64 = 0.9;

/// Which folds are learned from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Learns {
    One,
    Others,
}

settings! {
    /// Forecasts the accuracy that further labels would bring, of rows drawn at random.
    ///
    /// Models are fitted to a third, a half, two thirds and four fifths of the labels, and tested on those left out. A power law of
    /// the error, `b n^-c` with `c` from 0 to 1/2, is fitted to these accuracies and extrapolated; curves do not fall.
    /// Intervals come from curves through the accuracies of reweighted labels (a Bayesian bootstrap of twice the variance, as
    /// labels both teach and test), with exponents drawn by their likelihood: with few labels both the level and the slope are
    /// uncertain, and the intervals are wide.
    ///
    /// ```
    /// use udeed::labeling::Forecast;
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?.hide_labels(&(40..351).collect::<Vec<usize>>());
    /// let found = Forecast::new().more(vec![10, 50, 100]).method(Bagging::new()).forecast(&train)?;
    /// assert_eq!((found.n_labeled, found.expected.len()), (40, 3));
    /// let [low, high] = found.expected[2].interval;
    /// assert!(low < found.expected[2].accuracy && found.expected[2].accuracy < high);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Forecast {
        /// Numbers of further labels.
        more: Vec<usize> = vec![10, 50, 100];
        /// Method of the models; none for [`Auto`] with the random seed of the forecast.
        method: Option<Method> = None, by impl Into<Method> => Some(method.into());
        /// How often the labels are dealt anew; each time 13 models are fitted.
        repetitions: usize = 4;
        /// Random seed.
        seed: u64 = 0;
    }
}

/// The accuracy that is expected of further labels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// Number of further labels.
    pub more: usize,
    /// Expected accuracy.
    pub accuracy: f64,
    /// Its interval, of 90 %.
    pub interval: [f64; 2],
    /// The interval of the gain over the accuracy at hand, of 90 %: it is narrower than that of the accuracy, whose level it
    /// does not depend on.
    pub gain: [f64; 2],
}

/// A forecast and its learning curve.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Forecasts {
    /// Number of labels at hand.
    pub n_labeled: usize,
    /// Numbers of labels, and the accuracy with each on held-out labels.
    pub curve: Vec<(f64, f64)>,
    /// The accuracy with the labels at hand.
    pub now: Expected,
    /// The accuracies with further labels.
    pub expected: Vec<Expected>,
}

impl Forecasts {
    /// Whether the labels leave open if further ones help: the last gain may be none, or large.
    pub fn is_open(&self) -> bool {
        self.expected.last().is_some_and(|last| last.gain[0] < 0.005 && last.gain[1] > 0.05)
    }
}

impl Forecast {
    /// Forecasts the accuracy.
    ///
    /// # Errors
    /// If a setting is invalid, there are fewer than 10 labels or 3 of each of two classes, or no model can be fitted.
    pub fn forecast(&self, train: &TrainSet) -> Result<Forecasts> {
        self.forecast_observed(train, &mut ())
    }

    /// Forecasts the accuracy, and reports to an observer.
    ///
    /// # Errors
    /// As [`Forecast::forecast`]; also [`Error::Stopped`] if the observer ends the work.
    pub fn forecast_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Forecasts> {
        self.validate(train)?;
        let candidates = Candidates::draw(train, MOST_UNLABELED, self.seed)?;
        let tested = candidates.learn(train, |some| self.test(some, observer))?;
        let n_labeled = train.n_labeled();
        let points = |weights: &[f64], sure: [f64; 2]| -> Vec<Point> {
            tested.iter().map(|tested| tested.point(weights, sure)).collect()
        };
        let plain = points(&vec![1.0; n_labeled], [0.0; 2]);
        let curves = Curve::all(&plain);
        let mut stream = Stream::new(self.seed, Purpose::Forecast, u32::MAX);
        let drawn: Vec<Curve> = (0..CURVES)
            .map(|_| {
                // Plus one right and one wrong label, so that no accuracy is certain.
                let weights: Vec<f64> = (0..n_labeled).map(|_| weight(&mut stream)).collect();
                let sure = [weight(&mut stream), weight(&mut stream)];
                Curve::drawn(&Curve::all(&points(&weights, sure)), &mut stream)
            })
            .collect();
        let expected = |more: usize| {
            let (now, later) = (n_labeled as f64, (n_labeled + more) as f64);
            Expected {
                more,
                accuracy: Curve::mean_at(&curves, later),
                interval: interval(drawn.iter().map(|curve| curve.at(later))),
                gain: interval(drawn.iter().map(|curve| curve.at(later) - curve.at(now))),
            }
        };
        Ok(Forecasts {
            n_labeled,
            curve: plain.iter().map(|point| (point.labels, point.accuracy)).collect(),
            now: expected(0),
            expected: self.more.iter().map(|&more| expected(more)).collect(),
        })
    }

    fn validate(&self, train: &TrainSet) -> Result<()> {
        if self.repetitions == 0 {
            return Err(Error::setting("repetitions", 0, "at least 1"));
        }
        if self.more.is_empty() || self.more.contains(&0) {
            return Err(Error::setting("more", "0", "at least 1 further label"));
        }
        if let Some(more) = self.more.iter().find(|more| more.checked_add(train.n_labeled()).is_none()) {
            return Err(Error::setting("more", more, format!("at most {}", usize::MAX - train.n_labeled())));
        }
        train.classes()?;
        let distinct = train.distinct_labels();
        let often = distinct.counts().into_iter().filter(|&count| count >= LEAST_OF_CLASS).count();
        let labels = train.n_labeled();
        if labels < LEAST_LABELED || often < 2 {
            let once = if distinct.n_labeled() < labels { ", those of copies counted once" } else { "" };
            let found = match labels < LEAST_LABELED {
                true => format!("{labels} labels"),
                false => format!("{often} classes with {LEAST_OF_CLASS} labels{once}"),
            };
            let expected = format!("{LEAST_LABELED} labels, {LEAST_OF_CLASS} of each of two classes, to forecast from");
            return Err(Error::training(found, expected));
        }
        Ok(())
    }

    /// Tests models of parts of the labels on the others.
    fn test(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Vec<Tested>> {
        let usual = || Auto::new().seed(self.seed).into();
        let method = self.method.clone().unwrap_or_else(usual);
        let rows = labeled(train);
        DEALS
            .iter()
            .enumerate()
            .map(|(deal, &(folds, learns))| {
                let mut tested = Tested::new(rows.len());
                for repetition in 0..self.repetitions {
                    let index = (deal * self.repetitions + repetition) as u32;
                    let seed = Stream::new(self.seed, Purpose::Forecast, index).seed();
                    let folds = train.folds(folds, seed);
                    for place in 0..folds.len() {
                        let is_hidden = |fold: usize| (fold == place) == (learns == Learns::Others);
                        let hidden: Vec<usize> = (0..folds.len())
                            .filter(|&fold| is_hidden(fold))
                            .flat_map(|fold| folds[fold].clone())
                            .collect();
                        let model = method.fit_observed(&train.clone().hide_labels(&hidden), &mut OfFolds(observer))?;
                        if model.training().was_stopped() {
                            return Err(Error::Stopped);
                        }
                        let said = model.predict(&train.table().select(&hidden))?;
                        tested.add(rows.len() - hidden.len(), &hidden, &said, train.labels());
                    }
                }
                Ok(tested)
            })
            .collect()
    }
}

/// How often each label was held out and predicted, and how often correctly. The labeled rows come first.
struct Tested {
    /// Number of labels learned from, of all models together, and number of models.
    learned: usize,
    models: usize,
    right: Vec<f64>,
    times: Vec<f64>,
}

impl Tested {
    fn new(n_labeled: usize) -> Self {
        Tested { learned: 0, models: 0, right: vec![0.0; n_labeled], times: vec![0.0; n_labeled] }
    }

    fn add(&mut self, learned: usize, hidden: &[usize], said: &[&str], labels: &Labels) {
        self.learned += learned;
        self.models += 1;
        for (&row, &said) in hidden.iter().zip(said) {
            self.times[row] += 1.0;
            self.right[row] += f64::from(u8::from(labels.name(row) == Some(said)));
        }
    }

    /// The accuracy, each label with a weight, beside labels that are always right and always wrong.
    fn point(&self, weights: &[f64], [right, wrong]: [f64; 2]) -> Point {
        let mean = |of: &[f64]| of.iter().zip(weights).map(|(of, weight)| of * weight).sum::<f64>();
        let each = self.times.iter().sum::<f64>() / self.times.len() as f64;
        let accuracy = (mean(&self.right) + right * each) / (mean(&self.times) + (right + wrong) * each);
        // The level is the same labels' for all points: what differs is which labels were learned from.
        let spread = (accuracy * (1.0 - accuracy)).max(0.01);
        let weight = self.times.iter().sum::<f64>() / spread;
        Point { labels: self.learned as f64 / self.models as f64, accuracy, weight }
    }
}

/// A random weight of a label: gamma of shape 1/2. The Bayesian bootstrap has shape 1, an exponential; but labels that happen to
/// be drawn err twice, as they teach and as they test, which half the shape counts as: it doubles the variance.
fn weight(stream: &mut Stream) -> f64 {
    let exponential = -libm::log(1.0 - stream.unit());
    let arcsine = libm::cos(std::f64::consts::TAU * stream.unit());
    exponential * arcsine * arcsine
}

/// The middle part of some numbers.
fn interval(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    [at(0.5 * (1.0 - COVERAGE)), at(0.5 * (1.0 + COVERAGE))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Table;
    use crate::format::built_in;
    use crate::method::Bagging;

    fn few(set: &str, labels: usize) -> TrainSet {
        let train = built_in(set).unwrap().read().unwrap().into_train().unwrap();
        let n = train.labels().len();
        train.hide_labels(&(labels..n).collect::<Vec<usize>>())
    }

    fn quick() -> Forecast {
        Forecast::new().method(Bagging::new().members(5)).repetitions(2)
    }

    #[test]
    fn more_labels_are_never_expected_to_harm_and_more_labels_at_hand_are_surer() {
        let width = |expected: &Expected| expected.interval[1] - expected.interval[0];
        let found = [30, 200].map(|labels| quick().forecast(&few("wdbc", labels)).unwrap());
        for found in &found {
            let all: Vec<&Expected> = std::iter::once(&found.now).chain(&found.expected).collect();
            assert!(all.is_sorted_by(|a, b| a.accuracy <= b.accuracy), "{found:?}");
            for expected in all {
                let [low, high] = expected.interval;
                assert!(0.0 <= low && low < expected.accuracy && expected.accuracy <= high && high <= 1.0, "{found:?}");
                assert!(expected.gain[0] >= 0.0 && expected.gain[1] <= 1.0 - low);
            }
            assert_eq!(found.curve.len(), 4);
            assert!(found.curve.is_sorted_by(|a, b| a.0 < b.0));
        }
        assert!(2.0 * width(&found[1].now) < width(&found[0].now), "{found:?}");
        assert!(width(&found[0].now) > 0.1, "{found:?}");
        assert!((found[0].curve[0].0 - 10.0).abs() < 1e-9 && (found[0].curve[3].0 - 24.0).abs() < 1e-9);
    }

    /// Also of labels that are all predicted correctly.
    #[test]
    fn no_accuracy_is_certain() {
        let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i % 2) * 1000.0 + f64::from(i)]).collect();
        let labels = Labels::new((0..20).map(|i| Some(["low", "high"][i % 2])));
        let found = quick().forecast(&TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap()).unwrap();
        assert!(found.now.accuracy > 0.97, "{found:?}");
        assert!((0.7..0.95).contains(&found.now.interval[0]), "{found:?}");
    }

    #[test]
    fn an_interval_leaves_a_twentieth_out_at_either_end() {
        assert_eq!(interval((0..=100).rev().map(f64::from)), [5.0, 95.0]);
    }

    #[test]
    fn one_seed_gives_one_forecast_for_any_number_of_threads() {
        let train = few("vote", 30);
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [one, three] = [1, 3].map(|threads| pool(threads).install(|| quick().seed(5).forecast(&train).unwrap()));
        assert_eq!(one, three);
        assert_ne!(one, quick().seed(6).forecast(&train).unwrap());
    }

    /// All labels right is an accuracy of 1, but a few labels do not prove it.
    #[test]
    fn accuracies_of_one_are_not_certain() {
        let train = few("vote", 40);
        let mut all_right = quick().test(&train, &mut ()).unwrap();
        all_right.iter_mut().for_each(|tested| tested.right = tested.times.clone());
        let point = all_right[0].point(&vec![1.0; 40], [0.0; 2]);
        assert_eq!(point.accuracy, 1.0);
        assert!((all_right[0].point(&vec![1.0; 40], [1.0, 1.0]).accuracy - 41.0 / 42.0).abs() < 1e-12);
    }

    /// Twice the variance of the Bayesian bootstrap: that of a mean over labels is 2 p (1 - p) / n.
    #[test]
    fn weights_have_twice_the_variance_of_the_bayesian_bootstrap() {
        let mut stream = Stream::new(3, Purpose::Forecast, 0);
        let drawn: Vec<f64> = (0..20_000).map(|_| weight(&mut stream)).collect();
        let mean = |of: &dyn Fn(f64) -> f64| drawn.iter().map(|&own| of(own)).sum::<f64>() / drawn.len() as f64;
        let first = mean(&|own| own);
        assert!((first - 0.5).abs() < 0.02 && drawn.iter().all(|&own| own >= 0.0));
        let relative = mean(&|own| own * own) / (first * first) - 1.0;
        assert!((relative - 2.0).abs() < 0.15, "{relative}");
    }

    #[test]
    fn every_label_is_left_out_equally_often() {
        let tested = quick().test(&few("vote", 31), &mut ()).unwrap();
        for (tested, times) in tested.iter().zip([4.0, 2.0, 2.0, 2.0]) {
            assert!(tested.times.iter().all(|&own| own == times), "{:?}", tested.times);
        }
    }

    #[test]
    fn too_few_labels_are_refused() {
        let refused = |train: &TrainSet, forecast: Forecast| forecast.forecast(train).unwrap_err().to_string();
        let error = refused(&few("vote", 9), quick());
        assert!(error.contains("9 labels") && error.contains("10 labels, 3 of each of two classes"), "{error}");
        let labels = Labels::new((0..20).map(|i| Some(if i < 2 { "rare" } else { "often" })));
        let table = few("vote", 20).table().select(&(0..20).collect::<Vec<usize>>());
        let rare = TrainSet::new(table, labels).unwrap();
        assert!(refused(&rare, quick()).contains("1 classes with 3 labels"));
        // Copies are no further labels.
        let own = few("wdbc", 30);
        let some: Vec<usize> = (0..30).filter(|&i| own.labels().get(i) == Some(0)).take(2).collect();
        let others = (0..30).filter(|&i| own.labels().get(i) == Some(1)).take(10);
        let copied: Vec<usize> = some.iter().chain(&some).copied().chain(others).collect();
        let error = refused(&own.select(&copied), quick());
        assert!(error.contains("1 classes with 3 labels, those of copies counted once"), "{error}");
        assert!(refused(&few("wdbc", 30), quick().more(vec![0])).contains("`more` is 0"));
        let most = quick().more(vec![3, usize::MAX]);
        let wanted = format!("`more` is {}, expected at most {}", usize::MAX, usize::MAX - 30);
        assert!(refused(&few("wdbc", 30), most).contains(&wanted));
        assert!(refused(&few("wdbc", 30), quick().repetitions(0)).contains("`repetitions` is 0"));
    }
}

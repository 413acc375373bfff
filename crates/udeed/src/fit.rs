//! Fitting: training rows and a method make a model.

use std::path::Path;

use crate::data::{Dense, Rows as _, TrainSet};
use crate::ensemble::held_out::HeldOutRow;
use crate::ensemble::vote::{decision_of, probabilities};
use crate::ensemble::{HeldOut, LabelRounds, Learned, Members, Shared, TrainingRows};
use crate::error::{Error, Result};
use crate::learner::n_heads;
use crate::memory::Room;
use crate::method::udeed::{EnsembleLoss, Objective, ObjectiveOf, Precision, Variant};
use crate::method::{Method, Udeed, with_methods};
use crate::model::{Model, Training, Transduction};
use crate::observer::{Observer, OfFolds, Stage, Warning, Watch};
use crate::prepare::Preparation;
use crate::text::counted;

macro_rules! fits {
    ($($module:ident::$method:ident,)+) => {
        $(impl crate::method::$method {
            /// Learns an ensemble.
            ///
            /// # Errors
            /// If a setting is invalid, or the rows cannot be learned from.
            pub fn fit(&self, train: &TrainSet) -> Result<Model> {
                self.fit_observed(train, &mut ())
            }

            /// Learns an ensemble and reports to an observer.
            ///
            /// # Errors
            /// As `fit`; also [`Error::Stopped`] if the observer ends the fit before there is an ensemble.
            pub fn fit_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Model> {
                Method::from(self.clone()).fit_observed(train, observer)
            }
        })+
    };
}

with_methods!(fits);

/// A model, and out-of-bag class probabilities of the labeled rows, see [`Method::fit_out_of_bag`].
type Estimated = (Model, Option<Dense>);

impl Method {
    /// Learns an ensemble.
    ///
    /// # Errors
    /// If a setting is invalid, or the rows cannot be learned from.
    pub fn fit(&self, train: &TrainSet) -> Result<Model> {
        self.fit_observed(train, &mut ())
    }

    /// Learns an ensemble and reports to an observer.
    ///
    /// # Errors
    /// As [`Method::fit`]; also [`Error::Stopped`] if the observer ends the fit before there is an ensemble.
    pub fn fit_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Model> {
        let (_, prepared, learned) = self.learn_from(train, observer)?;
        Ok(prepared.model(self.clone(), learned))
    }

    /// Learns an ensemble, and estimates the classes of the labeled rows by the members that did not learn from them: their
    /// mean class probabilities, one row for each labeled row in the order of the training rows. They are not numbers
    /// where every member has learned from the row. None for methods without bootstraps, and for tri-training, whose three members
    /// have all learned from about a quarter of the rows.
    ///
    /// For UDEED and co-forest these are the initial members, as later each learns from all labels; their probabilities are not
    /// calibrated. Those of other methods are, where the model's are.
    ///
    /// # Errors
    /// As [`Method::fit_observed`].
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("vote")?.read()?.into_train()?;
    /// let (_, estimates) = Method::from(Bagging::new()).fit_out_of_bag(&train, &mut ())?;
    /// let estimates = estimates.unwrap();
    /// assert_eq!(train.labels().name(0), Some("republican"));
    /// assert!(estimates.get(0)[1] > 0.5);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn fit_out_of_bag(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<(Model, Option<Dense>)> {
        let (chosen, prepared, learned) = self.learn_from(train, observer)?;
        let estimates = chosen.estimates(&prepared, &learned)?;
        Ok((prepared.model(self.clone(), learned), estimates))
    }

    /// As [`Method::fit_out_of_bag`]; the model also keeps what became of the training rows, see [`Model::transduction`]: a few
    /// numbers for each. Not of more than `most` rows of two classes ([`Transduction::MOST_ROWS`] is a good limit), nor of rows
    /// in a file, as all of them would have to be predicted.
    ///
    /// # Errors
    /// As [`Method::fit_observed`].
    pub fn fit_keeping_rows(&self, train: &TrainSet, most: usize, observer: &mut dyn Observer) -> Result<Estimated> {
        self.fit_and_keep(train, most, true, observer)
    }

    /// As [`Method::fit_keeping_rows`], of those methods alone whose fit knows what nobody can tell later: the rounds in which
    /// rows were labeled, or where labels came to rest. Models of the others keep nothing yet, which costs nothing;
    /// [`Model::keep_rows`] makes up for it.
    ///
    /// # Errors
    /// As [`Method::fit_observed`].
    pub fn fit_keeping_rounds(&self, train: &TrainSet, most: usize, observer: &mut dyn Observer) -> Result<Estimated> {
        self.fit_and_keep(train, most, false, observer)
    }

    fn fit_and_keep(
        &self,
        train: &TrainSet,
        most: usize,
        also_predicted: bool,
        observer: &mut dyn Observer,
    ) -> Result<(Model, Option<Dense>)> {
        let (chosen, prepared, mut learned) = self.learn_from(train, observer)?;
        let estimates = chosen.estimates(&prepared, &learned)?;
        let (rounds, transduced) = (learned.rounds.take(), learned.transduced.take());
        let model = prepared.model(self.clone(), learned);
        let is_wanted = also_predicted || rounds.is_some() || transduced.is_some();
        let holds = || Transduction::holds(most, train.labels().len(), model.classes().len());
        if !is_wanted || train.on_disk().is_some() || !holds() {
            return Ok((model, estimates));
        }
        // Calibration is fitted to votes on new rows.
        let decisions = match transduced.filter(|_| !model.is_calibrated()) {
            Some(decisions) => decisions,
            None => model.decide(prepared.unlabeled.in_memory()?)?,
        };
        let labels = train.labels().aligned(model.classes())?;
        Ok((model.keeping(&labels, decisions, rounds), estimates))
    }

    /// The out-of-bag class probabilities of the labeled rows, calibrated as those of the model are where the same members give
    /// both.
    fn estimates(&self, prepared: &TrainingRows, learned: &Learned) -> Result<Option<Dense>> {
        let mut estimates = self.learner().out_of_bag(prepared, learned)?;
        let calibration = learned.ensemble.calibration.as_ref().filter(|_| learned.initial.is_none());
        if let (Some(estimates), Some(calibration)) = (&mut estimates, calibration) {
            let mut votes = vec![0.0; n_heads(prepared.n_classes())];
            for row in estimates.rows_mut().filter(|row| !row[0].is_nan()) {
                decision_of(row, &mut votes);
                calibration.apply(&mut votes);
                row.copy_from_slice(&probabilities(&votes));
            }
        }
        Ok(match (estimates, &prepared.order) {
            (Some(estimates), Some(order)) => Some(in_first_order(&estimates, order)?),
            (estimates, _) => estimates,
        })
    }

    /// What unlabeled rows may take in memory before Fourier features replace their columns, and where more of them go; those of
    /// methods that need all rows at once cannot be more.
    ///
    /// ```
    /// use udeed::method::Method;
    ///
    /// let folder = std::env::temp_dir();
    /// let room = Method::named("udeed")?.room(1 << 30, 10, &folder);
    /// assert_eq!((room.most, room.folder), (1 << 30, Some(folder.as_path())));
    /// assert!(Method::named("semiboost")?.room(1 << 30, 10, &folder).folder.is_none());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn room<'a>(&self, memory: u64, n_columns: usize, folder: &'a Path) -> Room<'a> {
        let growth = self.shared().fourier.div_ceil(n_columns.max(1));
        Room { most: memory / growth.max(1) as u64, folder: self.card().streams.then_some(folder) }
    }

    /// The method with all settings chosen, prepared rows, and what it learned from these.
    fn learn_from(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<(Method, TrainingRows, Learned)> {
        self.validate()?;
        let watch = Watch::new(observer);
        let prepared = TrainingRows::new(train, self.shared(), &watch)?;
        let (chosen, prepared, found) = self.clone().with_chosen_lambda(prepared, &watch)?;
        let mut learned = chosen.learn(&prepared, &watch)?;
        learned.findings = learned.findings.or(found);
        if self.card().labels_rows && learned.rounds.is_none() {
            // Nothing could be learned from the unlabeled rows.
            learned.rounds = Some(LabelRounds::new(prepared.unlabeled.n_rows()));
        }
        if self.shared().calibrated {
            let held_out = match learned.held_out.take() {
                None => {
                    let sorted = prepared.order.as_ref().map(|order| train.with_labeled_in(order));
                    self.held_out_by_folds(sorted.as_ref().unwrap_or(train), &prepared.classes, observer)?
                }
                some => some,
            };
            let watch = Watch::new(observer);
            match held_out {
                Some(held_out) => learned.calibrate(held_out, &prepared.classes, &watch),
                None => learned.warn(rarest(train).map(|(class, _)| Warning::NothingToCalibrateBy { class }), &watch),
            }
        }
        Ok((chosen, prepared, learned))
    }

    /// Votes on labeled rows of models that are fitted to the other folds; none where a class has a single row.
    fn held_out_by_folds(
        &self,
        train: &TrainSet,
        classes: &[String],
        observer: &mut dyn Observer,
    ) -> Result<Option<HeldOut>> {
        /// Number of folds, as far as the smallest class allows.
        const FOLDS: usize = 5;
        let plain = self.clone().with_shared(Shared { calibrated: false, ..self.shared() });
        let fewest = rarest(train).map_or(0, |(_, count)| count);
        if fewest < 2 {
            return Ok(None);
        }
        let mut rows: Vec<HeldOutRow> = Vec::new();
        each_fold(&plain, train, FOLDS.min(fewest), observer, |model, fold, test| {
            let (votes, labels) = (model.decision(test.table())?, test.labels().aligned(classes)?);
            rows.extend(fold.iter().enumerate().filter_map(|(place, &row)| {
                let class = labels.get(place)? as u8;
                Some(HeldOutRow { class, weight: train.row_weight(row), votes: votes.get(place).to_vec() })
            }));
            Ok(())
        })?;
        Ok(Some(rows.into_iter().collect()))
    }

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        // Which of equal rows are the nearest is chance: the class of the first would win.
        let similar = self.similarity_bytes(prepared.codes.len(), prepared.unlabeled.n_rows()).is_some();
        if similar && prepared.are_alike() {
            let mut learned = Learned::from(prepared.logistic());
            learned.warn([Warning::RowsAlike], watch);
            return Ok(learned);
        }
        self.learner().learn(prepared, watch)
    }
}

/// Rows as they were before they were put in this order.
fn in_first_order(rows: &Dense, order: &[usize]) -> Result<Dense> {
    let mut places: Vec<usize> = (0..order.len()).collect();
    places.sort_unstable_by_key(|&place| order[place]);
    let values = places.iter().flat_map(|&place| rows.get(place)).copied().collect();
    Dense::new(order.len(), rows.n_columns(), values)
}

/// The class with the fewest labeled rows, copies aside, and their number.
fn rarest(train: &TrainSet) -> Option<(String, usize)> {
    let labels = train.distinct_labels();
    let counts = labels.counts().into_iter().enumerate().filter(|&(_, count)| count > 0);
    counts.min_by_key(|&(_, count)| count).map(|(class, count)| (labels.classes()[class].clone(), count))
}

/// Fits a model without each fold of the labeled rows in turn, and calls `visit` with it, the indices of the fold and its
/// rows.
pub(crate) fn each_fold(
    method: &Method,
    train: &TrainSet,
    folds: usize,
    observer: &mut dyn Observer,
    mut visit: impl FnMut(Model, &[usize], &TrainSet) -> Result<()>,
) -> Result<()> {
    if folds < 2 {
        return Err(Error::setting("folds", folds, "at least 2"));
    }
    if let Some((_, fewest)) = rarest(train)
        && fewest < folds
    {
        return Err(Error::training(
            format!("{} of one class", counted(fewest, "distinct labeled row")),
            format!("at least {folds}, the folds"),
        ));
    }
    for fold in train.folds(folds, method.shared().seed) {
        let rest: Vec<usize> = (0..train.labels().len()).filter(|i| fold.binary_search(i).is_err()).collect();
        let fitted = method.fit_observed(&train.select(&rest), &mut OfFolds(observer));
        let model = fitted.map_err(|error| error.among_rows(&rest))?;
        // The accuracy of an unfinished descent is no measure of the method.
        if model.training().was_stopped() {
            return Err(Error::Stopped);
        }
        visit(model, &fold, &train.select(&fold)).map_err(|error| error.among_rows(&fold))?;
    }
    Ok(())
}

impl TrainingRows {
    /// The model of a method and what it learned from these rows.
    pub(crate) fn model(&self, method: Method, learned: Learned) -> Model {
        let mut class_counts = vec![0; self.n_classes()];
        self.codes.iter().for_each(|&class| class_counts[usize::from(class)] += 1);
        Model {
            preparation: self.preparation.clone(),
            classes: self.classes.clone(),
            label: self.label.clone(),
            method,
            training: Training {
                n_labeled: self.codes.len(),
                class_counts,
                n_unlabeled: self.unlabeled.n_rows(),
                n_features: self.preparation.n_features(),
                stages: learned.stages,
                warnings: self.warnings.iter().cloned().chain(learned.warnings).collect(),
                findings: learned.findings,
            },
            ensemble: learned.ensemble,
            initial: learned.initial,
            logistic: self.logistic(),
            threshold: 0.0,
            held_out: learned.held_out.map(|held_out| held_out.own_votes(self.n_classes())),
            kept_rows: None,
        }
    }
}

impl Udeed {
    /// The first half of a fit: preparation and initial members, everything before the descent.
    ///
    /// # Errors
    /// As [`Udeed::fit_observed`].
    pub fn start(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<InitialEnsemble> {
        self.validate()?;
        let watch = Watch::new(observer);
        let method = Method::from(self.clone());
        let prepared = TrainingRows::new(train, method.shared(), &watch)?;
        let (method, prepared, _) = method.with_chosen_lambda(prepared, &watch)?;
        let settings = self.clone().lambda(method.shared().lambda);
        let members = settings.initial_members(&prepared, &watch)?;
        Ok(InitialEnsemble { settings, prepared, members })
    }
}

/// The first half of a fit of UDEED: prepared rows, logistic regression on the labels alone, and the initial members.
/// Descents with different settings can start from it.
///
/// ```
/// use udeed::prelude::*;
///
/// let train = built_in("labor")?.read()?.into_train()?;
/// let start = Udeed::new().members(10).start(&train, &mut ())?;
/// let small = start.descend(&Udeed::new().members(5).variant(Variant::Lcd), &mut ())?;
/// assert_eq!(small.ensemble().n_members(), 5);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct InitialEnsemble {
    settings: Udeed,
    prepared: TrainingRows,
    /// The members of each head.
    members: Vec<Members>,
}

impl InitialEnsemble {
    /// The preparation of the rows.
    pub fn preparation(&self) -> &Preparation {
        &self.prepared.preparation
    }

    /// The names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.prepared.classes
    }

    /// The model of the first `members` members without a descent: bagging, if they are fitted to bootstraps.
    ///
    /// # Errors
    /// If there are fewer members.
    pub fn model(&self, members: usize) -> Result<Model> {
        let still = self.settings.clone().members(members).variant(Variant::Lc).steps(0);
        self.descend(&still, &mut ())
    }

    /// The second half of a fit: the descent. Uses the first `settings.members` members, and only those settings that
    /// concern the descent and the vote.
    ///
    /// # Errors
    /// If a setting is invalid, or there are fewer members.
    pub fn descend(&self, settings: &Udeed, observer: &mut dyn Observer) -> Result<Model> {
        self.descended(settings, None, observer)
    }

    /// The descent on an objective of your own, made for each stage from UDEED's loss, such as one with a further term. A loss
    /// that is only evaluated elsewhere is that of a [`Device`](crate::method::udeed::Device).
    ///
    /// # Errors
    /// As [`InitialEnsemble::descend`].
    ///
    /// ```
    /// use udeed::format::built_in;
    /// use udeed::method::Udeed;
    /// use udeed::method::udeed::{EnsembleLoss, Objective};
    /// use udeed::observer::Losses;
    ///
    /// /// UDEED's loss and a penalty on large weights.
    /// struct Penalised<'a>(EnsembleLoss<'a>);
    ///
    /// impl Objective for Penalised<'_> {
    ///     fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> udeed::Result<Losses> {
    ///         let mut losses = self.0.evaluate(weights, gradient)?;
    ///         for (g, w) in gradient.iter_mut().zip(weights) {
    ///             losses.total += 0.05 * w * w;
    ///             *g += 0.1 * w;
    ///         }
    ///         Ok(losses)
    ///     }
    /// }
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?;
    /// let settings = Udeed::new();
    /// let start = settings.start(&train, &mut ())?;
    /// let plain = start.descend(&settings, &mut ())?;
    /// let penalised = start.descend_on(&settings, &|_, loss| Box::new(Penalised(loss)), &mut ())?;
    /// let size = |model: &udeed::model::Model| model.ensemble().linear(0).unwrap().weights().iter().map(|w| w * w).sum::<f64>();
    /// assert!(size(&penalised) < size(&plain));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn descend_on(
        &self,
        settings: &Udeed,
        objective: &dyn for<'a> Fn(Stage, EnsembleLoss<'a>) -> Box<dyn Objective + 'a>,
        observer: &mut dyn Observer,
    ) -> Result<Model> {
        self.descended(settings, Some(objective), observer)
    }

    fn descended(&self, settings: &Udeed, own: Option<&ObjectiveOf<'_>>, observer: &mut dyn Observer) -> Result<Model> {
        settings.validate()?;
        if settings.members > self.settings.members {
            let expected = format!("at most {}, the number of initial members", self.settings.members);
            return Err(Error::setting("members", settings.members, expected));
        }
        if settings.precision == Precision::Exact && self.prepared.order.is_none() {
            let expected =
                "that of the start of the fit: what comes before the descent depends on the order of the rows";
            return Err(Error::setting("precision", "`exact`", expected));
        }
        let settings = Udeed {
            lambda: self.settings.lambda,
            scaling: self.settings.scaling,
            fourier: self.settings.fourier,
            initial: self.settings.initial,
            hidden: self.settings.hidden,
            seed: self.settings.seed,
            ..settings.clone()
        };
        let first = self.members.iter().map(|members| members.prefix(settings.members)).collect();
        let mut learned = settings.descend(&self.prepared, first, own, &Watch::new(observer))?;
        settings.hold_out(&self.prepared, &mut learned, &Watch::new(observer))?;
        if settings.calibrated {
            let expected = "false: there are no rows that the members do not know, to calibrate by";
            let held_out = learned.held_out.take().ok_or_else(|| Error::setting("calibrated", "true", expected))?;
            learned.calibrate(held_out, &self.prepared.classes, &Watch::new(observer));
        }
        Ok(self.prepared.model(settings.into(), learned))
    }
}

//! UDEED: members that are accurate on the labeled rows and differ on the unlabeled ones.
//!
//! M.-L. Zhang and Z.-H. Zhou, "Exploiting Unlabeled Data to Enhance Ensemble Diversity", ICDM 2010.

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::ensemble::{
    EnsembleLoss, InitialEnsemble, Loss, Losses, Members, Objective, Observer, Stage, Step, Stop, Warning,
};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::prepare::Scaling;

/// On which rows the members are made to differ.
///
/// ```
/// assert_eq!(udeed::Variant::default(), udeed::Variant::LcUd);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// On none: only the labels count.
    Lc,
    /// On the labeled rows, their labels ignored.
    Lcd,
    /// First on the labeled rows, then, from there, on the unlabeled ones: UDEED.
    #[default]
    LcUd,
}

/// Where the members come from before the descent.
///
/// ```
/// assert_eq!(udeed::Initial::default(), udeed::Initial::Bootstrap);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Initial {
    /// Each is a logistic regression on labeled rows drawn with replacement.
    #[default]
    Bootstrap,
    /// Each is drawn at random.
    Random,
}

/// How the members vote.
///
/// ```
/// assert_eq!(udeed::Vote::default(), udeed::Vote::Weighted);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vote {
    /// Each with its confidence: the mean of their outputs.
    #[default]
    Weighted,
    /// Each with one voice: the mean of the signs of their outputs.
    Unweighted,
}

/// The settings of UDEED. The defaults are the paper's.
///
/// ```
/// use udeed::{Udeed, built_in};
///
/// let train = built_in("ionosphere")?.read()?.into_train()?;
/// let model = Udeed::new().members(20).gamma(2.0).seed(7).fit(&train)?;
/// let p = model.predict_proba(train.table())?;
/// assert!((p.get(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Udeed {
    /// See [`Udeed::variant`].
    pub variant: Variant,
    /// See [`Udeed::members`].
    pub members: usize,
    /// See [`Udeed::gamma`].
    pub gamma: f64,
    /// See [`Udeed::lambda`].
    pub lambda: f64,
    /// See [`Udeed::scaling`].
    pub scaling: Scaling,
    /// See [`Udeed::loss`].
    pub loss: Loss,
    /// See [`Udeed::initial`].
    pub initial: Initial,
    /// See [`Udeed::rate`].
    pub rate: f64,
    /// See [`Udeed::scale_rate`].
    pub scale_rate: bool,
    /// See [`Udeed::steps`].
    pub steps: usize,
    /// See [`Udeed::vote`].
    pub vote: Vote,
    /// See [`Udeed::seed`].
    pub seed: u64,
}

impl Default for Udeed {
    fn default() -> Self {
        Udeed::new()
    }
}

impl Udeed {
    /// The paper's settings.
    pub fn new() -> Self {
        Udeed {
            variant: Variant::LcUd,
            members: 20,
            gamma: 1.0,
            lambda: 1.0,
            scaling: Scaling::MinMax,
            loss: Loss::Logistic,
            initial: Initial::Bootstrap,
            rate: 0.25,
            scale_rate: false,
            steps: 25,
            vote: Vote::Weighted,
            seed: 0,
        }
    }

    /// On which rows the members are made to differ. Default: [`Variant::LcUd`].
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = variant;
        self
    }

    /// How many members the ensemble has. Default: 20.
    #[must_use]
    pub fn members(mut self, members: usize) -> Self {
        self.members = members;
        self
    }

    /// How much diversity counts against accuracy. Default: 1.
    #[must_use]
    pub fn gamma(mut self, gamma: f64) -> Self {
        self.gamma = gamma;
        self
    }

    /// How much the labels count against small weights in the initial members. Default: 1.
    #[must_use]
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.lambda = lambda;
        self
    }

    /// How features are scaled. It decides as much as gamma whether diversity helps. Default: [`Scaling::MinMax`].
    #[must_use]
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// How the fit to the labels is measured in the descent. Default: [`Loss::Logistic`].
    #[must_use]
    pub fn loss(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    /// Where the members come from before the descent. Default: [`Initial::Bootstrap`].
    #[must_use]
    pub fn initial(mut self, initial: Initial) -> Self {
        self.initial = initial;
        self
    }

    /// The length of a step, as a multiple of the gradient. Default: 0.25.
    #[must_use]
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Whether the rate is multiplied by members / 20. The gradient of a member shrinks with their number; this gives
    /// large ensembles the effect that 20 members have. Default: false.
    #[must_use]
    pub fn scale_rate(mut self, scale_rate: bool) -> Self {
        self.scale_rate = scale_rate;
        self
    }

    /// The most steps in a stage. Default: 25.
    #[must_use]
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// How the members vote. Default: [`Vote::Weighted`].
    #[must_use]
    pub fn vote(mut self, vote: Vote) -> Self {
        self.vote = vote;
        self
    }

    /// What all random draws follow from. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks the settings, as every fit does first.
    ///
    /// # Errors
    /// If one makes no sense.
    pub fn validate(&self) -> Result<()> {
        if self.members < 2 {
            return Err(Error::setting("members", self.members, "at least 2"));
        }
        if self.members > u32::MAX as usize {
            return Err(Error::setting("members", self.members, format!("at most {}", u32::MAX)));
        }
        if !(self.gamma >= 0.0 && self.gamma.is_finite()) {
            return Err(Error::setting("gamma", self.gamma, "0 or a positive number"));
        }
        for (name, value) in [("lambda", self.lambda), ("rate", self.rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::setting(name, value, "a positive number"));
            }
        }
        Ok(())
    }

    /// Learns an ensemble.
    ///
    /// # Errors
    /// If a setting makes no sense, or the rows cannot be learned from.
    pub fn fit(&self, train: &TrainSet) -> Result<Model> {
        self.fit_observed(train, &mut ())
    }

    /// Learns an ensemble while an observer looks on.
    ///
    /// # Errors
    /// As [`Udeed::fit`]; also [`Error::Stopped`] if the observer ends it before the initial members are complete.
    pub fn fit_observed(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<Model> {
        self.start(train, observer)?.descend(self, observer)
    }

    /// The first half of a fit: everything before the descent.
    ///
    /// # Errors
    /// As [`Udeed::fit_observed`].
    pub fn start(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<InitialEnsemble> {
        InitialEnsemble::new(self, train, observer)
    }

    fn stages(&self, n_unlabeled: usize) -> Vec<Stage> {
        match self.variant {
            Variant::Lc => vec![Stage::Empirical],
            Variant::LcUd if n_unlabeled > 0 => vec![Stage::Labeled, Stage::Unlabeled],
            Variant::Lcd | Variant::LcUd => vec![Stage::Labeled],
        }
    }
}

/// How one stage of the descent went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageSummary {
    /// Which one.
    pub stage: Stage,
    /// Steps that were kept.
    pub steps: usize,
    /// The losses where it began.
    pub first: Losses,
    /// The losses where it ended.
    pub last: Losses,
    /// Why it ended.
    pub stop: Stop,
}

/// How a model was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Rows with a label.
    pub n_labeled: usize,
    /// How many of them each class has.
    pub class_counts: Vec<usize>,
    /// Rows without a label.
    pub n_unlabeled: usize,
    /// Features that the members look at, the constant one left out.
    pub n_features: usize,
    /// The stages of the descent.
    pub stages: Vec<StageSummary>,
    /// What was worth knowing.
    pub warnings: Vec<Warning>,
}

impl InitialEnsemble {
    /// The second half of a fit. Of the settings only those count that concern the descent and the vote; of the members
    /// the first ones are taken.
    ///
    /// # Errors
    /// If a setting makes no sense, or more members are wanted than there are.
    pub fn descend(&self, settings: &Udeed, observer: &mut dyn Observer) -> Result<Model> {
        settings.validate()?;
        if settings.members > self.members.n_members() {
            let expected = format!("at most {}, as many as were begun with", self.members.n_members());
            return Err(Error::setting("members", settings.members, expected));
        }
        let settings = Udeed {
            lambda: self.settings.lambda,
            scaling: self.settings.scaling,
            initial: self.settings.initial,
            seed: self.settings.seed,
            ..settings.clone()
        };
        let initial = self.members.prefix(settings.members);
        let mut members = initial.clone();
        let n_unlabeled = self.prepared.unlabeled.rows().n_rows();
        let mut training = self.counted();
        if settings.variant == Variant::LcUd && n_unlabeled == 0 {
            observer.warn(&Warning::NoUnlabeledRows);
            training.warnings.push(Warning::NoUnlabeledRows);
        }
        for stage in settings.stages(n_unlabeled) {
            let (end, summary) = self.run(stage, &settings, members, observer);
            members = end;
            training.stages.push(summary);
            if summary.stop == Stop::Observer {
                break;
            }
        }
        Ok(Model {
            preparation: self.prepared.preparation.clone(),
            classes: self.prepared.classes.clone(),
            label: self.prepared.label.clone(),
            settings,
            training,
            members,
            initial,
            logistic: self.logistic.clone(),
        })
    }

    fn counted(&self) -> Training {
        let prepared = &self.prepared;
        let positive = prepared.targets.iter().filter(|&&y| y > 0.0).count();
        Training {
            n_labeled: prepared.targets.len(),
            class_counts: vec![prepared.targets.len() - positive, positive],
            n_unlabeled: prepared.unlabeled.rows().n_rows(),
            n_features: prepared.preparation.n_features(),
            stages: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn run(
        &self,
        stage: Stage,
        settings: &Udeed,
        start: Members,
        observer: &mut dyn Observer,
    ) -> (Members, StageSummary) {
        let objective = EnsembleLoss {
            labeled: self.prepared.labeled.rows(),
            targets: &self.prepared.targets,
            diversity: match stage {
                Stage::Empirical => None,
                Stage::Labeled => Some(self.prepared.labeled.rows()),
                Stage::Unlabeled => Some(self.prepared.unlabeled.rows()),
            },
            loss: settings.loss,
            gamma: settings.gamma,
            m: settings.members,
        };
        descend(&objective, stage, settings, start, observer)
    }
}

/// Steps against the gradient while both losses decrease; the last point at which they did is the result.
fn descend(
    objective: &dyn Objective,
    stage: Stage,
    settings: &Udeed,
    start: Members,
    observer: &mut dyn Observer,
) -> (Members, StageSummary) {
    let m = start.n_members();
    let rate = settings.rate * if settings.scale_rate { m as f64 / 20.0 } else { 1.0 };
    // Without weight, or without rows to measure it on, diversity has no say in when to stop.
    let diversity_counts = stage != Stage::Empirical && settings.gamma > 0.0;
    let mut weights = start.weights().to_vec();
    let mut gradient = vec![0.0; weights.len()];
    let first = objective.evaluate(&weights, &mut gradient);
    let mut summary = StageSummary { stage, steps: 0, first, last: first, stop: Stop::Steps };
    let seen = |step, losses, accepted| Step { stage, step, losses, accepted };
    if observer.step(&seen(0, first, true)).is_break() {
        summary.stop = Stop::Observer;
        return (start, summary);
    }
    for step in 1..=settings.steps {
        let next: Vec<f64> = weights.iter().zip(&gradient).map(|(w, g)| w - rate * g).collect();
        let losses = objective.evaluate(&next, &mut gradient);
        // What is no number has not decreased either.
        let decreased = losses.total < summary.last.total;
        let differs_more = losses.diversity < summary.last.diversity || !diversity_counts;
        let stop = match (decreased, differs_more) {
            (false, _) => Some(Stop::Loss),
            (true, false) => Some(Stop::Diversity),
            (true, true) => None,
        };
        let halt = observer.step(&seen(step, losses, stop.is_none())).is_break();
        if stop.is_none() {
            weights = next;
            summary.steps = step;
            summary.last = losses;
        }
        if let Some(stop) = stop.or(halt.then_some(Stop::Observer)) {
            summary.stop = stop;
            break;
        }
    }
    (Members::from_weights(m, weights), summary)
}

//! UDEED: members that are accurate on the labeled rows and differ on the unlabeled ones.
//!
//! M.-L. Zhang and Z.-H. Zhou, "Exploiting Unlabeled Data to Enhance Ensemble Diversity", ICDM 2010.

use serde::{Deserialize, Serialize};

use crate::data::TrainSet;
use crate::ensemble::bagging::{bootstrapped, bootstraps};
use crate::ensemble::method::{Learn, Learned};
use crate::ensemble::settings::{check_members, check_positive, settings};
use crate::ensemble::{
    Ensemble, EnsembleLoss, Loss, Members, Method, Objective, Observer, Part, Precision, Prepared, Stage, StageSummary,
    Step, Stop, Voters, Warning, Watch,
};
use crate::error::{Error, Result};
use crate::learner::{Hypothesis, Network, from_lanes, random_network, to_lanes};
use crate::model::Model;
use crate::parallel;
use crate::prepare::{Preparation, Scaling};
use crate::rng::{Purpose, Stream};

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

settings! {
    /// UDEED. The defaults are the paper's.
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
    Udeed {
        /// On which rows the members are made to differ.
        variant: Variant = Variant::LcUd,
        /// How many members the ensemble has.
        members: usize = 20,
        /// How much diversity counts against accuracy.
        gamma: f64 = 1.0,
        /// How much the labels count against small weights in the initial members.
        lambda: f64 = 1.0,
        /// Whether rows that members were not fitted to choose lambda, as they do in [`Auto`](crate::Auto).
        choose_lambda: bool = false,
        /// How features are scaled. It decides as much as gamma whether diversity helps.
        scaling: Scaling = Scaling::MinMax,
        /// How many random Fourier features the members see in place of the scaled ones, so that they draw curved
        /// boundaries, see [`FourierMap`](crate::FourierMap); 0 for none. `Scaling::Standard` and a larger lambda, such
        /// as 10, go well with it.
        fourier: usize = 0,
        /// How the fit to the labels is measured in the descent.
        loss: Loss = Loss::Logistic,
        /// How many hidden units each member has; 0 for linear members. Rows that no line tells apart need some.
        hidden: usize = 0,
        /// Where the members come from before the descent.
        initial: Initial = Initial::Bootstrap,
        /// The length of a step, as a multiple of the gradient.
        rate: f64 = 0.25,
        /// Whether the rate is multiplied by members / 20. The gradient of a member shrinks with their number; this gives
        /// large ensembles the effect that 20 members have.
        scale_rate: bool = false,
        /// The most steps in a stage.
        steps: usize = 25,
        /// How the members vote.
        vote: Vote = Vote::Weighted,
        /// In which numbers the descent reckons. The initial members and predictions are always in double precision.
        precision: Precision = Precision::Double,
        /// What all random draws follow from.
        seed: u64 = 0,
    }
}

/// More hidden units than this are not a small network any more.
const MOST_HIDDEN: usize = 1000;

impl Learn for Udeed {
    fn check(&self) -> Result<()> {
        check_members(self.members, 2)?;
        if !(self.gamma >= 0.0 && self.gamma.is_finite()) {
            return Err(Error::setting("gamma", self.gamma, "0 or a positive number"));
        }
        check_positive("lambda", self.lambda)?;
        if self.hidden > MOST_HIDDEN {
            return Err(Error::setting("hidden", self.hidden, format!("at most {MOST_HIDDEN}")));
        }
        if self.choose_lambda && self.hidden > 0 {
            return Err(Error::setting(
                "choose_lambda",
                true,
                "`false` with hidden units: it is chosen by linear members",
            ));
        }
        check_positive("rate", self.rate)
    }

    fn grows(&self) -> bool {
        false
    }

    fn learn(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Learned> {
        let initial = self.initial_members(prepared, watch)?;
        self.descend(prepared, initial, watch)
    }
}

impl Udeed {
    /// The first half of a fit: everything before the descent.
    ///
    /// # Errors
    /// As [`Udeed::fit_observed`].
    pub fn start(&self, train: &TrainSet, observer: &mut dyn Observer) -> Result<InitialEnsemble> {
        self.validate()?;
        let watch = Watch::new(observer);
        let method = Method::from(self.clone());
        let prepared = Prepared::new(train, method.shared(), &watch)?;
        let (method, prepared, _) = method.with_chosen_lambda(prepared, &watch)?;
        let settings = self.clone().lambda(method.shared().lambda);
        let members = settings.initial_members(&prepared, &watch)?;
        Ok(InitialEnsemble { settings, prepared, members })
    }

    /// The members for each question.
    fn initial_members(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Vec<Members>> {
        match self.initial {
            Initial::Bootstrap if self.hidden > 0 => self.networks(prepared, watch),
            Initial::Bootstrap => bootstrapped(prepared, self.members, self.lambda, self.seed, watch),
            Initial::Random => {
                let n_features = prepared.preparation.n_features();
                Ok((0..prepared.heads.len()).map(|head| self.random(head, n_features)).collect())
            }
        }
    }

    /// Networks on bootstraps of the labeled rows.
    fn networks(&self, prepared: &Prepared, watch: &Watch<'_>) -> Result<Vec<Members>> {
        let bags = bootstraps(&prepared.codes, self.seed, self.members)?;
        let (mut heads, total) = (Vec::new(), self.members * prepared.heads.len());
        for (place, head) in prepared.heads.iter().enumerate() {
            let mut members: Vec<Vec<f64>> = Vec::new();
            // Some at a time, so that whoever looks on can end it.
            for some in bags.chunks(rayon::current_num_threads().max(1)) {
                let first = place * self.members + members.len();
                let fit = |k: usize| {
                    let counts: Vec<f64> =
                        some[k].iter().zip(&prepared.counts).map(|(&n, w)| f64::from(n) * w).collect();
                    let mut stream = Stream::new(self.seed, Purpose::RandomStart, (first + k) as u32);
                    let rows = prepared.labeled.rows();
                    watch.ask()?;
                    let network = Network::fit(self.hidden, self.lambda, rows, &head.targets, &counts, &mut stream);
                    Ok(network.weights().to_vec())
                };
                members.extend(parallel::try_map(some.len(), fit)?);
                watch.member(place * self.members + members.len(), total)?;
            }
            heads.push(Members::from_rows(&members));
        }
        Ok(heads)
    }

    /// Uniform in `[-1, 1)`, over the root of the number of features so that scores do not grow with it.
    fn random(&self, head: usize, n_features: usize) -> Members {
        let width = n_features + 1;
        let scale = 2.0 / (width as f64).sqrt();
        let member = |member: usize| {
            let mut stream = Stream::new(self.seed, Purpose::RandomStart, (head * self.members + member) as u32);
            match self.hidden {
                0 => (0..width).map(|_| scale * (stream.unit() - 0.5)).collect(),
                hidden => random_network(hidden, n_features, &mut stream),
            }
        };
        let members: Vec<Vec<f64>> = (0..self.members).map(member).collect();
        Members::from_rows(&members)
    }

    /// An ensemble of members for each question.
    fn ensemble(&self, prepared: &Prepared, heads: &[Members]) -> Ensemble {
        let voters = |members: &Members| -> Voters {
            if self.hidden == 0 {
                return members.clone().into();
            }
            let network = |k: usize| Hypothesis::Network(Network::new(self.hidden, members.weights_of(k)));
            (0..members.n_members()).map(network).collect::<Vec<Hypothesis>>().into()
        };
        let parts = heads.iter().map(|members| Part::alike(voters(members), self.vote)).collect();
        Ensemble::against_rest(prepared.n_classes(), parts)
    }

    /// The weights of all members as the loss takes them.
    fn flat(&self, heads: &[Members]) -> Vec<f64> {
        if self.hidden == 0 {
            return Members::side_by_side(heads).into_weights();
        }
        let networks: Vec<Vec<f64>> =
            heads.iter().flat_map(|members| (0..members.n_members()).map(|k| members.weights_of(k))).collect();
        to_lanes(&networks.iter().map(Vec::as_slice).collect::<Vec<&[f64]>>(), self.hidden)
    }

    /// The members for each question of their weights.
    fn apart(&self, weights: Vec<f64>, heads: usize) -> Vec<Members> {
        let lanes = heads * self.members;
        if self.hidden == 0 {
            return Members::from_weights(lanes, weights).apart(heads);
        }
        from_lanes(&weights, lanes, self.hidden).chunks(self.members).map(Members::from_rows).collect()
    }

    /// The stages of the variant, one after the other.
    fn descend(&self, prepared: &Prepared, initial: Vec<Members>, watch: &Watch<'_>) -> Result<Learned> {
        let mut learned = Learned::from(self.ensemble(prepared, &initial));
        learned.initial = Some(learned.ensemble.clone());
        let n_unlabeled = prepared.unlabeled.n_rows();
        if self.variant == Variant::LcUd && n_unlabeled == 0 {
            learned.warn([Warning::NoUnlabeledRows], watch);
        }
        let heads = initial.len();
        // Row by row the target of each question.
        let targets = |i: usize| prepared.heads.iter().map(move |head| head.targets[i]);
        let targets: Vec<f64> = (0..prepared.codes.len()).flat_map(targets).collect();
        let mut weights = self.flat(&initial);
        for stage in self.stages(n_unlabeled) {
            let objective = EnsembleLoss {
                labeled: prepared.labeled.rows(),
                targets: &targets,
                counts: &prepared.counts,
                diversity: match stage {
                    Stage::Empirical => None,
                    Stage::Labeled => Some(prepared.labeled.rows()),
                    Stage::Unlabeled => Some(prepared.unlabeled.blocks()?),
                },
                loss: self.loss,
                gamma: self.gamma,
                m: self.members,
                heads,
                hidden: self.hidden,
                precision: self.precision,
            };
            let summary;
            (weights, summary) = run_stage(&objective, stage, self, weights, watch)?;
            learned.stages.push(summary);
            if summary.stop == Stop::Observer {
                break;
            }
        }
        learned.ensemble = self.ensemble(prepared, &self.apart(weights, heads));
        Ok(learned)
    }

    fn stages(&self, n_unlabeled: usize) -> Vec<Stage> {
        match self.variant {
            Variant::Lc => vec![Stage::Empirical],
            Variant::LcUd if n_unlabeled > 0 => vec![Stage::Labeled, Stage::Unlabeled],
            Variant::Lcd | Variant::LcUd => vec![Stage::Labeled],
        }
    }
}

/// The start of a fit: the rows made ready, logistic regression on the labels alone, and the initial members. Descents
/// with different settings can begin here.
///
/// ```
/// use udeed::{Udeed, Variant, built_in};
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
    prepared: Prepared,
    /// For each question.
    members: Vec<Members>,
}

impl InitialEnsemble {
    /// What is done to rows before the members see them.
    pub fn preparation(&self) -> &Preparation {
        &self.prepared.preparation
    }

    /// The names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.prepared.classes
    }

    /// The first members as they are: bagging, where they are fitted to bootstraps.
    ///
    /// # Errors
    /// If more members are wanted than there are.
    pub fn model(&self, members: usize) -> Result<Model> {
        let still = self.settings.clone().members(members).variant(Variant::Lc).steps(0);
        self.descend(&still, &mut ())
    }

    /// The second half of a fit. Of the settings only those count that concern the descent and the vote; of the members
    /// the first ones are taken.
    ///
    /// # Errors
    /// If a setting makes no sense, or more members are wanted than there are.
    pub fn descend(&self, settings: &Udeed, observer: &mut dyn Observer) -> Result<Model> {
        settings.validate()?;
        if settings.members > self.settings.members {
            let expected = format!("at most {}, as many as were begun with", self.settings.members);
            return Err(Error::setting("members", settings.members, expected));
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
        let learned = settings.descend(&self.prepared, first, &Watch::new(observer))?;
        Ok(self.prepared.model(settings.into(), learned))
    }
}

/// Steps against the gradient while both losses decrease; the last point at which they did is the result.
fn run_stage(
    objective: &dyn Objective,
    stage: Stage,
    settings: &Udeed,
    mut weights: Vec<f64>,
    watch: &Watch<'_>,
) -> Result<(Vec<f64>, StageSummary)> {
    let rate = settings.rate * if settings.scale_rate { settings.members as f64 / 20.0 } else { 1.0 };
    // Without weight, or without rows to measure it on, diversity has no say in when to stop.
    let diversity_counts = stage != Stage::Empirical && settings.gamma > 0.0;
    let mut gradient = vec![0.0; weights.len()];
    let first = objective.evaluate(&weights, &mut gradient)?;
    if !first.total.is_finite() {
        return Err(Error::training(format!("a loss of {} before the first step", first.total), "a finite one")
            .with_hint("features are too large: scale them, or use double precision"));
    }
    let mut summary = StageSummary { stage, steps: 0, first, last: first, stop: Stop::Steps };
    let seen = |step, losses, accepted| Step { stage, step, losses, accepted };
    if watch.step(&seen(0, first, true)).is_break() {
        summary.stop = Stop::Observer;
        return Ok((weights, summary));
    }
    for step in 1..=settings.steps {
        let next: Vec<f64> = weights.iter().zip(&gradient).map(|(w, g)| w - rate * g).collect();
        let losses = objective.evaluate(&next, &mut gradient)?;
        // What is no number has not decreased either.
        let decreased = losses.total < summary.last.total;
        let differs_more = losses.diversity < summary.last.diversity || !diversity_counts;
        let stop = match (decreased, differs_more) {
            (false, _) => Some(Stop::Loss),
            (true, false) => Some(Stop::Diversity),
            (true, true) => None,
        };
        let halt = watch.step(&seen(step, losses, stop.is_none())).is_break();
        if stop.is_none() {
            weights = next;
            summary.steps = step;
            summary.last = losses;
        }
        if let Some(stop) = halt.then_some(Stop::Observer).or(stop) {
            summary.stop = stop;
            break;
        }
    }
    Ok((weights, summary))
}

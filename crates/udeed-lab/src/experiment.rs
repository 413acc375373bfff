//! What is compared with what, on which splits.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use udeed::{
    Diversity, Emphasis, InitialEnsemble, Kind, Labels, Matrix, Method, Model, Observer, Oracle, Preparation, Scaling,
    Shares, Split, Step, Table, TrainSet, Udeed, Variant, ZeroError, half_of_memory, stratified_split,
};

use crate::error::{Error, Result};

macro_rules! contenders {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal,)+) => {
        /// A method in a comparison, under the name it has there.
        ///
        /// ```
        /// use udeed_lab::Contender;
        ///
        /// assert_eq!(Contender::named("lcud")?.name(), "lcud");
        /// assert!(Contender::named("magic").unwrap_err().to_string().contains("`semiboost`"));
        /// # Ok::<(), udeed_lab::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Contender {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Contender {
            /// All of them, in the order in which tables show them.
            pub const ALL: &'static [Contender] = &[$(Contender::$name),+];

            /// What it is called in options, tables and files.
            pub fn name(self) -> &'static str {
                match self { $(Contender::$name => $word,)+ }
            }
        }
    };
}

contenders! {
    /// Logistic regression on the labels alone.
    Logistic = "logistic",
    /// UDEED's members before the descent.
    Initial = "initial",
    /// UDEED without diversity.
    Lc = "lc",
    /// UDEED with diversity on the labeled rows.
    Lcd = "lcd",
    /// UDEED.
    Lcud = "lcud",
    /// The automatic ensemble.
    Auto = "auto",
    /// Bagging.
    Bagging = "bagging",
    /// AdaBoost.
    Adaboost = "adaboost",
    /// AdaBoost as the paper must have run it: resampling, and a round without error thrown away.
    AdaboostDiscard = "adaboost-discard",
    /// ASSEMBLE.AdaBoost.
    Assemble = "assemble",
    /// SemiBoost.
    Semiboost = "semiboost",
    /// Self-training.
    SelfTraining = "self-training",
    /// Tri-training.
    TriTraining = "tri-training",
    /// Co-forest.
    CoForest = "co-forest",
    /// Co-training.
    CoTraining = "co-training",
    /// SETRED.
    Setred = "setred",
    /// SSMBoost.
    Ssmboost = "ssmboost",
    /// RegBoost.
    Regboost = "regboost",
    /// MCSSB.
    Mcssb = "mcssb",
    /// Stacking.
    Stacking = "stacking",
}

impl Contender {
    /// The contender of a name.
    ///
    /// # Errors
    /// If there is none; the message lists those there are.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|contender| contender.name() == name).ok_or_else(|| {
            let known: Vec<String> = Self::ALL.iter().map(|contender| format!("`{}`", contender.name())).collect();
            Error::Unknown { what: "method", found: name.to_owned(), known: known.join(", ") }
        })
    }

    /// The method it is run by, unless it begins with UDEED's members.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Contender::Logistic | Contender::Initial => None,
            Contender::AdaboostDiscard => Some("adaboost"),
            other if other.variant().is_some() => None,
            other => Some(other.name()),
        }
    }

    fn variant(self) -> Option<Variant> {
        match self {
            Contender::Lc => Some(Variant::Lc),
            Contender::Lcd => Some(Variant::Lcd),
            Contender::Lcud => Some(Variant::LcUd),
            _ => None,
        }
    }
}

/// Which rows the preparation of the features may look at.
///
/// ```
/// assert_eq!(udeed_lab::Scale::default(), udeed_lab::Scale::Training);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The training rows of each split: no test row leaks.
    #[default]
    Training,
    /// All rows of the set, once: what the paper's figures imply.
    WholeSet,
}

/// Everything that decides the results of a comparison, besides the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What is compared.
    pub methods: Vec<Contender>,
    /// The sizes of the ensembles.
    pub sizes: Vec<usize>,
    /// How often the rows are split anew.
    pub splits: u32,
    /// How rows are dealt out.
    pub shares: Shares,
    /// What scaling may look at.
    pub scale: Scale,
    /// Whether every class counts as much as any other.
    pub balanced: bool,
    /// The settings of UDEED; lambda, scaling, Fourier features and seed are those of all methods.
    pub udeed: Udeed,
    /// The settings of other methods; those that are not here have their defaults.
    pub rivals: Vec<Method>,
    /// SemiBoost is left out where it would have to compare more training rows than this, all with all.
    pub semiboost_rows: Option<usize>,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            methods: vec![Contender::Logistic, Contender::Initial, Contender::Lc, Contender::Lcd, Contender::Lcud],
            sizes: vec![20],
            splits: 50,
            shares: Shares::default(),
            scale: Scale::Training,
            balanced: false,
            udeed: Udeed::new(),
            rivals: Vec::new(),
            semiboost_rows: None,
        }
    }
}

/// Refuses what is given twice: results are found by these names.
pub(crate) fn once<T: ToString>(what: &'static str, items: impl Iterator<Item = T>) -> Result<()> {
    let mut seen = HashSet::new();
    for item in items {
        let name = item.to_string();
        if !seen.insert(name.clone()) {
            return Err(Error::Twice { what, name });
        }
    }
    Ok(())
}

/// A data set of a comparison.
#[derive(Debug, Clone)]
pub struct Set {
    /// What it is called.
    pub name: String,
    /// Its rows and labels.
    pub data: TrainSet,
}

impl Set {
    /// A number that changes with the rows, their columns or their labels: a journal of other rows is another journal.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::default();
        let table = self.data.table();
        for column in table.columns() {
            hash.add(column.name.as_bytes());
            if let Kind::Nominal { levels } = &column.kind {
                levels.iter().for_each(|level| hash.add(level.as_bytes()));
            }
        }
        let rows = table.matrix().rows();
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, x| {
                hash.add(&(j as u64).to_le_bytes());
                hash.add(&x.to_bits().to_le_bytes());
            });
            hash.add(self.data.labels().name(i).unwrap_or("").as_bytes());
        }
        hash.0
    }
}

/// FNV-1a, which is the same on every machine and in every release.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds bytes, and where they end.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// What one split of one set gave at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The set.
    pub dataset: String,
    /// The number of the split.
    pub split: u32,
    /// The size of the ensembles.
    pub size: usize,
    /// The accuracy of each method, in the order of the experiment; none where a method was left out.
    pub accuracies: Vec<Option<f64>>,
    /// The diversity of UDEED's members on the test rows, before and after, where `lcud` takes part.
    pub diversity: Option<[Diversity; 2]>,
    /// What was worth knowing, with the method it is about.
    pub warnings: Vec<String>,
}

/// A split with its rows, ready for any method.
struct Arena {
    train: TrainSet,
    /// The rows to test on, and what the preparation of most methods makes of them.
    rows: Table,
    test: Matrix,
    labels: Labels,
    start: InitialEnsemble,
}

impl Experiment {
    /// Checks the settings of every method at every size.
    ///
    /// # Errors
    /// If one makes no sense, or nothing is compared.
    pub fn validate(&self) -> Result<()> {
        let nothing = |what| Err(Error::Nothing { what });
        if self.methods.is_empty() {
            return nothing("method");
        }
        if self.sizes.is_empty() {
            return nothing("size");
        }
        once("method", self.methods.iter().map(|method| method.name()))?;
        once("size", self.sizes.iter())?;
        for &size in &self.sizes {
            self.udeed.clone().members(size).validate()?;
            for &contender in &self.methods {
                if let Some(method) = self.method(contender, size, 0) {
                    method.validate()?;
                }
            }
        }
        Ok(())
    }

    /// The largest size: smaller ensembles begin with the same members.
    fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(2)
    }

    /// The settings of a rival of UDEED.
    fn method(&self, contender: Contender, members: usize, seed: u64) -> Option<Method> {
        let method = match (self.settings_of(contender.method()?), contender) {
            (Method::AdaBoost(settings), Contender::AdaboostDiscard) => {
                settings.emphasis(Emphasis::Resampling).zero_error(ZeroError::Discard).into()
            }
            (Method::SemiBoost(settings), _) => {
                let most = self.memory_of_split(settings.memory);
                settings.memory(most).into()
            }
            (Method::Mcssb(settings), _) => {
                let most = self.memory_of_split(settings.memory);
                settings.memory(most).into()
            }
            (Method::RegBoost(settings), _) => {
                let most = self.memory_of_split(settings.memory);
                settings.memory(most).into()
            }
            (method, _) => method,
        };
        let mut shared = method.shared();
        (shared.members, shared.seed) = (members, seed);
        (shared.lambda, shared.scaling) = (self.udeed.lambda, self.udeed.scaling);
        shared.fourier = self.udeed.fourier;
        Some(method.with_shared(shared))
    }

    pub(crate) fn settings_of(&self, name: &str) -> Method {
        let given = self.rivals.iter().find(|method| method.name() == name);
        given.cloned().unwrap_or_else(|| Method::named(name).unwrap_or_else(|_| self.udeed.clone().into()))
    }

    /// Splits run side by side: together they stay within the limit.
    fn memory_of_split(&self, memory: u64) -> u64 {
        let at_once = rayon::current_num_threads().min(self.splits as usize).max(1);
        (if memory > 0 { memory } else { half_of_memory() }) / at_once as u64
    }

    /// How many bytes the similarities of a method take in a split of so many rows, where they are of all rows.
    pub fn similarity_bytes(&self, contender: Contender, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        match self.settings_of(contender.method()?) {
            Method::SemiBoost(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            Method::Mcssb(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            Method::RegBoost(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            _ => None,
        }
    }

    /// Whether a method is left out of a split with so many training rows.
    pub fn leaves_out(&self, contender: Contender, n_rows: usize) -> bool {
        let too_many = self.semiboost_rows.is_some_and(|most| n_rows > most);
        let compares_all = match contender {
            Contender::Semiboost => {
                matches!(self.settings_of("semiboost"), Method::SemiBoost(settings) if settings.neighbors == 0)
            }
            _ => false,
        };
        compares_all && too_many
    }

    /// The set as the experiment takes it: scaled as a whole, where that is wanted.
    ///
    /// # Errors
    /// If it cannot be scaled.
    pub fn prepare(&self, set: &Set) -> Result<Set> {
        if self.scale == Scale::Training {
            return Ok(set.clone());
        }
        let preparation = Preparation::fit(set.data.table(), self.udeed.scaling)?;
        let features = preparation.apply(set.data.table())?;
        let table = Table::from_matrix(features)?;
        Ok(Set { name: set.name.clone(), data: TrainSet::new(table, set.data.labels().clone())? })
    }

    /// Deals out the rows of a set for the given repetition.
    ///
    /// # Errors
    /// If a class has too few rows.
    pub fn split(&self, set: &Set, repetition: u32) -> Result<Split> {
        let split = stratified_split(set.data.labels(), self.shares, self.udeed.seed, repetition);
        split.map_err(|cause| Error::of_set(&set.name, cause))
    }

    fn settings(&self, seed: u64) -> Udeed {
        let settings = self.udeed.clone().members(self.largest()).seed(seed);
        match self.scale {
            Scale::Training => settings,
            Scale::WholeSet => settings.scaling(Scaling::None),
        }
    }

    fn arena(&self, set: &Set, split: &Split) -> udeed::Result<Arena> {
        let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
        let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
        let train = set.data.select(&rows).hide_labels(&hidden);
        let train = if self.balanced { train.balanced() } else { train };
        let test = set.data.select(&split.test);
        let start = self.settings(split.seed).start(&train, &mut ())?;
        let test_features = start.preparation().apply(test.table())?;
        let (labels, rows) = (test.labels().aligned(start.classes())?, test.table().clone());
        Ok(Arena { labels, train, rows, test: test_features, start })
    }

    /// Runs one split of a prepared set at all sizes.
    ///
    /// # Errors
    /// If a fit fails.
    pub fn run(&self, set: &Set, repetition: u32) -> Result<Vec<Trial>> {
        let split = self.split(set, repetition)?;
        self.trials(set, repetition, &split).map_err(|cause| Error::of_set(&set.name, cause))
    }

    fn trials(&self, set: &Set, repetition: u32, split: &Split) -> udeed::Result<Vec<Trial>> {
        let arena = self.arena(set, split)?;
        let rival = |&contender: &Contender| {
            if self.leaves_out(contender, arena.train.labels().len()) {
                return Ok(None);
            }
            let method = self.method(contender, self.largest(), split.seed).map(|method| match self.scale {
                Scale::Training => method,
                Scale::WholeSet => {
                    let shared = udeed::Shared { scaling: Scaling::None, ..method.shared() };
                    method.with_shared(shared)
                }
            });
            method.map(|method| method.fit(&arena.train)).transpose()
        };
        let rivals: Vec<Option<Model>> = self.methods.par_iter().map(rival).collect::<udeed::Result<_>>()?;
        let trial = |&size: &usize| {
            let mut trial = Trial {
                dataset: set.name.clone(),
                split: repetition,
                size,
                accuracies: Vec::new(),
                diversity: None,
                warnings: Vec::new(),
            };
            for (&contender, rival) in self.methods.iter().zip(&rivals) {
                if self.leaves_out(contender, arena.train.labels().len()) {
                    trial.accuracies.push(None);
                    continue;
                }
                let model = match rival {
                    Some(model) if model.method().grows() => model.prefix(size.min(model.ensemble().n_members())),
                    Some(model) if size == self.largest() => model.clone(),
                    // Its smaller ensembles are not the beginnings of larger ones.
                    Some(model) => {
                        let shared = udeed::Shared { members: size, ..model.method().shared() };
                        let smaller = model.method().clone().with_shared(shared);
                        if smaller == *model.method() { model.clone() } else { smaller.fit(&arena.train)? }
                    }
                    None => self.descended(&arena, contender, size)?,
                };
                trial.accuracies.push(Some(arena.accuracy(&model)?));
                let warnings = model.training().warnings.iter();
                trial.warnings.extend(warnings.map(|warning| format!("{}: {warning}", contender.name())));
                if let (Contender::Lcud, Some(initial)) = (contender, model.initial()) {
                    trial.diversity = Some([arena.diversity(&initial), arena.diversity(&model)]);
                }
            }
            Ok(trial)
        };
        self.sizes.par_iter().map(trial).collect()
    }

    /// A contender that begins with UDEED's initial members.
    fn descended(&self, arena: &Arena, contender: Contender, size: usize) -> udeed::Result<Model> {
        let settings = self.udeed.clone().members(size);
        let Some(variant) = contender.variant() else {
            let model = arena.start.model(size)?;
            return Ok(if contender == Contender::Logistic { model.logistic() } else { model });
        };
        arena.start.descend(&settings.variant(variant), &mut ())
    }

    /// What a report shows of a single fit: UDEED on the first split of a set, at the smallest size.
    ///
    /// # Errors
    /// If the fit fails.
    pub fn showcase(&self, set: &Set) -> Result<Showcase> {
        let failed = |cause| Error::of_set(&set.name, cause);
        let split = self.split(set, 0)?;
        let arena = self.arena(set, &split).map_err(failed)?;
        let size = self.sizes.iter().copied().min().unwrap_or(2);
        let mut recorder = Recorder::default();
        let settings = self.udeed.clone().members(size).variant(Variant::LcUd);
        let model = arena.start.descend(&settings, &mut recorder).map_err(failed)?;
        let initial = model.initial().unwrap_or_else(|| model.clone());
        Ok(Showcase {
            dataset: set.name.clone(),
            size,
            steps: recorder.0,
            initial: arena.cloud(&initial),
            last: arena.cloud(&model),
        })
    }
}

impl Arena {
    /// An ensemble that knows nothing guesses: of two classes it is right half of the time.
    fn accuracy(&self, model: &Model) -> udeed::Result<f64> {
        if model.ensemble().is_silent() {
            return Ok(1.0 / model.classes().len() as f64);
        }
        let decisions = if model.preparation() == self.start.preparation() {
            model.decide(&self.test)
        } else {
            model.decision(&self.rows)?
        };
        let right = |&i: &usize| self.labels.get(i) == Some(model.class_of(decisions.get(i)));
        Ok((0..self.labels.len()).filter(right).count() as f64 / self.labels.len() as f64)
    }

    fn oracle(&self, model: &Model) -> Oracle {
        let m = model.ensemble().n_members();
        let votes = model.ensemble().classify(self.test.rows());
        let right = |member: usize, row: usize| self.labels.get(row) == Some(usize::from(votes[row * m + member]));
        Oracle::new(m, self.labels.len(), right)
    }

    fn diversity(&self, model: &Model) -> Diversity {
        self.oracle(model).measures()
    }

    /// For each pair of members how much they agree beyond chance (kappa), and their mean error.
    fn cloud(&self, model: &Model) -> Vec<(f64, f64)> {
        let m = model.ensemble().n_members();
        let votes = model.ensemble().classify(self.test.rows());
        let n = self.labels.len();
        let share = |of: &dyn Fn(usize) -> bool| (0..n).filter(|&row| of(row)).count() as f64 / n as f64;
        let vote = |member: usize, row: usize| votes[row * m + member];
        let classes = 0..model.classes().len() as u8;
        let says = |k: usize| classes.clone().map(|class| share(&|row| vote(k, row) == class)).collect::<Vec<f64>>();
        let says: Vec<Vec<f64>> = (0..m).map(says).collect();
        let error: Vec<f64> =
            (0..m).map(|k| share(&|row| self.labels.get(row) != Some(usize::from(vote(k, row))))).collect();
        let mut cloud = Vec::new();
        for p in 0..m {
            for q in p + 1..m {
                let agree = share(&|row| vote(p, row) == vote(q, row));
                let chance: f64 = says[p].iter().zip(&says[q]).map(|(a, b)| a * b).sum();
                let kappa = if chance < 1.0 { (agree - chance) / (1.0 - chance) } else { 1.0 };
                cloud.push((kappa, 0.5 * (error[p] + error[q])));
            }
        }
        cloud
    }
}

/// One fit of UDEED from near.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Showcase {
    /// The set.
    pub dataset: String,
    /// The size of the ensemble.
    pub size: usize,
    /// Every step of the descent.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Kappa and mean error of each pair of members before the descent.
    pub initial: Vec<(f64, f64)>,
    /// And after it.
    pub last: Vec<(f64, f64)>,
}

#[derive(Default)]
struct Recorder(Vec<Step>);

impl Observer for Recorder {
    fn step(&mut self, step: &Step) -> std::ops::ControlFlow<()> {
        self.0.push(*step);
        std::ops::ControlFlow::Continue(())
    }
}

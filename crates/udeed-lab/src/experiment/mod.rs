//! An experiment: which methods are compared, on which splits, with which settings.

mod entry;
mod set;
mod showcase;
mod trial;

pub use entry::Contender;
pub use set::Set;
pub use showcase::Showcase;
pub use trial::Trial;

use serde::{Deserialize, Serialize};
use udeed::{
    Emphasis, Method, Preparation, Scaling, Shares, Split, Table, TrainSet, Udeed, ZeroError, half_of_memory,
    stratified_split,
};

use crate::error::{Error, Result, once};

/// The rows that the preparation of the features is fitted to.
///
/// ```
/// assert_eq!(udeed_lab::Scale::default(), udeed_lab::Scale::Training);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The training rows of each split: no test row leaks into the model.
    #[default]
    Training,
    /// All rows of the data set, once, as the paper's numbers imply.
    WholeSet,
}

/// An experiment: together with the data it determines the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The methods to compare.
    pub methods: Vec<Contender>,
    /// The sizes of the ensembles.
    pub sizes: Vec<usize>,
    /// The number of random splits.
    pub splits: u32,
    /// The shares of labeled, unlabeled and test rows.
    pub shares: Shares,
    /// The rows that scaling is fitted to.
    pub scale: Scale,
    /// Whether classes are balanced: rows are weighted so that every class has the same total weight.
    pub balanced: bool,
    /// The settings of UDEED; all methods share its lambda, scaling, Fourier features and seed.
    pub udeed: Udeed,
    /// The settings of the other methods; a method that is not here has its defaults.
    pub rivals: Vec<Method>,
    /// The most training rows of which SemiBoost computes all similarities; it is left out where there are more.
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

impl Experiment {
    /// Checks the settings of every method at every size.
    ///
    /// # Errors
    /// If a setting is invalid, or there is nothing to compare.
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

    /// The settings of a method; none if it begins with UDEED's initial members.
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

    /// The memory limit of one split: splits run in parallel and share it.
    fn memory_of_split(&self, memory: u64) -> u64 {
        let at_once = rayon::current_num_threads().min(self.splits as usize).max(1);
        (if memory > 0 { memory } else { half_of_memory() }) / at_once as u64
    }

    /// The bytes that the similarities of a method take in a split with the given numbers of rows; none for a method
    /// without similarities.
    pub fn similarity_bytes(&self, contender: Contender, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        match self.settings_of(contender.method()?) {
            Method::SemiBoost(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            Method::Mcssb(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            Method::RegBoost(settings) => Some(settings.similarity_bytes(n_labeled, n_unlabeled)),
            _ => None,
        }
    }

    /// Whether a method is left out of a split with the given number of training rows.
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

    /// The data set, scaled as a whole if [`Scale::WholeSet`] is set.
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

    /// The split of a data set for the given repetition.
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
}

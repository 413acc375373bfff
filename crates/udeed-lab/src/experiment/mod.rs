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
}

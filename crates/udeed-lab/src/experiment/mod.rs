//! An experiment: which methods are compared, on which splits, with which settings.

mod entry;
mod set;
mod showcase;
mod trial;

pub use entry::{Baseline, Entry, Variation};
pub use set::Set;
pub use showcase::Showcase;
pub use trial::Trial;

use serde::{Deserialize, Serialize};
use udeed::data::{Shares, Split, Table, TrainSet, stratified_split};
use udeed::memory::half_of_memory;
use udeed::method::{Method, Udeed};
use udeed::prepare::{Preparation, Scaling};

use crate::error::{Error, Result, once};

/// The rows that the preparation of the features is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// The training rows of each split: no test row leaks into the model.
    #[default]
    Training,
    /// All rows of the data set, once, as the paper's numbers imply.
    WholeSet,
}

/// The settings that all methods share, as far as they have them: those of UDEED, and those of the comparison.
pub(crate) const SHARED: [&str; 5] = ["members", "lambda", "scaling", "fourier", "seed"];

/// An experiment: together with the data it determines the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The methods to compare.
    pub methods: Vec<Entry>,
    /// The sizes of the ensembles.
    pub sizes: Vec<usize>,
    /// The number of random splits of each run.
    pub splits: u32,
    /// The number of runs, each with a seed of its own: that of [`udeed`](Self::udeed) and those after it.
    #[serde(default = "one")]
    pub seeds: u32,
    /// The shares of labeled, unlabeled and test rows.
    pub shares: Shares,
    /// The rows that scaling is fitted to.
    pub scale: Scale,
    /// Whether Lc takes no step: it measures diversity on no rows, so V_div is 0 and never decreases, which by the paper's words
    /// ends a descent.
    #[serde(default)]
    pub lc_stays: bool,
    /// Whether classes are balanced: rows are weighted so that every class has the same total weight.
    pub balanced: bool,
    /// The settings of UDEED; all methods share its lambda, scaling, Fourier features and seed.
    pub udeed: Udeed,
    /// The settings of the other methods; a method that is not here has its defaults.
    pub rivals: Vec<Method>,
    /// The largest number of training rows for methods that compare all pairs of rows; above it they are left out.
    pub all_pairs_limit: Option<usize>,
}

impl Default for Experiment {
    fn default() -> Self {
        Experiment {
            methods: vec![Entry::LOGISTIC, Entry::INITIAL, Entry::LC, Entry::LCD, Entry::LCUD],
            sizes: vec![20],
            splits: 50,
            seeds: 1,
            shares: Shares::default(),
            scale: Scale::Training,
            lc_stays: false,
            balanced: false,
            udeed: Udeed::new(),
            rivals: Vec::new(),
            all_pairs_limit: None,
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
        if self.seeds == 0 {
            return nothing("seed");
        }
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
            for &entry in &self.methods {
                if let Some(method) = self.method(entry, size, 0)? {
                    method.validate()?;
                }
            }
        }
        Ok(())
    }

    /// The number of splits of all runs together.
    pub fn n_splits(&self) -> u32 {
        self.splits.saturating_mul(self.seeds)
    }

    /// One of the runs, as an experiment of its own.
    pub fn with_seed_of_run(&self, run: u32) -> Self {
        let udeed = self.udeed.clone().seed(self.udeed.seed.wrapping_add(u64::from(run)));
        Experiment { udeed, seeds: 1, ..self.clone() }
    }

    /// The largest size: smaller ensembles begin with the same members.
    fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(2)
    }

    /// The method of an entry at the given size, with the settings of [`SHARED`]; none for a baseline.
    fn method(&self, entry: Entry, members: usize, seed: u64) -> udeed::Result<Option<Method>> {
        let Some(mut method) = self.settings_of(entry)? else { return Ok(None) };
        if let Some(memory) = whole(&method, "memory") {
            method = method.with_setting("memory", &self.memory_of_split(memory).to_string())?;
        }
        let mut shared = method.shared();
        (shared.members, shared.seed) = (members, seed);
        (shared.lambda, shared.scaling) = (self.udeed.lambda, self.udeed.scaling);
        shared.fourier = self.udeed.fourier;
        Ok(Some(method.with_shared(shared)))
    }

    /// The settings of an entry; none for a baseline.
    pub(crate) fn settings_of(&self, entry: Entry) -> udeed::Result<Option<Method>> {
        let Some(card) = entry.card() else { return Ok(None) };
        let given = self.rivals.iter().find(|method| method.name() == card.name);
        let method = given.map_or_else(|| Method::named(card.name), |method| Ok(method.clone()))?;
        match entry {
            Entry::Variation(variation) => variation.of(method).map(Some),
            _ => Ok(Some(method)),
        }
    }

    /// The memory limit of one split: splits run in parallel and share it.
    fn memory_of_split(&self, memory: u64) -> u64 {
        let at_once = rayon::current_num_threads().min(self.n_splits() as usize).max(1);
        (if memory > 0 { memory } else { half_of_memory() }) / at_once as u64
    }

    /// The bytes that the similarities of a method take in a split with the given numbers of rows; none for a method
    /// without similarities.
    pub fn similarity_bytes(&self, entry: Entry, n_labeled: usize, n_unlabeled: usize) -> Option<u64> {
        self.settings_of(entry).ok()??.similarity_bytes(n_labeled, n_unlabeled)
    }

    /// Whether a method is left out of a split with the given numbers of rows: it has similarities, and no number of
    /// neighbours limits them.
    pub fn leaves_out(&self, entry: Entry, n_labeled: usize, n_unlabeled: usize) -> bool {
        let too_many = self.all_pairs_limit.is_some_and(|most| n_labeled + n_unlabeled > most);
        let compares_all_pairs = |method: Method| {
            let has_similarities = method.similarity_bytes(n_labeled, n_unlabeled).is_some();
            has_similarities && whole(&method, "neighbors").unwrap_or(0) == 0
        };
        too_many && self.settings_of(entry).ok().flatten().is_some_and(compares_all_pairs)
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

    /// The split of a data set for the given repetition, counted through all runs.
    ///
    /// # Errors
    /// If a class has too few rows.
    pub fn split(&self, set: &Set, repetition: u32) -> Result<Split> {
        let splits = self.splits.max(1);
        let seed = self.udeed.seed.wrapping_add(u64::from(repetition / splits));
        let split = stratified_split(set.data.labels(), self.shares, seed, repetition % splits);
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

fn one() -> u32 {
    1
}

/// The value of a setting that is a whole number; none where the method has no such setting.
fn whole(method: &Method, setting: &str) -> Option<u64> {
    method.card().setting(setting)?;
    serde_json::to_value(method).ok()?.get(setting)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Entry {
        Entry::named(name).unwrap()
    }

    #[test]
    fn only_methods_that_compare_all_pairs_are_left_out_of_large_sets() {
        let all: Method = udeed::method::SemiBoost::new().neighbors(0).into();
        let experiment = Experiment { all_pairs_limit: Some(100), rivals: vec![all], ..Experiment::default() };
        for entry in Entry::all() {
            assert_eq!(experiment.leaves_out(*entry, 30, 71), entry.name() == "semiboost", "{entry:?}");
            assert!(!experiment.leaves_out(*entry, 30, 70), "{entry:?}");
        }
        let nearest = Experiment { rivals: Vec::new(), ..experiment };
        assert!(!nearest.leaves_out(named("semiboost"), 30, 71));
    }

    /// The report shows the settings of a method without those that are not its own.
    #[test]
    fn what_a_comparison_sets_is_what_methods_share() {
        let udeed = Udeed::new().lambda(3.0).scaling(udeed::prepare::Scaling::Standard).fourier(7);
        let experiment = Experiment { udeed, ..Experiment::default() };
        let mut changed = std::collections::BTreeSet::new();
        for entry in Entry::all() {
            let Some(own) = experiment.settings_of(*entry).unwrap() else { continue };
            let run = experiment.method(*entry, 31, 17).unwrap().unwrap();
            let [own, run] = [own, run].map(|method| serde_json::to_value(&method).unwrap());
            let settings = own.as_object().unwrap().iter();
            changed.extend(settings.filter(|(name, value)| run[name] != **value).map(|(name, _)| name.clone()));
        }
        changed.remove("memory");
        assert!(changed.iter().eq(&std::collections::BTreeSet::from(SHARED.map(str::to_owned))), "{changed:?}");
    }

    #[test]
    fn splits_that_run_at_once_share_the_memory() {
        let experiment = Experiment { splits: 1, ..Experiment::default() };
        let mut sharing = 0;
        for entry in Entry::all() {
            let Some(method) = experiment.method(*entry, 20, 1).unwrap() else { continue };
            let own = entry.card().unwrap().setting("memory");
            assert_eq!(whole(&method, "memory"), own.map(|_| half_of_memory()));
            sharing += usize::from(own.is_some());
        }
        assert!(sharing > 1, "{sharing} methods have a limit of memory");
    }

    #[test]
    fn similarities_are_those_of_the_method() {
        let experiment = Experiment::default();
        let bytes = |name: &str| experiment.similarity_bytes(named(name), 1000, 9000);
        assert!(bytes("semiboost").is_some() && bytes("bagging").is_none() && bytes("lcud").is_none());
    }
}

//! Runs an experiment: all splits of all data sets.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::error::{Result, once};
use crate::experiment::{Experiment, Set, Trial};
use crate::journal::Journal;

/// Runs the splits that are not in the journal, and returns all trials, ordered by data set, split and size.
/// `progress(done, total)` counts splits.
///
/// # Errors
/// If a data set cannot be split, a fit fails, or the journal cannot be written.
pub fn run(
    experiment: &Experiment,
    sets: &[Set],
    journal: Journal,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Trial>> {
    experiment.validate()?;
    once("set", sets.iter().map(|set| &set.name))?;
    for set in sets {
        experiment.split(set, 0)?;
    }
    let total = sets.len() * experiment.n_splits() as usize;
    let finished = |journal: &Journal, set: &Set, split: u32| {
        experiment.sizes.iter().all(|&size| journal.get(&set.name, split, size).is_some())
    };
    let missing: Vec<Vec<u32>> = sets
        .iter()
        .map(|set| (0..experiment.n_splits()).filter(|&split| !finished(&journal, set, split)).collect())
        .collect();
    let done = total - missing.iter().map(Vec::len).sum::<usize>();
    progress(done, total);
    let state = Mutex::new((journal, done));
    for (set, splits) in sets.iter().zip(&missing) {
        if splits.is_empty() {
            continue;
        }
        let prepared = experiment.prepare(set)?;
        splits.par_iter().try_for_each(|&split| {
            let trials = experiment.run(&prepared, split)?;
            // A poisoned lock means that another split panicked; its panic is on its way.
            if let Ok(mut state) = state.lock() {
                let is_new = |trial: &Trial| state.0.get(&set.name, split, trial.size).is_none();
                let new = trials.into_iter().filter(is_new).collect();
                state.0.add(new)?;
                state.1 += 1;
                progress(state.1, total);
            }
            Result::Ok(())
        })?;
    }
    let journal = match state.into_inner() {
        Ok(state) => state.0,
        Err(poisoned) => poisoned.into_inner().0,
    };
    let mut trials = Vec::new();
    for set in sets {
        for split in 0..experiment.n_splits() {
            trials.extend(experiment.sizes.iter().filter_map(|&size| journal.get(&set.name, split, size).cloned()));
        }
    }
    Ok(trials)
}

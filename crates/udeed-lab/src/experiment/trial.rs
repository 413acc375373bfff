//! One split of one data set: every method is fitted to its training rows and scored on its test rows.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use udeed::data::{Labels, Matrix, Split, Table, TrainSet};
use udeed::diversity::{Diversity, Oracle};
use udeed::fit::InitialEnsemble;
use udeed::method::udeed::Variant;
use udeed::model::Model;
use udeed::observer::Warning;
use udeed::prepare::Scaling;

use super::{Baseline, Entry, Experiment, Scale, Set};
use crate::error::{Error, Result};

/// The accuracies on one split of one data set at one ensemble size.
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
    /// Whether each method ended as its baseline, see [`udeed::observer::Warning::is_baseline`].
    pub baselines: Vec<bool>,
    /// The diversity of UDEED's members on the test rows, before and after the descent, where `lcud` is compared.
    pub diversity: Option<[Diversity; 2]>,
    /// The warnings, each with its method.
    pub warnings: Vec<String>,
}

impl Trial {
    fn new(dataset: &str, split: u32, size: usize) -> Self {
        let dataset = dataset.to_owned();
        let (accuracies, baselines) = (Vec::new(), Vec::new());
        Trial { dataset, split, size, accuracies, baselines, diversity: None, warnings: Vec::new() }
    }
}

/// A split with its rows, ready for any method.
pub(super) struct PreparedSplit {
    train: TrainSet,
    /// The test rows as they are, for methods that prepare them in their own way.
    rows: Table,
    /// The test rows as the preparation of most methods makes them.
    pub test: Matrix,
    /// The labels of the test rows.
    pub labels: Labels,
    /// UDEED's members before the descent, at the largest size.
    pub start: InitialEnsemble,
}

impl Experiment {
    /// Runs one split of a prepared data set at all sizes.
    ///
    /// # Errors
    /// If a fit fails.
    pub fn run(&self, set: &Set, repetition: u32) -> Result<Vec<Trial>> {
        let split = self.split(set, repetition)?;
        self.trials(set, repetition, &split).map_err(|cause| Error::of_set(&set.name, cause))
    }

    fn trials(&self, set: &Set, repetition: u32, split: &Split) -> udeed::Result<Vec<Trial>> {
        let prepared = self.prepared_split(set, split)?;
        let rival = |&entry: &Entry| self.largest_rival(&prepared, entry, split);
        let rivals: Vec<Option<Model>> = self.methods.par_iter().map(rival).collect::<udeed::Result<_>>()?;
        self.sizes
            .par_iter()
            .map(|&size| self.trial(&prepared, &rivals, Trial::new(&set.name, repetition, size)))
            .collect()
    }

    /// A method fitted at the largest size; none for a baseline and for what is left out.
    fn largest_rival(&self, prepared: &PreparedSplit, entry: Entry, split: &Split) -> udeed::Result<Option<Model>> {
        if self.leaves_out(entry, split.labeled.len(), split.unlabeled.len()) {
            return Ok(None);
        }
        let method = self.method(entry, self.largest(), split.seed)?.map(|method| match self.scale {
            Scale::Training => method,
            Scale::WholeSet => {
                let shared = udeed::ensemble::Shared { scaling: Scaling::None, ..method.shared() };
                method.with_shared(shared)
            }
        });
        method.map(|method| method.fit(&prepared.train)).transpose()
    }

    /// Every method at the size of the trial.
    fn trial(&self, prepared: &PreparedSplit, rivals: &[Option<Model>], mut trial: Trial) -> udeed::Result<Trial> {
        for (&entry, rival) in self.methods.iter().zip(rivals) {
            let model = match (rival, entry) {
                (Some(model), _) => self.at_size(prepared, model, trial.size)?,
                (None, Entry::Baseline(baseline)) => self.descended(prepared, baseline, trial.size)?,
                (None, Entry::Method(_) | Entry::Variation(_)) => {
                    trial.accuracies.push(None);
                    trial.baselines.push(false);
                    continue;
                }
            };
            trial.accuracies.push(Some(prepared.accuracy(&model)?));
            let warnings = model.training().warnings.iter();
            trial.baselines.push(warnings.clone().any(Warning::is_baseline));
            let of_method = warnings.filter(|warning| !warning.is_about_rows());
            trial.warnings.extend(of_method.map(|warning| format!("{}: {warning}", entry.name())));
            if entry == Entry::LCUD
                && let Some(initial) = model.initial()
            {
                trial.diversity = Some([prepared.diversity(&initial)?, prepared.diversity(&model)?]);
            }
        }
        Ok(trial)
    }

    /// A method at the given size: the first members of the largest ensemble, where they are those of a smaller one.
    fn at_size(&self, prepared: &PreparedSplit, model: &Model, size: usize) -> udeed::Result<Model> {
        if model.method().grows() {
            return Ok(model.prefix(size.min(model.ensemble().n_members())));
        }
        if size == self.largest() {
            return Ok(model.clone());
        }
        let shared = udeed::ensemble::Shared { members: size, ..model.method().shared() };
        let smaller = model.method().clone().with_shared(shared);
        if smaller == *model.method() { Ok(model.clone()) } else { smaller.fit(&prepared.train) }
    }

    /// A baseline, which begins with UDEED's initial members.
    fn descended(&self, prepared: &PreparedSplit, baseline: Baseline, size: usize) -> udeed::Result<Model> {
        let settings = self.udeed.clone().members(size);
        let Some(variant) = baseline.variant().filter(|&variant| !(self.lc_stays && variant == Variant::Lc)) else {
            let model = prepared.start.model(size)?;
            return Ok(if baseline == Baseline::Logistic { model.logistic() } else { model });
        };
        prepared.start.descend(&settings.variant(variant), &mut ())
    }

    /// Fits what the methods share on a split.
    pub(super) fn prepared_split(&self, set: &Set, split: &Split) -> udeed::Result<PreparedSplit> {
        let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
        let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
        let train = set.data.select(&rows).hide_labels(&hidden);
        let train = if self.balanced { train.balanced() } else { train };
        let test = set.data.select(&split.test);
        let start = self.settings(split.seed).start(&train, &mut ()).map_err(|error| error.among_rows(&rows))?;
        let applied = start.preparation().apply(test.table());
        let test_features = applied.map_err(|error| error.among_rows(&split.test))?;
        let (labels, rows) = (test.labels().aligned(start.classes())?, test.table().clone());
        Ok(PreparedSplit { labels, train, rows, test: test_features, start })
    }
}

impl PreparedSplit {
    /// The accuracy on the test rows; that of chance for an ensemble whose members all abstain.
    fn accuracy(&self, model: &Model) -> udeed::Result<f64> {
        if model.ensemble().is_silent() {
            return Ok(1.0 / model.classes().len() as f64);
        }
        let decisions = if model.preparation() == self.start.preparation() {
            model.decide(&self.test)?
        } else {
            model.decision(&self.rows)?
        };
        let right = |&i: &usize| self.labels.get(i) == Some(model.class_of(decisions.get(i)));
        Ok((0..self.labels.len()).filter(right).count() as f64 / self.labels.len() as f64)
    }

    fn oracle(&self, model: &Model) -> udeed::Result<Oracle> {
        let m = model.ensemble().n_members();
        let votes = model.ensemble().classify(self.test.rows())?;
        let right = |member: usize, row: usize| self.labels.get(row) == Some(usize::from(votes[row * m + member]));
        Ok(Oracle::new(m, self.labels.len(), right))
    }

    fn diversity(&self, model: &Model) -> udeed::Result<Diversity> {
        Ok(self.oracle(model)?.measures())
    }
}

//! The results of an experiment.

use serde::Serialize;
use udeed::diversity::Measure;

use crate::error::Result;
use crate::experiment::{Entry, Experiment, Set, Showcase, Trial};
use crate::paper::PaperReport;
use crate::statistics::{AverageRanks, DecidingTest, Pairwise, Record, Verdict, deviation, mean};

/// A data set of the experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SetSummary {
    /// The name.
    pub name: String,
    /// The number of rows.
    pub n_rows: usize,
    /// The number of columns, without the label.
    pub n_columns: usize,
    /// The classes with their numbers of rows.
    pub classes: Vec<(String, usize)>,
    /// Rows in each split: labeled, unlabeled, test.
    pub dealt: [usize; 3],
}

/// The accuracies of one method on one data set at one ensemble size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The set.
    pub dataset: String,
    /// The size of the ensemble.
    pub size: usize,
    /// The method.
    pub method: &'static str,
    /// The mean over the splits.
    pub mean: f64,
    /// The standard deviation over the splits; none of a single one.
    pub std: Option<f64>,
    /// The accuracy on each split.
    pub accuracies: Vec<f64>,
    /// The number of splits on which the method ended as its baseline.
    pub baseline_splits: usize,
}

impl Outcome {
    /// On how many splits the method ended as its baseline, in words; none if on none.
    pub(crate) fn as_baseline(&self) -> Option<String> {
        let (some, all) = (self.baseline_splits, self.accuracies.len());
        (some > 0).then(|| format!("ended as its baseline on {some} of {all} splits"))
    }
}

/// The diversity of UDEED's members on the test rows, before and after the descent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiversityOutcome {
    /// The set.
    pub dataset: String,
    /// The size of the ensemble.
    pub size: usize,
    /// The measure.
    pub measure: &'static str,
    /// Whether a higher value means more diversity.
    pub higher_is_more: bool,
    /// The mean over the splits before the descent; none where it is never defined.
    pub initial: Option<f64>,
    /// The mean over the splits after the descent.
    pub last: Option<f64>,
    /// Whether the members are significantly more (win) or less (loss) diverse after the descent, by the deciding test.
    pub verdict: Option<Verdict>,
}

/// The champion (see [`Results::champion`]) against another method on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MethodComparison {
    /// The set.
    pub dataset: String,
    /// The size of the ensembles.
    pub size: usize,
    /// The champion.
    pub method: &'static str,
    /// The other method.
    pub against: &'static str,
    /// The tests of the champion against the other method.
    #[serde(flatten)]
    pub pairwise: Pairwise,
}

/// The ranking of the methods over all data sets at one ensemble size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ranking {
    /// The size of the ensembles.
    pub size: usize,
    /// The average ranks.
    #[serde(flatten)]
    pub ranks: AverageRanks,
}

/// The results of an experiment.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Results {
    /// The experiment.
    pub experiment: Experiment,
    /// The command that ran it.
    pub command: String,
    /// The test that decides what is a win and what a loss.
    pub verdicts: DecidingTest,
    /// The data sets.
    pub sets: Vec<SetSummary>,
    /// The accuracies.
    pub outcomes: Vec<Outcome>,
    /// The diversity before and after the descent.
    pub diversity: Vec<DiversityOutcome>,
    /// The champion against each other method.
    pub comparisons: Vec<MethodComparison>,
    /// Average ranks over all data sets, for each size; none for a single data set.
    pub rankings: Vec<Ranking>,
    /// The warnings, each once.
    pub warnings: Vec<String>,
    /// Single fits in detail, for a report.
    pub showcases: Vec<Showcase>,
    /// The results of each run, where there are several.
    #[serde(skip)]
    pub by_seed: Vec<Results>,
    /// The comparison with the paper, where it was asked for.
    pub paper: Option<PaperReport>,
}

impl Results {
    /// Summarises the trials of an experiment.
    ///
    /// # Errors
    /// If a set cannot be split.
    pub fn new(
        experiment: &Experiment,
        sets: &[Set],
        trials: &[Trial],
        command: &str,
        verdicts: DecidingTest,
    ) -> Result<Self> {
        let mut results = Results {
            experiment: experiment.clone(),
            command: command.to_owned(),
            verdicts,
            sets: sets.iter().map(|set| summarise(experiment, set)).collect::<Result<_>>()?,
            outcomes: Vec::new(),
            diversity: Vec::new(),
            comparisons: Vec::new(),
            rankings: Vec::new(),
            warnings: warnings(trials),
            showcases: Vec::new(),
            by_seed: Vec::new(),
            paper: None,
        };
        for set in sets {
            for &size in &experiment.sizes {
                let of_set = trials.iter().filter(|trial| trial.dataset == set.name && trial.size == size);
                let of_set: Vec<&Trial> = of_set.collect();
                results.add_outcomes(&set.name, size, &of_set);
                results.add_diversity(&set.name, size, &of_set);
                results.add_comparisons(&set.name, size);
            }
        }
        if experiment.seeds > 1 {
            let of_run = |run: u32| {
                let own: Vec<Trial> =
                    trials.iter().filter(|trial| trial.split / experiment.splits == run).cloned().collect();
                Results::new(&experiment.with_seed_of_run(run), sets, &own, command, verdicts)
            };
            results.by_seed = (0..experiment.seeds).map(of_run).collect::<Result<_>>()?;
        }
        results.rankings = experiment.sizes.iter().filter_map(|&size| results.rank(size)).collect();
        Ok(results)
    }

    /// The results of each run; of a single one these.
    pub(crate) fn runs(&self) -> Vec<&Results> {
        if self.by_seed.is_empty() { vec![self] } else { self.by_seed.iter().collect() }
    }

    /// The accuracies of a method on a data set.
    pub fn outcome(&self, dataset: &str, size: usize, method: Entry) -> Option<&Outcome> {
        let wanted =
            |outcome: &&Outcome| outcome.dataset == dataset && outcome.size == size && outcome.method == method.name();
        self.outcomes.iter().find(wanted)
    }

    /// The tests of the champion against a method on a data set.
    pub fn against(&self, dataset: &str, size: usize, method: Entry) -> Option<&Pairwise> {
        let wanted = |comparison: &&MethodComparison| {
            comparison.dataset == dataset && comparison.size == size && comparison.against == method.name()
        };
        self.comparisons.iter().find(wanted).map(|comparison| &comparison.pairwise)
    }

    /// The verdict of a test on a method against another on a data set.
    pub fn verdict(
        &self,
        test: DecidingTest,
        dataset: &str,
        size: usize,
        method: Entry,
        other: Entry,
    ) -> Option<Verdict> {
        let of = |method| Some(self.outcome(dataset, size, method)?.accuracies.as_slice());
        test.verdict(of(method)?, of(other)?, self.test_share_over_train(dataset))
    }

    /// The wins, ties and losses of a method against another over all data sets, by a test.
    pub fn record(&self, test: DecidingTest, size: usize, method: Entry, other: Entry) -> Record {
        self.sets.iter().filter_map(|set| self.verdict(test, &set.name, size, method, other)).collect()
    }

    /// Test rows for each training row, labeled or not, in the splits of a data set.
    pub(crate) fn test_share_over_train(&self, dataset: &str) -> f64 {
        let dealt = self.sets.iter().find(|set| set.name == dataset).map_or([1, 0, 1], |set| set.dealt);
        dealt[2] as f64 / (dealt[0] + dealt[1]) as f64
    }

    /// The method whose wins and losses are counted: UDEED (`lcud`), or else the first method.
    pub fn champion(&self) -> Entry {
        let methods = &self.experiment.methods;
        if methods.contains(&Entry::LCUD) { Entry::LCUD } else { methods[0] }
    }

    fn add_outcomes(&mut self, dataset: &str, size: usize, trials: &[&Trial]) {
        for (place, method) in self.experiment.methods.iter().enumerate() {
            let accuracies: Vec<f64> =
                trials.iter().filter_map(|trial| trial.accuracies.get(place).copied()?).collect();
            if accuracies.is_empty() {
                continue;
            }
            self.outcomes.push(Outcome {
                dataset: dataset.to_owned(),
                size,
                method: method.name(),
                mean: mean(&accuracies).unwrap_or(f64::NAN),
                std: deviation(&accuracies),
                accuracies,
                baseline_splits: trials.iter().filter(|trial| trial.baselines.get(place) == Some(&true)).count(),
            });
        }
    }

    fn add_diversity(&mut self, dataset: &str, size: usize, trials: &[&Trial]) {
        let pairs: Vec<_> = trials.iter().filter_map(|trial| trial.diversity.as_ref()).collect();
        if pairs.is_empty() {
            return;
        }
        let share = self.test_share_over_train(dataset);
        for measure in Measure::ALL {
            let defined = pairs.iter().filter_map(|[a, b]| Some((a.get(measure)?, b.get(measure)?)));
            let (initial, last): (Vec<f64>, Vec<f64>) = defined.unzip();
            let higher_is_more = measure.more_diverse_is_higher();
            let (more, less) = if higher_is_more { (&last, &initial) } else { (&initial, &last) };
            self.diversity.push(DiversityOutcome {
                dataset: dataset.to_owned(),
                size,
                measure: measure.name(),
                higher_is_more,
                initial: mean(&initial),
                last: mean(&last),
                verdict: self.verdicts.verdict(more, less, share),
            });
        }
    }

    fn add_comparisons(&mut self, dataset: &str, size: usize) {
        let champion = self.champion();
        let Some(own) = self.outcome(dataset, size, champion).map(|outcome| outcome.accuracies.clone()) else { return };
        let share = self.test_share_over_train(dataset);
        let others: Vec<Entry> = self.experiment.methods.iter().copied().filter(|&m| m != champion).collect();
        for other in others {
            let Some(outcome) = self.outcome(dataset, size, other) else { continue };
            let pairwise = Pairwise::new(&own, &outcome.accuracies, share, self.verdicts);
            self.comparisons.push(MethodComparison {
                dataset: dataset.to_owned(),
                size,
                method: champion.name(),
                against: other.name(),
                pairwise,
            });
        }
    }

    fn rank(&self, size: usize) -> Option<Ranking> {
        let methods = &self.experiment.methods;
        // Only data sets on which every method was run.
        let row = |set: &SetSummary| -> Option<Vec<f64>> {
            methods.iter().map(|&method| self.outcome(&set.name, size, method).map(|outcome| outcome.mean)).collect()
        };
        let table: Vec<Vec<f64>> = self.sets.iter().filter_map(row).collect();
        let names = methods.iter().map(|method| method.name().to_owned()).collect();
        Some(Ranking { size, ranks: AverageRanks::new(names, &table)? })
    }
}

fn summarise(experiment: &Experiment, set: &Set) -> Result<SetSummary> {
    let split = experiment.split(set, 0)?;
    let labels = set.data.labels();
    Ok(SetSummary {
        name: set.name.clone(),
        n_rows: labels.len(),
        n_columns: set.data.table().columns().len(),
        classes: labels.classes().iter().cloned().zip(labels.counts()).collect(),
        dealt: [split.labeled.len(), split.unlabeled.len(), split.test.len()],
    })
}

/// The warnings of all splits, each once, with its number of splits.
fn warnings(trials: &[Trial]) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for trial in trials {
        for warning in &trial.warnings {
            let text = format!("{}, {} members, {warning}", trial.dataset, trial.size);
            match counts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => counts.push((text, 1)),
            }
        }
    }
    counts.into_iter().map(|(text, count)| format!("{text} (splits: {count})")).collect()
}

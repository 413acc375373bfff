//! `udeed reproduce`: the tables of the paper, ours beside its.

use std::path::PathBuf;

use clap::Args;
use udeed::data::{Labeled, Shares};
use udeed::format::Reader;
use udeed_lab::paper::{PaperReport, SETS, find_sets};
use udeed_lab::statistics::DecidingTest;
use udeed_lab::{Entry, Experiment, Scale, Set, tables};

use crate::input::read_file;
use crate::laboratory::{Outputs, named};
use crate::output::Usage;
use crate::progress::Progress;
use crate::settings::{Memory, Settings};

/// Regenerate the tables of the UDEED paper, with its figures beside ours
///
/// The protocol is the one that gives the paper's figures: every set scaled to [0, 1] as a whole, half of the rows for
/// testing, a quarter of the others labeled, 50 splits. The paper says gamma 1; its accuracies agree
/// slightly better with `--gamma 2`, its diversities with 1.
#[derive(Args)]
#[command(after_help = "Example:\n  udeed reproduce --data DIR --sets diabetes,ionosphere --sizes 20 --gamma 2")]
pub struct Reproduce {
    /// Folder with the paper's data sets, such as `diabetes.libsvm.gz`
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only these sets, separated by commas
    #[arg(long, value_delimiter = ',')]
    sets: Vec<String>,
    /// Methods; adaboost is run twice: as the paper must have run it, and correctly
    #[arg(long, value_delimiter = ',', default_value = "lcud,bagging,adaboost,assemble,semiboost,lc,lcd")]
    methods: Vec<String>,
    /// Numbers of members
    #[arg(long, value_delimiter = ',', default_value = "20,50,100")]
    sizes: Vec<usize>,
    /// Number of random splits
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    splits: u32,
    /// Number of runs of that many splits, each with a seed of its own: their mean, and how far they agree with each other
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    #[arg(hide_short_help = true)]
    seeds: u32,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    settings: Settings,
}

/// Above this many training rows the paper has N/A for SemiBoost, which compares all of them with all.
const MOST_COMPARED: usize = 10_000;

impl Reproduce {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let experiment = self.experiment(progress)?;
        let found = self.find()?;
        let paths: Vec<PathBuf> = found.iter().map(|(_, path)| path.clone()).collect();
        self.outputs.check(&paths)?;
        let mut sets = Vec::new();
        for (name, path) in found {
            let data = named(read_file(&self.memory.reader(Reader::new()), &path, progress)?.into_train(), &path)?;
            named(data.classes(), &path)?;
            sets.push(Set { name, data });
        }
        let mut results = self.outputs.run(&experiment, &sets, DecidingTest::Paired, progress)?;
        let report = PaperReport::new(&results);
        results.paper = Some(report.clone());
        self.outputs.write(&mut results, &sets, progress, |results, out| tables::write_paper(results, &report, out))
    }

    fn experiment(&self, progress: &Progress) -> anyhow::Result<Experiment> {
        let mut methods = Vec::new();
        for name in &self.methods {
            if name == "adaboost" {
                methods.push(Entry::ADABOOST_DISCARD);
            }
            methods.push(Entry::named(name)?);
        }
        let cards = methods.iter().filter_map(|entry| entry.card());
        let mut settings = self.memory.of(self.settings.clone(), cards);
        // SemiBoost's paper compares all rows with all.
        let semiboost = methods.iter().any(|entry| entry.name() == "semiboost");
        if semiboost && !settings.has("neighbors") && !settings.has("semiboost.neighbors") {
            settings = settings.with("--neighbors", "semiboost.neighbors", 0);
        }
        let (udeed, rivals) = settings.methods(&methods, progress)?;
        let experiment = Experiment {
            methods,
            sizes: self.sizes.clone(),
            splits: self.splits,
            seeds: self.seeds,
            shares: Shares { test: 0.5, labeled: Labeled::Share(0.25) },
            scale: Scale::WholeSet,
            balanced: false,
            udeed,
            rivals,
            all_pairs_limit: Some(MOST_COMPARED),
        };
        experiment.validate()?;
        Ok(experiment)
    }

    /// The sets that are wanted and there.
    fn find(&self) -> anyhow::Result<Vec<(String, PathBuf)>> {
        let known = || SETS.map(|set| format!("`{set}`")).join(", ");
        if let Some(unknown) = self.sets.iter().find(|set| !SETS.contains(&set.as_str())) {
            return Err(
                Usage(format!("unknown set {}, expected one of {}", udeed::text::quoted(unknown), known())).into()
            );
        }
        let mut found = find_sets(&self.data)?;
        if self.sets.is_empty() {
            return Ok(found);
        }
        found.retain(|(name, _)| self.sets.contains(name));
        if let Some(missing) = self.sets.iter().find(|set| !found.iter().any(|(name, _)| name == *set)) {
            anyhow::bail!("{}: no file for the set `{missing}`, expected `{missing}.libsvm.gz`", self.data.display());
        }
        Ok(found)
    }
}

//! `udeed reproduce`: the tables of the paper, ours beside its.

use std::path::PathBuf;

use clap::Args;
use udeed::format::Reader;
use udeed_lab::paper::{PaperReport, SETS, find_sets};
use udeed_lab::statistics::DecidingTest;
use udeed_lab::{Entry, Experiment, Protocol, Set, tables};

use crate::input::read_file;
use crate::laboratory::{Outputs, named, protocol_help, protocol_parser};
use crate::output::Usage;
use crate::progress::Progress;
use crate::settings::{Memory, Settings};

/// Regenerate the tables of the UDEED paper, with its figures beside ours
///
/// Every figure of the paper's tables II to VI stands beside ours, with the difference in terms of its noise. `--protocol` says
/// how it is run: the end of `--help-all` has what the paper prints, and what is inferred from its figures.
#[derive(Args)]
#[command(after_help = EXAMPLE, after_long_help = format!("{EXAMPLE}\n\n{}", protocol_help()))]
pub struct Reproduce {
    /// Protocol; settings given explicitly override it
    #[arg(long, value_name = "NAME", default_value = "paper", value_parser = protocol_parser())]
    protocol: &'static Protocol,
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
    #[arg(long, value_delimiter = ',', default_values_t = Protocol::SIZES)]
    sizes: Vec<usize>,
    /// Number of random splits
    #[arg(long, default_value_t = Protocol::SPLITS, value_parser = clap::value_parser!(u32).range(1..))]
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

const EXAMPLE: &str = "Example:\n  udeed reproduce --data DIR --sets diabetes,ionosphere --sizes 20";

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
        let settings = self.memory.of(self.settings.clone(), cards);
        let (udeed, rivals) = settings.methods(&methods, progress)?;
        let mut experiment = Experiment {
            methods,
            sizes: self.sizes.clone(),
            splits: self.splits,
            seeds: self.seeds,
            shares: Protocol::SHARES,
            udeed,
            rivals,
            all_pairs_limit: Some(MOST_COMPARED),
            ..Experiment::default()
        };
        self.protocol.apply(&mut experiment, |method, name| settings.has(method, name))?;
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

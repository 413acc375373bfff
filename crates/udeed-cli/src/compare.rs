//! `udeed compare`: methods side by side on repeated splits of labeled rows.

use std::path::PathBuf;

use clap::Args;
use udeed::data::stratified_split;
use udeed::prepare::{Preparation, Scaling};
use udeed_lab::statistics::DecidingTest;
use udeed_lab::{Entry, Experiment, Protocol, Set, tables};

use crate::input::{Labeled, Reading, note_identifiers, short_names};
use crate::laboratory::{Outputs, named, placed, protocol_parser};
use crate::progress::Progress;
use crate::settings::{Settings, SharesArgs};

/// Compare methods on repeated splits of labeled rows
///
/// Each split keeps some rows for testing, the labels of some others, and hides the labels of the rest. All methods see
/// the same splits. Preparation is fitted on the training rows only.
#[derive(Args)]
#[command(after_help = "Example:\n  udeed compare ionosphere rows.csv --label species --html report.html")]
pub struct Compare {
    /// Files or built-in sets [default: ionosphere]
    sets: Vec<PathBuf>,
    #[command(flatten)]
    labeled: Labeled,
    /// Methods to compare: any that `udeed methods` lists
    #[arg(long, value_delimiter = ',', default_value = "logistic,initial,lc,lcd,lcud")]
    methods: Vec<String>,
    /// Numbers of members
    #[arg(long, value_delimiter = ',', default_value = "20")]
    sizes: Vec<usize>,
    /// Number of random splits
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    splits: u32,
    /// Run it as the paper's experiments, with the scaling, the gradient and the baselines of a protocol that `udeed reproduce
    /// --help-all` lists. Sizes, splits and settings stay those of this command
    #[arg(long, value_name = "NAME", value_parser = protocol_parser())]
    #[arg(hide_short_help = true)]
    protocol: Option<&'static Protocol>,
    /// Give all classes the same total weight, however many labels they have
    #[arg(long)]
    #[arg(hide_short_help = true)]
    balanced: bool,
    #[command(flatten)]
    shares: SharesArgs,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: Reading,
}

impl Compare {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        let experiment = self.experiment(progress)?;
        let default = [PathBuf::from("ionosphere")];
        let paths = if self.sets.is_empty() { default.as_slice() } else { &self.sets };
        self.outputs.check(paths)?;
        let sets = self.read(paths, experiment.udeed.seed, progress)?;
        let mut results = self.outputs.run(&experiment, &sets, DecidingTest::Corrected, progress)?;
        self.outputs.write(&mut results, &sets, progress, tables::write_text)
    }

    fn experiment(&self, progress: &Progress) -> anyhow::Result<Experiment> {
        let methods: Vec<Entry> =
            self.methods.iter().map(|name| Entry::named(name)).collect::<udeed_lab::Result<_>>()?;
        let cards = methods.iter().filter_map(|entry| entry.card());
        let settings = self.reading.memory.of(self.settings.clone(), cards);
        let (udeed, rivals) = settings.methods(&methods, progress)?;
        let mut experiment = Experiment {
            methods,
            sizes: self.sizes.clone(),
            splits: self.splits,
            shares: (&self.shares).into(),
            balanced: self.balanced,
            udeed,
            rivals,
            ..Experiment::default()
        };
        if let Some(protocol) = self.protocol {
            protocol.apply(&mut experiment, |method, name| settings.has(method, name))?;
        }
        experiment.validate()?;
        Ok(experiment)
    }

    fn read(&self, paths: &[PathBuf], seed: u64, progress: &Progress) -> anyhow::Result<Vec<Set>> {
        let read = |(path, name): (&PathBuf, String)| {
            let sheet = self.labeled.read_to_learn(&self.reading, path, progress)?;
            note_identifiers(&sheet.table, sheet.table.n_rows(), progress);
            let data = named(sheet.into_train(), path)?;
            named(data.classes(), path)?;
            // A row that cannot be scaled is named here, too, before some of the rows are drawn.
            let prepared = Preparation::fit(data.table(), Scaling::None).map(|_| ()).map_err(anyhow::Error::from);
            prepared.map_err(|error| placed(error, &[(path, usize::MAX)]))?;
            // Whether the rows can be dealt out is asked here, where the file has its whole name.
            named(stratified_split(data.labels(), (&self.shares).into(), seed, 0), path)?;
            Ok(Set { name, data })
        };
        let sets: Vec<Set> = paths.iter().zip(short_names(paths)).map(read).collect::<anyhow::Result<_>>()?;
        self.labeled.check_occur(sets.iter().map(|set| set.data.labels()))?;
        Ok(sets)
    }
}

//! How well ways to run the paper's descent explain its tables.
//!
//! All ways run on the same splits and bootstraps, those of `udeed reproduce --protocol paper`; the first is that protocol. The columns
//! are the mean of z^2 over the sets by the numbers of members, in the mean of the seeds, as `reproduce` prints it. The last lines say how
//! often draws of the first way alone, one in the place of the paper, keep all of these columns below the bar.
//!
//! ```text
//! make paper-hypotheses HYPOTHESES="--data DIR --sizes 20,50 --seeds 2"
//! ```

#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use rayon::prelude::*;
use udeed::data::{Blocks, Labels, Matrix, Row, Rows, Split, stratified_split};
use udeed::diversity::{Diversity, Oracle};
use udeed::ensemble::Vote;
use udeed::format::Reader;
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};
use udeed::observer::Losses;
use udeed::prepare::Scaling;
use udeed_lab::paper::{Agreement, Figure, PaperReport, find_sets};
use udeed_lab::statistics::{DecidingTest, Sampled, deviation, mean};
use udeed_lab::{Entry, Experiment, Protocol, Results, Set, Trial};

/// A way to run the descent.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    loss: Loss,
    /// The power of a row's own loss in its factor, for [`Loss::Printed`].
    power: f64,
    gamma: f64,
    rate: f64,
    steps: usize,
    /// Whether both stages share the steps.
    shared_steps: bool,
    end: End,
    /// Whether the step that ends a stage is kept, as where losses are compared before a step and not after it.
    keeps_last: bool,
    second: Second,
    /// Whether the second stage starts from the bootstraps, not from the end of the first.
    starts_again: bool,
    lc: Lc,
    /// Whether a member's own output stays in the sum of the others'.
    own_output: bool,
    /// Whether members move one after another, each seeing those already moved.
    in_turn: bool,
    ridge: bool,
    moves_constant: bool,
    vote: Vote,
    stratified: bool,
}

/// What ends a stage.
#[derive(Clone, Copy)]
enum End {
    /// V or V_div does not decrease.
    Either,
    Total,
    Diversity,
    Never,
    /// As `Either`, or V decreases by less than this share of its first decrease.
    Share(f64),
}

/// The rows of the second stage.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    Unlabeled,
    LabeledToo,
    TestToo,
}

/// What Lc does.
#[derive(Clone, Copy)]
enum Lc {
    Stays,
    /// So many steps, whatever they bring.
    Steps(usize),
    /// Steps as long as V decreases.
    Descends,
}

/// The protocol `paper`.
const PAPER: Way = Way {
    name: "as printed",
    loss: Loss::Printed,
    power: 1.0,
    gamma: 1.0,
    rate: 0.25,
    steps: 25,
    shared_steps: false,
    end: End::Either,
    keeps_last: false,
    second: Second::Unlabeled,
    starts_again: false,
    lc: Lc::Stays,
    own_output: false,
    in_turn: false,
    ridge: false,
    moves_constant: true,
    vote: Vote::Weighted,
    stratified: true,
};

/// The gradient of the loss.
const TRUE: Way = Way { loss: Loss::Logistic, ..PAPER };

const WAYS: &[Way] = &[
    PAPER,
    Way { name: "rate 0.22", rate: 0.22, ..PAPER },
    Way { name: "rate 0.28", rate: 0.28, ..PAPER },
    Way { name: "rate 0.35", rate: 0.35, ..PAPER },
    Way { name: "gamma 0.8", gamma: 0.8, ..PAPER },
    Way { name: "gamma 1.25", gamma: 1.25, ..PAPER },
    Way { name: "12 steps", steps: 12, ..PAPER },
    Way { name: "50 steps", steps: 50, ..PAPER },
    Way { name: "shared steps", shared_steps: true, ..PAPER },
    Way { name: "ends by V", end: End::Total, ..PAPER },
    Way { name: "ends by V_div", end: End::Diversity, ..PAPER },
    Way { name: "never ends", end: End::Never, ..PAPER },
    Way { name: "decrease 0.1", end: End::Share(0.1), ..PAPER },
    Way { name: "decrease 0.2", end: End::Share(0.2), ..PAPER },
    Way { name: "decrease 0.3", end: End::Share(0.3), ..PAPER },
    Way { name: "last step kept", keeps_last: true, ..PAPER },
    Way { name: "checked first", keeps_last: true, lc: Lc::Steps(1), ..PAPER },
    Way { name: "lc 1 step", lc: Lc::Steps(1), ..PAPER },
    Way { name: "lc 2 steps", lc: Lc::Steps(2), ..PAPER },
    Way { name: "lc 5 steps", lc: Lc::Steps(5), ..PAPER },
    Way { name: "lc 12 steps", lc: Lc::Steps(12), ..PAPER },
    Way { name: "lc descends", lc: Lc::Descends, ..PAPER },
    Way { name: "second on L and U", second: Second::LabeledToo, ..PAPER },
    Way { name: "second on U and test", second: Second::TestToo, ..PAPER },
    Way { name: "second starts again", starts_again: true, ..PAPER },
    Way { name: "own output", own_output: true, ..PAPER },
    Way { name: "ridge", ridge: true, ..PAPER },
    Way { name: "constant stays", moves_constant: false, ..PAPER },
    Way { name: "power 0.5", power: 0.5, ..PAPER },
    Way { name: "power 2", power: 2.0, ..PAPER },
    Way { name: "unweighted vote", vote: Vote::Unweighted, ..PAPER },
    Way { name: "not stratified", stratified: false, ..PAPER },
    Way { name: "of the loss", ..TRUE },
    Way { name: "of the loss, 0.35", rate: 0.35, ..TRUE },
    Way { name: "of the loss, 0.4", rate: 0.4, ..TRUE },
    Way { name: "of the loss, 0.4, unweighted", rate: 0.4, vote: Vote::Unweighted, ..TRUE },
    Way { name: "in turn", in_turn: true, ..PAPER },
];

/// The regular sets.
const SETS: &str = "diabetes,heart,wdbc,austra,house,vote,vehicle,hepatitis,labor,ionosphere,\
                    kr_vs_kp,isolet,sonar,colic,credit_g,BCI,Digit1,COIL2,g241n";

/// The bar of the mean of z^2 in each column.
const MOST: f64 = 1.5;

/// What is run; the order of accuracies in a trial.
const METHODS: [Entry; 4] = [Entry::INITIAL, Entry::LCUD, Entry::LC, Entry::LCD];

#[derive(Parser)]
struct Options {
    /// Folder with the paper's data sets
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    #[arg(long, value_delimiter = ',', default_value = SETS)]
    sets: Vec<String>,
    #[arg(long, value_delimiter = ',', default_values_t = Protocol::SIZES)]
    sizes: Vec<usize>,
    /// Ways by name, separated by semicolons; all but `in turn`, which takes as many times as long as there are members
    #[arg(long, value_delimiter = ';')]
    ways: Vec<String>,
    #[arg(long, default_value_t = Protocol::SPLITS)]
    splits: u32,
    /// The first seed
    #[arg(long, default_value_t = 300)]
    seed: u64,
    #[arg(long, default_value_t = 2)]
    seeds: u32,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    if !options.data.is_dir() {
        println!("skipped: no folder {}", options.data.display());
        return Ok(());
    }
    let named = |name: &String| WAYS.iter().find(|way| way.name == name).with_context(|| format!("no way `{name}`"));
    let ways: Vec<&Way> = match options.ways.as_slice() {
        [] => WAYS.iter().filter(|way| !way.in_turn).collect(),
        names => names.iter().map(named).collect::<anyhow::Result<_>>()?,
    };
    let mut experiment = Experiment {
        methods: METHODS.to_vec(),
        sizes: options.sizes,
        splits: options.splits,
        seeds: options.seeds,
        shares: Protocol::SHARES,
        ..Experiment::default()
    };
    Protocol::named("paper")?.apply(&mut experiment, |_, _| false)?;
    experiment.udeed.seed = options.seed;
    let (mut sets, mut trials) = (Vec::new(), vec![Vec::new(); ways.len()]);
    for (name, path) in find_sets(&options.data)? {
        if !options.sets.contains(&name) {
            continue;
        }
        let data = Reader::new().read(&path)?.into_train()?;
        let set = experiment.prepare(&Set { name, data })?;
        let of_splits =
            (0..experiment.n_splits()).into_par_iter().map(|repetition| run(&experiment, &set, repetition, &ways));
        for of_split in of_splits.collect::<anyhow::Result<Vec<_>>>()? {
            trials.iter_mut().zip(of_split).for_each(|(all, own)| all.extend(own));
        }
        sets.push(set);
    }
    println!("| way | LcUd | over Lc | over Lcd | mean | public sets | log std over Lc | over Lcd | verdicts |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut firsts = None;
    for (way, trials) in ways.iter().zip(&trials) {
        let results = Results::new(&experiment, &sets, trials, "", DecidingTest::Paired)?;
        println!("| {} | {} |", way.name, judged(&results));
        firsts.get_or_insert(results);
    }
    if let Some(results) = firsts.filter(|_| experiment.seeds > 1) {
        by_chance(&results);
    }
    Ok(())
}

/// All trials of a split: of each way those of all sizes.
fn run(experiment: &Experiment, set: &Set, repetition: u32, ways: &[&Way]) -> anyhow::Result<Vec<Vec<Trial>>> {
    let mut kinds = [None, None];
    let mut all = Vec::new();
    for way in ways {
        let dealt = &mut kinds[usize::from(way.stratified)];
        if dealt.is_none() {
            *dealt = Some(Dealt::new(experiment, set, repetition, way.stratified)?);
        }
        let dealt = dealt.as_ref().expect("it was just made");
        let trial = |&size: &usize| dealt.trial(way, &set.name, repetition, size);
        all.push(experiment.sizes.iter().map(trial).collect::<anyhow::Result<_>>()?);
    }
    Ok(all)
}

/// A split with its rows and its members before the descent.
struct Dealt {
    labeled: Matrix,
    targets: Vec<f64>,
    /// The rows of the second stage, in the order of [`Second`].
    second: [Matrix; 3],
    test: Matrix,
    /// Of each test row, whether it is positive.
    truth: Vec<bool>,
    start: udeed::fit::InitialEnsemble,
}

impl Dealt {
    fn new(experiment: &Experiment, set: &Set, repetition: u32, stratified: bool) -> anyhow::Result<Self> {
        let split =
            if stratified { experiment.split(set, repetition)? } else { unstratified(experiment, set, repetition)? };
        let rows = set.data.table().matrix();
        let of = |indices: &[usize]| rows.select(indices);
        let (labeled, unlabeled, test) = (of(&split.labeled), of(&split.unlabeled), of(&split.test));
        let training = [split.labeled.as_slice(), &split.unlabeled].concat();
        let hidden: Vec<usize> = (split.labeled.len()..training.len()).collect();
        let most = experiment.sizes.iter().copied().max().unwrap_or(2);
        let settings = experiment.udeed.clone().members(most).scaling(Scaling::None).seed(split.seed);
        let start = settings.start(&set.data.select(&training).hide_labels(&hidden), &mut ())?;
        let labels = set.data.labels().aligned(start.classes())?;
        let positive = |indices: &[usize]| indices.iter().map(|&i| labels.get(i) == Some(1)).collect::<Vec<bool>>();
        Ok(Dealt {
            targets: positive(&split.labeled).into_iter().map(|is| if is { 1.0 } else { -1.0 }).collect(),
            second: [unlabeled.clone(), unlabeled.stack(&labeled)?, unlabeled.stack(&test)?],
            truth: positive(&split.test),
            labeled,
            test,
            start,
        })
    }

    fn trial(&self, way: &Way, set: &str, repetition: u32, m: usize) -> anyhow::Result<Trial> {
        let model = self.start.model(m)?;
        let initial = model.ensemble().linear(0).context("members are linear")?.weights();
        let lc = match way.lc {
            Lc::Stays => initial.to_vec(),
            Lc::Steps(steps) => self.descended(&Way { end: End::Never, ..*way }, None, initial, steps, m)?.0,
            Lc::Descends => self.descended(&Way { end: End::Total, ..*way }, None, initial, way.steps, m)?.0,
        };
        let (lcd, taken) = self.descended(way, Some(&self.labeled), initial, way.steps, m)?;
        let start = if way.starts_again { initial } else { &lcd };
        let left = way.steps - if way.shared_steps { taken } else { 0 };
        let (lcud, _) = self.descended(way, Some(&self.second[way.second as usize]), start, left, m)?;
        let accuracies = [initial, &lcud, &lc, &lcd].map(|weights| Some(self.accuracy(weights, m, way.vote)));
        Ok(Trial {
            dataset: set.to_owned(),
            split: repetition,
            size: m,
            accuracies: accuracies.to_vec(),
            baselines: vec![false; METHODS.len()],
            diversity: Some([self.diversity(initial, m), self.diversity(&lcud, m)]),
            warnings: Vec::new(),
        })
    }

    /// The weights after a stage, and the number of its steps.
    fn descended(
        &self,
        way: &Way,
        diversity: Option<&Matrix>,
        start: &[f64],
        steps: usize,
        m: usize,
    ) -> anyhow::Result<(Vec<f64>, usize)> {
        let counts = vec![1.0; self.targets.len()];
        let loss = EnsembleLoss {
            labeled: self.labeled.rows(),
            targets: &self.targets,
            counts: &counts,
            diversity: diversity.map(|rows| -> &dyn Blocks { rows.rows() }),
            loss: way.loss,
            gamma: way.gamma,
            m,
            heads: 1,
            hidden: 0,
            precision: Precision::Double,
            sizes: &[],
        };
        let objective = Hypothetical { way, of: self, rows: diversity.map(Matrix::rows), loss };
        let (mut weights, mut gradient, mut taken, mut first) = (start.to_vec(), vec![0.0; start.len()], 0, None);
        let mut last = objective.evaluate(&weights, &mut gradient)?;
        while taken < steps {
            let mut next = weights.clone();
            if way.in_turn {
                for k in 0..m {
                    objective.evaluate(&next, &mut gradient)?;
                    (k..next.len()).step_by(m).for_each(|j| next[j] -= way.rate * gradient[j]);
                }
            } else {
                next.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= way.rate * g);
            }
            let losses = objective.evaluate(&next, &mut gradient)?;
            let goes_on = way.end.goes_on(&last, &losses, *first.get_or_insert(last.total - losses.total));
            if goes_on || way.keeps_last {
                (weights, taken) = (next, taken + 1);
            }
            if !goes_on {
                break;
            }
            last = losses;
        }
        Ok((weights, taken))
    }

    fn accuracy(&self, weights: &[f64], m: usize, vote: Vote) -> f64 {
        let output = |z: &f64| match vote {
            Vote::Weighted => (0.5 * z).tanh(),
            Vote::Unweighted => {
                if *z > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
        };
        let right = |&(i, &is_positive): &(usize, &bool)| {
            (scores(self.test.rows(), weights, m, i).iter().map(output).sum::<f64>() > 0.0) == is_positive
        };
        self.truth.iter().enumerate().filter(right).count() as f64 / self.truth.len() as f64
    }

    fn diversity(&self, weights: &[f64], m: usize) -> Diversity {
        let votes: Vec<Vec<f64>> = (0..self.truth.len()).map(|i| scores(self.test.rows(), weights, m, i)).collect();
        Oracle::new(m, self.truth.len(), |member, row| (votes[row][member] > 0.0) == self.truth[row]).measures()
    }
}

/// A split that is random over all rows; one without labels of both classes is drawn again.
fn unstratified(experiment: &Experiment, set: &Set, repetition: u32) -> anyhow::Result<Split> {
    let labels = set.data.labels();
    let alike = Labels::new((0..labels.len()).map(|_| Some("any")));
    for attempt in 0.. {
        let split = stratified_split(&alike, experiment.shares, experiment.udeed.seed, repetition + 100_000 * attempt)?;
        if (0..2).all(|class| split.labeled.iter().any(|&i| labels.get(i) == Some(class))) {
            return Ok(split);
        }
    }
    unreachable!("some draw has both")
}

impl End {
    fn goes_on(self, before: &Losses, after: &Losses, first: f64) -> bool {
        let (total, diversity) = (after.total < before.total, after.diversity < before.diversity);
        match self {
            End::Either => total && diversity,
            End::Total => total,
            End::Diversity => diversity,
            End::Never => true,
            End::Share(share) => total && diversity && before.total - after.total >= share * first,
        }
    }
}

/// UDEED's loss with what a way changes in it.
struct Hypothetical<'a> {
    way: &'a Way,
    of: &'a Dealt,
    /// The rows on which diversity is measured.
    rows: Option<&'a dyn Rows>,
    loss: EnsembleLoss<'a>,
}

impl Objective for Hypothetical<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> udeed::Result<Losses> {
        let mut losses = self.loss.evaluate(weights, gradient)?;
        let (Way { power, gamma, .. }, m) = (*self.way, self.loss.m as f64);
        let l = self.of.targets.len() as f64;
        if self.way.loss == Loss::Printed && power != 1.0 {
            self.add(self.loss.m, self.of.labeled.rows(), weights, gradient, |i, z| {
                let y = self.of.targets[i];
                let loss = (-y * z).exp().ln_1p();
                0.5 * ((0.5 * z).tanh() - y) * (loss.powf(power) - loss) / (m * l)
            });
        }
        if let Some(rows) = self.rows.filter(|_| self.way.own_output) {
            let share = gamma / (m * (m - 1.0) * rows.n_rows() as f64);
            self.add(self.loss.m, rows, weights, gradient, |_, z| {
                let f = (0.5 * z).tanh();
                share * f * (1.0 - f * f)
            });
        }
        if self.way.ridge {
            losses.total += weights.iter().map(|w| 0.5 * w * w).sum::<f64>() / (m * l);
            gradient.iter_mut().zip(weights).for_each(|(g, w)| *g += w / (m * l));
        }
        if !self.way.moves_constant {
            let constant = gradient.len() - self.loss.m;
            gradient[constant..].fill(0.0);
        }
        Ok(losses)
    }
}

impl Hypothetical<'_> {
    /// Adds to the gradient a derivative by the score of each member on each row.
    fn add(&self, m: usize, rows: &dyn Rows, weights: &[f64], gradient: &mut [f64], slope: impl Fn(usize, f64) -> f64) {
        for i in 0..rows.n_rows() {
            let slopes: Vec<f64> = scores(rows, weights, m, i).into_iter().map(|z| slope(i, z)).collect();
            each_feature(rows, i, |j, x| {
                gradient[j * m..(j + 1) * m].iter_mut().zip(&slopes).for_each(|(g, slope)| *g += x * slope);
            });
        }
    }
}

/// The scores of the members on a row.
fn scores(rows: &dyn Rows, weights: &[f64], m: usize, i: usize) -> Vec<f64> {
    let mut scores = vec![0.0; m];
    each_feature(rows, i, |j, x| scores.iter_mut().zip(&weights[j * m..(j + 1) * m]).for_each(|(z, w)| *z += x * w));
    scores
}

/// The features of a row, the constant one last.
fn each_feature(rows: &dyn Rows, i: usize, mut visit: impl FnMut(usize, f64)) {
    Row::for_each(rows.row(i), &mut visit);
    visit(rows.n_columns(), 1.0);
}

/// A line of the table: figures of all seeds in their mean.
fn judged(results: &Results) -> String {
    let reports: Vec<PaperReport> = if results.by_seed.is_empty() {
        vec![PaperReport::new(results)]
    } else {
        results.by_seed.iter().map(PaperReport::new).collect()
    };
    let of = |table: &str, figure: &dyn Fn(&Agreement) -> Option<f64>| {
        let rows = reports.iter().filter_map(|report| report.agreement.iter().find(|row| row.table == table));
        mean(&rows.filter_map(figure).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    let columns = |figure: &dyn Fn(&Agreement) -> Option<f64>| -> Vec<Vec<f64>> {
        let sizes = &results.experiment.sizes;
        let lcud = |size: &usize| {
            let table = match size {
                20 => "II",
                50 => "III",
                _ => "IV",
            };
            of(&format!("{table}: lcud"), figure)
        };
        let gain = |other: &str| sizes.iter().map(|size| of(&format!("V: {other}, {size}"), figure)).collect();
        vec![sizes.iter().map(lcud).collect(), gain("lc"), gain("lcd")]
    };
    let shown = |values: &[f64], sign: bool| {
        let one = |x: &f64| if sign { format!("{x:+.2}") } else { format!("{x:.2}") };
        values.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let squares = columns(&|row| Some(row.mean_square?.value));
    let public = columns(&|row| Some(row.mean_square_without_rebuilt?.value));
    let log_std = columns(&|row| Some(row.log_std?.value));
    let verdicts = of("VI", &|row| Some(row.verdicts_agree));
    let all = reports[0].agreement.iter().find(|row| row.table == "VI").map_or(0, |row| row.verdicts);
    let [lcud, lc, lcd] = [0, 1, 2].map(|place| shown(&squares[place], false));
    let [mean_square, public] = [squares, public].map(|columns| mean(&columns.concat()).unwrap_or(f64::NAN));
    let [lc_std, lcd_std] = [1, 2].map(|place| shown(&log_std[place], true));
    format!("{lcud} | {lc} | {lcd} | {mean_square:.2} | {public:.2} | {lc_std} | {lcd_std} | {verdicts:.1} of {all}")
}

/// How often each column, and all of them, is at most the bar where the paper is another draw of ours: the splits of all seeds are
/// dealt at random to as many groups as there are seeds; the last is rounded as the paper rounds.
fn by_chance(results: &Results) {
    const REPEATED: usize = 2000;
    let (splits, seeds) = (results.experiment.splits as usize, results.experiment.seeds as usize);
    let sizes = &results.experiment.sizes;
    let of = |set: &str, size: usize, method| &results.outcome(set, size, method).expect("all were run").accuracies;
    let mut state = 2010u64;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize * n) >> 31
    };
    let mut passed = vec![0; 3 * sizes.len()];
    let (mut all, mut means) = (0, vec![0.0; 3 * sizes.len()]);
    for _ in 0..REPEATED {
        let mut columns = vec![0.0; 3 * sizes.len()];
        for set in &results.sets {
            let mut order: Vec<usize> = (0..splits * seeds).collect();
            (1..order.len()).rev().for_each(|i| order.swap(i, below(i + 1)));
            for (place, column) in columns.iter_mut().enumerate() {
                let (size, other) =
                    (sizes[place % sizes.len()], [None, Some(Entry::LC), Some(Entry::LCD)][place / sizes.len()]);
                let lcud = of(&set.name, size, Entry::LCUD);
                let values: Vec<f64> = match other.map(|other| of(&set.name, size, other)) {
                    None => lcud.clone(),
                    Some(other) => lcud.iter().zip(other).map(|(a, b)| a - b).collect(),
                };
                let groups: Vec<Sampled> = order
                    .chunks(splits)
                    .map(|group| {
                        let own: Vec<f64> = group.iter().map(|&i| values[i]).collect();
                        let (mean, std) = (mean(&own).expect("there are some"), deviation(&own).unwrap_or(0.0));
                        Sampled { mean, std, n: splits, unit: 0.0 }
                    })
                    .collect();
                let (paper, ours) = groups.split_last().expect("there are some");
                let paper = as_printed(paper, other.is_some());
                let squares = ours.iter().map(|ours| ours.z(&paper).unwrap_or(0.0).powi(2));
                *column += squares.sum::<f64>() / (ours.len() * results.sets.len()) as f64;
            }
        }
        columns.iter().zip(&mut means).for_each(|(column, mean)| *mean += column / REPEATED as f64);
        columns.iter().zip(&mut passed).for_each(|(column, passed)| *passed += usize::from(*column <= MOST));
        all += usize::from(columns.iter().all(|column| *column <= MOST));
    }
    let shares: Vec<String> = passed.iter().map(|&n| format!("{:.2}", n as f64 / REPEATED as f64)).collect();
    let means: Vec<String> = means.iter().map(|mean| format!("{mean:.2}")).collect();
    println!("\nthe first way in the place of the paper, {REPEATED} times: mean z^2 {}", means.join(" "));
    println!("at most {MOST}: {}; all columns {:.2}", shares.join(" "), all as f64 / REPEATED as f64);
}

/// A mean as the paper prints it, and what it stands for.
fn as_printed(exact: &Sampled, is_gain: bool) -> Sampled {
    let nearest = (exact.mean * 1000.0).round() / 1000.0;
    if !is_gain {
        return Sampled { mean: nearest, unit: 0.001, ..*exact };
    }
    let printed = if nearest == 0.0 && exact.mean != 0.0 { 0.001 * exact.mean.signum() } else { nearest };
    Sampled { n: exact.n, ..Figure { mean: printed, std: exact.std, lcud: None }.gain() }
}

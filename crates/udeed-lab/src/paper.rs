//! The numbers of the paper, and their agreement with ours.
//!
//! M.-L. Zhang and Z.-H. Zhou, "Exploiting Unlabeled Data to Enhance Ensemble Diversity", ICDM 2010, tables I to VI.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use udeed::format::Format;

use crate::error::{Error, Result};
use crate::experiment::Entry;
use crate::results::{DiversityOutcome, Results};
use crate::statistics::{LogRatio, MeanLogRatio, MeanSquare, Sampled, Verdict, deviation, mean};

/// A mean accuracy of the paper with the verdict of UDEED (LcUd) against it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Figure {
    /// The mean over 50 splits.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
    /// The verdict of the paired t-test at 95 %.
    pub lcud: Option<Verdict>,
}

/// A data set of the paper, as its table I describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaperSet {
    /// The number of features.
    pub features: usize,
    /// Rows of the positive class.
    pub positive: usize,
    /// Rows of the negative class.
    pub negative: usize,
}

type ByName<T> = BTreeMap<String, T>;

/// The numbers of the paper's tables.
///
/// ```
/// let paper = udeed_lab::paper::Paper::load();
/// assert_eq!(paper.accuracy["20"]["ionosphere"]["lcud"].unwrap().mean, 0.795);
/// assert_eq!(paper.data.len(), 25);
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Paper {
    /// Table I: the data sets.
    pub data: ByName<PaperSet>,
    /// Tables II to IV: the accuracy at each size, on each set, of each method; none where the paper has N/A.
    pub accuracy: ByName<ByName<ByName<Option<Figure>>>>,
    /// Table V: the gain of LcUd over Lc and Lcd on each set, at each size.
    pub improvement: ByName<ByName<ByName<Figure>>>,
    /// Table VI: whether the members are more diverse after the descent, on each set, at each size, by each measure.
    pub diversity: ByName<ByName<ByName<Verdict>>>,
}

/// The data sets in the paper's order.
pub const SETS: [&str; 25] = [
    "diabetes",
    "heart",
    "wdbc",
    "austra",
    "house",
    "vote",
    "vehicle",
    "hepatitis",
    "labor",
    "ethn",
    "ionosphere",
    "kr_vs_kp",
    "isolet",
    "sonar",
    "colic",
    "credit_g",
    "BCI",
    "Digit1",
    "COIL2",
    "g241n",
    "adult",
    "web",
    "ijcnn1",
    "cod-rna",
    "forest",
];

/// The ensemble sizes of the paper, each with the table of its accuracies.
pub const SIZES: [(usize, &str); 3] = [(20, "II"), (50, "III"), (100, "IV")];

/// Sets whose features in the paper are not those of the UCI repository, and whose files are rebuilt by a guess at what was done.
pub const REBUILT: [&str; 3] = ["wdbc", "austra", "vehicle"];

/// The number of splits of the paper.
const SPLITS: usize = 50;

/// The paper prints three digits.
const PRINTED_UNIT: f64 = 0.001;

/// The methods of tables II to IV, and of table V, from which the accuracies of Lc and Lcd are computed.
const COLUMNS: [&str; 7] = ["lcud", "bagging", "adaboost", "assemble", "semiboost", "lc", "lcd"];

/// Our entry for a column of the paper.
pub(crate) fn entry(column: &str) -> Option<Entry> {
    if column == "adaboost" { Some(Entry::ADABOOST_DISCARD) } else { Entry::named(column).ok() }
}

impl Paper {
    /// The numbers of the paper.
    ///
    /// # Panics
    /// Never: the numbers are part of the crate, and a test reads them.
    pub fn load() -> Self {
        serde_json::from_str(include_str!("paper.json")).expect("the numbers of the paper are well formed")
    }

    /// The mean of a cell of tables II to IV; for Lc and Lcd it is computed from the gain in table V.
    fn accuracy(&self, size: usize, set: &str, method: &str) -> Option<f64> {
        let cells = self.accuracy.get(&size.to_string())?.get(set)?;
        match method {
            "lc" | "lcd" => {
                let gain = self.improvement.get(set)?.get(method)?.get(&size.to_string())?;
                Some((*cells.get("lcud")?)?.mean - gain.mean)
            }
            _ => Some((*cells.get(method)?)?.mean),
        }
    }
}

impl Figure {
    /// The mean as a draw, for tables that are rounded to the nearest digit.
    fn rounded(&self) -> Sampled {
        Sampled { mean: self.mean, std: self.std, n: SPLITS, unit: PRINTED_UNIT }
    }

    /// A gain of table V as a draw. Gains that the nearest digit would make 0 are printed as 0.001 or -0.001, and 0 where the gain is
    /// 0: of 150 gains 53 are 0.001, 10 are -0.001, and 3 are 0, two of these with a deviation of 0. So 0.001 stands for anything
    /// above 0 and up to 0.0015.
    ///
    /// ```
    /// use udeed_lab::paper::Figure;
    ///
    /// let gain = |mean| Figure { mean, std: 0.002, lcud: None }.gain();
    /// assert!((gain(-0.001).mean + 0.00075).abs() < 1e-12 && (gain(-0.001).unit - 0.0015).abs() < 1e-12);
    /// assert_eq!((gain(0.002).mean, gain(0.002).unit), (0.002, 0.001));
    /// assert_eq!((gain(0.0).mean, gain(0.0).unit), (0.0, 0.0));
    /// ```
    pub fn gain(&self) -> Sampled {
        let nearest = self.rounded();
        let units = (self.mean / PRINTED_UNIT).round();
        match units.abs() {
            0.0 => Sampled { unit: 0.0, ..nearest },
            1.0 => Sampled { mean: 0.75 * units * PRINTED_UNIT, unit: 1.5 * PRINTED_UNIT, ..nearest },
            _ => nearest,
        }
    }
}

/// The files of the paper's data sets in a folder; of several files of a set, the one with the paper's number of
/// features.
///
/// # Errors
/// If the folder cannot be read, or has none of these files.
pub fn find_sets(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let refused = |cause| Error::Io { path: folder.display().to_string(), action: "read", cause };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        files.push(entry.map_err(refused)?.path());
    }
    files.sort();
    let stem = |path: &Path| {
        let name = path.file_name()?.to_str()?.to_owned();
        Format::of(&name)?;
        Some(name.split('.').next()?.to_owned())
    };
    let find = |set: &str| {
        let rebuilt = |path: &&PathBuf| {
            stem(path).is_some_and(|stem| {
                stem.strip_prefix(set).is_some_and(|rest| rest.starts_with("_pca") && rest.ends_with("_guess"))
            })
        };
        let plain = |path: &&PathBuf| stem(path).is_some_and(|stem| stem == set);
        files.iter().find(rebuilt).or_else(|| files.iter().find(plain)).cloned()
    };
    let found: Vec<(String, PathBuf)> =
        SETS.iter().filter_map(|set| find(set).map(|path| ((*set).to_owned(), path))).collect();
    if found.is_empty() {
        let looked_for = SETS.iter().take(4).map(|set| format!("`{set}.libsvm.gz`")).collect::<Vec<_>>().join(", ");
        let looked_for = format!("{looked_for} and {} more", SETS.len() - 4);
        return Err(Error::NoSets { folder: folder.display().to_string(), looked_for });
    }
    Ok(found)
}

/// A cell of the paper's tables, with our value and the paper's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PaperCell {
    /// The table.
    pub table: &'static str,
    /// The set.
    pub dataset: String,
    /// The size of the ensembles.
    pub size: usize,
    /// The method (tables II to IV), the method that LcUd is compared with (V), or the measure (VI).
    pub column: String,
    /// Our mean; none in table VI, which has verdicts only.
    pub ours: Option<f64>,
    /// Our standard deviation.
    pub ours_std: Option<f64>,
    /// The number of splits of our mean, of all runs together.
    pub ours_splits: usize,
    /// The paper's mean.
    pub paper: Option<f64>,
    /// The paper's standard deviation.
    pub paper_std: Option<f64>,
    /// The difference in terms of its noise, see [`Sampled::z`] and [`Figure::gain`]; none where the paper prints no deviation.
    pub z: Option<f64>,
    /// Our verdict on LcUd in each run.
    pub our_verdicts: Vec<Option<Verdict>>,
    /// The paper's verdict on LcUd.
    pub paper_verdict: Option<Verdict>,
}

impl PaperCell {
    /// Ours minus the paper's.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.paper?)
    }

    /// The standard error of our mean.
    pub fn ours_error(&self) -> Option<f64> {
        Some(self.ours_std? / (self.ours_splits as f64).sqrt())
    }

    /// The standard error of the paper's mean.
    pub fn paper_error(&self) -> Option<f64> {
        Some(self.paper_std? / (SPLITS as f64).sqrt())
    }

    /// Our verdict on LcUd in the first run.
    pub fn our_verdict(&self) -> Option<Verdict> {
        *self.our_verdicts.first()?
    }

    /// With the difference from what the paper prints in terms of its noise.
    fn standardised(mut self, paper: Option<Sampled>) -> Self {
        self.z = self.sampled().zip(paper).and_then(|(ours, paper)| ours.z(&paper));
        self
    }

    /// Our mean as a draw.
    fn sampled(&self) -> Option<Sampled> {
        Some(Sampled { mean: self.ours?, std: self.ours_std?, n: self.ours_splits, unit: 0.0 })
    }

    /// The ratio of both standard deviations; none where the paper prints 0.001 or 0, which says little of the deviation.
    fn log_std(&self) -> Option<LogRatio> {
        let (ours, paper) = (self.ours_std?, self.paper_std?);
        let rounded = PRINTED_UNIT * PRINTED_UNIT / 12.0 / (paper * paper);
        (paper > 1.5 * PRINTED_UNIT && ours > 0.0)
            .then(|| LogRatio::of_deviations((ours, self.ours_splits), (paper, SPLITS), rounded))
    }
}

/// The agreement of a table with the paper's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Agreement {
    /// The table, or a group of its columns.
    pub table: String,
    /// The number of cells with both means.
    pub cells: usize,
    /// The mean absolute difference.
    pub mean_absolute_difference: f64,
    /// The share of cells that differ by at most 0.01.
    pub within_001: f64,
    /// The share of cells that differ by at most 0.02.
    pub within_002: f64,
    /// The share of cells that differ by at most 0.03.
    pub within_003: f64,
    /// The mean square of the standardised differences; none where the paper prints no deviations.
    pub mean_square: Option<MeanSquare>,
    /// The same without the sets whose features are [`REBUILT`].
    pub mean_square_without_rebuilt: Option<MeanSquare>,
    /// The mean log ratio of our standard deviations to the paper's; none where the paper prints none above 0.001.
    pub log_std: Option<MeanLogRatio>,
    /// The number of verdicts that agree with the paper's, in the mean of the runs.
    pub verdicts_agree: f64,
    /// The number of cells with both verdicts.
    pub verdicts: usize,
    /// The number of verdicts on which two of our runs agree, in the mean of all pairs: no more than this can agree with the
    /// paper's. None of a single run.
    pub runs_agree: Option<f64>,
}

/// Our results beside the paper's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PaperReport {
    /// The cells that both have.
    pub cells: Vec<PaperCell>,
    /// The agreement of each table.
    pub agreement: Vec<Agreement>,
    /// Of the cells in which the paper finds LcUd significantly better or worse than Lc: how many have the same sign
    /// here, and how many there are.
    pub sign_of_gain: (usize, usize),
}

impl PaperReport {
    /// Compares the results of a run with the paper's.
    pub fn new(results: &Results) -> Self {
        let paper = Paper::load();
        let mut cells = Vec::new();
        for set in &results.sets {
            for &size in &results.experiment.sizes {
                let Some(&(_, table)) = SIZES.iter().find(|(known, _)| *known == size) else { continue };
                cells.extend(accuracies(results, &paper, table, &set.name, size));
                cells.extend(improvements(results, &paper, &set.name, size));
                cells.extend(diversities(results, &paper, &set.name, size));
            }
        }
        let agreement = agreements(&cells);
        let gains = cells.iter().filter(|cell| cell.table == "V" && cell.column == "lc");
        let marked: Vec<&PaperCell> =
            gains.filter(|cell| cell.paper_verdict.is_some_and(|v| v != Verdict::Tie)).collect();
        let same = |cell: &&&PaperCell| match (cell.ours, cell.paper_verdict) {
            (Some(gain), Some(verdict)) => (gain > 0.0) == (verdict == Verdict::Win),
            _ => false,
        };
        let sign_of_gain = (marked.iter().filter(same).count(), marked.len());
        PaperReport { cells, agreement, sign_of_gain }
    }
}

fn accuracies(results: &Results, paper: &Paper, table: &'static str, set: &str, size: usize) -> Vec<PaperCell> {
    COLUMNS
        .iter()
        .filter_map(|&column| {
            let entry = entry(column)?;
            let printed = paper.accuracy.get(&size.to_string())?.get(set)?.get(column).copied().flatten();
            let outcome = ours(results, set, size, entry)?;
            let cell = PaperCell {
                table,
                dataset: set.to_owned(),
                size,
                column: column.to_owned(),
                ours: Some(outcome.mean),
                ours_std: outcome.std,
                ours_splits: outcome.accuracies.len(),
                paper: paper.accuracy(size, set, column),
                paper_std: printed.map(|figure| figure.std),
                z: None,
                our_verdicts: match printed.and_then(|figure| figure.lcud) {
                    Some(_) => against(results, set, size, entry),
                    None => Vec::new(),
                },
                paper_verdict: printed.and_then(|figure| figure.lcud),
            };
            Some(cell.standardised(printed.map(|figure| figure.rounded())))
        })
        .collect()
}

/// Our accuracies of a method; UDEED's initial members are bagging.
fn ours<'a>(results: &'a Results, set: &str, size: usize, entry: Entry) -> Option<&'a crate::results::Outcome> {
    let found = results.outcome(set, size, entry);
    if entry.name() == "bagging" { found.or_else(|| results.outcome(set, size, Entry::INITIAL)) } else { found }
}

/// The verdict on LcUd against a method in each run.
fn against(results: &Results, set: &str, size: usize, entry: Entry) -> Vec<Option<Verdict>> {
    let verdict = |run: &Results| {
        let lcud = run.outcome(set, size, Entry::LCUD)?;
        let other = &ours(run, set, size, entry)?.accuracies;
        run.verdicts.verdict(&lcud.accuracies, other, run.test_share_over_train(set))
    };
    results.runs().into_iter().map(verdict).collect()
}

fn improvements(results: &Results, paper: &Paper, set: &str, size: usize) -> Vec<PaperCell> {
    [("lc", Entry::LC), ("lcd", Entry::LCD)]
        .into_iter()
        .filter_map(|(column, entry)| {
            let printed = paper.improvement.get(set)?.get(column)?.get(&size.to_string())?;
            let (lcud, other) = (results.outcome(set, size, Entry::LCUD)?, results.outcome(set, size, entry)?);
            let gains: Vec<f64> = lcud.accuracies.iter().zip(&other.accuracies).map(|(a, b)| a - b).collect();
            let cell = PaperCell {
                table: "V",
                dataset: set.to_owned(),
                size,
                column: column.to_owned(),
                ours: mean(&gains),
                ours_std: deviation(&gains),
                ours_splits: gains.len(),
                paper: Some(printed.mean),
                paper_std: Some(printed.std),
                z: None,
                our_verdicts: against(results, set, size, entry),
                paper_verdict: printed.lcud,
            };
            Some(cell.standardised(Some(printed.gain())))
        })
        .collect()
}

fn diversities(results: &Results, paper: &Paper, set: &str, size: usize) -> Vec<PaperCell> {
    let Some(printed) = paper.diversity.get(set).and_then(|sizes| sizes.get(&size.to_string())) else {
        return Vec::new();
    };
    let runs = results.runs();
    let verdict = |run: &Results, measure: &str| {
        let wanted =
            |outcome: &&DiversityOutcome| outcome.dataset == set && outcome.size == size && outcome.measure == measure;
        run.diversity.iter().find(wanted)?.verdict
    };
    let cell = |(measure, &paper_verdict): (&String, &Verdict)| PaperCell {
        table: "VI",
        dataset: set.to_owned(),
        size,
        column: measure.clone(),
        ours: None,
        ours_std: None,
        ours_splits: results.experiment.n_splits() as usize,
        paper: None,
        paper_std: None,
        z: None,
        our_verdicts: runs.iter().map(|run| verdict(run, measure)).collect(),
        paper_verdict: Some(paper_verdict),
    };
    let of_run = |cell: &PaperCell| cell.our_verdicts.iter().any(Option::is_some);
    printed.iter().map(cell).filter(of_run).collect()
}

/// The columns of some cells, each once, in their order.
pub(crate) fn columns<'a>(cells: &[&'a PaperCell]) -> Vec<&'a str> {
    let mut columns: Vec<&str> = Vec::new();
    for cell in cells {
        if !columns.contains(&cell.column.as_str()) {
            columns.push(&cell.column);
        }
    }
    columns
}

fn agreements(cells: &[PaperCell]) -> Vec<Agreement> {
    let of = |wanted: &dyn Fn(&PaperCell) -> bool| cells.iter().filter(|cell| wanted(cell)).collect::<Vec<_>>();
    let mut groups: Vec<(String, Vec<&PaperCell>)> = Vec::new();
    for (_, table) in SIZES {
        // The accuracies of Lc and Lcd are not printed: table V has them.
        groups.push((table.to_owned(), of(&|cell| cell.table == table && cell.is_printed())));
        for column in COLUMNS {
            groups.push((format!("{table}: {column}"), of(&|cell| cell.table == table && cell.column == column)));
        }
    }
    for table in ["V", "VI"] {
        groups.push((table.into(), of(&|cell| cell.table == table)));
        let columns = columns(&of(&|cell| cell.table == table));
        for (size, _) in SIZES {
            for &column in &columns {
                let wanted = |cell: &PaperCell| cell.table == table && cell.size == size && cell.column == column;
                groups.push((format!("{table}: {column}, {size}"), of(&wanted)));
            }
        }
    }
    groups.retain(|(_, cells)| !cells.is_empty());
    groups.into_iter().map(|(table, cells)| Agreement::of(table, &cells)).collect()
}

impl PaperCell {
    /// Whether the paper prints the cell: the accuracies of Lc and Lcd follow from table V.
    fn is_printed(&self) -> bool {
        !["lc", "lcd"].contains(&self.column.as_str())
    }
}

impl Agreement {
    fn of(table: String, cells: &[&PaperCell]) -> Self {
        let differences: Vec<f64> = cells.iter().filter_map(|cell| cell.difference()).map(f64::abs).collect();
        let within = |most: f64| {
            let near = differences.iter().filter(|&&difference| difference <= most).count();
            near as f64 / differences.len().max(1) as f64
        };
        let z = |wanted: &dyn Fn(&PaperCell) -> bool| -> Vec<f64> {
            cells.iter().filter(|cell| wanted(cell)).filter_map(|cell| cell.z).collect()
        };
        let is_public = |cell: &PaperCell| !REBUILT.contains(&cell.dataset.as_str());
        let judged: Vec<&&PaperCell> =
            cells.iter().filter(|cell| cell.our_verdict().is_some() && cell.paper_verdict.is_some()).collect();
        let runs = judged.iter().map(|cell| cell.our_verdicts.len()).min().unwrap_or(0);
        let agree = |same: &dyn Fn(&PaperCell) -> bool| judged.iter().filter(|cell| same(cell)).count() as f64;
        let with_paper: Vec<f64> =
            (0..runs).map(|run| agree(&|cell| cell.our_verdicts[run] == cell.paper_verdict)).collect();
        let pairs = (0..runs).flat_map(|a| (0..a).map(move |b| (a, b)));
        let with_each_other: Vec<f64> =
            pairs.map(|(a, b)| agree(&|cell| cell.our_verdicts[a] == cell.our_verdicts[b])).collect();
        Agreement {
            table,
            cells: differences.len(),
            mean_absolute_difference: mean(&differences).unwrap_or(0.0),
            within_001: within(0.01),
            within_002: within(0.02),
            within_003: within(0.03),
            mean_square: MeanSquare::of(&z(&|_| true)),
            mean_square_without_rebuilt: MeanSquare::of(&z(&is_public)),
            log_std: MeanLogRatio::of(&cells.iter().filter_map(|cell| cell.log_std()).collect::<Vec<_>>()),
            verdicts_agree: mean(&with_paper).unwrap_or(0.0),
            verdicts: judged.len(),
            runs_agree: mean(&with_each_other),
        }
    }
}

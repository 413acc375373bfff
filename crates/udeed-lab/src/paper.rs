//! The numbers of the paper, and their agreement with ours.
//!
//! M.-L. Zhang and Z.-H. Zhou, "Exploiting Unlabeled Data to Enhance Ensemble Diversity", ICDM 2010, tables I to VI.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use udeed::format::Format;

use crate::error::{Error, Result};
use crate::experiment::Entry;
use crate::results::Results;
use crate::statistics::{Verdict, deviation, mean};

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
    /// The paper's mean.
    pub paper: Option<f64>,
    /// The paper's standard deviation.
    pub paper_std: Option<f64>,
    /// Our verdict on LcUd.
    pub our_verdict: Option<Verdict>,
    /// The paper's verdict on LcUd.
    pub paper_verdict: Option<Verdict>,
}

impl PaperCell {
    /// Ours minus the paper's.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.paper?)
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
    /// The number of verdicts that agree.
    pub verdicts_agree: usize,
    /// The number of cells with both verdicts.
    pub verdicts: usize,
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
            Some(PaperCell {
                table,
                dataset: set.to_owned(),
                size,
                column: column.to_owned(),
                ours: Some(outcome.mean),
                ours_std: outcome.std,
                paper: paper.accuracy(size, set, column),
                paper_std: printed.map(|figure| figure.std),
                our_verdict: printed.and_then(|figure| figure.lcud).and_then(|_| against(results, set, size, entry)),
                paper_verdict: printed.and_then(|figure| figure.lcud),
            })
        })
        .collect()
}

/// Our accuracies of a method; UDEED's initial members are bagging.
fn ours<'a>(results: &'a Results, set: &str, size: usize, entry: Entry) -> Option<&'a crate::results::Outcome> {
    let found = results.outcome(set, size, entry);
    if entry.name() == "bagging" { found.or_else(|| results.outcome(set, size, Entry::INITIAL)) } else { found }
}

fn against(results: &Results, set: &str, size: usize, entry: Entry) -> Option<Verdict> {
    let lcud = results.outcome(set, size, Entry::LCUD)?;
    let other = &ours(results, set, size, entry)?.accuracies;
    results.verdicts.verdict(&lcud.accuracies, other, results.test_share_over_train(set))
}

fn improvements(results: &Results, paper: &Paper, set: &str, size: usize) -> Vec<PaperCell> {
    [("lc", Entry::LC), ("lcd", Entry::LCD)]
        .into_iter()
        .filter_map(|(column, entry)| {
            let printed = paper.improvement.get(set)?.get(column)?.get(&size.to_string())?;
            let (lcud, other) = (results.outcome(set, size, Entry::LCUD)?, results.outcome(set, size, entry)?);
            let gains: Vec<f64> = lcud.accuracies.iter().zip(&other.accuracies).map(|(a, b)| a - b).collect();
            Some(PaperCell {
                table: "V",
                dataset: set.to_owned(),
                size,
                column: column.to_owned(),
                ours: mean(&gains),
                ours_std: deviation(&gains),
                paper: Some(printed.mean),
                paper_std: Some(printed.std),
                our_verdict: against(results, set, size, entry),
                paper_verdict: printed.lcud,
            })
        })
        .collect()
}

fn diversities(results: &Results, paper: &Paper, set: &str, size: usize) -> Vec<PaperCell> {
    let Some(printed) = paper.diversity.get(set).and_then(|sizes| sizes.get(&size.to_string())) else {
        return Vec::new();
    };
    let of_set = results.diversity.iter().filter(|outcome| outcome.dataset == set && outcome.size == size);
    of_set
        .filter_map(|outcome| {
            let paper_verdict = *printed.get(outcome.measure)?;
            Some(PaperCell {
                table: "VI",
                dataset: set.to_owned(),
                size,
                column: outcome.measure.to_owned(),
                ours: None,
                ours_std: None,
                paper: None,
                paper_std: None,
                our_verdict: outcome.verdict,
                paper_verdict: Some(paper_verdict),
            })
        })
        .collect()
}

fn agreements(cells: &[PaperCell]) -> Vec<Agreement> {
    let mut groups: Vec<(String, Vec<&PaperCell>)> = Vec::new();
    let of = |table: &str| cells.iter().filter(|cell| cell.table == table).collect::<Vec<_>>();
    for table in ["II", "III", "IV"] {
        let all = of(table);
        groups.push((
            table.to_owned(),
            all.iter().copied().filter(|cell| !["lc", "lcd"].contains(&cell.column.as_str())).collect(),
        ));
        let own = ["bagging", "lc", "lcd", "lcud"];
        groups.push((
            format!("{table}: bagging, lc, lcd, lcud"),
            all.iter().copied().filter(|c| own.contains(&c.column.as_str())).collect(),
        ));
        for column in ["adaboost", "assemble", "semiboost"] {
            groups.push((format!("{table}: {column}"), all.iter().copied().filter(|c| c.column == column).collect()));
        }
    }
    groups.push(("V".into(), of("V")));
    groups.push(("VI".into(), of("VI")));
    groups
        .into_iter()
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(table, cells)| Agreement::of(table, &cells))
        .collect()
}

impl Agreement {
    fn of(table: String, cells: &[&PaperCell]) -> Self {
        let differences: Vec<f64> = cells.iter().filter_map(|cell| cell.difference()).map(f64::abs).collect();
        let within = |most: f64| {
            let near = differences.iter().filter(|&&difference| difference <= most).count();
            near as f64 / differences.len().max(1) as f64
        };
        let verdicts: Vec<(Verdict, Verdict)> =
            cells.iter().filter_map(|cell| Some((cell.our_verdict?, cell.paper_verdict?))).collect();
        Agreement {
            table,
            cells: differences.len(),
            mean_absolute_difference: mean(&differences).unwrap_or(0.0),
            within_001: within(0.01),
            within_002: within(0.02),
            within_003: within(0.03),
            verdicts_agree: verdicts.iter().filter(|(a, b)| a == b).count(),
            verdicts: verdicts.len(),
        }
    }
}

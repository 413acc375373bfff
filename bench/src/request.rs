//! What can be asked for.

use std::path::PathBuf;

use serde::Deserialize;

/// Work, and how many threads it may use.
#[derive(Deserialize)]
pub struct Request {
    pub threads: usize,
    #[serde(flatten)]
    pub work: Work,
}

/// Names are those of things on the [`Shelf`](crate::work::Shelf); a path that results are written to is called
/// `to`, or after them.
#[derive(Deserialize)]
#[serde(tag = "work", rename_all = "kebab-case")]
pub enum Work {
    /// What the machine can do at best.
    Bounds { seconds: f64 },
    /// Puts dense rows on the shelf.
    Dense { name: String, rows: usize, columns: usize, values: PathBuf },
    /// Puts sparse rows on the shelf.
    Sparse { name: String, columns: usize, starts: PathBuf, indices: PathBuf, values: PathBuf },
    /// Puts rows with labels on the shelf: 1, -1, and NaN for unlabeled ones.
    Train { name: String, rows: String, labels: PathBuf },
    /// Takes everything off the shelf.
    Clear,
    /// UDEED's loss and its gradient: the members are to differ on `rows` and to fit the labels of `labeled`.
    Step {
        rows: String,
        labeled: String,
        targets: PathBuf,
        members: usize,
        gamma: f64,
        precision: udeed::method::udeed::Precision,
        weights: PathBuf,
        to: PathBuf,
    },
    /// Logistic regressions on bootstraps.
    Bagging { train: String, members: usize, seed: u64, model: String, to: PathBuf },
    /// The whole of UDEED. `initial` gets the weights before the descent, of at most `steps` steps a stage.
    Udeed {
        train: String,
        members: usize,
        steps: Option<usize>,
        seed: u64,
        model: String,
        initial: PathBuf,
        to: PathBuf,
    },
    /// How often a member's bootstrap draws each labeled row.
    Bootstrap { train: String, seed: u64, member: u32, to: PathBuf },
    /// The class of each row, and beside it the probability of the second one.
    Predict { model: String, rows: String, probabilities: PathBuf, classes: PathBuf },
    /// Reads a file and keeps its rows dense.
    Read { file: PathBuf, label: Option<String>, to: Option<PathBuf> },
}

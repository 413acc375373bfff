//! Prepared training rows.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::data::{
    Block, Blocks, Buffer, Copies, DiskRows, DiskRowsWriter, DiskTable, Extent, Matrix, Row, Rows, Sealed, TrainSet,
};
use crate::ensemble::vote::Part;
use crate::ensemble::{Ensemble, Lambda, Members, Vote};
use crate::error::{Error, Hint, Result};
use crate::kernel::{Precision, size_exponent};
use crate::learner::{Hypothesis, Linear, Logistic, n_heads, targets};
use crate::memory::{check_memory, half_of_memory};
use crate::neighbors::squared_distance;
use crate::observer::{Warning, Watch};
use crate::prepare::{Fitted, Preparation, Scaling};

/// The settings that most methods share. A method without one of them behaves as with the default here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// Number of members; the largest number if boosting may stop earlier.
    pub members: usize,
    /// Inverse regularisation strength of logistic regression.
    pub lambda: Lambda,
    /// Scaling of the features.
    pub scaling: Scaling,
    /// Number of random Fourier features; 0 for none.
    pub fourier: usize,
    /// Whether the probabilities are calibrated.
    pub calibrated: bool,
    /// Random seed.
    pub seed: u64,
    /// Whether the order of the rows does not matter to the last bit.
    pub exact: bool,
}

impl Default for Shared {
    fn default() -> Self {
        let (lambda, scaling) = (Lambda::Fixed(1.0), Scaling::Standard);
        Shared { members: 1, lambda, scaling, fourier: 0, calibrated: false, seed: 0, exact: false }
    }
}

impl Shared {
    /// Copies a setting of a method, if it is shared.
    pub(crate) fn take(&mut self, name: &str, value: &dyn Any) {
        match name {
            "members" => copy(&mut self.members, value),
            "lambda" => match value.downcast_ref() {
                Some(&lambda) => self.lambda = Lambda::Fixed(lambda),
                None => copy(&mut self.lambda, value),
            },
            "scaling" => copy(&mut self.scaling, value),
            "fourier" => copy(&mut self.fourier, value),
            "calibrated" => copy(&mut self.calibrated, value),
            "seed" => copy(&mut self.seed, value),
            "precision" => self.exact = value.downcast_ref() == Some(&Precision::Exact),
            _ => {}
        }
    }

    /// Copies a setting to a method, if it is shared.
    pub(crate) fn give(&self, name: &str, to: &mut dyn Any) {
        match name {
            "members" => set(to, self.members),
            "lambda" => match to.downcast_mut() {
                Some(lambda) => *lambda = self.lambda.value(),
                None => set(to, self.lambda),
            },
            "scaling" => set(to, self.scaling),
            "fourier" => set(to, self.fourier),
            "calibrated" => set(to, self.calibrated),
            "seed" => set(to, self.seed),
            _ => {}
        }
    }
}

fn copy<T: Copy + 'static>(to: &mut T, from: &dyn Any) {
    if let Some(&value) = from.downcast_ref() {
        *to = value;
    }
}

fn set<T: Copy + 'static>(to: &mut dyn Any, value: T) {
    if let Some(to) = to.downcast_mut() {
        *to = value;
    }
}

/// Prepared training rows: features, class codes and weights.
#[derive(Debug, Clone)]
pub(crate) struct TrainingRows {
    pub(crate) preparation: Preparation,
    pub(crate) classes: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) labeled: Matrix,
    /// The class of each labeled row.
    pub(crate) codes: Vec<u8>,
    /// The weight of each labeled row. Those above 0 are 1 in the mean: regularisation and everything that counts rows mean
    /// the same, whatever the unit of the weights.
    pub(crate) weights: Vec<f64>,
    /// The same without weights of whole classes, which say nothing about how frequent a class is.
    pub(crate) row_weights: Vec<f64>,
    /// Which labeled rows are copies of others, if any are.
    pub(crate) copies: Option<Copies>,
    pub(crate) unlabeled: Unlabeled,
    /// The exponent of a power of two that no value of a feature exceeds, of each; none without exact sums.
    pub(crate) sizes: Vec<i32>,
    /// Where the labeled rows stood among the training rows, if their order was to be one that follows from them.
    pub(crate) order: Option<Vec<usize>>,
    /// One head for two classes; for more, one per class against the rest.
    pub(crate) heads: Vec<Head>,
    /// Warnings about the rows, whatever learns from them.
    pub(crate) warnings: Vec<Warning>,
}

/// A head: a binary problem that linear scores solve.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The target of each labeled row, -1 or 1.
    pub(crate) targets: Vec<f64>,
    /// Logistic regression on the labels alone: the baseline of every ensemble, and the starting point of many fits.
    pub(crate) logistic: Vec<f64>,
}

/// Prepared unlabeled rows.
#[derive(Debug, Clone)]
pub(crate) enum Unlabeled {
    InMemory(Matrix),
    InFile(Arc<Streamed>),
    Elsewhere(Elsewhere),
}

/// Shape of unlabeled rows that other processes hold.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    n_rows: usize,
    n_features: usize,
    sparse: bool,
}

impl Elsewhere {
    fn refused(&self) -> Error {
        let found = format!("{} unlabeled rows elsewhere", self.n_rows);
        Error::training(found, "a device that has them, or a method that needs no more than their statistics")
    }
}

impl Sealed for Elsewhere {}

impl Blocks for Elsewhere {
    fn extent(&self) -> Extent {
        Extent { shape: (self.n_rows, self.n_features), is_sparse: self.sparse }
    }

    fn block<'a>(&'a self, _: Range<usize>, _: &'a mut Buffer) -> Result<Block<'a>> {
        Err(self.refused())
    }
}

/// Unlabeled rows in a file, prepared at first use: many methods never use them, and preparing them takes as long as a step.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// Those in memory, prepared.
    above: Matrix,
    below: Arc<DiskTable>,
    preparation: Preparation,
    prepared: OnceLock<DiskRows>,
}

impl Streamed {
    fn n_rows(&self) -> usize {
        self.above.rows().n_rows() + self.below.n_rows()
    }

    fn prepared(&self) -> Result<&DiskRows> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let mut all = DiskRowsWriter::new(self.below.folder())?;
        all.push(&self.above)?;
        self.preparation.apply_on_disk(&self.below, &mut all)?;
        Ok(self.prepared.get_or_init(|| all.finish()))
    }
}

impl Unlabeled {
    /// The unlabeled rows of a training set: `above` prepared in memory, others in a file or elsewhere.
    fn new(train: &TrainSet, preparation: &Preparation, above: Matrix, sparse: bool) -> Self {
        match (train.shared_on_disk(), train.elsewhere()) {
            (None, None) => Unlabeled::InMemory(above),
            (None, Some(&(_, n_rows))) => {
                Unlabeled::Elsewhere(Elsewhere { n_rows, n_features: preparation.n_features(), sparse })
            }
            (Some(below), _) => {
                let (below, preparation) = (Arc::clone(below), preparation.clone());
                Unlabeled::InFile(Arc::new(Streamed { above, below, preparation, prepared: OnceLock::new() }))
            }
        }
    }

    /// The rows, block by block.
    ///
    /// # Errors
    /// If the file of rows, or that of the prepared rows, cannot be read or written.
    pub(crate) fn blocks(&self) -> Result<&dyn Blocks> {
        match self {
            Unlabeled::InMemory(rows) => Ok(rows.rows()),
            Unlabeled::InFile(rows) => Ok(rows.prepared()?),
            Unlabeled::Elsewhere(rows) => Ok(rows),
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        match self {
            Unlabeled::InMemory(rows) => rows.rows().n_rows(),
            Unlabeled::InFile(rows) => rows.n_rows(),
            Unlabeled::Elsewhere(rows) => rows.n_rows,
        }
    }

    /// The rows, for methods that need all of them at once.
    ///
    /// # Errors
    /// If they are in a file.
    pub(crate) fn in_memory(&self) -> Result<&Matrix> {
        match self {
            Unlabeled::InMemory(rows) => Ok(rows),
            Unlabeled::InFile(rows) => {
                let found = format!("{} unlabeled rows in a file", rows.n_rows());
                Err(Error::training(found, "rows in memory, which this method needs").with_hint(Hint::RowsInMemory))
            }
            Unlabeled::Elsewhere(rows) => Err(rows.refused()),
        }
    }
}

/// Refuses as many members as would not fit into half of the memory with their bootstraps and their weights alone, those of
/// each head: before, during and after a step.
pub(crate) fn check_members(members: usize, weights: usize, heads: usize, n_labeled: usize) -> Result<()> {
    const COPIES: u64 = 4;
    let of_member = weights as u64 * heads as u64 * COPIES * size_of::<f64>() as u64 + n_labeled as u64;
    let what = || format!("{members} members of {weights} weights for {n_labeled} labeled rows");
    check_memory((members as u64).saturating_mul(of_member), half_of_memory(), Hint::Members, what)
}

impl TrainingRows {
    pub(crate) fn new(train: &TrainSet, shared: Shared, watch: &Watch<'_>) -> Result<Self> {
        let classes = train.classes()?;
        let Fitted { preparation, constant, largest } = fitted_preparation(train, &shared)?;
        let warnings: Vec<Warning> =
            constant_columns(constant).into_iter().chain(classes_like_values(&classes, train.n_labeled())).collect();
        warnings.iter().for_each(|warning| watch.warn(warning));
        let preparation = match shared.fourier {
            0 => preparation,
            n_features => preparation.with_fourier(n_features, train.table(), train.on_disk(), shared.seed)?,
        };
        let labels = train.labels();
        check_members(shared.members, preparation.n_features() + 1, n_heads(classes.len()), labels.n_labeled())?;
        let sizes: Vec<i32> = match shared.exact {
            true => largest.into_iter().map(size_exponent).collect::<Result<_>>()?,
            false => Vec::new(),
        };
        let (mut labeled, unlabeled): (Vec<usize>, Vec<usize>) =
            (0..labels.len()).partition(|&i| labels.get(i).is_some());
        let known = labels.aligned(&classes)?;
        let features = preparation.features_of(train.table())?;
        let mut rows = features.of(&labeled)?;
        let mut order = None;
        if shared.exact {
            let sorted = in_order(rows.rows(), |k| (known.get(labeled[k]), train.weight(labeled[k])));
            rows = rows.select(&sorted);
            labeled = sorted.iter().map(|&k| labeled[k]).collect();
            order = Some(labeled.clone());
        }
        let codes: Vec<u8> = labeled.iter().filter_map(|&i| known.get(i)).map(|class| class as u8).collect();
        let above = features.of(&unlabeled)?;
        drop(features);
        let unlabeled = Unlabeled::new(train, &preparation, above, rows.is_sparse());
        let places: Vec<usize> = (0..codes.len()).collect();
        let copies =
            Copies::among(rows.rows(), &places, &codes.iter().map(|&class| usize::from(class)).collect::<Vec<usize>>());
        let weights = with_mean_of_one(labeled.iter().map(|&i| train.weight(i)).collect());
        let row_weights = with_mean_of_one(labeled.iter().map(|&i| train.row_weight(i)).collect());
        let head = |head: usize| {
            let targets = targets(&codes, classes.len(), head);
            let learner = Logistic::new(shared.lambda.value());
            let logistic = learner.fit(rows.rows(), &targets, &weights, None, watch)?.weights;
            Ok(Head { targets, logistic })
        };
        let heads: Vec<Head> = (0..n_heads(classes.len())).map(head).collect::<Result<_>>()?;
        Ok(TrainingRows {
            labeled: rows,
            codes,
            weights,
            row_weights,
            copies,
            unlabeled,
            sizes,
            order,
            heads,
            label: train.label_name().map(str::to_owned),
            preparation,
            classes,
            warnings,
        })
    }
}

/// The preparation of the features, without their Fourier map.
fn fitted_preparation(train: &TrainSet, shared: &Shared) -> Result<Fitted> {
    match train.elsewhere() {
        None => Preparation::fit_with(train.table(), train.on_disk(), shared.scaling, shared.exact),
        Some(_) if shared.fourier > 0 => {
            let expected = "0 beside rows elsewhere: the width of the features follows from rows";
            Err(Error::setting("fourier", shared.fourier, expected))
        }
        Some((statistics, _)) if shared.exact && !statistics.are_exact() => {
            let expected = "exact ones with `precision` `exact`";
            Err(Error::training("statistics of rows elsewhere with rounded sums", expected))
        }
        Some((statistics, _)) => Preparation::of_all(statistics, shared.scaling),
    }
}

/// The places of rows sorted by all that is known of them: their values by their bits, then their labels. Rows that are alike in
/// all of it can be exchanged.
fn in_order(rows: &dyn Rows, label: impl Fn(usize) -> (Option<usize>, f64)) -> Vec<usize> {
    let values = |i: usize| rows.row(i).iter().filter(|(_, x)| x.to_bits() != 0).map(|(j, x)| (j, x.to_bits()));
    let labels = |i: usize| (label(i).0, label(i).1.to_bits());
    let mut places: Vec<usize> = (0..rows.n_rows()).collect();
    places.sort_by(|&i, &k| values(i).cmp(values(k)).then_with(|| labels(i).cmp(&labels(k))));
    places
}

fn constant_columns(mut columns: Vec<String>) -> Option<Warning> {
    const NAMED: usize = 5;
    let count = columns.len();
    columns.truncate(NAMED);
    (count > 0).then_some(Warning::ConstantColumns { columns, count })
}

/// More classes than half the rows are rarely meant; scikit-learn warns of the same.
fn classes_like_values(classes: &[String], rows: usize) -> Option<Warning> {
    let classes = classes.len();
    (rows > 20 && 2 * classes > rows).then_some(Warning::ClassesLikeValues { classes, rows })
}

/// Weights over the mean of those above 0, without their last bits: these are the rounding of another unit, and could decide a
/// tie or which rows are drawn. A weight in ten thousand lies so near to a rounding boundary that another unit moves it across.
fn with_mean_of_one(mut weights: Vec<f64>) -> Vec<f64> {
    const KEPT_BITS: i32 = 40;
    let kept = |weight: f64| {
        let up = KEPT_BITS - libm::ilogb(weight);
        libm::scalbn(libm::rint(libm::scalbn(weight, up)), -up)
    };
    // First over the largest: the sum of large ones would overflow.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    weights.iter_mut().for_each(|weight| *weight /= largest);
    let counted = weights.iter().filter(|&&weight| weight > 0.0).count();
    let mean = weights.iter().sum::<f64>() / counted as f64;
    weights.iter_mut().filter(|weight| **weight > 0.0).for_each(|weight| *weight = kept(*weight / mean));
    weights
}

impl TrainingRows {
    pub(crate) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The same rows with logistic regressions at another lambda.
    pub(crate) fn with_lambda(mut self, lambda: f64, watch: &Watch<'_>) -> Result<Self> {
        for head in &mut self.heads {
            let (rows, start) = (self.labeled.rows(), Some(&head.logistic[..]));
            let fit = Logistic::new(lambda).fit(rows, &head.targets, &self.weights, start, watch)?;
            head.logistic = fit.weights;
        }
        Ok(self)
    }

    /// For each bootstrap how often each row or a copy of it was drawn: whoever learned from a copy cannot judge a row. A
    /// warning if some rows have copies in every bootstrap; these are left as they were drawn.
    pub(crate) fn seen<'a>(&self, draws: &'a [Vec<u8>]) -> (Cow<'a, [Vec<u8>]>, Option<Warning>) {
        let Some(copies) = &self.copies else { return (draws.into(), None) };
        let (seen, rows) = copies.seen(draws);
        (seen.into(), (rows > 0).then_some(Warning::CopiesInEveryBag { rows }))
    }

    /// The share of each class among the labeled rows, by their weights.
    pub(crate) fn class_shares(&self) -> Vec<f64> {
        self.shares_by(&self.weights)
    }

    /// How frequent each class is: its share by the weights of rows, without those of whole classes.
    pub(crate) fn class_frequencies(&self) -> Vec<f64> {
        self.shares_by(&self.row_weights)
    }

    /// The logarithms of the weights of whole classes, that of the first being 0; none if all classes count alike.
    pub(crate) fn log_class_weights(&self) -> Option<Vec<f64>> {
        let weight = |class: usize| {
            let row = (0..self.codes.len()).find(|&i| usize::from(self.codes[i]) == class && self.row_weights[i] > 0.0);
            row.map_or(1.0, |i| self.weights[i] / self.row_weights[i])
        };
        let first = weight(0);
        let logs: Vec<f64> = (0..self.n_classes()).map(|class| libm::log(weight(class) / first)).collect();
        // Equal weights differ by rounding.
        logs.iter().any(|log| log.abs() > 1e-12).then_some(logs)
    }

    fn shares_by(&self, weights: &[f64]) -> Vec<f64> {
        let (mut shares, total) = (vec![0.0; self.n_classes()], weights.iter().sum::<f64>());
        self.codes.iter().zip(weights).for_each(|(&class, weight)| shares[usize::from(class)] += weight);
        shares.iter_mut().for_each(|share| *share /= total);
        shares
    }

    /// Whether all rows, some of them unlabeled, are equal; rows in a file count as different.
    pub(crate) fn are_alike(&self) -> bool {
        let Unlabeled::InMemory(unlabeled) = &self.unlabeled else { return false };
        if unlabeled.rows().n_rows() == 0 {
            return false;
        }
        let (first, parts) = (self.labeled.rows().row(0), [&self.labeled, unlabeled]);
        let is_first = |row: Row<'_>| squared_distance(first, row) == 0.0;
        parts.into_iter().all(|part| (0..part.rows().n_rows()).all(|i| is_first(part.rows().row(i))))
    }

    /// Logistic regression on the labels alone, as an ensemble.
    pub(crate) fn logistic(&self) -> Ensemble {
        let part = |head: &Head| Part::alike(Members::from_rows(std::slice::from_ref(&head.logistic)), Vote::Weighted);
        Ensemble::against_rest(self.n_classes(), self.heads.iter().map(part).collect())
    }

    /// Logistic regression on the labels alone, as a hypothesis to start fits from.
    pub(crate) fn start(&self) -> Hypothesis {
        Hypothesis::Linear(Linear::new(self.heads.iter().map(|head| head.logistic.clone()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, Reader};
    use crate::memory::Room;
    use crate::method::udeed::Variant;
    use crate::method::{Bagging, Learn, Method, Udeed};

    #[test]
    fn rows_in_a_file_are_made_ready_only_for_who_looks_at_them() {
        let reader = Reader::new().format(Format::Csv).label("ok");
        let rows = &b"size,ok\n1,no\n2,no\n3,\n8,yes\n9,yes\n"[..];
        let mut train = reader.read_from("rows", rows).unwrap().into_train().unwrap();
        let room = Room { most: 0, folder: Some(&std::env::temp_dir()) };
        let many = Reader::new().format(Format::Csv).hold_from("many", &b"size\n4\n7\n"[..], room);
        train.add_held(&many.unwrap().table, room).unwrap();
        let lcd = Udeed::new().variant(Variant::Lcd);
        let methods: [(&dyn Learn, bool); 3] = [(&Bagging::new(), false), (&lcd, false), (&Udeed::new(), true)];
        for (method, looks) in methods {
            let prepared = TrainingRows::new(&train, Method::from(lcd.clone()).shared(), &Watch::new(&mut ())).unwrap();
            method.learn(&prepared, &Watch::new(&mut ())).unwrap();
            let Unlabeled::InFile(rows) = &prepared.unlabeled else { panic!("rows in memory") };
            assert_eq!(rows.prepared.get().map(DiskRows::n_rows), looks.then_some(3));
            assert_eq!(prepared.unlabeled.n_rows(), 3);
        }
    }
}

//! The diversity of the members on rows that lie elsewhere: in other processes, or on other machines.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::Blocks;
use crate::error::{Error, Place, Result};
use crate::kernel::{Grid, Precision, Real, exact_pass, pass};
use crate::method::udeed::loss::{Diversity, ExactDiversity};
use crate::method::udeed::{Device, EnsembleLoss, Objective, Stages};
use crate::observer::Losses;

/// The diversity term of UDEED's loss, without rows: `gamma / (m (m - 1) n) sum_D (S^2 - sum_k f_k^2)`, see [`EnsembleLoss`]. Its
/// sums over the parts of D add up, wherever these lie.
///
/// ```
/// use udeed::data::Dense;
/// use udeed::method::udeed::{DiversityTerm, Partial, Precision};
///
/// let (precision, sizes) = (Precision::Double, Vec::new());
/// let term = DiversityTerm { gamma: 1.0, m: 2, heads: 1, n_rows: 3, precision, sizes };
/// let weights = [2.0, -1.0, 0.0, 0.5];
/// let of = |values: &[f64]| term.partial(&Dense::new(values.len(), 1, values.to_vec())?, &weights);
/// let (all, mut parts) = (of(&[0.1, 0.4, 0.9])?, of(&[0.1])?);
/// parts.merge(&Partial::from_bytes(&of(&[0.4, 0.9])?.to_bytes())?)?;
/// assert_eq!(parts.n_rows(), 3);
/// assert!((parts.loss(&term) - all.loss(&term)).abs() < 1e-12);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiversityTerm {
    /// Weight of the term.
    pub gamma: f64,
    /// Number of members of a head, at least two.
    pub m: usize,
    /// Number of heads, whose members are adjacent.
    pub heads: usize,
    /// Number of rows in all parts.
    pub n_rows: usize,
    /// Floating-point precision of scores and outputs. With [`Precision::Exact`] the sums over the parts have the same bits in
    /// any order and however the rows are divided.
    pub precision: Precision,
    /// Of each feature the exponent of a power of two that no value exceeds, the same for all parts; only exact sums need it, see
    /// [`EnsembleLoss::sizes`].
    #[serde(default)]
    pub sizes: Vec<i32>,
}

impl DiversityTerm {
    /// The sums over prepared rows, for weights feature by feature.
    ///
    /// # Errors
    /// If the rows cannot be read, or there are weights for others.
    pub fn partial(&self, rows: &dyn Blocks, weights: &[f64]) -> Result<Partial> {
        let ((n_rows, n_features), lanes) = (rows.shape(), self.m * self.heads);
        if self.m < 2 || weights.len() != (n_features + 1) * lanes {
            let found = format!("{} weights of {lanes} members for {n_features} features", weights.len());
            return Err(Error::training(found, "those of two members at least, each with a constant"));
        }
        match self.precision {
            Precision::Double => self.partial_in::<f64>(rows, weights, n_rows),
            Precision::Single => self.partial_in::<f32>(rows, weights, n_rows),
            Precision::Exact => self.exact_partial(rows, weights),
        }
    }

    fn partial_in<T: Real>(&self, rows: &dyn Blocks, weights: &[f64], n_rows: usize) -> Result<Partial> {
        let mut gradient = vec![0.0; weights.len()];
        let visitor = Diversity::of(self);
        let parts = pass::<T, _>(rows, weights, self.m * self.heads, Some(gradient.as_mut_slice()), &visitor)?;
        let sum: f64 = parts.into_iter().map(|part| part.sums.diversity).sum();
        Ok(Partial { n_rows, numbers: [&[sum], &gradient[..]].concat() })
    }

    fn exact_partial(&self, rows: &dyn Blocks, weights: &[f64]) -> Result<Partial> {
        let (&DiversityTerm { m, heads, .. }, (n_rows, n_features)) = (self, rows.shape());
        if self.sizes.len() != n_features {
            let found = format!("sizes of {} features for rows of {n_features}", self.sizes.len());
            return Err(Error::training(found, "one for each with `precision` `exact`"));
        }
        Grid::check_rows(n_rows, rows.is_sparse(), self.n_rows)?;
        // `S - f_k` is at most m in size, and the terms of all heads together.
        let grid = Grid::new(&self.sizes, m as u64, (heads * m * m) as u64, self.n_rows);
        let visitor = ExactDiversity { m, heads, grid: &grid };
        let (parts, gradient) = exact_pass(rows, weights, m * heads, &grid, &visitor)?;
        let [high, low] =
            parts.iter().fold([0.0; 2], |[high, low], part| [high + part.sums.diversity, low + part.sums.rest]);
        let (above, below) = gradient.split_at(weights.len());
        Ok(Partial { n_rows, numbers: [&[high], above, &[low], below].concat() })
    }

    /// How many numbers a [`Partial`] has for so many weights.
    fn n_numbers(&self, n_weights: usize) -> usize {
        (1 + n_weights) * if self.precision == Precision::Exact { 2 } else { 1 }
    }

    /// What the sum over all rows is multiplied by, for the loss without gamma.
    fn share(&self) -> f64 {
        Diversity::of(self).share
    }
}

/// The sums of a [`DiversityTerm`] over some of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    n_rows: usize,
    /// The sum and its gradient, that of the whole term. Exact sums have two numbers each, the higher ones of all before the
    /// lower ones, and none of the factors.
    numbers: Vec<f64>,
}

impl Partial {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Their share of the loss, without gamma.
    pub fn loss(&self, term: &DiversityTerm) -> f64 {
        let rest = if term.precision == Precision::Exact { self.numbers[self.numbers.len() / 2] } else { 0.0 };
        term.share() * (self.numbers[0] + rest)
    }

    /// Their share of the gradient of the term.
    pub fn gradient(&self, term: &DiversityTerm) -> Vec<f64> {
        if term.precision != Precision::Exact {
            return self.numbers[1..].to_vec();
        }
        // All that is ever rounded.
        let (high, low) = self.numbers.split_at(self.numbers.len() / 2);
        let factor = term.gamma * term.share();
        high.iter().zip(low).skip(1).map(|(high, low)| factor * (high + low)).collect()
    }

    /// The losses of the labeled rows and the term, whose gradient is added to that of the labeled rows.
    pub(super) fn added(&self, term: &DiversityTerm, losses: Losses, gradient: &mut [f64]) -> Losses {
        gradient.iter_mut().zip(self.gradient(term)).for_each(|(sum, more)| *sum += more);
        let (empirical, diversity) = (losses.empirical, self.loss(term));
        Losses { empirical, diversity, total: empirical + term.gamma * diversity }
    }

    /// Adds the sums over further rows. To the last digit the result depends on the order, unless sums are exact: always add in
    /// the same.
    ///
    /// # Errors
    /// If they are of other members.
    pub fn merge(&mut self, other: &Partial) -> Result<()> {
        if self.numbers.len() != other.numbers.len() {
            let found = format!("{} sums beside {}", other.numbers.len(), self.numbers.len());
            return Err(Error::training(found, "sums for the same weights"));
        }
        self.n_rows += other.n_rows;
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// The sums as bytes, for another process: numbers of eight bytes each, the lowest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.numbers.iter().flat_map(|x| x.to_le_bytes());
        (self.n_rows as u64).to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// The sums that [`Partial::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are no such sums.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut numbers = bytes.chunks_exact(8).map(|x| x.try_into().map(u64::from_le_bytes).unwrap_or_default());
        let n_rows = numbers.next().and_then(|n| usize::try_from(n).ok());
        let numbers: Vec<f64> = numbers.map(f64::from_bits).collect();
        match n_rows {
            Some(n_rows) if bytes.len().is_multiple_of(8) && !numbers.is_empty() => Ok(Partial { n_rows, numbers }),
            _ => {
                let expected = "those that `Partial::to_bytes` wrote";
                Err(Error::input(Place::new("the partial sums"), "bytes that are none", expected))
            }
        }
    }
}

/// A [`Device`] that asks for the sums of the diversity term over rows that lie elsewhere, see
/// [`TrainSet::with_elsewhere`](crate::data::TrainSet::with_elsewhere). The labeled rows are evaluated here.
///
/// ```
/// use std::sync::Arc;
///
/// use udeed::data::Statistics;
/// use udeed::method::udeed::{DiversityTerm, Elsewhere};
/// use udeed::prelude::*;
/// use udeed::prepare::{Preparation, Scaling};
///
/// let all = built_in("ionosphere")?.read()?.into_train()?;
/// let (labeled, unlabeled) = (all.select(&(0..50).collect::<Vec<_>>()), all.table().select(&(50..351).collect::<Vec<_>>()));
/// // What the processes that hold the rows would do.
/// let mut statistics = Statistics::of(labeled.table())?;
/// statistics.merge(&Statistics::of(&unlabeled)?)?;
/// let preparation = Preparation::of(&statistics, Scaling::MinMax)?;
/// let parts: Vec<Matrix> = [0..100, 100..301]
///     .map(|part| preparation.apply(&unlabeled.select(&part.collect::<Vec<_>>())))
///     .into_iter()
///     .collect::<udeed::Result<_>>()?;
///
/// let ask = move |term: &DiversityTerm, weights: &[f64]| -> udeed::Result<Vec<_>> {
///     parts.iter().map(|part| term.partial(part.rows(), weights)).collect()
/// };
/// let train = labeled.clone().with_elsewhere(statistics, 301)?;
/// let model = Udeed::new().on(Arc::new(Elsewhere::new(ask))).fit(&train)?;
///
/// let mut one = labeled;
/// one.add_unlabeled(&unlabeled)?;
/// let (here, there) = (Udeed::new().fit(&one)?.decision(one.table())?, model.decision(one.table())?);
/// assert!(here.values().iter().zip(there.values()).all(|(x, y)| (x - y).abs() < 1e-9));
/// # Ok::<(), udeed::Error>(())
/// ```
pub struct Elsewhere<F>(F);

impl<F: Fn(&DiversityTerm, &[f64]) -> Result<Vec<Partial>> + Send + Sync> Elsewhere<F> {
    /// Asks by a function, which returns the sums of all parts: they are added in this order.
    pub fn new(ask: F) -> Self {
        Elsewhere(ask)
    }
}

impl<F> fmt::Debug for Elsewhere<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elsewhere")
    }
}

impl<F: Fn(&DiversityTerm, &[f64]) -> Result<Vec<Partial>> + Send + Sync> Device for Elsewhere<F> {
    fn name(&self) -> String {
        "elsewhere".to_owned()
    }

    fn sums_exactly(&self) -> bool {
        true
    }

    fn start<'a>(&'a self) -> Result<Box<dyn Stages<'a> + 'a>> {
        Ok(Box::new(self))
    }
}

impl<'a, F: Fn(&DiversityTerm, &[f64]) -> Result<Vec<Partial>> + Send + Sync> Stages<'a> for &'a Elsewhere<F> {
    fn objective<'s>(&'s self, loss: EnsembleLoss<'a>) -> Result<Box<dyn Objective + 's>> {
        match loss.term() {
            Some(term) if !loss.is_of_labeled() => {
                Ok(Box::new(InParts { here: EnsembleLoss { diversity: None, ..loss }, term, ask: &self.0 }))
            }
            _ => Ok(Box::new(loss)),
        }
    }
}

/// The empirical loss here, and the diversity loss elsewhere.
struct InParts<'a, F> {
    here: EnsembleLoss<'a>,
    term: DiversityTerm,
    ask: &'a F,
}

impl<F: Fn(&DiversityTerm, &[f64]) -> Result<Vec<Partial>>> Objective for InParts<'_, F> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        let here = self.here.evaluate(weights, gradient)?;
        let mut parts = (self.ask)(&self.term, weights)?.into_iter();
        let Some(mut all) = parts.next() else {
            return Err(Error::training("no sums over the rows elsewhere", "those of one part at least"));
        };
        parts.try_for_each(|part| all.merge(&part))?;
        let (n_rows, n_numbers) = (self.term.n_rows, self.term.n_numbers(gradient.len()));
        if all.n_rows != n_rows || all.numbers.len() != n_numbers {
            let found = format!("sums over {} rows and for gradients of {} numbers", all.n_rows, all.numbers.len() - 1);
            return Err(Error::training(found, format!("{n_rows} rows and {} numbers", n_numbers - 1)));
        }
        Ok(all.added(&self.term, here, gradient))
    }
}

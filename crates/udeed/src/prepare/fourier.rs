//! Random Fourier features, with which linear members have curved decision boundaries.
//!
//! A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

use std::collections::BTreeSet;
use std::f64::consts::SQRT_2;
use std::ops::Range;

use crate::data::{Blocks, Matrix, Stretch};
use crate::error::{Error, Hint, Result};
use crate::kernel::cosines;
use crate::memory::{self, half_of_memory};
use crate::neighbors::distance_percentile;
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

/// A random Fourier feature map: a row `x` becomes `sqrt(2 / D) cos(x Omega + b)`, with `D` columns of frequencies `Omega`
/// and `D` phases `b`, drawn once and saved with the model.
///
/// The frequencies are normal with deviation `sqrt(2) / h`, so that the inner product of two mapped rows approximates the
/// Gaussian kernel `exp(-|x - z|^2 / h^2)`, the better the larger `D`. The bandwidth `h` is the median distance of training
/// rows.
///
/// ```
/// use udeed::data::Table;
/// use udeed::prepare::{Preparation, Scaling};
///
/// let rows = Table::from_rows(&[[0.0, 3.0], [1.0, 1.0], [4.0, 2.0]])?;
/// let preparation = Preparation::fit(&rows, Scaling::Standard)?.with_fourier(50, &rows, None, 7)?;
/// let map = preparation.fourier().unwrap();
/// assert_eq!((map.n_features(), map.frequencies().len(), map.phases().len()), (50, 2 * 50, 50));
/// assert_eq!(preparation.features()[0], "fourier 1");
/// assert_eq!(preparation.apply(&rows)?.rows().n_columns(), 50);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FourierMap {
    n_features: usize,
    /// The frequencies, input by input, then the phases: the layout of the weights of members.
    weights: Vec<f64>,
}

impl FourierMap {
    /// Draws a map. Its first features do not depend on the number of features.
    pub(crate) fn draw(n_inputs: usize, n_features: usize, bandwidth: f64, seed: u64) -> Result<Self> {
        check_memory(n_features, n_inputs + 1, "inputs")?;
        let mut weights = vec![0.0; (n_inputs + 1) * n_features];
        let (frequencies, phases) = weights.split_at_mut(n_inputs * n_features);
        parallel::chunks_mut(frequencies, n_features, |input, frequencies| {
            let mut stream = Stream::new(seed, Purpose::FourierFrequencies, input as u32);
            for pair in frequencies.chunks_mut(2) {
                pair.iter_mut()
                    .zip(stream.normals())
                    .for_each(|(frequency, normal)| *frequency = SQRT_2 * normal / bandwidth);
            }
        });
        let mut stream = Stream::new(seed, Purpose::FourierPhases, 0);
        phases.iter_mut().for_each(|phase| *phase = std::f64::consts::TAU * stream.unit());
        Ok(FourierMap { n_features, weights })
    }

    /// A map from its frequencies, input by input, and phases.
    pub(crate) fn from_parts(mut frequencies: Vec<f64>, phases: &[f64]) -> Self {
        frequencies.extend_from_slice(phases);
        FourierMap { n_features: phases.len(), weights: frequencies }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The frequencies, input by input: that of input `j` in feature `k` is at `j * n_features + k`.
    pub fn frequencies(&self) -> &[f64] {
        &self.weights[..self.weights.len() - self.n_features]
    }

    /// The phase of each feature.
    pub fn phases(&self) -> &[f64] {
        &self.weights[self.weights.len() - self.n_features..]
    }

    /// The factor of all cosines.
    pub(crate) fn factor(&self) -> f64 {
        (2.0 / self.n_features as f64).sqrt()
    }

    /// Whether it is a finite map of rows with `n_inputs` columns.
    pub(super) fn is_sound(&self, n_inputs: usize) -> bool {
        self.n_features > 0
            && self.weights.len() == (n_inputs + 1) * self.n_features
            && self.weights.iter().all(|weight| weight.is_finite())
    }

    /// Maps some of the rows.
    pub(crate) fn fill(&self, rows: &dyn Blocks, span: Range<usize>, values: &mut [f64]) -> Result<()> {
        cosines(&Stretch { rows, span }, &self.weights, self.n_features, self.factor(), values)
    }
}

/// Largest sample of rows for the bandwidth: its 124 750 distances give the median well enough.
const MOST_ROWS: usize = 500;

/// The sample of `n` rows for the bandwidth, in ascending order.
pub(super) fn drawn_rows(n: usize, seed: u64) -> Vec<usize> {
    if n <= MOST_ROWS {
        return (0..n).collect();
    }
    let mut stream = Stream::new(seed, Purpose::FourierRows, 0);
    let mut rows = BTreeSet::new();
    while rows.len() < MOST_ROWS {
        rows.insert(stream.below(n));
    }
    rows.into_iter().collect()
}

/// The median distance of distinct rows; 1 if all are equal.
pub(super) fn bandwidth(rows: &Matrix, seed: u64) -> Result<f64> {
    let median = distance_percentile(rows.rows(), 50.0, seed, &Watch::new(&mut ()))?;
    if median == 0.0 {
        return Ok(1.0);
    }
    if median.is_finite() && (1.0 / median).is_finite() {
        return Ok(median);
    }
    Err(Error::training(format!("rows that lie {median:e} apart"), "a distance for the width of Fourier features")
        .with_hint(Hint::Scaling))
}

/// Refuses Fourier features that would take more than half of the memory, for `n` rows or inputs.
pub(super) fn check_memory(n_features: usize, n: usize, of: &str) -> Result<()> {
    let bytes = (n as u64).saturating_mul(n_features as u64).saturating_mul(size_of::<f64>() as u64);
    let what = || format!("{n_features} Fourier features of {n} {of}");
    memory::check_memory(bytes, half_of_memory(), Hint::Fourier, what)
}

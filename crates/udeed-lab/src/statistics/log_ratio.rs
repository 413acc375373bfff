//! Ratios of standard deviations.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::mean;

/// The logarithm of the ratio of two standard deviations, with its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// The logarithm.
    pub value: f64,
    /// Its variance if both are deviations of draws of the same thing.
    pub variance: f64,
}

impl LogRatio {
    /// Of two standard deviations, each with its number of values, which are taken as normal: the logarithm of the deviation of n
    /// values then has a variance of about 1 / (2 (n - 1)). `further` is added to the variance.
    pub fn of_deviations(a: (f64, usize), b: (f64, usize), further: f64) -> Self {
        let variance = |n: usize| 0.5 / (n as f64 - 1.0);
        LogRatio { value: (a.0 / b.0).ln(), variance: variance(a.1) + variance(b.1) + further }
    }
}

/// The mean logarithm of ratios of standard deviations: near 0 where both sides are draws of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanLogRatio {
    /// The number of ratios.
    pub cells: usize,
    /// The mean.
    pub value: f64,
    /// The range in which it lies with a probability of 95 % if both sides are draws of the same thing, the ratios independent.
    pub by_chance: [f64; 2],
}

impl MeanLogRatio {
    /// Of some ratios; none without any, or where one is not finite.
    ///
    /// ```
    /// use udeed_lab::statistics::{LogRatio, MeanLogRatio};
    ///
    /// let twice = LogRatio::of_deviations((0.02, 50), (0.01, 50), 0.0);
    /// let found = MeanLogRatio::of(&[twice; 4]).unwrap();
    /// assert!((found.value - 2.0_f64.ln()).abs() < 1e-12);
    /// assert!((found.by_chance[1] - 1.959964 * (1.0_f64 / 49.0 / 4.0).sqrt()).abs() < 1e-6);
    /// ```
    pub fn of(ratios: &[LogRatio]) -> Option<Self> {
        let value = mean(&ratios.iter().map(|ratio| ratio.value).collect::<Vec<_>>())?;
        let deviation = ratios.iter().map(|ratio| ratio.variance).sum::<f64>().sqrt() / ratios.len() as f64;
        let by_chance = [0.025, 0.975].map(|p| deviation * Normal::standard().inverse_cdf(p));
        by_chance[1].is_finite().then_some(MeanLogRatio { cells: ratios.len(), value, by_chance })
    }
}

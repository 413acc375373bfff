//! Differences of two means in terms of their noise.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::mean;

/// The mean and the standard deviation of independent values, and their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a single value.
    pub std: f64,
    /// The number of values.
    pub n: usize,
    /// The width of the values that the mean stands for, itself in their middle, such as 0.001 where it was rounded to three digits;
    /// 0 for one that was not rounded.
    pub unit: f64,
}

impl Sampled {
    /// The variance of the mean; what was rounded away is uniform.
    fn variance(&self) -> f64 {
        self.std * self.std / self.n as f64 + self.unit * self.unit / 12.0
    }

    /// The standardised difference from another mean: the difference over its standard error. Where both are draws of the
    /// same thing, it is a draw from the standard normal distribution. None where neither varies.
    ///
    /// ```
    /// use udeed_lab::statistics::Sampled;
    ///
    /// let ours = Sampled { mean: 0.80, std: 0.03, n: 50, unit: 0.0 };
    /// let theirs = Sampled { mean: 0.79, std: 0.04, ..ours };
    /// assert!((ours.z(&theirs).unwrap() - 0.01 / 0.05 * 50.0_f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn z(&self, other: &Sampled) -> Option<f64> {
        let z = (self.mean - other.mean) / (self.variance() + other.variance()).sqrt();
        z.is_finite().then_some(z)
    }
}

/// The mean square of standardised differences: near 1 where both sides are draws of the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanSquare {
    /// The mean square.
    pub value: f64,
    /// The range in which it lies with a probability of 95 % if both sides are draws of the same thing, the differences
    /// independent: the quantiles of the chi-square distribution over its degrees of freedom.
    pub by_chance: [f64; 2],
    /// The mean of the differences themselves: its sign says which side is above.
    pub mean: f64,
}

impl MeanSquare {
    /// Of some standardised differences; none without any.
    ///
    /// ```
    /// use udeed_lab::statistics::MeanSquare;
    ///
    /// let found = MeanSquare::of(&[1.0, -2.0]).unwrap();
    /// assert_eq!((found.value, found.mean), (2.5, -0.5));
    /// ```
    pub fn of(z: &[f64]) -> Option<Self> {
        let squares: Vec<f64> = z.iter().map(|z| z * z).collect();
        let distribution = ChiSquared::new(z.len() as f64).ok()?;
        let by_chance = [0.025, 0.975].map(|p| distribution.inverse_cdf(p) / z.len() as f64);
        Some(MeanSquare { value: mean(&squares)?, by_chance, mean: mean(z)? })
    }

    /// Whether chance explains it.
    pub fn is_chance(&self) -> bool {
        self.value <= self.by_chance[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `chi2.ppf([0.025, 0.975], n) / n`.
    #[test]
    fn the_range_of_chance_agrees_with_scipy() {
        let expected = [
            (1, [0.0009820691171752583, 5.023886187314888]),
            (19, [0.46876402536778794, 1.7290698348278786]),
            (57, [0.6671358062494287, 1.3991612680752694]),
        ];
        for (n, expected) in expected {
            let found = MeanSquare::of(&vec![1.0; n]).unwrap().by_chance;
            found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{n}: {a} against {b}"));
        }
        assert_eq!(MeanSquare::of(&[]), None);
    }

    #[test]
    fn equal_figures_that_never_vary_have_no_difference() {
        let figure = Sampled { mean: 0.5, std: 0.0, n: 50, unit: 0.0 };
        assert_eq!(figure.z(&figure), None);
        assert_eq!(Sampled { std: 0.1, ..figure }.z(&figure), Some(0.0));
    }
}

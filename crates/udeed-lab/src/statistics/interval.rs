//! The confidence interval of a mean.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{deviation, mean};

/// The 95 % confidence interval of the mean of `n` values: the mean plus or minus `q s / sqrt(n)`, with `s` the
/// standard deviation and `q` the 97.5 % quantile of Student's t with `n - 1` degrees of freedom.
///
/// As with [`paired_t`](super::paired_t), the values are assumed to be independent. Those of splits that share training
/// rows are not, so their interval is somewhat too narrow.
///
/// None where [`deviation`] is.
///
/// ```
/// use udeed_lab::statistics::mean_interval;
///
/// let (low, high) = mean_interval(&[0.79, 0.80, 0.78, 0.77]).unwrap();
/// assert_eq!(format!("{low:.3} to {high:.3}"), "0.764 to 0.806");
/// assert_eq!(mean_interval(&[0.79]), None);
/// ```
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, deviation) = (mean(values)?, deviation(values)?);
    let quantile = StudentsT::new(0.0, 1.0, (values.len() - 1) as f64).ok()?.inverse_cdf(0.975);
    let half = quantile * deviation / (values.len() as f64).sqrt();
    half.is_finite().then_some((mean - half, mean + half))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{A, B};
    use super::*;

    /// scipy 1.17.1 (`t.interval(0.95, n - 1, mean, sem)`); two values by hand: the 97.5 % point of one degree is
    /// `tan(0.475 pi)`.
    #[test]
    fn agrees_with_scipy() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        for (values, low, high) in
            [(&A, 0.7076990342490048, 0.7997009657509953), (&B, 0.6964415853009629, 0.7793584146990371)]
        {
            let found = mean_interval(values).unwrap();
            near(found.0, low);
            near(found.1, high);
        }
        let two = mean_interval(&[1.0, 3.0]).unwrap();
        near(two.1, 2.0 + (0.475 * std::f64::consts::PI).tan());
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        assert_eq!(mean_interval(&[0.7; 9]), Some((0.7, 0.7)));
        assert_eq!(mean_interval(&[]), None);
        assert_eq!(mean_interval(&[0.7, f64::NAN]), None);
    }
}

//! Learning curves: the error falls by a power of the number of labels, `b n^-c`.

use crate::random::Stream;

/// Exponents of the power law. Those of learning curves lie between; which of them it is, few points cannot tell. 0 is a curve
/// that does not rise.
const EXPONENTS: [f64; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
/// Factor on squared residuals: points share labels and are correlated, so that they are less certain than their weights say.
const SURE: f64 = 0.25;

/// An accuracy with a number of labels, and its weight: the inverse of its variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) labels: f64,
    pub(crate) accuracy: f64,
    pub(crate) weight: f64,
}

/// A curve that does not fall: `1 - error * n^-exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curve {
    /// The error with one label.
    error: f64,
    exponent: f64,
    /// Likelihood relative to curves of other exponents.
    likelihood: f64,
}

impl Curve {
    /// The best fit to some points for each exponent.
    pub(crate) fn all(points: &[Point]) -> Vec<Curve> {
        let mut curves: Vec<(Curve, f64)> =
            EXPONENTS.iter().map(|&exponent| Curve::through(points, exponent)).collect();
        let nearest = curves.iter().map(|curve| curve.1).fold(f64::INFINITY, f64::min);
        curves.iter_mut().for_each(|(curve, misfit)| curve.likelihood = libm::exp(-0.5 * SURE * (*misfit - nearest)));
        curves.into_iter().map(|(curve, _)| curve).collect()
    }

    /// The weighted least-squares fit, and its sum of squared residuals.
    fn through(points: &[Point], exponent: f64) -> (Curve, f64) {
        let at = |point: &Point| libm::pow(point.labels, -exponent);
        let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|point| point.weight * of(point)).sum::<f64>();
        let error = sum(&|point| at(point) * (1.0 - point.accuracy)) / sum(&|point| at(point) * at(point));
        let curve = Curve { error, exponent, likelihood: 1.0 };
        let misfit = sum(&|point| {
            let off = point.accuracy - (1.0 - error * at(point));
            off * off
        });
        (curve, misfit)
    }

    /// The accuracy with a number of labels.
    pub(crate) fn at(&self, labels: f64) -> f64 {
        (1.0 - self.error * libm::pow(labels, -self.exponent)).clamp(0.0, 1.0)
    }

    /// The mean accuracy of curves, weighted by their likelihoods.
    pub(crate) fn mean_at(curves: &[Curve], labels: f64) -> f64 {
        let total: f64 = curves.iter().map(|curve| curve.likelihood).sum();
        curves.iter().map(|curve| curve.likelihood * curve.at(labels)).sum::<f64>() / total
    }

    /// One of some curves, drawn in proportion to their likelihoods.
    pub(crate) fn drawn(curves: &[Curve], stream: &mut Stream) -> Curve {
        let total: f64 = curves.iter().map(|curve| curve.likelihood).sum();
        let mut left = stream.unit() * total;
        for curve in curves {
            left -= curve.likelihood;
            if left < 0.0 {
                return *curve;
            }
        }
        curves[curves.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn points(accuracy: impl Fn(f64) -> f64) -> Vec<Point> {
        [10.0, 15.0, 20.0, 24.0].map(|labels| Point { labels, accuracy: accuracy(labels), weight: 1e6 }).to_vec()
    }

    #[test]
    fn a_power_law_is_found_again() {
        let law = |n: f64| 1.0 - 0.8 * n.powf(-0.3);
        let curves = Curve::all(&points(law));
        assert!((Curve::mean_at(&curves, 100.0) - law(100.0)).abs() < 1e-3, "{curves:?}");
        let exact = curves.iter().find(|curve| curve.exponent == 0.3).unwrap();
        assert!((exact.error - 0.8).abs() < 1e-9 && exact.likelihood == 1.0, "{exact:?}");
        let mut stream = Stream::new(0, Purpose::Forecast, 0);
        assert!((0..20).filter(|_| Curve::drawn(&curves, &mut stream).exponent == 0.3).count() > 15);
    }

    #[test]
    fn no_curve_falls_or_rises_above_one() {
        for law in [|n: f64| 0.9 - 0.01 * n, |n: f64| 0.5 + 0.02 * n, |_| 1.0] {
            let curves = Curve::all(&points(law));
            assert_eq!(curves.len(), 6);
            for curve in curves {
                assert!(curve.at(10.0) <= curve.at(1000.0) && curve.at(1e9) <= 1.0, "{curve:?}");
            }
        }
        // What falls is taken as flat.
        let falling = Curve::all(&points(|n| 0.9 - 0.01 * n));
        assert!((Curve::mean_at(&falling, 1000.0) - Curve::mean_at(&falling, 20.0)).abs() < 1e-3, "{falling:?}");
    }

    #[test]
    fn imprecise_points_leave_all_exponents_possible() {
        let vague: Vec<Point> =
            points(|n| 1.0 - 0.5 * n.powf(-0.2)).into_iter().map(|point| Point { weight: 10.0, ..point }).collect();
        assert!(Curve::all(&vague).iter().all(|curve| curve.likelihood > 0.9));
    }
}

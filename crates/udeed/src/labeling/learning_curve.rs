//! Learning curves: inverse power laws `a - b n^-c` through accuracies with numbers of labels.

use crate::random::Stream;

/// Exponents of the power law: the range of learning curves. A few points cannot tell which one it is.
const EXPONENTS: [f64; 6] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// An accuracy with a number of labels, and its weight: the inverse of its variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) labels: f64,
    pub(crate) accuracy: f64,
    pub(crate) weight: f64,
}

/// A rising curve: `limit - fall * n^-exponent`, with a limit of at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Curve {
    limit: f64,
    fall: f64,
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
        curves.iter_mut().for_each(|(curve, misfit)| curve.likelihood = libm::exp(-0.5 * (*misfit - nearest)));
        curves.into_iter().map(|(curve, _)| curve).collect()
    }

    /// The weighted least-squares fit, and its sum of squared residuals.
    fn through(points: &[Point], exponent: f64) -> (Curve, f64) {
        let at = |point: &Point| libm::pow(point.labels, -exponent);
        let mean = |of: &dyn Fn(&Point) -> f64| {
            let total: f64 = points.iter().map(|point| point.weight).sum();
            points.iter().map(|point| point.weight * of(point)).sum::<f64>() / total
        };
        let (x, y) = (mean(&at), mean(&|point| point.accuracy));
        let products = mean(&|point| (at(point) - x) * (point.accuracy - y));
        let squares = mean(&|point| (at(point) - x) * (at(point) - x));
        // A falling curve is noise, and replaced by a flat one.
        let fall = if squares > 0.0 { (-products / squares).max(0.0) } else { 0.0 };
        let mut curve = Curve { limit: y + fall * x, fall, exponent, likelihood: 1.0 };
        if curve.limit > 1.0 {
            // Through 1 at infinity: the only slope that is left is the one that comes nearest.
            let fall = mean(&|point| at(point) * (1.0 - point.accuracy)) / mean(&|point| at(point) * at(point));
            curve = Curve { limit: 1.0, fall: fall.max(0.0), ..curve };
        }
        let misfit = points.iter().map(|point| {
            let off = point.accuracy - curve.at(point.labels);
            point.weight * off * off
        });
        (curve, misfit.sum())
    }

    /// The accuracy with a number of labels.
    pub(crate) fn at(&self, labels: f64) -> f64 {
        (self.limit - self.fall * libm::pow(labels, -self.exponent)).clamp(0.0, 1.0)
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
        let law = |n: f64| 0.9 - 0.8 * n.powf(-0.75);
        let curves = Curve::all(&points(law));
        assert!((Curve::mean_at(&curves, 100.0) - law(100.0)).abs() < 1e-3, "{curves:?}");
        let exact = curves.iter().find(|curve| curve.exponent == 0.75).unwrap();
        assert!((exact.limit - 0.9).abs() < 1e-9 && (exact.fall - 0.8).abs() < 1e-9, "{exact:?}");
        let mut stream = Stream::new(0, Purpose::Forecast, 0);
        assert!((0..20).filter(|_| Curve::drawn(&curves, &mut stream).exponent == 0.75).count() > 10);
    }

    #[test]
    fn no_curve_falls_or_rises_above_one() {
        for curve in Curve::all(&points(|n| 0.9 - 0.01 * n)) {
            assert!((curve.at(1000.0) - curve.at(10.0)).abs() < 1e-12, "{curve:?}");
        }
        for curve in Curve::all(&points(|n| 0.5 + 0.02 * n)) {
            assert!(curve.at(1e9) <= 1.0 && curve.limit <= 1.0, "{curve:?}");
        }
    }

    #[test]
    fn imprecise_points_leave_all_exponents_possible() {
        let vague: Vec<Point> =
            points(|n| 0.9 - n.recip()).into_iter().map(|point| Point { weight: 10.0, ..point }).collect();
        assert!(Curve::all(&vague).iter().all(|curve| curve.likelihood > 0.9));
    }
}

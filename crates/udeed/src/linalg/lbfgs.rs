//! L-BFGS: a search for the least value of a smooth function.

use crate::kernel::dot;

/// How many steps are remembered.
const MEMORY: usize = 8;

/// What the last steps tell about the curvature of a function.
#[derive(Default)]
pub(crate) struct Curvature {
    /// Steps, changes of the gradient, and one over their product.
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

impl Curvature {
    pub(crate) fn remember(&mut self, step: Vec<f64>, change: Vec<f64>) {
        if self.pairs.len() == MEMORY {
            self.pairs.remove(0);
        }
        let inverse = 1.0 / dot(&step, &change);
        self.pairs.push((step, change, inverse));
    }

    /// Against the gradient, through the inverse Hessian as it is known; `first` applies a first guess at it.
    pub(crate) fn descent(&self, gradient: &[f64], first: impl FnOnce(&mut [f64])) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = [0.0; MEMORY];
        for (share, (step, change, inverse)) in shares[..self.pairs.len()].iter_mut().zip(&self.pairs).rev() {
            *share = inverse * dot(step, &q);
            q.iter_mut().zip(change).for_each(|(q, y)| *q -= *share * y);
        }
        first(&mut q);
        for (share, (step, change, inverse)) in shares.iter().zip(&self.pairs) {
            let correction = share - inverse * dot(change, &q);
            q.iter_mut().zip(step).for_each(|(q, s)| *q += correction * s);
        }
        q
    }

    /// How steep the function is along the last step: a first guess at its inverse Hessian.
    fn scale(&self) -> f64 {
        self.pairs.last().map_or(1.0, |(_, change, inverse)| 1.0 / (inverse * dot(change, change)))
    }
}

/// Walks from `start` to where the gradient is at most `tolerance` long, or no step lowers the value any more, or `steps` are
/// taken. `evaluate` returns the value at a point and leaves the gradient there.
pub(crate) fn minimise(
    start: Vec<f64>,
    steps: usize,
    tolerance: f64,
    mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let (mut at, mut gradient, mut curvature) = (start, Vec::new(), Curvature::default());
    gradient.resize(at.len(), 0.0);
    let mut value = evaluate(&at, &mut gradient);
    for _ in 0..steps {
        if dot(&gradient, &gradient).sqrt() <= tolerance || !value.is_finite() {
            break;
        }
        let scale = curvature.scale();
        let mut direction = curvature.descent(&gradient, |q| q.iter_mut().for_each(|q| *q *= scale));
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            curvature = Curvature::default();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        // Nothing is known before the first step: it is made short.
        let mut length = if curvature.pairs.is_empty() { (1.0 / (-slope).sqrt()).min(1.0) } else { 1.0 };
        let mut next_gradient = vec![0.0; at.len()];
        let found = loop {
            let next: Vec<f64> = at.iter().zip(&direction).map(|(x, p)| x + length * p).collect();
            let next_value = evaluate(&next, &mut next_gradient);
            if next_value <= value + 1e-4 * length * slope {
                break Some((next, next_value));
            }
            length *= 0.5;
            if length < 1e-12 {
                break None;
            }
        };
        let Some((next, next_value)) = found else { break };
        let step: Vec<f64> = next.iter().zip(&at).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        // Where the function bends down there is no curvature to remember.
        if dot(&step, &change) > 1e-10 * dot(&step, &step) {
            curvature.remember(step, change);
        }
        (at, value, gradient) = (next, next_value, next_gradient);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley.
    #[test]
    fn the_least_value_of_a_valley_is_found() {
        let found = minimise(vec![-1.2, 1.0], 200, 1e-8, |x, gradient| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * b * x[0];
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        });
        assert!((found[0] - 1.0).abs() < 1e-6 && (found[1] - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_flat_function_and_one_that_is_no_number_end_it() {
        assert_eq!(
            minimise(vec![3.0], 10, 1e-8, |_, gradient| {
                gradient[0] = 0.0;
                1.0
            }),
            [3.0]
        );
        assert_eq!(
            minimise(vec![3.0], 10, 1e-8, |_, gradient| {
                gradient[0] = 1.0;
                f64::NAN
            }),
            [3.0]
        );
    }
}

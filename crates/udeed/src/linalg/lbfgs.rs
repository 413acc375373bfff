//! L-BFGS: a minimum of a smooth function of many variables.
//!
//! J. Nocedal, S. Wright, "Numerical Optimization", 2nd edition, 2006: the two loops of algorithm 7.4, and a line search for
//! the strong Wolfe conditions as in algorithms 3.5 and 3.6. Near a minimum rounding hides differences of values; slopes
//! decide there, as in W. Hager, H. Zhang, "A new conjugate gradient method with guaranteed descent and an efficient line
//! search", SIAM Journal on Optimization 16, 2005.

use crate::kernel::dot;

/// Number of steps that the approximation of the Hessian is made of.
const MEMORY: usize = 8;
/// Sufficient decrease: this share of what the first slope promises.
const DECREASE: f64 = 1e-4;
/// Curvature condition: the slope falls to this share of the first one.
const FLATTENED: f64 = 0.9;
/// Values that differ by less than this share are the same but for rounding.
const ROUNDING: f64 = 1e-12;
/// Evaluations of one line search.
const MOST_TRIALS: usize = 40;
/// Curvature along a step, below which it is not remembered: the function bends down there, or hardly at all.
const LEAST_CURVATURE: f64 = 1e-10;

/// The curvature of a function, as its gradients along the last steps show it.
#[derive(Default)]
pub(crate) struct Curvature {
    /// Steps, changes of the gradient, and one over their product.
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

impl Curvature {
    /// Adds a step and the change of the gradient along it, unless the curvature along it is below `least`.
    pub(crate) fn remember(&mut self, step: Vec<f64>, change: Vec<f64>, least: f64) {
        let product = dot(&step, &change);
        if product <= least * dot(&step, &step) || !product.is_finite() {
            return;
        }
        if self.pairs.len() == MEMORY {
            self.pairs.remove(0);
        }
        self.pairs.push((step, change, 1.0 / product));
    }

    /// The quasi-Newton direction: the negative gradient times the approximate inverse Hessian. `precondition` multiplies by
    /// a first approximation of that inverse.
    pub(crate) fn descent(&self, gradient: &[f64], precondition: impl FnOnce(&mut [f64])) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = [0.0; MEMORY];
        for (share, (step, change, inverse)) in shares[..self.pairs.len()].iter_mut().zip(&self.pairs).rev() {
            *share = inverse * dot(step, &q);
            q.iter_mut().zip(change).for_each(|(q, y)| *q -= *share * y);
        }
        precondition(&mut q);
        for (share, (step, change, inverse)) in shares.iter().zip(&self.pairs) {
            let correction = share - inverse * dot(change, &q);
            q.iter_mut().zip(step).for_each(|(q, s)| *q += correction * s);
        }
        q
    }

    /// One over the curvature along the last step: a first approximation of the inverse Hessian.
    fn scale(&self) -> f64 {
        self.pairs.last().map_or(1.0, |(_, change, inverse)| 1.0 / (inverse * dot(change, change)))
    }
}

/// Minimises a function from `start` on: until its gradient is at most `tolerance` long, no step lowers the value any more, or
/// `steps` are taken. `evaluate` returns the value at a point and writes the gradient there. A value that is not finite makes
/// a step too long; from a start of such a value there is no step.
pub(crate) fn minimise(
    start: Vec<f64>,
    steps: usize,
    tolerance: f64,
    mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let mut gradient = vec![0.0; start.len()];
    let value = evaluate(&start, &mut gradient);
    let mut here = Trial { length: 0.0, value, slope: 0.0, at: start, gradient };
    let mut curvature = Curvature::default();
    for _ in 0..steps {
        if dot(&here.gradient, &here.gradient).sqrt() <= tolerance || !here.value.is_finite() {
            break;
        }
        let scale = curvature.scale();
        let mut direction = curvature.descent(&here.gradient, |q| q.iter_mut().for_each(|q| *q *= scale));
        if dot(&direction, &here.gradient).partial_cmp(&0.0) != Some(std::cmp::Ordering::Less) {
            curvature = Curvature::default();
            direction = here.gradient.iter().map(|g| -g).collect();
        }
        (here.length, here.slope) = (0.0, dot(&direction, &here.gradient));
        // Nothing is known of the curvature before the first step: it has at most length 1.
        let first = if curvature.pairs.is_empty() { (1.0 / (-here.slope).sqrt()).min(1.0) } else { 1.0 };
        let found = search_line(&here, first, |length| {
            let at: Vec<f64> = here.at.iter().zip(&direction).map(|(x, p)| x + length * p).collect();
            let mut gradient = vec![0.0; at.len()];
            let value = evaluate(&at, &mut gradient);
            Trial { length, value, slope: dot(&direction, &gradient), at, gradient }
        });
        let Some(next) = found else {
            // What was known of the curvature may have been misleading: without it the way is the steepest.
            if curvature.pairs.is_empty() {
                break;
            }
            curvature = Curvature::default();
            continue;
        };
        let step = next.at.iter().zip(&here.at).map(|(new, old)| new - old).collect();
        let change = next.gradient.iter().zip(&here.gradient).map(|(new, old)| new - old).collect();
        curvature.remember(step, change, LEAST_CURVATURE);
        here = next;
    }
    here.at
}

/// A point on a line, and what is known there.
struct Trial {
    /// How far along the line.
    length: f64,
    value: f64,
    /// The derivative along the line.
    slope: f64,
    at: Vec<f64>,
    gradient: Vec<f64>,
}

/// An end of the bracket that the minimum on a line lies in.
#[derive(Clone, Copy)]
struct End {
    length: f64,
    value: f64,
    slope: f64,
}

impl From<&Trial> for End {
    fn from(trial: &Trial) -> Self {
        End { length: trial.length, value: trial.value, slope: trial.slope }
    }
}

/// A point on a line that meets the strong Wolfe conditions; the lowest one that was seen, if there is none after
/// [`MOST_TRIALS`]; none if nothing was lower than the start. `first` is the length to try first.
fn search_line(start: &Trial, first: f64, mut evaluate: impl FnMut(f64) -> Trial) -> Option<Trial> {
    let rounding = ROUNDING * start.value.abs();
    let is_low_enough = |trial: &Trial| {
        trial.value <= start.value + DECREASE * trial.length * start.slope
            || (trial.value <= start.value + rounding && trial.slope <= (2.0 * DECREASE - 1.0) * start.slope)
    };
    let mut low = End::from(start);
    let mut lowest: Option<Trial> = None;
    let mut high: Option<End> = None;
    let mut length = first;
    for _ in 0..MOST_TRIALS {
        let trial = evaluate(length);
        if !is_low_enough(&trial) || lowest.as_ref().is_some_and(|lowest| trial.value > lowest.value + rounding) {
            high = Some(End::from(&trial));
        } else {
            if trial.slope.abs() <= -FLATTENED * start.slope {
                return Some(trial);
            }
            // The function falls from the low end on into the bracket; where it rises now, the minimum was passed.
            let ahead = high.map_or(1.0, |high| high.length - low.length);
            if trial.slope * ahead >= 0.0 {
                high = Some(low);
            }
            low = End::from(&trial);
            lowest = Some(trial);
        }
        length = match high {
            None => 3.0 * length,
            Some(high) => interpolate(low, high, rounding),
        };
        if length == low.length || !length.is_finite() {
            break;
        }
    }
    lowest
}

/// The minimum of the cubic through the values and slopes of both ends, kept away from them.
fn interpolate(low: End, high: End, rounding: f64) -> f64 {
    let width = high.length - low.length;
    let share = if (high.value - low.value).abs() <= rounding {
        // The values say nothing: where the slope would vanish if it changed evenly.
        low.slope / (low.slope - high.slope)
    } else {
        let first = low.slope + high.slope - 3.0 * (high.value - low.value) / width;
        let root = (first * first - low.slope * high.slope).sqrt().copysign(width);
        1.0 - (high.slope + root - first) / (high.slope - low.slope + 2.0 * root)
    };
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    low.length + share * width
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Problems, and the minima that scipy's L-BFGS-B found. `tests/oracle/lbfgs.py` made the figures.
    #[derive(Deserialize)]
    struct Problems {
        rosenbrock: Vec<Rosenbrock>,
        quadratic: Vec<Quadratic>,
        logistic: Vec<Logistic>,
    }

    #[derive(Deserialize)]
    struct Found {
        start: Vec<f64>,
        minimum: Vec<f64>,
        value: f64,
    }

    #[derive(Deserialize)]
    struct Rosenbrock {
        #[serde(flatten)]
        found: Found,
    }

    #[derive(Deserialize)]
    struct Quadratic {
        matrix: Vec<f64>,
        centre: Vec<f64>,
        #[serde(flatten)]
        found: Found,
    }

    #[derive(Deserialize)]
    struct Logistic {
        rows: Vec<f64>,
        targets: Vec<f64>,
        strength: f64,
        #[serde(flatten)]
        found: Found,
    }

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
            gradient[i] += -2.0 * a - 400.0 * b * x[i];
            gradient[i + 1] += 200.0 * b;
            value += a * a + 100.0 * b * b;
        }
        value
    }

    impl Quadratic {
        fn evaluate(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            let apart: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
            gradient.iter_mut().zip(self.matrix.chunks(x.len())).for_each(|(to, row)| *to = dot(row, &apart));
            0.5 * dot(&apart, gradient)
        }
    }

    impl Logistic {
        fn evaluate(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
            gradient.copy_from_slice(w);
            let mut value = 0.5 * dot(w, w);
            for (row, y) in self.rows.chunks(w.len()).zip(&self.targets) {
                let margin = y * dot(row, w);
                value += self.strength * ((-margin.abs()).exp().ln_1p() + (-margin).max(0.0));
                let residual = -self.strength * y / (1.0 + margin.exp());
                gradient.iter_mut().zip(row).for_each(|(to, x)| *to += residual * x);
            }
            value
        }
    }

    /// Minimises, and checks the point and the value by scipy's; returns the number of evaluations.
    fn compare(name: &str, expected: &Found, mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64) -> usize {
        let mut times = 0;
        let found = minimise(expected.start.clone(), 2000, 1e-10, |x, gradient| {
            times += 1;
            evaluate(x, gradient)
        });
        let apart: f64 = found.iter().zip(&expected.minimum).map(|(a, b)| (a - b) * (a - b)).sum();
        let length = dot(&expected.minimum, &expected.minimum).sqrt();
        assert!(apart.sqrt() <= 1e-8 * length, "{name}: {found:?} is {:e} apart", apart.sqrt());
        let value = evaluate(&found, &mut vec![0.0; found.len()]);
        assert!((value - expected.value).abs() <= 1e-8 * expected.value.abs().max(1e-8), "{name}: {value}");
        times
    }

    #[test]
    fn minima_are_scipys() {
        let problems: Problems = serde_json::from_str(include_str!("../../tests/oracle/lbfgs.json")).unwrap();
        assert!(!problems.rosenbrock.is_empty() && !problems.quadratic.is_empty() && !problems.logistic.is_empty());
        for problem in &problems.rosenbrock {
            let times = compare("rosenbrock", &problem.found, rosenbrock);
            assert!(times < 150, "{times} evaluations");
        }
        for problem in &problems.quadratic {
            let times = compare("quadratic", &problem.found, |x, gradient| problem.evaluate(x, gradient));
            assert!(times < 1000, "{times} evaluations");
        }
        for problem in &problems.logistic {
            let times = compare("logistic", &problem.found, |x, gradient| problem.evaluate(x, gradient));
            assert!(times < 150, "{times} evaluations");
        }
    }

    /// Lines on which a first step is far too short, far too long, or leads to where there is no number.
    #[test]
    fn a_line_search_ends_where_the_strong_wolfe_conditions_hold() {
        type Line = fn(f64) -> (f64, f64);
        let lines: [(&str, Line); 3] = [
            ("parabola", |x| ((x - 1.0) * (x - 1.0), 2.0 * (x - 1.0))),
            ("waves", |x| (0.05 * x * x - (3.0 * x).sin(), 0.1 * x - 3.0 * (3.0 * x).cos())),
            ("logarithm", |x| (-x - (2.0 - x).ln(), -1.0 + 1.0 / (2.0 - x))),
        ];
        for (name, of) in lines {
            let start = of(0.0);
            let at = |length: f64| {
                let (value, slope) = of(length);
                Trial { length, value, slope, at: vec![length], gradient: vec![slope] }
            };
            for first in [1e-6, 0.1, 1.0, 10.0, 1e6] {
                let found = search_line(&at(0.0), first, at).unwrap();
                assert!(found.value <= start.0 + DECREASE * found.length * start.1, "{name} from {first}");
                assert!(found.slope.abs() <= -FLATTENED * start.1, "{name} from {first}: {}", found.slope);
            }
        }
    }

    #[test]
    fn a_flat_function_and_one_that_is_no_number_end_it() {
        let flat = |_: &[f64], gradient: &mut [f64]| {
            gradient[0] = 0.0;
            1.0
        };
        assert_eq!(minimise(vec![3.0], 10, 1e-8, flat), [3.0]);
        let none = |_: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            f64::NAN
        };
        assert_eq!(minimise(vec![3.0], 10, 1e-8, none), [3.0]);
        // A number at the start only.
        let once = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0;
            if x[0] == 3.0 { 0.0 } else { f64::NAN }
        };
        assert_eq!(minimise(vec![3.0], 10, 1e-8, once), [3.0]);
    }
}

//! Logistic regression with a penalty on the weights, fitted to convergence.

use crate::data::{Row, Rows};
use crate::error::{Error, Result};
use crate::kernel::softplus;
use crate::learner::cholesky::{self, dot};

/// Logistic regression: minimises `1/2 |w|^2 + lambda sum_i s_i ln(1 + e^(-y_i w.x_i))`, the last weight being that of a
/// constant feature 1. `lambda` is what scikit-learn calls `C`, but the bias is penalised too, as in the paper.
///
/// Newton's method with a line search. The penalty makes the function strongly convex: its Hessian is at least the
/// identity, so the Newton decrement `sqrt(g' H^-1 g)` bounds the distance of the weights from their optimum, whatever
/// the scale of the features. The fit ends when that is below [`Logistic::TOLERANCE`].
///
/// ```
/// use udeed::{Dense, Logistic};
///
/// let rows = Dense::new(4, 1, vec![0.0, 1.0, 2.0, 3.0])?;
/// let fit = Logistic { lambda: 1.0 }.fit(&rows, &[-1.0, -1.0, 1.0, 1.0], &[1.0; 4], None)?;
/// assert!(fit.weights[0] > 0.0);
/// assert!(fit.distance < Logistic::TOLERANCE);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic {
    /// How much the labels weigh against the penalty.
    pub lambda: f64,
}

/// A fitted logistic regression.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticFit {
    /// The weights, that of the constant feature last.
    pub weights: Vec<f64>,
    /// Newton steps taken.
    pub steps: usize,
    /// The Newton decrement before the last step: a bound on the distance from the optimum.
    pub distance: f64,
}

/// More features than this are solved for by conjugate gradients: a factor costs their third power.
const WIDEST_FACTOR: usize = 600;

impl Logistic {
    /// How near the weights come to their optimum.
    pub const TOLERANCE: f64 = 1e-8;
    const MOST_STEPS: usize = 200;

    /// Fits rows with targets -1 and 1. Each row counts as often as its weight says, 0 meaning not at all. `start` is
    /// where the search begins, by default at zero.
    ///
    /// # Errors
    /// If the search does not converge, which happens when features are so large that the arithmetic fails.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub fn fit(&self, rows: &dyn Rows, targets: &[f64], weights: &[f64], start: Option<&[f64]>) -> Result<LogisticFit> {
        let width = rows.n_columns() + 1;
        let counted = (0..rows.n_rows()).filter(|&i| weights[i] != 0.0).map(|i| Counted {
            row: rows.row(i),
            target: targets[i],
            weight: self.lambda * weights[i],
        });
        let problem = Problem { rows: counted.collect(), width };
        let mut state = State::new(&problem, start.map_or_else(|| vec![0.0; width], <[f64]>::to_vec));
        let mut direction = Direction::choose(&problem);
        let mut previous = f64::INFINITY;
        for steps in 1..=Self::MOST_STEPS {
            let step = direction.solve(&problem, &state);
            let distance = dot(&step, &state.gradient).max(0.0).sqrt();
            if !distance.is_finite() {
                break;
            }
            // Below this the value cannot tell a better point from a worse one any more, but Newton's step still can.
            let flat = distance * distance <= 1e-10 * (1.0 + state.value.abs());
            if !state.advance(&problem, &step, flat) {
                break;
            }
            let stalled =
                flat && distance >= 0.5 * previous && distance * distance <= 1e-14 * (1.0 + state.value.abs());
            if distance <= Self::TOLERANCE || stalled {
                return Ok(LogisticFit { weights: state.weights, steps, distance });
            }
            previous = distance;
        }
        Err(Error::NotConverged { iterations: Self::MOST_STEPS, distance: previous, tolerance: Self::TOLERANCE })
    }
}

struct Counted<'a> {
    row: Row<'a>,
    target: f64,
    /// How often the row counts, times lambda.
    weight: f64,
}

struct Problem<'a> {
    rows: Vec<Counted<'a>>,
    width: usize,
}

impl Problem<'_> {
    fn value(&self, weights: &[f64], scores: &[f64]) -> f64 {
        let losses = self.rows.iter().zip(scores).map(|(row, score)| row.weight * softplus(-row.target * score));
        0.5 * dot(weights, weights) + losses.sum::<f64>()
    }

    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let (features, bias) = weights.split_at(self.width - 1);
        self.rows.iter().map(|row| dot_row(row.row, features) + bias[0]).collect()
    }

    /// `to += sum_i factors_i (x_i, 1)`.
    fn add_rows(&self, factors: &[f64], to: &mut [f64]) {
        let (features, bias) = to.split_at_mut(self.width - 1);
        for (row, &factor) in self.rows.iter().zip(factors) {
            if factor != 0.0 {
                row.row.for_each(|j, x| features[j] += factor * x);
                bias[0] += factor;
            }
        }
    }
}

fn dot_row(row: Row<'_>, weights: &[f64]) -> f64 {
    match row {
        Row::Dense(values) => dot(values, weights),
        Row::Sparse { .. } => row.dot(weights),
    }
}

/// A point of the search and what is known there.
struct State {
    weights: Vec<f64>,
    scores: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The second derivative of each row's loss by its score.
    curvatures: Vec<f64>,
}

impl State {
    fn new(problem: &Problem<'_>, weights: Vec<f64>) -> Self {
        let scores = problem.scores(&weights);
        let mut state = State {
            value: problem.value(&weights, &scores),
            gradient: Vec::new(),
            curvatures: Vec::new(),
            weights,
            scores,
        };
        state.differentiate(problem);
        state
    }

    fn differentiate(&mut self, problem: &Problem<'_>) {
        let rows = || problem.rows.iter().zip(&self.scores);
        // The probability of the other class.
        let wrong = |row: &Counted<'_>, score: f64| 1.0 / (1.0 + libm::exp(row.target * score));
        let slopes: Vec<f64> = rows().map(|(row, &z)| -row.target * row.weight * wrong(row, z)).collect();
        self.curvatures = rows()
            .map(|(row, &z)| {
                let p = wrong(row, z);
                row.weight * p * (1.0 - p)
            })
            .collect();
        self.gradient = self.weights.clone();
        problem.add_rows(&slopes, &mut self.gradient);
    }

    /// Goes against the step, as far as it pays. False if it never does.
    fn advance(&mut self, problem: &Problem<'_>, step: &[f64], whole: bool) -> bool {
        let slope = dot(step, &self.gradient);
        let score_step = problem.scores(step);
        let mut length = 1.0;
        loop {
            let moved = |from: &[f64], step: &[f64]| -> Vec<f64> {
                from.iter().zip(step).map(|(from, step)| from - length * step).collect()
            };
            let (weights, scores) = (moved(&self.weights, step), moved(&self.scores, &score_step));
            let value = problem.value(&weights, &scores);
            if (whole && value.is_finite()) || value <= self.value - 1e-4 * length * slope {
                // The scores are recomputed: updating them over many steps would let rounding errors grow.
                *self = State::new(problem, weights);
                return true;
            }
            length *= 0.5;
            if length < 1e-12 {
                return false;
            }
        }
    }
}

/// How the Newton equations are solved.
enum Direction {
    Factor(Vec<f64>),
    ConjugateGradients,
}

impl Direction {
    fn choose(problem: &Problem<'_>) -> Self {
        let width = problem.width;
        // With fewer rows than features conjugate gradients need at most one step a row.
        if width <= WIDEST_FACTOR && width <= 2 * problem.rows.len() {
            Direction::Factor(vec![0.0; width * width])
        } else {
            Direction::ConjugateGradients
        }
    }

    fn solve(&mut self, problem: &Problem<'_>, state: &State) -> Vec<f64> {
        if let Direction::Factor(hessian) = self {
            fill_hessian(problem, &state.curvatures, hessian);
            if cholesky::factor(hessian, problem.width) {
                let mut step = state.gradient.clone();
                cholesky::solve(hessian, problem.width, &mut step);
                return step;
            }
        }
        conjugate_gradients(problem, state)
    }
}

/// The lower triangle of `I + sum_i curvature_i (x_i, 1) (x_i, 1)'`.
fn fill_hessian(problem: &Problem<'_>, curvatures: &[f64], hessian: &mut [f64]) {
    let n = problem.width;
    hessian.fill(0.0);
    (0..n).for_each(|j| hessian[j * n + j] = 1.0);
    for (row, &curvature) in problem.rows.iter().zip(curvatures) {
        match row.row {
            Row::Dense(values) => {
                for (j, &x) in values.iter().enumerate() {
                    let factor = curvature * x;
                    let to = &mut hessian[j * n..=j * n + j];
                    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
                }
            }
            Row::Sparse { columns, values } => {
                for (place, (&j, &x)) in columns.iter().zip(values).enumerate() {
                    let to = &mut hessian[j as usize * n..][..n];
                    let factor = curvature * x;
                    columns[..=place].iter().zip(values).for_each(|(&k, value)| to[k as usize] += factor * value);
                }
            }
        }
        let last = &mut hessian[(n - 1) * n..];
        row.row.for_each(|j, x| last[j] += curvature * x);
        last[n - 1] += curvature;
    }
}

/// The Newton equations to a relative residual of 1e-4, preconditioned by the diagonal.
fn conjugate_gradients(problem: &Problem<'_>, state: &State) -> Vec<f64> {
    let n = problem.width;
    let mut diagonal = vec![1.0; n];
    for (row, &curvature) in problem.rows.iter().zip(&state.curvatures) {
        row.row.for_each(|j, x| diagonal[j] += curvature * x * x);
        diagonal[n - 1] += curvature;
    }
    let precondition = |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
    let mut solution = vec![0.0; n];
    let mut residual = state.gradient.clone();
    let mut scaled = precondition(&residual);
    let mut along = scaled.clone();
    let first = dot(&residual, &scaled);
    let mut norm = first;
    for _ in 0..10 * n.min(1000) + 100 {
        if norm <= 1e-8 * first {
            break;
        }
        let mut image = along.clone();
        let factors: Vec<f64> = problem.scores(&along).iter().zip(&state.curvatures).map(|(z, c)| z * c).collect();
        problem.add_rows(&factors, &mut image);
        let length = norm / dot(&along, &image);
        solution.iter_mut().zip(&along).for_each(|(x, p)| *x += length * p);
        residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= length * q);
        scaled = precondition(&residual);
        let next = dot(&residual, &scaled);
        let keep = next / norm;
        along.iter_mut().zip(&scaled).for_each(|(p, z)| *p = z + keep * *p);
        norm = next;
    }
    solution
}

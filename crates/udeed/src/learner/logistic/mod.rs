//! Logistic regression, regularised and fitted to convergence.

mod batch;
#[cfg(test)]
mod scikit_learn;

pub(crate) use batch::Batch;

use pulp::Simd;

use crate::data::{Matrix, Row, Rows};
use crate::error::{Error, Result};
use crate::kernel::{Real, Visit, dot, gram, in_memory, pass, sum_of, vectorized};
use crate::learner::base::BaseLearner;
use crate::learner::{Hypothesis, Learner, Linear, Sample};
use crate::linalg::cholesky;
use crate::observer::Watch;

/// Logistic regression: minimises `1/2 |w|^2 + lambda sum_i s_i ln(1 + e^(-y_i w.x_i))`, the last weight being that of a
/// constant feature 1. `lambda` is what scikit-learn calls `C`, but the bias is penalised too, as in the paper.
///
/// Newton's method with a line search. The penalty makes the function strongly convex: its Hessian is at least the
/// identity, so the Newton decrement `sqrt(g' H^-1 g)` bounds the distance of the weights from their optimum, whatever
/// the scale of the features. Near the optimum the Hessian hardly changes: an earlier one serves as long as each step brings
/// the weights a hundred times nearer. The fit ends with the step that brings them within the tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logistic {
    /// Inverse regularisation strength, scikit-learn's `C`: larger values fit the labels more closely.
    pub lambda: f64,
    /// Largest distance of the fitted weights from their optimum.
    pub tolerance: f64,
}

impl Default for Logistic {
    fn default() -> Self {
        Logistic::new(1.0)
    }
}

/// A fitted logistic regression.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticFit {
    /// The weights, that of the constant feature last.
    pub weights: Vec<f64>,
    /// Newton steps taken.
    pub steps: usize,
    /// Distance of the weights from their optimum: the Newton decrement before the last step, which is a bound, or a
    /// hundredth of it where the steps before reduced it that fast.
    pub distance: f64,
}

/// Whether the Hessian of `width` weights is worth factoring: that costs their third power, and with few rows conjugate
/// gradients need at most one step a row.
pub(super) fn is_worth_factoring(width: usize, n_rows: usize) -> bool {
    const WIDEST: usize = 600;
    // Of kernels, about as wide as there are rows: conjugate gradients take many steps there, and the Hessian of few rows is
    // soon built.
    const WIDEST_OF_FEW: usize = 1001;
    let few = n_rows <= 4 * width;
    width <= 2 * n_rows && width <= if few { WIDEST_OF_FEW } else { WIDEST }
}

/// An earlier Hessian is kept as long as each step reduces the distance from the optimum to this share: a step by it costs
/// less than building a new one.
const NEARER: f64 = 0.01;
/// Where a step reduced the distance to this share, convergence is quadratic: the next one reduces it by the square at least.
const FAST: f64 = 0.1;

impl Logistic {
    /// The tolerance of members.
    pub const TOLERANCE: f64 = 1e-8;
    const MOST_STEPS: usize = 200;

    pub(crate) fn new(lambda: f64) -> Self {
        Logistic { lambda, tolerance: Self::TOLERANCE }
    }

    /// Fits rows with targets -1 and 1 and a weight each; those of weight 0 are left out. The search begins at `start`, by
    /// default at zero.
    ///
    /// # Errors
    /// If the search does not converge, which happens when features are so large that the arithmetic fails;
    /// [`Error::Stopped`] if it is stopped.
    ///
    /// # Panics
    /// If the lengths do not fit together.
    pub(crate) fn fit(
        &self,
        rows: &dyn Rows,
        targets: &[f64],
        weights: &[f64],
        start: Option<&[f64]>,
        watch: &Watch<'_>,
    ) -> Result<LogisticFit> {
        let counted: Vec<usize> = (0..rows.n_rows()).filter(|&i| weights[i] != 0.0).collect();
        // Rows of weight 0 are only worth leaving out where they are many.
        if 4 * counted.len() < 3 * rows.n_rows() {
            let rows = Matrix::gather(rows, &counted);
            let take = |from: &[f64]| -> Vec<f64> { counted.iter().map(|&i| from[i]).collect() };
            return self.search(&self.problem(rows.rows(), &take(targets), &take(weights)), start, watch);
        }
        self.search(&self.problem(rows, targets, weights), start, watch)
    }

    fn problem<'a>(&self, rows: &'a dyn Rows, targets: &'a [f64], weights: &[f64]) -> Problem<'a> {
        let weights = weights.iter().map(|weight| self.lambda * weight).collect();
        Problem { rows, targets, weights, width: rows.n_columns() + 1 }
    }

    fn search(&self, problem: &Problem<'_>, start: Option<&[f64]>, watch: &Watch<'_>) -> Result<LogisticFit> {
        let start = start.map_or_else(|| vec![0.0; problem.width], <[f64]>::to_vec);
        let mut state = State::new(problem, start);
        let mut direction = Direction::choose(problem);
        let mut previous = f64::INFINITY;
        for steps in 1..=Self::MOST_STEPS {
            watch.ask()?;
            let (step, distance) = direction.solve(problem, &state, previous, watch)?;
            if !distance.is_finite() {
                break;
            }
            // Below this the value cannot tell a better point from a worse one any more, but Newton's step still can.
            let flat = distance * distance <= 1e-10 * (1.0 + state.value.abs());
            let stalled =
                flat && distance >= 0.5 * previous && distance * distance <= 1e-14 * (1.0 + state.value.abs());
            let fast = direction.is_exact() && previous.is_finite() && distance <= FAST * previous;
            let left = if fast { NEARER * distance } else { distance };
            if left <= self.tolerance || stalled {
                let weights: Vec<f64> = state.weights.iter().zip(&step).map(|(from, step)| from - step).collect();
                if !(state.value.is_finite() && weights.iter().all(|weight| weight.is_finite())) {
                    break;
                }
                return Ok(LogisticFit { weights, steps, distance: left });
            }
            if !state.advance(problem, &step, flat) && !direction.forget() {
                break;
            }
            previous = distance;
        }
        Err(Error::NotConverged { iterations: Self::MOST_STEPS, distance: previous, tolerance: self.tolerance })
    }
}

impl Logistic {
    /// Fits each head. The search can be stopped.
    pub(crate) fn fit_heads(
        &self,
        sample: &Sample<'_>,
        start: Option<&Hypothesis>,
        watch: &Watch<'_>,
    ) -> Result<Hypothesis> {
        let starts = match start {
            Some(Hypothesis::Linear(start)) => start.heads(),
            _ => &[],
        };
        let fit = |head: usize| {
            let (targets, start) = (sample.targets(head), starts.get(head).map(Vec::as_slice));
            Ok(self.fit(sample.rows, &targets, sample.weights, start, watch)?.weights)
        };
        let heads: Result<Vec<Vec<f64>>> = (0..sample.n_heads()).map(fit).collect();
        Ok(Hypothesis::Linear(Linear::new(heads?)))
    }
}

impl Learner for Logistic {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        self.fit_heads(sample, None, &Watch::new(&mut ()))
    }

    fn relearn(&self, sample: &Sample<'_>, similar: &Hypothesis) -> Result<Hypothesis> {
        self.fit_heads(sample, Some(similar), &Watch::new(&mut ()))
    }
}

impl BaseLearner for Logistic {
    const NAME: &'static str = "logistic";
    const ABOUT: &'static str = "Logistic regression, regularised by the `lambda` of the method";

    fn learner<'a>(&self, lambda: f64, watch: &'a Watch<'_>) -> Box<dyn Learner + 'a> {
        Box::new(Watched { learner: Logistic::new(lambda), watch })
    }
}

/// Logistic regression that can be stopped.
struct Watched<'a, 'b> {
    learner: Logistic,
    watch: &'a Watch<'b>,
}

impl Learner for Watched<'_, '_> {
    fn learn(&self, sample: &Sample<'_>) -> Result<Hypothesis> {
        self.learner.fit_heads(sample, None, self.watch)
    }

    fn relearn(&self, sample: &Sample<'_>, similar: &Hypothesis) -> Result<Hypothesis> {
        self.learner.fit_heads(sample, Some(similar), self.watch)
    }
}

pub(super) struct Problem<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) targets: &'a [f64],
    /// The weight of each row times lambda.
    pub(super) weights: Vec<f64>,
    pub(super) width: usize,
}

impl Problem<'_> {
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let (features, bias) = weights.split_at(self.width - 1);
        let mut scores = vec![bias[0]; self.rows.n_rows()];
        vectorized(|| {
            for (i, score) in scores.iter_mut().enumerate() {
                *score += match self.rows.row(i) {
                    Row::Dense(values) => dot(values, features),
                    row @ Row::Sparse { .. } => row.dot(features),
                };
            }
        });
        scores
    }

    /// `to += sum_i factors_i (x_i, 1)`.
    fn add_rows(&self, factors: &[f64], to: &mut [f64]) {
        let (features, bias) = to.split_at_mut(self.width - 1);
        vectorized(|| {
            for (i, &factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
                match self.rows.row(i) {
                    Row::Dense(values) => features.iter_mut().zip(values).for_each(|(to, x)| *to += factor * x),
                    row @ Row::Sparse { .. } => row.for_each(|j, x| features[j] += factor * x),
                }
                bias[0] += factor;
            }
        });
    }
}

/// Rows whose losses are kept until they are added up.
const STRETCH: usize = 64;

/// The losses of the rows: their sum, and the second derivative of each by its score.
impl Visit<f64> for Problem<'_> {
    type Tally = (f64, Vec<f64>);
    const SINGLE: bool = true;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, (value, curvatures): &mut Self::Tally, i: usize, scores: &mut [f64]) {
        let (residual, curvature, loss) = judged(scores[0], self.targets[i], self.weights[i]);
        scores[0] = residual;
        curvatures.push(curvature);
        *value += loss;
    }

    #[inline(always)]
    fn visit_rows<S: Simd>(&self, _: S, (value, curvatures): &mut Self::Tally, first: usize, scores: &mut [f64]) {
        let known = curvatures.len();
        curvatures.resize(known + scores.len(), 0.0);
        let mut losses = [0.0; STRETCH];
        let stretches = scores.chunks_mut(STRETCH).zip(curvatures[known..].chunks_mut(STRETCH));
        for (first, (scores, curvatures)) in (first..).step_by(STRETCH).zip(stretches) {
            let losses = &mut losses[..scores.len()];
            let truth = self.targets[first..].iter().zip(&self.weights[first..]);
            let rows = scores.iter_mut().zip(curvatures).zip(&mut *losses).zip(truth);
            rows.for_each(|(((z, curvature), loss), (&y, &weight))| (*z, *curvature, *loss) = judged(*z, y, weight));
            // To add them up in there would keep the compiler from using vectors.
            *value += sum_of(losses, losses, |loss, _| loss);
        }
    }
}

/// The first and the second derivative of a row's loss by its score, and the loss.
#[inline(always)]
fn judged(score: f64, target: f64, weight: f64) -> (f64, f64, f64) {
    // The probability of the other class, and of this one: neither loses its last bits where the other is nearly 1.
    let (right, wrong, loss) = (target * score).odds();
    (-target * weight * wrong, weight * wrong * right, weight * loss)
}

/// A point of the search and what is known there.
struct State {
    weights: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The second derivative of each row's loss by its score.
    curvatures: Vec<f64>,
}

impl State {
    fn new(problem: &Problem<'_>, weights: Vec<f64>) -> Self {
        let mut gradient = weights.clone();
        let parts = in_memory(pass(problem.rows, &weights, 1, Some(&mut gradient), problem));
        let mut value = 0.5 * dot(&weights, &weights);
        let mut curvatures = Vec::with_capacity(problem.targets.len());
        for (losses, part) in parts {
            value += losses;
            curvatures.extend(part);
        }
        State { weights, value, gradient, curvatures }
    }

    /// Goes against the step, as far as the value falls. False if it never does.
    fn advance(&mut self, problem: &Problem<'_>, step: &[f64], whole: bool) -> bool {
        let slope = dot(step, &self.gradient);
        let mut length = 1.0;
        while length >= 1e-12 {
            let weights = self.weights.iter().zip(step).map(|(from, step)| from - length * step).collect();
            let next = State::new(problem, weights);
            if (whole && next.value.is_finite()) || next.value <= self.value - 1e-4 * length * slope {
                *self = next;
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

/// How the Newton equations are solved.
enum Direction {
    /// By the factor of the Hessian, here or at an `old` point.
    Factor {
        known: Option<Vec<f64>>,
        old: bool,
    },
    ConjugateGradients,
}

impl Direction {
    fn choose(problem: &Problem<'_>) -> Self {
        if is_worth_factoring(problem.width, problem.targets.len()) {
            Direction::Factor { known: None, old: false }
        } else {
            Direction::ConjugateGradients
        }
    }

    /// Whether the equations are solved to the last bits.
    fn is_exact(&self) -> bool {
        matches!(self, Direction::Factor { known: Some(_), .. })
    }

    /// Forgets the Hessian of an earlier point, if that was taken for the last step.
    fn forget(&mut self) -> bool {
        let Direction::Factor { known, old } = self else { return false };
        if *old {
            *known = None;
        }
        std::mem::take(old)
    }

    /// A step, and how far the optimum is; `previous` is how far it was before the last step.
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        previous: f64,
        watch: &Watch<'_>,
    ) -> Result<(Vec<f64>, f64)> {
        let with_distance = |step: Vec<f64>| {
            let distance = dot(&step, &state.gradient).max(0.0).sqrt();
            (step, distance)
        };
        let by = |factor: &[f64]| {
            let mut step = state.gradient.clone();
            cholesky::solve(factor, problem.width, &mut step);
            with_distance(step)
        };
        if let Direction::Factor { known, old } = self {
            if let Some((step, distance)) = known.as_deref().map(by)
                && distance <= NEARER * previous
            {
                *old = true;
                return Ok((step, distance));
            }
            *old = false;
            *known = factored_hessian(problem.rows, &state.curvatures);
            if let Some(factor) = known {
                return Ok(by(factor));
            }
        }
        Ok(with_distance(conjugate_gradients(problem, state, watch)?))
    }
}

/// The Cholesky factor of `I + sum_i curvature_i (x_i, 1) (x_i, 1)'`; none where the arithmetic fails.
pub(super) fn factored_hessian(rows: &dyn Rows, curvatures: &[f64]) -> Option<Vec<f64>> {
    let width = rows.n_columns() + 1;
    let mut hessian = gram(rows, curvatures);
    (0..width).for_each(|j| hessian[j * width + j] += 1.0);
    cholesky::factor(&mut hessian, width).then_some(hessian)
}

/// The Newton equations to a relative residual of 1e-4, preconditioned by the diagonal.
fn conjugate_gradients(problem: &Problem<'_>, state: &State, watch: &Watch<'_>) -> Result<Vec<f64>> {
    let n = problem.width;
    let mut diagonal = vec![1.0; n];
    for (i, &curvature) in state.curvatures.iter().enumerate() {
        problem.rows.row(i).for_each(|j, x| diagonal[j] += curvature * x * x);
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
        watch.ask()?;
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
    Ok(solution)
}

//! Many classes: the members of all heads by one Newton step, which has one Hessian for all of them.
//!
//! At zero weights, where every probability is one half, the second derivative of the loss is a quarter for each row and
//! head: one factor serves all heads of a member, and each costs no more than a solution with it. The step is the least squares
//! fit of the targets. What it lacks of logistic regressions, a slope and a constant for all heads, out-of-bag rows give.

use crate::data::Rows;
use crate::error::{Hint, Result};
use crate::kernel::{Real, gram, in_memory, map_rows, tanh_halves, vectorized};
use crate::linalg::cholesky;
use crate::memory::{check_memory, half_of_memory};
use crate::method::auto::fitted::MappedRows;
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::observer::Watch;

/// With more heads than these, members take one Newton step from zero.
const MOST_SEPARATE: usize = 10;
/// Widest rows for which one is taken: the Hessian has the square of it, its factor takes the third power.
const WIDEST: usize = 2000;

/// The members of one bootstrap after one Newton step: one for each head.
pub(crate) struct Step {
    /// For each head the weights of the map's features, that of the constant last.
    pub(crate) weights: Vec<Vec<f64>>,
    /// The scores of the rows that are out of bag, row by row, heads side by side.
    scores: Vec<f64>,
}

impl OutOfBag<'_> {
    /// Whether the heads share one Newton step: there are more of them than are fitted separately.
    pub(crate) fn has_many_heads(&self) -> bool {
        self.n_heads() > MOST_SEPARATE
    }

    /// The same, if the rows are not too wide for its Hessian.
    pub(crate) fn takes_first_steps(&self, rows: &dyn Rows) -> bool {
        self.has_many_heads() && rows.n_columns() < WIDEST
    }

    /// Number of heads over the largest number that is fitted separately; at least 1.
    pub(crate) fn excess_of_heads(&self) -> f64 {
        (self.n_heads() as f64 / MOST_SEPARATE as f64).max(1.0)
    }

    /// Refuses scores of out-of-bag rows that would take more than half of the memory.
    pub(crate) fn check_steps(&self, lambdas: usize) -> Result<()> {
        let (n, heads) = (self.prepared.codes.len(), self.n_heads());
        let numbers = [self.n_members(), lambdas, n, heads];
        let bytes = numbers.iter().fold(size_of::<f64>() as u64, |all, &n| all.saturating_mul(n as u64)) / 2;
        let hint = Hint::ViewsOrMembers { keep: &["trees"] };
        check_memory(bytes, half_of_memory(), hint, || format!("scores of {n} labeled rows for {heads} classes"))
    }

    /// The Newton step of bootstrap `k`, or that to all labels, at each lambda.
    pub(crate) fn first_steps(
        &self,
        k: usize,
        mapped_rows: &MappedRows,
        lambdas: &[f64],
        watch: &Watch<'_>,
    ) -> Result<Vec<Step>> {
        let (rows, heads) = (mapped_rows.rows(), self.n_heads());
        let sums = Sums::new(rows, &self.prepared.codes, heads, &self.weights[k]);
        let out = |i: usize| self.draws.get(k).is_some_and(|draw| draw[i] == 0);
        let step = |&lambda: &f64| {
            watch.ask()?;
            let weights = sums.step(lambda);
            let all = in_memory(map_rows(rows, &weights, heads, |scores| scores[..heads].to_vec()));
            let scores = all.into_iter().enumerate().filter(|(i, _)| out(*i)).flat_map(|(_, scores)| scores).collect();
            Ok(Step { weights: mapped_rows.weights_of_heads(&weights, heads), scores })
        };
        lambdas.iter().map(step).collect()
    }

    /// Makes logistic regressions of the steps of all bootstraps and of that to all labels, which comes last. Returns their
    /// out-of-bag outputs.
    pub(crate) fn calibrate(&self, steps: &mut [&mut Step]) -> Outputs {
        let heads = self.n_heads();
        let prepared = self.prepared;
        let line = line(&self.means_of(steps), &prepared.codes, heads, &self.rows(), self.row_weights());
        for step in steps.iter_mut() {
            for weights in &mut step.weights {
                weights.iter_mut().for_each(|w| *w *= line.slope);
                weights.iter_mut().last().into_iter().for_each(|w| *w += line.constant);
            }
            step.scores.iter_mut().for_each(|z| *z = line.slope * *z + line.constant);
            tanh_halves(&mut step.scores);
        }
        let means = self.means_of(steps);
        (0..heads).map(|head| means.iter().skip(head).step_by(heads).copied().collect()).collect()
    }

    /// The means of the scores of each row over the bootstraps where it is out of bag, row by row; 0 if there are none.
    fn means_of(&self, steps: &[&mut Step]) -> Vec<f64> {
        let (heads, counts) = (self.n_heads(), self.counts());
        let mut means = vec![0.0; counts.len() * heads];
        for (draw, step) in self.draws.iter().zip(steps) {
            let out = means.chunks_exact_mut(heads).zip(&counts).zip(draw).filter(|(_, drawn)| **drawn == 0);
            for (((means, &count), _), scores) in out.zip(step.scores.chunks_exact(heads)) {
                means.iter_mut().zip(scores).for_each(|(mean, z)| *mean += z / f64::from(count));
            }
        }
        means
    }
}

/// Terms of the loss at zero weights, for a lambda of 1.
struct Sums {
    heads: usize,
    /// `sum_i s_i (x_i, 1) (x_i, 1)'`, the lower triangle.
    squares: Vec<f64>,
    /// `sum_i s_i y_i (x_i, 1)` of each head, feature by feature.
    slopes: Vec<f64>,
}

impl Sums {
    fn new(rows: &dyn Rows, codes: &[u8], heads: usize, weights: &[f64]) -> Self {
        let width = rows.n_columns() + 1;
        let (mut slopes, mut all) = (vec![0.0; width * heads], vec![0.0; width]);
        for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            let class = usize::from(codes[i]);
            let mut add = |j: usize, x: f64| {
                slopes[j * heads + class] += 2.0 * weight * x;
                all[j] += weight * x;
            };
            rows.row(i).for_each(&mut add);
            add(width - 1, 1.0);
        }
        for (slopes, all) in slopes.chunks_exact_mut(heads).zip(all) {
            slopes.iter_mut().for_each(|slope| *slope -= all);
        }
        Sums { heads, squares: gram(rows, weights), slopes }
    }

    /// The weights after a Newton step from zero, feature by feature, heads side by side.
    fn step(&self, lambda: f64) -> Vec<f64> {
        let width = self.slopes.len() / self.heads;
        let mut hessian: Vec<f64> = self.squares.iter().map(|sum| 0.25 * lambda * sum).collect();
        (0..width).for_each(|j| hessian[j * width + j] += 1.0);
        let mut weights: Vec<f64> = self.slopes.iter().map(|slope| 0.5 * lambda * slope).collect();
        // The penalty makes it positive definite, unless features are so large that the arithmetic fails.
        match cholesky::factor(&mut hessian, width) {
            true => cholesky::solve_many(&hessian, width, &mut weights, self.heads),
            false => weights.fill(0.0),
        }
        weights
    }
}

/// The logistic regression of the classes on the scores of some rows, one for all heads.
fn line(scores: &[f64], codes: &[u8], heads: usize, rows: &[usize], weights: &[f64]) -> Line {
    /// Largest number of Newton steps.
    const STEPS: usize = 50;
    /// The search ends when a step promises less, for a unit of weight.
    const NEAR: f64 = 1e-9;
    let weight: f64 = rows.iter().map(|&i| weights[i]).sum();
    let against = weight * (heads - 1) as f64;
    // Platt's smoothed targets, as if each kind had one row more: the slope stays finite where the scores separate the kinds.
    let targets = [1.0 / (against + 2.0), (weight + 1.0) / (weight + 2.0)];
    let at = |line: Line| {
        let mut loss = Loss::default();
        for &i in rows {
            loss.add(line, &scores[i * heads..][..heads], usize::from(codes[i]), targets, weights[i]);
        }
        loss
    };
    // Every head at the share of its class.
    let mut line = Line { slope: 0.0, constant: -libm::log((heads - 1) as f64) };
    let mut loss = at(line);
    for _ in 0..STEPS {
        let (step, promise) = loss.step();
        // Not a number if there is no row.
        if promise.is_nan() || promise <= NEAR * weight {
            break;
        }
        let mut length = 1.0;
        let (next, least) = loop {
            let next =
                Line { slope: line.slope - length * step.slope, constant: line.constant - length * step.constant };
            let there = at(next);
            if there.value <= loss.value - 1e-4 * length * promise || length < 1e-6 {
                break (next, there);
            }
            length *= 0.5;
        };
        (line, loss) = (next, least);
    }
    // Scores that mislead tell nothing, rather than the opposite.
    Line { slope: line.slope.max(0.0), ..line }
}

/// The logit `slope score + constant`.
#[derive(Debug, Clone, Copy)]
struct Line {
    slope: f64,
    constant: f64,
}

/// The logistic loss of a line, its gradient and its Hessian by slope and constant.
#[derive(Default)]
struct Loss {
    value: f64,
    gradient: [f64; 2],
    hessian: [f64; 3],
}

impl Loss {
    fn add(&mut self, line: Line, scores: &[f64], class: usize, targets: [f64; 2], weight: f64) {
        vectorized(|| {
            for (head, &z) in scores.iter().enumerate() {
                let (target, logit) = (targets[usize::from(head == class)], line.slope * z + line.constant);
                let (right, wrong, loss) = logit.odds();
                let (residual, curvature) = (weight * (right - target), weight * right * wrong);
                self.value += weight * (loss + (1.0 - target) * logit);
                self.gradient[0] += residual * z;
                self.gradient[1] += residual;
                self.hessian[0] += curvature * z * z;
                self.hessian[1] += curvature * z;
                self.hessian[2] += curvature;
            }
        });
    }

    /// The Newton step, and twice what it promises.
    fn step(&self) -> (Line, f64) {
        let ([a, b, c], [g, h]) = (self.hessian, self.gradient);
        // Scores that are all the same leave the slope open.
        let (a, c) = (a + 1e-12 * (1.0 + a), c + 1e-12 * (1.0 + c));
        let determinant = a * c - b * b;
        let step = Line { slope: (c * g - b * h) / determinant, constant: (a * h - b * g) / determinant };
        (step, step.slope * g + step.constant * h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;
    use crate::random::{Purpose, Stream};

    #[test]
    fn a_step_is_the_least_squares_fit_of_the_targets() {
        let (n, d, heads, lambda) = (60, 4, 19, 7.0);
        let rows = Dense::random(n, d, 3);
        let codes: Vec<u8> = (0..n).map(|i| (i * 7 % heads) as u8).collect();
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let found = Sums::new(&rows, &codes, heads, &weights).step(lambda);
        for head in 0..heads {
            // The derivative of |w|^2 / 2 + lambda / 8 sum_i s_i (z_i - 2 y_i)^2 vanishes.
            let own: Vec<f64> = found.iter().skip(head).step_by(heads).copied().collect();
            let mut slope = own.clone();
            for i in 0..n {
                let x = |j: usize| if j < d { rows.get(i)[j] } else { 1.0 };
                let z: f64 = own.iter().enumerate().map(|(j, w)| w * x(j)).sum();
                let y = if usize::from(codes[i]) == head { 1.0 } else { -1.0 };
                slope.iter_mut().enumerate().for_each(|(j, g)| *g += 0.25 * lambda * weights[i] * (z - 2.0 * y) * x(j));
            }
            assert!(slope.iter().all(|g| g.abs() < 1e-10), "{slope:?}");
        }
    }

    /// Scores whose logit is known give it back, whatever the scale of the weights of rows that are many.
    #[test]
    fn slope_and_constant_are_those_by_which_the_classes_came() {
        let (n, heads) = (4000, 12);
        let mut stream = Stream::new(5, Purpose::Split, 0);
        let scores: Vec<f64> = (0..n * heads).map(|_| 4.0 * stream.unit() - 3.0).collect();
        // The heads are fitted as if they were separate: rows whose heads say no, or yes more than once, are drawn again.
        let logit = |z: f64| 1.5 * z - 0.5;
        let mut drawn = |row: &[f64]| -> Option<u8> {
            let yes: Vec<usize> = (0..heads).filter(|&k| stream.unit() < logit(row[k]).logistic()).collect();
            if let [one] = yes[..] { Some(one as u8) } else { None }
        };
        let all: Vec<Option<u8>> = scores.chunks_exact(heads).map(|row| (0..30).find_map(|_| drawn(row))).collect();
        let rows: Vec<usize> = (0..n).filter(|&i| all[i].is_some()).collect();
        let codes: Vec<u8> = all.into_iter().map(Option::unwrap_or_default).collect();
        let found = line(&scores, &codes, heads, &rows, &vec![1.0; n]);
        let loss = |slope: f64, constant: f64| {
            let of = |&i: &usize| {
                let own = |k: usize| {
                    let (right, wrong, _) = (slope * scores[i * heads + k] + constant).odds();
                    -libm::log(if k == usize::from(codes[i]) { right } else { wrong })
                };
                (0..heads).map(own).sum::<f64>()
            };
            rows.iter().map(of).sum::<f64>() / rows.len() as f64
        };
        let best = loss(found.slope, found.constant);
        for (slope, constant) in [(0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)] {
            assert!(loss(found.slope + slope, found.constant + constant) > best, "{found:?}");
        }
        assert!((found.slope - 1.5).abs() < 0.3, "{found:?}");
        // Scores that tell nothing, and those that mislead, leave the shares of the classes.
        let turned: Vec<f64> = scores.iter().map(|z| -z).collect();
        for scores in [vec![1.0; n * heads], turned] {
            let found = line(&scores, &codes, heads, &rows, &vec![1.0; n]);
            assert!(found.slope.is_finite() && found.slope >= 0.0 && found.constant.is_finite(), "{found:?}");
        }
    }
}

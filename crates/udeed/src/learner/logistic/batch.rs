//! Many logistic regressions on the same rows with different weights, fitted together.
//!
//! All share one pass over the rows a step. Each is fitted by L-BFGS, preconditioned by the Hessian of the fit on all rows:
//! the members of a bagged ensemble are near it, so a few steps will do, where Newton's method would build a Hessian for
//! each member and step.

use pulp::Simd;

use crate::data::Rows;
use crate::error::Result;
use crate::kernel::{Real, Visit, dot, in_memory, map_rows, pass};
use crate::learner::Logistic;
use crate::learner::logistic::{factored_hessian, is_worth_factoring};
use crate::linalg::{Curvature, cholesky};
use crate::observer::Watch;
use crate::parallel;

/// Members not converged after this many passes over the rows are fitted individually.
const MOST_PASSES: usize = 60;
/// Least curvature along a step: that of the penalty is 1, so less is rounding.
const LEAST_CURVATURE: f64 = 0.5;

/// Logistic regressions on the same rows with different weights.
pub(crate) struct Batch<'a> {
    pub(crate) learner: Logistic,
    pub(crate) rows: &'a dyn Rows,
    /// -1 and 1.
    pub(crate) targets: &'a [f64],
    /// How often each row was drawn, for each regression.
    pub(crate) counts: &'a [Vec<u8>],
    /// The weight of each row, in all of them.
    pub(crate) weights: &'a [f64],
    /// The fit in which every row occurs once.
    pub(crate) start: &'a [f64],
    /// Number of members fitted before, and of all that will be.
    pub(crate) before: (usize, usize),
}

impl Batch<'_> {
    /// Fits the weights of each regression, and reports progress to `watch`.
    ///
    /// # Errors
    /// As [`Logistic::fit`].
    pub(crate) fn fit(&self, watch: &Watch<'_>) -> Result<Vec<Vec<f64>>> {
        let mut searches: Vec<Search> = self.counts.iter().map(|_| Search::new(self.start)).collect();
        if let Some(factor) = self.factor() {
            self.search_together(&factor, &mut searches, watch)?;
        }
        let mut done = searches.iter().filter(|search| search.arrived).count();
        // Some at a time, so that an observer can end it.
        let alone: Vec<usize> = (0..searches.len()).filter(|&k| !searches[k].arrived).collect();
        for members in alone.chunks(rayon::current_num_threads().max(1)) {
            let fit = |place: usize| self.fit_alone(members[place], &searches[members[place]].weights, watch);
            for (&k, weights) in members.iter().zip(parallel::try_map(members.len(), fit)?) {
                searches[k].weights = weights;
            }
            done += members.len();
            watch.member(self.before.0 + done, self.before.1)?;
        }
        Ok(searches.into_iter().map(|search| search.weights).collect())
    }

    fn fit_alone(&self, k: usize, start: &[f64], watch: &Watch<'_>) -> Result<Vec<f64>> {
        let worth = |(&count, weight): (&u8, &f64)| f64::from(count) * weight;
        let counts: Vec<f64> = self.counts[k].iter().zip(self.weights).map(worth).collect();
        Ok(self.learner.fit(self.rows, self.targets, &counts, Some(start), watch)?.weights)
    }

    /// The factor of the Hessian of the fit on all rows; none where it would be too large, or tell little about the members
    /// because there are few rows.
    fn factor(&self) -> Option<Vec<f64>> {
        if !is_worth_factoring(self.start.len(), self.rows.n_rows()) {
            return None;
        }
        let curvature = |z: f64| self.learner.lambda * z.logistic() * (-z).logistic();
        let mut curvatures = in_memory(map_rows(self.rows, self.start, 1, |scores| curvature(scores[0])));
        curvatures.iter_mut().zip(self.weights).for_each(|(curvature, weight)| *curvature *= weight);
        factored_hessian(self.rows, &curvatures)
    }

    fn search_together(&self, factor: &[f64], searches: &mut [Search], watch: &Watch<'_>) -> Result<()> {
        let total = searches.len();
        let mut walking = Walking::new(self, (0..total).collect());
        for _ in 0..MOST_PASSES {
            let gradients = walking.gradients(self, searches);
            let m = walking.members.len();
            let place = |member: usize| walking.members.binary_search(&member);
            parallel::chunks_mut(searches, 1, |member, search| {
                if let (true, Ok(k)) = (search[0].is_walking(), place(member)) {
                    search[0].advance(gradients.iter().skip(k).step_by(m).copied().collect(), factor);
                }
            });
            let left: Vec<usize> = (0..total).filter(|&k| searches[k].is_walking()).collect();
            let arrived = searches.iter().filter(|search| search.arrived).count();
            watch.member(self.before.0 + arrived, self.before.1)?;
            if left.is_empty() {
                break;
            }
            // Rearranging the counts costs about as much as a few members that have converged.
            if 4 * left.len() < 3 * m {
                walking = Walking::new(self, left);
            }
        }
        Ok(())
    }
}

/// The regressions that are still searched for, and their counts row by row.
struct Walking {
    members: Vec<usize>,
    counts: Vec<u8>,
}

impl Walking {
    fn new(batch: &Batch<'_>, members: Vec<usize>) -> Self {
        let m = members.len();
        let mut counts = vec![0; m * batch.targets.len()];
        const ROWS: usize = 512;
        parallel::chunks_mut(&mut counts, ROWS * m, |chunk, counts| {
            for (k, &member) in members.iter().enumerate() {
                let from = &batch.counts[member][chunk * ROWS..];
                counts[k..].iter_mut().step_by(m).zip(from).for_each(|(to, &count)| *to = count);
            }
        });
        Walking { members, counts }
    }

    /// The gradients at the points that the searches want to know about, feature by feature.
    fn gradients(&self, batch: &Batch<'_>, searches: &[Search]) -> Vec<f64> {
        let m = self.members.len();
        let mut weights = vec![0.0; m * batch.start.len()];
        for (k, &member) in self.members.iter().enumerate() {
            let trial = searches[member].trial();
            weights[k..].iter_mut().step_by(m).zip(trial).for_each(|(to, from)| *to = from);
        }
        let mut gradient = weights.clone();
        let slopes = Slopes { batch, counts: &self.counts, m };
        in_memory(pass(batch.rows, &weights, m, Some(&mut gradient), &slopes));
        gradient
    }
}

/// The derivative of each row's loss by its score: `-y lambda weight count / (1 + e^(y z))`.
struct Slopes<'a> {
    batch: &'a Batch<'a>,
    counts: &'a [u8],
    m: usize,
}

impl Visit<f64> for Slopes<'_> {
    type Tally = ();

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, (): &mut (), i: usize, scores: &mut [f64]) {
        let (y, weight) = (self.batch.targets[i], self.batch.learner.lambda * self.batch.weights[i]);
        let counts = &self.counts[i * self.m..][..self.m];
        // All lanes, the padding too: a rest that fills no vector would cost as much as the others together.
        scores.iter_mut().for_each(|z| *z = -y * weight * (-y * *z).logistic());
        scores.iter_mut().zip(counts).for_each(|(z, &count)| *z *= f64::from(count));
    }
}

/// The search for one regression.
///
/// The function is convex, so the slope along a direction only rises: a step is taken if the slope at its end is at most 0.9
/// of the first one in size, else it is shortened to where the slope would vanish if it rose evenly. No values are needed.
/// The fit ends when `sqrt(g' B g)`, `B` being the approximate inverse Hessian, is below the tolerance: an estimate of the
/// distance, where Newton's method has a bound. Members that do not converge are fitted by that.
struct Search {
    weights: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    length: f64,
    curvature: Curvature,
    arrived: bool,
    lost: bool,
}

impl Search {
    fn new(start: &[f64]) -> Self {
        Search {
            weights: start.to_vec(),
            gradient: Vec::new(),
            direction: Vec::new(),
            length: 0.0,
            curvature: Curvature::default(),
            arrived: false,
            lost: false,
        }
    }

    fn is_walking(&self) -> bool {
        !self.arrived && !self.lost
    }

    /// The point whose gradient is wanted next.
    fn trial(&self) -> impl Iterator<Item = f64> {
        let direction = self.direction.iter().chain(std::iter::repeat(&0.0));
        self.weights.iter().zip(direction).map(|(w, p)| w + self.length * p)
    }

    /// Takes the gradient at the trial point.
    fn advance(&mut self, gradient: Vec<f64>, factor: &[f64]) {
        if !self.direction.is_empty() {
            let (before, after) = (dot(&self.gradient, &self.direction), dot(&gradient, &self.direction));
            if after.is_nan() || after > -0.9 * before {
                self.length *= (before / (before - after)).clamp(0.1, 0.9);
                self.lost = after.is_nan() || self.length < 1e-6;
                return;
            }
            let step = self.direction.iter().map(|p| self.length * p).collect();
            let change = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
            self.curvature.remember(step, change, LEAST_CURVATURE);
            self.weights = self.trial().collect();
        }
        self.gradient = gradient;
        self.direction = self.curvature.descent(&self.gradient, |q| cholesky::solve(factor, q.len(), q));
        self.length = 1.0;
        let decrement = -dot(&self.gradient, &self.direction);
        self.lost = decrement.is_nan() || decrement < 0.0;
        if decrement.sqrt() <= Logistic::TOLERANCE {
            self.weights = self.trial().collect();
            self.arrived = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::observer::Observer;
    use crate::random::{Purpose, Stream};

    /// Is told the number of those done, which only grows.
    #[derive(Default)]
    struct Heard {
        done: usize,
        times: usize,
    }

    impl Observer for Heard {
        fn member(&mut self, done: usize, _: usize) -> ControlFlow<()> {
            assert!(done >= self.done);
            (self.done, self.times) = (done, self.times + 1);
            ControlFlow::Continue(())
        }
    }

    /// Rows, targets with some noise, and how often each row counts for each of some regressions.
    fn problem(n: usize, d: usize, members: usize, scale: f64) -> (Matrix, Vec<f64>, Vec<Vec<u8>>) {
        let mut stream = Stream::new(3, Purpose::Split, (n * d) as u32);
        let values: Vec<f64> = (0..n * d).map(|_| scale * (stream.unit() - 0.3)).collect();
        let target = |row: &[f64]| if row[0] + 0.3 * scale * stream.unit() > 0.4 * scale { 1.0 } else { -1.0 };
        let targets = values.chunks(d).map(target).collect();
        let mut draw = |_| {
            let mut counts = vec![0; n];
            (0..n).for_each(|_| counts[stream.below(n)] += 1);
            counts
        };
        let counts = (0..members).map(&mut draw).collect();
        (Dense::new(n, d, values).unwrap().into(), targets, counts)
    }

    #[test]
    fn together_comes_to_what_each_alone_comes_to() {
        // Few rows and many; as wide as there are rows; more features than rows; large features.
        for (n, d, members, scale) in
            [(30, 3, 7, 1.0), (700, 11, 20, 1.0), (40, 39, 9, 3.0), (20, 60, 4, 1.0), (300, 5, 10, 1000.0)]
        {
            let (rows, targets, counts) = problem(n, d, members, scale);
            for lambda in [0.01, 1.0, 100.0] {
                let learner = Logistic::new(lambda);
                let weights: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.7 } else { 1.0 }).collect();
                let start = learner.fit(rows.rows(), &targets, &weights, None, &Watch::new(&mut ())).unwrap().weights;
                for rows in [rows.clone(), rows.to_sparse().into()] {
                    let rows = rows.rows();
                    let batch = Batch {
                        learner,
                        rows,
                        targets: &targets,
                        counts: &counts,
                        weights: &weights,
                        start: &start,
                        before: (0, members),
                    };
                    let mut heard = Heard::default();
                    let together = batch.fit(&Watch::new(&mut heard));
                    assert_eq!(heard.done, members);
                    for (k, weights) in together.unwrap().iter().enumerate() {
                        let alone = batch.fit_alone(k, &vec![0.0; d + 1], &Watch::new(&mut ())).unwrap();
                        let distance: f64 = weights.iter().zip(&alone).map(|(a, b)| (a - b) * (a - b)).sum();
                        let length = dot(&alone, &alone).sqrt();
                        assert!(
                            distance.sqrt() < 2e-8 * (1.0 + length),
                            "{n} x {d}, lambda {lambda}, scale {scale}: {distance}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn together_takes_few_walks() {
        let (rows, targets, counts) = problem(3000, 20, 16, 1.0);
        let learner = Logistic::new(1.0);
        let weights = vec![1.0; 3000];
        let start = learner.fit(rows.rows(), &targets, &weights, None, &Watch::new(&mut ())).unwrap().weights;
        let batch = Batch {
            learner,
            rows: rows.rows(),
            targets: &targets,
            counts: &counts,
            weights: &weights,
            start: &start,
            before: (0, 16),
        };
        let mut searches: Vec<Search> = counts.iter().map(|_| Search::new(&start)).collect();
        let mut heard = Heard::default();
        let factor = batch.factor().unwrap();
        batch.search_together(&factor, &mut searches, &Watch::new(&mut heard)).unwrap();
        assert!(searches.iter().all(|search| search.arrived));
        assert!(heard.times <= 12, "{}", heard.times);
    }
}

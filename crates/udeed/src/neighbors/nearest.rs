//! Nearest neighbours of rows.

use std::borrow::Cow;

use pulp::Simd;

use crate::data::{Dense, Row, Rows};
use crate::error::Result;
use crate::kernel::{Visit, in_memory, pass, sum_of, vectorized};
use crate::neighbors::distance::{for_each_distance, squared_distance};
use crate::observer::Watch;
use crate::parallel;

/// The index of the nearest point to each row; the first of several equally near ones.
pub(crate) fn nearest_point(rows: &dyn Rows, points: &dyn Rows, watch: &Watch<'_>) -> Result<Vec<usize>> {
    let nearest = nearest_among(rows, points, 1, watch)?;
    Ok(nearest.into_iter().map(|nearest| nearest[0].0).collect())
}

fn norm(row: Row<'_>) -> f64 {
    let mut sum = 0.0;
    row.for_each(|_, x| sum += x * x);
    sum
}

/// Indices of rows with their squared distances, nearest first.
pub(crate) type Nearest = Vec<(usize, f64)>;

/// The `k` nearest other rows of each row.
pub(crate) fn nearest(rows: &dyn Rows, k: usize, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
    let k = k.min(rows.n_rows().saturating_sub(1));
    Query { rows, points: rows, k, themselves: true }.answer(Bounds::of(rows).as_ref(), watch)
}

/// The `k` nearest points to each row.
pub(crate) fn nearest_among(rows: &dyn Rows, points: &dyn Rows, k: usize, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
    Query { rows, points, k: k.min(points.n_rows()), themselves: false }.answer(Bounds::of(points).as_ref(), watch)
}

/// Points that stay the same for many questions. They take twice the memory of their rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Points {
    rows: Dense,
    bounds: Option<Bounds>,
}

impl Points {
    pub(crate) fn new(rows: Dense) -> Self {
        Points { bounds: Bounds::of(&rows).map(|bounds| bounds.kept(&rows)), rows }
    }

    pub(crate) fn rows(&self) -> &Dense {
        &self.rows
    }

    /// The `k` nearest of them to each row.
    pub(crate) fn nearest(&self, rows: &dyn Rows, k: usize, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
        let k = k.min(self.rows.n_rows());
        if rows.n_rows() < LEAST_ROWS && !rows.is_sparse() && k > 0 && self.rows.n_columns() > 0 {
            return Ok((0..rows.n_rows()).map(|i| self.nearest_to(rows.row(i), k)).collect());
        }
        Query { rows, points: &self.rows, k, themselves: false }.answer(self.bounds.as_ref(), watch)
    }

    /// The nearest of them to a row, by the distances of all.
    fn nearest_to(&self, row: Row<'_>, k: usize) -> Nearest {
        let Row::Dense(row) = row else { return Vec::new() };
        let mut best = Vec::with_capacity(k);
        vectorized(|| {
            for (point, other) in self.rows.values().chunks_exact(row.len()).enumerate() {
                let distance = sum_of(row, other, |x, y| (x - y) * (x - y));
                if best.len() < k || best.last().is_some_and(|(_, farthest)| distance < *farthest) {
                    insert(&mut best, k, (point, distance));
                }
            }
        });
        best
    }
}

/// Puts a point among the `k` nearest. Points come in their order: of those equally near, the first stay.
fn insert(best: &mut Nearest, k: usize, (point, distance): (usize, f64)) {
    let at = best.partition_point(|(_, other)| *other <= distance);
    if at < k {
        best.truncate(k - 1);
        best.insert(at, (point, distance));
    }
}

/// Filter that rules out most points: `|p|^2 - 2 x.p` of many points at once, in single precision.
#[derive(Debug, Clone, PartialEq)]
struct Bounds {
    /// `|p|^2` of each point, and the largest of them.
    norms: Vec<f64>,
    longest: f64,
    /// The weights of every chunk, if they are kept.
    chunks: Vec<Vec<f64>>,
}

/// Bounds of fewer rows take longer than the distances of all points.
const LEAST_ROWS: usize = 4;
/// Number of points in a chunk, of which bounds are computed at once.
const POINTS: usize = 512;

impl Bounds {
    /// None of sparse points, nor of huge values: in single precision their products could overflow.
    fn of(points: &dyn Rows) -> Option<Self> {
        if points.is_sparse() {
            return None;
        }
        let norms: Vec<f64> = (0..points.n_rows()).map(|k| norm(points.row(k))).collect();
        let longest = norms.iter().copied().fold(0.0, f64::max);
        (!norms.iter().copied().any(is_large)).then_some(Bounds { norms, longest, chunks: Vec::new() })
    }

    /// The same with the weights of every chunk.
    fn kept(mut self, points: &dyn Rows) -> Self {
        self.chunks = (0..self.norms.len().div_ceil(POINTS)).map(|chunk| self.weights(points, chunk)).collect();
        self
    }

    /// The weights of linear members that give the bounds of a chunk of points.
    fn weights(&self, points: &dyn Rows, chunk: usize) -> Vec<f64> {
        let first = chunk * POINTS;
        let norms = &self.norms[first..self.norms.len().min(first + POINTS)];
        let (m, d) = (norms.len(), points.n_columns());
        let mut weights = vec![0.0; (d + 1) * m];
        for (k, norm) in norms.iter().enumerate() {
            points.row(first + k).for_each(|j, x| weights[j * m + k] = -2.0 * x);
            weights[d * m + k] = *norm;
        }
        weights
    }
}

/// Whether single precision may not suffice for the square of a row.
fn is_large(norm: f64) -> bool {
    norm.is_nan() || norm > 1e30
}

/// The question for the `k` nearest points to each row; there are at least as many.
pub(super) struct Query<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) points: &'a dyn Rows,
    pub(super) k: usize,
    /// Whether the points are the rows, of which none is its own neighbour.
    pub(super) themselves: bool,
}

impl Query<'_> {
    /// Only the distances of the points that the bounds do not rule out are computed.
    fn answer(&self, bounds: Option<&Bounds>, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
        let n = self.rows.n_rows();
        let serves = self.k > 0 && n >= LEAST_ROWS && !self.rows.is_sparse();
        let Some(bounds) = bounds.filter(|_| serves && !(0..n).any(|i| is_large(norm(self.rows.row(i))))) else {
            return self.answer_by_all(watch);
        };
        let mut best = vec![Vec::new(); n];
        for (chunk, norms) in bounds.norms.chunks(POINTS).enumerate() {
            watch.ask()?;
            let kept = bounds.chunks.get(chunk).map(Cow::Borrowed);
            let weights = kept.unwrap_or_else(|| Cow::Owned(bounds.weights(self.points, chunk)));
            let (first, m) = (chunk * POINTS, norms.len());
            let among = Among { query: self, first, m, longest: bounds.longest, best: &best };
            best = in_memory(pass::<f32, _>(self.rows, &weights, m, None, &among)).concat();
        }
        Ok(best)
    }

    /// By the distances of all points.
    pub(super) fn answer_by_all(&self, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
        let of_row = |(scratch, others): &mut (Vec<f64>, Nearest), i: usize| {
            watch.ask()?;
            others.clear();
            for_each_distance(self.rows.row(i), self.points, scratch, |j, squared| others.push((j, squared)));
            if self.themselves {
                others.swap_remove(i);
            }
            let nearer = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
            if self.k < others.len() {
                others.select_nth_unstable_by(self.k, nearer);
                others.truncate(self.k);
            }
            others.sort_unstable_by(nearer);
            // A copy of the exact size: the buffer is reused for the next row.
            Ok(others.as_slice().to_vec())
        };
        parallel::try_map_with(self.rows.n_rows(), || (vec![0.0; self.rows.n_columns()], Vec::new()), of_row)
    }
}

/// A bound on the rounding error of single precision in `|x|^2 + |p|^2 - 2 x.p`.
fn margin(width: usize, norm: f64, longest: f64) -> f64 {
    1.2e-7 * (width + 4) as f64 * (norm + 2.0 * longest) + f64::from(f32::MIN_POSITIVE)
}

/// Updates the `k` nearest points of each row, given `|p|^2 - 2 x.p` of a chunk of points.
struct Among<'a> {
    query: &'a Query<'a>,
    /// The index of the first point of the chunk, and the number of points.
    first: usize,
    m: usize,
    longest: f64,
    best: &'a [Nearest],
}

impl Visit<f32> for Among<'_> {
    type Tally = Vec<Nearest>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, bests: &mut Self::Tally, i: usize, scores: &mut [f32]) {
        /// Number of points that are ruled out together.
        const SIDE_BY_SIDE: usize = 32;
        let Query { rows, points, k, themselves } = *self.query;
        let row = rows.row(i);
        let norm = norm(row);
        let margin = margin(points.n_columns(), norm, self.longest);
        let mut best = Vec::with_capacity(k);
        best.extend_from_slice(&self.best[i]);
        let most = |best: &Nearest| match best.last() {
            Some((_, farthest)) if best.len() == k => (farthest - norm + margin) as f32,
            _ => f32::INFINITY,
        };
        let mut limit = most(&best);
        for (some, scores) in scores[..self.m].chunks(SIDE_BY_SIDE).enumerate() {
            // Nearly all are ruled out, many at a time.
            let mut any = false;
            for score in scores {
                any |= *score <= limit;
            }
            if !any {
                continue;
            }
            for (place, &score) in scores.iter().enumerate() {
                let point = self.first + some * SIDE_BY_SIDE + place;
                if score > limit || (themselves && point == i) {
                    continue;
                }
                let distance = squared_distance(row, points.row(point));
                insert(&mut best, k, (point, distance));
                limit = most(&best);
            }
        }
        bests.push(best);
    }
}

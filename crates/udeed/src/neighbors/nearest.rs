//! Nearest neighbours of rows.

use pulp::Simd;

use crate::data::{Row, Rows};
use crate::error::Result;
use crate::kernel::{Visit, in_memory, pass};
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
    Query { rows, points: rows, k: k.min(rows.n_rows().saturating_sub(1)), themselves: true }.answer(watch)
}

/// The `k` nearest points to each row.
pub(crate) fn nearest_among(rows: &dyn Rows, points: &dyn Rows, k: usize, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
    Query { rows, points, k: k.min(points.n_rows()), themselves: false }.answer(watch)
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
    /// For dense rows, `|p|^2 - 2 x.p` of many points at once in single precision rules out most points; only the distances
    /// of the others are computed.
    fn answer(&self, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
        let Some(norms) = small_norms(self.rows, self.points).filter(|_| self.k > 0) else {
            return self.answer_by_all(watch);
        };
        let longest = norms.iter().copied().fold(0.0, f64::max);
        let mut best = vec![Vec::new(); self.rows.n_rows()];
        for_each_chunk(self.points, &norms, watch, |weights, first, m| {
            let among = Among { query: self, first, m, longest, best: &best };
            best = in_memory(pass::<f32, _>(self.rows, weights, m, None, &among)).concat();
        })?;
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

/// The squared norms of the points; none for sparse rows or huge values, for which the kernel cannot bound distances.
fn small_norms(rows: &dyn Rows, points: &dyn Rows) -> Option<Vec<f64>> {
    // In single precision the products of larger numbers could overflow.
    let is_large = |norm: f64| norm.is_nan() || norm > 1e30;
    let norms: Vec<f64> = (0..points.n_rows()).map(|k| norm(points.row(k))).collect();
    let large = norms.iter().copied().any(is_large) || (0..rows.n_rows()).any(|i| is_large(norm(rows.row(i))));
    (!rows.is_sparse() && !points.is_sparse() && !large).then_some(norms)
}

/// Calls `visit` with each chunk of points: the weights that give `|p|^2 - 2 x.p`, the index of the first, and their number.
fn for_each_chunk(
    points: &dyn Rows,
    norms: &[f64],
    watch: &Watch<'_>,
    mut visit: impl FnMut(&[f64], usize, usize),
) -> Result<()> {
    const POINTS: usize = 512;
    for (chunk, norms) in norms.chunks(POINTS).enumerate() {
        watch.ask()?;
        let m = norms.len();
        let mut weights = vec![0.0; (points.n_columns() + 1) * m];
        for (k, norm) in norms.iter().enumerate() {
            points.row(chunk * POINTS + k).for_each(|j, x| weights[j * m + k] = -2.0 * x);
            weights[points.n_columns() * m + k] = *norm;
        }
        visit(&weights, chunk * POINTS, m);
    }
    Ok(())
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
        for (place, &score) in scores[..self.m].iter().enumerate() {
            if score <= limit {
                let point = self.first + place;
                if themselves && point == i {
                    continue;
                }
                let distance = squared_distance(row, points.row(point));
                // Points come in their order: of those equally near, the first stay.
                let at = best.partition_point(|(_, other)| *other <= distance);
                if at < k {
                    best.truncate(k - 1);
                    best.insert(at, (point, distance));
                    limit = most(&best);
                }
            }
        }
        bests.push(best);
    }
}

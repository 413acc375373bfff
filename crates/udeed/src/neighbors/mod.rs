//! Distances, nearest neighbours and similarities of rows. Large results are checked against the memory before they are
//! computed.

use pulp::Simd;

use crate::data::{Csr, Dense, Matrix, Row, Rows};
use crate::error::{Hint, Result};
use crate::kernel::{Visit, in_memory, pass, sum_of};
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::random::{Purpose, Stream};

/// The squared Euclidean distance of two rows of the same width.
pub(crate) fn squared_distance(a: Row<'_>, b: Row<'_>) -> f64 {
    match (a, b) {
        (Row::Dense(a), Row::Dense(b)) => sum_of(a, b, |x, y| (x - y) * (x - y)),
        _ => {
            let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
            let mut sum = 0.0;
            loop {
                let difference = match (a.peek().copied(), b.peek().copied()) {
                    (None, None) => return sum,
                    (Some((i, x)), Some((j, y))) if i == j => {
                        a.next();
                        b.next();
                        x - y
                    }
                    (Some((i, x)), Some((j, _))) if i < j => {
                        a.next();
                        x
                    }
                    (Some((_, x)), None) => {
                        a.next();
                        x
                    }
                    (_, Some((_, y))) => {
                        b.next();
                        y
                    }
                };
                sum += difference * difference;
            }
        }
    }
}

/// Calls `visit` with the index of each row of `rows` and its squared distance from `row`. `scratch` has the width of a row
/// and is all zero, before and after.
pub(crate) fn for_each_distance(row: Row<'_>, rows: &dyn Rows, scratch: &mut [f64], mut visit: impl FnMut(usize, f64)) {
    let Row::Sparse { .. } = row else {
        (0..rows.n_rows()).for_each(|j| visit(j, squared_distance(row, rows.row(j))));
        return;
    };
    // With the row in dense form, |a - b|^2 = |a|^2 + sum over b's values of b^2 - 2ab.
    let mut norm = 0.0;
    row.for_each(|c, x| {
        scratch[c] = x;
        norm += x * x;
    });
    for j in 0..rows.n_rows() {
        let mut rest = 0.0;
        rows.row(j).for_each(|c, x| rest += x * (x - 2.0 * scratch[c]));
        visit(j, (norm + rest).max(0.0));
    }
    row.for_each(|c, _| scratch[c] = 0.0);
}

/// The index of the nearest point to each row; the first of several equally near ones.
///
/// For dense rows, `|p|^2 - 2 x.p` of many points at once in single precision rules out most points; only the distances of
/// the others are computed.
pub(crate) fn nearest_point(rows: &dyn Rows, points: &dyn Rows, watch: &Watch<'_>) -> Result<Vec<usize>> {
    let Some(norms) = small_norms(rows, points) else { return nearest_of_all(rows, points, watch) };
    let longest = norms.iter().copied().fold(0.0, f64::max);
    let mut best = vec![(f64::INFINITY, 0); rows.n_rows()];
    for_each_chunk(points, &norms, watch, |weights, first, m| {
        let nearer = Nearer { rows, points, first, m, longest, best: &best };
        best = in_memory(pass::<f32, _>(rows, weights, m, None, &nearer)).concat();
    })?;
    Ok(best.into_iter().map(|(_, k)| k).collect())
}

fn norm(row: Row<'_>) -> f64 {
    let mut sum = 0.0;
    row.for_each(|_, x| sum += x * x);
    sum
}

fn nearest_of_all(rows: &dyn Rows, points: &dyn Rows, watch: &Watch<'_>) -> Result<Vec<usize>> {
    let nearest = |scratch: &mut Vec<f64>, i: usize| {
        watch.ask()?;
        let mut best = (f64::INFINITY, 0);
        for_each_distance(rows.row(i), points, scratch, |k, distance| {
            if distance < best.0 {
                best = (distance, k);
            }
        });
        Ok(best.1)
    };
    parallel::try_map_with(rows.n_rows(), || vec![0.0; rows.n_columns()], nearest)
}

/// Updates the nearest point of each row, given `|p|^2 - 2 x.p` of a chunk of points.
struct Nearer<'a> {
    rows: &'a dyn Rows,
    points: &'a dyn Rows,
    /// The index of the first point of the chunk, and the number of points.
    first: usize,
    m: usize,
    longest: f64,
    /// For each row the squared distance of the nearest point so far, and its index.
    best: &'a [(f64, usize)],
}

impl Visit<f32> for Nearer<'_> {
    type Tally = Vec<(f64, usize)>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, bests: &mut Self::Tally, i: usize, scores: &mut [f32]) {
        let row = self.rows.row(i);
        let norm = norm(row);
        let mut best = self.best[i];
        let margin = margin(self.points.n_columns(), norm, self.longest);
        let most = |best: f64| (best - norm + margin) as f32;
        let limit = most(best.0);
        let near = scores[..self.m].iter().filter(|&&score| score <= limit).count();
        if near > 0 {
            for (k, &score) in scores[..self.m].iter().enumerate() {
                if score <= most(best.0) {
                    let distance = squared_distance(row, self.points.row(self.first + k));
                    if distance < best.0 {
                        best = (distance, self.first + k);
                    }
                }
            }
        }
        bests.push(best);
    }
}

/// A percentile of the distances between distinct rows; 0 if all rows are equal. Of very many pairs, a random sample is used.
pub(crate) fn distance_percentile(rows: &dyn Rows, percentile: f64, seed: u64, watch: &Watch<'_>) -> Result<f64> {
    const MOST_PAIRS: usize = 2_000_000;
    // Distances computed between two calls of `Watch::ask`.
    const AT_ONCE: usize = 1000;
    let n = rows.n_rows();
    let all = n.saturating_mul(n.saturating_sub(1)) / 2;
    let distance = |i: usize, j: usize| squared_distance(rows.row(i), rows.row(j)).sqrt();
    let parts: Result<Vec<Vec<f64>>> = if all <= MOST_PAIRS {
        let of_row = |i: usize| watch.ask().map(|()| (0..i).map(|j| distance(i, j)).collect());
        parallel::try_map(n, of_row)
    } else {
        let mut stream = Stream::new(seed, Purpose::Pairs, 0);
        let pairs: Vec<(usize, usize)> = (0..MOST_PAIRS)
            .map(|_| {
                let i = stream.below(n);
                // Any other row.
                (i, (i + 1 + stream.below(n - 1)) % n)
            })
            .collect();
        let pairs: Vec<&[(usize, usize)]> = pairs.chunks(AT_ONCE).collect();
        let of_some = |some: usize| watch.ask().map(|()| pairs[some].iter().map(|&(i, j)| distance(i, j)).collect());
        parallel::try_map(pairs.len(), of_some)
    };
    let mut distances = parts?.concat();
    // Equal rows, which are frequent in nominal data, carry no information on the scale.
    distances.retain(|&distance| distance > 0.0);
    if distances.is_empty() {
        return Ok(0.0);
    }
    let place = (percentile / 100.0 * (distances.len() - 1) as f64).round() as usize;
    Ok(*distances.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// Indices of rows with their squared distances, nearest first.
pub(crate) type Nearest = Vec<(usize, f64)>;

/// The `k` nearest other rows of each row.
pub(crate) fn nearest(rows: &dyn Rows, k: usize, watch: &Watch<'_>) -> Result<Vec<Nearest>> {
    nearest_among(rows, rows, k, true, watch)
}

/// The `k` nearest points to each row; with `themselves`, the points are the rows, and none is its own neighbour.
///
/// For dense rows, `|p|^2 - 2 x.p` of many points at once in single precision rules out most points; only the distances of
/// the others are computed.
pub(crate) fn nearest_among(
    rows: &dyn Rows,
    points: &dyn Rows,
    k: usize,
    themselves: bool,
    watch: &Watch<'_>,
) -> Result<Vec<Nearest>> {
    let k = k.min(points.n_rows().saturating_sub(usize::from(themselves)));
    let Some(norms) = small_norms(rows, points).filter(|_| k > 0) else {
        return nearest_by_all(rows, points, k, themselves, watch);
    };
    let longest = norms.iter().copied().fold(0.0, f64::max);
    let mut best = vec![Vec::new(); rows.n_rows()];
    for_each_chunk(points, &norms, watch, |weights, first, m| {
        let among = Among { rows, points, first, m, k, themselves, longest, best: &best };
        best = in_memory(pass::<f32, _>(rows, weights, m, None, &among)).concat();
    })?;
    Ok(best)
}

fn nearest_by_all(
    rows: &dyn Rows,
    points: &dyn Rows,
    k: usize,
    themselves: bool,
    watch: &Watch<'_>,
) -> Result<Vec<Nearest>> {
    let of_row = |(scratch, others): &mut (Vec<f64>, Nearest), i: usize| {
        watch.ask()?;
        others.clear();
        for_each_distance(rows.row(i), points, scratch, |j, squared| others.push((j, squared)));
        if themselves {
            others.swap_remove(i);
        }
        let nearer = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        if k < others.len() {
            others.select_nth_unstable_by(k, nearer);
            others.truncate(k);
        }
        others.sort_unstable_by(nearer);
        // A copy of the exact size: the buffer is reused for the next row.
        Ok(others.as_slice().to_vec())
    };
    parallel::try_map_with(rows.n_rows(), || (vec![0.0; rows.n_columns()], Vec::new()), of_row)
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
    rows: &'a dyn Rows,
    points: &'a dyn Rows,
    /// The index of the first point of the chunk, and the number of points.
    first: usize,
    m: usize,
    k: usize,
    themselves: bool,
    longest: f64,
    best: &'a [Nearest],
}

impl Visit<f32> for Among<'_> {
    type Tally = Vec<Nearest>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, bests: &mut Self::Tally, i: usize, scores: &mut [f32]) {
        let row = self.rows.row(i);
        let norm = norm(row);
        let margin = margin(self.points.n_columns(), norm, self.longest);
        let mut best = Vec::with_capacity(self.k);
        best.extend_from_slice(&self.best[i]);
        let most = |best: &Nearest| match best.last() {
            Some((_, farthest)) if best.len() == self.k => (farthest - norm + margin) as f32,
            _ => f32::INFINITY,
        };
        let mut limit = most(&best);
        for (place, &score) in scores[..self.m].iter().enumerate() {
            if score <= limit {
                let point = self.first + place;
                if self.themselves && point == i {
                    continue;
                }
                let distance = squared_distance(row, self.points.row(point));
                // Points come in their order: of those equally near, the first stay.
                let at = best.partition_point(|(_, other)| *other <= distance);
                if at < self.k {
                    best.truncate(self.k - 1);
                    best.insert(at, (point, distance));
                    limit = most(&best);
                }
            }
        }
        bests.push(best);
    }
}

/// The similarity `exp(-|x - z|^2 / sigma^2)` of the rows from `first` on to all rows.
pub(crate) enum Similarity {
    /// All pairs.
    All,
    /// Pairs in which one row is among the `k` nearest of the other, and each row with itself.
    Nearest(usize),
}

impl Similarity {
    /// The largest memory of the matrix, in bytes.
    pub(crate) fn bytes(&self, n_rows: usize, first: usize) -> u64 {
        let (n, rows) = (n_rows as u64, (n_rows - first) as u64);
        match self {
            Similarity::All => rows * n * 8,
            // A row has at most k neighbours, and is on average a neighbour of as many others.
            Similarity::Nearest(k) => n.saturating_mul(2 * (*k as u64).min(n) + 1).saturating_mul(28),
        }
    }

    /// The matrix, unless it takes more than `most` bytes.
    pub(crate) fn matrix(
        &self,
        rows: &dyn Rows,
        first: usize,
        sigma: f64,
        most: u64,
        watch: &Watch<'_>,
    ) -> Result<Matrix> {
        let n = rows.n_rows();
        let bytes = self.bytes(n, first);
        check_memory(bytes, most, Hint::Similarities, || format!("the similarities of {n} rows"))?;
        // Equal rows have no scale: every similarity is 1.
        let scale = if sigma > 0.0 { 1.0 / (sigma * sigma) } else { 0.0 };
        let similar = |squared: f64| libm::exp(-squared * scale);
        match self {
            Similarity::All => {
                let mut matrix = Dense::zeros(n - first, n)?;
                let mut out: Vec<&mut [f64]> = matrix.rows_mut().collect();
                let scratch = || vec![0.0; rows.n_columns()];
                parallel::try_chunks_mut(&mut out, 1, scratch, |scratch, i, out| {
                    for_each_distance(rows.row(first + i), rows, scratch, |j, squared| out[0][j] = similar(squared));
                    watch.ask()
                })?;
                Ok(matrix.into())
            }
            Similarity::Nearest(k) => {
                let mut edges: Vec<Vec<(usize, f64)>> = nearest(rows, *k, watch)?;
                let chosen = edges.clone();
                for (i, neighbours) in chosen.iter().enumerate() {
                    neighbours.iter().for_each(|&(j, squared)| edges[j].push((i, squared)));
                    edges[i].push((i, 0.0));
                }
                let mut matrix = Csr::empty(n);
                for neighbours in &mut edges[first..] {
                    watch.ask()?;
                    // A distance may differ in its last bit between the two directions: the smaller one is used.
                    neighbours.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                    neighbours.dedup_by_key(|&mut (j, _)| j);
                    matrix.push_row(neighbours.iter().map(|&(j, squared)| (j, similar(squared))));
                }
                Ok(matrix.into())
            }
        }
    }
}

/// The matrix of similarities, with a warning if it takes much memory. It may take `most` bytes; 0 for half of the memory.
pub(crate) fn warned_matrix(
    kind: &Similarity,
    rows: &dyn Rows,
    first: usize,
    sigma: f64,
    most: u64,
    watch: &Watch<'_>,
) -> Result<Matrix> {
    let bytes = kind.bytes(rows.n_rows(), first);
    if bytes > MUCH_MEMORY {
        watch.warn(&Warning::Memory { bytes });
    }
    kind.matrix(rows, first, sigma, if most > 0 { most } else { half_of_memory() }, watch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64]) -> Dense {
        Dense::new(values.len(), 1, values.to_vec()).unwrap()
    }

    #[test]
    fn the_nearest_point_is_the_first_of_the_nearest() {
        let mut stream = Stream::new(9, Purpose::Split, 0);
        for (n, l, d, levels, scale) in
            [(50, 7, 3, 3.0, 1.0), (300, 1100, 6, 2.0, 1.0), (200, 600, 20, 1e9, 1e3), (40, 30, 2, 4.0, 1e20)]
        {
            // With few levels, many points are equally near.
            let mut rows = |n: usize| {
                let value = |_| scale * (levels * stream.unit()).floor() / levels;
                Dense::new(n, d, (0..n * d).map(value).collect()).unwrap()
            };
            let (rows, points) = (rows(n), rows(l));
            let mut nobody = ();
            let watch = Watch::new(&mut nobody);
            assert_eq!(
                nearest_point(&rows, &points, &watch).unwrap(),
                nearest_of_all(&rows, &points, &watch).unwrap(),
                "{n} {l} {d}"
            );
            for k in [1, 5, l + 1] {
                let found = nearest_among(&rows, &points, k, false, &watch).unwrap();
                let expected = nearest_by_all(&rows, &points, k.min(l), false, &watch).unwrap();
                assert!(found == expected, "{k} nearest of {l} to {n} rows of {d}");
                let expected = nearest_by_all(&points, &points, k.min(l - 1), true, &watch).unwrap();
                assert!(nearest(&points, k, &watch).unwrap() == expected, "{k} nearest others of {l} rows of {d}");
            }
        }
    }

    #[test]
    fn sparse_and_dense_distances_agree() {
        let dense = Dense::new(2, 4, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 2.5, 0.0]).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let expected = squared_distance(dense.row(0), dense.row(1));
        assert_eq!(expected, 1.0 + 9.0 + 0.25);
        assert_eq!(squared_distance(sparse.row(0), sparse.row(1)), expected);
        assert_eq!(squared_distance(sparse.row(0), dense.row(1)), expected);
    }

    #[test]
    fn distances_to_all_rows_are_those_to_each() {
        let dense = Dense::new(3, 4, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 2.5, 0.0, 0.0, 0.0, 0.0, 0.1]).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let mut scratch = vec![0.0; 4];
        for i in 0..3 {
            for rows in [&dense as &dyn Rows, &sparse] {
                for_each_distance(rows.row(i), rows, &mut scratch, |j, squared| {
                    let expected = squared_distance(dense.row(i), dense.row(j));
                    assert!((squared - expected).abs() < 1e-12, "{squared} against {expected}");
                });
            }
        }
        assert_eq!(scratch, [0.0; 4]);
    }

    #[test]
    fn nearest_rows_come_first() {
        let found = nearest(&line(&[0.0, 10.0, 1.0, 3.0]), 2, &Watch::new(&mut ())).unwrap();
        assert_eq!(found[0], [(2, 1.0), (3, 9.0)]);
        assert_eq!(found[1], [(3, 49.0), (2, 81.0)]);
        assert!(found.iter().all(|neighbours| neighbours.capacity() == 2), "no more room than they take");
        assert_eq!(nearest(&line(&[0.0, 1.0]), 9, &Watch::new(&mut ())).unwrap()[0].len(), 1);
    }

    fn percentile(rows: &Dense, percentile: f64) -> f64 {
        distance_percentile(rows, percentile, 0, &Watch::new(&mut ())).unwrap()
    }

    #[test]
    fn percentiles_of_distances() {
        let rows = line(&[0.0, 1.0, 3.0]);
        assert_eq!(percentile(&rows, 0.0), 1.0);
        assert_eq!(percentile(&rows, 50.0), 2.0);
        assert_eq!(percentile(&rows, 100.0), 3.0);
        assert_eq!(percentile(&line(&[5.0, 5.0, 5.0, 5.0, 6.0]), 1.0), 1.0);
        assert_eq!(percentile(&line(&[5.0, 5.0]), 1.0), 0.0);
    }

    #[test]
    fn a_graph_of_all_neighbours_is_the_whole_matrix() {
        let rows = line(&[0.0, 1.0, 3.0, 3.5, 7.0]);
        let all = Similarity::All.matrix(&rows, 2, 2.0, u64::MAX, &Watch::new(&mut ())).unwrap();
        let graph = Similarity::Nearest(4).matrix(&rows, 2, 2.0, u64::MAX, &Watch::new(&mut ())).unwrap();
        assert!(graph.is_sparse());
        assert_eq!(all.to_dense().unwrap(), graph.to_dense().unwrap());
    }

    #[test]
    fn too_much_memory_is_refused_before_it_is_taken() {
        let rows = Csr::new(1, vec![0; 1_000_001], vec![], vec![]).unwrap();
        let error = Similarity::All.matrix(&rows, 0, 1.0, 1 << 30, &Watch::new(&mut ())).unwrap_err();
        assert!(error.to_string().contains("GiB"), "{error}");
        assert_eq!(error.hint(), Some(&Hint::Similarities));
    }
}

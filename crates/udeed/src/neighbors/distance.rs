//! Distances between rows.

use crate::data::{Row, Rows};
use crate::error::Result;
use crate::kernel::sum_of;
use crate::observer::Watch;
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

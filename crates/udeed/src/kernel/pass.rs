//! One walk over the rows: the score of each member, a function of them, and the gradient of its sum.

use std::ops::Range;

use rayon::prelude::*;

use crate::data::{Row, Rows};

/// Fewer rows than this are not worth a part of their own.
const SMALLEST_PART: usize = 64;
/// Into how many parts the rows are cut at most. The parts are summed in their order, so the result depends on their
/// number and not on the threads that work on them.
const PARTS: usize = 16;
/// How much memory the gradients of the parts may take together, in numbers.
const PARTS_MEMORY: usize = 1 << 24;

/// Walks over all rows. `map(i, scores)` gets the scores of the `m` members on row `i`, returns what the row adds to the
/// value, and leaves in place of each score the derivative of that by it. Returns the sum of the values; the gradient
/// by the weights is added to `gradient`, if there is one.
pub(crate) fn pass(
    rows: &dyn Rows,
    weights: &[f64],
    m: usize,
    gradient: Option<&mut [f64]>,
    map: impl Fn(usize, &mut [f64]) -> f64 + Sync,
) -> f64 {
    let n = rows.n_rows();
    let parts = PARTS.min(PARTS_MEMORY / weights.len().max(1)).clamp(1, n.div_ceil(SMALLEST_PART).max(1));
    let spans: Vec<Range<usize>> = (0..parts).map(|p| n * p / parts..n * (p + 1) / parts).collect();
    let walk = |span: &Range<usize>, gradient: Option<&mut [f64]>| walk(rows, weights, m, span.clone(), gradient, &map);
    let Some(gradient) = gradient else {
        let values: Vec<f64> = spans.par_iter().map(|span| walk(span, None)).collect();
        return values.into_iter().sum();
    };
    if let [span] = spans.as_slice() {
        return walk(span, Some(gradient));
    }
    let sums: Vec<(f64, Vec<f64>)> = spans
        .par_iter()
        .map(|span| {
            let mut part = vec![0.0; weights.len()];
            (walk(span, Some(&mut part)), part)
        })
        .collect();
    let mut value = 0.0;
    for (part_value, part) in sums {
        value += part_value;
        add(gradient, &part);
    }
    value
}

/// `f(scores)` of every row, in their order.
pub(crate) fn map_rows<T: Send>(
    rows: &dyn Rows,
    weights: &[f64],
    m: usize,
    f: impl Fn(&mut [f64]) -> T + Sync + Send,
) -> Vec<T> {
    let of_row = |scores: &mut Vec<f64>, i: usize| {
        score(rows.row(i), weights, scores);
        f(scores)
    };
    (0..rows.n_rows()).into_par_iter().with_min_len(SMALLEST_PART).map_init(|| vec![0.0; m], of_row).collect()
}

fn walk(
    rows: &dyn Rows,
    weights: &[f64],
    m: usize,
    span: Range<usize>,
    mut gradient: Option<&mut [f64]>,
    map: &(impl Fn(usize, &mut [f64]) -> f64 + Sync),
) -> f64 {
    let mut value = 0.0;
    let mut scores = vec![0.0; m];
    for i in span {
        let row = rows.row(i);
        score(row, weights, &mut scores);
        value += map(i, &mut scores);
        if let Some(gradient) = gradient.as_deref_mut() {
            accumulate(row, &scores, gradient);
        }
    }
    value
}

/// `scores[k] = w_k . (x, 1)`.
fn score(row: Row<'_>, weights: &[f64], scores: &mut [f64]) {
    let m = scores.len();
    let (features, bias) = weights.split_at(weights.len() - m);
    scores.copy_from_slice(bias);
    row.for_each(|j, x| add_scaled(scores, x, &features[j * m..][..m]));
}

/// `gradient_k += residual_k (x, 1)`.
fn accumulate(row: Row<'_>, residuals: &[f64], gradient: &mut [f64]) {
    let m = residuals.len();
    let (features, bias) = gradient.split_at_mut(gradient.len() - m);
    add(bias, residuals);
    row.for_each(|j, x| add_scaled(&mut features[j * m..][..m], x, residuals));
}

fn add(to: &mut [f64], values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += value);
}

fn add_scaled(to: &mut [f64], factor: f64, values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

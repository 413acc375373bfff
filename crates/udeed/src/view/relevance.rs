//! Relevance: features that correlate with the labels weigh more in distances.

use std::ops::Range;

use crate::data::{Block, Blocks, Buffer, Dense, Extent, Rows, Sealed};
use crate::error::Result;
use crate::kernel::map_rows;
use crate::view::Decay;

/// Least relevance of a feature, added to its correlation with the labels: few labels may hide one.
const LEAST: f64 = 0.02;

/// The relevance of each feature: the share of its standard deviation that lies between the classes, which of two classes is
/// the size of its correlation with them. `weights` are those of the rows.
pub(crate) fn relevance(rows: &Dense, classes: &[u8], n_classes: usize, weights: &[f64]) -> Vec<f64> {
    let d = rows.n_columns();
    let mut counts = vec![0.0; n_classes];
    let mut sums = vec![0.0; n_classes * d];
    let (mut all, mut squares) = (vec![0.0; d], vec![0.0; d]);
    for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let class = usize::from(classes[i]);
        counts[class] += weight;
        let own = &mut sums[class * d..][..d];
        for (j, &x) in rows.get(i).iter().enumerate() {
            own[j] += weight * x;
            all[j] += weight * x;
            squares[j] += weight * x * x;
        }
    }
    let total: f64 = counts.iter().sum();
    let share = |j: usize| {
        let mean = all[j] / total;
        let whole = squares[j] - total * mean * mean;
        let of_class = |class: usize| match counts[class] {
            0.0 => 0.0,
            count => count * (sums[class * d + j] / count - mean).powi(2),
        };
        let between: f64 = (0..n_classes).map(of_class).sum();
        // A feature that does not vary tells nothing.
        if whole > 1e-12 * squares[j] { (between / whole).clamp(0.0, 1.0).sqrt() } else { 0.0 }
    };
    let mut relevance: Vec<f64> = (0..d).map(|j| share(j) + LEAST).collect();
    let scale = (relevance.iter().map(|r| r * r).sum::<f64>() / d as f64).sqrt();
    relevance.iter_mut().for_each(|r| *r /= scale);
    relevance
}

/// The median distance of different rows under each list of relevances, 1 where all rows are the same: the square of the
/// Euclidean distance or the sum of differences, as the decay of the kernel has it.
///
/// # Errors
/// If memory does not suffice.
pub(crate) fn median_distances(rows: &Dense, relevances: &[Vec<f64>], decay: Decay) -> Result<Vec<f64>> {
    // Some at a time: each takes a number for every pair of rows.
    const AT_ONCE: usize = 64;
    let some: Result<Vec<Vec<f64>>> = relevances.chunks(AT_ONCE).map(|some| medians(rows, some, decay)).collect();
    Ok(some?.concat())
}

fn medians(rows: &Dense, relevances: &[Vec<f64>], decay: Decay) -> Result<Vec<f64>> {
    let m = relevances.len();
    // Feature by feature, as the kernel wants them; nothing for the constant.
    let weight = |r: f64| if decay == Decay::Gauss { r * r } else { r };
    let of_feature = |j: usize| relevances.iter().map(move |relevance| weight(relevance[j]));
    let mut weights: Vec<f64> = (0..rows.n_columns()).flat_map(of_feature).collect();
    weights.resize(weights.len() + m, 0.0);
    let distances = map_rows(&Differences { rows, decay }, &weights, m, |sums| sums[..m].to_vec())?;
    let median = |k: usize| {
        let mut own: Vec<f64> = distances.iter().map(|distances| distances[k]).filter(|d| *d > 0.0).collect();
        if own.is_empty() {
            return 1.0;
        }
        let place = (own.len() - 1) / 2;
        let median = *own.select_nth_unstable_by(place, f64::total_cmp).1;
        // Rows that differ by next to nothing tell no scale, nor do those whose distances are no numbers.
        if (1e-60..1e60).contains(&median) { median } else { 1.0 }
    };
    Ok((0..m).map(median).collect())
}

/// The differences of all pairs of rows, feature by feature, squared or their sizes; computed where they are wanted.
struct Differences<'a> {
    rows: &'a Dense,
    decay: Decay,
}

impl Sealed for Differences<'_> {}

impl Blocks for Differences<'_> {
    fn extent(&self) -> Extent {
        let n = self.rows.n_rows();
        Extent { shape: (n * n.saturating_sub(1) / 2, self.rows.n_columns()), is_sparse: false }
    }

    fn block<'a>(&'a self, pairs: Range<usize>, buffer: &'a mut Buffer) -> Result<Block<'a>> {
        buffer.values.clear();
        // Pair p is (i, j) with j < i and i (i - 1) / 2 + j = p.
        let mut i = (0.5 + (2.0 * pairs.start as f64 + 0.25).sqrt()) as usize;
        while i * i.saturating_sub(1) / 2 > pairs.start {
            i -= 1;
        }
        while i * (i + 1) / 2 <= pairs.start {
            i += 1;
        }
        let mut j = pairs.start - i * i.saturating_sub(1) / 2;
        for _ in pairs {
            let (a, b) = (self.rows.get(i), self.rows.get(j));
            match self.decay {
                Decay::Gauss => buffer.values.extend(a.iter().zip(b).map(|(x, y)| (x - y) * (x - y))),
                Decay::Laplace => buffer.values.extend(a.iter().zip(b).map(|(x, y)| (x - y).abs())),
            }
            j += 1;
            if j == i {
                (i, j) = (i + 1, 0);
            }
        }
        Ok(Block::Dense(&buffer.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn of_two_classes_relevance_is_the_correlation() {
        let mut stream = Stream::new(1, Purpose::Split, 0);
        let classes: Vec<u8> = (0..40).map(|i| u8::from(i % 3 == 0)).collect();
        let values = classes.iter().flat_map(|&c| [f64::from(c) + stream.unit(), stream.unit(), 1.0]).collect();
        let rows = Dense::new(40, 3, values).unwrap();
        let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
        let found = relevance(&rows, &classes, 2, &weights);
        let correlation = |j: usize| {
            let mean = |of: &dyn Fn(usize) -> f64| {
                (0..40).map(|i| weights[i] * of(i)).sum::<f64>() / weights.iter().sum::<f64>()
            };
            let (x, y) = (|i: usize| rows.get(i)[j], |i: usize| f64::from(classes[i]));
            let (mx, my) = (mean(&x), mean(&y));
            let with = mean(&|i| (x(i) - mx) * (y(i) - my));
            with.abs() / (mean(&|i| (x(i) - mx).powi(2)) * mean(&|i| (y(i) - my).powi(2))).sqrt()
        };
        let expected = [correlation(0) + LEAST, correlation(1) + LEAST, LEAST];
        let scale = (expected.iter().map(|r| r * r).sum::<f64>() / 3.0).sqrt();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected / scale).abs() < 1e-12, "{found} against {}", expected / scale);
        }
        let square: f64 = found.iter().map(|r| r * r).sum();
        assert!((square / 3.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn medians_are_those_of_all_pairs() {
        let mut stream = Stream::new(2, Purpose::Split, 0);
        for n in [1, 2, 3, 47] {
            let rows = Dense::new(n, 4, (0..4 * n).map(|_| stream.unit()).collect()).unwrap();
            let relevances = [vec![1.0; 4], vec![0.5, 2.0, 0.0, 1.0]];
            for decay in [Decay::Gauss, Decay::Laplace] {
                let found = median_distances(&rows, &relevances, decay).unwrap();
                for (relevance, found) in relevances.iter().zip(found) {
                    let far = |x: f64| if decay == Decay::Gauss { x * x } else { x.abs() };
                    let mut all = Vec::new();
                    for i in 0..n {
                        for j in 0..i {
                            let apart = |c: usize| far(relevance[c] * (rows.get(i)[c] - rows.get(j)[c]));
                            all.push((0..4).map(apart).sum::<f64>());
                        }
                    }
                    all.sort_by(f64::total_cmp);
                    let expected = if all.is_empty() { 1.0 } else { all[(all.len() - 1) / 2] };
                    assert!((found - expected).abs() < 1e-12, "{n}: {found} against {expected}");
                }
            }
        }
    }
}

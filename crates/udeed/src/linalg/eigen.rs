//! The largest eigenvalues of a sparse symmetric matrix, with their vectors.
//!
//! Subspace iteration with a Chebyshev filter (Y. Zhou, Y. Saad, "A Chebyshev-Davidson algorithm for large symmetric
//! eigenproblems", 2007): a polynomial of the matrix that is large on the wanted eigenvalues and small on all others is
//! applied to a block of vectors at once, which also finds eigenvalues that occur several times, one for each part of a
//! graph that is not connected.

use crate::data::{Csr, Row, Rows};
use crate::error::Result;
use crate::kernel::{dot, vectorized};
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

/// Length of the residual `A v - mu v` at convergence: features made of the vectors need no more.
const TOLERANCE: f64 = 1e-7;
/// Vectors not converged after this many filters are taken as they are: their eigenvalues nearly coincide, and then any basis
/// of their space will do.
const MOST_FILTERS: usize = 25;
/// Largest ratio by which the filter may raise one vector above another before they are made orthogonal again.
const CONTRAST: f64 = 1e8;

/// Eigenvalues in descending order, and the vectors that belong to them.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<Vec<f64>>,
}

/// The `count` largest eigenvalues of a symmetric matrix whose eigenvalues lie between -1 and 1; those up to `least` need not
/// be exact.
pub(crate) fn largest(matrix: &Csr, count: usize, least: f64, seed: u64, watch: &Watch<'_>) -> Result<Eigen> {
    let n = matrix.n_rows();
    // Some more than wanted: the last ones of a block converge slowly.
    let width = (count + (count / 4).max(8)).min(n);
    let mut stream = Stream::new(seed, Purpose::Spectral, 0);
    let mut vectors: Vec<Vec<f64>> = (0..width).map(|_| (0..n).map(|_| stream.unit() - 0.5).collect()).collect();
    let mut found;
    let mut filters = 0;
    loop {
        watch.ask()?;
        orthonormalise(&mut vectors, &mut stream);
        let (ritz, residuals) = ritz(matrix, &vectors);
        found = ritz;
        // An eigenvalue lies no farther from an approximation than its residual is long.
        let wanted = found.values.iter().zip(&residuals).take(count);
        let arrived = wanted.filter(|(value, far)| *value + *far > least).all(|(_, far)| *far <= TOLERANCE);
        if arrived || width == n || filters == MOST_FILTERS {
            break;
        }
        filters += 1;
        vectors = filter(matrix, &found, watch)?;
    }
    found.values.truncate(count);
    found.vectors.truncate(count);
    Ok(found)
}

/// A Chebyshev polynomial of the matrix, applied to vectors: between -1 and the least of their eigenvalues it stays small.
fn filter(matrix: &Csr, of: &Eigen, watch: &Watch<'_>) -> Result<Vec<Vec<f64>>> {
    let (n, width) = (matrix.n_rows(), of.vectors.len());
    let cut = of.values.last().copied().unwrap_or(0.0).clamp(-0.9, 0.9999);
    let (centre, half) = (0.5 * (cut - 1.0), 0.5 * (cut + 1.0));
    let growth = libm::acosh((1.0 - centre) / half);
    let degree = (libm::log(CONTRAST) / growth).ceil().clamp(4.0, 200.0) as usize;
    let mut before = interleaved(&of.vectors);
    let mut now = vec![0.0; n * width];
    // First A x, then the recurrence 2 (A - c) x / e - the one before.
    multiply(matrix, &before, width, &mut now);
    combine(&mut now, &before, centre, 1.0 / half);
    for _ in 1..degree {
        watch.ask()?;
        let mut next = vec![0.0; n * width];
        multiply(matrix, &now, width, &mut next);
        combine(&mut next, &now, centre, 2.0 / half);
        vectorized(|| next.iter_mut().zip(&before).for_each(|(next, before)| *next -= before));
        (before, now) = (now, next);
    }
    Ok(apart(&now, width))
}

/// `to = factor (to - shift x)`.
fn combine(to: &mut [f64], x: &[f64], shift: f64, factor: f64) {
    vectorized(|| to.iter_mut().zip(x).for_each(|(to, x)| *to = factor * (*to - shift * x)));
}

/// The product of the matrix with vectors that lie side by side.
fn multiply(matrix: &Csr, vectors: &[f64], width: usize, to: &mut [f64]) {
    const ROWS: usize = 128;
    parallel::chunks_mut(to, ROWS * width, |chunk, to| {
        vectorized(|| {
            for (i, to) in to.chunks_exact_mut(width).enumerate() {
                to.fill(0.0);
                if let Row::Sparse { columns, values } = matrix.row(chunk * ROWS + i) {
                    for (&j, &value) in columns.iter().zip(values) {
                        let from = &vectors[j as usize * width..][..width];
                        to.iter_mut().zip(from).for_each(|(to, x)| *to += value * x);
                    }
                }
            }
        });
    });
}

/// Vectors side by side: a row for each place.
fn interleaved(vectors: &[Vec<f64>]) -> Vec<f64> {
    let n = vectors.first().map_or(0, Vec::len);
    (0..n).flat_map(|i| vectors.iter().map(move |vector| vector[i])).collect()
}

/// Vectors that lie side by side, each by itself.
fn apart(values: &[f64], width: usize) -> Vec<Vec<f64>> {
    (0..width).map(|k| values.iter().skip(k).step_by(width).copied().collect()).collect()
}

/// Gram and Schmidt, twice: what rounding leaves the first time is gone after the second. A vector that the others span is
/// drawn anew.
fn orthonormalise(vectors: &mut [Vec<f64>], stream: &mut Stream) {
    for k in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(k);
        let own = &mut rest[0];
        for _ in 0..10 {
            let before = length(own);
            for _ in 0..2 {
                vectorized(|| {
                    for other in done.iter() {
                        let share = dot(other, own);
                        own.iter_mut().zip(other).for_each(|(x, y)| *x -= share * y);
                    }
                });
            }
            let after = length(own);
            if after > 1e-10 * before {
                own.iter_mut().for_each(|x| *x /= after);
                break;
            }
            own.iter_mut().for_each(|x| *x = stream.unit() - 0.5);
        }
    }
}

fn length(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

/// The best approximations to eigenvectors within the span of orthonormal vectors, and how far from being such each is.
fn ritz(matrix: &Csr, vectors: &[Vec<f64>]) -> (Eigen, Vec<f64>) {
    let width = vectors.len();
    let own = interleaved(vectors);
    let mut image = vec![0.0; own.len()];
    multiply(matrix, &own, width, &mut image);
    let images = apart(&image, width);
    let product = |place: usize| {
        let (i, j) = (place / width, place % width);
        if j <= i { vectorized(|| dot(&vectors[i], &images[j])) } else { 0.0 }
    };
    let mut small: Vec<f64> = parallel::map(width * width, product);
    (0..width).for_each(|i| (0..i).for_each(|j| small[j * width + i] = small[i * width + j]));
    let (values, turns) = jacobi(small, width);
    let turned = |vectors: &[f64]| apart(&turn(vectors, &turns, width), width);
    let (own, image) = (turned(&own), turned(&image));
    let residual = |k: usize| {
        let squares = own[k].iter().zip(&image[k]).map(|(v, a)| (a - values[k] * v) * (a - values[k] * v));
        squares.sum::<f64>().sqrt()
    };
    let residuals = (0..width).map(residual).collect();
    (Eigen { values, vectors: own }, residuals)
}

/// Vectors that lie side by side, each replaced by the sum of all that a column of `turns` says.
fn turn(vectors: &[f64], turns: &[f64], width: usize) -> Vec<f64> {
    let mut turned = vec![0.0; vectors.len()];
    parallel::chunks_mut(&mut turned, 64 * width, |chunk, to| {
        let from = &vectors[chunk * 64 * width..][..to.len()];
        vectorized(|| {
            for (to, from) in to.chunks_exact_mut(width).zip(from.chunks_exact(width)) {
                for (x, turn) in from.iter().zip(turns.chunks_exact(width)) {
                    to.iter_mut().zip(turn).for_each(|(to, t)| *to += x * t);
                }
            }
        });
    });
    turned
}

/// All eigenvalues of a small symmetric matrix in descending order, and the vectors as the columns of a matrix, by Jacobi's
/// rotations.
fn jacobi(mut matrix: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    // Row by row a vector.
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    let scale = matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..50 {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let off = matrix[p * n + q];
                if off.abs() > 1e-15 * scale {
                    rotated = true;
                    rotate(&mut matrix, &mut vectors, n, p, q);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| matrix[b * n + b].total_cmp(&matrix[a * n + a]).then(a.cmp(&b)));
    let values = order.iter().map(|&k| matrix[k * n + k]).collect();
    let columns = (0..n).flat_map(|i| order.iter().map(|&k| vectors[k * n + i]).collect::<Vec<f64>>()).collect();
    (values, columns)
}

/// Makes the element in row `p` and column `q` zero.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let (app, aqq, apq) = (matrix[p * n + p], matrix[q * n + q], matrix[p * n + q]);
    let theta = 0.5 * (aqq - app) / apq;
    let tangent = theta.signum() / (theta.abs() + theta.mul_add(theta, 1.0).sqrt());
    let cosine = 1.0 / tangent.mul_add(tangent, 1.0).sqrt();
    let sine = tangent * cosine;
    for rows in [&mut *matrix, vectors] {
        let (above, below) = rows.split_at_mut(q * n);
        let (a, b) = (&mut above[p * n..][..n], &mut below[..n]);
        for (x, y) in a.iter_mut().zip(b) {
            (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
        }
    }
    // The rows are turned; the columns of a symmetric matrix are the same numbers.
    for i in 0..n {
        if i != p && i != q {
            matrix[i * n + p] = matrix[p * n + i];
            matrix[i * n + q] = matrix[q * n + i];
        }
    }
    matrix[p * n + p] = app - tangent * apq;
    matrix[q * n + q] = aqq + tangent * apq;
    matrix[p * n + q] = 0.0;
    matrix[q * n + p] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(n: usize, mut value: impl FnMut(usize, usize) -> f64) -> (Csr, Vec<f64>) {
        let mut dense = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let x = value(i, j);
                dense[i * n + j] = x;
                dense[j * n + i] = x;
            }
        }
        let mut sparse = Csr::empty(n);
        for row in dense.chunks(n) {
            sparse.push_row(row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0));
        }
        (sparse, dense)
    }

    fn check(matrix: &Csr, found: &Eigen, tolerance: f64) {
        for (k, (value, vector)) in found.values.iter().zip(&found.vectors).enumerate() {
            let mut image = vec![0.0; vector.len()];
            multiply(matrix, vector, 1, &mut image);
            let residual = image.iter().zip(vector).map(|(a, v)| (a - value * v).powi(2)).sum::<f64>().sqrt();
            assert!(residual < tolerance, "pair {k}: {residual}");
            for (j, other) in found.vectors.iter().enumerate() {
                let expected = f64::from(u8::from(j == k));
                assert!((dot(vector, other) - expected).abs() < 1e-9, "{k} and {j}");
            }
        }
    }

    #[test]
    fn a_path_has_the_eigenvalues_of_a_path() {
        // Half the adjacency of a path: cos(pi k / (n + 1)).
        let n = 400;
        let (matrix, _) = symmetric(n, |i, j| if i == j + 1 { 0.5 } else { 0.0 });
        let found = largest(&matrix, 20, 0.0, 1, &Watch::new(&mut ())).unwrap();
        check(&matrix, &found, 1e-6);
        for (k, value) in found.values.iter().enumerate() {
            let expected = (std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64).cos();
            assert!((value - expected).abs() < 1e-9, "{k}: {value} against {expected}");
        }
    }

    #[test]
    fn many_vectors_that_seem_small_at_first_are_found() {
        // A ring, whose eigenvalues are cos(2 pi k / n): of 3000 vectors random ones have none above 0.1.
        let n = 3000;
        let matrix = ring(n);
        let found = largest(&matrix, 9, 0.05, 1, &Watch::new(&mut ())).unwrap();
        for (k, value) in found.values.iter().enumerate() {
            let expected = (std::f64::consts::TAU * k.div_ceil(2) as f64 / n as f64).cos();
            assert!((value - expected).abs() < 1e-6, "{k}: {value} against {expected}");
        }
    }

    fn ring(n: usize) -> Csr {
        let mut sparse = Csr::empty(n);
        for i in 0..n {
            let mut near = [(i + n - 1) % n, (i + 1) % n];
            near.sort_unstable();
            sparse.push_row(near.into_iter().map(|j| (j, 0.5)));
        }
        sparse
    }

    #[test]
    fn what_occurs_several_times_is_found_as_often() {
        // Ten complete graphs of nine: 1 ten times, all others negative.
        let (matrix, _) = symmetric(90, |i, j| if i / 9 == j / 9 && i != j { 0.125 } else { 0.0 });
        let found = largest(&matrix, 12, 0.05, 1, &Watch::new(&mut ())).unwrap();
        assert!(found.values[..10].iter().all(|value| (value - 1.0).abs() < 1e-9), "{:?}", found.values);
        assert!(found.values[10..].iter().all(|value| *value < 0.0), "{:?}", found.values);
    }

    #[test]
    fn small_matrices_are_solved_whole() {
        let mut stream = Stream::new(5, Purpose::Spectral, 1);
        let (matrix, dense) = symmetric(9, |_, _| 0.2 * (stream.unit() - 0.5));
        let found = largest(&matrix, 9, -1.0, 1, &Watch::new(&mut ())).unwrap();
        check(&matrix, &found, 1e-12);
        let trace: f64 = (0..9).map(|i| dense[i * 9 + i]).sum();
        assert!((found.values.iter().sum::<f64>() - trace).abs() < 1e-12);
        assert!(largest(&matrix, 3, -1.0, 1, &Watch::new(&mut ())).unwrap().values[..] == found.values[..3]);
    }
}

//! The factor of a positive definite matrix.

use pulp::{Simd, WithSimd};

use crate::kernel::{dot, instructions};

/// Replaces the lower triangle of the `n` x `n` matrix, stored row by row, by its Cholesky factor. False if the matrix
/// is not positive definite in this arithmetic.
pub(crate) fn factor(matrix: &mut [f64], n: usize) -> bool {
    instructions().dispatch(Factor { matrix, n })
}

/// No closure: that would be compiled without the instructions of the machine.
struct Factor<'a> {
    matrix: &'a mut [f64],
    n: usize,
}

impl WithSimd for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        for j in 0..self.n {
            if !factor_column(self.matrix, self.n, j) {
                return false;
            }
        }
        true
    }
}

/// Column after column: the elements of one do not wait for each other.
#[inline(always)]
fn factor_column(matrix: &mut [f64], n: usize, j: usize) -> bool {
    let (above, below) = matrix.split_at_mut((j + 1) * n);
    let own = &mut above[j * n..=j * n + j];
    let pivot = own[j] - dot(&own[..j], &own[..j]);
    if pivot.is_nan() || pivot <= 0.0 || pivot.is_infinite() {
        return false;
    }
    own[j] = pivot.sqrt();
    let (known, root) = (&own[..j], own[j]);
    let mut rows = below.chunks_exact_mut(ROWS * n);
    for rows in &mut rows {
        let products = dots(known, rows, n);
        for (row, product) in rows.chunks_exact_mut(n).zip(products) {
            row[j] = (row[j] - product) / root;
        }
    }
    for row in rows.into_remainder().chunks_exact_mut(n) {
        row[j] = (row[j] - dot(&row[..j], known)) / root;
    }
    true
}

/// Solves with the factor, in place.
pub(crate) fn solve(factor: &[f64], n: usize, x: &mut [f64]) {
    instructions().dispatch(Solve { factor, n, x, sides: Sides::One });
}

/// Solves with the factor alone, and not with its transpose after it: the first half of [`solve`], in place.
pub(crate) fn solve_lower(factor: &[f64], n: usize, x: &mut [f64]) {
    instructions().dispatch(Solve { factor, n, x, sides: Sides::OneByFactor });
}

/// Solves with the factor for `k` right sides, which lie side by side in each of the `n` rows of `x`, in place.
pub(crate) fn solve_many(factor: &[f64], n: usize, x: &mut [f64], k: usize) {
    let mut some = vec![0.0; n * LANES];
    for first in (0..k).step_by(LANES) {
        let width = LANES.min(k - first);
        for (to, from) in some.chunks_exact_mut(LANES).zip(x.chunks_exact(k)) {
            to[..width].copy_from_slice(&from[first..][..width]);
        }
        instructions().dispatch(Solve { factor, n, x: &mut some, sides: Sides::Lanes });
        for (from, to) in some.chunks_exact(LANES).zip(x.chunks_exact_mut(k)) {
            to[first..][..width].copy_from_slice(&from[..width]);
        }
    }
}

/// Number of right sides solved for at once.
const LANES: usize = 16;

struct Solve<'a> {
    factor: &'a [f64],
    n: usize,
    x: &'a mut [f64],
    sides: Sides,
}

/// Right-hand sides.
enum Sides {
    One,
    /// With the factor and not with its transpose.
    OneByFactor,
    /// [`LANES`] side by side.
    Lanes,
}

impl WithSimd for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Solve { factor, n, x, sides } = self;
        match sides {
            Sides::One => {
                solve_one_lower(factor, n, x);
                solve_one_upper(factor, n, x);
            }
            Sides::OneByFactor => solve_one_lower(factor, n, x),
            Sides::Lanes => solve_lanes(factor, n, x),
        }
    }
}

#[inline(always)]
fn solve_one_lower(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let row = &factor[i * n..=i * n + i];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

#[inline(always)]
fn solve_one_upper(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        let row = &factor[i * n..=i * n + i];
        x[i] /= row[i];
        let xi = x[i];
        for (x, l) in x[..i].iter_mut().zip(row) {
            *x -= l * xi;
        }
    }
}

#[inline(always)]
fn solve_lanes(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let row = &factor[i * n..=i * n + i];
        let (known, own) = x.split_at_mut(i * LANES);
        let mut sums = [0.0; LANES];
        for (l, known) in row[..i].iter().zip(known.chunks_exact(LANES)) {
            (0..LANES).for_each(|lane| sums[lane] += l * known[lane]);
        }
        (0..LANES).for_each(|lane| own[lane] = (own[lane] - sums[lane]) / row[i]);
    }
    for i in (0..n).rev() {
        let row = &factor[i * n..=i * n + i];
        let (before, own) = x.split_at_mut(i * LANES);
        own[..LANES].iter_mut().for_each(|x| *x /= row[i]);
        let own: [f64; LANES] = std::array::from_fn(|lane| own[lane]);
        for (l, before) in row[..i].iter().zip(before.chunks_exact_mut(LANES)) {
            (0..LANES).for_each(|lane| before[lane] -= l * own[lane]);
        }
    }
}

/// Number of inner products taken at once.
const ROWS: usize = 4;

/// The inner products of a vector with the beginnings of rows of length `n`, each as [`dot`] takes it.
#[inline(always)]
fn dots(a: &[f64], rows: &[f64], n: usize) -> [f64; ROWS] {
    let whole = a.len() / 4 * 4;
    let rows: [&[f64]; ROWS] = std::array::from_fn(|k| &rows[k * n..][..a.len()]);
    let mut sums = [[0.0; 4]; ROWS];
    for (place, a) in a[..whole].chunks_exact(4).enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            let b = &row[4 * place..4 * place + 4];
            for lane in 0..4 {
                sums[lane] += a[lane] * b[lane];
            }
        }
    }
    std::array::from_fn(|k| {
        let rest: f64 = a[whole..].iter().zip(&rows[k][whole..]).map(|(a, b)| a * b).sum();
        (sums[k][0] + sums[k][1]) + (sums[k][2] + sums[k][3]) + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_system_is_solved() {
        let mut matrix = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        assert!(factor(&mut matrix, 3));
        // [4 2 1; 2 5 3; 1 3 6] times (1, -2, 3)
        let mut x = [3.0, 1.0, 13.0];
        solve(&matrix, 3, &mut x);
        for (x, expected) in x.iter().zip([1.0, -2.0, 3.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn many_right_sides_are_solved_as_each_by_itself() {
        let n = 7;
        let entry = |i: usize, j: usize| if i == j { 9.0 + i as f64 } else { ((i * n + j) as f64 * 0.7).sin() };
        let mut matrix: Vec<f64> = (0..n * n).map(|p| entry(p / n, p % n)).collect();
        assert!(factor(&mut matrix, n));
        for k in [1, 16, 21] {
            let sides: Vec<f64> = (0..n * k).map(|p| (p as f64 * 0.3).cos()).collect();
            let mut many = sides.clone();
            solve_many(&matrix, n, &mut many, k);
            for side in 0..k {
                let mut alone: Vec<f64> = sides.iter().skip(side).step_by(k).copied().collect();
                solve(&matrix, n, &mut alone);
                for (a, b) in alone.iter().zip(many.iter().skip(side).step_by(k)) {
                    assert!((a - b).abs() < 1e-14, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn many_products_at_once_are_each_by_itself() {
        let values: Vec<f64> = (0..200).map(|i| (f64::from(i) * 0.37).sin() / 3.0).collect();
        for length in 0..30 {
            let found = dots(&values[150..150 + length], &values[..4 * 30], 30);
            for (k, found) in found.into_iter().enumerate() {
                let expected = dot(&values[k * 30..k * 30 + length], &values[150..150 + length]);
                assert_eq!(found.to_bits(), expected.to_bits(), "{length}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert!(!factor(&mut [1.0, 0.0, 2.0, 1.0], 2));
        assert!(!factor(&mut [f64::NAN], 1));
    }
}

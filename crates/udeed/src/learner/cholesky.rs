//! The factor of a positive definite matrix.

/// Replaces the lower triangle of the `n` x `n` matrix, stored row by row, by its Cholesky factor. False if the matrix
/// is not positive definite in this arithmetic.
pub(super) fn factor(matrix: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i * n);
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if pivot.is_nan() || pivot <= 0.0 || pivot.is_infinite() {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// Solves with the factor, in place.
pub(super) fn solve(factor: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        let row = &factor[i * n..=i * n + i];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..n).rev() {
        let row = &factor[i * n..=i * n + i];
        x[i] /= row[i];
        let xi = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
    }
}

/// Four sums side by side, so that the compiler can use vectors; always in the same order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
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
    fn an_indefinite_matrix_is_refused() {
        assert!(!factor(&mut [1.0, 0.0, 2.0, 1.0], 2));
        assert!(!factor(&mut [f64::NAN], 1));
    }
}

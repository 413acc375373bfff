//! Sums over two lists of numbers.

/// The sum of `f(a, b)` over the numbers of two lists. Four sums side by side, so that the compiler can use vectors; always
/// in the same order.
#[inline(always)]
pub(crate) fn sum_of(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(&a, &b)| f(a, b)).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += f(a[lane], b[lane]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// The inner product.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of(a, b, |a, b| a * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_counts_once() {
        for n in 0..20 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let b: Vec<f64> = a.iter().map(|x| x * x).collect();
            assert_eq!(dot(&a, &b), a.iter().map(|x| x * x * x).sum::<f64>());
            assert_eq!(sum_of(&a, &b, |a, b| b - a), b.iter().sum::<f64>() - a.iter().sum::<f64>());
        }
    }
}

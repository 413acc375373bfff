//! Wilcoxon's signed-rank test.

use serde::Serialize;

use super::{Ranks, differences};

/// The most differences for which the distribution of the rank sums is enumerated.
const MOST_COUNTED: usize = 25;

/// A signed-rank test of whether the differences `a - b` are symmetric about zero.
///
/// ```
/// use udeed_lab::statistics::wilcoxon;
///
/// let test = wilcoxon(&[1.0, 2.0, 4.0], &[0.0, 4.0, 0.0]).unwrap();
/// assert_eq!((test.rank_sum_plus, test.rank_sum_minus), (4.0, 2.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Wilcoxon {
    /// The number of nonzero differences; only these are ranked.
    pub n_nonzero: usize,
    /// The rank sum of the positive differences.
    pub rank_sum_plus: f64,
    /// The rank sum of the negative differences.
    pub rank_sum_minus: f64,
    /// The standardised `rank_sum_plus`, where `p` comes from the normal approximation; None where `p` is exact.
    pub z: Option<f64>,
    /// The two-sided p-value.
    pub p: f64,
}

impl Wilcoxon {
    /// The smaller of the two rank sums, which tables of critical values go by.
    ///
    /// ```
    /// use udeed_lab::statistics::wilcoxon;
    ///
    /// assert_eq!(wilcoxon(&[1.0, 2.0, 4.0], &[0.0, 4.0, 0.0]).unwrap().statistic(), 2.0);
    /// ```
    pub fn statistic(&self) -> f64 {
        self.rank_sum_plus.min(self.rank_sum_minus)
    }
}

/// Wilcoxon's signed-rank test, two-sided.
///
/// Differences of zero are dropped and equal sizes share their mean rank. Up to 25 differences without zeros and
/// ties, `p` is exact (scipy's `wilcoxon` with `method="exact"`). Otherwise it is the normal approximation, its
/// variance corrected for ties, without continuity correction (scipy's `method="asymptotic"` with its defaults
/// `zero_method="wilcox"` and `correction=False`). scipy's own choice, `method="auto"`, differs for 26 to 50 pairs,
/// where it is still exact, and for up to 13 pairs with zeros or ties, where it permutes all signs.
///
/// Differences are equal only to the last bit, as in scipy: 0.3 - 0.2 and 0.2 - 0.1 are not a tie.
///
/// Where all differences are zero, `z` is 0 and `p` is 1. None for fewer than 2 pairs, for different lengths, or
/// where a difference is not finite.
///
/// ```
/// use udeed_lab::statistics::wilcoxon;
///
/// let ours = [0.81, 0.74, 0.92, 0.66, 0.88, 0.79];
/// let theirs = [0.78, 0.75, 0.87, 0.64, 0.81, 0.75];
/// let test = wilcoxon(&ours, &theirs).unwrap();
/// assert_eq!(test.statistic(), 1.0);
/// assert_eq!(test.p, 0.0625);
/// ```
pub fn wilcoxon(a: &[f64], b: &[f64]) -> Option<Wilcoxon> {
    let mut nonzero = differences(a, b)?;
    nonzero.retain(|&difference| difference != 0.0);
    let sizes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranked = Ranks::new(&sizes);
    let rank_sum = |sign: f64| {
        let ranks = nonzero.iter().zip(&ranked.ranks).filter(|(difference, _)| *difference * sign > 0.0);
        ranks.map(|(_, rank)| rank).sum::<f64>()
    };
    let n_nonzero = nonzero.len();
    let (rank_sum_plus, rank_sum_minus) = (rank_sum(1.0), rank_sum(-1.0));
    let has_zeros_or_ties = n_nonzero < a.len() || ranked.ties > 0.0;
    let (z, p) = if has_zeros_or_ties || n_nonzero > MOST_COUNTED {
        let z = standardised(rank_sum_plus, n_nonzero as f64, ranked.ties);
        (Some(z), libm::erfc(z.abs() / std::f64::consts::SQRT_2))
    } else {
        (None, counted(rank_sum_plus.min(rank_sum_minus) as usize, n_nonzero))
    };
    Some(Wilcoxon { n_nonzero, rank_sum_plus, rank_sum_minus, z, p })
}

/// A rank sum less its mean `n (n + 1) / 4`, over the root of its variance
/// `n (n + 1) (2 n + 1) / 24 - sum (t^3 - t) / 48`.
fn standardised(rank_sum: f64, n: f64, ties: f64) -> f64 {
    if n == 0.0 {
        return 0.0;
    }
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * ties) / 24.0;
    (rank_sum - 0.25 * n * (n + 1.0)) / variance.sqrt()
}

/// Twice the share of the `2^n` choices of signs that give a rank sum of at most `statistic`.
fn counted(statistic: usize, n: usize) -> f64 {
    let mut choices = vec![0_u64; statistic + 1];
    choices[0] = 1;
    for rank in 1..=n {
        for sum in (rank..=statistic).rev() {
            choices[sum] += choices[sum - rank];
        }
    }
    let share = choices.iter().sum::<u64>() as f64 / (1_u64 << n) as f64;
    (2.0 * share).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{A, B, C, D, near};
    use super::*;

    fn check_exact(a: &[f64], b: &[f64], statistic: f64, p: f64) {
        let test = wilcoxon(a, b).unwrap();
        assert_eq!((test.statistic(), test.z), (statistic, None));
        near(test.p, p);
    }

    /// scipy gives the negative of |z|.
    fn check_normal(a: &[f64], b: &[f64], statistic: f64, z: f64, p: f64) {
        let test = wilcoxon(a, b).unwrap();
        assert_eq!(test.statistic(), statistic);
        near(-test.z.unwrap().abs(), z);
        near(test.p, p);
    }

    /// scipy 1.17.1, `stats.wilcoxon(a, b, method="exact")`.
    #[test]
    fn exact_as_scipy() {
        check_exact(&A, &B, 9.0, 0.064453125);
        check_exact(&B, &A, 9.0, 0.064453125);
        check_exact(&[1.0, 2.0], &[0.0, 5.0], 1.0, 1.0);
        check_exact(&[1.0, 2.0, 4.0], &[0.0; 3], 0.0, 0.25);
        check_exact(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5], 0.0, 0.0625);
        let longest: Vec<f64> =
            (0..25).map(|i| f64::from((i * 7 % 25 + 1) * if i % 3 == 0 { -1 } else { 1 })).collect();
        check_exact(&longest, &[0.0; 25], 115.0, 0.20993918180465698);
    }

    /// scipy 1.17.1, `stats.wilcoxon(a, b, method="asymptotic")`.
    #[test]
    fn normal_as_scipy() {
        check_normal(&C, &D, 5.0, -2.099160503664235, 0.03580275438553691);
        let long: Vec<f64> = (0..26).map(|i| f64::from((i * 7 % 27 + 1) * if i % 3 == 0 { -1 } else { 1 })).collect();
        check_normal(&long, &[0.0; 26], 115.0, -1.536577624148243, 0.12439677550010478);
        let tied: Vec<f64> = (0..40).map(|i| f64::from(i * 11 % 9 - 3)).collect();
        check_normal(&tied, &[0.0; 40], 203.0, -2.05618741505888, 0.03976445486259692);
    }

    #[test]
    fn z_has_the_sign_of_the_differences() {
        assert!(wilcoxon(&C, &D).unwrap().z.unwrap() > 0.0);
        assert!(wilcoxon(&D, &C).unwrap().z.unwrap() < 0.0);
    }

    #[test]
    fn zeros_are_dropped() {
        let test = wilcoxon(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.0]).unwrap();
        assert_eq!((test.n_nonzero, test.rank_sum_plus, test.rank_sum_minus, test.z), (1, 1.0, 0.0, Some(1.0)));
        let test = wilcoxon(&A, &A).unwrap();
        assert_eq!((test.n_nonzero, test.statistic(), test.z, test.p), (0, 0.0, Some(0.0), 1.0));
    }

    #[test]
    fn no_test_without_pairs() {
        assert_eq!(wilcoxon(&[], &[]), None);
        assert_eq!(wilcoxon(&[1.0], &[0.0]), None);
        assert_eq!(wilcoxon(&[1.0, 2.0], &[0.0, 1.0, 2.0]), None);
        assert_eq!(wilcoxon(&[1.0, f64::NAN], &[0.0, 0.0]), None);
        assert_eq!(wilcoxon(&[1.0, f64::NEG_INFINITY], &[0.0, 0.0]), None);
    }

    proptest! {
        #[test]
        fn counting_goes_through_all_signs(n in 1_usize..12, share in 0.0..1.0) {
            let most = n * (n + 1) / 2;
            let statistic = (share * (most + 1) as f64) as usize;
            let rank_sum = |signs: usize| (0..n).filter(|i| signs >> i & 1 == 1).map(|i| i + 1).sum::<usize>();
            let as_low = (0..1_usize << n).filter(|&signs| rank_sum(signs) <= statistic).count();
            prop_assert_eq!(counted(statistic, n), (2.0 * as_low as f64 / (1_usize << n) as f64).min(1.0));
        }

        #[test]
        fn swapping_the_methods_swaps_the_rank_sums(pairs in proptest::collection::vec((0..5, 0..5), 2..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
            let (there, back) = (wilcoxon(&a, &b).unwrap(), wilcoxon(&b, &a).unwrap());
            prop_assert_eq!((there.rank_sum_plus, there.p), (back.rank_sum_minus, back.p));
            let n = there.n_nonzero as f64;
            prop_assert_eq!(there.rank_sum_plus + there.rank_sum_minus, 0.5 * n * (n + 1.0));
        }
    }
}

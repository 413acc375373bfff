//! Friedman's test of many methods on many data sets, and Nemenyi's critical difference.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::Ranks;

/// A test of whether the methods have the same average rank.
///
/// ```
/// use udeed_lab::statistics::friedman;
///
/// let test = friedman(&[[0.9, 0.8, 0.7], [0.6, 0.5, 0.5], [0.8, 0.9, 0.6]]).unwrap();
/// assert_eq!(test.average_ranks, [4.0 / 3.0, 5.5 / 3.0, 8.5 / 3.0]);
/// assert_eq!((test.degrees, test.f_degrees), (2, (2, 4)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Friedman {
    /// The average rank of each method over the data sets; 1 is the best, methods that tie share their mean rank.
    pub average_ranks: Vec<f64>,
    /// The number of data sets.
    pub n_sets: usize,
    /// Friedman's statistic, corrected for ties. It is 0 where all methods tie on all data sets.
    pub chi_square: f64,
    /// The degrees of freedom of `chi_square`: one less than the number of methods.
    pub degrees: usize,
    /// The p-value of `chi_square`.
    pub chi_square_p: f64,
    /// Iman and Davenport's statistic, less conservative than `chi_square`, from which it is computed. It is infinite
    /// where all data sets rank the methods in the same way.
    pub f: f64,
    /// The degrees of freedom of `f`: those of `chi_square`, and as many for each data set but one.
    pub f_degrees: (usize, usize),
    /// The p-value of `f`; 0 where `f` is infinite.
    pub f_p: f64,
}

/// Friedman's test with Iman and Davenport's correction. A row is a data set, a column a method, and higher is better.
///
/// With the ranks' sums `R_j` over `N` data sets, `k` methods and `T` the sum of `t^3 - t` over all groups of `t`
/// tied methods: `chi_square = 12 (k - 1) S / (N k (k^2 - 1) - T)` with `S = sum_j (R_j - N (k + 1) / 2)^2`, as
/// scipy's `friedmanchisquare`, and `F = (N - 1) chi_square / (N (k - 1) - chi_square)`. Demsar (2006) computes both
/// without `T`.
///
/// None for fewer than 2 data sets or methods, for rows of different lengths, or where a value is not a number.
///
/// ```
/// use udeed_lab::statistics::friedman;
///
/// let accuracies = [[0.79, 0.72, 0.74], [0.69, 0.71, 0.68], [0.93, 0.81, 0.90], [0.73, 0.69, 0.70]];
/// let test = friedman(&accuracies).unwrap();
/// assert_eq!(test.average_ranks, [1.25, 2.5, 2.25]);
/// assert!((test.chi_square - 3.5).abs() < 1e-12);
/// assert!(test.chi_square_p > 0.05);
/// ```
pub fn friedman<R: AsRef<[f64]>>(sets: &[R]) -> Option<Friedman> {
    let n_methods = sets.first()?.as_ref().len();
    let usable = |set: &R| set.as_ref().len() == n_methods && set.as_ref().iter().all(|value| !value.is_nan());
    if sets.len() < 2 || n_methods < 2 || !sets.iter().all(usable) {
        return None;
    }
    let (n, k) = (sets.len() as f64, n_methods as f64);
    let (sums, ties) = rank_sums(sets, n_methods);
    // Halves and integers, so that "no ranks differ" and "all sets agree" are seen exactly.
    let spread: f64 = 12.0 * sums.iter().map(|sum| (sum - 0.5 * n * (k + 1.0)).powi(2)).sum::<f64>();
    let untied = n * k * (k * k - 1.0) - ties;
    let (chi_square, f) = if spread == 0.0 {
        (0.0, 0.0)
    } else {
        ((k - 1.0) * spread / untied, (n - 1.0) * spread / (n * untied - spread))
    };
    let degrees = n_methods - 1;
    let f_degrees = (degrees, degrees * (sets.len() - 1));
    let f_p =
        if f.is_infinite() { 0.0 } else { FisherSnedecor::new(f_degrees.0 as f64, f_degrees.1 as f64).ok()?.sf(f) };
    Some(Friedman {
        average_ranks: sums.iter().map(|sum| sum / n).collect(),
        n_sets: sets.len(),
        chi_square,
        degrees,
        chi_square_p: ChiSquared::new(degrees as f64).ok()?.sf(chi_square),
        f,
        f_degrees,
        f_p,
    })
}

/// The sum of the ranks of each method, and of `t^3 - t` over all groups of `t` tied methods.
fn rank_sums<R: AsRef<[f64]>>(sets: &[R], n_methods: usize) -> (Vec<f64>, f64) {
    let mut sums = vec![0.0; n_methods];
    let mut ties = 0.0;
    for set in sets {
        // Turned over: rank 1 is the highest value.
        let ranked = Ranks::new(&set.as_ref().iter().map(|value| -value).collect::<Vec<f64>>());
        sums.iter_mut().zip(ranked.ranks).for_each(|(sum, rank)| *sum += rank);
        ties += ranked.ties;
    }
    (sums, ties)
}

/// The 95 % quantile of the studentised range of 2, 3, ..., 50 means with infinite degrees of freedom, over `sqrt(2)`.
const STUDENTISED_RANGE: [f64; 49] = [
    1.959964, 2.343701, 2.569032, 2.727774, 2.849705, 2.948320, 3.030878, 3.101730, 3.163684, 3.218654, 3.268004,
    3.312739, 3.353618, 3.391230, 3.426041, 3.458425, 3.488685, 3.517073, 3.543799, 3.569040, 3.592946, 3.615646,
    3.637252, 3.657861, 3.677556, 3.696413, 3.714498, 3.731869, 3.748578, 3.764672, 3.780193, 3.795179, 3.809664,
    3.823680, 3.837254, 3.850413, 3.863181, 3.875579, 3.887627, 3.899344, 3.910747, 3.921852, 3.932673, 3.943224,
    3.953518, 3.963566, 3.973379, 3.982969, 3.992343,
];

/// Nemenyi's critical difference at 0.05, the least significant difference of two average ranks:
/// `q sqrt(k (k + 1) / (6 N))` with `q` the studentised range over `sqrt(2)` for `k` methods and `N` data sets (Demsar
/// 2006, table 5a).
///
/// None for fewer than 2 or more than 50 methods, or without data sets.
///
/// ```
/// use udeed_lab::statistics::nemenyi_critical_difference;
///
/// let difference = nemenyi_critical_difference(4, 14).unwrap();
/// assert_eq!(format!("{difference:.2}"), "1.25");
/// assert_eq!(nemenyi_critical_difference(51, 14), None);
/// ```
pub fn nemenyi_critical_difference(n_methods: usize, n_sets: usize) -> Option<f64> {
    let range = STUDENTISED_RANGE.get(n_methods.checked_sub(2)?)?;
    let k = n_methods as f64;
    (n_sets > 0).then(|| range * (k * (k + 1.0) / (6.0 * n_sets as f64)).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Continuous, Normal};

    use super::super::tests::near;
    use super::*;

    /// Demsar (2006), table 6: the areas under the curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf. On `voting`, the third
    /// from below, he prints 0.975 twice and ranks them 2 and 3, by digits not printed: here the first is 0.9751.
    const DEMSAR: [[f64; 4]; 14] = [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ];

    fn check<const K: usize>(sets: &[[f64; K]], ranks: [f64; K], chi_square: (f64, f64), f: (f64, f64)) {
        let test = friedman(sets).unwrap();
        test.average_ranks.iter().zip(ranks).for_each(|(&found, expected)| near(found, expected));
        near(test.chi_square, chi_square.0);
        near(test.chi_square_p, chi_square.1);
        near(test.f, f.0);
        near(test.f_p, f.1);
    }

    /// scipy 1.17.1: `rankdata(-x, axis=1).mean(0)`, `stats.friedmanchisquare(*x.T)`, `stats.f.sf(f, ...)`.
    #[test]
    fn as_scipy() {
        check(
            &[[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]],
            [2.4, 2.0, 1.6],
            (1.6, 0.44932896411722134),
            (0.7619047619047628, 0.4978713599999997),
        );
        check(
            &[
                [1.0, 1.0, 2.0, 3.0, 5.0],
                [4.0, 4.0, 4.0, 1.0, 2.0],
                [1.0, 2.0, 3.0, 4.0, 5.0],
                [2.0, 2.0, 1.0, 1.0, 3.0],
                [5.0, 4.0, 3.0, 2.0, 2.0],
                [0.0, 1.0, 1.0, 1.0, 9.0],
            ],
            [3.3333333333333335, 3.0, 3.0833333333333335, 3.5, 2.0833333333333335],
            (3.2222222222222126, 0.521349171288412),
            (0.775401069518714, 0.5540836301421145),
        );
        check(&[[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], [3.0, 1.5, 1.5], (3.0, 0.22313016014842982), (3.0, 0.25));
        check(
            &DEMSAR,
            [3.142857142857143, 2.0, 2.892857142857143, 1.9642857142857142],
            (10.228346456692925, 0.016721580328441323),
            (4.1851301115241695, 0.011620659515310975),
        );
    }

    /// Section 3.2.2 of Demsar (2006): average ranks 3.143, 2.000, 2.893, 1.964; without correction for ties a
    /// chi-square of 9.28 and an F of 3.69; a critical difference of 1.25, which no two methods exceed.
    #[test]
    fn as_demsar() {
        let ranks = friedman(&DEMSAR).unwrap().average_ranks;
        let printed: Vec<String> = ranks.iter().map(|rank| format!("{rank:.3}")).collect();
        assert_eq!(printed, ["3.143", "2.000", "2.893", "1.964"]);
        let uncorrected = 12.0 * 14.0 / 20.0 * (ranks.iter().map(|rank| rank * rank).sum::<f64>() - 25.0);
        assert_eq!(format!("{uncorrected:.2}"), "9.28");
        assert_eq!(format!("{:.2}", 13.0 * uncorrected / (14.0 * 3.0 - uncorrected)), "3.69");
        let difference = nemenyi_critical_difference(4, 14).unwrap();
        assert_eq!(format!("{difference:.2}"), "1.25");
        assert!(ranks[0] - ranks[3] < difference);
    }

    #[test]
    fn methods_that_tie_everywhere() {
        let test = friedman(&[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]).unwrap();
        assert_eq!(test.average_ranks, [2.0; 3]);
        assert_eq!((test.chi_square, test.chi_square_p, test.f, test.f_p), (0.0, 1.0, 0.0, 1.0));
    }

    #[test]
    fn sets_that_all_agree() {
        for n_sets in 2..40 {
            let test = friedman(&vec![[0.3, 0.1, 0.2, 0.1, 0.7]; n_sets]).unwrap();
            assert_eq!(test.average_ranks, [2.0, 4.5, 3.0, 4.5, 1.0]);
            near(test.chi_square, 4.0 * n_sets as f64);
            assert_eq!((test.f, test.f_p), (f64::INFINITY, 0.0));
        }
    }

    #[test]
    fn no_test_without_sets_and_methods() {
        assert_eq!(friedman::<Vec<f64>>(&[]), None);
        assert_eq!(friedman(&[[1.0, 2.0]]), None);
        assert_eq!(friedman(&[[1.0], [2.0]]), None);
        assert_eq!(friedman(&[vec![], vec![]]), None);
        assert_eq!(friedman(&[vec![1.0, 2.0], vec![1.0]]), None);
        assert_eq!(friedman(&[[1.0, f64::NAN], [1.0, 2.0]]), None);
    }

    /// scipy 1.17.1, `stats.studentized_range.ppf(0.95, k, inf) / sqrt(2)`.
    #[test]
    fn studentised_range_as_scipy() {
        let scipy = [
            1.9599639845400534,
            2.343700586378409,
            2.569031772546482,
            2.7277743708703763,
            2.8497054196100016,
            2.9483200175296744,
            3.030878449614413,
            3.1017303413033805,
            3.163683577053373,
            3.2186536073291525,
            3.268003924466142,
            3.31273859335082,
            3.3536177518523043,
            3.391230283765257,
            3.4260413793706097,
            3.4584247073473247,
            3.4886847993791976,
            3.517073008691811,
            3.5437991315177815,
        ];
        for (found, expected) in STUDENTISED_RANGE.iter().zip(scipy) {
            assert!((found - expected).abs() < 5.1e-7, "found {found}, expected {expected}");
        }
    }

    /// The distribution of the range of `k` standard normal values, `k int phi(z) (Phi(z) - Phi(z - q))^(k - 1) dz`, by
    /// the trapezoidal rule, which is exact to many digits for so smooth a function.
    #[test]
    fn studentised_range_is_a_quantile_of_its_distribution() {
        let normal = Normal::standard();
        let step = 1.0 / 32.0;
        let below = |k: i32, q: f64| -> f64 {
            let at = |z: f64| normal.pdf(z) * (normal.cdf(z) - normal.cdf(z - q)).powi(k - 1);
            f64::from(k) * step * (-320..=640).map(|i| at(f64::from(i) * step)).sum::<f64>()
        };
        for (k, range) in (2..).zip(STUDENTISED_RANGE) {
            let q = range * std::f64::consts::SQRT_2;
            let (low, high) = (below(k, q - 1e-6), below(k, q + 1e-6));
            assert!(low < 0.95 && 0.95 < high, "{k} methods: {range}, {low} {high}");
        }
    }

    /// Demsar (2006), table 5a, for 2 to 10 methods: three digits, some of them cut and not rounded.
    #[test]
    fn studentised_range_as_demsar() {
        let demsar = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164];
        for (found, expected) in STUDENTISED_RANGE.iter().zip(demsar) {
            assert!((found - expected).abs() < 1e-3, "found {found}, expected {expected}");
        }
    }

    #[test]
    fn no_critical_difference_outside_the_table() {
        assert!(nemenyi_critical_difference(2, 1).is_some() && nemenyi_critical_difference(50, 1).is_some());
        for (n_methods, n_sets) in [(0, 5), (1, 5), (51, 5), (usize::MAX, 5), (4, 0)] {
            assert_eq!(nemenyi_critical_difference(n_methods, n_sets), None);
        }
    }

    proptest! {
        /// F is that of an analysis of variance of the ranks in two ways, by sets and methods.
        #[test]
        fn f_is_an_analysis_of_variance(
            sets in (2_usize..6).prop_flat_map(|k| {
                proptest::collection::vec(proptest::collection::vec((0..4).prop_map(f64::from), k), 2..9)
            })
        ) {
            let test = friedman(&sets).unwrap();
            let (n, k) = (sets.len() as f64, sets[0].len() as f64);
            prop_assert!((test.average_ranks.iter().sum::<f64>() - 0.5 * k * (k + 1.0)).abs() < 1e-9);
            let centred = |set: &Vec<f64>| {
                let ranks = Ranks::new(&set.iter().map(|value| -value).collect::<Vec<f64>>()).ranks;
                ranks.into_iter().map(|rank| (rank - 0.5 * (k + 1.0)).powi(2)).sum::<f64>()
            };
            let total: f64 = sets.iter().map(centred).sum();
            let methods: f64 = test.average_ranks.iter().map(|rank| n * (rank - 0.5 * (k + 1.0)).powi(2)).sum();
            let left = total - methods;
            if left > 1e-9 {
                prop_assert!((test.f - methods * (n - 1.0) / left).abs() < 1e-9 * test.f.max(1.0));
            }
        }
    }
}

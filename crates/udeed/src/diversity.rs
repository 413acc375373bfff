//! Diversity of the members of an ensemble: the ten measures of Kuncheva and Whitaker ("Measures of diversity in
//! classifier ensembles and their relationship with the ensemble accuracy", Machine Learning 51, 2003), as a table.
//!
//! All of them see the predictions only through the oracle output: which member is right on which row. Eight are sums over
//! the rows of a function of the number of members that fail there, so one count of the failures, `O(mN)`, serves them all.
//! Q and rho need every pair of members: one population count for each 64 rows of a pair, `O(m^2 N / 64)`.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::parallel;

/// Declares the measures as a table, one row each: its documentation, its title, what it means, in which direction it grows,
/// and how it is computed. Its name in files is that of its variant in lower case.
macro_rules! measures {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $name:literal {
            title: $title:literal,
            meaning: $meaning:literal,
            more_diverse: $direction:ident,
            of: $of:expr $(,)?
        }
    )+) => {
        /// A measure of the diversity of `m` members on `N` rows.
        ///
        /// `N11`, `N00`, `N10` and `N01` count the rows on which both members of a pair are right, both wrong, only the
        /// first right and only the second right. Pairwise measures are means over the `m (m - 1) / 2` pairs. `r_j` is the
        /// number of members that fail on row `j`, `p_r` the share of rows on which exactly `r` members fail, and `p` the
        /// mean accuracy of the members.
        ///
        /// No measure is defined for fewer than 2 members or without rows; further exceptions stand at the measure.
        ///
        /// ```
        /// use udeed::diversity::{Measure, Oracle};
        ///
        /// let oracle = Oracle::from_members(&[[true, true, false, false], [true, false, true, false]])?;
        /// let shown: Vec<String> = Measure::ALL
        ///     .iter()
        ///     .filter_map(|&measure| Some(format!("{} {:.2}", measure.name(), oracle.measure(measure)?)))
        ///     .collect();
        /// assert_eq!(shown[..4], ["q 0.00", "rho 0.00", "dis 0.50", "df 0.25"]);
        /// # Ok::<(), udeed::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Measure {
            $($(#[$doc])* $variant,)+
        }

        const N_MEASURES: usize = [$($name),+].len();

        /// The table, in the order of the variants.
        const TABLE: [Row; N_MEASURES] = [$(Row {
            measure: Measure::$variant,
            name: $name,
            title: $title,
            meaning: $meaning,
            direction: Direction::$direction,
            of: $of,
        }),+];
    };
}

/// A measure: its words, its direction and its formula.
struct Row {
    measure: Measure,
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    direction: Direction,
    of: fn(&Counts<'_>) -> Option<f64>,
}

/// The direction in which a measure goes as members become more diverse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Higher,
    Lower,
}

measures! {
    /// Yule's Q statistic, `(N11 N00 - N01 N10) / (N11 N00 + N01 N10)`, over the pairs in which it is defined; lower is
    /// more diverse.
    ///
    /// It is not defined for a pair in which one member is right, or wrong, on every row; such a pair is left out, and
    /// without any other pair there is no Q.
    Q = "q" {
        title: "Q statistic",
        meaning: "(N11 N00 \u{2212} N01 N10) / (N11 N00 + N01 N10), mean over pairs.",
        more_diverse: Lower,
        of: |counts| counts.pairs().q(),
    }
    /// The correlation, `(N11 N00 - N01 N10) / sqrt((N11 + N10) (N01 + N00) (N11 + N01) (N10 + N00))`, over the pairs
    /// in which it is defined, the same as for [`Measure::Q`]; lower is more diverse.
    Rho = "rho" {
        title: "Correlation \u{3c1}",
        meaning: "The correlation of being right, mean over pairs.",
        more_diverse: Lower,
        of: |counts| counts.pairs().rho(),
    }
    /// The disagreement, `(N01 + N10) / N`; higher is more diverse.
    Dis = "dis" {
        title: "Disagreement",
        meaning: "(N01 + N10) / N, mean over pairs: the share of rows on which one is right and the other wrong.",
        more_diverse: Higher,
        of: |&Counts { n, m, disagreeing, .. }| Some(2.0 * disagreeing / (n * m * (m - 1.0))),
    }
    /// The double fault, `N00 / N`; lower is more diverse.
    Df = "df" {
        title: "Double fault",
        meaning: "N00 / N, mean over pairs: the share of rows on which both are wrong.",
        more_diverse: Lower,
        of: |&Counts { n, m, failing_together, .. }| Some(failing_together / (n * m * (m - 1.0))),
    }
    /// The entropy, `1/N sum_j min(r_j, m - r_j) / (m - ceil(m / 2))`; higher is more diverse.
    Ent = "ent" {
        title: "Entropy",
        meaning: "The mean of min(r, m \u{2212} r) / (m \u{2212} \u{2308}m/2\u{2309}): 1 where half fail on every row.",
        more_diverse: Higher,
        of: |counts| {
            let &Counts { n, m, .. } = counts;
            Some(counts.sum(|r| r.min(m - r)) / (n * (m - (m / 2.0).ceil())))
        },
    }
    /// The Kohavi-Wolpert variance, `1/(N m^2) sum_j r_j (m - r_j)`; higher is more diverse.
    Kw = "kw" {
        title: "Kohavi-Wolpert variance",
        meaning: "The mean of r (m \u{2212} r) / m\u{b2}.",
        more_diverse: Higher,
        of: |&Counts { n, m, disagreeing, .. }| Some(disagreeing / (n * m * m)),
    }
    /// The interrater agreement, `1 - sum_j r_j (m - r_j) / (N m (m - 1) p (1 - p))`; lower is more diverse.
    ///
    /// It is not defined where `p` is 0 or 1: all members are wrong, or right, on all rows.
    Kappa = "kappa" {
        title: "Interrater agreement \u{3ba}",
        meaning: "1 \u{2212} the mean of r (m \u{2212} r) / (m (m \u{2212} 1) p (1 \u{2212} p)): 0 is agreement by chance.",
        more_diverse: Lower,
        of: |&Counts { n, m, failed, disagreeing, .. }| {
            // N m p (1 - p), with the failures in place of 1 - p.
            let expected = || (m - 1.0) * failed * (1.0 - failed / (n * m));
            (failed > 0.0 && failed < n * m).then(|| 1.0 - disagreeing / expected())
        },
    }
    /// The difficulty, which is the variance over the rows (divided by `N`) of the share of members that are right on
    /// them; lower is more diverse.
    Theta = "theta" {
        title: "Difficulty \u{3b8}",
        meaning: "The variance over the rows of the share of members that are right.",
        more_diverse: Lower,
        of: |counts| {
            let &Counts { n, m, failed, .. } = counts;
            Some(counts.sum(|r| (r - failed / n) * (r - failed / n)) / (n * m * m))
        },
    }
    /// The generalised diversity, `1 - p(2) / p(1)` with `p(1) = sum_r r/m p_r` and
    /// `p(2) = sum_r r (r - 1) / (m (m - 1)) p_r`; higher is more diverse.
    ///
    /// It is not defined where `p` is 1: no member ever fails.
    Gd = "gd" {
        title: "Generalised diversity",
        meaning: "1 less how likely two members drawn at random both fail, over how likely one fails.",
        more_diverse: Higher,
        of: |&Counts { m, failed, failing_together, .. }| {
            (failed > 0.0).then(|| 1.0 - failing_together / ((m - 1.0) * failed))
        },
    }
    /// The coincident failure diversity, `sum_{r >= 1} (m - r)/(m - 1) p_r / (1 - p_0)`, and 0 where `p_0` is 1, that
    /// is, where no member ever fails; higher is more diverse.
    Cfd = "cfd" {
        title: "Coincident failure diversity",
        meaning: "1 where at most one member fails on any row, 0 where all fail together.",
        more_diverse: Higher,
        of: |counts| {
            let &Counts { n, m, failed, .. } = counts;
            let right_beside_failures = counts.sum(|r| if r == 0.0 { 0.0 } else { m - r });
            let rows_with_failures = n - counts.n_rows_with[0] as f64;
            Some(if failed == 0.0 { 0.0 } else { right_beside_failures / ((m - 1.0) * rows_with_failures) })
        },
    }
}

impl Measure {
    /// The ten measures, the pairwise ones first.
    ///
    /// ```
    /// use udeed::diversity::Measure;
    ///
    /// let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
    /// assert_eq!(names, ["q", "rho", "dis", "df", "ent", "kw", "kappa", "theta", "gd", "cfd"]);
    /// ```
    pub const ALL: [Measure; N_MEASURES] = {
        let mut all = [Measure::Q; N_MEASURES];
        let mut i = 0;
        while i < N_MEASURES {
            all[i] = TABLE[i].measure;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Its short name, also in files.
    ///
    /// ```
    /// assert_eq!(udeed::diversity::Measure::Kappa.name(), "kappa");
    /// ```
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name in full.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What it measures, in a sentence.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// Whether a higher value means more diverse members.
    ///
    /// ```
    /// use udeed::diversity::Measure;
    ///
    /// assert!(Measure::Dis.more_diverse_is_higher());
    /// assert!(!Measure::Df.more_diverse_is_higher());
    /// ```
    pub fn more_diverse_is_higher(self) -> bool {
        self.row().direction == Direction::Higher
    }
}

/// All measures of one ensemble on some rows; None where a measure is not defined (see [`Measure`]). In files each is a
/// field with the name of its measure.
///
/// ```
/// use udeed::diversity::{Measure, Oracle};
///
/// // The third member is always right: only the pair of the first two has a Q.
/// let oracle = Oracle::new(3, 9, |member, row| member == 2 || (member + row) % 3 == 0);
/// let diversity = oracle.measures();
/// assert_eq!(diversity.get(Measure::Q), Some(-1.0));
/// assert_eq!(diversity.pairs_left_out, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diversity {
    /// In the order of [`Measure::ALL`].
    #[serde(flatten, with = "by_name")]
    values: [Option<f64>; N_MEASURES],
    /// Pairs that [`Measure::Q`] and [`Measure::Rho`] leave out, because one of the two members is right, or wrong, on
    /// every row: the pairs without a Q are those without a rho.
    pub pairs_left_out: usize,
}

impl Diversity {
    /// One of the measures.
    ///
    /// ```
    /// use udeed::diversity::{Measure, Oracle};
    ///
    /// let diversity = Oracle::from_members(&[[true, false], [false, true]])?.measures();
    /// assert_eq!(diversity.get(Measure::Dis), Some(1.0));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn get(&self, measure: Measure) -> Option<f64> {
        self.values[measure as usize]
    }
}

/// The values of all measures, each under the name of its measure.
mod by_name {
    use std::collections::HashMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Measure, N_MEASURES};

    pub(super) fn serialize<S: Serializer>(values: &[Option<f64>; N_MEASURES], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Measure::ALL.iter().map(|measure| measure.name()).zip(values))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[Option<f64>; N_MEASURES], D::Error> {
        let values = HashMap::<String, Option<f64>>::deserialize(from)?;
        Ok(Measure::ALL.map(|measure| values.get(measure.name()).copied().flatten()))
    }
}

/// Which member of an ensemble is right on which row, one bit each.
///
/// ```
/// use udeed::diversity::{Measure, Oracle};
///
/// let labels = [1, 1, 0, 0];
/// let predictions = [[1, 0, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0]];
/// let oracle = Oracle::new(3, 4, |member, row| predictions[member][row] == labels[row]);
/// assert_eq!(oracle.measure(Measure::Dis), Some(0.5));
/// assert_eq!(oracle.measure(Measure::Df), Some(0.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oracle {
    n_members: usize,
    n_rows: usize,
    /// The words of the first member, then those of the second, ... The bits past the last row are zero.
    words: Vec<u64>,
}

impl Oracle {
    /// Asks of every member and row whether the member is right, member by member.
    ///
    /// ```
    /// let oracle = udeed::diversity::Oracle::new(2, 100, |member, row| row % (member + 2) == 0);
    /// assert_eq!((oracle.n_members(), oracle.n_rows()), (2, 100));
    /// ```
    pub fn new(n_members: usize, n_rows: usize, mut is_right: impl FnMut(usize, usize) -> bool) -> Self {
        let mut words = Vec::with_capacity(n_members * n_rows.div_ceil(64));
        for member in 0..n_members {
            for first in (0..n_rows).step_by(64) {
                let rows = first..n_rows.min(first + 64);
                words.push(rows.fold(0, |word, row| word | u64::from(is_right(member, row)) << (row - first)));
            }
        }
        Oracle { n_members, n_rows, words }
    }

    /// From a list for every member that says of every row whether the member is right.
    ///
    /// # Errors
    /// If the lists have different lengths.
    ///
    /// ```
    /// use udeed::diversity::Oracle;
    ///
    /// let oracle = Oracle::from_members(&[vec![true, false, true], vec![true, true, false]])?;
    /// assert_eq!(oracle, Oracle::new(2, 3, |member, row| row != 1 + usize::from(member == 1)));
    ///
    /// let error = Oracle::from_members(&[vec![true, false], vec![true]]).unwrap_err();
    /// assert_eq!(error.to_string(), "member 2: found 1 rows, expected 2, as in member 1");
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn from_members<M: AsRef<[bool]>>(members: &[M]) -> Result<Self> {
        let n_rows = members.first().map_or(0, |first| first.as_ref().len());
        if let Some(odd) = members.iter().position(|member| member.as_ref().len() != n_rows) {
            return Err(Error::input(
                Place::new(format!("member {}", odd + 1)),
                format!("{} rows", members[odd].as_ref().len()),
                format!("{n_rows}, as in member 1"),
            ));
        }
        Ok(Oracle::new(members.len(), n_rows, |member, row| members[member].as_ref()[row]))
    }

    /// Number of members.
    pub fn n_members(&self) -> usize {
        self.n_members
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// One measure. None where it is not defined: see [`Measure`].
    ///
    /// ```
    /// use udeed::diversity::{Measure, Oracle};
    ///
    /// let oracle = Oracle::new(5, 80, |member, row| row % 5 != member);
    /// assert_eq!(oracle.measure(Measure::Kw), Some(0.16));
    /// assert_eq!(Oracle::new(5, 80, |_, _| true).measure(Measure::Kappa), None);
    /// ```
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        (measure.row().of)(&self.counts()?)
    }

    /// All measures, for little more than the cost of one of the pairwise ones.
    ///
    /// ```
    /// use udeed::diversity::{Measure, Oracle};
    ///
    /// let diversity = Oracle::new(5, 80, |member, row| row % 5 != member).measures();
    /// assert_eq!(diversity.get(Measure::Cfd), Some(1.0)); // no two members fail together
    /// assert_eq!(diversity.get(Measure::Df), Some(0.0));
    /// ```
    pub fn measures(&self) -> Diversity {
        match self.counts() {
            None => Diversity { values: [None; N_MEASURES], pairs_left_out: 0 },
            Some(counts) => Diversity {
                values: TABLE.each_ref().map(|row| (row.of)(&counts)),
                pairs_left_out: counts.pairs().left_out,
            },
        }
    }

    /// Counts from which the measures are computed. None with fewer than 2 members or without rows: no measure is defined.
    fn counts(&self) -> Option<Counts<'_>> {
        if self.n_members < 2 || self.n_rows == 0 {
            return None;
        }
        let mut right = vec![0; self.n_rows];
        for member in self.words.chunks_exact(self.n_rows.div_ceil(64)) {
            for (word, rows) in member.iter().zip(right.chunks_mut(64)) {
                for (bit, count) in rows.iter_mut().enumerate() {
                    *count += (word >> bit & 1) as usize;
                }
            }
        }
        let mut n_rows_with = vec![0; self.n_members + 1];
        for count in right {
            n_rows_with[self.n_members - count] += 1;
        }
        Some(Counts::new(self, n_rows_with))
    }

    fn pairs(&self) -> Pairs {
        let members: Vec<&[u64]> = self.words.chunks_exact(self.n_rows.div_ceil(64)).collect();
        let right: Vec<f64> = members.iter().map(|words| n_common(words, words)).collect();
        let with_later = |i: usize| -> Vec<Option<Pair>> {
            let later = i + 1..members.len();
            let pair = |k: usize| Pair::new(self.n_rows as f64, right[i], right[k], n_common(members[i], members[k]));
            later.map(pair).collect()
        };
        // Summed in the order of the members, whoever counted; a few members at a time, as all pairs may be very many.
        const AT_A_TIME: usize = 64;
        let mut pairs = Pairs { q: 0.0, rho: 0.0, counted: 0, left_out: 0 };
        for begin in (0..members.len()).step_by(AT_A_TIME) {
            let end = members.len().min(begin + AT_A_TIME);
            let found: Vec<Vec<Option<Pair>>> = parallel::map(end - begin, |i| with_later(begin + i));
            found.into_iter().flatten().for_each(|pair| pairs.add(pair));
        }
        pairs
    }
}

/// Number of bits that are set in both.
fn n_common(a: &[u64], b: &[u64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>() as f64
}

/// Q and rho of two members.
struct Pair {
    q: f64,
    rho: f64,
}

impl Pair {
    /// From counts of rows: all, those the first is right on, the second, and both.
    fn new(n: f64, first: f64, second: f64, n11: f64) -> Option<Self> {
        let (n10, n01) = (first - n11, second - n11);
        let n00 = n - n11 - n10 - n01;
        let (agree, differ) = (n11 * n00, n01 * n10);
        // A member that is always right, or always wrong, empties one side of the table: both products vanish, and so
        // does its factor under rho's root. If no side is empty, N01 and N10 are positive wherever N11 or N00 is zero,
        // so that one product stays: Q and rho are undefined together.
        (agree + differ != 0.0).then(|| Pair {
            q: (agree - differ) / (agree + differ),
            rho: (agree - differ) / ((first * (n - first)).sqrt() * (second * (n - second)).sqrt()),
        })
    }
}

/// Sums of Q and rho over the pairs that have them.
struct Pairs {
    q: f64,
    rho: f64,
    counted: usize,
    left_out: usize,
}

impl Pairs {
    fn add(&mut self, pair: Option<Pair>) {
        match pair {
            Some(pair) => {
                self.q += pair.q;
                self.rho += pair.rho;
                self.counted += 1;
            }
            None => self.left_out += 1,
        }
    }

    fn q(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.q / self.counted as f64)
    }

    fn rho(&self) -> Option<f64> {
        (self.counted > 0).then(|| self.rho / self.counted as f64)
    }
}

/// Counts of failures by rows, and by pairs of members where a measure needs them.
///
/// Disagreement and double fault, which are defined by pairs, come from the rows as well: on a row where `r` members fail,
/// `r (m - r)` pairs disagree and `r (r - 1) / 2` fail together.
struct Counts<'a> {
    oracle: &'a Oracle,
    /// Rows on which no member fails, one, two, ... up to all.
    n_rows_with: Vec<usize>,
    pairs: OnceCell<Pairs>,
    /// `N`
    n: f64,
    /// `m`
    m: f64,
    /// `sum_j r_j`
    failed: f64,
    /// `sum_j r_j (m - r_j)`
    disagreeing: f64,
    /// `sum_j r_j (r_j - 1)`
    failing_together: f64,
}

impl<'a> Counts<'a> {
    fn new(oracle: &'a Oracle, n_rows_with: Vec<usize>) -> Self {
        let (n, m) = (oracle.n_rows as f64, oracle.n_members as f64);
        let failed = sum_over(&n_rows_with, |r| r);
        let disagreeing = sum_over(&n_rows_with, |r| r * (m - r));
        let failing_together = sum_over(&n_rows_with, |r| r * (r - 1.0));
        Counts { oracle, n_rows_with, pairs: OnceCell::new(), n, m, failed, disagreeing, failing_together }
    }

    fn pairs(&self) -> &Pairs {
        self.pairs.get_or_init(|| self.oracle.pairs())
    }

    /// The sum over the rows of a function of the number of members that fail: exact where the function is an integer.
    fn sum(&self, function: impl Fn(f64) -> f64) -> f64 {
        sum_over(&self.n_rows_with, function)
    }
}

fn sum_over(n_rows_with: &[usize], function: impl Fn(f64) -> f64) -> f64 {
    n_rows_with.iter().enumerate().map(|(failing, &n_rows)| n_rows as f64 * function(failing as f64)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definitions as they stand in the paper, pair by pair and row by row.
    struct Plain(Vec<Vec<bool>>);

    impl Plain {
        fn m(&self) -> usize {
            self.0.len()
        }

        fn n(&self) -> usize {
            self.0[0].len()
        }

        /// N11, N00, N10, N01 of every pair.
        fn tables(&self) -> Vec<[f64; 4]> {
            let count = |i: usize, k: usize, first: bool, second: bool| {
                (0..self.n()).filter(|&j| self.0[i][j] == first && self.0[k][j] == second).count() as f64
            };
            let pairs = (0..self.m()).flat_map(|i| (i + 1..self.m()).map(move |k| (i, k)));
            let table = |(i, k)| {
                [count(i, k, true, true), count(i, k, false, false), count(i, k, true, false), count(i, k, false, true)]
            };
            pairs.map(table).collect()
        }

        /// The mean over the pairs in which it is a number.
        fn mean_over_pairs(&self, value: impl Fn([f64; 4]) -> f64) -> Option<f64> {
            let values: Vec<f64> = self.tables().into_iter().map(value).filter(|value| value.is_finite()).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        }

        /// l_j, the members that are right.
        fn right(&self) -> Vec<f64> {
            (0..self.n()).map(|j| self.0.iter().filter(|member| member[j]).count() as f64).collect()
        }

        fn accuracy(&self) -> f64 {
            self.right().iter().sum::<f64>() / (self.m() * self.n()) as f64
        }

        /// p_0, ..., p_m.
        fn shares(&self) -> Vec<f64> {
            let share = |r: usize| {
                let failing = self.right().iter().filter(|&&l| self.m() - l as usize == r).count();
                failing as f64 / self.n() as f64
            };
            (0..=self.m()).map(share).collect()
        }

        fn mean_over_rows(&self, value: impl Fn(f64) -> f64) -> f64 {
            self.right().into_iter().map(value).sum::<f64>() / self.n() as f64
        }

        fn mean_over_failures(&self, value: impl Fn(f64) -> f64) -> f64 {
            self.shares().iter().enumerate().map(|(r, share)| share * value(r as f64)).sum()
        }

        fn measure(&self, measure: Measure) -> Option<f64> {
            let (m, p) = (self.m() as f64, self.accuracy());
            let value = match measure {
                Measure::Q => {
                    return self
                        .mean_over_pairs(|[n11, n00, n10, n01]| (n11 * n00 - n01 * n10) / (n11 * n00 + n01 * n10));
                }
                Measure::Rho => {
                    return self.mean_over_pairs(|[n11, n00, n10, n01]| {
                        let factors = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00);
                        (n11 * n00 - n01 * n10) / factors.sqrt()
                    });
                }
                Measure::Dis => {
                    return self.mean_over_pairs(|[n11, n00, n10, n01]| (n01 + n10) / (n11 + n00 + n10 + n01));
                }
                Measure::Df => return self.mean_over_pairs(|[n11, n00, n10, n01]| n00 / (n11 + n00 + n10 + n01)),
                Measure::Ent => self.mean_over_rows(|l| l.min(m - l)) / (m - (m / 2.0).ceil()),
                Measure::Kw => self.mean_over_rows(|l| l * (m - l)) / (m * m),
                Measure::Kappa => 1.0 - self.mean_over_rows(|l| l * (m - l)) / m / ((m - 1.0) * p * (1.0 - p)),
                Measure::Theta => self.mean_over_rows(|l| (l / m - p).powi(2)),
                Measure::Gd => {
                    let one = self.mean_over_failures(|r| r / m);
                    1.0 - self.mean_over_failures(|r| r / m * (r - 1.0) / (m - 1.0)) / one
                }
                Measure::Cfd if self.shares()[0] == 1.0 => 0.0,
                Measure::Cfd => {
                    let shares = self.shares();
                    let sum: f64 = (1..=self.m()).map(|r| (m - r as f64) / (m - 1.0) * shares[r]).sum();
                    sum / (1.0 - shares[0])
                }
            };
            value.is_finite().then_some(value)
        }
    }

    fn near(found: Option<f64>, expected: Option<f64>) -> bool {
        match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
            _ => found == expected,
        }
    }

    /// Members of varied accuracy, always right and always wrong ones among them, on up to three words and a bit.
    fn members() -> impl Strategy<Value = Vec<Vec<bool>>> {
        (2_usize..9, 1_usize..200).prop_flat_map(|(m, n)| {
            let accuracy = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 6 => 0.05..0.95];
            let member = accuracy.prop_flat_map(move |p| proptest::collection::vec(proptest::bool::weighted(p), n));
            proptest::collection::vec(member, m)
        })
    }

    proptest! {
        #[test]
        fn bit_sets_agree_with_the_definitions(members in members()) {
            let oracle = Oracle::from_members(&members).unwrap();
            let diversity = oracle.measures();
            let plain = Plain(members);
            for measure in Measure::ALL {
                let (found, expected) = (oracle.measure(measure), plain.measure(measure));
                prop_assert!(near(found, expected), "{}: found {found:?}, expected {expected:?}", measure.name());
                prop_assert_eq!(found, diversity.get(measure));
            }
            let no_q = |[n11, n00, n10, n01]: &[f64; 4]| n11 * n00 + n01 * n10 == 0.0;
            let no_rho = |[n11, n00, n10, n01]: &[f64; 4]| {
                (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00) == 0.0
            };
            prop_assert!(plain.tables().iter().all(|table| no_q(table) == no_rho(table)));
            prop_assert_eq!(plain.tables().iter().filter(|table| no_q(table)).count(), diversity.pairs_left_out);
        }

        #[test]
        fn measures_are_tied_by_identities(members in members()) {
            let diversity = Oracle::from_members(&members).unwrap().measures();
            let plain = Plain(members);
            let (m, p) = (plain.m() as f64, plain.accuracy());
            let one = plain.mean_over_failures(|r| r / m);
            let two = plain.mean_over_failures(|r| r / m * (r - 1.0) / (m - 1.0));
            prop_assert!(near(diversity.get(Measure::Kw), diversity.get(Measure::Dis).map(|dis| (m - 1.0) / (2.0 * m) * dis)));
            prop_assert!(near(Some(one), Some(1.0 - p)));
            prop_assert!(near(Some(two), diversity.get(Measure::Df)));
            if diversity.get(Measure::Kappa).is_some() {
                // Near p = 0 or 1 the division takes digits with it.
                let kappa = diversity.get(Measure::Dis).map(|dis| 1.0 - dis / (2.0 * p * (1.0 - p)));
                prop_assert!((kappa.unwrap() - diversity.get(Measure::Kappa).unwrap()).abs() < 1e-10);
            }
            if diversity.get(Measure::Gd).is_some() {
                prop_assert!(near(diversity.get(Measure::Gd), diversity.get(Measure::Df).map(|df| 1.0 - df / (1.0 - p))));
            }
            // Population variance of l/m = mean square less squared mean, and KW = p - mean of (l/m)^2.
            prop_assert!(near(diversity.get(Measure::Theta).zip(diversity.get(Measure::Kw)).map(|(theta, kw)| theta + kw), Some(p * (1.0 - p))));
        }

        #[test]
        fn measures_keep_their_ranges(members in members()) {
            let diversity = Oracle::from_members(&members).unwrap().measures();
            for measure in Measure::ALL {
                let lowest = match measure {
                    Measure::Q | Measure::Rho => -1.0,
                    // Reached by members that are right in turn: 1 - m / (m - 1).
                    Measure::Kappa => -1.0 / (members.len() as f64 - 1.0),
                    _ => 0.0,
                };
                if let Some(value) = diversity.get(measure) {
                    prop_assert!(value >= lowest - 1e-12 && value <= 1.0 + 1e-12, "{} {value}", measure.name());
                }
            }
        }

        #[test]
        fn neither_the_order_of_members_nor_of_rows_counts(members in members()) {
            let (m, n) = (members.len(), members[0].len());
            let forward = Oracle::from_members(&members).unwrap().measures();
            let backward = Oracle::new(m, n, |member, row| members[m - 1 - member][n - 1 - row]).measures();
            for measure in Measure::ALL {
                prop_assert!(near(forward.get(measure), backward.get(measure)), "{}", measure.name());
            }
            prop_assert_eq!(forward.pairs_left_out, backward.pairs_left_out);
        }
    }

    /// Rows by the members that are right on them, as the columns of the tables in "Limits on the majority vote
    /// accuracy in classifier fusion" (Kuncheva, Whitaker, Shipp and Duin, 2003): three members, each right on six of
    /// ten rows.
    fn pattern(rows: &[(&str, usize)]) -> Oracle {
        let patterns = rows.iter().flat_map(|&(right, count)| std::iter::repeat_n(right.as_bytes(), count));
        let rows: Vec<&[u8]> = patterns.collect();
        Oracle::new(3, rows.len(), |member, row| rows[row][member] == b'1')
    }

    fn check(oracle: &Oracle, expected: [f64; 10]) {
        for (measure, expected) in Measure::ALL.into_iter().zip(expected) {
            let found = oracle.measure(measure);
            assert!(near(found, Some(expected)), "{}: found {found:?}, expected {expected}", measure.name());
        }
    }

    #[test]
    fn pattern_of_success() {
        let oracle = pattern(&[("101", 3), ("011", 3), ("110", 3), ("000", 1)]);
        // Each pair: N11 = 3, N00 = 1, N10 = N01 = 3. One member fails on nine rows, three on one: p(1) = .4, p(2) =
        // .1.
        let theta = (9.0 * (2.0_f64 / 3.0 - 0.6).powi(2) + 0.36) / 10.0;
        check(&oracle, [-0.5, -0.25, 0.6, 0.1, 0.9, 0.2, -0.25, theta, 0.75, 0.9]);
    }

    #[test]
    fn pattern_of_failure() {
        let oracle = pattern(&[("111", 4), ("001", 2), ("100", 2), ("010", 2)]);
        // Each pair: N11 = 4, N00 = N10 = N01 = 2. Two members fail on six rows: p(1) = .4, p(2) = .2.
        let theta = (4.0 * 0.16 + 6.0 * (1.0_f64 / 3.0 - 0.6).powi(2)) / 10.0;
        check(&oracle, [1.0 / 3.0, 4.0 / 24.0, 0.4, 0.2, 0.6, 4.0 / 30.0, 4.0 / 24.0, theta, 0.5, 0.5]);
    }

    #[test]
    fn identical_members_have_no_diversity() {
        let oracle = pattern(&[("111", 6), ("000", 4)]);
        check(&oracle, [1.0, 1.0, 0.0, 0.4, 0.0, 0.0, 1.0, 0.24, 0.0, 0.0]);
    }

    #[test]
    fn no_measure_of_one_member_or_of_no_rows() {
        for oracle in [
            Oracle::new(0, 0, |_, _| true),
            Oracle::new(0, 5, |_, _| true),
            Oracle::new(1, 5, |_, row| row > 2),
            Oracle::new(3, 0, |_, _| true),
            Oracle::from_members::<Vec<bool>>(&[]).unwrap(),
        ] {
            let diversity = oracle.measures();
            assert_eq!(diversity.pairs_left_out, 0);
            for measure in Measure::ALL {
                assert_eq!(oracle.measure(measure), None, "{}", measure.name());
                assert_eq!(diversity.get(measure), None, "{}", measure.name());
            }
        }
    }

    #[test]
    fn members_that_are_never_wrong() {
        let diversity = Oracle::new(4, 70, |_, _| true).measures();
        assert_eq!(
            [
                diversity.get(Measure::Q),
                diversity.get(Measure::Rho),
                diversity.get(Measure::Kappa),
                diversity.get(Measure::Gd)
            ],
            [None; 4]
        );
        assert_eq!(
            [
                diversity.get(Measure::Dis),
                diversity.get(Measure::Df),
                diversity.get(Measure::Ent),
                diversity.get(Measure::Kw),
                diversity.get(Measure::Theta)
            ],
            [Some(0.0); 5]
        );
        assert_eq!(diversity.get(Measure::Cfd), Some(0.0));
        assert_eq!(diversity.pairs_left_out, 6);
    }

    #[test]
    fn members_that_are_never_right() {
        let diversity = Oracle::new(4, 70, |_, _| false).measures();
        assert_eq!([diversity.get(Measure::Q), diversity.get(Measure::Rho), diversity.get(Measure::Kappa)], [None; 3]);
        assert_eq!(
            [
                diversity.get(Measure::Dis),
                diversity.get(Measure::Ent),
                diversity.get(Measure::Kw),
                diversity.get(Measure::Theta)
            ],
            [Some(0.0); 4]
        );
        assert_eq!(
            [diversity.get(Measure::Df), diversity.get(Measure::Gd), diversity.get(Measure::Cfd)],
            [Some(1.0), Some(0.0), Some(0.0)]
        );
        assert_eq!(diversity.pairs_left_out, 6);
    }

    #[test]
    fn bits_past_the_last_row_stay_zero() {
        for n_rows in [1, 63, 64, 65, 127, 128, 129] {
            let oracle = Oracle::new(2, n_rows, |member, row| member == 0 || row == n_rows - 1);
            assert_eq!(oracle.words.len(), 2 * n_rows.div_ceil(64));
            assert_eq!(oracle.words.iter().map(|word| word.count_ones()).sum::<u32>() as usize, n_rows + 1);
            assert_eq!(oracle.measure(Measure::Dis), Some((n_rows - 1) as f64 / n_rows as f64));
            assert_eq!(oracle.measure(Measure::Df), Some(0.0));
        }
    }

    /// More members than are counted at a time: the sums are those of one pair after the other, bit for bit.
    #[test]
    fn pairs_are_summed_in_their_order() {
        let (m, n) = (150, 200);
        let oracle = Oracle::new(m, n, |member, row| (row * row + 7 * member * row) % (member % 11 + 2) != 0);
        let right = |i: usize, row: usize| oracle.words[i * n.div_ceil(64) + row / 64] >> (row % 64) & 1 == 1;
        let count = |i: usize, k: usize| (0..n).filter(|&row| right(i, row) && right(k, row)).count() as f64;
        let mut expected = Pairs { q: 0.0, rho: 0.0, counted: 0, left_out: 0 };
        for i in 0..m {
            for k in i + 1..m {
                expected.add(Pair::new(n as f64, count(i, i), count(k, k), count(i, k)));
            }
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| oracle.measures());
            assert_eq!((found.get(Measure::Q), found.get(Measure::Rho)), (expected.q(), expected.rho()));
            assert_eq!(found.pairs_left_out, expected.left_out);
        }
    }

    #[test]
    fn lists_of_different_lengths_are_refused() {
        let error = Oracle::from_members(&[vec![true], vec![true], vec![]]).unwrap_err();
        assert_eq!(error.to_string(), "member 3: found 0 rows, expected 1, as in member 1");
    }

    #[test]
    fn files_have_a_field_for_each_measure_in_order() {
        let diversity = Oracle::new(2, 4, |member, row| row > member).measures();
        let text = serde_json::to_string(&diversity).unwrap();
        let expected = "{\"q\":null,\"rho\":null,";
        assert!(Oracle::new(2, 4, |_, _| true).measures().get(Measure::Q).is_none());
        assert!(serde_json::to_string(&Oracle::new(2, 4, |_, _| true).measures()).unwrap().starts_with(expected));
        let places = Measure::ALL.map(|measure| text.find(&format!("\"{}\":", measure.name())).unwrap());
        assert!(places.is_sorted() && text.ends_with(",\"pairs_left_out\":0}"), "{text}");
        // A measure that an older file does not have is not defined there.
        let older: Diversity = serde_json::from_str("{\"q\":0.5,\"pairs_left_out\":3}").unwrap();
        assert_eq!((older.get(Measure::Q), older.get(Measure::Cfd), older.pairs_left_out), (Some(0.5), None, 3));
    }

    #[test]
    fn names_are_those_of_the_fields() {
        let diversity = Oracle::new(3, 70, |member, row| row % (member + 2) == 0).measures();
        let json = serde_json::to_value(diversity).unwrap();
        for measure in Measure::ALL {
            assert_eq!(json[measure.name()].as_f64(), diversity.get(measure));
            assert_eq!(serde_json::to_value(measure).unwrap(), measure.name());
            assert_eq!(TABLE[measure as usize].measure, measure);
        }
        assert_eq!(serde_json::from_value::<Diversity>(json).unwrap(), diversity);
    }
}

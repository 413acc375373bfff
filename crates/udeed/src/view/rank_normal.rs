//! Ranks as normal scores: features in which heavy tails and odd scales vanish.

use crate::data::{Dense, Rows};

/// Largest number of knots of a feature; of more distinct values, some at equal steps are knots.
const MOST_KNOTS: usize = 512;

/// Maps each feature to normal scores: the quantile of the standard normal distribution at the rank of a value among known
/// rows, standardised. Between known values it is linear, beyond them constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RankNormal {
    features: Vec<Knots>,
}

/// One feature: known values, ascending, and their scores.
#[derive(Debug, Clone, PartialEq)]
struct Knots {
    values: Vec<f64>,
    scores: Vec<f64>,
    /// Cells of equal width: of each the first value in it or above, and of one after the last.
    cells: Vec<u32>,
    /// Number of cells in a unit.
    per_unit: f64,
}

impl RankNormal {
    /// The scores of rows that are known.
    pub(crate) fn of(rows: &Dense) -> Self {
        let column = |j: usize| (0..rows.n_rows()).map(|i| rows.get(i)[j]).collect();
        RankNormal { features: (0..rows.n_columns()).map(|j| Knots::of(column(j))).collect() }
    }

    /// Replaces the features of a row by their scores.
    pub(crate) fn apply(&self, row: &mut [f64]) {
        row.iter_mut().zip(&self.features).for_each(|(x, knots)| *x = knots.score(*x));
    }

    /// Replaces the features of rows by their scores: some rows at a time and there feature by feature, so that what is known
    /// of a feature stays in the cache.
    pub(crate) fn apply_to_all(&self, rows: &mut Dense) {
        const ROWS: usize = 64;
        let width = rows.n_columns().max(1);
        for some in rows.values_mut().chunks_mut(ROWS * width) {
            for (j, knots) in self.features.iter().enumerate() {
                some[j..].iter_mut().step_by(width).for_each(|x| *x = knots.score(*x));
            }
        }
    }

    /// The number of values of all features.
    pub(crate) fn n_values(&self) -> usize {
        self.features.iter().map(|knots| knots.values.len()).sum()
    }

    /// The number of knots of each feature, then all values, then all scores.
    pub(crate) fn parts(&self) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
        let counts = self.features.iter().map(|knots| knots.values.len()).collect();
        let all = |of: fn(&Knots) -> &Vec<f64>| self.features.iter().flat_map(|knots| of(knots).clone()).collect();
        (counts, all(|knots| &knots.values), all(|knots| &knots.scores))
    }

    /// Puts the parts together; none if they do not fit.
    pub(crate) fn from_parts(counts: &[usize], mut values: &[f64], mut scores: &[f64]) -> Option<Self> {
        let mut features = Vec::with_capacity(counts.len());
        for &count in counts {
            let own = (values.split_at_checked(count)?, scores.split_at_checked(count)?);
            let ascends = |values: &[f64]| values.iter().all(|x| x.is_finite()) && values.is_sorted();
            if count == 0 || !ascends(own.0.0) || !ascends(own.1.0) {
                return None;
            }
            features.push(Knots::new(own.0.0.to_vec(), own.1.0.to_vec()));
            (values, scores) = (own.0.1, own.1.1);
        }
        (values.is_empty() && scores.is_empty()).then_some(RankNormal { features })
    }
}

impl Knots {
    fn of(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        let n = all.len() as f64;
        let (mut values, mut scores, mut before) = (Vec::new(), Vec::new(), 0.0);
        let (mut mean, mut square) = (0.0, 0.0);
        for same in all.chunk_by(|a, b| a == b) {
            let count = same.len() as f64;
            let rank = ((before + 0.5 * count) / n).clamp(0.5 / n, 1.0 - 0.5 / n);
            let score = normal_quantile(rank);
            values.push(same[0]);
            scores.push(score);
            mean += count * score / n;
            square += count * score * score / n;
            before += count;
        }
        let deviation = (square - mean * mean).max(0.0).sqrt();
        let scale = if deviation > 1e-12 { 1.0 / deviation } else { 0.0 };
        scores.iter_mut().for_each(|score| *score = scale * (*score - mean));
        if values.len() > MOST_KNOTS {
            let place = |k: usize| k * (values.len() - 1) / (MOST_KNOTS - 1);
            let some = |from: &[f64]| -> Vec<f64> { (0..MOST_KNOTS).map(|k| from[place(k)]).collect() };
            return Knots::new(some(&values), some(&scores));
        }
        Knots::new(values, scores)
    }

    fn new(values: Vec<f64>, scores: Vec<f64>) -> Self {
        let n_cells = 2 * values.len();
        let width = values[values.len() - 1] - values[0];
        // All in one cell where there is no width, or none that is a number.
        let per_unit = Some(n_cells as f64 / width).filter(|cells| cells.is_finite()).unwrap_or(0.0);
        let mut knots = Knots { values, scores, cells: Vec::with_capacity(n_cells + 1), per_unit };
        let mut first = 0;
        for cell in 0..=n_cells {
            while first < knots.values.len() && knots.cell(knots.values[first], n_cells) < cell {
                first += 1;
            }
            knots.cells.push(first as u32);
        }
        knots.cells[n_cells] = knots.values.len() as u32;
        knots
    }

    /// The cell of a value, which is never before that of a smaller one.
    fn cell(&self, x: f64, n_cells: usize) -> usize {
        /// To add it rounds to a whole number and leaves that in the lowest bits, which is faster than a conversion.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        // What is no number is in the first.
        let place = ((x - self.values[0]) * self.per_unit).max(0.0).min((n_cells - 1) as f64);
        ((place + WHOLE).to_bits() & u64::from(u32::MAX)) as usize
    }

    fn score(&self, x: f64) -> f64 {
        // The values of earlier cells are smaller, those of later ones are larger.
        let cell = self.cell(x, self.cells.len() - 1);
        let (first, end) = (self.cells[cell] as usize, self.cells[cell + 1] as usize);
        // Nearly all cells have few values: these are compared without a branch, as nobody can foretell where `x` lies. Those of
        // later cells may be among the four.
        let above = match self.values.get(first..first + 4) {
            Some(four) if end - first <= 4 => first + four.iter().map(|value| usize::from(*value <= x)).sum::<usize>(),
            _ => first + self.values[first..end].partition_point(|value| *value <= x),
        };
        match (above.checked_sub(1), self.values.get(above)) {
            (None, _) => self.scores[0],
            (Some(below), None) => self.scores[below],
            (Some(below), Some(&high)) => {
                let low = self.values[below];
                let share = (x - low) / (high - low);
                self.scores[below] + share * (self.scores[above] - self.scores[below])
            }
        }
    }
}

/// The quantile of the standard normal distribution, to 16 digits: M. J. Wichura, "Algorithm AS 241", Applied Statistics
/// 37, 1988.
fn normal_quantile(p: f64) -> f64 {
    let ratio = |r: f64, above: &[f64; 8], below: &[f64; 8]| {
        let sum = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * r + term);
        sum(above) / sum(below)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, &CENTRE.0, &CENTRE.1);
    }
    let r = (-libm::log(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let far = if r <= 5.0 { ratio(r - 1.6, &NEAR.0, &NEAR.1) } else { ratio(r - 5.0, &TAIL.0, &TAIL.1) };
    if q < 0.0 { -far } else { far }
}

type Ratio = ([f64; 8], [f64; 8]);

const CENTRE: Ratio = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_545e3,
    ],
);
const NEAR: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);
const TAIL: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        // scipy.stats.norm.ppf
        for (p, expected) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.1, -1.281_551_565_544_600_4),
            (1e-3, -3.090_232_306_167_813),
            (1e-12, -7.034_483_825_301_132),
            (1.0 - 1e-6, 4.753_424_308_817_087),
        ] {
            assert!((normal_quantile(p) - expected).abs() < 1e-11, "{p}: {}", normal_quantile(p));
        }
    }

    #[test]
    fn scores_follow_the_ranks_and_have_mean_0_and_deviation_1() {
        for n in [7, 2000] {
            // A heavy tail, ties, and a constant.
            let value = |i: usize| [libm::exp(i as f64 / n as f64 * 30.0), (i / 2) as f64, 5.0];
            let rows = Dense::new(n, 3, (0..n).flat_map(value).collect()).unwrap();
            let map = RankNormal::of(&rows);
            let scored: Vec<[f64; 3]> = (0..n)
                .map(|i| {
                    let mut row = value(i);
                    map.apply(&mut row);
                    row
                })
                .collect();
            for j in 0..2 {
                let mean: f64 = scored.iter().map(|row| row[j]).sum::<f64>() / n as f64;
                let square: f64 = scored.iter().map(|row| row[j] * row[j]).sum::<f64>() / n as f64;
                assert!(mean.abs() < 1e-3 && (square - 1.0).abs() < 1e-2, "{n} rows: {mean} {square}");
                assert!(scored.windows(2).all(|pair| pair[0][j] <= pair[1][j]));
            }
            assert!(scored.iter().all(|row| row[2] == 0.0));
            let mut all = rows.clone();
            map.apply_to_all(&mut all);
            assert_eq!(all.values(), scored.concat());
            // Beyond what is known nothing changes.
            let mut far = [1e30, -1e30, 9.0];
            map.apply(&mut far);
            assert_eq!(far, [scored[n - 1][0], scored[0][1], 0.0]);
            let (counts, values, scores) = map.parts();
            assert_eq!(RankNormal::from_parts(&counts, &values, &scores), Some(map));
            assert_eq!(RankNormal::from_parts(&counts, &values[1..], &scores), None);
        }
    }

    /// Cells find what a search of all values finds, also where an outlier puts all others in one cell.
    #[test]
    fn cells_hold_the_values_around() {
        for far in [3.0, 1e12, 1e308] {
            let mut values: Vec<f64> = (0..40).map(|i| f64::from(i * i % 23) * 0.1).collect();
            values.extend([-far, far]);
            let knots = Knots::of(values.clone());
            let between = (-60..60).map(|i| f64::from(i) * 0.05);
            for x in values.into_iter().chain(between).chain([f64::MIN, f64::MAX]) {
                let above = knots.values.partition_point(|value| *value <= x);
                let cell = knots.cell(x, knots.cells.len() - 1);
                let found = knots.cells[cell] as usize..=knots.cells[cell + 1] as usize;
                assert!(found.contains(&above), "{x} among values up to {far}: {above} is not in {found:?}");
            }
        }
    }
}

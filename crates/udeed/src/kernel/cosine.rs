//! Cosines of the scores of rows, without the system's mathematics library, as in [`sigmoid`](super::sigmoid): the same
//! bits on every machine, and free of branches, so that the compiler can use vectors.

use pulp::Simd;

use super::pass::{Visit, pass};
use crate::data::Blocks;
use crate::error::Result;

/// `factor * cos(w_k.(x, 1))` of every row `x` for all `m` weights, row after row. Where an angle is beyond all numbers,
/// 0.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn cosines(rows: &dyn Blocks, weights: &[f64], m: usize, factor: f64, to: &mut [f64]) -> Result<()> {
    let parts = pass(rows, weights, m, None, &Cosines { m, factor })?;
    let mut rest = to;
    for part in parts {
        let (own, below) = rest.split_at_mut(part.len());
        own.copy_from_slice(&part);
        rest = below;
    }
    Ok(())
}

struct Cosines {
    m: usize,
    factor: f64,
}

impl Visit<f64> for Cosines {
    type Tally = Vec<f64>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, values: &mut Vec<f64>, _: usize, angles: &mut [f64]) {
        // Not `all`, which would stop at the first and so cannot use vectors.
        let are_small = angles.iter().fold(true, |all, x| all & (x.abs() <= LARGEST));
        if are_small {
            angles.iter_mut().for_each(|x| *x = self.factor * cosine(*x));
        } else {
            angles.iter_mut().for_each(|x| *x = if x.is_finite() { self.factor * libm::cos(*x) } else { 0.0 });
        }
        values.extend_from_slice(&angles[..self.m]);
    }
}

/// The largest angle that [`cosine`] is right for: the product of its number of half turns with [`PI_HIGH`] is exact.
const LARGEST: f64 = 1e5;
/// Pi in three parts, the first two of 33 bits.
const PI_HIGH: f64 = 3.141_592_653_468_251_2;
const PI_MIDDLE: f64 = 1.215_420_101_260_793_2e-10;
const PI_LOW: f64 = 4.044_532_497_591_901e-21;
/// Adding and subtracting it rounds to the nearest integer, which then stands in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The factorials below `sin r = r - r^3/6 + ...`, for `|r| <= pi / 2`, the highest power first.
const SINE: [f64; 10] = [
    1.0 / 51_090_942_171_709_440_000.0,
    -1.0 / 121_645_100_408_832_000.0,
    1.0 / 355_687_428_096_000.0,
    -1.0 / 1_307_674_368_000.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
];

/// `cos(x)` of `x` up to [`LARGEST`]. With `|x| = (k - 1/2) pi + r` it is `sin r`, with the other sign where `k` is odd:
/// exact also where it is nearly zero.
#[inline(always)]
fn cosine(x: f64) -> f64 {
    let x = x.abs();
    let shifted = x.mul_add(std::f64::consts::FRAC_1_PI, 0.5) + ROUNDER;
    let turns = shifted - ROUNDER - 0.5;
    let r = turns.mul_add(-PI_LOW, turns.mul_add(-PI_MIDDLE, turns.mul_add(-PI_HIGH, x)));
    let square = r * r;
    let mut sum = SINE[0];
    for &coefficient in &SINE[1..] {
        sum = sum.mul_add(square, coefficient);
    }
    let sine = (sum * square).mul_add(r, r);
    f64::from_bits(sine.to_bits() ^ (shifted.to_bits() << 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;
    use crate::kernel::{named_instructions, say_what_is_tested, vectorized};
    use crate::random::{Purpose, Stream};

    /// Angles of all sizes up to the largest, and such near which the cosine is nearly zero.
    fn angles() -> Vec<f64> {
        let mut stream = Stream::new(1, Purpose::Split, 0);
        let mut angles = vec![0.0, -0.0, 1e-300, LARGEST, -LARGEST];
        for i in 0..200_000 {
            let scale = 10f64.powi(i % 9 - 3);
            angles.push(scale * (2.0 * stream.unit() - 1.0));
            angles.push((f64::from(i % 31_000) + 0.5) * std::f64::consts::PI);
        }
        angles
    }

    #[test]
    fn the_cosine_is_right_to_the_last_bits() {
        vectorized(|| {
            for x in angles() {
                let (found, expected) = (cosine(x), libm::cos(x));
                let near = (found - expected).abs() <= 2.0 * f64::EPSILON * expected.abs();
                assert!(near, "cos({x:e}): {found:e} against {expected:e}");
                assert_eq!(found.to_bits(), cosine(-x).to_bits(), "cos({x:e}) is even");
            }
        });
    }

    #[test]
    fn every_instruction_set_gives_the_same_cosines() {
        let bits = |name: &str| {
            let all = || angles().into_iter().map(|x| cosine(x).to_bits()).collect::<Vec<u64>>();
            Some(named_instructions(name)?.dispatch(all))
        };
        let scalar = bits("scalar");
        say_what_is_tested("cosines");
        for name in ["avx2", "avx512"] {
            if let found @ Some(_) = bits(name) {
                assert!(found == scalar, "{name}");
            }
        }
    }

    #[test]
    fn angles_that_are_huge_or_no_numbers_have_an_answer() {
        let rows = Dense::new(4, 1, vec![1.0, 1e10, 1e308, f64::NAN]).unwrap();
        let mut found = vec![7.0; 8];
        cosines(&rows, &[1.0, 100.0, 0.5, 0.0], 2, 2.0, &mut found).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
        assert!(near(found[0], 2.0 * 1.5f64.cos()) && near(found[1], 2.0 * 100f64.cos()), "{found:?}");
        assert_eq!(found[2..4], [2.0 * libm::cos(1e10 + 0.5), 2.0 * libm::cos(1e12)]);
        assert!(found[4].abs() <= 2.0 && found[5..] == [0.0; 3], "{found:?}");
    }
}

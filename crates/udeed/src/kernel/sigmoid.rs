//! The logistic function and its relatives, without the system's mathematics library: that one gives other last bits on
//! other processors.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding and subtracting it rounds to the nearest integer, which then stands in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Beyond it the hyperbolic tangent of half of it is 1 in double precision.
const SATURATED: f64 = 40.0;

/// Replaces each `z` by `tanh(z / 2) = 2 / (1 + e^-z) - 1`.
///
/// With `e = e^|z| - 1` it is `e / (e + 2)`, which is exact near zero and odd to the last bit. Free of branches, so that
/// the compiler can use vectors.
pub(crate) fn tanh_half(scores: &mut [f64]) {
    for z in scores {
        let e = exp_m1(z.abs().clamp(0.0, SATURATED));
        *z = (e / (e + 2.0)).copysign(*z);
    }
}

/// `e^x - 1` for `0 <= x <= 40`: `x = k ln 2 + r`, then the series of `e^r - 1` with `|r| <= ln(2) / 2`.
#[inline(always)]
fn exp_m1(x: f64) -> f64 {
    let shifted = x * LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    const TERMS: [f64; 13] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
        1.0,
    ];
    let mut series = TERMS[0];
    for term in &TERMS[1..] {
        series = series * r + term;
    }
    let series = series * r;
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    power * series + (power - 1.0)
}

/// `ln(1 + e^x)`, for any `x`.
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_right_to_the_last_bits() {
        for i in -400_000..=400_000 {
            let z = f64::from(i) * 1.1e-4;
            let mut value = [z];
            tanh_half(&mut value);
            let expected = (z / 2.0).tanh();
            let tolerance = 4.0 * f64::EPSILON * expected.abs();
            assert!((value[0] - expected).abs() <= tolerance, "{z}: {} against {expected}", value[0]);
        }
    }

    #[test]
    fn tanh_is_odd_saturates_and_passes_on_what_is_no_number() {
        let mut values = [0.0, 1e-300, -1e-300, 1e300, f64::NEG_INFINITY, f64::NAN];
        tanh_half(&mut values);
        assert_eq!(&values[..5], [0.0, 5e-301, -5e-301, 1.0, -1.0]);
        assert!(values[5].is_nan());
    }

    #[test]
    fn softplus_neither_overflows_nor_vanishes() {
        assert_eq!(softplus(1000.0), 1000.0);
        assert_eq!(softplus(0.0), std::f64::consts::LN_2);
        assert!(softplus(-700.0) > 0.0);
    }
}

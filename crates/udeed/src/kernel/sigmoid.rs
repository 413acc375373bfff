//! The logistic function and its relatives, without the system's mathematics library: that one gives other last bits on
//! other processors. Free of branches, so that the compiler can use vectors: to be called inside
//! [`vectorized`](super::vectorized) only, where a fused multiplication is one instruction.

/// The functions of one precision: how `ln 2` is split, where exponentials end, how its bits are laid out, and the
/// coefficients of two series, the highest power first.
macro_rules! sigmoid {
    ($real:ident, $rounder:literal, $ln_2_high:literal, $ln_2_low:literal, $largest:literal, $bias:literal,
     $mantissa:literal, [$($exponential:literal),+], [$($logarithm:literal),+]) => {
        pub(super) mod $real {
            /// Adding and subtracting it rounds to the nearest integer, which then stands in the lowest bits.
            const ROUNDER: $real = $rounder;
            /// The factorials below `e^r - 1 = r + r^2/2 + ...`, for `|r| <= ln(2) / 2`.
            const EXPONENTIAL: &[$real] = &[$(1.0 / $exponential),+];
            /// The odd numbers below `ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + ...)`, for `|s| <= 3 - sqrt(8)`.
            const LOGARITHM: &[$real] = &[$(1.0 / $logarithm),+];

            /// `tanh(z / 2) = 2 / (1 + e^-z) - 1`. With `e = e^|z| - 1` it is `e / (e + 2)`, which is exact near zero and
            /// odd to the last bit.
            #[inline(always)]
            pub(in super::super) fn tanh_half(z: $real) -> $real {
                let e = exponential(z);
                (e / (e + 2.0)).copysign(z)
            }

            /// `1 / (1 + e^-x)`, right to the last bits also where it is tiny.
            #[inline(always)]
            pub(in super::super) fn logistic(x: $real) -> $real {
                let e = exponential(x);
                (if x < 0.0 { 1.0 } else { e + 1.0 }) / (e + 2.0)
            }

            /// `e^-|x|`.
            #[inline(always)]
            pub(in super::super) fn decay(x: $real) -> $real {
                let x = x.abs().clamp(0.0, $largest);
                let shifted = x.mul_add(-std::$real::consts::LOG2_E, ROUNDER);
                let k = shifted - ROUNDER;
                let r = k.mul_add(-$ln_2_low, k.mul_add(-$ln_2_high, -x));
                let power = $real::from_bits(shifted.to_bits().wrapping_add($bias) << $mantissa);
                power.mul_add(polynomial(EXPONENTIAL, r) * r, power)
            }

            /// `1 / (1 + e^-x)`, `1 / (1 + e^x)` and `ln(1 + e^-x)`, which share most of their work.
            #[inline(always)]
            pub(in super::super) fn odds(x: $real) -> ($real, $real, $real) {
                let e = exponential(x);
                let (less, more) = (1.0 / (e + 2.0), (e + 1.0) / (e + 2.0));
                let (right, wrong) = if x < 0.0 { (less, more) } else { (more, less) };
                (right, wrong, (-x).max(0.0) + logarithm(e))
            }

            /// `tanh(z / 2)` and `ln(1 + e^-|z|)`, which share most of their work.
            #[inline(always)]
            pub(in super::super) fn tanh_half_and_softplus(z: $real) -> ($real, $real) {
                let e = exponential(z);
                ((e / (e + 2.0)).copysign(z), logarithm(e))
            }

            /// `e^|x| - 1`, of `x` as large as can be. With `|x| = k ln 2 + r` it is `2^k (e^r - 1) + 2^k - 1`.
            #[inline(always)]
            fn exponential(x: $real) -> $real {
                let x = x.abs().clamp(0.0, $largest);
                let shifted = x.mul_add(std::$real::consts::LOG2_E, ROUNDER);
                let k = shifted - ROUNDER;
                let r = k.mul_add(-$ln_2_low, k.mul_add(-$ln_2_high, x));
                let power = $real::from_bits(shifted.to_bits().wrapping_add($bias) << $mantissa);
                power.mul_add(polynomial(EXPONENTIAL, r) * r, power - 1.0)
            }

            /// `ln(1 + e^-|x|)` of `e = e^|x| - 1`: that is `ln(1 + 1/(e + 1))`, or `ln 2` and the logarithm of half of it,
            /// whichever is nearer to `ln 1`.
            #[inline(always)]
            fn logarithm(e: $real) -> $real {
                let is_small = e < std::$real::consts::SQRT_2;
                let (above, below) = if is_small { (-e, e.mul_add(3.0, 4.0)) } else { (1.0, e.mul_add(2.0, 3.0)) };
                let s = above / below;
                let series = 2.0 * s * polynomial(LOGARITHM, s * s);
                series + if is_small { std::$real::consts::LN_2 } else { 0.0 }
            }

            #[inline(always)]
            fn polynomial(coefficients: &[$real], x: $real) -> $real {
                let mut sum = coefficients[0];
                for &coefficient in &coefficients[1..] {
                    sum = sum.mul_add(x, coefficient);
                }
                sum
            }
        }
    };
}

sigmoid!(
    f64,
    6_755_399_441_055_744.0,
    6.931_471_803_691_238e-1,
    1.908_214_929_270_587_7e-10,
    708.0,
    1023,
    52,
    [
        6_227_020_800.0,
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0
    ],
    [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0]
);
sigmoid!(
    f32,
    12_582_912.0,
    0.693_359_4,
    -2.121_944_4e-4,
    87.0,
    127,
    23,
    [5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0],
    [9.0, 7.0, 5.0, 3.0, 1.0]
);

#[cfg(test)]
mod tests {
    use crate::kernel::vectorized;

    fn near(found: f64, expected: f64, ulps: f64, epsilon: f64) -> bool {
        (found - expected).abs() <= ulps * epsilon * expected.abs()
    }

    #[test]
    fn tanh_and_softplus_are_right_to_the_last_bits() {
        vectorized(|| {
            for i in -400_000..=400_000 {
                let z = f64::from(i) * 1.1e-4;
                let tanh = super::f64::tanh_half(z);
                let softplus = |z: f64| z.max(0.0) + super::f64::tanh_half_and_softplus(z).1;
                let decay = super::f64::decay(z);
                assert!(near(decay, (-z.abs()).exp(), 4.0, f64::EPSILON), "e^-|{z}|: {decay}");
                assert!(near(tanh, (z / 2.0).tanh(), 4.0, f64::EPSILON), "tanh({z} / 2): {tanh}");
                let expected = z.max(0.0) + (-z.abs()).exp().ln_1p();
                let found = softplus(z);
                assert!(near(found, expected, 4.0, f64::EPSILON), "softplus({z}): {found} against {expected}");
                let logistic = super::f64::logistic(z);
                assert!(near(logistic, 1.0 / (1.0 + (-z).exp()), 4.0, f64::EPSILON), "logistic({z}): {logistic}");
                let apart = (logistic, super::f64::logistic(-z), softplus(-z));
                assert_eq!(super::f64::odds(z), apart, "odds({z})");
                assert_eq!(super::f64::tanh_half_and_softplus(z).0, tanh);
            }
        });
    }

    #[test]
    fn single_precision_is_right_to_its_last_bits() {
        vectorized(|| {
            for i in -40_000..=40_000 {
                let z = i as f32 * 1.1e-3;
                let (tanh, above) = super::f32::tanh_half_and_softplus(z);
                let softplus = above + z.max(0.0);
                let wide = f64::from(z);
                assert!(near(tanh.into(), (wide / 2.0).tanh(), 4.0, f32::EPSILON.into()), "tanh({z} / 2): {tanh}");
                let expected = wide.max(0.0) + (-wide.abs()).exp().ln_1p();
                assert!(near(softplus.into(), expected, 4.0, f32::EPSILON.into()), "softplus({z}): {softplus}");
            }
        });
    }

    #[test]
    fn tanh_is_odd_saturates_and_passes_on_what_is_no_number() {
        vectorized(|| {
            let values = [0.0, 1e-300, -1e-300, 1e300, f64::NEG_INFINITY].map(super::f64::tanh_half);
            assert_eq!(values, [0.0, 5e-301, -5e-301, 1.0, -1.0]);
            assert!(super::f64::tanh_half(f64::NAN).is_nan());
            assert_eq!([0.0, 1e30, f32::NEG_INFINITY].map(super::f32::tanh_half), [0.0, 1.0, -1.0]);
        });
    }

    #[test]
    fn softplus_neither_overflows_nor_vanishes() {
        vectorized(|| {
            let above = |z: f64| super::f64::tanh_half_and_softplus(z).1;
            assert!(near(above(0.0), std::f64::consts::LN_2, 1.0, f64::EPSILON));
            assert!((0.0..1e-300).contains(&above(1000.0)) && above(-700.0) > 0.0);
            assert!(super::f32::tanh_half_and_softplus(-80.0).1 > 0.0);
        });
    }
}

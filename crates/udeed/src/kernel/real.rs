//! The two precisions in which the arithmetic can run.

use std::borrow::Cow;
use std::ops::{Add, Mul, Neg, Sub};

use pulp::{Simd, bytemuck};

use super::sigmoid;

/// The lanes of single precision, the most there are.
pub(super) const MOST_LANES: usize = 16;

/// A floating point number of the kernel, with its vectors.
pub(crate) trait Real:
    Copy
    + Default
    + Send
    + Sync
    + bytemuck::Pod
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// Numbers in the widest vector there is. Members are padded to a multiple of it, and sums over members keep as many
    /// partial sums, so that they do not depend on how wide the vectors of the machine are.
    const LANES: usize;

    /// A vector of the instruction set.
    type Vector<S: Simd>: Copy + Send + Sync + bytemuck::Pod;

    fn from_double(value: f64) -> Self;

    fn to_double(self) -> f64;

    /// The same numbers in this precision, borrowed where it is theirs.
    fn convert(values: &[f64]) -> Cow<'_, [Self]>;

    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `a * b + c`, rounded once on every instruction set.
    fn mul_add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;

    fn add_vectors<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// The sum of the numbers in a vector: its upper half is added to its lower half until one number is left.
    fn sum_halves<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;

    /// `a * self + b`, rounded once.
    fn times_plus(self, a: Self, b: Self) -> Self;

    /// `tanh(z / 2)`, see [`sigmoid`].
    fn tanh_half(self) -> Self;

    /// `1 / (1 + e^-x)`, see [`sigmoid`].
    fn logistic(self) -> Self;

    /// `e^-|x|`, see [`sigmoid`].
    fn decay(self) -> Self;

    /// `1 / (1 + e^-x)`, `1 / (1 + e^x)` and `ln(1 + e^-x)`, see [`sigmoid`].
    fn odds(self) -> (Self, Self, Self);

    /// `tanh(z / 2)` and `ln(1 + e^-|z|)`, see [`sigmoid`].
    fn tanh_half_and_softplus(self) -> (Self, Self);

    /// The larger of the two.
    fn max(self, other: Self) -> Self;

    /// The sum of as many numbers as fill whole [`Real::LANES`].
    #[inline(always)]
    fn sum<S: Simd>(simd: S, values: &[Self]) -> f64 {
        let one = Self::splat(simd, Self::from_double(1.0));
        Lanes::total_of(
            simd,
            values,
            #[inline(always)]
            |value, lane| Self::mul_add(simd, one, value, lane),
        )
    }

    /// The sum of their squares.
    #[inline(always)]
    fn sum_of_squares<S: Simd>(simd: S, values: &[Self]) -> f64 {
        Lanes::total_of(
            simd,
            values,
            #[inline(always)]
            |value, lane| Self::mul_add(simd, value, value, lane),
        )
    }
}

macro_rules! real {
    ($real:ident, $lanes:literal, $vector:ident, $splat:ident, $mul_add:ident, $add:ident, $sum:ident, $convert:expr) => {
        impl Real for $real {
            const LANES: usize = $lanes;

            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn from_double(value: f64) -> Self {
                value as $real
            }

            #[inline(always)]
            fn to_double(self) -> f64 {
                f64::from(self)
            }

            fn convert(values: &[f64]) -> Cow<'_, [Self]> {
                $convert(values)
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S> {
                simd.$splat(value)
            }

            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn add_vectors<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn sum_halves<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self {
                simd.$sum(vector)
            }

            #[inline(always)]
            fn times_plus(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            #[inline(always)]
            fn tanh_half(self) -> Self {
                sigmoid::$real::tanh_half(self)
            }

            #[inline(always)]
            fn logistic(self) -> Self {
                sigmoid::$real::logistic(self)
            }

            #[inline(always)]
            fn decay(self) -> Self {
                sigmoid::$real::decay(self)
            }

            #[inline(always)]
            fn odds(self) -> (Self, Self, Self) {
                sigmoid::$real::odds(self)
            }

            #[inline(always)]
            fn tanh_half_and_softplus(self) -> (Self, Self) {
                sigmoid::$real::tanh_half_and_softplus(self)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.max(other)
            }
        }
    };
}

real!(f64, 8, f64s, splat_f64s, mul_add_f64s, add_f64s, reduce_sum_f64s, Cow::Borrowed);
real!(f32, 16, f32s, splat_f32s, mul_add_f32s, add_f32s, reduce_sum_f32s, |values: &[f64]| {
    values.iter().map(|&x| x as f32).collect()
});

/// One partial sum for each of [`Real::LANES`], added up in a fixed order at the end: so the bits do not depend on how many
/// of them a vector holds.
struct Lanes<S: Simd, T: Real> {
    sums: [T::Vector<S>; MOST_LANES],
}

impl<S: Simd, T: Real> Lanes<S, T> {
    const VECTORS: usize = T::LANES * size_of::<T>() / size_of::<T::Vector<S>>();

    /// The total over all values; `add` adds some of them to their partial sums.
    // By index up to a constant: zipped, the compiler would not see how many there are.
    #[expect(clippy::needless_range_loop)]
    #[inline(always)]
    fn total_of(simd: S, values: &[T], add: impl Fn(T::Vector<S>, T::Vector<S>) -> T::Vector<S>) -> f64 {
        let mut lanes: Self = Lanes { sums: [T::splat(simd, T::default()); MOST_LANES] };
        let vectors: &[T::Vector<S>] = bytemuck::cast_slice(values);
        for vectors in vectors.chunks_exact(Self::VECTORS) {
            for v in 0..Self::VECTORS {
                lanes.sums[v] = add(vectors[v], lanes.sums[v]);
            }
        }
        lanes.total(simd)
    }

    /// The upper half of the lanes is added to the lower half until one is left. In registers: through memory it would take
    /// as long as the outputs of several members.
    #[inline(always)]
    fn total(mut self, simd: S) -> f64 {
        let mut half = Self::VECTORS / 2;
        while half > 0 {
            for v in 0..half {
                self.sums[v] = T::add_vectors(simd, self.sums[v], self.sums[v + half]);
            }
            half /= 2;
        }
        T::sum_halves(simd, self.sums[0]).to_double()
    }
}

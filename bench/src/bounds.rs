//! What the machine can do at best, on all threads of the current pool at once.

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::Serialize;

/// The bounds of this machine, a second.
#[derive(Serialize)]
pub struct Bounds {
    /// The widest instructions that `pulp` finds, by their lanes of doubles.
    double_lanes: usize,
    /// Floating-point operations of fused multiply-adds, two each.
    fma_double: f64,
    fma_single: f64,
    /// Hyperbolic tangents of the library's kernel, in the first cache.
    tanh_double: f64,
    tanh_single: f64,
    /// Bytes read from memory.
    read: f64,
    /// Bytes moved by `a = b + s c`, two read and one written.
    triad: f64,
}

/// Measures each bound for about the given number of seconds.
pub fn measure(seconds: f64) -> Bounds {
    let arch = Arch::new();
    let fma_double = || arch.dispatch(DoubleFma);
    let fma_single = || arch.dispatch(SingleFma);
    let (read, triad) = bandwidth(arch, seconds);
    Bounds {
        double_lanes: arch.dispatch(DoubleLanes),
        fma_double: rate(seconds, &fma_double),
        fma_single: rate(seconds, &fma_single),
        tanh_double: rate(seconds, &|| tanh_round(|i| (i as f64 - 512.0) / 64.0, udeed::bench::tanh_half)),
        tanh_single: rate(seconds, &|| tanh_round(|i| (i as f32 - 512.0) / 64.0, udeed::bench::tanh_half_single)),
        read,
        triad,
    }
}

/// How much of something all threads do together a second: the best of five trials, as a bound must be. `round` does
/// some and says how much.
fn rate(seconds: f64, round: &(impl Fn() -> f64 + Sync)) -> f64 {
    let trial = || {
        let of_thread = |_: rayon::BroadcastContext<'_>| {
            let begin = Instant::now();
            let mut done = 0.0;
            while begin.elapsed().as_secs_f64() < seconds / 5.0 {
                done += round();
            }
            done / begin.elapsed().as_secs_f64()
        };
        rayon::broadcast(of_thread).into_iter().sum()
    };
    (0..5).map(|_| trial()).fold(0.0, f64::max)
}

const ROUNDS: usize = 10_000;
/// Enough for two units of four cycles each, and few enough for the sixteen registers of AVX2.
const ACCUMULATORS: usize = 12;

/// Sums of products in one precision: how many operations were done.
macro_rules! fma {
    ($name:ident, $lanes:ident, $splat:ident, $mul_add:ident, $add:ident, $sum:ident) => {
        struct $name;

        impl WithSimd for $name {
            type Output = f64;

            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> f64 {
                let factor = simd.$splat(black_box(0.999));
                let term = simd.$splat(black_box(1e-3));
                let mut sums = [term; ACCUMULATORS];
                for _ in 0..ROUNDS {
                    for sum in &mut sums {
                        *sum = simd.$mul_add(*sum, factor, term);
                    }
                }
                let total = sums.into_iter().fold(term, |total, sum| simd.$add(total, sum));
                black_box(simd.$sum(total));
                (2 * ROUNDS * ACCUMULATORS * S::$lanes) as f64
            }
        }
    };
}

fma!(DoubleFma, F64_LANES, splat_f64s, mul_add_e_f64s, add_f64s, reduce_sum_f64s);
fma!(SingleFma, F32_LANES, splat_f32s, mul_add_e_f32s, add_f32s, reduce_sum_f32s);

struct DoubleLanes;

impl WithSimd for DoubleLanes {
    type Output = usize;

    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F64_LANES
    }
}

/// A block of scores as the kernel has them: within the first cache, and none saturated.
fn tanh_round<T: Copy>(score: impl Fn(usize) -> T, tanh_half: impl Fn(&mut [T])) -> f64 {
    const BLOCK: usize = 1024;
    let scores: [T; BLOCK] = std::array::from_fn(score);
    let mut outputs = scores;
    for _ in 0..100 {
        outputs.copy_from_slice(black_box(&scores));
        tanh_half(&mut outputs);
        black_box(&outputs);
    }
    (100 * BLOCK) as f64
}

/// Bytes a second that are read, and that a triad moves, in arrays far larger than any cache.
fn bandwidth(arch: Arch, seconds: f64) -> (f64, f64) {
    const LENGTH: usize = 1 << 24;
    const PART: usize = 1 << 16;
    let (b, c) = (vec![1.0; LENGTH], vec![2.0; LENGTH]);
    let mut a = vec![0.0; LENGTH];
    let bytes = size_of_val(b.as_slice()) as f64;
    let best = |work: &mut dyn FnMut()| {
        let begin = Instant::now();
        let mut best = f64::INFINITY;
        while begin.elapsed().as_secs_f64() < seconds || best == f64::INFINITY {
            let trial = Instant::now();
            work();
            best = best.min(trial.elapsed().as_secs_f64());
        }
        best
    };
    let read = best(&mut || {
        black_box(b.par_chunks(PART).map(|part| arch.dispatch(|| sum(part))).sum::<f64>());
    });
    let triad = best(&mut || {
        let parts = a.par_chunks_mut(PART).zip(b.par_chunks(PART)).zip(c.par_chunks(PART));
        parts.for_each(|((a, b), c)| arch.dispatch(|| triad(a, b, c)));
        black_box(&a);
    });
    (bytes / read, 3.0 * bytes / triad)
}

#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    for chunk in values.as_chunks::<64>().0 {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum()
}

#[inline(always)]
fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + 3.0 * c);
}

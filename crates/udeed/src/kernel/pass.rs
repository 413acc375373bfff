//! One walk over the rows: the scores of all members, a function of them, and the gradient of its sum.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::real::{MOST_LANES, Real};
use super::{alone, dense, instructions, scatter, sparse, tile};
use crate::data::Blocks;
use crate::error::Result;

/// Fewer rows than this are not worth a part of their own.
const SMALLEST_PART: usize = 64;
/// Into how many parts the rows are cut at most. The parts are summed in their order, so the result depends on their
/// number and not on the threads that work on them.
const PARTS: usize = 16;
/// Fewer products of rows and weights than this are over before another thread would have begun.
const WORTH_THREADS: usize = 1 << 21;
/// How much memory the gradients of the parts may take together, in numbers.
const PARTS_MEMORY: usize = 1 << 24;

/// What is done with the scores of a row.
pub(crate) trait Visit<T: Real>: Sync {
    /// What is counted on the way.
    type Tally: Default + Send;

    /// Gets the scores of all members on row `i`, padded with zeros to whole [`Real::LANES`], and leaves in place of each
    /// the derivative by it of what is summed, if there is a gradient. To be inlined always: only so it gets vectors.
    fn visit<S: Simd>(&self, simd: S, tally: &mut Self::Tally, i: usize, scores: &mut [T]);

    /// Whether one member alone goes its own, faster way over dense rows. Not always, as every visitor would have to be
    /// compiled for it too.
    const ALONE: bool = false;

    /// Gets the scores of the only member on some rows from `first` on, and does with each what [`Visit::visit`] does. A
    /// visitor that has its own way can let rows take the place of members in the vectors.
    #[inline(always)]
    fn visit_rows<S: Simd>(&self, simd: S, tally: &mut Self::Tally, first: usize, scores: &mut [T]) {
        for (i, z) in scores.iter_mut().enumerate() {
            let mut padded = [T::default(); MOST_LANES];
            padded[0] = *z;
            self.visit(simd, tally, first + i, &mut padded[..T::LANES]);
            *z = padded[0];
        }
    }
}

/// The largest sparse gradient of which each part has its own.
const LARGEST_PART: usize = PARTS_MEMORY / 4;

/// Walks over all rows. The gradient by the weights of what the visitor sums is added to `gradient`, if there is one.
/// Returns the tallies of the parts in their order.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn pass<T: Real, V: Visit<T>>(
    rows: &dyn Blocks,
    weights: &[f64],
    m: usize,
    gradient: Option<&mut [f64]>,
    visitor: &V,
) -> Result<Vec<V::Tally>> {
    instructions().dispatch(Pass { rows, weights, m, gradient, visitor, largest: LARGEST_PART, real: PhantomData::<T> })
}

/// `f(scores)` of every row, in their order. The scores are padded with zeros to whole [`Real::LANES`].
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn map_rows<R: Send>(
    rows: &dyn Blocks,
    weights: &[f64],
    m: usize,
    f: impl Fn(&mut [f64]) -> R + Sync,
) -> Result<Vec<R>> {
    let parts = pass(rows, weights, m, None, &Map { f, output: PhantomData })?;
    Ok(parts.into_iter().flatten().collect())
}

/// What came of a pass over rows that lie in memory, where reading cannot fail.
pub(crate) fn in_memory<A>(passed: Result<A>) -> A {
    passed.unwrap_or_else(|error| unreachable!("rows in memory: {error}"))
}

struct Map<F, R> {
    f: F,
    output: PhantomData<fn() -> R>,
}

impl<R: Send, F: Fn(&mut [f64]) -> R + Sync> Visit<f64> for Map<F, R> {
    type Tally = Vec<R>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, outputs: &mut Vec<R>, _: usize, scores: &mut [f64]) {
        outputs.push((self.f)(scores));
    }
}

struct Pass<'a, T, V> {
    rows: &'a dyn Blocks,
    weights: &'a [f64],
    m: usize,
    gradient: Option<&'a mut [f64]>,
    visitor: &'a V,
    /// Of larger sparse gradients there is only one, not one a part.
    largest: usize,
    real: PhantomData<T>,
}

impl<T: Real, V: Visit<T>> WithSimd for Pass<'_, T, V> {
    type Output = Result<Vec<V::Tally>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<Vec<V::Tally>> {
        match (self.rows.is_sparse(), self.m) {
            (true, _) => self.sparse(simd),
            (false, 1) if V::ALONE => self.alone(simd),
            (false, _) => self.dense(simd),
        }
    }
}

impl<T: Real, V: Visit<T>> Pass<'_, T, V> {
    fn dense<S: Simd>(self, simd: S) -> Result<Vec<V::Tally>> {
        let weights = &dense::pack_weights::<S, T>(self.weights, self.m);
        let (rows, visitor, stride) = (self.rows, self.visitor, tile::padded::<T>(self.m));
        let len = self.weights.len() / self.m * stride;
        let mut padded = self.gradient.as_ref().map(|_| vec![0.0; len]);
        let spans = parts_of(rows.shape().0, len, padded.is_some());
        let features = if padded.is_some() { rows.shape().1 + 1 } else { 0 };
        let room = || dense::Room::new(longest(&spans), rows.shape().1, features, stride);
        let tallies = in_parts(&spans, len, padded.as_deref_mut(), room, |room, span, gradient| {
            simd.vectorize(dense::Walk { simd, rows, span, weights, stride, gradient, visitor, room })
        })?;
        if let (Some(gradient), Some(padded)) = (self.gradient, padded) {
            for (to, from) in gradient.chunks_exact_mut(self.m).zip(padded.chunks_exact(stride)) {
                add(to, &from[..self.m]);
            }
        }
        Ok(tallies)
    }

    fn alone<S: Simd>(self, simd: S) -> Result<Vec<V::Tally>> {
        let weights = &T::convert(self.weights);
        let (rows, visitor, len) = (self.rows, self.visitor, weights.len());
        let spans = parts_of(rows.shape().0, len, self.gradient.is_some());
        let gradient = if self.gradient.is_some() { len } else { 0 };
        let room = || alone::Room::new(longest(&spans), gradient);
        in_parts(&spans, len, self.gradient, room, |room, span, gradient| {
            simd.vectorize(alone::Walk { simd, rows, span, weights, gradient, visitor, room })
        })
    }

    fn sparse<S: Simd>(self, simd: S) -> Result<Vec<V::Tally>> {
        let weights = &T::convert(self.weights);
        let (rows, visitor, m) = (self.rows, self.visitor, self.m);
        let gradient = match self.gradient {
            Some(gradient) if weights.len() > self.largest => {
                return scatter::walk(simd, rows, weights, m, gradient, visitor);
            }
            gradient => gradient,
        };
        let spans = parts_of(rows.shape().0, weights.len(), gradient.is_some());
        in_parts(
            &spans,
            weights.len(),
            gradient,
            || (),
            |(), span, gradient| {
                simd.vectorize(sparse::Walk { rows, span, weights, m, gradient, residuals: None, visitor })
            },
        )
    }
}

/// Cuts `n` rows into parts; of few enough that their gradients of `len` numbers, if they have any, do not take much memory.
fn parts_of(n: usize, len: usize, with_gradient: bool) -> Vec<Range<usize>> {
    let most = if with_gradient { most_parts(len) } else { PARTS };
    let parts = most.min(n.div_ceil(SMALLEST_PART)).max(1);
    (0..parts).map(|p| n * p / parts..n * (p + 1) / parts).collect()
}

/// How many parts there are at most, each with `len` numbers of its own.
pub(super) fn most_parts(len: usize) -> usize {
    PARTS.min(PARTS_MEMORY / len.max(1)).max(1)
}

/// How many rows the longest part has.
pub(super) fn longest(spans: &[Range<usize>]) -> usize {
    spans.iter().map(Range::len).max().unwrap_or(0)
}

/// Walks over parts of the rows in parallel, and adds their gradients, of `len` numbers each, in order. Parts that follow
/// one another on a thread share the `room` they work in.
pub(super) fn in_parts<A: Send, R>(
    spans: &[Range<usize>],
    len: usize,
    gradient: Option<&mut [f64]>,
    room: impl Fn() -> R + Sync + Send,
    walk: impl Fn(&mut R, Range<usize>, Option<&mut [f64]>) -> Result<A> + Sync + Send,
) -> Result<Vec<A>> {
    let n = spans.last().map_or(0, |span| span.end);
    let worth_threads = spans.len() > 1 && n.saturating_mul(len) >= WORTH_THREADS;
    match (spans, gradient) {
        ([span], gradient) => Ok(vec![walk(&mut room(), span.clone(), gradient)?]),
        (_, None) if worth_threads => {
            spans.par_iter().map_init(room, |room, span| walk(room, span.clone(), None)).collect()
        }
        (_, None) => {
            let mut room = room();
            spans.iter().map(|span| walk(&mut room, span.clone(), None)).collect()
        }
        (_, Some(gradient)) if worth_threads => {
            let walk = |room: &mut R, span: &Range<usize>| {
                let mut part = vec![0.0; len];
                Ok((walk(room, span.clone(), Some(&mut part))?, part))
            };
            let sums: Vec<(A, Vec<f64>)> = spans.par_iter().map_init(room, walk).collect::<Result<_>>()?;
            let tally = |(tally, part): (A, Vec<f64>)| {
                add(gradient, &part);
                tally
            };
            Ok(sums.into_iter().map(tally).collect())
        }
        (_, Some(gradient)) => {
            let (mut room, mut part) = (room(), vec![0.0; len]);
            let tally = |span: &Range<usize>| {
                part.fill(0.0);
                let tally = walk(&mut room, span.clone(), Some(&mut part))?;
                add(gradient, &part);
                Ok(tally)
            };
            spans.iter().map(tally).collect()
        }
    }
}

fn add(to: &mut [f64], values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix, Rows};
    use crate::kernel::gram::Gram;
    use crate::kernel::named_instructions;
    use crate::random::{Purpose, Stream};

    /// `f -> sum over rows of (sum_k f_k)^2`, with all that the objectives use.
    struct Squares;

    impl<T: Real> Visit<T> for Squares {
        type Tally = f64;
        const ALONE: bool = true;

        #[inline(always)]
        fn visit<S: Simd>(&self, simd: S, tally: &mut f64, i: usize, scores: &mut [T]) {
            *tally += scores.iter().map(|z| z.softplus().to_double()).sum::<f64>();
            scores.iter_mut().for_each(|z| *z = z.tanh_half());
            let sum = T::sum(simd, scores);
            *tally += sum * sum + T::sum_of_squares(simd, scores) + i as f64;
            let sum = T::from_double(sum);
            scores.iter_mut().for_each(|f| *f = sum * *f);
        }
    }

    /// The bits of all that comes out; of sparse rows also where there is only one gradient.
    fn bits<T: Real>(instructions: &str, rows: &dyn Rows, weights: &[f64], m: usize) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        for largest in [usize::MAX, 0] {
            let (mut gradient, real) = (vec![0.0; weights.len()], PhantomData::<T>);
            let pass = Pass { rows, weights, m, gradient: Some(&mut gradient), visitor: &Squares, largest, real };
            let tallies = named_instructions(instructions)?.dispatch(pass).unwrap();
            numbers.push(tallies.iter().sum());
            numbers.extend(gradient);
        }
        let gram = Gram { rows, factors: &vec![0.7; rows.n_rows()] };
        let (gram, width) = (named_instructions(instructions)?.dispatch(gram), rows.n_columns() + 1);
        numbers.extend(gram.chunks(width).enumerate().flat_map(|(j, row)| &row[..=j]));
        Some(numbers.into_iter().map(f64::to_bits).collect())
    }

    #[test]
    fn one_gradient_is_the_sum_of_those_of_the_parts() {
        let mut stream = Stream::new(2, Purpose::Split, 0);
        let (n, d, m) = (5000, 7, 37);
        let rows = Dense::new(n, d, (0..n * d).map(|_| (3.0 * stream.unit()).floor()).collect()).unwrap();
        let sparse = Matrix::from(rows).to_sparse();
        let weights: Vec<f64> = (0..(d + 1) * m).map(|_| stream.unit() - 0.5).collect();
        let walk = |largest: usize| {
            let mut gradient = vec![0.0; weights.len()];
            let gradient_to = Some(&mut gradient[..]);
            let real = PhantomData::<f64>;
            let pass =
                Pass { rows: &sparse, weights: &weights, m, gradient: gradient_to, visitor: &Squares, largest, real };
            let total: f64 = instructions().dispatch(pass).unwrap().into_iter().sum();
            gradient.push(total);
            gradient
        };
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        assert!(walk(usize::MAX).iter().zip(walk(0)).all(|(&a, b)| near(a, b)));
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool(1).install(|| walk(0)), pool(3).install(|| walk(0)));
    }

    /// A second member of zeros makes the walk one of many.
    #[test]
    fn one_member_alone_finds_what_it_does_among_many() {
        let mut stream = Stream::new(3, Purpose::Split, 0);
        for (n, d) in [(0, 4), (5, 0), (1, 1), (63, 8), (130, 31), (700, 77), (3000, 36), (40_000, 60)] {
            let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| stream.unit() - 0.5).collect() };
            let (rows, weights) = (Dense::new(n, d, numbers(n * d)).unwrap(), numbers(d + 1));
            let padded: Vec<f64> = weights.iter().flat_map(|&w| [w, 0.0]).collect();
            let find = |weights: &[f64], m: usize| {
                let mut gradient = vec![1.0; weights.len()];
                let found = in_memory(pass(&rows, weights, m, Some(&mut gradient), &Halves));
                (found.concat(), gradient.into_iter().step_by(m).collect::<Vec<f64>>())
            };
            let ((alone, gradient), among) = (find(&weights, 1), find(&padded, 2));
            assert_eq!(alone.len(), n);
            let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs()));
            assert!(near(&alone, &among.0) && near(&gradient, &among.1), "{n} x {d}");
            assert_eq!(alone, in_memory(pass(&rows, &weights, 1, None, &Halves)).concat(), "{n} x {d}");
        }
    }

    /// `z -> z^2 / 4`, and all scores.
    struct Halves;

    impl Visit<f64> for Halves {
        type Tally = Vec<f64>;
        const ALONE: bool = true;

        #[inline(always)]
        fn visit<S: Simd>(&self, _: S, seen: &mut Vec<f64>, i: usize, scores: &mut [f64]) {
            assert_eq!(scores.len(), f64::LANES, "row {i}");
            seen.push(scores[0]);
            scores.iter_mut().for_each(|z| *z *= 0.5);
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut stream = Stream::new(1, Purpose::Split, 0);
        for (n, d, m) in
            [(1, 1, 1), (300, 45, 1), (7, 3, 2), (100, 8, 25), (130, 13, 40), (193, 54, 100), (64, 30, 130)]
        {
            let value = |stream: &mut Stream| if stream.unit() < 0.3 { 0.0 } else { 4.0 * stream.unit() - 2.0 };
            let dense = Dense::new(n, d, (0..n * d).map(|_| value(&mut stream)).collect()).unwrap();
            let weights: Vec<f64> = (0..(d + 1) * m).map(|_| value(&mut stream)).collect();
            let sparse = Matrix::from(dense.clone()).to_sparse();
            for rows in [&dense as &dyn Rows, &sparse] {
                let weights = &weights;
                let double = bits::<f64>("scalar", rows, weights, m).unwrap();
                let single = bits::<f32>("scalar", rows, weights, m).unwrap();
                assert_ne!(double, single);
                for instructions in ["avx2", "avx512"] {
                    let Some(found) = bits::<f64>(instructions, rows, weights, m) else {
                        eprintln!("this machine has no {instructions}: not tested");
                        continue;
                    };
                    assert!(found == double, "{instructions}, {n} x {d}, {m} members, double precision");
                    let found = bits::<f32>(instructions, rows, weights, m);
                    assert!(
                        found.as_ref() == Some(&single),
                        "{instructions}, {n} x {d}, {m} members, single precision"
                    );
                }
            }
        }
    }
}

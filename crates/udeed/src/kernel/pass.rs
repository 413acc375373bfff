//! One walk over the rows: the scores of all members, a function of them, and the gradient of its sum.
//!
//! Walks are compiled for each layout of rows, precision and instruction set, visitors for each instruction set. They meet
//! at [`VisitBlock`], an object that gets the scores of several rows at once: so the two do not multiply.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

use pulp::{Arch, Simd, WithSimd};

use super::real::{MOST_LANES, Real};
use super::sums::{Grid, Rounded, Sums};
use super::{dense, instructions, scatter, single, sparse, tile};
use crate::data::Blocks;
use crate::error::Result;
use crate::parallel::{self, Rooms, inner, locked};

/// Minimum number of rows in a part.
const SMALLEST_PART: usize = 64;
/// Number of parts up to which they may be small: enough for some threads.
const FEW_PARTS: usize = 16;
/// Number of rows, of whole blocks, from which on a part is not made smaller only to have more of them: the sum of a part
/// takes as long as some rows.
const GOOD_PART: usize = 4 * tile::MOST_ROWS;
/// Maximum number of parts: many for each thread, so that none waits long for the last. Parts are summed in their order, so
/// the result depends on their number and not on the threads that work on them.
const PARTS: usize = 256;
/// Products of rows and weights from which on threads are worth starting.
const WORTH_THREADS: usize = 1 << 21;
/// Maximum size of the gradients of all parts together, in numbers.
const PARTS_MEMORY: usize = 1 << 24;
/// Maximum size of a sparse gradient that each part has a copy of.
const LARGEST_PART: usize = PARTS_MEMORY / 4;
/// What is done with the scores of a row.
pub(crate) trait Visit<T: Real>: Sync {
    /// What a part counts.
    type Tally: Default + Send;

    /// Gets the scores of all members on row `i`, padded with zeros to whole [`Real::LANES`], and leaves in place of each
    /// the derivative of the sum by it, if there is a gradient. Must be inlined to use vectors.
    fn visit<S: Simd>(&self, simd: S, tally: &mut Self::Tally, i: usize, scores: &mut [T]);

    /// Whether a single member has a faster walk over dense rows, see [`single`].
    const SINGLE: bool = false;

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

/// What is done with the scores of several rows of a part.
pub(super) trait VisitBlock<T>: Send {
    /// Gets the scores on rows from `first` on, row after row, `stride` numbers each. With a stride of 1 they are those of
    /// a single member, see [`Visit::visit_rows`].
    fn visit_block(&mut self, instructions: Arch, first: usize, stride: usize, scores: &mut [T]);
}

/// A part of the rows: its visitor and its tally.
struct Part<'a, T: Real, V: Visit<T>> {
    visitor: &'a V,
    tally: V::Tally,
}

impl<T: Real, V: Visit<T>> VisitBlock<T> for Part<'_, T, V> {
    fn visit_block(&mut self, instructions: Arch, first: usize, stride: usize, scores: &mut [T]) {
        instructions.dispatch(Rows { part: self, first, stride, scores });
    }
}

struct Rows<'a, 'b, T: Real, V: Visit<T>> {
    part: &'a mut Part<'b, T, V>,
    first: usize,
    stride: usize,
    scores: &'a mut [T],
}

impl<T: Real, V: Visit<T>> WithSimd for Rows<'_, '_, T, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Part { visitor, tally } = self.part;
        if V::SINGLE && self.stride == 1 {
            visitor.visit_rows(simd, tally, self.first, self.scores);
            return;
        }
        // Not by `chunks_exact_mut`, whose division takes as long as several scores.
        let (mut i, mut rest) = (self.first, self.scores);
        while !rest.is_empty() {
            let (scores, below) = rest.split_at_mut(self.stride);
            visitor.visit(simd, tally, i, scores);
            (i, rest) = (i + 1, below);
        }
    }
}

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
    let sums = Rounded;
    Pass { instructions: instructions(), rows, weights, m, sums, gradient, largest: LARGEST_PART }.visited_by(visitor)
}

/// As [`pass()`], in exact sums: those of the gradient are the higher numbers of all, then the lower ones.
///
/// # Errors
/// As [`pass()`]; also if a feature is larger than the grid allows.
pub(crate) fn exact_pass<V: Visit<f64>>(
    rows: &dyn Blocks,
    weights: &[f64],
    m: usize,
    grid: &Grid,
    visitor: &V,
) -> Result<(Vec<V::Tally>, Vec<f64>)> {
    let mut sums = vec![0.0; 2 * weights.len()];
    let (instructions, gradient) = (instructions(), Some(&mut sums[..]));
    let pass = Pass { instructions, rows, weights, m, sums: grid, gradient, largest: LARGEST_PART };
    let tallies = pass.visited_by(visitor)?;
    grid.settle(&mut sums, m)?;
    Ok((tallies, sums))
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

/// The scores of all members on every row, row after row.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn scores(rows: &dyn Blocks, weights: &[f64], m: usize) -> Result<Vec<f64>> {
    Ok(pass(rows, weights, m, None, &Scores { m })?.concat())
}

struct Scores {
    m: usize,
}

impl Visit<f64> for Scores {
    type Tally = Vec<f64>;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, all: &mut Vec<f64>, _: usize, scores: &mut [f64]) {
        all.extend_from_slice(&scores[..self.m]);
    }
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

struct Pass<'a, A> {
    instructions: Arch,
    rows: &'a dyn Blocks,
    weights: &'a [f64],
    m: usize,
    sums: A,
    gradient: Option<&'a mut [f64]>,
    /// Maximum size of a sparse gradient that each part has a copy of.
    largest: usize,
}

impl<A> Pass<'_, A> {
    fn visited_by<T: Real, V: Visit<T>>(self, visitor: &V) -> Result<Vec<V::Tally>>
    where
        A: Sums<T>,
    {
        // The walk of a single member knows nothing of other sums.
        let layout = self.layout::<T>(V::SINGLE && A::NUMBERS == 1);
        let spans = &self.spans::<T>(layout)[..];
        let part = |_: &Range<usize>| Mutex::new(Part { visitor, tally: V::Tally::default() });
        let parts: Vec<Mutex<Part<'_, T, V>>> = spans.iter().map(part).collect();
        let visitors: &[&Visitor<'_, T>] = &parts.iter().map(|part| part as _).collect::<Vec<_>>();
        self.instructions.dispatch(Walk { of: self, layout, spans, visitors })?;
        Ok(parts.into_iter().map(|part| inner(part).tally).collect())
    }

    fn layout<T: Real>(&self, single: bool) -> Layout
    where
        A: Sums<T>,
    {
        match (self.rows.is_sparse(), self.m) {
            (true, _) if self.gradient.is_some() && A::NUMBERS * self.weights.len() > self.largest => Layout::Scatter,
            (true, _) => Layout::Sparse,
            (false, 1) if single => Layout::Single,
            (false, _) => Layout::Dense,
        }
    }

    /// The parts of the rows.
    fn spans<T: Real>(&self, layout: Layout) -> Vec<Range<usize>>
    where
        A: Sums<T>,
    {
        let (n, len) = (self.rows.shape().0, A::NUMBERS * self.weights.len());
        match layout {
            Layout::Scatter => (0..n).step_by(sparse::ROWS).map(|start| start..n.min(start + sparse::ROWS)).collect(),
            Layout::Dense => parts_of(n, len / self.m * tile::padded::<T>(self.m), self.gradient.is_some()),
            Layout::Single | Layout::Sparse => parts_of(n, len, self.gradient.is_some()),
        }
    }
}

/// The kind of walk over the rows.
#[derive(Clone, Copy)]
enum Layout {
    /// Rows of all values, and members side by side.
    Dense,
    /// The same with one member.
    Single,
    /// Rows of stored values.
    Sparse,
    /// The same with only one gradient.
    Scatter,
}

/// The visitor of a part of the rows.
pub(super) type Visitor<'a, T> = Mutex<dyn VisitBlock<T> + 'a>;

/// A pass in one precision, with any visitor.
struct Walk<'a, T: Real, A> {
    of: Pass<'a, A>,
    layout: Layout,
    spans: &'a [Range<usize>],
    /// One for each span.
    visitors: &'a [&'a Visitor<'a, T>],
}

impl<T: Real, A: Sums<T>> WithSimd for Walk<'_, T, A> {
    type Output = Result<()>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<()> {
        match self.layout {
            Layout::Dense => self.dense(simd),
            Layout::Single => self.single(simd),
            Layout::Sparse => self.sparse(simd),
            Layout::Scatter => self.scatter(simd),
        }
    }
}

impl<T: Real, A: Sums<T>> Walk<'_, T, A> {
    fn dense<S: Simd>(self, simd: S) -> Result<()> {
        let Pass { instructions, rows, weights, m, sums, gradient, .. } = self.of;
        let (spans, visitors, stride) = (self.spans, self.visitors, tile::padded::<T>(m));
        let len = A::NUMBERS * weights.len() / m * stride;
        let weights = &dense::pack_weights::<S, T>(weights, m);
        let mut padded = gradient.as_ref().map(|_| vec![0.0; len]);
        let features = if padded.is_some() { rows.shape().1 + 1 } else { 0 };
        let rooms = Rooms::new(|| dense::Room::new(longest(spans).min(sums.rows()), rows.shape().1, features, stride));
        in_parts(spans, len, padded.as_deref_mut(), &|part, gradient| {
            let (span, visitor) = (spans[part].clone(), &mut *locked(visitors[part]));
            rooms.lend(|room| {
                let walk =
                    dense::Walk { simd, instructions, rows, span, weights, sums, stride, gradient, visitor, room };
                simd.vectorize(walk)
            })
        })?;
        if let (Some(gradient), Some(padded)) = (gradient, padded) {
            for (to, from) in gradient.chunks_exact_mut(m).zip(padded.chunks_exact(stride)) {
                add(to, &from[..m]);
            }
        }
        Ok(())
    }

    fn single<S: Simd>(self, simd: S) -> Result<()> {
        let Pass { instructions, rows, weights, gradient, .. } = self.of;
        let (spans, visitors, weights) = (self.spans, self.visitors, &T::convert(weights));
        let room = if gradient.is_some() { weights.len() } else { 0 };
        let rooms = Rooms::new(|| single::Room::new(longest(spans), room));
        in_parts(spans, weights.len(), gradient, &|part, gradient| {
            let (span, visitor) = (spans[part].clone(), &mut *locked(visitors[part]));
            rooms.lend(|room| {
                simd.vectorize(single::Walk { simd, instructions, rows, span, weights, gradient, visitor, room })
            })
        })
    }

    fn sparse<S: Simd>(self, simd: S) -> Result<()> {
        let Pass { instructions, rows, weights, m, sums, gradient, .. } = self.of;
        let (spans, visitors, weights) = (self.spans, self.visitors, &T::convert(weights));
        in_parts(spans, A::NUMBERS * weights.len(), gradient, &|part, gradient| {
            let (span, visitor) = (spans[part].clone(), &mut *locked(visitors[part]));
            let residuals = None;
            simd.vectorize(sparse::Walk { instructions, rows, span, weights, m, sums, gradient, residuals, visitor })
        })
    }

    fn scatter<S: Simd>(self, simd: S) -> Result<()> {
        let Pass { instructions, rows, weights, m, sums, gradient, .. } = self.of;
        let (visitors, weights) = (self.visitors, &T::convert(weights));
        let gradient = gradient.unwrap_or_default();
        scatter::Walk { instructions, rows, weights, m, sums, visitors }.walk(simd, gradient)
    }
}

/// Cuts `n` rows into parts, few enough for their gradients of `len` numbers, if there are any, to fit into memory.
fn parts_of(n: usize, len: usize, with_gradient: bool) -> Vec<Range<usize>> {
    let most = if with_gradient { most_parts(len) } else { PARTS };
    if n <= FEW_PARTS * GOOD_PART || most <= FEW_PARTS {
        let parts = most.min(FEW_PARTS).min(n.div_ceil(SMALLEST_PART)).max(1);
        return (0..parts).map(|p| n * p / parts..n * (p + 1) / parts).collect();
    }
    let each = n.div_ceil(most).next_multiple_of(tile::MOST_ROWS).max(GOOD_PART);
    (0..n).step_by(each).map(|start| start..n.min(start + each)).collect()
}

/// Maximum number of parts with `len` numbers each.
pub(super) fn most_parts(len: usize) -> usize {
    PARTS.min(PARTS_MEMORY / len.max(1)).max(1)
}

/// Number of rows in the longest part.
pub(super) fn longest(spans: &[Range<usize>]) -> usize {
    spans.iter().map(Range::len).max().unwrap_or(0)
}

/// Walks over the part with this index, and adds its gradient if there is one.
pub(super) type WalkPart<'a> = dyn Fn(usize, Option<&mut [f64]>) -> Result<()> + Sync + 'a;

/// Walks over parts of the rows in parallel, and adds their gradients, of `len` numbers each, in order.
pub(super) fn in_parts(
    spans: &[Range<usize>],
    len: usize,
    gradient: Option<&mut [f64]>,
    walk: &WalkPart<'_>,
) -> Result<()> {
    let n = spans.last().map_or(0, |span| span.end);
    let worth_threads = spans.len() > 1 && n.saturating_mul(len) >= WORTH_THREADS;
    match gradient {
        gradient if spans.len() == 1 => walk(0, gradient),
        None if worth_threads => parallel::try_map(spans.len(), |part| walk(part, None)).map(|_| ()),
        None => (0..spans.len()).try_for_each(|part| walk(part, None)),
        Some(gradient) if worth_threads => {
            let total = Mutex::new(InOrder { to: gradient, next: 0, waiting: BTreeMap::new(), free: Vec::new() });
            parallel::try_map(spans.len(), |part| {
                let mut sum = locked(&total).free.pop().unwrap_or_default();
                sum.clear();
                sum.resize(len, 0.0);
                walk(part, Some(&mut sum))?;
                locked(&total).add(part, sum);
                Ok(())
            })
            .map(|_| ())
        }
        Some(gradient) => {
            let mut sum = vec![0.0; len];
            (0..spans.len()).try_for_each(|part| {
                sum.fill(0.0);
                walk(part, Some(&mut sum))?;
                add(gradient, &sum);
                Ok(())
            })
        }
    }
}

/// A sum of what parts bring, in the order of the parts, whoever is ready first. Only what is early is kept.
struct InOrder<'a> {
    to: &'a mut [f64],
    /// The part to be added next.
    next: usize,
    /// Parts that are ready before their turn.
    waiting: BTreeMap<usize, Vec<f64>>,
    /// Memory of parts that were added.
    free: Vec<Vec<f64>>,
}

impl InOrder<'_> {
    fn add(&mut self, part: usize, sum: Vec<f64>) {
        self.waiting.insert(part, sum);
        while let Some(sum) = self.waiting.remove(&self.next) {
            add(self.to, &sum);
            self.free.push(sum);
            self.next += 1;
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
    use crate::kernel::{named_instructions, say_what_is_tested};
    use crate::random::{Purpose, Stream};

    /// `f -> sum over rows of (sum_k f_k)^2`, with all that the objectives use.
    struct Squares;

    impl<T: Real> Visit<T> for Squares {
        type Tally = f64;
        const SINGLE: bool = true;

        #[inline(always)]
        fn visit<S: Simd>(&self, simd: S, tally: &mut f64, i: usize, scores: &mut [T]) {
            *tally +=
                scores.iter().map(|z| z.tanh_half_and_softplus().1.to_double() + z.decay().to_double()).sum::<f64>();
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
            let (mut gradient, instructions) = (vec![0.0; weights.len()], named_instructions(instructions)?);
            let (sums, gradient_to) = (Rounded, Some(&mut gradient[..]));
            let pass = Pass { instructions, rows, weights, m, sums, gradient: gradient_to, largest };
            let tallies = pass.visited_by::<T, _>(&Squares).unwrap();
            numbers.push(tallies.iter().sum());
            numbers.extend(gradient);
        }
        let gram = Gram { rows, factors: &vec![0.7; rows.n_rows()] };
        let (gram, width) = (named_instructions(instructions)?.dispatch(gram), rows.n_columns() + 1);
        numbers.extend(gram.chunks(width).enumerate().flat_map(|(j, row)| &row[..=j]));
        Some(numbers.into_iter().map(f64::to_bits).collect())
    }

    /// Those of exact sums, of residuals on the grid.
    fn exact_bits(instructions: &str, rows: &dyn Rows, weights: &[f64], m: usize) -> Option<Vec<u64>> {
        let grid = Grid::new(&vec![1; rows.n_columns()], m as u64, 1, rows.n_rows());
        let visitor = OnGrid(&grid);
        let mut found: Option<Vec<f64>> = None;
        for largest in [usize::MAX, 0] {
            let (mut gradient, instructions) = (vec![0.0; 2 * weights.len()], named_instructions(instructions)?);
            let gradient_to = Some(&mut gradient[..]);
            let pass = Pass { instructions, rows, weights, m, sums: &grid, gradient: gradient_to, largest };
            pass.visited_by(&visitor).unwrap();
            grid.settle(&mut gradient, m).unwrap();
            let (high, low) = gradient.split_at(weights.len());
            let sums: Vec<f64> = high.iter().zip(low).map(|(high, low)| high + low).collect();
            // Where there is one gradient only, it is the same.
            assert!(found.is_none_or(|found| found == sums));
            found = Some(sums);
        }
        found.map(|found| found.into_iter().map(f64::to_bits).collect())
    }

    /// `f -> (sum_k f_k) - f_k`, rounded.
    struct OnGrid<'a>(&'a Grid);

    impl Visit<f64> for OnGrid<'_> {
        type Tally = ();

        #[inline(always)]
        fn visit<S: Simd>(&self, simd: S, (): &mut (), _: usize, scores: &mut [f64]) {
            scores.iter_mut().for_each(|z| *z = z.tanh_half());
            let sum = f64::sum(simd, scores);
            scores.iter_mut().for_each(|f| *f = self.0.residual.round(sum - *f));
        }
    }

    #[test]
    fn a_value_beyond_the_grid_is_refused() {
        let rows = Dense::new(3, 1, vec![0.5, -2.5, 0.1]).unwrap();
        for rows in [&rows as &dyn Rows, &Matrix::from(rows.clone()).to_sparse()] {
            for (size, is_fine) in [(2, true), (1, false)] {
                let grid = Grid::new(&[size], 2, 1, 3);
                assert_eq!(exact_pass(rows, &[0.1; 4], 2, &grid, &OnGrid(&grid)).is_ok(), is_fine);
            }
        }
        assert!(Grid::check_rows(10, false, 1 << 34).is_err() && Grid::check_rows(1 << 28, true, 1 << 30).is_err());
        assert!(Grid::check_rows(1 << 28, false, 1 << 33).is_ok());
        assert!(crate::kernel::size_exponent(1e100).is_err());
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
            let instructions = instructions();
            let (rows, weights, sums) = (&sparse, &weights, Rounded);
            let pass = Pass { instructions, rows, weights, m, sums, gradient: gradient_to, largest };
            let total: f64 = pass.visited_by::<f64, _>(&Squares).unwrap().into_iter().sum();
            gradient.push(total);
            gradient
        };
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        assert!(walk(usize::MAX).iter().zip(walk(0)).all(|(&a, b)| near(a, b)));
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool(1).install(|| walk(0)), pool(3).install(|| walk(0)));
    }

    /// Of many parts whoever is ready first: their sums are added in their order.
    #[test]
    fn many_parts_are_added_in_their_order_on_any_number_of_threads() {
        let mut stream = Stream::new(4, Purpose::Split, 0);
        let (n, d, m) = (FEW_PARTS * GOOD_PART * 3, 9, 25);
        let dense = Dense::new(n, d, (0..n * d).map(|_| (3.0 * stream.unit()).floor()).collect()).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let weights: Vec<f64> = (0..(d + 1) * m).map(|_| stream.unit() - 0.5).collect();
        for rows in [&dense as &dyn Rows, &sparse] {
            assert!(parts_of(n, weights.len(), true).len() > 2 * FEW_PARTS);
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut gradient = vec![0.0; weights.len()];
                    let tallies = pass::<f64, _>(rows, &weights, m, Some(&mut gradient), &Squares).unwrap();
                    (tallies, gradient)
                })
            };
            let alone = on(1);
            for threads in [2, 3, 7] {
                assert!(on(threads) == alone, "{threads} threads");
            }
        }
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
        const SINGLE: bool = true;

        #[inline(always)]
        fn visit<S: Simd>(&self, _: S, seen: &mut Vec<f64>, i: usize, scores: &mut [f64]) {
            assert_eq!(scores.len(), f64::LANES, "row {i}");
            seen.push(scores[0]);
            scores.iter_mut().for_each(|z| *z *= 0.5);
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        say_what_is_tested("scores and gradients");
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
                let exact = exact_bits("scalar", rows, weights, m).unwrap();
                let alike = exact_bits("scalar", &dense, weights, m).unwrap();
                assert!(exact == alike, "{n} x {d}, {m} members, dense and sparse");
                let double = bits::<f64>("scalar", rows, weights, m).unwrap();
                let single = bits::<f32>("scalar", rows, weights, m).unwrap();
                assert_ne!(double, single);
                for instructions in ["avx2", "avx512"] {
                    let Some(found) = bits::<f64>(instructions, rows, weights, m) else { continue };
                    assert!(found == double, "{instructions}, {n} x {d}, {m} members, double precision");
                    let found = exact_bits(instructions, rows, weights, m).unwrap();
                    assert!(found == exact, "{instructions}, {n} x {d}, {m} members, exact sums");
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

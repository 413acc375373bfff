//! How a pass adds up products of features and residuals: plainly, or exactly.
//!
//! Exact sums have the same bits in any order. Features and residuals are rounded to multiples of powers of two, with so few bits
//! that the sum of their products over a block is one of whole numbers below 2^53, whatever the order. Such a sum is split in two,
//! each of which has room for those of very many blocks. What is left to rounding is the last addition of the two.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::words::words;

use super::real::Real;
use super::tile::{FEATURES, MOST_ROWS, Packed};

words! {
    /// Floating-point precision of the descent.
    pub enum Precision = Double {
        /// 64 bits.
        Double = "double",
        /// 32 bits, in half of the time. Gradients are still summed over blocks of rows in 64 bits.
        Single = "single",
        /// 64 bits; sums over unlabeled rows are exact, so that neither the order of the rows nor how they are divided among
        /// threads, processes and machines changes a bit.
        Exact = "exact",
    }
}

/// Bits of a feature below the power of two that none of its values exceeds. Residuals have what a block leaves to them, 22 bits
/// in whole blocks: few, as their rounding errors cancel out over many rows, where those of a feature of few values do not.
const FEATURE_BITS: i32 = 24;
/// Rows from which on blocks are whole. Of fewer, errors cancel out less, and shorter blocks leave more bits.
const MANY_ROWS: usize = 1 << 16;
/// Rows below which blocks are the shortest.
const FEW_ROWS: usize = 1 << 13;
/// Bits of the lower of the two sums in which that of a block is split; as many are left for the number of blocks.
const LOW_BITS: i32 = 27;
/// Bits of each of two sums in which the terms of the rows are split; 33 are left for the number of rows.
const TERM_BITS: i32 = 20;
/// Maximum number of rows of all parts.
const MOST_OF_ALL: u64 = 1 << (f64::MANTISSA_DIGITS as i32 - TERM_BITS);
/// Maximum number of sparse rows of one pass, each of which is a block of its own.
const MOST_SPARSE: usize = 1 << (f64::MANTISSA_DIGITS as i32 + 1 - LOW_BITS);
/// Exponents of the largest and the smallest features: of larger ones sums would not be numbers, smaller ones are 0 beside others.
const LARGEST: i32 = 300;

/// Rounds numbers to multiples of a power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding(f64);

impl Rounding {
    /// To multiples of two to the power of `exponent`, of numbers up to 2^51 of these.
    fn to(exponent: i32) -> Self {
        Rounding(libm::ldexp(1.5, exponent + 52))
    }

    /// Beside so large a number there are no digits for anything finer.
    #[inline(always)]
    pub(crate) fn round(self, x: f64) -> f64 {
        (x + self.0) - self.0
    }
}

/// The least exponent of a power of two that a whole number does not exceed.
fn bits_of(number: u64) -> i32 {
    number.next_power_of_two().trailing_zeros() as i32
}

/// The exponent of the least power of two that a feature of this largest size does not exceed.
///
/// # Errors
/// If one is too large.
pub(crate) fn size_exponent(largest: f64) -> Result<i32> {
    let exponent = if largest <= 0.0 { -LARGEST } else { libm::ilogb(largest) };
    let exponent = exponent + i32::from(largest > libm::ldexp(1.0, exponent));
    if exponent <= LARGEST {
        return Ok(exponent.max(-LARGEST));
    }
    let expected = format!("at most 2^{LARGEST} with `precision` `exact`");
    Err(Error::training(format!("a feature of size {largest:e}"), expected))
}

/// What the features of a tile are multiples of.
struct TileGrid {
    roundings: [Rounding; FEATURES],
    /// By what the largest value of a feature is multiplied to be 1.
    scales: [f64; FEATURES],
}

impl TileGrid {
    fn new(exponents: [i32; FEATURES]) -> Self {
        TileGrid {
            roundings: exponents.map(|exponent| Rounding::to(exponent - FEATURE_BITS)),
            scales: exponents.map(|exponent| libm::ldexp(1.0, -exponent)),
        }
    }

    /// Rounds values, and keeps the largest in `sizes`, over what they may be at most. All loops are of known length, and nothing
    /// in them but arithmetic, so that they become vectors.
    #[inline(always)]
    fn round(&self, values: &[f64; FEATURES], sizes: &mut [f64; FEATURES]) -> [f64; FEATURES] {
        let mut rounded = [0.0; FEATURES];
        for f in 0..FEATURES {
            let size = values[f].abs() * self.scales[f];
            sizes[f] = if size > sizes[f] { size } else { sizes[f] };
            rounded[f] = self.roundings[f].round(values[f]);
        }
        rounded
    }
}

/// What the numbers of exact sums are multiples of.
pub(crate) struct Grid {
    /// Rows of a block.
    rows: usize,
    /// Of the features; the constant follows the last one.
    tiles: Vec<TileGrid>,
    /// Splits the sums of blocks, of each feature and the constant.
    splits: Vec<Rounding>,
    /// Of residuals.
    pub(crate) residual: Rounding,
    /// Split the term of a row.
    pub(crate) terms: [Rounding; 2],
    /// Whether a value exceeded its limit.
    exceeded: AtomicBool,
}

impl Grid {
    /// For features of which two to the power of `sizes` is the largest, residuals of at most `largest` and terms of rows of at
    /// most `largest_term` in size, and so many rows in all parts.
    pub(crate) fn new(sizes: &[i32], largest: u64, largest_term: u64, n_rows: usize) -> Self {
        let rows = match n_rows {
            ..FEW_ROWS => 8,
            FEW_ROWS..MANY_ROWS => 32,
            MANY_ROWS.. => MOST_ROWS,
        };
        let residual = bits_of(rows as u64 * largest) + FEATURE_BITS - f64::MANTISSA_DIGITS as i32;
        let exponents = || sizes.iter().copied().chain([0]);
        let unused = (sizes.len() + 1).next_multiple_of(FEATURES) - (sizes.len() + 1);
        let padded: Vec<i32> = exponents().chain(std::iter::repeat_n(0, unused)).collect();
        let split = |exponent: i32| Rounding::to(exponent - FEATURE_BITS + residual + LOW_BITS);
        let term = bits_of(largest_term);
        Grid {
            rows,
            tiles: padded.as_chunks::<FEATURES>().0.iter().map(|exponents| TileGrid::new(*exponents)).collect(),
            splits: exponents().map(split).collect(),
            residual: Rounding::to(residual),
            terms: [1, 2].map(|part| Rounding::to(term + 1 - part * TERM_BITS)),
            exceeded: AtomicBool::new(false),
        }
    }

    /// Refuses more rows than sums have room for.
    ///
    /// # Errors
    /// If there are.
    pub(crate) fn check_rows(here: usize, sparse: bool, of_all: usize) -> Result<()> {
        let (found, most) = match sparse {
            true if here > MOST_SPARSE => (here, MOST_SPARSE as u64),
            _ => (of_all, MOST_OF_ALL),
        };
        if found as u64 <= most {
            return Ok(());
        }
        Err(Error::training(format!("{found} rows"), format!("at most {most} with `precision` `exact`")))
    }

    /// Moves what lower sums have become too large for to the higher ones, so that those of further passes fit there, and
    /// refuses sums that are not exact.
    ///
    /// # Errors
    /// If a value was larger than its feature may be.
    pub(super) fn settle(&self, sums: &mut [f64], m: usize) -> Result<()> {
        if self.exceeded.load(Ordering::Relaxed) {
            let expected = "those that the statistics of all rows or the sizes of the features were taken of";
            return Err(Error::training("larger values of a feature", expected));
        }
        let (high, low) = sums.split_at_mut(self.splits.len() * m);
        let features = high.chunks_exact_mut(m).zip(low.chunks_exact_mut(m));
        for ((high, low), split) in features.zip(&self.splits) {
            high.iter_mut().zip(low).for_each(|(high, low)| add_split(*split, std::mem::take(low), high, low));
        }
        Ok(())
    }
}

/// Adds a sum, split in two, to two others.
#[inline(always)]
fn add_split(split: Rounding, sum: f64, high: &mut f64, low: &mut f64) {
    let above = split.round(sum);
    *high += above;
    *low += sum - above;
}

/// How products are added up. All functions are inlined, to use vectors.
pub(super) trait Sums<T: Real>: Copy + Send + Sync {
    /// Numbers that make up a sum: all first ones come before all second ones.
    const NUMBERS: usize;

    /// Maximum number of rows in a block.
    fn rows(self) -> usize;

    /// Packs row `i`.
    fn pack(self, x: &mut Packed<T>, i: usize, row: &[f64]);

    /// The value of a feature.
    fn feature(self, j: usize, x: f64) -> f64;

    /// Adds the gradient of a block of dense rows, `stride` numbers a feature.
    fn add(self, gradient: &mut [f64], of_block: &[T], stride: usize);

    /// Adds the product of a value and residuals to the gradient of feature `j`, of which `gradient` has all.
    fn add_product(self, j: usize, x: f64, residuals: &[T], gradient: &mut [f64]);
}

/// Sums that are rounded in every addition.
#[derive(Clone, Copy)]
pub(super) struct Rounded;

impl<T: Real> Sums<T> for Rounded {
    const NUMBERS: usize = 1;

    fn rows(self) -> usize {
        MOST_ROWS
    }

    #[inline(always)]
    fn pack(self, x: &mut Packed<T>, i: usize, row: &[f64]) {
        x.pack(i, row);
    }

    #[inline(always)]
    fn feature(self, _: usize, x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn add(self, gradient: &mut [f64], of_block: &[T], _: usize) {
        for (to, from) in gradient.iter_mut().zip(of_block) {
            *to += from.to_double();
        }
    }

    #[inline(always)]
    fn add_product(self, j: usize, x: f64, residuals: &[T], gradient: &mut [f64]) {
        let to = &mut gradient[j * residuals.len()..][..residuals.len()];
        to.iter_mut().zip(residuals).for_each(|(to, r)| *to = x.mul_add(r.to_double(), *to));
    }
}

/// Sums of two numbers each, in which nothing is rounded.
impl Sums<f64> for &Grid {
    const NUMBERS: usize = 2;

    fn rows(self) -> usize {
        self.rows
    }

    #[inline(always)]
    fn pack(self, x: &mut Packed<f64>, i: usize, row: &[f64]) {
        let ((chunks, rest), mut sizes) = (row.as_chunks::<FEATURES>(), [0.0; FEATURES]);
        for (tile, (chunk, grid)) in chunks.iter().zip(&self.tiles).enumerate() {
            x.tile_row_mut(tile, i).copy_from_slice(&grid.round(chunk, &mut sizes));
        }
        let mut last = [0.0; FEATURES];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 1.0;
        x.tile_row_mut(chunks.len(), i).copy_from_slice(&self.tiles[chunks.len()].round(&last, &mut sizes));
        if sizes.iter().fold(false, |any, size| any | (*size > 1.0)) {
            self.exceeded.store(true, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn feature(self, j: usize, x: f64) -> f64 {
        let (tile, f) = (&self.tiles[j / FEATURES], j % FEATURES);
        if x.abs() * tile.scales[f] > 1.0 {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        tile.roundings[f].round(x)
    }

    #[inline(always)]
    fn add(self, gradient: &mut [f64], of_block: &[f64], stride: usize) {
        const LANES: usize = f64::LANES;
        let (high, low) = gradient.split_at_mut(of_block.len());
        let sums = high.chunks_exact_mut(stride).zip(low.chunks_exact_mut(stride));
        for (((high, low), of_block), split) in sums.zip(of_block.chunks_exact(stride)).zip(&self.splits) {
            // Chunks of known length become vectors, also of few members.
            let (high, low) = (high.as_chunks_mut::<LANES>().0, low.as_chunks_mut::<LANES>().0);
            for ((high, low), sums) in high.iter_mut().zip(low).zip(of_block.as_chunks::<LANES>().0) {
                for lane in 0..LANES {
                    add_split(*split, sums[lane], &mut high[lane], &mut low[lane]);
                }
            }
        }
    }

    #[inline(always)]
    fn add_product(self, j: usize, x: f64, residuals: &[f64], gradient: &mut [f64]) {
        let (m, split) = (residuals.len(), self.splits[j]);
        let (high, low) = gradient.split_at_mut(self.splits.len() * m);
        let (high, low) = (&mut high[j * m..][..m], &mut low[j * m..][..m]);
        for ((high, low), r) in high.iter_mut().zip(low).zip(residuals) {
            add_split(split, x * r, high, low);
        }
    }
}

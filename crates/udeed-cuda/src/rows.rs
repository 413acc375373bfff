//! Rows on the card.

use std::ops::Range;

use udeed::data::{Block, Blocks, Buffer};
use udeed::{Error, Hint, Result};

use crate::driver::{Card, Number, Room, Shape, Value};

/// Numbers of a chunk of rows: chunks are walked over one after the other, so what they hold does not depend on the card.
const CHUNK: usize = 1 << 26;
/// Numbers that are sent at a time.
const PIECE: usize = 1 << 22;
/// Rows come in multiples of this, the last ones all zero.
pub(crate) const SIDE: usize = 64;
/// Threads of a block of kernels that copy, and the most blocks.
const COPYING: (usize, usize) = (256, 1024);

/// Rows in one of the forms that kernels take.
pub(crate) enum Rows<'c> {
    /// Doubles.
    Double(Table<'c, f64>),
    /// Floats.
    Single(Table<'c, f32>),
    /// Floats as two halves, for tensor cores.
    Halves(Halves<'c>),
}

/// Rows of the values, the constant 1, and zeros up to the width.
pub(crate) struct Table<'c, T> {
    pub(crate) n: usize,
    pub(crate) width: usize,
    pub(crate) chunks: Vec<Chunk<'c, T>>,
}

/// Consecutive rows.
pub(crate) struct Chunk<'c, T> {
    /// The number of the first row.
    pub(crate) first: usize,
    /// Rows of the room, padded.
    pub(crate) rows: usize,
    pub(crate) room: Room<'c, T>,
}

/// Rows as halves: each value, times the scale of its column, is the sum of two. A half is stored in half of a float's room.
pub(crate) struct Halves<'c> {
    /// The scale of each column, a power of two, and the largest absolute value of the column times it.
    pub(crate) scales: Vec<(f32, f32)>,
    /// The chunks, the high halves first, then the low ones.
    pub(crate) chunks: Vec<(usize, Room<'c, f32>, Room<'c, f32>)>,
}

/// Numbers that the card converts doubles to.
pub(crate) trait Real: Number {
    const WIDEN: &'static str;
}
impl Real for f64 {
    const WIDEN: &'static str = "widen_double";
}
impl Real for f32 {
    const WIDEN: &'static str = "widen_single";
}

/// Consecutive rows of a table, and their number when padded.
fn chunks(n: usize, width: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
    let most = (CHUNK / width / SIDE).max(1) * SIDE;
    (0..n).step_by(most).map(move |first| {
        let end = n.min(first + most);
        (first..end, (end - first).next_multiple_of(SIDE))
    })
}

impl<'c, T: Real> Table<'c, T> {
    /// Sends rows to the card.
    pub(crate) fn sent(card: &'c Card, rows: &dyn Blocks, width: usize) -> Result<Self> {
        let (n, d) = rows.shape();
        let each = (PIECE / d.max(1)).max(1);
        let pieces = card.room::<f64>(each.min(n) * d, "rows on their way")?;
        let mut made = Vec::new();
        let mut buffer = Buffer::default();
        for (span, padded) in chunks(n, width) {
            let room = card.room::<T>(padded * width, &format!("{n} rows of {d} features"))?;
            room.clear()?;
            for begin in span.clone().step_by(each) {
                let end = span.end.min(begin + each);
                let Block::Dense(values) = rows.block(begin..end, &mut buffer)? else {
                    return Err(Error::device(card.name(), "sparse rows", "dense ones", Some(Hint::DenseOnDevice)));
                };
                pieces.write(values)?;
                let to = room.pointer_to((begin - span.start) * width);
                let [n, d, width] = [end - begin, d, width];
                let values =
                    [pieces.pointer(), Value::Long(n as i64), Value::Int(d as i32), Value::Int(width as i32), to];
                card.launch(T::WIDEN, copying(n * width), &values)?;
            }
            made.push(Chunk { first: span.start, rows: padded, room });
        }
        Ok(Table { n, width, chunks: made })
    }
}

impl<'c> Halves<'c> {
    /// Bytes of a row beside each other: an odd number of 16, so that shared memory is met evenly.
    pub(crate) fn stride(groups: usize) -> usize {
        (groups | 1) * 8
    }

    /// Sends rows to the card; `groups` of 8 features.
    pub(crate) fn sent(card: &'c Card, rows: &dyn Blocks, groups: usize) -> Result<Self> {
        /// The largest value of a column lies below this.
        const MOST: f32 = 1024.0;
        let table = Table::<f32>::sent(card, rows, groups * 8)?;
        let (width, stride) = (table.width, Self::stride(groups));
        let found = card.room::<f32>(width, "features")?;
        let mut most = vec![0.0f32; width];
        for chunk in &table.chunks {
            let values =
                [chunk.room.pointer(), Value::Long(chunk.rows as i64), Value::Int(width as i32), found.pointer()];
            let shape = Shape { grid: (width, 1, 1), threads: 512, shared: 512 * size_of::<f32>() };
            card.launch("column_max", shape, &values)?;
            let mut here = vec![0.0f32; width];
            found.read(&mut here)?;
            most.iter_mut().zip(here).for_each(|(most, here)| *most = most.max(here));
        }
        let scales: Vec<(f32, f32)> = most
            .into_iter()
            .map(|most| {
                let scale =
                    if most > 0.0 { power_below(MOST / most).clamp(2f32.powi(-100), 2f32.powi(100)) } else { 1.0 };
                (scale, most * scale)
            })
            .collect();
        found.write(&scales.iter().map(|&(scale, _)| scale).collect::<Vec<f32>>())?;
        let mut chunks = Vec::new();
        for Chunk { rows, room, .. } in table.chunks {
            let halves = || card.room::<f32>(rows * stride / 2, &format!("{} rows as halves", table.n));
            let (high, low) = (halves()?, halves()?);
            let mut values = vec![room.pointer(), Value::Long(rows as i64), Value::Int(width as i32), found.pointer()];
            values.extend([Value::Int(stride as i32), high.pointer(), low.pointer()]);
            card.launch("split_rows", copying(rows * stride), &values)?;
            chunks.push((rows, high, low));
        }
        Ok(Halves { scales, chunks })
    }
}

/// The shape of a kernel that copies some numbers.
fn copying(numbers: usize) -> Shape {
    let (threads, most) = COPYING;
    Shape { grid: (numbers.div_ceil(threads).clamp(1, most), 1, 1), threads, shared: 0 }
}

/// The largest power of two that is not larger.
pub(crate) fn power_below(x: f32) -> f32 {
    2f32.powi(x.log2().floor().clamp(-126.0, 127.0) as i32)
}

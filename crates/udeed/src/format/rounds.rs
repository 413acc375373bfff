//! Blocks parsed by several threads, and what they hold gathered in the order of the file.
//!
//! While the threads parse one round of blocks, the calling thread gathers the parts of the round before it and reads
//! (and unzips) the next one. At most three rounds are in memory, however long the file is.

use crate::error::{Error, Result};
use crate::format::blocks::{Block, Blocks};

/// Blocks of a round for each thread: enough to even out that some take longer.
const BLOCKS_PER_THREAD: usize = 4;
/// More would only cost memory: one thread reads and gathers.
const MOST_BLOCKS: usize = 16;

/// How the blocks of a format become rows.
pub(super) trait Parser: Sync {
    /// What the blocks before told of those that follow.
    type Known: Sync;
    /// What a block holds, or what is wrong in it.
    type Part: Send;

    fn parse(&self, block: &Block, known: &Self::Known) -> Self::Part;
}

/// Where the parts of the blocks come together.
pub(super) trait Gather<P: Parser> {
    /// What is known before the next block.
    fn known(&self) -> P::Known;

    /// Adds the next block in the order of the file. It may have been parsed when less was `known` than now. `share`
    /// of the source was read so far, where that can be told.
    fn add(&mut self, block: Block, known: &P::Known, part: P::Part, share: Option<f64>) -> Result<()>;
}

/// Parses a first block that was already read, and all that follow. The first error in the order of the file ends it.
pub(super) fn read_all<P: Parser>(
    first: Option<Block>,
    blocks: &mut Blocks<'_>,
    parser: &P,
    rows: &mut impl Gather<P>,
) -> Result<()> {
    let Some(first) = first else { return Ok(()) };
    // Alone: it tells the kinds of the columns, and most files have no other.
    let known = rows.known();
    let part = parser.parse(&first, &known);
    rows.add(first, &known, part, blocks.share())?;

    let mut parsed = Parsed { known: rows.known(), parts: Vec::new(), share: None };
    let mut round = Round::read(blocks);
    while !round.blocks.is_empty() || !parsed.parts.is_empty() {
        let known = rows.known();
        let mut parts: Vec<Option<P::Part>> = round.blocks.iter().map(|_| None).collect();
        let (mut next, mut gathered) = (Round::default(), Ok(()));
        rayon::in_place_scope(|scope| {
            for (block, part) in round.blocks.iter().zip(&mut parts) {
                let known = &known;
                scope.spawn(move |_| *part = Some(parser.parse(block, known)));
            }
            gathered = parsed.gather(rows);
            if gathered.is_ok() && round.failure.is_none() && !round.blocks.is_empty() {
                next = Round::read(blocks);
            }
        });
        gathered?;
        let parts = round.blocks.into_iter().zip(parts).filter_map(|(block, part)| Some((block, part?)));
        parsed = Parsed { known, parts: parts.collect(), share: round.share };
        next.failure = round.failure.or(next.failure);
        round = next;
    }
    round.failure.map_or(Ok(()), Err)
}

/// Blocks that are parsed at the same time.
#[derive(Default)]
struct Round {
    blocks: Vec<Block>,
    /// What ended the text, if it was a failure.
    failure: Option<Error>,
    /// The share of the source that was read with them.
    share: Option<f64>,
}

impl Round {
    fn read(blocks: &mut Blocks<'_>) -> Self {
        let mut round = Round::default();
        loop {
            match blocks.next() {
                Ok(Some(block)) => round.blocks.push(block),
                Ok(None) => break,
                Err(error) => {
                    round.failure = Some(error);
                    break;
                }
            }
            // Asked only now: the answer starts the threads, which a short file does not need.
            if round.blocks.len() >= MOST_BLOCKS.min(rayon::current_num_threads() * BLOCKS_PER_THREAD) {
                break;
            }
        }
        round.share = blocks.share();
        round
    }
}

/// A round that was parsed, and what was known then.
struct Parsed<P: Parser> {
    known: P::Known,
    parts: Vec<(Block, P::Part)>,
    share: Option<f64>,
}

impl<P: Parser> Parsed<P> {
    fn gather(&mut self, rows: &mut impl Gather<P>) -> Result<()> {
        self.parts.drain(..).try_for_each(|(block, part)| rows.add(block, &self.known, part, self.share))
    }
}

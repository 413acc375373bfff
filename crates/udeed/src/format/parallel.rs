//! Chunks parsed by several threads, and what they hold gathered in the order of the file.
//!
//! While the threads parse one round of chunks, the calling thread gathers the parts of the round before it and reads
//! (and unzips) the next one. At most three rounds are in memory, however long the file is.

use crate::error::{Error, Result};
use crate::format::chunks::{Chunk, Chunks};

/// Chunks of a round for each thread: enough to even out that some take longer.
const CHUNKS_PER_THREAD: usize = 4;
/// More would only cost memory: one thread reads and gathers.
const MOST_CHUNKS: usize = 16;

/// How the chunks of a format become rows.
pub(super) trait Parser: Sync {
    /// What the chunks before told of those that follow.
    type Known: Sync;
    /// What a chunk holds, or what is wrong in it.
    type Part: Send;

    fn parse(&self, chunk: &Chunk, known: &Self::Known) -> Self::Part;
}

/// Where the parts of the chunks come together.
pub(super) trait Gather<P: Parser> {
    /// What is known before the next chunk.
    fn known(&self) -> P::Known;

    /// Adds the next chunk in the order of the file. It may have been parsed when less was `known` than now. `share`
    /// of the source was read so far, where that can be told.
    fn add(&mut self, chunk: Chunk, known: &P::Known, part: P::Part, share: Option<f64>) -> Result<()>;
}

/// Parses a first chunk that was already read, and all that follow. The first error in the order of the file ends it.
pub(super) fn read_all<P: Parser>(
    first: Option<Chunk>,
    chunks: &mut Chunks<'_>,
    parser: &P,
    rows: &mut impl Gather<P>,
) -> Result<()> {
    let Some(first) = first else { return Ok(()) };
    // Alone: it tells the kinds of the columns, and most files have no other.
    let known = rows.known();
    let part = parser.parse(&first, &known);
    rows.add(first, &known, part, chunks.share())?;

    let mut parsed = Parsed { known: rows.known(), parts: Vec::new(), share: None };
    let mut round = Round::read(chunks);
    while !round.chunks.is_empty() || !parsed.parts.is_empty() {
        let known = rows.known();
        let mut parts: Vec<Option<P::Part>> = round.chunks.iter().map(|_| None).collect();
        let (mut next, mut gathered) = (Round::default(), Ok(()));
        rayon::in_place_scope(|scope| {
            for (chunk, part) in round.chunks.iter().zip(&mut parts) {
                let known = &known;
                scope.spawn(move |_| *part = Some(parser.parse(chunk, known)));
            }
            gathered = parsed.gather(rows);
            if gathered.is_ok() && round.failure.is_none() && !round.chunks.is_empty() {
                next = Round::read(chunks);
            }
        });
        gathered?;
        let parts = round.chunks.into_iter().zip(parts).filter_map(|(chunk, part)| Some((chunk, part?)));
        parsed = Parsed { known, parts: parts.collect(), share: round.share };
        next.failure = round.failure.or(next.failure);
        round = next;
    }
    round.failure.map_or(Ok(()), Err)
}

/// Chunks that are parsed at the same time.
#[derive(Default)]
struct Round {
    chunks: Vec<Chunk>,
    /// What ended the text, if it was a failure.
    failure: Option<Error>,
    /// The share of the source that was read with them.
    share: Option<f64>,
}

impl Round {
    fn read(chunks: &mut Chunks<'_>) -> Self {
        let mut round = Round::default();
        loop {
            match chunks.next() {
                Ok(Some(chunk)) => round.chunks.push(chunk),
                Ok(None) => break,
                Err(error) => {
                    round.failure = Some(error);
                    break;
                }
            }
            // Asked only now: the answer starts the threads, which a short file does not need.
            if round.chunks.len() >= MOST_CHUNKS.min(rayon::current_num_threads() * CHUNKS_PER_THREAD) {
                break;
            }
        }
        round.share = chunks.share();
        round
    }
}

/// A round that was parsed, and what was known then.
struct Parsed<P: Parser> {
    known: P::Known,
    parts: Vec<(Chunk, P::Part)>,
    share: Option<f64>,
}

impl<P: Parser> Parsed<P> {
    fn gather(&mut self, rows: &mut impl Gather<P>) -> Result<()> {
        self.parts.drain(..).try_for_each(|(chunk, part)| rows.add(chunk, &self.known, part, self.share))
    }
}

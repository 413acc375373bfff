//! Chunks parsed by several threads, and their rows collected in the order of the file.
//!
//! While the threads parse one round of chunks, the calling thread collects the rows of the round before and reads (and
//! unzips) the next one. At most three rounds are in memory, however long the file is.

use crate::error::{Error, Result};
use crate::format::chunks::{CHUNK, Chunk, Chunks};

/// Chunks of a round for each thread: enough to even out that some take longer.
const CHUNKS_PER_THREAD: usize = 4;
/// Upper bound for a round. More chunks would only cost memory: one thread reads and collects.
const MOST_CHUNKS: usize = 16;
/// Bytes of a round beyond which no more chunks join it. A chunk is larger than its size where a line is.
const MOST_BYTES: usize = MOST_CHUNKS * CHUNK;

/// Parses the chunks of a format into rows.
pub(super) trait Parser: Sync {
    /// State that earlier chunks determine for later ones, such as the kinds of columns.
    type Context: Sync;
    /// The rows of a chunk, or what is wrong in it.
    type Part: Send;

    fn parse(&self, chunk: &Chunk, context: &Self::Context) -> Self::Part;
}

/// Collects the rows of all chunks.
pub(super) trait Collector<P: Parser> {
    /// The context of the next chunk.
    fn context(&self) -> P::Context;

    /// Adds the next chunk in the order of the file. It may have been parsed in an older `context` than that of now. `share`
    /// of the source was read so far, if that is known.
    fn add(&mut self, chunk: Chunk, context: &P::Context, part: P::Part, share: Option<f64>) -> Result<()>;
}

/// Parses a first chunk that was already read, and all that follow. Stops at the first error in the order of the file.
pub(super) fn read_all<P: Parser>(
    first: Option<Chunk>,
    chunks: &mut Chunks<'_>,
    parser: &P,
    rows: &mut impl Collector<P>,
) -> Result<()> {
    let Some(first) = first else { return Ok(()) };
    // Alone: it determines the kinds of the columns, and most files have no other.
    let context = rows.context();
    let part = parser.parse(&first, &context);
    rows.add(first, &context, part, chunks.share())?;

    let mut parsed = Parsed { context: rows.context(), parts: Vec::new(), share: None };
    let mut round = Round::read(chunks);
    while !round.chunks.is_empty() || !parsed.parts.is_empty() {
        let context = rows.context();
        let mut parts: Vec<Option<P::Part>> = round.chunks.iter().map(|_| None).collect();
        let (mut next, mut collected) = (Round::default(), Ok(()));
        rayon::in_place_scope(|scope| {
            for (chunk, part) in round.chunks.iter().zip(&mut parts) {
                let context = &context;
                scope.spawn(move |_| *part = Some(parser.parse(chunk, context)));
            }
            collected = parsed.collect(rows);
            if collected.is_ok() && round.failure.is_none() && !round.chunks.is_empty() {
                next = Round::read(chunks);
            }
        });
        collected?;
        let parts = round.chunks.into_iter().zip(parts).filter_map(|(chunk, part)| Some((chunk, part?)));
        parsed = Parsed { context, parts: parts.collect(), share: round.share };
        next.failure = round.failure.or(next.failure);
        round = next;
    }
    round.failure.map_or(Ok(()), Err)
}

/// Chunks that are parsed at the same time.
#[derive(Default)]
struct Round {
    chunks: Vec<Chunk>,
    /// The failure that ended the text, if any.
    failure: Option<Error>,
    /// The share of the source that was read after them.
    share: Option<f64>,
}

impl Round {
    fn read(chunks: &mut Chunks<'_>) -> Self {
        let mut round = Round::default();
        let mut bytes = 0;
        loop {
            match chunks.next() {
                Ok(Some(chunk)) => {
                    bytes += chunk.text().len();
                    round.chunks.push(chunk);
                }
                Ok(None) => break,
                Err(error) => {
                    round.failure = Some(error);
                    break;
                }
            }
            // Only now: asking for the number of threads starts them, which a short file does not need.
            if bytes >= MOST_BYTES
                || round.chunks.len() >= MOST_CHUNKS.min(rayon::current_num_threads() * CHUNKS_PER_THREAD)
            {
                break;
            }
        }
        round.share = chunks.share();
        round
    }
}

/// A round that was parsed, and its context.
struct Parsed<P: Parser> {
    context: P::Context,
    parts: Vec<(Chunk, P::Part)>,
    share: Option<f64>,
}

impl<P: Parser> Parsed<P> {
    fn collect(&mut self, rows: &mut impl Collector<P>) -> Result<()> {
        self.parts.drain(..).try_for_each(|(chunk, part)| rows.add(chunk, &self.context, part, self.share))
    }
}

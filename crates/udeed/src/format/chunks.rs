//! Chunks of text that end where a record ends, so that each can be parsed by itself.

use memchr::{memchr, memchr_iter, memrchr, memrchr2};

use crate::error::{Error, Hint, Place, Result};
use crate::format::options::ReadOptions;
use crate::format::source::{Source, checked_utf8};
use crate::text::byte_size;

/// Default size of a chunk in bytes.
pub(super) const CHUNK: usize = 1 << 19;

const LARGEST_CHUNK: usize = 1 << 26;

/// Default for the longest line or CSV record in bytes. What is longer is most likely no text.
pub(super) const LONGEST_LINE: usize = 1 << 26;

/// Default for the largest quoted CSV cell in bytes. In a larger one the closing quote was most likely forgotten.
pub(super) const LARGEST_CELL: usize = 1 << 24;

/// The byte order mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Consecutive whole records.
pub(super) struct Chunk {
    bytes: Vec<u8>,
    /// Offset of the text that was not skipped.
    start: usize,
    /// Line of that offset, counted from 1.
    line: u64,
}

impl Chunk {
    /// The text that was not skipped.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The line that [`Chunk::text`] begins in.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Skips bytes of [`Chunk::text`]; the rest begins in this line.
    pub(super) fn skip(&mut self, bytes: usize, line: u64) {
        self.start += bytes;
        self.line = line;
    }

    /// The lines with their numbers.
    pub(super) fn lines(&self) -> Lines<'_> {
        Lines { text: self.text(), at: 0, number: self.line }
    }
}

/// The lines of a chunk.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    /// Offset of the next line.
    pub(super) at: usize,
    /// Its number.
    pub(super) number: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest);
        let bytes = &rest[..end.unwrap_or(rest.len())];
        let line = Line { bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes), number: self.number };
        self.at += end.map_or(rest.len(), |end| end + 1);
        self.number += 1;
        Some(line)
    }
}

/// One line without its end.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) number: u64,
}

impl<'a> Line<'a> {
    /// The line as text.
    pub(super) fn text(self, source: &Place) -> Result<&'a str> {
        checked_utf8(self.bytes, || source.clone().line(self.number))
    }
}

/// Where a chunk may end.
pub(super) enum Ends {
    /// At the end of any line.
    Lines,
    /// At the end of a CSV record.
    Records(RecordEnds),
}

impl Ends {
    /// The last end of a record, searched from `scanned` on. The bytes begin with a record.
    fn last(&mut self, bytes: &[u8], scanned: usize) -> Option<usize> {
        match self {
            Ends::Lines => memrchr(b'\n', &bytes[scanned..]).map(|at| scanned + at + 1),
            Ends::Records(ends) => ends.last(bytes),
        }
    }

    /// Starts again with other bytes, which begin with a record.
    fn restart(&mut self) {
        if let Ends::Records(ends) = self {
            *ends = RecordEnds::new(ends.delimiter, ends.largest_cell);
        }
    }

    /// Offset of an opening quote that does not close in time, and the bytes that it has for that.
    fn endless_quote(&self) -> Option<(usize, usize)> {
        match self {
            Ends::Lines => None,
            Ends::Records(ends) => ends.endless.map(|opened| (opened, ends.largest_cell)),
        }
    }

    /// Offset of an opening quote that does not close in these bytes, which were scanned.
    fn open_quote(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Ends::Lines => None,
            // A quote that closes where the bytes end is not passed by the scan.
            Ends::Records(ends) => (ends.inside && ends.scanned == bytes.len()).then_some(ends.opened),
        }
    }
}

/// Finds the ends of CSV records: those ends of lines that do not stand in quotes.
///
/// A quote opens only where a cell begins, and closes at the next quote that is not doubled. So only quotes are examined,
/// and most files have none.
pub(super) struct RecordEnds {
    delimiter: u8,
    /// Bytes between quotes, at most.
    largest_cell: usize,
    /// Number of bytes that were scanned.
    scanned: usize,
    /// Whether the scan is inside quotes.
    inside: bool,
    /// Offset of the last opening quote.
    opened: usize,
    /// Offset of an opening quote that does not close in time.
    endless: Option<usize>,
}

impl RecordEnds {
    pub(super) fn new(delimiter: u8, largest_cell: usize) -> Self {
        RecordEnds { delimiter, largest_cell, scanned: 0, inside: false, opened: 0, endless: None }
    }

    fn last(&mut self, bytes: &[u8]) -> Option<usize> {
        if matches!(self.delimiter, b'"' | b'\n' | b'\r') {
            // Such a delimiter makes no sense: the whole text is one chunk.
            return None;
        }
        let mut last = None;
        loop {
            let rest = &bytes[self.scanned..];
            let quote = memchr(b'"', rest);
            if self.inside {
                if self.scanned + quote.unwrap_or(rest.len()) - self.opened > self.largest_cell {
                    self.endless = Some(self.opened);
                    return last;
                }
                // Only the next byte shows whether a quote closes.
                let Some(next) = quote.and_then(|at| rest.get(at + 1)) else {
                    self.scanned += quote.unwrap_or(rest.len());
                    return last;
                };
                let doubled = *next == b'"';
                self.inside = doubled;
                self.scanned += quote.unwrap_or_default() + 1 + usize::from(doubled);
                continue;
            }
            let outside = &rest[..quote.unwrap_or(rest.len())];
            // Only the next byte shows whether a line ends with `\r` or with `\r\n`.
            let outside = if quote.is_none() { outside.strip_suffix(b"\r").unwrap_or(outside) } else { outside };
            if let Some(end) = memrchr2(b'\n', b'\r', outside) {
                last = Some(self.scanned + end + 1);
            }
            self.scanned += outside.len();
            if quote.is_none() {
                return last;
            }
            let before = self.scanned.checked_sub(1).map(|at| bytes[at]);
            self.inside = before.is_none_or(|byte| byte == self.delimiter || byte == b'\n' || byte == b'\r');
            self.opened = self.scanned;
            self.scanned += 1;
        }
    }
}

/// Splits the text of a source into chunks.
pub(super) struct Chunks<'a> {
    source: Source<'a>,
    ends: Ends,
    size: usize,
    longest_line: usize,
    /// Text that was read beyond the last chunk.
    rest: Vec<u8>,
    line: u64,
    state: State,
}

enum State {
    Start,
    Open,
    /// No more text; the failure, if it is not the end of the source.
    Ended(Option<Error>),
}

impl<'a> Chunks<'a> {
    pub(super) fn new(source: Source<'a>, ends: Ends, options: &ReadOptions) -> Self {
        let (size, longest_line) = (options.chunk_size.clamp(1, LARGEST_CHUNK), options.longest_line);
        Chunks { source, ends, size, longest_line, rest: Vec::new(), line: 1, state: State::Start }
    }

    /// The place of the source, for messages.
    pub(super) fn place(&self) -> Place {
        self.source.place()
    }

    /// The share of the source that was read, if that is known.
    pub(super) fn share(&self) -> Option<f64> {
        self.source.share()
    }

    /// The next chunk, or `None` after the last one. A failure to read comes after all text that could be read.
    pub(super) fn next(&mut self) -> Result<Option<Chunk>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut scanned = 0;
        loop {
            if let State::Ended(failure) = &mut self.state {
                // A record that was broken off is not read.
                failure.take().map_or(Ok(()), Err)?;
                if bytes.is_empty() {
                    return Ok(None);
                }
                self.ends.last(&bytes, scanned);
                self.check_quotes(&bytes)?;
                self.check_end(&bytes)?;
                return Ok(Some(self.chunk(bytes)));
            }
            self.fill(&mut bytes);
            if let Some(end) = self.ends.last(&bytes, scanned) {
                self.rest = bytes.split_off(end);
                self.ends.restart();
                return Ok(Some(self.chunk(bytes)));
            }
            self.check_quotes(&bytes)?;
            self.check_length(&bytes)?;
            scanned = bytes.len();
        }
    }

    /// Refuses a quote that opens in these bytes, which begin with a record, and does not close before long.
    fn check_quotes(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((opened, most)) = self.ends.endless_quote() else { return Ok(()) };
        let found = format!("a quote that does not close within {}", byte_size(most as u64));
        Err(self.refused(&bytes[..opened], &found, "a smaller cell", Hint::LongCell))
    }

    /// Refuses a quote that opens in these bytes, the last ones, and does not close.
    fn check_end(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(opened) = self.ends.open_quote(bytes) else { return Ok(()) };
        let found = "a quote that does not close before the end of the file";
        Err(self.refused(&bytes[..opened], found, "a closing quote", Hint::UnclosedQuote))
    }

    /// Refuses a line that goes on through all of these bytes, if it is too long.
    fn check_length(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() <= self.longest_line {
            return Ok(());
        }
        let found = format!("a line longer than {}", byte_size(self.longest_line as u64));
        Err(self.refused(&[], &found, "a shorter one", Hint::LongLine))
    }

    /// Ends the text with an error in the line that comes after these bytes.
    fn refused(&mut self, before: &[u8], found: &str, expected: &str, hint: Hint) -> Error {
        self.state = State::Ended(None);
        self.ends.restart();
        let line = self.line + memchr_iter(b'\n', before).count() as u64;
        Error::input(self.place().line(line), found, expected).with_hint(hint)
    }

    fn fill(&mut self, bytes: &mut Vec<u8>) {
        let first = matches!(self.state, State::Start);
        let most = self.size.max(BYTE_ORDER_MARK.len());
        bytes.reserve_exact(most);
        self.state = match self.source.read(most, bytes) {
            Ok(n) if n < most => State::Ended(None),
            Ok(_) => State::Open,
            Err(error) => State::Ended(Some(error)),
        };
        if first && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
    }

    fn chunk(&mut self, bytes: Vec<u8>) -> Chunk {
        let line = self.line;
        self.line += memchr_iter(b'\n', &bytes).count() as u64;
        Chunk { bytes, start: 0, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_size(chunk_size: usize) -> ReadOptions {
        ReadOptions { chunk_size, ..ReadOptions::default() }
    }

    fn records() -> Ends {
        Ends::Records(RecordEnds::new(b',', LARGEST_CELL))
    }

    fn chunks(text: &[u8], ends: Ends, size: usize) -> Vec<Chunk> {
        let mut chunks = Chunks::new(Source::new("x".into(), text).unwrap(), ends, &of_size(size));
        std::iter::from_fn(|| chunks.next().unwrap()).collect()
    }

    #[test]
    fn lines_are_numbered_and_cleaned() {
        for size in [1, 4, 100] {
            let chunks = chunks(b"\xef\xbb\xbfa\r\n\nb", Ends::Lines, size);
            let lines: Vec<(&[u8], u64)> =
                chunks.iter().flat_map(Chunk::lines).map(|line| (line.bytes, line.number)).collect();
            assert_eq!(lines, [(&b"a"[..], 1), (b"", 2), (b"b", 3)]);
        }
    }

    #[test]
    fn a_chunk_of_csv_does_not_end_within_quotes() {
        let text = b"a,\"x\n\"\"\n\",5\" \n\"y\n\"\nlast,\"\n\"";
        for size in 1..text.len() {
            let chunks = chunks(text, records(), size);
            let texts: Vec<&[u8]> = chunks.iter().map(Chunk::text).collect();
            assert_eq!(texts.concat(), text);
            let starts = [&b"a,"[..], b"\"y", b"last"];
            assert!(texts.iter().all(|text| starts.iter().any(|start| text.starts_with(start))), "{size}: {texts:?}");
            let lines: Vec<u64> = chunks.iter().map(Chunk::line).collect();
            assert!(lines.iter().all(|line| [1, 4, 6].contains(line)), "{lines:?}");
        }
    }

    /// The largest cell is read; one that is larger by a byte is refused, wherever chunks end and whether it closes.
    #[test]
    fn a_quote_closes_before_long() {
        let text = |length: usize, end: &str| format!("a,b\n1,2\n\n3,\"{}{end}\n", "\n".repeat(length - 1));
        for (size, most) in [(CHUNK, LARGEST_CELL), (LARGEST_CHUNK, LARGEST_CELL), (CHUNK, 2 * LARGEST_CELL)] {
            let last = |text: String| {
                let source = Source::new("x".into(), text.as_bytes()).unwrap();
                let ends = Ends::Records(RecordEnds::new(b',', most));
                let mut chunks = Chunks::new(source, ends, &of_size(size));
                loop {
                    match chunks.next() {
                        Ok(Some(_)) => {}
                        Ok(None) => return None,
                        Err(error) => {
                            assert!(chunks.next().unwrap().is_none());
                            return Some(error.to_string());
                        }
                    }
                }
            };
            assert_eq!(last(text(most, "\"")), None);
            let most_said = most >> 20;
            let expected = format!(
                "x, line 4: found a quote that does not close within {most_said}.0 MiB, expected a smaller cell"
            );
            for end in ["\"", "", "\"\""] {
                assert_eq!(last(text(most + 1, end)).as_deref(), Some(expected.as_str()));
            }
        }
    }

    /// The first failure and the texts before it.
    fn failure(text: &str, ends: Ends, options: &ReadOptions) -> (String, Option<String>) {
        let mut chunks = Chunks::new(Source::new("x".into(), text.as_bytes()).unwrap(), ends, options);
        let mut read = String::new();
        loop {
            match chunks.next() {
                Ok(Some(chunk)) => read += std::str::from_utf8(chunk.text()).unwrap(),
                Ok(None) => return (read, None),
                Err(error) => {
                    assert!(chunks.next().unwrap().is_none());
                    return (read, Some(error.to_string()));
                }
            }
        }
    }

    #[test]
    fn a_quote_that_is_open_at_the_end_is_told_by_the_line_it_opened_in() {
        let before = "a,b\n1,\"\n\"\n";
        let expected =
            "x, line 4: found a quote that does not close before the end of the file, expected a closing quote";
        for open in ["2,\"y\n3,z\n", "2,\"", "2,\"y\"\"", "\"2,y\r\n\r\n3,z\n\n", "2,\"y\"\"\n\"\""] {
            for size in [1, 3, 7, 1000] {
                let (read, error) = failure(&format!("{before}{open}"), records(), &of_size(size));
                assert_eq!((read.as_str(), error.as_deref()), (before, Some(expected)), "{open:?}, {size}");
            }
        }
        for closed in ["2,\"y\"", "2,\"\"", "2,\"y\"\"\"", "2,y\"", "2,\"y\"z\"", "2,\"y\"\r\n"] {
            for size in [1, 3, 7, 1000] {
                let text = format!("{before}{closed}");
                let found = failure(&text, records(), &of_size(size));
                assert_eq!(found, (text, None), "{size}");
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_wherever_chunks_end() {
        let options = |chunk_size| ReadOptions { longest_line: 100, ..of_size(chunk_size) };
        let short = format!("{}\n", "x".repeat(99));
        for size in [1, 10, 64] {
            for ends in [|| Ends::Lines, records] {
                assert_eq!(failure(&short.repeat(9), ends(), &options(size)), (short.repeat(9), None));
                let long = format!("{short}{short}{}", "x".repeat(10_000));
                let expected = "x, line 3: found a line longer than 100 bytes, expected a shorter one";
                assert_eq!(failure(&long, ends(), &options(size)).1.as_deref(), Some(expected));
            }
        }
    }

    #[test]
    fn a_failure_comes_after_what_was_read() {
        struct Broken(usize);
        impl std::io::Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                let text = b"one\ntw";
                match self.0 {
                    1 => Ok(text.iter().zip(buffer).map(|(from, to)| *to = *from).count()),
                    _ => Err(std::io::Error::other("broken")),
                }
            }
        }
        let mut chunks = Chunks::new(Source::new("x".into(), Broken(0)).unwrap(), Ends::Lines, &of_size(CHUNK));
        assert_eq!(chunks.next().unwrap().unwrap().text(), b"one\n");
        assert!(chunks.next().is_err());
    }
}

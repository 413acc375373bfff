//! Tokenizer of CSV text, which consists of records: cells between delimiters, one record a line, in quotes where they hold either.
//!
//! A line ends with `\n`, `\r\n` or `\r`; blank lines are no records, and it is known where they are. A quote opens only where a cell begins; inside, a
//! doubled quote is one, and what follows a closing quote belongs to the cell. Of a cell in which that comes after the end of a
//! line, it is known where: most likely its own closing quote was forgotten, and the one found opens another cell.

use memchr::{memchr, memchr_iter, memchr2};

/// Splits a text into records and cells.
pub(super) struct Tokenizer<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Offset of the next record, and its line.
    at: usize,
    line: u64,
    /// The first cells of the last record, of which there may be more.
    cells: Vec<Cell>,
    n_cells: usize,
    /// How many cells of a record are kept.
    most: usize,
    /// Text of the cells whose quotes had to be removed.
    unquoted: Vec<u8>,
    /// The first blank line above the last record, or at the end.
    blank: Option<u64>,
    /// The first cell of the last record whose closing quote is most likely that of another one.
    joined: Option<Joined>,
}

/// A cell with the end of a line in its quotes, and text after them.
#[derive(Clone, Copy)]
pub(super) struct Joined {
    /// The line in which its quote opens.
    pub(super) line: u64,
    /// Its number in the record, from 1.
    pub(super) cell: usize,
}

/// The span of a cell, in the text or in the unquoted cells.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    unquoted: bool,
}

impl<'a> Tokenizer<'a> {
    /// A tokenizer of a text that begins in this line. Of the cells of a record it keeps the first `most` and counts all.
    pub(super) fn new(text: &'a [u8], line: u64, delimiter: u8, most: usize) -> Self {
        let (cells, unquoted) = (Vec::new(), Vec::new());
        Tokenizer { text, delimiter, at: 0, line, cells, n_cells: 0, most, unquoted, blank: None, joined: None }
    }

    /// Offset and line of the text after the last record.
    pub(super) fn position(&self) -> (usize, u64) {
        (self.at, self.line)
    }

    /// The text after the last record.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Skips a line of `length` bytes, its end included.
    pub(super) fn skip_line(&mut self, length: usize) {
        self.at += length;
        self.line += 1;
    }

    /// Number of cells of the last record.
    pub(super) fn len(&self) -> usize {
        self.n_cells
    }

    /// Cell `i` of the last record, one of those that are kept.
    pub(super) fn cell(&self, i: usize) -> &[u8] {
        let Cell { start, end, unquoted } = self.cells[i];
        if unquoted { &self.unquoted[start..end] } else { &self.text[start..end] }
    }

    /// The cells of the last record that are kept.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.cells.len()).map(|i| self.cell(i))
    }

    /// Reads the next record, and returns the line that it begins in.
    pub(super) fn next(&mut self) -> Option<u64> {
        self.blank = None;
        while let Some(b'\n' | b'\r') = self.text.get(self.at) {
            self.blank.get_or_insert(self.line);
            self.end_line();
        }
        if self.at == self.text.len() {
            return None;
        }
        let line = self.line;
        self.cells.clear();
        self.n_cells = 0;
        self.unquoted.clear();
        self.joined = None;
        loop {
            let cell = if self.text.get(self.at) == Some(&b'"') { self.quoted_cell() } else { self.plain_cell() };
            self.n_cells += 1;
            if self.cells.len() < self.most {
                self.cells.push(cell);
            }
            match self.text.get(self.at) {
                Some(&byte) if byte == self.delimiter => self.step(),
                Some(_) => {
                    self.end_line();
                    return Some(line);
                }
                None => return Some(line),
            }
        }
    }

    /// The first blank line that the last call of [`Tokenizer::next`] passed.
    pub(super) fn blank_line(&self) -> Option<u64> {
        self.blank
    }

    /// The first cell of the last record with the end of a line in its quotes, and text after them.
    pub(super) fn joined_cell(&self) -> Option<Joined> {
        self.joined
    }

    /// Steps over the end of a line.
    fn end_line(&mut self) {
        self.at += usize::from(self.text[self.at..].starts_with(b"\r\n"));
        self.step();
    }

    fn step(&mut self) {
        self.line += u64::from(self.text[self.at] == b'\n');
        self.at += 1;
    }

    fn ends_cell(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    /// A cell up to the next delimiter or end of line.
    fn plain_cell(&mut self) -> Cell {
        let start = self.at;
        let rest = &self.text[start..];
        self.at += rest.iter().position(|&byte| self.ends_cell(byte)).unwrap_or(rest.len());
        Cell { start, end: self.at, unquoted: false }
    }

    /// A cell that begins with a quote. One that never closes goes on to the end of the text.
    fn quoted_cell(&mut self) -> Cell {
        let opened = self.at;
        let mut cell = Cell { start: opened + 1, end: self.text.len(), unquoted: false };
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(quote) = memchr(b'"', rest) else {
                self.at = self.text.len();
                break;
            };
            let end = self.at + quote;
            let next = self.text.get(end + 1).copied();
            self.at = end + 1;
            if next == Some(b'"') {
                self.at += 1;
            } else if next.is_none_or(|byte| self.ends_cell(byte)) {
                cell.end = end;
                break;
            } else {
                let after = self.plain_cell();
                let has_text = !self.text[after.start..after.end].trim_ascii().is_empty();
                if has_text && memchr2(b'\n', b'\r', &self.text[opened..end]).is_some() {
                    self.joined.get_or_insert(Joined { line: self.line, cell: self.n_cells + 1 });
                }
                break;
            }
        }
        self.line += memchr_iter(b'\n', &self.text[opened..self.at]).count() as u64;
        // Quotes inside, doubled or after the closing one.
        let end = cell.end.min(self.at);
        if memchr(b'"', &self.text[cell.start..end]).is_some() {
            return self.unquote(cell.start, end);
        }
        Cell { end, ..cell }
    }

    /// Copies the inside of a quoted cell: doubled quotes are one, the closing one is none, those after it stay.
    fn unquote(&mut self, start: usize, end: usize) -> Cell {
        let from = self.unquoted.len();
        let mut rest = &self.text[start..end];
        while let Some(quote) = memchr(b'"', rest) {
            self.unquoted.extend_from_slice(&rest[..quote]);
            rest = &rest[quote + 1..];
            match rest.strip_prefix(b"\"") {
                Some(after) => {
                    self.unquoted.push(b'"');
                    rest = after;
                }
                None => break,
            }
        }
        self.unquoted.extend_from_slice(rest);
        Cell { start: from, end: self.unquoted.len(), unquoted: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines and the cells of the records.
    fn records(text: &[u8], delimiter: u8) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut tokens = Tokenizer::new(text, 1, delimiter, usize::MAX);
        let mut all = Vec::new();
        while let Some(line) = tokens.next() {
            all.push((line, tokens.cells().map(<[u8]>::to_vec).collect()));
        }
        all
    }

    #[test]
    fn lines_are_those_that_records_begin_in() {
        let text = b"a,b\r\n\r\n\"x\ny\",1\n\n\n\nlast,";
        let lines: Vec<u64> = records(text, b',').iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 8]);
    }

    #[test]
    fn cells_beyond_the_most_are_counted_and_not_kept() {
        let mut tokens = Tokenizer::new(b"a,\"\"\"b\"\"\",c,d\ne,f\n", 1, b',', 2);
        assert_eq!((tokens.next(), tokens.len()), (Some(1), 4));
        assert_eq!(tokens.cells().collect::<Vec<_>>(), [&b"a"[..], b"\"b\""]);
        assert_eq!((tokens.next(), tokens.len()), (Some(2), 2));
        assert_eq!(tokens.cell(1), b"f");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The `csv` crate is the oracle, also for what no sane file holds.
        #[test]
        fn records_are_those_of_the_csv_crate(
            text in "[a,;\"\"\n\n\r \u{e9}]{0,24}", delimiter in prop::sample::select(b",;\" \n\r\xa9".to_vec())
        ) {
            let mut reader = ::csv::ReaderBuilder::new();
            let reader = reader.has_headers(false).flexible(true).delimiter(delimiter);
            let expected: Vec<Vec<Vec<u8>>> = reader
                .from_reader(text.as_bytes())
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let found: Vec<Vec<Vec<u8>>> = records(text.as_bytes(), delimiter).into_iter().map(|(_, cells)| cells).collect();
            prop_assert_eq!(found, expected, "{:?}", text);
        }
    }
}

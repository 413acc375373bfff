//! What people read: names from files must not drive their terminal.

use std::io::{self, Write};

use udeed::text::printable;

/// Text in which only line ends and tabs are left of what drives a terminal.
pub fn escaped(text: &str) -> String {
    let pieces = text.split_inclusive(['\n', '\t']).map(|piece| match piece.strip_suffix(['\n', '\t']) {
        Some(before) => format!("{}{}", printable(before), &piece[before.len()..]),
        None => printable(piece).into_owned(),
    });
    pieces.collect()
}

/// Escapes what is written through it.
pub struct Escaped<W: Write> {
    out: W,
    /// The beginning of a character whose other bytes have not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    pub fn new(out: W) -> Self {
        Escaped { out, begun: Vec::new() }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.out.write_all(escaped(&String::from_utf8_lossy(&begun)).as_bytes())?;
        self.out.flush()
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            // Without a length, the error is that the last character is not complete.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        self.out.write_all(escaped(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_stay() {
        assert_eq!(escaped("a\tb\n\u{1b}[2J\r\n\n\u{9b}c"), "a\tb\n\\u{1b}[2J\\r\n\n\\u{9b}c");
        assert_eq!(escaped(""), "");
    }

    /// Writers may cut a character in two.
    #[test]
    fn characters_may_come_in_parts() {
        let text = "größe \u{9b}31m\n€ \u{202e}x\u{1b}";
        for size in 1..=text.len() {
            let mut written = Vec::new();
            let mut out = Escaped::new(&mut written);
            text.as_bytes().chunks(size).for_each(|chunk| out.write_all(chunk).unwrap());
            out.finish().unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), escaped(text), "parts of {size} bytes");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mut written = Vec::new();
        let mut out = Escaped::new(&mut written);
        out.write_all(b"a\x9bb\xe2\x82").unwrap();
        out.finish().unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "a\u{fffd}b\u{fffd}");
    }
}

//! Tokenizer of ARFF lines.

use std::borrow::Cow;

use crate::error::{Error, Place};
use crate::text::quoted;

/// What is wrong in a line.
pub(super) struct LineError {
    found: String,
    expected: String,
    column: Option<String>,
}

impl LineError {
    pub(super) fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        LineError { found: found.into(), expected: expected.into(), column: None }
    }

    /// A row with another number of values than there are attributes.
    pub(super) fn count(found: usize, attributes: usize) -> Self {
        LineError::new(format!("{found} values"), format!("{attributes}, one for each attribute"))
    }

    pub(super) fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    pub(super) fn at(self, place: Place) -> Error {
        let place = match self.column {
            Some(column) => place.column(column),
            None => place,
        };
        Error::input(place, self.found, self.expected)
    }
}

/// The result of parsing some of a line.
pub(super) type Parsed<T> = std::result::Result<T, LineError>;

/// Splits a line into tokens, from the left.
pub(super) struct Tokenizer<'a> {
    pub(super) rest: &'a str,
}

/// A word, or text between quotes.
pub(super) struct Token<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) quoted: bool,
}

impl<'a> Tokenizer<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Tokenizer { rest: line }
    }

    pub(super) fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn skip_separators(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    /// Whether nothing is left but a comment.
    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with('%')
    }

    /// Skips a character, if it comes next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The next token: a word, or text between quotes in which a backslash escapes.
    pub(super) fn token(&mut self) -> Parsed<Token<'a>> {
        let Some(quote) = self.rest.chars().next().filter(|&c| c == '\'' || c == '"') else {
            let end = self.rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '%'));
            let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return Ok(Token { text: Cow::Borrowed(word), quoted: false });
        };
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.rest = &self.rest[i + c.len_utf8()..];
                return Ok(Token { text: text.into(), quoted: true });
            }
            match c {
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, c)) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(LineError::new(format!("{} with no closing quote", quoted(self.rest)), format!("`{quote}` at its end")))
    }
}

impl Token<'_> {
    /// A bare question mark: ARFF's own mark of a missing value, whatever is declared.
    pub(super) fn is_question_mark(&self) -> bool {
        !self.quoted && self.text == "?"
    }
}

/// The tokens of a row.
pub(super) enum Cells<'a> {
    Dense(Vec<Token<'a>>),
    Sparse(Vec<(Token<'a>, Token<'a>)>),
}

impl<'a> Cells<'a> {
    /// Splits a line; `None` if it has no row. A row of more than `most` values is refused.
    pub(super) fn parse(line: &'a str, most: usize) -> Parsed<Option<Cells<'a>>> {
        let mut rest = Tokenizer::new(line);
        rest.skip_blank();
        if rest.at_end() {
            return Ok(None);
        }
        let cells = if rest.eat('{') { Cells::sparse(&mut rest, most)? } else { Cells::dense(&mut rest, most)? };
        rest.skip_blank();
        if !rest.at_end() {
            return Err(LineError::new(quoted(rest.rest), "the end of the row"));
        }
        Ok(Some(cells))
    }

    fn dense(rest: &mut Tokenizer<'a>, most: usize) -> Parsed<Cells<'a>> {
        let (mut cells, mut count) = (Vec::new(), 0);
        loop {
            rest.skip_blank();
            if rest.rest.starts_with(['{', '}']) {
                return Err(LineError::new(quoted(rest.rest), "a value (weights of rows are not read)"));
            }
            let cell = rest.token()?;
            count += 1;
            // Those that are too many are only counted.
            if count <= most {
                cells.push(cell);
            }
            rest.skip_blank();
            let more = rest.eat(',');
            if !more && rest.at_end() {
                return if count <= most { Ok(Cells::Dense(cells)) } else { Err(LineError::count(count, most)) };
            }
        }
    }

    fn sparse(rest: &mut Tokenizer<'a>, most: usize) -> Parsed<Cells<'a>> {
        let mut entries = Vec::new();
        loop {
            rest.skip_blank();
            if rest.eat('}') {
                return Ok(Cells::Sparse(entries));
            }
            if rest.at_end() {
                return Err(LineError::new("a sparse row without end", "`}` after the last value"));
            }
            let index = rest.token()?;
            rest.skip_blank();
            if index.text.is_empty() || rest.at_end() || rest.rest.starts_with([',', '{', '}']) {
                return Err(LineError::new("a sparse row with a lone value", "`index value, index value, ...`"));
            }
            if entries.len() == most {
                return Err(LineError::new(
                    format!("a sparse row of more than {most} values"),
                    "one for each attribute",
                ));
            }
            entries.push((index, rest.token()?));
            rest.skip_blank();
            rest.eat(',');
        }
    }
}

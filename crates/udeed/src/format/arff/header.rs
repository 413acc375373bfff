//! The header of an ARFF file: its declared attributes.

use std::collections::HashSet;

use crate::data::Dictionary;
use crate::error::{Error, Result};
use crate::format::arff::tokenizer::{LineError, Parsed, Tokenizer};
use crate::format::chunks::{Chunk, Chunks};
use crate::format::options::ReadOptions;
use crate::format::sink::RowSink;
use crate::text::quoted;

/// A declared attribute.
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) kind: Declared,
}

/// The declared type of an attribute.
pub(super) enum Declared {
    Numeric,
    Nominal { levels: Dictionary },
    Other(String),
}

impl Declared {
    /// Bytes of the values.
    fn words(&self) -> u64 {
        match self {
            Declared::Nominal { levels } => levels.size(),
            _ => 0,
        }
    }
}

/// Reads everything up to `@data`. Returns the attributes, the bytes that their words take, which `rows` may refuse, and the
/// chunk in which the rows begin.
pub(super) fn read_header(
    chunks: &mut Chunks<'_>,
    options: &ReadOptions,
    rows: &mut dyn RowSink,
) -> Result<(Vec<Attribute>, u64, Chunk)> {
    let place = chunks.place();
    let mut declarations = Declarations::default();
    while let Some(mut chunk) = chunks.next()? {
        let mut lines = chunk.lines();
        while let Some(line) = lines.next() {
            let here = || place.clone().line(line.number);
            if !declarations.read_line(line.text(&place)?).map_err(|error| error.at(here()))? {
                options.check_width(declarations.attributes.len(), here)?;
                rows.count_words(declarations.words)?;
                continue;
            }
            if declarations.attributes.is_empty() {
                return Err(Error::input(here(), "`@data` before any attribute", "`@attribute name type`"));
            }
            let (rest, line) = (lines.at, lines.number);
            chunk.skip(rest, line);
            return Ok((declarations.attributes, declarations.words, chunk));
        }
    }
    let found = if declarations.begun { "the end of the file" } else { "an empty file" };
    Err(Error::input(place, found, "`@data` and rows"))
}

/// The declarations so far.
#[derive(Default)]
struct Declarations {
    attributes: Vec<Attribute>,
    names: HashSet<String>,
    /// Bytes that names and values take.
    words: u64,
    /// Whether there was a line that is not blank.
    begun: bool,
}

impl Declarations {
    /// Reads a line. Returns whether it is the last before the rows.
    fn read_line(&mut self, line: &str) -> Parsed<bool> {
        let mut rest = Tokenizer::new(line);
        rest.skip_blank();
        if rest.at_end() {
            return Ok(false);
        }
        self.begun = true;
        let word = rest.token()?;
        match word.text.to_ascii_lowercase().as_str() {
            "@relation" => Ok(false),
            "@attribute" => {
                let attribute = attribute(&mut rest)?;
                if !self.names.insert(attribute.name.clone()) {
                    let found = format!("the name {} a second time", quoted(&attribute.name));
                    return Err(LineError::new(found, "a name for each attribute"));
                }
                // They stand about four times in what becomes of them: names, and columns with their levels.
                self.words += 4 * (attribute.name.len() as u64 + attribute.kind.words());
                self.attributes.push(attribute);
                Ok(false)
            }
            "@data" => Ok(true),
            _ => Err(LineError::new(quoted(&word.text), "`@relation`, `@attribute` or `@data`")),
        }
    }
}

/// Parses a declaration after `@attribute`.
fn attribute(rest: &mut Tokenizer<'_>) -> Parsed<Attribute> {
    rest.skip_blank();
    if rest.at_end() || rest.rest.starts_with([',', '{', '}']) {
        return Err(LineError::new("`@attribute` without a name", "`@attribute name type`"));
    }
    let name = rest.token()?.text.into_owned();
    rest.skip_blank();
    let kind = if rest.eat('{') {
        Declared::Nominal { levels: levels(rest, &name)? }
    } else if rest.at_end() {
        return Err(LineError::new("no type", "`numeric` or `{a, b, ...}`").in_column(name));
    } else {
        match rest.token()?.text.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => Declared::Numeric,
            kind @ ("string" | "date" | "relational") => Declared::Other(kind.to_owned()),
            other => {
                let error = LineError::new(format!("the type {}", quoted(other)), "`numeric` or `{a, b, ...}`");
                return Err(error.in_column(name));
            }
        }
    };
    Ok(Attribute { name, kind })
}

/// The largest number of values that an attribute may declare.
const MOST_LEVELS: usize = 1 << 20;

/// The values of a nominal declaration, after its `{`.
fn levels(rest: &mut Tokenizer<'_>, name: &str) -> Parsed<Dictionary> {
    let mut levels = Dictionary::default();
    for n_levels in 0.. {
        rest.skip_separators();
        if rest.eat('}') {
            break;
        }
        if rest.at_end() {
            return Err(LineError::new("a nominal declaration without end", "`}` after the last value").in_column(name));
        }
        if rest.rest.starts_with('{') {
            return Err(
                LineError::new("`{` in a nominal declaration", "values, in quotes if they hold braces").in_column(name)
            );
        }
        if n_levels == MOST_LEVELS {
            let error = LineError::new("a nominal declaration of more values", format!("at most {MOST_LEVELS}"));
            return Err(error.in_column(name));
        }
        if levels.code(&rest.token()?.text) as usize != n_levels {
            return Err(LineError::new("a value that is declared twice", "each value once").in_column(name));
        }
    }
    Ok(levels)
}

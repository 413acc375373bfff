//! Weka's attribute-relation file: declared attributes, then rows, dense (`5.1, red`) or sparse (`{0 5.1, 3 red}`).
//!
//! Sparse rows count attributes from 0; what they leave out is 0, which for a nominal attribute is its first value.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::data::{Column, Csr, Dense, Dictionary, Naming, Renumbering};
use crate::error::{Error, Place, Result};
use crate::format::chunks::{Chunk, Chunks, Ends};
use crate::format::csv::label_cache::Met;
use crate::format::number::{leading_number, parse_number};
use crate::format::parallel::{Gather, Parser, read_all};
use crate::format::reader::{LabelColumn, Plan, Reader, Wanted, is_missing};
use crate::format::sink::{Gathered, Keep};
use crate::format::source::Source;
use crate::text::{listed, quoted, shown};

pub(super) fn read<K: Keep>(options: &Reader, source: Source<'_>, rows: K) -> Result<Gathered<K>> {
    let place = source.place();
    let mut chunks = Chunks::new(source, Ends::Lines, options.chunk);
    let (attributes, first) = declarations(&mut chunks)?;
    let names: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    let plan = plan(options, &names, || place.clone())?;
    let columns = plan
        .features
        .iter()
        .map(|feature| column(&attributes[feature.source], feature.kind, || place.clone()))
        .collect::<Result<Vec<Column>>>()?;
    let parser = ArffParser::new(options, &attributes, &plan, place.clone());
    let mut all = ArffRows { rows, classes: Dictionary::default() };
    read_all(Some(first), &mut chunks, &parser, &mut all)?;
    if all.rows.n_rows() == 0 {
        return Err(Error::input(place, "a header and no rows", "rows after `@data`"));
    }
    Ok(Gathered {
        columns,
        naming: Naming::Given,
        kept: None,
        rows: all.rows,
        renumbering: Renumbering::default(),
        classes: plan.label.map(|_| all.classes.into_names()),
        label: plan.label.map(|i| names[i].clone()),
    })
}

/// The columns that are read. The label is by default the attribute called `class`.
fn plan(options: &Reader, names: &[String], place: impl Fn() -> Place) -> Result<Plan> {
    let mut options = Reader { header: true, ..options.clone() };
    if options.label == LabelColumn::None
        && let Some(class) = names.iter().find(|name| name.eq_ignore_ascii_case("class"))
    {
        options.label = LabelColumn::Required(class.clone());
    }
    options.plan(names, place)
}

fn column(attribute: &Attribute, wanted: Option<Wanted>, place: impl Fn() -> Place) -> Result<Column> {
    let refused = |found: &str, hint: String| {
        Err(Error::input(place().column(&attribute.name), found, "a numeric or nominal attribute").with_hint(hint))
    };
    match (&attribute.kind, wanted) {
        (Declared::Other(kind), _) => refused(
            &format!("an attribute of type `{kind}`"),
            format!("leave it out: `--drop {}`", shown(&attribute.name)),
        ),
        (Declared::Numeric, Some(Wanted::Nominal)) => {
            Err(Error::input(place().column(&attribute.name), "a numeric attribute", "a nominal one, as in training")
                .with_hint("declare its values in the file: `{a, b, ...}`"))
        }
        (Declared::Numeric, _) => Ok(Column::numeric(&attribute.name)),
        (Declared::Nominal { .. }, Some(Wanted::Numeric)) => {
            Err(Error::input(place().column(&attribute.name), "a nominal attribute", "a numeric one, as in training"))
        }
        (Declared::Nominal { levels, .. }, _) => Ok(Column::nominal(&attribute.name, levels.clone())),
    }
}

struct Attribute {
    name: String,
    kind: Declared,
}

enum Declared {
    Numeric,
    Nominal { levels: Vec<String>, codes: HashMap<String, u32> },
    Other(String),
}

/// What is wrong in a line.
struct Wrong {
    found: String,
    expected: String,
    column: Option<String>,
}

impl Wrong {
    fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Wrong { found: found.into(), expected: expected.into(), column: None }
    }

    fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    fn at(self, place: Place) -> Error {
        let place = match self.column {
            Some(column) => place.column(column),
            None => place,
        };
        Error::input(place, self.found, self.expected)
    }
}

type Parsed<T> = std::result::Result<T, Wrong>;

/// Everything up to `@data`, and the chunk that the rows begin with.
fn declarations(chunks: &mut Chunks<'_>) -> Result<(Vec<Attribute>, Chunk)> {
    let place = chunks.place();
    let mut declarations = Declarations::default();
    while let Some(mut chunk) = chunks.next()? {
        let mut lines = chunk.lines();
        while let Some(line) = lines.next() {
            let here = || place.clone().line(line.number);
            if !declarations.take(line.text(&place)?).map_err(|wrong| wrong.at(here()))? {
                continue;
            }
            if declarations.attributes.is_empty() {
                return Err(Error::input(here(), "`@data` before any attribute", "`@attribute name type`"));
            }
            let (rest, line) = (lines.at, lines.number);
            chunk.skip(rest, line);
            return Ok((declarations.attributes, chunk));
        }
    }
    let found = if declarations.begun { "the end of the file" } else { "an empty file" };
    Err(Error::input(place, found, "`@data` and rows"))
}

/// What was declared so far.
#[derive(Default)]
struct Declarations {
    attributes: Vec<Attribute>,
    names: HashSet<String>,
    /// Whether there was anything.
    begun: bool,
}

impl Declarations {
    /// Takes in a line, and tells whether it was the last before the rows.
    fn take(&mut self, line: &str) -> Parsed<bool> {
        let mut rest = Text::new(line);
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
                    return Err(Wrong::new(found, "a name for each attribute"));
                }
                self.attributes.push(attribute);
                Ok(false)
            }
            "@data" => Ok(true),
            _ => Err(Wrong::new(quoted(&word.text), "`@relation`, `@attribute` or `@data`")),
        }
    }
}

fn attribute(rest: &mut Text<'_>) -> Parsed<Attribute> {
    rest.skip_blank();
    if rest.at_end() || rest.rest.starts_with([',', '{', '}']) {
        return Err(Wrong::new("`@attribute` without a name", "`@attribute name type`"));
    }
    let name = rest.token()?.text.into_owned();
    rest.skip_blank();
    let kind = if rest.eat('{') {
        let levels = levels(rest, &name)?;
        let codes: HashMap<String, u32> = levels.iter().cloned().zip(0..).collect();
        if codes.len() != levels.len() {
            return Err(Wrong::new("a value that is declared twice", "each value once").in_column(name));
        }
        Declared::Nominal { levels, codes }
    } else if rest.at_end() {
        return Err(Wrong::new("no type", "`numeric` or `{a, b, ...}`").in_column(name));
    } else {
        match rest.token()?.text.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => Declared::Numeric,
            kind @ ("string" | "date" | "relational") => Declared::Other(kind.to_owned()),
            other => {
                let wrong = Wrong::new(format!("the type {}", quoted(other)), "`numeric` or `{a, b, ...}`");
                return Err(wrong.in_column(name));
            }
        }
    };
    Ok(Attribute { name, kind })
}

/// The values of a nominal declaration, after its `{`.
fn levels(rest: &mut Text<'_>, name: &str) -> Parsed<Vec<String>> {
    let mut levels = Vec::new();
    loop {
        rest.skip_separators();
        if rest.eat('}') {
            return Ok(levels);
        }
        if rest.at_end() {
            return Err(Wrong::new("a nominal declaration without end", "`}` after the last value").in_column(name));
        }
        if rest.rest.starts_with('{') {
            return Err(
                Wrong::new("`{` in a nominal declaration", "values, in quotes if they hold braces").in_column(name)
            );
        }
        levels.push(rest.token()?.text.into_owned());
    }
}

/// A line that is taken apart from the left.
struct Text<'a> {
    rest: &'a str,
}

struct Token<'a> {
    text: Cow<'a, str>,
    quoted: bool,
}

impl<'a> Text<'a> {
    fn new(line: &'a str) -> Self {
        Text { rest: line }
    }

    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn skip_separators(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    /// Whether nothing is left but a comment.
    fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with('%')
    }

    fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A word, or text between quotes in which a backslash escapes.
    fn token(&mut self) -> Parsed<Token<'a>> {
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
        Err(Wrong::new(format!("{} with no closing quote", quoted(self.rest)), format!("`{quote}` at its end")))
    }
}

/// One row, taken apart but not understood.
enum Cells<'a> {
    Dense(Vec<Token<'a>>),
    Sparse(Vec<(Token<'a>, Token<'a>)>),
}

impl<'a> Cells<'a> {
    /// `None` for a line without a row.
    fn parse(line: &'a str) -> Parsed<Option<Cells<'a>>> {
        let mut rest = Text::new(line);
        rest.skip_blank();
        if rest.at_end() {
            return Ok(None);
        }
        let cells = if rest.eat('{') { Cells::sparse(&mut rest)? } else { Cells::dense(&mut rest)? };
        rest.skip_blank();
        if !rest.at_end() {
            return Err(Wrong::new(quoted(rest.rest), "the end of the row"));
        }
        Ok(Some(cells))
    }

    fn dense(rest: &mut Text<'a>) -> Parsed<Cells<'a>> {
        let mut cells = Vec::new();
        loop {
            rest.skip_blank();
            if rest.rest.starts_with(['{', '}']) {
                return Err(Wrong::new(quoted(rest.rest), "a value (weights of rows are not read)"));
            }
            cells.push(rest.token()?);
            rest.skip_blank();
            let more = rest.eat(',');
            if !more && rest.at_end() {
                return Ok(Cells::Dense(cells));
            }
        }
    }

    fn sparse(rest: &mut Text<'a>) -> Parsed<Cells<'a>> {
        let mut entries = Vec::new();
        loop {
            rest.skip_blank();
            if rest.eat('}') {
                return Ok(Cells::Sparse(entries));
            }
            if rest.at_end() {
                return Err(Wrong::new("a sparse row without end", "`}` after the last value"));
            }
            let index = rest.token()?;
            rest.skip_blank();
            if index.text.is_empty() || rest.at_end() || rest.rest.starts_with([',', '{', '}']) {
                return Err(Wrong::new("a sparse row with a lone value", "`index value, index value, ...`"));
            }
            entries.push((index, rest.token()?));
            rest.skip_blank();
            rest.eat(',');
        }
    }
}

/// The values of a row with their columns, and its class.
type LabeledRow = (Vec<(usize, f64)>, Option<u32>);

/// The rows of all chunks so far.
struct ArffRows<K> {
    rows: K,
    classes: Dictionary,
}

impl<'a, K: Keep> Gather<ArffParser<'a>> for ArffRows<K> {
    fn known(&self) {}

    fn add(&mut self, _: Chunk, (): &(), part: Result<ArffPart>, share: Option<f64>) -> Result<()> {
        let mut part = part?;
        let places = self.classes.merge(&part.classes);
        part.labels.iter_mut().flatten().for_each(|code| *code = places[*code as usize]);
        let rows = match part.sparse {
            Some(rows) => rows.into(),
            None => Dense::new(part.n_rows, part.width, part.dense)?.into(),
        };
        self.rows.keep(rows, part.labels, share)
    }
}

/// What a chunk holds. Classes are numbered as they occur in it.
struct ArffPart {
    width: usize,
    n_rows: usize,
    sparse: Option<Csr>,
    dense: Vec<f64>,
    labels: Vec<Option<u32>>,
    classes: Dictionary,
    met: Met,
}

impl ArffPart {
    /// One sparse row makes all sparse: it may say little of many attributes.
    fn make_sparse(&mut self) {
        let mut rows = Csr::empty(self.width);
        for row in 0..self.n_rows {
            let values = self.dense[row * self.width..][..self.width].iter().copied().enumerate();
            rows.push_row(values.filter(|&(_, x)| x != 0.0));
        }
        self.dense = Vec::new();
        self.sparse = Some(rows);
    }

    fn push(&mut self, entries: Vec<(usize, f64)>) {
        match &mut self.sparse {
            Some(rows) => rows.push_row(entries.into_iter().filter(|&(_, x)| x != 0.0)),
            None => {
                let start = self.dense.len();
                self.dense.resize(start + self.width, 0.0);
                entries.into_iter().for_each(|(j, x)| self.dense[start + j] = x);
            }
        }
        self.n_rows += 1;
    }
}

/// Turns chunks into rows.
struct ArffParser<'a> {
    options: &'a Reader,
    attributes: &'a [Attribute],
    /// For each attribute its column, if it is one.
    places: Vec<Option<usize>>,
    label: Option<usize>,
    width: usize,
    place: Place,
}

impl Parser for ArffParser<'_> {
    type Known = ();
    type Part = Result<ArffPart>;

    fn parse(&self, chunk: &Chunk, (): &()) -> Result<ArffPart> {
        let mut part = ArffPart {
            width: self.width,
            n_rows: 0,
            sparse: None,
            dense: Vec::new(),
            labels: Vec::new(),
            classes: Dictionary::default(),
            met: Met::default(),
        };
        for line in chunk.lines() {
            let start = part.dense.len();
            if part.sparse.is_none() && self.plain_row(&mut part, line.bytes).is_some() {
                continue;
            }
            part.dense.truncate(start);
            let wrong = |wrong: Wrong| wrong.at(self.place.clone().line(line.number));
            let Some(cells) = Cells::parse(line.text(&self.place)?).map_err(wrong)? else { continue };
            self.push(&mut part, &cells).map_err(wrong)?;
        }
        Ok(part)
    }
}

impl<'a> ArffParser<'a> {
    fn new(options: &'a Reader, attributes: &'a [Attribute], plan: &Plan, place: Place) -> Self {
        let mut places = vec![None; attributes.len()];
        for (j, feature) in plan.features.iter().enumerate() {
            places[feature.source] = Some(j);
        }
        ArffParser { options, attributes, places, label: plan.label, width: plan.features.len(), place }
    }

    /// The short way for a dense row of plain words. `None` says nothing about the row but that it needs the long way,
    /// which would give the same.
    fn plain_row(&self, part: &mut ArffPart, line: &[u8]) -> Option<()> {
        let mut cells = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let mut label = None;
        for (i, attribute) in self.attributes.iter().enumerate() {
            let cell = cells.next()?;
            match (&attribute.kind, self.places[i]) {
                (Declared::Numeric, Some(_)) => {
                    let (x, length) = leading_number(cell)?;
                    part.dense.push((length == cell.len()).then_some(x)?);
                }
                _ if !is_plain_word(cell) => return None,
                (Declared::Nominal { codes, .. }, Some(_)) => {
                    part.dense.push(f64::from(*codes.get(std::str::from_utf8(cell).ok()?)?));
                }
                _ if Some(i) == self.label => label = Some(part.met.find(cell)?),
                _ => {}
            }
        }
        if cells.next().is_some() {
            return None;
        }
        part.labels.extend(label);
        part.n_rows += 1;
        Some(())
    }

    fn push(&self, part: &mut ArffPart, cells: &Cells<'_>) -> Parsed<()> {
        if part.sparse.is_none() && matches!(cells, Cells::Sparse(_)) {
            self.check_implied()?;
            part.make_sparse();
        }
        let (entries, label) = match cells {
            Cells::Dense(cells) => self.dense_row(part, cells)?,
            Cells::Sparse(entries) => self.sparse_row(part, entries)?,
        };
        if self.label.is_some() {
            part.labels.push(label);
        }
        part.push(entries);
        Ok(())
    }

    /// What a sparse row leaves out is the first declared value, so there must be one.
    fn check_implied(&self) -> Parsed<()> {
        for (attribute, place) in self.attributes.iter().zip(&self.places) {
            if let (Declared::Nominal { levels, .. }, Some(_)) = (&attribute.kind, place)
                && levels.is_empty()
            {
                let wrong = Wrong::new("a sparse row, and no declared value", "one that it can leave out");
                return Err(wrong.in_column(&attribute.name));
            }
        }
        Ok(())
    }

    fn dense_row(&self, part: &mut ArffPart, cells: &[Token<'_>]) -> Parsed<LabeledRow> {
        if cells.len() != self.attributes.len() {
            return Err(Wrong::new(
                format!("{} values", cells.len()),
                format!("{}, one for each attribute", self.attributes.len()),
            ));
        }
        let mut entries = Vec::with_capacity(self.width);
        let mut label = None;
        for (i, cell) in cells.iter().enumerate() {
            if Some(i) == self.label {
                label = self.class(part, i, cell)?;
            } else if let Some(j) = self.places[i] {
                entries.push((j, value(&self.attributes[i], cell)?));
            }
        }
        Ok((entries, label))
    }

    fn sparse_row(&self, part: &mut ArffPart, cells: &[(Token<'_>, Token<'_>)]) -> Parsed<LabeledRow> {
        let mut entries = Vec::with_capacity(cells.len());
        let mut label = None;
        let mut labeled = false;
        let mut previous = None;
        for (index, cell) in cells {
            let n = self.attributes.len();
            let Some(i) = index.text.parse::<usize>().ok().filter(|&i| i < n) else {
                return Err(Wrong::new(format!("the index {}", quoted(&index.text)), format!("0 to {}", n - 1)));
            };
            if previous.is_some_and(|previous| i <= previous) {
                return Err(Wrong::new(format!("the index {i} twice or out of order"), "indices that ascend"));
            }
            previous = Some(i);
            if Some(i) == self.label {
                (label, labeled) = (self.class(part, i, cell)?, true);
            } else if let Some(j) = self.places[i] {
                entries.push((j, value(&self.attributes[i], cell)?));
            }
        }
        if let (Some(i), false) = (self.label, labeled) {
            label = self.implied_class(part, i)?;
        }
        Ok((entries, label))
    }

    fn class(&self, part: &mut ArffPart, i: usize, cell: &Token<'_>) -> Parsed<Option<u32>> {
        let known = match &self.attributes[i].kind {
            Declared::Nominal { codes, .. } => codes.contains_key(&*cell.text),
            _ => false,
        };
        let unlabeled = cell.is_question_mark() || (!cell.quoted && !known && is_missing(&cell.text));
        let code = if unlabeled || (!is_missing(&cell.text) && self.options.is_unlabeled(&cell.text)) {
            None
        } else {
            value_or_text(&self.attributes[i], cell)?;
            Some(part.classes.code(&cell.text))
        };
        if !cell.quoted {
            part.met.remember(cell.text.as_bytes(), code);
        }
        Ok(code)
    }

    /// The class of a sparse row that leaves it out: the first declared one, or 0.
    fn implied_class(&self, part: &mut ArffPart, i: usize) -> Parsed<Option<u32>> {
        let text = match &self.attributes[i].kind {
            Declared::Nominal { levels, .. } => levels.first().map_or("", String::as_str),
            _ => "0",
        };
        self.class(part, i, &Token { text: text.into(), quoted: true })
    }
}

impl Token<'_> {
    /// A bare question mark: ARFF's own mark of a missing value, whatever is declared.
    fn is_question_mark(&self) -> bool {
        !self.quoted && self.text == "?"
    }
}

fn value(attribute: &Attribute, cell: &Token<'_>) -> Parsed<f64> {
    let missing = !cell.quoted && is_missing(&cell.text);
    match &attribute.kind {
        _ if cell.is_question_mark() => Ok(f64::NAN),
        Declared::Nominal { codes, .. } => match codes.get(&*cell.text) {
            Some(&code) => Ok(f64::from(code)),
            None if missing => Ok(f64::NAN),
            None => {
                let mut levels: Vec<&String> = codes.keys().collect();
                levels.sort_by_key(|level| codes[*level]);
                Err(Wrong::new(quoted(&cell.text), format!("one of {}", listed(levels))).in_column(&attribute.name))
            }
        },
        _ if missing => Ok(f64::NAN),
        _ => {
            parse_number(&cell.text).map_err(|(found, expected)| Wrong::new(found, expected).in_column(&attribute.name))
        }
    }
}

/// Whether bytes are one word, which means nothing but itself: in ASCII, not missing, without quotes.
fn is_plain_word(cell: &[u8]) -> bool {
    let special = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'%' | b'\'' | b'"' | b'?');
    !cell.is_empty() && cell.is_ascii() && !cell.iter().any(|byte| special(byte) || byte.is_ascii_control())
}

/// A label may also be free text.
fn value_or_text(attribute: &Attribute, cell: &Token<'_>) -> Parsed<()> {
    match &attribute.kind {
        Declared::Other(_) => Ok(()),
        _ => value(attribute, cell).map(|_| ()),
    }
}

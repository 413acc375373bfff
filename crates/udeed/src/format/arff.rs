//! Weka's attribute-relation file: declared attributes, then rows, dense (`5.1, red`) or sparse (`{0 5.1, 3 red}`).
//!
//! Sparse rows count attributes from 0; what they leave out is 0, which for a nominal attribute is its first value.

use std::collections::{HashMap, HashSet};

use crate::data::{Column, Csr, Dense, Dictionary, Labels, Matrix};
use crate::error::{Error, Place, Result, listed, quoted, shown};
use crate::file::{Lines, Source};
use crate::format::reader::{LabelColumn, Plan, Reader, Sheet, Wanted, is_missing, parse_number};

pub(super) fn read(options: &Reader, source: Source<'_>) -> Result<Sheet> {
    let mut lines = source.lines();
    let attributes = declarations(&mut lines)?;
    let names: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    let plan = plan(options, &names, || lines.source())?;
    let features = plan
        .features
        .iter()
        .map(|feature| column(&attributes[feature.source], feature.kind, || lines.source()))
        .collect::<Result<Vec<Column>>>()?;
    let mut rows = RowsBuilder::new(options, &attributes, &plan);
    while let Some(line) = lines.next_line()? {
        let Some(row) = Cells::parse(line).map_err(|wrong| wrong.at(lines.place()))? else { continue };
        rows.push(&row).map_err(|wrong| wrong.at(lines.place()))?;
    }
    if rows.n_rows == 0 {
        return Err(Error::input(lines.source(), "a header and no rows", "rows after `@data`"));
    }
    let label = plan.label.map(|i| names[i].clone());
    let (matrix, labels) = rows.finish()?;
    Ok(Sheet { table: options.table(features, crate::data::Naming::Given, matrix)?, labels, label })
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

/// Everything up to `@data`.
fn declarations(lines: &mut Lines<'_>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    let mut names = HashSet::new();
    let mut empty = true;
    loop {
        let Some(line) = lines.next_line()? else {
            let found = if empty { "an empty file" } else { "the end of the file" };
            return Err(Error::input(lines.source(), found, "`@data` and rows"));
        };
        let mut rest = Text::new(line);
        rest.skip_blank();
        if rest.at_end() {
            continue;
        }
        empty = false;
        let parsed = rest.token().and_then(|word| match word.text.to_ascii_lowercase().as_str() {
            "@relation" => Ok(false),
            "@attribute" => attribute(&mut rest).and_then(|attribute| {
                if !names.insert(attribute.name.clone()) {
                    let found = format!("the name {} a second time", quoted(&attribute.name));
                    return Err(Wrong::new(found, "a name for each attribute"));
                }
                attributes.push(attribute);
                Ok(false)
            }),
            "@data" => Ok(true),
            _ => Err(Wrong::new(quoted(&word.text), "`@relation`, `@attribute` or `@data`")),
        });
        if parsed.map_err(|wrong| wrong.at(lines.place()))? {
            break;
        }
    }
    if attributes.is_empty() {
        return Err(Error::input(lines.place(), "`@data` before any attribute", "`@attribute name type`"));
    }
    Ok(attributes)
}

fn attribute(rest: &mut Text<'_>) -> Parsed<Attribute> {
    rest.skip_blank();
    if rest.at_end() || rest.rest.starts_with([',', '{', '}']) {
        return Err(Wrong::new("`@attribute` without a name", "`@attribute name type`"));
    }
    let name = rest.token()?.text;
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
        levels.push(rest.token()?.text);
    }
}

/// A line that is taken apart from the left.
struct Text<'a> {
    rest: &'a str,
}

struct Token {
    text: String,
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
    fn token(&mut self) -> Parsed<Token> {
        let Some(quote) = self.rest.chars().next().filter(|&c| c == '\'' || c == '"') else {
            let end = self.rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '%'));
            let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            return Ok(Token { text: word.to_owned(), quoted: false });
        };
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.rest = &self.rest[i + c.len_utf8()..];
                return Ok(Token { text, quoted: true });
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
enum Cells {
    Dense(Vec<Token>),
    Sparse(Vec<(Token, Token)>),
}

impl Cells {
    /// `None` for a line without a row.
    fn parse(line: &str) -> Parsed<Option<Cells>> {
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

    fn dense(rest: &mut Text<'_>) -> Parsed<Cells> {
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

    fn sparse(rest: &mut Text<'_>) -> Parsed<Cells> {
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

/// The rows read so far.
struct RowsBuilder<'a> {
    options: &'a Reader,
    attributes: &'a [Attribute],
    /// For each attribute its column, if it is one.
    places: Vec<Option<usize>>,
    label: Option<usize>,
    width: usize,
    n_rows: usize,
    sparse: Option<Csr>,
    dense: Vec<f64>,
    classes: Dictionary,
    labels: Vec<Option<u32>>,
}

impl<'a> RowsBuilder<'a> {
    fn new(options: &'a Reader, attributes: &'a [Attribute], plan: &Plan) -> Self {
        let mut places = vec![None; attributes.len()];
        for (j, feature) in plan.features.iter().enumerate() {
            places[feature.source] = Some(j);
        }
        RowsBuilder {
            options,
            attributes,
            places,
            label: plan.label,
            width: plan.features.len(),
            n_rows: 0,
            sparse: None,
            dense: Vec::new(),
            classes: Dictionary::default(),
            labels: Vec::new(),
        }
    }

    /// One sparse row makes all sparse: it may say little of many attributes.
    fn push(&mut self, cells: &Cells) -> Parsed<()> {
        if self.sparse.is_none() && matches!(cells, Cells::Sparse(_)) {
            self.check_implied()?;
            let mut rows = Csr::empty(self.width);
            for row in 0..self.n_rows {
                let values = self.dense[row * self.width..][..self.width].iter().copied().enumerate();
                rows.push_row(values.filter(|&(_, x)| x != 0.0));
            }
            self.dense = Vec::new();
            self.sparse = Some(rows);
        }
        let (entries, label) = match cells {
            Cells::Dense(cells) => self.dense_row(cells)?,
            Cells::Sparse(entries) => self.sparse_row(entries)?,
        };
        if self.label.is_some() {
            self.labels.push(label);
        }
        match &mut self.sparse {
            Some(rows) => rows.push_row(entries.into_iter().filter(|&(_, x)| x != 0.0)),
            None => {
                let start = self.dense.len();
                self.dense.resize(start + self.width, 0.0);
                entries.into_iter().for_each(|(j, x)| self.dense[start + j] = x);
            }
        }
        self.n_rows += 1;
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

    fn dense_row(&mut self, cells: &[Token]) -> Parsed<LabeledRow> {
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
                label = self.class(i, cell)?;
            } else if let Some(j) = self.places[i] {
                entries.push((j, value(&self.attributes[i], cell)?));
            }
        }
        Ok((entries, label))
    }

    fn sparse_row(&mut self, cells: &[(Token, Token)]) -> Parsed<LabeledRow> {
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
                (label, labeled) = (self.class(i, cell)?, true);
            } else if let Some(j) = self.places[i] {
                entries.push((j, value(&self.attributes[i], cell)?));
            }
        }
        if let (Some(i), false) = (self.label, labeled) {
            label = self.implied_class(i)?;
        }
        Ok((entries, label))
    }

    fn class(&mut self, i: usize, cell: &Token) -> Parsed<Option<u32>> {
        let known = match &self.attributes[i].kind {
            Declared::Nominal { codes, .. } => codes.contains_key(&cell.text),
            _ => false,
        };
        let unlabeled = cell.is_question_mark() || (!cell.quoted && !known && is_missing(&cell.text));
        if unlabeled || (!is_missing(&cell.text) && self.options.is_unlabeled(&cell.text)) {
            return Ok(None);
        }
        value_or_text(&self.attributes[i], cell)?;
        Ok(Some(self.classes.code(&cell.text)))
    }

    /// The class of a sparse row that leaves it out: the first declared one, or 0.
    fn implied_class(&mut self, i: usize) -> Parsed<Option<u32>> {
        let text = match &self.attributes[i].kind {
            Declared::Nominal { levels, .. } => levels.first().cloned().unwrap_or_default(),
            _ => "0".to_owned(),
        };
        self.class(i, &Token { text, quoted: true })
    }

    fn finish(self) -> Result<(Matrix, Labels)> {
        let labels = match self.label {
            Some(_) => Labels::from_codes(self.classes.into_names(), self.labels),
            None => Labels::unlabeled(self.n_rows),
        };
        let matrix = match self.sparse {
            Some(rows) => rows.into(),
            None => Dense::new(self.n_rows, self.width, self.dense)?.into(),
        };
        Ok((matrix, labels))
    }
}

impl Token {
    /// A bare question mark: ARFF's own mark of a missing value, whatever is declared.
    fn is_question_mark(&self) -> bool {
        !self.quoted && self.text == "?"
    }
}

fn value(attribute: &Attribute, cell: &Token) -> Parsed<f64> {
    let missing = !cell.quoted && is_missing(&cell.text);
    match &attribute.kind {
        _ if cell.is_question_mark() => Ok(f64::NAN),
        Declared::Nominal { codes, .. } => match codes.get(&cell.text) {
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

/// A label may also be free text.
fn value_or_text(attribute: &Attribute, cell: &Token) -> Parsed<()> {
    match &attribute.kind {
        Declared::Other(_) => Ok(()),
        _ => value(attribute, cell).map(|_| ()),
    }
}

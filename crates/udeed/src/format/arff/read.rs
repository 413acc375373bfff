//! Reading of ARFF rows.

use std::sync::Arc;

use crate::data::{ClassNames, Column, Csr, Dense, Dictionary, Naming, Renumbering, Table};
use crate::error::{Error, Hint, Place, Result};
use crate::format::arff::header::{Attribute, Declared, read_header};
use crate::format::arff::tokenizer::{Cells, LineError, Parsed, Token};
use crate::format::cells::is_missing;
use crate::format::chunk_labels::ChunkLabels;
use crate::format::chunks::{Chunk, Chunks, Ends};
use crate::format::column_plan::{ColumnOptions, ColumnPlan, FeatureKind, LabelColumn};
use crate::format::number::{leading_number, parse_number};
use crate::format::options::ReadOptions;
use crate::format::pipeline::{Collector, Parser, read_all};
use crate::format::sink::{RowSink, Schema};
use crate::format::source::Source;
use crate::text::{listed, quoted};

pub(super) fn read(options: &ReadOptions, source: Source<'_>, rows: &mut dyn RowSink) -> Result<Schema> {
    let place = source.place();
    let mut chunks = Chunks::new(source, Ends::Lines, options);
    let (attributes, words, first) = read_header(&mut chunks, options, rows)?;
    let names: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    let plan = plan(&options.columns, &names, || place.clone())?;
    let columns = plan
        .features
        .iter()
        .map(|feature| column(&attributes[feature.source], feature.kind, || place.clone()))
        .collect::<Result<Vec<Column>>>()?;
    let parser = ArffParser::new(&options.columns, &attributes, &plan, place.clone());
    let columns: Arc<[Column]> = columns.into();
    let mut all = ArffRows { rows, classes: Dictionary::default(), columns: Arc::clone(&columns), words };
    read_all(Some(first), &mut chunks, &parser, &mut all)?;
    if all.rows.n_rows() == 0 {
        return Err(Error::input(place, "a header and no rows", "rows after `@data`"));
    }
    Ok(Schema {
        columns: columns.to_vec(),
        naming: Naming::Given,
        kept: None,
        renumbering: Renumbering::default(),
        classes: plan.label.map(|_| all.classes.into_names()),
        class_names: match plan.label.map(|i| &attributes[i].kind) {
            Some(Declared::Numeric) if !plan.label_is_text => ClassNames::Numbers,
            _ => plan.class_names(),
        },
        label: plan.label.map(|i| names[i].clone()),
    })
}

/// Plans the columns. The default label is the attribute `class`.
fn plan(options: &ColumnOptions, names: &[String], place: impl Fn() -> Place) -> Result<ColumnPlan> {
    let mut options = ColumnOptions { header: true, ..options.clone() };
    if options.label == LabelColumn::None
        && let Some(class) = names.iter().position(|name| name.eq_ignore_ascii_case("class"))
        && !options.drops(names, class)
    {
        options.label = LabelColumn::Required(names[class].clone());
    }
    options.plan(names, place)
}

/// The column of an attribute.
fn column(attribute: &Attribute, wanted: Option<FeatureKind>, place: impl Fn() -> Place) -> Result<Column> {
    let refused = |found: &str, hint: Hint| {
        Err(Error::input(place().column(&attribute.name), found, "a numeric or nominal attribute").with_hint(hint))
    };
    match (&attribute.kind, wanted) {
        (Declared::Other(kind), _) => {
            refused(&format!("an attribute of type `{kind}`"), Hint::Drop { column: attribute.name.as_str().into() })
        }
        (Declared::Numeric, Some(FeatureKind::Nominal)) => {
            Err(Error::input(place().column(&attribute.name), "a numeric attribute", "a nominal one, as in training")
                .with_hint(Hint::DeclareLevels))
        }
        (Declared::Numeric, _) => Ok(Column::numeric(&attribute.name)),
        (Declared::Nominal { .. }, Some(FeatureKind::Numeric)) => {
            Err(Error::input(place().column(&attribute.name), "a nominal attribute", "a numeric one, as in training"))
        }
        (Declared::Nominal { levels }, _) => {
            Ok(Column::nominal(&attribute.name, levels.names().map(str::to_owned).collect()))
        }
    }
}

/// The values of a row with their columns, and its class.
type LabeledRow = (Vec<(usize, f64)>, Option<u32>);

/// The rows of all chunks so far.
struct ArffRows<'a> {
    rows: &'a mut dyn RowSink,
    classes: Dictionary,
    columns: Arc<[Column]>,
    /// Bytes of the words in the header.
    words: u64,
}

impl<'a> Collector<ArffParser<'a>> for ArffRows<'_> {
    fn context(&self) {}

    fn add(&mut self, _: Chunk, (): &(), part: Result<ArffPart>, share: Option<f64>) -> Result<()> {
        let part = part?;
        if part.sparse.is_none() && self.rows.takes_tables() {
            let rows = Dense::new(part.n_rows, part.width, part.dense)?.into();
            return self.rows.push_table(Table::from_reader(Arc::clone(&self.columns), Naming::Given, rows));
        }
        let labels = part.labels.merge_into(&mut self.classes);
        self.rows.count_words(self.words + self.classes.size())?;
        let rows = match part.sparse {
            Some(rows) => rows.into(),
            None => Dense::new(part.n_rows, part.width, part.dense)?.into(),
        };
        self.rows.push(rows, labels, share)
    }
}

/// The rows of a chunk.
struct ArffPart {
    width: usize,
    n_rows: usize,
    sparse: Option<Csr>,
    dense: Vec<f64>,
    labels: ChunkLabels,
}

impl ArffPart {
    /// Makes all rows sparse, because one is: it may have few values for many attributes.
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

/// Parses chunks into rows.
struct ArffParser<'a> {
    options: &'a ColumnOptions,
    attributes: &'a [Attribute],
    /// The column of each attribute, if it has one.
    columns: Vec<Option<usize>>,
    label: Option<usize>,
    width: usize,
    place: Place,
}

impl Parser for ArffParser<'_> {
    type Context = ();
    type Part = Result<ArffPart>;

    fn parse(&self, chunk: &Chunk, (): &()) -> Result<ArffPart> {
        let mut part =
            ArffPart { width: self.width, n_rows: 0, sparse: None, dense: Vec::new(), labels: ChunkLabels::default() };
        for line in chunk.lines() {
            let start = part.dense.len();
            if part.sparse.is_none() && self.parse_plain_row(&mut part, line.bytes).is_some() {
                continue;
            }
            part.dense.truncate(start);
            let here = |error: LineError| error.at(self.place.clone().line(line.number));
            let Some(cells) = Cells::parse(line.text(&self.place)?, self.attributes.len()).map_err(here)? else {
                continue;
            };
            self.push(&mut part, &cells).map_err(here)?;
        }
        Ok(part)
    }
}

impl<'a> ArffParser<'a> {
    fn new(options: &'a ColumnOptions, attributes: &'a [Attribute], plan: &ColumnPlan, place: Place) -> Self {
        let mut columns = vec![None; attributes.len()];
        for (j, feature) in plan.features.iter().enumerate() {
            columns[feature.source] = Some(j);
        }
        ArffParser { options, attributes, columns, label: plan.label, width: plan.features.len(), place }
    }

    /// Fast path for a dense row of plain words. `None` means only that the row needs the slow path, which gives the same.
    fn parse_plain_row(&self, part: &mut ArffPart, line: &[u8]) -> Option<()> {
        let mut cells = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let mut label = None;
        for (i, attribute) in self.attributes.iter().enumerate() {
            let cell = cells.next()?;
            match (&attribute.kind, self.columns[i]) {
                (Declared::Numeric, Some(_)) => {
                    let (x, length) = leading_number(cell)?;
                    part.dense.push((length == cell.len()).then_some(x)?);
                }
                _ if !is_plain_word(cell) => return None,
                (Declared::Nominal { levels }, Some(_)) => part.dense.push(f64::from(levels.find(cell)?)),
                _ if Some(i) == self.label => label = Some(part.labels.cached(cell)?),
                _ => {}
            }
        }
        if cells.next().is_some() {
            return None;
        }
        part.labels.codes.extend(label);
        part.n_rows += 1;
        Some(())
    }

    /// Slow path for any row.
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
            part.labels.codes.push(label);
        }
        part.push(entries);
        Ok(())
    }

    /// Checks that nominal attributes have a value that a sparse row can leave out: the first one declared.
    fn check_implied(&self) -> Parsed<()> {
        for (attribute, column) in self.attributes.iter().zip(&self.columns) {
            if let (Declared::Nominal { levels }, Some(_)) = (&attribute.kind, column)
                && levels.names().next().is_none()
            {
                let error = LineError::new("a sparse row, and no declared value", "one that it can leave out");
                return Err(error.in_column(&attribute.name));
            }
        }
        Ok(())
    }

    fn dense_row(&self, part: &mut ArffPart, cells: &[Token<'_>]) -> Parsed<LabeledRow> {
        if cells.len() != self.attributes.len() {
            return Err(LineError::count(cells.len(), self.attributes.len()));
        }
        let mut entries = Vec::with_capacity(self.width);
        let mut label = None;
        for (i, cell) in cells.iter().enumerate() {
            if Some(i) == self.label {
                label = self.class(part, i, cell)?;
            } else if let Some(j) = self.columns[i] {
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
                return Err(LineError::new(format!("the index {}", quoted(&index.text)), format!("0 to {}", n - 1)));
            };
            if previous.is_some_and(|previous| i <= previous) {
                return Err(LineError::new(format!("the index {i} twice or out of order"), "indices that ascend"));
            }
            previous = Some(i);
            if Some(i) == self.label {
                (label, labeled) = (self.class(part, i, cell)?, true);
            } else if let Some(j) = self.columns[i] {
                entries.push((j, value(&self.attributes[i], cell)?));
            }
        }
        if let (Some(i), false) = (self.label, labeled) {
            label = self.implied_class(part, i)?;
        }
        Ok((entries, label))
    }

    /// The class code of a cell.
    fn class(&self, part: &mut ArffPart, i: usize, cell: &Token<'_>) -> Parsed<Option<u32>> {
        let known = match &self.attributes[i].kind {
            Declared::Nominal { levels } => levels.find(cell.text.as_bytes()).is_some(),
            _ => false,
        };
        let unlabeled = cell.is_question_mark() || (!cell.quoted && !known && is_missing(&cell.text));
        let code = if unlabeled || (!is_missing(&cell.text) && self.options.is_unlabeled(&cell.text)) {
            None
        } else {
            check_label(&self.attributes[i], cell)?;
            Some(part.labels.classes.code(&cell.text))
        };
        if !cell.quoted {
            part.labels.cache(cell.text.as_bytes(), code);
        }
        Ok(code)
    }

    /// The class code of a sparse row that leaves its class out: that of the first one declared, or of 0.
    fn implied_class(&self, part: &mut ArffPart, i: usize) -> Parsed<Option<u32>> {
        let text = match &self.attributes[i].kind {
            Declared::Nominal { levels } => levels.names().next().unwrap_or_default(),
            _ => "0",
        };
        self.class(part, i, &Token { text: text.into(), quoted: true })
    }
}

/// The value of a cell.
fn value(attribute: &Attribute, cell: &Token<'_>) -> Parsed<f64> {
    let missing = !cell.quoted && is_missing(&cell.text);
    match &attribute.kind {
        _ if cell.is_question_mark() => Ok(f64::NAN),
        Declared::Nominal { levels } => match levels.find(cell.text.as_bytes()) {
            Some(code) => Ok(f64::from(code)),
            None if missing => Ok(f64::NAN),
            None => {
                let expected = format!("one of {}", listed(levels.names()));
                Err(LineError::new(quoted(&cell.text), expected).in_column(&attribute.name))
            }
        },
        _ if missing => Ok(f64::NAN),
        _ => parse_number(&cell.text)
            .map_err(|(found, expected)| LineError::new(found, expected).in_column(&attribute.name)),
    }
}

/// Whether bytes are one word without a special meaning: in ASCII, not missing, without quotes.
fn is_plain_word(cell: &[u8]) -> bool {
    let special = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'%' | b'\'' | b'"' | b'?');
    !cell.is_empty() && cell.is_ascii() && !cell.iter().any(|byte| special(byte) || byte.is_ascii_control())
}

/// Checks a label, which may be a value of its attribute or free text.
fn check_label(attribute: &Attribute, cell: &Token<'_>) -> Parsed<()> {
    match &attribute.kind {
        Declared::Other(_) => Ok(()),
        _ => value(attribute, cell).map(|_| ()),
    }
}

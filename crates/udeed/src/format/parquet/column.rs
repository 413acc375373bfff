//! Columns: what kinds of values are read, and their cells block by block.

use std::borrow::Cow;
use std::fmt::{Display, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, Type as Field};

use crate::data::Dictionary;
use crate::error::Hint;
use crate::format::cells::is_missing;
use crate::format::parquet::file::cause;
use crate::format::parquet::pages::{Batch, PagesTooLarge, general};
use crate::text::{byte_size, quoted};

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Values {
    Bool,
    Int,
    Unsigned,
    Half,
    Float,
    /// Whole numbers over a power of ten.
    Decimal(u32),
    Text,
}

impl Values {
    /// Whether they have one text each: fractions are written in many ways.
    pub(super) fn are_names(self) -> bool {
        matches!(self, Values::Bool | Values::Int | Values::Unsigned | Values::Text)
    }

    /// The values of a field of a file. The error is what is there, for messages.
    pub(super) fn of(field: &Field, column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        let refused = |what: &str| Err(format!("a column of {what}"));
        if field.is_group() {
            let info = field.get_basic_info();
            return match (info.logical_type_ref(), info.converted_type()) {
                (Some(LogicalType::List), _) | (_, ConvertedType::LIST) => refused("lists"),
                (Some(LogicalType::Map), _) | (_, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE) => refused("maps"),
                _ => refused("structs"),
            };
        }
        if field.get_basic_info().has_repetition() && field.get_basic_info().repetition() == Repetition::REPEATED {
            return refused("lists");
        }
        let physical = column.physical_type();
        let whole = match physical {
            Type::BOOLEAN => return Ok(Values::Bool),
            Type::FLOAT | Type::DOUBLE => return Ok(Values::Float),
            // Only timestamps were ever written so.
            Type::INT96 => return refused("times"),
            Type::INT32 | Type::INT64 => true,
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => false,
        };
        match column.logical_type_ref() {
            Some(LogicalType::Decimal(kind)) => return decimal(kind.scale),
            Some(LogicalType::Integer(kind)) if whole && !kind.is_signed => return Ok(Values::Unsigned),
            Some(LogicalType::Integer(_)) if whole => return Ok(Values::Int),
            Some(LogicalType::Unknown) if whole => return Ok(Values::Int),
            Some(LogicalType::Float16) if column.type_length() == 2 => return Ok(Values::Half),
            Some(LogicalType::String | LogicalType::Enum) if physical == Type::BYTE_ARRAY => return Ok(Values::Text),
            Some(LogicalType::Date) => return refused("dates"),
            Some(LogicalType::Time(_) | LogicalType::Timestamp(_)) => return refused("times"),
            Some(LogicalType::Json | LogicalType::Bson | LogicalType::Variant(_)) => return refused("documents"),
            Some(LogicalType::Uuid) => return refused("identifiers (UUID)"),
            Some(LogicalType::Geometry(_) | LogicalType::Geography(_)) => return refused("shapes"),
            Some(_) => return refused("an unknown type"),
            None => {}
        }
        match column.converted_type() {
            ConvertedType::DECIMAL => decimal(column.type_scale()),
            ConvertedType::DATE => refused("dates"),
            ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS => refused("times"),
            ConvertedType::INTERVAL => refused("intervals"),
            ConvertedType::JSON | ConvertedType::BSON => refused("documents"),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Ok(Values::Unsigned)
            }
            _ if whole => Ok(Values::Int),
            // Some writers do not say that their bytes are text.
            _ if physical == Type::BYTE_ARRAY => Ok(Values::Text),
            _ => refused("bytes"),
        }
    }
}

fn decimal(scale: i32) -> std::result::Result<Values, String> {
    match u32::try_from(scale) {
        Ok(scale) if scale <= 38 => Ok(Values::Decimal(scale)),
        _ => Err(format!("a column of decimals of scale {scale}")),
    }
}

/// Column that cells are read into.
pub(super) enum Cells {
    /// Numbers, `NaN` for a missing one.
    Numbers,
    /// Codes of names in the order in which they occur, `NaN` for a missing one.
    Names(Dictionary),
}

/// What is wrong in a block of a column.
#[derive(Debug)]
pub(super) struct CellError {
    /// Row of the block, if it is one cell.
    pub(super) row: Option<usize>,
    pub(super) found: String,
    pub(super) expected: Cow<'static, str>,
    pub(super) hint: Option<Hint>,
}

impl CellError {
    pub(super) fn damaged(error: &ParquetError) -> Self {
        if let ParquetError::External(external) = error
            && let Some(PagesTooLarge { most }) = external.downcast_ref()
        {
            let (found, expected) =
                ("pages that take more memory than they may".into(), format!("at most {}", byte_size(*most)));
            return CellError { row: None, found, expected: expected.into(), hint: Some(Hint::RowsOfFile) };
        }
        let found = format!("damaged values ({})", cause(error));
        CellError { row: None, found, expected: "a whole Parquet file".into(), hint: None }
    }
}

type Cell = std::result::Result<f64, (String, &'static str)>;

/// Reads the cells of a column in a row group.
pub(super) struct Reader {
    values: ColumnReader,
    kind: Values,
    batch: Arc<Batch>,
}

type Read = std::result::Result<(), CellError>;

impl Reader {
    pub(super) fn new(values: ColumnReader, kind: Values, batch: Arc<Batch>) -> Self {
        Reader { values, kind, batch }
    }

    /// Reads the next cells, as many as are asked for.
    pub(super) fn read(&mut self, n: usize, cells: &mut Cells, out: &mut Vec<f64>) -> Read {
        out.clear();
        while out.len() < n {
            let above = out.len();
            let most = self.batch.begin().min(n - above);
            let read = match cells {
                Cells::Numbers => self.numbers(most, out),
                Cells::Names(names) if self.kind == Values::Text => self.texts(most, names, out),
                Cells::Names(names) => self.names(most, names, out),
            };
            read.map_err(|error| CellError { row: error.row.map(|row| above + row), ..error })?;
            if out.len() == above && self.batch.has_ended() {
                let early = format!("a column that ends {} rows too early", n - above);
                return Err(CellError::damaged(&general(early)));
            }
        }
        Ok(())
    }

    fn texts(&mut self, n: usize, names: &mut Dictionary, out: &mut Vec<f64>) -> Read {
        let ColumnReader::ByteArrayColumnReader(reader) = &mut self.values else {
            return Err(CellError::damaged(&general("no text")));
        };
        let mut seen = Seen::default();
        fill(reader, n, out, &mut |text: &ByteArray| {
            let bytes = text.data();
            if let Some(code) = seen.find(bytes) {
                return Ok(code);
            }
            let text = utf8(bytes)?.trim();
            let code = if is_missing(text) { f64::NAN } else { f64::from(names.code(text)) };
            seen.insert(bytes, code);
            Ok(code)
        })
    }

    /// Whole numbers, decimals and truth values by their names: a number that is no `f64` has one of its own, too.
    fn names(&mut self, n: usize, names: &mut Dictionary, out: &mut Vec<f64>) -> Read {
        let mut name = String::new();
        let mut code = |x: &dyn Display| {
            name.clear();
            let _ = write!(name, "{x}");
            f64::from(names.code(&name))
        };
        match (&mut self.values, self.kind) {
            (ColumnReader::BoolColumnReader(reader), _) => fill(reader, n, out, &mut |x| Ok(code(x))),
            (ColumnReader::Int32ColumnReader(reader), Values::Int) => fill(reader, n, out, &mut |x| Ok(code(x))),
            (ColumnReader::Int64ColumnReader(reader), Values::Int) => fill(reader, n, out, &mut |x| Ok(code(x))),
            (ColumnReader::Int32ColumnReader(reader), Values::Unsigned) => {
                fill(reader, n, out, &mut |&x| Ok(code(&(x as u32))))
            }
            (ColumnReader::Int64ColumnReader(reader), Values::Unsigned) => {
                fill(reader, n, out, &mut |&x| Ok(code(&(x as u64))))
            }
            (reader, Values::Decimal(scale)) => decimals(reader, n, out, &mut |x| code(&decimal_text(x, scale))),
            _ => Err(CellError::damaged(&general("values of another type"))),
        }
    }

    fn numbers(&mut self, n: usize, out: &mut Vec<f64>) -> Read {
        match (&mut self.values, self.kind) {
            (reader, Values::Decimal(scale)) => decimals(reader, n, out, &mut |x| decimal_value(x, scale)),
            (ColumnReader::BoolColumnReader(reader), _) => fill(reader, n, out, &mut |&x| Ok(f64::from(u8::from(x)))),
            (ColumnReader::Int32ColumnReader(reader), Values::Unsigned) => {
                fill(reader, n, out, &mut |&x| Ok(f64::from(x as u32)))
            }
            (ColumnReader::Int32ColumnReader(reader), _) => fill(reader, n, out, &mut |&x| Ok(f64::from(x))),
            (ColumnReader::Int64ColumnReader(reader), Values::Unsigned) => {
                fill(reader, n, out, &mut |&x| Ok(x as u64 as f64))
            }
            (ColumnReader::Int64ColumnReader(reader), _) => fill(reader, n, out, &mut |&x| Ok(x as f64)),
            (ColumnReader::FloatColumnReader(reader), _) => fill(reader, n, out, &mut |&x| finite(x.into())),
            (ColumnReader::DoubleColumnReader(reader), _) => fill(reader, n, out, &mut |&x| finite(x)),
            (ColumnReader::FixedLenByteArrayColumnReader(reader), Values::Half) => {
                fill(reader, n, out, &mut |x| match x.data() {
                    &[low, high] => finite(half(u16::from_le_bytes([low, high]))),
                    _ => Err(("a number that does not have two bytes".into(), "one of two bytes")),
                })
            }
            _ => Err(CellError::damaged(&general("values of another type"))),
        }
    }
}

/// Reads decimals, each a whole number over a power of ten.
fn decimals(reader: &mut ColumnReader, n: usize, out: &mut Vec<f64>, number: &mut dyn FnMut(i128) -> f64) -> Read {
    match reader {
        ColumnReader::Int32ColumnReader(reader) => fill(reader, n, out, &mut |&x| Ok(number(x.into()))),
        ColumnReader::Int64ColumnReader(reader) => fill(reader, n, out, &mut |&x| Ok(number(x.into()))),
        ColumnReader::ByteArrayColumnReader(reader) => {
            fill(reader, n, out, &mut |x| big_endian(x.data()).map(&mut *number))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            fill(reader, n, out, &mut |x| big_endian(x.data()).map(&mut *number))
        }
        _ => Err(CellError::damaged(&general("values of another type"))),
    }
}

/// Reads up to `n` cells and turns each into a number.
fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
    out: &mut Vec<f64>,
    number: &mut dyn FnMut(&T::T) -> Cell,
) -> Read {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (_, n_values, n_cells) =
        reader.read_records(n, Some(&mut levels), None, &mut values).map_err(|error| CellError::damaged(&error))?;
    let here = |row: usize| {
        move |(found, expected): (String, &'static str)| CellError {
            row: Some(row),
            found,
            expected: expected.into(),
            hint: None,
        }
    };
    out.reserve(n_cells);
    if n_values == n_cells {
        for (row, value) in values.iter().enumerate() {
            out.push(number(value).map_err(here(row))?);
        }
        return Ok(());
    }
    let mut next = values.iter();
    for (row, &level) in levels.iter().enumerate() {
        match next.as_slice().first().filter(|_| level > 0) {
            Some(value) => {
                next.next();
                out.push(number(value).map_err(here(row))?);
            }
            None => out.push(f64::NAN),
        }
    }
    Ok(())
}

/// Texts that occurred lately in a batch, found by their place in memory: those of a dictionary are there but once.
struct Seen(Box<[(usize, usize, f64); 256]>);

impl Default for Seen {
    fn default() -> Self {
        Seen(Box::new([(0, 0, 0.0); 256]))
    }
}

impl Seen {
    fn place(bytes: &[u8]) -> usize {
        let at = bytes.as_ptr() as usize;
        (at ^ at >> 8) & 255
    }

    fn find(&self, bytes: &[u8]) -> Option<f64> {
        let (at, length, code) = self.0[Seen::place(bytes)];
        (at == bytes.as_ptr() as usize && length == bytes.len()).then_some(code)
    }

    fn insert(&mut self, bytes: &[u8], code: f64) {
        self.0[Seen::place(bytes)] = (bytes.as_ptr() as usize, bytes.len(), code);
    }
}

fn utf8(bytes: &[u8]) -> std::result::Result<&str, (String, &'static str)> {
    std::str::from_utf8(bytes).map_err(|error| {
        let byte = bytes[error.valid_up_to()];
        (format!("the byte 0x{byte:02x}, which is not UTF-8"), "text in UTF-8")
    })
}

/// A number that is not infinite; `NaN` is a missing one.
fn finite(x: f64) -> Cell {
    if x.is_infinite() {
        Err((format!("{}, which is infinite", quoted(&x.to_string())), "a finite number"))
    } else {
        Ok(x)
    }
}

/// A whole number of up to 16 bytes.
fn big_endian(bytes: &[u8]) -> std::result::Result<i128, (String, &'static str)> {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let sign = if negative { 0xff } else { 0 };
    // Longer ones begin with copies of the sign.
    let start = bytes.len().saturating_sub(16);
    let (above, low) = bytes.split_at(start);
    if above.iter().any(|&byte| byte != sign) || low.first().is_some_and(|byte| (byte & 0x80 != 0) != negative) {
        return Err(("a decimal of more than 38 digits".into(), "one that is shorter"));
    }
    Ok(low.iter().fold(if negative { -1 } else { 0 }, |number, &byte| number << 8 | i128::from(byte)))
}

/// The number nearest to a whole number over a power of ten, the same as that of its text.
fn decimal_value(unscaled: i128, scale: u32) -> f64 {
    const EXACT: u128 = 1 << 53;
    // Both are exact, so that the quotient is the nearest number.
    if unscaled.unsigned_abs() <= EXACT && scale <= 22 {
        return unscaled as f64 / 10f64.powi(scale as i32);
    }
    format!("{unscaled}e-{scale}").parse().unwrap_or(f64::NAN)
}

/// The same as text, without zeros at its end.
fn decimal_text(unscaled: i128, scale: u32) -> String {
    let scale = scale as usize;
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let part = part.trim_end_matches('0');
    let sign = if unscaled < 0 { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

/// A number of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// A column of a file that is read.
pub(super) struct Column {
    pub(super) name: String,
    /// Place among the columns of a row group.
    pub(super) leaf: usize,
    pub(super) descriptor: Arc<ColumnDescriptor>,
    pub(super) values: Values,
}

impl Column {
    /// What keeps every digit: names, but of fractions numbers.
    pub(super) fn exact_cells(&self) -> Cells {
        match self.values {
            Values::Decimal(_) => Cells::Names(Dictionary::default()),
            values if values.are_names() => Cells::Names(Dictionary::default()),
            _ => Cells::Numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960464477539063e-8),
            (0x03ff, 6.097555160522461e-5),
            (0x0400, 6.103515625e-5),
            (0x3555, 0.333251953125),
            (0x8000, -0.0),
            (0x7c00, f64::INFINITY),
        ];
        known.into_iter().for_each(|(bits, x)| assert_eq!(half(bits).to_bits(), f64::to_bits(x), "{bits:x}"));
        assert!(half(0x7c01).is_nan());
    }

    #[test]
    fn decimals_are_those_of_their_text() {
        let texts = [
            "0.1",
            "-12345.678",
            "99999999999999999999999999999999999.999",
            "0.00000000000000000000000000000000000001",
        ];
        for text in texts {
            let unscaled: i128 = text.replace('.', "").parse().unwrap();
            let scale = text.rsplit_once('.').unwrap().1.len() as u32;
            assert_eq!(decimal_value(unscaled, scale).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            assert_eq!(decimal_text(unscaled, scale), text);
        }
    }

    #[test]
    fn bytes_are_numbers_of_any_length() {
        assert_eq!(big_endian(&[]), Ok(0));
        assert_eq!(big_endian(&[0xff]), Ok(-1));
        assert_eq!(big_endian(&[0, 0xff]), Ok(255));
        assert_eq!(big_endian(&[0xff, 0x7f]), Ok(-129));
        assert_eq!(big_endian(&i128::MIN.to_be_bytes()), Ok(i128::MIN));
        let longer = |sign: u8, low: i128| [&[sign; 16][..], &low.to_be_bytes()].concat();
        assert_eq!(big_endian(&longer(0xff, -5)), Ok(-5));
        assert!(big_endian(&longer(0, -5)).is_err() && big_endian(&longer(1, 5)).is_err());
    }
}

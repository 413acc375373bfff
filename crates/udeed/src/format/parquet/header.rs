//! Headers of pages, in the compact protocol of Thrift.

use parquet::basic::Encoding;

/// The header of a page.
#[derive(Debug, PartialEq)]
pub(super) struct PageHeader {
    /// Bytes of the page after it is unpacked.
    pub(super) unpacked: usize,
    /// Bytes of the page in the file.
    pub(super) packed: usize,
    /// Checksum of these bytes, if the writer gave one.
    pub(super) crc: Option<u32>,
    pub(super) body: PageBody,
    /// Bytes of the header itself.
    pub(super) length: usize,
}

/// What a page holds.
#[derive(Debug, PartialEq)]
pub(super) enum PageBody {
    Dictionary {
        n_values: u32,
        encoding: Encoding,
    },
    Data {
        n_values: u32,
        encoding: Encoding,
        levels: Encoding,
        repetition: Encoding,
    },
    DataV2 {
        n_values: u32,
        n_nulls: u32,
        n_rows: u32,
        encoding: Encoding,
        levels: u32,
        repetition: u32,
        packed: bool,
    },
    /// An index, or what only later versions of the format have.
    Other,
}

/// Why a header cannot be read.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// It goes on after these bytes.
    Short,
    /// It is no header.
    Broken,
}

type Parsed<T> = Result<T, Fault>;

impl PageHeader {
    /// The header that bytes begin with.
    pub(super) fn parse(bytes: &[u8]) -> Parsed<Self> {
        let mut reader = Thrift { bytes, at: 0 };
        let (mut kind, mut packed, mut unpacked, mut crc) = (None, None, None, None);
        let (mut data, mut dictionary, mut second) = (Fields::default(), Fields::default(), Fields::default());
        reader.structure(0, &mut |reader, id, field| {
            match (id, field) {
                (1, INT) => kind = Some(reader.zigzag()?),
                (2, INT) => unpacked = Some(reader.zigzag()?),
                (3, INT) => packed = Some(reader.zigzag()?),
                (4, INT) => crc = Some(reader.zigzag()? as u32),
                (5, STRUCT) => data = reader.numbers()?,
                (7, STRUCT) => dictionary = reader.numbers()?,
                (8, STRUCT) => second = reader.numbers()?,
                _ => reader.skip(field, 0)?,
            }
            Ok(())
        })?;
        let size = |bytes: Option<i64>| bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(Fault::Broken);
        let body = match kind {
            Some(0) => PageBody::Data {
                n_values: data.count(1)?,
                encoding: data.encoding(2)?,
                levels: data.encoding(3)?,
                repetition: data.encoding(4)?,
            },
            Some(2) => PageBody::Dictionary { n_values: dictionary.count(1)?, encoding: dictionary.encoding(2)? },
            Some(3) => PageBody::DataV2 {
                n_values: second.count(1)?,
                n_nulls: second.count(2)?,
                n_rows: second.count(3)?,
                encoding: second.encoding(4)?,
                levels: second.count(5)?,
                repetition: second.count(6)?,
                packed: second.0[7] != Some(0),
            },
            Some(_) => PageBody::Other,
            None => return Err(Fault::Broken),
        };
        Ok(PageHeader { unpacked: size(unpacked)?, packed: size(packed)?, crc, body, length: reader.at })
    }
}

/// Whether metadata of a file tell that columns are encrypted. What cannot be read does not: the whole parser says why.
pub(super) fn is_encrypted(metadata: &[u8]) -> bool {
    const ENCRYPTION: i16 = 8;
    let mut found = false;
    let mut reader = Thrift { bytes: metadata, at: 0 };
    let _ = reader.structure(0, &mut |reader, id, field| {
        found |= id == ENCRYPTION && field == STRUCT;
        reader.skip(field, 0)
    });
    found
}

/// The numbers in the first fields of a structure; those of truth values are 0 and 1.
#[derive(Default)]
struct Fields([Option<i64>; 8]);

impl Fields {
    fn count(&self, id: usize) -> Parsed<u32> {
        self.0[id].and_then(|n| u32::try_from(n).ok()).ok_or(Fault::Broken)
    }

    fn encoding(&self, id: usize) -> Parsed<Encoding> {
        Ok(match self.0[id].ok_or(Fault::Broken)? {
            0 => Encoding::PLAIN,
            2 => Encoding::PLAIN_DICTIONARY,
            3 => Encoding::RLE,
            #[expect(deprecated)]
            4 => Encoding::BIT_PACKED,
            5 => Encoding::DELTA_BINARY_PACKED,
            6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            7 => Encoding::DELTA_BYTE_ARRAY,
            8 => Encoding::RLE_DICTIONARY,
            9 => Encoding::BYTE_STREAM_SPLIT,
            _ => return Err(Fault::Broken),
        })
    }
}

// Types of fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const SHORT: u8 = 4;
const INT: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Structures inside each other, at most.
const DEEPEST: usize = 32;

/// A reader of the compact protocol.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What is done with a field: its number and its type.
type VisitField<'v, 'a> = dyn FnMut(&mut Thrift<'a>, i16, u8) -> Parsed<()> + 'v;

impl<'a> Thrift<'a> {
    fn byte(&mut self) -> Parsed<u8> {
        let byte = *self.bytes.get(self.at).ok_or(Fault::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Parsed<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Broken)
    }

    fn zigzag(&mut self) -> Parsed<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Visits the fields of a structure.
    fn structure(&mut self, depth: usize, visit: &mut VisitField<'_, 'a>) -> Parsed<()> {
        if depth > DEEPEST {
            return Err(Fault::Broken);
        }
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| Fault::Broken)?,
                more => id.checked_add(i16::from(more)).ok_or(Fault::Broken)?,
            };
            visit(self, id, head & 15)?;
        }
    }

    /// The numbers in the first fields of a structure.
    fn numbers(&mut self) -> Parsed<Fields> {
        let mut fields = Fields::default();
        self.structure(1, &mut |reader, id, field| {
            let number = match field {
                TRUE => Some(1),
                FALSE => Some(0),
                INT => Some(reader.zigzag()?),
                _ => {
                    reader.skip(field, 1)?;
                    None
                }
            };
            if let Some(place) = usize::try_from(id).ok().and_then(|id| fields.0.get_mut(id)) {
                *place = number;
            }
            Ok(())
        })?;
        Ok(fields)
    }

    /// Passes over a field.
    fn skip(&mut self, field: u8, depth: usize) -> Parsed<()> {
        match field {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            SHORT | INT | LONG => self.number().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.number()?;
                self.pass(length)
            }
            LIST | SET => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.skip_all(length, &[head & 15], depth)
            }
            MAP => {
                let length = self.number()?;
                if length == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                self.skip_all(length, &[kinds >> 4, kinds & 15], depth)
            }
            STRUCT => self.structure(depth + 1, &mut |reader, _, field| reader.skip(field, depth + 1)),
            _ => Err(Fault::Broken),
        }
    }

    /// Passes over the elements of a list or a map.
    fn skip_all(&mut self, length: u64, kinds: &[u8], depth: usize) -> Parsed<()> {
        if depth > DEEPEST {
            return Err(Fault::Broken);
        }
        for _ in 0..length {
            for &kind in kinds {
                match kind {
                    // In a list a truth value takes a byte.
                    TRUE | FALSE => self.pass(1)?,
                    _ => self.skip(kind, depth + 1)?,
                }
            }
        }
        Ok(())
    }

    fn pass(&mut self, length: u64) -> Parsed<()> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length)).ok_or(Fault::Broken)?;
        if end > self.bytes.len() {
            return Err(Fault::Short);
        }
        self.at = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 3 values, with statistics to be passed over.
    const HEADER: [u8; 30] = [
        0x15, 0, 0x15, 48, 0x15, 52, 0x2c, 0x15, 6, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1, 9, 0x18, 1, 8, 0x16, 2,
        0x11, 0, 0, 0, 99, 99,
    ];

    #[test]
    fn a_header_is_read_as_far_as_it_goes() {
        let body = PageBody::Data {
            n_values: 3,
            encoding: Encoding::RLE_DICTIONARY,
            levels: Encoding::RLE,
            repetition: Encoding::RLE,
        };
        let header = PageHeader { unpacked: 24, packed: 26, crc: None, body, length: 28 };
        assert_eq!(PageHeader::parse(&HEADER), Ok(header));
        (0..28).for_each(|length| assert_eq!(PageHeader::parse(&HEADER[..length]), Err(Fault::Short)));
    }

    #[test]
    fn a_header_that_nests_or_counts_without_end_is_refused() {
        let nested = [0x9c].into_iter().chain(std::iter::repeat_n(0x1c, 100_000)).collect::<Vec<u8>>();
        assert_eq!(PageHeader::parse(&nested), Err(Fault::Broken));
        let lists = [0x99].into_iter().chain(std::iter::repeat_n(0x19, 100_000)).collect::<Vec<u8>>();
        assert_eq!(PageHeader::parse(&lists), Err(Fault::Broken));
        let endless = [0x99, 0xf5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert_eq!(PageHeader::parse(&endless), Err(Fault::Short));
        let negative = [0x15, 0, 0x15, 1, 0x15, 1, 0];
        assert_eq!(PageHeader::parse(&negative), Err(Fault::Broken));
    }
}

//! Parquet files that are not what they seem: read or refused, in bounded memory and without a panic.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use udeed::data::Kind;
use udeed::format::{Format, Reader, RecordColumn, RecordWriter, Sheet};

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../udeed-cli/tests/parquet");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "parquet")).collect();
    files.sort();
    assert_eq!(files.len(), 8);
    files
}

fn read(bytes: &[u8]) -> udeed::Result<Sheet> {
    Reader::new().format(Format::Parquet).read_from("rows", bytes)
}

/// A file of one column of whole numbers.
fn numbers(n: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut records = RecordWriter::new(&mut file, [("x", RecordColumn::Count)]).unwrap();
    (0..n).for_each(|i| records.count(i).unwrap());
    records.finish().unwrap();
    file
}

/// The same rows under other metadata.
fn with_metadata(file: &[u8], change: impl Fn(ParquetMetaData) -> ParquetMetaData) -> Vec<u8> {
    let tail = file.len() - 8;
    let length = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap()) as usize;
    let metadata = ParquetMetaDataReader::decode_metadata(&file[tail - length..tail]).unwrap();
    let mut forged = file[..tail - length].to_vec();
    ParquetMetaDataWriter::new(&mut forged, &change(metadata)).finish().unwrap();
    forged
}

/// Every byte of every file in turn is another: columns that cannot be read are left out, so that rows are looked at.
#[test]
fn a_changed_byte_is_read_or_refused() {
    let reader = Reader::new().format(Format::Parquet).label("kind");
    for path in fixtures() {
        let whole = std::fs::read(&path).unwrap();
        let has_struct = !["polars", "pandas"].iter().any(|name| path.to_string_lossy().contains(name));
        let reader = reader.clone().drop(["day", "list", "struct"].into_iter().take(if has_struct { 3 } else { 2 }));
        assert_eq!(reader.read_from("rows", &whole[..]).unwrap().table.n_rows(), 40, "{path:?}");
        let mut bytes = whole.clone();
        for at in 0..whole.len() {
            bytes[at] = whole[at].wrapping_add(1 + (at * 89 % 255) as u8);
            let _ = reader.read_from("rows", &bytes[..]);
            bytes[at] = whole[at];
        }
    }
}

#[test]
fn rows_that_are_not_there_are_refused() {
    let file = numbers(1000);
    assert_eq!(read(&file).unwrap().table.n_rows(), 1000);
    for n in [1 << 60, i64::MAX, 1001, -1] {
        let forge = |both: bool| {
            with_metadata(&file, |metadata| {
                let mut builder = metadata.into_builder();
                for group in builder.take_row_groups() {
                    let column = group.column(0).clone().into_builder();
                    let column = if both { column.set_num_values(n) } else { column };
                    let columns = vec![column.build().unwrap()];
                    let group = group.into_builder().set_num_rows(n).set_column_metadata(columns).build().unwrap();
                    builder = builder.add_row_group(group);
                }
                builder.build()
            })
        };
        for both in [true, false] {
            let error = read(&forge(both)).unwrap_err().to_string();
            assert!(error.starts_with("rows") && error.contains("expected a whole Parquet file"), "{n}: {error}");
        }
    }
}

#[test]
fn a_column_that_lies_elsewhere_is_refused() {
    let file = numbers(10);
    for (at, length) in [(-1, 10), (4, -1), (4, i64::MAX), (i64::MAX, 4), (1 << 40, 10), (4, 0)] {
        let forged = with_metadata(&file, |metadata| {
            let mut builder = metadata.into_builder();
            for group in builder.take_row_groups() {
                let column = group.column(0).clone().into_builder().set_data_page_offset(at);
                let column = column.set_dictionary_page_offset(None).set_total_compressed_size(length);
                let columns = vec![column.build().unwrap()];
                builder = builder.add_row_group(group.into_builder().set_column_metadata(columns).build().unwrap());
            }
            builder.build()
        });
        let error = read(&forged).unwrap_err().to_string();
        assert!(error.contains("column `x`") && error.contains("expected a whole Parquet file"), "{at}: {error}");
    }
}

#[test]
fn thousands_of_columns_are_read() {
    let names: Vec<String> = (0..5000).map(|j| format!("x{j}")).collect();
    let mut file = Vec::new();
    let mut records = RecordWriter::new(&mut file, names.iter().map(|name| (name, RecordColumn::Number))).unwrap();
    (0..3 * 5000).for_each(|i| records.number(f64::from(i)).unwrap());
    records.finish().unwrap();
    let table = read(&file).unwrap().table;
    assert_eq!(table.matrix().to_dense().unwrap().get(2)[4999], 14_999.0);
    let few = Reader::new().format(Format::Parquet).most_columns(4999).read_from("rows", &file[..]).unwrap_err();
    assert!(few.to_string().contains("5000 columns"), "{few}");
}

/// Row groups of so many rows of thousands of columns would take gigabytes before the first is written.
#[test]
fn wide_rows_are_written_in_smaller_groups() {
    let mut file = Vec::new();
    let mut records = RecordWriter::new(&mut file, [("text", RecordColumn::Text)]).unwrap();
    for i in 0..150 {
        records.text(Some(&format!("{i}{}", "x".repeat(1 << 20)))).unwrap();
    }
    records.finish().unwrap();
    let tail = file.len() - 8;
    let length = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap()) as usize;
    let metadata = ParquetMetaDataReader::decode_metadata(&file[tail - length..tail]).unwrap();
    let rows: Vec<i64> = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).collect();
    assert!(rows.len() == 3 && rows.iter().sum::<i64>() == 150, "{rows:?}");
}

/// What a name is, a number may be where names are wanted; words of a missing value are those of CSV.
#[test]
fn words_and_numbers_are_levels_as_in_csv() {
    let words = Type::primitive_type_builder("word", Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::Enum));
    let codes = Type::primitive_type_builder("code", Physical::INT64)
        .with_repetition(Repetition::REQUIRED)
        .with_converted_type(ConvertedType::INT_64);
    let fields = [words, codes].map(|field| Arc::new(field.build().unwrap()));
    let schema = Type::group_type_builder("rows").with_fields(fields.to_vec()).build().unwrap();
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let cells = [" b", "a", "NA", "?", "", "b ", "nan"].map(ByteArray::from);
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&cells, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[10, 9, 10, -1, 9, 9, 9], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let reader = Reader::new().format(Format::Parquet);
    let sheet = reader.clone().nominal(["code"]).read_from("rows", &file[..]).unwrap();
    let levels: Vec<&Kind> = sheet.table.columns().iter().map(|column| &column.kind).collect();
    let nominal = |levels: &[&str]| Kind::Nominal { levels: levels.iter().map(|&level| level.to_owned()).collect() };
    assert_eq!(levels, [&nominal(&["a", "b"]), &nominal(&["-1", "10", "9"])]);
    let rows = sheet.table.matrix().to_dense().unwrap();
    assert_eq!(rows.get(0), [1.0, 1.0]);
    assert!(rows.get(2)[0].is_nan() && rows.get(6)[0].is_nan());
    let labels = reader.label("code").read_from("rows", &file[..]).unwrap().labels;
    assert_eq!(labels.classes(), ["-1", "9", "10"]);
}

/// A page with a checksum is believed only if it matches: in what is not the header of a page or the end of the file.
#[test]
fn a_changed_byte_of_a_page_with_a_checksum_is_refused() {
    let path = fixtures().into_iter().find(|path| path.ends_with("pyarrow-lz4.parquet")).unwrap();
    let whole = std::fs::read(path).unwrap();
    let tail = whole.len() - 8;
    let end = tail - u32::from_le_bytes(whole[tail..tail + 4].try_into().unwrap()) as usize;
    let reader = Reader::new().format(Format::Parquet).label("kind").drop(["day", "list", "struct"]);
    let cells = |bytes: &[u8]| -> udeed::Result<Vec<u64>> {
        let table = reader.read_from("rows", bytes)?.table;
        Ok(table.matrix().to_dense()?.values().iter().map(|x| x.to_bits()).collect())
    };
    let expected = cells(&whole).unwrap();
    let (mut by_checksum, mut silent) = (0, 0);
    let mut bytes = whole.clone();
    for at in 4..end {
        bytes[at] ^= 1 + (at % 255) as u8;
        match cells(&bytes) {
            Ok(found) => silent += usize::from(found != expected),
            Err(error) => {
                by_checksum += usize::from(error.to_string().contains("a page whose checksum does not match"));
            }
        }
        bytes[at] = whole[at];
    }
    assert!(by_checksum > 2000 && silent < 20, "{by_checksum} of {end} by checksum, {silent} not at all");
}

/// Numbers that are one as `f64` are two names.
#[test]
fn whole_numbers_of_any_length_are_names_of_their_own() {
    let ids = [9_007_199_254_740_992, 9_007_199_254_740_993, 7, 9_007_199_254_740_993];
    let mut file = Vec::new();
    let mut records = RecordWriter::new(&mut file, ["id", "x"].map(|name| (name, RecordColumn::Count))).unwrap();
    for id in ids {
        records.count(id).unwrap();
        records.count(1).unwrap();
    }
    records.finish().unwrap();
    let reader = Reader::new().format(Format::Parquet);
    let labels = reader.clone().label("id").read_from("rows", &file[..]).unwrap().labels;
    assert_eq!(labels.classes(), ["7", "9007199254740992", "9007199254740993"]);
    assert_eq!((0..4).map(|i| labels.get(i).unwrap()).collect::<Vec<usize>>(), [1, 2, 0, 2]);
    let table = reader.nominal(["id"]).read_from("rows", &file[..]).unwrap().table;
    let Kind::Nominal { levels } = &table.columns()[0].kind else { panic!("it is nominal") };
    assert_eq!(levels, labels.classes());
}

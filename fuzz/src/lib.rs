//! What the fuzz targets do with their bytes. The first byte chooses how, the others are the file.

#[path = "../../crates/udeed/tests/kinds/mod.rs"]
mod kinds;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use flate2::Crc;
use safetensors::SafeTensors;
use udeed::data::Table;
use udeed::format::{Format, Layout, Reader, Sheet, Writer};
use udeed::model::Model;
use udeed::prepare::{Preparation, Scaling};

/// Reads rows, and does with them what is done with rows.
pub fn rows(format: Format, data: &[u8]) {
    let Some((&options, bytes)) = data.split_first() else { return };
    let Ok(sheet) = reader(format, options).read_from("rows", bytes) else { return };
    assert_eq!(sheet.labels.len(), sheet.table.n_rows());
    Table::new(sheet.table.columns().to_vec(), sheet.table.matrix().clone()).expect("sound rows");
    for scaling in [Scaling::MinMax, Scaling::Standard, Scaling::None] {
        if let Ok(preparation) = Preparation::fit(&sheet.table, scaling) {
            let features = preparation.apply(&sheet.table).expect("rows that were fitted");
            let rows = features.rows();
            (0..rows.n_rows()).for_each(|i| rows.row(i).for_each(|_, x| assert!(x.is_finite(), "{scaling:?}")));
        }
    }
    // Few bytes of sparse rows may be many cells.
    let small = sheet.table.n_rows() * sheet.table.columns().len() < 100_000;
    for &format in Format::ALL.iter().filter(|_| small) {
        let _ = Writer::new(format).write(&sheet, &mut Vec::new());
    }
    let mut train = sheet.clone().into_train().expect("a label or none for each row");
    train.add_unlabeled(&sheet.table).expect("the same columns");
}

fn reader(format: Format, options: u8) -> Reader {
    let has = |bit: u8| options >> bit & 1 == 1;
    let mut reader = Reader::new().format(format).header(has(0));
    reader = match options >> 1 & 3 {
        0 => reader,
        1 => reader.label("1"),
        2 => reader.label("-1"),
        _ => reader.label_if_present("class"),
    };
    reader = match options >> 3 & 3 {
        0 => reader.layout(Layout::Dense),
        1 => reader.layout(Layout::Sparse),
        _ => reader,
    };
    if has(5) {
        reader = reader.nominal(["2"]);
    }
    if has(6) {
        reader = reader.drop(["3"]);
    }
    if has(7) { reader.delimiter(b';').unlabeled_mark("0") } else { reader }
}

/// Loads a model: from any bytes, from those of a model that were changed, without or with a checksum that fits, or from a
/// description that was changed under such a checksum, and predicts. The second byte chooses the model.
pub fn model(data: &[u8]) {
    let [how, which, bytes @ ..] = data else { return };
    let valid = &VALID[usize::from(*which) % VALID.len()];
    let loaded = match how % 4 {
        0 => load(bytes),
        1 => {
            let bytes = changed(valid, bytes);
            assert!(bytes == *valid || load(&bytes).is_none(), "a changed model was loaded");
            None
        }
        2 => load(&sealed(changed(valid, bytes))),
        _ => described(valid, bytes).and_then(|bytes| load(&sealed(bytes))),
    };
    if let Some(model) = loaded {
        predict(&model);
    }
}

/// The rows that the models learned from.
static ROWS: LazyLock<Sheet> = LazyLock::new(kinds::rows);

/// The files of models of every kind.
static VALID: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| kinds::models().iter().map(|model| model.to_bytes().expect("a file")).collect());

fn path() -> PathBuf {
    std::env::temp_dir().join(format!("udeed-fuzz-{}", std::process::id()))
}

fn load(bytes: &[u8]) -> Option<Model> {
    std::fs::write(path(), bytes).expect("a file");
    Model::load(path()).ok()
}

/// A valid model with other bytes before its checksum: three for the place, one for what is added to what stands there.
fn changed(valid: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    let body = bytes.len() - 4;
    for &[a, b, c, by] in changes.as_chunks::<4>().0 {
        let at = u32::from_le_bytes([a, b, c, 0]) as usize % body;
        bytes[at] = bytes[at].wrapping_add(by);
    }
    bytes
}

/// A valid model with other text in its description: four bytes for where it begins and how much it replaces, then the text.
fn described(valid: &[u8], change: &[u8]) -> Option<Vec<u8>> {
    let (&[a, b, c, d], text) = change.split_first_chunk()?;
    let (_, header) = SafeTensors::read_metadata(valid).expect("a header");
    let mut described = header.metadata().as_ref().expect("a description")["udeed"].clone().into_bytes();
    let start = usize::from(u16::from_le_bytes([a, b])) % described.len();
    let end = described.len().min(start + usize::from(u16::from_le_bytes([c, d])));
    described.splice(start..end, text.iter().copied());
    let metadata = HashMap::from([("udeed".into(), String::from_utf8(described).ok()?)]);
    let tensors = SafeTensors::deserialize(valid).expect("tensors");
    Some(safetensors::serialize(tensors.iter(), Some(metadata)).expect("a file"))
}

/// A model with the checksum of all other bytes in its last four.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - 4;
    let mut crc = Crc::new();
    crc.update(&bytes[..body]);
    bytes[body..].copy_from_slice(&crc.sum().to_le_bytes());
    bytes
}

fn predict(model: &Model) {
    if let Ok(probabilities) = model.predict_proba(&ROWS.table) {
        assert!(probabilities.values().iter().all(|p| (0.0..=1.0).contains(p)), "no probabilities");
    }
    let _ = model.evaluate(&ROWS.table, &ROWS.labels);
    let rows = b"size,colour,ok\n1,red,yes\n2,pink,no\n";
    if let Ok(sheet) = model.reader().format(Format::Csv).read_from("rows", &rows[..]) {
        let _ = model.predict(&sheet.table);
    }
}

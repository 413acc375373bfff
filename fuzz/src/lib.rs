//! What the fuzz targets do with their bytes. The first byte chooses how, the others are the file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use flate2::Crc;
use safetensors::SafeTensors;
use udeed::data::Table;
use udeed::format::{Format, Layout, Reader, Sheet, Writer};
use udeed::method::Udeed;
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

/// Loads a model: from any bytes, from those of a model that were changed, or from any description of a model under a
/// checksum that fits, and predicts.
pub fn model(data: &[u8]) {
    let Some((&how, bytes)) = data.split_first() else { return };
    match how % 3 {
        0 => drop(load(bytes)),
        1 => {
            let bytes = changed(bytes);
            assert!(bytes == VALID.bytes || load(&bytes).is_none(), "a changed model was loaded");
        }
        _ => {
            if let Some(model) = std::str::from_utf8(bytes).ok().and_then(|text| load(&sealed(text))) {
                predict(&model);
            }
        }
    }
}

struct Valid {
    bytes: Vec<u8>,
    rows: Sheet,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let rows = "size,colour,ok\n1,red,yes\n2,blue,no\n?,red,yes\n4,green,no\n5,,\n";
    let rows = Reader::new().format(Format::Csv).label("ok").read_from("rows", rows.as_bytes()).expect("rows");
    let model = Udeed::new().members(2).fit(&rows.clone().into_train().expect("labels")).expect("a model");
    model.save(path()).expect("a file");
    let bytes = std::fs::read(path()).expect("a file");
    Valid { bytes, rows }
});

fn path() -> PathBuf {
    std::env::temp_dir().join(format!("udeed-fuzz-{}", std::process::id()))
}

fn load(bytes: &[u8]) -> Option<Model> {
    std::fs::write(path(), bytes).expect("a file");
    Model::load(path()).ok()
}

/// The valid model with other bytes before its checksum: two for the place, one for what is added to what stands there.
fn changed(changes: &[u8]) -> Vec<u8> {
    let mut bytes = VALID.bytes.clone();
    let body = bytes.len() - 4;
    for change in changes.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % body;
        bytes[at] = bytes[at].wrapping_add(change[2]);
    }
    bytes
}

/// The tensors of the valid model with another description, and in the last four bytes the checksum of all others.
fn sealed(text: &str) -> Vec<u8> {
    let valid = SafeTensors::deserialize(&VALID.bytes).expect("tensors");
    let metadata = HashMap::from([("udeed".into(), text.into())]);
    let mut bytes = safetensors::serialize(valid.iter(), Some(metadata)).expect("a file");
    let body = bytes.len() - 4;
    let mut crc = Crc::new();
    crc.update(&bytes[..body]);
    bytes[body..].copy_from_slice(&crc.sum().to_le_bytes());
    bytes
}

fn predict(model: &Model) {
    let _ = model.predict_proba(&VALID.rows.table);
    let _ = model.evaluate(&VALID.rows.table, &VALID.rows.labels);
    let rows = b"size,colour,ok\n1,red,yes\n2,pink,no\n";
    if let Ok(sheet) = model.reader().format(Format::Csv).read_from("rows", &rows[..]) {
        let _ = model.predict(&sheet.table);
    }
}

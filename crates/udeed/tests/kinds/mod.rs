//! Models of every kind, whose files the tests of hostile files and the fuzz targets forge.

use udeed::format::{Format, Reader, Sheet};
use udeed::method::Method;
use udeed::model::Model;

/// Methods whose models hold what others do not, with their settings.
pub const KINDS: &[(&str, &[(&str, &str)])] = &[
    ("udeed", &[("members", "2")]),
    ("bagging", &[("base", "tree"), ("calibrated", "true")]),
    ("bagging", &[("base", "neighbors"), ("members", "2")]),
    ("adaboost", &[("base", "bayes"), ("members", "3")]),
    ("semiboost", &[("base", "tree"), ("members", "2")]),
    ("udeed", &[("hidden", "2"), ("members", "2"), ("calibrated", "true")]),
    ("bagging", &[("fourier", "4"), ("members", "2")]),
    ("auto", &[("members", "2")]),
    ("stacking", &[]),
    ("label-spreading", &[]),
    ("extra-trees", &[("members", "2")]),
];

/// The rows that the models learned from.
pub fn rows() -> Sheet {
    let row =
        |i: usize| format!("{},{},{}\n", i * 7 % 11, ["red", "blue", "green"][i * 5 % 3], ["yes", "no", ""][i % 3]);
    let rows: String = std::iter::once("size,colour,ok\n".into()).chain((0..36).map(row)).collect();
    Reader::new().format(Format::Csv).label("ok").read_from("rows", rows.as_bytes()).expect("rows")
}

/// One of each kind.
pub fn models() -> Vec<Model> {
    let train = rows().into_train().expect("labels");
    let with =
        |method: Method, (setting, value): &(&str, &str)| method.with_setting(setting, value).expect("a setting");
    let of_kind = |(name, settings): &(&str, &[(&str, &str)])| {
        let method = settings.iter().fold(Method::named(name).expect("a method"), with);
        method.fit_keeping_rows(&train, 100, &mut ()).expect("a model").0
    };
    KINDS.iter().map(of_kind).collect()
}

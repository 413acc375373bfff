//! What is said of rows, whatever learns from them or predicts them.
#![allow(clippy::unwrap_used)]

use udeed::data::HeldTable;
use udeed::format::{Format, Layout, Reader, Sheet};
use udeed::memory::Room;
use udeed::observer::{Observer, Warning};
use udeed::prelude::*;
use udeed::prepare::{Preparation, Unseen};
use udeed::validation::{Threshold, choose_threshold};

/// Rows of a CSV text with the labels in column `ok`.
fn read(text: &str) -> Sheet {
    Reader::new().format(Format::Csv).label_if_present("ok").read_from("rows", text.as_bytes()).unwrap()
}

#[derive(Default)]
struct Told(Vec<Warning>);

impl Observer for Told {
    fn warn(&mut self, warning: &Warning) {
        self.0.push(warning.clone());
    }
}

fn constant(columns: &[&str]) -> Warning {
    Warning::ConstantColumns { columns: columns.iter().map(ToString::to_string).collect(), count: columns.len() }
}

#[test]
fn constant_columns_are_told_once_by_every_method() {
    let rows: String = (0..20).map(|i| format!("{i},2,red,{},{},,\n", ["no", "yes", ""][i % 3], i * i % 5)).collect();
    let train = read(&format!("x,flat,colour,ok,y,empty,nothing\n{rows}")).into_train().unwrap();
    let expected = constant(&["flat", "colour", "empty", "nothing"]);
    for method in Method::NAMES.iter().map(|name| Method::named(name).unwrap()) {
        for scaling in ["minmax", "none"] {
            let mut told = Told::default();
            let method = method.with_setting("scaling", scaling).unwrap_or_else(|_| method.clone());
            let model = method.fit_observed(&train, &mut told).unwrap();
            let count = |warnings: &[Warning]| warnings.iter().filter(|warning| **warning == expected).count();
            assert_eq!((count(&told.0), count(&model.training().warnings)), (1, 1), "{} {scaling}", method.name());
        }
    }
}

/// A column that varies only among rows in a file is not constant.
#[test]
fn rows_in_a_file_count_for_constant_columns() {
    let mut train = read("x,y,ok\n1,2,no\n2,2,no\n8,2,yes\n9,2,yes\n").into_train().unwrap();
    let room = Room { most: 0, folder: Some(&std::env::temp_dir()) };
    let held = |text: &str| Reader::new().format(Format::Csv).hold_from("more", text.as_bytes(), room).unwrap().table;
    let HeldTable::InFile(_) = held("x,y\n1,2\n") else { panic!("rows in memory") };
    let warnings = |train: &TrainSet| Bagging::new().fit(train).unwrap().training().warnings.clone();
    assert_eq!(warnings(&train), [constant(&["y"])]);
    train.add_held(&held("x,y\n1,2\n"), room).unwrap();
    assert_eq!(warnings(&train), [constant(&["y"])]);
    let mut other = read("x,y,ok\n1,2,no\n2,2,no\n8,2,yes\n9,2,yes\n").into_train().unwrap();
    other.add_held(&held("x,y\n1,3\n"), room).unwrap();
    assert_eq!(warnings(&other), []);
}

/// Features that some rows of a file lack are usual where they are numbered.
#[test]
fn numbered_columns_of_zeros_are_not_told() {
    let text = "+1 1:2 4:1\n-1 1:1 4:1\n+1 1:3 4:1\n-1 1:2 4:1\n";
    for (layout, expected) in [(Layout::Dense, vec![constant(&["4"])]), (Layout::Sparse, vec![])] {
        let reader = Reader::new().format(Format::Libsvm).layout(layout);
        let train = reader.read_from("rows", text.as_bytes()).unwrap().into_train().unwrap();
        assert_eq!(Bagging::new().fit(&train).unwrap().training().warnings, expected);
    }
}

#[test]
fn classes_that_are_nearly_as_many_as_rows_are_told() {
    let told = |n_rows: usize, n_classes: usize| {
        let rows: Vec<[f64; 2]> = (0..n_rows).map(|i| [i as f64, (i * i % 7) as f64]).collect();
        let labels = Labels::new((0..n_rows).map(|i| Some((i % n_classes).to_string())));
        let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
        Bagging::new().members(2).fit(&train).unwrap().training().warnings.clone()
    };
    assert_eq!(told(40, 21), [Warning::ClassesLikeValues { classes: 21, rows: 40 }]);
    assert_eq!(told(40, 20), []);
    // A label for each class is what some have.
    assert_eq!(told(20, 20), []);
}

#[test]
fn a_threshold_with_two_classes_is_not_told() {
    let train = built_in("house").unwrap().read().unwrap().into_train().unwrap();
    let model = Bagging::new().fit(&train).unwrap();
    for (threshold, class) in [(-1.0, Some("republican")), (0.0, None), (0.2, None), (1.0, Some("democrat"))] {
        let mut told = Told::default();
        let model = model.clone().with_threshold_on(&train, Threshold::At(threshold), threshold, &mut told).unwrap();
        assert_eq!(model.training().warnings, told.0);
        let threshold = format!("{threshold:.3}");
        let expected = class.map(|class| Warning::OneClassPredicted { threshold, class: class.to_owned() });
        assert_eq!(told.0, Vec::from_iter(expected));
    }
}

#[test]
fn a_rate_that_is_not_met_is_told_with_what_is_reached() {
    // Four members that say one of two things each have few decisions to choose between.
    let labels = |i: usize| if i.is_multiple_of(10) { "rare" } else { "common" };
    let sheet = built_in("diabetes").unwrap().read().unwrap();
    let train =
        TrainSet::new(sheet.table.clone(), Labels::new((0..sheet.labels.len()).map(|i| Some(labels(i))))).unwrap();
    let told = |method: Method, rate: f64| {
        let model = method.fit(&train).unwrap();
        let threshold = choose_threshold(&model, Threshold::Rate(rate), &train, 5, &mut ()).unwrap();
        let mut told = Told::default();
        let model = model.with_threshold_on(&train, Threshold::Rate(rate), threshold, &mut told).unwrap();
        let rare = model.predict(train.table()).unwrap().iter().filter(|class| **class == "rare").count();
        assert!(told.0.iter().all(|warning| model.training().warnings.contains(warning)));
        (told.0, rare as f64 / train.table().n_rows() as f64)
    };
    let (warnings, reached) = told(AdaBoost::new().members(2).into(), 0.4);
    assert!((reached - 0.4).abs() > 0.05, "{reached}");
    let [Warning::RateNotMet { wanted, reached: said, class }] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!((wanted.as_str(), said, class.as_str()), ("0.4", &format!("{reached:.3}"), "rare"));
    let words = format!("the rate of 0.4 is not met: {reached:.3} of the training rows are predicted as `rare`");
    assert_eq!(warnings[0].to_string(), words);
    let (warnings, reached) = told(Bagging::new().into(), 0.4);
    assert_eq!(warnings, [], "{reached}");
}

#[test]
fn unseen_values_are_counted_over_tables_dense_and_sparse() {
    let preparation = Preparation::fit(&read("a,b,x\nu,k,1\nv,l,2\n").table, Scaling::MinMax).unwrap();
    let mut unseen = Unseen::default();
    // Another order of columns and levels; a missing value is none.
    unseen.add(&preparation, &read("x,b,a\n1,k,w\n2,,u\n3,m,z\n").table);
    unseen.add(&preparation, &read("x,b,a\n1,k,u\n").table);
    let sparse = Reader::new().format(Format::Csv).layout(Layout::Sparse);
    unseen.add(&preparation, &sparse.read_from("rows", &b"a,b,x\nw,k,1\nw,l,0\n"[..]).unwrap().table);
    let of = |column: &str, values: &[&str], rows| Warning::UnseenValues {
        column: column.into(),
        values: values.iter().map(ToString::to_string).collect(),
        rows,
    };
    assert_eq!(unseen.warnings().collect::<Vec<_>>(), [of("a", &["w", "z"], 4), of("b", &["m"], 1)]);
}

#[test]
fn a_mark_that_no_row_has_is_told_in_every_format() {
    let arff = "@relation r\n@attribute x numeric\n@attribute class {1,2,9}\n@data\n1,1\n2,2\n3,?\n4,9\n";
    for (format, text) in [
        (Format::Csv, "x,class\n1,1\n2,2\n3,\n4,9\n"),
        (Format::Arff, arff),
        (Format::Libsvm, "1 1:1\n2 1:2\n? 1:3\n9 1:4\n"),
    ] {
        let reader = Reader::new().format(format).label("class");
        let reader = |mark: &str| match format {
            Format::Libsvm => Reader::new().format(format).unlabeled_mark(mark),
            _ => reader.clone().unlabeled_mark(mark),
        };
        for (mark, expected) in [("9", None), ("9.0", None), ("7", Some("7")), ("?", None)] {
            let reader = reader(mark);
            // The same reader again: it forgets what another file held.
            let empty = text.replace("4,9", "4,1").replace("9 1:4", "1 1:4");
            for _ in 0..2 {
                let sheet = reader.read_from("rows", text.as_bytes()).unwrap();
                assert_eq!(sheet.unused_mark.as_deref(), expected, "{format:?} {mark}");
                let sheet = reader.read_from("rows", empty.as_bytes()).unwrap();
                let expected = if mark == "?" { None } else { Some(mark) };
                assert_eq!(sheet.unused_mark.as_deref(), expected, "{format:?} {mark}");
            }
        }
    }
}

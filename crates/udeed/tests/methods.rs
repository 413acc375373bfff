//! All methods and base learners, on two classes and on more.
#![allow(clippy::unwrap_used)]

mod draw;

use draw::Draw;
use udeed::data::{Labels, Table, TrainSet};
use udeed::ensemble::Shared;
use udeed::format::built_in;
use udeed::learner::{Base, TreeSettings};
use udeed::method::{Method, Udeed};
use udeed::model::Model;
use udeed::observer::Warning;

/// Three clouds of rows in the plane, most without their label, and all of them with it.
fn clouds() -> (TrainSet, TrainSet) {
    let mut draw = Draw(1);
    let mut unit = || draw.unit();
    let centers = [[0.0, 0.0, 1.0], [2.5, 0.0, 0.0], [0.0, 2.5, 0.5]];
    let rows: Vec<[f64; 3]> =
        (0..240).map(|i| centers[i % 3].map(|center| center + 2.0 * (unit() + unit() - 1.0))).collect();
    let names = ["ant", "bee", "cat"];
    let labels = Labels::new((0..240).map(|i| Some(names[i % 3])));
    let all = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let hidden: Vec<usize> = (45..240).collect();
    (all.clone().hide_labels(&hidden), all)
}

fn two_classes() -> (TrainSet, TrainSet) {
    let all = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    let hidden: Vec<usize> = (0..351).filter(|i| i % 4 != 0).collect();
    (all.clone().hide_labels(&hidden), all)
}

fn methods() -> impl Iterator<Item = Method> {
    Method::NAMES.iter().map(|name| {
        let method = Method::named(name).unwrap();
        let shared = Shared { members: 6, seed: 3, ..method.shared() };
        method.with_shared(shared)
    })
}

fn accuracy(model: &Model, on: &TrainSet) -> f64 {
    model.evaluate(on.table(), on.labels()).unwrap().accuracy
}

#[test]
fn every_method_tells_three_classes_apart() {
    let (train, all) = clouds();
    for method in methods() {
        let model = method.fit(&train).unwrap();
        let found = accuracy(&model, &all);
        assert!(found > 0.8, "{}: {found}", method.name());
        let probabilities = model.predict_proba(all.table()).unwrap();
        for row in probabilities.values().chunks_exact(3) {
            assert!(
                (row.iter().sum::<f64>() - 1.0).abs() < 1e-12 && row.iter().all(|p| (0.0..=1.0).contains(p)),
                "{row:?}"
            );
        }
        let figures = model.evaluate(all.table(), all.labels()).unwrap();
        assert!(figures.auc.unwrap() > 0.75 && figures.confusion.len() == 3, "{}: {:?}", method.name(), figures.auc);
        assert_eq!(model.training().class_counts, [15, 15, 15]);
    }
}

/// Bits of what a model decides, on two and on three classes.
fn bits(method: &Method) -> Vec<u64> {
    let mut bits = Vec::new();
    for (train, all) in [two_classes(), clouds()] {
        let model = method.fit(&train).unwrap();
        bits.extend(model.decision(all.table()).unwrap().values().iter().map(|f| f.to_bits()));
    }
    bits
}

#[test]
fn one_seed_gives_the_same_bits_with_any_number_of_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for method in methods() {
        let one = pool(1).install(|| bits(&method));
        assert!(one == pool(3).install(|| bits(&method)), "{}", method.name());
        let shared = Shared { seed: 4, ..method.shared() };
        // With their defaults these draw no random numbers, which no card says.
        let draws =
            !matches!(method.name(), "adaboost" | "self-training" | "ssmboost" | "regboost" | "label-spreading");
        assert_eq!(one != bits(&method.clone().with_shared(shared)), draws, "{}", method.name());
    }
}

#[test]
fn every_model_survives_its_file() {
    for (train, all) in [two_classes(), clouds()] {
        for method in methods() {
            let model = method.fit(&train).unwrap();
            let bytes = model.to_bytes().unwrap();
            let read = Model::from_bytes(&bytes).unwrap();
            assert_eq!(read, model, "{}", method.name());
            assert_eq!(read.decision(all.table()).unwrap(), model.decision(all.table()).unwrap());
            assert_eq!(read.to_bytes().unwrap(), bytes);
        }
    }
}

#[test]
fn every_base_learner_makes_members_that_survive_their_file() {
    for (train, all) in [two_classes(), clouds()] {
        for method in methods() {
            for base in Base::NAMES {
                let Ok(method) = method.with_setting("base", base) else { continue };
                let model = method.fit(&train).unwrap_or_else(|error| panic!("{} {base}: {error}", method.name()));
                let found = accuracy(&model, &all);
                // Above the share of the largest class: 0.64 of two, 0.33 of three.
                let least = if all.labels().classes().len() == 2 { 0.7 } else { 0.6 };
                assert!(found > least, "{} with {base}: {found}", method.name());
                assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model, "{} {base}", method.name());
            }
        }
    }
}

/// UDEED of three classes is three UDEEDs of two, but for when they stop: without a descent, or after one step, they agree.
#[test]
fn udeed_of_three_classes_answers_three_questions() {
    let (train, all) = clouds();
    let settings = Udeed::new().members(5).steps(1).seed(9);
    let model = settings.fit(&train).unwrap();
    assert!(model.ensemble().is_one_against_rest());
    for (class, name) in ["ant", "bee", "cat"].iter().enumerate() {
        let question = |i: usize| train.labels().name(i).map(|own| if own == *name { "this" } else { "others" });
        let labels = Labels::new((0..train.labels().len()).map(question));
        let alone = settings.fit(&TrainSet::new(train.table().clone(), labels).unwrap()).unwrap();
        // Sorted, `this` is the second class, as the class of a question is.
        let (own, alone) = (model.decision(all.table()).unwrap(), alone.decision(all.table()).unwrap());
        for i in 0..all.labels().len() {
            let (own, alone) = (own.get(i)[class], alone.get(i)[0]);
            assert!((own - alone).abs() < 1e-9, "{name}, row {i}: {own} against {alone}");
        }
    }
}

#[test]
fn hard_rows_are_no_trouble() {
    let row = |x: f64, y: f64| [x, y];
    let rows =
        vec![row(0.0, 0.0), row(0.1, 0.3), row(1.0, 1.0), row(0.9, 0.8), row(0.5, 0.5), row(0.2, 0.2), row(0.7, 0.9)];
    let table = Table::from_rows(&rows).unwrap();
    let (a, b, c, none) = (Some("a"), Some("b"), Some("c"), None);
    let cases = [
        ("a class with one row", vec![a, a, b, none, none, none, none]),
        ("three classes, two with one row", vec![a, b, c, c, none, none, none]),
        ("no unlabeled rows", vec![a, a, b, b, a, a, b]),
        ("one unlabeled row", vec![a, a, b, b, a, a, none]),
        ("as many classes as rows", vec![a, b, c, none, none, none, none]),
    ];
    for (what, labels) in cases {
        let train = TrainSet::new(table.clone(), Labels::new(labels)).unwrap();
        for method in methods() {
            let model = method.fit(&train).unwrap_or_else(|error| panic!("{what}, {}: {error}", method.name()));
            let decisions = model.decision(&table).unwrap();
            assert!(decisions.values().iter().all(|f| f.is_finite()), "{what}, {}", method.name());
            let needs_rows = !matches!(
                method.name(),
                "bagging" | "adaboost" | "assemble" | "stacking" | "udeed" | "regboost" | "extra-trees"
            );
            if what == "no unlabeled rows" && needs_rows {
                assert!(model.training().warnings.contains(&Warning::NothingUnlabeled), "{}", method.name());
            }
        }
    }
}

#[test]
fn one_class_and_too_many_are_refused() {
    let table = Table::from_rows(&vec![[0.5]; 300]).unwrap();
    let one = TrainSet::new(table.clone(), Labels::new((0..300).map(|_| Some("a")))).unwrap();
    let names: Vec<String> = (0..300).map(|i| format!("class {i}")).collect();
    let many = TrainSet::new(table, Labels::new(names.iter().map(|name| Some(name.as_str())))).unwrap();
    for method in methods() {
        let error = method.fit(&one).unwrap_err().to_string();
        assert!(error.contains("one class") && error.contains("two at least"), "{error}");
        let error = method.fit(&many).unwrap_err().to_string();
        assert!(error.contains("300 classes") && error.contains("at most 255"), "{error}");
    }
}

#[test]
fn rows_that_are_all_alike_end_every_fit() {
    let table = Table::from_rows(&[[1.0, 2.0]; 12]).unwrap();
    let labels = Labels::new((0..12).map(|i| [Some("a"), Some("b"), Some("c"), None][i % 4]));
    let train = TrainSet::new(table.clone(), labels).unwrap();
    for method in methods() {
        let model = method.fit(&train).unwrap_or_else(|error| panic!("{}: {error}", method.name()));
        assert!(model.decision(&table).unwrap().values().iter().all(|f| f.is_finite()), "{}", method.name());
    }
}

/// Rows that are all alike are of the commonest class, wherever in the file the rare one stands.
#[test]
fn rows_that_are_all_alike_are_of_the_commonest_class() {
    let table = Table::from_rows(&[[1.0, 2.0]; 120]).unwrap();
    for rare in [0..15, 45..60] {
        let label = |i: usize| if rare.contains(&i) { "rare" } else { "common" };
        let labels = Labels::new((0..120).map(|i| (i < 60).then(|| label(i))));
        let train = TrainSet::new(table.clone(), labels).unwrap();
        for method in methods() {
            let model = method.fit(&train).unwrap();
            let compares = method.similarity_bytes(60, 60).is_some();
            assert_eq!(model.training().warnings.contains(&Warning::RowsAlike), compares, "{}", method.name());
            assert_eq!(model.predict(&table).unwrap()[0], "common", "{}, {rare:?}", method.name());
        }
    }
}

/// With trees that look at some features only, bagging is a random forest: better than one tree.
#[test]
fn a_random_forest_falls_out_of_bagging() {
    let (train, all) = two_classes();
    let tree = Method::named("bagging").unwrap().with_setting("base", "tree").unwrap();
    let forest = tree.with_setting("base.features", "root").unwrap();
    let size = |method: &Method, members| method.clone().with_shared(Shared { members, ..method.shared() });
    let (one, many) = (size(&tree, 1).fit(&train).unwrap(), size(&forest, 100).fit(&train).unwrap());
    assert!(accuracy(&many, &all) > accuracy(&one, &all) + 0.02);
    let small = TreeSettings { depth: Some(1), ..TreeSettings::default() };
    assert_eq!(
        tree.with_setting("base.depth", "1").unwrap(),
        udeed::method::Bagging::new().base(Base::Tree(small)).into()
    );
}

#[test]
fn a_setting_is_changed_by_its_name() {
    let method = Method::named("co-training").unwrap();
    assert!(method.with_setting("pool", "0").unwrap().validate().is_err());
    let error = method.with_setting("pool", "many").unwrap_err().to_string();
    assert!(error.starts_with("`pool` is `many`, expected"), "{error}");
    let error = method.with_setting("threshold", "0.5").unwrap_err().to_string();
    assert!(error.contains("no setting of `co-training`") && error.contains("`rounds`"), "{error}");
    assert!(method.with_setting("pool.size", "1").is_err());
    assert!(method.with_setting("method", "udeed").is_err());
    let error = method.with_setting("base", "oak").unwrap_err().to_string();
    assert!(error.contains("`neighbors`"), "{error}");
}

#[test]
fn numbers_are_written_as_people_do() {
    let gamma = |text: &str| match Method::named("udeed").unwrap().with_setting("gamma", text) {
        Ok(Method::Udeed(settings)) => Some(settings.gamma),
        _ => None,
    };
    let found = [".5", "+.5", "5.", "+2", "1e-1", "-1"].map(gamma);
    assert_eq!(found, [0.5, 0.5, 5.0, 2.0, 0.1, -1.0].map(Some));
    assert_eq!(["", "inf", "nan", "0,5", "five"].map(gamma), [None; 5]);
    let bagging = Method::named("bagging").unwrap();
    assert_eq!(bagging.with_setting("members", "+5").unwrap().shared().members, 5);
    assert!(bagging.with_setting("members", ".5").is_err());
    let prior =
        |text: &str| Method::named("auto").unwrap().with_setting("prior", text).map_err(|error| error.to_string());
    assert_eq!(prior(".7,.3"), prior("0.7,0.3"));
}

/// The first trees of a method are not those of trees elsewhere.
#[test]
fn a_setting_of_trees_leaves_the_others() {
    let forest = Method::named("co-forest").unwrap();
    let whole = forest.with_setting("tree", r#"{"depth":3}"#).unwrap();
    assert_eq!(whole, forest.with_setting("tree.depth", "3").unwrap());
}

#[test]
fn views_are_columns_that_exist_and_leave_some() {
    let (train, _) = clouds();
    let columns: Vec<String> = train.table().columns().iter().map(|column| column.name.clone()).collect();
    let view = |names: &[&str]| {
        udeed::method::CoTraining::new().view(names.iter().map(|name| (*name).to_owned()).collect()).fit(&train)
    };
    assert!(view(&[&columns[0]]).is_ok());
    assert!(view(&["nothing"]).unwrap_err().to_string().contains("`nothing`"));
    let all: Vec<&str> = columns.iter().map(String::as_str).collect();
    assert!(view(&all).unwrap_err().to_string().contains("leave some"));
}

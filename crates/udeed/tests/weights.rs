//! Rows that count more or less than others.
#![allow(clippy::unwrap_used)]

use udeed::data::{Labels, Table, TrainSet};
use udeed::ensemble::Lambda;
use udeed::format::built_in;
use udeed::learner::{Base, NearestNeighbors};
use udeed::method::{Bagging, CoTraining, Method, Setred};
use udeed::model::Transduction;

fn sonar() -> TrainSet {
    let hidden: Vec<usize> = (0..208).filter(|i| i % 3 == 0).collect();
    built_in("sonar").unwrap().read().unwrap().into_train().unwrap().hide_labels(&hidden)
}

/// Weights of 1 are no weights, a row of weight 0 is not there, and other weights change what is learned: by every method.
#[test]
fn every_method_takes_weights() {
    let train = sonar();
    let n = train.labels().len();
    for name in Method::NAMES {
        let method = Method::named(name).unwrap();
        let plain = method.fit(&train).unwrap();
        assert_eq!(plain, method.fit(&train.clone().weights(vec![1.0; n]).unwrap()).unwrap(), "{name}");

        let weights = |other: f64| (0..n).map(|i| if i % 5 == 0 { other } else { 1.0 }).collect::<Vec<f64>>();
        let rest: Vec<usize> = (0..n).filter(|i| i % 5 != 0).collect();
        let without = method.fit(&train.clone().weights(weights(0.0)).unwrap()).unwrap();
        assert_eq!(without, method.fit(&train.select(&rest)).unwrap(), "{name}");

        let heavier = method.fit(&train.clone().weights(weights(3.0)).unwrap()).unwrap();
        assert_ne!(plain.ensemble(), heavier.ensemble(), "{name}");
    }
}

/// Weights are relative: their unit changes nothing, to the bit where it is a power of two.
#[test]
fn no_method_depends_on_the_scale_of_weights() {
    let train = sonar();
    let weights = |scale: f64| (0..train.labels().len()).map(move |i| scale * [1.0, 3.0, 0.5][i % 3]).collect();
    let weighted = |scale: f64| train.clone().weights(weights(scale)).unwrap();
    for name in Method::NAMES {
        let method = Method::named(name).unwrap();
        let [one, other] = [1.0, 1.0 / 1024.0].map(|scale| method.fit(&weighted(scale)).unwrap());
        assert_eq!(one.ensemble(), other.ensemble(), "{name}");
    }
    // Other units round, which decides no tie and no draw: a learner that takes no weights gets rows drawn by them.
    for scale in [1.0 / 3.0, 1e-290, 1e290] {
        for name in ["adaboost", "semiboost", "tri-training", "regboost", "auto"] {
            let mut method = Method::named(name).unwrap();
            if name != "auto" {
                method = method.with_setting("base", "neighbors").unwrap();
            }
            let [one, other] = [1.0, scale].map(|scale| method.fit(&weighted(scale)).unwrap());
            assert_eq!(one.ensemble(), other.ensemble(), "{name} {scale:e}");
        }
    }
    // Sums of the largest would overflow.
    let huge = train.clone().weights(vec![f64::MAX; train.labels().len()]).unwrap();
    let bagging = Bagging::new().fit(&huge).unwrap();
    assert_eq!(bagging.ensemble(), Bagging::new().fit(&train).unwrap().ensemble());
    assert_eq!(huge.balanced().weight(1), train.clone().balanced().weight(1));
    let all_alike = train.clone().weights(vec![1.0 / 60.0; train.labels().len()]).unwrap();
    for method in [Method::named("auto").unwrap(), Bagging::new().lambda(Lambda::Auto).into()] {
        let [one, other] = [&train, &all_alike].map(|rows| method.fit(rows).unwrap());
        let [one, other] = [one, other].map(|model| model.predict_proba(train.table()).unwrap());
        let pairs = (0..208).map(|i| (one.get(i)[0], other.get(i)[0]));
        pairs.for_each(|(one, other)| assert!((one - other).abs() < 1e-6, "{}: {one} {other}", method.name()));
    }
}

/// A weight of 2 is the same row twice, but for the regularisation, which the sum of the weights does not weaken.
#[test]
fn a_weight_of_two_is_the_row_twice() {
    let train = sonar();
    let n = train.labels().len();
    let twice: Vec<usize> = (0..n).chain((0..n).filter(|i| i % 4 == 1)).collect();
    let weighted = (0..n).map(|i| if i % 4 == 1 { 2.0 } else { 1.0 }).collect();
    let weighted = train.clone().weights(weighted).unwrap();
    let repeated = train.select(&twice);
    let lambda = repeated.n_labeled() as f64 / weighted.n_labeled() as f64;
    let weights = |train: &TrainSet, lambda: f64| {
        let model = Bagging::new().members(1).lambda(Lambda::Fixed(lambda)).fit(train).unwrap().logistic();
        model.ensemble().linear(0).unwrap().weights().to_vec()
    };
    let pairs: Vec<(f64, f64)> = weights(&weighted, lambda).into_iter().zip(weights(&repeated, 1.0)).collect();
    assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-6), "{pairs:?}");
}

/// How many rows of each class got their labels in the first round, where labels of the second class weigh as said.
fn first_round(method: impl Into<Method>, weight: f64) -> [usize; 2] {
    let (n, n_labeled) = (200, 20);
    // Two clouds far from each other: of every row it is clear what it is.
    let rows: Vec<[f64; 2]> = (0..n)
        .map(|i| [(i * 37 % 101) as f64 / 101.0, (i * 53 % 103) as f64 / 103.0].map(|x| x + 20.0 * (i % 2) as f64))
        .collect();
    let labels = Labels::new((0..n).map(|i| (i < n_labeled).then(|| ["few", "many"][i % 2])));
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let weights = (0..n).map(|i| if i % 2 == 1 && i < n_labeled { weight } else { 1.0 }).collect();
    let train = train.weights(weights).unwrap();
    let (model, _) = method.into().fit_keeping_rows(&train, Transduction::MOST_ROWS, &mut ()).unwrap();
    let kept = model.transduction().unwrap().unwrap();
    [0, 1].map(|class| (0..n).filter(|&i| kept.rounds[i] == 1 && i % 2 == class && kept.classes[i] == class).count())
}

/// The nearest neighbour decides whatever it weighs: only the shares of the classes can tell.
#[test]
fn co_training_labels_classes_in_the_shares_that_weights_give_them() {
    let of = |weight| first_round(CoTraining::new().base(Base::Neighbors(NearestNeighbors { k: 1 })), weight);
    // Of each class one, by each of both members; then one of the first and three of the second.
    assert_eq!([of(1.0), of(3.0)], [[2, 2], [2, 6]]);
}

#[test]
fn setred_labels_classes_in_the_shares_that_weights_give_them() {
    let of = |weight| first_round(Setred::new().pool(0).base(Base::Neighbors(NearestNeighbors { k: 1 })), weight);
    // A fifth of the 180 unlabeled rows, 18 of each class, then 7 and 29, but for rows beside the other cloud, which are dropped.
    assert_eq!([of(1.0), of(4.0)], [[17, 17], [7, 28]]);
}

/// Rows in the middle between two labeled clouds mostly have the class whose rows weigh more, where a nearest neighbour decides
/// whatever it weighs: only what their similarities suggest can tell.
#[test]
fn similarities_count_labeled_rows_by_their_weights() {
    let x = |i: usize| match i {
        0..10 => 0.01 * i as f64,
        10..20 => 1.2 - 0.01 * i as f64,
        _ => 0.5 + 0.002 * i as f64,
    };
    let rows: Vec<[f64; 1]> = (0..60).map(|i| [x(i)]).collect();
    let labels = Labels::new((0..60).map(|i| (i < 20).then(|| ["left", "right"][i / 10])));
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    for name in ["semiboost", "mcssb"] {
        let method = Method::named(name).unwrap().with_setting("base", "neighbors").unwrap();
        let settings = [("base.k", "1"), ("members", "1"), ("neighbors", "0")];
        let method =
            settings.into_iter().fold(method, |method, (name, value)| method.with_setting(name, value).unwrap());
        let middle = train.select(&(20..60).collect::<Vec<usize>>());
        let [of_left, of_right] = [0, 1].map(|heavy| {
            let weights = (0..60).map(|i| if i < 20 && i / 10 == heavy { 20.0 } else { 1.0 }).collect();
            let model = method.fit(&train.clone().weights(weights).unwrap()).unwrap();
            model.predict(middle.table()).unwrap().iter().filter(|class| **class == "left").count()
        });
        assert!(of_left > of_right + 20, "{name}: {of_left} and {of_right} of 40 rows are left");
    }
}

#[test]
fn a_class_without_weight_is_not_there() {
    let train = sonar();
    let counts = |i: usize| if train.labels().get(i) == Some(0) { 0.0 } else { 1.0 };
    let weights = (0..train.labels().len()).map(counts).collect();
    let error = Method::named("bagging").unwrap().fit(&train.clone().weights(weights).unwrap()).unwrap_err();
    assert!(error.to_string().contains("one class"), "{error}");
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let train = sonar();
    let n = train.labels().len();
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut weights = vec![1.0; n];
        weights[7] = bad;
        let error = train.clone().weights(weights).unwrap_err().to_string();
        assert!(error.contains("row 8"), "{error}");
    }
    assert!(train.weights(vec![1.0; 3]).is_err());
}

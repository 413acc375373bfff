//! Rows that count more or less than others.
#![allow(clippy::unwrap_used)]

use udeed::data::TrainSet;
use udeed::format::built_in;
use udeed::method::Method;

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

/// In logistic regression a weight of 2 is the same row twice.
#[test]
fn a_weight_of_two_is_the_row_twice() {
    let train = sonar();
    let n = train.labels().len();
    let twice: Vec<usize> = (0..n).chain((0..n).filter(|i| i % 4 == 1)).collect();
    let weights = (0..n).map(|i| if i % 4 == 1 { 2.0 } else { 1.0 }).collect();
    let bagging = udeed::method::Bagging::new().members(1);
    let weighted = bagging.fit(&train.clone().weights(weights).unwrap()).unwrap().logistic();
    let repeated = bagging.fit(&train.select(&twice)).unwrap().logistic();
    let pairs =
        weighted.ensemble().linear(0).unwrap().weights().iter().zip(repeated.ensemble().linear(0).unwrap().weights());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
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

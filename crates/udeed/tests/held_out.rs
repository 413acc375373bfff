//! What rows say that members did not learn from: however many there are, whatever they weigh, and though some are copies.
#![allow(clippy::unwrap_used)]

mod draw;

use draw::Draw;
use udeed::data::{Labels, Table, TrainSet};
use udeed::learner::{Base, TreeSettings};
use udeed::method::Method;
use udeed::method::auto::{Prior, View};
use udeed::method::udeed::Variant;
use udeed::model::Model;
use udeed::observer::Warning;
use udeed::prelude::*;
use udeed::validation::{Threshold, choose_threshold};

/// A stream of numbers that are near enough to normal ones.
struct Normal(Draw);

impl Normal {
    fn next(&mut self) -> f64 {
        (0..12).map(|_| self.0.unit()).sum::<f64>() - 6.0
    }
}

/// Rows of `width` features, of which a share is of the second class and somewhat farther to the right.
fn rows(n: usize, width: usize, share: f64, apart: f64, seed: u64) -> TrainSet {
    let mut normal = Normal(Draw(seed));
    let is_yes: Vec<bool> = (0..n).map(|_| normal.0.unit() < share).collect();
    let row = |yes: &bool| {
        let mut row: Vec<f64> = (0..width).map(|_| normal.next()).collect();
        row[0] += if *yes { apart } else { 0.0 };
        row
    };
    let values: Vec<f64> = is_yes.iter().flat_map(row).collect();
    let table = Table::from_matrix(udeed::data::Dense::new(n, width, values).unwrap()).unwrap();
    TrainSet::new(table, Labels::new(is_yes.iter().map(|&yes| Some(if yes { "yes" } else { "no" })))).unwrap()
}

/// Rows entered several times.
fn repeated(train: &TrainSet, times: impl Fn(usize) -> usize) -> TrainSet {
    let rows: Vec<usize> = (0..train.labels().len()).flat_map(|i| vec![i; times(i)]).collect();
    train.select(&rows)
}

/// Mean probability of the second class, and the share of rows that are predicted as it.
fn mean_and_rate(model: &Model, test: &TrainSet) -> (f64, f64) {
    let (p, classes) = (model.predict_proba(test.table()).unwrap(), model.predict(test.table()).unwrap());
    let n = classes.len() as f64;
    let mean = (0..classes.len()).map(|i| p.get(i)[1]).sum::<f64>() / n;
    (mean, classes.iter().filter(|class| **class == "yes").count() as f64 / n)
}

fn at_goal(method: &Method, goal: Threshold, train: &TrainSet) -> Model {
    let model = method.fit(train).unwrap();
    let threshold = choose_threshold(&model, goal, train, 5, &mut ()).unwrap();
    model.with_threshold(threshold).unwrap()
}

/// Of a class with many rows some are held out: the others count as well.
#[test]
fn classes_keep_their_shares_among_held_out_rows() {
    let (train, test) = (rows(6000, 3, 0.1, 1.5, 1), rows(4000, 3, 0.1, 1.5, 2));
    let calibrated = Bagging::new().members(10).calibrated(true).fit(&train).unwrap();
    let (mean, _) = mean_and_rate(&calibrated, &test);
    assert!((mean - 0.1).abs() < 0.02, "{mean}");
    let (_, rate) = mean_and_rate(&at_goal(&Bagging::new().members(10).into(), Threshold::Rate(0.1), &train), &test);
    assert!((rate - 0.1).abs() < 0.03, "{rate}");
}

/// Weights of classes say what a mistake costs, and not how many rows are of a class.
#[test]
fn weights_of_classes_leave_their_shares() {
    let (train, test) = (rows(600, 3, 0.15, 1.5, 3), rows(3000, 3, 0.15, 1.5, 4));
    let bagging = Method::from(Bagging::new());
    let boosted = Method::from(AdaBoost::new().base(Base::Tree(TreeSettings::random())));
    for train in [train.clone().balanced(), train.clone().class_weights(vec![1.0, 6.0]).unwrap()] {
        for method in [&bagging, &boosted] {
            let (_, rate) = mean_and_rate(&at_goal(method, Threshold::Rate(0.15), &train), &test);
            assert!((rate - 0.15).abs() < 0.05, "{}: {rate}", method.name());
        }
        let calibrated = Bagging::new().calibrated(true).fit(&train).unwrap();
        let (mean, _) = mean_and_rate(&calibrated, &test);
        assert!((mean - 0.15).abs() < 0.04, "{mean}");
    }
    // Weights of rows do say it.
    let weights = (0..600).map(|i| if train.labels().name(i) == Some("yes") { 6.0 } else { 1.0 }).collect();
    let (mean, _) =
        mean_and_rate(&Bagging::new().calibrated(true).fit(&train.clone().weights(weights).unwrap()).unwrap(), &test);
    assert!(mean > 0.25, "{mean}");
}

/// The prior of the labeled rows goes by their weights, and half of the way.
#[test]
fn the_prior_of_labeled_rows_goes_by_their_weights() {
    let data = rows(400, 2, 0.5, 1.0, 5);
    let hidden: Vec<usize> = (60..400).collect();
    let train = data.clone().hide_labels(&hidden);
    let weight = |i: usize| if i < 60 && train.labels().name(i) == Some("yes") { 1.0 } else { 9.0 };
    let weighted = train.clone().weights((0..400).map(weight).collect()).unwrap();
    let auto = Auto::new().members(5).views(vec![View::Linear]);
    let mean = |prior: Prior, train: &TrainSet| {
        let model = auto.clone().prior(prior).fit(train).unwrap();
        mean_and_rate(&model, &data.select(&hidden)).0
    };
    let yes = (0..60).filter(|&i| train.labels().name(i) == Some("yes")).count() as f64;
    let share = yes / (yes + 9.0 * (60.0 - yes));
    let (before, after) = (mean(Prior::Unknown, &weighted), mean(Prior::Labeled, &weighted));
    assert!((after - 0.5 * (before + share)).abs() < 0.01, "{before} to {after}, share {share}");
    // Weights of classes are left out, and count after the prior.
    for prior in [Prior::Unknown, Prior::Labeled, Prior::Shares(vec![0.4, 0.6])] {
        let probabilities = |train: &TrainSet| {
            let model = auto.clone().prior(prior.clone()).fit(train).unwrap();
            model.predict_proba(data.table()).unwrap()
        };
        let (plain, weighted) =
            (probabilities(&train), probabilities(&train.clone().class_weights(vec![1.0, 3.0]).unwrap()));
        for i in 0..400 {
            let (plain, weighted) = (plain.get(i), weighted.get(i));
            let expected = 3.0 * plain[1] / (3.0 * plain[1] + plain[0]);
            assert!((weighted[1] - expected).abs() < 1e-12, "{prior:?}: {plain:?} {weighted:?}");
        }
    }
}

/// Rows that were entered several times tell no more than once what members say that did not learn from them.
#[test]
fn copies_do_not_flatter() {
    let (train, test) = (rows(120, 4, 0.35, 1.2, 6), rows(3000, 4, 0.35, 1.2, 7));
    let auto = Auto::new().members(10).views(vec![View::Linear, View::Trees]);
    let forest = Bagging::new().members(100).base(Base::Tree(TreeSettings::random()));
    let thrice = repeated(&train, |_| 3);
    let rare = repeated(&train, |i| if train.labels().name(i) == Some("yes") { 4 } else { 1 });
    for copied in [&thrice, &rare] {
        for method in [Method::from(auto.clone()), forest.clone().into()] {
            let (model, estimates) = method.fit_out_of_bag(copied, &mut ()).unwrap();
            let (estimates, labels) = (estimates.unwrap(), copied.labels());
            let right = |i: &usize| estimates.get(*i)[labels.get(*i).unwrap()] > 0.5;
            let share = (0..labels.len()).filter(right).count() as f64 / labels.len() as f64;
            assert!(share < 0.88, "{}: out-of-bag accuracy {share}", method.name());
            let sets = model.predict_set(test.table(), 0.9).unwrap();
            let covered = (0..3000).filter(|&i| sets[i].contains(&test.labels().get(i).unwrap())).count();
            assert!(covered > 2450, "{}: coverage {covered} of 3000", method.name());
        }
    }
    // Copies stay in one fold.
    for fold in thrice.folds(5, 1) {
        assert!(fold.iter().all(|row| (0..3).all(|k| fold.contains(&(row / 3 * 3 + k)))), "{fold:?}");
    }
    // Rows that are not copied are dealt as ever.
    assert_eq!(train.folds(4, 9), udeed::data::stratified_folds(train.labels(), 4, 9));
    // Nobody can judge rows that all members know.
    let many = repeated(&train, |_| 40);
    let model = Bagging::new().members(5).fit(&many).unwrap();
    assert!(model.training().warnings.iter().any(|warning| matches!(warning, Warning::CopiesInEveryBag { .. })));
    // Answers of yes and no recur by themselves.
    let votes = built_in("vote").unwrap().read().unwrap().into_train().unwrap();
    assert_eq!(votes.distinct_labels(), *votes.labels());
}

/// A descent that has taught all labels to all members leaves none to judge by.
#[test]
fn udeed_holds_out_only_what_its_descent_leaves() {
    let (train, test) = (rows(80, 40, 0.5, 1.5, 8), rows(2000, 40, 0.5, 1.5, 9));
    let usual = Udeed::new().fit(&train).unwrap();
    assert!(usual.has_held_out());
    let taught = Udeed::new().variant(Variant::Lc).rate(10.0).steps(1000);
    let model = taught.fit(&train).unwrap();
    assert!(!model.has_held_out() && model.training().warnings.contains(&Warning::NothingHeldOut));
    assert!(model.predict_set(test.table(), 0.9).is_err());
    let calibrated = taught.calibrated(true).fit(&train).unwrap();
    let covered = |model: &Model| {
        let sets = model.predict_set(test.table(), 0.9).unwrap();
        (0..2000).filter(|&i| sets[i].contains(&test.labels().get(i).unwrap())).count()
    };
    assert!(covered(&usual) > 1650 && covered(&calibrated) > 1650, "{} {}", covered(&usual), covered(&calibrated));
}

#[test]
fn a_class_without_a_held_out_row_is_named() {
    let table = Table::from_rows(&(0..13).map(|i| [f64::from(i)]).collect::<Vec<_>>()).unwrap();
    let train = TrainSet::new(table, Labels::new((0..13).map(|i| Some(if i == 12 { "b" } else { "a" })))).unwrap();
    for method in ["bagging", "udeed", "adaboost"] {
        let method = Method::named(method).unwrap().with_setting("calibrated", "true").unwrap();
        let model = method.fit(&train).unwrap();
        let told = Warning::NothingToCalibrateBy { class: "b".into() };
        assert!(model.training().warnings.contains(&told) && !model.is_calibrated(), "{}", method.name());
    }
}

#[test]
fn estimates_are_those_of_the_model() {
    let train = rows(100, 3, 0.4, 1.5, 10);
    let extra = Method::from(ExtraTrees::new().members(30).bootstrap(true));
    let (_, plain) = extra.fit_out_of_bag(&train, &mut ()).unwrap();
    let calibrated = extra.with_setting("calibrated", "true").unwrap();
    let (model, estimates) = calibrated.fit_out_of_bag(&train, &mut ()).unwrap();
    assert!(model.is_calibrated());
    let (plain, estimates) = (plain.unwrap(), estimates.unwrap());
    // The calibration is a rising function; its mean is the share of the class.
    let mut order: Vec<usize> = (0..100).filter(|&i| !plain.get(i)[1].is_nan()).collect();
    order.sort_by(|&a, &b| plain.get(a)[1].total_cmp(&plain.get(b)[1]));
    assert!(order.is_sorted_by(|&a, &b| estimates.get(a)[1] <= estimates.get(b)[1]));
    let mean = |p: &udeed::data::Dense| order.iter().map(|&i| p.get(i)[1]).sum::<f64>() / order.len() as f64;
    let share = order.iter().filter(|&&i| train.labels().get(i) == Some(1)).count() as f64 / order.len() as f64;
    assert!((mean(&estimates) - share).abs() < 0.02 && plain != estimates, "{} {share}", mean(&estimates));
}

#[test]
fn weights_that_vanish_beside_others_are_refused() {
    let train = rows(30, 2, 0.5, 1.0, 11);
    let mut weights = vec![1e-300; 30];
    weights[0] = 1e300;
    let error = train.clone().weights(weights.clone()).unwrap_err().to_string();
    assert!(error.contains("the weight 1e-300 in row 2 beside one of 1e300"), "{error}");
    weights.iter_mut().skip(1).for_each(|weight| *weight = 1e220);
    Auto::new().members(4).fit(&train.weights(weights).unwrap()).unwrap();
}

/// Columns of tiny numbers are scaled as others are.
#[test]
fn tiny_numbers_are_told_apart() {
    let train = rows(80, 2, 0.5, 3.0, 12);
    let scaled = |factor: f64| {
        let values = train.table().matrix().to_dense().unwrap().values().iter().map(|x| x * factor).collect();
        let table = Table::from_matrix(udeed::data::Dense::new(80, 2, values).unwrap()).unwrap();
        let train = TrainSet::new(table, train.labels().clone()).unwrap();
        let model = Auto::new().members(4).views(vec![View::Linear]).fit(&train).unwrap();
        model.evaluate(train.table(), train.labels()).unwrap().accuracy
    };
    assert_eq!(scaled(1.0), scaled(f64::powi(2.0, -560)));
}

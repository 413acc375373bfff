//! The automatic ensemble: what it chooses, what it says of it, and what it does with rows that give it little to go by.
#![allow(clippy::unwrap_used)]

mod draw;

use draw::Draw;
use udeed::Hint;
use udeed::data::{Labels, Matrix, Table, TrainSet};
use udeed::ensemble::Changed;
use udeed::format::built_in;
use udeed::method::auto::{Prior, View};
use udeed::method::{Auto, Bagging, Lambda, Udeed};
use udeed::model::Model;
use udeed::observer::Warning;

fn ionosphere(labeled: impl Fn(usize) -> bool) -> (TrainSet, TrainSet) {
    let all = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    let hidden: Vec<usize> = (0..351).filter(|&i| !labeled(i)).collect();
    (all.clone().hide_labels(&hidden), all)
}

fn accuracy(model: &Model, on: &TrainSet) -> f64 {
    model.evaluate(on.table(), on.labels()).unwrap().accuracy
}

/// Two interleaved half circles: no line tells them apart, and few labels say where they run.
fn moons() -> (TrainSet, TrainSet) {
    let point = |i: usize| {
        let (second, angle) = (i % 2 == 1, std::f64::consts::PI * ((i / 2) as f64 + 0.5) / 100.0);
        let wobble = 0.05 * (((i * 37) % 11) as f64 - 5.0) / 5.0;
        if second { [1.0 - angle.cos(), 0.5 - angle.sin() + wobble] } else { [angle.cos(), angle.sin() + wobble] }
    };
    let rows: Vec<[f64; 2]> = (0..200).map(point).collect();
    let labels = Labels::new((0..200).map(|i| Some(["above", "below"][i % 2])));
    let all = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let hidden: Vec<usize> = (0..200).filter(|&i| (i / 2) % 20 != 0).collect();
    (all.clone().hide_labels(&hidden), all)
}

#[test]
fn unlabeled_rows_show_what_few_labels_cannot() {
    let (train, all) = moons();
    let model = Auto::new().fit(&train).unwrap();
    let blind = Auto::new().views(vec![View::Linear]).fit(&train).unwrap();
    assert!(
        accuracy(&model, &all) > accuracy(&blind, &all) + 0.03,
        "{} {}",
        accuracy(&model, &all),
        accuracy(&blind, &all)
    );
    let found = model.training().findings.as_ref().unwrap();
    let Some(Changed { rows, of, .. }) = found.changed else { panic!("{found}") };
    assert!(rows > 0 && of == 190, "{found}");
    let unchanged = blind.training().findings.as_ref().unwrap().changed.as_ref().unwrap();
    assert_eq!((unchanged.rows, unchanged.of), (0, 0));
}

const VIEWS: [&str; 8] = [
    "linear",
    "relevance",
    "laplace",
    "narrow",
    "spectral, 20 neighbors",
    "spectral, 5 neighbors",
    "extra trees",
    "forest",
];

#[test]
fn what_it_found_is_told() {
    let (train, all) = ionosphere(|i| i % 4 == 0);
    let model = Auto::new().seed(3).fit(&train).unwrap();
    let found = model.training().findings.as_ref().unwrap();
    let names: Vec<&str> = found.views.iter().map(|view| view.view.as_str()).collect();
    assert_eq!(names, VIEWS);
    assert!((found.views.iter().map(|view| view.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    for view in &found.views {
        let trees = ["extra trees", "forest"].contains(&view.view.as_str());
        assert!(
            (0.0..=1.0).contains(&view.weight) && view.lambda.is_none() == (trees || view.weight == 0.0),
            "{view:?}"
        );
        assert!(view.lambda.is_none_or(|lambda| (1.0..=10_000.0 + 1e-6).contains(&lambda)), "{view:?}");
    }
    assert_eq!(found.rows, 88);
    // The out-of-bag accuracy is an estimate of the accuracy on rows that were not seen.
    let unseen = accuracy(&model, &all);
    assert!((found.accuracy - unseen).abs() < 0.1, "{} against {unseen}", found.accuracy);
    assert!(accuracy(&model.logistic(), &all) < unseen);
    let text = found.to_string();
    for word in ["relevance", "out-of-bag accuracy", "95 % interval", "logistic regression", "unlabeled rows changed"] {
        assert!(text.contains(word), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn half_of_a_vote_is_of_bootstraps_and_half_of_all_labels() {
    let (train, all) = ionosphere(|i| i % 4 == 0);
    let model = Auto::new().members(6).views(vec![View::Trees]).fit(&train).unwrap();
    // Of each kind ten trees a bootstrap, and as many on all labels.
    assert_eq!(model.ensemble().n_members(), 2 * 2 * 60);
    let found = model.training().findings.as_ref().unwrap();
    let weights = model.ensemble().weights(0);
    for (view, weights) in found.views.iter().zip(weights.chunks(120)) {
        assert!(weights.iter().all(|w| (w - view.weight / 120.0).abs() < 1e-12), "{weights:?}");
    }
    let model = Auto::new().members(6).views(vec![View::Narrow]).fit(&train).unwrap();
    for weights in model.ensemble().weights(0).chunks(7) {
        assert!((weights[6] - 6.0 * weights[0]).abs() < 1e-12 && weights[..6].iter().all(|w| *w == weights[0]));
    }
    let m = model.ensemble().n_members();
    assert_eq!(model.classify(all.table()).unwrap().len(), 351 * m);
    for (views, members) in [(vec![View::Narrow], 9), (vec![View::Trees, View::Linear], 100)] {
        let first = Auto::new().members(6).views(views).fit(&train).unwrap().prefix(members);
        assert_eq!(first.ensemble().n_members(), members);
        assert_eq!(first.classify(all.table()).unwrap().len(), 351 * members);
        assert!(accuracy(&first, &all) > 0.7);
    }
}

/// Rows of a square, those inside a circle of another class than those outside: nothing that a line could tell.
fn circle(n: usize) -> (Vec<[f64; 2]>, Vec<&'static str>) {
    let mut draw = Draw(1);
    let mut unit = || draw.unit();
    let rows: Vec<[f64; 2]> = (0..n).map(|_| [unit(), unit()]).collect();
    let inside = |row: &[f64; 2]| (row[0] - 0.5).hypot(row[1] - 0.5) < 0.4;
    let labels = rows.iter().map(|row| if inside(row) { "in" } else { "out" }).collect();
    (rows, labels)
}

#[test]
fn candidates_of_next_to_no_weight_are_left_out() {
    let (rows, labels) = circle(600);
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), Labels::new(labels.into_iter().map(Some))).unwrap();
    let model = Auto::new().members(4).views(vec![View::Linear, View::Narrow, View::Trees]).fit(&train).unwrap();
    let weights = model.ensemble().weights(0);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let found = model.training().findings.as_ref().unwrap();
    assert_eq!((found.views[0].weight, found.views[0].lambda), (0.0, None), "{found}");
    assert!(model.ensemble().n_members() <= 4 * 5 + 160, "{}", model.ensemble().n_members());
}

#[test]
fn a_known_share_of_the_classes_is_kept() {
    let (train, all) = ionosphere(|i| i % 12 == 0);
    let classes = all.classes().unwrap();
    let share = |model: &Model| {
        let predicted = model.predict_proba(all.table()).unwrap();
        predicted.values().chunks(2).map(|p| p[1]).sum::<f64>() / 351.0
    };
    let settings = Auto::new().members(6);
    let as_it_comes = share(&settings.fit(&train).unwrap());
    for second in [0.2, 0.5, 0.8] {
        let prior = Prior::Shares(vec![1.0 - second, second]);
        let moved = share(&settings.clone().prior(prior).fit(&train).unwrap());
        assert!((moved - second).abs() < 0.5 * (as_it_comes - second).abs().max(0.1), "{moved} for {second}");
    }
    // What is given of rows out of bag is given of the members that were moved: most are of the first class here.
    let far = settings.clone().prior(Prior::Shares(vec![0.98, 0.02])).fit(&train).unwrap();
    let given = |model: &Model| model.training().findings.as_ref().unwrap().accuracy;
    assert!(given(&far) < given(&settings.fit(&train).unwrap()), "{}", given(&far));
    let labeled = settings.clone().prior(Prior::Labeled).fit(&train).unwrap();
    assert!(accuracy(&labeled, &all) > 0.7);
    assert_eq!(classes, ["b", "g"]);
}

/// Weights of classes move the log odds, those of rows the fits: what is learned does not depend on the weights of classes.
#[test]
fn weights_of_classes_shift_the_odds() {
    let (train, all) = corners(3, 30);
    let auto = Auto::new().members(4).views(vec![View::Linear, View::Spectral, View::Trees]);
    let plain = auto.fit(&train).unwrap();
    let weights = [1.0, 4.0, 0.5];
    let weighted = auto.fit(&train.clone().class_weights(weights.to_vec()).unwrap()).unwrap();
    let [before, after] = [&plain, &weighted].map(|model| model.predict_proba(all.table()).unwrap());
    for i in 0..all.labels().len() {
        let parts: Vec<f64> = before.get(i).iter().zip(weights).map(|(p, weight)| p * weight).collect();
        let total: f64 = parts.iter().sum();
        for (found, part) in after.get(i).iter().zip(parts) {
            assert!((found - part / total).abs() < 1e-12, "row {i}: {found} against {}", part / total);
        }
    }
    // The views are weighed as without, and no weight counts as what unlabeled rows have changed.
    let [before, after] = [&plain, &weighted].map(|model| model.training().findings.clone().unwrap());
    assert_eq!(before.views, after.views);
    let by_labels = auto.views(vec![View::Linear, View::Trees]);
    let found = by_labels.fit(&train.class_weights(weights.to_vec()).unwrap()).unwrap().training().findings.clone();
    assert_eq!(found.unwrap().changed.unwrap().rows, 0);
    // Weights that are all the same are none.
    let (train, all) = ionosphere(|i| i < 60);
    let auto = Auto::new().members(4).views(vec![View::Linear]);
    let [plain, alike] = [train.clone(), train.class_weights(vec![0.3, 0.3]).unwrap()]
        .map(|train| auto.fit(&train).unwrap().predict_proba(all.table()).unwrap());
    assert_eq!(plain, alike);
}

/// Members that are sure of every row: no odds give the unlabeled rows other shares.
#[test]
fn a_prior_that_cannot_be_met_is_told_and_sure_rows_stay_sure() {
    let rows: Vec<[f64; 1]> = (0..90).map(|i| [f64::from(u8::from(if i < 20 { i >= 10 } else { i == 89 }))]).collect();
    let labels = Labels::new((0..90).map(|i| (i < 20).then_some(["a", "b"][usize::from(i >= 10)])));
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    for prior in [Prior::Labeled, Prior::Shares(vec![0.01, 0.99]), Prior::Shares(vec![0.98, 0.02])] {
        let model = Auto::new().members(4).views(vec![View::Trees]).prior(prior.clone()).fit(&train).unwrap();
        let told = model.training().warnings.contains(&Warning::PriorNotMet);
        assert_eq!(told, prior != Prior::Shares(vec![0.98, 0.02]), "{:?}", model.training().warnings);
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        let sure = model.predict_proba(&Table::from_rows(&[[0.0], [1.0]]).unwrap()).unwrap();
        assert!(sure.get(0)[0] > 0.99 && sure.get(1)[1] > 0.99, "{prior:?}: {:?}", sure.values());
    }
}

#[test]
fn rows_that_give_little_to_go_by_are_no_failure() {
    // Few labels: the linear view.
    let (train, all) = ionosphere(|i| i < 3);
    let model = Auto::new().fit(&train).unwrap();
    assert!(model.training().warnings.contains(&Warning::FewLabels { rows: 3 }));
    assert_eq!(model.training().findings.as_ref().unwrap().views.len(), 1);
    // One row of a class is in every bootstrap.
    let second = (0..351).find(|&i| all.labels().name(i) == Some("b")).unwrap();
    let firsts: Vec<usize> = (0..351).filter(|&i| all.labels().name(i) == Some("g")).take(6).collect();
    let (train, _) = ionosphere(|i| i == second || firsts.contains(&i));
    let model = Auto::new().fit(&train).unwrap();
    assert!(model.training().warnings.contains(&Warning::OneClassOut), "{:?}", model.training().warnings);
    // No unlabeled rows, one column, rows that are all the same.
    let fit = |rows: &[[f64; 1]]| {
        let labels = Labels::new((0..rows.len()).map(|i| Some(["a", "b"][i % 2])));
        Auto::new().fit(&TrainSet::new(Table::from_rows(rows).unwrap(), labels).unwrap()).unwrap()
    };
    let model = fit(&[[0.0], [1.0], [0.1], [0.9], [0.2], [1.1]]);
    assert_eq!(model.predict(&Table::from_rows(&[[0.0], [1.0]]).unwrap()).unwrap(), ["a", "b"]);
    let model = fit(&[[3.0]; 8]);
    assert!(
        model.decision(&Table::from_rows(&[[3.0], [9.0]]).unwrap()).unwrap().values().iter().all(|f| f.is_finite())
    );
    // A column that is the same everywhere but for rounding is left alone, whatever it is later.
    let rows: Vec<[f64; 2]> = (0..101).map(|i| [f64::from(i % 2) + f64::from(i) / 200.0, 0.1]).collect();
    let labels = Labels::new((0..101).map(|i| Some(["a", "b"][i % 2])));
    let model = Auto::new().members(4).fit(&TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap()).unwrap();
    let given = model.decision(&Table::from_rows(&[[0.2, 0.1], [0.2, 0.11]]).unwrap()).unwrap();
    assert_eq!(given.values()[0], given.values()[1]);
    // Two labeled rows: none is ever out of bag.
    let (train, _) = ionosphere(|i| i < 2);
    let text = Auto::new().fit(&train).unwrap().training().findings.as_ref().unwrap().to_string();
    assert!(text.contains("no row is out of bag"), "{text}");
    // A prior without unlabeled rows moves nothing, and says so.
    let (labeled, _) = ionosphere(|_| true);
    let model = Auto::new().members(4).prior(Prior::Labeled).fit(&labeled).unwrap();
    assert!(model.training().warnings.contains(&Warning::NothingUnlabeled), "{:?}", model.training().warnings);
}

#[test]
fn of_sparse_rows_there_are_the_linear_view_and_trees() {
    let (train, all) = ionosphere(|i| i % 4 == 0);
    let sparse = |set: &TrainSet| {
        let rows = Matrix::from(set.table().matrix().to_sparse());
        TrainSet::new(Table::from_matrix(rows).unwrap(), set.labels().clone()).unwrap()
    };
    let model = Auto::new().fit(&sparse(&train)).unwrap();
    assert_eq!(model.training().warnings, [Warning::SparseViews]);
    let text = model.training().findings.as_ref().unwrap().to_string();
    assert!(text.contains("no view is a graph of unlabeled rows"), "{text}");
    let moved = Auto::new().prior(Prior::Shares(vec![0.5, 0.5])).fit(&sparse(&train)).unwrap();
    assert_ne!(moved.ensemble(), model.ensemble());
    assert!(accuracy(&model, &sparse(&all)) > 0.75);
    assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
}

#[test]
fn settings_that_make_no_sense_are_refused_in_words() {
    let (train, _) = ionosphere(|i| i % 4 == 0);
    let refused = |settings: Auto| settings.fit(&train).unwrap_err().to_string();
    for (settings, word) in [
        (Auto::new().members(1), "members"),
        (Auto::new().views(vec![]), "views"),
        (Auto::new().views(vec![View::Linear, View::Linear]), "twice"),
        (Auto::new().prior(Prior::Shares(vec![0.5, 0.6])), "together 1"),
        (Auto::new().prior(Prior::Shares(vec![0.0, 1.0])), "above 0"),
        (Auto::new().prior(Prior::Shares(vec![0.2, 0.3, 0.5])), "3 shares for 2 classes"),
        (Auto::new().prior(Prior::Shares(vec![f64::NAN, 0.5])), "prior"),
    ] {
        let error = refused(settings);
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn many_rows_are_seen_by_landmarks() {
    let mut draw = Draw(1);
    let mut unit = || draw.unit();
    let rows: Vec<[f64; 2]> = (0..6000).map(|i| [unit() + f64::from(i % 2), unit()]).collect();
    let labels = Labels::new((0..6000).map(|i| (i < 60).then_some(["left", "right"][i % 2])));
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let model = Auto::new().members(4).fit(&train).unwrap();
    let predicted = model.predict(train.table()).unwrap();
    let right = predicted.iter().enumerate().filter(|(i, class)| **class == ["left", "right"][i % 2]).count();
    assert!(right > 5700, "{right}");
    assert_eq!(model.training().findings.as_ref().unwrap().views.len(), 8);
}

#[test]
fn every_view_is_exported_and_says_which_rows_it_holds() {
    let (train, _) = ionosphere(|i| i % 4 == 0);
    let graph_of = |views: &[View]| {
        let model = Auto::new().members(3).views(views.to_vec()).prior(Prior::Labeled).fit(&train).unwrap();
        (model.to_onnx().unwrap(), model.held_rows())
    };
    // Of each view an operator that no other needs, and what it holds: rows of kernels, nodes, values of columns.
    for (view, operator, held) in [
        (View::Linear, "Tanh", [0, 0, 0]),
        (View::Relevance, "Exp", [88, 0, 0]),
        (View::Laplace, "Abs", [88, 0, 1]),
        (View::Narrow, "Exp", [88, 0, 0]),
        (View::Spectral, "TopK", [0, 351, 0]),
        (View::Trees, "TreeEnsembleRegressor", [0, 0, 0]),
    ] {
        let (graph, found) = graph_of(&[view]);
        assert!(graph.windows(operator.len()).any(|bytes| bytes == operator.as_bytes()), "{view}");
        assert_eq!([found.kernels, found.nodes, found.values.min(1)], held, "{view}");
        assert_eq!(found.is_empty(), held == [0, 0, 0], "{view}");
    }
}

#[test]
fn kernels_share_the_labeled_rows_in_a_file() {
    let (train, _) = ionosphere(|i| i % 4 == 0);
    let bytes = |members: usize| {
        let views = vec![View::Relevance, View::Laplace, View::Narrow];
        Auto::new().members(members).views(views).fit(&train).unwrap().to_bytes().unwrap().len() as f64
    };
    // A member has a weight for each of 88 labeled rows at four lambdas and a factor for each column, in three views; copies
    // of the rows would be 88 times 34 numbers each.
    let (few, many) = (bytes(5), bytes(25));
    assert!((many - few) / 20.0 < 8.0 * 3.0 * (88.0 * 6.0 + 34.0), "{few} {many}");
}

/// Beyond a thousand labels some rows stand for all, and nothing jumps.
#[test]
fn many_labels_are_seen_by_landmarks() {
    let (rows, labels) = circle(2400);
    let fit = |n: usize| {
        let shown = Labels::new((0..2400).map(|i| (i < n).then_some(labels[i])));
        let train = TrainSet::new(Table::from_rows(&rows).unwrap(), shown).unwrap();
        let model = Auto::new().members(2).views(vec![View::Relevance]).fit(&train).unwrap();
        let right = model.predict(train.table()).unwrap().iter().zip(&labels).filter(|(a, b)| a == b).count();
        right as f64 / 2400.0
    };
    let (few, many) = (fit(990), fit(1400));
    assert!(few > 0.97 && many > few - 0.005, "{few} {many}");
}

/// Points around the corners of a polygon, the first `labeled` with their corner.
fn corners(corners: usize, labeled: usize) -> (TrainSet, TrainSet) {
    let mut draw = Draw(7);
    let mut unit = || draw.unit();
    let point = |i: usize| {
        let angle = std::f64::consts::TAU * (i % corners) as f64 / corners as f64;
        [angle.cos() + 0.4 * (unit() - 0.5), angle.sin() + 0.4 * (unit() - 0.5), unit()]
    };
    let rows: Vec<[f64; 3]> = (0..600).map(point).collect();
    let labels = Labels::new((0..600).map(|i| Some(format!("corner {:03}", i % corners))));
    let all = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    (all.clone().hide_labels(&(labeled..600).collect::<Vec<usize>>()), all)
}

/// With more than ten classes one Newton step serves all of them: neither accuracy nor probabilities jump, in any view.
#[test]
fn many_classes_are_fitted_by_one_step() {
    let of = |classes: usize, views: Vec<View>| {
        let (train, all) = corners(classes, 20 * classes);
        let model = Auto::new().members(6).views(views).fit(&train).unwrap();
        let report = model.evaluate(all.table(), all.labels()).unwrap();
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        let found = model.training().findings.as_ref().unwrap();
        assert!((found.accuracy - report.accuracy).abs() < 0.1, "{found}");
        (report.accuracy, report.log_loss)
    };
    for views in [vec![View::Relevance], vec![View::Narrow], vec![View::Spectral], View::ALL.to_vec()] {
        let (ten, eleven) = (of(10, views.clone()), of(11, views.clone()));
        // Eleven corners are nearer to each other than ten.
        assert!(eleven.0 > 0.8 && eleven.0 > ten.0 - 0.08, "{views:?}: {ten:?} {eleven:?}");
        assert!(eleven.1 < ten.1 + 0.3, "{views:?}: {ten:?} {eleven:?}");
    }
}

/// What holds of two classes holds of many: one label a class, no unlabeled rows, weights of any scale.
#[test]
fn many_classes_with_little_to_go_by() {
    let (train, all) = corners(12, 12);
    let model = Auto::new().members(4).fit(&train).unwrap();
    assert!(accuracy(&model, &all) > 0.5, "{}", accuracy(&model, &all));
    let (train, _) = corners(12, 600);
    let settings = Auto::new().members(3).views(vec![View::Linear, View::Narrow]);
    let model = settings.fit(&train).unwrap();
    assert!(accuracy(&model, &train) > 0.8 && model.training().warnings.contains(&Warning::NothingUnlabeled));
    let weighted = |scale: f64| {
        let weights = (0..600).map(|i| scale * [1.0, 3.0, 0.5][i % 3]).collect();
        settings.fit(&train.clone().weights(weights).unwrap()).unwrap()
    };
    assert_eq!(weighted(1.0).ensemble(), weighted(1.0 / 1024.0).ensemble());
    assert_ne!(weighted(1.0).ensemble(), model.ensemble());
}

#[test]
fn one_class_is_refused() {
    let (_, all) = ionosphere(|_| true);
    let first = (0..351).find(|&i| all.labels().name(i) == Some("b")).unwrap();
    let others: Vec<usize> = (0..351).filter(|&i| i != first && all.labels().name(i) == Some("b")).collect();
    let (train, _) = ionosphere(|i| i == first || others.contains(&i));
    assert_eq!(Auto::new().fit(&train).unwrap_err().hint(), Some(&Hint::OneClass));
}

/// As many classes as there can be, two labels each: fewer trees, and nothing that does not end.
#[test]
fn as_many_classes_as_there_can_be() {
    let (train, all) = corners(255, 510);
    let model = Auto::new().members(3).fit(&train).unwrap();
    assert!(accuracy(&model, &all) > 0.05);
    let trees = Auto::new().members(3).views(vec![View::Trees]).fit(&train).unwrap();
    assert_eq!(trees.ensemble().n_members(), 2 * 2 * 3 * 2);
}

#[test]
fn out_of_bag_rows_choose_lambda_for_bagging_and_udeed() {
    let (train, all) = ionosphere(|i| i % 4 == 0);
    let bagging = Bagging::new().lambda(Lambda::Auto).fit(&train).unwrap();
    let found = bagging.training().findings.as_ref().unwrap();
    let lambda = found.views[0].lambda.unwrap();
    assert_eq!(bagging.method().shared().lambda, Lambda::Auto, "a model keeps what was asked for");
    assert_ne!(lambda, 1.0);
    // It is the ensemble that this lambda gives.
    let given = Bagging::new().lambda(lambda).fit(&train).unwrap();
    for (a, b) in
        given.ensemble().linear(0).unwrap().weights().iter().zip(bagging.ensemble().linear(0).unwrap().weights())
    {
        assert!((a - b).abs() < 1e-6, "{a} against {b}");
    }
    let udeed = Udeed::new().lambda(Lambda::Auto).fit(&train).unwrap();
    assert_eq!(udeed.training().findings.as_ref().unwrap().views[0].lambda, Some(lambda));
    assert!(accuracy(&udeed, &all) >= accuracy(&Udeed::new().fit(&train).unwrap(), &all));
    assert_eq!(Model::from_bytes(&udeed.to_bytes().unwrap()).unwrap(), udeed);
    let start = Udeed::new().lambda(Lambda::Auto).start(&train, &mut ()).unwrap();
    assert_eq!(start.model(20).unwrap().ensemble(), &udeed.initial().unwrap().ensemble().clone());
}

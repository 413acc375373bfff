//! Probabilities and sets that can be trusted: calibration, and the coverage of conformal sets in each class.
#![allow(clippy::unwrap_used)]

use udeed::data::{Labeled, Rows, Shares, TrainSet, stratified_split};
use udeed::format::built_in;
use udeed::learner::{Base, TreeSettings};
use udeed::method::Method;
use udeed::model::Model;
use udeed::prelude::*;

/// Training rows, some of them labeled, and test rows.
fn split(set: &str, labeled: Labeled, number: u32) -> (TrainSet, TrainSet) {
    let data = built_in(set).unwrap().read().unwrap().into_train().unwrap();
    let split = stratified_split(data.labels(), Shares { test: 0.5, labeled }, 3, number).unwrap();
    let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
    let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
    (data.select(&rows).hide_labels(&hidden), data.select(&split.test))
}

fn log_loss(model: &Model, test: &TrainSet) -> f64 {
    model.evaluate(test.table(), test.labels()).unwrap().log_loss
}

#[test]
fn calibrated_votes_keep_their_order_and_mend_the_log_loss() {
    let mut gains = Vec::new();
    for set in ["ionosphere", "diabetes", "sonar"] {
        let (train, test) = split(set, Labeled::Share(0.5), 0);
        for name in ["udeed", "adaboost", "extra-trees", "self-training"] {
            let method = Method::named(name).unwrap();
            let plain = method.fit(&train).unwrap();
            let model = method.with_setting("calibrated", "true").unwrap().fit(&train).unwrap();
            assert!(model.is_calibrated() && model.has_held_out() && !plain.is_calibrated());
            let [before, after] = [&plain, &model].map(|model| model.decision(test.table()).unwrap());
            let mut order: Vec<usize> = (0..before.n_rows()).collect();
            order.sort_by(|&a, &b| before.get(a)[0].total_cmp(&before.get(b)[0]));
            assert!(order.is_sorted_by(|&a, &b| after.get(a)[0] <= after.get(b)[0]), "{set}, {name}");
            assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
            let alone = |model: &Model| model.logistic().decision(test.table()).unwrap();
            assert_eq!(alone(&model), alone(&plain), "{set}, {name}: the baseline stays");
            if name == "udeed" {
                gains.push(log_loss(&plain, &test) - log_loss(&model, &test));
            }
        }
    }
    // The descent pulls votes to 0, and the calibration back.
    assert!(gains.iter().sum::<f64>() / gains.len() as f64 > 0.02, "{gains:?}");
}

#[test]
fn what_cannot_be_calibrated_is_told() {
    // Noise: no vote rises with the share of its class, in some draws at least.
    let rows: Vec<[f64; 1]> = (0..24).map(|i| [f64::from(i * 7 % 24)]).collect();
    let labels = Labels::new((0..24).map(|i| Some(["a", "b"][usize::from(i * 5 % 7 % 2 == 0)])));
    let train = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let told = (0..20).any(|seed| {
        let model = Bagging::new().calibrated(true).seed(seed).fit(&train).unwrap();
        let warned = model.training().warnings.contains(&udeed::observer::Warning::NotCalibrated);
        assert_ne!(warned, model.is_calibrated());
        warned
    });
    assert!(told);
    let single = Labels::new((0..24).map(|i| Some(if i == 3 { "b" } else { "a" })));
    let single = TrainSet::new(Table::from_rows(&rows).unwrap(), single).unwrap();
    assert!(!AdaBoost::new().calibrated(true).fit(&single).unwrap().is_calibrated());
}

/// Over many splits each class is covered as often as was asked for, within the error of as many labeled and test rows.
#[test]
fn sets_cover_each_class() {
    let forest = Base::Tree(TreeSettings::random());
    let methods: [(&str, Method); 5] = [
        ("auto", Auto::new().members(10).into()),
        ("bagging", Bagging::new().into()),
        ("forest", Bagging::new().members(40).base(forest).into()),
        ("extra trees", ExtraTrees::new().members(40).bootstrap(true).into()),
        ("udeed", Udeed::new().into()),
    ];
    const SPLITS: u32 = 8;
    const COVERAGE: f64 = 0.8;
    for set in ["ionosphere", "diabetes", "vote"] {
        for (name, method) in &methods {
            let (mut covered, mut of, mut labeled) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for number in 0..SPLITS {
                let (train, test) = split(set, Labeled::Share(0.3), number);
                let model = method.fit(&train).unwrap();
                let sets = model.predict_set(test.table(), COVERAGE).unwrap();
                let labels = test.labels().aligned(model.classes()).unwrap();
                for (i, set) in sets.iter().enumerate() {
                    let class = labels.get(i).unwrap();
                    of[class] += 1.0;
                    covered[class] += f64::from(u8::from(set.contains(&class)));
                }
                for (class, &count) in model.training().class_counts.iter().enumerate() {
                    labeled[class] += count as f64;
                }
            }
            for class in 0..2 {
                let share = covered[class] / of[class];
                let error = (COVERAGE * (1.0 - COVERAGE) * (1.0 / of[class] + 1.0 / labeled[class])).sqrt();
                assert!(share > COVERAGE - 3.0 * error, "{set}, {name}, class {class}: {share} ± {error}");
                // A set of all classes covers as well, and says nothing.
                assert!(share < COVERAGE + 3.0 * error + 0.1, "{set}, {name}, class {class}: {share} ± {error}");
            }
        }
    }
}

#[test]
fn coverage_makes_sense_or_is_refused() {
    let train = built_in("labor").unwrap().read().unwrap().into_train().unwrap();
    let model = Bagging::new().fit(&train).unwrap();
    for coverage in [0.0, 1.0, -0.5, 2.0, f64::NAN] {
        assert!(model.predict_set(train.table(), coverage).is_err(), "{coverage}");
    }
    // 20 rows of the smaller class allow a coverage of 0.95, and not of 0.96.
    assert!(model.too_few_for(0.95).unwrap().is_empty());
    assert_eq!(model.too_few_for(0.96).unwrap(), ["bad"]);
    assert!(model.predict_set(train.table(), 0.96).unwrap().iter().all(|set| set.contains(&0)));
    let boosted = AdaBoost::new().fit(&train).unwrap();
    let error = boosted.predict_set(train.table(), 0.9).unwrap_err().to_string();
    assert!(error.contains("`adaboost` without held-out votes"), "{error}");
    let reloaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let sets = |model: &Model| model.predict_set(train.table(), 0.8).unwrap();
    assert_eq!(sets(&reloaded), sets(&model));
}

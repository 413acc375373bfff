//! The rivals of UDEED: what each promises, and that all are saved, loaded and repeated to the bit.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use udeed::data::{Dense, Labeled, Labels, Matrix, Shares, Table, TrainSet, stratified_split};
use udeed::ensemble::Emphasis;
use udeed::format::built_in;
use udeed::method::adaboost::ZeroError;
use udeed::method::semiboost::Pick;
use udeed::method::udeed::Variant;
use udeed::method::{AdaBoost, Assemble, Bagging, Method, SemiBoost, Udeed};
use udeed::model::Model;
use udeed::observer::{Observer, Warning};
use udeed::prepare::Scaling;
use udeed::{Error, Hint};

/// A split of a built-in set: training rows, of which a quarter is labeled, and test rows.
fn split(name: &str, repetition: u32) -> (TrainSet, TrainSet) {
    let data = built_in(name).unwrap().read().unwrap().into_train().unwrap();
    let shares = Shares { test: 0.5, labeled: Labeled::Share(0.25) };
    let split = stratified_split(data.labels(), shares, 3, repetition).unwrap();
    let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
    let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
    (data.select(&rows).hide_labels(&hidden), data.select(&split.test))
}

fn accuracy(model: &Model, test: &TrainSet) -> f64 {
    model.evaluate(test.table(), test.labels()).unwrap().accuracy
}

fn mean_accuracy(method: impl Into<Method>, name: &str, splits: u32) -> f64 {
    let method = method.into();
    let sum: f64 = (0..splits)
        .map(|repetition| {
            let (train, test) = split(name, repetition);
            accuracy(&method.fit(&train).unwrap(), &test)
        })
        .sum();
    sum / f64::from(splits)
}

fn all() -> Vec<Method> {
    Method::NAMES.iter().map(|name| Method::named(name).unwrap()).collect()
}

#[test]
fn every_method_is_repeated_to_the_bit_on_any_number_of_threads() {
    let (train, _) = split("wdbc", 0);
    for method in all() {
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method.fit(&train).unwrap()).to_bytes().unwrap()
        };
        assert_eq!(fit(1), fit(3), "{}", method.name());
    }
}

/// A method that ends as its baseline says so: the model is then what the labels alone teach.
#[test]
fn a_method_that_ends_as_its_baseline_warns() {
    let (train, test) = split("sonar", 0);
    // One unlabeled row, which teaches no member of tri-training.
    let single = {
        let labeled = (0..train.labels().len()).filter(|&i| train.labels().get(i).is_some());
        let unlabeled = (0..train.labels().len()).find(|&i| train.labels().get(i).is_none());
        train.select(&labeled.chain(unlabeled).collect::<Vec<usize>>())
    };
    let sure = |name: &str| Method::named(name).unwrap().with_setting("confidence", "0.99999").unwrap();
    let still: Method = Udeed::new().rate(1e6).into();
    let cases = [
        (Method::named("ssmboost").unwrap(), Warning::OneMember),
        (sure("self-training"), Warning::NothingAdded),
        (Method::named("tri-training").unwrap(), Warning::NothingAdded),
        (sure("co-forest"), Warning::NothingAdded),
        (still, Warning::NoStep),
    ];
    for (method, warning) in cases {
        let is_taught = method.name() == "tri-training";
        let model = method.fit(if is_taught { &single } else { &train }).unwrap();
        assert_eq!(model.training().warnings, std::slice::from_ref(&warning), "{}", method.name());
        assert!(warning.is_baseline() && !warning.to_string().is_empty());
        let baseline = match warning {
            Warning::NoStep => model.initial().unwrap(),
            _ if ["co-forest", "tri-training"].contains(&method.name()) => continue,
            _ => model.logistic(),
        };
        assert_eq!(model.predict(test.table()).unwrap(), baseline.predict(test.table()).unwrap(), "{}", method.name());
    }
    let learned = Udeed::new().fit(&train).unwrap();
    assert_eq!(learned.training().warnings, []);
}

/// Boosting that ends early says so.
#[test]
fn boosting_with_few_of_its_members_warns() {
    let mut found = 0;
    for name in ["ionosphere", "diabetes", "vote", "sonar"] {
        let model = Method::named("ssmboost").unwrap().fit(&split(name, 0).0).unwrap();
        let (members, warnings) = (model.ensemble().n_members(), &model.training().warnings);
        let expected = Warning::FewMembers { of: 20 };
        assert_eq!(warnings.contains(&expected), (2..10).contains(&members), "{name}: {members}, {warnings:?}");
        assert!(!expected.is_baseline());
        found += usize::from(warnings.contains(&expected));
    }
    assert!(found > 0);
}

#[test]
fn every_method_is_saved_and_loaded_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (train, test) = split("ionosphere", 0);
    for method in all() {
        let model = method.fit(&train).unwrap();
        let path = folder.path().join(method.name());
        model.save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        assert_eq!(loaded, model);
        assert_eq!(loaded.method(), &method);
        let p = loaded.predict_proba(test.table()).unwrap();
        assert!(p.values().chunks(2).all(|row| row[0] + row[1] == 1.0 && (0.0..=1.0).contains(&row[0])));
    }
}

#[test]
fn a_smaller_boosted_or_bagged_ensemble_is_the_beginning_of_a_larger() {
    let (train, test) = split("diabetes", 0);
    for method in all().into_iter().filter(Method::grows) {
        let fit = |members| {
            method.clone().with_shared(udeed::ensemble::Shared { members, ..method.shared() }).fit(&train).unwrap()
        };
        let (small, large) = (fit(4), fit(12));
        // Boosting may end before that.
        let members = small.ensemble().n_members();
        assert!(
            members <= 4 && (members == 4 || !["bagging", "adaboost"].contains(&method.name())),
            "{}",
            method.name()
        );
        let prefix = large.prefix(members);
        assert_eq!(prefix.decision(test.table()).unwrap(), small.decision(test.table()).unwrap(), "{}", method.name());
    }
}

#[test]
fn bagging_is_where_udeed_begins() {
    let (train, _) = split("sonar", 0);
    let bagging = Bagging::new().seed(9).fit(&train).unwrap();
    let udeed = Udeed::new().variant(Variant::Lcd).seed(9).fit(&train).unwrap();
    assert_eq!(bagging.ensemble().linear(0).unwrap(), udeed.initial().unwrap().ensemble().linear(0).unwrap());
}

#[test]
fn boosting_gets_training_rows_right_that_bagging_gets_wrong() {
    let data = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    let right = |method: Method| accuracy(&method.fit(&data).unwrap(), &data);
    let bagging = right(Bagging::new().members(50).into());
    for emphasis in [Emphasis::Weighting, Emphasis::Resampling] {
        let boosting = right(AdaBoost::new().members(50).emphasis(emphasis).into());
        assert!(boosting > bagging + 0.01, "{emphasis:?}: {boosting} against {bagging}");
    }
}

/// Rows that a line separates at once.
fn separable() -> TrainSet {
    let rows: Vec<[f64; 1]> = (0..20).map(|i| [f64::from(i) + if i < 10 { 0.0 } else { 50.0 }]).collect();
    let labels = udeed::data::Labels::new((0..20).map(|i| Some(if i < 10 { "a" } else { "b" })));
    TrainSet::new(udeed::data::Table::from_rows(&rows).unwrap(), labels).unwrap()
}

#[test]
fn a_round_without_error_is_kept_and_the_last_or_discarded() {
    let train = separable();
    let keep = AdaBoost::new().fit(&train).unwrap();
    assert_eq!(keep.ensemble().n_members(), 1);
    assert_eq!(accuracy(&keep, &train), 1.0);
    let discard = AdaBoost::new().emphasis(Emphasis::Resampling).zero_error(ZeroError::Discard).fit(&train).unwrap();
    assert_eq!(discard.training().warnings, [Warning::NothingLeft]);
    assert!(discard.decision(train.table()).unwrap().values().iter().all(|&f| f == 0.0));
    assert!(discard.predict_proba(train.table()).unwrap().values().iter().all(|&p| p == 0.5));
}

#[test]
fn labels_that_cannot_be_learned_fall_back_on_logistic_regression() {
    // The same row with both labels: no member is better than chance.
    let table = udeed::data::Table::from_rows(&[[1.0], [1.0], [1.0], [1.0]]).unwrap();
    let labels = udeed::data::Labels::new([Some("a"), Some("b"), Some("a"), Some("b")]);
    let train = TrainSet::new(table, labels).unwrap();
    for (method, warning) in [
        ("adaboost", Warning::NothingBoosted),
        ("assemble", Warning::NothingBoosted),
        ("semiboost", Warning::NothingUnlabeled),
    ] {
        let model = Method::named(method).unwrap().fit(&train).unwrap();
        assert!(model.training().warnings.contains(&warning), "{method}");
        assert_eq!(model.ensemble().linear(0).unwrap(), model.logistic().ensemble().linear(0).unwrap(), "{method}");
    }
}

#[test]
fn without_unlabeled_rows_the_semi_supervised_still_work() {
    let data = built_in("labor").unwrap().read().unwrap().into_train().unwrap();
    for method in ["assemble", "semiboost"] {
        let model = Method::named(method).unwrap().fit(&data).unwrap();
        assert!(accuracy(&model, &data) > 0.8, "{method}");
    }
}

/// Faithful versions in numpy score 0.954 and 0.949 here.
#[test]
fn assemble_and_semiboost_reach_what_faithful_versions_reach() {
    let assemble = mean_accuracy(Assemble::new().scaling(Scaling::Standard), "wdbc", 10);
    let semiboost = mean_accuracy(SemiBoost::new().scaling(Scaling::Standard), "wdbc", 10);
    assert!(assemble >= 0.94, "{assemble}");
    assert!(semiboost >= 0.94, "{semiboost}");
}

#[test]
fn every_setting_of_the_rivals_matters() {
    let (train, _) = split("diabetes", 1);
    // What the members say, not the file, which also holds the settings.
    let fit = |method: Method| method.fit(&train).unwrap().ensemble().clone();
    let adaboost = AdaBoost::new();
    assert_ne!(fit(adaboost.clone().into()), fit(adaboost.emphasis(Emphasis::Resampling).into()));
    let assemble = Assemble::new();
    assert_ne!(fit(assemble.clone().into()), fit(assemble.clone().emphasis(Emphasis::Weighting).into()));
    assert_ne!(fit(assemble.clone().into()), fit(assemble.labeled_share(0.5).into()));
    let semiboost = SemiBoost::new();
    let usual = fit(semiboost.clone().into());
    assert_ne!(usual, fit(semiboost.clone().percentile(20.0).into()));
    assert_ne!(usual, fit(semiboost.clone().pick(Pick::Top).into()));
    assert_ne!(usual, fit(semiboost.clone().pick_share(0.3).into()));
    assert_ne!(usual, fit(semiboost.neighbors(5).into()));
}

#[test]
fn all_neighbours_are_the_whole_similarity() {
    let (train, test) = split("house", 0);
    let whole = SemiBoost::new().neighbors(0).fit(&train).unwrap();
    let graph = SemiBoost::new().neighbors(train.labels().len()).fit(&train).unwrap();
    let close = |a: &f64, b: &f64| (a - b).abs() < 1e-9;
    let (a, b) = (whole.decision(test.table()).unwrap(), graph.decision(test.table()).unwrap());
    assert!(a.values().iter().zip(b.values()).all(|(a, b)| close(a, b)));
}

/// Rows of a few binary columns: most of them occur many times, and their distance says nothing of a scale.
#[test]
fn rows_that_repeat_do_not_make_everything_similar() {
    let rows: Vec<[f64; 3]> =
        (0..200).map(|i| [f64::from(i % 2), f64::from(i / 2 % 2), f64::from(i / 4 % 2)]).collect();
    let labels = udeed::data::Labels::new((0..200).map(|i| (i < 24).then_some(if i % 2 == 0 { "a" } else { "b" })));
    let train = TrainSet::new(udeed::data::Table::from_rows(&rows).unwrap(), labels).unwrap();
    let truth = udeed::data::Labels::new((0..200).map(|i| Some(if i % 2 == 0 { "a" } else { "b" })));
    for neighbors in [0, 20] {
        let model = SemiBoost::new().neighbors(neighbors).fit(&train).unwrap();
        assert_eq!(model.evaluate(train.table(), &truth).unwrap().accuracy, 1.0);
        assert!(model.ensemble().n_members() > 1);
    }
}

#[test]
fn similarities_that_take_too_much_are_refused_with_a_hint() {
    let (train, _) = split("diabetes", 0);
    for neighbors in [0, 20] {
        let error = SemiBoost::new().neighbors(neighbors).memory(1000).fit(&train).unwrap_err();
        assert_eq!(error.hint(), Some(&Hint::Similarities), "{error}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let refused = |method: Method, name: &str| {
        let error = method.validate().unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{name}` is")), "{error}");
        assert!(error.is_usage());
    };
    refused(Bagging::new().members(0).into(), "members");
    refused(AdaBoost::new().lambda(-1.0).into(), "lambda");
    refused(Assemble::new().labeled_share(0.0).into(), "labeled_share");
    refused(SemiBoost::new().percentile(101.0).into(), "percentile");
    refused(SemiBoost::new().pick_share(f64::NAN).into(), "pick_share");
}

/// Has seen enough at the first word.
struct Impatient(Vec<usize>);

impl Observer for Impatient {
    fn member(&mut self, done: usize, _: usize) -> ControlFlow<()> {
        self.0.push(done);
        ControlFlow::Break(())
    }
}

/// Rows of zeros and ones, every second labeled; enough for their distances to take a while.
fn many_rows(n: usize, sparse: bool) -> TrainSet {
    let d = 40;
    let value = |i: usize| f64::from((i * i + i / 7).is_multiple_of(5));
    let rows = Matrix::from(Dense::new(n, d, (0..n * d).map(value).collect()).unwrap());
    let rows = if sparse { rows.to_sparse().into() } else { rows };
    let codes = (0..n).map(|i| i.is_multiple_of(2).then_some(i / 2 % 2));
    let labels = Labels::with_classes(vec!["a".into(), "b".into()], codes).unwrap();
    TrainSet::new(Table::from_matrix(rows).unwrap(), labels).unwrap()
}

#[test]
fn the_search_for_neighbours_can_be_stopped() {
    for (method, n, sparse) in [
        (Method::from(SemiBoost::new().neighbors(0)), 4000, false),
        (SemiBoost::new().neighbors(5).into(), 20_000, false),
        (SemiBoost::new().neighbors(5).into(), 20_000, true),
        (Assemble::new().into(), 20_000, true),
    ] {
        let train = many_rows(n, sparse);
        let mut impatient = Impatient(Vec::new());
        let stopped = method.fit_observed(&train, &mut impatient);
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        // Before the first member, and asked no more.
        assert_eq!(impatient.0, [0], "{method:?}");
    }
}

/// Rows that are wide enough to be fitted by conjugate gradients, of which each step takes long.
#[test]
fn a_single_logistic_regression_can_be_stopped() {
    let (n, d) = (8000, 700);
    let value = |i: usize| (i as f64 * 0.7).sin() + (i % d) as f64 * 0.01;
    let rows = Dense::new(n, d, (0..n * d).map(value).collect()).unwrap();
    let labels = Labels::with_classes(vec!["a".into(), "b".into()], (0..n).map(|i| Some(i % 7 % 2))).unwrap();
    let train = TrainSet::new(Table::from_matrix(rows).unwrap(), labels).unwrap();
    let mut impatient = Impatient(Vec::new());
    let stopped = AdaBoost::new().members(1).lambda(100.0).fit_observed(&train, &mut impatient);
    assert!(matches!(stopped, Err(Error::Stopped)) && impatient.0 == [0], "{stopped:?} {:?}", impatient.0);
}

//! What the paper and this crate promise of a fit.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use udeed::data::{Column, Dense, Labels, Matrix, Shares, Table, TrainSet, stratified_split};
use udeed::ensemble::{Shared, Vote};
use udeed::format::{Format, Layout, Reader, Writer, built_in};
use udeed::memory::Room;
use udeed::method::udeed::{Initial, Loss, Precision, Variant};
use udeed::method::{Lambda, Method, SemiBoost, Udeed};
use udeed::model::Model;
use udeed::observer::{Observer, Stage, Step, Stop, Warning};
use udeed::prepare::Scaling;

/// A quarter of half of a built-in set with labels, the rest of that half without.
fn train(name: &str) -> (TrainSet, TrainSet) {
    let data = built_in(name).unwrap().read().unwrap().into_train().unwrap();
    let split = stratified_split(data.labels(), Shares::default(), 3, 0).unwrap();
    let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
    let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
    (data.select(&rows).hide_labels(&hidden), data.select(&split.test))
}

fn weights(model: &Model) -> Vec<u64> {
    model.ensemble().linear(0).unwrap().weights().iter().map(|w| w.to_bits()).collect()
}

#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
    members: usize,
    warnings: Vec<Warning>,
    stop_after: Option<usize>,
}

impl Observer for Recorder {
    fn member(&mut self, done: usize, _: usize) -> ControlFlow<()> {
        self.members = done;
        ControlFlow::Continue(())
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        self.steps.push(*step);
        if self.stop_after == Some(step.step) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn warn(&mut self, warning: &Warning) {
        self.warnings.push(warning.clone());
    }
}

fn recorded(settings: &Udeed, train: &TrainSet) -> (Model, Recorder) {
    let mut recorder = Recorder::default();
    let model = settings.fit_observed(train, &mut recorder).unwrap();
    (model, recorder)
}

#[test]
fn lc_does_not_depend_on_gamma() {
    let (train, _) = train("diabetes");
    let fit = |gamma| Udeed::new().variant(Variant::Lc).gamma(gamma).fit(&train).unwrap();
    let (none, much) = (fit(0.0), fit(1000.0));
    assert_eq!(weights(&none), weights(&much));
    assert!(none.training().stages[0].steps > 0);
}

#[test]
fn accepted_steps_decrease_both_losses() {
    for name in ["ionosphere", "diabetes", "sonar", "labor"] {
        for loss in [Loss::Logistic, Loss::Squared, Loss::Hinge] {
            for gamma in [0.5, 1.0, 4.0] {
                let (_, recorder) = recorded(&Udeed::new().loss(loss).gamma(gamma), &train(name).0);
                for stage in [Stage::Labeled, Stage::Unlabeled] {
                    let kept: Vec<&Step> =
                        recorder.steps.iter().filter(|step| step.stage == stage && step.accepted).collect();
                    assert!(!kept.is_empty(), "{name} {loss:?} {stage:?}");
                    for pair in kept.windows(2) {
                        assert!(pair[1].losses.total < pair[0].losses.total, "{name} {loss:?} {pair:?}");
                        assert!(pair[1].losses.diversity < pair[0].losses.diversity, "{name} {loss:?} {pair:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_rejected_step_is_the_last_and_leaves_no_trace() {
    let (train, _) = train("ionosphere");
    let settings = Udeed::new().variant(Variant::Lcd).gamma(50.0).rate(5.0);
    let (model, recorder) = recorded(&settings, &train);
    let summary = model.training().stages[0];
    let rejected = recorder.steps.last().unwrap();
    assert!(!rejected.accepted, "{summary:?}");
    assert_eq!(rejected.step, summary.steps + 1);
    assert!(recorder.steps[..recorder.steps.len() - 1].iter().all(|step| step.accepted));
    assert_ne!(summary.stop, Stop::Steps);
    let (shorter, _) = recorded(&settings.steps(summary.steps), &train);
    assert_eq!(weights(&shorter), weights(&model));
}

#[test]
fn each_loss_can_end_a_stage() {
    let (train, _) = train("sonar");
    let stop = |settings: Udeed| recorded(&settings, &train).0.training().stages[0].stop;
    assert_eq!(stop(Udeed::new().variant(Variant::Lc)), Stop::Steps);
    assert_eq!(stop(Udeed::new().variant(Variant::Lc).rate(1e4)), Stop::Loss);
    // With next to no weight, diversity is not pursued, and accuracy soon costs it.
    assert_eq!(stop(Udeed::new().variant(Variant::Lcd).gamma(1e-9)), Stop::Diversity);
}

#[test]
fn lcud_is_lcd_and_then_more() {
    let (train, _) = train("diabetes");
    let (lcd, _) = recorded(&Udeed::new().variant(Variant::Lcd), &train);
    let (lcud, _) = recorded(&Udeed::new(), &train);
    assert_eq!(lcud.training().stages[0], lcd.training().stages[0]);
    assert_eq!(lcud.training().stages[1].stage, Stage::Unlabeled);
    assert!(lcud.training().stages[1].steps > 0);
    assert_ne!(weights(&lcd), weights(&lcud));
}

#[test]
fn without_unlabeled_rows_lcud_warns_and_is_lcd() {
    let data = built_in("labor").unwrap().read().unwrap().into_train().unwrap();
    let (lcud, recorder) = recorded(&Udeed::new(), &data);
    let (lcd, _) = recorded(&Udeed::new().variant(Variant::Lcd), &data);
    assert_eq!(recorder.warnings, [Warning::NoUnlabeledRows]);
    assert_eq!(lcud.training().warnings, [Warning::NoUnlabeledRows]);
    assert_eq!(weights(&lcud), weights(&lcd));
}

#[test]
fn a_smaller_ensemble_is_the_beginning_of_a_larger() {
    let (train, _) = train("vote");
    let initial =
        |m| Udeed::new().members(m).fit(&train).unwrap().initial().unwrap().ensemble().linear(0).unwrap().clone();
    assert_eq!(initial(30).prefix(7), initial(7));
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let (train, test) = train("wdbc");
    let fit = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = Udeed::new().seed(seed).fit(&train).unwrap();
            let p: Vec<u64> = model.predict_proba(test.table()).unwrap().values().iter().map(|p| p.to_bits()).collect();
            (weights(&model), p)
        })
    };
    let one = fit(1, 4);
    assert_eq!(one, fit(2, 4));
    assert_eq!(one, fit(5, 4));
    assert_ne!(one, fit(1, 5));
}

#[test]
fn save_load_predict_gives_the_same_bits_and_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let (train, test) = train("ionosphere");
    for scaling in [Scaling::MinMax, Scaling::Standard, Scaling::None] {
        let model = Udeed::new().scaling(scaling).vote(Vote::Unweighted).fit(&train).unwrap();
        model.save(&one).unwrap();
        let loaded = Model::load(&one).unwrap();
        assert_eq!(loaded, model);
        let bits = |model: &Model| -> Vec<u64> {
            model.decision(test.table()).unwrap().values().iter().map(|f| f.to_bits()).collect()
        };
        assert_eq!(bits(&loaded), bits(&model));
        loaded.save(&two).unwrap();
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    }
}

#[test]
fn probabilities_sum_to_one_and_agree_with_the_vote() {
    let (train, test) = train("sonar");
    for vote in [Vote::Weighted, Vote::Unweighted] {
        let model = Udeed::new().vote(vote).fit(&train).unwrap();
        let p = model.predict_proba(test.table()).unwrap();
        let decision = model.decision(test.table()).unwrap();
        for (i, class) in model.predict(test.table()).unwrap().into_iter().enumerate() {
            let row = p.get(i);
            assert_eq!(row[0] + row[1], 1.0);
            assert!((0.0..=1.0).contains(&row[1]));
            assert_eq!(class == model.classes()[1], decision.get(i)[0] > 0.0);
            assert!((decision.get(i)[0] - (2.0 * row[1] - 1.0)).abs() < 1e-15);
        }
    }
}

#[test]
fn an_unweighted_vote_counts_heads() {
    let (train, test) = train("sonar");
    let model = Udeed::new().members(4).vote(Vote::Unweighted).fit(&train).unwrap();
    for f in model.decision(test.table()).unwrap().values() {
        assert!([-1.0, -0.5, 0.0, 0.5, 1.0].contains(f), "{f}");
    }
}

#[test]
fn a_scaled_rate_gives_large_ensembles_the_steps_of_small_ones() {
    let (train, _) = train("diabetes");
    let moved = |settings: Udeed| {
        let stage = settings.fit(&train).unwrap().training().stages[0];
        stage.first.diversity - stage.last.diversity
    };
    let small = moved(Udeed::new());
    let large = moved(Udeed::new().members(100));
    let scaled = moved(Udeed::new().members(100).scale_rate(true));
    assert!(large < 0.5 * small, "{large} {small}");
    assert!((scaled - small).abs() < 0.2 * small, "{scaled} {small}");
    let fit = |scale| weights(&Udeed::new().members(20).scale_rate(scale).fit(&train).unwrap());
    assert_eq!(fit(true), fit(false));
}

/// With the defaults: the descent takes steps, and the model is about as good as from bootstraps.
#[test]
fn a_random_start_learns_too() {
    for name in ["wdbc", "ionosphere", "vote"] {
        let (train, test) = train(name);
        let accuracy = |model: &Model| model.evaluate(test.table(), test.labels()).unwrap().accuracy;
        let bootstrapped = accuracy(&Udeed::new().fit(&train).unwrap());
        for (seed, hidden) in [(0, 0), (1, 0), (2, 0), (0, 5)] {
            let model = Udeed::new().initial(Initial::Random).hidden(hidden).seed(seed).fit(&train).unwrap();
            let training = model.training();
            assert!(training.stages.iter().any(|stage| stage.steps > 0), "{name}, {seed}: {:?}", training.stages);
            assert!(accuracy(&model) > bootstrapped - 0.05, "{name}, {seed}, {hidden}: {bootstrapped}");
            let initial = model.initial().unwrap();
            assert!(hidden > 0 || weights_of(&initial, 0) != weights_of(&initial, 1));
        }
    }
}

fn weights_of(model: &Model, member: usize) -> Vec<f64> {
    model.ensemble().linear(0).unwrap().weights_of(member)
}

#[test]
fn an_observer_sees_all_and_can_end_a_fit() {
    let (train, _) = train("diabetes");
    let (model, recorder) = recorded(&Udeed::new(), &train);
    assert_eq!(recorder.members, 20);
    let of_first = recorder.steps.iter().filter(|step| step.stage == Stage::Labeled).count();
    assert_eq!(of_first, 1 + model.training().stages[0].steps);
    let mut early = Recorder { stop_after: Some(3), ..Recorder::default() };
    let stopped = Udeed::new().fit_observed(&train, &mut early).unwrap();
    assert_eq!(stopped.training().stages.len(), 1);
    assert_eq!(stopped.training().stages[0].stop, Stop::Observer);
    assert_eq!(stopped.training().stages[0].steps, 3);
}

#[test]
fn raw_features_of_any_scale_converge() {
    // wdbc's columns range from thousandths to thousands.
    let (train, test) = train("wdbc");
    let model = Udeed::new().scaling(Scaling::None).fit(&train).unwrap();
    assert!(model.evaluate(test.table(), test.labels()).unwrap().accuracy > 0.9);
}

#[test]
fn more_features_than_rows_work() {
    let data = built_in("sonar").unwrap().read().unwrap().into_train().unwrap();
    let rows: Vec<usize> = (90..105).collect();
    let model = Udeed::new().fit(&data.select(&rows)).unwrap();
    assert_eq!(model.training().n_features, 60);
}

#[test]
fn rows_outside_of_memory_give_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    for (set, layout) in [("ionosphere", Layout::Dense), ("vote", Layout::Dense), ("diabetes", Layout::Sparse)] {
        let sheet = built_in(set).unwrap().read().unwrap();
        let path = folder.path().join("rows.csv");
        Writer::new(Format::Csv).write(&sheet, &mut std::fs::File::create(&path).unwrap()).unwrap();
        let all = sheet.clone().into_train().unwrap();
        let few = all.select(&(0..sheet.labels.len()).step_by(3).collect::<Vec<_>>());
        let few = few.clone().hide_labels(&(40..few.labels().len()).collect::<Vec<_>>());
        let reader = Reader::new().expect(few.table().columns(), few.table().naming()).layout(layout);
        let (mut in_memory, mut on_disk) = (few.clone(), few);
        let room = Room { most: 0, folder: Some(folder.path()) };
        in_memory.add_unlabeled(&reader.read(&path).unwrap().table).unwrap();
        on_disk.add_held(&reader.hold(&path, room).unwrap().table, room).unwrap();
        assert_eq!(in_memory.n_unlabeled(), on_disk.n_unlabeled());
        for precision in [Precision::Double, Precision::Single] {
            for scaling in [Scaling::MinMax, Scaling::Standard] {
                let fit = |train| Udeed::new().precision(precision).scaling(scaling).fit(train).unwrap();
                assert_eq!(fit(&in_memory), fit(&on_disk), "{set}, {precision:?}, {scaling:?}");
            }
        }
        let error = SemiBoost::new().fit(&on_disk).unwrap_err();
        assert!(error.to_string().contains("rows in memory"), "{error}");
        assert!(on_disk.add_held(&reader.hold(&path, room).unwrap().table, room).is_err());
    }
}

/// A number of any size, most often a small one; sometimes missing.
fn any_number() -> impl Strategy<Value = f64> {
    const EXTREMES: &[f64] = &[f64::MAX, f64::MIN, 1e300, -1e300, 1e200, -1e154, 1e100, 1e16, 1e-300, 5e-324, f64::NAN];
    prop_oneof![
        4 => -2.0..2.0f64,
        2 => (-3i8..3).prop_map(f64::from),
        2 => (any::<bool>(), -308i32..308).prop_map(|(sign, e)| if sign { 1.7f64.powi(e) } else { -10f64.powi(e) }),
        1 => select(EXTREMES),
    ]
}

/// Weights of rows or of classes.
#[derive(Debug, Clone)]
enum Weights {
    None,
    Rows(Vec<f64>),
    Balanced,
    Classes(Vec<f64>),
}

impl Weights {
    fn of(self, train: TrainSet, classes: usize) -> udeed::Result<TrainSet> {
        match self {
            Weights::None => Ok(train),
            Weights::Rows(weights) => {
                let n = train.labels().len();
                train.weights(weights[..n].to_vec())
            }
            Weights::Balanced => Ok(train.balanced()),
            Weights::Classes(weights) => train.class_weights(weights[..classes].to_vec()),
        }
    }
}

/// For up to 45 rows, or up to twelve classes.
fn any_weights() -> impl Strategy<Value = Weights> {
    let weight = prop_oneof![1 => Just(0.0), 4 => 0.1..10.0f64, 1 => (-200i32..200).prop_map(|e| 10f64.powi(e))];
    prop_oneof![
        2 => Just(Weights::None),
        1 => vec(weight, 45).prop_map(Weights::Rows),
        1 => Just(Weights::Balanced),
        1 => vec(0.01..100.0f64, 12).prop_map(Weights::Classes),
    ]
}

/// Every method, some with another base learner or other features, some calibrated.
fn any_method() -> impl Strategy<Value = Method> {
    let plain = Method::NAMES.iter().map(|name| Method::named(name).unwrap());
    let varied = [
        ("bagging", "base", "tree"),
        ("bagging", "base", "neighbors"),
        ("bagging", "base", "bayes"),
        ("adaboost", "base", "bayes"),
        ("bagging", "fourier", "8"),
        ("udeed", "hidden", "2"),
        ("udeed", "precision", "single"),
        ("udeed", "vote", "unweighted"),
    ];
    let varied =
        varied.map(|(name, setting, value)| Method::named(name).unwrap().with_setting(setting, value).unwrap());
    let scaling = select(vec![Scaling::MinMax, Scaling::Standard, Scaling::None]);
    let calibrated = prop::bool::weighted(0.3);
    (select(plain.chain(varied).collect::<Vec<Method>>()), scaling, 1.0..1e6f64, calibrated).prop_map(
        |(method, scaling, lambda, calibrated)| {
            let shared = Shared { members: 3, scaling, lambda: Lambda::Fixed(lambda), ..method.shared() };
            let method = method.with_shared(shared);
            // Not of `auto`, whose probabilities are calibrated as they are.
            if calibrated { method.clone().with_setting("calibrated", "true").unwrap_or(method) } else { method }
        },
    )
}

/// Rows of numbers, of which the last column is words where that is asked for: those of the training rows, or others.
fn some_table(values: &[f64], columns: usize, words: bool, sparse: bool) -> Table {
    let mut rows: Vec<Vec<f64>> = values.chunks_exact(columns).map(<[f64]>::to_vec).collect();
    let mut named: Vec<Column> = (0..columns).map(|j| Column::numeric(j.to_string())).collect();
    if words {
        let levels = ["few", "many", "none", "some"].map(str::to_owned).to_vec();
        named[columns - 1] = Column::nominal("word", levels);
        rows.iter_mut().for_each(|row| row[columns - 1] = (row[columns - 1].to_bits() % 4) as f64);
    }
    let matrix = Matrix::from(Dense::new(rows.len(), columns, rows.concat()).unwrap());
    Table::new(named, if sparse { matrix.to_sparse().into() } else { matrix }).unwrap()
}

/// On finite rows of any size, dense or sparse, of numbers and words, to learn from or to predict: probabilities, or an error;
/// and a model that was learned can be loaded.
#[test]
fn no_method_predicts_what_is_no_probability() {
    let (tried, predicted) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(
        method in any_method(),
        columns in 1usize..4,
        classes in prop_oneof![4 => 2usize..4, 1 => 11usize..13],
        words in prop::bool::weighted(0.3),
        sparse in prop::bool::weighted(0.2),
        train in vec(any_number(), 45),
        usual in prop::bool::weighted(0.7),
        weights in any_weights(),
        test in vec(any_number(), 30),
    )| {
        tried.set(tried.get() + 1);
        // Most models come of usual rows, as most fits to others fail.
        let squeezed = |x: f64| if x.abs() <= 2.0 { x } else { 1.0 / x };
        let train: Vec<f64> = if usual { train.into_iter().map(squeezed).collect() } else { train };
        let table = |values: &[f64]| some_table(values, columns, words, sparse);
        let train = table(&train);
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let labels = (0..train.n_rows()).map(|i| (i % 4 != 3).then_some(names[i % classes]));
        let rows = TrainSet::new(train, Labels::new(labels)).unwrap();
        let Ok(rows) = weights.of(rows, classes) else { return Ok(()) };
        let Ok(model) = method.fit(&rows) else { return Ok(()) };
        let classes = model.classes().len();
        prop_assert_eq!(&Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), &model);
        let models = [Some(model.clone()), model.initial(), Some(model.logistic())];
        for model in models.iter().flatten() {
            for rows in [rows.table(), &table(&test)] {
                let Ok(probabilities) = model.predict_proba(rows) else { continue };
                predicted.set(predicted.get() + 1);
                prop_assert!(model.decision(rows).unwrap().values().iter().all(|f| f.abs() <= 1.0));
                for row in probabilities.values().chunks_exact(classes) {
                    prop_assert!(row.iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", row);
                    prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{:?}", row);
                }
                if let Ok(model) = model.clone().with_threshold(0.25) {
                    let decisions = model.decision(rows).unwrap();
                    let above: Vec<&str> =
                        decisions.values().iter().map(|&f| &model.classes()[usize::from(f > 0.25)][..]).collect();
                    prop_assert_eq!(model.predict(rows).unwrap(), above);
                }
                if model.has_held_out() {
                    let sets = model.sets(&model.decision(rows).unwrap(), 0.8).unwrap();
                    prop_assert!(sets.iter().flatten().all(|&class| class < classes));
                }
            }
        }
    });
    // Of fits and predictions that fail nothing is seen here.
    assert!(predicted.get() > tried.get(), "{} predictions of {} fits", predicted.get(), tried.get());
}

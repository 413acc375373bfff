//! What became of the training rows: classes, probabilities and the rounds in which rows were labeled.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use flate2::Crc;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use udeed::data::{Rows, TrainSet};
use udeed::ensemble::Shared;
use udeed::format::{Format, Reader, built_in};
use udeed::memory::Room;
use udeed::method::Method;
use udeed::model::{Model, Transduction};
use udeed::prelude::*;

/// Every fourth row is labeled, so that labeled and unlabeled ones take turns.
fn two_classes() -> TrainSet {
    let all = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    all.hide_labels(&(0..351).filter(|i| i % 4 != 1).collect::<Vec<usize>>())
}

/// Three noisy groups in a line.
fn three_classes() -> TrainSet {
    let rows: Vec<[f64; 2]> =
        (0..150).map(|i| [f64::from(i % 3) + 0.19 * f64::from(i * 7 % 11), f64::from(i * 5 % 13)]).collect();
    let labels = Labels::new((0..150).map(|i| (i % 5 == 2).then(|| ["ant", "bee", "cat"][i % 3])));
    TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap()
}

fn methods() -> impl Iterator<Item = Method> {
    Method::NAMES.iter().map(|name| {
        let method = Method::named(name).unwrap();
        let shared = Shared { members: 5, seed: 3, ..method.shared() };
        method.with_shared(shared)
    })
}

fn keep(method: &Method, train: &TrainSet) -> (Model, Transduction) {
    let (model, _) = method.fit_keeping_rows(train, Transduction::MOST_ROWS, &mut ()).unwrap();
    let rows = model.transduction().unwrap().unwrap();
    (model, rows)
}

#[test]
fn labeled_rows_keep_their_class_and_others_have_the_models() {
    for train in [two_classes(), three_classes()] {
        for method in methods() {
            let name = method.name();
            let (model, rows) = keep(&method, &train);
            let labels = train.labels().aligned(model.classes()).unwrap();
            let (predicted, probabilities) =
                (model.predict(train.table()).unwrap(), model.predict_proba(train.table()).unwrap());
            assert_eq!(
                (rows.classes.len(), rows.probabilities.n_rows(), rows.rounds.len()),
                (labels.len(), labels.len(), labels.len())
            );
            let mut others = 0;
            for (i, said) in predicted.iter().enumerate() {
                let (class, p) = (rows.classes[i], rows.probabilities.get(i));
                if let Some(own) = labels.get(i) {
                    assert_eq!((class, rows.rounds[i], p[class]), (own, 0, 1.0), "{name}, row {i}");
                    continue;
                }
                assert_ne!(rows.rounds[i], 0, "{name}, row {i}");
                // Label spreading says where labels came to rest, which is not the vote of neighbours: the only one, so that no
                // card says so.
                match name == "label-spreading" {
                    true => others += usize::from(p != probabilities.get(i)),
                    false => {
                        assert_eq!((model.classes()[class].as_str(), p), (*said, probabilities.get(i)), "{name} {i}");
                    }
                }
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{name}, row {i}: {p:?}");
            }
            assert_eq!(others > 0, name == "label-spreading", "{name}");
            let labeled_itself = rows.rounds.iter().any(|&round| round > 0);
            assert!(!labeled_itself || method.card().labels_rows, "{name}");
            // Here SSMBoost ends with its first member, which learns from the labels alone; of three classes few are sure.
            let may_be_none = name == "ssmboost" || model.classes().len() == 3;
            assert!(labeled_itself || may_be_none || !method.card().labels_rows, "{name}");
            assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model, "{name}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let train = two_classes();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for method in methods() {
        let [one, three] = [1, 3].map(|threads| pool(threads).install(|| keep(&method, &train)));
        assert_eq!(one, three, "{}", method.name());
    }
}

/// With fewer rounds, or members, the rows labeled until then are labeled, and no others.
#[test]
fn a_row_is_unlabeled_before_its_round_and_labeled_after() {
    for train in [two_classes(), three_classes()] {
        // Those whose rounds can be cut short: in number, or by members that do not depend on later ones.
        let cards = || Method::cards().iter().filter(|card| card.labels_rows);
        let in_rounds = cards().filter(|card| card.setting("rounds").is_some()).map(|card| (card.name, "rounds", 6));
        let boosted = cards().filter(|card| card.grows).map(|card| (card.name, "members", 5));
        assert!(in_rounds.clone().count() > 1 && boosted.clone().count() > 1);
        for (name, setting, most) in in_rounds.chain(boosted) {
            let method = Method::named(name).unwrap().with_setting("seed", "4").unwrap();
            let until =
                |rounds: i64| keep(&method.clone().with_setting(setting, &rounds.to_string()).unwrap(), &train).1;
            let whole = until(most);
            let last = *whole.rounds.iter().max().unwrap();
            assert!(last >= 1 || name == "ssmboost" || train.labels().classes().len() == 3, "{name}");
            for rounds in 1..last {
                let some = until(rounds);
                let cut = |&round: &i64| if round > rounds { -1 } else { round };
                assert_eq!(some.rounds, whole.rounds.iter().map(cut).collect::<Vec<_>>(), "{name}, {rounds} rounds");
            }
        }
    }
}

#[test]
fn who_labeled_a_row_is_known_where_single_members_do() {
    let train = two_classes();
    for method in methods().filter(|method| method.card().labels_rows) {
        let (model, rows) = keep(&method, &train);
        let Some(by) = &rows.by else {
            assert!(!["self-training", "setred", "co-training", "tri-training"].contains(&method.name()));
            continue;
        };
        let members = model.ensemble().n_members();
        for (round, by) in rows.rounds.iter().zip(by) {
            assert_eq!(*round > 0, !by.is_empty());
            assert!(by.iter().all(|&member| member < members) && by.is_sorted());
            // Two others label rows for each of three members.
            assert!(by.is_empty() || by.len() == 1 || method.name() == "tri-training" && by.len() >= 2);
        }
        if method.name() == "co-training" {
            assert!([vec![0], vec![1]].iter().all(|one| by.contains(one)), "either member labels some");
        }
        if method.name() == "tri-training" {
            assert!(by.iter().all(|by| by.len() != 1));
        }
    }
}

/// The first member of SSMBoost learns from the labels alone, the second one from all rows.
#[test]
fn ssmboost_labels_rows_in_its_second_round() {
    let all = built_in("wdbc").unwrap().read().unwrap().into_train().unwrap();
    let train = all.hide_labels(&(0..569).filter(|i| i % 10 != 0).collect::<Vec<usize>>());
    let (model, rows) = keep(&SsmBoost::new().into(), &train);
    assert!(model.ensemble().n_members() > 1);
    assert!(rows.rounds.iter().enumerate().all(|(i, &round)| round == if i % 10 == 0 { 0 } else { 2 }));
}

/// The largest votes of a round are labeled first: who is sure of a row labels it in the first round.
#[test]
fn self_training_labels_the_rows_that_its_first_member_is_sure_of() {
    let train = two_classes();
    let (_, rows) = keep(&SelfTraining::new().into(), &train);
    let (_, first) = keep(&SelfTraining::new().rounds(0).into(), &train);
    for i in 0..train.labels().len() {
        let sure = rows.rounds[i] != 0 && first.probabilities.get(i).iter().any(|&p| p > 0.75);
        assert_eq!(rows.rounds[i] == 1, sure, "row {i}");
    }
}

#[test]
fn rows_without_anything_to_learn_from_have_rounds_too() {
    // All rows alike: similarities tell nothing.
    let alike = TrainSet::new(
        Table::from_rows(&[[1.0]; 6]).unwrap(),
        Labels::new([Some("a"), None, Some("b"), Some("a"), None, Some("b")]),
    )
    .unwrap();
    for name in ["semiboost", "mcssb", "regboost", "self-training"] {
        let (_, rows) = keep(&Method::named(name).unwrap(), &alike);
        let given: Vec<bool> = rows.rounds.iter().map(|&round| round == 0).collect();
        assert_eq!(given, [true, false, true, true, false, true], "{name}");
    }
    // No unlabeled row at all.
    let all = built_in("labor").unwrap().read().unwrap().into_train().unwrap();
    for name in ["self-training", "semiboost", "mcssb", "assemble", "tri-training", "co-forest", "bagging"] {
        let (model, rows) = keep(&Method::named(name).unwrap(), &all);
        assert_eq!(rows.rounds, [0; 57], "{name}");
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model, "{name}");
    }
}

#[test]
fn a_threshold_moves_the_classes_of_unlabeled_rows_alone() {
    let train = two_classes();
    let (model, before) = keep(&Bagging::new().into(), &train);
    let moved = model.with_threshold(0.9).unwrap();
    let after = moved.transduction().unwrap().unwrap();
    assert_eq!(before.probabilities, after.probabilities);
    let predicted = moved.predict(train.table()).unwrap();
    for (i, said) in predicted.iter().enumerate() {
        let expected = train.labels().name(i).unwrap_or(said);
        assert_eq!(moved.classes()[after.classes[i]], expected);
    }
    assert_ne!(before.classes, after.classes);
}

#[test]
fn too_many_rows_and_rows_in_a_file_are_not_kept() {
    let train = two_classes();
    let method = Method::from(Bagging::new());
    let kept = |most| method.fit_keeping_rows(&train, most, &mut ()).unwrap().0.n_kept_rows();
    assert_eq!((kept(351), kept(350), kept(0)), (351, 0, 0));
    assert_eq!((Transduction::holds(300, 100, 3), Transduction::holds(299, 100, 3)), (true, false));
    let mut streamed = train.clone();
    let room = Room { most: 0, folder: Some(&std::env::temp_dir()) };
    let names: Vec<&str> = train.table().columns().iter().map(|column| column.name.as_str()).collect();
    let text = names.join(",") + "\n" + &["0.5"].repeat(names.len()).join(",") + "\n";
    let more = Reader::new().format(Format::Csv).hold_from("more", text.as_bytes(), room).unwrap();
    streamed.add_held(&more.table, room).unwrap();
    assert_eq!(method.fit_keeping_rows(&streamed, 1000, &mut ()).unwrap().0.transduction().unwrap(), None);
}

/// The name of a tensor, and what is written in its place.
type Change<'a> = (&'a str, Option<(Dtype, Vec<u8>)>);

/// The file of a model with other tensors in place of some of its own, none for one that is left out, and a right checksum.
fn altered(model: &Model, changes: &[Change<'_>]) -> Vec<u8> {
    let bytes = model.to_bytes().unwrap();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut all: HashMap<String, (Dtype, Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, view)| (name.to_owned(), (view.dtype(), view.shape().to_vec(), view.data().to_vec())))
        .collect();
    for (name, change) in changes {
        match change {
            None => assert!(all.remove(*name).is_some(), "{name}"),
            Some((dtype, data)) => {
                let width = if *dtype == Dtype::U8 { 1 } else { 8 };
                all.insert((*name).to_owned(), (*dtype, vec![data.len() / width], data.clone()));
            }
        }
    }
    let views = all
        .iter()
        .map(|(name, (dtype, shape, data))| (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap()));
    let mut file = safetensors::serialize(views, header.metadata().clone()).unwrap();
    let body = file.len() - 4;
    let mut crc = Crc::new();
    crc.update(&file[..body]);
    file[body..].copy_from_slice(&crc.sum().to_le_bytes());
    file
}

#[test]
fn files_whose_rows_do_not_fit_are_refused_and_old_ones_load() {
    let text = "size,ok\n1,no\n2,no\n3,\n8,yes\n9,yes\n7,\n";
    let reader = Reader::new().format(Format::Csv).label("ok");
    let train = reader.read_from("rows", text.as_bytes()).unwrap().into_train().unwrap();
    let (model, _) = keep(&SelfTraining::new().into(), &train);
    let integers =
        |values: &[u64]| Some((Dtype::U64, values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()));
    let numbers = |values: &[f64]| Some((Dtype::F64, values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()));
    let same = [
        ("rows.labels", integers(&[1, 1, 0, 2, 2, 0])),
        ("rows.decisions", numbers(&[-0.5, 0.5])),
        ("rows.rounds", integers(&[1, 0])),
        ("rows.by", integers(&[1, 0])),
    ];
    assert!(Model::from_bytes(&altered(&model, &same)).is_ok());
    let old = [("rows.labels", None), ("rows.decisions", None), ("rows.rounds", None), ("rows.by", None)];
    assert_eq!(Model::from_bytes(&altered(&model, &old)).unwrap().transduction().unwrap(), None);
    let hostile = [
        // Other numbers of rows, labels that are no class, another number of each class.
        ("rows.labels", integers(&[1, 1, 0, 2, 2])),
        ("rows.labels", integers(&[1, 1, 0, 2, 2, 0, 0])),
        ("rows.labels", integers(&[1, 1, 0, 2, 3, 0])),
        ("rows.labels", integers(&[1, 1, 0, 2, u64::MAX, 0])),
        ("rows.labels", integers(&[1, 2, 0, 2, 2, 0])),
        ("rows.labels", numbers(&[1.0, 1.0, 0.0, 2.0, 2.0, 0.0])),
        ("rows.labels", None),
        ("rows.decisions", numbers(&[0.5])),
        ("rows.decisions", numbers(&[0.5, 0.5, 0.5])),
        ("rows.decisions", numbers(&[0.5, 1.5])),
        ("rows.decisions", numbers(&[0.5, f64::NAN])),
        ("rows.decisions", None),
        ("rows.rounds", integers(&[1])),
        ("rows.rounds", integers(&[1, 1 << 40])),
        ("rows.rounds", None),
        ("rows.by", integers(&[1])),
        ("rows.by", integers(&[1, 256])),
        // Labeled by nobody, and by somebody in no round.
        ("rows.by", integers(&[0, 0])),
        ("rows.by", integers(&[1, 1])),
    ];
    for (name, change) in hostile {
        // What else the file holds is right.
        let mut changes = same.to_vec();
        changes.retain(|(other, _)| *other != name);
        changes.push((name, change.clone()));
        let error = Model::from_bytes(&altered(&model, &changes)).unwrap_err().to_string();
        assert!(error.contains("parts that do not fit together"), "{name} {change:?}: {error}");
    }
    // A method without rounds has none.
    let (bagging, _) = keep(&Bagging::new().into(), &train);
    let rounds = [("rows.rounds", integers(&[1, 0]))];
    assert!(Model::from_bytes(&altered(&bagging, &rounds)).is_err());
}

//! Random Fourier features: what they approximate, and that everything behind them takes them as it takes others.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use udeed::Hint;
use udeed::data::{Csr, Dense, Labels, Matrix, Table, TrainSet};
use udeed::ensemble::Shared;
use udeed::format::{Format, Reader};
use udeed::memory::{Room, half_of_memory};
use udeed::method::{Method, Udeed};
use udeed::model::Model;
use udeed::prepare::{Preparation, Scaling};

/// Points of the plane on a spiral of two turns, so that no line tells the inner from the outer ones.
fn points(n: usize) -> Vec<[f64; 2]> {
    let point = |i: usize| {
        let (angle, radius) = (2.399_963 * i as f64, (i as f64 / n as f64).sqrt());
        [3.0 * radius * angle.cos(), 3.0 * radius * angle.sin()]
    };
    (0..n).map(point).collect()
}

/// The points, a few of them labeled by whether they lie near the middle.
fn rings(n: usize) -> TrainSet {
    let points = points(n);
    let labels = points
        .iter()
        .enumerate()
        .map(|(i, [x, y])| (i % 5 == 0).then_some(if x * x + y * y < 4.5 { "inner" } else { "outer" }));
    TrainSet::new(Table::from_rows(&points).unwrap(), Labels::new(labels)).unwrap()
}

fn settings() -> Udeed {
    Udeed::new().scaling(Scaling::Standard).lambda(10.0).fourier(60).members(5).seed(3)
}

fn bits(rows: &Matrix) -> Vec<u64> {
    rows.to_dense().unwrap().values().iter().map(|x| x.to_bits()).collect()
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

#[test]
fn products_of_mapped_rows_are_the_kernel() {
    let table = Table::from_rows(&points(60)).unwrap();
    let scaled = Preparation::fit(&table, Scaling::Standard).unwrap();
    let rows = scaled.apply(&table).unwrap().to_dense().unwrap();
    let mapped = scaled.with_fourier(20_000, &table, None, 1).unwrap().apply(&table).unwrap().to_dense().unwrap();
    let pairs: Vec<(usize, usize)> = (0..60).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let mut squares: Vec<f64> = pairs.iter().map(|&(i, j)| squared_distance(rows.get(i), rows.get(j))).collect();
    squares.sort_by(f64::total_cmp);
    let median = squares[(0.5 * (squares.len() - 1) as f64).round() as usize];
    for (i, j) in pairs {
        let found: f64 = mapped.get(i).iter().zip(mapped.get(j)).map(|(x, y)| x * y).sum();
        let expected = (-squared_distance(rows.get(i), rows.get(j)) / median).exp();
        // Four deviations of the mean of 20 000 products.
        assert!((found - expected).abs() < 0.03, "{found} against {expected}");
    }
}

#[test]
fn the_first_features_do_not_depend_on_how_many_there_are() {
    let table = Table::from_rows(&points(30)).unwrap();
    let map = |n: usize, seed: u64| {
        let preparation = Preparation::fit(&table, Scaling::MinMax).unwrap();
        preparation.with_fourier(n, &table, None, seed).unwrap().fourier().unwrap().clone()
    };
    let (few, many) = (map(7, 1), map(20, 1));
    assert_eq!(few.phases(), &many.phases()[..7]);
    for (few, many) in few.frequencies().chunks(7).zip(many.frequencies().chunks(20)) {
        assert_eq!(few, &many[..7]);
    }
    assert_ne!(few, map(7, 2));
}

#[test]
fn curved_boundaries_are_learned() {
    let train = rings(400);
    let truth = points(400).iter().map(|[x, y]| Some(x * x + y * y < 4.5)).collect::<Vec<_>>();
    let truth = Labels::new(truth.iter().map(|inner| inner.map(|inner| if inner { "inner" } else { "outer" })));
    let accuracy = |settings: Udeed| settings.fit(&train).unwrap().evaluate(train.table(), &truth).unwrap().accuracy;
    assert!(accuracy(settings().fourier(0)) < 0.7);
    assert!(accuracy(settings()) > 0.9);
}

#[test]
fn every_method_saves_and_predicts_with_them() {
    let train = rings(150);
    for name in Method::NAMES {
        let method = Method::named(name).unwrap();
        let shared = Shared { members: 3, fourier: 11, ..method.shared() };
        let method = method.with_shared(shared);
        // A method without the setting keeps the features as they are.
        if method.card().setting("fourier").is_none() {
            assert_eq!(method.shared().fourier, 0);
            continue;
        }
        let model = method.fit(&train).unwrap();
        assert_eq!(model.training().n_features, 11, "{name}");
        assert_eq!(model.preparation().features()[10], "fourier 11");
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model, "{name}");
        let features = model.preparation().apply(train.table()).unwrap();
        assert_eq!(model.decision(train.table()).unwrap(), model.decide(&features).unwrap(), "{name}");
        assert!(model.to_onnx().unwrap().windows(3).any(|bytes| bytes == b"Cos"), "{name}");
    }
}

#[test]
fn without_them_a_file_has_no_trace_of_them() {
    let bytes = settings().fourier(0).fit(&rings(50)).unwrap().to_bytes().unwrap();
    assert!(!bytes.windows(8).any(|bytes| bytes == b"fourier."));
}

#[test]
fn threads_do_not_matter() {
    let train = rings(900);
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| settings().fit(&train).unwrap().to_bytes().unwrap())
    };
    assert_eq!(fit(1), fit(3));
}

/// The points below a header, as text.
fn csv(points: &[[f64; 2]]) -> String {
    let mut text = String::from("x,y\n");
    points.iter().for_each(|[x, y]| writeln!(text, "{x},{y}").unwrap());
    text
}

#[test]
fn a_streamed_fit_is_the_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let reader = Reader::new().format(Format::Csv);
    let train = {
        let points = points(60);
        let table = reader.read_from("few", csv(&points).as_bytes()).unwrap().table;
        let class = |[x, y]: &[f64; 2]| Some(if x * x + y * y < 4.5 { "inner" } else { "outer" });
        TrainSet::new(table, Labels::new(points.iter().map(class))).unwrap()
    };
    let more = csv(&points(2000));
    let mut in_memory = train.clone();
    in_memory.add_unlabeled(&reader.read_from("more", more.as_bytes()).unwrap().table).unwrap();
    let mut streamed = train;
    let room = Room { most: 0, folder: Some(folder.path()) };
    streamed.add_held(&reader.hold_from("more", more.as_bytes(), room).unwrap().table, room).unwrap();
    assert!(streamed.on_disk().is_some());
    assert_eq!(settings().fit(&streamed).unwrap(), settings().fit(&in_memory).unwrap());
}

#[test]
fn sparse_rows_are_mapped_as_dense_ones() {
    let values: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { f64::from(i * 7 % 11) } else { 0.0 }).collect();
    let dense = Matrix::from(Dense::new(60, 5, values).unwrap());
    let mapped = |rows: Matrix| {
        let table = Table::from_matrix(rows).unwrap();
        let preparation = Preparation::fit(&table, Scaling::None).unwrap().with_fourier(9, &table, None, 0).unwrap();
        let features = preparation.apply(&table).unwrap();
        assert!(!features.is_sparse());
        bits(&features)
    };
    assert_eq!(mapped(dense.to_sparse().into()), mapped(dense));
}

#[test]
fn rows_that_are_all_the_same_have_a_map() {
    for rows in [&[[2.0, 5.0]; 4][..], &[[2.0, 5.0]]] {
        let table = Table::from_rows(rows).unwrap();
        for scaling in [Scaling::MinMax, Scaling::Standard, Scaling::None] {
            let preparation = Preparation::fit(&table, scaling).unwrap().with_fourier(6, &table, None, 0).unwrap();
            let mapped = preparation.apply(&table).unwrap().to_dense().unwrap();
            assert!(mapped.values().iter().all(|x| x.abs() <= (2.0f64 / 6.0).sqrt()), "{scaling:?}: {mapped:?}");
        }
    }
    // Words of which each column has one, and sparse: not one feature is left.
    let nothing = Csr::new(1, vec![0, 0, 0], vec![], vec![]).unwrap();
    let levels = vec!["only".to_owned()];
    let columns = vec![udeed::data::Column::nominal("word", levels)];
    let table = Table::new(columns, nothing).unwrap();
    let preparation = Preparation::fit(&table, Scaling::MinMax).unwrap();
    assert_eq!(preparation.n_features(), 0);
    let preparation = preparation.with_fourier(3, &table, None, 0).unwrap();
    assert_eq!(preparation.apply(&table).unwrap().rows().n_columns(), 3);
}

#[test]
fn more_than_memory_holds_is_refused_before_it_is_taken() {
    let table = Table::from_rows(&points(10)).unwrap();
    let preparation = Preparation::fit(&table, Scaling::MinMax).unwrap();
    let error = preparation.clone().with_fourier(usize::MAX, &table, None, 0).unwrap_err();
    assert!(error.to_string().contains("Fourier features of 3 inputs take"), "{error}");
    assert_eq!(error.hint(), Some(&Hint::Fourier));

    let rows = 1_000_000;
    let many = Table::from_matrix(Dense::new(rows, 2, vec![0.5; 2 * rows]).unwrap()).unwrap();
    let n_features = (half_of_memory() / (8 * rows as u64)) as usize + 1;
    let preparation = preparation.with_fourier(n_features, &table, None, 0).unwrap();
    let error = preparation.apply(&many).unwrap_err().to_string();
    assert!(error.contains("Fourier features of 1000000 rows take"), "{error}");
    assert!(preparation.clone().with_fourier(0, &table, None, 0).is_err());
}

#[test]
fn distances_beyond_all_numbers_are_refused_with_a_hint() {
    for [near, far] in [[-1e300, 1e300], [0.0, 1e-320]] {
        let table = Table::from_rows(&[[near], [far]]).unwrap();
        let found = Preparation::fit(&table, Scaling::None).unwrap().with_fourier(5, &table, None, 0);
        match found {
            Err(error) => assert_eq!(error.hint(), Some(&Hint::Scaling), "{error}"),
            // The square of a distance too small for numbers is zero: the rows count as the same.
            Ok(_) => assert_eq!(far, 1e-320),
        }
    }
}

#[test]
fn rows_far_away_from_all_others_have_an_answer() {
    let model = settings().fit(&rings(100)).unwrap();
    let table = |rows: &[[f64; 2]]| {
        let rows = Table::from_rows(rows).unwrap();
        Table::new(model.preparation().columns().to_vec(), rows.matrix().clone()).unwrap()
    };
    let far = table(&[[1e9, 0.0], [1e200, -1e200], [1e299, 1e299], [f64::NAN, -1e299]]);
    assert!(model.decision(&far).unwrap().values().iter().all(|f| f.abs() <= 1.0));
    assert_eq!(model.decision(&table(&[[0.0, 0.0], [0.0, 1e308]])).unwrap_err().hint(), Some(&Hint::LargeCell));
}

//! Exact sums: the same bits for any order of the rows, and however they are divided.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use udeed::data::{Blocks, Statistics};
use udeed::format::built_in;
use udeed::method::udeed::{
    Device, DiversityTerm, Elsewhere, EnsembleLoss, Initial, Loss, Objective, Partial, Precision, Stages, Variant,
    sizes,
};
use udeed::observer::Losses;
use udeed::prelude::*;
use udeed::prepare::{Preparation, Scaling};

/// Numbers in `[0, 1)` that follow from a seed.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).for_each(|i| order.swap(i, (self.unit() * (i + 1) as f64) as usize));
        order
    }
}

/// Rows of features on scales of their own, some of few values and many of 0, and weights of members.
fn rows_and_weights(n: usize, d: usize, lanes: usize, seed: u64) -> (Dense, Vec<f64>) {
    let mut draws = Draws(seed);
    let mut value = |j: usize| match j % 4 {
        0 => draws.unit(),
        1 => (3.0 * draws.unit()).floor() / 3.0,
        2 => 40.0 * draws.unit().powi(3) - 1.0,
        _ => f64::from(u8::from(draws.unit() < 0.2)),
    };
    let rows = Dense::new(n, d, (0..n * d).map(|i| value(i % d)).collect()).unwrap();
    let mut scale = |j: usize| if j % 4 == 2 { 0.1 } else { 2.0 } * (draws.unit() - 0.4) / (d as f64).sqrt();
    let weights = (0..(d + 1) * lanes).map(|i| scale(i / lanes)).collect();
    (rows, weights)
}

fn evaluate(rows: &dyn Blocks, weights: &[f64], m: usize, heads: usize, precision: Precision) -> (Losses, Vec<f64>) {
    let d = rows.shape().1;
    let labeled = Dense::new(2, d, vec![0.5; 2 * d]).unwrap();
    let (targets, sizes) = (vec![1.0; 2 * heads], sizes(rows).unwrap());
    let loss = EnsembleLoss {
        labeled: &labeled,
        targets: &targets,
        counts: &[1.0, 2.0],
        diversity: Some(rows),
        loss: Loss::Logistic,
        gamma: 0.7,
        m,
        heads,
        hidden: 0,
        precision,
        sizes: &sizes,
    };
    let mut gradient = vec![f64::NAN; weights.len()];
    (loss.evaluate(weights, &mut gradient).unwrap(), gradient)
}

#[test]
fn they_agree_with_double_precision() {
    for (n, d, m, heads) in
        [(300, 1, 2, 1), (2000, 30, 100, 1), (1000, 9, 13, 3), (40_000, 12, 130, 1), (70_000, 7, 20, 2)]
    {
        let (rows, weights) = rows_and_weights(n, d, m * heads, 1);
        let sparse = Matrix::from(rows.clone()).to_sparse();
        for rows in [&rows as &dyn Blocks, &sparse] {
            let (double, expected) = evaluate(rows, &weights, m, heads, Precision::Double);
            let (exact, found) = evaluate(rows, &weights, m, heads, Precision::Exact);
            let largest = expected.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
            let worst = expected.iter().zip(&found).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(worst <= 1e-8 * largest, "{n} x {d}, {m} members: {:e}", worst / largest);
            assert!((double.total - exact.total).abs() <= 1e-8 * double.total.abs().max(1.0), "{double:?} {exact:?}");
            assert!((double.diversity - exact.diversity).abs() <= 1e-8);
        }
    }
}

#[test]
fn parts_in_any_order_give_the_same_bits() {
    let sorted_bits = |partial: &Partial, term: &DiversityTerm| -> Vec<u64> {
        let numbers = std::iter::once(partial.loss(term)).chain(partial.gradient(term));
        numbers.map(f64::to_bits).collect()
    };
    for (n, d, m, heads) in [(5000, 9, 7, 1), (33_000, 17, 25, 2)] {
        let mut draws = Draws(9);
        let (rows, weights) = rows_and_weights(n, d, m * heads, 2);
        let (precision, sizes) = (Precision::Exact, sizes(&rows).unwrap());
        let term = DiversityTerm { gamma: 0.3, m, heads, n_rows: n, precision, sizes };
        let expected = sorted_bits(&term.partial(&rows, &weights).unwrap(), &term);
        let rounded = DiversityTerm { precision: Precision::Double, ..term.clone() };
        let (mut differs, rows) = (false, Matrix::from(rows));
        for parts in [1, 2, 7, 16] {
            for is_sparse in [false, true] {
                let order = draws.shuffled(n);
                let cut = |k: usize| rows.select(&order[n * k / parts..n * (k + 1) / parts]);
                let merged = |term: &DiversityTerm, places: &[usize], threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let of = |k: usize| {
                        let part = if is_sparse { cut(k).to_sparse().into() } else { cut(k) };
                        pool.install(|| term.partial(part.rows(), &weights)).unwrap()
                    };
                    let mut all = of(places[0]);
                    places[1..].iter().for_each(|&k| {
                        all.merge(&Partial::from_bytes(&of(k).to_bytes()).unwrap()).unwrap();
                    });
                    sorted_bits(&all, term)
                };
                let places = draws.shuffled(parts);
                let threads = 1 + parts % 3;
                assert!(merged(&term, &places, threads) == expected, "{n} rows, {parts} parts, sparse: {is_sparse}");
                let (first, back) = (merged(&rounded, &places, 1), places.iter().rev().copied().collect::<Vec<_>>());
                differs |= merged(&rounded, &back, 1) != first;
            }
        }
        assert!(differs, "rounded sums do not depend on the order, so that nothing was tested");
    }
}

/// Rows of a set, of which few are labeled and some twice.
fn train(set: &str) -> TrainSet {
    let all = built_in(set).unwrap().read().unwrap().into_train().unwrap();
    let n = all.labels().len();
    let some = all.select(&(0..n).chain(0..5).collect::<Vec<_>>());
    let unknown: Vec<usize> = (0..some.labels().len()).filter(|i| i % 5 > 1).collect();
    let labels = some.labels().clone().without(&unknown);
    let weights = (0..labels.len()).map(|i| 1.0 + (i % 7) as f64 / 3.0).collect();
    some.with_labels(labels).unwrap().weights(weights).unwrap()
}

#[test]
fn a_fit_of_rows_in_any_order_is_the_same() {
    let fits = [
        ("vote", Udeed::new()),
        ("ionosphere", Udeed::new().scaling(Scaling::Standard).members(30).gamma(3.0)),
        ("labor", Udeed::new().scaling(Scaling::Standard).calibrated(true)),
        ("wdbc", Udeed::new().variant(Variant::Lcd).initial(Initial::Random)),
        ("labor", Udeed::new().initial(Initial::Random).calibrated(true)),
    ];
    for (set, settings) in fits {
        for balanced in [false, true] {
            let (train, method) = (train(set), Method::from(settings.clone().precision(Precision::Exact).seed(4)));
            let train = if balanced { train.balanced() } else { train };
            let (expected, estimates) = method.fit_out_of_bag(&train, &mut ()).unwrap();
            let labeled = |order: &[usize], train: &TrainSet| -> Vec<usize> {
                order.iter().copied().filter(|&i| train.labels().get(i).is_some()).collect()
            };
            let before = labeled(&(0..train.labels().len()).collect::<Vec<_>>(), &train);
            for seed in 0..3 {
                let order = Draws(seed).shuffled(train.labels().len());
                let shuffled = train.select(&order);
                let (model, found) = method.fit_out_of_bag(&shuffled, &mut ()).unwrap();
                assert_eq!(model.ensemble(), expected.ensemble(), "{set} {settings:?}");
                assert_eq!(model.preparation(), expected.preparation(), "{set}");
                let (Some(found), Some(estimates)) = (found, &estimates) else { continue };
                // Of rows that are alike in everything nobody knows which is which.
                if set == "vote" {
                    continue;
                }
                for (place, row) in labeled(&order, &train).into_iter().enumerate() {
                    let own = estimates.get(before.binary_search(&row).unwrap());
                    let bits = |row: &[f64]| row.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(found.get(place)), bits(own), "{set}, row {row}");
                }
            }
        }
    }
}

#[test]
fn a_fit_of_parts_in_any_order_is_that_of_all_rows() {
    for (set, scaling) in [("vote", Scaling::Standard), ("ionosphere", Scaling::Standard), ("wdbc", Scaling::MinMax)] {
        let all = built_in(set).unwrap().read().unwrap().into_train().unwrap();
        let n = all.labels().len();
        let settings = Udeed::new().scaling(scaling).precision(Precision::Exact).seed(2);
        let labeled = all.select(&(0..40).collect::<Vec<_>>());
        let mut whole = labeled.clone();
        whole.add_unlabeled(&all.table().select(&(40..n).collect::<Vec<_>>())).unwrap();
        let expected = settings.fit(&whole).unwrap();
        for parts in [1, 2, 5] {
            let order: Vec<usize> = Draws(parts as u64).shuffled(n - 40).iter().map(|i| 40 + i).collect();
            let cut = |k: usize| all.table().select(&order[(n - 40) * k / parts..(n - 40) * (k + 1) / parts]);
            let tables: Vec<Table> = (0..parts).map(cut).collect();
            let mut statistics = Statistics::exact_of(&tables[0]).unwrap();
            for table in tables[1..].iter().chain([labeled.table()]) {
                let more = Statistics::from_bytes(&Statistics::exact_of(table).unwrap().to_bytes()).unwrap();
                statistics.merge(&more).unwrap();
            }
            let preparation = Preparation::of(&statistics, scaling).unwrap();
            let rows: Vec<Matrix> = tables.iter().map(|table| preparation.apply(table).unwrap()).collect();
            let ask = move |term: &DiversityTerm, weights: &[f64]| -> udeed::Result<Vec<Partial>> {
                rows.iter().map(|part| term.partial(part.rows(), weights)).collect()
            };
            let there = labeled.clone().with_elsewhere(statistics, n - 40).unwrap();
            let model = settings.clone().on(Arc::new(Elsewhere::new(ask))).fit(&there).unwrap();
            assert_eq!(model.preparation(), expected.preparation(), "{set}, {parts} parts");
            assert_eq!(model.ensemble(), expected.ensemble(), "{set}, {parts} parts");
        }
    }
}

/// A device that sums as it likes.
#[derive(Debug)]
struct Rounding;

impl Device for Rounding {
    fn name(&self) -> String {
        "rounding".to_owned()
    }

    fn start<'a>(&'a self) -> udeed::Result<Box<dyn Stages<'a> + 'a>> {
        Err(udeed::Error::Stopped)
    }
}

#[test]
fn what_has_no_exact_sums_is_refused() {
    let settings = Udeed::new().precision(Precision::Exact);
    let refused = |settings: Udeed, train: &TrainSet, expected: &str| {
        let error = settings.fit(train).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let some = train("ionosphere");
    refused(settings.clone().hidden(3), &some, "`hidden` is 3, expected 0 with `precision` `exact`");
    refused(settings.clone().fourier(9), &some, "`fourier` is 9, expected 0 with `precision` `exact`");
    refused(settings.clone().on(Arc::new(Rounding)), &some, "`precision` is `exact`, expected another on `rounding`");
    let start = Udeed::new().start(&some, &mut ()).unwrap();
    let error = start.descend(&settings, &mut ()).unwrap_err().to_string();
    assert!(error.contains("`precision` is `exact`, expected that of the start of the fit"), "{error}");
    let labeled = some.select(&[0, 1, 5, 6, 10, 11]);
    let mut statistics = Statistics::of(labeled.table()).unwrap();
    statistics.merge(&Statistics::exact_of(some.table()).unwrap()).unwrap();
    let there = labeled.with_elsewhere(statistics, some.labels().len()).unwrap();
    let ask = |_: &DiversityTerm, _: &[f64]| Ok(Vec::new());
    refused(
        settings.clone().on(Arc::new(Elsewhere::new(ask))),
        &there,
        "statistics of rows elsewhere with rounded sums",
    );
    let rows = Dense::new(1, 2, vec![1.0; 2]).unwrap();
    let (precision, sizes) = (Precision::Exact, vec![0]);
    let term = DiversityTerm { gamma: 1.0, m: 2, heads: 1, n_rows: 1, precision, sizes };
    assert!(term.partial(&rows, &[0.0; 6]).unwrap_err().to_string().contains("sizes of 1 features"));
    let term = DiversityTerm { sizes: vec![0, -1], ..term };
    assert!(term.partial(&rows, &[0.0; 6]).unwrap_err().to_string().contains("larger values of a feature"));
    let huge = Table::from_rows(&[[1e250, 0.0], [0.0, 1.0], [1e249, 0.5]]).unwrap();
    let huge = TrainSet::new(huge, Labels::new([Some("a"), Some("b"), None])).unwrap();
    refused(settings.scaling(Scaling::None), &huge, "at most 2^300 with `precision` `exact`");
}

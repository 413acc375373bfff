//! The card beside the processor, for `bench/card.sh`: gradients of 30 shapes, whole fits of sets in files, times of a step and of
//! fits to few and to many rows.
//!
//! `card [FILE...]`, or a part of it: `card --check ROWS` for the shapes of at most so many rows, `card --times`. As many threads of
//! the processor as `RAYON_NUM_THREADS` says.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "../../udeed/tests/draw/mod.rs"]
mod draw;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use draw::Draw;
use udeed::data::{Dense, Labels, Matrix, Table, TrainSet};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};
use udeed::prelude::{Reader, Result, Udeed};
use udeed_cuda::{Cuda, Evaluated, evaluated};

/// Rows between -1 and 1, or of columns of ten different scales.
fn rows(n: usize, d: usize, spread: bool, draw: &mut Draw) -> Dense {
    let scale = |j: usize| if spread { 10f64.powi(j as i32 % 10 - 5) } else { 1.0 };
    let scales: Vec<f64> = (0..d).map(scale).collect();
    Dense::new(n, d, (0..n * d).map(|at| scales[at % d] * draw.both()).collect()).unwrap()
}

struct Problem {
    own: Dense,
    other: Dense,
    targets: Vec<f64>,
    counts: Vec<f64>,
    weights: Vec<f64>,
    m: usize,
    heads: usize,
}

impl Problem {
    fn new(labeled: usize, unlabeled: usize, d: usize, m: usize, heads: usize, size: f64, spread: bool) -> Self {
        let mut draw = Draw((unlabeled * 31 + d * 7 + m) as u64);
        let (own, other) = (rows(labeled, d, spread, &mut draw), rows(unlabeled, d, spread, &mut draw));
        let targets = (0..labeled * heads).map(|_| if draw.unit() < 0.5 { -1.0 } else { 1.0 }).collect();
        let counts = (0..labeled).map(|i| 0.5 + i as f64 % 3.0).collect();
        let lanes = m * heads;
        let shrink = |j: usize| if spread && j < d { 10f64.powi(j as i32 % 10 - 5) } else { 1.0 };
        let weights = (0..lanes * (d + 1)).map(|at| size * draw.both() / shrink(at / lanes)).collect();
        Problem { own, other, targets, counts, weights, m, heads }
    }

    fn loss(&self, loss: Loss, precision: Precision, diversity: usize) -> EnsembleLoss<'_> {
        EnsembleLoss {
            labeled: &self.own,
            targets: &self.targets,
            counts: &self.counts,
            diversity: [None, Some(&self.own as _), Some(&self.other as _)][diversity],
            loss,
            gamma: 1.5,
            m: self.m,
            heads: self.heads,
            hidden: 0,
            precision,
            sizes: &[],
        }
    }
}

/// Labeled and unlabeled rows, features, members, heads, size of the weights, whether columns differ in scale.
const SHAPES: [(usize, usize, usize, usize, usize, f64, bool); 30] = [
    (1, 1, 1, 2, 1, 1.0, false),
    (1, 1, 1000, 2, 1, 0.1, false),
    (1, 1, 54, 1000, 1, 0.3, false),
    (2, 63, 54, 100, 1, 0.3, false),
    (2, 64, 54, 100, 1, 0.3, false),
    (2, 65, 54, 100, 1, 0.3, true),
    (100, 1000, 1, 20, 1, 1.0, false),
    (100, 1000, 7, 20, 1, 1.0, false),
    (100, 1000, 8, 20, 1, 1.0, true),
    (100, 1000, 15, 16, 1, 0.5, false),
    (100, 1000, 16, 17, 1, 0.5, false),
    (100, 1000, 31, 48, 1, 0.5, true),
    (100, 5000, 47, 112, 1, 0.3, false),
    (100, 5000, 48, 113, 1, 0.3, false),
    (100, 5000, 63, 112, 1, 0.3, true),
    (100, 5000, 64, 112, 1, 0.3, false),
    (100, 5000, 617, 20, 1, 0.1, false),
    (100, 3000, 1000, 1000, 1, 0.05, false),
    (100, 5000, 54, 20, 3, 0.3, false),
    (100, 5000, 54, 20, 26, 0.3, false),
    (100, 5000, 200, 10, 100, 0.1, false),
    (5000, 5000, 54, 100, 1, 0.3, false),
    (50_000, 50_000, 54, 100, 1, 0.3, true),
    (100, 300_000, 54, 20, 1, 0.3, false),
    (100, 1_300_000, 54, 100, 1, 0.3, false),
    (100, 300_000, 300, 20, 1, 0.1, true),
    (100, 5000, 54, 100, 1, 1e-6, false),
    (100, 5000, 54, 100, 1, 1e3, false),
    (100, 5000, 300, 100, 1, 1e3, true),
    (100, 5000, 300, 100, 1, 1e-6, true),
];

/// Checks shapes of at most some rows; returns how many there are, and how many are wrong.
fn check(cuda: &Cuda, most: usize) -> (usize, usize) {
    println!(
        "shape: labeled, unlabeled, features, members, heads, weights, scales: largest error of gradient and losses"
    );
    let (mut checked, mut wrong) = (0, 0);
    let shapes = SHAPES.iter().enumerate().filter(|(_, shape)| shape.0 + shape.1 <= most);
    for (place, &(labeled, unlabeled, d, m, heads, size, spread)) in shapes {
        checked += 1;
        let problem = Problem::new(labeled, unlabeled, d, m, heads, size, spread);
        let mut line = format!("{labeled:6} {unlabeled:8} {d:5} {m:5} {heads:4} {size:8} {spread:6}:");
        for precision in [Precision::Double, Precision::Single] {
            let (mut worst, mut of_losses) = (0.0f64, 0.0f64);
            for diversity in 0..3 {
                let loss = problem.loss(
                    [Loss::Logistic, Loss::Squared, Loss::Hinge][(place + diversity) % 3],
                    precision,
                    diversity,
                );
                let mut expected = vec![0.0; problem.weights.len()];
                let right = EnsembleLoss { precision: Precision::Double, ..loss }
                    .evaluate(&problem.weights, &mut expected)
                    .unwrap();
                let mut found = vec![f64::NAN; problem.weights.len()];
                let losses = evaluated(cuda, loss, &problem.weights, &mut found, 0).unwrap().losses;
                for _ in 0..3 {
                    let mut again = vec![f64::NAN; problem.weights.len()];
                    let repeated = evaluated(cuda, loss, &problem.weights, &mut again, 0).unwrap().losses;
                    if repeated != losses || again != found {
                        line += " OTHER BITS";
                        wrong += 1;
                    }
                }
                let largest = expected.iter().fold(0.0f64, |most, g| most.max(g.abs()));
                let error = found.iter().zip(&expected).fold(0.0f64, |most, (f, e)| {
                    let error = (f - e).abs() / largest;
                    if error.is_nan() { f64::INFINITY } else { most.max(error) }
                });
                worst = worst.max(error);
                for (found, expected) in [(losses.empirical, right.empirical), (losses.diversity, right.diversity)] {
                    if found != expected {
                        of_losses =
                            of_losses.max((found - expected).abs() / expected.abs().max(1e-3 * right.empirical));
                    }
                }
            }
            // Scores have the digits of their precision: large ones a larger error.
            let limit = if precision == Precision::Double { 1e-12 } else { 1e-5 } * size.max(1.0);
            let mark = if worst <= limit { "" } else { " WRONG" };
            wrong += usize::from(worst > limit);
            line += &format!("  {precision:?} {worst:.1e}, {of_losses:.1e}{mark}");
        }
        println!("{line}");
    }
    (checked, wrong)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn milliseconds(times: usize, mut f: impl FnMut()) -> f64 {
    median(
        (0..times)
            .map(|_| {
                let begin = Instant::now();
                f();
                begin.elapsed().as_secs_f64() * 1e3
            })
            .collect(),
    )
}

fn time(cuda: &Arc<Cuda>) {
    println!(
        "\na step, 54 features, 100 members, ms: kernels of the diversity, those of LcUd with 100 labeled rows, that step called; \
         the same on {} threads of the processor",
        rayon_threads()
    );
    for n in [100, 300, 1000, 3000, 10_000, 50_000, 217_880, 1_000_000, 10_000_000] {
        let problem = Problem::new(100, n, 54, 100, 1, 0.1, false);
        let mut gradient = vec![0.0; problem.weights.len()];
        for precision in [Precision::Double, Precision::Single] {
            let loss = problem.loss(Loss::Logistic, precision, 2);
            let begin = Instant::now();
            evaluated(cuda, loss, &problem.weights, &mut gradient, 0).unwrap();
            let sent = begin.elapsed().as_secs_f64() * 1e3;
            let measured: Vec<Evaluated> =
                (0..3).map(|_| evaluated(cuda, loss, &problem.weights, &mut gradient, 20).unwrap()).collect();
            let of = |time: fn(&Evaluated) -> f64| median(measured.iter().map(time).collect());
            let (diversity, all, called) =
                (of(|times| times.diversity), of(|times| times.on_card), of(|times| times.called));
            let here = milliseconds(if n < 100_000 { 15 } else { 3 }, || {
                loss.evaluate(&problem.weights, &mut gradient).unwrap();
            });
            println!(
                "n {n:9} {precision:?}: diversity {diversity:.4} all {all:.4} called {called:.4} processor {here:.3} sent and once \
                 {sent:.1}"
            );
        }
    }
    println!(
        "\na fit, 54 features, 100 members, 100 labeled rows, 50 steps at most, ms: on the card that is open, on the processor"
    );
    for n in [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000] {
        let train = generated(n + 100, 54, (n + 100) / 100);
        let settings = Udeed::new().members(100);
        let fitted = |settings: &Udeed| {
            milliseconds(5, || {
                settings.fit(&train).unwrap();
            })
        };
        println!("n {n:7}: card {:.1} processor {:.1}", fitted(&settings.clone().on(cuda.clone())), fitted(&settings));
    }
}

fn rayon_threads() -> String {
    std::env::var("RAYON_NUM_THREADS").unwrap_or_else(|_| "all".to_owned())
}

/// Rows of two classes, of which one in `each` has a label.
fn generated(n: usize, d: usize, each: usize) -> TrainSet {
    let mut draw = Draw(5);
    let made = rows(n, d, false, &mut draw);
    let label = |i: usize| {
        let row = &made.values()[i * d..][..d];
        Some(if row[0] + row[1] * row[2] + 0.5 * row[3] > 0.0 { "a" } else { "b" })
    };
    let labels = Labels::new((0..n).map(|i| if i % each == 0 { label(i) } else { None }));
    TrainSet::new(Table::from_matrix(Matrix::from(made)).unwrap(), labels).unwrap()
}

fn dense(train: TrainSet) -> TrainSet {
    let table = train.table();
    let matrix = Matrix::from(table.matrix().to_dense().unwrap());
    TrainSet::new(Table::from_matrix(matrix).unwrap(), train.labels().clone()).unwrap()
}

fn fit(cuda: &Arc<Cuda>, name: &str, train: &TrainSet) {
    let hidden: Vec<usize> = (0..train.labels().len()).filter(|i| i % 4 != 0).collect();
    let learned = train.clone().hide_labels(&hidden);
    for (precision, limit) in [(Precision::Double, 1e-9), (Precision::Single, 1e-5)] {
        let settings = Udeed::new().members(100).precision(precision);
        let timed = |settings: &Udeed| {
            let begin = Instant::now();
            let model = settings.fit(&learned).unwrap();
            (model, begin.elapsed().as_secs_f64())
        };
        let ((here, slow), (there, fast)) = (timed(&settings), timed(&settings.clone().on(cuda.clone())));
        let again = settings.clone().on(cuda.clone()).fit(&learned).unwrap();
        let weights = |model: &udeed::model::Model| model.ensemble().linear(0).unwrap().weights().to_vec();
        let apart = weights(&here).iter().zip(weights(&there)).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        let largest = weights(&here).iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let steps: Vec<usize> = there.training().stages.iter().map(|stage| stage.steps).collect();
        let right = |model: &udeed::model::Model| model.evaluate(train.table(), train.labels()).unwrap().accuracy;
        let same = weights(&there) == weights(&again);
        let mark = if apart <= limit * largest.max(1.0) && same { "" } else { " WRONG" };
        println!(
            "{name}: {precision:?}: fit {slow:.2} s, on the card {fast:.2} s; weights within {apart:.1e} of {largest:.1}, steps {steps:?}, \
             accuracies {:.5} and {:.5}, same bits again: {same}{mark}",
            right(&here),
            right(&there)
        );
        assert!(mark.is_empty(), "{name}: the card fits another model");
    }
}

fn main() -> Result<()> {
    let begin = Instant::now();
    let cuda = Arc::new(Cuda::open(None)?);
    println!("opened in {:.3} s", begin.elapsed().as_secs_f64());
    let tiny = Problem::new(10, 100, 5, 3, 1, 1.0, false);
    let begin = Instant::now();
    for precision in [Precision::Double, Precision::Single] {
        evaluated(
            &cuda,
            tiny.loss(Loss::Logistic, precision, 2),
            &tiny.weights,
            &mut vec![0.0; tiny.weights.len()],
            0,
        )?;
        println!("first step, {precision:?}: {:.3} s after that", begin.elapsed().as_secs_f64());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (files, most) = match &arguments[..] {
        [flag] if flag == "--times" => {
            time(&cuda);
            return Ok(());
        }
        [flag, rows] if flag == "--check" => (None, rows.parse().expect("a number of rows")),
        files => (Some(files), usize::MAX),
    };
    let (checked, wrong) = check(&cuda, most);
    println!("{wrong} of {checked} shapes are wrong");
    assert!(wrong == 0 && checked > 0, "gradients are not those of the processor");
    let Some(files) = files else { return Ok(()) };
    println!();
    for path in files {
        let train = dense(Reader::new().read(Path::new(path))?.into_train()?);
        fit(&cuda, path, &train);
    }
    fit(&cuda, "10 million generated rows", &generated(10_000_000, 20, 1000));
    time(&cuda);
    Ok(())
}

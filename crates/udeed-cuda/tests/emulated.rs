//! The card against the processor: the real kernels, run by an emulated driver (`driver/driver.cpp`), each test in a process of
//! its own that finds this driver in place of one of the machine.
#![allow(clippy::unwrap_used)]

#[path = "../../udeed/tests/draw/mod.rs"]
mod draw;
mod driver;

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use draw::Draw;
use udeed::data::{Dense, Labels, Table, TrainSet};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision, Variant};
use udeed::prelude::{Udeed, built_in};
use udeed_cuda::{Cuda, evaluated};

/// Whether this process finds the emulated driver; else runs the test of this name in one that does, with some fault.
fn is_emulated(test: &str, environment: &[(&str, &str)]) -> bool {
    if std::env::var_os("UDEED_EMULATED").is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env("UDEED_EMULATED", "1");
    child.env("LD_LIBRARY_PATH", driver::folder(env!("CARGO_TARGET_TMPDIR"))).envs(environment.iter().copied());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{test}, {environment:?}:\n{said}");
    false
}

/// Rows whose columns have different scales.
fn rows(n: usize, d: usize, draw: &mut Draw) -> Dense {
    let scales: Vec<f64> = (0..d).map(|j| 10f64.powi(j as i32 % 5 - 2)).collect();
    Dense::new(n, d, (0..n * d).map(|at| scales[at % d] * draw.both()).collect()).unwrap()
}

struct Case {
    labeled: usize,
    unlabeled: usize,
    features: usize,
    m: usize,
    heads: usize,
    /// Size of the weights.
    size: f64,
}

const CASES: [Case; 6] = [
    Case { labeled: 1, unlabeled: 1, features: 1, m: 2, heads: 1, size: 1.0 },
    Case { labeled: 3, unlabeled: 65, features: 1, m: 3, heads: 1, size: 1.0 },
    Case { labeled: 20, unlabeled: 130, features: 9, m: 17, heads: 1, size: 0.5 },
    Case { labeled: 70, unlabeled: 97, features: 54, m: 20, heads: 1, size: 0.3 },
    Case { labeled: 5, unlabeled: 33, features: 63, m: 112, heads: 1, size: 0.3 },
    Case { labeled: 33, unlabeled: 70, features: 31, m: 5, heads: 3, size: 0.3 },
];

/// Compares all cases, where none or some of the kernels in doubles are those of newer cards.
fn compare() {
    let cuda = Cuda::open(None).unwrap();
    let mut draw = Draw(7);
    for (place, case) in CASES.iter().enumerate() {
        let Case { labeled, unlabeled, features, m, heads, size } = *case;
        let (own, other) = (rows(labeled, features, &mut draw), rows(unlabeled, features, &mut draw));
        let targets: Vec<f64> = (0..labeled * heads).map(|_| if draw.unit() < 0.5 { -1.0 } else { 1.0 }).collect();
        let counts: Vec<f64> = (0..labeled).map(|i| 0.5 + i as f64 % 3.0).collect();
        let lanes = m * heads;
        let weights: Vec<f64> = (0..lanes * (features + 1))
            .map(|at| size * draw.both() / 10f64.powi((at / lanes) as i32 % 5 - 2))
            .collect();
        let losses = [Loss::Logistic, Loss::Squared, Loss::Hinge];
        for (turn, diversity) in [None, Some(&own), Some(&other)].into_iter().enumerate() {
            for precision in [Precision::Double, Precision::Single] {
                let loss = EnsembleLoss {
                    labeled: &own,
                    targets: &targets,
                    counts: &counts,
                    diversity: diversity.map(|rows| rows as _),
                    loss: losses[(place + turn) % 3],
                    gamma: 1.5,
                    m,
                    heads,
                    hidden: 0,
                    precision,
                    sizes: &[],
                };
                let (mut expected, mut found) = (vec![0.0; weights.len()], vec![f64::NAN; weights.len()]);
                let right =
                    EnsembleLoss { precision: Precision::Double, ..loss }.evaluate(&weights, &mut expected).unwrap();
                let losses = evaluated(&cuda, loss, &weights, &mut found, 0).unwrap().losses;
                let what = format!("case {place}, {:?}, diversity {turn}, {precision:?}", loss.loss);
                let limit = if precision == Precision::Double { 1e-12 } else { 1e-5 };
                let largest = expected.iter().fold(0.0f64, |most, g| most.max(g.abs()));
                for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let error = (found - expected).abs() / largest;
                    assert!(
                        error <= limit,
                        "{what}: gradient {at} is {found}, expected {expected} (error {error:.1e})"
                    );
                }
                for (found, expected) in [(losses.empirical, right.empirical), (losses.diversity, right.diversity)] {
                    let error = (found - expected).abs() / expected.abs().max(if size < 1e-3 { 0.0 } else { 1e-2 });
                    assert!(
                        error <= limit || found == expected,
                        "{what}: {losses:?}, expected {right:?} (error {error:.1e})"
                    );
                }
                let mut again = vec![f64::NAN; weights.len()];
                assert_eq!(evaluated(&cuda, loss, &weights, &mut again, 0).unwrap().losses, losses, "{what}");
                assert_eq!(again, found, "{what}: other bits");
            }
        }
    }
}

#[test]
fn gradients_are_those_of_the_processor() {
    if is_emulated("gradients_are_those_of_the_processor", &[]) {
        compare();
    }
}

/// Whose tensor cores have no doubles.
#[test]
fn gradients_of_older_cards_are_those_of_the_processor() {
    if is_emulated("gradients_of_older_cards_are_those_of_the_processor", &[("UDEED_FAULT", "ampere")]) {
        compare();
    }
}

#[test]
fn a_fit_has_the_weights_of_the_processor_and_leaves_nothing_on_the_card() {
    let test = "a_fit_has_the_weights_of_the_processor_and_leaves_nothing_on_the_card";
    if !is_emulated(test, &[]) {
        return;
    }
    let cuda = Arc::new(Cuda::open(Some(0)).unwrap());
    let ionosphere = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    let mut draw = Draw(3);
    let three: Vec<[f64; 2]> =
        (0..60).map(|i| [f64::from(i % 3) + draw.both(), draw.both() - f64::from(i % 3 / 2)]).collect();
    let labels = Labels::new((0..60).map(|i| Some(["a", "b", "c"][i % 3])));
    let three = TrainSet::new(Table::from_rows(&three).unwrap(), labels).unwrap();
    for (train, variant) in [(ionosphere, Variant::LcUd), (three, Variant::Lcd)] {
        let hidden: Vec<usize> = (0..train.labels().len()).filter(|i| i % 4 != 0).collect();
        let train = train.hide_labels(&hidden);
        let settings = Udeed::new().members(5).steps(6).variant(variant);
        let here = settings.fit(&train).unwrap();
        let there = settings.clone().on(cuda.clone()).fit(&train).unwrap();
        assert_eq!(here.training().stages.len(), there.training().stages.len());
        for head in 0..if variant == Variant::Lcd { 3 } else { 1 } {
            let weights = |model: &udeed::model::Model| model.ensemble().linear(head).unwrap().weights().to_vec();
            for (here, there) in weights(&here).into_iter().zip(weights(&there)) {
                assert!((here - there).abs() <= 1e-9, "{here} and {there}");
            }
        }
        assert_eq!(there.method(), here.method());
    }
    // SAFETY: the emulated driver, which this process has loaded, has this function.
    #[allow(unsafe_code)]
    let left = unsafe {
        let library = libloading::Library::new("libcuda.so").unwrap();
        let mut bytes = usize::MAX;
        let asked: libloading::Symbol<'_, unsafe extern "C" fn(*mut usize) -> i32> =
            library.get(b"udeed_bytes_in_use").unwrap();
        asked(&raw mut bytes);
        bytes
    };
    assert_eq!(left, 0);
}

fn refusal() -> String {
    let error = Cuda::open(None).unwrap_err();
    format!("{error} | {}", error.hint().unwrap())
}

/// Checks what a fault of the driver is called.
fn assert_refused(test: &str, fault: &str, expected: &str) {
    if is_emulated(test, &[("UDEED_FAULT", fault)]) {
        assert_eq!(refusal(), expected);
    }
}

const DRIVER: &str = "install the driver of the card: `nvidia-smi` lists the card where it works";
const OTHER: &str = "use another device, or the processor";

#[test]
fn no_card() {
    assert_refused("no_card", "no-card", &format!("cuda: found no card, expected an NVIDIA card | {DRIVER}"));
}

#[test]
fn a_driver_that_does_not_start() {
    let said = "error CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: as the emulated driver says";
    assert_refused(
        "a_driver_that_does_not_start",
        "mismatch",
        &format!("cuda: found {said}, expected a driver that starts | {DRIVER}"),
    );
}

#[test]
fn an_old_driver() {
    let expected = "expected one of CUDA 11.8 (520) or newer";
    assert_refused("an_old_driver", "old-driver", &format!("cuda: found a driver of CUDA 11.4, {expected} | {DRIVER}"));
}

#[test]
fn an_old_card() {
    let found = "a card of compute capability 7.5 (Emulated card)";
    assert_refused("an_old_card", "old-card", &format!("cuda: found {found}, expected 8.0 or higher | {OTHER}"));
}

#[test]
fn a_card_that_is_not_there() {
    if is_emulated("a_card_that_is_not_there", &[]) {
        for number in [1, 4_000_000_000] {
            let error = Cuda::open(Some(number)).unwrap_err();
            assert_eq!(error.to_string(), format!("cuda:{number}: found 1 card, expected more than {number}"));
        }
    }
}

#[test]
fn a_card_that_others_use() {
    if is_emulated("a_card_that_others_use", &[("UDEED_FAULT", "busy")]) {
        assert!(refusal().starts_with("cuda: found error CUDA_ERROR_OUT_OF_MEMORY"), "{}", refusal());
    }
}

/// A small fit and its error.
fn fit_error(settings: Udeed) -> udeed::Error {
    let train = built_in("vote").unwrap().read().unwrap().into_train().unwrap();
    settings.variant(Variant::Lcd).on(Arc::new(Cuda::open(None).unwrap())).fit(&train).unwrap_err()
}

#[test]
fn too_little_memory() {
    if is_emulated("too_little_memory", &[("UDEED_CARD_BYTES", "20000")]) {
        let error = fit_error(Udeed::new());
        let expected = "of 19.5 KiB, expected";
        assert!(error.to_string().starts_with("cuda:0: found ") && error.to_string().contains(expected), "{error}");
        assert_eq!(error.hint(), Some(&udeed::Hint::DeviceMemory));
    }
}

#[test]
fn a_card_that_fails_in_a_step() {
    if is_emulated("a_card_that_fails_in_a_step", &[("UDEED_FAULT", "lost")]) {
        let error = fit_error(Udeed::new());
        assert!(error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
    }
}

#[test]
fn what_a_card_does_not_take() {
    if is_emulated("what_a_card_does_not_take", &[]) {
        let error = fit_error(Udeed::new().hidden(3));
        let expected = "`hidden` is 3, expected 0 on `cuda:0`: members with hidden units are trained on the processor";
        assert_eq!(error.to_string(), expected);
        let dense = Table::from_rows(&[[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [0.0, 3.0]]).unwrap();
        let sparse = Table::from_matrix(dense.matrix().to_sparse()).unwrap();
        let train = TrainSet::new(sparse, Labels::new([Some("a"), Some("b"), None, None])).unwrap();
        let error = Udeed::new().on(Arc::new(Cuda::open(None).unwrap())).fit(&train).unwrap_err();
        assert_eq!(error.to_string(), "cuda:0: found sparse rows, expected dense ones");
        assert_eq!(error.hint(), Some(&udeed::Hint::DenseOnDevice));
    }
}

#[test]
fn no_driver() {
    // A folder in front of which nothing lies hides no driver of the machine.
    if std::env::var_os("UDEED_EMULATED").is_none() && std::fs::exists("/dev/nvidiactl").unwrap() {
        // Past the capture of the test harness.
        let _ = writeln!(std::io::stderr(), "no driver: this machine has one, so that its absence is not tested");
        return;
    }
    assert_eq!(
        refusal(),
        format!("cuda: found no driver library `libcuda.so.1`, expected that of an NVIDIA card | {DRIVER}")
    );
}

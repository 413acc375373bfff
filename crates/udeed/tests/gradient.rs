//! The gradient of UDEED's loss against finite differences, and dense rows against sparse ones.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use udeed::data::{Csr, Dense, Matrix, Rows};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};
use udeed::observer::Losses;

/// A small problem: labeled and unlabeled rows, about half of their values zero, and the weights of some members.
#[derive(Debug, Clone)]
struct Problem {
    labeled: Dense,
    targets: Vec<f64>,
    counts: Vec<f64>,
    unlabeled: Dense,
    m: usize,
    weights: Vec<f64>,
    gamma: f64,
}

fn rows(n: usize, d: usize) -> impl Strategy<Value = Dense> {
    let value = prop_oneof![Just(0.0), -2.0..2.0f64];
    prop::collection::vec(value, n * d).prop_map(move |values| Dense::new(n, d, values).unwrap())
}

fn problem() -> impl Strategy<Value = Problem> {
    (1..12usize, 1..200usize, 1..20usize, 2..30usize).prop_flat_map(|(l, u, d, m)| {
        let target = prop_oneof![Just(-1.0), Just(1.0)];
        (
            rows(l, d),
            prop::collection::vec(target, l),
            prop::collection::vec(prop_oneof![Just(1.0), 0.1..4.0f64], l),
            rows(u, d),
            prop::collection::vec(-2.0..2.0f64, m * (d + 1)),
            0.0..5.0f64,
        )
            .prop_map(move |(labeled, targets, counts, unlabeled, weights, gamma)| Problem {
                labeled,
                targets,
                counts,
                unlabeled,
                m,
                weights,
                gamma,
            })
    })
}

/// Rows on which the members are made diverse: those of the variants Lc, Lcd and LcUd.
#[derive(Debug, Clone, Copy)]
enum On {
    Nothing,
    Labeled,
    Unlabeled,
}

const LOSSES: [Loss; 3] = [Loss::Logistic, Loss::Squared, Loss::Hinge];
const VARIANTS: [On; 3] = [On::Nothing, On::Labeled, On::Unlabeled];

impl Problem {
    fn evaluate(&self, loss: Loss, on: On, weights: &[f64]) -> (Losses, Vec<f64>) {
        self.evaluate_rows(loss, on, weights, &self.labeled, &self.unlabeled, Precision::Double)
    }

    fn evaluate_rows(
        &self,
        loss: Loss,
        on: On,
        weights: &[f64],
        labeled: &dyn Rows,
        unlabeled: &dyn Rows,
        precision: Precision,
    ) -> (Losses, Vec<f64>) {
        let objective = EnsembleLoss {
            labeled,
            targets: &self.targets,
            counts: &self.counts,
            diversity: match on {
                On::Nothing => None,
                On::Labeled => Some(labeled),
                On::Unlabeled => Some(unlabeled),
            },
            loss,
            gamma: self.gamma,
            m: self.m,
            heads: 1,
            hidden: 0,
            precision,
            sizes: &[],
        };
        let mut gradient = vec![f64::NAN; weights.len()];
        let losses = objective.evaluate(weights, &mut gradient).unwrap();
        (losses, gradient)
    }

    /// The losses by the paper's definitions, pair by pair and without the tricks of the library.
    fn by_definition(&self, loss: Loss, on: On) -> Losses {
        let (m, d) = (self.m, self.labeled.n_columns());
        let score = |row: &[f64], k: usize| {
            let features: f64 = (0..d).map(|j| row[j] * self.weights[j * m + k]).sum();
            features + self.weights[d * m + k]
        };
        let output = |row: &[f64], k: usize| 2.0 / (1.0 + (-score(row, k)).exp()) - 1.0;
        let mut empirical = 0.0;
        for (i, &y) in self.targets.iter().enumerate() {
            for k in 0..m {
                let row = self.labeled.get(i);
                let of_row = match loss {
                    Loss::Logistic | Loss::Printed => (1.0 + (-y * score(row, k)).exp()).ln(),
                    Loss::Squared => (output(row, k) - y).powi(2),
                    Loss::Hinge => 1.0 - y * output(row, k),
                };
                empirical += self.counts[i] * of_row;
            }
        }
        empirical /= m as f64 * self.counts.iter().sum::<f64>();
        let mut diversity = 0.0;
        let on = match on {
            On::Nothing => None,
            On::Labeled => Some(&self.labeled),
            On::Unlabeled => Some(&self.unlabeled),
        };
        if let Some(rows) = on {
            for i in 0..rows.n_rows() {
                for p in 0..m {
                    for q in p + 1..m {
                        diversity += output(rows.get(i), p) * output(rows.get(i), q);
                    }
                }
            }
            diversity *= 2.0 / (m * (m - 1) * rows.n_rows()) as f64;
        }
        Losses { empirical, diversity, total: empirical + self.gamma * diversity }
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

fn sparse(rows: &Dense) -> Csr {
    Matrix::from(rows.clone()).to_sparse()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn losses_are_the_papers(problem in problem()) {
        for loss in LOSSES {
            for on in VARIANTS {
                let (losses, _) = problem.evaluate(loss, on, &problem.weights);
                let expected = problem.by_definition(loss, on);
                prop_assert!(near(losses.empirical, expected.empirical, 1e-12), "{loss:?} {on:?} {losses:?} {expected:?}");
                prop_assert!(near(losses.diversity, expected.diversity, 1e-12), "{loss:?} {on:?} {losses:?} {expected:?}");
                prop_assert!(near(losses.total, expected.total, 1e-12), "{loss:?} {on:?} {losses:?} {expected:?}");
            }
        }
    }

    #[test]
    fn gradient_agrees_with_finite_differences(problem in problem()) {
        const STEP: f64 = 1e-5;
        for loss in LOSSES {
            for on in VARIANTS {
                let (_, gradient) = problem.evaluate(loss, on, &problem.weights);
                for place in 0..gradient.len() {
                    let total = |by: f64| {
                        let mut weights = problem.weights.clone();
                        weights[place] += by;
                        problem.evaluate(loss, on, &weights).0.total
                    };
                    let difference = (total(STEP) - total(-STEP)) / (2.0 * STEP);
                    prop_assert!(
                        near(gradient[place], difference, 1e-8),
                        "{loss:?} {on:?} weight {place}: {} against {difference}", gradient[place]
                    );
                }
            }
        }
    }

    #[test]
    fn sparse_rows_give_what_dense_rows_give(problem in problem()) {
        let (labeled, unlabeled) = (sparse(&problem.labeled), sparse(&problem.unlabeled));
        for loss in LOSSES {
            for on in VARIANTS {
                let (dense_losses, dense) = problem.evaluate(loss, on, &problem.weights);
                let (sparse_losses, sparse) =
                    problem.evaluate_rows(loss, on, &problem.weights, &labeled, &unlabeled, Precision::Double);
                prop_assert!(near(dense_losses.total, sparse_losses.total, 1e-10));
                prop_assert!(dense.iter().zip(&sparse).all(|(a, b)| near(*a, *b, 1e-10)));
            }
        }
    }

    #[test]
    fn single_precision_comes_near_double_precision(problem in problem()) {
        let (sparse_labeled, sparse_unlabeled) = (sparse(&problem.labeled), sparse(&problem.unlabeled));
        let layouts: [[&dyn Rows; 2]; 2] =
            [[&problem.labeled, &problem.unlabeled], [&sparse_labeled, &sparse_unlabeled]];
        for loss in LOSSES {
            for on in VARIANTS {
                let (double, gradient) = problem.evaluate(loss, on, &problem.weights);
                for [labeled, unlabeled] in layouts {
                    let (single, single_gradient) =
                        problem.evaluate_rows(loss, on, &problem.weights, labeled, unlabeled, Precision::Single);
                    prop_assert!(near(double.total, single.total, 2e-5), "{loss:?} {on:?} {double:?} {single:?}");
                    let same = gradient.iter().zip(&single_gradient).all(|(a, b)| near(*a, *b, 2e-5));
                    prop_assert!(same, "{loss:?} {on:?} {gradient:?} {single_gradient:?}");
                }
            }
        }
    }
}

/// What the paper prints: the first sum has further factors `ln(1 + e^-w.x)` and `ln(1 + e^w.x)`.
#[test]
fn the_printed_gradient_is_not_that_of_the_loss() {
    let labeled = Dense::new(2, 1, vec![0.5, -1.5]).unwrap();
    let targets = [1.0, -1.0];
    let (w, b) = (0.8, -0.3);
    let objective = EnsembleLoss {
        labeled: &labeled,
        targets: &targets,
        counts: &[1.0, 1.0],
        diversity: None,
        loss: Loss::Logistic,
        gamma: 0.0,
        m: 2,
        heads: 1,
        hidden: 0,
        precision: Precision::Double,
        sizes: &[],
    };
    let mut gradient = vec![0.0; 4];
    let mut total = |w: f64| objective.evaluate(&[w, w, b, b], &mut gradient).unwrap().total;
    let difference = (total(w + 1e-6) - total(w - 1e-6)) / 2e-6;
    total(w);
    let printed: f64 = (0..2)
        .map(|i| {
            let (x, y) = (labeled.get(i)[0], targets[i]);
            let z = w * x + b;
            let f = (z / 2.0).tanh();
            let likelihood = (1.0 + y) * (1.0 - f) / 4.0 * (1.0 + (-z).exp()).ln()
                - (1.0 - y) * (1.0 + f) / 4.0 * (1.0 + z.exp()).ln();
            -likelihood * x / 2.0
        })
        .sum();
    assert!((gradient[0] + gradient[1] - difference).abs() < 1e-9, "{gradient:?} {difference}");
    assert!((printed - difference).abs() > 0.01, "{printed} {difference}");
    let logistic = objective.evaluate(&[w, w, b, b], &mut gradient).unwrap();
    let as_printed = EnsembleLoss { loss: Loss::Printed, ..objective };
    assert_eq!(as_printed.evaluate(&[w, w, b, b], &mut gradient).unwrap(), logistic);
    assert!((gradient[0] + gradient[1] - printed).abs() < 1e-12, "{gradient:?} {printed}");
}

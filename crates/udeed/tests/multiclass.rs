//! UDEED's loss of several questions and of members with hidden units: by its definition, and its gradient by finite
//! differences.
#![allow(clippy::unwrap_used)]

use udeed::data::{Blocks, Dense, Matrix};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};
use udeed::observer::Losses;

const MEMBERS: usize = 3;
const WIDTH: usize = 4;

/// Numbers between -1 and 1 that look random.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

struct Problem {
    labeled: Dense,
    unlabeled: Dense,
    targets: Vec<f64>,
    counts: Vec<f64>,
    heads: usize,
    hidden: usize,
    loss: Loss,
}

impl Problem {
    fn new(heads: usize, hidden: usize, loss: Loss) -> Self {
        let rows = |n: usize, seed| Dense::new(n, WIDTH, numbers(n * WIDTH, seed)).unwrap();
        let targets = numbers(70 * heads, 3).iter().map(|x| x.signum()).collect();
        let counts = (0..70).map(|i| f64::from(1 + i % 3)).collect();
        Problem { labeled: rows(70, 1), unlabeled: rows(90, 2), targets, counts, heads, hidden, loss }
    }

    fn n_weights(&self) -> usize {
        let lanes = MEMBERS * self.heads;
        match self.hidden {
            0 => (WIDTH + 1) * lanes,
            hidden => (WIDTH + 1) * lanes * hidden + lanes * (hidden + 1),
        }
    }

    fn evaluate(&self, weights: &[f64], on: Option<&dyn Blocks>) -> (Losses, Vec<f64>) {
        let loss = EnsembleLoss {
            labeled: &self.labeled,
            targets: &self.targets,
            counts: &self.counts,
            diversity: on,
            loss: self.loss,
            gamma: 1.7,
            m: MEMBERS,
            heads: self.heads,
            hidden: self.hidden,
            precision: Precision::Double,
            sizes: &[],
        };
        let mut gradient = vec![f64::NAN; weights.len()];
        (loss.evaluate(weights, &mut gradient).unwrap(), gradient)
    }

    /// The score of member `k` for a question.
    fn score(&self, weights: &[f64], row: &[f64], head: usize, k: usize) -> f64 {
        let (lanes, member) = (MEMBERS * self.heads, head * MEMBERS + k);
        let linear = |lanes: usize, lane: usize| {
            (0..WIDTH).map(|j| row[j] * weights[j * lanes + lane]).sum::<f64>() + weights[WIDTH * lanes + lane]
        };
        if self.hidden == 0 {
            return linear(lanes, member);
        }
        let h = self.hidden;
        let outputs = &weights[(WIDTH + 1) * lanes * h..][member * (h + 1)..][..h + 1];
        (0..h).map(|u| outputs[u] * (0.5 * linear(lanes * h, member * h + u)).tanh()).sum::<f64>() + outputs[h]
    }

    fn by_definition(&self, weights: &[f64], on: &Dense, n: usize) -> (f64, f64) {
        let output = |row: &[f64], head, k| (0.5 * self.score(weights, row, head, k)).tanh();
        let (mut empirical, mut diversity) = (0.0, 0.0);
        for head in 0..self.heads {
            for i in 0..70 {
                let y = self.targets[i * self.heads + head];
                for k in 0..MEMBERS {
                    let f = output(self.labeled.get(i), head, k);
                    empirical += self.counts[i]
                        * match self.loss {
                            Loss::Logistic | Loss::Printed => {
                                (1.0 + (-y * self.score(weights, self.labeled.get(i), head, k)).exp()).ln()
                            }
                            Loss::Squared => (f - y).powi(2),
                            Loss::Hinge => 1.0 - y * f,
                        };
                }
            }
            for i in 0..n {
                for p in 0..MEMBERS {
                    for q in 0..p {
                        diversity += output(on.get(i), head, p) * output(on.get(i), head, q);
                    }
                }
            }
        }
        let pairs = (MEMBERS * (MEMBERS - 1)) as f64 / 2.0;
        let total: f64 = self.counts.iter().sum();
        (empirical / (MEMBERS as f64 * total), diversity / (pairs * n as f64))
    }
}

#[test]
fn losses_are_what_they_are_defined_to_be_and_gradients_theirs() {
    for (heads, hidden) in [(1, 0), (1, 2), (1, 5), (4, 0), (3, 2)] {
        for loss in [Loss::Logistic, Loss::Squared, Loss::Hinge] {
            let problem = Problem::new(heads, hidden, loss);
            let weights: Vec<f64> = numbers(problem.n_weights(), 9).iter().map(|w| 1.5 * w).collect();
            for (on, n) in [(&problem.labeled, 70), (&problem.unlabeled, 90)] {
                let rows: &dyn Blocks = on;
                let (losses, gradient) = problem.evaluate(&weights, Some(rows));
                let (empirical, diversity) = problem.by_definition(&weights, on, n);
                assert!((losses.empirical - empirical).abs() < 1e-12, "{heads} {hidden}: {losses:?} {empirical}");
                assert!((losses.diversity - diversity).abs() < 1e-12, "{heads} {hidden}: {losses:?} {diversity}");
                for place in 0..weights.len() {
                    let at = |by: f64| {
                        let mut weights = weights.clone();
                        weights[place] += by;
                        problem.evaluate(&weights, Some(rows)).0.total
                    };
                    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let error = (gradient[place] - difference).abs();
                    assert!(error < 1e-8, "{heads} heads, {hidden} hidden, {loss:?}, weight {place}: {error}");
                }
            }
        }
    }
}

#[test]
fn sparse_rows_give_the_same_losses() {
    for (heads, hidden) in [(3, 0), (1, 4), (2, 3)] {
        let mut problem = Problem::new(heads, hidden, Loss::Logistic);
        let weights = numbers(problem.n_weights(), 4);
        let thin: Vec<f64> = numbers(90 * WIDTH, 7).iter().map(|&x| if x < 0.2 { 0.0 } else { x }).collect();
        problem.unlabeled = Dense::new(90, WIDTH, thin).unwrap();
        let sparse = Matrix::from(problem.unlabeled.clone()).to_sparse();
        let (dense, sparse) =
            (problem.evaluate(&weights, Some(&problem.unlabeled)), problem.evaluate(&weights, Some(&sparse)));
        assert!((dense.0.total - sparse.0.total).abs() < 1e-12);
        assert!(dense.1.iter().zip(&sparse.1).all(|(a, b)| (a - b).abs() < 1e-12), "{heads} {hidden}");
    }
}

/// Four corners, of which the opposite ones belong together.
#[test]
fn members_with_hidden_units_learn_what_no_line_tells_apart() {
    use udeed::data::{Labels, Table, TrainSet};
    use udeed::method::Udeed;

    let noise = numbers(400, 11);
    let corner = |i: usize| [(i % 2) as f64 + 0.2 * noise[2 * i], (i / 2 % 2) as f64 + 0.2 * noise[2 * i + 1]];
    let rows: Vec<[f64; 2]> = (0..200).map(corner).collect();
    let labels = Labels::new((0..200).map(|i| Some(if (i % 2) == (i / 2 % 2) { "same" } else { "other" })));
    let all = TrainSet::new(Table::from_rows(&rows).unwrap(), labels).unwrap();
    let train = all.clone().hide_labels(&(40..200).collect::<Vec<_>>());
    let accuracy = |settings: Udeed| {
        let model = settings.fit(&train).unwrap();
        assert_eq!(udeed::model::Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        model.evaluate(all.table(), all.labels()).unwrap().accuracy
    };
    let settings = Udeed::new().members(5).lambda(100.0);
    assert!(accuracy(settings.clone()) < 0.8);
    assert!(accuracy(settings.clone().hidden(6)) > 0.97);
    let threads = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let fit = || settings.clone().hidden(4).fit(&train).unwrap();
    assert_eq!(threads(1).install(fit), threads(3).install(fit));
}

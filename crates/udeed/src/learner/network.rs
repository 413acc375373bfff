//! Networks with one hidden layer: members whose score is not linear, but has a gradient all the same.

use pulp::Simd;
use serde_json::{Value, json};

use crate::data::{Blocks, Dense, Row, Rows, fill_rows};
use crate::error::Result;
use crate::kernel::{Real, Visit, dot, in_memory, pass};
use crate::learner::logistic::Problem;
use crate::learner::{Learned, Shape};
use crate::linalg::minimise;
use crate::random::Stream;
use crate::tensor::{Tensor, TensorReader, TensorWriter};

/// A network of two classes: `z(x) = sum_j v_j tanh(w_j.(x, 1) / 2) + v_0`, and the second class has probability
/// `1 / (1 + e^-z)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    hidden: usize,
    /// Those of each hidden unit, that of the constant feature last; then those of the score, its constant last.
    weights: Vec<f64>,
}

impl Network {
    /// Number of weights of a network.
    pub(crate) fn n_weights(n_features: usize, hidden: usize) -> usize {
        hidden * (n_features + 1) + hidden + 1
    }

    /// Takes the weights: of each hidden unit, that of the constant feature last, then of the score, its constant last.
    ///
    /// # Panics
    /// If their number does not fit that of the hidden units.
    pub fn new(hidden: usize, weights: Vec<f64>) -> Self {
        assert!(hidden > 0 && weights.len() > 2 * hidden && (weights.len() - hidden - 1).is_multiple_of(hidden));
        Network { hidden, weights }
    }

    /// All weights, as [`Network::new`] takes them.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weights of each hidden unit, and those of the score; the constant is the last of each.
    pub(crate) fn layers(&self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (units, output) = self.weights.split_at(self.weights.len() - self.hidden - 1);
        (units.chunks_exact(units.len() / self.hidden).map(<[f64]>::to_vec).collect(), output.to_vec())
    }

    fn score(&self, row: Row<'_>) -> f64 {
        let (units, output) = self.weights.split_at(self.weights.len() - self.hidden - 1);
        let unit = |weights: &[f64]| {
            let (features, constant) = weights.split_at(weights.len() - 1);
            (row.dot(features) + constant[0]).tanh_half()
        };
        let outputs = units.chunks_exact(units.len() / self.hidden).map(unit);
        output[self.hidden] + outputs.zip(output).map(|(u, v)| u * v).sum::<f64>()
    }

    /// Fits a network as logistic regression is fitted: minimises `1/2 |w|^2 + lambda sum_i s_i ln(1 + e^(-y_i z_i))` from
    /// random weights. The function is not convex: the minimum is a local one.
    pub(crate) fn fit(
        hidden: usize,
        lambda: f64,
        rows: &dyn Rows,
        targets: &[f64],
        counts: &[f64],
        stream: &mut Stream,
    ) -> Network {
        let weights = counts.iter().map(|count| lambda * count).collect();
        let problem = Problem { rows, targets, weights, width: rows.n_columns() + 1 };
        let found = minimise(random(hidden, rows.n_columns(), stream), MOST_STEPS, TOLERANCE, |at, gradient| {
            gradient.copy_from_slice(at);
            let lanes = to_lanes(&[at], hidden);
            let mut slopes = vec![0.0; lanes.len()];
            let losses = in_memory(walk(problem.rows, &lanes, (1, hidden), &mut slopes, &problem));
            let slopes = from_lanes(&slopes, 1, hidden);
            gradient.iter_mut().zip(&slopes[0]).for_each(|(to, slope)| *to += slope);
            0.5 * dot(at, at) + losses.iter().map(|part: &(f64, Vec<f64>)| part.0).sum::<f64>()
        });
        Network::new(hidden, found)
    }
}

impl Learned for Network {
    const NAME: &'static str = "network";

    fn n_classes(&self) -> usize {
        2
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        fill_rows(rows, self.n_classes(), |row, _, to| {
            to[1] = self.score(row).logistic();
            to[0] = 1.0 - to[1];
        })
    }

    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value {
        tensors.write("network", Tensor::vector(&self.weights));
        json!({ "hidden": self.hidden })
    }

    fn load(description: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        let hidden = usize::try_from(description.get("hidden")?.as_u64()?).ok()?;
        let weights = tensors.finite("network")?;
        let width = shape.n_features.checked_add(2)?;
        let fits = hidden > 0 && Some(weights.len()) == hidden.checked_mul(width)?.checked_add(1);
        fits.then(|| Network::new(hidden, weights))
    }
}

const MOST_STEPS: usize = 300;
const TOLERANCE: f64 = 1e-5;

/// Weights to begin with: uniform, so small that no unit is at its limit.
pub(crate) fn random(hidden: usize, n_features: usize, stream: &mut Stream) -> Vec<f64> {
    let n = Network::n_weights(n_features, hidden);
    let first = hidden * (n_features + 1);
    let scale = |place: usize| 4.0 / ((if place < first { n_features + 1 } else { hidden + 1 }) as f64).sqrt();
    (0..n).map(|place| scale(place) * (stream.unit() - 0.5)).collect()
}

/// The weights of several networks as the kernel wants them: feature by feature those of all hidden units, then the weights
/// of the scores.
pub(crate) fn to_lanes(networks: &[&[f64]], hidden: usize) -> Vec<f64> {
    let width = (networks[0].len() - hidden - 1) / hidden;
    let unit = |j: usize| networks.iter().flat_map(move |weights| (0..hidden).map(move |u| weights[u * width + j]));
    let first = (0..width).flat_map(unit);
    first.chain(networks.iter().flat_map(|weights| weights[hidden * width..].iter().copied())).collect()
}

/// The inverse of [`to_lanes`]: the weights of each network.
pub(crate) fn from_lanes(lanes: &[f64], networks: usize, hidden: usize) -> Vec<Vec<f64>> {
    let (first, outputs) = lanes.split_at(lanes.len() - networks * (hidden + 1));
    let units = networks * hidden;
    let network = |k: usize| {
        let unit = |u: usize| first.iter().skip(k * hidden + u).step_by(units).copied();
        (0..hidden).flat_map(unit).chain(outputs[k * (hidden + 1)..][..hidden + 1].iter().copied()).collect()
    };
    (0..networks).map(network).collect()
}

/// Passes over all rows with several networks, as [`pass()`] does with linear scores: `visitor` gets the scores of the
/// networks and writes the derivatives by them.
///
/// # Errors
/// If the rows cannot be read.
pub(crate) fn walk<T: Real, V: Visit<T>>(
    rows: &dyn Blocks,
    lanes: &[f64],
    (networks, hidden): (usize, usize),
    gradient: &mut [f64],
    visitor: &V,
) -> Result<Vec<V::Tally>> {
    let split = lanes.len() - networks * (hidden + 1);
    let (first, outputs) = lanes.split_at(split);
    let (to_first, to_outputs) = gradient.split_at_mut(split);
    let outputs: Vec<T> = outputs.iter().map(|&v| T::from_double(v)).collect();
    let chain = Chain { visitor, outputs: &outputs, networks, hidden };
    let parts = pass::<T, _>(rows, first, networks * hidden, Some(to_first), &chain)?;
    let add = |part: Tally<T, V::Tally>| {
        to_outputs.iter_mut().zip(&part.outputs).for_each(|(to, slope)| *to += slope);
        part.inner
    };
    Ok(parts.into_iter().map(add).collect())
}

/// The chain rule: what is done with the scores of networks, given those of their hidden units.
struct Chain<'a, T, V> {
    visitor: &'a V,
    outputs: &'a [T],
    networks: usize,
    hidden: usize,
}

/// What the visitor counts, the derivatives by the weights of the scores, and room for the scores of a row.
struct Tally<T, A> {
    inner: A,
    outputs: Vec<f64>,
    scores: Vec<T>,
}

impl<T, A: Default> Default for Tally<T, A> {
    fn default() -> Self {
        Tally { inner: A::default(), outputs: Vec::new(), scores: Vec::new() }
    }
}

impl<T: Real, V: Visit<T>> Visit<T> for Chain<'_, T, V> {
    type Tally = Tally<T, V::Tally>;

    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, tally: &mut Self::Tally, i: usize, units: &mut [T]) {
        let (h, n) = (self.hidden, self.networks);
        units.iter_mut().for_each(|a| *a = a.tanh_half());
        let Tally { inner, outputs, scores } = tally;
        outputs.resize(self.outputs.len(), 0.0);
        scores.clear();
        for (units, weights) in units[..n * h].chunks_exact(h).zip(self.outputs.chunks_exact(h + 1)) {
            let mut score = weights[h];
            units.iter().zip(weights).for_each(|(&u, &v)| score = u.times_plus(v, score));
            scores.push(score);
        }
        scores.resize(n.next_multiple_of(T::LANES), T::default());
        self.visitor.visit(simd, inner, i, scores);
        let [half, one] = [0.5, 1.0].map(T::from_double);
        let networks = units[..n * h].chunks_exact_mut(h).zip(self.outputs.chunks_exact(h + 1));
        for ((units, weights), (slopes, &r)) in networks.zip(outputs.chunks_exact_mut(h + 1).zip(&*scores)) {
            slopes[h] += r.to_double();
            for ((u, &v), slope) in units.iter_mut().zip(weights).zip(slopes) {
                *slope += (r * *u).to_double();
                *u = r * v * half * (one - *u * *u);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::random::Purpose;

    #[test]
    fn weights_survive_the_lanes() {
        let networks: Vec<Vec<f64>> =
            (0..3).map(|k| (0..Network::n_weights(4, 2)).map(|j| f64::from(100 * k + j as i32)).collect()).collect();
        let views: Vec<&[f64]> = networks.iter().map(Vec::as_slice).collect();
        assert_eq!(from_lanes(&to_lanes(&views, 2), 3, 2), networks);
    }

    #[test]
    fn a_network_learns_what_no_line_tells_apart() {
        let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let rows = Dense::new(4, 2, corners.concat()).unwrap();
        let targets = [-1.0, 1.0, 1.0, -1.0];
        for rows in [Matrix::from(rows.clone()), Matrix::from(rows).to_sparse().into()] {
            let mut stream = Stream::new(1, Purpose::RandomStart, 0);
            let network = Network::fit(6, 1000.0, rows.rows(), &targets, &[1.0; 4], &mut stream);
            for (i, target) in targets.iter().enumerate() {
                assert!(network.score(rows.rows().row(i)) * target > 1.0);
            }
        }
    }
}

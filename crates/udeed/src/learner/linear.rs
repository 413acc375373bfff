//! Linear hypotheses.

use serde_json::Value;

use crate::data::{Dense, Row, Rows, fill_rows};
use crate::error::Result;
use crate::kernel::{Real, map_rows};
use crate::learner::{Learned, Shape, n_heads, winner};
use crate::tensor::{Tensor, TensorReader, TensorWriter};

/// A linear score a head, as weights of the features, that of the constant one last: one head for two classes, which stands
/// for the second; for more a head for each class against the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    heads: Vec<Vec<f64>>,
}

impl Linear {
    /// Takes the weights of each head.
    ///
    /// # Panics
    /// If there is no head, or they differ in length.
    pub fn new(heads: Vec<Vec<f64>>) -> Self {
        assert!(heads.windows(2).all(|pair| pair[0].len() == pair[1].len()), "heads of different length");
        assert!(heads.first().is_some_and(|head| !head.is_empty()), "no head");
        Linear { heads }
    }

    /// The weights of each head.
    pub fn heads(&self) -> &[Vec<f64>] {
        &self.heads
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.heads.len().max(2)
    }

    /// Writes the probability of each class for a row.
    pub(crate) fn distribution(&self, row: Row<'_>, to: &mut [f64]) {
        let score = |head: &Vec<f64>| {
            let (features, constant) = head.split_at(head.len() - 1);
            row.dot(features) + constant[0]
        };
        if let [head] = self.heads.as_slice() {
            to[1] = score(head).logistic();
            to[0] = 1.0 - to[1];
            return;
        }
        to.iter_mut().zip(&self.heads).for_each(|(p, head)| *p = score(head).logistic());
        normalise(to);
    }

    /// Reads the heads of a tensor.
    pub(crate) fn read(name: &str, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        let heads = tensors.finite_rows(name, shape.n_features.checked_add(1)?)?;
        (heads.len() == n_heads(shape.n_classes)).then(|| Linear::new(heads))
    }
}

impl Learned for Linear {
    const NAME: &'static str = "linear";

    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        fill_rows(rows, self.n_classes(), |row, _, to| self.distribution(row, to))
    }

    fn classify(&self, rows: &dyn Rows) -> Result<Vec<u8>> {
        let heads = self.heads.len();
        // Feature by feature, as the kernel wants them.
        let weights: Vec<f64> =
            (0..self.heads[0].len()).flat_map(|j| self.heads.iter().map(move |head| head[j])).collect();
        map_rows(rows, &weights, heads, |scores| winner(&scores[..heads]) as u8)
    }

    fn heads(&self) -> Option<&[Vec<f64>]> {
        Some(&self.heads)
    }

    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value {
        tensors.write("linear", Tensor::rows(&self.heads));
        Value::Null
    }

    fn load(_: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        Linear::read("linear", tensors, shape)
    }
}

/// Divides probabilities or shares by their sum; makes them all alike where none is above 0.
pub(crate) fn normalise(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    let even = 1.0 / shares.len() as f64;
    shares.iter_mut().for_each(|share| *share = if sum > 0.0 { *share / sum } else { even });
}

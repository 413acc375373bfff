//! What base learners learned.

use crate::data::{Dense, Row, Rows, fill_rows};
use crate::kernel::in_memory;
use crate::learner::{Bayes, Linear, Neighbors, Network, Tree};
use crate::observer::Watch;

/// What a base learner learned: it gives each row a probability of each class.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Hypothesis {
    /// A linear score.
    Linear(Linear),
    /// A network with a hidden layer.
    Network(Network),
    /// A decision tree.
    Tree(Tree),
    /// Nearest neighbours.
    Neighbors(Neighbors),
    /// Naive Bayes.
    Bayes(Bayes),
    /// Something that looks at some of the features only.
    View {
        /// The features that it looks at.
        columns: Vec<usize>,
        /// What it makes of them.
        of: Box<Hypothesis>,
    },
}

impl Hypothesis {
    /// How many classes it tells apart.
    pub fn n_classes(&self) -> usize {
        match self {
            Hypothesis::Linear(linear) => linear.n_classes(),
            Hypothesis::Network(_) => 2,
            Hypothesis::Tree(tree) => tree.n_classes(),
            Hypothesis::Neighbors(neighbors) => neighbors.n_classes(),
            Hypothesis::Bayes(bayes) => bayes.n_classes(),
            Hypothesis::View { of, .. } => of.n_classes(),
        }
    }

    /// The weights of each score of a linear one, for all of `width` features, that of the constant feature last; features that
    /// it does not look at count nothing. None where it is something else.
    pub(crate) fn heads(&self, width: usize) -> Option<Vec<Vec<f64>>> {
        match self {
            Hypothesis::Linear(linear) => Some(linear.heads().to_vec()),
            Hypothesis::View { columns, of } => {
                let spread = |head: Vec<f64>| {
                    let mut all = vec![0.0; width + 1];
                    columns.iter().chain([&width]).zip(head).for_each(|(&column, weight)| all[column] = weight);
                    all
                };
                Some(of.heads(columns.len())?.into_iter().map(spread).collect())
            }
            _ => None,
        }
    }

    /// The probability of each class for a row. `scratch` is as long as the row is wide and all zero, before and after.
    pub(crate) fn distribution(&self, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]) {
        match self {
            Hypothesis::Linear(linear) => linear.distribution(row, to),
            Hypothesis::Network(network) => network.distribution(row, to),
            Hypothesis::Tree(tree) => tree.distribution(row, to),
            Hypothesis::Neighbors(neighbors) => neighbors.distribution(row, scratch, to),
            Hypothesis::Bayes(bayes) => bayes.distribution(row, scratch, to),
            Hypothesis::View { columns, of } => {
                row.copy_to(scratch);
                let seen: Vec<f64> = columns.iter().map(|&column| scratch[column]).collect();
                row.for_each(|j, _| scratch[j] = 0.0);
                of.distribution(Row::Dense(&seen), &mut vec![0.0; columns.len()], to);
            }
        }
    }

    /// The probability of each class for each row, one column a class.
    pub fn distributions(&self, rows: &dyn Rows) -> Dense {
        if let Hypothesis::Neighbors(neighbors) = self {
            return in_memory(neighbors.distributions(rows, &Watch::new(&mut ())));
        }
        in_memory(fill_rows(rows, self.n_classes(), |row, scratch, to| self.distribution(row, scratch, to)))
    }

    /// The class of each row: the most probable, of several the first; of two the second.
    pub fn classify(&self, rows: &dyn Rows) -> Vec<u8> {
        match self {
            Hypothesis::Linear(linear) => linear.classify(rows),
            _ => {
                let probabilities = self.distributions(rows);
                (0..rows.n_rows()).map(|i| likeliest(probabilities.get(i)) as u8).collect()
            }
        }
    }
}

/// The class that decisions stand for. A single one is about two classes, the second from 0 on; else the largest wins, of
/// several the first.
pub(crate) fn winner(decisions: &[f64]) -> usize {
    match decisions {
        [only] => usize::from(*only >= 0.0),
        many => (1..many.len()).fold(0, |best, class| if many[class] > many[best] { class } else { best }),
    }
}

/// The most probable class; of two that are as probable the second, as in every vote, of more the first.
pub(crate) fn likeliest(probabilities: &[f64]) -> usize {
    match probabilities {
        [first, second] => usize::from(second >= first),
        many => winner(many),
    }
}

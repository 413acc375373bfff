//! What base learners learned.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::data::{Dense, Row, Rows, fill_rows};
use crate::kernel::in_memory;
// All hypotheses of the list.
use crate::learner::*;
use crate::tensor::{TensorReader, TensorWriter};

/// What a base learner learned: its file says how it predicts, and how a model file holds it.
pub(crate) trait Learned: Sized {
    /// The name in model files.
    const NAME: &'static str;

    /// Number of classes.
    fn n_classes(&self) -> usize;

    /// Writes the probability of each class for a row. `scratch` is as long as the row is wide and all zero, before and after.
    fn distribution(&self, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]);

    /// The probability of each class for each row, one column a class.
    fn distributions(&self, rows: &dyn Rows) -> Dense
    where
        Self: Sync,
    {
        in_memory(fill_rows(rows, self.n_classes(), |row, scratch, to| self.distribution(row, scratch, to)))
    }

    /// The class of each row: see [`Hypothesis::classify`].
    fn classify(&self, rows: &dyn Rows) -> Vec<u8>
    where
        Self: Sync,
    {
        winners(&self.distributions(rows))
    }

    /// The weights of each head of a linear one.
    fn heads(&self) -> Option<&[Vec<f64>]> {
        None
    }

    /// Writes its tensors, and returns what a model file says of it besides: an object, or nothing.
    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value;

    /// Reads what [`Learned::store`] wrote; none where it does not fit together.
    fn load(description: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self>;
}

/// What a hypothesis of a model file must fit.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n_features: usize,
    pub(crate) n_classes: usize,
}

/// What a model file says of a hypothesis besides its tensors: the name, with what there is to say where there is something.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StoredHypothesis {
    Name(String),
    Described(Map<String, Value>),
}

impl StoredHypothesis {
    fn new(name: &str, description: Value) -> Self {
        match description {
            Value::Null => StoredHypothesis::Name(name.to_owned()),
            description => StoredHypothesis::Described(Map::from_iter([(name.to_owned(), description)])),
        }
    }

    fn into_parts(self) -> Option<(String, Value)> {
        match self {
            StoredHypothesis::Name(name) => Some((name, Value::Null)),
            StoredHypothesis::Described(of) if of.len() == 1 => of.into_iter().next(),
            StoredHypothesis::Described(_) => None,
        }
    }
}

/// The name of [`Hypothesis::View`] in model files.
const VIEW: &str = "view";

impl Hypothesis {
    /// The weights of each head of a linear one, for all of `width` features, that of the constant feature last; those of
    /// features outside its view are 0. None where it is not linear.
    pub(crate) fn heads(&self, width: usize) -> Option<Vec<Vec<f64>>> {
        let Hypothesis::View { columns, of } = self else { return Some(self.own_heads()?.to_vec()) };
        let spread = |head: Vec<f64>| {
            let mut all = vec![0.0; width + 1];
            columns.iter().chain([&width]).zip(head).for_each(|(&column, weight)| all[column] = weight);
            all
        };
        Some(of.heads(columns.len())?.into_iter().map(spread).collect())
    }

    /// Writes its tensors, and returns what a model file says of it besides.
    pub(crate) fn store(&self, tensors: &mut TensorWriter<'_>) -> StoredHypothesis {
        match self {
            Hypothesis::View { columns, of } => {
                let of = of.store(tensors);
                StoredHypothesis::new(VIEW, json!({ "columns": columns, "of": of }))
            }
            whole => whole.store_own(tensors),
        }
    }

    /// Reads what [`Hypothesis::store`] wrote; none where it does not fit together.
    pub(crate) fn load(stored: StoredHypothesis, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        #[derive(Deserialize)]
        struct View {
            columns: Vec<usize>,
            of: StoredHypothesis,
        }
        let (name, description) = stored.into_parts()?;
        if name != VIEW {
            return Hypothesis::load_own(&name, description, tensors, shape);
        }
        let View { columns, of } = serde_json::from_value(description).ok()?;
        if columns.is_empty() || columns.iter().any(|&column| column >= shape.n_features) {
            return None;
        }
        let seen = Shape { n_features: columns.len(), ..shape };
        Some(Hypothesis::View { of: Box::new(Hypothesis::load(of, tensors, seen)?), columns })
    }
}

/// Writes the probabilities that a hypothesis gives a row of which it sees some columns only.
fn distribution_in_view(columns: &[usize], of: &Hypothesis, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]) {
    row.copy_to(scratch);
    let seen: Vec<f64> = columns.iter().map(|&column| scratch[column]).collect();
    row.for_each(|j, _| scratch[j] = 0.0);
    of.distribution(Row::Dense(&seen), &mut vec![0.0; columns.len()], to);
}

/// The most probable class of each row.
fn winners(probabilities: &Dense) -> Vec<u8> {
    (0..probabilities.n_rows()).map(|i| winner(probabilities.get(i)) as u8).collect()
}

/// Makes [`Hypothesis`] of the list.
macro_rules! hypotheses {
    (
        bases { $($base:ident $(($settings:ident))? $(= $plain:ident)? => $learned:ident;)+ }
        others { $($other:ident;)* }
    ) => {
        hypotheses! { $($learned)+ $($other)* }
    };
    ($($kind:ident)+) => {
        /// What a base learner learned: it gives each row a probability of each class.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Hypothesis {
            $(
                #[doc = concat!("[`", stringify!($kind), "`](crate::learner::", stringify!($kind), ").")]
                $kind($kind),
            )+
            /// A hypothesis about some of the features.
            View {
                /// The features that it sees.
                columns: Vec<usize>,
                /// The hypothesis about them.
                of: Box<Hypothesis>,
            },
        }

        impl Hypothesis {
            /// Number of classes.
            pub fn n_classes(&self) -> usize {
                match self {
                    $(Hypothesis::$kind(of) => Learned::n_classes(of),)+
                    Hypothesis::View { of, .. } => of.n_classes(),
                }
            }

            /// Writes the probability of each class for a row. `scratch` is as long as the row is wide and all zero, before and
            /// after.
            pub(crate) fn distribution(&self, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]) {
                match self {
                    $(Hypothesis::$kind(learned) => Learned::distribution(learned, row, scratch, to),)+
                    Hypothesis::View { columns, of } => distribution_in_view(columns, of, row, scratch, to),
                }
            }

            /// The probability of each class for each row, one column a class.
            pub fn distributions(&self, rows: &dyn Rows) -> Dense {
                match self {
                    $(Hypothesis::$kind(of) => Learned::distributions(of, rows),)+
                    Hypothesis::View { .. } => in_memory(fill_rows(rows, self.n_classes(), |row, scratch, to| {
                        self.distribution(row, scratch, to);
                    })),
                }
            }

            /// The class of each row: the most probable, of several the first.
            pub fn classify(&self, rows: &dyn Rows) -> Vec<u8> {
                match self {
                    $(Hypothesis::$kind(of) => Learned::classify(of, rows),)+
                    Hypothesis::View { .. } => winners(&self.distributions(rows)),
                }
            }

            fn own_heads(&self) -> Option<&[Vec<f64>]> {
                match self {
                    $(Hypothesis::$kind(of) => Learned::heads(of),)+
                    Hypothesis::View { .. } => None,
                }
            }

            fn store_own(&self, tensors: &mut TensorWriter<'_>) -> StoredHypothesis {
                match self {
                    $(Hypothesis::$kind(of) => {
                        StoredHypothesis::new(<$kind as Learned>::NAME, Learned::store(of, tensors))
                    })+
                    Hypothesis::View { of, .. } => of.store(tensors),
                }
            }

            fn load_own(name: &str, description: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
                match name {
                    $(<$kind as Learned>::NAME => Learned::load(description, tensors, shape).map(Hypothesis::$kind),)+
                    _ => None,
                }
            }
        }
    };
}

with_learners!(hypotheses);

/// The class of decisions or probabilities. A single decision is about two classes, the second above 0; else the largest wins.
/// A tie is the first class, as in scikit-learn.
pub(crate) fn winner(decisions: &[f64]) -> usize {
    match decisions {
        [only] => usize::from(*only > 0.0),
        many => (1..many.len()).fold(0, |best, class| if many[class] > many[best] { class } else { best }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_the_first_class() {
        assert_eq!([winner(&[0.0]), winner(&[1e-9]), winner(&[-1e-9])], [0, 1, 0]);
        assert_eq!([winner(&[0.5, 0.5]), winner(&[0.2, 0.4, 0.4])], [0, 1]);
    }
}

//! What base learners learned.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::data::{Dense, Matrix, Rows};
use crate::error::Result;
// All hypotheses of the list.
use crate::learner::*;
use crate::tensor::{TensorReader, TensorWriter};

/// A hypothesis: the result of a base learner, whose file says how it predicts and how a model file holds it.
pub(crate) trait Learned: Sized {
    /// The name in model files.
    const NAME: &'static str;

    /// Number of classes.
    fn n_classes(&self) -> usize;

    /// The probability of each class for each row, one column a class.
    fn distributions(&self, rows: &dyn Rows) -> Result<Dense>;

    /// The class of each row: see [`Hypothesis::classify`].
    fn classify(&self, rows: &dyn Rows) -> Result<Vec<u8>> {
        Ok(winners(&self.distributions(rows)?))
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

/// Dimensions that a hypothesis of a model file must fit.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) n_features: usize,
    pub(crate) n_classes: usize,
}

/// Description of a hypothesis in a model file, besides its tensors: its name, and its data where it has any.
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
    /// Wraps the hypothesis of a learner from outside the library, for a number of classes.
    pub fn foreign(n_classes: usize, predictor: impl Predict) -> Self {
        Hypothesis::Foreign(Foreign::new(n_classes, Arc::new(predictor)))
    }

    /// The hypothesis of a learner from outside the library, if it is one.
    pub(crate) fn as_foreign(&self) -> Option<&Foreign> {
        match self {
            Hypothesis::Foreign(foreign) => Some(foreign),
            Hypothesis::View { of, .. } => of.as_foreign(),
            _ => None,
        }
    }

    /// As [`Hypothesis::as_foreign`], to change it.
    pub(crate) fn foreign_mut(&mut self) -> Option<&mut Foreign> {
        match self {
            Hypothesis::Foreign(foreign) => Some(foreign),
            Hypothesis::View { of, .. } => of.foreign_mut(),
            _ => None,
        }
    }

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

    /// The importance of each of `width` features for a tree, see [`Tree::feature_importances`]; 0 outside its view. None of others.
    pub(crate) fn feature_importances(&self, width: usize) -> Option<Vec<f64>> {
        match self {
            Hypothesis::Tree(tree) => tree.feature_importances(),
            Hypothesis::View { columns, of } => {
                let (mut all, own) = (vec![0.0; width], of.feature_importances(columns.len())?);
                columns.iter().zip(own).for_each(|(&column, own)| all[column] = own);
                Some(all)
            }
            _ => None,
        }
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

/// Some columns of rows.
fn seen(columns: &[usize], rows: &dyn Rows) -> Result<Matrix> {
    Matrix::gather(rows, &(0..rows.n_rows()).collect::<Vec<usize>>()).columns(columns)
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
        ///
        /// That of a learner of your own is [`Hypothesis::foreign`].
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Hypothesis {
            $(
                #[doc(hidden)]
                $kind($kind),
            )+
            /// A hypothesis about some of the features.
            #[doc(hidden)]
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

            /// The probability of each class for each row, one column a class.
            ///
            /// # Errors
            /// If they do not fit into memory, or a learner from outside the library fails.
            pub fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
                match self {
                    $(Hypothesis::$kind(of) => Learned::distributions(of, rows),)+
                    Hypothesis::View { columns, of } => of.distributions(seen(columns, rows)?.rows()),
                }
            }

            /// The class of each row: the most probable, of several the first.
            ///
            /// # Errors
            /// As [`Hypothesis::distributions`].
            pub fn classify(&self, rows: &dyn Rows) -> Result<Vec<u8>> {
                match self {
                    $(Hypothesis::$kind(of) => Learned::classify(of, rows),)+
                    Hypothesis::View { columns, of } => of.classify(seen(columns, rows)?.rows()),
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

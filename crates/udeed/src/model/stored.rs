//! Ensembles as tensors: what a model file holds of them, and how it is read back.

use std::collections::BTreeMap;

use ::safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::data::{Csr, Dense, Matrix, Rows};
use crate::ensemble::{Ensemble, Members, Part, Rule, Vote, Voters};
use crate::learner::{Bayes, Hypothesis, Linear, Neighbors, Network, Tree, n_heads};
use crate::model::safetensors::Tensor;
use crate::model::stored_maps;
use crate::model::stored_maps::StoredMap;

/// The parts of each ensemble that is not just linear members of two classes.
pub(super) type Parts = BTreeMap<String, Vec<StoredPart>>;

/// What is not numbers of a part.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPart {
    rule: StoredRule,
    /// What each member is; none where all are linear and stand in one tensor.
    members: Option<Vec<Shape>>,
    /// The maps that linear members look through, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maps: Option<Vec<StoredMap>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredRule {
    Weighted,
    Unweighted,
    Product,
    Stacked,
}

/// What a member is, besides its numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Linear,
    Network { hidden: usize },
    Tree,
    Neighbors { k: usize },
    Bayes,
    View { columns: Vec<usize>, of: Box<Shape> },
}

/// Tensors with their names.
pub(super) type Named = Vec<(String, Tensor)>;

/// How a part whose members are linear and vote is known in files of the first format: by these names alone.
pub(super) fn plain(ensemble: &Ensemble) -> Option<(&Members, &[f64], Vote)> {
    let [part] = ensemble.parts.as_slice() else { return None };
    let Voters::Linear(members) = &part.members else { return None };
    (ensemble.n_classes() == 2).then_some(())?;
    Some((members, &part.weights, part.rule.vote()?))
}

/// Writes an ensemble under a name.
pub(super) fn write(name: &str, ensemble: &Ensemble, tensors: &mut Named) -> Vec<StoredPart> {
    let mut write_part = |(place, part): (usize, &Part)| {
        let prefix = format!("{name}.{place}");
        tensors.push((format!("{prefix}.weights"), Tensor::vector(&part.weights)));
        let rule = match &part.rule {
            Rule::Weighted => StoredRule::Weighted,
            Rule::Unweighted => StoredRule::Unweighted,
            Rule::Product => StoredRule::Product,
            Rule::Stacked(last) => {
                tensors.push((format!("{prefix}.stacked"), Tensor::rows(last.heads())));
                StoredRule::Stacked
            }
        };
        let mut maps = None;
        let members = match &part.members {
            Voters::Mapped(members) => {
                maps = Some(stored_maps::write(&prefix, members, tensors));
                None
            }
            Voters::Linear(members) => {
                tensors.push((format!("{prefix}.members"), Tensor::members(members)));
                None
            }
            Voters::Any(members) => {
                let shape = |(k, member): (usize, &Hypothesis)| write_member(&format!("{prefix}.{k}"), member, tensors);
                Some(members.iter().enumerate().map(shape).collect())
            }
        };
        StoredPart { rule, members, maps }
    };
    ensemble.parts.iter().enumerate().map(&mut write_part).collect()
}

fn write_member(prefix: &str, member: &Hypothesis, tensors: &mut Named) -> Shape {
    match member {
        Hypothesis::Linear(linear) => {
            tensors.push((format!("{prefix}.linear"), Tensor::rows(linear.heads())));
            Shape::Linear
        }
        Hypothesis::Network(network) => {
            tensors.push((format!("{prefix}.network"), Tensor::vector(network.weights())));
            Shape::Network { hidden: network.hidden() }
        }
        Hypothesis::Tree(tree) => {
            let words = |words: &[u32]| Tensor::integers(words.iter().map(|&word| u64::from(word)));
            tensors.push((format!("{prefix}.features"), words(tree.features())));
            tensors.push((format!("{prefix}.thresholds"), Tensor::vector(tree.thresholds())));
            tensors.push((format!("{prefix}.left"), words(tree.left())));
            tensors.push((format!("{prefix}.right"), words(tree.right())));
            tensors.push((format!("{prefix}.shares"), Tensor::vector(tree.distributions())));
            Shape::Tree
        }
        Hypothesis::Neighbors(neighbors) => {
            write_rows(&format!("{prefix}.rows"), neighbors.rows(), tensors);
            let classes = neighbors.classes().iter().map(|&class| u64::from(class));
            tensors.push((format!("{prefix}.classes"), Tensor::integers(classes)));
            tensors.push((format!("{prefix}.weights"), Tensor::vector(neighbors.weights())));
            Shape::Neighbors { k: neighbors.k() }
        }
        Hypothesis::Bayes(bayes) => {
            tensors.push((format!("{prefix}.priors"), Tensor::vector(bayes.priors())));
            tensors.push((format!("{prefix}.means"), Tensor::vector(bayes.means())));
            tensors.push((format!("{prefix}.variances"), Tensor::vector(bayes.variances())));
            Shape::Bayes
        }
        Hypothesis::View { columns, of } => {
            Shape::View { columns: columns.clone(), of: Box::new(write_member(prefix, of, tensors)) }
        }
    }
}

/// Rows in their layout: sparse ones with where each begins, and the columns of their values.
fn write_rows(prefix: &str, rows: &Matrix, tensors: &mut Named) {
    match rows {
        Matrix::Dense(rows) => tensors.push((prefix.to_owned(), Tensor::vector(rows.values()))),
        Matrix::Sparse(rows) => {
            let (starts, columns, values) = rows.parts();
            let starts = starts.iter().map(|&start| start as u64);
            let columns = columns.iter().map(|&column| u64::from(column));
            tensors.push((format!("{prefix}.starts"), Tensor::integers(starts)));
            tensors.push((format!("{prefix}.columns"), Tensor::integers(columns)));
            tensors.push((prefix.to_owned(), Tensor::vector(values)));
        }
    }
}

/// The tensors of a file, and what its members must fit.
pub(super) struct Stored<'a> {
    pub(super) tensors: &'a SafeTensors<'a>,
    pub(super) n_classes: usize,
    /// How many features there are.
    pub(super) n_features: usize,
}

impl Stored<'_> {
    /// Reads what [`write()`] wrote; none where it does not fit together.
    pub(super) fn ensemble(&self, name: &str, parts: Vec<StoredPart>) -> Option<Ensemble> {
        let whole = parts.len() == 1;
        if !whole && parts.len() != self.n_classes {
            return None;
        }
        let n_classes = if whole { self.n_classes } else { 2 };
        let read = |(place, part): (usize, StoredPart)| self.part(&format!("{name}.{place}"), part, n_classes);
        let parts: Option<Vec<Part>> = parts.into_iter().enumerate().map(read).collect();
        let parts = parts.filter(|parts| whole || !parts.iter().any(|part| matches!(part.members, Voters::Mapped(_))));
        Some(Ensemble::of_parts(self.n_classes, parts?))
    }

    fn part(&self, prefix: &str, stored: StoredPart, n_classes: usize) -> Option<Part> {
        let members = match stored.members {
            None if stored.maps.is_some() => {
                Voters::Mapped(self.mapped(prefix, stored.maps.as_deref().unwrap_or_default(), n_classes)?)
            }
            None => Voters::Linear(self.members(&format!("{prefix}.members"))?),
            Some(shapes) => {
                let read = |(k, shape)| self.member(&format!("{prefix}.{k}"), shape, self.n_features, n_classes);
                Voters::Any(shapes.into_iter().enumerate().map(read).collect::<Option<_>>()?)
            }
        };
        let rule = match stored.rule {
            StoredRule::Weighted => Rule::Weighted,
            StoredRule::Unweighted => Rule::Unweighted,
            StoredRule::Product => Rule::Product,
            StoredRule::Stacked => {
                let seen = members.len().checked_mul(n_heads(n_classes))?;
                Rule::Stacked(self.linear(&format!("{prefix}.stacked"), seen, n_classes)?)
            }
        };
        let fits = match &members {
            Voters::Linear(_) => n_classes == 2,
            Voters::Mapped(_) => rule == Rule::Weighted,
            Voters::Any(members) => members.iter().all(|member| member.n_classes() == n_classes),
        };
        let weights = self.vector(&format!("{prefix}.weights"))?;
        let sound = fits && is_sound(&weights, members.len());
        sound.then_some(Part { members, weights, rule })
    }

    fn member(&self, prefix: &str, shape: Shape, n_features: usize, n_classes: usize) -> Option<Hypothesis> {
        Some(match shape {
            Shape::Linear => Hypothesis::Linear(self.linear(&format!("{prefix}.linear"), n_features, n_classes)?),
            Shape::Network { hidden } => {
                let weights = self.finite(&format!("{prefix}.network"))?;
                let width = n_features.checked_add(2)?;
                let fits = hidden > 0 && Some(weights.len()) == hidden.checked_mul(width)?.checked_add(1);
                Hypothesis::Network(fits.then(|| Network::new(hidden, weights))?)
            }
            Shape::Tree => {
                let [features, left, right] =
                    ["features", "left", "right"].map(|part| self.integers(&format!("{prefix}.{part}")));
                let (features, left, right) = (features?, left?, right?);
                let thresholds = self.vector(&format!("{prefix}.thresholds"))?;
                let shares = self.vector(&format!("{prefix}.shares"))?;
                Hypothesis::Tree(Tree::from_parts(
                    n_features,
                    n_classes,
                    (features, thresholds),
                    (left, right),
                    shares,
                )?)
            }
            Shape::Neighbors { k } => {
                let classes: Vec<u8> = self.integers(&format!("{prefix}.classes"))?;
                let rows = self.rows(&format!("{prefix}.rows"), classes.len(), n_features)?;
                let weights = self.vector(&format!("{prefix}.weights"))?;
                Hypothesis::Neighbors(Neighbors::from_parts(k, n_classes, rows, classes, weights)?)
            }
            Shape::Bayes => {
                let [priors, means, variances] =
                    ["priors", "means", "variances"].map(|part| self.vector(&format!("{prefix}.{part}")));
                let bayes = Bayes::from_parts(priors?, means?, variances?)?;
                let fits =
                    bayes.n_classes() == n_classes && Some(bayes.means().len()) == n_classes.checked_mul(n_features);
                Hypothesis::Bayes(fits.then_some(bayes)?)
            }
            Shape::View { columns, of } => {
                if columns.is_empty() || columns.iter().any(|&column| column >= n_features) {
                    return None;
                }
                let of = Box::new(self.member(prefix, *of, columns.len(), n_classes)?);
                Hypothesis::View { columns, of }
            }
        })
    }

    fn linear(&self, name: &str, n_features: usize, n_classes: usize) -> Option<Linear> {
        let (values, heads) = (self.finite(name)?, n_heads(n_classes));
        let width = n_features.checked_add(1)?;
        (values.len() == heads.checked_mul(width)?)
            .then(|| Linear::new(values.chunks(width).map(<[f64]>::to_vec).collect()))
    }

    /// Linear members of two classes.
    pub(super) fn members(&self, name: &str) -> Option<Members> {
        let (values, width) = (self.finite(name)?, self.n_features.checked_add(1)?);
        let whole = !values.is_empty() && values.len() % width == 0;
        let rows: Vec<Vec<f64>> = whole.then(|| values.chunks(width).map(<[f64]>::to_vec).collect())?;
        Some(Members::from_rows(&rows))
    }

    fn rows(&self, name: &str, n_rows: usize, n_columns: usize) -> Option<Matrix> {
        let values = self.finite(name)?;
        let Some(starts) = self.integers(&format!("{name}.starts")) else {
            return Some(Dense::new(n_rows, n_columns, values).ok()?.into());
        };
        let rows = Csr::new(n_columns, starts, self.integers(&format!("{name}.columns"))?, values).ok()?;
        (rows.n_rows() == n_rows).then(|| rows.into())
    }

    fn integers<T: TryFrom<u64>>(&self, name: &str) -> Option<Vec<T>> {
        let tensor = self.tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == Dtype::U64)?;
        let integer = |bytes: &[u8; 8]| T::try_from(u64::from_le_bytes(*bytes)).ok();
        tensor.data().as_chunks().0.iter().map(integer).collect()
    }

    pub(super) fn finite(&self, name: &str) -> Option<Vec<f64>> {
        self.vector(name).filter(|values| values.iter().all(|x| x.is_finite()))
    }

    pub(super) fn vector(&self, name: &str) -> Option<Vec<f64>> {
        vector(self.tensors, name)
    }
}

pub(super) fn vector(tensors: &SafeTensors<'_>, name: &str) -> Option<Vec<f64>> {
    let tensor = tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == Dtype::F64)?;
    Some(tensor.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}

/// Whether these can be what the voices of so many members count.
pub(super) fn is_sound(weights: &[f64], members: usize) -> bool {
    weights.len() == members && members > 0 && weights.iter().all(|weight| weight.is_finite() && *weight > 0.0)
}

//! The description of a model, everything in its file but numbers, as JSON; how a model is taken apart into it and tensors, and
//! put together again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Column, Naming, TrainSet};
use crate::ensemble::held_out::OwnVotes;
use crate::ensemble::{Rule, Vote};
use crate::learner::{Shape, StoredHypothesis};
use crate::method::Method;
use crate::model::{KeptRows, Model, Training, tensors};
use crate::prepare::{FourierMap, Preparation, Scaling};
use crate::tensor::{Tensor, TensorReader, TensorWriter};
use crate::view::Decay;

/// The version of the file format. Files of other versions are refused.
pub(super) const FORMAT: u32 = 2;
/// The two tensors of a Fourier feature map, where there is one.
const FREQUENCIES: &str = "fourier.frequencies";
const PHASES: &str = "fourier.phases";
/// The tensors of held-out votes, where there are any.
const HELD_OUT: &str = "held_out";
/// The tensors of what became of the training rows, where that is kept.
const ROWS: &str = "rows";

/// The description of a model.
#[derive(Serialize, Deserialize)]
pub(super) struct Description {
    format: u32,
    written_by: String,
    classes: Vec<String>,
    label: Option<String>,
    columns: Vec<Column>,
    naming: Naming,
    scaling: Scaling,
    sparse: bool,
    settings: Method,
    /// Not read: the rule of each part says how its members vote.
    vote: Vote,
    training: Training,
    /// The decision threshold.
    #[serde(default, skip_serializing_if = "is_zero")]
    threshold: f64,
    /// The parts of each ensemble, by its name.
    ensembles: BTreeMap<String, Vec<StoredPart>>,
}

impl Description {
    /// The description of a model, and its tensors.
    pub(super) fn of(model: &Model) -> (Self, Vec<(String, Tensor)>) {
        let preparation = &model.preparation;
        let mut tensors = preparation_tensors(preparation);
        let mut all = vec![("ensemble", &model.ensemble), ("logistic", &model.logistic)];
        all.extend(model.initial.as_ref().map(|initial| ("initial", initial)));
        let write = |(name, of): (&str, _)| {
            (name.to_owned(), tensors::write_ensemble(of, &mut TensorWriter::new(name, &mut tensors)))
        };
        let description = Description {
            format: FORMAT,
            written_by: concat!("udeed ", env!("CARGO_PKG_VERSION")).into(),
            classes: model.classes.clone(),
            label: model.label.clone(),
            columns: preparation.columns.to_vec(),
            naming: preparation.naming,
            scaling: preparation.scaling,
            sparse: preparation.sparse,
            settings: model.method.clone(),
            vote: Vote::Weighted,
            training: model.training.clone(),
            threshold: model.threshold,
            ensembles: all.into_iter().map(write).collect(),
        };
        if let Some(held_out) = &model.held_out {
            held_out.store(&mut TensorWriter::new(HELD_OUT, &mut tensors));
        }
        if let Some(kept) = &model.kept_rows {
            kept.store(&mut TensorWriter::new(ROWS, &mut tensors));
        }
        (description, tensors)
    }

    /// Puts a model together and checks that its parts fit.
    pub(super) fn model(self, tensors: &TensorReader<'_>) -> Option<Model> {
        let preparation = Preparation {
            columns: self.columns.into(),
            naming: self.naming,
            scaling: self.scaling,
            sparse: self.sparse,
            fill: tensors.vector("fill")?,
            shift: tensors.vector("shift")?,
            factor: tensors.vector("factor")?,
            fourier: match tensors.has(PHASES) {
                true => Some(FourierMap::from_parts(tensors.vector(FREQUENCIES)?, &tensors.vector(PHASES)?)),
                false => None,
            },
        };
        let shape = Shape { n_features: preparation.n_features(), n_classes: self.classes.len() };
        let read = |name: &str, parts: Vec<StoredPart>| tensors::read_ensemble(parts, &tensors.within(name), shape);
        let mut ensembles = self.ensembles;
        let initial = match ensembles.remove("initial") {
            Some(parts) => Some(read("initial", parts)?),
            None => None,
        };
        let stored = tensors.within(HELD_OUT);
        let held_out = match OwnVotes::is_stored(&stored) {
            true => Some(OwnVotes::load(&stored, shape.n_classes)?),
            false => None,
        };
        let stored = tensors.within(ROWS);
        let kept_rows = match KeptRows::is_stored(&stored) {
            true => Some(KeptRows::load(&stored, shape.n_classes)?),
            false => None,
        };
        let model = Model {
            ensemble: read("ensemble", ensembles.remove("ensemble")?)?,
            initial,
            logistic: read("logistic", ensembles.remove("logistic")?)?,
            preparation,
            classes: self.classes,
            label: self.label,
            method: self.settings,
            training: self.training,
            threshold: self.threshold,
            held_out,
            kept_rows,
        };
        is_sound(&model).then_some(model)
    }
}

/// Whether a model that was read makes sense as a whole.
fn is_sound(model: &Model) -> bool {
    model.preparation.is_sound()
        && (2..=TrainSet::MOST_CLASSES).contains(&model.classes.len())
        && model.method.validate().is_ok()
        && (-1.0..=1.0).contains(&model.threshold)
        && (model.threshold == 0.0 || model.classes.len() == 2)
        && model.preparation.fourier().map_or(0, FourierMap::n_features) == model.method.shared().fourier
        && model.logistic.n_members() == 1
        && model.kept_rows.as_ref().is_none_or(|kept| kept.fits(model))
}

fn preparation_tensors(preparation: &Preparation) -> Vec<(String, Tensor)> {
    let mut tensors = vec![
        ("factor".to_owned(), Tensor::vector(&preparation.factor)),
        ("fill".to_owned(), Tensor::vector(&preparation.fill)),
        ("shift".to_owned(), Tensor::vector(&preparation.shift)),
    ];
    if let Some(map) = &preparation.fourier {
        let shape = vec![preparation.factor.len(), map.n_features()];
        tensors.push((FREQUENCIES.to_owned(), Tensor { shape, ..Tensor::vector(map.frequencies()) }));
        tensors.push((PHASES.to_owned(), Tensor::vector(map.phases())));
    }
    tensors
}

fn is_zero(threshold: &f64) -> bool {
    *threshold == 0.0
}

/// Read before the rest: another version may have another rest.
#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) format: u32,
}

/// A part of an ensemble.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPart {
    pub(super) rule: StoredRule,
    /// Descriptions of the members; none where all are linear and share one tensor.
    pub(super) members: Option<Vec<StoredHypothesis>>,
    /// The kinds of members, where they are of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<Vec<StoredGroup>>,
}

/// How the members of a part are combined.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredRule {
    Weighted,
    Unweighted,
    Product,
    Shifted,
    Stacked,
}

impl From<&Rule> for StoredRule {
    fn from(rule: &Rule) -> Self {
        match rule {
            Rule::Weighted => StoredRule::Weighted,
            Rule::Unweighted => StoredRule::Unweighted,
            Rule::Product => StoredRule::Product,
            Rule::Shifted(_) => StoredRule::Shifted,
            Rule::Stacked(_) => StoredRule::Stacked,
        }
    }
}

/// Members of a kind: trees, or linear ones after a feature map.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StoredGroup {
    Plain,
    Kernel { decay: Decay, ranks: bool },
    Spectral { neighbors: usize },
    Trees,
}

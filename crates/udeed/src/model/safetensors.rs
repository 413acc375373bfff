//! The model as one safetensors file.
//!
//! Weights and the numbers of the preparation are tensors; everything else is JSON in the file's metadata under the key
//! `udeed`, a single key, so that the same model always makes the same bytes. The last tensor, and so the last four bytes
//! of the file, is a checksum of everything before it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use ::safetensors::{Dtype, SafeTensors, View, serialize};
use flate2::Crc;
use serde::{Deserialize, Serialize};

use crate::data::{Column, Dense, Naming, Rows, TrainSet};
use crate::ensemble::{Ensemble, Members, Part, Vote};
use crate::error::{Error, Result};
use crate::file::write_file;
use crate::method::Method;
use crate::model::Model;
use crate::model::Training;
use crate::model::stored;
use crate::model::stored::{Named, Parts, Stored};
use crate::prepare::{FourierMap, Preparation, Scaling};

/// The version of the file format that this crate writes. Older ones are read, newer ones refused. What the first version
/// can hold, linear members of two classes, is still written in it.
const FORMAT: u32 = 2;
/// What stands for the file of a model that is in none.
const IN_MEMORY: &str = "the model in memory";
const KEY: &str = "udeed";
/// The two tensors of a Fourier feature map, where there is one.
const FREQUENCIES: &str = "fourier.frequencies";
const PHASES: &str = "fourier.phases";
const CHECKSUM: &str = "checksum";
const CHECKSUM_LENGTH: usize = size_of::<u32>();

#[derive(Serialize, Deserialize)]
struct Description {
    format: u32,
    written_by: String,
    classes: Vec<String>,
    label: Option<String>,
    columns: Vec<Column>,
    naming: Naming,
    scaling: Scaling,
    sparse: bool,
    settings: Method,
    vote: Vote,
    training: Training,
    /// Of the second version.
    #[serde(default, skip_serializing_if = "is_zero")]
    threshold: f64,
    /// The ensembles of the second version.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    ensembles: Parts,
}

fn is_zero(threshold: &f64) -> bool {
    *threshold == 0.0
}

/// Read before the rest: a newer format may have another rest.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

impl Model {
    /// Writes the model into a file, whole or not at all. The same model always makes the same bytes.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = self.bytes(path)?;
        write_file(path, |file| file.write_all(&bytes))
    }

    /// Reads a model that [`Model::save`] wrote.
    ///
    /// # Errors
    /// If the file cannot be read, or is truncated, damaged, of a newer version, or something else.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("notes.txt");
    /// std::fs::write(&path, "not a model").unwrap();
    /// let error = udeed::Model::load(&path).unwrap_err();
    /// assert!(error.to_string().ends_with("expected a model written by `udeed fit`"));
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| Error::io(path, "read", error))?;
        Model::read(&bytes, path)
    }

    /// What [`Model::save`] writes, in memory.
    ///
    /// # Errors
    /// If the model cannot be written.
    ///
    /// ```
    /// use udeed::{Bagging, Model, built_in};
    ///
    /// let model = Bagging::new().fit(&built_in("labor")?.read()?.into_train()?)?;
    /// assert_eq!(Model::from_bytes(&model.to_bytes()?)?, model);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.bytes(Path::new(IN_MEMORY))
    }

    /// Reads what [`Model::to_bytes`] made.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        Model::read(bytes, Path::new(IN_MEMORY))
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let preparation = &self.preparation;
        let mut tensors: Named = vec![
            ("factor".to_owned(), Tensor::vector(&preparation.factor)),
            ("fill".to_owned(), Tensor::vector(&preparation.fill)),
            ("shift".to_owned(), Tensor::vector(&preparation.shift)),
        ];
        if let Some(map) = &preparation.fourier {
            let shape = vec![preparation.factor.len(), map.n_features()];
            tensors.push((FREQUENCIES.to_owned(), Tensor { shape, ..Tensor::vector(map.frequencies()) }));
            tensors.push((PHASES.to_owned(), Tensor::vector(map.phases())));
        }
        let (vote, ensembles) = self.write_ensembles(&mut tensors);
        let description = Description {
            format: if ensembles.is_empty() && self.is_first_format() { 1 } else { FORMAT },
            written_by: concat!("udeed ", env!("CARGO_PKG_VERSION")).into(),
            classes: self.classes.clone(),
            label: self.label.clone(),
            columns: preparation.columns.to_vec(),
            naming: preparation.naming,
            scaling: preparation.scaling,
            sparse: preparation.sparse,
            settings: self.method.clone(),
            vote,
            training: self.training.clone(),
            threshold: self.threshold,
            ensembles,
        };
        let refused = |error: String| Error::model(path, error, "a model that can be written");
        let text = serde_json::to_string(&description).map_err(|error| refused(error.to_string()))?;
        tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
        tensors.push((CHECKSUM.to_owned(), Tensor::checksum()));
        let metadata = HashMap::from([(KEY.to_owned(), text)]);
        let mut bytes = serialize(tensors, Some(metadata)).map_err(|error| refused(error.to_string()))?;
        let body = bytes.len() - CHECKSUM_LENGTH;
        let sum = checksum(&bytes[..body]);
        bytes[body..].copy_from_slice(&sum);
        Ok(bytes)
    }

    /// Whether a program that knows the first version only would do the same with the model.
    fn is_first_format(&self) -> bool {
        self.threshold == 0.0 && self.preparation.fourier.is_none()
    }

    /// The ensembles as the first version of the format names them, if it can hold them, else as the second does.
    fn write_ensembles(&self, tensors: &mut Named) -> (Vote, Parts) {
        let initial = self.initial.as_ref();
        let first = (stored::plain(&self.ensemble), stored::plain(&self.logistic), initial.map(stored::plain));
        if let (Some((members, weights, vote)), Some((logistic, ..)), None | Some(Some(_))) = first {
            tensors.push(("members".to_owned(), Tensor::members(members)));
            tensors.push(("weights".to_owned(), Tensor::vector(weights)));
            tensors.push(("logistic".to_owned(), Tensor::members(logistic)));
            let initial = first.2.flatten();
            tensors.extend(initial.map(|(members, ..)| ("initial".to_owned(), Tensor::members(members))));
            return (vote, Parts::new());
        }
        let mut all = vec![("ensemble", &self.ensemble), ("logistic", &self.logistic)];
        all.extend(initial.map(|initial| ("initial", initial)));
        let parts = all.into_iter().map(|(name, of)| (name.to_owned(), stored::write(name, of, tensors)));
        (Vote::Weighted, parts.collect())
    }

    fn read(bytes: &[u8], path: &Path) -> Result<Model> {
        const EXPECTED: &str = "a model written by `udeed fit`";
        let wrong = |found: String| Error::model(path, found, EXPECTED);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| wrong(not_safetensors(bytes, &error)))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| wrong(not_safetensors(bytes, &error)))?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or_else(|| wrong("a safetensors file of another program".into()))?;
        let version: Version = serde_json::from_str(text).map_err(|_| wrong("a damaged description".into()))?;
        if version.format > FORMAT {
            let found = format!("format version {}", version.format);
            return Err(Error::model(path, found, format!("at most {FORMAT}; a newer `udeed` wrote this model")));
        }
        let (body, stored) = bytes.split_at(bytes.len() - CHECKSUM_LENGTH);
        if checksum(body) != stored {
            return Err(wrong("a file whose checksum does not match: it was damaged or changed".into()));
        }
        let description: Description = serde_json::from_str(text).map_err(|_| wrong("a damaged description".into()))?;
        assemble(description, &tensors).ok_or_else(|| wrong("parts that do not fit together".into()))
    }
}

/// What the first bytes tell of a file that is no safetensors file.
fn not_safetensors(bytes: &[u8], error: &::safetensors::SafeTensorError) -> String {
    use ::safetensors::SafeTensorError::{HeaderTooSmall, InvalidHeaderLength, MetadataIncompleteBuffer};
    if bytes.is_empty() {
        return "an empty file".into();
    }
    // A header that begins as ours does, and an end that is missing.
    let ours = bytes.get(8..).is_some_and(|rest| rest.starts_with(b"{\"__metadata__\":{\"udeed\""));
    if ours && matches!(error, HeaderTooSmall | InvalidHeaderLength | MetadataIncompleteBuffer) {
        return if is_longer(bytes) { "a file with more at its end".into() } else { "a truncated file".into() };
    }
    "a file that is not a whole safetensors file".into()
}

/// Whether a file goes on after the tensors that its header tells of.
fn is_longer(bytes: &[u8]) -> bool {
    let whole = || {
        let (length, rest) = bytes.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let header: HashMap<String, serde_json::Value> = serde_json::from_slice(rest.get(..length)?).ok()?;
        let end = header.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64()).max()?;
        Some(8 + length as u64 + end)
    };
    whole().is_some_and(|whole| bytes.len() as u64 > whole)
}

/// Puts a model together and checks that its parts fit.
fn assemble(description: Description, tensors: &SafeTensors<'_>) -> Option<Model> {
    let vector = |name: &str| stored::vector(tensors, name);
    let preparation = Preparation {
        columns: description.columns.into(),
        naming: description.naming,
        scaling: description.scaling,
        sparse: description.sparse,
        fill: vector("fill")?,
        shift: vector("shift")?,
        factor: vector("factor")?,
        fourier: match tensors.tensor(PHASES) {
            Ok(_) => Some(FourierMap::from_parts(vector(FREQUENCIES)?, &vector(PHASES)?)),
            Err(_) => None,
        },
    };
    let stored = Stored { tensors, n_classes: description.classes.len(), n_features: preparation.n_features() };
    let (ensemble, initial, logistic) = if description.ensembles.is_empty() {
        read_first(&stored, description.vote)?
    } else {
        let mut ensembles = description.ensembles;
        let initial = match ensembles.remove("initial") {
            Some(parts) => Some(stored.ensemble("initial", parts)?),
            None => None,
        };
        let ensemble = stored.ensemble("ensemble", ensembles.remove("ensemble")?)?;
        (ensemble, initial, stored.ensemble("logistic", ensembles.remove("logistic")?)?)
    };
    let model = Model {
        ensemble,
        initial,
        logistic,
        preparation,
        classes: description.classes,
        label: description.label,
        method: description.settings,
        training: description.training,
        threshold: description.threshold,
    };
    let sound = model.preparation.is_sound()
        && (2..=TrainSet::MOST_CLASSES).contains(&model.classes.len())
        && model.method.validate().is_ok()
        && (-1.0..=1.0).contains(&model.threshold)
        && (model.threshold == 0.0 || model.classes.len() == 2)
        && model.preparation.fourier().map_or(0, FourierMap::n_features) == model.method.shared().fourier
        && model.logistic.n_members() == 1;
    sound.then_some(model)
}

/// The ensembles of a file of the first version: linear members of two classes.
fn read_first(stored: &Stored<'_>, vote: Vote) -> Option<(Ensemble, Option<Ensemble>, Ensemble)> {
    if stored.n_classes != 2 {
        return None;
    }
    let ensemble = |name: &str, vote: Vote| Some(Ensemble::of_parts(2, vec![Part::alike(stored.members(name)?, vote)]));
    let mut whole = ensemble("members", vote)?;
    whole.parts[0].weights = stored.vector("weights")?;
    if !stored::is_sound(&whole.parts[0].weights, whole.parts[0].members.len()) {
        return None;
    }
    let initial = match stored.tensors.tensor("initial") {
        Ok(_) => Some(ensemble("initial", vote)?),
        Err(_) => None,
    };
    Some((whole, initial, ensemble("logistic", Vote::Weighted)?))
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LENGTH] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

pub(super) struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    pub(super) fn vector(values: &[f64]) -> Self {
        Tensor {
            dtype: Dtype::F64,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// Whole numbers, as wide as the others: only the checksum is narrower.
    pub(super) fn integers(values: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        Tensor { dtype: Dtype::U64, shape: vec![bytes.len() / size_of::<u64>()], bytes }
    }

    /// Rows of equal length.
    pub(super) fn rows(rows: &[Vec<f64>]) -> Self {
        Tensor { shape: vec![rows.len(), rows[0].len()], ..Tensor::vector(&rows.concat()) }
    }

    /// A table of numbers.
    pub(super) fn table(table: &Dense) -> Self {
        Tensor { shape: vec![table.n_rows(), table.n_columns()], ..Tensor::vector(table.values()) }
    }

    /// One row a member.
    pub(super) fn members(members: &Members) -> Self {
        let m = members.n_members();
        let values: Vec<f64> = (0..m).flat_map(|k| members.weights_of(k)).collect();
        Tensor { shape: vec![m, members.n_features() + 1], ..Tensor::vector(&values) }
    }

    /// The place of the checksum. Tensors are laid out by the width of their numbers, widest first: this is the last.
    fn checksum() -> Self {
        Tensor { dtype: Dtype::U32, shape: vec![1], bytes: vec![0; CHECKSUM_LENGTH] }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

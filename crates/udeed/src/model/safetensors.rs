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

use crate::data::{Column, Naming};
use crate::ensemble::{Members, Method, Training, Vote};
use crate::error::{Error, Result};
use crate::file::write_file;
use crate::model::Model;
use crate::prepare::{Preparation, Scaling};

/// The version of the file format that this crate writes. Older ones are read, newer ones refused.
const FORMAT: u32 = 1;
/// What stands for the file of a model that is in none.
const IN_MEMORY: &str = "the model in memory";
const KEY: &str = "udeed";
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
        let description = Description {
            format: FORMAT,
            written_by: concat!("udeed ", env!("CARGO_PKG_VERSION")).into(),
            classes: self.classes.clone(),
            label: self.label.clone(),
            columns: preparation.columns.clone(),
            naming: preparation.naming,
            scaling: preparation.scaling,
            sparse: preparation.sparse,
            settings: self.method.clone(),
            vote: self.vote,
            training: self.training.clone(),
        };
        let refused = |error: String| Error::model(path, error, "a model that can be written");
        let text = serde_json::to_string(&description).map_err(|error| refused(error.to_string()))?;
        let mut tensors = vec![
            ("factor", Tensor::vector(&preparation.factor)),
            ("fill", Tensor::vector(&preparation.fill)),
            ("logistic", Tensor::members(&self.logistic)),
            ("members", Tensor::members(&self.members)),
            ("shift", Tensor::vector(&preparation.shift)),
            ("weights", Tensor::vector(&self.weights)),
        ];
        tensors.extend(self.initial.iter().map(|members| ("initial", Tensor::members(members))));
        tensors.sort_by_key(|(name, _)| *name);
        tensors.push((CHECKSUM, Tensor::checksum()));
        let metadata = HashMap::from([(KEY.to_owned(), text)]);
        let mut bytes = serialize(tensors, Some(metadata)).map_err(|error| refused(error.to_string()))?;
        let body = bytes.len() - CHECKSUM_LENGTH;
        let sum = checksum(&bytes[..body]);
        bytes[body..].copy_from_slice(&sum);
        Ok(bytes)
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
    let preparation = Preparation {
        columns: description.columns,
        naming: description.naming,
        scaling: description.scaling,
        sparse: description.sparse,
        fill: vector(tensors, "fill")?,
        shift: vector(tensors, "shift")?,
        factor: vector(tensors, "factor")?,
    };
    let width = preparation.n_features() + 1;
    let model = Model {
        members: members(tensors, "members", width)?,
        initial: match tensors.tensor("initial") {
            Ok(_) => Some(members(tensors, "initial", width)?),
            Err(_) => None,
        },
        logistic: members(tensors, "logistic", width)?,
        preparation,
        classes: description.classes,
        label: description.label,
        method: description.settings,
        weights: vector(tensors, "weights")?,
        vote: description.vote,
        training: description.training,
    };
    let sound = model.preparation.is_sound()
        && model.classes.len() == 2
        && model.method.validate().is_ok()
        && model.members.n_members() <= model.method.shared().members.max(1)
        && model.members.n_members() == model.weights.len()
        && model.weights.iter().all(|weight| weight.is_finite() && *weight > 0.0)
        && model.logistic.n_members() == 1;
    sound.then_some(model)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LENGTH] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn vector(values: &[f64]) -> Self {
        Tensor {
            dtype: Dtype::F64,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// One row a member.
    fn members(members: &Members) -> Self {
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

fn vector(tensors: &SafeTensors<'_>, name: &str) -> Option<Vec<f64>> {
    let tensor = tensors.tensor(name).ok().filter(|tensor| tensor.dtype() == Dtype::F64)?;
    Some(tensor.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}

fn members(tensors: &SafeTensors<'_>, name: &str, width: usize) -> Option<Members> {
    let values = vector(tensors, name)?;
    let whole = !values.is_empty() && values.len() % width == 0 && values.iter().all(|x| x.is_finite());
    let rows: Vec<Vec<f64>> = whole.then(|| values.chunks(width).map(<[f64]>::to_vec).collect())?;
    Some(Members::from_rows(&rows))
}

//! The model as one safetensors file.
//!
//! Numbers are tensors; everything else is JSON ([`description`](crate::model::description)) in the file's
//! metadata under the key `udeed`, a single key, so that the same model always makes the same bytes. The last tensor, and so
//! the last four bytes of the file, is a checksum of everything before it.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use safetensors::{Dtype, SafeTensors, serialize};
use serde::Deserialize;

use crate::error::{Error, Hint, Result};
use crate::file::{checksum, write_file};
use crate::learner::Predict;
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::model::Model;
use crate::model::description::{Description, FORMAT, Version};
use crate::tensor::{Tensor, TensorReader};

/// The name of the file of a model that is in none.
const IN_MEMORY: &str = "the model in memory";
/// The file that was expected in place of one that cannot be read.
const EXPECTED: &str = "a model written by udeed";
const KEY: &str = "udeed";
const CHECKSUM: &str = "checksum";
const CHECKSUM_LENGTH: usize = size_of::<u32>();

/// Hypotheses of learners from outside the library, in the order of the members.
type Foreign = Vec<Arc<dyn Predict>>;

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
    /// If the file cannot be read, is truncated, damaged, of a newer version or something else, or takes more than half of
    /// the memory, where it is larger than 256 MiB. Of what is no model, only the beginning is read.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("notes.txt");
    /// std::fs::write(&path, "not a model").unwrap();
    /// let error = udeed::model::Model::load(&path).unwrap_err();
    /// assert!(error.to_string().ends_with("expected a model written by udeed"));
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        Model::load_bounded(path.as_ref(), half_of_memory)
    }

    /// As [`Model::load`], with another limit in bytes than half of the memory. A file of up to 256 MiB always passes.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_within(path: impl AsRef<Path>, most: u64) -> Result<Model> {
        Model::load_bounded(path.as_ref(), || most)
    }

    fn load_bounded(path: &Path, most: impl FnOnce() -> u64) -> Result<Model> {
        let file = File::open(path).map_err(|error| Error::io(path, "read", error))?;
        Model::read(&read_bounded(file, path, most)?, Vec::new(), path)
    }

    /// The bytes that [`Model::save`] writes.
    ///
    /// # Errors
    /// If the model cannot be written.
    ///
    /// ```
    /// use udeed::prelude::*;
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
        Model::from_parts(bytes, Vec::new())
    }

    /// As [`Model::to_bytes`], and beside the bytes what learners from outside the library made, which a file cannot hold.
    ///
    /// # Errors
    /// If the model cannot be written.
    pub fn to_parts(&self) -> Result<(Vec<u8>, Foreign)> {
        Ok((self.own_bytes(Path::new(IN_MEMORY))?, self.foreign()))
    }

    /// Hypotheses of learners from outside the library, in the order of the members.
    pub fn foreign(&self) -> Foreign {
        self.ensemble.foreign().filter_map(|foreign| foreign.predictor.clone()).collect()
    }

    /// Puts together what [`Model::to_parts`] made.
    ///
    /// # Errors
    /// As [`Model::load`], or if there is not one of the others for each place.
    pub fn from_parts(bytes: &[u8], foreign: Foreign) -> Result<Model> {
        Model::read(bytes, foreign, Path::new(IN_MEMORY))
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>> {
        if self.ensemble.foreign().next().is_some() {
            let found = "members made by a learner from outside the library";
            return Err(Error::model(path, found, "members of the library, which a model file can hold"));
        }
        self.own_bytes(path)
    }

    fn own_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let (description, mut tensors) = Description::of(self);
        let refused = |error: String| Error::model(path, error, "a model that can be written");
        let text = serde_json::to_string(&description).map_err(|error| refused(error.to_string()))?;
        tensors.sort_by(|(a, _), (b, _)| a.cmp(b));
        tensors.push((CHECKSUM.to_owned(), checksum_tensor()));
        let metadata = HashMap::from([(KEY.to_owned(), text)]);
        let mut bytes = serialize(tensors, Some(metadata)).map_err(|error| refused(error.to_string()))?;
        let body = bytes.len() - CHECKSUM_LENGTH;
        let sum = checksum(&bytes[..body]).to_le_bytes();
        bytes[body..].copy_from_slice(&sum);
        Ok(bytes)
    }

    fn read(bytes: &[u8], foreign: Foreign, path: &Path) -> Result<Model> {
        let wrong = |found: String| Error::model(path, found, EXPECTED);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| wrong(not_safetensors(bytes, &error)))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| wrong(not_safetensors(bytes, &error)))?;
        let text = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or_else(|| wrong("a safetensors file of another program".into()))?;
        let version: Version = serde_json::from_str(text).map_err(|_| wrong("a damaged description".into()))?;
        check_version(&version, path)?;
        let (body, stored) = bytes.split_at(bytes.len() - CHECKSUM_LENGTH);
        if checksum(body).to_le_bytes() != stored {
            return Err(wrong("a file whose checksum does not match: it was damaged or changed".into()));
        }
        let description: Description = serde_json::from_str(text).map_err(|_| wrong("a damaged description".into()))?;
        let model = description.model(&TensorReader::new(&tensors)).and_then(|model| model.with_foreign(foreign));
        model.ok_or_else(|| wrong("parts that do not fit together".into()))
    }

    /// The model with what learners from outside the library made in the places for it; none where they do not fit.
    fn with_foreign(mut self, foreign: Foreign) -> Option<Self> {
        let mut foreign = foreign.into_iter();
        for place in self.ensemble.foreign_mut() {
            place.predictor = Some(foreign.next()?);
        }
        foreign.next().is_none().then_some(self)
    }
}

/// Reads as much of a file as its header tells of, and one byte more where there is one.
///
/// # Errors
/// If it cannot be read, or takes more than `most` bytes and is large.
fn read_bounded(file: File, path: &Path, most: impl FnOnce() -> u64) -> Result<Vec<u8>> {
    let refused = |error| Error::io(path, "read", error);
    let mut bytes = Vec::new();
    let read_to = |bytes: &mut Vec<u8>, end: u64| {
        (&file).take(end.saturating_sub(bytes.len() as u64)).read_to_end(bytes).map_err(refused)
    };
    read_to(&mut bytes, BEGINNING)?;
    let header = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    // What is no safetensors file is described by its beginning.
    if !(1..=LONGEST_HEADER).contains(&header) || bytes.get(LENGTH) != Some(&b'{') {
        return Ok(bytes);
    }
    read_to(&mut bytes, LENGTH as u64 + header)?;
    let Some(whole) = whole_length(&bytes) else { return Ok(bytes) };
    let most = if whole <= MUCH_MEMORY { whole } else { most().max(MUCH_MEMORY) };
    // Of a pipe the length is not known.
    let length = file.metadata().ok().filter(Metadata::is_file).map(|at| at.len());
    if length.is_some_and(|length| length < whole) {
        // What was read tells that it is truncated.
        return Ok(bytes);
    }
    check_memory(whole, most, Hint::LargeModel, || format!("{}: the members of the model", path.display()))?;
    if length.is_some() {
        // Not twice as much, as a buffer that grows by itself; where there is no room, reading says so.
        _ = bytes.try_reserve_exact(usize::try_from(whole).unwrap_or(usize::MAX).saturating_sub(bytes.len()));
    }
    file.take(whole.saturating_add(1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

/// Bytes of a file that tell whether it may be a model.
const BEGINNING: u64 = 64;
/// Bytes of the length that a safetensors file begins with.
const LENGTH: usize = size_of::<u64>();
/// Longest header of a safetensors file.
const LONGEST_HEADER: u64 = 100_000_000;

/// Refuses a file of another version.
fn check_version(version: &Version, path: &Path) -> Result<()> {
    let found = format!("format version {}", version.format);
    match version.format {
        FORMAT => Ok(()),
        newer if newer > FORMAT => {
            Err(Error::model(path, found, format!("at most {FORMAT}; a newer `udeed` wrote this model")))
        }
        _ => Err(Error::model(path, found, format!("{FORMAT}; fit the model again"))),
    }
}

/// Describes a file that is no safetensors file by its first bytes.
fn not_safetensors(bytes: &[u8], error: &safetensors::SafeTensorError) -> String {
    use safetensors::SafeTensorError::{HeaderTooSmall, InvalidHeaderLength, MetadataIncompleteBuffer};
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
    whole_length(bytes).is_some_and(|whole| bytes.len() as u64 > whole)
}

/// The length of a file by its header, if that is whole.
fn whole_length(bytes: &[u8]) -> Option<u64> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let header: HashMap<String, Extent> = serde_json::from_slice(rest.get(..length)?).ok()?;
    let end = header.values().filter_map(|tensor| tensor.data_offsets).map(|[_, end]| end).max()?;
    end.checked_add((LENGTH + length) as u64)
}

/// Where a tensor lies.
#[derive(Deserialize)]
struct Extent {
    /// None of the metadata.
    data_offsets: Option<[u64; 2]>,
}

/// The place of the checksum. Tensors are laid out by the width of their numbers, widest first: this is the last.
fn checksum_tensor() -> Tensor {
    Tensor { dtype: Dtype::U32, shape: vec![1], bytes: vec![0; CHECKSUM_LENGTH] }
}

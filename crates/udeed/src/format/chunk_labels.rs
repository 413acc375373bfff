//! The labels of a chunk.

use crate::data::Dictionary;

/// Number of labels in the cache: most files have no more classes.
const CAPACITY: usize = 8;

/// The labels of a chunk as class codes. Classes have codes in the order in which they occur in the chunk.
#[derive(Default)]
pub(super) struct ChunkLabels {
    /// The class of each row; `None` for an unlabeled one.
    pub(super) codes: Vec<Option<u32>>,
    pub(super) classes: Dictionary,
    /// The first few labels, so that most rows need no search in the dictionary.
    cache: Vec<(Vec<u8>, Option<u32>)>,
}

impl ChunkLabels {
    /// The class code of a cached label, `Some(None)` if it marks an unlabeled row.
    pub(super) fn cached(&self, label: &[u8]) -> Option<Option<u32>> {
        self.cache.iter().find(|(cached, _)| cached == label).map(|&(_, code)| code)
    }

    /// Caches a label, if it is new and there is room.
    pub(super) fn cache(&mut self, label: &[u8], code: Option<u32>) {
        if self.cache.len() < CAPACITY && self.cached(label).is_none() {
            self.cache.push((label.to_vec(), code));
        }
    }

    /// The labels, with the codes that their classes have in all chunks so far.
    pub(super) fn merge_into(mut self, classes: &mut Dictionary) -> Vec<Option<u32>> {
        let codes = classes.merge(&self.classes);
        self.codes.iter_mut().flatten().for_each(|code| *code = codes[*code as usize]);
        self.codes
    }
}

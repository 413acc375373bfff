//! Cache of the labels of a chunk.

/// Number of labels in the cache: most files have no more classes.
const CAPACITY: usize = 8;

/// Class codes of the first few labels of a chunk, so that most rows need no search in a dictionary.
#[derive(Default)]
pub(super) struct LabelCache {
    labels: Vec<(Vec<u8>, Option<u32>)>,
}

impl LabelCache {
    /// The class code of a cached label, `Some(None)` if it marks an unlabeled row.
    pub(super) fn find(&self, label: &[u8]) -> Option<Option<u32>> {
        self.labels.iter().find(|(cached, _)| cached == label).map(|&(_, code)| code)
    }

    /// Adds a label, if it is new and there is room.
    pub(super) fn insert(&mut self, label: &[u8], code: Option<u32>) {
        if self.labels.len() < CAPACITY && self.find(label).is_none() {
            self.labels.push((label.to_vec(), code));
        }
    }
}

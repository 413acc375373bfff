//! Labels that occurred before.

/// Labels that are remembered: the few that most rows have.
const MOST: usize = 8;

/// What the first few labels of a chunk mean, so that most rows need not ask again.
#[derive(Default)]
pub(crate) struct Met {
    labels: Vec<(Vec<u8>, Option<u32>)>,
}

impl Met {
    /// The number of the class of a label that was met, which may be none.
    pub(crate) fn find(&self, label: &[u8]) -> Option<Option<u32>> {
        self.labels.iter().find(|(met, _)| met == label).map(|&(_, code)| code)
    }

    /// Remembers what a label means.
    pub(crate) fn remember(&mut self, label: &[u8], code: Option<u32>) {
        if self.labels.len() < MOST && self.find(label).is_none() {
            self.labels.push((label.to_vec(), code));
        }
    }
}

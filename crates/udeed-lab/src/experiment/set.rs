//! A data set of an experiment.

use udeed::data::{Kind, TrainSet};

/// A data set of an experiment.
#[derive(Debug, Clone)]
pub struct Set {
    /// The name.
    pub name: String,
    /// The rows and labels.
    pub data: TrainSet,
}

impl Set {
    /// A hash of the rows, their columns and their labels: a journal belongs to one content, not to one name.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::default();
        let table = self.data.table();
        for column in table.columns() {
            hash.add(column.name.as_bytes());
            if let Kind::Nominal { levels } = &column.kind {
                levels.iter().for_each(|level| hash.add(level.as_bytes()));
            }
        }
        let rows = table.matrix().rows();
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, x| {
                hash.add(&(j as u64).to_le_bytes());
                hash.add(&x.to_bits().to_le_bytes());
            });
            hash.add(self.data.labels().name(i).unwrap_or("").as_bytes());
        }
        hash.0
    }
}

/// FNV-1a, which is the same on every machine and in every release.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds bytes and an end mark.
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

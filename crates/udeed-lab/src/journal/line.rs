//! A line of a journal: a checksum, a space, JSON without line ends.
//!
//! The checksum of a trial is also that of its run, so a line of another journal is noticed too.

use flate2::Crc;

/// The digits of a checksum and the space after them.
const BEGINNING: usize = 9;

/// What the checksums of a journal begin with: 0 for its first line, the checksum of that line for all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u32);

impl Key {
    pub const FIRST: Key = Key(0);

    /// The key of the lines below a first line.
    pub fn below(json: &str) -> Self {
        Key(Key::FIRST.sum(json.as_bytes()))
    }

    /// The line of a JSON text.
    pub fn line(self, json: &str) -> String {
        format!("{:08x} {json}\n", self.sum(json.as_bytes()))
    }

    /// The JSON text of a line, without its end; none where its checksum does not match.
    pub fn json(self, line: &[u8]) -> Option<&[u8]> {
        let (beginning, json) = line.split_at_checked(BEGINNING)?;
        (beginning == format!("{:08x} ", self.sum(json)).as_bytes()).then_some(json)
    }

    fn sum(self, json: &[u8]) -> u32 {
        let mut crc = Crc::new();
        crc.update(&self.0.to_le_bytes());
        crc.update(json);
        crc.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_noticed() {
        let key = Key::below("{}");
        let json = r#"{"accuracies":[0.875,null]}"#;
        let line = key.line(json).into_bytes();
        let (end, line) = line.split_last().unwrap();
        assert_eq!((*end, key.json(line)), (b'\n', Some(json.as_bytes())));
        for place in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.to_vec();
                changed[place] ^= 1 << bit;
                assert_eq!(key.json(&changed), None, "byte {place}, bit {bit}");
            }
            assert_eq!(key.json(&line[..place]), None);
        }
    }

    #[test]
    fn a_line_of_another_run_is_noticed() {
        let line = Key::below(r#"{"splits":2}"#).line("{}");
        assert_eq!(Key::below(r#"{"splits":3}"#).json(line.trim_end().as_bytes()), None);
    }
}

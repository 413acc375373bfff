//! As much of the Protocol Buffers wire format as an ONNX file needs: numbers, bytes and messages within messages.

/// A message while it is written: its fields, in the order they are added.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Self {
        Message::default()
    }

    /// A whole number. Negative ones take ten bytes, as the format wants it.
    pub(super) fn number(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// Bytes, text, or a message that is complete.
    pub(super) fn bytes(mut self, field: u32, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// The same field for each of several items.
    pub(super) fn each<T: AsRef<[u8]>>(self, field: u32, items: impl IntoIterator<Item = T>) -> Self {
        items.into_iter().fold(self, |message, item| message.bytes(field, item))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation.
    #[test]
    fn the_wire_format_is_as_documented() {
        assert_eq!(Message::new().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().bytes(2, "testing").into_bytes(), b"\x12\x07testing");
        let inner = Message::new().number(1, 150);
        assert_eq!(Message::new().bytes(3, inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::new().number(1, -2).into_bytes().len(), 11);
    }
}

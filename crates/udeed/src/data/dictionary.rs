//! Names as small numbers.

use std::collections::HashMap;

/// Gives each new name the next number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    names: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Dictionary {
    /// The number of a name.
    pub(crate) fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.codes.insert(name.to_owned(), code);
        code
    }

    /// The number of a name that is known.
    pub(crate) fn find(&self, name: &[u8]) -> Option<u32> {
        self.codes.get(std::str::from_utf8(name).ok()?).copied()
    }

    /// The number that each name of another dictionary has here, in the order of its numbers there. New ones are added.
    pub(crate) fn take_in(&mut self, other: &Dictionary) -> Vec<u32> {
        other.names.iter().map(|name| self.code(name)).collect()
    }

    /// The names, in the order of their numbers.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

//! Names as small numbers.

use std::collections::HashMap;

/// Gives each new name the next number.
#[derive(Debug, Default)]
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

    /// The names, in the order of their numbers.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

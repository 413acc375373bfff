//! Codes for names.

use std::collections::HashMap;

/// Codes names as the numbers 0, 1, 2, ... in the order in which they first occur.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    names: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Dictionary {
    /// The code of a name, which is added if it is new.
    pub(crate) fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.codes.insert(name.to_owned(), code);
        code
    }

    /// The code of a name that occurred before.
    pub(crate) fn find(&self, name: &[u8]) -> Option<u32> {
        self.codes.get(std::str::from_utf8(name).ok()?).copied()
    }

    /// Adds the names of another dictionary, and returns for each of its codes the code here.
    pub(crate) fn merge(&mut self, other: &Dictionary) -> Vec<u32> {
        other.names.iter().map(|name| self.code(name)).collect()
    }

    /// The names by code.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The names in order, and the code that each has then by the one that it has now.
    pub(crate) fn into_sorted(self) -> (Vec<String>, Vec<f64>) {
        let mut order: Vec<(String, usize)> = self.names.into_iter().zip(0..).collect();
        order.sort();
        let mut codes = vec![0.0; order.len()];
        order.iter().enumerate().for_each(|(code, (_, level))| codes[*level] = code as f64);
        (order.into_iter().map(|(name, _)| name).collect(), codes)
    }
}

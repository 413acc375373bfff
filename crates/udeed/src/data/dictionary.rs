//! Codes for names.

use std::collections::HashMap;
use std::sync::Arc;

/// Codes names as the numbers 0, 1, 2, ... in the order in which they first occur.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    names: Vec<Arc<str>>,
    codes: HashMap<Arc<str>, u32>,
    size: u64,
}

/// Bytes that a name takes besides its text, about: its places in list and map, some of them free, and its length and counts.
const BESIDE_NAME: u64 = 100;

impl Dictionary {
    /// The code of a name, which is added if it is new.
    pub(crate) fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.names.len() as u32;
        let name: Arc<str> = name.into();
        self.size += name.len() as u64 + BESIDE_NAME;
        self.names.push(Arc::clone(&name));
        self.codes.insert(name, code);
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
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Size in bytes, about.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The names by code.
    pub(crate) fn into_names(self) -> Vec<String> {
        drop(self.codes);
        // Each is released once it is copied.
        self.names.into_iter().map(|name| (*name).to_owned()).collect()
    }

    /// The names in order, and the code that each has then by the one that it has now.
    pub(crate) fn into_sorted(self) -> (Vec<String>, Vec<f64>) {
        let mut order: Vec<(String, usize)> = self.into_names().into_iter().zip(0..).collect();
        order.sort();
        let mut codes = vec![0.0; order.len()];
        order.iter().enumerate().for_each(|(code, (_, level))| codes[*level] = code as f64);
        (order.into_iter().map(|(name, _)| name).collect(), codes)
    }
}

//! The journal of a run: every finished trial is a line of a file, so a killed run can be resumed.
//!
//! The first line holds the settings, every other line a [`Trial`]. An incomplete last line is dropped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::experiment::Trial;

/// The finished trials, in memory and on disk.
///
/// ```
/// use udeed_lab::Journal;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("run.journal");
/// let settings = serde_json::json!({ "splits": 2 });
/// let journal = Journal::open(&path, &settings)?;
/// assert_eq!(journal.len(), 0);
/// drop(journal);
/// assert!(Journal::open(&path, &serde_json::json!({ "splits": 3 })).is_err());
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    done: HashMap<(String, u32, usize), Trial>,
}

impl Journal {
    /// A journal in memory only.
    pub fn in_memory() -> Self {
        Journal { path: PathBuf::new(), file: None, done: HashMap::new() }
    }

    /// Opens a journal, new or to be resumed.
    ///
    /// # Errors
    /// If the file cannot be read or written, is not a journal, or is of a run with other settings.
    pub fn open(path: &Path, settings: &Value) -> Result<Self> {
        let refused = |action| move |cause| Error::Io { path: path.display().to_string(), action, cause };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(refused("open"))?;
        let mut journal = Journal { path: path.to_path_buf(), file: None, done: HashMap::new() };
        let kept = journal.read(&file, settings)?;
        file.set_len(kept).map_err(refused("write"))?;
        file.seek(SeekFrom::End(0)).map_err(refused("write"))?;
        if kept == 0 {
            writeln!(file, "{settings}").map_err(refused("write"))?;
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// Reads the file and returns the length of its complete lines.
    fn read(&mut self, file: &File, settings: &Value) -> Result<u64> {
        let mut reader = BufReader::new(file);
        let mut kept = 0;
        let mut number = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let n = read.map_err(|cause| Error::Io { path: self.shown(), action: "read", cause })?;
            // Without its end the last line was cut off. Of the first one what is left must be the settings: the file
            // may be something else that somebody needs.
            if n == 0 || line.last() != Some(&b'\n') {
                if number == 0 && !settings.to_string().as_bytes().starts_with(&line) {
                    let found = "the beginning of something else".to_owned();
                    return Err(Error::NotAJournal { path: self.shown(), line: 1, found });
                }
                return Ok(kept);
            }
            number += 1;
            self.take(&line, number, settings)?;
            kept += n as u64;
        }
    }

    fn take(&mut self, line: &[u8], number: usize, settings: &Value) -> Result<()> {
        let wrong = |error: serde_json::Error| Error::NotAJournal {
            path: self.shown(),
            line: number,
            found: format!("no JSON that fits ({error})"),
        };
        if number == 1 {
            let found: Value = serde_json::from_slice(line).map_err(wrong)?;
            if &found != settings {
                let (found, expected) = differences(&found, settings);
                return Err(Error::OtherSettings { path: self.shown(), found, expected });
            }
            return Ok(());
        }
        let trial: Trial = serde_json::from_slice(line).map_err(wrong)?;
        self.done.insert((trial.dataset.clone(), trial.split, trial.size), trial);
        Ok(())
    }

    fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// The number of finished trials.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether no trial is finished.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// A finished trial.
    pub fn get(&self, dataset: &str, split: u32, size: usize) -> Option<&Trial> {
        self.done.get(&(dataset.to_owned(), split, size))
    }

    /// Adds a finished trial, first on disk, then in memory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, trial: Trial) -> Result<()> {
        if let Some(file) = &mut self.file {
            let refused = |cause| Error::Io { path: self.path.display().to_string(), action: "write", cause };
            let mut line = serde_json::to_string(&trial).map_err(|error| refused(error.into()))?;
            line.push('\n');
            file.write_all(line.as_bytes()).map_err(refused)?;
        }
        self.done.insert((trial.dataset.clone(), trial.split, trial.size), trial);
        Ok(())
    }
}

/// The settings that differ.
fn differences(found: &Value, expected: &Value) -> (String, String) {
    fn walk(path: &str, a: &Value, b: &Value, out: &mut Vec<(String, String)>) {
        match (a, b) {
            _ if a == b => {}
            (Value::Object(x), Value::Object(y)) => {
                let mut keys: Vec<&String> = x.keys().chain(y.keys()).collect();
                keys.sort();
                keys.dedup();
                for key in keys {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    walk(&path, x.get(key).unwrap_or(&Value::Null), y.get(key).unwrap_or(&Value::Null), out);
                }
            }
            _ => out.push((format!("{path} = {a}"), format!("{path} = {b}"))),
        }
    }
    let mut all = Vec::new();
    walk("", found, expected, &mut all);
    let (a, b): (Vec<String>, Vec<String>) = all.into_iter().unzip();
    (a.join(", "), b.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn trial(split: u32) -> Trial {
        Trial {
            dataset: "a".into(),
            split,
            size: 20,
            accuracies: vec![Some(0.1 + 0.2), None, Some(1.0 / 3.0)],
            diversity: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_killed_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let settings = json!({ "splits": 3, "udeed": { "gamma": 1.0 } });
        let mut journal = Journal::open(&path, &settings).unwrap();
        journal.add(trial(0)).unwrap();
        journal.add(trial(1)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&path, &settings).unwrap();
            for split in 0..2 {
                match journal.get("a", split, 20) {
                    Some(found) => assert_eq!(found, &trial(split)),
                    None => journal.add(trial(split)).unwrap(),
                }
            }
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn other_settings_are_refused_and_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        drop(Journal::open(&path, &json!({ "splits": 3, "udeed": { "gamma": 1.0 } })).unwrap());
        let error = Journal::open(&path, &json!({ "splits": 3, "udeed": { "gamma": 2.0 } })).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("udeed.gamma = 1.0") && text.contains("udeed.gamma = 2.0"), "{text}");
        assert!(!text.contains("splits"), "{text}");
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        for text in ["my notes\n", "my notes", "{}"] {
            std::fs::write(&path, text).unwrap();
            assert!(Journal::open(&path, &json!({ "splits": 3 })).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

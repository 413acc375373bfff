//! The journal of a run: every finished trial is a line of a file, so a killed run can be resumed.
//!
//! The first line holds the experiment and the data sets, every other line a [`Trial`]. All of them carry checksums and
//! are checked for sense when they are read. An incomplete last line, of a run that was killed, is dropped; any other
//! damage is refused, or left out where that is asked for.

mod line;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use udeed::file::{Lock, LockError};

use crate::error::{Error, Result};
use crate::experiment::{Experiment, Set, Trial};
use line::Key;

/// The format of the file. The first had no checksums.
const FORMAT: u32 = 2;
/// No line is longer: what is, is no journal.
const LONGEST: u64 = 64 << 20;

/// What becomes of the damaged lines of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// They are an error, and the file stays as it is.
    Refused,
    /// They are taken out of the file, and their trials run again.
    LeftOut,
}

/// The finished trials, in memory and on disk. While a journal is open, no other process can open it.
///
/// ```
/// use udeed_lab::{Damaged, Experiment, Journal};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("run.journal");
/// let experiment = Experiment { splits: 2, ..Experiment::default() };
/// let journal = Journal::open(&path, &experiment, &[], Damaged::Refused)?;
/// assert_eq!(journal.len(), 0);
/// drop(journal);
/// let other = Experiment { splits: 3, ..Experiment::default() };
/// assert!(Journal::open(&path, &other, &[], Damaged::Refused).is_err());
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    disk: Option<OnDisk>,
    done: HashMap<(String, u32, usize), Trial>,
    left_out: Vec<usize>,
    damage: String,
}

#[derive(Debug)]
struct OnDisk {
    path: PathBuf,
    file: File,
    key: Key,
    /// Released when the journal is dropped, after the file is closed.
    _lock: Lock,
}

impl Journal {
    /// A journal in memory only.
    pub fn in_memory() -> Self {
        Journal { disk: None, done: HashMap::new(), left_out: Vec::new(), damage: String::new() }
    }

    /// Opens the journal of an experiment on data sets, new or to be resumed.
    ///
    /// # Errors
    /// If the file cannot be read or written, is not a journal, is in use by another process, is of another run, or
    /// has damaged lines that are not to be left out.
    pub fn open(path: &Path, experiment: &Experiment, sets: &[Set], damaged: Damaged) -> Result<Self> {
        let run = Run::new(experiment, sets)?;
        if std::fs::metadata(path).is_ok_and(|at| !at.is_file()) {
            let found = "a folder or a device".to_owned();
            return Err(Error::NotAJournal { path: path.display().to_string(), line: 1, found });
        }
        open_file(path)?;
        let lock = Lock::take(path).map_err(|error| in_use(path, error))?;
        // Opened again: until now another process may have replaced it.
        let mut file = open_file(path)?;
        let reading = Reading::of(path, &file, &run)?;
        let refused = |cause| Error::Io { path: path.display().to_string(), action: "write", cause };
        if !reading.damaged.is_empty() {
            if damaged == Damaged::Refused {
                return Err(reading.refusal(path));
            }
            reading.write_sound_lines(path, &run)?;
            file = open_file(path)?;
        } else {
            file.set_len(reading.length).map_err(refused)?;
        }
        file.seek(SeekFrom::End(0)).map_err(refused)?;
        if reading.length == 0 {
            file.write_all(run.first_line().as_bytes()).and_then(|()| file.sync_all()).map_err(refused)?;
            udeed::file::sync_folder_of(path);
        }
        let disk = OnDisk { path: path.to_path_buf(), file, key: run.key, _lock: lock };
        Ok(Journal { disk: Some(disk), done: reading.done, left_out: reading.damaged, damage: reading.found })
    }

    /// The numbers of the damaged lines that were left out, from 1.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// What is wrong with the first of them.
    pub fn damage(&self) -> &str {
        &self.damage
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

    /// Adds finished trials, first on disk, then in memory: a trial that counts outlives a loss of power, as far as the
    /// disk keeps what it says it has written.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn add(&mut self, trials: Vec<Trial>) -> Result<()> {
        if let Some(OnDisk { path, file, key, .. }) = &mut self.disk {
            let refused = |cause| Error::Io { path: path.display().to_string(), action: "write", cause };
            let mut lines = String::new();
            for trial in &trials {
                lines.push_str(&key.line(&serde_json::to_string(trial).map_err(|error| refused(error.into()))?));
            }
            let end = file.stream_position().map_err(refused)?;
            if let Err(cause) = file.write_all(lines.as_bytes()).and_then(|()| file.sync_data()) {
                // The next line would be joined to what was written of this one.
                _ = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
                return Err(refused(cause));
            }
        }
        self.done.extend(trials.into_iter().map(|trial| (key_of(&trial), trial)));
        Ok(())
    }
}

fn key_of(trial: &Trial) -> (String, u32, usize) {
    (trial.dataset.clone(), trial.split, trial.size)
}

fn in_use(path: &Path, error: LockError) -> Error {
    match error {
        LockError::Held { by } => Error::JournalInUse { path: path.display().to_string(), holder: by },
        LockError::Io { path, action, cause } => Error::Io { path, action, cause },
    }
}

/// Opens the file of a journal, or makes it.
fn open_file(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(|cause| Error::Io { path: path.display().to_string(), action: "open", cause })
}

/// What the lines of a journal must fit.
struct Run<'a> {
    experiment: &'a Experiment,
    /// The methods that are left out of each set, in the order of the experiment.
    left_out: HashMap<&'a str, Vec<bool>>,
    /// The content of the first line.
    settings: Value,
    key: Key,
}

impl<'a> Run<'a> {
    fn new(experiment: &'a Experiment, sets: &'a [Set]) -> Result<Self> {
        let mut left_out = HashMap::new();
        for set in sets {
            let split = experiment.split(set, 0)?;
            let is_out = |&entry| experiment.leaves_out(entry, split.labeled.len(), split.unlabeled.len());
            left_out.insert(set.name.as_str(), experiment.methods.iter().map(is_out).collect());
        }
        let rows = |set: &Set| json!({ "name": set.name, "rows": format!("{:016x}", set.fingerprint()) });
        let sets: Vec<Value> = sets.iter().map(rows).collect();
        let version = env!("CARGO_PKG_VERSION");
        let settings = json!({ "journal": FORMAT, "experiment": experiment, "sets": sets, "version": version });
        let key = Key::below(&settings.to_string());
        Ok(Run { experiment, left_out, settings, key })
    }

    fn first_line(&self) -> String {
        Key::FIRST.line(&self.settings.to_string())
    }

    /// The trial of a line, or what is wrong with it.
    fn trial(&self, line: &[u8]) -> std::result::Result<Trial, String> {
        let json = self.key.json(line).ok_or("a line whose checksum does not match")?;
        let trial: Trial = serde_json::from_slice(json).map_err(|error| format!("no JSON that fits ({error})"))?;
        self.check(&trial)?;
        Ok(trial)
    }

    /// Whether a trial can be one of this run.
    fn check(&self, trial: &Trial) -> std::result::Result<(), String> {
        let Some(left_out) = self.left_out.get(trial.dataset.as_str()) else {
            return Err(format!("a result on {}", udeed::text::quoted(&trial.dataset)));
        };
        if trial.split >= self.experiment.n_splits() || !self.experiment.sizes.contains(&trial.size) {
            return Err(format!("a result of split {} with {} members", trial.split, trial.size));
        }
        if trial.accuracies.len() != left_out.len() {
            return Err(format!("{} accuracies of {} methods", trial.accuracies.len(), left_out.len()));
        }
        if trial.baselines.len() != left_out.len() {
            return Err(format!("{} marks of {} methods", trial.baselines.len(), left_out.len()));
        }
        for (accuracy, &is_out) in trial.accuracies.iter().zip(left_out) {
            match accuracy {
                None if is_out => {}
                Some(accuracy) if !is_out && (0.0..=1.0).contains(accuracy) => {}
                Some(accuracy) => return Err(format!("an accuracy of {accuracy}")),
                None => return Err("no accuracy of a method that was run".to_owned()),
            }
        }
        Ok(())
    }
}

/// What a file holds.
#[derive(Default)]
struct Reading {
    done: HashMap<(String, u32, usize), Trial>,
    /// The length of the complete lines.
    length: u64,
    /// The numbers of the damaged lines, and what is wrong with the first.
    damaged: Vec<usize>,
    found: String,
}

impl Reading {
    fn of(path: &Path, file: &File, run: &Run<'_>) -> Result<Self> {
        let mut reader = BufReader::new(file);
        let mut reading = Reading::default();
        let mut number = 0;
        let mut line = Vec::new();
        let is_something_else = |found: &str| {
            Err(Error::NotAJournal { path: path.display().to_string(), line: 1, found: found.to_owned() })
        };
        loop {
            line.clear();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            let n = read.map_err(|cause| Error::Io { path: path.display().to_string(), action: "read", cause })?;
            let is_complete = line.pop_if(|byte| *byte == b'\n').is_some();
            if !is_complete && n as u64 == LONGEST {
                return is_something_else("a line without end");
            }
            // Without its end the last line was cut off. Of the first one what is left must be ours: the file may be
            // something else that somebody needs.
            if !is_complete {
                if number == 0 && !run.first_line().as_bytes().starts_with(&line) {
                    return is_something_else("the beginning of something else");
                }
                break;
            }
            number += 1;
            reading.take(path, &line, number, run)?;
            reading.length += n as u64;
        }
        // Without its first line, a journal is known by its trials.
        if reading.damaged.first() == Some(&1) && reading.done.is_empty() {
            return is_something_else("a line without the checksum of a journal");
        }
        Ok(reading)
    }

    fn take(&mut self, path: &Path, line: &[u8], number: usize, run: &Run<'_>) -> Result<()> {
        let outcome = match number {
            1 => check_first(path, line, run)?,
            _ => run.trial(line).and_then(|trial| match self.done.entry(key_of(&trial)) {
                Entry::Occupied(first) if *first.get() != trial => Err("a second result of the same split".to_owned()),
                entry => {
                    entry.or_insert(trial);
                    Ok(())
                }
            }),
        };
        if let Err(found) = outcome {
            if self.damaged.is_empty() {
                self.found = found;
            }
            self.damaged.push(number);
        }
        Ok(())
    }

    fn refusal(&self, path: &Path) -> Error {
        let (line, others) = (self.damaged[0], self.damaged.len() - 1);
        let found = match others {
            0 => self.found.clone(),
            _ => format!("{} (and {others} more damaged lines)", self.found),
        };
        Error::DamagedJournal { path: path.display().to_string(), line, found }
    }

    /// Replaces the file by one without the damaged lines.
    fn write_sound_lines(&self, path: &Path, run: &Run<'_>) -> Result<()> {
        let lines = File::open(path).map(|file| BufReader::new(file.take(self.length)).split(b'\n'));
        let lines = lines.map_err(|cause| Error::Io { path: path.display().to_string(), action: "read", cause })?;
        udeed::file::write_file(path, |out| {
            out.write_all(run.first_line().as_bytes())?;
            for (number, line) in (1..).zip(lines).skip(1) {
                if self.damaged.binary_search(&number).is_err() {
                    out.write_all(&line?)?;
                    out.write_all(b"\n")?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Whether the first line is damaged.
///
/// # Errors
/// If it is sound and of another run or format.
fn check_first(path: &Path, line: &[u8], run: &Run<'_>) -> Result<std::result::Result<(), String>> {
    let path = || path.display().to_string();
    let settings = |json: &[u8]| serde_json::from_slice::<Value>(json).ok();
    // The first format began with the settings alone.
    if settings(line).is_some_and(|found| found.get("experiment").is_some()) {
        return Err(Error::FormerJournal { path: path() });
    }
    match Key::FIRST.json(line).and_then(settings) {
        None => Ok(Err("a line whose checksum does not match".to_owned())),
        Some(found) if found == run.settings => Ok(Ok(())),
        Some(found) => {
            let (found, expected) = differences(&found, &run.settings);
            Err(Error::OtherSettings { path: path(), found, expected })
        }
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
    use crate::experiment::Entry;

    const METHODS: usize = 2;

    fn experiment() -> Experiment {
        Experiment {
            methods: vec![Entry::LOGISTIC, Entry::LCUD],
            splits: 3,
            udeed: udeed::method::Udeed::new().gamma(1.0),
            ..Experiment::default()
        }
    }

    fn sets() -> Vec<Set> {
        let data = udeed::format::built_in("labor").unwrap().read().unwrap().into_train().unwrap();
        vec![Set { name: "a".into(), data }]
    }

    fn trial(split: u32) -> Trial {
        let accuracies = vec![Some(0.1 + 0.2), Some(1.0 / 3.0)];
        let baselines = vec![false, true];
        Trial { dataset: "a".into(), split, size: 20, accuracies, baselines, diversity: None, warnings: Vec::new() }
    }

    fn open(path: &Path) -> Result<Journal> {
        Journal::open(path, &experiment(), &sets(), Damaged::Refused)
    }

    fn message(path: &Path) -> String {
        open(path).unwrap_err().to_string()
    }

    /// A journal of two splits, and its bytes.
    fn written(folder: &Path) -> (PathBuf, Vec<u8>) {
        let path = folder.join("journal");
        let mut journal = open(&path).unwrap();
        journal.add(vec![trial(0)]).unwrap();
        journal.add(vec![trial(1)]).unwrap();
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    }

    #[test]
    fn a_killed_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = written(folder.path());
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = open(&path).unwrap();
            for split in 0..2 {
                match journal.get("a", split, 20) {
                    Some(found) => assert_eq!(found, &trial(split)),
                    None => journal.add(vec![trial(split)]).unwrap(),
                }
            }
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn two_at_once_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = open(&path).unwrap();
        assert!(message(&path).contains(&format!("process {}", std::process::id())));
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            assert!(message(&link).contains("process"), "a link to the journal is the journal");
        }
        drop(journal);
        open(&path).unwrap();
    }

    #[test]
    fn a_changed_digit_is_noticed_and_its_line_can_be_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = written(folder.path());
        let text = String::from_utf8(whole.clone()).unwrap();
        let changed = text.replacen("0.30000000000000004", "0.90000000000000004", 1);
        std::fs::write(&path, &changed).unwrap();
        let refusal = message(&path);
        assert!(refusal.contains("line 2") && refusal.contains("checksum"), "{refusal}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), changed, "a refused file stays as it is");

        let mut journal = Journal::open(&path, &experiment(), &sets(), Damaged::LeftOut).unwrap();
        assert_eq!((journal.left_out(), journal.len()), (&[2][..], 1));
        assert_eq!((journal.get("a", 0, 20), journal.get("a", 1, 20)), (None, Some(&trial(1))));
        journal.add(vec![trial(0)]).unwrap();
        drop(journal);
        let journal = open(&path).unwrap();
        assert_eq!((journal.get("a", 0, 20), journal.len()), (Some(&trial(0)), 2));
    }

    #[test]
    fn every_line_can_be_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = written(folder.path());
        let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        for (line, end) in ends.iter().enumerate() {
            let mut damaged = whole.clone();
            damaged[end - 3] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(message(&path).contains(&format!("line {}", line + 1)));
            let journal = Journal::open(&path, &experiment(), &sets(), Damaged::LeftOut).unwrap();
            assert_eq!((journal.left_out(), journal.len()), (&[line + 1][..], if line == 0 { 2 } else { 1 }));
            drop(journal);
            assert!(open(&path).unwrap().left_out().is_empty());
        }
    }

    #[test]
    fn a_line_without_sense_is_refused_whatever_its_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = written(folder.path());
        let (experiment, sets) = (experiment(), sets());
        let key = Run::new(&experiment, &sets).unwrap().key;
        let with = |change: &dyn Fn(&mut Trial)| {
            let mut trial = trial(2);
            change(&mut trial);
            serde_json::to_string(&trial).unwrap()
        };
        let lines = [
            (with(&|trial| trial.accuracies.clear()), "0 accuracies of 2 methods"),
            (with(&|trial| trial.accuracies = vec![Some(0.5); METHODS + 1]), "3 accuracies of 2 methods"),
            (with(&|trial| trial.baselines.clear()), "0 marks of 2 methods"),
            (with(&|trial| trial.accuracies[0] = None), "no accuracy"),
            (with(&|trial| trial.accuracies[1] = Some(17.5)), "17.5"),
            (with(&|trial| trial.accuracies[1] = Some(-0.1)), "-0.1"),
            (with(&|trial| trial.split = 3), "split 3"),
            (with(&|trial| trial.size = 21), "21 members"),
            (with(&|trial| trial.dataset = "b\u{1b}".into()), "`b\\u{1b}`"),
            (with(&|trial| trial.split = 1).replace("0.3", "0.4"), "a second result"),
            ("{}".to_owned(), "no JSON that fits"),
        ];
        for (json, expected) in lines {
            let text = [whole.as_slice(), key.line(&json).as_bytes()].concat();
            std::fs::write(&path, &text).unwrap();
            let refusal = message(&path);
            assert!(refusal.contains("line 4") && refusal.contains(expected), "{json}: {refusal}");
            let journal = Journal::open(&path, &experiment, &sets, Damaged::LeftOut).unwrap();
            assert_eq!((journal.left_out(), journal.len()), (&[4][..], 2));
        }
    }

    #[test]
    fn other_settings_are_refused_and_shown() {
        let folder = tempfile::tempdir().unwrap();
        let (path, whole) = written(folder.path());
        let other = Experiment { udeed: udeed::method::Udeed::new().gamma(2.0), ..experiment() };
        for damaged in [Damaged::Refused, Damaged::LeftOut] {
            let text = Journal::open(&path, &other, &sets(), damaged).unwrap_err().to_string();
            assert!(text.contains("udeed.gamma = 1.0") && text.contains("udeed.gamma = 2.0"), "{text}");
            assert!(!text.contains("splits"), "{text}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        for text in ["my notes\n", "my notes", "{}", "{}\n", "my\nnotes\n", "00000000 {}\n"] {
            std::fs::write(&path, text).unwrap();
            for damaged in [Damaged::Refused, Damaged::LeftOut] {
                assert!(Journal::open(&path, &experiment(), &sets(), damaged).is_err());
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            }
        }
        assert!(message(folder.path()).contains("folder"));
    }

    #[test]
    fn a_journal_without_checksums_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let text = "{\"experiment\":{},\"sets\":[],\"version\":\"0.1.0\"}\n{}\n";
        std::fs::write(&path, text).unwrap();
        for damaged in [Damaged::Refused, Damaged::LeftOut] {
            let error = Journal::open(&path, &experiment(), &sets(), damaged).unwrap_err();
            assert!(error.to_string().contains("without checksums"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

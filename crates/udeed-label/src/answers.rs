//! The file of answers: a CSV file beside the rows. Every answer is a line, and on the disk before it takes effect.
//!
//! ```text
//! row,fingerprint,answer,label,origin,predicted,check
//! 17,5f1c2a90,label,g,chosen,b,0a4e77c1
//! 17,5f1c2a90,undo,,,,b3d09a12
//! ```
//!
//! The last line of a row counts, and `undo` takes back the one before it: then the line before that counts again. A chosen or
//! searched row whose turn in the random order has come is written once more, as a random one. The fingerprint is that of the cells of the row, the check that of the line. An incomplete
//! last line, of a process that was killed, is dropped; any other damage is refused, or left out where that is asked for.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;
use udeed::file::{Lock, LockError};
use udeed::labeling::{Answer, Entry, Origin, Reply};
use udeed::text::{byte_size, quoted};

use crate::error::{Error, Result};

const HEADER: &str = "row,fingerprint,answer,label,origin,predicted,check\n";
const FIELDS: usize = 7;
/// The words for what is answered, besides a label.
const LABEL: &str = "label";
const NOT_SURE: &str = "not sure";
const SKIP: &str = "skip";
const UNDO: &str = "undo";

/// Treatment of damaged lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// They are an error, and the file stays as it is.
    Refused,
    /// They are taken out of the file; their rows are asked for again.
    LeftOut,
}

/// The fingerprint of a row: the checksum of its cells, that of the label left out.
///
/// ```
/// use udeed_label::fingerprint;
///
/// let cells = ["1".to_owned(), "yes".to_owned()];
/// assert_eq!(fingerprint(&cells, Some(1)), fingerprint(&["1".into(), String::new()], Some(1)));
/// assert_ne!(fingerprint(&cells, None), fingerprint(&["1y".into(), "es".into()], None));
/// ```
pub fn fingerprint(cells: &[String], label: Option<usize>) -> u32 {
    sum(cells.iter().enumerate().filter(|(place, _)| Some(*place) != label).map(|(_, cell)| cell.as_bytes()))
}

fn sum<'a>(texts: impl Iterator<Item = &'a [u8]>) -> u32 {
    let mut crc = Crc::new();
    for text in texts {
        crc.update(text);
        // A terminator: this byte does not occur in UTF-8.
        crc.update(&[0xff]);
    }
    crc.sum()
}

/// A line: an entry of the session, and the fingerprint of its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) entry: Entry,
    pub(crate) fingerprint: u32,
}

impl Line {
    pub(crate) fn row(&self) -> usize {
        match &self.entry {
            Entry::Answer(answer) => answer.row,
            Entry::Undo { row } => *row,
        }
    }

    fn fields(&self) -> [String; FIELDS] {
        let (answer, label, origin, predicted) = match &self.entry {
            Entry::Undo { .. } => (UNDO, "", "", ""),
            Entry::Answer(Answer { reply, origin, predicted, .. }) => {
                let (answer, label) = match reply {
                    Reply::Class(name) => (LABEL, name.as_str()),
                    Reply::NotSure => (NOT_SURE, ""),
                    Reply::Skip => (SKIP, ""),
                };
                (answer, label, origin.name(), predicted.as_deref().unwrap_or_default())
            }
        };
        let (row, fingerprint) = ((self.row() + 1).to_string(), format!("{:08x}", self.fingerprint));
        let texts = [&row, &fingerprint, answer, label, origin, predicted].map(str::to_owned);
        let check = format!("{:08x}", sum(texts.iter().map(String::as_bytes)));
        let [row, fingerprint, answer, label, origin, predicted] = texts;
        [row, fingerprint, answer, label, origin, predicted, check]
    }

    /// The line of some fields, or what is wrong with them.
    fn of(fields: &csv::ByteRecord) -> std::result::Result<Self, String> {
        let texts: Option<Vec<&str>> = fields.iter().map(|field| std::str::from_utf8(field).ok()).collect();
        let Some([row, fingerprint, answer, label, origin, predicted, check]) = texts.as_deref() else {
            return Err(format!("{} cells", fields.len()));
        };
        let expected =
            sum([row, fingerprint, answer, label, origin, predicted].into_iter().map(|text| text.as_bytes()));
        if **check != format!("{expected:08x}") {
            return Err("a line whose checksum does not match".into());
        }
        let row =
            row.parse().ok().and_then(|row: usize| row.checked_sub(1)).ok_or(format!("the row {}", quoted(row)))?;
        let fingerprint = u32::from_str_radix(fingerprint, 16).map_err(|_| "no fingerprint")?;
        let reply = match *answer {
            UNDO => return Ok(Line { entry: Entry::Undo { row }, fingerprint }),
            LABEL => Reply::Class((*label).to_owned()),
            NOT_SURE => Reply::NotSure,
            SKIP => Reply::Skip,
            other => return Err(format!("the answer {}", quoted(other))),
        };
        let origin = Origin::named(origin).ok_or_else(|| format!("the origin {}", quoted(origin)))?;
        let predicted = Some((*predicted).to_owned()).filter(|class| !class.is_empty());
        Ok(Line { entry: Entry::Answer(Answer { row, reply, origin, predicted }), fingerprint })
    }
}

/// Bytes of a file of answers, at most: some four million of them.
const MOST_BYTES: u64 = 1 << 28;

/// Refuses what is there and no file: a device may have no end.
fn check_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(at) if !at.is_file() => {
            let found = "a folder or a device".into();
            Err(Error::NotAnswers { path: path.display().to_string(), found })
        }
        _ => Ok(()),
    }
}

/// Reads a file of answers; of what is none, only the beginning.
fn read_bounded(path: &Path, file: &mut File) -> Result<Vec<u8>> {
    let name = || path.display().to_string();
    let refused = |cause| Error::io(name(), "read", cause);
    file.rewind().map_err(refused)?;
    let mut bytes = Vec::new();
    file.take(BEGINNING).read_to_end(&mut bytes).map_err(refused)?;
    if !bytes.starts_with(HEADER.as_bytes()) {
        return Ok(bytes);
    }
    // Others may append to it meanwhile: no more is read than was there.
    let length = file.metadata().map_err(refused)?.len();
    if length > MOST_BYTES {
        let (found, expected) = (byte_size(length), format!("a file of answers of at most {}", byte_size(MOST_BYTES)));
        let place = Box::new(udeed::Place::new(name()));
        return Err(udeed::Error::Input { place, found, expected, hint: None }.into());
    }
    file.take(length.saturating_sub(BEGINNING)).read_to_end(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

/// Bytes that tell whether a file may be one of answers, and what it holds instead.
const BEGINNING: u64 = 1 << 12;

/// The file of answers, locked as long as it is open.
#[derive(Debug)]
pub(crate) struct Answers {
    path: PathBuf,
    file: File,
    /// None once nothing is to be written any more.
    lock: Option<Lock>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The lines with their numbers.
    pub(crate) lines: Vec<(u64, Line)>,
    /// The length of the complete lines, 0 for a file without its header.
    length: u64,
    damaged: Vec<(u64, String)>,
}

impl Answers {
    /// Opens answers, new or to go on with.
    ///
    /// # Errors
    /// If another process has them open, the file holds something else or is damaged, or it cannot be read or written.
    pub(crate) fn open(path: &Path, damaged: Damaged) -> Result<(Self, Reading)> {
        let name = || path.display().to_string();
        check_file(path)?;
        let lock = Lock::take(path).map_err(|error| match error {
            LockError::Held { by } => Error::InUse { path: name(), holder: by },
            LockError::Io { path, action, cause } => Error::io(path, action, cause),
        })?;
        let refused = |action| move |cause| Error::io(path.display().to_string(), action, cause);
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = open().map_err(refused("open"))?;
        let reading = Reading::of(path, &mut file)?;
        if let Some((line, found)) = reading.damaged.first() {
            if damaged == Damaged::Refused {
                return Err(Error::Damaged { path: name(), line: *line, found: found.clone() });
            }
            udeed::file::write_file(path, |out| {
                out.write_all(&text(reading.lines.iter().map(|(_, line)| line), true))
            })?;
            file = open().map_err(refused("open"))?;
        } else if reading.length == 0 {
            // Reading has moved the position in the file: the next write would leave a gap.
            let emptied = file.set_len(0).and_then(|()| file.rewind());
            emptied.and_then(|()| file.write_all(HEADER.as_bytes())).map_err(refused("write"))?;
            file.sync_all().map_err(refused("write"))?;
            udeed::file::sync_folder_of(path);
        } else {
            file.set_len(reading.length).map_err(refused("write"))?;
        }
        file.seek(SeekFrom::End(0)).map_err(refused("write"))?;
        Ok((Answers { path: path.to_path_buf(), file, lock: Some(lock) }, reading))
    }

    /// Appends lines: all of them are on the disk when this returns, or none is in the file.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn append(&mut self, lines: &[Line]) -> Result<()> {
        let refused = |cause| Error::io(self.path.display().to_string(), "write", cause);
        if self.lock.is_none() {
            return Err(refused(std::io::Error::other("labeling is finished")));
        }
        let end = self.file.stream_position().map_err(refused)?;
        let written = self.file.write_all(&text(lines.iter(), false)).and_then(|()| self.file.sync_data());
        written.map_err(|cause| {
            // The next line would be joined to what was written of this one.
            _ = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::Start(end)));
            refused(cause)
        })
    }

    /// Lets others write.
    pub(crate) fn release(&mut self) {
        self.lock = None;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Lines as they are in the file.
fn text<'a>(lines: impl Iterator<Item = &'a Line>, with_header: bool) -> Vec<u8> {
    let mut text = csv::Writer::from_writer(if with_header { HEADER.as_bytes().to_vec() } else { Vec::new() });
    for line in lines {
        // Nothing written to memory fails.
        _ = text.write_record(line.fields());
    }
    text.into_inner().unwrap_or_default()
}

impl Reading {
    /// Reads answers without writing to them.
    ///
    /// # Errors
    /// If the file cannot be read, holds something else, or a line is damaged.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        check_file(path)?;
        let opened = File::open(path);
        let mut file = opened.map_err(|cause| Error::io(path.display().to_string(), "open", cause))?;
        let reading = Reading::of(path, &mut file)?;
        match reading.damaged.first() {
            None => Ok(reading),
            Some((line, found)) => {
                Err(Error::Damaged { path: path.display().to_string(), line: *line, found: found.clone() })
            }
        }
    }

    fn of(path: &Path, file: &mut File) -> Result<Self> {
        let bytes = read_bounded(path, file)?;
        let mut reading = Reading::default();
        // A header that was cut off loses nothing.
        if HEADER.as_bytes().starts_with(&bytes) && bytes.len() < HEADER.len() {
            return Ok(reading);
        }
        let Some(lines) = bytes.strip_prefix(HEADER.as_bytes()) else {
            let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let found = quoted(&String::from_utf8_lossy(&first[..first.len().min(200)]));
            return Err(Error::NotAnswers { path: path.display().to_string(), found });
        };
        // Without a line end the last line was cut off, and its answer was never confirmed.
        let complete = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        reading.length = (HEADER.len() + complete) as u64;
        // Where the text begins that is still to be read, and in which line.
        let (mut above, mut line) = (0, 2);
        while above < complete {
            let rest = &lines[above..complete];
            let mut records = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(rest);
            let mut record = csv::ByteRecord::new();
            let (mut next, mut at) = (rest.len(), line);
            while records.read_byte_record(&mut record).unwrap_or(false) {
                let start = record.position().map_or(0, |place| place.byte() as usize);
                at = line + record.position().map_or(1, csv::Position::line) - 1;
                let text = &rest[start..records.position().byte() as usize];
                match Line::of(&record) {
                    Ok(line) => reading.lines.push((at, line)),
                    Err(_) if start + text.len() == rest.len() && is_cut_off(&record, text) => {
                        reading.length = (HEADER.len() + above + start) as u64;
                    }
                    Err(found) => {
                        reading.damaged.push((at, found));
                        // A quote that should not be there swallows the lines below, which may be sound.
                        let end = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| end + 1);
                        if end < text.len() {
                            (next, at) = (start + end, at + 1);
                            break;
                        }
                    }
                }
            }
            (above, line) = (above + next, at);
        }
        Ok(reading)
    }
}

/// Whether the last record, which holds the end of a line, was cut off there: in a label or a prediction that goes on in the
/// next line. One in which a line ends as lines do has lost its closing quote, or holds one too many.
fn is_cut_off(record: &csv::ByteRecord, text: &[u8]) -> bool {
    let is_open = text.iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
    let ends_as_a_line = |line: &[u8]| line.last_chunk::<8>().is_some_and(|end| end.iter().all(u8::is_ascii_hexdigit));
    is_open && matches!(record.len(), 4 | 6) && !text.split(|&byte| byte == b'\n').any(ends_as_a_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: usize, name: &str) -> Line {
        let reply = match name {
            "?" => Reply::NotSure,
            name => Reply::Class(name.to_owned()),
        };
        let answer = Answer { row, reply, origin: Origin::Random, predicted: Some("a".into()) };
        Line { entry: Entry::Answer(answer), fingerprint: 7 }
    }

    fn lines() -> Vec<Line> {
        let undo = Line { entry: Entry::Undo { row: 4 }, fingerprint: 9 };
        vec![line(3, "a"), line(4, "say \"b\",\nor c"), undo, line(5, "?")]
    }

    fn read(path: &Path) -> Vec<Line> {
        Reading::of_file(path).unwrap().lines.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels.csv");
        let (mut answers, reading) = Answers::open(&path, Damaged::Refused).unwrap();
        assert!(reading.lines.is_empty());
        lines().iter().for_each(|line| answers.append(std::slice::from_ref(line)).unwrap());
        assert!(matches!(Answers::open(&path, Damaged::Refused), Err(Error::InUse { holder: Some(_), .. })));
        drop(answers);
        assert_eq!(read(&path), lines());
        assert_eq!(Reading::of_file(&path).unwrap().lines.iter().map(|line| line.0).collect::<Vec<_>>(), [2, 3, 5, 6]);
    }

    /// Killed at any byte: what was told to count is there, and the rest is gone.
    #[test]
    fn a_file_cut_anywhere_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels.csv");
        let all = lines();
        let whole = text(all.iter(), true);
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let (mut answers, reading) = Answers::open(&path, Damaged::Refused).unwrap();
            let n = reading.lines.len();
            assert!(all.starts_with(&reading.lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>()));
            answers.append(&all[n..]).unwrap();
            drop(answers);
            assert_eq!(read(&path), all, "cut at {end}");
        }
    }

    /// A byte that became a quote swallows what comes after it: that was told to count, and stays.
    #[test]
    fn a_byte_that_became_a_quote_takes_no_other_line_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels.csv");
        let all = [line(3, "a"), line(4, "two\nlines"), line(5, "b"), line(6, "c")];
        let whole = text(all.iter(), true);
        for tail in ["", "7,0000"] {
            // Without its end the last line is one that was cut off.
            for at in HEADER.len()..whole.len() - 1 {
                let damaged: Vec<u8> = [&whole[..at], b"\"", &whole[at + 1..], tail.as_bytes()].concat();
                if damaged[..whole.len()] == whole {
                    continue;
                }
                std::fs::write(&path, &damaged).unwrap();
                let error = Answers::open(&path, Damaged::Refused).map(|_| ()).unwrap_err();
                assert!(matches!(error, Error::Damaged { .. }), "{at}: {error}");
                assert!(Reading::of_file(&path).is_err(), "{at}");
                assert_eq!(std::fs::read(&path).unwrap(), damaged, "{at}");
                drop(Answers::open(&path, Damaged::LeftOut).unwrap());
                let left = read(&path);
                // A line end that became a quote joins two lines.
                assert!(left.len() >= 2 && left.iter().all(|line| all.contains(line)), "{at}: {left:?}");
            }
        }
    }

    #[test]
    fn damage_is_refused_or_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.labels.csv");
        let all = [line(3, "a"), line(4, "b"), line(5, "c")];
        let whole = String::from_utf8(text(all.iter(), true)).unwrap();
        std::fs::write(&path, whole.replace(",b,random", ",c,random")).unwrap();
        let error = Answers::open(&path, Damaged::Refused).unwrap_err();
        assert!(error.to_string().ends_with(
            "a.labels.csv, line 3: a line whose checksum does not match, expected a line as it was written"
        ));
        let (answers, reading) = Answers::open(&path, Damaged::LeftOut).unwrap();
        assert_eq!(reading.lines.len(), 2);
        drop(answers);
        assert_eq!(read(&path), [line(3, "a"), line(5, "c")]);
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        let error = Answers::open(&path, Damaged::LeftOut).unwrap_err();
        assert!(error.to_string().ends_with("line 1: `a,b`, expected the header of a file of answers"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"a,b\n1,2\n");
    }
}

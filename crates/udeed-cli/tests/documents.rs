//! The shell blocks of the documents: every call of `udeed` in them is run, and prints what stands there. Other lines say why they
//! are not run.
//!
//! `UDEED_RECORD=1 cargo test -p udeed-cli --test documents` writes what they print into the documents.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

/// A line before a block that is not run, with the reason.
const NOT_RUN: &str = "<!-- not run:";
/// Stands for any lines.
const ANY: &str = "...";

#[test]
fn the_shell_blocks_of_the_documents_print_what_stands_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut calls = 0;
    for document in documents(&root) {
        let folder = TempDir::new().unwrap();
        let text = fs::read_to_string(&document).unwrap();
        let name = document.display();
        assert_eq!(
            unrun(&text),
            [""; 0],
            "{name}: begin calls with `$ udeed`, or their block with `{NOT_RUN} WHY -->`"
        );
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the last on, so that the places of the others stay.
        let mut printed_by: Vec<(Call, Vec<String>)> = Vec::new();
        for call in calls_of(&text) {
            let printed = run(&call.line, folder.path());
            calls += 1;
            printed_by.push((call, printed));
        }
        if std::env::var_os("UDEED_RECORD").is_some() {
            for (call, printed) in printed_by.into_iter().rev() {
                lines.splice(call.place.clone(), call.updated(&printed));
            }
            fs::write(&document, lines.join("\n") + "\n").unwrap();
            continue;
        }
        for (call, printed) in printed_by {
            let name = document.file_name().unwrap().to_string_lossy();
            assert!(
                agrees(&call.expected, &printed),
                "{name}: `{}` prints\n{}\nand the document says\n{}",
                call.line,
                printed.join("\n"),
                call.expected.join("\n")
            );
        }
    }
    assert!(calls >= 8, "only {calls} calls were found");
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let folders = ["", "bench", "crates/udeed", "docs", "docs/python", "python"];
    let in_folder = |folder| fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = folders.into_iter().flat_map(in_folder).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    all.sort();
    all
}

struct Call {
    line: String,
    expected: Vec<String>,
    /// The lines of the document that hold what is expected.
    place: Range<usize>,
}

impl Call {
    /// What is expected, with what was printed: as much of it as there was before.
    fn updated(&self, printed: &[String]) -> Vec<String> {
        let shown = self.expected.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let (before, after) = self.expected.split_at(shown);
        let kept: Vec<String> = match before.iter().position(|line| line == ANY) {
            _ if before.is_empty() => Vec::new(),
            Some(any) => printed.iter().take(any).cloned().chain([ANY.to_owned()]).collect(),
            None => trimmed(printed),
        };
        kept.into_iter().chain(after.iter().cloned()).collect()
    }
}

/// Without spaces at the ends of lines and empty lines at the end.
fn trimmed(lines: &[String]) -> Vec<String> {
    let lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines[..end].to_vec()
}

/// A block of shell; one of anything else names its language.
struct Block<'a> {
    /// With their numbers.
    lines: Vec<(usize, &'a str)>,
    /// Whether the line before says why it is not run.
    is_excused: bool,
}

fn shell_blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut before) = (Vec::new(), None, "");
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            open = match open.take() {
                None => Some((language, Block { lines: Vec::new(), is_excused: before.starts_with(NOT_RUN) })),
                Some(("" | "bash" | "console" | "sh", block)) => {
                    blocks.push(block);
                    None
                }
                Some(_) => None,
            };
        } else if let Some((_, block)) = &mut open {
            block.lines.push((number, line));
        }
        if !line.is_empty() {
            before = line;
        }
    }
    blocks
}

/// The arguments of a line that calls the command.
fn arguments(line: &str) -> Option<&str> {
    let typed = line.strip_prefix("$ ")?;
    typed.strip_prefix("udeed ").or(typed.strip_prefix("cargo run --release -- "))
}

/// The calls of the command in a document, with what it prints.
fn calls_of(text: &str) -> Vec<Call> {
    let mut calls = Vec::<Call>::new();
    for block in shell_blocks(text).into_iter().filter(|block| !block.is_excused) {
        for (number, line) in block.lines {
            let next = number + 1;
            if let Some(line) = arguments(line) {
                calls.push(Call { line: line.to_owned(), expected: Vec::new(), place: next..next });
            } else if let Some(call) = calls.last_mut().filter(|call| call.place.end == number) {
                call.expected.push(line.to_owned());
                call.place.end = next;
            }
        }
    }
    calls
}

/// Lines that are not run, though nothing says why: in a block without a prompt all are, in another those with one.
fn unrun(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for block in shell_blocks(text).into_iter().filter(|block| !block.is_excused) {
        let has_prompts = block.lines.iter().any(|(_, line)| line.starts_with("$ "));
        let lines = block.lines.into_iter().map(|(_, line)| line);
        found.extend(lines.filter(|line| (line.starts_with("$ ") || !has_prompts) && arguments(line).is_none()));
    }
    found
}

/// What a call prints, messages and results as they come.
fn run(arguments: &str, folder: &Path) -> Vec<String> {
    let binary = cargo_bin("udeed");
    let shell = format!("'{}' {arguments} 2>&1", binary.display());
    let output = Command::new("sh").args(["-c", &shell]).current_dir(folder).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "`udeed {arguments}` fails: {printed}");
    printed.lines().map(str::to_owned).collect()
}

/// Whether the lines are those expected: spaces at the end and empty lines between calls do not matter.
fn agrees(expected: &[String], printed: &[String]) -> bool {
    let (expected, printed) = (trimmed(expected), trimmed(printed));
    match expected.iter().position(|line| line == ANY) {
        // A block may leave out the end, but not all.
        Some(any) => any > 0 && printed.starts_with(&expected[..any]),
        // A call whose output is not shown need only succeed.
        None => expected.is_empty() || expected == printed,
    }
}

#[test]
fn blocks_are_read_as_they_are_meant() {
    let text = "a\n```\n$ udeed a b\nsome\n\n$ udeed c\n...\n```\n\
                <!-- not run: minutes -->\n```\n$ udeed d\n```\n```python\nx\n```\n";
    let calls = calls_of(text);
    assert_eq!(unrun(text), [""; 0]);
    assert_eq!(unrun(&text.replace("$ udeed a b", "$ make")), ["$ make"]);
    assert_eq!(unrun(&text.replace("$ udeed", "udeed")), ["udeed a b", "some", "", "udeed c", "..."]);
    let lines: Vec<(&str, Vec<&str>)> =
        calls.iter().map(|call| (&call.line[..], call.expected.iter().map(String::as_str).collect())).collect();
    assert_eq!(lines, [("a b", vec!["some", ""]), ("c", vec!["..."])]);
    let all = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<String>>();
    assert!(agrees(&all(&["some", ""]), &all(&["some"])) && !agrees(&all(&["some"]), &all(&["some", "more"])));
    assert!(
        agrees(&all(&["some", "..."]), &all(&["some", "more"])) && !agrees(&all(&["other", "..."]), &all(&["some"]))
    );
}

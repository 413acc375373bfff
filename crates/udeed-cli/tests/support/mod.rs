//! A folder in which the real binary runs, so that commands and messages hold bare file names.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use tempfile::TempDir;

/// Rows with numbers, a nominal column, a missing value and unlabeled rows.
pub const FRUIT: &str = "\
mass,width,colour,kind
150,7.1,red,apple
162,7.4,green,apple
171,7.5,red,apple
158,7.0,red,apple
120,6.1,orange,orange
131,6.4,orange,orange
140,6.6,orange,orange
,6.9,red,apple
128,6.3,orange,orange
155,7.2,green,
136,6.5,orange,
149,7.0,red,
";

pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    /// The same folder after a call that must succeed.
    pub fn after(self, line: &str) -> Self {
        self.run(line);
        self
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap()
    }

    /// The command `udeed` with arguments between spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = cargo_bin_cmd!("udeed");
        command.current_dir(self.path()).args(line.split_whitespace()).timeout(Duration::from_secs(30));
        command
    }

    /// Standard output of a call that must succeed.
    pub fn run(&self, line: &str) -> String {
        text(&self.command(line).assert().success().get_output().stdout)
    }

    /// Standard error of a call that must succeed.
    pub fn told(&self, line: &str) -> String {
        text(&self.command(line).assert().success().get_output().stderr)
    }

    /// The model that a call of `fit` writes.
    pub fn model(&self, line: &str) -> Vec<u8> {
        self.run(&format!("{line} --out model"));
        self.bytes("model")
    }

    /// Standard error of a call that must fail with a code, a message and no panic.
    pub fn fail(&self, code: i32, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        refusal(&output, code, line)
    }

    /// As [`Folder::fail`], with all these words.
    #[track_caller]
    pub fn fail_with(&self, code: i32, line: &str, words: &[&str]) {
        let message = self.fail(code, line);
        for word in words {
            assert!(message.contains(word), "{line}: `{word}` in: {message}");
        }
    }
}

/// Standard error of a call that failed as it should: with a code and a message, which warnings may
/// precede, without a panic and without results.
pub fn refusal(output: &Output, code: i32, what: &str) -> String {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{what}: {message}");
    let mut lines = message.lines().skip_while(|line| line.starts_with("warning: "));
    assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "{what}: {message}");
    assert!(!message.contains("panicked"), "{what}: {message}");
    assert_eq!(text(&output.stdout), "", "{what}");
    message
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

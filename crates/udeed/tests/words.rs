//! The library speaks to everybody: its messages and documentation name no option of the command, none of its verbs, and no
//! parameter of the Python package.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

/// The options that a line names, such as `--drop`.
fn options(line: &str) -> impl Iterator<Item = &str> {
    let begins = line.match_indices("--").map(|(at, _)| at).filter(|&at| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            && line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase())
    });
    begins.map(|at| {
        let rest = &line[at..];
        &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len())]
    })
}

/// The verbs that a line names as those of the command.
fn verbs(line: &str) -> impl Iterator<Item = &str> {
    const COMMAND: &str = "`udeed ";
    let begins = line.match_indices(COMMAND).map(|(at, _)| &line[at..]);
    begins.filter(|rest| rest[COMMAND.len()..].starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The parameters that a line names which only Python has.
fn parameters(line: &str) -> impl Iterator<Item = &str> {
    const PARAMETERS: [&str; 5] = ["random_state", "n_jobs", "class_weight", "sample_weight", "class_prior"];
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| PARAMETERS.contains(word))
}

fn check(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut n_files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            n_files += check(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            n_files += 1;
            for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
                let names = options(line).chain(verbs(line)).chain(parameters(line));
                found.extend(names.map(|name| format!("{}:{number}: {name}", path.display())));
            }
        }
    }
    n_files
}

#[test]
fn the_library_names_nothing_of_the_command_or_of_python() {
    assert_eq!(
        options("say `--nominal {0}`; or, \"--drop {0}\" -- x --- a--b").collect::<Vec<_>>(),
        ["--nominal", "--drop"]
    );
    assert_eq!(verbs("see `udeed fit`, or the command `udeed`").count(), 1);
    assert_eq!(parameters("`random_state=7`; `class_weights`").collect::<Vec<_>>(), ["random_state"]);
    let mut found = Vec::new();
    let n_files = check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(n_files > 50, "only {n_files} files were read");
    assert!(found.is_empty(), "hints are data, worded in udeed-cli/src/hints.rs:\n{}", found.join("\n"));
}

//! What the command says of itself: first steps, help, version, completions and manual pages.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::Write;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use support::{Folder, text};

/// All verbs, as the help lists them.
fn verbs(folder: &Folder) -> Vec<String> {
    let help = folder.run("--help");
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let verbs: Vec<String> = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned))
        .collect();
    assert!(verbs.len() > 14, "{verbs:?}");
    verbs
}

#[test]
fn a_call_without_arguments_says_three_things_to_try_which_work() {
    let folder = Folder::new();
    let output = folder.command("").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]));
    let calls: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  udeed ")).collect();
    assert_eq!(calls.len(), 3, "{said}");
    for call in calls {
        folder.run(call);
    }
    folder.run("predict model.safetensors test.csv");
}

#[test]
fn rare_options_are_in_the_whole_help_and_counted_in_the_other() {
    let folder = Folder::new();
    for verb in verbs(&folder) {
        let (few, all) = (folder.run(&format!("{verb} --help")), folder.run(&format!("{verb} --help-all")));
        assert_eq!(few, folder.run(&format!("{verb} -h")), "{verb}");
        assert_eq!(few, folder.run(&format!("help {verb}")), "{verb}");
        let options = |help: &str| {
            let begins = |line: &&str| line.trim_start().starts_with('-');
            let names = help.lines().filter(begins).flat_map(|line| line.split([' ', ',', '=', '[']));
            names.filter(|word| word.starts_with("--")).map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        let hidden = options(&all).difference(&options(&few)).count();
        let counted = few.lines().find_map(|line| line.split_once(" more option")?.0.parse().ok());
        assert_eq!(hidden, counted.unwrap_or(0), "{verb}: {:?}", options(&all).difference(&options(&few)));
    }
    assert_eq!(folder.command("help shred").output().unwrap().status.code(), Some(2));
}

#[test]
fn the_short_version_is_a_number_and_the_long_one_begins_with_it() {
    let folder = Folder::new();
    let (short, long) = (folder.run("-V"), folder.run("--version"));
    assert_eq!(short, format!("udeed {}\n", env!("CARGO_PKG_VERSION")));
    assert!(long.starts_with(short.trim_end()), "{long}");
    assert_eq!(long, folder.run("fit --version").replace("udeed-fit", "udeed"));
}

#[test]
fn completions_of_every_shell_know_every_verb_and_rare_options() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.run(&format!("completions {shell}"));
        for verb in verbs(&folder) {
            assert!(script.contains(&verb), "{shell}: {verb}");
        }
        assert!(script.contains("smoothness") && script.contains("longest-line"), "{shell}");
    }
}

/// The script of bash, in a real one.
#[test]
fn bash_completes_verbs_and_options() {
    let folder = Folder::new();
    folder.write("udeed.bash", folder.run("completions bash"));
    for (typed, expected) in
        [("udeed rep", "reproduce"), ("udeed fit --smoo", "--smoothness"), ("udeed data sp", "split")]
    {
        let words = typed.split(' ').count();
        let script = format!(
            ". ./udeed.bash; COMP_WORDS=({typed}); COMP_CWORD={}; _udeed udeed \"${{COMP_WORDS[-1]}}\" x; echo \"${{COMPREPLY[*]}}\"",
            words - 1
        );
        let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(text(&output.stdout).trim(), expected, "{typed}: {}", text(&output.stderr));
    }
}

#[test]
fn every_verb_has_a_manual_page_that_groff_reads_without_a_warning() {
    let folder = Folder::new();
    let told = folder.told("man pages/man1");
    let mut pages: Vec<String> = fs::read_dir(folder.file("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_eq!(told, format!("wrote {} pages to pages/man1\n", pages.len()));
    let mut expected: Vec<String> = verbs(&folder).iter().map(|verb| format!("udeed-{verb}.1")).collect();
    expected.extend(["list", "describe", "write", "split"].map(|verb| format!("udeed-data-{verb}.1")));
    expected.push("udeed.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    let page = fs::read_to_string(folder.file("pages/man1/udeed-fit.1")).unwrap();
    // What is said of a rare option, too.
    assert!(page.contains("smoothness") && page.contains("Write every step of the descent"), "{page}");
    for page in pages {
        // Systems without groff read the pages by other means.
        let Ok(output) = Command::new("groff")
            .args(["-ww", "-man", "-Tutf8", "-z", &format!("pages/man1/{page}")])
            .current_dir(folder.path())
            .output()
        else {
            // Past the capture of the test harness.
            let _ = writeln!(std::io::stderr(), "manual: no groff on this machine, so that the pages are not drawn");
            return;
        };
        assert!(output.status.success() && output.stderr.is_empty(), "{page}: {}", text(&output.stderr));
    }
}

/// A page cannot be written into a file.
#[test]
fn a_folder_of_pages_that_is_a_file_is_refused() {
    let folder = Folder::with("taken", "x");
    let output = Command::new(cargo_bin("udeed")).args(["man", "taken"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: taken: "), "{}", text(&output.stderr));
    assert_eq!(folder.bytes("taken"), b"x");
}

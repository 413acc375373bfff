//! Finds the commit that a release is built from, for `udeed --version`.

use std::path::Path;
use std::process::Command;

fn main() {
    // Other builds do without: each commit would compile the command again.
    let commit =
        if std::env::var("PROFILE").as_deref() == Ok("release") { packaged().or_else(checked_out) } else { None };
    let commit = commit.map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=UDEED_COMMIT={commit}");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit of a crate that `cargo package` made, which keeps it in a file.
fn packaged() -> Option<String> {
    println!("cargo::rerun-if-changed=.cargo_vcs_info.json");
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let sha1 = text.split("\"sha1\": \"").nth(1)?.split('"').next()?;
    Some(sha1.get(..12)?.to_owned())
}

/// The commit that is checked out, and whether the sources differ from it.
fn checked_out() -> Option<String> {
    // The crate may lie in the repository of somebody else, as vendored sources do.
    if !Path::new("../../crates/udeed-cli").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    for path in ["../../Cargo.lock", "../../crates", &git(&["rev-parse", "--git-path", "logs/HEAD"])?] {
        println!("cargo::rerun-if-changed={path}");
    }
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { format!("{commit} and changes") } else { commit })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}

//! Data walks one way through the house: a room uses only the rooms before it.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the library. Each uses those on the lines above its own, and its neighbours on the same line are its equals,
/// which it does not use.
const ROOMS: [&[&str]; 13] = [
    &["text", "words"],
    &["error"],
    &["file", "memory", "observer", "parallel", "random", "setting"],
    &["data"],
    &["format", "kernel", "tensor"],
    &["linalg", "neighbors"],
    &["prepare"],
    &["learner", "view"],
    &["ensemble"],
    &["method"],
    &["model"],
    &["fit"],
    &["diversity", "labeling", "validation"],
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The rooms that a text names as `crate::room`, doc comments and its tests left out.
fn used(text: &str) -> BTreeSet<&str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with("#[doc"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    paths.map(|path| path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()).collect()
}

/// The file or folder of a path in the folder of methods.
fn own_name(inside: &Path) -> &str {
    inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs")
}

/// What two methods share lies in `ensemble`.
#[test]
fn no_method_uses_another() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/method");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|file| (file.strip_prefix(&folder).unwrap().to_owned(), fs::read_to_string(&file).unwrap()))
        .collect();
    let declares = |text: &str| text.lines().any(|line| line == "method! {");
    let methods: BTreeSet<&str> =
        texts.iter().filter(|(_, text)| declares(text)).map(|(inside, _)| own_name(inside)).collect();
    assert!(methods.len() > 10, "only {methods:?} were found");
    for (inside, text) in texts.iter().filter(|(inside, _)| methods.contains(own_name(inside))) {
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for path in line.split("crate::method::").skip(1) {
                let name = path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
                let is_own = name == own_name(inside) || !methods.contains(name);
                assert!(is_own, "{} uses the method `{name}`", inside.display());
            }
        }
    }
}

#[test]
fn no_room_uses_a_later_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&source, &mut files);
    let place = |room: &str| ROOMS.iter().position(|rooms| rooms.contains(&room));
    let (mut arrows, mut seen) = (0, BTreeSet::new());
    for file in files {
        let inside = file.strip_prefix(&source).unwrap();
        let room = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if room == "lib" {
            continue;
        }
        let own = place(&room).unwrap_or_else(|| panic!("`{room}` is no room of the list"));
        let text = fs::read_to_string(&file).unwrap();
        for other in used(&text).into_iter().filter(|other| *other != room) {
            let Some(other_place) = place(other) else {
                panic!("{}: `crate::{other}` is no room of the list", inside.display());
            };
            assert!(other_place < own, "{}: `{room}` points back to `{other}`", inside.display());
            arrows += 1;
        }
        seen.insert(room);
    }
    assert_eq!(seen.len(), ROOMS.iter().map(|rooms| rooms.len()).sum::<usize>(), "a room is empty");
    assert!(arrows > 100, "only {arrows} arrows were found: the test no longer reads them");
}

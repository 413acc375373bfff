//! The Rust blocks of the documents: `cargo test` compiles and runs them.
//!
//! They are no part of the packaged library, in which the documents do not lie.

macro_rules! documents {
    ($($name:ident: $path:literal,)+) => {
        $(#[cfg(doctest)]
        #[doc = include_str!($path)]
        struct $name;)+
    };
}

documents! {
    Start: "../docs/start.md",
    Rust: "../crates/udeed/README.md",
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Documents that quote parts of the sources, which are compiled where they stand.
    const EXCERPTS: [&str; 1] = ["docs/adding-a-method.md"];

    fn markdown(folder: &Path) -> Vec<PathBuf> {
        let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        inside.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
    }

    /// A document with a block of Rust that nobody compiles.
    #[test]
    fn every_document_with_rust_is_in_the_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folders = ["", "docs", "docs/python", "crates/udeed", "python"];
        for path in folders.iter().flat_map(|folder| markdown(&root.join(folder))) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            let listed = include_str!("rust_blocks.rs").contains(&format!(": \"../{name}\""));
            let quotes = EXCERPTS.contains(&name.as_str());
            assert_eq!(text.contains("```rust"), listed || quotes, "{name}");
        }
    }
}

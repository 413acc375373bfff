//! The emulated driver: built once for all tests, and found where a driver is looked for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of a driver whose card is this machine, for `LD_LIBRARY_PATH`.
pub fn folder(target: &str) -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build(target))
}

fn build(target: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../udeed-cuda");
    let folder = Path::new(target).join("emulated-driver");
    let library = folder.join("libcuda.so.1");
    let files = ["build.sh", "driver.cpp", "emulation.h"].map(|file| format!("tests/driver/{file}"));
    let inputs = files.iter().map(String::as_str).chain(["kernels/descent.cu"]).map(|file| sources.join(file));
    let inputs: Vec<PathBuf> = inputs.collect();
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    if inputs.iter().any(|input| changed(input) >= changed(&library)) {
        std::fs::create_dir_all(&folder).unwrap();
        // Several processes may build it at once: whoever is last puts the same in its place.
        let made = folder.join(format!("libcuda.{}.so", std::process::id()));
        let built = Command::new("sh").args([&inputs[0], &made]).status().unwrap();
        assert!(built.success(), "the emulated driver does not compile: is `$CXX`, or `c++`, a C++ compiler?");
        // The name that is looked for first: a real driver would be found before the other. A link, as the library is one.
        let link = folder.join("libcuda.so");
        if !link.exists() {
            let _ = std::os::unix::fs::symlink("libcuda.so.1", link);
        }
        std::fs::rename(&made, &library).unwrap();
    }
    folder
}

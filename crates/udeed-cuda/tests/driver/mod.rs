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
    let inputs =
        ["tests/driver/driver.cpp", "tests/driver/emulation.h", "kernels/descent.cu"].map(|file| sources.join(file));
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    if inputs.iter().any(|input| changed(input) >= changed(&library)) {
        std::fs::create_dir_all(&folder).unwrap();
        // Several processes may build it at once: whoever is last puts the same in its place.
        let made = folder.join(format!("libcuda.{}.so", std::process::id()));
        let flags = ["-std=c++20", "-O2", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-fvisibility=hidden"];
        let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let headers = sources.join("tests/driver");
        let mut command = Command::new(&compiler);
        command.args(flags).arg("-I").arg(&headers).arg("-o").args([&made, &inputs[0]]);
        let built = command.status();
        let built = built.unwrap_or_else(|error| panic!("{}: {error}; a C++ compiler is needed", compiler.display()));
        assert!(built.success(), "the emulated driver does not compile");
        // The name that is looked for first: a real driver would be found before the other. A link, as the library is one.
        let link = folder.join("libcuda.so");
        if !link.exists() {
            let _ = std::os::unix::fs::symlink("libcuda.so.1", link);
        }
        std::fs::rename(&made, &library).unwrap();
    }
    folder
}

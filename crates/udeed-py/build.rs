//! Refuses a Python without the global interpreter lock: the seam lends memory of numpy arrays to threads of ours, and relies on the
//! lock for what Python's threads may do meanwhile.

use pyo3_build_config::BuildFlag;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if pyo3_build_config::get().build_flags().0.contains(&BuildFlag::Py_GIL_DISABLED) {
        let usual = "use the usual build, such as `python3.14` in place of `python3.14t`";
        println!("cargo::error=udeed does not support free-threaded Python: {usual}");
    }
}

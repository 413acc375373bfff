//! Compresses the kernels: they are a megabyte of text, a sixth of that as gzip.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let made = std::env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("`OUT_DIR` is not set: expected Cargo"))?;
    for part in ["any", "fused_single", "fused_double"] {
        let ptx = format!("kernels/{part}.ptx");
        println!("cargo::rerun-if-changed={ptx}");
        let compressed = File::create(Path::new(&made).join(format!("{part}.ptx.gz")))?;
        let mut encoder = GzEncoder::new(compressed, Compression::best());
        encoder.write_all(&std::fs::read(&ptx)?)?;
        encoder.finish()?;
    }
    Ok(())
}

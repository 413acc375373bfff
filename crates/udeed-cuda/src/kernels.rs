//! The kernels, compiled from `kernels/descent.cu` by `kernels/compile.sh`, compressed by `build.rs`.

use std::ffi::CString;
use std::io::{self, Read};

use flate2::read::GzDecoder;

/// Kernels that are loaded together.
pub(crate) struct Kernels {
    /// What their names begin with.
    pub(crate) name: &'static str,
    /// Their PTX, which the driver compiles for its card, as gzip.
    compressed: &'static [u8],
}

impl Kernels {
    /// The PTX, as drivers take it.
    ///
    /// # Errors
    /// If it was not compressed as it should be.
    pub(crate) fn ptx(&self) -> io::Result<CString> {
        let mut text = Vec::new();
        GzDecoder::new(self.compressed).read_to_end(&mut text)?;
        Ok(CString::new(text)?)
    }
}

/// All kernels; the first ones are those whose names are none of the others'.
pub(crate) const PARTS: [Kernels; 3] = [
    Kernels { name: "any", compressed: include_bytes!(concat!(env!("OUT_DIR"), "/any.ptx.gz")) },
    Kernels { name: "fused_single", compressed: include_bytes!(concat!(env!("OUT_DIR"), "/fused_single.ptx.gz")) },
    Kernels { name: "fused_double", compressed: include_bytes!(concat!(env!("OUT_DIR"), "/fused_double.ptx.gz")) },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_those_that_the_compiler_made() {
        for part in &PARTS {
            let file = format!("{}/kernels/{}.ptx", env!("CARGO_MANIFEST_DIR"), part.name);
            assert_eq!(part.ptx().unwrap().into_bytes(), std::fs::read(file).unwrap());
        }
    }
}

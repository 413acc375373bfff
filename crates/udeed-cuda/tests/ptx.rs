//! The PTX belongs to its source. That it is what the compiler makes of it, `kernels/compile.sh --check` says.
#![allow(clippy::unwrap_used)]

use std::path::Path;

/// What `cksum` says of a text.
fn cksum(text: &[u8]) -> String {
    let length = std::iter::successors(Some(text.len()), |left| Some(left >> 8)).take_while(|&left| left > 0);
    let bytes = text.iter().copied().chain(length.map(|left| left as u8));
    let crc = bytes.fold(0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| crc << 1 ^ if crc >> 31 == 1 { 0x04c1_1db7 } else { 0 })
    });
    format!("{} {}", !crc, text.len())
}

#[test]
fn the_ptx_is_of_this_source() {
    assert_eq!(cksum(b"123456789"), "930766865 9");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let source = std::fs::read(folder.join("descent.cu")).unwrap();
    for part in ["any", "fused_single", "fused_double"] {
        let ptx = std::fs::read_to_string(folder.join(part).with_extension("ptx")).unwrap();
        let hint = "run crates/udeed-cuda/kernels/compile.sh";
        assert!(
            ptx.contains(&format!("// source: {}\n", cksum(&source))),
            "{part}.ptx is of another descent.cu: {hint}"
        );
        assert!(ptx.contains("// compiler: nvcc ") && ptx.contains("\n.version 7.8\n"), "{part}.ptx");
        // Nothing may be contracted that is not in the source.
        let (products, sums) = (["mul.f64", "mul.f32"], ["add.f64", "add.f32", "sub.f64", "sub.f32"]);
        for instruction in products.iter().chain(&sums) {
            assert!(!ptx.contains(&format!("\t{instruction} ")), "{part}.ptx: `{instruction}` may be contracted");
        }
    }
}

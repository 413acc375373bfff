//! The arithmetic of many linear members over many rows. Nothing here knows what a label is.
//!
//! Weights are stored feature by feature: `weights[j * m + k]` is the weight of feature `j` in member `k`, and the last
//! feature is the constant 1, which rows do not store. The inner loops then run over members, which lie side by side.
//!
//! [`pass()`] does all of it: rows in blocks that stay in the cache, their scores, the caller's function of them, and the
//! gradient, in one pass, in double or single precision, with the widest vectors of the machine. Of these, only the precision
//! changes the bits.

mod cosine;
mod dense;
mod dot;
mod gram;
mod near;
mod pass;
mod prefetch;
mod real;
mod scatter;
mod sigmoid;
mod single;
mod sparse;
mod sums;
mod tile;

use std::sync::OnceLock;

use pulp::Arch;

use crate::error::{Error, Result};
use crate::text::quoted;

pub(crate) use cosine::cosines;
pub(crate) use dot::{dot, sum_of};
pub(crate) use gram::gram;
pub(crate) use near::{Decay, PackedRows, Pivots};
pub(crate) use pass::{Visit, exact_pass, in_memory, map_rows, pass, scores};
pub(crate) use real::Real;
pub use sums::Precision;
pub(crate) use sums::{Grid, size_exponent};

/// The environment variable that names an instruction set.
const VARIABLE: &str = "UDEED_INSTRUCTIONS";

/// Checks the environment variable `UDEED_INSTRUCTIONS`, which may name the instruction set to use: `avx512`, `avx2` or
/// `scalar`. Without it, or where the machine lacks what it names, the best one is used. All give the same bits, so this
/// is for measuring and for finding faults. The library ignores any other name; a program calls this once, at its
/// start.
///
/// # Errors
/// If it names something else.
///
/// ```
/// assert!(udeed::check_instructions().is_ok());
/// ```
pub fn check_instructions() -> Result<()> {
    let wanted = std::env::var_os(VARIABLE).unwrap_or_default();
    match wanted.to_str() {
        Some("" | "avx512" | "avx2" | "scalar") => Ok(()),
        _ => Err(Error::setting(VARIABLE, quoted(&wanted.to_string_lossy()), "`avx512`, `avx2` or `scalar`")),
    }
}

/// The instruction set to use, see [`check_instructions`].
pub(crate) fn instructions() -> Arch {
    static CHOSEN: OnceLock<Arch> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let wanted = std::env::var(VARIABLE).unwrap_or_default();
        named_instructions(&wanted).unwrap_or_default()
    })
}

/// The instruction set of that name, if the machine has it.
fn named_instructions(name: &str) -> Option<Arch> {
    match name {
        "scalar" => Some(Arch::Scalar),
        #[cfg(target_arch = "x86_64")]
        "avx2" => pulp::x86::V3::try_new().map(Arch::V3),
        #[cfg(target_arch = "x86_64")]
        "avx512" => pulp::x86::V4::try_new().map(Arch::V4),
        _ => None,
    }
}

/// Runs `f` with the instructions of the machine at hand, which the compiler does not assume otherwise.
pub(crate) fn vectorized<F: FnOnce() -> R, R>(f: F) -> R {
    instructions().dispatch(f)
}

/// Replaces scores by `tanh(z / 2)`. A closure would be compiled without the instructions of the machine.
pub(crate) fn tanh_halves(scores: &mut [f64]) {
    vectorized(|| scores.iter_mut().for_each(|z| *z = z.tanh_half()));
}

/// Tells which instruction sets this machine has, past the capture of the test harness: a test of the others proves nothing.
#[cfg(test)]
pub(crate) fn say_what_is_tested(what: &str) {
    use std::io::Write;

    let has = |name: &&str| named_instructions(name).is_some();
    let (tested, missing): (Vec<&str>, Vec<&str>) = ["scalar", "avx2", "avx512"].into_iter().partition(has);
    let missing = if missing.is_empty() { "none".to_owned() } else { missing.join(", ") };
    let line = format!("{what}: same bits with {}; not on this machine: {missing}\n", tested.join(", "));
    // A closed standard error is no reason to fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

//! Asking the memory for rows before they are needed.

/// Asks for values that will be read soon; they are not read now.
#[inline(always)]
pub(super) fn prefetch(values: &[f64]) {
    const PER_LINE: usize = 8;
    for value in values.iter().step_by(PER_LINE) {
        prefetch_line(value);
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn prefetch_line(value: &f64) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: it takes a pointer but never reads through it: an address that cannot be read is ignored. And this one can be,
    // as it comes from a reference. Every x86-64 has the instruction.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
}

/// Elsewhere the processor is left to guess.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_: &f64) {}

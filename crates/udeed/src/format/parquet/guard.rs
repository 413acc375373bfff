//! A guard around the decoders of the crate `parquet`: on damaged bytes some of them panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here, so that there is nothing to tell.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The result of some work; none if it panics, after which nothing that it worked on may be used.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let tell = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                tell(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_result() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| [0; 3].iter().max().map(|x| 1 / x)), None);
    }
}

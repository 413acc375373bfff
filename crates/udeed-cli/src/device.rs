//! The device that `--device` names.

use std::sync::Arc;

use udeed::method::udeed::Device;

/// The device of a name; none for the processor.
#[cfg(feature = "cuda")]
pub fn named(name: &str) -> udeed::Result<Option<Arc<dyn Device>>> {
    Ok(udeed_cuda::Cuda::named(name)?.map(|cuda| Arc::new(cuda) as Arc<dyn Device>))
}

#[cfg(not(feature = "cuda"))]
pub fn named(name: &str) -> udeed::Result<Option<Arc<dyn Device>>> {
    let found = "a command that was built without the feature `cuda`";
    Err(udeed::Error::device(name, found, "one with it", Some(udeed::Hint::OtherDevice)))
}

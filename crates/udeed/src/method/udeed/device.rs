//! Where the descent runs, if not on the processor.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::method::udeed::{EnsembleLoss, Objective};

/// Something other than the processor that evaluates the loss of the descent, such as a graphics card.
///
/// What it computes may differ in the last digits from what the processor computes, but models know nothing of it: it is
/// neither saved nor compared.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use udeed::method::udeed::{Device, EnsembleLoss, Objective, Stages};
/// use udeed::prelude::*;
///
/// /// The processor, which counts the stages of descents.
/// #[derive(Debug, Default)]
/// struct Counted(AtomicUsize);
///
/// impl Device for Counted {
///     fn name(&self) -> String {
///         "counted".to_owned()
///     }
///
///     fn start<'a>(&'a self) -> Result<Box<dyn Stages<'a> + 'a>> {
///         Ok(Box::new(self))
///     }
/// }
///
/// impl<'a> Stages<'a> for &'a Counted {
///     fn objective<'s>(&'s self, loss: EnsembleLoss<'a>) -> Result<Box<dyn Objective + 's>> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(Box::new(loss))
///     }
/// }
///
/// let train = built_in("vote")?.read()?.into_train()?;
/// let counted = Arc::new(Counted::default());
/// let model = Udeed::new().variant(Variant::Lcd).on(counted.clone()).fit(&train)?;
/// assert_eq!(counted.0.load(Ordering::Relaxed), 1);
/// assert_eq!(model.ensemble(), Udeed::new().variant(Variant::Lcd).fit(&train)?.ensemble());
/// # Ok::<(), udeed::Error>(())
/// ```
pub trait Device: fmt::Debug + Send + Sync {
    /// Name in messages, as it is asked for: `cuda:0`.
    fn name(&self) -> String;

    /// Whether it evaluates the loss in exact sums, see [`Precision::Exact`](crate::method::udeed::Precision::Exact).
    fn sums_exactly(&self) -> bool {
        false
    }

    /// Starts a descent.
    ///
    /// # Errors
    /// If the device cannot be used.
    fn start<'a>(&'a self) -> Result<Box<dyn Stages<'a> + 'a>>;
}

/// A descent on a [`Device`]. It keeps what its stages share: rows lie where they lie until the descent ends, so each needs to
/// be sent to the device only once.
pub trait Stages<'a> {
    /// The objective of a stage: UDEED's loss, evaluated on the device.
    ///
    /// # Errors
    /// If the device cannot evaluate this loss, or has no room for its rows. What is refused is never evaluated on the processor
    /// instead.
    fn objective<'s>(&'s self, loss: EnsembleLoss<'a>) -> Result<Box<dyn Objective + 's>>;
}

/// The device of a fit; none for the processor. All are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnDevice(pub(crate) Option<Arc<dyn Device>>);

impl OnDevice {
    /// Methods that hold a device can run on one.
    pub(crate) const AVAILABLE: bool = true;
}

impl PartialEq for OnDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

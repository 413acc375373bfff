//! The driver of the card: a context, memory and launches, each with an error that says what failed. All `unsafe` code is here.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::{DriverError, result, sys};
use udeed::text::byte_size;
use udeed::{Error, Hint, Result};

use crate::kernels::PARTS;

/// The oldest version of CUDA whose drivers understand the kernels.
const OLDEST_CUDA: i32 = 11_080;
/// The lowest compute capability that has the instructions of the kernels.
const LOWEST_CAPABILITY: (i32, i32) = (8, 0);

/// A card that is open.
pub(crate) struct Card {
    /// As it is asked for: `cuda:0`.
    name: String,
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Its compute capability.
    pub(crate) capability: (i32, i32),
    /// Bytes of shared memory that a block may have.
    pub(crate) shared: usize,
    kernels: Mutex<Kernels>,
}

/// What was loaded so far.
#[derive(Default)]
struct Kernels {
    modules: Vec<(&'static str, sys::CUmodule)>,
    /// Functions, and how much shared memory they may ask for.
    functions: HashMap<&'static str, (sys::CUfunction, usize)>,
}

// SAFETY: the driver may be called from every thread; handles of contexts, modules and functions are no thread's own.
unsafe impl Send for Card {}
// SAFETY: as above; what changes is behind a mutex.
unsafe impl Sync for Card {}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Card").field(&self.name).finish()
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    Pointer(u64),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
}

/// A kernel's grid of blocks, threads of a block, and bytes of shared memory of a block.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: (usize, usize, usize),
    pub(crate) threads: usize,
    pub(crate) shared: usize,
}

/// Numbers as they lie on the card.
pub(crate) trait Number: Copy {}
impl Number for f32 {}
impl Number for f64 {}

impl Card {
    pub(crate) fn open(ordinal: Option<usize>) -> Result<Self> {
        let name = ordinal.map_or_else(|| "cuda".to_owned(), |ordinal| format!("cuda:{ordinal}"));
        let refused = |found: String, expected: &str| Error::device(&name, found, expected, Some(Hint::Driver));
        // SAFETY: loads the library of the driver, or finds that there is none.
        if !unsafe { sys::is_culib_present() } {
            return Err(refused("no driver library `libcuda.so.1`".into(), "that of an NVIDIA card"));
        }
        result::init().map_err(|error| match error.0 {
            sys::cudaError_enum::CUDA_ERROR_NO_DEVICE => refused("no card".into(), "an NVIDIA card"),
            _ => refused(said(error), "a driver that starts"),
        })?;
        let mut version = 0;
        // SAFETY: writes one number.
        let asked = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
        asked.map_err(|error| refused(said(error), "the version of the driver"))?;
        if version < OLDEST_CUDA {
            let found = format!("a driver of CUDA {}.{}", version / 1000, version % 1000 / 10);
            return Err(refused(found, "one of CUDA 11.8 (520) or newer"));
        }
        let count = result::device::get_count().map_err(|error| refused(said(error), "the number of cards"))?;
        let ordinal = ordinal.unwrap_or_default();
        let device = match i32::try_from(ordinal).ok().filter(|&ordinal| ordinal < count) {
            Some(ordinal) => result::device::get(ordinal).map_err(|error| refused(said(error), "a card"))?,
            None => {
                let (found, expected) = (format!("{count} cards"), format!("more than {ordinal}"));
                let found = if count == 1 { "1 card".into() } else { found };
                return Err(Error::device(&name, found, expected, Some(Hint::OtherDevice)));
            }
        };
        let attribute = |which| {
            // SAFETY: reads one number of a device that exists.
            unsafe { result::device::get_attribute(device, which) }
                .map_err(|error| refused(said(error), "its attributes"))
        };
        use sys::CUdevice_attribute_enum as Attribute;
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        if capability < LOWEST_CAPABILITY {
            let model = result::device::get_name(device).unwrap_or_default();
            let found = format!("a card of compute capability {}.{} ({model})", capability.0, capability.1);
            return Err(Error::device(&name, found, "8.0 or higher", Some(Hint::OtherDevice)));
        }
        let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        // SAFETY: retained here, released when the card is dropped.
        let context = unsafe { result::primary_ctx::retain(device) };
        let context = context.map_err(|error| {
            let hint = if is_memory(error) { Hint::DeviceMemory } else { Hint::Driver };
            Error::device(&name, said(error), "room for its context", Some(hint))
        })?;
        let name = format!("cuda:{ordinal}");
        Ok(Card { name, device, context, capability, shared: shared.max(0) as usize, kernels: Mutex::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn failed(&self, error: DriverError, expected: &str) -> Error {
        let hint = if is_memory(error) { Hint::DeviceMemory } else { Hint::OtherDevice };
        Error::device(&self.name, said(error), expected, Some(hint))
    }

    /// Lets this thread work on the card.
    pub(crate) fn enter(&self) -> Result<()> {
        // SAFETY: the context is alive as long as the card.
        unsafe { result::ctx::set_current(self.context) }.map_err(|error| self.failed(error, "its context"))
    }

    /// Memory for some numbers; none of them are written yet.
    pub(crate) fn room<T: Number>(&self, length: usize, what: &str) -> Result<Room<'_, T>> {
        let bytes = length * size_of::<T>();
        // SAFETY: owned by the room, which frees it.
        match unsafe { result::malloc_sync(bytes.max(1)) } {
            Ok(at) => Ok(Room { card: self, at, length, kind: std::marker::PhantomData }),
            Err(error) if is_memory(error) => {
                let (free, all) = result::mem_get_info().unwrap_or_default();
                let found = format!("{} free of {}", byte_size(free as u64), byte_size(all as u64));
                let expected = format!("{} for {what}", byte_size(bytes as u64));
                Err(Error::device(&self.name, found, expected, Some(Hint::DeviceMemory)))
            }
            Err(error) => Err(self.failed(error, "memory")),
        }
    }

    /// Begins a kernel; what it does follows what was begun before.
    pub(crate) fn launch(&self, kernel: &'static str, shape: Shape, values: &[Value]) -> Result<()> {
        let function = self.function(kernel, shape.shared)?;
        let mut arguments: Vec<*mut c_void> = values.iter().map(Value::address).collect();
        let (x, y, z) = shape.grid;
        let grid = (x as u32, y as u32, z as u32);
        // SAFETY: the arguments are those of the kernel, which tests run in an emulation that looks at every address.
        let begun = unsafe {
            let (threads, shared) = ((shape.threads as u32, 1, 1), shape.shared as u32);
            result::launch_kernel(function, grid, threads, shared, result::stream::null(), &mut arguments)
        };
        begun.map_err(|error| self.failed(error, &format!("kernel `{kernel}` to begin")))
    }

    /// Waits for everything that was begun.
    pub(crate) fn wait(&self) -> Result<()> {
        result::ctx::synchronize().map_err(|error| self.failed(error, "the end of its work"))
    }

    /// Milliseconds that the card takes for what `f` begins.
    pub(crate) fn timed(&self, f: impl FnOnce() -> Result<()>) -> Result<f64> {
        let event = || {
            result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(|error| self.failed(error, "an event"))
        };
        let (begin, end) = (event()?, event()?);
        // SAFETY: both events exist until they are destroyed below.
        let mark = |event| {
            unsafe { result::event::record(event, result::stream::null()) }.map_err(|error| self.failed(error, "time"))
        };
        let done = mark(begin).and_then(|()| f()).and_then(|()| mark(end)).and_then(|()| self.wait());
        // SAFETY: as above.
        let taken = unsafe { result::event::elapsed(begin, end) };
        for event in [begin, end] {
            // SAFETY: not used any more. What fails here has failed before.
            let _ = unsafe { result::event::destroy(event) };
        }
        done?;
        taken.map(f64::from).map_err(|error| self.failed(error, "time"))
    }

    /// The kernel of that name, with as much shared memory as it asks for.
    fn function(&self, kernel: &'static str, shared: usize) -> Result<sys::CUfunction> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kernels.functions.get(kernel).copied();
        if let Some((function, _)) = known.filter(|&(_, allowed)| allowed >= shared) {
            return Ok(function);
        }
        let part = PARTS.iter().find(|part| kernel.starts_with(part.name)).unwrap_or(&PARTS[0]);
        let module = match kernels.modules.iter().find(|(name, _)| *name == part.name) {
            Some(&(_, module)) => module,
            None => {
                let text = part.ptx().map_err(|_| Error::device(&self.name, "a broken kernel", "PTX", None))?;
                // SAFETY: the driver copies what it needs of the text.
                let module = unsafe { result::module::load_data(text.as_ptr().cast()) };
                let module = module.map_err(|error| self.failed(error, "to understand the kernels"))?;
                kernels.modules.push((part.name, module));
                module
            }
        };
        let name = CString::new(kernel).unwrap_or_default();
        // SAFETY: the module is loaded, and is until the card is dropped.
        let function = unsafe { result::module::get_function(module, name) };
        let function = function.map_err(|error| self.failed(error, &format!("kernel `{kernel}`")))?;
        let most = i32::try_from(shared).unwrap_or(i32::MAX);
        let attribute = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: as above.
        let allowed = unsafe { result::function::set_function_attribute(function, attribute, most) };
        allowed.map_err(|error| self.failed(error, &format!("shared memory for kernel `{kernel}`")))?;
        kernels.functions.insert(kernel, (function, shared));
        Ok(function)
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.enter();
        let kernels = self.kernels.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, module) in kernels.modules.drain(..) {
            // SAFETY: nothing runs any more: rooms borrow the card, and each evaluation waits for its end.
            let _ = unsafe { result::module::unload(module) };
        }
        // SAFETY: retained when the card was opened.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

impl Value {
    fn address(&self) -> *mut c_void {
        let at: *const c_void = match self {
            Value::Pointer(value) => std::ptr::from_ref(value).cast(),
            Value::Int(value) => std::ptr::from_ref(value).cast(),
            Value::Long(value) => std::ptr::from_ref(value).cast(),
            Value::Float(value) => std::ptr::from_ref(value).cast(),
            Value::Double(value) => std::ptr::from_ref(value).cast(),
        };
        at.cast_mut()
    }
}

/// Memory on the card, freed when it is dropped.
pub(crate) struct Room<'c, T> {
    card: &'c Card,
    at: sys::CUdeviceptr,
    length: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Number> Room<'_, T> {
    pub(crate) fn pointer(&self) -> Value {
        self.pointer_to(0)
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The address of one of the numbers, or of the end.
    pub(crate) fn pointer_to(&self, place: usize) -> Value {
        assert!(place <= self.length, "place {place} of {}", self.length);
        Value::Pointer(self.at + (place * size_of::<T>()) as u64)
    }

    /// Writes numbers from the first place on.
    pub(crate) fn write(&self, values: &[T]) -> Result<()> {
        assert!(values.len() <= self.length, "{} numbers for {}", values.len(), self.length);
        // SAFETY: they fit.
        let written = unsafe { result::memcpy_htod_sync(self.at, values) };
        written.map_err(|error| self.card.failed(error, "to be sent rows or weights"))
    }

    /// Reads numbers from the first place on, after everything that was begun.
    pub(crate) fn read(&self, values: &mut [T]) -> Result<()> {
        assert!(values.len() <= self.length, "{} numbers of {}", values.len(), self.length);
        // SAFETY: there are as many.
        let read = unsafe { result::memcpy_dtoh_sync(values, self.at) };
        read.map_err(|error| self.card.failed(error, "the results of its work"))
    }

    /// Makes all numbers 0.
    pub(crate) fn clear(&self) -> Result<()> {
        // SAFETY: all of the room's own memory.
        let cleared = unsafe { result::memset_d8_sync(self.at, 0, self.length * size_of::<T>()) };
        cleared.map_err(|error| self.card.failed(error, "memory"))
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        // Rooms may be dropped on another thread than they were made on.
        let _ = self.card.enter();
        // SAFETY: allocated by this room, freed once. An error here was told by what came before.
        let _ = unsafe { result::free_sync(self.at) };
    }
}

fn is_memory(error: DriverError) -> bool {
    error.0 == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY
}

/// What the driver says of an error.
fn said(error: DriverError) -> String {
    let name = error.error_name().ok().map(|name| name.to_string_lossy().into_owned());
    let text = error.error_string().ok().map(|text| text.to_string_lossy().into_owned());
    match (name, text) {
        (Some(name), Some(text)) => format!("error {name}: {text}"),
        (Some(name), None) => format!("error {name}"),
        _ => format!("error {}", error.0 as i32),
    }
}

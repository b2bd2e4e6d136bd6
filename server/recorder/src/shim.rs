//! Bindings of the C functions of `shim/`, with wrappers that hide their pointers.
//!
//! tch's operations with numbers panic if libtorch throws, because they free the number before they check for an
//! exception. The recorder calls them through the shim, because an out-of-memory exception must come back as an error.
//! `shim/driver.cpp` stands before libc's `open`, `fopen`, `socket` and `connect`, so that a driver that does not start
//! says what it was refused.
#![allow(unsafe_code, reason = "every call into the shim is here")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use tch::{TchError, Tensor};

use crate::Result;

#[repr(C)]
pub(crate) struct RawPlace {
    module: *mut c_char,
    phase: c_int,
    operation: *mut c_char,
}

impl RawPlace {
    pub(crate) const EMPTY: Self = Self { module: std::ptr::null_mut(), phase: 0, operation: std::ptr::null_mut() };
}

/// Counters of a device's allocator; sizes are in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Requested bytes of live allocations.
    pub live: i64,
    /// Peak of the rounded bytes of live allocations.
    pub allocated_peak: i64,
    /// Bytes of segments.
    pub reserved: i64,
    /// Peak of the bytes of segments.
    pub reserved_peak: i64,
    /// Number of allocations that failed until the allocator freed its cache.
    pub retries: i64,
}

/// Module, phase and operation of a thread; names are empty where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Path of the module, such as `layers.3.attention`.
    pub module: String,
    /// Number of a [`Phase`](crate::place::Phase).
    pub phase: i32,
    /// Name of the operation, such as `aten::mm`.
    pub operation: String,
}

/// Handle of a tensor, or of an object of the shim.
pub(crate) type Pointer = *mut c_void;

/// Message of an exception that the caller frees; null if there was none.
pub(crate) type Message = *mut c_char;

/// A list of tensors as C++ sees it, which must outlive the call.
#[repr(C)]
pub(crate) struct RawList {
    tensors: *const Pointer,
    count: usize,
}

impl RawList {
    pub(crate) fn of(tensors: &[Pointer]) -> Self {
        Self { tensors: tensors.as_ptr(), count: tensors.len() }
    }
}

unsafe extern "C" {
    fn snapscope_free(memory: *mut c_void);
    fn snapscope_module(parent: i64, path: *const c_char) -> u32;
    fn snapscope_enter(module: u32) -> *const c_void;
    fn snapscope_leave(before: *const c_void);
    fn snapscope_backward_place(out: *mut RawPlace);
    fn snapscope_place(out: *mut RawPlace);
    fn snapscope_statistics(device: c_int, out: *mut Statistics) -> Message;
    fn snapscope_device(device: c_int, name: *mut *mut c_char, memory: *mut u64) -> Message;
    fn snapscope_refused() -> *mut c_char;
    /// Sets the phase of the calling thread and returns the previous one.
    #[link_name = "snapscope_set_phase"]
    pub(crate) safe fn set_phase(phase: c_int) -> c_int;
    /// Begins a step, counted from 1; 0 is the time before the first step.
    #[link_name = "snapscope_set_step"]
    pub(crate) safe fn set_step(now: u64);
    /// Announces that devices 0 to `count - 1` are used from now on.
    #[link_name = "snapscope_use_devices"]
    pub(crate) safe fn use_devices(count: c_int);
    /// Allows or forbids TF32 in matrix products of 32-bit floats.
    #[link_name = "snapscope_allow_tf32"]
    pub(crate) safe fn allow_tf32(allow: bool);
    /// Enters an autocast region on the calling thread; `half` is 1 for float16, 2 for bfloat16, and 0 for off.
    #[link_name = "snapscope_autocast_enter"]
    pub(crate) safe fn autocast_enter(half: c_int);
    /// Leaves the region of the last [`autocast_enter`].
    #[link_name = "snapscope_autocast_leave"]
    pub(crate) safe fn autocast_leave();
    /// Loads the libraries of a real GPU's driver, so that their folders stay in reach behind the walls.
    ///
    /// No other thread may have been started.
    #[link_name = "snapscope_load_driver"]
    pub(crate) safe fn load_driver();
}

/// Argument of a function of the shim, as the macro `wrap` passes it on.
pub(crate) trait Argument {
    /// Type of the argument in C.
    type Raw;

    fn raw(self) -> Self::Raw;
}

/// Implements [`Argument`].
macro_rules! argument {
    ($($type:ty as $raw:ty = |$value:ident| $crossing:expr;)*) => { $(
        impl $crate::shim::Argument for $type {
            type Raw = $raw;

            fn raw(self) -> $raw {
                let $value = self;
                $crossing
            }
        }
    )* };
}

argument! {
    bool as bool = |flag| flag;
    u32 as c_int = |device| device.cast_signed();
    i64 as i64 = |number| number;
    f64 as f64 = |number| number;
    &Tensor as Pointer = |tensor| pointer(tensor);
    Option<&Tensor> as Pointer = |tensor| tensor.map_or(std::ptr::null_mut(), pointer);
}

/// Defines functions that call one of the shim and return its result; `-> Tensor` are those that make a new tensor.
///
/// The functions of the shim have the same arguments and keep none of them, and these live until the call returns.
macro_rules! wrap {
    (@type) => { () };
    (@type $made:ident) => { $made };
    (@call $symbol:ident($($argument:ident: $type:ty),*)) => {{
        unsafe extern "C" {
            fn $symbol($(_: <$type as $crate::shim::Argument>::Raw),*) -> $crate::shim::Message;
        }
        // SAFETY: see `wrap`.
        $crate::shim::check(unsafe { $symbol($($crate::shim::Argument::raw($argument)),*) })
    }};
    (@call $symbol:ident($($argument:ident: $type:ty),*) $made:ident) => {{
        unsafe extern "C" {
            fn $symbol(
                $(_: <$type as $crate::shim::Argument>::Raw,)*
                out: *mut $crate::shim::Pointer,
            ) -> $crate::shim::Message;
        }
        // SAFETY: see `wrap`.
        $crate::shim::made(|out| unsafe { $symbol($($crate::shim::Argument::raw($argument),)* out) })
    }};
    (impl $owner:ty { $(
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident(&$this:ident $(, $argument:ident: $type:ty)*) $(-> $made:ident)? = $symbol:ident;
    )* }) => {
        impl $owner { $(
            $(#[$doc])*
            $visibility fn $name(&$this $(, $argument: $type)*) -> $crate::Result<wrap!(@type $($made)?)> {
                wrap!(@call $symbol($this: &$owner $(, $argument: $type)*) $($made)?)
            }
        )* }
    };
    ($(
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $made:ident)? = $symbol:ident;
    )*) => { $(
        $(#[$doc])*
        $visibility fn $name($($argument: $type),*) -> $crate::Result<wrap!(@type $($made)?)> {
            wrap!(@call $symbol($($argument: $type),*) $($made)?)
        }
    )* };
}

wrap! {
    /// Waits until the current device has finished all its work; an error is that of a kernel.
    pub(crate) fn synchronize() = snapscope_synchronize;
    /// Limits PyTorch to a fraction of the device's memory, above 0 and at most 1.
    pub(crate) fn set_memory_fraction(device: u32, fraction: f64) = snapscope_set_memory_fraction;
}

/// Returns the handle of a tensor, which remains the caller's.
pub(crate) fn pointer(tensor: &Tensor) -> Pointer {
    tensor.as_ptr().cast_mut().cast()
}

/// Returns the handles of tensors, which remain the caller's.
pub(crate) fn pointers<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Vec<Pointer> {
    tensors.into_iter().map(pointer).collect()
}

/// Runs a function of the shim that returns one new object.
pub(crate) fn created(function: impl FnOnce(*mut Pointer) -> Message) -> Result<Pointer> {
    let mut out = std::ptr::null_mut();
    check(function(&mut out))?;
    Ok(out)
}

/// Runs a function of the shim that returns one new tensor.
pub(crate) fn made(function: impl FnOnce(*mut Pointer) -> Message) -> Result<Tensor> {
    created(function).map(owned)
}

/// Takes ownership of a tensor that the shim has made.
pub(crate) fn owned(tensor: Pointer) -> Tensor {
    // SAFETY: without a message the shim's tensors are new handles that belong to the caller.
    unsafe { Tensor::from_ptr(tensor.cast()) }
}

/// Converts a text for C; everything after a zero byte is lost.
fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Takes ownership of a text that the shim has allocated.
fn take_text(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the shim returns texts that end with a zero byte and belong to the caller.
    unsafe {
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        snapscope_free(text.cast());
        owned
    }
}

pub(crate) fn take_place(raw: RawPlace) -> Place {
    Place { module: take_text(raw.module), phase: raw.phase, operation: take_text(raw.operation) }
}

/// Converts a message of the shim to a result; null means success.
pub(crate) fn check(message: *mut c_char) -> Result<()> {
    if message.is_null() { Ok(()) } else { Err(TchError::Torch(take_text(message))) }
}

/// Adds a module below another and returns its number.
pub(crate) fn module(parent: Option<u32>, path: &str) -> u32 {
    let path = c_text(path);
    // SAFETY: the path is copied; parents are numbers that this function returned.
    unsafe { snapscope_module(parent.map_or(-1, i64::from), path.as_ptr()) }
}

/// Module that the calling thread was in before; see [`enter`].
pub(crate) struct Before(*const c_void);

/// Sets the module of the calling thread and returns the previous one.
pub(crate) fn enter(module: u32) -> Before {
    // SAFETY: the number comes from `module`.
    Before(unsafe { snapscope_enter(module) })
}

/// Restores the previous module of the calling thread.
pub(crate) fn leave(before: Before) {
    // SAFETY: the pointer comes from `enter`, and modules are never freed.
    unsafe { snapscope_leave(before.0) }
}

/// Returns the place of the backward node that began last, on any thread.
pub fn backward_place() -> Place {
    let mut place = RawPlace::EMPTY;
    // SAFETY: the place is always written.
    unsafe { snapscope_backward_place(&mut place) };
    take_place(place)
}

/// Returns the place of the calling thread.
pub fn place() -> Place {
    let mut place = RawPlace::EMPTY;
    // SAFETY: the place is always written.
    unsafe { snapscope_place(&mut place) };
    take_place(place)
}

/// Reads the allocator's counters of a device.
///
/// # Errors
///
/// Returns an error if there is no such device.
pub fn statistics(device: u32) -> Result<Statistics> {
    let mut statistics = Statistics::default();
    // SAFETY: `statistics` has the layout of the shim's struct.
    check(unsafe { snapscope_statistics(device.cast_signed(), &mut statistics) })?;
    Ok(statistics)
}

/// Returns the name of a device and its total memory in bytes.
///
/// # Errors
///
/// Returns an error if there is no such device.
pub fn device(device: u32) -> Result<(String, u64)> {
    let (mut name, mut memory) = (std::ptr::null_mut(), 0);
    // SAFETY: both are written before the call returns without a message.
    check(unsafe { snapscope_device(device.cast_signed(), &mut name, &mut memory) })?;
    Ok((take_text(name), memory))
}

/// Returns the system calls that were refused to this process, separated by commas.
pub(crate) fn refused() -> String {
    // SAFETY: the text belongs to the caller.
    take_text(unsafe { snapscope_refused() })
}

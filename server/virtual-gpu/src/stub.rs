//! Macros for functions that have no behaviour of their own.
//!
//! A CUDA library has hundreds of functions whose whole effect is in device memory, which a virtual GPU does not have.
//! Those are [`harmless`]. A function that would have to return data, and is not implemented, is [`unmodelled`]: it
//! writes one line to the log and fails, so that no program computes with data that was never written.
//!
//! Both are defined without parameters: in the C calling convention of x86-64 the caller passes and removes the
//! arguments, and a function may ignore them.

/// Defines functions that return 0 and do nothing.
///
/// Only for functions for which that is right: computations on device memory, setters and destructors.
macro_rules! harmless {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> std::ffi::c_int {
                0
            }
        )*
    };
}

/// Defines functions that write one line to the log, on the first call, and return the status "not supported".
macro_rules! unmodelled {
    { $library:literal, $status:literal => $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> std::ffi::c_int {
                static SAID: std::sync::Once = std::sync::Once::new();
                SAID.call_once(|| $crate::stub::say_unmodelled(stringify!($name), $library, $status));
                $status
            }
        )*
    };
}

/// Writes the log line of an unmodelled function.
pub(crate) fn say_unmodelled(name: &str, library: &str, status: i32) {
    crate::log::line(format_args!("{name} ({library}) is not implemented; it failed with status {status}"));
}

pub(crate) use {harmless, unmodelled};

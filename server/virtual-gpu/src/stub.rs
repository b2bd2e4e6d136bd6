//! Functions without a behaviour of their own.
//!
//! A CUDA library has hundreds of functions whose whole effect is in device memory, which a virtual GPU does not have.
//! Those are [`harmless`]. A function that would have to *answer* something, and doesn't, is
//! [`unmodelled`]: it says so once in the log and fails, so that no program computes with an answer
//! that nobody gave.
//!
//! Both are defined without parameters: in the C calling convention of x86-64 the caller passes and removes the
//! arguments, and a function may ignore them.

/// Defines functions that return 0 and do nothing.
///
/// Only for functions for which that is right: computations on device memory, setters and destroyers.
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

/// Defines functions that write one line to the log, the first time, and return a status that says "not supported".
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

/// The one line that an unmodelled function leaves in the log.
pub(crate) fn say_unmodelled(name: &str, library: &str, status: i32) {
    crate::log::line(format_args!("{name} ({library}) is not modelled; it failed with status {status}"));
}

pub(crate) use {harmless, unmodelled};

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

/// Defines functions that count their calls, say so at the first one, and return the status "not supported".
macro_rules! unmodelled {
    { $library:literal, $status:literal => $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> std::ffi::c_int {
                static FUNCTION: $crate::unsupported::Unsupported =
                    $crate::unsupported::Unsupported::new(stringify!($name), $library, $status);
                FUNCTION.call()
            }
        )*
    };
}

/// Defines functions of a library that fit in a row each.
///
/// `name(parameters) => result;` returns the code that the caller's `status` makes of a result, and
/// `name(parameters) = code;` the code itself.
macro_rules! functions {
    {} => {};
    { $(#[$doc:meta])* $name:ident($($parameter:tt: $kind:ty),*) => $result:expr; $($rest:tt)* } => {
        $crate::stub::functions! { $(#[$doc])* $name($($parameter: $kind),*) = status(|| $result); $($rest)* }
    };
    { $(#[$doc:meta])* $name:ident($($parameter:tt: $kind:ty),*) = $code:expr; $($rest:tt)* } => {
        $(#[$doc])*
        #[allow(private_interfaces, reason = "a type is public where other modules call its functions")]
        #[unsafe(no_mangle)]
        pub(super) extern "C" fn $name($($parameter: $kind),*) -> std::ffi::c_int {
            $code
        }

        $crate::stub::functions! { $($rest)* }
    };
}

pub(crate) use {functions, harmless, unmodelled};

//! Exports all other functions of NVIDIA's libraries, which fail by name.
//!
//! A name that is missing would keep a library of somebody else from loading, even if it never calls the function.
//! `./dev names` lists what NVIDIA's libraries export and this one does not model.

use crate::stub::unmodelled;

include!(concat!(env!("OUT_DIR"), "/failing.rs"));

/// Defines functions that return a text about a status.
macro_rules! texts {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(status: std::ffi::c_int) -> *const std::ffi::c_char {
                if status == 0 { c"success" } else { c"an error of the virtual GPU, which its log explains" }.as_ptr()
            }
        )*
    };
}

texts! {
    cublasGetStatusName, cublasGetStatusString, cublasLtGetStatusName, cublasLtGetStatusString, cusparseGetErrorName,
    cusparseLtGetErrorName, cusparseLtGetErrorString,
}

//! Implements NVRTC, the run-time compiler for kernels.
//!
//! Every program compiles, to a few zero bytes, because its kernels would do nothing anyway.

use std::ffi::{CString, c_char, c_int};

use crate::arrays::OutArray;
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

/// Result of every compilation, as PTX and as a binary.
const CODE: [u8; 16] = [0; 16];

/// `NVRTC_ERROR_INVALID_PROGRAM`.
const INVALID_PROGRAM: c_int = 4;

/// A program, with the lowered names that it has returned; they stay valid as long as the program lives.
#[derive(Default)]
struct Program {
    names: Vec<CString>,
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcVersion(major: Out<c_int>, minor: Out<c_int>) -> c_int {
    major.put_if_wanted(13);
    minor.put_if_wanted(0);
    0
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcCreateProgram(program: Out<Box<Program>>) -> c_int {
    program.put_if_wanted(Box::default());
    0
}

/// Creates a program by an entry that is not in the library's header, and that the real cuDNN needs.
#[unsafe(no_mangle)]
extern "C" fn __nvrtcCPEx(program: Out<Box<Program>>) -> c_int {
    nvrtcCreateProgram(program)
}

/// Destroys the program and sets the caller's pointer to null.
#[unsafe(no_mangle)]
extern "C" fn nvrtcDestroyProgram(program: Option<&mut Option<Box<Program>>>) -> c_int {
    if program.is_some_and(|program| program.take().is_some()) { 0 } else { INVALID_PROGRAM }
}

harmless! { nvrtcAddNameExpression, nvrtcCompileProgram }

/// Returns a kernel's name in the binary: the name expression itself, because nothing reads the binary.
#[unsafe(no_mangle)]
extern "C" fn nvrtcGetLoweredName(
    program: Option<&mut Program>,
    expression: *const c_char,
    name: Out<*const c_char>,
) -> c_int {
    let Some(program) = program else { return INVALID_PROGRAM };
    let lowered = CString::new(crate::ffi::text(expression)).unwrap_or_default();
    // The bytes of a `CString` do not move when the list that holds it grows.
    name.put_if_wanted(lowered.as_ptr());
    program.names.push(lowered);
    0
}

/// Defines the two functions that return the size of a result and copy it.
macro_rules! results {
    { $($size:ident, $copy:ident: $bytes:expr;)* } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $size(_program: Handle, size: Out<usize>) -> c_int {
                size.put_if_wanted($bytes.len());
                0
            }

            #[unsafe(no_mangle)]
            extern "C" fn $copy(_program: Handle, bytes: OutArray<u8>) -> c_int {
                bytes.put($bytes.as_slice());
                0
            }
        )*
    };
}

results! {
    nvrtcGetPTXSize, nvrtcGetPTX: CODE;
    nvrtcGetCUBINSize, nvrtcGetCUBIN: CODE;
    nvrtcGetProgramLogSize, nvrtcGetProgramLog: [0_u8];
}

#[unsafe(no_mangle)]
extern "C" fn nvrtcGetErrorString(result: c_int) -> *const c_char {
    let text = match result {
        0 => c"NVRTC_SUCCESS",
        INVALID_PROGRAM => c"NVRTC_ERROR_INVALID_PROGRAM",
        _ => c"NVRTC_ERROR unknown",
    };
    text.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::text;

    #[test]
    fn names_stay_readable_while_others_are_asked_for() {
        let mut program = Some(Box::<Program>::default());
        let mut names = [std::ptr::null(); 40];
        for (index, name) in names.iter_mut().enumerate() {
            let expression = CString::new(format!("kernel_{index}")).expect("no zero byte");
            assert_eq!(nvrtcGetLoweredName(program.as_deref_mut(), expression.as_ptr(), Out::to(name)), 0);
        }
        assert_eq!((text(names[0]), text(names[39])), ("kernel_0", "kernel_39"));
        assert_eq!(nvrtcDestroyProgram(Some(&mut program)), 0);
        assert!(program.is_none());
        assert_eq!(nvrtcDestroyProgram(Some(&mut program)), INVALID_PROGRAM);
    }
}

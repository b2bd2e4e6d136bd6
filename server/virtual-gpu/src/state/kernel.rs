//! Kernels: their names, by the address of the host function that launches them.
//!
//! A hundred thousand are registered while libtorch loads, and hardly one is ever looked up: they are appended as they
//! come, and sorted when somebody asks.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

/// A kernel as the compiler registered it; the name lies in the library and lives as long as it.
#[derive(Clone, Copy)]
struct Kernel {
    host_function: usize,
    name: usize,
}

struct Kernels {
    list: Vec<Kernel>,
    is_sorted: bool,
}

static KERNELS: Mutex<Kernels> = Mutex::new(Kernels { list: Vec::new(), is_sorted: true });

/// Remembers a kernel's name.
pub(crate) fn register(host_function: *const c_void, name: *const c_char) {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    kernels.list.push(Kernel { host_function: host_function as usize, name: name as usize });
    kernels.is_sorted = false;
}

/// What a reduction to one byte must have answered, by the name of its kernel.
///
/// `all()` and `any()` are read back as one byte. Where every value is zero and every comparison holds, a
/// conjunction is 1 and a disjunction 0; without that, assertions fail and loops do not end.
/// The word is that of PyTorch's reduction with its length, as mangled names have it: `logical_and_kernel_cuda` and
/// `bitwise_and_kernel_cuda` compute element by element, and their zeros are right.
pub(crate) fn reduction_answer(host_function: *const c_void) -> u8 {
    name_contains(host_function, "15and_kernel_cuda").into()
}

/// Whether the mangled name of a kernel has a word in it.
fn name_contains(host_function: *const c_void, word: &str) -> bool {
    name(host_function).is_some_and(|name| name.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// The mangled name of a kernel.
pub(crate) fn name(host_function: *const c_void) -> Option<&'static [u8]> {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    if !kernels.is_sorted {
        // Stable: of kernels that share a host function the one registered last stays last.
        kernels.list.sort_by_key(|kernel| kernel.host_function);
        kernels.is_sorted = true;
    }
    let wanted = host_function as usize;
    let end = kernels.list.partition_point(|kernel| kernel.host_function <= wanted);
    let kernel = end.checked_sub(1).map(|last| kernels.list[last])?;
    if kernel.host_function != wanted || kernel.name == 0 {
        return None;
    }
    // SAFETY: the compiler registers a string constant of the library whose kernel was just launched.
    Some(unsafe { CStr::from_ptr(kernel.name as *const c_char) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conjunction_is_told_by_its_name() {
        let place = |number: usize| number as *const c_void;
        register(place(30), c"_ZN2at6native14or_kernel_cudaERNS_14TensorIteratorE".as_ptr());
        register(place(10), c"_ZN2at6native15and_kernel_cudaERNS_14TensorIteratorE".as_ptr());
        assert_eq!(reduction_answer(place(10)), 1);
        assert_eq!(reduction_answer(place(30)), 0);
        register(place(40), c"_ZN2at6native23logical_and_kernel_cudaERNS_14TensorIteratorE".as_ptr());
        assert_eq!(reduction_answer(place(40)), 0);
        assert_eq!(reduction_answer(place(20)), 0);
        assert_eq!(reduction_answer(place(0)), 0);
    }
}

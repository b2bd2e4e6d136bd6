//! Keeps the names of kernels by the address of the host function that launches them.
//!
//! About 100,000 kernels are registered while libtorch loads, and few are looked up, so registering appends to a list,
//! which is sorted at the next lookup.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

/// A registered kernel.
///
/// The name is the address of a C string, which lives as long as the library that holds it.
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

pub(crate) fn register(host_function: *const c_void, name: *const c_char) {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    kernels.list.push(Kernel { host_function: host_function as usize, name: name as usize });
    kernels.is_sorted = false;
}

/// Returns the result of a reduction to one byte, by the name of its kernel; `None` if it is no such reduction.
///
/// The results of `all()` and `any()` are read back as one byte. A conjunction is 1, as if every comparison held, and a
/// disjunction is 0; otherwise assertions would fail and loops would not end.
/// The search words are the names of PyTorch's reductions with their lengths, as mangled names have it, because
/// `logical_and_kernel_cuda` and `bitwise_and_kernel_cuda` work element by element, where zeros are right.
pub(crate) fn reduction_answer(host_function: *const c_void) -> Option<u8> {
    let name = name(host_function)?;
    let contains = |word: &str| name.windows(word.len()).any(|part| part == word.as_bytes());
    match (contains("15and_kernel_cuda"), contains("14or_kernel_cuda")) {
        (true, _) => Some(1),
        (false, true) => Some(0),
        (false, false) => None,
    }
}

/// Returns the mangled name of a kernel.
///
/// Cost: O(log n), and O(n log n) after new kernels were registered.
pub(crate) fn name(host_function: *const c_void) -> Option<&'static [u8]> {
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    if !kernels.is_sorted {
        // A stable sort: of kernels that share a host function, the one registered last stays last and is found.
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
        assert_eq!(reduction_answer(place(10)), Some(1));
        assert_eq!(reduction_answer(place(30)), Some(0));
        register(place(40), c"_ZN2at6native23logical_and_kernel_cudaERNS_14TensorIteratorE".as_ptr());
        assert_eq!(reduction_answer(place(40)), None);
        assert_eq!(reduction_answer(place(20)), None);
        assert_eq!(reduction_answer(place(0)), None);
    }
}

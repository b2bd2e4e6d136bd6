//! Computes the result of comparisons with `==` and `!=` where all device memory is zero.
//!
//! Programs read such results back as one byte: `bool(unfinished.max() == 0)` ends a generation, and transformers
//! evaluates `(ids[:, -1] == 0).all()`, which for a single sample is not a reduction.
//! PyTorch passes such a kernel a functor: the operation, 0 for `==` and 1 for `!=`, followed by the scalar with which
//! a tensor is compared, unless it is compared with another tensor. The kernel's mangled name gives the scalar's type.

use std::cell::Cell;
use std::ffi::c_void;

use super::kernel;
use super::thread::last_kernel;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Comparison {
    /// Size of the scalar in the functor, in bytes; `None` if a tensor is compared with a tensor.
    scalar_bytes: Option<usize>,
}

/// Address of a kernel's host function, and the comparison that the kernel makes, if it makes one.
type Known = (usize, Option<Comparison>);

/// Number of kernels in each thread's cache, which saves most launches a search for the kernel's name.
const REMEMBERED: usize = 256;

thread_local! {
    static KNOWN: [Cell<Known>; REMEMBERED] = const { [const { Cell::new((0, None)) }; REMEMBERED] };
    static ANSWER: Cell<(usize, u8)> = const { Cell::new((0, 0)) };
}

/// Notes the result of a launch, if the kernel is a comparison.
///
/// `arguments` are those of `cudaLaunchKernel`: a pointer to each argument of the kernel.
pub(crate) fn note_launch(host_function: *const c_void, arguments: *const *const c_void) {
    let Some(comparison) = known(host_function) else { return };
    if arguments.is_null() {
        return;
    }
    // SAFETY: the kernels that `parse` accepts take a count, the functor and pointers, so there are two arguments; the
    // functor is as long as its name says, and lives until the launch returns.
    let functor = unsafe { std::slice::from_raw_parts((*arguments.add(1)).cast::<u8>(), comparison.functor_bytes()) };
    ANSWER.set((host_function as usize, comparison.answer(functor)));
}

/// Returns the result of this thread's last kernel, if that was a comparison.
pub(crate) fn last_answer() -> Option<u8> {
    let (kernel, answer) = ANSWER.get();
    (kernel != 0 && kernel == last_kernel() as usize).then_some(answer)
}

fn known(host_function: *const c_void) -> Option<Comparison> {
    let address = host_function as usize;
    KNOWN.with(|known| {
        // Host functions lie at multiples of 16.
        let slot = &known[(address >> 4) % REMEMBERED];
        if slot.get().0 != address {
            slot.set((address, kernel::name(host_function).and_then(parse)));
        }
        slot.get().1
    })
}

/// Parses the comparison from the mangled name of a kernel.
///
/// Only kernels over contiguous memory are recognised, which single values always are; others wrap the functor.
fn parse(name: &[u8]) -> Option<Comparison> {
    find(name, b"CompareEqFunctor")?;
    find(name, b"vectorized_elementwise_kernel").or_else(|| find(name, b"unrolled_elementwise_kernel"))?;
    if find(name, b"13BinaryFunctorI").is_some() {
        return Some(Comparison { scalar_bytes: None });
    }
    let types = find(name, b"13AUnaryFunctorI")?;
    let scalar_bytes = match name.get(types..)? {
        [b'b' | b'a' | b'h', ..] => 1,
        [b's' | b't', ..] => 2,
        [b'i' | b'j' | b'f', ..] => 4,
        [b'l' | b'm' | b'd', ..] => 8,
        other if other.starts_with(b"N3c104HalfE") || other.starts_with(b"N3c108BFloat16E") => 2,
        _ => return None,
    };
    Some(Comparison { scalar_bytes: Some(scalar_bytes) })
}

/// Returns the index after the first occurrence of a word.
fn find(name: &[u8], word: &[u8]) -> Option<usize> {
    name.windows(word.len()).position(|part| part == word).map(|start| start + word.len())
}

impl Comparison {
    /// Returns the bytes of the scalar in the functor: after the operation, aligned to the scalar's size.
    fn scalar(self) -> Option<std::ops::Range<usize>> {
        self.scalar_bytes.map(|bytes| {
            let start = bytes.max(size_of::<i32>());
            start..start + bytes
        })
    }

    fn functor_bytes(self) -> usize {
        self.scalar().map_or(size_of::<i32>(), |scalar| scalar.end)
    }

    /// Returns the result of comparing zero with the functor's scalar.
    fn answer(self, functor: &[u8]) -> u8 {
        let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
        let is_equal = self.scalar().is_none_or(|scalar| is_zero(&functor[scalar]));
        let asks_for_equal = is_zero(&functor[..size_of::<i32>()]);
        u8::from(is_equal == asks_for_equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::thread::set_last_kernel;

    const WITH_LONG: &std::ffi::CStr =
        c"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIllbNS0_16CompareEqFunctorIlEEEE";
    const OF_TENSORS: &std::ffi::CStr =
        c"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIffbNS0_16CompareEqFunctorIfEEEE";

    #[track_caller]
    fn check(host_function: usize, name: &'static std::ffi::CStr, functor: &[u64], expected: Option<u8>) {
        let host_function = host_function as *const c_void;
        kernel::register(host_function, name.as_ptr());
        let count = 1_u64;
        let arguments: [*const c_void; 2] = [(&raw const count).cast(), functor.as_ptr().cast()];
        set_last_kernel(host_function);
        note_launch(host_function, arguments.as_ptr());
        assert_eq!(last_answer(), expected);
    }

    #[test]
    fn zero_is_compared_with_the_scalar() {
        check(0x9000, WITH_LONG, &[0, 0], Some(1));
        check(0x9000, WITH_LONG, &[0, 5], Some(0));
        check(0x9000, WITH_LONG, &[1, 0], Some(0));
        check(0x9000, WITH_LONG, &[1, 5], Some(1));
    }

    #[test]
    fn tensors_are_equal() {
        check(0x9100, OF_TENSORS, &[0], Some(1));
        check(0x9100, OF_TENSORS, &[1], Some(0));
    }

    #[test]
    fn other_kernels_answer_nothing() {
        check(0x9200, c"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AddFunctorIlEE", &[0, 0], None);
        check(0x9300, WITH_LONG, &[0, 0], Some(1));
        set_last_kernel(0x9400 as *const c_void);
        assert_eq!(last_answer(), None);
    }
}

//! Comparisons with `==` and `!=`: what they answer where all memory is zero.
//!
//! Programs read them back as one byte: `bool(unfinished.max() == 0)` ends a generation, and transformers asks
//! `(ids[:, -1] == 0).all()`, which for a single sample is no reduction.
//! PyTorch hands such a kernel a functor: the operation, 0 for `==` and 1 for `!=`, and behind it the scalar that a
//! tensor is compared with, if it is no other tensor. Its mangled name tells the type of the scalar.

use std::cell::Cell;
use std::ffi::c_void;

use super::kernel;
use super::thread::last_kernel;

/// A kernel that compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Comparison {
    /// Bytes of the scalar in the functor; `None` where a tensor is compared with a tensor.
    scalar_bytes: Option<usize>,
}

/// What is known of a kernel, by the address of its host function.
type Known = (usize, Option<Comparison>);

/// Kernels that a thread remembers: a launch must not cost a search.
const REMEMBERED: usize = 256;

thread_local! {
    static KNOWN: [Cell<Known>; REMEMBERED] = const { [const { Cell::new((0, None)) }; REMEMBERED] };
    static ANSWER: Cell<(usize, u8)> = const { Cell::new((0, 0)) };
}

/// Notes what a launch answers, if it compares.
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

/// What the last kernel of this thread answered, if it compared.
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

/// The comparison that a kernel of this mangled name is.
///
/// Only kernels over memory without gaps are, as single values have it; the others hide the functor.
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

/// The index behind a word.
fn find(name: &[u8], word: &[u8]) -> Option<usize> {
    name.windows(word.len()).position(|part| part == word).map(|start| start + word.len())
}

impl Comparison {
    /// Where the scalar lies: behind the operation, at a multiple of its size.
    fn scalar(self) -> Option<std::ops::Range<usize>> {
        self.scalar_bytes.map(|bytes| {
            let start = bytes.max(size_of::<i32>());
            start..start + bytes
        })
    }

    fn functor_bytes(self) -> usize {
        self.scalar().map_or(size_of::<i32>(), |scalar| scalar.end)
    }

    /// What zero compared with the functor's scalar gives.
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

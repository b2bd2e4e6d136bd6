//! Implements cuFFT, as far as PyTorch calls it.
//!
//! Plans ask for workspace only if a length is not a product of small primes.

use std::ffi::{c_int, c_longlong};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::answers::{launches, streams};
use crate::arrays::Array;
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

/// Creates a plan, which is a unique number.
#[unsafe(no_mangle)]
extern "C" fn cufftCreate(plan: Out<c_int>) -> c_int {
    static NEXT: AtomicI32 = AtomicI32::new(1);
    plan.put_if_wanted(NEXT.fetch_add(1, Ordering::Relaxed));
    0
}

harmless! { cufftDestroy, cufftSetAutoAllocation, cufftSetWorkArea }

streams! { cufftSetStream }

/// Largest prime for which cuFFT has a kernel of its own, according to its documentation.
const LARGEST_PRIME: c_longlong = 127;

fn has_large_prime(length: c_longlong) -> bool {
    let mut rest = length.max(1);
    for factor in 2..=LARGEST_PRIME {
        while rest % factor == 0 {
            rest /= factor;
        }
    }
    rest > 1
}

/// Returns the workspace of a plan, in elements: Bluestein's algorithm needs a copy of what it transforms.
///
/// An H200 asked for 101,010 elements for 100 transforms of 1,009.
fn work_space(lengths: &[c_longlong], batch: c_longlong) -> usize {
    let Some(last) = lengths.last().filter(|_| lengths.iter().any(|&length| has_large_prime(length))) else { return 0 };
    let outer = lengths[..lengths.len() - 1].iter().product::<c_longlong>() * batch;
    usize::try_from((last + 1) * outer + 10).unwrap_or(0)
}

#[unsafe(no_mangle)]
extern "C" fn cufftXtMakePlanMany(
    _plan: c_int,
    rank: c_int,
    lengths: Array<c_longlong>,
    _input_embedded: Handle,
    _input_stride: c_longlong,
    _input_distance: c_longlong,
    input_type: c_int,
    _output_embedded: Handle,
    _output_stride: c_longlong,
    _output_distance: c_longlong,
    _output_type: c_int,
    batch: c_longlong,
    bytes: Out<usize>,
    _computed_type: c_int,
) -> c_int {
    // Complex numbers of doubles (`CUDA_R_64F` 1, `CUDA_C_64F` 5), halves (2, 6 and bfloat16 14, 15) and floats.
    let element_bytes = match input_type {
        1 | 5 => 16,
        2 | 6 | 14 | 15 => 4,
        _ => 8,
    };
    bytes.put_if_wanted(element_bytes * work_space(&lengths.copy(rank), batch));
    0
}

launches! { cufftXtExec }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lengths_with_large_primes_need_a_copy() {
        assert_eq!([&[1024][..], &[127 * 3, 5], &[1009]].map(|lengths| work_space(lengths, 100)), [0, 0, 101_010]);
    }
}

//! Implements cuFFT, as far as PyTorch calls it.
//!
//! Plans ask for no workspace, while the real library asks for some if a length is not a product of small primes.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::answers::{launches, streams, zeros};
use crate::ffi::Out;
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

zeros! { (usize) after [_ _ _ _ _ _ _ _ _ _ _ _] => cufftXtMakePlanMany; }

launches! { cufftXtExec }

//! Implements cuBLASLt, as far as PyTorch calls it.
//!
//! PyTorch describes a product, requests one algorithm for it, and takes the first.
//! It provides a workspace of its own, of which the returned algorithm needs nothing.

use std::ffi::c_int;

use crate::answers::{creators, launched_on};
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

/// Version 13.0.2, that of the library for which this one stands in.
const VERSION: usize = 130_002;

/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: c_int = 7;

/// An algorithm for a product (`cublasLtMatmulHeuristicResult_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Heuristic {
    algorithm: [u64; 8],
    work_space_bytes: usize,
    /// Status of this algorithm; 0 means that it can be used.
    status: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtGetVersion() -> usize {
    VERSION
}

creators! { cublasLtCreate, cublasLtMatmulDescCreate, cublasLtMatmulPreferenceCreate, cublasLtMatrixLayoutCreate }

harmless! {
    cublasLtDestroy, cublasLtMatmulDescDestroy, cublasLtMatmulDescSetAttribute, cublasLtMatmulPreferenceDestroy,
    cublasLtMatmulPreferenceSetAttribute, cublasLtMatrixLayoutDestroy, cublasLtMatrixLayoutSetAttribute,
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmul(
    _handle: Handle,
    _product: Handle,
    _alpha: Handle,
    _a: Handle,
    _a_layout: Handle,
    _b: Handle,
    _b_layout: Handle,
    _beta: Handle,
    _c: Handle,
    _c_layout: Handle,
    _d: Handle,
    _d_layout: Handle,
    _algorithm: Handle,
    _work_space: Handle,
    _work_space_bytes: usize,
    stream: Handle,
) -> c_int {
    launched_on(stream);
    0
}

/// Returns one algorithm, which needs no workspace.
///
/// Without an algorithm, PyTorch would warn and take another path than on a GPU.
#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _handle: Handle,
    _product: Handle,
    _a: Handle,
    _b: Handle,
    _c: Handle,
    _d: Handle,
    _preference: Handle,
    wanted: c_int,
    results: Out<Heuristic>,
    found: Out<c_int>,
) -> c_int {
    if wanted < 1 || !results.put(Heuristic::default()) {
        return INVALID_VALUE;
    }
    found.put_if_wanted(1);
    0
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};
    use std::ptr::null_mut;

    use super::*;

    #[test]
    fn a_heuristic_has_the_layout_of_the_library() {
        assert_eq!(size_of::<Heuristic>(), 96);
        assert_eq!((offset_of!(Heuristic, work_space_bytes), offset_of!(Heuristic, status)), (64, 72));
    }

    #[test]
    fn one_way_is_found_and_needs_no_work_space() {
        let used = Heuristic { work_space_bytes: 5, status: 6, ..Heuristic::default() };
        let (mut result, mut found) = (used, 0);
        let ask = |wanted, result: Out<Heuristic>, found: Out<c_int>| {
            let none = null_mut();
            cublasLtMatmulAlgoGetHeuristic(none, none, none, none, none, none, none, wanted, result, found)
        };
        assert_eq!(ask(1, Out::to(&mut result), Out::to(&mut found)), 0);
        assert_eq!((result, found), (Heuristic::default(), 1));
        assert_eq!(ask(0, Out::to(&mut result), Out::to(&mut found)), INVALID_VALUE);
    }
}

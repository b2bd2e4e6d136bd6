//! Implements cuBLASLt, as far as PyTorch calls it.
//!
//! PyTorch describes a product, requests one algorithm for it, and takes the first.
//! It provides a workspace of its own, of which the returned algorithm needs nothing.

use std::ffi::c_int;

use crate::answers::{creators, launched_on};
use crate::arrays::OutArray;
use crate::ffi::{Handle, Out};
use crate::stub::harmless;
use crate::versions::versions;

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
    versions().cublas_number() as usize
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

/// Makes the algorithm of a number; a program that sets up an algorithm itself gets the same one as all others.
#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoInit(
    _handle: Handle,
    _compute_type: c_int,
    _scale_type: c_int,
    _a_type: c_int,
    _b_type: c_int,
    _c_type: c_int,
    _d_type: c_int,
    _number: c_int,
    algorithm: Out<[u64; 8]>,
) -> c_int {
    if algorithm.put([0; 8]) { 0 } else { INVALID_VALUE }
}

/// Accepts an algorithm for a product, for which it needs no workspace.
#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoCheck(
    _handle: Handle,
    _product: Handle,
    _a: Handle,
    _b: Handle,
    _c: Handle,
    _d: Handle,
    _algorithm: Handle,
    result: Out<Heuristic>,
) -> c_int {
    if result.put(Heuristic::default()) { 0 } else { INVALID_VALUE }
}

harmless! { cublasLtMatmulAlgoConfigSetAttribute }

/// Writes zeros as the value of an attribute: an algorithm keeps none.
#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoConfigGetAttribute(
    _algorithm: Handle,
    _attribute: c_int,
    value: OutArray<u8>,
    size: usize,
    written: Out<usize>,
) -> c_int {
    value.put(&vec![0; size]);
    written.put_if_wanted(size);
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

//! Implements cuSPARSE, as far as PyTorch calls it.
//!
//! A sparse matrix keeps what the host has set: the numbers of rows, columns and stored elements.
//! The number of elements of a product or a sum depends on values that a virtual GPU does not have; it is 0.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::answers::{creators, launched, launches, streams, zeros};
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

/// `CUSPARSE_STATUS_NOT_INITIALIZED` and `CUSPARSE_STATUS_INVALID_VALUE`.
const NOT_INITIALIZED: c_int = 1;
const INVALID_VALUE: c_int = 3;

/// Content of a handle: the only mode that affects results.
struct Context {
    /// Location of scalars: 0 is the host, 1 the device.
    pointer_mode: AtomicI32,
}

#[unsafe(no_mangle)]
extern "C" fn cusparseCreate(handle: Out<Box<Context>>) -> c_int {
    handle.put_if_wanted(Box::new(Context { pointer_mode: AtomicI32::new(0) }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn cusparseDestroy(handle: Option<Box<Context>>) -> c_int {
    if handle.is_some() { 0 } else { NOT_INITIALIZED }
}

#[unsafe(no_mangle)]
extern "C" fn cusparseSetPointerMode(handle: Option<&Context>, mode: c_int) -> c_int {
    let Some(context) = handle else { return NOT_INITIALIZED };
    context.pointer_mode.store(mode, Ordering::Relaxed);
    0
}

/// Shape of a sparse matrix, and the number of elements that it stores.
struct Matrix {
    rows: i64,
    columns: i64,
    stored: i64,
}

/// Defines functions that create the descriptor of a sparse matrix; both formats begin with its shape.
macro_rules! matrices {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(matrix: Out<Box<Matrix>>, rows: i64, columns: i64, stored: i64) -> c_int {
                matrix.put_if_wanted(Box::new(Matrix { rows, columns, stored }));
                0
            }
        )*
    };
}

matrices! { cusparseCreateCsr, cusparseCreateCoo }

#[unsafe(no_mangle)]
extern "C" fn cusparseDestroySpMat(matrix: Option<Box<Matrix>>) -> c_int {
    if matrix.is_some() { 0 } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
extern "C" fn cusparseSpMatGetSize(
    matrix: Option<&Matrix>,
    rows: Out<i64>,
    columns: Out<i64>,
    stored: Out<i64>,
) -> c_int {
    let Some(matrix) = matrix else { return INVALID_VALUE };
    rows.put_if_wanted(matrix.rows);
    columns.put_if_wanted(matrix.columns);
    stored.put_if_wanted(matrix.stored);
    0
}

/// Returns 0 as the number of elements of a sum, because their positions are known only on a real device.
#[unsafe(no_mangle)]
extern "C" fn cusparseXcsrgeam2Nnz(
    handle: Option<&Context>,
    _rows: c_int,
    _columns: c_int,
    _a: Handle,
    _a_stored: c_int,
    _a_rows: Handle,
    _a_columns: Handle,
    _b: Handle,
    _b_stored: c_int,
    _b_rows: Handle,
    _b_columns: Handle,
    _c: Handle,
    _c_rows: Handle,
    stored: Out<c_int>,
) -> c_int {
    let Some(context) = handle else { return NOT_INITIALIZED };
    launched();
    if context.pointer_mode.load(Ordering::Relaxed) == 0 {
        stored.put_if_wanted(0);
    }
    0
}

/// Defines functions that report that no pivot was zero.
macro_rules! pivots {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(_handle: Handle, _info: Handle, position: Out<c_int>) -> c_int {
                position.put_if_wanted(-1);
                0
            }
        )*
    };
}

pivots! { cusparseXbsrsm2_zeroPivot, cusparseXbsrsv2_zeroPivot }

#[unsafe(no_mangle)]
extern "C" fn cusparseGetErrorString(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"success",
        1 => c"initialization error",
        2 => c"out of memory",
        3 => c"invalid value",
        4 => c"architecture mismatch",
        5 => c"mapping error",
        6 => c"kernel launch failure",
        7 => c"internal error",
        8 => c"matrix type not supported",
        9 => c"zero pivot",
        10 => c"operation not supported",
        11 => c"insufficient resources",
        _ => c"unknown error",
    };
    text.as_ptr()
}

creators! {
    cusparseCreateBsrsm2Info, cusparseCreateBsrsv2Info, cusparseCreateDnMat, cusparseCreateDnVec,
    cusparseCreateMatDescr, cusparseSpGEMM_createDescr, cusparseSpSM_createDescr, cusparseSpSV_createDescr,
}

harmless! {
    cusparseCsrSetPointers, cusparseCsrSetStridedBatch, cusparseDestroyBsrsm2Info, cusparseDestroyBsrsv2Info,
    cusparseDestroyDnMat, cusparseDestroyDnVec, cusparseDestroyMatDescr, cusparseDnMatSetStridedBatch,
    cusparseSetMatDiagType, cusparseSetMatFillMode, cusparseSetMatIndexBase, cusparseSetMatType,
    cusparseSpGEMM_destroyDescr, cusparseSpMatSetAttribute, cusparseSpSM_destroyDescr, cusparseSpSV_destroyDescr,
}

streams! { cusparseSetStream }

zeros! {
    (c_int) after [_ _ _ _ _ _ _ _ _ _ _] =>
        cusparseSbsrsv2_bufferSize, cusparseDbsrsv2_bufferSize, cusparseCbsrsv2_bufferSize,
        cusparseZbsrsv2_bufferSize;
    (c_int) after [_ _ _ _ _ _ _ _ _ _ _ _ _] =>
        cusparseSbsrsm2_bufferSize, cusparseDbsrsm2_bufferSize, cusparseCbsrsm2_bufferSize,
        cusparseZbsrsm2_bufferSize;
    (usize) after [_ _ _ _ _ _] =>
        cusparseXcoosort_bufferSizeExt, cusparseXcsrsort_bufferSizeExt;
    (usize) after [_ _ _ _ _ _ _ _ _] =>
        cusparseSpMV_bufferSize, cusparseSpSV_bufferSize;
    (usize) after [_ _ _ _ _ _ _ _ _ _] =>
        cusparseSpMM_bufferSize, cusparseSpSM_bufferSize, cusparseSDDMM_bufferSize;
    (usize) after [_ _ _ _ _ _ _ _ _ _ _] =>
        cusparseSpGEMM_compute, cusparseSpGEMM_workEstimation;
    (usize) after [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _] =>
        cusparseScsrgeam2_bufferSizeExt, cusparseDcsrgeam2_bufferSizeExt, cusparseCcsrgeam2_bufferSizeExt,
        cusparseZcsrgeam2_bufferSizeExt;
}

launches! {
    cusparseCreateIdentityPermutation, cusparseSbsrmm, cusparseDbsrmm, cusparseCbsrmm, cusparseZbsrmm,
    cusparseSbsrmv, cusparseDbsrmv, cusparseCbsrmv, cusparseZbsrmv, cusparseSbsrsm2_analysis,
    cusparseDbsrsm2_analysis, cusparseCbsrsm2_analysis, cusparseZbsrsm2_analysis, cusparseSbsrsm2_solve,
    cusparseDbsrsm2_solve, cusparseCbsrsm2_solve, cusparseZbsrsm2_solve, cusparseSbsrsv2_analysis,
    cusparseDbsrsv2_analysis, cusparseCbsrsv2_analysis, cusparseZbsrsv2_analysis, cusparseSbsrsv2_solve,
    cusparseDbsrsv2_solve, cusparseCbsrsv2_solve, cusparseZbsrsv2_solve, cusparseScsrgeam2, cusparseDcsrgeam2,
    cusparseCcsrgeam2, cusparseZcsrgeam2, cusparseSpGEMM_copy, cusparseSpMM, cusparseSpMV, cusparseSpSM_analysis,
    cusparseSpSM_solve, cusparseSpSV_analysis, cusparseSpSV_solve, cusparseSDDMM, cusparseSDDMM_preprocess,
    cusparseXcoo2csr, cusparseXcoosortByRow, cusparseXcsrsort,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_gives_back_its_shape() {
        let (mut matrix, mut rows, mut columns, mut stored) = (None, 0, 0, 0);
        let place = Out::to(&mut matrix).cast::<Box<Matrix>>();
        assert_eq!(cusparseCreateCsr(place, 3, 4, 5), 0);
        let size = (Out::to(&mut rows), Out::to(&mut columns), Out::to(&mut stored));
        assert_eq!(cusparseSpMatGetSize(matrix.as_deref(), size.0, size.1, size.2), 0);
        assert_eq!((rows, columns, stored), (3, 4, 5));
        assert_eq!(cusparseDestroySpMat(matrix), 0);
    }

    #[test]
    fn a_count_goes_to_the_host_only_where_scalars_are_there() {
        let mut handle = None;
        cusparseCreate(Out::to(&mut handle).cast::<Box<Context>>());
        let none = std::ptr::null_mut();
        let count = |handle: Option<&Context>, stored: Out<c_int>| {
            cusparseXcsrgeam2Nnz(handle, 1, 1, none, 1, none, none, none, 1, none, none, none, none, stored)
        };
        let mut stored = 7;
        assert_eq!(cusparseSetPointerMode(handle.as_deref(), 1), 0);
        assert_eq!((count(handle.as_deref(), Out::to(&mut stored)), stored), (0, 7));
        assert_eq!(cusparseSetPointerMode(handle.as_deref(), 0), 0);
        assert_eq!((count(handle.as_deref(), Out::to(&mut stored)), stored), (0, 0));
        assert_eq!(cusparseDestroy(handle), 0);
    }
}

//! Implements cuSOLVER, as far as PyTorch calls it.
//!
//! Decompositions and solutions stay on the device, and every call succeeds.
//! The workspaces of the common ones were measured (`cusolver_space`); the others ask for none.

use std::ffi::c_int;

use crate::answers::{creators, launched, launches, streams, zeros};
use crate::arrays::OutArray;
use crate::ffi::Handle;
use crate::stub::harmless;

creators! { cusolverDnCreate, cusolverDnCreateParams, cusolverDnCreateGesvdjInfo, cusolverDnCreateSyevjInfo }

harmless! {
    cusolverDnDestroy, cusolverDnDestroyParams, cusolverDnDestroyGesvdjInfo, cusolverDnDestroySyevjInfo,
    cusolverDnXgesvdjSetMaxSweeps, cusolverDnXgesvdjSetSortEig, cusolverDnXgesvdjSetTolerance,
    cusolverDnXsyevjSetSortEig,
}

streams! { cusolverDnSetStream }

zeros! {
    (c_int) after [_ _ _] =>
        cusolverDnSgesvd_bufferSize, cusolverDnDgesvd_bufferSize, cusolverDnCgesvd_bufferSize,
        cusolverDnZgesvd_bufferSize;
    (c_int) after [_ _ _ _] =>
        cusolverDnSsytrf_bufferSize, cusolverDnDsytrf_bufferSize, cusolverDnCsytrf_bufferSize,
        cusolverDnZsytrf_bufferSize;
    (c_int) after [_ _ _ _ _] =>
        cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize, cusolverDnCgeqrf_bufferSize,
        cusolverDnZgeqrf_bufferSize, cusolverDnSpotrf_bufferSize, cusolverDnDpotrf_bufferSize,
        cusolverDnCpotrf_bufferSize, cusolverDnZpotrf_bufferSize;
    (c_int) after [_ _ _ _ _ _ _] =>
        cusolverDnCheevd_bufferSize, cusolverDnZheevd_bufferSize, cusolverDnCheevjBatched_bufferSize,
        cusolverDnZheevjBatched_bufferSize, cusolverDnSsyevd_bufferSize, cusolverDnDsyevd_bufferSize,
        cusolverDnSsyevjBatched_bufferSize, cusolverDnDsyevjBatched_bufferSize;
    (c_int) after [_ _ _ _ _ _ _ _ _ _ _] =>
        cusolverDnSgesvdjBatched_bufferSize, cusolverDnDgesvdjBatched_bufferSize,
        cusolverDnCgesvdjBatched_bufferSize, cusolverDnZgesvdjBatched_bufferSize;
    (c_int) after [_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _] =>
        cusolverDnSgesvdaStridedBatched_bufferSize, cusolverDnDgesvdaStridedBatched_bufferSize,
        cusolverDnCgesvdaStridedBatched_bufferSize, cusolverDnZgesvdaStridedBatched_bufferSize;
    (usize, usize) after [_ _ _ _ _ _ _ _ _ _ _] =>
        cusolverDnXsyevBatched_bufferSize, cusolverDnXsytrs_bufferSize;
}

launches! {
    cusolverDnSgeqrf, cusolverDnDgeqrf, cusolverDnCgeqrf, cusolverDnZgeqrf, cusolverDnSgesvd, cusolverDnDgesvd,
    cusolverDnCgesvd, cusolverDnZgesvd, cusolverDnSgesvdj, cusolverDnDgesvdj, cusolverDnCgesvdj, cusolverDnZgesvdj,
    cusolverDnSgesvdjBatched, cusolverDnDgesvdjBatched, cusolverDnCgesvdjBatched, cusolverDnZgesvdjBatched,
    cusolverDnSgetrf, cusolverDnDgetrf, cusolverDnCgetrf, cusolverDnZgetrf, cusolverDnSgetrs, cusolverDnDgetrs,
    cusolverDnCgetrs, cusolverDnZgetrs, cusolverDnCheevd, cusolverDnZheevd, cusolverDnCheevj, cusolverDnZheevj,
    cusolverDnCheevjBatched, cusolverDnZheevjBatched, cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnSormqr,
    cusolverDnDormqr, cusolverDnSpotrf, cusolverDnDpotrf, cusolverDnCpotrf, cusolverDnZpotrf,
    cusolverDnSpotrfBatched, cusolverDnDpotrfBatched, cusolverDnCpotrfBatched, cusolverDnZpotrfBatched,
    cusolverDnSpotrs, cusolverDnDpotrs, cusolverDnCpotrs, cusolverDnZpotrs, cusolverDnSpotrsBatched,
    cusolverDnDpotrsBatched, cusolverDnCpotrsBatched, cusolverDnZpotrsBatched, cusolverDnSsyevd, cusolverDnDsyevd,
    cusolverDnSsyevj, cusolverDnDsyevj, cusolverDnSsyevjBatched, cusolverDnDsyevjBatched, cusolverDnSsytrf,
    cusolverDnDsytrf, cusolverDnCsytrf, cusolverDnZsytrf, cusolverDnCungqr, cusolverDnZungqr, cusolverDnCunmqr,
    cusolverDnZunmqr, cusolverDnXgeev, cusolverDnXgeqrf, cusolverDnXpotrf, cusolverDnXpotrs, cusolverDnXsyevBatched,
    cusolverDnXsyevd, cusolverDnXsytrs,
}

/// Defines the only decomposition with a result on the host: the norm of each matrix's residual.
macro_rules! approximate_singular_values {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            #[allow(clippy::too_many_arguments, reason = "the signature is the library's")]
            extern "C" fn $name(
                _handle: Handle, _job: c_int, _rank: c_int, _m: c_int, _n: c_int,
                _a: Handle, _lda: c_int, _a_stride: i64, _s: Handle, _s_stride: i64,
                _u: Handle, _ldu: c_int, _u_stride: i64, _v: Handle, _ldv: c_int, _v_stride: i64,
                _work: Handle, _work_size: c_int, _info: Handle, residuals: OutArray<f64>, batch: c_int,
            ) -> c_int {
                launched();
                residuals.put(&vec![0.0; usize::try_from(batch).unwrap_or(0)]);
                0
            }
        )*
    };
}

approximate_singular_values! {
    cusolverDnSgesvdaStridedBatched, cusolverDnDgesvdaStridedBatched,
    cusolverDnCgesvdaStridedBatched, cusolverDnZgesvdaStridedBatched,
}

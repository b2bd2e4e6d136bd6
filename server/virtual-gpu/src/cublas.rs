//! Implements cuBLAS, as far as PyTorch calls it.
//!
//! A matrix product changes only device memory. A caller can observe its handle, with the modes that it has set, and
//! the scalar results that it requests on the host.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::answers::{launched, launches, streams, zeros};
use crate::ffi::{Handle, Out};
use crate::stub::{harmless, unmodelled};

/// Content of a handle: the modes that the caller has set.
///
/// Each handle has its own address, by which PyTorch keys its workspaces.
struct Context {
    /// Location of scalars: 0 is the host, 1 the device.
    pointer_mode: AtomicI32,
    math_mode: AtomicI32,
}

impl Context {
    fn scalars_on_host(&self) -> bool {
        self.pointer_mode.load(Ordering::Relaxed) == 0
    }
}

/// `CUBLAS_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: c_int = 1;

#[unsafe(no_mangle)]
extern "C" fn cublasCreate_v2(handle: Out<Box<Context>>) -> c_int {
    handle.put_if_wanted(Box::new(Context { pointer_mode: AtomicI32::new(0), math_mode: AtomicI32::new(0) }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn cublasDestroy_v2(handle: Option<Box<Context>>) -> c_int {
    if handle.is_some() { 0 } else { NOT_INITIALIZED }
}

/// Defines the two functions that set and read a mode of a handle.
macro_rules! mode {
    ($mode:ident: $set:ident, $get:ident) => {
        #[unsafe(no_mangle)]
        extern "C" fn $set(handle: Option<&Context>, mode: c_int) -> c_int {
            let Some(context) = handle else { return NOT_INITIALIZED };
            context.$mode.store(mode, Ordering::Relaxed);
            0
        }

        #[unsafe(no_mangle)]
        extern "C" fn $get(handle: Option<&Context>, mode: Out<c_int>) -> c_int {
            let Some(context) = handle else { return NOT_INITIALIZED };
            mode.put_if_wanted(context.$mode.load(Ordering::Relaxed));
            0
        }
    };
}

mode!(pointer_mode: cublasSetPointerMode_v2, cublasGetPointerMode_v2);
mode!(math_mode: cublasSetMathMode, cublasGetMathMode);

streams! { cublasSetStream_v2 }

harmless! { cublasSetSmCountTarget, cublasSetWorkspace_v2 }

launches! {
    cublasSaxpy_v2, cublasDaxpy_v2, cublasCaxpy_v2, cublasZaxpy_v2, cublasScopy_v2, cublasDcopy_v2, cublasCcopy_v2,
    cublasZcopy_v2, cublasZdrot_v2, cublasZdscal_v2, cublasSgemmBatched, cublasDgemmBatched, cublasCgemmBatched,
    cublasZgemmBatched, cublasSgemmEx, cublasSgemmStridedBatched, cublasDgemmStridedBatched,
    cublasCgemmStridedBatched, cublasZgemmStridedBatched, cublasSgemm_v2, cublasDgemm_v2, cublasCgemm_v2,
    cublasZgemm_v2, cublasGemmEx, cublasGemmStridedBatchedEx, cublasSgemv_v2, cublasDgemv_v2, cublasCgemv_v2,
    cublasZgemv_v2, cublasSger_v2, cublasDger_v2, cublasCgerc_v2, cublasZgerc_v2, cublasCgeru_v2, cublasZgeru_v2,
    cublasSgetrfBatched, cublasDgetrfBatched, cublasCgetrfBatched, cublasZgetrfBatched, cublasChemm_v2,
    cublasZhemm_v2, cublasChemv_v2, cublasZhemv_v2, cublasCher2_v2, cublasZher2_v2, cublasCher2k_v2, cublasZher2k_v2,
    cublasCher_v2, cublasZher_v2, cublasCherk_v2, cublasZherk_v2, cublasSrot_v2, cublasDrot_v2, cublasCrot_v2,
    cublasZrot_v2, cublasSrotm_v2, cublasDrotm_v2, cublasSscal_v2, cublasDscal_v2, cublasCscal_v2, cublasZscal_v2,
    cublasCsrot_v2, cublasCsscal_v2, cublasSswap_v2, cublasDswap_v2, cublasCswap_v2, cublasZswap_v2, cublasSsymm_v2,
    cublasDsymm_v2, cublasCsymm_v2, cublasZsymm_v2, cublasSsymv_v2, cublasDsymv_v2, cublasCsymv_v2, cublasZsymv_v2,
    cublasSsyr2_v2, cublasDsyr2_v2, cublasCsyr2_v2, cublasZsyr2_v2, cublasSsyr2k_v2, cublasDsyr2k_v2,
    cublasCsyr2k_v2, cublasZsyr2k_v2, cublasSsyr_v2, cublasDsyr_v2, cublasCsyr_v2, cublasZsyr_v2, cublasSsyrk_v2,
    cublasDsyrk_v2, cublasCsyrk_v2, cublasZsyrk_v2, cublasStrmm_v2, cublasDtrmm_v2, cublasCtrmm_v2, cublasZtrmm_v2,
    cublasStrmv_v2, cublasDtrmv_v2, cublasCtrmv_v2, cublasZtrmv_v2, cublasStrsmBatched, cublasDtrsmBatched,
    cublasCtrsmBatched, cublasZtrsmBatched, cublasStrsm_v2, cublasDtrsm_v2, cublasCtrsm_v2, cublasZtrsm_v2,
    cublasStrsv_v2, cublasDtrsv_v2, cublasCtrsv_v2, cublasZtrsv_v2,
}

unsafe extern "C" {
    safe fn cudaMemcpy2DAsync(
        to: Handle,
        to_pitch: usize,
        from: Handle,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: Handle,
    ) -> c_int;
}

/// `CUBLAS_STATUS_MAPPING_ERROR`: a copy failed.
const MAPPING_ERROR: c_int = 11;

/// Defines copies of a matrix, and of a vector, which is copied as a matrix with one row.
macro_rules! copies {
    ($kind:literal => $matrix:ident, $vector:ident) => {
        #[unsafe(no_mangle)]
        extern "C" fn $matrix(
            rows: c_int,
            columns: c_int,
            element_bytes: c_int,
            from: Handle,
            from_leading: c_int,
            to: Handle,
            to_leading: c_int,
            stream: Handle,
        ) -> c_int {
            let bytes = |count: c_int| usize::try_from(i64::from(count) * i64::from(element_bytes)).unwrap_or(0);
            let height = usize::try_from(columns).unwrap_or(0);
            let (to_pitch, from_pitch) = (bytes(to_leading), bytes(from_leading));
            match cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes(rows), height, $kind, stream) {
                0 => 0,
                _ => MAPPING_ERROR,
            }
        }

        #[unsafe(no_mangle)]
        extern "C" fn $vector(
            count: c_int,
            element_bytes: c_int,
            from: Handle,
            from_stride: c_int,
            to: Handle,
            to_stride: c_int,
            stream: Handle,
        ) -> c_int {
            $matrix(1, count, element_bytes, from, from_stride, to, to_stride, stream)
        }
    };
}

// `cudaMemcpyHostToDevice` and `cudaMemcpyDeviceToHost`.
copies!(1 => cublasSetMatrixAsync, cublasSetVectorAsync);
copies!(2 => cublasGetMatrixAsync, cublasGetVectorAsync);

// `info` is on the host, where 0 means that the call succeeded for every matrix.
zeros! {
    (c_int) after [_ _ _ _ _ _] =>
        cublasSgeqrfBatched, cublasDgeqrfBatched, cublasCgeqrfBatched, cublasZgeqrfBatched;
    (c_int) after [_ _ _ _ _ _ _ _ _] =>
        cublasSgetrsBatched, cublasDgetrsBatched, cublasCgetrsBatched, cublasZgetrsBatched,
        cublasSgelsBatched, cublasDgelsBatched, cublasCgelsBatched, cublasZgelsBatched;
}

// Rotations of host scalars would need real arithmetic, and PyTorch never calls them.
unmodelled! { "cublas", 15 =>
    cublasSrotg_v2, cublasDrotg_v2, cublasCrotg_v2, cublasZrotg_v2, cublasSrotmg_v2, cublasDrotmg_v2,
}

/// Defines reductions to a scalar: the result for vectors of zeros, if the caller wants it on the host.
macro_rules! reductions {
    { $($value:expr, $type:ty, after $skipped:tt => $($name:ident),+ ;)* } => {
        $($(reductions!(@define $name $value, $type, $skipped);)+)*
    };
    (@define $name:ident $value:expr, $type:ty, [$($skipped:tt)*]) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(handle: Option<&Context>, $(_: reductions!(@word $skipped),)* result: Out<$type>) -> c_int {
            let Some(context) = handle else { return NOT_INITIALIZED };
            launched();
            if context.scalars_on_host() {
                result.put_if_wanted($value);
            }
            0
        }
    };
    (@word _) => { usize };
}

/// One-based index of the first element, which is both the maximum and the minimum of equal elements.
const FIRST: c_int = 1;

reductions! {
    0.0, f32, after [_ _ _] => cublasSasum_v2, cublasScasum_v2, cublasSnrm2_v2, cublasScnrm2_v2;
    0.0, f64, after [_ _ _] => cublasDasum_v2, cublasDzasum_v2, cublasDnrm2_v2, cublasDznrm2_v2;
    0.0, f32, after [_ _ _ _ _] => cublasSdot_v2;
    0.0, f64, after [_ _ _ _ _] => cublasDdot_v2;
    [0.0; 2], [f32; 2], after [_ _ _ _ _] => cublasCdotc_v2, cublasCdotu_v2;
    [0.0; 2], [f64; 2], after [_ _ _ _ _] => cublasZdotc_v2, cublasZdotu_v2;
    FIRST, c_int, after [_ _ _] =>
        cublasIsamax_v2, cublasIdamax_v2, cublasIcamax_v2, cublasIzamax_v2,
        cublasIsamin_v2, cublasIdamin_v2, cublasIcamin_v2, cublasIzamin_v2;
}

/// Writes a zero of the result type, of 2, 4 or 8 bytes, if scalars are on the host.
#[unsafe(no_mangle)]
extern "C" fn cublasDotEx(
    handle: Option<&Context>,
    _n: c_int,
    _x: Handle,
    _x_type: c_int,
    _x_stride: c_int,
    _y: Handle,
    _y_type: c_int,
    _y_stride: c_int,
    result: Out<u8>,
    result_type: c_int,
) -> c_int {
    /// `CUDA_R_32F`, `CUDA_R_64F`, `CUDA_R_16F` and `CUDA_R_16BF`.
    const FLOAT: c_int = 0;
    const DOUBLE: c_int = 1;
    const HALF: c_int = 2;
    const BFLOAT16: c_int = 14;
    /// `CUBLAS_STATUS_NOT_SUPPORTED`.
    const NOT_SUPPORTED: c_int = 15;
    let Some(context) = handle else { return NOT_INITIALIZED };
    launched();
    if !context.scalars_on_host() {
        return 0;
    }
    match result_type {
        FLOAT => result.cast::<f32>().put_if_wanted(0.0),
        DOUBLE => result.cast::<f64>().put_if_wanted(0.0),
        HALF | BFLOAT16 => result.cast::<u16>().put_if_wanted(0),
        _ => return NOT_SUPPORTED,
    }
    0
}

//! Implements cuSPARSELt, as far as PyTorch calls it: products of matrices with 2:4 structured sparsity.
//!
//! Descriptors lie in memory of the caller: a matrix stores its shape there, and the others store nothing.

use std::ffi::c_int;

use crate::answers::{launches, zeros};
use crate::ffi::{Handle, Out};
use crate::stub::harmless;

/// `CUSPARSE_STATUS_INVALID_VALUE` and `CUSPARSE_STATUS_NOT_SUPPORTED`.
const INVALID_VALUE: c_int = 3;
const NOT_SUPPORTED: c_int = 10;

/// Content of a matrix descriptor.
#[repr(C)]
#[derive(Clone, Copy)]
struct Matrix {
    rows: i64,
    columns: i64,
    element_bytes: i64,
}

impl Matrix {
    /// Returns the compressed size: half of the elements, and two bits for each of them that give its position.
    fn compressed_bytes(&self) -> Option<usize> {
        let elements = self.rows.checked_mul(self.columns)?;
        let kept = elements / 2;
        usize::try_from(kept.checked_mul(self.element_bytes)?.checked_add(kept.div_euclid(4))?).ok()
    }
}

/// Returns the size of an element of a `cudaDataType`, in bytes, for the types that the library multiplies.
fn element_bytes(data_type: c_int) -> Option<i64> {
    match data_type {
        0 => Some(4),           // CUDA_R_32F
        2 | 14 => Some(2),      // CUDA_R_16F, CUDA_R_16BF
        3 | 28 | 29 => Some(1), // CUDA_R_8I, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2
        _ => None,
    }
}

/// Defines the functions that initialize a matrix descriptor.
macro_rules! matrices {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                _handle: Handle,
                matrix: Out<Matrix>,
                rows: i64,
                columns: i64,
                _leading: i64,
                _alignment: u32,
                data_type: c_int,
            ) -> c_int {
                let Some(element_bytes) = element_bytes(data_type) else { return NOT_SUPPORTED };
                if matrix.put(Matrix { rows, columns, element_bytes }) { 0 } else { INVALID_VALUE }
            }
        )*
    };
}

matrices! { cusparseLtDenseDescriptorInit, cusparseLtStructuredDescriptorInit }

#[unsafe(no_mangle)]
extern "C" fn cusparseLtSpMMACompressedSize2(
    _handle: Handle,
    matrix: Option<&Matrix>,
    size: Out<usize>,
    buffer_size: Out<usize>,
) -> c_int {
    let Some(bytes) = matrix.and_then(Matrix::compressed_bytes) else { return INVALID_VALUE };
    size.put_if_wanted(bytes);
    buffer_size.put_if_wanted(0);
    0
}

/// Returns an attribute of the only algorithm, which does not split the sum.
#[unsafe(no_mangle)]
extern "C" fn cusparseLtMatmulAlgGetAttribute(
    _handle: Handle,
    _selection: Handle,
    attribute: c_int,
    value: Out<c_int>,
    size: usize,
) -> c_int {
    /// `CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID` and `CUSPARSELT_MATMUL_SPLIT_K`.
    const ALGORITHMS: c_int = 1;
    const PARTS: c_int = 3;
    if size != size_of::<c_int>() {
        return INVALID_VALUE;
    }
    value.put_if_wanted(if matches!(attribute, ALGORITHMS | PARTS) { 1 } else { 0 });
    0
}

harmless! {
    cusparseLtInit, cusparseLtDestroy, cusparseLtMatDescriptorDestroy, cusparseLtMatmulAlgSelectionInit,
    cusparseLtMatmulAlgSetAttribute, cusparseLtMatmulDescSetAttribute, cusparseLtMatmulDescriptorInit,
    cusparseLtMatmulPlanDestroy, cusparseLtMatmulPlanInit,
}

zeros! { (usize) after [_ _] => cusparseLtMatmulGetWorkspace; }

launches! { cusparseLtMatmul, cusparseLtMatmulSearch, cusparseLtSpMMACompress2 }

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;

    /// Returns the size of a compressed matrix, in bytes, through the C interface.
    fn compressed(rows: i64, columns: i64, data_type: c_int) -> usize {
        let mut matrix = Matrix { rows: 0, columns: 0, element_bytes: 0 };
        let (mut size, mut buffer) = (0, 1);
        let place = Out::to(&mut matrix);
        assert_eq!(cusparseLtStructuredDescriptorInit(null_mut(), place, rows, columns, columns, 16, data_type), 0);
        let (size_out, buffer_out) = (Out::to(&mut size), Out::to(&mut buffer));
        assert_eq!(cusparseLtSpMMACompressedSize2(null_mut(), Some(&matrix), size_out, buffer_out), 0);
        assert_eq!(buffer, 0);
        size
    }

    #[test]
    fn compression_takes_nine_or_ten_sixteenths() {
        assert_eq!(compressed(64, 128, 14), 64 * 128 * 2 * 9 / 16);
        assert_eq!(compressed(64, 128, 3), 64 * 128 * 10 / 16);
    }

    #[test]
    fn an_unknown_type_is_refused() {
        let mut matrix = Matrix { rows: 0, columns: 0, element_bytes: 0 };
        let place = Out::to(&mut matrix);
        assert_eq!(cusparseLtDenseDescriptorInit(null_mut(), place, 1, 1, 1, 16, 99), NOT_SUPPORTED);
    }
}

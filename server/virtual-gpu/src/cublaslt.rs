//! Implements cuBLASLt, as far as PyTorch calls it.
//!
//! PyTorch describes a product, requests one algorithm for it, and takes the first.
//! It provides a workspace of its own; cuDNN, for filters of 1 × 1, asks how much the product needs.

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::answers::{creators, launched_on};
use crate::arrays::{Array, OutArray};
use crate::ffi::{Handle, Out};
use crate::state::machine;
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

creators! { cublasLtCreate }

harmless! { cublasLtDestroy }

/// Shape of a matrix, or of each of a batch.
struct Layout {
    data_type: c_int,
    rows: u64,
    columns: u64,
    batch: u64,
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutCreate(layout: Out<Box<Layout>>, data_type: c_int, rows: u64, columns: u64) -> c_int {
    layout.put_if_wanted(Box::new(Layout { data_type, rows, columns, batch: 1 }));
    0
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutSetAttribute(layout: Option<&mut Layout>, name: c_int, value: Array<i32>) -> c_int {
    /// `CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT`.
    const BATCH: c_int = 5;
    let Some(layout) = layout else { return INVALID_VALUE };
    if name == BATCH {
        layout.batch = value.copy(1).first().map_or(1, |&count| u64::try_from(count).unwrap_or(1));
    }
    0
}

#[unsafe(no_mangle)]
extern "C" fn cublasLtMatrixLayoutDestroy(_layout: Option<Box<Layout>>) -> c_int {
    0
}

/// Numbers that were set for a product, or for the choice of its algorithm.
#[derive(Default)]
struct Attributes(BTreeMap<c_int, u64>);

/// Defines the functions of a descriptor that is a list of attributes.
macro_rules! attributes {
    { $($create:ident $set:ident $destroy:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $create(made: Out<Box<Attributes>>) -> c_int {
                made.put_if_wanted(Box::default());
                0
            }

            #[unsafe(no_mangle)]
            extern "C" fn $set(of: Option<&mut Attributes>, name: c_int, value: Array<u8>, size: usize) -> c_int {
                let Some(of) = of else { return INVALID_VALUE };
                let mut word = [0; 8];
                let given = value.copy(size.min(8));
                word[..given.len()].copy_from_slice(&given);
                of.0.insert(name, u64::from_le_bytes(word));
                0
            }

            #[unsafe(no_mangle)]
            extern "C" fn $destroy(_of: Option<Box<Attributes>>) -> c_int {
                0
            }
        )*
    };
}

attributes! {
    cublasLtMatmulDescCreate cublasLtMatmulDescSetAttribute cublasLtMatmulDescDestroy,
    cublasLtMatmulPreferenceCreate cublasLtMatmulPreferenceSetAttribute cublasLtMatmulPreferenceDestroy,
}

/// Returns the workspace of a product whose long inner dimension is split, in bytes.
///
/// This is how an H200 computes gradients of filters in half precision: a part has at least 1,280 of the inner dimension,
/// and there are about as many parts of tiles as multiprocessors. Where that limits the parts, their number is an estimate.
fn split_bytes(rows: u64, columns: u64, inner: u64, multiprocessors: u64) -> u64 {
    let tiles = rows.div_ceil(128) * columns.div_ceil(128);
    let parts = (inner / 1280).min((multiprocessors / tiles.max(1)).max(5));
    if parts < 2 { 0 } else { 16 + 4 * rows.next_multiple_of(32) * columns * parts }
}

/// Returns the workspace of a kernel that stays on its multiprocessor and counts the tiles that it takes, in bytes.
///
/// An H200 takes such a kernel for a product of matrices, not for one with a vector, if its rows are aligned to 16 bytes
/// and it has more tiles than multiprocessors, or nearly as many and few columns of floats: a rule with exceptions.
fn counter_bytes(product: [u64; 3], batch: u64, is_half: bool, is_transposed: bool, multiprocessors: u64) -> u64 {
    let [rows, columns, inner] = product;
    let (aligned, least_inner, bytes) = if is_half { (8, 1, 16) } else { (4, 32, 144) };
    let is_aligned = rows.is_multiple_of(aligned) && inner.is_multiple_of(aligned) && inner >= least_inner;
    let tiles = rows.div_ceil(128) * columns.div_ceil(128) * batch;
    let is_near = !is_half && !is_transposed && columns < 1024;
    let least_tiles = if is_near { multiprocessors - multiprocessors / 32 } else { multiprocessors + 1 };
    if is_aligned && columns > 1 && tiles >= least_tiles { bytes } else { 0 }
}

/// Returns the workspace of a product of floats or in half precision, within its limit.
fn work_space_bytes(product: &Attributes, a: &Layout, d: &Layout, limit: &Attributes) -> usize {
    // `CUBLASLT_MATMUL_DESC_TRANSA` 3 and `…_TRANSB` 4; `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES` 1.
    let set = |of: &Attributes, name| of.0.get(&name).copied().unwrap_or(0);
    let transposed = (set(product, 3) != 0, set(product, 4) != 0);
    let Ok(device) = machine().and_then(|machine| machine.current()) else { return 0 };
    let multiprocessors = device.card.multiprocessors.into();
    let inner = if transposed.0 { a.rows } else { a.columns };
    let counted = |is_half| counter_bytes([d.rows, d.columns, inner], d.batch, is_half, transposed.1, multiprocessors);
    let bytes = match (a.data_type, transposed) {
        // `CUDA_R_16F` and `CUDA_R_16BF`.
        (2 | 14, (false, true)) => split_bytes(d.rows, d.columns, inner, multiprocessors),
        (2 | 14, _) => counted(true),
        // `CUDA_R_32F`.
        (0, (false, _)) => counted(false),
        _ => 0,
    };
    if bytes <= set(limit, 1) { bytes as usize } else { 0 }
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

/// Returns one algorithm.
///
/// Without an algorithm, PyTorch would warn and take another path than on a GPU.
#[unsafe(no_mangle)]
extern "C" fn cublasLtMatmulAlgoGetHeuristic(
    _handle: Handle,
    product: Option<&Attributes>,
    a: Option<&Layout>,
    _b: Handle,
    _c: Handle,
    d: Option<&Layout>,
    limit: Option<&Attributes>,
    wanted: c_int,
    results: Out<Heuristic>,
    found: Out<c_int>,
) -> c_int {
    let work_space_bytes = match (product, a, d, limit) {
        (Some(product), Some(a), Some(d), Some(limit)) => work_space_bytes(product, a, d, limit),
        _ => 0,
    };
    if wanted < 1 || !results.put(Heuristic { work_space_bytes, ..Heuristic::default() }) {
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
    fn a_long_inner_dimension_is_split_into_parts_that_are_added() {
        let of = |rows, columns, inner| split_bytes(rows, columns, inner, 132);
        // Gradients of filters of an H200, less 256 bytes of cuDNN.
        assert_eq!([of(384, 128, 6272), of(528, 160, 6272), of(144, 40, 25_088)], [786_448, 1_392_656, 486_416]);
        assert_eq!([of(200, 80, 14_112), of(512, 512, 25_088), of(576, 160, 1568)], [788_496, 8_388_624, 0]);
        let (mut product, mut limit) = (Attributes::default(), Attributes::default());
        let [a, d] = [6272, 128].map(|columns| Layout { data_type: 14, rows: 384, columns, batch: 1 });
        let set = |of: &mut Attributes, name, value: u64| {
            let bytes = value.to_le_bytes();
            assert_eq!(cublasLtMatmulDescSetAttribute(Some(of), name, Array::of(&bytes), 8), 0);
        };
        set(&mut product, 4, 1);
        assert_eq!(work_space_bytes(&product, &a, &d, &limit), 0, "nothing is allowed");
        set(&mut limit, 1, 4 << 20);
        assert!(work_space_bytes(&product, &a, &d, &limit) > 0);
        set(&mut product, 3, 1);
        assert_eq!(work_space_bytes(&product, &a, &d, &limit), 0, "another product");
    }

    #[test]
    fn a_kernel_that_stays_on_its_multiprocessor_counts_tiles() {
        let halves = |product| counter_bytes(product, 1, true, false, 132);
        assert_eq!([halves([512, 6272, 128]), halves([96, 6272, 480]), halves([116, 25_088, 116])], [16, 0, 0]);
        let floats = |product| counter_bytes(product, 8, false, false, 132);
        assert_eq!([floats([3136, 128, 192]), floats([784, 128, 480]), floats([3136, 144, 24])], [144, 0, 0]);
        assert_eq!([floats([1024, 256, 1024]), floats([196, 1024, 512]), floats([65_536, 1, 64])], [144, 0, 0]);
    }

    #[test]
    fn one_way_is_found_and_needs_no_work_space() {
        let used = Heuristic { work_space_bytes: 5, status: 6, ..Heuristic::default() };
        let (mut result, mut found) = (used, 0);
        let ask = |wanted, result: Out<Heuristic>, found: Out<c_int>| {
            let none = null_mut();
            cublasLtMatmulAlgoGetHeuristic(none, None, None, none, none, None, None, wanted, result, found)
        };
        assert_eq!(ask(1, Out::to(&mut result), Out::to(&mut found)), 0);
        assert_eq!((result, found), (Heuristic::default(), 1));
        assert_eq!(ask(0, Out::to(&mut result), Out::to(&mut found)), INVALID_VALUE);
    }
}

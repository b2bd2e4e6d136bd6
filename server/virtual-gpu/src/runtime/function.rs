//! Returns the attributes and the occupancy of kernels.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::Out;
use crate::state::machine;
use crate::stub::{functions, harmless};

harmless! { cudaFuncSetCacheConfig, cudaFuncSetSharedMemConfig }

/// Dynamic shared memory that a block may take by default, in bytes.
const DEFAULT_SHARED_BYTES: c_int = 48 << 10;

/// Number of registers of a thread that is reported for every kernel, as of a typical one.
const REGISTERS: c_int = 32;

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: c_int = 8;

/// `cudaFuncAttributes`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    max_threads_per_block: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    cache_mode: c_int,
    max_dynamic_shared_bytes: c_int,
    preferred_shared_carveout: c_int,
    cluster: [c_int; 6],
    reserved: [c_int; 16],
}

/// Limits of dynamic shared memory that programs have set, by kernel, in bytes.
static SHARED_BYTES: Mutex<BTreeMap<usize, c_int>> = Mutex::new(BTreeMap::new());

/// Sets the dynamic shared memory that a kernel may take.
///
/// # Errors
/// Returns "invalid value" if it is negative or more than the card has for a block.
pub(crate) fn set_shared_bytes(kernel: *const c_void, bytes: c_int) -> Result<()> {
    let most = machine()?.current()?.card.shared_memory_per_block_bytes;
    if u32::try_from(bytes).is_ok_and(|bytes| bytes <= most) {
        SHARED_BYTES.lock().unwrap_or_else(PoisonError::into_inner).insert(kernel as usize, bytes);
        return Ok(());
    }
    Err(Error::InvalidValue)
}

/// Returns the value of a kernel's attribute by its number, which the runtime and the driver share.
pub(crate) fn attribute(kernel: *const c_void, attribute: c_int) -> Result<c_int> {
    let version = |architecture: u32| c_int::try_from(architecture).unwrap_or(0);
    Ok(match attribute {
        0 => 1024,
        4 => REGISTERS,
        5 => version(machine()?.current()?.ptx_architecture()),
        6 => version(machine()?.current()?.kernel_architecture()),
        MAX_DYNAMIC_SHARED => {
            let set = SHARED_BYTES.lock().unwrap_or_else(PoisonError::into_inner);
            set.get(&(kernel as usize)).copied().unwrap_or(DEFAULT_SHARED_BYTES)
        }
        1..=3 | 7 | 10..=15 => 0,
        9 => -1,
        _ => return Err(Error::InvalidValue),
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaFuncGetAttributes(attributes: Out<FunctionAttributes>, kernel: *const c_void) -> c_int {
    status(|| {
        let of = |number| attribute(kernel, number);
        let found = FunctionAttributes {
            shared_bytes: 0,
            constant_bytes: 0,
            local_bytes: 0,
            max_threads_per_block: of(0)?,
            registers: of(4)?,
            ptx_version: of(5)?,
            binary_version: of(6)?,
            cache_mode: of(7)?,
            max_dynamic_shared_bytes: of(MAX_DYNAMIC_SHARED)?,
            preferred_shared_carveout: of(9)?,
            cluster: [0; 6],
            reserved: [0; 16],
        };
        give(attributes, found)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaFuncSetAttribute(kernel: *const c_void, attribute: c_int, value: c_int) -> c_int {
    status(|| if attribute == MAX_DYNAMIC_SHARED { set_shared_bytes(kernel, value) } else { Ok(()) })
}

functions! {
    cudaFuncGetName(name: Out<*const c_char>, _kernel: *const c_void) => give(name, c"kernel".as_ptr());
    cudaGetFuncBySymbol(function: Out<*const c_void>, symbol: *const c_void) => give(function, symbol);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>, _kernel: *const c_void, block_threads: c_int, shared_bytes: usize
    ) => give(blocks, occupancy(block_threads, shared_bytes)?);
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>, kernel: *const c_void, block_threads: c_int, shared_bytes: usize, _flags: c_uint
    ) = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_threads, shared_bytes);
    cudaOccupancyMaxPotentialClusterSize(size: Out<c_int>, _kernel: *const c_void, _config: *const c_void) =>
        give(size, 8);
}

/// Returns the number of a kernel's blocks that one multiprocessor of the current device holds.
pub(crate) fn occupancy(block_threads: c_int, shared_bytes: usize) -> Result<c_int> {
    let threads = u32::try_from(block_threads).ok().filter(|&threads| threads > 0).ok_or(Error::InvalidValue)?;
    let blocks = machine()?.current()?.occupancy(threads, shared_bytes as u64);
    Ok(c_int::try_from(blocks).unwrap_or(c_int::MAX))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaOccupancyAvailableDynamicSMemPerBlock(
    bytes: Out<usize>,
    _kernel: *const c_void,
    blocks: c_int,
    _block_threads: c_int,
) -> c_int {
    status(|| {
        let device = machine()?.current()?;
        let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks > 0).ok_or(Error::InvalidValue)?;
        let share = device.shared_memory_per_multiprocessor_bytes() / blocks;
        give(bytes, share.saturating_sub(device.reserved_shared_memory_bytes()) as usize)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaOccupancyMaxActiveClusters(
    clusters: Out<c_int>,
    _kernel: *const c_void,
    _config: *const c_void,
) -> c_int {
    // Clusters have eight blocks, the portable maximum, each of which takes a multiprocessor of its own.
    status(|| give(clusters, c_int::try_from(machine()?.current()?.card.multiprocessors / 8).unwrap_or(1).max(1)))
}

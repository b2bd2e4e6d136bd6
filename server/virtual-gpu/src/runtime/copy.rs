//! Copies and fills memory: each call counts a tick and moves the values that are kept.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use super::{give, pool, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::state::capture::Node;
use crate::state::{handle, machine, thread, values};
use crate::stub::{functions, unmodelled};

unmodelled! {
    "cudart", 801 =>
    cudaMemcpy3D,
    cudaMemcpy3DAsync,
    cudaMemcpy3DPeer,
    cudaMemcpy3DPeerAsync,
    cudaMemcpyBatchAsync,
    cudaMemset3D,
    cudaMemset3DAsync,
}

/// `cudaMemcpyDefault`, the highest `cudaMemcpyKind`: the direction follows from the addresses.
const KIND_DEFAULT: c_int = 4;

/// Handle of the current device's default stream.
const DEFAULT: Handle = std::ptr::null_mut();

/// Puts a copy into a stream.
pub(crate) fn copy(to: *mut c_void, from: *const c_void, size: usize, stream: Handle) -> Result<()> {
    let machine = machine()?;
    if machine.put(stream, Node::Device)? {
        values::copy(machine, to, from, size);
    }
    Ok(())
}

/// Puts a fill into a stream.
pub(crate) fn fill(to: *mut c_void, value: c_int, size: usize, stream: Handle) -> Result<()> {
    let machine = machine()?;
    if machine.put(stream, Node::Device)? {
        values::fill(machine, to, value as u8, size);
    }
    Ok(())
}

/// Waits for a stream, as a synchronous copy does, and releases the unused memory of the current device's pools.
pub(super) fn finish(stream: Handle) -> Result<()> {
    let machine = machine()?;
    machine.finish_stream(handle::stream_of(stream)?)?;
    pool::release_unused(machine, thread::device())
}

fn check_kind(kind: c_int) -> Result<()> {
    if (0..=KIND_DEFAULT).contains(&kind) { Ok(()) } else { Err(Error::InvalidMemcpyDirection) }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> c_int {
    status(|| {
        check_kind(kind)?;
        machine()?.check_unsafe()?;
        copy(to, from, size, DEFAULT)?;
        finish(DEFAULT)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_int,
    stream: Handle,
) -> c_int {
    status(|| {
        check_kind(kind)?;
        copy(to, from, size, stream)
    })
}

functions! {
    cudaMemcpyPeer(to: *mut c_void, _: c_int, from: *const c_void, _: c_int, size: usize) =>
        copy(to, from, size, DEFAULT);
    cudaMemset(to: *mut c_void, value: c_int, size: usize) => fill(to, value, size, DEFAULT);
    cudaMemsetAsync(to: *mut c_void, value: c_int, size: usize, stream: Handle) => fill(to, value, size, stream);
    cudaMemset2DAsync(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: Handle) =>
        (0..height).try_for_each(|row| fill(to.wrapping_byte_add(row * pitch), value, width, stream));
    cudaMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) =
        cudaMemset2DAsync(to, pitch, value, width, height, DEFAULT);
    cudaGetSymbolAddress(address: Out<*mut c_void>, symbol: *const c_void) => give(address, symbol_address(symbol)?);
    cudaMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, size: usize, offset: usize, _kind: c_int, stream: Handle
    ) => copy(symbol_address(symbol)?.wrapping_byte_add(offset), from, size, stream);
    cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: c_int) =
        cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, DEFAULT);
    cudaMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, _kind: c_int, stream: Handle
    ) => copy(to, symbol_address(symbol)?.wrapping_byte_add(offset), size, stream);
    cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: c_int) =
        cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, DEFAULT);
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemcpyPeerAsync(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
    stream: Handle,
) -> c_int {
    status(|| {
        let machine = machine()?;
        machine.device(to_device)?;
        machine.device(from_device)?;
        copy(to, from, size, stream)
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: Handle,
) -> c_int {
    status(|| {
        check_kind(kind)?;
        let machine = machine()?;
        if machine.put(stream, Node::Device)? {
            for row in 0..height {
                let to = to.wrapping_byte_add(row * to_pitch);
                values::copy(machine, to, from.wrapping_byte_add(row * from_pitch), width);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, DEFAULT)
}

/// Device address of each variable of a device program, by (device, address of the variable's shadow on the host).
///
/// They do not count as used memory: a real driver keeps them in the memory of the module, outside of the allocator.
static SYMBOLS: Mutex<BTreeMap<(usize, usize), u64>> = Mutex::new(BTreeMap::new());

/// Returns the address of a variable on the current device, which is allocated on the first use.
fn symbol_address(symbol: *const c_void) -> Result<*mut c_void> {
    if symbol.is_null() {
        return Err(Error::InvalidSymbol);
    }
    let device = machine()?.current()?;
    let mut symbols = SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (device.ordinal, symbol as usize);
    if let Some(&address) = symbols.get(&key) {
        return Ok(address as *mut c_void);
    }
    let address = device.lock().memory.take_uncounted()?;
    symbols.insert(key, address);
    Ok(address as *mut c_void)
}

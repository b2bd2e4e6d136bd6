//! Loads modules and launches functions that are compiled at run time.
//!
//! The code of a module is not read: every name is found in it, and a function is represented by its name.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use super::{give, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out, text};
use crate::runtime::{attribute, occupancy, set_shared_bytes};
use crate::state::{kernel, launch, machine, thread};
use crate::stub::{functions, harmless};

harmless! {
    cuFuncLoad,
    cuFuncSetCacheConfig,
    cuFuncSetSharedMemConfig,
    cuLibraryUnload,
    cuLinkAddData,
    cuLinkAddData_v2,
    cuLinkDestroy,
    cuModuleUnload,
}

/// Functions that were looked up, by name; the address of the C string is the function's handle.
static FUNCTIONS: Mutex<BTreeMap<String, CString>> = Mutex::new(BTreeMap::new());

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MAX_DYNAMIC_SHARED: c_int = 8;

/// Returns the handle that all modules and libraries share, which is never dereferenced.
fn some_module() -> Handle {
    static MODULE: usize = 0;
    (&raw const MODULE).cast_mut().cast()
}

/// Returns the function of a name; a name always has the same function.
fn function(name: &str) -> Result<*const c_void> {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = functions.get(name) {
        return Ok(found.as_ptr().cast());
    }
    let text = CString::new(name).map_err(|_| Error::NotFound)?;
    let handle: *const c_char = text.as_ptr();
    kernel::register(handle.cast(), handle);
    functions.insert(name.to_owned(), text);
    Ok(handle.cast())
}

functions! {
    cuModuleLoad(module: Out<Handle>, _path: *const c_char) => give(module, some_module());
    cuModuleLoadData(module: Out<Handle>, _image: *const c_void) => give(module, some_module());
    cuModuleGetFunction(to: Out<*const c_void>, _module: Handle, name: *const c_char) =>
        give(to, function(text(name))?);
    cuLibraryLoadData(library: Out<Handle>, _code: *const c_void) => give(library, some_module());
    cuLibraryGetKernel(to: Out<*const c_void>, library: Handle, name: *const c_char) =
        cuModuleGetFunction(to, library, name);
    cuKernelGetFunction(to: Out<*const c_void>, kernel: *const c_void) => give(to, kernel);
    cuFuncGetModule(module: Out<Handle>, _function: *const c_void) => give(module, some_module());
    cuFuncGetName(name: Out<*const c_char>, function: *const c_void) => give(name, function.cast());
    cuFuncGetAttribute(value: Out<c_int>, number: c_int, function: *const c_void) =>
        give(value, attribute(function, number)?);
    cuKernelGetAttribute(value: Out<c_int>, number: c_int, kernel: *const c_void, _device: c_int) =
        cuFuncGetAttribute(value, number, kernel);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>, _function: *const c_void, block_threads: c_int, shared_bytes: usize
    ) => give(blocks, occupancy(block_threads, shared_bytes)?);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>, function: *const c_void, block_threads: c_int, shared_bytes: usize, _flags: c_uint
    ) = cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads, shared_bytes);
    cuOccupancyMaxActiveClusters(clusters: Out<c_int>, _function: *const c_void, _config: *const c_void) =>
        give(clusters, c_int::try_from(machine()?.current()?.card.multiprocessors / 8).unwrap_or(1).max(1));
    cuLinkCreate_v2(_count: c_uint, _options: *const c_int, _values: *const *const c_void, state: Out<Handle>) =>
        give(state, some_module());
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuModuleLoadDataEx(
    module: Out<Handle>,
    image: *const c_void,
    _count: c_uint,
    _options: *const c_int,
    _values: *const *const c_void,
) -> c_int {
    cuModuleLoadData(module, image)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuModuleGetGlobal_v2(
    to: Out<u64>,
    bytes: Out<usize>,
    _module: Handle,
    _name: *const c_char,
) -> c_int {
    status(|| {
        let address = machine()?.current()?.lock().memory.take_uncounted()?;
        to.put_if_wanted(address);
        // The variable's real size is unknown; a caller that copies all of it copies 8 bytes.
        bytes.put_if_wanted(8);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuFuncSetAttribute(function: *const c_void, number: c_int, value: c_int) -> c_int {
    status(|| if number == MAX_DYNAMIC_SHARED { set_shared_bytes(function, value) } else { Ok(()) })
}

fn launch_function(function: *const c_void, stream: Handle) -> c_int {
    thread::set_last_kernel(function);
    status(|| launch(stream))
}

/// Defines functions that launch a kernel and differ in nothing that is modeled.
macro_rules! kernels {
    { $($name:ident)* } => {$(
        #[unsafe(no_mangle)]
        pub(super) extern "C" fn $name(
            function: *const c_void,
            _grid_x: c_uint,
            _grid_y: c_uint,
            _grid_z: c_uint,
            _block_x: c_uint,
            _block_y: c_uint,
            _block_z: c_uint,
            _shared_bytes: c_uint,
            stream: Handle,
        ) -> c_int {
            launch_function(function, stream)
        }
    )*};
}

kernels! { cuLaunchKernel cuLaunchCooperativeKernel }

/// The first fields of `CUlaunchConfig`; the others are not read.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: Handle,
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cuLaunchKernelEx(config: Out<Config>, function: *const c_void) -> c_int {
    match config.get() {
        Some(config) => launch_function(function, config.stream),
        None => Error::InvalidValue.code(),
    }
}

/// Returns placeholder bytes as the linked code, from which a module can be "loaded".
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuLinkComplete(_state: Handle, code: Out<Handle>, size: Out<usize>) -> c_int {
    size.put_if_wanted(size_of::<usize>());
    status(|| give(code, some_module()))
}

/// Writes an empty tensor map, because no kernel runs that would use it for a copy.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cuTensorMapEncodeTiled(map: Out<[u64; 16]>) -> c_int {
    status(|| give(map, [0; 16]))
}

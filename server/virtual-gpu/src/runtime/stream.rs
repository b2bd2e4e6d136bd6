//! Creates, queries and synchronizes streams, and calls or captures host functions.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::device::MOST_URGENT;
use super::{copy, give, status};
use crate::error::{Error, Result};
use crate::ffi::{Handle, Out};
use crate::state::capture::Node;
use crate::state::handle::{Kind, stream_of};
use crate::state::thread::polls_on;
use crate::state::{machine, now};
use crate::stub::{functions, harmless};

// Stream attributes and memory attachment only give hints to the hardware.
harmless! {
    cudaStreamSetAttribute,
    cudaStreamCopyAttributes,
    cudaStreamAttachMemAsync,
}

/// Host function of the program (`cudaHostFn_t`), which takes its argument.
pub(super) type HostFunction = extern "C" fn(*mut c_void);

/// Callback of the program (`cudaStreamCallback_t`), which takes a stream, a status and its argument.
pub(super) type StreamCallback = extern "C" fn(Handle, c_int, *mut c_void);

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamCreateWithPriority(stream: Out<Handle>, flags: c_uint, priority: c_int) -> c_int {
    status(|| {
        let machine = machine()?;
        let device = machine.current()?.ordinal;
        // CUDA clamps a priority to the range.
        let number = machine.work().streams.create(device, flags, priority.clamp(MOST_URGENT, 0));
        give(stream, Kind::Stream.handle(number))
    })
}

functions! {
    cudaStreamCreateWithFlags(stream: Out<Handle>, flags: c_uint) = cudaStreamCreateWithPriority(stream, flags, 0);
    cudaStreamCreate(stream: Out<Handle>) = cudaStreamCreateWithPriority(stream, 0, 0);
    cudaStreamDestroy(stream: Handle) => machine()?.work().destroy_stream(Kind::Stream.number(stream)?);
    cudaStreamGetPriority(stream: Handle, priority: Out<c_int>) =>
        give(priority, machine()?.work().streams.get(stream_of(stream)?)?.priority);
    cudaStreamGetFlags(stream: Handle, flags: Out<c_uint>) =>
        give(flags, machine()?.work().streams.get(stream_of(stream)?)?.flags);
    cudaStreamGetId(stream: Handle, id: Out<c_ulonglong>) => give(id, stream_of(stream)? as c_ulonglong);
    cudaStreamSynchronize(stream: Handle) => copy::finish(stream);
    cudaStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) =>
        machine()?.work().wait(stream_of(stream)?, Kind::Event.number(event)?, flags, now());
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamGetDevice(stream: Handle, device: Out<c_int>) -> c_int {
    status(|| {
        let ordinal = machine()?.work().streams.get(stream_of(stream)?)?.device;
        give(device, c_int::try_from(ordinal).unwrap_or(c_int::MAX))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamGetAttribute(stream: Handle, _attribute: c_int, value: Out<[u64; 8]>) -> c_int {
    status(|| {
        machine()?.work().streams.get(stream_of(stream)?)?;
        give(value, [0; 8])
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamQuery(stream: Handle) -> c_int {
    status(|| {
        let mut work = machine()?.work();
        let stream = stream_of(stream)?;
        work.check_not_captured(stream)?;
        if work.streams.is_idle(stream, now())? {
            return Ok(());
        }
        if !polls_on(now()) {
            return Err(Error::NotReady);
        }
        work.streams.finish(stream, now());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaLaunchHostFunc(
    stream: Handle,
    function: Option<HostFunction>,
    argument: *mut c_void,
) -> c_int {
    status(|| {
        let function = function.ok_or(Error::InvalidValue)?;
        if machine()?.put(stream, Node::Host(function as usize, argument as usize))? {
            function(argument);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamAddCallback(
    stream: Handle,
    callback: Option<StreamCallback>,
    argument: *mut c_void,
    _flags: c_uint,
) -> c_int {
    status(|| {
        let callback = callback.ok_or(Error::InvalidValue)?;
        check_not_captured(stream)?;
        callback(stream, 0, argument);
        Ok(())
    })
}

/// Calls a host function whose address a graph or a user object holds.
pub(super) fn call(function: usize, argument: usize) {
    // SAFETY: the address is that of a `HostFunction`, from `cudaLaunchHostFunc` or `cudaUserObjectCreate`.
    let function: HostFunction = unsafe { std::mem::transmute(function) };
    function(argument as *mut c_void);
}

fn check_not_captured(stream: Handle) -> Result<()> {
    machine()?.work().check_not_captured(stream_of(stream)?)
}

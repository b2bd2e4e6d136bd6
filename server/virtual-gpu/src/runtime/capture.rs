//! Captures streams into graphs.

use std::ffi::{c_int, c_ulonglong};

use super::{give, status};
use crate::error::Error;
use crate::ffi::{Handle, Out};
use crate::state::handle::{Kind, stream_of};
use crate::state::machine;
use crate::state::thread::{CaptureMode, exchange_capture_mode};
use crate::state::work::CaptureInfo;
use crate::stub::{harmless, unmodelled};

unmodelled! {
    "cudart", 801 =>
    cudaStreamBeginCaptureToGraph,
}

// Dependencies between nodes are not kept.
harmless! { cudaStreamUpdateCaptureDependencies }

/// Numbers of `cudaStreamCaptureStatus`.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

fn capture_status(info: Option<CaptureInfo>) -> c_int {
    match info {
        None => NONE,
        Some(info) if info.is_invalid => INVALIDATED,
        Some(_) => ACTIVE,
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamBeginCapture(stream: Handle, mode: c_int) -> c_int {
    status(|| {
        let machine = machine()?;
        let mode = CaptureMode::from_code(mode).ok_or(Error::InvalidValue)?;
        let mut work = machine.work();
        work.begin_capture(stream_of(stream)?, mode)?;
        machine.watch(&work);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamEndCapture(stream: Handle, graph: Out<Handle>) -> c_int {
    graph.put_if_wanted(std::ptr::null_mut());
    status(|| {
        let machine = machine()?;
        let mut work = machine.work();
        let ended = work.end_capture(stream_of(stream)?);
        machine.watch(&work);
        give(graph, Kind::Graph.handle(ended?))
    })
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamIsCapturing(stream: Handle, capture: Out<c_int>) -> c_int {
    status(|| give(capture, capture_status(machine()?.work().capture_info(stream_of(stream)?)?)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamGetCaptureInfo(
    stream: Handle,
    capture: Out<c_int>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    dependencies: Out<*const Handle>,
    edges: Out<*const Handle>,
    dependency_count: Out<usize>,
) -> c_int {
    status(|| {
        let info = machine()?.work().capture_info(stream_of(stream)?)?;
        give(capture, capture_status(info))?;
        id.put_if_wanted(info.map_or(0, |info| info.id));
        graph.put_if_wanted(info.map_or(std::ptr::null_mut(), |info| Kind::Graph.handle(info.graph)));
        dependencies.put_if_wanted(std::ptr::null());
        edges.put_if_wanted(std::ptr::null());
        dependency_count.put_if_wanted(0);
        Ok(())
    })
}

/// CUDA 12's name of the function, whose nodes have no data about their edges.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamGetCaptureInfo_v2(
    stream: Handle,
    capture: Out<c_int>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    dependencies: Out<*const Handle>,
    dependency_count: Out<usize>,
) -> c_int {
    let edges = Out::none();
    cudaStreamGetCaptureInfo(stream, capture, id, graph, dependencies, edges, dependency_count)
}

/// CUDA 12's name of [`cudaStreamGetCaptureInfo`].
#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaStreamGetCaptureInfo_v3(
    stream: Handle,
    capture: Out<c_int>,
    id: Out<c_ulonglong>,
    graph: Out<Handle>,
    dependencies: Out<*const Handle>,
    edges: Out<*const Handle>,
    dependency_count: Out<usize>,
) -> c_int {
    cudaStreamGetCaptureInfo(stream, capture, id, graph, dependencies, edges, dependency_count)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn cudaThreadExchangeStreamCaptureMode(mode: Out<c_int>) -> c_int {
    status(|| {
        let wanted = mode.get().and_then(CaptureMode::from_code).ok_or(Error::InvalidValue)?;
        give(mode, exchange_capture_mode(wanted) as c_int)
    })
}

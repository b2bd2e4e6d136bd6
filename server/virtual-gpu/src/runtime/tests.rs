//! Tests the runtime through its C interface, on the machine that all tests share: an A100 and a T4.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use super::*;
use crate::ffi::Handle;
use crate::testing::{alone, fails, got, ok};

const MIB: usize = 1 << 20;

fn malloc(size: usize) -> *mut c_void {
    got(null_mut(), |address| memory::cudaMalloc(address, size))
}

fn free_and_total() -> (usize, usize) {
    let (mut free, mut total) = (0, 0);
    ok(memory::cudaMemGetInfo(Out::to(&mut free), Out::to(&mut total)));
    (free, total)
}

fn new_stream() -> Handle {
    got(null_mut(), |stream| stream::cudaStreamCreateWithPriority(stream, 1, -9))
}

fn new_event() -> Handle {
    got(null_mut(), |event| event::cudaEventCreateWithFlags(event, 0))
}

#[test]
fn two_devices_are_told_apart() {
    let _alone = alone();
    assert_eq!(got(0, |count| device::cudaGetDeviceCount(count)), 2);
    assert_eq!(got(0, |value| device::cudaDeviceGetAttribute(value, 16, 0)), 108);
    assert_eq!(got(0, |value| device::cudaDeviceGetAttribute(value, 16, 1)), 40);
    fails(device::cudaSetDevice(2), Error::InvalidDevice);
    ok(device::cudaSetDevice(1));
    assert_eq!(got(-1, |device| device::cudaGetDevice(device)), 1);
    assert_eq!(free_and_total().1, 14_930 * MIB);
    let mut bus_id = [0; 16];
    ok(device::cudaDeviceGetPCIBusId(bus_id.as_mut_ptr(), 16, 1));
    // SAFETY: the call has written a C string.
    let text = unsafe { CStr::from_ptr(bus_id.as_ptr()) };
    assert_eq!(got(-1, |device| device::cudaDeviceGetByPCIBusId(device, text.as_ptr())), 1);
    fails(device::cudaDeviceGetPCIBusId(bus_id.as_mut_ptr(), 5, 1), Error::InvalidValue);
}

#[test]
fn a_device_is_current_to_its_thread() {
    let _alone = alone();
    ok(device::cudaSetDevice(1));
    let other = std::thread::spawn(|| got(-1, |device| device::cudaGetDevice(device))).join();
    assert_eq!(other.expect("it returns"), 0);
}

#[test]
fn memory_ends_at_the_cards_limit() {
    let _alone = alone();
    ok(device::cudaSetDevice(1));
    let (free, total) = free_and_total();
    assert_eq!(total - free, 512 * MIB, "the context");
    let most = malloc(free);
    assert_eq!(free_and_total().0, 0);
    let mut address = null_mut();
    fails(memory::cudaMalloc(Out::to(&mut address), 1), Error::OutOfMemory);
    assert_eq!(failure::cudaPeekAtLastError(), 2);
    assert_eq!(failure::cudaGetLastError(), 2);
    assert_eq!(failure::cudaGetLastError(), 0, "asking takes it");
    ok(memory::cudaFree(most));
    assert_eq!(free_and_total().0, free);
    fails(memory::cudaFree(most), Error::InvalidValue);
    ok(memory::cudaFree(null_mut()));
}

#[test]
fn an_address_tells_what_it_is() {
    let _alone = alone();
    ok(device::cudaSetDevice(1));
    let on_device = malloc(MIB);
    let pinned = got(null_mut(), |address| memory::cudaHostAlloc(address, 100, 0));
    let mut plain = 0_u8;
    let kind = |address: *const c_void| {
        let attributes = got(memory::PointerAttributes::default(), |to| memory::cudaPointerGetAttributes(to, address));
        (attributes.kind, attributes.device)
    };
    assert_eq!(kind(on_device.wrapping_byte_add(MIB - 1)), (2, 1));
    assert_eq!(kind(pinned), (1, 1));
    assert_eq!(kind((&raw mut plain).cast()).0, 0);
    ok(memory::cudaFreeHost(pinned));
    ok(memory::cudaFree(on_device));
}

#[test]
fn copies_move_what_there_is_to_move() {
    let _alone = alone();
    let on_device = malloc(MIB);
    let (from, mut to) = ([1_u8, 2, 3], [9_u8; 3]);
    ok(copy::cudaMemcpy(to.as_mut_ptr().cast(), from.as_ptr().cast(), 3, 4));
    assert_eq!(to, from);
    ok(copy::cudaMemcpy(on_device, from.as_ptr().cast(), 3, 1));
    ok(copy::cudaMemcpy(to.as_mut_ptr().cast(), on_device, 3, 2));
    assert_eq!(to, [0; 3], "a device reads as zeros");
    fails(copy::cudaMemcpy(to.as_mut_ptr().cast(), on_device, 3, 5), Error::InvalidMemcpyDirection);
    ok(memory::cudaFree(on_device));
}

#[test]
fn events_tell_a_small_time_that_passes() {
    let _alone = alone();
    let (start, end) = (new_event(), new_event());
    let mut milliseconds = 0.0;
    fails(event::cudaEventElapsedTime(Out::to(&mut milliseconds), start, end), Error::InvalidHandle);
    ok(event::cudaEventRecord(start, null_mut()));
    ok(event::cudaEventRecord(end, null_mut()));
    ok(event::cudaEventQuery(end));
    assert!(got(0.0, |time| event::cudaEventElapsedTime(time, start, end)) > 0.0);
    ok(event::cudaEventDestroy(start));
    fails(event::cudaEventRecord(start, null_mut()), Error::InvalidHandle);
    ok(event::cudaEventDestroy(end));
}

#[test]
fn a_stream_keeps_its_priority_within_the_range() {
    let _alone = alone();
    let stream = new_stream();
    assert_eq!(got(0, |priority| stream::cudaStreamGetPriority(stream, priority)), MOST_URGENT);
    ok(stream::cudaStreamDestroy(stream));
    fails(stream::cudaStreamSynchronize(stream), Error::InvalidHandle);
    fails(stream::cudaStreamDestroy(null_mut()), Error::InvalidHandle);
}

/// Increments the number that `calls` points to.
extern "C" fn count(calls: *mut c_void) {
    // SAFETY: the tests pass a number that outlives the graph.
    unsafe { *calls.cast::<u32>() += 1 };
}

#[test]
fn a_graph_calls_the_programs_functions_at_each_launch() {
    let _alone = alone();
    let stream = new_stream();
    let mut calls = 0_u32;
    let argument = (&raw mut calls).cast::<c_void>();
    ok(capture::cudaStreamBeginCapture(stream, 2));
    ok(copy::cudaMemsetAsync(null_mut(), 0, 0, stream));
    ok(stream::cudaLaunchHostFunc(stream, Some(count), argument));
    assert_eq!(got(0, |status| capture::cudaStreamIsCapturing(stream, status)), 1);
    let graph = got(null_mut(), |graph| capture::cudaStreamEndCapture(stream, graph));
    assert_eq!(got(0, |nodes| graph::cudaGraphGetNodes(graph, null_mut(), nodes)), 2);
    let executable = got(null_mut(), |to| graph::cudaGraphInstantiateWithFlags(to, graph, 0));
    ok(graph::cudaGraphDestroy(graph));
    ok(graph::cudaGraphLaunch(executable, stream));
    ok(graph::cudaGraphLaunch(executable, stream));
    ok(graph::cudaGraphExecDestroy(executable));
    fails(graph::cudaGraphLaunch(executable, stream), Error::InvalidValue);
    // SAFETY: nothing else holds the number now.
    assert_eq!(unsafe { (&raw const calls).read() }, 2);
}

#[test]
fn allocating_while_capturing_fails_unless_the_thread_is_relaxed() {
    let _alone = alone();
    let stream = new_stream();
    let mut address = null_mut();
    ok(capture::cudaStreamBeginCapture(stream, 0));
    assert_eq!(got(2, |mode| capture::cudaThreadExchangeStreamCaptureMode(mode)), 0);
    ok(memory::cudaMalloc(Out::to(&mut address), MIB));
    assert_eq!(got(0, |mode| capture::cudaThreadExchangeStreamCaptureMode(mode)), 2);
    fails(memory::cudaMalloc(Out::to(&mut address), MIB), Error::CaptureUnsupported);
    let mut graph = null_mut();
    fails(capture::cudaStreamEndCapture(stream, Out::to(&mut graph)), Error::CaptureInvalidated);
    assert!(graph.is_null());
    ok(memory::cudaFree(address));
}

#[test]
fn the_default_pool_gives_back_at_a_synchronization() {
    let _alone = alone();
    ok(device::cudaSetDevice(1));
    let before = free_and_total().0;
    let address = got(null_mut(), |to| pool::cudaMallocAsync(to, 5 * MIB, null_mut()));
    assert_eq!(before - free_and_total().0, 32 * MIB);
    ok(pool::cudaFreeAsync(address, null_mut()));
    assert_eq!(before - free_and_total().0, 32 * MIB);
    ok(device::cudaDeviceSynchronize());
    assert_eq!(free_and_total().0, before);
}

#[test]
fn peers_are_enabled_once() {
    let _alone = alone();
    assert_eq!(got(0, |can| device::cudaDeviceCanAccessPeer(can, 0, 1)), 1);
    assert_eq!(got(1, |can| device::cudaDeviceCanAccessPeer(can, 1, 1)), 0);
    ok(device::cudaDeviceEnablePeerAccess(1, 0));
    fails(device::cudaDeviceEnablePeerAccess(1, 0), Error::PeerAccessAlreadyEnabled);
    ok(device::cudaDeviceDisablePeerAccess(1));
    fails(device::cudaDeviceDisablePeerAccess(1), Error::PeerAccessNotEnabled);
}

#[test]
fn kernels_fit_the_card() {
    let _alone = alone();
    let marker = 0_u8;
    let kernel: *const c_void = (&raw const marker).cast();
    ok(device::cudaSetDevice(1));
    assert_eq!(attribute(kernel, 6), Ok(75));
    fails(function::cudaFuncSetAttribute(kernel, 8, 65 << 10), Error::InvalidValue);
    ok(function::cudaFuncSetAttribute(kernel, 8, 60 << 10));
    assert_eq!(attribute(kernel, 8), Ok(60 << 10));
    let blocks =
        |threads: c_int| got(0, |to| function::cudaOccupancyMaxActiveBlocksPerMultiprocessor(to, kernel, threads, 0));
    assert_eq!((blocks(1024), blocks(256)), (1, 4));
}

#[test]
fn memory_of_another_process_has_an_address_and_counts_there() {
    let _alone = alone();
    ok(device::cudaSetDevice(0));
    let own = malloc(10 * MIB);
    let before = free_and_total();
    let nothing = ipc::Shared::new(0, 0);
    let shared = got(nothing, |shared| ipc::cudaIpcGetMemHandle(shared, own));
    let opened = got(null_mut(), |address| ipc::cudaIpcOpenMemHandle(address, shared, 1));
    assert_ne!(opened, own);
    assert_eq!(free_and_total(), before);
    ok(ipc::cudaIpcCloseMemHandle(opened));
    fails(ipc::cudaIpcCloseMemHandle(opened), Error::InvalidValue);
    fails(ipc::cudaIpcOpenMemHandle(Out::to(&mut null_mut()), nothing, 1), Error::InvalidValue);
    ok(memory::cudaFree(own));
}

#[test]
fn what_is_missing_is_an_error() {
    let _alone = alone();
    let mut nothing = null_mut();
    let no_place: Out<c_int> = Out::none();
    fails(device::cudaGetDeviceCount(no_place), Error::InvalidValue);
    assert_eq!(failure::cudaGetLastError(), Error::InvalidValue.code());
    fails(copy::cudaGetSymbolAddress(Out::to(&mut nothing), std::ptr::null()), Error::InvalidSymbol);
}

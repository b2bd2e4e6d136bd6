//! Exports functions of the driver that do the same as functions of the runtime, with the same parameters.
//!
//! Triton's launchers and other people's libraries call the driver where PyTorch calls the runtime; handles, flags and
//! error codes are the same in both.

use std::ffi::{c_int, c_longlong, c_uint};

use crate::ffi::{Handle, Out};

/// Defines functions of the driver by those of the runtime.
macro_rules! same {
    { $($driver:ident = $runtime:ident($($name:ident: $kind:ty),*);)* } => {
        unsafe extern "C" {
            $(safe fn $runtime($($name: $kind),*) -> c_int;)*
        }
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $driver($($name: $kind),*) -> c_int {
                $runtime($($name),*)
            }
        )*
    };
}

same! {
    cuEventCreate = cudaEventCreateWithFlags(event: Out<Handle>, flags: c_uint);
    cuEventDestroy_v2 = cudaEventDestroy(event: Handle);
    cuEventElapsedTime = cudaEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle);
    cuEventQuery = cudaEventQuery(event: Handle);
    cuEventRecord = cudaEventRecord(event: Handle, stream: Handle);
    cuEventRecordWithFlags = cudaEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint);
    cuEventSynchronize = cudaEventSynchronize(event: Handle);
    cuMemAllocAsync = cudaMallocAsync(address: Out<u64>, size: usize, stream: Handle);
    cuMemAllocHost_v2 = cudaMallocHost(address: Out<Handle>, size: usize);
    cuMemFreeAsync = cudaFreeAsync(address: u64, stream: Handle);
    cuMemFreeHost = cudaFreeHost(address: Handle);
    cuMemHostAlloc = cudaHostAlloc(address: Out<Handle>, size: usize, flags: c_uint);
    cuMemHostRegister_v2 = cudaHostRegister(address: Handle, size: usize, flags: c_uint);
    cuMemHostUnregister = cudaHostUnregister(address: Handle);
    cuStreamBeginCapture_v2 = cudaStreamBeginCapture(stream: Handle, mode: c_int);
    cuStreamCreate = cudaStreamCreateWithFlags(stream: Out<Handle>, flags: c_uint);
    cuStreamCreateWithPriority = cudaStreamCreateWithPriority(stream: Out<Handle>, flags: c_uint, priority: c_int);
    cuStreamDestroy_v2 = cudaStreamDestroy(stream: Handle);
    cuStreamEndCapture = cudaStreamEndCapture(stream: Handle, graph: Out<Handle>);
    cuStreamGetFlags = cudaStreamGetFlags(stream: Handle, flags: Out<c_uint>);
    cuStreamGetId = cudaStreamGetId(stream: Handle, id: Out<c_longlong>);
    cuStreamGetPriority = cudaStreamGetPriority(stream: Handle, priority: Out<c_int>);
    cuStreamIsCapturing = cudaStreamIsCapturing(stream: Handle, capture: Out<c_int>);
    cuStreamQuery = cudaStreamQuery(stream: Handle);
    cuStreamWaitEvent = cudaStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{alone, got, ok};

    #[test]
    fn events_and_streams_are_those_of_the_runtime() {
        let _alone = alone();
        let stream = got(std::ptr::null_mut(), |stream| cuStreamCreate(stream, 1));
        let event = got(std::ptr::null_mut(), |event| cuEventCreate(event, 0));
        ok(cudaEventRecord(event, stream));
        ok(cuStreamWaitEvent(stream, event, 0));
        assert_eq!(got(7, |capture| cuStreamIsCapturing(stream, capture)), 0);
        ok(cudaEventDestroy(event));
        ok(cudaStreamDestroy(stream));
    }
}

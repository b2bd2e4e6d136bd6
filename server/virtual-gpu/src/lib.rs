//! A virtual GPU: implements the CUDA libraries, as far as PyTorch calls them, without a GPU.
//!
//! One shared object stands in for the CUDA runtime, the driver and the mathematical libraries under their names.
//! Memory is counted, streams and events are kept in order, and kernels do nothing.
//! `docs/virtual-gpu.md` describes what is modelled and how large the deviations can be.
//!
//! Invariant: each call is modelled, is harmless, or returns an error and names itself in the log; the same program
//! gets the same answers in each run.
#![allow(non_snake_case, reason = "the exported names are CUDA's")]

mod ffi;

mod arrays;

mod log;

mod unsupported;

mod stub;

mod answers;

mod error;

mod identity;

mod config;

mod versions;

mod state;

mod runtime;

mod driver;

mod nvml;

mod cublas;

mod cublaslt;

mod cudnn;

mod cufft;

mod cufile;

mod cupti;

mod curand;

mod cusolver;

mod cusolver_space;

mod cusparse;

mod cusparselt;

mod nccl;

mod nvrtc;

mod nvshmem;

mod failing;

#[cfg(test)]
mod testing;

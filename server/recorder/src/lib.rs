//! Runs a training job on libtorch and writes the memory snapshot of PyTorch's own allocator.
//!
//! Every allocation knows its [`place`]: step, phase, module and operation. On a machine without a GPU the same code
//! runs on the virtual GPU; nothing in this crate depends on which one it is.
//!
//! It is a process of its own, because libtorch can abort, hang or exhaust memory. Its models follow a Python
//! implementation operation by operation.
//! Weights are initialized on the device, in place: this gives Python's order of allocations without Python's copy in
//! host memory.
//!
//! Invariant: a recording does not depend on whether its GPU is virtual, only the sandbox does; the recorder's own
//! functions appear in no stack.

pub mod shim;

pub mod history;

pub mod place;

pub mod numbers;

pub mod builder;

pub mod pass;

pub mod model;

pub mod data;

pub mod optimizer;

mod saving;

pub mod parallel;

pub mod report;

pub mod run;

/// Result of a libtorch operation: its value, or the message of its exception.
pub type Result<T> = std::result::Result<T, tch::TchError>;

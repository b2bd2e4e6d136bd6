//! Runs a training job on libtorch and writes the memory snapshot of PyTorch's own allocator.
//!
//! Every allocation knows its [`place`]: step, phase, module and operation. On a machine without a GPU the same code
//! runs on the virtual GPU; nothing in this crate depends on which one it is.

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

pub mod mistake;

pub mod report;

pub mod run;

/// Result of a libtorch operation: its value, or the message of its exception.
pub type Result<T> = std::result::Result<T, tch::TchError>;

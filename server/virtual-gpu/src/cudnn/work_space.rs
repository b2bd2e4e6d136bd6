//! Returns the size of the workspace that an engine asks for in addition to its tensors.
//!
//! Which engine the real library takes, and how much workspace that needs, depends on shapes, the GPU and measurements.
//! The workspace has 0 to several hundred MiB and is free again after the operation. Here its size is a setting.

use crate::config::config;

/// Returns the workspace of a convolution, forward or backward, in bytes.
pub(super) fn of_convolution() -> usize {
    config().map_or(0, |config| usize::try_from(config.cudnn_workspace_bytes).unwrap_or(usize::MAX))
}

/// Begins the line of the log that says why the real library cannot be asked; `snapscope run` reads it.
pub(super) const UNKNOWN: &str = "the workspaces of cuDNN are not known, because the real one could not be asked:";

/// Returns true if the user has chosen the workspace of every convolution.
pub(super) fn is_chosen() -> bool {
    of_convolution() > 0
}

//! Returns the workspace of convolutions for which the real library is not asked.
//!
//! Which engine the real library takes, and how much workspace that needs, depends on shapes, the GPU and measurements.
//! The workspace has 0 to several hundred MiB and is free again after the operation. Here its size is a setting.

use crate::config::config;

/// Begins the line of the log that says why the real library cannot be asked; `snapscope run` reads it.
pub(super) const UNKNOWN: &str = "the workspaces of cuDNN are not known, because the real one could not be asked:";

/// Returns the workspace of every convolution that the user has chosen, in bytes.
pub(super) fn chosen() -> Option<usize> {
    let bytes = config().ok()?.cudnn_workspace_bytes?;
    Some(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Returns the workspace of a convolution, forward or backward, in bytes.
pub(super) fn of_convolution() -> usize {
    chosen().unwrap_or(0)
}

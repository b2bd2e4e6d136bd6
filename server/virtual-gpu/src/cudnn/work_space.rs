//! Returns the workspace of convolutions for which the real library is not asked.
//!
//! Which engine the real library takes, and how much workspace that needs, depends on shapes, the GPU and measurements.
//! The workspace has 0 to several hundred MiB and is free again after the operation. Here its size is a setting.

use std::fmt::Arguments;
use std::sync::Once;

use job::messages::UNKNOWN_WORKSPACES;

use crate::config::config;
use crate::log::line;

/// Writes to the log, once in a process, why the real library has not said the workspaces.
pub(super) fn unknown(reason: Arguments<'_>) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| line(format_args!("{UNKNOWN_WORKSPACES}{reason}")));
}

/// Returns the workspace of every convolution that the user has chosen, in bytes.
pub(super) fn chosen() -> Option<usize> {
    let bytes = config().ok()?.cudnn_workspace_bytes?;
    Some(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Returns the workspace of a convolution, forward or backward, in bytes.
pub(super) fn of_convolution() -> usize {
    chosen().unwrap_or(0)
}

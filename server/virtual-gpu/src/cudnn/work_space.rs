//! How much memory an engine asks for beside its tensors.
//!
//! Which engine the real library takes, and what that one needs, depends on shapes, the GPU and measurements.
//! It is 0 to several hundred MiB, and free again after the operation. Here it is one number that a user can set.

use crate::config::config;

/// The work space of a convolution, forward or backward, in bytes.
pub(super) fn of_convolution() -> usize {
    config().map_or(0, |config| usize::try_from(config.cudnn_workspace_bytes).unwrap_or(usize::MAX))
}

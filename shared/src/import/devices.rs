//! Limits the devices of a snapshot.

use super::error::{HINT_LIMIT, ImportError, OVER_A_LIMIT};
use crate::base::format;

/// Maximum number of devices of a snapshot; PyTorch numbers them in eight bits.
pub(super) const MOST_DEVICES: usize = 1024;

/// Returns the error of a snapshot with more than [`MOST_DEVICES`].
pub(super) fn too_many_devices() -> ImportError {
    let message = format!("The snapshot has more than {} devices", format::count(MOST_DEVICES as u64));
    ImportError::new(OVER_A_LIMIT, message, HINT_LIMIT)
}

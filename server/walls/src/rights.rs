//! Gives up most of root's capabilities in a process that root has started.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Capabilities that are kept: reading files, which Landlock restricts.
const KEPT: CapabilitySet = CapabilitySet::DAC_READ_SEARCH;

/// Capabilities that a real GPU's driver also keeps: opening its devices, and locking memory that a GPU copies from.
const KEPT_BY_DRIVER: CapabilitySet = CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::IPC_LOCK);

/// Drops all capabilities of this thread except [`KEPT`], and [`KEPT_BY_DRIVER`] where there is one.
///
/// With all of them, a process could read the memory and the environment of other processes in spite of Landlock.
///
/// # Errors
/// Returns a sentence with the reason if the capabilities cannot be read or set.
pub(crate) fn give_up(has_driver: bool) -> Result<(), String> {
    let kept = if has_driver { KEPT | KEPT_BY_DRIVER } else { KEPT };
    let fewer = |sets: CapabilitySets| CapabilitySets {
        effective: sets.effective & kept,
        permitted: sets.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    capabilities(None)
        .and_then(|sets| set_capabilities(None, fewer(sets)))
        .map_err(|error| format!("the capabilities of root cannot be dropped: {error}"))
}

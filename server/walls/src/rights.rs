//! Gives up most of root's capabilities in a process that root has started.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Capabilities that are kept: opening files, which Landlock restricts, and locking memory that a GPU copies from.
const KEPT: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH).union(CapabilitySet::IPC_LOCK);

/// Drops all capabilities of this thread except [`KEPT`].
///
/// With all of them, a process could read the memory and the environment of other processes in spite of Landlock.
///
/// # Errors
/// Returns a sentence with the reason if the capabilities cannot be read or set.
pub(crate) fn give_up() -> Result<(), String> {
    let fewer = |sets: CapabilitySets| CapabilitySets {
        effective: sets.effective & KEPT,
        permitted: sets.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    capabilities(None)
        .and_then(|sets| set_capabilities(None, fewer(sets)))
        .map_err(|error| format!("the capabilities of root cannot be dropped: {error}"))
}

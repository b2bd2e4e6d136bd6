//! What root may do beyond others: a process that was started by root keeps little of it.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Opening files, which the other walls hold back, and holding memory that a card copies from.
const KEPT: CapabilitySet =
    CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::DAC_READ_SEARCH).union(CapabilitySet::IPC_LOCK);

/// Gives this thread's other rights up; returns in a sentence why that can't be.
///
/// With all of them, memory and environment of other processes can be read in spite of Landlock.
pub(crate) fn give_up() -> Result<(), String> {
    let fewer = |sets: CapabilitySets| CapabilitySets {
        effective: sets.effective & KEPT,
        permitted: sets.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    capabilities(None)
        .and_then(|sets| set_capabilities(None, fewer(sets)))
        .map_err(|error| format!("the rights of root can't be given up: {error}"))
}

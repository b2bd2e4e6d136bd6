//! The allocations of a flame graph.

use super::super::Ready;
use super::super::selection::{Selected, scope};
use crate::worker::SelectionData;
use shared::analysis::{AllocationId, Scope};
use shared::trace::StackId;

/// The allocations of a selection, each with the stack that allocated it and its weight.
///
/// The error is a sentence about the filter's text.
pub(super) fn weighed(
    ready: Ready<'_>,
    selection: &SelectionData,
) -> Result<Vec<(AllocationId, StackId, u64)>, String> {
    let selected = Selected::new(ready, selection)?;
    let weigher = selected.weigher();
    let stack = |id| ready.timeline.allocations.allocation_stack(id, ready.device);
    Ok(selected.ids.iter().map(|&id| (id, stack(id), weigher.weigh(id))).collect())
}

/// A moment of a selection at which an allocation is alive.
pub(super) fn moment(ready: Ready<'_>, selection: &SelectionData, id: AllocationId) -> u32 {
    match scope(ready, selection.scope) {
        Scope::At(moment) => moment,
        Scope::Within { moments, .. } => ready.timeline.allocations.get(id, ready.device).born.max(moments.start),
    }
}

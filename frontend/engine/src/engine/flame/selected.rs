//! Selects the allocations of a flame graph.

use crate::engine::ready::Ready;
use crate::engine::selection::{Selected, scope};
use frontend::ask::SelectionData;
use shared::analysis::{AllocationId, Scope};
use shared::trace::StackId;

/// Returns the allocations of a selection, each with its stack and its weight.
///
/// # Errors
/// Returns an error message if the filter's text is not valid.
pub(super) fn weighed(
    ready: Ready<'_>,
    selection: &SelectionData,
) -> Result<Vec<(AllocationId, StackId, u64)>, String> {
    let selected = Selected::new(ready, selection)?;
    let weigher = selected.weigher();
    let stack = |id| ready.timeline.allocations.allocation_stack(id, ready.device);
    Ok(selected.ids.iter().map(|&id| (id, stack(id), weigher.weigh(id))).collect())
}

/// Returns a moment of a selection at which an allocation is alive.
pub(super) fn moment(ready: Ready<'_>, selection: &SelectionData, id: AllocationId) -> u32 {
    match scope(ready, selection.scope) {
        Scope::At(moment) => moment,
        Scope::Within { moments, .. } => ready.timeline.allocations.get(id, ready.device).born.max(moments.start),
    }
}

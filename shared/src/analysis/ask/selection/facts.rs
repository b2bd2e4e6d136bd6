//! Looks up the stream and the pool of allocations in events and segments.

use crate::analysis::track::allocations::{Allocations, Origin};
use crate::trace::{Device, EventContext, PoolId, Segment, Trace};
use std::collections::BTreeSet;

/// Returns the raw handle of an allocation's stream, if its event or segment records it.
pub fn stream_of(trace: &Trace, device: &Device, origin: Origin) -> Option<u64> {
    let of_event = context_of(trace, device, origin).map(|context| context.stream);
    of_event.or_else(|| segment_of(device, origin).map(|segment| segment.stream))
}

/// Returns the pool of an allocation, if its event or segment records it; `(0, 0)` is the default pool.
pub fn pool_of(trace: &Trace, device: &Device, origin: Origin) -> Option<PoolId> {
    let of_event = context_of(trace, device, origin).and_then(|context| context.pool);
    of_event.or_else(|| segment_of(device, origin).and_then(|segment| segment.pool))
}

/// Returns the distinct streams and pools of all allocations of a device.
///
/// Events share their contexts, and each context is examined only once.
pub fn streams_and_pools(
    trace: &Trace,
    device: &Device,
    allocations: &Allocations,
) -> (BTreeSet<u64>, BTreeSet<PoolId>) {
    let contexts = device.events.contexts();
    let mut is_seen = vec![false; trace.contexts.len()];
    let (mut streams, mut pools) = (BTreeSet::new(), BTreeSet::new());
    for origin in allocations.ids().map(|id| allocations.origin(id)) {
        let context = match origin {
            Origin::Event(event) | Origin::UnmatchedFree(event) => Some(contexts.at(event).index()),
            Origin::Block(_) => None,
        };
        if context.is_none_or(|context| !std::mem::replace(&mut is_seen[context], true)) {
            streams.extend(stream_of(trace, device, origin));
            pools.extend(pool_of(trace, device, origin));
        }
    }
    (streams, pools)
}

/// Returns the context of the event that records an allocation; blocks have none.
pub(super) fn context_of<'a>(trace: &'a Trace, device: &Device, origin: Origin) -> Option<&'a EventContext> {
    let (Origin::Event(event) | Origin::UnmatchedFree(event)) = origin else { return None };
    Some(trace.contexts.get(device.events.contexts().at(event)))
}

/// Returns the segment of an allocation that only its block records.
fn segment_of(device: &Device, origin: Origin) -> Option<&Segment> {
    let Origin::Block(block) = origin else { return None };
    let after = device.segments.segments.partition_point(|segment| segment.blocks.1 as usize <= block);
    device.segments.segments.get(after)
}

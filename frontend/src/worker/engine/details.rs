//! Everything about one allocation.

use super::{Ready, marks, texts};
use crate::worker::Details;
use shared::analysis::{AllocationId, Origin};
use shared::trace::{Device, EventContext, Trace};

/// The details of an allocation, `None` if there is none at this position.
pub(super) fn details(ready: Ready<'_>, position: u32) -> Option<Details> {
    let Ready { trace, device, timeline, .. } = ready;
    if position as usize >= timeline.allocations.len() {
        return None;
    }
    let allocation = timeline.allocations.get(AllocationId::from_index(position as usize), device);
    let context = context(trace, device, allocation.origin);
    let is_initial = !matches!(allocation.origin, Origin::Event(_));
    let died = (allocation.died != u32::MAX).then_some(allocation.died);
    let text = |id| trace.strings.get(id).to_owned();
    let lines = |id| trace.strings.get(id).lines().map(str::to_owned).collect();
    Some(Details {
        allocation: position,
        size_bytes: allocation.size_bytes,
        addr: allocation.addr,
        stream: context.map(|context| context.stream).or_else(|| stream(device, allocation.origin)),
        pool: pool(device, allocation.origin, context),
        born: allocation.born,
        died,
        born_us: if is_initial { None } else { ready.time_us(allocation.born) },
        died_us: died.and_then(|died| ready.time_us(died)),
        is_initial,
        spans: if is_initial { Vec::new() } else { marks::spans_at(ready, allocation.born) },
        category: context.map(|context| text(context.category)).unwrap_or_default(),
        user_metadata: context.map(|context| text(context.user_metadata)).unwrap_or_default(),
        internal_metadata: context.map(|context| text(context.internal_metadata)).unwrap_or_default(),
        compile_context: context.map(|context| text(context.compile_context)).unwrap_or_default(),
        forward_frames: context.map(|context| lines(context.forward_frames)).unwrap_or_default(),
        frames: texts::frames(trace, allocation.stack),
        is_free_stack: matches!(allocation.origin, Origin::UnmatchedFree(_)),
    })
}

/// The context of the event that tells about the allocation; a block has none.
fn context<'a>(trace: &'a Trace, device: &Device, origin: Origin) -> Option<&'a EventContext> {
    match origin {
        Origin::Event(event) | Origin::UnmatchedFree(event) => {
            Some(trace.contexts.get(device.events.at(event).context))
        }
        Origin::Block(_) => None,
    }
}

fn stream(device: &Device, origin: Origin) -> Option<u64> {
    segment_of(device, origin).map(|segment| segment.stream)
}

fn pool(device: &Device, origin: Origin, context: Option<&EventContext>) -> Option<(u64, u64)> {
    let of_event = context.and_then(|context| context.pool);
    let pool = of_event.or_else(|| segment_of(device, origin).and_then(|segment| segment.pool))?;
    Some((pool.0, pool.1))
}

/// The segment of an allocation that is known by its block.
fn segment_of(device: &Device, origin: Origin) -> Option<&shared::trace::Segment> {
    let Origin::Block(block) = origin else { return None };
    let after = device.segments.segments.partition_point(|segment| segment.blocks.1 as usize <= block);
    device.segments.segments.get(after)
}

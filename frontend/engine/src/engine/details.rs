//! Collects all properties of one allocation or event.

use super::hit::found_hit;
use super::parts;
use super::ready::Ready;
use frontend::ask::{Details, EventDetails, EventPage};
use shared::analysis::{AllocationId, Origin, pool_of, stated_holder, stream_of};
use shared::report::{event_lines, event_report, frames};
use shared::trace::{Device, EventContext, PoolId, StackId, Trace};

/// Returns the details of an allocation, `None` if there is none at this position.
pub(super) fn details(ready: Ready<'_>, position: u32) -> Option<Details> {
    let Ready { trace, device, timeline, .. } = ready;
    if position as usize >= timeline.allocations.len() {
        return None;
    }
    let allocation = timeline.allocations.get(AllocationId::from_index(position as usize), device);
    let names = timeline.names.of_allocation(AllocationId::from_index(position as usize)).iter();
    let names: Vec<&str> = names.map(|name| trace.strings.get(name.text)).collect();
    let is_name = |text: &String| names.contains(&text.as_str());
    let holder = names.iter().find_map(|name| stated_holder(name));
    let purposes = names.iter().filter(|name| stated_holder(name).is_none());
    let context = context(trace, device, allocation.origin);
    let is_initial = !matches!(allocation.origin, Origin::Event(_));
    let died = (allocation.died != u32::MAX).then_some(allocation.died);
    let text = |id| trace.strings.get(id).to_owned();
    let lines = |id| {
        let texts = trace.contexts.lines(id).iter().map(|&line| trace.strings.get(line));
        texts.flat_map(str::lines).map(str::to_owned).collect()
    };
    Some(Details {
        allocation: position,
        size_bytes: allocation.size_bytes,
        addr: allocation.addr,
        stream: stream_of(trace, device, allocation.origin),
        pool: pool_of(trace, device, allocation.origin).map(|PoolId(capture, handle)| (capture, handle)),
        born: allocation.born,
        died,
        born_us: if is_initial { None } else { ready.time_us(allocation.born) },
        died_us: died.and_then(|died| ready.time_us(died)),
        is_initial,
        names: purposes.map(|&name| name.to_owned()).collect(),
        holder: holder.map(|held| (held.path.to_owned(), held.has_graph)),
        spans: if is_initial { Vec::new() } else { parts::spans_at(ready, allocation.born) },
        category: context.map(|context| text(context.category)).unwrap_or_default(),
        user_metadata: context
            .map(|context| text(context.user_metadata))
            .filter(|text| !is_name(text))
            .unwrap_or_default(),
        internal_metadata: context.map(|context| text(context.internal_metadata)).unwrap_or_default(),
        compile_context: context.map(|context| text(context.compile_context)).unwrap_or_default(),
        forward_frames: context.map(|context| lines(context.forward_frames)).unwrap_or_default(),
        frames: frames(trace, allocation.stack),
        is_free_stack: matches!(allocation.origin, Origin::UnmatchedFree(_))
            && timeline.allocations.allocation_stack(AllocationId::from_index(position as usize), device)
                == StackId::NONE,
    })
}

/// Returns the context of the event that records an allocation; blocks have none.
fn context<'a>(trace: &'a Trace, device: &Device, origin: Origin) -> Option<&'a EventContext> {
    match origin {
        Origin::Event(event) | Origin::UnmatchedFree(event) => {
            Some(trace.contexts.get(device.events.at(event).context))
        }
        Origin::Block(_) => None,
    }
}

/// Maximum number of events in an answer, more than any screen shows.
const MOST_EVENTS: u32 = 2_000;

/// Returns a range of the events.
pub(super) fn event_page(ready: Ready<'_>, first: u32, count: u32) -> EventPage {
    let lines = event_lines(ready.trace, ready.device, ready.timeline, first, count.min(MOST_EVENTS));
    EventPage { first, lines }
}

/// Returns all about an event; `None` if the device has no such event.
pub(super) fn event_details(ready: Ready<'_>, event: u32) -> Option<EventDetails> {
    let Ready { trace, device, timeline, .. } = ready;
    let report = event_report(trace, device, timeline, event)?;
    let hit = timeline.allocations.of_event(event as usize).map(|id| {
        let allocation = timeline.allocations.get(id, device);
        // A freed allocation is shown at the last moment at which it was alive.
        let last = allocation.died.saturating_sub(1).max(allocation.born);
        found_hit(ready, id, (event + 1).clamp(allocation.born, last).min(timeline.events()))
    });
    Some(EventDetails { report, hit })
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use frontend::ask::{Answers, EventDetails, GetEvent, GetEvents};
    use shared::trace::text;

    fn engine() -> Engine {
        Engine::new(text::parse("segment_alloc S 2MiB\nalloc S 1KiB @relu<forward<main\nfree S\n").unwrap())
    }

    fn event(event: u32) -> EventDetails {
        engine().answer(&GetEvent { device: 0, event }).unwrap()
    }

    #[test]
    fn only_the_requested_events_are_sent() {
        let page = engine().answer(&GetEvents { device: 0, first: 1, count: 2 }).unwrap();
        let numbers: Vec<_> = page.lines.iter().map(|line| line.event).collect();
        assert_eq!((page.first, numbers), (1, vec![1, 2]));
        let page = engine().answer(&GetEvents { device: 0, first: 90, count: u32::MAX }).unwrap();
        assert_eq!(page.lines.len(), 0);
    }

    #[test]
    fn an_event_leads_to_its_allocation() {
        assert_eq!(event(0).hit, None);
        let allocation = |number| event(number).hit.unwrap().allocation.unwrap().allocation;
        assert_eq!(allocation(1), allocation(3));
        assert_eq!((event(1).hit.unwrap().moment, event(3).hit.unwrap().moment), (2, 3));
        assert!(engine().answer(&GetEvent { device: 0, event: 4 }).is_err());
    }
}

//! Collects all properties of one allocation or event.

use super::hit::found_hit;
use super::parts;
use super::ready::Ready;
use frontend::ask::{Details, EventDetails};
use shared::analysis::{Origin, pool_of, stated_holder, stream_of};
use shared::report::{event_report, frames};
use shared::trace::{EventContext, PoolId, StackId};

/// Returns the details of an allocation, `None` if there is none at this position.
pub(super) fn details(ready: Ready<'_>, position: u32) -> Option<Details> {
    let Ready { trace, device, timeline, .. } = ready;
    let id = ready.id(position)?;
    let allocation = timeline.allocations.get(id, device);
    let names = timeline.names.of_allocation(id).iter();
    let names: Vec<&str> = names.map(|name| trace.strings.get(name.text)).collect();
    let is_name = |text: &String| names.contains(&text.as_str());
    let holder = names.iter().find_map(|name| stated_holder(name));
    let purposes = names.iter().filter(|name| stated_holder(name).is_none());
    // Blocks have no context.
    let context = match allocation.origin {
        Origin::Event(event) | Origin::UnmatchedFree(event) => *trace.contexts.get(device.events.at(event).context),
        Origin::Block(_) => EventContext::default(),
    };
    let is_initial = !matches!(allocation.origin, Origin::Event(_));
    let died = (allocation.died != u32::MAX).then_some(allocation.died);
    let text = |id| trace.strings.get(id).to_owned();
    let texts = trace.contexts.lines(context.forward_frames).iter().map(|&line| trace.strings.get(line));
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
        category: text(context.category),
        user_metadata: Some(text(context.user_metadata)).filter(|text| !is_name(text)).unwrap_or_default(),
        internal_metadata: text(context.internal_metadata),
        compile_context: text(context.compile_context),
        forward_frames: texts.flat_map(str::lines).map(str::to_owned).collect(),
        frames: frames(trace, allocation.stack),
        is_free_stack: matches!(allocation.origin, Origin::UnmatchedFree(_))
            && timeline.allocations.allocation_stack(id, device) == StackId::NONE,
    })
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

    fn engine() -> Engine {
        Engine::of("segment_alloc S 2MiB\nalloc S 1KiB @relu<forward<main\nfree S\n")
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

//! Answers questions about single events.

use super::hit::found_hit;
use super::ready::Ready;
use frontend::ask::{EventDetails, EventPage};
use shared::report::{event_lines, event_report};

/// Maximum number of events in an answer, more than any screen shows.
const MOST_EVENTS: u32 = 2_000;

/// Returns a range of the events.
pub(super) fn page(ready: Ready<'_>, first: u32, count: u32) -> EventPage {
    let lines = event_lines(ready.trace, ready.device, ready.timeline, first, count.min(MOST_EVENTS));
    EventPage { first, lines }
}

/// Returns all about an event; `None` if the device has no such event.
pub(super) fn details(ready: Ready<'_>, event: u32) -> Option<EventDetails> {
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

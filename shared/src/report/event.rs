//! Reports the events of a device one by one, as PyTorch's page lists them under "Allocator State History".

use super::frame::{Frame, frames};
use crate::analysis::{Axis, Timeline, stack_callers, stack_title};
use crate::trace::{Action, Device, Event, PoolId, Trace};
use serde::{Deserialize, Serialize};

/// Event of a device, without its stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    /// Index among the events of the device.
    pub event: u32,
    pub action: Action,
    /// Requested bytes of an allocation, bytes of a segment, or active bytes at a snapshot.
    pub size_bytes: u64,
    /// Device address; `None` for an out-of-memory error.
    pub address: Option<u64>,
    /// Free bytes of the device at an out-of-memory error.
    pub free_bytes: Option<u64>,
    /// Microseconds since the first event, if the trace has times.
    pub time_us: Option<u64>,
    /// Raw stream handle; 0 is the default stream.
    pub stream: u64,
    /// Function that describes the stack best, or empty.
    pub title: String,
    /// Its callers, or empty.
    pub callers: String,
}

/// Event of a device with all that was recorded about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventReport {
    pub line: EventLine,
    /// Pool; `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// Text of the user, or empty.
    pub user_metadata: String,
    /// Compiled region, or empty.
    pub compile_context: String,
    /// Stack, innermost frame first.
    pub frames: Vec<Frame>,
}

/// Returns `count` events from `first` on, or those that there are.
pub fn event_lines(trace: &Trace, device: &Device, timeline: &Timeline, first: u32, count: u32) -> Vec<EventLine> {
    let last = first.saturating_add(count).min(timeline.events());
    (first..last).map(|event| line(trace, device, timeline, event)).collect()
}

/// Returns all about an event; `None` if the device has no such event.
pub fn event_report(trace: &Trace, device: &Device, timeline: &Timeline, event: u32) -> Option<EventReport> {
    if event >= timeline.events() {
        return None;
    }
    let Event { stack, context, .. } = device.events.at(event as usize);
    let context = trace.contexts.get(context);
    let text = |id| trace.strings.get(id).to_owned();
    Some(EventReport {
        line: line(trace, device, timeline, event),
        pool: context.pool.map(|PoolId(capture, handle)| (capture, handle)),
        user_metadata: text(context.user_metadata),
        compile_context: text(context.compile_context),
        frames: frames(trace, stack),
    })
}

fn line(trace: &Trace, device: &Device, timeline: &Timeline, event: u32) -> EventLine {
    let Event { action, addr, size_bytes, stack, context, .. } = device.events.at(event as usize);
    // An out-of-memory event has the free bytes in place of an address.
    let is_oom = action == Action::Oom;
    let time_us = || timeline.x_of_moment(device, Axis::Time, event + 1) as u64;
    EventLine {
        event,
        action,
        size_bytes,
        address: (!is_oom).then_some(addr),
        free_bytes: is_oom.then_some(addr),
        time_us: timeline.has_times().then(time_us),
        stream: trace.contexts.get(context).stream,
        title: stack_title(trace, stack).unwrap_or_default(),
        callers: stack_callers(trace, stack),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    #[track_caller]
    fn check(lines: &str, (first, count): (u32, u32), expected: &[(u32, &str, u64)]) {
        let trace = text::parse(lines).unwrap();
        let (device, timeline) = (&trace.devices[0], Timeline::new(&trace, &trace.devices[0]));
        let found = event_lines(&trace, device, &timeline, first, count);
        let found: Vec<_> = found.iter().map(|line| (line.event, line.action.name(), line.size_bytes)).collect();
        assert_eq!(found, expected);
    }

    const LINES: &str = "segment_alloc S 2MiB\nalloc S 1KiB @relu<forward<main\nfree S\n";

    #[test]
    fn a_range_of_events_is_listed() {
        let (segment, alloc) = ((0, "segment_alloc", 2 << 20), (1, "alloc", 1024));
        check(LINES, (0, 2), &[segment, alloc]);
        check(LINES, (1, 1), &[alloc]);
        check(LINES, (3, 9), &[(3, "free_completed", 1024)]);
        check(LINES, (4, 9), &[]);
        check(LINES, (u32::MAX, u32::MAX), &[]);
    }

    #[test]
    fn an_event_has_its_stack() {
        let trace = text::parse(LINES).unwrap();
        let (device, timeline) = (&trace.devices[0], Timeline::new(&trace, &trace.devices[0]));
        let report = event_report(&trace, device, &timeline, 1).unwrap();
        assert_eq!((report.frames[0].name.as_str(), report.frames.len()), ("relu", 3));
        assert!(!report.line.title.is_empty());
        assert_eq!(event_report(&trace, device, &timeline, 4), None);
    }
}

//! Reports events of a device one by one, like PyTorch's "Allocator State History", and converts stack frames to text.

use crate::analysis::{Axis, Timeline, stack_callers, stack_title};
use crate::base::StringId;
use crate::trace::{self, Action, Device, Event, FrameId, PoolId, StackId, Trace};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

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
    pub callers: String,
}

/// Event of a device with all that was recorded about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventReport {
    pub line: EventLine,
    /// Pool; `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
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

/// Stack frame as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Frame {
    /// Name of the function.
    pub name: String,
    /// File, or the library of a C++ symbol.
    pub filename: String,
    /// Line, or the byte offset in the library.
    pub line: u64,
    /// FX node and source lines behind code that `torch.compile` generated, if the snapshot has them.
    #[serde(default)]
    pub fx: Option<String>,
}

impl Serialize for Frame {
    /// Omits `fx` from JSON if there is none; binary formats cannot omit a field.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, filename, line, fx } = self;
        let has_fx = fx.is_some() || !serializer.is_human_readable();
        let mut frame = serializer.serialize_struct("Frame", if has_fx { 4 } else { 3 })?;
        frame.serialize_field("name", name)?;
        frame.serialize_field("filename", filename)?;
        frame.serialize_field("line", line)?;
        if has_fx {
            frame.serialize_field("fx", fx)?;
        }
        frame.end()
    }
}

/// Returns the frames of a stack, innermost first.
pub fn frames(trace: &Trace, stack: StackId) -> Vec<Frame> {
    trace.stacks.frames(stack).iter().map(|&id| frame(trace, id)).collect()
}

pub fn frame(trace: &Trace, id: FrameId) -> Frame {
    let trace::Frame { name, filename, line, fx } = *trace.frames.get(id);
    let text = |id: StringId| trace.strings.get(id);
    let fx = fx.map(|fx| {
        let node = format!("{} {} ({})", text(fx.op), text(fx.name), text(fx.target));
        match text(fx.original_trace) {
            "" => node,
            lines => format!("{node}\n{lines}"),
        }
    });
    Frame { name: text(name).to_owned(), filename: text(filename).to_owned(), line, fx }
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

    #[test]
    fn json_names_an_fx_node_only_where_there_is_one() {
        let plain = Frame { name: "f".into(), filename: "a.py".into(), line: 3, fx: None };
        assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"name":"f","filename":"a.py","line":3}"#);
        let fx = Frame { fx: Some("call relu".into()), ..plain.clone() };
        for frame in [plain, fx] {
            let json = serde_json::to_string(&frame).unwrap();
            assert_eq!(serde_json::from_str::<Frame>(&json).unwrap(), frame);
        }
    }
}

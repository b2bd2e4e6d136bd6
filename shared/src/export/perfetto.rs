//! Writes the timeline in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
//!
//! Each device is a process with counters of live and reserved bytes. Annotated spans and steps are slices,
//! out-of-memory events are instants.
//!
//! Counters of long traces are divided into parts, each of which keeps its lowest and its highest value: the file stays
//! small, and every peak is in it at its own moment.
//! Times are microseconds since the first event of the file; in a trace without times, each event takes one
//! microsecond.

use super::subject::{Pieces, Subject, device_name, quoted};
use crate::analysis::{Axis, Span, StepSource, Steps, Timeline, spans};
use crate::base::{Moment, format};
use crate::trace::{Action, Device};

/// Maximum number of parts of a counter.
const PARTS: u32 = 10_000;

/// Thread of the events that belong to no span.
const MARKS: u32 = 0;

/// Writes the timelines as a JSON document of trace events, piece after piece into `sink`.
pub fn perfetto<S: FnMut(&[u8])>(subject: &Subject<'_>, sink: S) {
    let origins_us: Vec<Option<i64>> = subject.devices.iter().map(|(device, _)| origin_us(device)).collect();
    let origin_us = origins_us.iter().flatten().min().copied();
    let mut out = Pieces::new(sink);
    out.put(format_args!(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"file\":{},\"time_unit\":\"{}\",\"start_unix_us\":{}}},\"traceEvents\":[",
        quoted(subject.file),
        if origin_us.is_some() { "us" } else { "events" },
        origin_us.map_or("null".to_owned(), |origin_us| origin_us.to_string()),
    ));
    for (position, (&(device, timeline), of_device)) in subject.devices.iter().zip(&origins_us).enumerate() {
        let late_us = of_device.zip(origin_us).map_or(0, |(device, first)| device - first);
        Process { pid: position + 1, device, timeline, late_us, out: &mut out, is_first: position == 0 }.write(subject);
    }
    out.put(format_args!("\n]}}\n"));
    out.finish();
}

/// Returns the time of the first event that has one.
fn origin_us(device: &Device) -> Option<i64> {
    device.events.times_us().iter().find(|&time_us| time_us != 0)
}

/// One device as a process.
struct Process<'a, S> {
    out: &'a mut Pieces<S>,
    /// True if no event was written yet.
    is_first: bool,
    pid: usize,
    device: &'a Device,
    timeline: &'a Timeline,
    /// Time from the file's first event to the first event of this device.
    late_us: i64,
}

impl<S: FnMut(&[u8])> Process<'_, S> {
    fn write(&mut self, subject: &Subject<'_>) {
        let (name, index, timeline) = (quoted(&device_name(self.device)), self.pid, self.timeline);
        self.event('M', format_args!("\"name\":\"process_name\",\"args\":{{\"name\":{name}}}"));
        self.event('M', format_args!("\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{index}}}"));
        self.counter("live bytes", |moment| timeline.live_at(moment));
        self.counter("reserved bytes", |moment| timeline.reserved_at(moment));
        self.out_of_memory();
        self.slices(subject);
    }

    /// Writes one event; `fields` follow its phase and process.
    fn event(&mut self, phase: char, fields: std::fmt::Arguments<'_>) {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        self.out.put(format_args!("{comma}\n{{\"ph\":\"{phase}\",\"pid\":{},{fields}}}", self.pid));
    }

    fn ts(&self, moment: u32) -> i64 {
        self.timeline.x_of_moment(self.device, Axis::Time, moment) as i64 + self.late_us
    }

    fn counter(&mut self, name: &str, bytes_at: impl Fn(u32) -> u64) {
        for (moment, bytes) in extremes(self.timeline.events(), PARTS, bytes_at) {
            let ts = self.ts(moment);
            self.event('C', format_args!("\"name\":\"{name}\",\"ts\":{ts},\"args\":{{\"bytes\":{bytes}}}"));
        }
    }

    fn out_of_memory(&mut self) {
        let events = &self.device.events;
        let ooms = events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom);
        for (index, _) in ooms {
            let (event, ts) = (events.at(index), self.ts(index as u32 + 1));
            let (bytes, free_bytes, size) = (event.size_bytes, event.addr, format::bytes(event.size_bytes));
            let name = format!("out of memory: tried to allocate {size}");
            let args = format!("{{\"event\":{index},\"bytes\":{bytes},\"free_bytes\":{free_bytes}}}");
            let fields = format_args!("\"tid\":{MARKS},\"s\":\"p\",\"name\":\"{name}\",\"ts\":{ts},\"args\":{args}");
            self.event('i', fields);
        }
    }

    /// Writes the annotated spans, and the steps if they were not found by annotations.
    fn slices(&mut self, subject: &Subject<'_>) {
        let steps = Steps::find(subject.trace, self.device, &self.timeline.allocations);
        let untold = steps.filter(|steps| steps.source != StepSource::Annotations);
        if let Some(steps) = untold {
            self.thread("steps", 1);
            for (index, step) in steps.steps.iter().enumerate() {
                // Both ends are the times of events of the step.
                let (start, end) = (self.ts(step.start + 1), self.ts(step.end));
                self.slice(1, &format!("step {index}"), (start, end), (step.start, step.end));
            }
        }
        let spans = spans(subject.trace, self.device);
        let lanes = lanes(&spans);
        for lane in 0..lanes.iter().max().map_or(0, |last| last + 1) {
            self.thread("annotations", 2 + lane);
        }
        for (span, lane) in spans.iter().zip(lanes) {
            let times = (span.start_us + self.late_us, span.end_us + self.late_us);
            let moments = (span.start_moment, span.end_moment);
            self.slice(2 + lane, subject.text(span.name), times, moments);
        }
    }

    fn thread(&mut self, name: &str, tid: u32) {
        self.event('M', format_args!("\"tid\":{tid},\"name\":\"thread_name\",\"args\":{{\"name\":\"{name}\"}}"));
    }

    fn slice(&mut self, tid: u32, name: &str, (start_us, end_us): (i64, i64), (start, end): (u32, u32)) {
        let (name, dur) = (quoted(name), end_us - start_us);
        let peak_bytes = self.timeline.live_max_in(start..end + 1).1;
        let last = Moment(end).event_number();
        let args = format!("{{\"first_event\":{start},\"last_event\":{last},\"peak_live_bytes\":{peak_bytes}}}");
        let fields = format_args!("\"tid\":{tid},\"name\":{name},\"ts\":{start_us},\"dur\":{dur},\"args\":{args}");
        self.event('X', fields);
    }
}

/// Returns at most the lowest and the highest point of each part of a curve, and always its first and last.
///
/// A point with the same value as the one before it is left out.
fn extremes(events: u32, parts: u32, bytes_at: impl Fn(u32) -> u64) -> Vec<(u32, u64)> {
    let width = (u64::from(events) + 1).div_ceil(u64::from(parts));
    let mut points = vec![(0, bytes_at(0))];
    for start in (0..=events).step_by(width as usize) {
        let end = (u64::from(start) + width - 1).min(events.into()) as u32;
        let [mut low, mut high] = [(start, bytes_at(start)); 2];
        for point in (start + 1..=end).map(|moment| (moment, bytes_at(moment))) {
            low = if point.1 < low.1 { point } else { low };
            high = if point.1 > high.1 { point } else { high };
        }
        for point in [low.min(high), low.max(high)] {
            if points.last().is_some_and(|&(moment, bytes)| moment < point.0 && bytes != point.1) {
                points.push(point);
            }
        }
    }
    let end = (events, bytes_at(events));
    if points.last().is_some_and(|last| last.0 < end.0) {
        points.push(end);
    }
    points
}

/// Assigns each span to a row in which spans are either apart or nested, as the format requires.
///
/// ```text
/// a ├──────────┤         0
/// b   ├────┤             0, within a
/// c       ├────────┤     1, across the end of b and of a
/// ```
fn lanes(spans: &[Span]) -> Vec<u32> {
    let mut open: Vec<Vec<i64>> = Vec::new();
    let mut lane_of = |span: &Span| {
        for (lane, ends) in open.iter_mut().enumerate() {
            while ends.last().is_some_and(|end_us| *end_us <= span.start_us) {
                ends.pop();
            }
            if ends.last().is_none_or(|end_us| *end_us >= span.end_us) {
                ends.push(span.end_us);
                return lane as u32;
            }
        }
        open.push(vec![span.end_us]);
        open.len() as u32 - 1
    };
    spans.iter().map(&mut lane_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::{self, Random};
    use crate::base::StringId;
    use crate::export::subject::with_subject;
    use crate::trace::{Trace, text};
    use serde_json::Value;

    fn document(trace: &Trace) -> Value {
        let mut bytes = Vec::new();
        with_subject(trace, |subject| perfetto(&subject, |piece| bytes.extend_from_slice(piece)));
        serde_json::from_slice(&bytes).unwrap()
    }

    fn of_phase<'a>(document: &'a Value, phase: &str) -> Vec<&'a Value> {
        let events = document["traceEvents"].as_array().unwrap();
        events.iter().filter(|event| event["ph"] == phase).collect()
    }

    const TRACE: &str = "
        segment_alloc S 1KiB t=100
        start ProfilerStep#1 t=100
        start say\"hi\" t=102
        alloc a 512 t=105
        end say\"hi\" t=106
        alloc b 100 t=110
        free a t=120
        oom 4GiB free=1MiB t=125
        end ProfilerStep#1 t=130
        start ProfilerStep#2 t=131
        alloc c 8 t=140
        end ProfilerStep#2 t=141
        device 1
        alloc d 64 t=90
    ";

    #[test]
    fn a_device_is_a_process_with_counters_slices_and_instants() {
        let document = document(&text::parse(TRACE).unwrap());
        let names: Vec<_> = of_phase(&document, "M").iter().map(|event| event["args"]["name"].clone()).collect();
        assert!(names.contains(&"GPU 0".into()) && names.contains(&"GPU 1".into()), "{names:?}");
        let live: Vec<_> = { of_phase(&document, "C") }
            .into_iter()
            .filter(|event| event["name"] == "live bytes" && event["pid"] == 1)
            .map(|event| (event["ts"].as_i64().unwrap(), event["args"]["bytes"].as_u64().unwrap()))
            .collect();
        // The file begins with the event of the other device, 10 µs earlier.
        assert_eq!(live, [(10, 0), (15, 512), (20, 612), (30, 100), (50, 108)]);
        let slices = of_phase(&document, "X");
        assert_eq!((slices[0]["name"].as_str(), slices[0]["ts"].as_i64()), (Some("ProfilerStep#1"), Some(10)));
        assert_eq!((slices[0]["dur"].as_i64(), slices[0]["args"]["peak_live_bytes"].as_u64()), (Some(30), Some(612)));
        assert_eq!(slices[1]["name"], "say\"hi\"");
        let oom = &of_phase(&document, "i")[0];
        assert_eq!((oom["ts"].as_i64(), oom["args"]["free_bytes"].as_u64()), (Some(35), Some(1 << 20)));
        assert_eq!(document["otherData"]["start_unix_us"], 90);
    }

    #[test]
    fn every_event_has_what_its_phase_needs() {
        for seed in 0..20 {
            let document = document(&naive::random_trace(seed, 400));
            for event in document["traceEvents"].as_array().unwrap() {
                assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
                match event["ph"].as_str().unwrap() {
                    "M" => assert!(event["args"].is_object()),
                    "C" => assert!(event["ts"].is_i64() && event["args"]["bytes"].is_u64(), "{event}"),
                    "X" => assert!(event["dur"].as_i64().unwrap() >= 0 && event["tid"].is_u64(), "{event}"),
                    "i" => assert!(event["s"] == "p" && event["ts"].is_i64(), "{event}"),
                    phase => panic!("{phase}"),
                }
            }
        }
    }

    #[test]
    fn parts_keep_their_extremes() {
        let mut random = Random::new(3);
        for events in [0, 1, 7, 99, 1000] {
            let curve: Vec<u64> = (0..=events).map(|_| random.below(50)).collect();
            for parts in [1, 3, 10, 5000] {
                let points = extremes(events, parts, |moment| curve[moment as usize]);
                assert!(points.is_sorted_by(|a, b| a.0 < b.0), "in order");
                assert!(points.iter().all(|&(moment, bytes)| curve[moment as usize] == bytes), "at their own moment");
                assert!(points.len() <= 2 * parts as usize + 2);
                let bytes = || points.iter().map(|point| point.1);
                assert_eq!((bytes().min(), bytes().max()), (curve.iter().copied().min(), curve.iter().copied().max()));
                assert_eq!((points[0].0, points.last().unwrap().0), (0, events));
            }
            // With one part per moment, nothing is lost.
            let points = extremes(events, events + 1, |moment| curve[moment as usize]);
            let value = |moment| points.iter().rev().find(|point| point.0 <= moment).unwrap().1;
            assert_eq!((0..=events).map(value).collect::<Vec<u64>>(), curve);
        }
    }

    #[test]
    fn spans_of_a_lane_nest() {
        let place = |start_us, end_us| Span {
            name: StringId::EMPTY,
            start_us,
            end_us,
            start_moment: 0,
            end_moment: 0,
            depth: 0,
        };
        let spans = [place(0, 10), place(2, 7), place(6, 14), place(10, 12), place(14, 20)];
        assert_eq!(lanes(&spans), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_trace_without_times_has_a_microsecond_an_event() {
        let document = document(&text::parse("alloc a 8\nalloc b 8\nfree_completed a").unwrap());
        let times: Vec<_> = of_phase(&document, "C").iter().map(|event| event["ts"].clone()).collect();
        assert_eq!(times, [0, 1, 2, 3, 0, 3], "live bytes, then reserved ones");
        assert_eq!(document["otherData"]["time_unit"], "events");
    }
}

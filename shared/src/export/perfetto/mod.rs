//! Writes the timeline in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.
//!
//! Each device is a process with counters of live and reserved bytes. Annotated spans and steps are slices,
//! out-of-memory events are instants.
//!
//! Counters of long traces are divided into parts, each of which keeps its lowest and its highest value: the file stays
//! small, and every peak is in it at its own moment.
//! Times are microseconds since the first event of the file; in a trace without times, each event takes one
//! microsecond.

use super::pieces::{Pieces, quoted};
use super::subject::{Subject, device_name};
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
    let mut out = Events { out: Pieces::new(sink), is_first: true };
    out.out.put(format_args!(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"file\":{},\"time_unit\":\"{}\",\"start_unix_us\":{}}},\"traceEvents\":[",
        quoted(subject.file),
        if origin_us.is_some() { "us" } else { "events" },
        origin_us.map_or("null".to_owned(), |origin_us| origin_us.to_string()),
    ));
    for (position, (&(device, timeline), of_device)) in subject.devices.iter().zip(&origins_us).enumerate() {
        let late_us = of_device.zip(origin_us).map_or(0, |(device, first)| device - first);
        let process = Process { pid: position + 1, device, timeline, late_us };
        process.write(subject, &mut out);
    }
    out.out.put(format_args!("\n]}}\n"));
    out.out.finish();
}

/// Returns the time of the first event that has one.
fn origin_us(device: &Device) -> Option<i64> {
    device.events.times_us().iter().find(|&time_us| time_us != 0)
}

struct Events<S> {
    out: Pieces<S>,
    is_first: bool,
}

impl<S: FnMut(&[u8])> Events<S> {
    /// Writes one event; `fields` follow its phase and process.
    fn event(&mut self, phase: char, pid: usize, fields: std::fmt::Arguments<'_>) {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        self.out.put(format_args!("{comma}\n{{\"ph\":\"{phase}\",\"pid\":{pid},{fields}}}"));
    }
}

/// One device as a process.
struct Process<'a> {
    pid: usize,
    device: &'a Device,
    timeline: &'a Timeline,
    /// Time from the file's first event to the first event of this device.
    late_us: i64,
}

impl Process<'_> {
    fn write<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, out: &mut Events<S>) {
        let name = quoted(&device_name(self.device));
        out.event('M', self.pid, format_args!("\"name\":\"process_name\",\"args\":{{\"name\":{name}}}"));
        let index = self.pid;
        out.event('M', self.pid, format_args!("\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{index}}}"));
        self.counter("live bytes", out, |moment| self.timeline.live_at(moment));
        self.counter("reserved bytes", out, |moment| self.timeline.reserved_at(moment));
        self.out_of_memory(out);
        self.slices(subject, out);
    }

    fn ts(&self, moment: u32) -> i64 {
        self.timeline.x_of_moment(self.device, Axis::Time, moment) as i64 + self.late_us
    }

    fn counter<S: FnMut(&[u8])>(&self, name: &str, out: &mut Events<S>, bytes_at: impl Fn(u32) -> u64) {
        for (moment, bytes) in extremes(self.timeline.events(), PARTS, bytes_at) {
            let ts = self.ts(moment);
            out.event('C', self.pid, format_args!("\"name\":\"{name}\",\"ts\":{ts},\"args\":{{\"bytes\":{bytes}}}"));
        }
    }

    fn out_of_memory<S: FnMut(&[u8])>(&self, out: &mut Events<S>) {
        let events = &self.device.events;
        let ooms = events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom);
        for (index, _) in ooms {
            let (event, ts) = (events.at(index), self.ts(index as u32 + 1));
            let name = format!("out of memory: tried to allocate {}", format::bytes(event.size_bytes));
            out.event(
                'i',
                self.pid,
                format_args!(
                    "\"tid\":{MARKS},\"s\":\"p\",\"name\":\"{name}\",\"ts\":{ts},\"args\":{{\"event\":{index},\
                     \"bytes\":{},\"free_bytes\":{}}}",
                    event.size_bytes, event.addr
                ),
            );
        }
    }

    /// Writes the annotated spans, and the steps if they were not found by annotations.
    fn slices<S: FnMut(&[u8])>(&self, subject: &Subject<'_>, out: &mut Events<S>) {
        let steps = Steps::find(subject.trace, self.device, &self.timeline.allocations);
        let untold = steps.filter(|steps| steps.source != StepSource::Annotations);
        if let Some(steps) = untold {
            self.thread("steps", 1, out);
            for (index, step) in steps.steps.iter().enumerate() {
                // Both ends are the times of events of the step.
                let (start, end) = (self.ts(step.start + 1), self.ts(step.end));
                self.slice(1, &format!("step {index}"), (start, end), (step.start, step.end), out);
            }
        }
        let spans = spans(subject.trace, self.device);
        let lanes = lanes(&spans);
        for lane in 0..lanes.iter().max().map_or(0, |last| last + 1) {
            self.thread("annotations", 2 + lane, out);
        }
        for (span, lane) in spans.iter().zip(lanes) {
            let times = (span.start_us + self.late_us, span.end_us + self.late_us);
            let moments = (span.start_moment, span.end_moment);
            self.slice(2 + lane, subject.text(span.name), times, moments, out);
        }
    }

    fn thread<S: FnMut(&[u8])>(&self, name: &str, tid: u32, out: &mut Events<S>) {
        let fields = format_args!("\"tid\":{tid},\"name\":\"thread_name\",\"args\":{{\"name\":\"{name}\"}}");
        out.event('M', self.pid, fields);
    }

    fn slice<S: FnMut(&[u8])>(
        &self,
        tid: u32,
        name: &str,
        (start_us, end_us): (i64, i64),
        (start, end): (u32, u32),
        out: &mut Events<S>,
    ) {
        let (name, dur) = (quoted(name), end_us - start_us);
        let peak_bytes = self.timeline.live_max_in(start..end + 1).1;
        let last = Moment(end).event_number();
        out.event(
            'X',
            self.pid,
            format_args!(
                "\"tid\":{tid},\"name\":{name},\"ts\":{start_us},\"dur\":{dur},\"args\":{{\"first_event\":{start},\
                 \"last_event\":{last},\"peak_live_bytes\":{peak_bytes}}}"
            ),
        );
    }
}

/// Returns at most the lowest and the highest point of each part of a curve, and always its first and last.
///
/// A point with the same value as the one before it is left out.
fn extremes(events: u32, parts: u32, bytes_at: impl Fn(u32) -> u64) -> Vec<(u32, u64)> {
    let width = (u64::from(events) + 1).div_ceil(u64::from(parts)).max(1);
    let mut points = vec![(0, bytes_at(0))];
    let mut part: Option<[(u32, u64); 2]> = None;
    let mut close = |part: [(u32, u64); 2]| {
        let [low, high] = part;
        for point in if low.0 < high.0 { [low, high] } else { [high, low] } {
            if points.last().is_some_and(|&(moment, bytes)| moment < point.0 && bytes != point.1) {
                points.push(point);
            }
        }
    };
    for moment in 0..=events {
        let point = (moment, bytes_at(moment));
        part = Some(match part {
            Some([low, high]) => {
                [if point.1 < low.1 { point } else { low }, if point.1 > high.1 { point } else { high }]
            }
            None => [point; 2],
        });
        if (u64::from(moment) + 1).is_multiple_of(width)
            && let Some(done) = part.take()
        {
            close(done);
        }
    }
    part.into_iter().for_each(&mut close);
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
mod tests;

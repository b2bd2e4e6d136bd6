//! Converts annotations to spans of time and of moments.

use crate::analysis::track::clock::Clock;
use crate::base::{ShortSort, StringId};
use crate::trace::{Annotation, Device, Stage, Trace};
use hashbrown::HashMap;

/// Named part of the trace, such as a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub name: StringId,
    /// Start in microseconds since the first event; negative before it.
    pub start_us: i64,
    /// End in microseconds since the first event; `start_us` or later.
    pub end_us: i64,
    pub start_moment: u32,
    pub end_moment: u32,
    /// One more than the greatest depth of earlier spans that are still open at its start, 0 if there are none.
    pub depth: u32,
}

/// Returns the spans of a device sorted by start; of equal starts the longest comes first.
///
/// An END belongs to the latest open START of its name, so spans of several threads may cross.
/// A START without an END lasts until the last event; an END without a START begins with the first event.
/// A trace without times has no spans.
pub fn spans(trace: &Trace, device: &Device) -> Vec<Span> {
    let clock = Clock::new(&device.events);
    if !clock.is_running() {
        return Vec::new();
    }
    let annotations = trace.annotations.iter().filter(|annotation| belongs(trace, annotation, device));
    let mut spans: Vec<Span> = intervals(annotations, &clock)
        .into_iter()
        .map(|(name, start_us, end_us)| Span {
            name,
            start_us,
            end_us,
            // An event at the very start or end of a span lies inside it.
            start_moment: clock.moment_at(&device.events, start_us.saturating_sub(1)),
            end_moment: clock.moment_at(&device.events, end_us),
            depth: 0,
        })
        .collect();
    spans.short_sort_by_key(|span| (span.start_us, std::cmp::Reverse(span.end_us)));
    set_depths(&mut spans);
    spans
}

/// Returns true if an annotation belongs to a device.
///
/// `record_function` records the current device, which may be an idle one; its annotations then belong to the only busy
/// device.
fn belongs(trace: &Trace, annotation: &Annotation, device: &Device) -> bool {
    let is_busy = |index: i64| trace.device(index).is_some_and(|device| !device.events.is_empty());
    let is_only_busy = || trace.devices.iter().filter(|device| !device.events.is_empty()).count() == 1;
    annotation.device == device.index || (!is_busy(annotation.device) && is_busy(device.index) && is_only_busy())
}

/// Pairs the annotations; times are relative to the first event.
fn intervals<'a>(annotations: impl Iterator<Item = &'a Annotation>, clock: &Clock) -> Vec<(StringId, i64, i64)> {
    let mut open: HashMap<StringId, Vec<usize>> = HashMap::new();
    let mut intervals: Vec<(StringId, i64, i64)> = Vec::new();
    for annotation in annotations {
        let time_us = clock.relative_us(annotation.time_us);
        let of_name = open.entry(annotation.name).or_default();
        match (annotation.stage, of_name.pop()) {
            (Stage::Start, earlier) => {
                of_name.extend(earlier);
                of_name.push(intervals.len());
                intervals.push((annotation.name, time_us, clock.end_us().max(time_us)));
            }
            (Stage::End, Some(index)) => intervals[index].2 = time_us.max(intervals[index].1),
            (Stage::End, None) => intervals.push((annotation.name, time_us.min(0), time_us)),
        }
    }
    intervals
}

/// Sets the depths so that no two spans of one depth overlap, even if they cross.
///
/// `spans` must be sorted by start.
fn set_depths(spans: &mut [Span]) {
    let mut open: Vec<(i64, u32)> = Vec::new();
    for span in spans {
        open.retain(|&(end_us, _)| end_us > span.start_us);
        span.depth = open.iter().map(|&(_, depth)| depth + 1).max().unwrap_or(0);
        open.push((span.end_us, span.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the spans of the first device, written as `name start..end µs, start..end, depth`.
    #[track_caller]
    fn check(trace: &str, expected: &[&str]) {
        let trace = text::parse(trace).unwrap();
        let describe = |span: &Span| {
            let Span { name, start_us, end_us, start_moment, end_moment, depth } = span;
            let name = trace.strings.get(*name);
            format!("{name} {start_us}..{end_us} µs, {start_moment}..{end_moment}, {depth}")
        };
        let found = spans(&trace, &trace.devices[0]);
        assert_eq!(found.iter().map(describe).collect::<Vec<_>>(), expected);
    }

    const EVENTS: &str = "snapshot t=100\nsnapshot t=110\nsnapshot t=120\n";

    #[test]
    fn marks_make_spans() {
        // Spans nest.
        check(
            &format!("{EVENTS}start step t=105\nstart step t=106\nend step t=107\nend step t=120"),
            &["step 5..20 µs, 1..3, 0", "step 6..7 µs, 1..1, 1"],
        );
        // Spans may cross.
        check(
            &format!("{EVENTS}start a t=100\nstart b t=105\nend a t=110\nstart c t=111\nend b t=115\nend c t=120"),
            &["a 0..10 µs, 0..2, 0", "b 5..15 µs, 1..2, 1", "c 11..20 µs, 2..3, 2"],
        );
        // Open ends reach to the ends of the trace.
        check(&format!("{EVENTS}end a t=110\nstart b t=115"), &["a 0..10 µs, 0..2, 0", "b 15..20 µs, 2..3, 0"]);
        // Marks on an idle device mean the busy one.
        check(&format!("{EVENTS}device 1\nstart a t=100\nend a t=120\nsegment s 1"), &["a 0..20 µs, 0..3, 0"]);
        // Marks on a busy device are its own.
        check(&format!("{EVENTS}device 1\nsnapshot t=100\nstart a t=100\nend a t=120"), &[]);
        // Without times there are no spans.
        check("snapshot\nstart a t=1\nend a t=2", &[]);
    }
}

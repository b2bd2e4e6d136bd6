//! Defines laws that hold for every snapshot from any source.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shared::analysis::{LONGEST_TITLE, Timeline, studies};
use shared::export;
use shared::pickle::Style;
use shared::report::{DiagnosisConfig, diagnosis};
use shared::trace::{Action, BlockState, Device, Encoding, Trace};

use crate::corpus::{Sample, decode};
use crate::equal::difference;

/// Law with its name, which panics for a snapshot that breaks it.
pub type Law = (&'static str, fn(&Sample, &Trace));

pub const LAWS: &[Law] = &[
    ("chunks make no difference", chunks_make_no_difference),
    ("an export decodes to the same", an_export_decodes_to_the_same),
    ("the peak is that of a counter", the_peak_is_that_of_a_counter),
    ("allocated minus freed is live at the end", allocated_minus_freed_is_live_at_the_end),
    ("live blocks are live at the end", live_blocks_are_live_at_the_end),
    ("blocks tile their segments", blocks_tile_their_segments),
    ("findings fit a line and name what shows them", findings_fit_a_line_and_name_what_shows_them),
];

/// Checks a snapshot against all laws and returns its trace.
#[track_caller]
pub fn hold(sample: &Sample) -> Trace {
    let trace = sample.trace();
    LAWS.iter().for_each(|(_, law)| law(sample, &trace));
    trace
}

/// Decodes a snapshot once, checks it against laws, and returns a line for each that it breaks.
pub fn broken<'a>(sample: &Sample, laws: impl IntoIterator<Item = &'a Law>) -> Vec<String> {
    let said = |panic: Box<dyn Any + Send>| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(|_| "a panic".to_owned(), |text| (*text).to_owned()),
    };
    let trace = match catch_unwind(|| sample.trace()) {
        Ok(trace) => trace,
        Err(panic) => return vec![format!("{} cannot be decoded: {}", sample.name, said(panic))],
    };
    let check = |(name, law): &Law| {
        let outcome = catch_unwind(AssertUnwindSafe(|| law(sample, &trace)));
        outcome.err().map(|panic| format!("{}: {name}: {}", sample.name, said(panic)))
    };
    laws.into_iter().filter_map(check).collect()
}

fn all_devices(trace: &Trace) -> impl Iterator<Item = &Device> {
    trace.devices.iter().chain(&trace.host)
}

/// Returns the action that ends lifetimes in a trace.
fn ending(device: &Device) -> Action {
    let completed = device.events.iter().any(|event| event.action == Action::FreeCompleted);
    if completed { Action::FreeCompleted } else { Action::FreeRequested }
}

/// Checks that the trace does not depend on the chunks in which the bytes arrive.
pub fn chunks_make_no_difference(sample: &Sample, whole: &Trace) {
    for chunk_bytes in [1, 7, 4096] {
        let chunked = decode(&sample.name, &sample.bytes, chunk_bytes);
        assert_eq!(difference(whole, &chunked), None, "{} in chunks of {chunk_bytes}", sample.name);
        assert_eq!(whole.format, chunked.format, "{}", sample.name);
        assert_eq!(whole.diagnostics, chunked.diagnostics, "{}", sample.name);
    }
}

/// Checks that an exported snapshot decodes to the same trace.
pub fn an_export_decodes_to_the_same(sample: &Sample, trace: &Trace) {
    for style in [Style::Python, Style::Python5, Style::Torch] {
        let mut bytes = Vec::new();
        export::pickle(trace, style, |piece: &[u8]| bytes.extend_from_slice(piece));
        let again = decode(&sample.name, &bytes, 4096);
        assert_eq!(difference(trace, &again), None, "{} in style {style:?}", sample.name);
        assert_eq!(again.format.encoding, Encoding::Pickle(style.protocol()));
    }
}

/// Checks that the timeline's peak equals the peak of a plain count over the events.
pub fn the_peak_is_that_of_a_counter(sample: &Sample, trace: &Trace) {
    for device in all_devices(trace) {
        let timeline = Timeline::new(trace, device);
        let mut live_bytes = timeline.live_at(0);
        let mut peak = (0, live_bytes);
        let mut open = HashMap::new();
        for (moment, event) in (1..).zip(device.events.iter()) {
            if event.action == Action::Alloc {
                open.insert(event.addr, event.size_bytes);
                live_bytes += event.size_bytes;
            } else if event.action == ending(device) {
                live_bytes -= open.remove(&event.addr).unwrap_or(event.size_bytes);
            }
            if live_bytes > peak.1 {
                peak = (moment, live_bytes);
            }
        }
        assert_eq!(timeline.live_peak(), peak, "{} device {}", sample.name, device.index);
    }
}

/// Checks that live bytes at the end are those at the start plus allocated minus freed bytes.
pub fn allocated_minus_freed_is_live_at_the_end(sample: &Sample, trace: &Trace) {
    for device in all_devices(trace) {
        let timeline = Timeline::new(trace, device);
        let sum = |action| -> u64 {
            device.events.iter().filter(|event| event.action == action).map(|event| event.size_bytes).sum()
        };
        let end_bytes = timeline.live_at(timeline.events());
        let expected = timeline.live_at(0) + sum(Action::Alloc) - sum(ending(device));
        assert_eq!(end_bytes, expected, "{} device {}", sample.name, device.index);
    }
}

/// Checks that live bytes after the last event are those of the final blocks.
pub fn live_blocks_are_live_at_the_end(sample: &Sample, trace: &Trace) {
    for device in all_devices(trace) {
        if device.segments.blocks.iter().any(|block| block.requested_bytes.is_none()) {
            // Old layouts have only rounded sizes of blocks and only requested sizes of events.
            continue;
        }
        // Without free_completed events, a pending free has already ended the lifetime.
        let is_live = |state| match state {
            BlockState::Allocated => true,
            BlockState::PendingFree => ending(device) == Action::FreeCompleted || device.events.is_empty(),
            BlockState::Inactive => false,
        };
        let blocks = device.segments.blocks.iter().filter(|block| is_live(block.state));
        let live_bytes: u64 = blocks.map(|block| block.live_bytes()).sum();
        let timeline = Timeline::new(trace, device);
        assert_eq!(timeline.live_at(timeline.events()), live_bytes, "{} device {}", sample.name, device.index);
    }
}

/// Checks that blocks fill their segment without gaps and add up to its totals.
pub fn blocks_tile_their_segments(sample: &Sample, trace: &Trace) {
    for device in all_devices(trace) {
        for segment in &device.segments.segments {
            let blocks = device.segments.blocks_of(segment);
            let mut addr = segment.addr;
            for block in blocks {
                assert_eq!(block.addr, addr, "{}", sample.name);
                addr += block.size_bytes;
            }
            assert_eq!(addr, segment.addr + segment.size_bytes, "{}", sample.name);
            let sum = |states: &[BlockState]| -> u64 {
                blocks.iter().filter(|block| states.contains(&block.state)).map(|block| block.size_bytes).sum()
            };
            assert_eq!(sum(&[BlockState::Allocated]), segment.allocated_bytes, "{}", sample.name);
            assert_eq!(sum(&[BlockState::Allocated, BlockState::PendingFree]), segment.active_bytes);
        }
    }
}

fn findings_fit_a_line_and_name_what_shows_them(_: &Sample, trace: &Trace) {
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let found = diagnosis(trace, &studies(trace, &devices), &DiagnosisConfig::default()).findings;
    for finding in &found {
        let (length, parts) = (finding.title.chars().count(), &finding.parts);
        assert!(length <= LONGEST_TITLE, "{length} characters: {}", finding.title);
        assert!(parts.len() <= 3 && parts.is_sorted_by_key(|part| Reverse(part.bytes)), "{parts:?}");
        let events =
            trace.devices.iter().find(|device| device.index == finding.device).map_or(0, |one| one.events.len());
        for target in parts.iter().map(|part| &part.target).chain(&finding.target) {
            assert!(target.first <= target.last && target.last as usize <= events, "{target:?} of {events}");
        }
        let told = finding.steps.iter().map(|step| step.text.as_str()).chain([finding.why.as_str()]);
        let told: Vec<&str> = told.filter(|text| !text.is_empty()).collect();
        assert_eq!(finding.advice, told.join(" "), "{finding:?}");
    }
}

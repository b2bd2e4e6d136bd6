//! Laws that hold for every snapshot; a file added to `tests/data/snapshots` is a test added.

use shared::analysis::Timeline;
use shared::export;
use shared::pickle::Style;
use shared::trace::{Action, BlockState, Device, Encoding, Trace};
use std::collections::HashMap;
use testkit::corpus::{Sample, decode, samples};
use testkit::equal::{assert_same, difference};
use testkit::generator::{Config, generate_vec};

/// Its sizes were edited after the recording: blocks don't fill their segments.
const EDITED: &str = "torch2.8-synthetic-compile-context.pickle.gz";

/// Checks every stored snapshot and two generated ones.
#[track_caller]
fn check_all(check: impl Fn(&Sample, &Trace)) {
    let generated = [(1, Style::Python, 40_000), (2, Style::Torch, 1)].map(|(seed, style, events)| Sample {
        name: format!("generated {seed}"),
        path: Default::default(),
        bytes: generate_vec(&Config { seed, events, style }),
    });
    for sample in samples().into_iter().chain(generated) {
        let trace = sample.trace();
        check(&sample, &trace);
    }
}

fn all_devices(trace: &Trace) -> impl Iterator<Item = &Device> {
    trace.devices.iter().chain(&trace.host)
}

/// The action that ends lifetimes in a trace.
fn ending(device: &Device) -> Action {
    let completed = device.events.iter().any(|event| event.action == Action::FreeCompleted);
    if completed { Action::FreeCompleted } else { Action::FreeRequested }
}

#[test]
fn chunks_make_no_difference() {
    check_all(|sample, whole| {
        for chunk_bytes in [1, 7, 4096] {
            let chunked = decode(&sample.name, &sample.bytes, chunk_bytes);
            assert_eq!(difference(whole, &chunked), None, "{} in chunks of {chunk_bytes}", sample.name);
            assert_eq!(whole.format, chunked.format, "{}", sample.name);
            assert_eq!(whole.diagnostics, chunked.diagnostics, "{}", sample.name);
        }
    });
}

#[test]
fn a_carrier_makes_no_difference() {
    for sample in samples().iter().filter(|sample| sample.name.ends_with(".gz")) {
        let unpacked = decode(&sample.name, &sample.unpacked(), 1 << 20);
        assert_same(&sample.trace(), &unpacked);
    }
    let named = |name: &str| samples().into_iter().find(|sample| sample.name == name).expect("a stored file").trace();
    let plain = named("torch2.15-basic-py311.pickle.gz");
    for sample in samples() {
        let carries_the_same = ["made-protocol", "made-json", "made-trace-plot", "made-bytes-after-stop"];
        if carries_the_same.iter().any(|name| sample.name.starts_with(name)) {
            assert_eq!(difference(&plain, &sample.trace()), None, "{}", sample.name);
        }
    }
}

#[test]
fn an_export_decodes_to_the_same() {
    check_all(|sample, trace| {
        for style in [Style::Python, Style::Python5, Style::Torch] {
            let mut bytes = Vec::new();
            export::pickle(trace, style, |piece: &[u8]| bytes.extend_from_slice(piece));
            let again = decode(&sample.name, &bytes, 4096);
            assert_eq!(difference(trace, &again), None, "{} in style {style:?}", sample.name);
            assert_eq!(again.format.encoding, Encoding::Pickle(style.protocol()));
        }
    });
}

#[test]
fn the_peak_is_that_of_a_counter() {
    check_all(|sample, trace| {
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
    });
}

#[test]
fn allocated_minus_freed_is_live_at_the_end() {
    check_all(|sample, trace| {
        for device in all_devices(trace) {
            let timeline = Timeline::new(trace, device);
            let sum = |action| -> u64 {
                device.events.iter().filter(|event| event.action == action).map(|event| event.size_bytes).sum()
            };
            let end_bytes = timeline.live_at(timeline.events());
            let expected = timeline.live_at(0) + sum(Action::Alloc) - sum(ending(device));
            assert_eq!(end_bytes, expected, "{} device {}", sample.name, device.index);
        }
    });
}

/// Compares live bytes after the last event with those of the final blocks.
#[track_caller]
fn check_end(name: &str, trace: &Trace) {
    for device in all_devices(trace) {
        if device.segments.blocks.iter().any(|block| block.requested_bytes.is_none()) {
            // Old layouts: only rounded sizes are known of blocks, and only requests of events.
            continue;
        }
        // Without free_completed events a pending free has already ended the lifetime.
        let is_live = |state| match state {
            BlockState::Allocated => true,
            BlockState::PendingFree => ending(device) == Action::FreeCompleted || device.events.is_empty(),
            BlockState::Inactive => false,
        };
        let blocks = device.segments.blocks.iter().filter(|block| is_live(block.state));
        let live_bytes: u64 = blocks.map(|block| block.live_bytes()).sum();
        let timeline = Timeline::new(trace, device);
        assert_eq!(timeline.live_at(timeline.events()), live_bytes, "{name} device {}", device.index);
    }
}

#[test]
fn live_blocks_are_live_at_the_end() {
    check_all(|sample, trace| {
        if sample.name != EDITED {
            check_end(&sample.name, trace);
        }
    });
}

#[test]
fn a_recording_may_end_after_any_event() {
    for events in (0..10).chain(600..700) {
        let bytes = generate_vec(&Config { seed: 3, events, style: Style::Python });
        let trace = decode("generated", &bytes, bytes.len());
        assert_eq!(trace.devices[0].events.len(), events);
        check_end(&format!("{events} events"), &trace);
    }
}

#[test]
fn blocks_tile_their_segments() {
    check_all(|sample, trace| {
        for device in all_devices(trace).filter(|_| sample.name != EDITED) {
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
    });
}

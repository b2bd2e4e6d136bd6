//! Checks the laws that hold for every snapshot; each file added to `tests/data/snapshots` is checked as well.

use shared::pickle::Style;
use testkit::corpus::{Sample, decode, samples};
use testkit::equal::{assert_same, difference};
use testkit::generator::{Config, generate_vec};
use testkit::laws::{self, Law};

/// Its sizes were edited after the recording, so blocks do not fill their segments.
const EDITED: &str = "torch2.8-synthetic-compile-context.pickle.gz";

/// Checks every stored snapshot and two generated ones.
#[track_caller]
fn check_all(law: Law) {
    let generated = [(1, Style::Python, 40_000), (2, Style::Torch, 1)].map(|(seed, style, events)| Sample {
        name: format!("generated {seed}"),
        path: Default::default(),
        bytes: generate_vec(&Config { seed, events, style }),
    });
    for sample in samples().into_iter().chain(generated) {
        let trace = sample.trace();
        law(&sample, &trace);
    }
}

#[test]
fn chunks_make_no_difference() {
    check_all(laws::chunks_make_no_difference);
}

#[test]
fn an_export_decodes_to_the_same() {
    check_all(laws::an_export_decodes_to_the_same);
}

#[test]
fn the_peak_is_that_of_a_counter() {
    check_all(laws::the_peak_is_that_of_a_counter);
}

#[test]
fn allocated_minus_freed_is_live_at_the_end() {
    check_all(laws::allocated_minus_freed_is_live_at_the_end);
}

#[test]
fn live_blocks_are_live_at_the_end() {
    check_all(|sample, trace| {
        if sample.name != EDITED {
            laws::live_blocks_are_live_at_the_end(sample, trace);
        }
    });
}

#[test]
fn blocks_tile_their_segments() {
    check_all(|sample, trace| {
        if sample.name != EDITED {
            laws::blocks_tile_their_segments(sample, trace);
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
fn a_recording_may_end_after_any_event() {
    for events in (0..10).chain(600..700) {
        let bytes = generate_vec(&Config { seed: 3, events, style: Style::Python });
        let sample = Sample { name: format!("{events} events"), path: Default::default(), bytes };
        let trace = sample.trace();
        assert_eq!(trace.devices[0].events.len(), events);
        laws::live_blocks_are_live_at_the_end(&sample, &trace);
    }
}

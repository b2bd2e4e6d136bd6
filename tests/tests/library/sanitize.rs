//! Tests sanitized copies of real and generated snapshots: the same memory, and no names of persons.

#[path = "../../../shared/tests/outside/support/frame_kinds.rs"]
mod frame_kinds;

use frame_kinds::kinds;
use shared::analysis::{Timeline, recording_diagnostics};
use shared::export::{SanitizeOptions, Sanitized};
use shared::pickle::Style;
use shared::trace::{Device, Trace};
use testkit::corpus::{Sample, decode, samples};
use testkit::cpython;
use testkit::generator::{Config, generate_vec};

const PEOPLE: [&str; 2] = ["brian", "zidong"];

fn clean(trace: &Trace, options: &SanitizeOptions, style: Style) -> Vec<u8> {
    let mut bytes = Vec::new();
    Sanitized::new(trace, options).pickle(style, |piece| bytes.extend_from_slice(piece), |_| ());
    bytes
}

fn copy(sample: &Sample) -> (Trace, Trace) {
    let trace = sample.trace();
    let copy = decode(&sample.name, &clean(&trace, &SanitizeOptions::default(), Style::Python), 4096);
    (trace, copy)
}

fn all_samples() -> Vec<Sample> {
    let bytes = generate_vec(&Config { seed: 5, events: 20_000, style: Style::Python });
    let generated = Sample { name: "generated".to_owned(), path: Default::default(), bytes };
    samples().into_iter().chain([generated]).collect()
}

fn timelines(trace: &Trace) -> Vec<(&Device, Timeline)> {
    trace.devices.iter().map(|device| (device, Timeline::new(trace, device))).collect()
}

#[test]
fn what_was_measured_and_what_is_concluded_stay() {
    for sample in all_samples() {
        let (trace, copy) = copy(&sample);
        assert_eq!(trace.devices.len(), copy.devices.len(), "{}", sample.name);
        for (a, b) in trace.devices.iter().chain(&trace.host).zip(copy.devices.iter().chain(&copy.host)) {
            assert_eq!(a.events.actions(), b.events.actions(), "{}", sample.name);
            assert_eq!(a.events.addrs(), b.events.addrs(), "{}", sample.name);
            assert_eq!(a.events.sizes_bytes(), b.events.sizes_bytes(), "{}", sample.name);
            assert_eq!(a.events.times_us(), b.events.times_us(), "{}", sample.name);
            let plain = |device: &Device| -> Vec<_> {
                let blocks = device.segments.blocks.iter();
                blocks.map(|block| (block.addr, block.size_bytes, block.requested_bytes, block.state)).collect()
            };
            assert_eq!(plain(a), plain(b), "{}", sample.name);
        }
        let settings = |trace: &Trace| trace.settings.entries.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(settings(&trace), settings(&copy));
        let (before, after) = (timelines(&trace), timelines(&copy));
        for ((_, a), (_, b)) in before.iter().zip(&after) {
            assert_eq!((a.live_peak(), a.reserved_peak()), (b.live_peak(), b.reserved_peak()), "{}", sample.name);
            assert_eq!(a.allocations, b.allocations, "{}", sample.name);
        }
        let of = |trace: &Trace, all: &[(&Device, Timeline)]| {
            recording_diagnostics(trace, &all.iter().map(|(device, timeline)| (*device, timeline)).collect::<Vec<_>>())
        };
        assert_eq!(of(&trace, &before), of(&copy, &after), "{}", sample.name);
        // The title frame of each stack is the same, and runtime frames are still recognized.
        for (a, b) in trace.devices.iter().zip(&copy.devices) {
            for (event, (a, b)) in a.events.stacks().iter().zip(b.events.stacks().iter()).enumerate() {
                let (before, after) = (kinds(&trace, a), kinds(&copy, b));
                assert_eq!(before, after, "{} event {event}", sample.name);
            }
        }
    }
}

#[test]
fn nobody_is_named() {
    let mut found = [false; 2];
    for sample in all_samples() {
        let trace = sample.trace();
        let lower = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).to_lowercase();
        let before = lower(sample.unpacked());
        for style in [Style::Python, Style::Torch] {
            let after = lower(clean(&trace, &SanitizeOptions::default(), style));
            for (person, found) in PEOPLE.iter().zip(&mut found) {
                *found |= before.contains(person);
                assert!(!after.contains(person), "{} names {person}", sample.name);
            }
            for place in ["/home", "\\users", "/users", "/root", "c:\\", "/tmp"] {
                assert!(!after.contains(place), "{} has {place}", sample.name);
            }
        }
    }
    assert_eq!(found, [true; 2], "the snapshots name people");
}

#[test]
fn cpython_would_write_a_copy_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |sample: Sample| {
        let path = folder.path().join(&sample.name);
        std::fs::write(&path, clean(&sample.trace(), &SanitizeOptions::default(), Style::Python)).expect("room");
        path
    };
    assert_eq!(cpython::lines("repickle.py", all_samples().into_iter().map(write)), [""; 0]);
}

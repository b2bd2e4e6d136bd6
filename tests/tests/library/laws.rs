//! Checks the laws that hold for every snapshot; each file added to `tests/data/snapshots` is checked as well.

use shared::pickle::Style;
use testkit::corpus::{Sample, decode, samples};
use testkit::equal::difference;
use testkit::generator::{Config, generate_vec};
use testkit::laws::{self, LAWS, Law};

/// Its sizes were edited after the recording, so blocks do not fill their segments.
const EDITED: &str = "torch2.8-synthetic-compile-context.pickle.gz";

/// Laws that the edited file breaks.
const NOT_OF_EDITED: [&str; 2] = ["live blocks are live at the end", "blocks tile their segments"];

#[test]
fn every_file_keeps_every_law() {
    let generated = [(1, Style::Python, 40_000), (2, Style::Torch, 1)].map(|(seed, style, events)| Sample {
        name: format!("generated {seed}"),
        path: Default::default(),
        bytes: generate_vec(&Config { seed, events, style }),
    });
    let broken = |sample: Sample| {
        let is_kept = |law: &&Law| sample.name != EDITED || !NOT_OF_EDITED.contains(&law.0);
        laws::broken(&sample, LAWS.iter().filter(is_kept))
    };
    let broken: Vec<String> = samples().into_iter().chain(generated).flat_map(broken).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn a_broken_file_hides_no_other_and_no_law() {
    let sample = |name: &str, bytes: Vec<u8>| Sample { name: name.to_owned(), path: Default::default(), bytes };
    let laws: [Law; 2] =
        [("never", |_, _| panic!("it is broken")), ("never either", |_, _| panic!("so is {}", "this"))];
    let whole = generate_vec(&Config { seed: 1, events: 9, style: Style::Python });
    let all = [sample("cut", whole[..40].to_vec()), sample("whole", whole)];
    let broken: Vec<String> = all.iter().flat_map(|sample| laws::broken(sample, &laws)).collect();
    assert_eq!(broken.len(), 3, "{broken:?}");
    assert!(broken[0].starts_with("cut cannot be decoded: "), "{}", broken[0]);
    assert_eq!(broken[1..], ["whole: never: it is broken", "whole: never either: so is this"]);
}

#[test]
fn a_carrier_makes_no_difference() {
    for sample in samples().iter().filter(|sample| sample.name.ends_with(".gz")) {
        let unpacked = decode(&sample.name, &sample.unpacked(), 1 << 20);
        assert_eq!(difference(&sample.trace(), &unpacked), None, "{}", sample.name);
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

//! Tests memory profiles: one of JAX 0.10.2 (a perceptron with momentum, four steps, paths shortened) against sums that
//! Python made of the same file, and profiles in the form of other tools.

use super::*;
use crate::analysis::SourceLine;
use crate::logs::source::read_file;

const JAX: &[u8] = include_bytes!("../../../fuzz/corpus/log/jax-memory.prof.gz");

fn read(bytes: &[u8], size: usize) -> HeapProfile {
    read_file::<HeapReader>(bytes, size)
}

#[test]
fn arrays_of_jax_have_the_lines_that_made_them() {
    assert!(is_pprof(JAX) && is_pprof(&JAX[..1500]));
    let profile = read(JAX, 100);
    assert!(profile.is_jax && !profile.is_cut);
    assert_eq!((profile.value.as_str(), profile.bytes()), ("space", 48_304_216));
    assert_eq!(profile.uses.iter().map(|one| one.count).sum::<u64>(), 44);
    // Parameters and momentum of four bytes a number, twice (784 + 1) · 2048 + (2048 + 1) · 2048 + (2048 + 1) · 10.
    let step = &profile.uses[0];
    assert_eq!((step.bytes, step.count), (2 * 4 * (785 * 2048 + 2049 * 2048 + 2049 * 10), 12));
    assert_eq!((profile.kind(step), profile.device(step), profile.called(step)), ("buffer", "cpu:0", ""));
    let place = SourceLine { file: "/home/me/train.py".to_owned(), function: "main".to_owned(), line: 38 };
    assert_eq!(profile.own(step), Some(place));
    let batch = &profile.uses[1];
    assert_eq!((batch.bytes, profile.called(batch)), (512 * 784 * 4, "normal"));
    let kinds: Vec<_> = profile.sums(|one| profile.kind(one));
    assert_eq!(kinds, [("buffer", 48_304_216, 19), ("executable", 0, 25)]);
}

#[test]
fn a_cut_profile_says_so() {
    let profile = read(&JAX[..1500], 7);
    assert!(profile.is_cut);
    assert!(profile.bytes() <= 48_304_216);
}

/// Encodes a field with bytes.
fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, content.len() as u8], content].concat()
}

/// Encodes a profile of one sample with two values, as Go writes them.
fn go(units: [&str; 2]) -> Vec<u8> {
    let types = [bytes(1, &[8, 1, 16, 2]), bytes(1, &[8, 3, 16, 4])].concat();
    let sample = bytes(2, &[bytes(1, &[7]), bytes(2, &[9, 100])].concat());
    let location = bytes(4, &[&[8, 7][..], &bytes(4, &[8, 5, 16, 42])].concat());
    let function = bytes(5, &[8, 5, 16, 5, 32, 6]);
    let strings = ["", "alloc_space", units[0], "inuse_space", units[1], "load", "/home/me/load.go"];
    let strings: Vec<u8> = strings.iter().flat_map(|text| bytes(6, text.as_bytes())).collect();
    [types, sample, location, function, strings].concat()
}

#[test]
fn memory_in_use_is_shown_and_not_what_was_ever_allocated() {
    let file = go(["bytes", "bytes"]);
    assert!(is_pprof(&file));
    let profile = read(&file, 3);
    assert_eq!((profile.value.as_str(), profile.bytes(), profile.is_jax), ("inuse_space", 100, false));
    assert_eq!(profile.own(&profile.uses[0]).unwrap().line, 42);
}

#[test]
fn a_profile_of_time_has_no_memory() {
    let profile = read(&go(["count", "nanoseconds"]), 100);
    assert_eq!(profile.value, "");
    assert_eq!(profile.values, ["alloc_space in count", "inuse_space in nanoseconds"]);
}

#[test]
fn other_files_are_no_profiles() {
    for head in [&b""[..], b"\n\x04text", b"\x0a\x02\x08\x01\x0a\x02\x08\x01", b"{\"a\": 1}", b"\x1f\x8b\x08\x00"] {
        assert!(!is_pprof(head), "{head:?}");
    }
}

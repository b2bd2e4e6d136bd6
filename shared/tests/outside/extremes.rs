//! Checks that every report of a trace with impossible sizes, addresses and times is made, without overflow.

use crate::support::analyses::analyse;
use crate::support::stored::{Random, files};
use shared::analysis::Timeline;
use shared::export;
use shared::import::import;
use shared::pickle::Style;
use shared::trace::{Action, Block, BlockState, Event, Segment, Stage, Trace, text};

/// Largest size that a file may state.
const MOST_BYTES: u64 = (1 << 60) - 1;

#[test]
fn nine_of_the_largest_allocations_rise_and_fall() {
    let allocs: String = (0..9).map(|name| format!("alloc n{name} {MOST_BYTES} @f<train\n")).collect();
    let frees: String = (0..9).map(|name| format!("free n{name}\n")).collect();
    let trace = text::parse(&(allocs + &frees)).unwrap();
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let levels: Vec<u64> = (0..=9).map(|moment| timeline.live_at(moment)).collect();
    assert!(levels.is_sorted_by(|a, b| a < b), "{levels:?}");
    assert_eq!(timeline.live_peak(), (9, levels[9]));
    assert_eq!(timeline.live_at(timeline.events()), 0);
    analyse(&trace);
}

/// A segment in a file of torch 1.x, which does not state its allocated bytes.
#[test]
fn blocks_beyond_64_bits_are_no_more_than_those() {
    let block = format!("(dS'size'\nL{MOST_BYTES}L\nsS'state'\nS'active_allocated'\nsa").repeat(17);
    let pickle = format!("(lp0\n(dS'total_size'\nI1\nsS'blocks'\n(l{block}sa.");
    let trace = import(pickle.as_bytes()).unwrap();
    assert_eq!(trace.devices[0].segments.segments[0].allocated_bytes, u64::MAX);
    analyse(&trace);
}

const SIZES: [u64; 8] = [0, 1, 512, 2 << 20, 20 << 20, 1 << 40, MOST_BYTES - 511, MOST_BYTES];

/// Only a few, so that events share addresses.
const ADDRS: [u64; 8] = [0, 512, 2 << 20, 1 << 40, 1 << 63, u64::MAX - (1 << 60), u64::MAX - 511, u64::MAX];

const TIMES_US: [i64; 6] = [i64::MIN, -1, 0, 1, 1_700_000_000_000_000, i64::MAX];

/// Creates a trace in which most values are as large as they may be.
fn extreme(seed: u64) -> Trace {
    let mut random = Random(seed);
    let mut trace = text::parse("start step t=1\nalloc a 512 @forward<train@step t=2\nend step t=3").unwrap();
    let first = trace.devices[0].events.at(0);
    let actions = if seed.is_multiple_of(2) { &Action::ALL[..3] } else { &Action::ALL[..] };
    for _ in 0..random.next() % 60 {
        let (action, addr, size_bytes) = (random.one_of(actions), random.one_of(&ADDRS), random.one_of(&SIZES));
        trace.devices[0].events.push(Event { action, addr, size_bytes, time_us: random.one_of(&TIMES_US), ..first });
    }
    for _ in 0..random.next() % 12 {
        segment(&mut trace, &mut random);
    }
    for annotation in &mut trace.annotations {
        annotation.time_us = random.one_of(&TIMES_US);
        annotation.stage = random.one_of(&[Stage::Start, Stage::End]);
    }
    trace
}

fn segment(trace: &mut Trace, random: &mut Random) {
    let first = trace.devices[0].events.at(0);
    let table = &mut trace.devices[0].segments;
    let start = table.blocks.len() as u32;
    for _ in 0..random.next() % 4 {
        table.blocks.push(Block {
            addr: random.one_of(&ADDRS),
            size_bytes: random.one_of(&SIZES),
            requested_bytes: random.one_of(&[None, Some(1), Some(MOST_BYTES)]),
            state: random.one_of(&[BlockState::Allocated, BlockState::PendingFree, BlockState::Inactive]),
            stack: first.stack,
            history: (0, 0),
        });
    }
    table.segments.push(Segment {
        addr: random.one_of(&ADDRS),
        size_bytes: random.one_of(&SIZES),
        allocated_bytes: random.one_of(&SIZES),
        active_bytes: random.one_of(&SIZES),
        is_expandable: random.one_of(&[None, Some(true)]),
        stack: first.stack,
        blocks: (start, table.blocks.len() as u32),
        ..Segment::default()
    });
}

#[test]
fn every_report_of_an_impossible_trace_is_made() {
    for seed in 0..2000 {
        let mut bytes = Vec::new();
        export::pickle(&extreme(seed), Style::Python, |piece: &[u8]| bytes.extend_from_slice(piece));
        let result = std::panic::catch_unwind(|| analyse(&import(&bytes).unwrap()));
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn every_report_of_what_the_fuzzer_met_is_made() {
    for (name, bytes) in files("fuzz/corpus/import", 1) {
        println!("{name}");
        if let Ok(trace) = import(&bytes) {
            analyse(&trace);
        }
    }
}

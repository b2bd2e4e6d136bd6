//! Computes the same results in the obvious way, and random traces for comparisons.

use super::{Allocation, AllocationId, Allocations, Timeline};
use crate::trace::{Action, Device, Trace, text};
use std::fmt::Write;

/// Small random number generator (xorshift64*), so that a failure can be reproduced from its seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }
}

/// Generates a trace with `lines` lines of most kinds of events, in plausible and implausible order.
///
/// Because there are few names, it has frees without an alloc, allocs at used addresses and blocks without any event.
pub fn random_trace(seed: u64, lines: u64) -> Trace {
    let mut random = Random::new(seed);
    let names = 4 + random.below(40);
    let has_completed = random.below(4) > 0;
    let mut time_us = 1_000_000;
    let mut source = String::new();
    for _ in 0..lines {
        time_us += [0, 0, 1, 3, 40, -2][random.below(6) as usize];
        let (name, size) = (random.below(names), 1 << random.below(12));
        let line = match random.below(20) {
            0..9 => format!("alloc n{name} {}", size - random.below(size)),
            9..12 if has_completed => format!("free n{name} {size}"),
            12..15 if has_completed => format!("free_completed n{name} {size}"),
            9..16 => format!("free_requested n{name} {size}"),
            16 => format!("segment_alloc s{name} {size}"),
            17 => format!("segment_free s{name} {size}"),
            18 => format!("segment_map s{name} {size}"),
            _ => "snapshot".to_owned(),
        };
        writeln!(source, "{line} @f{} t={time_us}", random.below(5)).unwrap();
    }
    writeln!(source, "segment s 1MiB").unwrap();
    for _ in 0..random.below(12) {
        let state = ["", "pending", "inactive"][random.below(3) as usize];
        writeln!(source, "block n{} {} {state}", random.below(names * 2), 1 + random.below(5000)).unwrap();
    }
    let trace = text::parse(&source).unwrap();
    trace.check();
    trace
}

/// Returns a trace with the timeline of its first device.
pub fn timed(trace: Trace) -> (Trace, Timeline) {
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    (trace, timeline)
}

/// Returns lifetimes as `(born, died, size)` in no particular order, found by searching all events for each.
pub fn lifetimes(device: &Device) -> Vec<(u32, u32, u64)> {
    let events: Vec<_> = device.events.iter().collect();
    let completed = events.iter().any(|event| event.action == Action::FreeCompleted);
    let freeing = if completed { Action::FreeCompleted } else { Action::FreeRequested };
    let is_about = |event: usize, addr: u64| {
        events[event].addr == addr && [Action::Alloc, freeing].contains(&events[event].action)
    };
    let moment = |event: usize| event as u32 + 1;
    let mut lifetimes = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let before = (0..index).rev().find(|&other| is_about(other, event.addr));
        let after = (index + 1..events.len()).find(|&other| is_about(other, event.addr));
        if event.action == Action::Alloc {
            let died = after.filter(|&other| events[other].action == freeing).map_or(u32::MAX, moment);
            lifetimes.push((moment(index), died, event.size_bytes));
        } else if event.action == freeing && before.is_none_or(|other| events[other].action == freeing) {
            lifetimes.push((0, moment(index), event.size_bytes));
        }
    }
    for block in device.segments.blocks.iter().filter(|block| block.live_bytes() > 0) {
        if !(0..events.len()).any(|event| is_about(event, block.addr)) {
            lifetimes.push((0, u32::MAX, block.live_bytes()));
        }
    }
    lifetimes
}

/// Returns the live bytes at every moment, summed from lifetimes.
pub fn live_bytes(lifetimes: &[(u32, u32, u64)], events: u32) -> Vec<u64> {
    let alive_at = |moment| move |&&(born, died, _): &&(u32, u32, u64)| born <= moment && moment < died;
    (0..=events).map(|moment| lifetimes.iter().filter(alive_at(moment)).map(|life| life.2).sum()).collect()
}

/// Returns the reserved bytes at every moment, wound back from the final segments.
pub fn reserved_bytes(device: &Device) -> Vec<u64> {
    let mut bytes = device.segments.reserved_bytes() as i64;
    let mut curve = vec![bytes.max(0) as u64];
    for event in device.events.iter().collect::<Vec<_>>().into_iter().rev() {
        match event.action {
            Action::SegmentAlloc | Action::SegmentMap => bytes -= event.size_bytes as i64,
            Action::SegmentFree | Action::SegmentUnmap => bytes += event.size_bytes as i64,
            _ => {}
        }
        curve.push(bytes.max(0) as u64);
    }
    curve.reverse();
    curve
}

/// Returns the stack of allocations at a moment, from the bottom.
pub fn stack(allocations: &Allocations, device: &Device, moment: u32) -> Vec<(AllocationId, Allocation)> {
    let rows = allocations.ids().map(|id| (id, allocations.get(id, device)));
    rows.filter(|(_, row)| row.born <= moment && moment < row.died).collect()
}

#[test]
fn pairing_agrees() {
    for seed in 0..200 {
        let trace = random_trace(seed, 60 + seed);
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let mut rows: Vec<_> = allocations
            .ids()
            .map(|id| allocations.get(id, device))
            .map(|row| (row.born, row.died, row.size_bytes))
            .collect();
        let mut expected = lifetimes(device);
        rows.sort_unstable();
        expected.sort_unstable();
        assert_eq!(rows, expected, "seed {seed}");
    }
}

#[test]
fn events_find_their_allocations() {
    for seed in 0..50 {
        let trace = random_trace(seed, 300);
        let allocations = Allocations::pair(&trace.devices[0]);
        for event in 0..trace.devices[0].events.len() {
            let moment = event as u32 + 1;
            let expected = allocations.ids().find(|&id| {
                let row = allocations.get(id, &trace.devices[0]);
                row.born == moment || row.died == moment
            });
            assert_eq!(allocations.of_event(event), expected, "seed {seed}, event {event}");
        }
    }
}

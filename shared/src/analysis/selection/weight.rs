//! What an allocation counts for.

use super::{Population, Scope};
use crate::analysis::AllocationId;
use crate::trace::Device;
use std::ops::Range;

/// What an allocation counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Its requested size.
    #[default]
    Bytes,
    /// Its size times the moments that it is alive at: bytes × events.
    ByteEvents,
    /// Its size times the time that it is alive for: bytes × milliseconds.
    ///
    /// In a trace without times it is 0.
    ByteTime,
    /// One.
    Count,
}

crate::names!(Weight {
    Bytes => "bytes",
    ByteEvents => "byte-events",
    ByteTime => "byte-time",
    Count => "count",
});

/// Weighs allocations; lifetimes count as far as they are in the scope's range, in all of the trace for a moment.
#[derive(Clone, Debug)]
pub struct Weigher<'a> {
    population: Population<'a>,
    window: Range<u32>,
    weight: Weight,
    /// When each moment begins, in microseconds, where times count.
    starts_us: Vec<u64>,
}

impl<'a> Weigher<'a> {
    /// A scale for the allocations of a scope.
    pub fn new(population: &Population<'a>, scope: &Scope, weight: Weight) -> Self {
        let Population { device, timeline, .. } = *population;
        let starts_us = if weight == Weight::ByteTime { starts_us(device) } else { Vec::new() };
        Self { population: *population, window: scope.window(timeline), weight, starts_us }
    }

    /// The weight of an allocation, at most `u64::MAX`.
    ///
    /// # Panics
    /// If `id` is of another table.
    pub fn weigh(&self, id: AllocationId) -> u64 {
        let size_bytes = self.population.timeline.allocations.size_bytes[id.index()];
        match self.weight {
            Weight::Bytes => size_bytes,
            Weight::Count => 1,
            Weight::ByteEvents => {
                let alive = self.alive(id);
                size_bytes.saturating_mul(u64::from(alive.end - alive.start))
            }
            Weight::ByteTime => {
                let alive = self.alive(id);
                let byte_us =
                    u128::from(size_bytes) * u128::from(self.start_us(alive.end) - self.start_us(alive.start));
                u64::try_from(byte_us / 1000).unwrap_or(u64::MAX)
            }
        }
    }

    /// The moments of the range at which an allocation is alive.
    fn alive(&self, id: AllocationId) -> Range<u32> {
        let allocations = &self.population.timeline.allocations;
        let start = allocations.born_at(id.0).clamp(self.window.start, self.window.end);
        start..allocations.died[id.index()].clamp(start, self.window.end)
    }

    /// When a moment begins; without times all begin at once.
    fn start_us(&self, moment: u32) -> u64 {
        let at = self.starts_us.get(moment as usize).or(self.starts_us.last());
        at.copied().unwrap_or(0)
    }
}

/// When each moment begins; the clock of the file may jump back, that of a trace stands still then.
///
/// The timeline finds the same one by one; looking up both ends of a million lifetimes that way takes half a second.
fn starts_us(device: &Device) -> Vec<u64> {
    let times = device.events.times_us();
    let origin_us = times.iter().find(|&time_us| time_us != 0).unwrap_or(0);
    let mut latest_us = 0;
    let starts = times.iter().map(|time_us| {
        latest_us = u64::try_from(time_us.saturating_sub(origin_us)).unwrap_or(0).max(latest_us);
        latest_us
    });
    std::iter::once(0).chain(starts).collect()
}

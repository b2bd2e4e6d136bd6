//! Holds the allocations that a selection is made from, with what is known about them, and weighs them by size,
//! lifetime or number.

use super::Scope;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::category::Category;
use crate::analysis::track::spans::Span;
use crate::analysis::track::timeline::Timeline;
use crate::trace::{Device, Trace};
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    #[default]
    Bytes,
    /// Size times the number of moments at which the allocation is alive: bytes × events.
    ByteEvents,
    /// Size times the time for which the allocation is alive: bytes × milliseconds.
    ///
    /// It is 0 in a trace without times.
    ByteTime,
    /// 1 per allocation.
    Count,
}

crate::names!(Weight { Bytes => "bytes", ByteEvents => "byte-events", ByteTime => "byte-time", Count => "count" });

/// Weighs allocations; their lifetimes are clipped to the scope's range, or to the whole trace for a moment.
#[derive(Clone, Debug)]
pub struct Weigher<'a> {
    population: Population<'a>,
    window: Range<u32>,
    weight: Weight,
    /// Time at which each moment begins, in microseconds; empty unless the weight depends on times.
    starts_us: Vec<u64>,
}

impl<'a> Weigher<'a> {
    pub fn new(population: &Population<'a>, scope: &Scope, weight: Weight) -> Self {
        let Population { device, timeline, .. } = *population;
        let starts_us = if weight == Weight::ByteTime { starts_us(device) } else { Vec::new() };
        Self { population: *population, window: scope.window(timeline), weight, starts_us }
    }

    /// Returns the weight of an allocation, at most `u64::MAX`.
    ///
    /// # Panics
    /// Panics if `id` belongs to another table.
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
                let time_us = self.start_us(alive.end) - self.start_us(alive.start);
                u64::try_from(u128::from(size_bytes) * u128::from(time_us) / 1000).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns the moments within the range at which an allocation is alive.
    fn alive(&self, id: AllocationId) -> Range<u32> {
        let allocations = &self.population.timeline.allocations;
        let start = allocations.born_at(id.0).clamp(self.window.start, self.window.end);
        start..allocations.died[id.index()].clamp(start, self.window.end)
    }

    /// Returns the time at which a moment begins; without times it is 0 for all moments.
    fn start_us(&self, moment: u32) -> u64 {
        let at = self.starts_us.get(moment as usize).or(self.starts_us.last());
        at.copied().unwrap_or(0)
    }
}

/// Returns the time at which each moment begins; where the recorded clock jumps back, time stands still.
///
/// The timeline computes the same for single moments, but looking up both ends of a million lifetimes that way takes
/// half a second.
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

/// All allocations of a device, with the results that filters and groups need.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    pub trace: &'a Trace,
    pub device: &'a Device,
    pub timeline: &'a Timeline,
    /// Annotated spans of `device`; text filters search the names of the spans around an allocation.
    pub spans: &'a [Span],
    /// Category of each allocation, by its index; missing ones are [`Category::Unknown`].
    ///
    /// May be empty if neither filters nor groups use categories, because finding them takes longer than everything
    /// else.
    pub categories: &'a [Category],
}

impl Population<'_> {
    pub fn category(&self, id: AllocationId) -> Category {
        self.categories.get(id.index()).copied().unwrap_or(Category::Unknown)
    }
}

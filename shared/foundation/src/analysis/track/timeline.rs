//! Holds the data from which the timeline of one device is drawn, and its horizontal axes.

use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::category::{Coloring, StackColors};
use crate::analysis::track::changes::segment_changes;
use crate::analysis::track::clock::Clock;
use crate::analysis::track::curve::{Changes as _, Curve, ListedChanges, Peak};
use crate::analysis::track::names::Names;
use crate::analysis::track::seams::Seams;
use crate::analysis::track::seen::Seen;
use crate::trace::{Device, Trace};
use std::ops::Range;
use std::sync::OnceLock;

/// Lifetimes and curves of one device.
///
/// The event columns stay in the [`Device`]; methods that need them take the device from which the timeline was built.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub allocations: Allocations,
    pub names: Names,
    events: u32,
    live: Curve,
    reserved: Curve,
    segment_changes: ListedChanges,
    clock: Clock,
    colors: StackColors,
    pub seams: Seams,
    /// One entry per axis, filled by [`prepare`](Self::prepare).
    seen: [OnceLock<Seen>; 2],
}

/// Allocation under a point of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub allocation: AllocationId,
    /// Bytes below it in the stack at `moment`.
    pub below_bytes: u64,
    pub moment: u32,
}

/// Live and reserved bytes at a moment, for a walk over all moments.
#[derive(Clone, Copy, Debug)]
pub struct Balance {
    moment: u32,
    live: i64,
    reserved: i64,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
}

impl Timeline {
    /// Pairs the lifetimes and builds the curves of a device of the trace.
    ///
    /// # Panics
    /// Panics if the device has 2^32 - 1 or more events.
    pub fn new(trace: &Trace, device: &Device) -> Self {
        let allocations = Allocations::pair(device);
        let events = device.events.len() as u32;
        let segment_changes = segment_changes(device);
        let live = Curve::new(&allocations, events);
        Self {
            events,
            seams: Seams::of(&allocations, point(live.max()).1),
            live,
            reserved: Curve::new(&segment_changes, events),
            clock: Clock::new(&device.events),
            colors: StackColors::of(trace),
            names: Names::of(trace, device, &allocations),
            allocations,
            segment_changes,
            seen: Default::default(),
        }
    }

    /// Returns the number of events; moments run from 0 to this number.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Precomputes which allocations pictures of long parts of an axis can skip, which makes them faster.
    ///
    /// The pictures are the same without it. It takes about as long as a first picture of the whole trace and runs only
    /// once.
    pub fn prepare(&self, device: &Device, axis: Axis) {
        let axis = self.effective_axis(axis);
        self.seen[axis as usize].get_or_init(|| match axis {
            Axis::Events => Seen::new(&self.allocations, 0..u64::from(self.events) + 1),
            Axis::Time => Seen::new(&self.allocations, self.clock.starts_us(&device.events)),
        });
    }

    /// Returns which allocations are visible on an axis, if [`prepare`](Self::prepare) was called for it.
    pub fn seen(&self, axis: Axis) -> Option<&Seen> {
        self.seen[self.effective_axis(axis) as usize].get()
    }

    /// Returns the allocation at a height of the stack at a moment, including those from before the trace.
    pub fn hit(&self, moment: u32, bytes: u64) -> Option<Hit> {
        let moment = moment.min(self.events);
        if bytes >= self.live_at(moment) {
            return None;
        }
        let mut below_bytes = 0;
        for (allocation, size_bytes) in self.allocations.alive_at(moment) {
            if bytes < below_bytes + size_bytes {
                return Some(Hit { allocation, below_bytes, moment });
            }
            below_bytes += size_bytes;
        }
        None
    }

    /// Returns the live bytes at a moment, or at the last one if `moment` is later.
    pub fn live_at(&self, moment: u32) -> u64 {
        unsigned(self.live.value_at(&self.allocations, moment))
    }

    /// Returns the reserved bytes at a moment, or at the last one if `moment` is later.
    pub fn reserved_at(&self, moment: u32) -> u64 {
        unsigned(self.reserved.value_at(&self.segment_changes, moment))
    }

    /// Returns the state before the first event.
    pub fn balance(&self) -> Balance {
        let (live, reserved) = (self.allocations.initial_bytes(), self.segment_changes.initial_bytes());
        Balance { moment: 0, live, reserved, live_bytes: unsigned(live), reserved_bytes: unsigned(reserved) }
    }

    /// Advances to a moment and visits each state after a change of live bytes.
    pub fn walk(&self, balance: &mut Balance, until: u32, mut visit: impl FnMut(&Balance)) {
        let moments = balance.moment + 1..until + 1;
        let mut segments = Vec::new();
        self.segment_changes.for_each(moments.clone(), |moment, delta| segments.push((moment, delta)));
        let mut segments = segments.into_iter().peekable();
        self.allocations.for_each(moments, |moment, delta| {
            while let Some((_, bytes)) = segments.next_if(|(at, _)| *at <= moment) {
                balance.reserved += bytes;
            }
            balance.live += delta;
            (balance.live_bytes, balance.reserved_bytes) = (unsigned(balance.live), unsigned(balance.reserved));
            visit(balance);
        });
        balance.reserved += segments.map(|(_, bytes)| bytes).sum::<i64>();
        balance.reserved_bytes = unsigned(balance.reserved);
        balance.moment = until;
    }

    /// Returns the first moment of a range with its highest live bytes, and these bytes.
    ///
    /// The range is clipped to the trace and has at least one moment.
    pub fn live_max_in(&self, moments: Range<u32>) -> (u32, u64) {
        point(self.live.max_in(&self.allocations, moments))
    }

    /// Returns the first moment of a range with its highest reserved bytes; see [`live_max_in`](Self::live_max_in).
    pub fn reserved_max_in(&self, moments: Range<u32>) -> (u32, u64) {
        point(self.reserved.max_in(&self.segment_changes, moments))
    }

    /// Returns the peak: the first moment with the highest live bytes, and these bytes.
    pub fn live_peak(&self) -> (u32, u64) {
        point(self.live.max())
    }

    /// Returns the first moment with the highest reserved bytes, and these bytes.
    pub fn reserved_peak(&self) -> (u32, u64) {
        point(self.reserved.max())
    }

    /// Returns true if events have times; without them the time axis is the event axis.
    pub fn has_times(&self) -> bool {
        self.clock.is_running()
    }

    /// Returns the microseconds between the first and the last event, `None` without times.
    pub fn duration_us(&self) -> Option<u64> {
        self.has_times().then(|| self.clock.end_us().unsigned_abs())
    }

    /// Returns `axis`, or the event axis if the events have no times.
    pub fn effective_axis(&self, axis: Axis) -> Axis {
        if self.has_times() { axis } else { Axis::Events }
    }

    /// Returns the moment at a position of the axis, clipped to the trace.
    ///
    /// Of several moments at the same microsecond this is the last.
    pub fn moment_at_x(&self, device: &Device, axis: Axis, x: f64) -> u32 {
        match self.effective_axis(axis) {
            Axis::Events => (x.max(0.0) as u32).min(self.events),
            Axis::Time => self.moment_at_us(device, x.max(0.0) as i64),
        }
    }

    /// Returns the position on the axis at which a moment begins.
    ///
    /// For a moment after the last one this is the end of the axis.
    pub fn x_of_moment(&self, device: &Device, axis: Axis, moment: u32) -> f64 {
        match self.effective_axis(axis) {
            axis if moment > self.events => self.x_end(axis),
            Axis::Events => f64::from(moment),
            Axis::Time => self.clock.start_us(&device.events, moment) as f64,
        }
    }

    /// Returns the position on the axis at which the last moment ends; the axis begins at 0.
    ///
    /// The last moment has no end in time; it is drawn as one microsecond.
    pub fn x_end(&self, axis: Axis) -> f64 {
        match self.effective_axis(axis) {
            Axis::Events => f64::from(self.events) + 1.0,
            Axis::Time => self.clock.end_us() as f64 + 1.0,
        }
    }

    pub fn moment_at_us(&self, device: &Device, time_us: i64) -> u32 {
        self.clock.moment_at(&device.events, time_us)
    }

    /// Returns the number that determines the colour of an allocation; see [`Band::color`](super::Band::color).
    pub fn color(&self, device: &Device, id: AllocationId) -> u32 {
        let stack = self.allocations.allocation_stack(id, device);
        self.colors.color(stack, self.allocations.size_bytes[id.index()])
    }

    /// Returns the number that determines the colour in a colouring, never 0.
    pub fn color_in(&self, coloring: Coloring<'_>, device: &Device, id: AllocationId) -> u32 {
        match coloring {
            Coloring::Stack => self.color(device, id),
            Coloring::Category(categories) => categories[id.index()] as u32 + 1,
        }
    }
}

fn point(peak: Peak) -> (u32, u64) {
    (peak.moment, unsigned(peak.bytes))
}

/// Replaces negative bytes by 0; winding back yields them if a part of the history is missing from the file.
fn unsigned(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

/// What runs along the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Moments: the state at moment `m` (after event `m - 1`) covers `m..m + 1`.
    #[default]
    Events,
    /// Microseconds since the first event that has a time.
    Time,
}

crate::names!(Axis {
    Events => "events",
    Time => "time",
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::{self, Random};
    use crate::trace::text;

    #[test]
    fn curves_agree_with_the_obvious_ones() {
        for seed in 0..60 {
            let (trace, timeline) = naive::timed(naive::random_trace(seed, 10 * seed));
            let device = &trace.devices[0];
            let live = naive::live_bytes(&naive::lifetimes(device), timeline.events());
            let reserved = naive::reserved_bytes(device);
            let moments = || 0..=timeline.events();
            assert_eq!(moments().map(|moment| timeline.live_at(moment)).collect::<Vec<_>>(), live, "seed {seed}");
            assert_eq!(moments().map(|moment| timeline.reserved_at(moment)).collect::<Vec<_>>(), reserved);
            assert_eq!(timeline.live_peak(), first_max(&live, 0..live.len()));
            assert_eq!(timeline.reserved_peak().1, reserved.iter().copied().max().unwrap());
        }
    }

    #[test]
    fn segments_that_are_not_listed_are_those_of_the_events() {
        let (_, timeline) =
            naive::timed(text::parse("segment_alloc s 4096\nalloc a 512\nsegment_alloc t 8192\n").unwrap());
        assert_eq!((0..=3).map(|moment| timeline.reserved_at(moment)).collect::<Vec<_>>(), [0, 4096, 4096, 12_288]);
    }

    #[test]
    fn range_maxima_agree_with_the_obvious_ones() {
        // Long enough for three levels of the pyramid.
        let (_, timeline) = naive::timed(naive::random_trace(7, 40_000));
        let live: Vec<_> = (0..=timeline.events()).map(|moment| timeline.live_at(moment)).collect();
        let mut random = Random::new(1);
        for _ in 0..5000 {
            let start = random.below(live.len() as u64);
            let bits = random.below(17);
            let length = 1 + random.below(1 << bits);
            let end = (start + length).min(live.len() as u64);
            let expected = first_max(&live, start as usize..end as usize);
            assert_eq!(timeline.live_max_in(start as u32..end as u32), expected, "{start}..{end}");
        }
    }

    fn first_max(curve: &[u64], moments: Range<usize>) -> (u32, u64) {
        let bytes = curve[moments.clone()].iter().copied().max().unwrap();
        let moment = moments.clone().find(|&moment| curve[moment] == bytes).unwrap();
        (moment as u32, bytes)
    }

    #[test]
    fn a_hit_is_what_the_stack_has_there() {
        for seed in 0..40 {
            let (trace, timeline) = naive::timed(naive::random_trace(seed, 200));
            let device = &trace.devices[0];
            let mut random = Random::new(seed);
            for _ in 0..100 {
                let moment = random.below(u64::from(timeline.events()) + 1) as u32;
                let mut below_bytes = 0;
                for (allocation, row) in naive::stack(&timeline.allocations, device, moment) {
                    let hit = Some(Hit { allocation, below_bytes, moment });
                    assert_eq!(timeline.hit(moment, below_bytes), hit, "seed {seed}");
                    assert_eq!(timeline.hit(moment, below_bytes + row.size_bytes - 1), hit, "seed {seed}");
                    below_bytes += row.size_bytes;
                }
                assert_eq!(timeline.hit(moment, below_bytes), None);
            }
        }
    }

    #[test]
    fn axes_are_inverse() {
        let (trace, timeline) = naive::timed(naive::random_trace(3, 500));
        let device = &trace.devices[0];
        for moment in 0..=timeline.events() {
            let x = timeline.x_of_moment(device, Axis::Events, moment);
            assert_eq!(timeline.moment_at_x(device, Axis::Events, x), moment);
            let x = timeline.x_of_moment(device, Axis::Time, moment);
            let there = timeline.moment_at_x(device, Axis::Time, x);
            assert!(there >= moment && timeline.x_of_moment(device, Axis::Time, there) == x, "{moment}");
            assert!(x < timeline.x_end(Axis::Time));
        }
        let after = timeline.events() + 1;
        assert_eq!(timeline.x_of_moment(device, Axis::Time, after), timeline.x_end(Axis::Time));
        assert_eq!(timeline.moment_at_x(device, Axis::Events, 1e300), timeline.events());
    }
}

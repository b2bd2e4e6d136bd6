//! Everything that the timeline of one device is drawn from.

use super::changes::SegmentChanges;
use super::clock::Clock;
use super::colors::{Coloring, StackColors};
use super::curve::{Changes as _, Curve, Peak};
use super::{AllocationId, Allocations, Axis, Picture, PictureRequest, picture};
use crate::trace::{Device, Trace};
use std::ops::Range;
use std::sync::OnceLock;

/// Lifetimes and curves of one device.
///
/// Event columns stay with the [`Device`]; methods that need them take the device that the timeline was built from.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The lifetimes.
    pub allocations: Allocations,
    events: u32,
    live: Curve,
    reserved: Curve,
    segment_changes: SegmentChanges,
    clock: Clock,
    colors: StackColors,
    pub(super) seams: picture::Seams,
    /// Found out when somebody prepares an axis.
    seen: [OnceLock<picture::Seen>; 2],
}

/// What lies under a point of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The allocation there.
    pub allocation: AllocationId,
    /// Bytes below it in the stack at that moment.
    pub below_bytes: u64,
    /// The moment.
    pub moment: u32,
}

/// Live and reserved bytes at a moment, for whoever goes over all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Balance {
    moment: u32,
    live: i64,
    reserved: i64,
    pub(super) live_bytes: u64,
    pub(super) reserved_bytes: u64,
}

impl Timeline {
    /// Pairs lifetimes and builds the curves of a device of the trace.
    ///
    /// # Panics
    /// If the device has 2^32 - 1 events or more.
    pub fn new(trace: &Trace, device: &Device) -> Self {
        let allocations = Allocations::pair(device);
        let events = device.events.len() as u32;
        let segment_changes = SegmentChanges::of(device);
        let live = Curve::new(&allocations, events);
        Self {
            events,
            seams: picture::Seams::of(&allocations, point(live.max()).1),
            live,
            reserved: Curve::new(&segment_changes, events),
            clock: Clock::new(&device.events),
            colors: StackColors::of(trace),
            allocations,
            segment_changes,
            seen: Default::default(),
        }
    }

    /// The number of events; moments run from 0 to this number.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// What a part of the timeline shows.
    ///
    /// It is empty for a request without extent or beyond the trace.
    pub fn picture(&self, device: &Device, request: &PictureRequest) -> Picture {
        self.picture_colored(device, request, Coloring::Stack)
    }

    /// What a part of the timeline shows, with colours that tell something else than stacks.
    ///
    /// # Panics
    /// If `coloring` has categories of another timeline, which may be fewer.
    pub fn picture_colored(&self, device: &Device, request: &PictureRequest, coloring: Coloring<'_>) -> Picture {
        picture::picture(self, device, request, coloring)
    }

    /// Finds out what makes pictures of long parts of an axis cheap: whom they can pass over.
    ///
    /// They are the same without it. It takes about as long as a first picture of the whole trace, and is done once.
    pub fn prepare(&self, device: &Device, axis: Axis) {
        let axis = self.effective_axis(axis);
        self.seen[axis as usize].get_or_init(|| match axis {
            Axis::Events => picture::Seen::new(&self.allocations, 0..u64::from(self.events) + 1),
            Axis::Time => picture::Seen::new(&self.allocations, self.clock.starts_us(&device.events)),
        });
    }

    /// Who is seen on an axis, if it was prepared.
    pub(super) fn seen(&self, axis: Axis) -> Option<&picture::Seen> {
        self.seen[self.effective_axis(axis) as usize].get()
    }

    /// The allocation at a height of the stack at a moment, those from before the trace included.
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

    /// Live bytes at a moment, at the last one if `moment` is later.
    pub fn live_at(&self, moment: u32) -> u64 {
        unsigned(self.live.value_at(&self.allocations, moment))
    }

    /// Reserved bytes at a moment, at the last one if `moment` is later.
    pub fn reserved_at(&self, moment: u32) -> u64 {
        unsigned(self.reserved.value_at(&self.segment_changes, moment))
    }

    /// The state before the first event.
    pub(super) fn balance(&self) -> Balance {
        let (live, reserved) = (self.allocations.initial_bytes(), self.segment_changes.initial_bytes());
        Balance { moment: 0, live, reserved, live_bytes: unsigned(live), reserved_bytes: unsigned(reserved) }
    }

    /// Goes on to a moment, and visits each state after live bytes have changed.
    pub(super) fn walk(&self, balance: &mut Balance, until: u32, mut visit: impl FnMut(&Balance)) {
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

    /// The first moment of a range with its highest live bytes, and these.
    ///
    /// The range is cut to the trace and has at least its first moment.
    pub fn live_max_in(&self, moments: Range<u32>) -> (u32, u64) {
        point(self.live.max_in(&self.allocations, moments))
    }

    /// The first moment of a range with its highest reserved bytes, and these; see [`live_max_in`](Self::live_max_in).
    pub fn reserved_max_in(&self, moments: Range<u32>) -> (u32, u64) {
        point(self.reserved.max_in(&self.segment_changes, moments))
    }

    /// The peak: the first moment with the highest live bytes, and these.
    pub fn live_peak(&self) -> (u32, u64) {
        point(self.live.max())
    }

    /// The first moment with the highest reserved bytes, and these.
    pub fn reserved_peak(&self) -> (u32, u64) {
        point(self.reserved.max())
    }

    /// Whether events have times; without them the time axis is the event axis.
    pub fn has_times(&self) -> bool {
        self.clock.is_running()
    }

    /// Microseconds between the first and the last event, `None` without times.
    pub fn duration_us(&self) -> Option<u64> {
        self.has_times().then(|| self.clock.end_us().unsigned_abs())
    }

    /// The axis that a request for `axis` is answered on.
    pub fn effective_axis(&self, axis: Axis) -> Axis {
        if self.has_times() { axis } else { Axis::Events }
    }

    /// The moment at a position of the axis, cut to the trace.
    ///
    /// Of several moments at the same microsecond it is the last.
    pub fn moment_at_x(&self, device: &Device, axis: Axis, x: f64) -> u32 {
        match self.effective_axis(axis) {
            Axis::Events => (x.max(0.0) as u32).min(self.events),
            Axis::Time => self.moment_at_us(device, x.max(0.0) as i64),
        }
    }

    /// The moment that a picture shows at a position of its axis, where a pixel is `units_per_px` of it wide.
    ///
    /// A picture draws many moments as the highest of them; a hit under the pointer should be of that one.
    pub fn moment_shown_at(&self, device: &Device, axis: Axis, x: f64, units_per_px: f64) -> u32 {
        picture::moment_shown_at(self, device, axis, x, units_per_px)
    }

    /// Where a moment begins on the axis; for a moment after the last one where that ends.
    pub fn x_of_moment(&self, device: &Device, axis: Axis, moment: u32) -> f64 {
        match self.effective_axis(axis) {
            axis if moment > self.events => self.x_end(axis),
            Axis::Events => f64::from(moment),
            Axis::Time => self.clock.start_us(&device.events, moment) as f64,
        }
    }

    /// Where the last moment ends on the axis, which begins at 0.
    ///
    /// The last moment has no end in time; it is drawn for a microsecond.
    pub fn x_end(&self, axis: Axis) -> f64 {
        match self.effective_axis(axis) {
            Axis::Events => f64::from(self.events) + 1.0,
            Axis::Time => self.clock.end_us() as f64 + 1.0,
        }
    }

    pub(super) fn moment_at_us(&self, device: &Device, time_us: i64) -> u32 {
        self.clock.moment_at(&device.events, time_us)
    }

    /// A number to choose the colour of an allocation by, see [`Band::color`](super::Band::color).
    pub fn color(&self, device: &Device, id: AllocationId) -> u32 {
        let stack = self.allocations.allocation_stack(id, device);
        self.colors.color(stack, self.allocations.size_bytes[id.index()])
    }
}

fn point(peak: Peak) -> (u32, u64) {
    (peak.moment, unsigned(peak.bytes))
}

/// Where winding back goes below zero, a part of the history is missing from the file.
fn unsigned(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::naive::{self, Random};
    use super::*;

    #[test]
    fn curves_agree_with_the_obvious_ones() {
        for seed in 0..60 {
            let trace = naive::random_trace(seed, 10 * seed);
            let device = &trace.devices[0];
            let timeline = Timeline::new(&trace, device);
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
    fn range_maxima_agree_with_the_obvious_ones() {
        // Long enough for three levels of the pyramid.
        let trace = naive::random_trace(7, 40_000);
        let timeline = Timeline::new(&trace, &trace.devices[0]);
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
            let trace = naive::random_trace(seed, 200);
            let device = &trace.devices[0];
            let timeline = Timeline::new(&trace, device);
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
        let trace = naive::random_trace(3, 500);
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
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

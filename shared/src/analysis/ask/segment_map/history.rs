//! Returns the segments of every moment of a trace, in any order of moments.
//!
//! Idea: the state is kept at some moments, and any moment is reached from a kept one: segments from the next later
//! one, live allocations from the last earlier one.
//! A state is kept after as many changes as it has rows, and after at least [`LEAST_CHANGES`].
//!
//! ```text
//! changes     ··················│······················│····················│·····
//! kept        0 rows            20 rows                22 rows              19 rows
//! ```
//!
//! Cost: apart from the first and the last one, all kept states together have no more rows than the trace has changes,
//! so that memory is bounded by the trace: 4 bytes per birth or death, and at most 56 per segment event.
//! A moment is reached over fewer changes than the result has rows, or fewer than [`LEAST_CHANGES`] if that is more.
//! A persistent tree would cost several words per change, and a search for each row of the result.

use super::at::SegmentMap;
use super::waits::Lasting;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::segments_at::{SegmentAt, Winder, changes_of};
use crate::trace::{Device, Trace};

const LEAST_CHANGES: usize = 1024;

/// Segments and live allocations at moments that are not too far apart.
///
/// Methods that need the columns of events take the trace, device and lifetimes that it was built from.
#[derive(Clone, Debug)]
pub struct SegmentHistory {
    lasting: Lasting,
    /// Indices of the segment events, ascending.
    changes: Vec<u32>,
    /// Numbers of changes, descending, each with the segments after that many changes.
    segments: Vec<(usize, Vec<SegmentAt>)>,
    /// Moments, ascending, each with its live allocations in no particular order.
    alive: Vec<(u32, Vec<AllocationId>)>,
}

impl SegmentHistory {
    /// Builds the history of a device; `allocations` are its lifetimes.
    pub fn new(trace: &Trace, device: &Device, allocations: &Allocations) -> Self {
        let changes = changes_of(device);
        Self {
            lasting: Lasting::of(trace, device, allocations, &changes),
            segments: kept_segments(trace, device, &changes),
            alive: kept_alive(allocations),
            changes,
        }
    }

    /// Returns the segments at a moment, or at the last one if it is later.
    pub fn at(&self, trace: &Trace, device: &Device, allocations: &Allocations, moment: u32) -> SegmentMap {
        let moment = moment.min(device.events.len() as u32);
        let segments = self.segments_at(trace, device, moment);
        let kept = self.alive.partition_point(|(kept, _)| *kept <= moment);
        let (before, kept) = self.alive[..kept].last().map_or((0, &[][..]), |(moment, ids)| (*moment, ids.as_slice()));
        let born = allocations.born_by(before)..allocations.born_by(moment);
        let ids = kept.iter().copied().chain(born.map(AllocationId));
        let alive = ids.filter(|&id| allocations.dies_after(id, moment));
        SegmentMap::of(&self.lasting, device, allocations, &segments, alive, moment)
    }

    /// Returns the last moment before `moment` that directly follows a segment event.
    pub fn change_before(&self, moment: u32) -> Option<u32> {
        let earlier = self.changes.partition_point(|&change| change + 1 < moment);
        self.changes[..earlier].last().map(|change| change + 1)
    }

    /// Returns the first moment after `moment` that directly follows a segment event.
    pub fn change_after(&self, moment: u32) -> Option<u32> {
        let up_to = self.changes.partition_point(|&change| change < moment);
        self.changes.get(up_to).map(|change| change + 1)
    }

    fn segments_at(&self, trace: &Trace, device: &Device, moment: u32) -> Vec<SegmentAt> {
        let wanted = self.changes.partition_point(|&change| change < moment);
        // The first kept state is the final one, so there is always one with `wanted` changes or more.
        let kept = self.segments.partition_point(|(kept, _)| *kept >= wanted) - 1;
        let (after, segments) = &self.segments[kept];
        let mut winder = Winder::resume(segments, self.lasting.limit);
        for &change in self.changes[wanted..*after].iter().rev() {
            winder.undo(trace, device.events.at(change as usize));
        }
        winder.segments()
    }
}

fn kept_segments(trace: &Trace, device: &Device, changes: &[u32]) -> Vec<(usize, Vec<SegmentAt>)> {
    let mut winder = Winder::of_end(device);
    let mut kept = vec![(changes.len(), winder.segments())];
    let mut since = 0;
    for (index, &change) in changes.iter().enumerate().rev() {
        winder.undo(trace, device.events.at(change as usize));
        since += 1;
        if since >= winder.count().max(LEAST_CHANGES) {
            kept.push((index, winder.segments()));
            since = 0;
        }
    }
    kept
}

fn kept_alive(allocations: &Allocations) -> Vec<(u32, Vec<AllocationId>)> {
    let mut alive = Alive::at_start(allocations);
    let mut kept = vec![(0, alive.ids.clone())];
    let mut since = 0;
    let mut births = allocations.births().peekable();
    let mut keep = |alive: &Alive, moment| {
        since += 1;
        if since >= alive.ids.len().max(LEAST_CHANGES) {
            kept.push((moment, alive.ids.clone()));
            since = 0;
        }
    };
    // An event is a birth or a death, never both.
    for (died, dead) in allocations.deaths() {
        while let Some((born, id)) = births.next_if(|birth| birth.0 < died) {
            alive.insert(id);
            keep(&alive, born);
        }
        alive.remove(dead);
        keep(&alive, died);
    }
    for (born, id) in births {
        alive.insert(id);
        keep(&alive, born);
    }
    kept
}

/// Set of allocations from which one is removed without a search.
struct Alive {
    ids: Vec<AllocationId>,
    /// Position of each allocation in `ids`, valid while it is there.
    places: Vec<u32>,
}

impl Alive {
    fn at_start(allocations: &Allocations) -> Self {
        let mut alive = Self { ids: Vec::new(), places: vec![0; allocations.len()] };
        allocations.alive_at(0).for_each(|(id, _)| alive.insert(id));
        alive
    }

    fn insert(&mut self, id: AllocationId) {
        self.places[id.index()] = self.ids.len() as u32;
        self.ids.push(id);
    }

    fn remove(&mut self, id: AllocationId) {
        let place = self.places[id.index()];
        self.ids.swap_remove(place as usize);
        if let Some(moved) = self.ids.get(place as usize) {
            self.places[moved.index()] = place;
        }
    }
}

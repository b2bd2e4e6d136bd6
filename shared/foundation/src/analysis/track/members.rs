//! Set of allocations, with the bytes that they hold at each moment.

use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::curve::{Curve, ListedChanges};
use crate::analysis::track::timeline::Timeline;
use crate::base::ShortSort;
use std::ops::Range;

/// Allocations of a timeline, with the curve of their bytes.
///
/// Cost: one bit per allocation of the timeline, and 20 bytes plus the curve per member; built in one pass over both.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// In the order of their births.
    ids: Vec<AllocationId>,
    bits: Vec<u64>,
    changes: ListedChanges,
    curve: Curve,
}

impl Members {
    /// Creates the set of these allocations, which must be in the order of their births.
    ///
    /// # Panics
    /// Panics if an allocation belongs to a larger timeline.
    pub fn new(timeline: &Timeline, ids: Vec<AllocationId>) -> Self {
        let allocations = &timeline.allocations;
        let mut bits = vec![0; allocations.len().div_ceil(64)];
        for id in &ids {
            bits[id.index() / 64] |= 1 << (id.index() % 64);
        }
        let changes = changes_of(allocations, &ids);
        let curve = Curve::new(&changes, timeline.events());
        Self { ids, bits, changes, curve }
    }

    /// Returns the members in the order of their births.
    pub fn ids(&self) -> &[AllocationId] {
        &self.ids
    }

    pub fn contains(&self, id: AllocationId) -> bool {
        self.bits.get(id.index() / 64).is_some_and(|bits| bits & 1 << (id.index() % 64) != 0)
    }

    /// Returns the bytes of the members that are alive at a moment.
    pub fn bytes_at(&self, moment: u32) -> u64 {
        u64::try_from(self.curve.value_at(&self.changes, moment)).unwrap_or(0)
    }

    /// Returns the first moment of a range with the highest bytes of the members, and these bytes.
    ///
    /// The range is clipped to the trace and has at least one moment.
    pub fn max_in(&self, moments: Range<u32>) -> (u32, u64) {
        let peak = self.curve.max_in(&self.changes, moments);
        (peak.moment, u64::try_from(peak.bytes).unwrap_or(0))
    }
}

/// Returns the births and deaths of members.
fn changes_of(allocations: &Allocations, ids: &[AllocationId]) -> ListedChanges {
    let size = |id: &AllocationId| allocations.size_bytes_of(*id) as i64;
    let mut changes: Vec<(u32, i64)> = Vec::with_capacity(2 * ids.len());
    let mut initial_bytes = 0_i64;
    for id in ids {
        match allocations.is_initial(*id) {
            true => initial_bytes = initial_bytes.wrapping_add(size(id)),
            false => changes.push((allocations.born_at(id.0), size(id))),
        }
        let died = allocations.died[id.index()];
        if died != u32::MAX {
            changes.push((died, -size(id)));
        }
    }
    changes.short_sort_by_key(|(moment, _)| *moment);
    ListedChanges { initial_bytes, changes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::{self, Random};

    #[test]
    fn bytes_are_those_of_the_members_alive() {
        for seed in 0..40 {
            let (_, timeline) = naive::timed(naive::random_trace(seed, 300));
            let mut random = Random::new(seed);
            let ids: Vec<_> = timeline.allocations.ids().filter(|_| random.below(3) == 0).collect();
            let members = Members::new(&timeline, ids.clone());
            assert!(timeline.allocations.ids().all(|id| members.contains(id) == ids.contains(&id)));
            let bytes_at = |moment: u32| {
                let alive = timeline.allocations.alive_at(moment).filter(|(id, _)| ids.contains(id));
                alive.map(|(_, size_bytes)| size_bytes).sum::<u64>()
            };
            let all: Vec<u64> = (0..=timeline.events()).map(bytes_at).collect();
            for (moment, &bytes) in all.iter().enumerate() {
                assert_eq!(members.bytes_at(moment as u32), bytes, "seed {seed}, moment {moment}");
            }
            let (start, end) = (random.below(200) as usize, 201 + random.below(90) as usize);
            let most = all[start.min(all.len() - 1)..end.min(all.len())].iter().max();
            assert_eq!(Some(&members.max_in(start as u32..end as u32).1), most, "seed {seed}");
        }
    }
}

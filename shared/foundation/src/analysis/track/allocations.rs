//! Stores the allocation lifetimes of a device, paired from its events and reconstructed from its final blocks.

use crate::analysis::track::endings::Endings;
use crate::base::handle;
use crate::trace::{Device, StackId};
use serde::{Deserialize, Serialize};
use std::ops::Range;

handle! {
    /// Handle to an allocation of the [`Allocations`] that issued it.
    ///
    /// The allocations from before the trace come first, then those of the trace in the order of their `alloc` events.
    pub struct AllocationId(pub) of "allocations"
}

/// Key of an allocation that is valid in every copy of a file: clean copies have the same events and blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AllocationKey {
    /// Allocation from before the trace, by its position among those.
    Initial(u32),
    /// Allocation of the trace, by the index of its `alloc` event.
    Event(u32),
}

/// Place where an allocation first appears in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Index of its `alloc` event.
    Event(usize),
    /// Index of the freeing event of an allocation from before the trace that is freed in it.
    UnmatchedFree(usize),
    /// Index in the block table of an allocation from before the trace that is alive at its end.
    Block(usize),
}

/// Lifetime, size and origin of an allocation.
///
/// A *moment* is a position between events: moment 0 is before the first event, moment `n` is after event `n - 1`.
/// An allocation is alive at the moments `born..died`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First moment at which it is alive, 0 if it is from before the trace.
    pub born: u32,
    /// First moment at which it is no longer alive; `u32::MAX` if it outlives the trace.
    pub died: u32,
    /// Requested size.
    pub size_bytes: u64,
    pub addr: u64,
    /// Stack of the allocation, or of the free if only that is known.
    pub stack: StackId,
    pub origin: Origin,
}

/// Births and deaths are counted at every 128th moment, so that a lookup by moment searches only 128 moments.
const RANK_BITS: u32 = 7;

/// All lifetimes of one device, as columns of 20 bytes per allocation.
///
/// The first rows are allocations from before the trace that outlive it; the largest is the bottom of the stack.
/// Allocations from before the trace that are freed in it follow, the last one freed first, so that at every moment the
/// survivors of the initial memory are a prefix of the table.
/// Methods panic if a handle belongs to another table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocations {
    /// Block indices of the allocations that are older than the trace and outlive it, which are the first rows.
    pub blocks: Vec<u32>,
    /// Number of rows that are older than the trace; they come first.
    pub initial: u32,
    /// Moments of birth of the rows from `initial` on, ascending.
    pub born: Vec<u32>,
    /// Moments of death of all rows.
    pub died: Vec<u32>,
    pub size_bytes: Vec<u64>,
    /// Rows that died, in the order of their deaths.
    pub deaths: Vec<u32>,
    /// Number of births and deaths at moments before `i << RANK_BITS`.
    pub ranks: Vec<(u32, u32)>,
    /// Index that finds the allocations that are alive at a moment.
    pub endings: Endings,
    /// Number of `alloc` events at an address that was still in use.
    pub superseded: u32,
}

impl Allocations {
    /// Fills the columns that the others determine.
    pub fn rank(&mut self, events: usize) {
        let count = (events >> RANK_BITS) + 2;
        let mut ranks = Vec::with_capacity(count);
        let (mut births, mut deaths) = (0, 0);
        for index in 0..count {
            let moment = (index as u64) << RANK_BITS;
            let earlier = |at: u32| u64::from(at) < moment;
            births += self.born[births..].iter().take_while(|&&born| earlier(born)).count();
            deaths += self.deaths[deaths..].iter().take_while(|&&row| earlier(self.died[row as usize])).count();
            ranks.push((births as u32, deaths as u32));
        }
        self.ranks = ranks;
        self.endings = Endings::of(&self.died);
    }

    pub fn len(&self) -> usize {
        self.died.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn initial_count(&self) -> usize {
        self.initial as usize
    }

    pub fn is_initial(&self, id: AllocationId) -> bool {
        id.0 < self.initial
    }

    pub fn key(&self, id: AllocationId) -> AllocationKey {
        match self.is_initial(id) {
            true => AllocationKey::Initial(id.0),
            false => AllocationKey::Event(self.born_at(id.0).saturating_sub(1)),
        }
    }

    /// Returns the number of events that end a lifetime whose `alloc` is not in the trace.
    pub fn unmatched_frees(&self) -> usize {
        self.initial_count() - self.blocks.len()
    }

    pub fn superseded(&self) -> usize {
        self.superseded as usize
    }

    /// Returns one row; `device` must be the one that was paired.
    pub fn get(&self, id: AllocationId, device: &Device) -> Allocation {
        let (born, died, size_bytes) = (self.born_at(id.0), self.died[id.index()], self.size_bytes[id.index()]);
        let origin = self.origin(id);
        let (addr, stack) = match origin {
            Origin::Event(event) => (device.events.addrs().at(event), device.events.stacks().at(event)),
            Origin::UnmatchedFree(event) => {
                let stack = earlier_stack(device, event).unwrap_or_else(|| device.events.stacks().at(event));
                (device.events.addrs().at(event), stack)
            }
            Origin::Block(block) => (device.segments.blocks[block].addr, device.segments.blocks[block].stack),
        };
        Allocation { born, died, size_bytes, addr, stack, origin }
    }

    pub fn size_bytes_of(&self, id: AllocationId) -> u64 {
        self.size_bytes[id.index()]
    }

    pub fn size_bytes(&self, id: AllocationId) -> u64 {
        self.size_bytes[id.index()]
    }

    pub fn origin(&self, id: AllocationId) -> Origin {
        match self.blocks.get(id.index()) {
            Some(&block) => Origin::Block(block as usize),
            None if self.is_initial(id) => Origin::UnmatchedFree(self.died[id.index()] as usize - 1),
            None => Origin::Event(self.born_at(id.0) as usize - 1),
        }
    }

    /// Returns the stack that allocated, or [`StackId::NONE`] if only a free of the allocation is known.
    pub fn allocation_stack(&self, id: AllocationId, device: &Device) -> StackId {
        match self.origin(id) {
            Origin::Event(event) => device.events.stacks().at(event),
            Origin::Block(block) => device.segments.blocks[block].stack,
            Origin::UnmatchedFree(event) => earlier_stack(device, event).unwrap_or(StackId::NONE),
        }
    }

    /// Returns the allocation whose lifetime begins or ends at an event.
    pub fn of_event(&self, event: usize) -> Option<AllocationId> {
        let moment = u32::try_from(event).ok()?.checked_add(1)?;
        if let Ok(row) = self.born.binary_search(&moment) {
            return Some(AllocationId(self.initial + row as u32));
        }
        let death = self.deaths.binary_search_by_key(&moment, |&row| self.died[row as usize]);
        death.ok().map(|death| AllocationId(self.deaths[death]))
    }

    /// Iterates over all handles in the order of the stack, from the bottom.
    pub fn ids(&self) -> impl Iterator<Item = AllocationId> + use<> {
        (0..self.died.len() as u32).map(AllocationId)
    }

    /// Iterates over the allocations alive at a moment and their sizes in bytes, from the bottom of the stack.
    pub fn alive_at(&self, moment: u32) -> impl Iterator<Item = (AllocationId, u64)> + '_ {
        self.rows_alive_at(moment).map(|row| (AllocationId(row as u32), self.size_bytes[row]))
    }

    /// Iterates over the rows that are alive at a moment, ascending.
    pub fn rows_alive_at(&self, moment: u32) -> impl Iterator<Item = usize> + '_ {
        self.endings.after(&self.died, moment, self.born_by(moment) as usize)
    }

    /// Iterates over the births within the trace, ordered by moment.
    pub fn births(&self) -> impl Iterator<Item = (u32, AllocationId)> + '_ {
        (self.initial..).zip(&self.born).map(|(row, &born)| (born, AllocationId(row)))
    }

    /// Iterates over the deaths, ordered by moment.
    pub fn deaths(&self) -> impl Iterator<Item = (u32, AllocationId)> + '_ {
        self.deaths.iter().map(|&row| (self.died[row as usize], AllocationId(row)))
    }

    /// Returns true if an allocation is still alive at a moment, provided that it was born by then.
    pub fn dies_after(&self, id: AllocationId, moment: u32) -> bool {
        self.died[id.index()] > moment
    }

    pub fn born_at(&self, row: u32) -> u32 {
        row.checked_sub(self.initial).map_or(0, |row| self.born[row as usize])
    }

    /// Returns the number of rows that are born at `moment` or earlier; they come first.
    pub fn born_by(&self, moment: u32) -> u32 {
        let window = self.window(moment, |rank| rank.0);
        let before = self.born[window.clone()].partition_point(|&born| born <= moment);
        self.initial + (window.start + before) as u32
    }

    /// Returns the number of deaths at `moment` or earlier; they come first in `deaths`.
    pub fn died_by(&self, moment: u32) -> usize {
        let window = self.window(moment, |rank| rank.1);
        window.start + self.deaths[window].partition_point(|&row| self.died[row as usize] <= moment)
    }

    fn window(&self, moment: u32, part: impl Fn(&(u32, u32)) -> u32) -> Range<usize> {
        let index = (moment >> RANK_BITS) as usize;
        let all = self.ranks.last().map_or(0, &part);
        let at = |index: usize| self.ranks.get(index).map_or(all, &part) as usize;
        at(index)..at(index + 1)
    }
}

/// Returns the stack of an allocation from before a part that an event frees, if its `alloc` is known.
fn earlier_stack(device: &Device, event: usize) -> Option<StackId> {
    device.part.as_deref()?.freed_by(event).map(|earlier| earlier.stack)
}

/// Lifetime of an allocation with its size and stack.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    pub born: u32,
    pub died: u32,
    pub bytes: u64,
    /// Stack that allocated it, [`StackId::NONE`] if unknown.
    pub stack: StackId,
}

impl Lifetime {
    pub fn of(allocations: &Allocations, device: &Device, id: AllocationId) -> Self {
        Self {
            born: allocations.born_at(id.0),
            died: allocations.died[id.index()],
            bytes: allocations.size_bytes[id.index()],
            stack: allocations.allocation_stack(id, device),
        }
    }

    pub fn is_alive_at(self, moment: u32) -> bool {
        self.born <= moment && moment < self.died
    }
}

/// Returns the first moment, no later than `until`, at which most bytes are alive, and these bytes.
///
/// Both are 0 if there are no lifetimes.
pub fn most_together(lifetimes: &[Lifetime], until: u32) -> (u32, u64) {
    let changes = |lifetime: &Lifetime| {
        let bytes = lifetime.bytes as i64;
        [(lifetime.born, bytes), (lifetime.died, -bytes)]
    };
    let mut changes: Vec<(u32, i64)> =
        lifetimes.iter().flat_map(changes).filter(|&(moment, _)| moment <= until).collect();
    changes.sort_unstable();
    let (mut sum, mut best) = (0, (0, 0));
    for (moment, bytes) in changes {
        sum += bytes;
        if sum > best.1 {
            best = (moment, sum);
        }
    }
    (best.0, best.1 as u64)
}

#[cfg(test)]
mod tests {
    use super::{Lifetime, most_together};
    use crate::trace::StackId;

    #[test]
    fn the_first_of_the_highest_moments_counts() {
        let lifetime = |(born, died, bytes)| Lifetime { born, died, bytes, stack: StackId::NONE };
        let check = |rows: &[(u32, u32, u64)], until: u32, expected: (u32, u64)| {
            let lifetimes: Vec<Lifetime> = rows.iter().copied().map(lifetime).collect();
            assert_eq!(most_together(&lifetimes, until), expected);
        };
        check(&[], 9, (0, 0));
        check(&[(1, 3, 5), (2, 4, 5), (4, 6, 10)], 9, (2, 10));
        check(&[(1, 3, 5), (3, 5, 7)], 9, (3, 7));
        check(&[(1, 3, 5), (3, 5, 7)], 2, (1, 5));
    }
}

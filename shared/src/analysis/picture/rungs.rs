//! The stack at one moment, as a ladder of the allocations that are large enough to be seen.

use super::BandOwner;
use super::bands::{Bands, Open};
use super::heights::Heights;
use crate::analysis::AllocationId;

const NONE: u32 = u32::MAX;

/// A large allocation and, above it up to the next one, the sum of the small ones.
///
/// The first rung is the initial memory.
#[derive(Clone, Copy, Debug)]
struct Rung {
    row: u32,
    color: u32,
    size_bytes: u64,
    /// The small allocations between this rung and the next.
    gap_bytes: u64,
    /// The next living rung, [`NONE`] for the top.
    above: u32,
    /// The living rung below; of a dead rung one that was below when it died.
    below: u32,
    alive: bool,
    band: Open,
    gap: Open,
}

/// The rungs in the order of the stack, the dead ones included, so that any allocation's place is found by its row.
///
/// A dead rung's small allocations belong to the nearest living one below, which is found along `below`
/// (a union-find with path halving).
/// Only rungs in view are drawn: what lies below them is a sum, what lies above is never looked at.
#[derive(Debug)]
pub(super) struct Rungs {
    rungs: Vec<Rung>,
    /// The height of each rung with its gap; 0 for dead ones.
    heights: Heights,
    top: u32,
    /// Living rungs below this one lie where they were drawn last; [`NONE`] if all do.
    lowest_change: u32,
    /// Living rungs below the first and above the second of these have nothing open.
    drawn: (u32, u32),
}

impl Rungs {
    /// A ladder with nothing on it but the rung of the initial memory.
    pub(super) fn new() -> Self {
        let (rungs, heights) = (Vec::new(), Heights::new());
        let mut ladder = Self { rungs, heights, top: NONE, lowest_change: NONE, drawn: (0, 0) };
        ladder.push(0, 0, 0);
        ladder
    }

    /// Adds to the initial memory.
    pub(super) fn grow_initial(&mut self, size_bytes: u64) {
        self.rungs[0].size_bytes += size_bytes;
        self.heights.add(0, size_bytes);
        self.touch(0);
    }

    /// Takes from the initial memory.
    pub(super) fn shrink_initial(&mut self, size_bytes: u64) {
        self.rungs[0].size_bytes -= size_bytes;
        self.heights.subtract(0, size_bytes);
        self.touch(0);
    }

    /// Puts a large allocation on top.
    pub(super) fn push(&mut self, row: u32, size_bytes: u64, color: u32) {
        let index = self.rungs.len() as u32;
        let below = std::mem::replace(&mut self.top, index);
        if let Some(below) = self.rungs.get_mut(below as usize) {
            below.above = index;
        }
        let (band, gap) = (Open::NOTHING, Open::NOTHING);
        let rung = Rung { row, color, size_bytes, gap_bytes: 0, above: NONE, below, alive: true, band, gap };
        self.rungs.push(rung);
        self.heights.push(size_bytes);
        self.touch(index);
    }

    /// Adds a small allocation on top.
    pub(super) fn push_small(&mut self, size_bytes: u64) {
        self.rungs[self.top as usize].gap_bytes += size_bytes;
        self.heights.add(self.top, size_bytes);
        self.touch(self.top);
    }

    /// Takes a small allocation away.
    pub(super) fn remove_small(&mut self, row: u32, size_bytes: u64) {
        let place = self.living(self.rungs[1..].partition_point(|rung| rung.row < row) as u32);
        self.rungs[place as usize].gap_bytes -= size_bytes;
        self.heights.subtract(place, size_bytes);
        self.touch(place);
    }

    /// Takes a large allocation away; its bands end at the left edge of `slice`.
    pub(super) fn remove(&mut self, row: u32, slice: u32, bands: &mut Bands<'_>) {
        let index = 1 + self.rungs[1..].partition_point(|rung| rung.row < row);
        debug_assert_eq!(self.rungs[index].row, row, "a large allocation has a rung");
        let Rung { above, below, size_bytes, gap_bytes, .. } = self.rungs[index];
        self.close(index as u32, slice, bands);
        self.rungs[index].alive = false;
        self.rungs[below as usize].above = above;
        self.rungs[below as usize].gap_bytes += gap_bytes;
        self.heights.subtract(index as u32, size_bytes + gap_bytes);
        self.heights.add(below, gap_bytes);
        match self.rungs.get_mut(above as usize) {
            Some(rung) => rung.below = below,
            None => self.top = below,
        }
        if self.drawn.0 == index as u32 {
            self.drawn.0 = below;
        }
        self.touch(below);
    }

    /// Draws what has changed in view since the last time, from `slice` on.
    pub(super) fn draw(&mut self, slice: u32, bands: &mut Bands<'_>) {
        let lowest_change = std::mem::replace(&mut self.lowest_change, NONE);
        if lowest_change == NONE {
            return;
        }
        let lowest_in_view = self.heights.place_at(bands.lowest_bytes()).unwrap_or(self.top);
        self.close_between(self.drawn.0, lowest_in_view, slice, bands);
        let mut index = lowest_in_view.max(lowest_change);
        let mut bytes = self.heights.below(index);
        let above = loop {
            let rung = &mut self.rungs[index as usize];
            let (bottom, middle, top) = (bytes, bytes + rung.size_bytes, bytes + rung.size_bytes + rung.gap_bytes);
            bands.replace(&mut rung.band, Open::new(slice, bottom, middle), owner(index, rung.row), rung.color);
            bands.replace(&mut rung.gap, Open::new(slice, middle, top), BandOwner::Merged, 0);
            bytes = top;
            if rung.above == NONE || bands.is_above_view(top) {
                break rung.above;
            }
            index = rung.above;
        };
        self.close_between(above, self.drawn.1.saturating_add(1), slice, bands);
        self.drawn = (lowest_in_view, index);
    }

    /// Ends all bands at the left edge of `slice`.
    pub(super) fn finish(mut self, slice: u32, bands: &mut Bands<'_>) {
        self.close_between(self.drawn.0, self.drawn.1 + 1, slice, bands);
    }

    /// Closes living rungs from `index`, which is one of them or [`NONE`], to below `end`.
    fn close_between(&mut self, mut index: u32, end: u32, slice: u32, bands: &mut Bands<'_>) {
        while index < end && index != NONE {
            self.close(index, slice, bands);
            index = self.rungs[index as usize].above;
        }
    }

    fn close(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) {
        let rung = &mut self.rungs[index as usize];
        let nothing = Open::new(slice, 0, 0);
        bands.replace(&mut rung.band, nothing, owner(index, rung.row), rung.color);
        bands.replace(&mut rung.gap, nothing, BandOwner::Merged, 0);
    }

    fn touch(&mut self, index: u32) {
        self.lowest_change = self.lowest_change.min(index);
    }

    /// The nearest living rung at `index` or below.
    fn living(&mut self, mut index: u32) -> u32 {
        while !self.rungs[index as usize].alive {
            let below = self.rungs[index as usize].below;
            if !self.rungs[below as usize].alive {
                self.rungs[index as usize].below = self.rungs[below as usize].below;
            }
            index = below;
        }
        index
    }
}

fn owner(index: u32, row: u32) -> BandOwner {
    if index == 0 { BandOwner::Initial } else { BandOwner::Allocation(AllocationId(row)) }
}

//! The stack at one moment, as a ladder of the allocations that are large enough to be seen.

use super::BandOwner;
use super::bands::{Bands, Open};
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
    bottom: u64,
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
#[derive(Debug)]
pub(super) struct Rungs {
    rungs: Vec<Rung>,
    top: u32,
    /// Living rungs below this one lie where they were drawn last; [`NONE`] if all do.
    lowest_change: u32,
    /// Living rungs above this one have nothing open.
    highest_drawn: u32,
}

impl Rungs {
    /// A ladder with nothing on it but the rung of the initial memory.
    pub(super) fn new() -> Self {
        let mut ladder = Self { rungs: Vec::new(), top: NONE, lowest_change: NONE, highest_drawn: 0 };
        ladder.push(0, 0, 0);
        ladder
    }

    /// Grows or shrinks the initial memory.
    pub(super) fn resize_initial(&mut self, change: impl FnOnce(&mut u64)) {
        change(&mut self.rungs[0].size_bytes);
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
        let rung = Rung { row, color, size_bytes, gap_bytes: 0, bottom: 0, above: NONE, below, alive: true, band, gap };
        self.rungs.push(rung);
        // The rung below knows where this one begins.
        self.touch(if below == NONE { index } else { below });
    }

    /// Adds a small allocation on top.
    pub(super) fn push_small(&mut self, size_bytes: u64) {
        self.rungs[self.top as usize].gap_bytes += size_bytes;
        self.touch(self.top);
    }

    /// Takes a small allocation away.
    pub(super) fn remove_small(&mut self, row: u32, size_bytes: u64) {
        let place = self.living(self.rungs[1..].partition_point(|rung| rung.row < row) as u32);
        self.rungs[place as usize].gap_bytes -= size_bytes;
        self.touch(place);
    }

    /// Takes a large allocation away; its bands end at the left edge of `slice`.
    pub(super) fn remove(&mut self, row: u32, slice: u32, bands: &mut Bands<'_>) {
        let index = 1 + self.rungs[1..].partition_point(|rung| rung.row < row);
        debug_assert_eq!(self.rungs[index].row, row, "a large allocation has a rung");
        let Rung { above, below, gap_bytes, .. } = self.rungs[index];
        self.close(index as u32, slice, bands);
        self.rungs[index].alive = false;
        self.rungs[below as usize].above = above;
        self.rungs[below as usize].gap_bytes += gap_bytes;
        match self.rungs.get_mut(above as usize) {
            Some(rung) => rung.below = below,
            None => self.top = below,
        }
        self.touch(below);
    }

    /// Draws what has changed since the last time, from `slice` on, up to the height `visible_bytes`.
    pub(super) fn draw(&mut self, slice: u32, bands: &mut Bands<'_>) {
        let mut index = self.lowest_change;
        if index == NONE {
            return;
        }
        let mut bytes = self.rungs[index as usize].bottom;
        let above = loop {
            let rung = &mut self.rungs[index as usize];
            let (bottom, middle, top) = (bytes, bytes + rung.size_bytes, bytes + rung.size_bytes + rung.gap_bytes);
            rung.bottom = bottom;
            bands.replace(&mut rung.band, Open::new(slice, bottom, middle), owner(index, rung.row), rung.color);
            bands.replace(&mut rung.gap, Open::new(slice, middle, top), BandOwner::Merged, 0);
            bytes = top;
            if rung.above == NONE || bands.is_above_view(top) {
                break rung.above;
            }
            index = rung.above;
        };
        self.close_from(above, slice, bands);
        self.highest_drawn = index;
        self.lowest_change = above;
        if let Some(rung) = self.rungs.get_mut(above as usize) {
            rung.bottom = bytes;
        }
    }

    /// Ends all bands at the left edge of `slice`.
    pub(super) fn finish(mut self, slice: u32, bands: &mut Bands<'_>) {
        self.close_from(0, slice, bands);
    }

    /// Closes living rungs from `index` up to the highest drawn one.
    fn close_from(&mut self, mut index: u32, slice: u32, bands: &mut Bands<'_>) {
        while index != NONE && index <= self.highest_drawn {
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

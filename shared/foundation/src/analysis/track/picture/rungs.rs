//! Keeps the stack at one moment as a ladder of large allocations and groups of small ones.
//!
//! Idea: every rung keeps its position among all rungs of the picture, dead or alive, so that any allocation finds its
//! rung by its row.
//! A group grows while it is the top of the stack, and only shrinks afterwards.
//! Neighbouring groups that have shrunk to [`Scale::join_bytes`] or less together become one rung, in the colour of the
//! taller one.
//! So any two neighbours together are at least as tall as a large allocation, and at most 1.6 rungs per pixel are in
//! view.
//! The joined groups may depend on the left edge of the view, because the sweep knows nothing from before it.
//!
//! ```text
//! groups of up to 4 bytes, joined up to 2       (a a a a) (b b b b) [large] (c c c)
//! one a and two b remain                        (a) (b b) [large] (c c c)
//! one b is freed                                (a b) [large] (c c c)        colour of a, the lower of equals
//! the large one is freed                        (a b) (c c c)                5 bytes don't join
//! ```

use super::bands::{Band, BandOwner, Bands, Open, Scale, Tally, Tint};
use super::heights::Heights;
use crate::analysis::track::allocations::AllocationId;

const NONE: u32 = u32::MAX;

/// Initial memory, a large allocation, or a group of small ones.
#[derive(Clone, Copy, Debug)]
struct Rung {
    /// Row of the allocation, or of the group's first one.
    row: u32,
    owner: BandOwner,
    bytes: u64,
    /// Colour; that of a group is known only after it has stopped growing.
    color: Tint,
    /// Index of the rung whose colour this one has.
    tint: u32,
    /// Next living rung above; [`NONE`] for the top.
    above: u32,
    /// Living rung below; for a dead rung, one that was below when it died.
    below: u32,
    alive: bool,
    open: Open,
}

/// Rungs in the order of the stack, beginning with the initial memory.
///
/// The allocations of a joined group belong to the nearest living rung below, which is found along `below`
/// (a union-find with path halving).
/// Only rungs in view are drawn: those below the view enter as one sum, those above it are never visited.
#[derive(Debug)]
pub(super) struct Rungs {
    scale: Scale,
    rungs: Vec<Rung>,
    /// Bytes of each rung; 0 for dead ones.
    heights: Heights,
    top: u32,
    /// Group that small allocations are added to while it is the top; [`NONE`] if the next one begins a group.
    growing: u32,
    tally: Tally,
    /// Living rungs below this one are where they were last drawn; [`NONE`] if all are.
    lowest_change: u32,
    /// Living rungs below the first and above the second of these have no open band.
    drawn: (u32, u32),
}

impl Rungs {
    /// Creates a ladder with only the rung of the initial memory.
    pub(super) fn new(scale: Scale) -> Self {
        let (rungs, heights, tally) = (Vec::new(), Heights::new(), Tally::default());
        let (top, growing, lowest_change, drawn) = (NONE, NONE, NONE, (0, 0));
        let mut ladder = Self { scale, rungs, heights, top, growing, tally, lowest_change, drawn };
        ladder.append(0, BandOwner::Initial, 0, Tint::UNKNOWN);
        ladder
    }

    pub(super) fn grow_initial(&mut self, size_bytes: u64) {
        self.grow(0, size_bytes);
    }

    pub(super) fn shrink_initial(&mut self, size_bytes: u64) {
        self.shrink(0, size_bytes);
    }

    /// Puts a large allocation on top, from the left edge of `slice` on.
    pub(super) fn push(&mut self, row: u32, size_bytes: u64, color: Tint, slice: u32, bands: &mut Bands<'_>) {
        let below = self.top;
        self.append(row, BandOwner::Allocation(AllocationId(row)), size_bytes, color);
        self.settle(below, slice, bands);
    }

    /// Puts a small allocation on top, from the left edge of `slice` on.
    pub(super) fn push_small(&mut self, row: u32, size_bytes: u64, slice: u32, bands: &mut Bands<'_>) {
        if self.growing == self.top {
            self.grow(self.top, size_bytes);
        } else {
            self.end_group();
            let below = self.top;
            self.append(row, BandOwner::Merged, size_bytes, Tint::UNKNOWN);
            self.growing = self.top;
            self.settle(below, slice, bands);
        }
    }

    /// Counts the colour of the small allocation that was pushed last, weighted by its area in bytes times moments.
    pub(super) fn tint(&mut self, color: u32, area: u128, is_own: bool) {
        self.tally.add(color, area, is_own);
    }

    /// Gives the initial memory a colour, which it has only if some of it is selected.
    pub(super) fn tint_initial(&mut self, tint: Tint) {
        self.rungs[0].color = tint;
    }

    /// Returns true if the next small allocation may join a group.
    pub(super) fn is_growing(&self) -> bool {
        self.growing != NONE
    }

    /// Ends the growing group, so that the next small allocation begins another one.
    pub(super) fn end_group(&mut self) {
        if let Some(group) = self.rungs.get_mut(self.growing as usize) {
            group.color = self.tally.take();
            self.growing = NONE;
        }
    }

    /// Removes a small allocation, from the left edge of `slice` on.
    pub(super) fn remove_small(&mut self, row: u32, size_bytes: u64, slice: u32, bands: &mut Bands<'_>) {
        let index = self.living(self.last_rung(row));
        self.shrink(index, size_bytes);
        self.settle(index, slice, bands);
    }

    /// Removes a large allocation; its band ends at the left edge of `slice`.
    pub(super) fn remove(&mut self, row: u32, slice: u32, bands: &mut Bands<'_>) {
        let index = self.last_rung(row);
        debug_assert_eq!(self.rungs[index as usize].row, row, "a large allocation has a rung");
        self.unlink(index, slice, bands);
    }

    /// Draws the changes in view since the last call, from `slice` on.
    pub(super) fn draw(&mut self, slice: u32, bands: &mut Bands<'_>) {
        let lowest_change = std::mem::replace(&mut self.lowest_change, NONE);
        if lowest_change == NONE {
            return;
        }
        let lowest_in_view = self.heights.place_at(bands.lowest_bytes()).unwrap_or(self.top);
        self.close_between(self.drawn.0, lowest_in_view, slice, bands);
        let mut index = lowest_in_view.max(lowest_change);
        let mut bottom = self.heights.below(index);
        let above = loop {
            let rung = &mut self.rungs[index as usize];
            let top = bottom + rung.bytes;
            bands.replace(&mut rung.open, Open::new(slice, bottom, top), rung.owner, rung.tint);
            if rung.above == NONE || bands.is_above_view(top) {
                break rung.above;
            }
            (index, bottom) = (rung.above, top);
        };
        self.close_between(above, self.drawn.1.saturating_add(1), slice, bands);
        self.drawn = (lowest_in_view, index);
    }

    /// Ends all bands at the left edge of `slice` and gives the finished ones their colours.
    pub(super) fn finish(mut self, slice: u32, mut bands: Bands<'_>) -> Vec<Band> {
        self.close_between(self.drawn.0, self.drawn.1 + 1, slice, &mut bands);
        self.end_group();
        bands.tinted(|rung| self.rungs[rung as usize].color)
    }

    fn append(&mut self, row: u32, owner: BandOwner, bytes: u64, color: Tint) {
        let index = self.rungs.len() as u32;
        let below = std::mem::replace(&mut self.top, index);
        if let Some(below) = self.rungs.get_mut(below as usize) {
            below.above = index;
        }
        let (tint, above, open) = (index, NONE, Open::NOTHING);
        self.rungs.push(Rung { row, owner, bytes, color, tint, above, below, alive: true, open });
        self.heights.push(bytes);
        self.touch(index);
    }

    fn grow(&mut self, index: u32, bytes: u64) {
        self.rungs[index as usize].bytes += bytes;
        self.heights.add(index, bytes);
        self.touch(index);
    }

    fn shrink(&mut self, index: u32, bytes: u64) {
        self.rungs[index as usize].bytes -= bytes;
        self.heights.subtract(index, bytes);
        self.touch(index);
    }

    /// Joins a group that has stopped growing or has shrunk with its neighbours, if they are small enough together.
    fn settle(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) {
        let Rung { owner, bytes, below, .. } = self.rungs[index as usize];
        if owner != BandOwner::Merged || index == self.growing && index == self.top {
            return;
        }
        if bytes == 0 {
            self.unlink(index, slice, bands);
        } else if self.join_above(below, slice, bands) {
            self.join_above(below, slice, bands);
        } else {
            self.join_above(index, slice, bands);
        }
    }

    /// Joins a group with the one above if they are small enough together; returns true if it did.
    fn join_above(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) -> bool {
        let lower = self.rungs[index as usize];
        let Some(&upper) = self.rungs.get(lower.above as usize) else { return false };
        let is_growing = lower.above == self.top && self.top == self.growing;
        let are_groups = lower.owner == BandOwner::Merged && upper.owner == BandOwner::Merged;
        if is_growing || !are_groups || lower.bytes + upper.bytes > self.scale.join_bytes() {
            return false;
        }
        self.close(index, slice, bands);
        if upper.bytes > lower.bytes {
            self.rungs[index as usize].tint = upper.tint;
        }
        self.cut_out(lower.above, slice, bands);
        self.grow(index, upper.bytes);
        true
    }

    /// Removes a rung, which may make neighbours of two small groups.
    fn unlink(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) {
        let below = self.rungs[index as usize].below;
        self.cut_out(index, slice, bands);
        self.join_above(below, slice, bands);
    }

    fn cut_out(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) {
        self.close(index, slice, bands);
        let Rung { above, below, bytes, .. } = self.rungs[index as usize];
        self.rungs[index as usize].alive = false;
        self.rungs[below as usize].above = above;
        self.heights.subtract(index, bytes);
        match self.rungs.get_mut(above as usize) {
            Some(rung) => rung.below = below,
            None => self.top = below,
        }
        if self.drawn.0 == index {
            self.drawn.0 = below;
        }
        self.touch(below);
    }

    /// Closes the bands of the living rungs from `index`, which is one of them or [`NONE`], to below `end`.
    fn close_between(&mut self, mut index: u32, end: u32, slice: u32, bands: &mut Bands<'_>) {
        while index < end && index != NONE {
            self.close(index, slice, bands);
            index = self.rungs[index as usize].above;
        }
    }

    fn close(&mut self, index: u32, slice: u32, bands: &mut Bands<'_>) {
        let rung = &mut self.rungs[index as usize];
        bands.replace(&mut rung.open, Open::new(slice, 0, 0), rung.owner, rung.tint);
    }

    fn touch(&mut self, index: u32) {
        self.lowest_change = self.lowest_change.min(index);
    }

    /// Returns the last rung that begins at this row or below.
    fn last_rung(&self, row: u32) -> u32 {
        self.rungs[1..].partition_point(|rung| rung.row <= row) as u32
    }

    /// Returns the nearest living rung at `index` or below.
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

//! Sweeps over the slices from left to right and collects the bands, also of allocations that a picture sets apart.

use super::bands::{Band, Bands, PictureRequest, Scale, Tally, Tint};
use super::rungs::Rungs;
use super::slices::Slices;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::category::Coloring;
use crate::analysis::track::members::Members;
use crate::analysis::track::seen::Seen;
use crate::analysis::track::timeline::Timeline;
use crate::trace::Device;
use std::ops::Range;

pub(super) fn bands(
    timeline: &Timeline,
    device: &Device,
    request: &PictureRequest,
    slices: &Slices,
    (coloring, emphasis): (Coloring<'_>, Emphasis<'_>),
) -> Vec<Band> {
    let height = request.y1 - request.y0;
    if slices.len() == 0 || !(height.is_finite() && height > 0.0) || request.height_px == 0 {
        return Vec::new();
    }
    let scale = Scale::new(request);
    let mut sweep = Sweep {
        timeline,
        device,
        coloring,
        emphasis,
        initial: Tally::default(),
        seen: timeline.seen(request.axis).map(|seen| (seen, slices.bits)),
        large_bytes: scale.large_bytes,
        group_bits: scale.group_bits(),
        born: 0,
        died: timeline.allocations.died_by(slices.shown[0]),
        rungs: Rungs::new(scale),
        bands: Bands::new(&slices.edges, request, emphasis.apart),
    };
    let mut previous = None;
    for (slice, &moment) in (0..).zip(&slices.shown) {
        if previous.replace(moment) != Some(moment) {
            sweep.advance(slice, moment);
            sweep.rungs.draw(slice, &mut sweep.bands);
        }
    }
    if emphasis.members.is_some() {
        sweep.rungs.tint_initial(sweep.initial.take());
    }
    sweep.rungs.finish(slices.len() as u32, sweep.bands)
}

struct Sweep<'a> {
    timeline: &'a Timeline,
    device: &'a Device,
    coloring: Coloring<'a>,
    emphasis: Emphasis<'a>,
    /// Areas of the initial memory, if allocations are selected.
    initial: Tally,
    /// Allocations that are visible at all on the grid of the slices, if the timeline has computed them, and that grid.
    seen: Option<(&'a Seen, u32)>,
    large_bytes: u64,
    group_bits: u8,
    /// Rows below this one were born at the last moment shown or before.
    born: u32,
    /// Deaths below this position happened at that moment or before.
    died: usize,
    rungs: Rungs,
    bands: Bands<'a>,
}

impl<'a> Sweep<'a> {
    /// Turns the stack of the previous slice into the one at `moment`.
    ///
    /// An allocation that lived only between the two moments is skipped; with [`Seen`] it is not even visited.
    fn advance(&mut self, slice: u32, moment: u32) {
        let allocations: &'a Allocations = &self.timeline.allocations;
        let (born, died) = (allocations.born_by(moment) as usize, allocations.died_by(moment));
        let (deaths, births) = (self.died..died, self.born as usize..born);
        match self.seen {
            _ if self.born == 0 => self.begin_lives(births, allocations.rows_alive_at(moment), slice),
            Some((seen, bits)) => {
                self.end_lives(seen.deaths(deaths, bits), slice);
                let rows = seen.rows(births.clone(), bits).filter(|&row| allocations.died[row] > moment);
                self.begin_lives(births, rows, slice);
            }
            None => {
                self.end_lives(deaths, slice);
                self.begin_lives(births.clone(), births.filter(|&row| allocations.died[row] > moment), slice);
            }
        }
        (self.born, self.died) = (born as u32, died);
    }

    /// Removes the drawn allocations among the deaths at these positions.
    fn end_lives(&mut self, deaths: impl Iterator<Item = usize>, slice: u32) {
        let allocations: &Allocations = &self.timeline.allocations;
        for row in deaths.map(|death| allocations.deaths[death]) {
            if row >= self.born {
                continue;
            }
            let size_bytes = allocations.size_bytes[row as usize];
            if row < allocations.initial {
                self.rungs.shrink_initial(size_bytes);
            } else if self.is_small(row, size_bytes) {
                self.rungs.remove_small(row, size_bytes, slice, &mut self.bands);
            } else {
                self.rungs.remove(row, slice, &mut self.bands);
            }
        }
    }

    /// Adds the rows `alive`, which are those of `births` that are alive.
    fn begin_lives(&mut self, births: Range<usize>, alive: impl Iterator<Item = usize>, slice: u32) {
        let mut since = births.start;
        for row in alive {
            self.end_groups(since..row + 1);
            self.add(row as u32, self.timeline.allocations.size_bytes[row], slice);
            since = row + 1;
        }
        self.end_groups(since..births.end);
    }

    /// Ends the growing group if another one begins with any of these rows, including dead ones.
    fn end_groups(&mut self, rows: Range<usize>) {
        if self.rungs.is_growing() && self.timeline.seams.any_begins(rows, self.group_bits) {
            self.rungs.end_group();
        }
    }

    fn add(&mut self, row: u32, size_bytes: u64, slice: u32) {
        if row < self.timeline.allocations.initial {
            self.rungs.grow_initial(size_bytes);
            self.tally_initial(row);
            return;
        }
        let color = self.timeline.color_in(self.coloring, self.device, AllocationId(row));
        let is_own = self.emphasis.is_own(row);
        if self.is_small(row, size_bytes) {
            self.rungs.push_small(row, size_bytes, slice, &mut self.bands);
            self.rungs.tint(color, self.area(row), is_own);
        } else {
            self.rungs.push(row, size_bytes, Tint::single(color, is_own), slice, &mut self.bands);
        }
    }

    /// Returns true if an allocation is merged with its neighbours.
    fn is_small(&self, row: u32, size_bytes: u64) -> bool {
        size_bytes < self.large_bytes && !self.emphasis.is_apart(row)
    }

    fn tally_initial(&mut self, row: u32) {
        if self.emphasis.members.is_some() {
            let color = self.timeline.color_in(self.coloring, self.device, AllocationId(row));
            self.initial.add(color, self.area(row), self.emphasis.is_own(row));
        }
    }

    /// Returns the area that a row covers of the whole timeline, in bytes times moments.
    fn area(&self, row: u32) -> u128 {
        let allocations = &self.timeline.allocations;
        let died = allocations.died[row as usize].min(self.timeline.events() + 1);
        u128::from(allocations.size_bytes[row as usize]) * u128::from(died - allocations.born_at(row))
    }
}

/// Allocations that a picture sets apart from the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Emphasis<'a> {
    /// Selected allocations; bands of all others are marked as [`Band::is_other`](super::Band::is_other).
    pub members: Option<&'a Members>,
    /// Allocation of the trace that is a band of its own, however small it is.
    pub apart: Option<AllocationId>,
}

impl Emphasis<'_> {
    /// Returns true for an allocation that keeps its colour: any if none are selected.
    pub(super) fn is_own(&self, row: u32) -> bool {
        self.members.is_none_or(|members| members.contains(AllocationId(row)))
    }

    /// Returns true if an allocation is a band of its own at any scale.
    pub(super) fn is_apart(&self, row: u32) -> bool {
        self.apart == Some(AllocationId(row))
    }
}

//! Naive stack of a picture: lists of allocations that are searched for everything.

use crate::analysis::naive;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::category::Coloring;
use crate::analysis::track::picture::bands::Scale;
use crate::analysis::track::picture::{BandOwner, PictureRequest};
use crate::analysis::track::timeline::Timeline;
use crate::trace::Device;
use std::collections::BTreeMap;

/// Owner, lower edge and upper edge of a part, and the number of the rung whose colour it has.
pub(super) type Part = (BandOwner, f32, f32, usize);

struct Rung {
    owner: BandOwner,
    alive: Vec<AllocationId>,
    number: usize,
    /// Number of the rung whose colour it has.
    tint: usize,
}

/// Stack that advances from moment to moment.
pub(super) struct NaiveLadder<'a> {
    timeline: &'a Timeline,
    device: &'a Device,
    request: &'a PictureRequest,
    coloring: Coloring<'a>,
    scale: Scale,
    rungs: Vec<Rung>,
    /// Area of each colour that was added to each rung, by the rung's number.
    colors: Vec<BTreeMap<u32, u128>>,
    /// Number of the group that small allocations are added to while it is the last rung.
    growing: Option<usize>,
    born: usize,
}

impl<'a> NaiveLadder<'a> {
    pub(super) fn new(
        timeline: &'a Timeline,
        device: &'a Device,
        request: &'a PictureRequest,
        coloring: Coloring<'a>,
    ) -> Self {
        let initial = Rung { owner: BandOwner::Initial, alive: Vec::new(), number: 0, tint: 0 };
        let (rungs, colors) = (vec![initial], vec![BTreeMap::new()]);
        let scale = Scale::new(request);
        Self { timeline, device, request, coloring, scale, rungs, colors, growing: None, born: 0 }
    }

    /// Returns the stack at a moment, which must not be before the one asked for last.
    pub(super) fn at(&mut self, moment: u32) -> Vec<Part> {
        let alive: Vec<_> =
            naive::stack(&self.timeline.allocations, self.device, moment).into_iter().map(|(id, _)| id).collect();
        let is_dead = |id: &AllocationId| !alive.contains(id);
        let mut dead: Vec<_> = self.rungs.iter().flat_map(|rung| &rung.alive).copied().filter(is_dead).collect();
        dead.sort_by_key(|&id| self.timeline.allocations.get(id, self.device).died);
        dead.into_iter().for_each(|id| self.remove(id));
        let born = self.timeline.allocations.born_by(moment) as usize;
        for row in self.born..born {
            if self.timeline.seams.any_begins(row..row + 1, self.scale.group_bits()) {
                self.growing = None;
            }
            let id = AllocationId::from_index(row);
            if alive.contains(&id) {
                self.add(id);
            }
        }
        self.born = born;
        self.parts()
    }

    /// Returns the colour number of a part, after all moments have been asked for.
    pub(super) fn color(&self, tint: usize) -> u32 {
        let most = self.colors[tint].values().max();
        self.colors[tint].iter().find(|(_, area)| Some(*area) == most).map_or(0, |(&color, _)| color)
    }

    fn parts(&self) -> Vec<Part> {
        let PictureRequest { y0, y1, .. } = *self.request;
        let y = |bytes: u64| ((bytes as f64 - y0) / (y1 - y0)).clamp(0.0, 1.0) as f32;
        let mut bottom = 0;
        let mut parts = Vec::new();
        for rung in &self.rungs {
            let top = bottom + self.bytes(rung);
            parts.push((rung.owner, y(bottom), y(top), rung.tint));
            bottom = top;
        }
        parts.retain(|(_, y0, y1, _)| y0 < y1);
        parts
    }

    fn size(&self, id: AllocationId) -> u64 {
        self.timeline.allocations.get(id, self.device).size_bytes
    }

    fn bytes(&self, rung: &Rung) -> u64 {
        rung.alive.iter().map(|&id| self.size(id)).sum()
    }

    fn add(&mut self, id: AllocationId) {
        if self.timeline.allocations.is_initial(id) {
            self.rungs[0].alive.push(id);
            return;
        }
        let is_large = self.size(id) >= self.scale.large_bytes;
        if is_large || !self.is_growing(self.rungs.len() - 1) {
            let owner = if is_large { BandOwner::Allocation(id) } else { BandOwner::Merged };
            let number = self.colors.len();
            self.rungs.push(Rung { owner, alive: Vec::new(), number, tint: number });
            self.colors.push(BTreeMap::new());
            if !is_large {
                self.growing = Some(number);
            }
            self.settle(self.rungs.len() - 2);
        }
        let color = self.timeline.color_in(self.coloring, self.device, id);
        let row = self.timeline.allocations.get(id, self.device);
        let moments = (row.born..=self.timeline.events()).filter(|&moment| moment < row.died).count();
        let last = self.rungs.last_mut().unwrap();
        last.alive.push(id);
        *self.colors[last.number].entry(color).or_default() += u128::from(row.size_bytes) * moments as u128;
    }

    fn remove(&mut self, id: AllocationId) {
        let index = self.rungs.iter().position(|rung| rung.alive.contains(&id)).unwrap();
        self.rungs[index].alive.retain(|&other| other != id);
        match self.rungs[index].owner {
            BandOwner::Initial | BandOwner::Area => {}
            BandOwner::Allocation(_) => {
                self.rungs.remove(index);
                self.join(index - 1);
            }
            BandOwner::Merged => self.settle(index),
        }
    }

    fn settle(&mut self, index: usize) {
        if self.rungs[index].owner != BandOwner::Merged || self.is_growing(index) {
            return;
        }
        if self.bytes(&self.rungs[index]) == 0 {
            self.rungs.remove(index);
            self.join(index - 1);
            return;
        }
        let joined = self.join(index - 1);
        self.join(if joined { index - 1 } else { index });
    }

    fn is_growing(&self, index: usize) -> bool {
        index + 1 == self.rungs.len() && self.growing == Some(self.rungs[index].number)
    }

    fn join(&mut self, index: usize) -> bool {
        let [lower, upper, ..] = &self.rungs[index..] else { return false };
        let (lower_bytes, upper_bytes) = (self.bytes(lower), self.bytes(upper));
        let are_groups = [lower.owner, upper.owner] == [BandOwner::Merged; 2];
        if !are_groups || self.is_growing(index + 1) || lower_bytes + upper_bytes > self.scale.join_bytes() {
            return false;
        }
        let upper = self.rungs.remove(index + 1);
        let lower = &mut self.rungs[index];
        lower.alive.extend(upper.alive);
        if upper_bytes > lower_bytes {
            lower.tint = upper.tint;
        }
        true
    }
}

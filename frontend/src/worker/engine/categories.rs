//! What the live bytes of a moment are for.

use super::{Ready, parts};
use crate::worker::CategoryBytes;
use shared::analysis::{Category, categories};
use std::collections::HashSet;

impl<'a> Ready<'a> {
    /// The category of each allocation of the device.
    pub(super) fn categories(self) -> &'a [Category] {
        let Self { device, timeline, .. } = self;
        self.kept.categories.get_or_init(|| categories(device, &timeline.allocations, &self.studied().phases))
    }
}

/// The live bytes of a moment by category.
pub(super) fn bytes_at(ready: Ready<'_>, moment: u32) -> CategoryBytes {
    let moment = moment.min(ready.timeline.events());
    let of_allocations = ready.categories();
    let mut rows: Vec<(u8, u64)> = (0..).zip([0; Category::ALL.len()]).collect();
    let allocations = &ready.timeline.allocations;
    let occur: HashSet<Category> = of_allocations[allocations.initial_count()..].iter().copied().collect();
    let mut initial_bytes = 0_u64;
    for (id, size_bytes) in allocations.alive_at(moment) {
        let sum = match allocations.is_initial(id) {
            true => &mut initial_bytes,
            false => &mut rows[of_allocations[id.index()] as usize].1,
        };
        *sum = sum.saturating_add(size_bytes);
    }
    rows.retain(|&(place, _)| occur.contains(&Category::ALL[usize::from(place)]));
    let basis = parts::basis(ready.studied().phases.basis());
    CategoryBytes { moment, initial_bytes, rows, basis }
}

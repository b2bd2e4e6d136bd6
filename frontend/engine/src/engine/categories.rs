//! Sums the live bytes of a moment by category.

use super::ready::Ready;
use frontend::ask::CategoryBytes;
use shared::analysis::{Category, categories, live_by_given_category};
use std::collections::HashSet;

impl<'a> Ready<'a> {
    /// Returns the category of each allocation of the device.
    pub(super) fn categories(self) -> &'a [Category] {
        let Self { device, timeline, .. } = self;
        self.kept.categories.get_or_init(|| categories(device, timeline, &self.studied().phases))
    }
}

/// Sums the live bytes of a moment by category, for the categories that occur in the trace, in the order of all.
pub(super) fn bytes_at(ready: Ready<'_>, moment: u32) -> CategoryBytes {
    let moment = moment.min(ready.timeline.events());
    let of_allocations = ready.categories();
    let allocations = &ready.timeline.allocations;
    let occur: HashSet<Category> = of_allocations[allocations.initial_count()..].iter().copied().collect();
    let live = live_by_given_category(allocations, of_allocations, moment);
    let of_trace = |category: Category| {
        let row = live.iter().find(|row| row.category == category);
        row.map_or(0, |row| row.bytes - row.initial_bytes)
    };
    let all = Category::ALL.into_iter().filter(|category| occur.contains(category));
    CategoryBytes {
        moment,
        initial_bytes: live.iter().map(|row| row.initial_bytes).sum(),
        rows: all.map(|category| (category, of_trace(category))).collect(),
        basis: ready.studied().phases.basis(),
    }
}

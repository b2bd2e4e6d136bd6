//! Sums the live bytes of a moment by category.

use crate::analysis::study::categories::categories;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::category::Category;
use std::cmp::Reverse;

/// Live bytes of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryBytes {
    pub category: Category,
    /// Sum of the requested sizes.
    pub bytes: u64,
    /// Part of `bytes` that was allocated before the trace.
    pub initial_bytes: u64,
    /// Number of allocations.
    pub count: u64,
}

/// Returns the live bytes of each category at a moment, most bytes first; empty categories are left out.
pub fn live_by_category(study: &Study<'_>, moment: u32) -> Vec<CategoryBytes> {
    let allocations = &study.timeline.allocations;
    live_by_given_category(allocations, &categories(study.device, study.timeline, &study.phases), moment)
}

/// Same as [`live_by_category`] for categories that are known already.
pub fn live_by_given_category(allocations: &Allocations, categories: &[Category], moment: u32) -> Vec<CategoryBytes> {
    let mut rows = Category::ALL.map(|category| CategoryBytes { category, bytes: 0, initial_bytes: 0, count: 0 });
    for (id, size_bytes) in allocations.alive_at(moment) {
        let row = &mut rows[categories[id.index()] as usize];
        row.bytes = row.bytes.saturating_add(size_bytes);
        if allocations.is_initial(id) {
            row.initial_bytes = row.initial_bytes.saturating_add(size_bytes);
        }
        row.count += 1;
    }
    let mut rows: Vec<_> = rows.into_iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| Reverse(row.bytes));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;
    use crate::analysis::track::timeline::Timeline;

    #[test]
    fn every_live_byte_has_one_category() {
        for seed in 0..40 {
            let trace = naive::random_trace(seed, 300);
            let device = &trace.devices[0];
            let timeline = Timeline::new(&trace, device);
            let study = Study::new(&trace, device, &timeline);
            for moment in [0, timeline.live_peak().0, timeline.events()] {
                let rows = live_by_category(&study, moment);
                assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), timeline.live_at(moment), "seed {seed}");
                assert!(rows.is_sorted_by_key(|row| Reverse(row.bytes)) && rows.iter().all(|row| row.count > 0));
                let initial =
                    timeline.allocations.alive_at(moment).filter(|(id, _)| timeline.allocations.is_initial(*id));
                assert_eq!(
                    rows.iter().map(|row| row.initial_bytes).sum::<u64>(),
                    initial.map(|(_, size_bytes)| size_bytes).sum::<u64>()
                );
                let count: u64 = rows.iter().map(|row| row.count).sum();
                assert_eq!(count, timeline.allocations.alive_at(moment).count() as u64);
            }
        }
    }
}

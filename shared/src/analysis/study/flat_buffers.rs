//! Recognises flat buffers of collectives by size if no frame names them, and finds the peak of gradients.
//!
//! Idea: processes that average gradients copy them into a few flat buffers, which are allocated in immediate
//! succession and are together as large as all gradients, or all weights; yet hardly any of them has the size of a
//! single gradient or weight.
//!
//! ```text
//! gradients          4 4 2 6 6 2                  24 in all
//! allocated          … 3 | 12 12 | 5 …            12 + 12 = 24, and no gradient has 12: buffers
//!                    … 3 | 4 4 2 6 6 2 | 5 …      sizes of gradients: copies of them, or weights
//! ```
//!
//! Cost: linear in the allocations.

use crate::analysis::study::phases::Phases;
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::category::Category;
use hashbrown::HashSet;
use std::ops::Range;

/// Sum of the buffers and sum of the gradients may differ by 1/500, because buffers pad the gradients.
const MOST_PADDING: u64 = 500;

/// At least 1/2 of the bytes must be in buffers with the size of no gradient and no weight.
const LEAST_OF_OWN_SIZE: u64 = 2;

/// Sums below 1 MiB would match by chance.
const LEAST_BYTES: u64 = 1 << 20;

/// Gives the allocations that are buffers of collectives the category [`Category::Collective`].
pub(in crate::analysis) fn mark(allocations: &Allocations, phases: &Phases, told: &mut [Category]) {
    let of_parts = [Category::Gradient, Category::Parameter];
    let sizes: HashSet<u64> =
        of_parts.into_iter().flat_map(|category| of_category(allocations, told, category)).collect();
    let sums = [
        most_gradients(allocations, told).1,
        of_category(allocations, told, Category::Parameter).fold(0, u64::saturating_add),
    ];
    for sum in sums.into_iter().filter(|&sum| sum >= LEAST_BYTES) {
        for rows in runs_of(allocations, sum) {
            let own_bytes: u64 =
                rows.clone().map(|row| allocations.size_bytes[row]).filter(|size| !sizes.contains(size)).sum();
            let is_lasting =
                |row: usize| phases.outlives_backward(allocations.born_at(row as u32), allocations.died[row]);
            // The weights themselves add up to the sum of the weights.
            let is_told = told[rows.clone()].contains(&Category::Parameter);
            if !is_told && own_bytes.saturating_mul(LEAST_OF_OWN_SIZE) >= sum && rows.clone().all(is_lasting) {
                told[rows].fill(Category::Collective);
            }
        }
    }
}

fn of_category<'a>(
    allocations: &'a Allocations,
    categories: &'a [Category],
    category: Category,
) -> impl Iterator<Item = u64> + 'a {
    let rows = allocations.size_bytes.iter().zip(categories);
    rows.filter(move |row| *row.1 == category).map(|row| *row.0)
}

/// Returns runs of rows with no free between them whose sizes add up to a sum; the runs do not overlap.
fn runs_of(allocations: &Allocations, sum: u64) -> Vec<Range<usize>> {
    let first = allocations.initial_count();
    let (least, most) = (sum - sum / MOST_PADDING, sum.saturating_add(sum / MOST_PADDING));
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (first, 0_u64);
    for row in first..allocations.len() {
        let has_free = row > first && {
            let id = |row: usize| allocations.died_by(allocations.born_at(AllocationId::from_index(row).0));
            id(row) != id(row - 1)
        };
        if has_free {
            (start, bytes) = (row, 0);
        }
        bytes = bytes.saturating_add(allocations.size_bytes[row]);
        while bytes > most && start < row {
            bytes -= allocations.size_bytes[start];
            start += 1;
        }
        if (least..=most).contains(&bytes) {
            runs.push(start..row + 1);
            (start, bytes) = (row + 1, 0);
        }
    }
    runs
}

/// Returns the moment at which the most bytes of gradients are alive, and these bytes.
pub(in crate::analysis) fn most_gradients(allocations: &Allocations, categories: &[Category]) -> (u32, u64) {
    let is_gradient = |row: &usize| categories[*row] == Category::Gradient;
    let mut deaths = allocations.deaths.iter().map(|&row| row as usize).filter(is_gradient).peekable();
    let (mut live, mut most) = (0_u64, (0, 0));
    for row in (0..allocations.len()).filter(is_gradient) {
        let born = allocations.born_at(row as u32);
        while let Some(dead) = deaths.next_if(|&dead| allocations.died[dead] <= born) {
            live = live.saturating_sub(allocations.size_bytes[dead]);
        }
        live = live.saturating_add(allocations.size_bytes[row]);
        if live > most.1 {
            most = (born, live);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;

    /// Checks the number of allocations that are recognised as buffers when `before_forward` precedes the second
    /// backward.
    #[track_caller]
    fn check(before_forward: &str, expected: usize) {
        let gradients = [400, 400, 200, 600, 600, 200];
        let mut source = "alloc w 24MiB @aten::empty@operator\n".to_owned();
        for step in 0..3 {
            source += &format!("alloc a.{step} 3MiB @aten::mm@operator\n");
            if step == 1 {
                source += before_forward;
            }
            for (index, kib) in gradients.into_iter().enumerate() {
                source += &format!("alloc g{index}.{step} {kib}KiB @MmBackward0@operator\n");
            }
            source += &format!("free a.{step}\nalloc t.{step} 1KiB @aten::_foreach_sqrt@operator\nfree t.{step}\n");
            source += &(0..6).map(|index| format!("free g{index}.{step}\n")).collect::<String>();
        }
        let found = naive::categories_of(&source);
        assert_eq!(found.iter().filter(|category| **category == Category::Collective).count(), expected);
    }

    #[test]
    fn buffers_come_to_the_sum_of_the_gradients() {
        check("", 0);
        let made = |sizes: &[u64]| -> String {
            let rows = sizes.iter().enumerate();
            rows.map(|(index, kib)| format!("alloc b{index} {kib}KiB @aten::empty@operator\n")).collect()
        };
        check(&made(&[1200, 1200]), 2);
        check(&made(&[2400]), 1);
        check(&made(&[1200, 1300]), 0);
        check(&made(&[400, 400, 200, 600, 600, 200]), 0);
        check(&(made(&[1200, 1200]) + "free b0\nfree b1\n"), 0);
    }

    #[test]
    fn sums_agree_with_trying_every_run() {
        for seed in 0..40 {
            let trace = naive::random_trace(seed, 150);
            let allocations = Allocations::pair(&trace.devices[0]);
            let first = allocations.initial_count();
            let sum = 4000 + seed;
            let is_sum = |rows: &Range<usize>| {
                let bytes: u64 = rows.clone().map(|row| allocations.size_bytes[row]).sum();
                bytes.abs_diff(sum) <= sum / MOST_PADDING
            };
            let free_within = |rows: &Range<usize>| {
                let (born, last) = (allocations.born_at(rows.start as u32), allocations.born_at(rows.end as u32 - 1));
                allocations.died.iter().any(|&died| born < died && died <= last)
            };
            let found = runs_of(&allocations, sum);
            assert!(found.iter().all(|rows| is_sum(rows) && !free_within(rows)), "seed {seed}");
            let all =
                (first..allocations.len()).flat_map(|start| (start + 1..=allocations.len()).map(move |end| start..end));
            let missed = all
                .filter(|rows| is_sum(rows) && !free_within(rows))
                .filter(|rows| !found.iter().any(|run| run.start < rows.end && rows.start < run.end));
            assert_eq!(missed.count(), 0, "seed {seed}");
        }
    }
}

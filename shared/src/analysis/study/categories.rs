//! Determines categories of allocations, such as parameter, gradient or activation, and sums live bytes by category.

use crate::analysis::study::phases::{Phase, PhaseBasis, Phases, Sharing};
use crate::analysis::study::studied::Study;
use crate::analysis::study::{flat_buffers, older};
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::analysis::track::category::{Category, WORKSPACES_BYTES};
use crate::analysis::track::names::Names;
use crate::analysis::track::pairing::NEVER;
use crate::analysis::track::timeline::Timeline;
use crate::base::ShortSort;
use crate::trace::{Device, Segment};
use std::cmp::Reverse;

/// Returns the category of each allocation, by its index.
///
/// What an annotation states is certain; all else is inferred from stacks, phases, lifetimes and sizes. An allocation from
/// before the trace has a category if its stack shows it or if its size equals that of gradients.
pub fn categories(device: &Device, timeline: &Timeline, phases: &Phases) -> Vec<Category> {
    let allocations = &timeline.allocations;
    let mut run = 0;
    let told = allocations.ids().map(|id| {
        // Births are in order, and so are the runs that contain them.
        run = phases.run_from(run, allocations.born_at(id.0));
        category(id, run, device, allocations, phases)
    });
    let mut categories: Vec<Category> = told.collect();
    mark_workspaces(device, allocations, &mut categories);
    if phases.basis() != PhaseBasis::Functions {
        flat_buffers::mark(allocations, phases, &mut categories);
    }
    older::mark(allocations, phases, &mut categories);
    mark_named(&timeline.names, &mut categories);
    categories
}

/// Marks allocations whose names state one purpose.
fn mark_named(names: &Names, categories: &mut [Category]) {
    for (id, names) in names.by_allocation() {
        let mut stated = names.iter().filter_map(|name| name.category);
        if let Some(first) = stated.next()
            && stated.all(|other| other == first)
        {
            categories[id.index()] = first;
        }
    }
}

/// Marks allocations as workspaces by their size and their position in a pass.
///
/// PyTorch keeps one workspace for each pair of a cuBLAS handle and a stream, and the threads of backward have handles
/// of their own (`ATen/cuda/CublasHandlePool.cpp`). A workspace is therefore the first allocation of its size in
/// forward on a stream and, if there is one, the first in backward. Later allocations of that size are no workspaces.
fn mark_workspaces(device: &Device, allocations: &Allocations, categories: &mut [Category]) {
    for size_bytes in WORKSPACES_BYTES {
        let mut found: Vec<(Option<u64>, Category)> = Vec::new();
        let of_size = allocations.size_bytes.iter().enumerate().filter(|row| *row.1 == size_bytes);
        for (index, _) in of_size.filter(|row| allocations.died[row.0] == NEVER) {
            let id = AllocationId::from_index(index);
            let is_first = match categories[index] {
                Category::Activation => true,
                Category::Gradient => found.iter().any(|&(_, category)| category == Category::Activation),
                _ => false,
            };
            let handle = (stream_at_end(device, allocations.get(id, device).addr), categories[index]);
            if is_first && !found.contains(&handle) {
                found.push(handle);
                categories[index] = Category::Workspace;
            }
        }
    }
}

/// Returns the stream of the segment that contains an address after the last event.
fn stream_at_end(device: &Device, addr: u64) -> Option<u64> {
    let holds = |segment: &&Segment| addr.checked_sub(segment.addr).is_some_and(|past| past < segment.size_bytes);
    device.segments.segments.iter().find(holds).map(|segment| segment.stream)
}

/// Returns the category of an allocation that was born in a run.
fn category(id: AllocationId, run: usize, device: &Device, allocations: &Allocations, phases: &Phases) -> Category {
    let born = allocations.born_at(id.0);
    let died = allocations.died[id.index()];
    let stack = allocations.allocation_stack(id, device);
    if born == 0 {
        return match phases.of_stack(stack) {
            Phase::Setup => Category::Parameter,
            Phase::Optimizer => Category::OptimizerState,
            _ => Category::Unknown,
        };
    }
    let phase = phases.of_birth_in(run, stack);
    match phases.sharing(stack) {
        Some(Sharing::Weights) => return Category::Parameter,
        // A scattered gradient is a part of the buffer in which it was received.
        Some(Sharing::Buffer) => {
            let is_gradient = phase == Phase::Backward && phases.leaves_backward(run, died);
            return if is_gradient { Category::Gradient } else { Category::Collective };
        }
        None => {}
    }
    let leaves = || phases.leaves(run, died);
    match phase {
        Phase::Setup if leaves() => Category::Parameter,
        Phase::Setup => Category::Temporary,
        Phase::Data => Category::Input,
        Phase::Forward | Phase::Recompute if leaves() => Category::Activation,
        Phase::Backward if phases.leaves_backward(run, died) => Category::Gradient,
        Phase::Optimizer if leaves() => Category::OptimizerState,
        Phase::Forward | Phase::Recompute | Phase::Backward | Phase::Optimizer => Category::Temporary,
        Phase::Evaluation => Category::Evaluation,
        Phase::Collective => Category::Collective,
        Phase::Unknown => Category::Unknown,
    }
}

/// Live bytes of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryBytes {
    pub category: Category,
    /// Sum of the requested sizes.
    pub bytes: u64,
    /// Part of `bytes` that was allocated before the trace.
    pub initial_bytes: u64,
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
    rows.short_sort_by_key(|row| Reverse(row.bytes));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;

    /// Checks the category of each allocation, by name.
    #[track_caller]
    fn check(trace: &str, expected: &str) {
        let found: Vec<&str> = naive::categories_of(trace).iter().map(|category| category.name()).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn phases_and_lifetimes_tell() {
        check(
            "
            alloc w 1MiB @setup@phase
            alloc x 1KiB @data@phase
            alloc t 1KiB @forward@phase
            alloc a 2KiB @forward@phase
            free t
            alloc ws 8519680 @forward@phase
            alloc u 1KiB @backward@phase
            free a
            free u
            alloc g 1MiB @backward@phase
            alloc s 1MiB @optimizer@phase
            alloc v 1MiB @optimizer@phase
            free v
            free g
            alloc e 1KiB @evaluation@phase
            ",
            "parameter input temporary activation workspace temporary gradient optimizer-state temporary evaluation",
        );
    }

    #[test]
    fn what_a_name_states_is_certain() {
        check(
            "
            alloc a 1KiB @forward@phase
            alloc b 1KiB @forward@phase
            alloc c 1KiB @forward@phase
            alloc d 1KiB @forward@phase
            annotate a note=parameter/fc.weight
            annotate a note=buffer/fc.mask
            annotate a note=held/by/model
            annotate b note=gradient/fc.weight
            annotate b note=parameter/fc.weight
            annotate c note=mine
            annotate d note=optimizer/fc.weight.exp_avg
            free d
            ",
            "parameter activation activation optimizer-state",
        );
    }

    #[test]
    fn what_is_older_than_the_trace_is_told_by_its_stack() {
        check(
            "
            alloc a 1KiB @forward@phase
            segment S 1MiB
            block w 512KiB @setup@phase
            block m 256KiB @optimizer@phase
            block b 128KiB
            ",
            "parameter optimizer-state unknown activation",
        );
    }

    #[test]
    fn workspaces_are_told_by_stream_and_size() {
        // A second allocation of the same size is none.
        check(
            "
            alloc a 1MiB @forward@phase
            alloc b 1MiB @forward@phase
            alloc g 512 @backward@phase
            ",
            "workspace activation gradient",
        );
        // Backward has a workspace where forward has one.
        check(
            "
            alloc a 1MiB @forward@phase
            alloc b 32MiB @backward@phase
            alloc c 1MiB @backward@phase
            alloc d 1MiB @backward@phase
            ",
            "workspace gradient workspace gradient",
        );
        // Each stream has a workspace.
        check(
            "
            segment 0x1000000 2MiB stream=1
            block 0x1000000 1MiB
            block 0x1100000 1MiB
            segment 0x2000000 2MiB stream=2
            block 0x2000000 1MiB
            alloc 0x1000000 1MiB @forward@phase
            alloc 0x1100000 1MiB @forward@phase
            alloc 0x2000000 1MiB @forward@phase
            alloc g 512 @backward@phase
            ",
            "workspace activation workspace gradient",
        );
    }

    #[test]
    fn every_live_byte_has_one_category() {
        for seed in 0..40 {
            let (trace, timeline) = naive::timed(naive::random_trace(seed, 300));
            let device = &trace.devices[0];
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

//! Finds calls of modules that leave an autograd graph which no backward pass uses.
//!
//! Idea: after a model's call, gradients that are on leave all that backward needs, and gradients that are off leave only
//! the result. If backward then comes, it frees the graph; a graph that is freed before it was for nothing, and so was
//! one that outlives a backward which frees others.

use crate::analysis::study::phases::{Phase, Phases};
use crate::analysis::study::sites::SpineId;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::{AllocationId, Lifetime};
use crate::trace::{Action, StackId};
use hashbrown::{HashMap, HashSet};

/// At least 2/5 of a call's stacks must be alive after it, to infer that gradients are on: a convolution has a workspace
/// for each output that it saves.
const LEAST_KEPT: (usize, usize) = (2, 5);

/// At least 1/6 of the bytes that a call allocates must be alive after it.
const LEAST_KEPT_BYTES: u64 = 6;

/// Fewer stacks are not enough to infer that gradients are on.
const LEAST_STACKS: usize = 4;

/// A backward frees a graph if it frees at least 1/20 of the peak, or half of what another frees: graphs that nobody uses
/// can fill the peak.
const LEAST_FREED: u64 = 20;

/// What a backward frees is a measure for others if it is at least 1/100 of the peak.
const LEAST_USUAL: u64 = 100;

/// A loop has at least so many rounds.
const LEAST_ROUNDS: usize = 3;

/// A round leaves tensors of at least so many stacks of modules: a result has one, and a list of features several.
const LEAST_OF_MODULES: usize = 3;

/// What a loop frees at once is looked at if it is at least 1/10 of the peak.
const LEAST_DROPPED: u64 = 10;

/// Returns the allocations that no backward pass uses, of each such call and of each loop of calls.
pub(in crate::analysis) fn unused_graphs(study: &Study<'_>) -> Vec<Vec<Lifetime>> {
    let mut unused: Vec<Vec<Lifetime>> = of_calls(study).filter(|rows| !rows.is_empty()).collect();
    let loops = of_loops(study);
    if !loops.is_empty() {
        let told: HashSet<u32> = unused.iter().flatten().map(|row| row.born).collect();
        let not_told = |rows: Vec<Lifetime>| rows.into_iter().filter(|row| !told.contains(&row.born)).collect();
        unused.extend(loops.into_iter().map(not_told));
    }
    unused
}

/// Returns what the rounds of each loop leave, if all of it is freed at once and no backward comes before.
///
/// Each round goes on with the last one's result, such as a hidden state, so that the last result holds all graphs. Without
/// gradients, most of a round's tensors are freed before the next one.
fn of_loops(study: &Study<'_>) -> Vec<Vec<Lifetime>> {
    let (allocations, phases) = (&study.timeline.allocations, &study.phases);
    let failures = failures(study);
    let is_much = |bytes: u64| bytes.saturating_mul(LEAST_DROPPED) >= study.timeline.live_peak().1;
    let bytes_of =
        |ids: &[AllocationId]| ids.iter().fold(0, |sum: u64, &id| sum.saturating_add(allocations.size_bytes(id)));
    let is_before_backward = |row: &Lifetime| {
        let backward = phases.start_of_backward(phases.run_of(row.born));
        backward.is_none_or(|start| row.died < start) && !is_cut(&failures, row)
    };
    // Between two births, all deaths are of one moment.
    let deaths: Vec<(usize, AllocationId)> = allocations
        .deaths()
        .filter(|(_, id)| id.index() >= allocations.initial_count())
        .map(|(died, id)| (allocations.born_by(died) as usize, id))
        .collect();
    let at_once = deaths.chunk_by(|one, other| one.0 == other.0).map(|of_moment| {
        let ids: Vec<AllocationId> = of_moment.iter().map(|death| death.1).collect();
        if !is_much(bytes_of(&ids)) {
            return Vec::new();
        }
        let rows = ids.into_iter().map(|id| Lifetime::of(allocations, study.device, id));
        rows.filter(is_before_backward).collect::<Vec<Lifetime>>()
    });
    let bytes = |rows: &[Lifetime]| rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.bytes));
    at_once.filter(|rows| is_much(bytes(rows)) && is_loop(study, rows)).collect()
}

/// Returns true if at least three rounds have left so many tensors as a graph does.
fn is_loop(study: &Study<'_>, rows: &[Lifetime]) -> bool {
    let allocations = &study.timeline.allocations;
    let (Some(born), Some(died)) = (rows.iter().map(|row| row.born).min(), rows.first().map(|row| row.died)) else {
        return false;
    };
    let looped = |stacks: &mut dyn Iterator<Item = StackId>| {
        let mut counts: HashMap<StackId, usize> = HashMap::new();
        stacks.for_each(|stack| *counts.entry(stack).or_default() += 1);
        counts.retain(|_, count| *count >= LEAST_ROUNDS);
        counts
    };
    let left = looped(&mut rows.iter().map(|row| row.stack));
    let sites = || left.keys().map(|&stack| study.sites.of_stack(stack));
    let of_modules = sites().filter(|site| site.in_module && !site.is_without_grad).count();
    if left.len() < LEAST_STACKS || of_modules < LEAST_OF_MODULES {
        return false;
    }
    let ids = (allocations.born_by(born - 1)..allocations.born_by(died)).map(AllocationId);
    let all = looped(&mut ids.map(|id| allocations.allocation_stack(id, study.device)));
    left.len() * LEAST_KEPT.1 >= all.len() * LEAST_KEPT.0
}

/// Returns the allocations that no backward pass uses, of each such call.
///
/// Nothing is known of the last calls, behind which no backward comes or whose graphs are never freed; they are taken for
/// what others from there are.
fn of_calls(study: &Study<'_>) -> impl Iterator<Item = Vec<Lifetime>> {
    let calls = calls(study);
    let unused: Vec<Vec<Lifetime>> = calls.iter().map(Call::unused).collect();
    // Calls from each place whose graph is unused, and those whose graph backward frees.
    let mut places: HashMap<SpineId, (usize, usize)> = HashMap::new();
    for (call, unused) in calls.iter().zip(&unused) {
        let (of_unused, of_used) = places.entry(call.spine).or_default();
        *of_unused += usize::from(!unused.is_empty());
        *of_used += usize::from(unused.is_empty() && call.is_used());
    }
    calls.into_iter().zip(unused).map(move |(call, unused)| match places[&call.spine] {
        // A training whose loss fails now and then, or is not finite.
        (0, 0) if call.is_kept() => call.kept,
        (of_unused, of_used) if of_used >= of_unused => Vec::new(),
        (1.., _) if unused.is_empty() => call.left_over().copied().collect(),
        _ => unused,
    })
}

struct Call {
    spine: SpineId,
    /// True if no backward follows.
    is_last: bool,
    rows: Vec<Lifetime>,
    /// Moment of the first allocation after it.
    end: u32,
    /// True for each row that no backward pass uses.
    are_unused: Vec<bool>,
    /// Rows that outlive the next backward, which frees others, and are never freed.
    kept: Vec<Lifetime>,
}

/// Returns the calls of modules with gradients enabled, as far as stacks show.
fn calls(study: &Study<'_>) -> Vec<Call> {
    let (allocations, phases) = (&study.timeline.allocations, &study.phases);
    let failures = failures(study);
    let mut calls: Vec<Call> = Vec::new();
    let freed = freed_by_backward(study);
    let (mut before, mut run, mut backward, mut backward_end) = (None, 0, 0, 0);
    for id in allocations.ids().skip(allocations.initial_count()) {
        let row = Lifetime::of(allocations, study.device, id);
        let site = study.sites.of_stack(row.stack);
        let spine = Some(site.spine).filter(|_| site.in_module && !site.is_without_grad);
        if let Some(last) = calls.last_mut().filter(|last| last.end == u32::MAX && spine != before) {
            last.end = row.born;
        }
        run = phases.run_from(run, row.born);
        if backward < row.born {
            backward = phases.start_of_backward(run).unwrap_or(u32::MAX);
            backward_end = phases.end_of_backward(backward);
        }
        if let Some(spine) = spine.filter(|_| spine != before) {
            let is_last = backward == u32::MAX;
            let (rows, are_unused, kept) = Default::default();
            calls.push(Call { spine, is_last, rows, end: u32::MAX, are_unused, kept });
        }
        before = spine;
        let Some(call) = calls.last_mut().filter(|_| spine.is_some()) else { continue };
        let phase = phases.of_birth_in(run, row.stack);
        let is_past = row.died > backward && freed.get(phases.run_of(backward + 1)).is_some_and(|&frees| frees);
        let ends = row.died >= study.timeline.events();
        let is_freed = !ends && !is_freed_by_backward(phases, backward_end, row.died);
        let is_freed_before = phase == Phase::Forward && is_freed && (row.died <= backward || is_past);
        // A failed try is freed without backward, too.
        let is_cut = is_cut(&failures, &row);
        call.kept.extend((ends && is_past && phase == Phase::Forward).then_some(row));
        call.rows.push(row);
        // An autograd function of the program may keep tensors of a graph that backward uses.
        call.are_unused.push((phase == Phase::Evaluation || is_freed_before) && !is_cut && !site.is_of_function);
    }
    calls
}

/// Returns the events at which memory ran out.
fn failures(study: &Study<'_>) -> Vec<u32> {
    let actions = study.device.events.actions();
    (0..study.timeline.events()).filter(|&event| actions.at(event as usize) == Action::Oom).collect()
}

/// Returns true if memory ran out while a tensor was alive.
fn is_cut(failures: &[u32], row: &Lifetime) -> bool {
    failures.get(failures.partition_point(|&event| event < row.born)).is_some_and(|&event| event <= row.died)
}

/// Returns true if backward frees a tensor at a moment; `first_end` is the end of the first backward after its birth.
///
/// The program frees what dies after the last allocation of a later backward: its run lasts until the program allocates.
fn is_freed_by_backward(phases: &Phases, first_end: u32, moment: u32) -> bool {
    matches!(phases.at(moment), Phase::Backward | Phase::Recompute)
        && (moment <= first_end || !phases.leaves_backward(phases.run_of(moment), moment))
}

/// Returns whether each run frees much of a forward pass; a backward that keeps the graph frees nothing.
fn freed_by_backward(study: &Study<'_>) -> Vec<bool> {
    let (allocations, phases) = (&study.timeline.allocations, &study.phases);
    let mut freed = vec![0_u64; phases.runs().len() + 1];
    let mut death = 0;
    for (died, id) in allocations.deaths() {
        death = phases.run_from(death, died);
        let run = phases.run_of(allocations.born_at(id.0));
        let stack = allocations.allocation_stack(id, study.device);
        if run < death && phases.of_birth_in(run, stack) == Phase::Forward {
            freed[death] = freed[death].saturating_add(allocations.size_bytes(id));
        }
    }
    let of_backward = phases.runs().iter().zip(&freed).filter(|(run, _)| run.1 == Phase::Backward);
    let most = of_backward.map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let peak = study.timeline.live_peak().1;
    // A backward that keeps its graph frees next to nothing.
    let usual = if most.saturating_mul(LEAST_USUAL) >= peak { most / 2 } else { u64::MAX };
    let least = usual.min(peak / LEAST_FREED);
    freed.into_iter().map(|bytes| bytes >= least).collect()
}

impl Call {
    /// Returns what is alive after it.
    fn left(&self) -> impl Iterator<Item = &Lifetime> {
        self.rows.iter().filter(|row| self.end < row.died)
    }

    /// Returns what no backward has used until the end.
    fn left_over(&self) -> impl Iterator<Item = &Lifetime> {
        let last = self.is_last.then(|| self.left());
        last.into_iter().flatten().chain(self.kept.iter().filter(|_| !self.is_last))
    }

    /// Returns true if nearly all that the call leaves outlives a backward that frees others, and is never freed.
    fn is_kept(&self) -> bool {
        let add = |sum: u64, row: &Lifetime| sum.saturating_add(row.bytes);
        let (kept, left) = (self.kept.iter().fold(0, add), self.left().fold(0, add));
        let stacks: HashSet<StackId> = self.kept.iter().map(|row| row.stack).collect();
        stacks.len() >= LEAST_STACKS && kept.saturating_mul(5) >= left.saturating_mul(4)
    }

    /// Returns true if a backward frees most of what the call leaves.
    fn is_used(&self) -> bool {
        let sum =
            |rows: &mut dyn Iterator<Item = &Lifetime>| rows.fold(0, |sum: u64, row| sum.saturating_add(row.bytes));
        let of_backward = self.rows.iter().zip(&self.are_unused).filter(|row| !*row.1).map(|row| row.0);
        let mut of_backward = of_backward.filter(|row| self.end < row.died);
        !self.is_last && self.kept.is_empty() && sum(&mut of_backward) * 2 > sum(&mut self.left())
    }

    /// Returns what no backward pass uses, if the call leaves a graph of it.
    fn unused(&self) -> Vec<Lifetime> {
        let Self { rows, end, are_unused, .. } = self;
        let is_left = |row: &&Lifetime| *end < row.died;
        let add = |sum: u64, row: &Lifetime| sum.saturating_add(row.bytes);
        let (all_bytes, left_bytes) = (rows.iter().fold(0, add), self.left().fold(0, add));
        let unused: Vec<Lifetime> = rows.iter().zip(are_unused).filter(|row| *row.1).map(|row| *row.0).collect();
        let bytes = unused.iter().filter(is_left).fold(0, add);
        if bytes == 0 || bytes.saturating_mul(LEAST_KEPT_BYTES) < all_bytes || bytes.saturating_mul(2) < left_bytes {
            return Vec::new();
        }
        let all: HashSet<StackId> = rows.iter().map(|row| row.stack).collect();
        let left: HashSet<StackId> = unused.iter().filter(is_left).map(|row| row.stack).collect();
        let has_stacks = all.len() >= LEAST_STACKS && left.len() * LEAST_KEPT.1 >= all.len() * LEAST_KEPT.0;
        if has_stacks { unused } else { Vec::new() }
    }
}

//! Finds repeated calls of a model that is not trained: batches of inference, turns of a chat, tokens.
//!
//! Idea: calls of the model come from the same spine again and again, with other code between them. Of the frames of
//! that spine, from the outermost one inwards, the first whose code is entered several times shows the coarsest loop.
//!
//! ```text
//! spines             x . a a a a . x . a a a . x . a a …      x: main:49   a: main:50 < reply:34   .: main:50 < reply:35
//! main:49, main:50   entered once per turn                    8 rounds
//! reply:34           entered once per token                   96 calls
//! ```
//!
//! Where all turns come from one line, no frame is left between them. Then the function of the finer loop begins anew:
//! the line that it visits first, such as that of the prompt, is visited once per turn.
//!
//! Cost: linear in the events, and in the frames of the spines.

use super::{Operation, Site, Sites, SpineId};
use crate::analysis::study::period::Step;
use crate::trace::{Action, Device};
use hashbrown::HashMap;
use std::ops::Range;

/// At least 1/2 of the allocations of modules must lie within rounds.
const LEAST_SHARE: usize = 2;

/// Rounds without an input of their own may be at most 1/4 of all, rounded up.
const WITHOUT_INPUT: usize = 4;

/// Repeated calls of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct Rounds {
    /// Rounds, each from one entry into the loop to the next.
    pub(in crate::analysis) rounds: Vec<Step>,
    /// Number of model calls in all rounds.
    pub(in crate::analysis) calls: usize,
    /// True if at most 1/4 of the rounds, rounded up, have no input of their own; layers have none.
    pub(in crate::analysis) have_inputs: bool,
}

impl Rounds {
    /// Fewer rounds may be a warm-up and a single call.
    pub(in crate::analysis) const LEAST: usize = 3;
}

/// Consecutive allocations of one spine.
#[derive(Clone, Copy)]
struct Stay {
    /// Index of its first event; `last` is that of its last.
    first: u32,
    last: u32,
    spine: SpineId,
    in_module: bool,
    allocs: u32,
    /// True if, outside of modules, one of its tensors is created from nothing or moved to the device.
    has_input: bool,
}

/// Finds the rounds in a range of events; `None` if there are fewer than three.
pub(in crate::analysis) fn find(device: &Device, sites: &Sites, events: Range<u32>) -> Option<Rounds> {
    let stays = stays(device, sites, events.clone());
    let mut of_spine: HashMap<SpineId, usize> = HashMap::new();
    let in_module = || stays.iter().filter(|stay| stay.in_module);
    in_module().for_each(|stay| *of_spine.entry(stay.spine).or_default() += stay.allocs as usize);
    let all: usize = of_spine.values().sum();
    let (&spine, _) = of_spine.iter().max_by_key(|&(&spine, &allocs)| (allocs, std::cmp::Reverse(spine)))?;
    let frames = sites.frames(spine);
    let in_common = |stay: &Stay| {
        let pairs = sites.frames(stay.spine).iter().zip(frames);
        pairs.take_while(|(one, other)| one == other).count()
    };
    let mut known: HashMap<SpineId, usize> = HashMap::new();
    let depths: Vec<usize> =
        stays.iter().map(|stay| *known.entry(stay.spine).or_insert_with(|| in_common(stay))).collect();
    let entries = |is_within: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let is_entry = |&index: &usize| is_within(index) && (index == 0 || !is_within(index - 1));
        (0..stays.len()).filter(is_entry).collect()
    };
    let calls = entries(&|index| stays[index].in_module && stays[index].spine == spine);
    let levels = levels(&stays, &depths, frames.len());
    let is_much = |level: &Level| level.allocs * LEAST_SHARE >= all;
    let coarsest = (1..=frames.len()).find(|&depth| levels[depth].entries >= Rounds::LEAST && is_much(&levels[depth]));
    let entered = match coarsest {
        Some(depth) => entries(&|index| depths[index] >= depth),
        None if calls.len() >= Rounds::LEAST && is_much(&levels[frames.len()]) => calls.clone(),
        None => return None,
    };
    let entered = of_turns(&stays, &depths, sites, coarsest.unwrap_or(frames.len()), entered);
    let starts: Vec<u32> = entered.iter().map(|&index| stays[index].first).collect();
    // The last round ends after the median length, because what follows it only reads and frees the results.
    let mut lengths: Vec<u32> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    lengths.sort_unstable();
    let usual_end = starts[starts.len() - 1].saturating_add(lengths[lengths.len() / 2]);
    let last_end = usual_end.min(stays[stays.len() - 1].last + 1);
    let ends = starts.iter().skip(1).copied().chain([last_end]);
    let rounds: Vec<Step> = starts.iter().zip(ends).map(|(&start, end)| Step { start, end }).collect();
    // An input may precede the entry or follow it.
    let spans = entered.iter().zip(entered.iter().skip(1).copied().chain([stays.len()]));
    let with_input = spans.filter(|&(&from, to)| stays[from..to].iter().any(|stay| stay.has_input)).count();
    let is_first_before = stays[..entered[0]].iter().rev().take(1).any(|stay| stay.has_input);
    let with_input = with_input + usize::from(is_first_before);
    let have_inputs = with_input + entered.len().div_ceil(WITHOUT_INPUT) >= entered.len();
    Some(Rounds { rounds, calls: calls.len(), have_inputs })
}

/// Returns the entries into the line that the function at a depth visits first, if these are turns of several entries
/// each, and otherwise the entries.
fn of_turns(stays: &[Stay], depths: &[usize], sites: &Sites, depth: usize, entered: Vec<usize>) -> Vec<usize> {
    let line_of = |index: usize| {
        let frame = sites.frames(stays[index].spine).get(depth.checked_sub(1)?);
        frame.filter(|_| depths[index] + 1 >= depth)
    };
    let Some(first) = (0..stays.len()).find_map(line_of) else { return entered };
    let is_visit = |index: &usize| line_of(*index) == Some(first) && (*index == 0 || line_of(index - 1) != Some(first));
    let visits: Vec<usize> = (0..stays.len()).filter(is_visit).collect();
    let are_turns = visits.len() >= Rounds::LEAST && visits.len() * 2 <= entered.len() && visits[0] <= entered[0];
    if are_turns { visits } else { entered }
}

/// Stays that share at least a given number of the outermost frames of a spine.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Number of times that the program enters this level from elsewhere.
    entries: usize,
    /// Number of allocations of modules at this level.
    allocs: usize,
}

/// Computes a level for each number of shared frames; `depths` holds the number that each stay shares.
fn levels(stays: &[Stay], depths: &[usize], frames: usize) -> Vec<Level> {
    let mut levels = vec![Level::default(); frames + 1];
    let before = [0].into_iter().chain(depths.iter().copied());
    // Going from one depth to a greater one enters all levels between them, which the sums from the deepest level up
    // count.
    let mut left = vec![0; frames + 1];
    for ((stay, &depth), before) in stays.iter().zip(depths).zip(before) {
        levels[depth].allocs += if stay.in_module { stay.allocs as usize } else { 0 };
        if before < depth {
            levels[depth].entries += 1;
            left[before] += 1;
        }
    }
    for depth in (0..frames).rev() {
        let deeper = levels[depth + 1];
        levels[depth].allocs += deeper.allocs;
        levels[depth].entries += deeper.entries - left[depth];
    }
    levels
}

/// Returns the stays: allocations with Python frames, grouped by consecutive spines.
fn stays(device: &Device, sites: &Sites, events: Range<u32>) -> Vec<Stay> {
    let (actions, stacks) = (device.events.actions(), device.events.stacks());
    let mut stays: Vec<Stay> = Vec::new();
    for event in events {
        if actions.at(event as usize) != Action::Alloc {
            continue;
        }
        let site = sites.of_stack(stacks.at(event as usize));
        if site.spine == SpineId::NONE {
            continue;
        }
        // Without C++ frames, any allocation of the program outside its modules may be an input.
        let is_input = matches!(site.operation, Operation::Bring | Operation::Make | Operation::Unknown);
        let has_input = !site.in_module && is_input;
        match stays.last_mut().filter(|last| (last.spine, last.in_module) == (site.spine, site.in_module)) {
            Some(last) => {
                last.allocs += 1;
                last.last = event;
                last.has_input |= has_input;
            }
            None => {
                let Site { spine, in_module, .. } = site;
                stays.push(Stay { first: event, last: event, spine, in_module, allocs: 1, has_input });
            }
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    const MODULE: &str = "_call_impl@v/site-packages/torch/nn/modules/module.py";

    #[track_caller]
    fn check(source: &str, expected: Option<(usize, usize)>) {
        let trace = text::parse(source).unwrap();
        let device = &trace.devices[0];
        let found = find(device, &Sites::of(&trace), 0..device.events.len() as u32);
        assert_eq!(found.map(|rounds| (rounds.rounds.len(), rounds.calls)), expected);
    }

    #[test]
    fn calls_of_a_model_are_rounds() {
        let call = |index: usize| format!("alloc x{index} 8 @load<main\nalloc h{index} 8 @layer<{MODULE}<score<main\n");
        check(&(0..4).map(call).collect::<String>(), Some((4, 4)));
        check(&(0..2).map(call).collect::<String>(), None);
        // Layers of one call are none.
        let layer = |index: usize| format!("alloc h{index} 8 @layer<{MODULE}<forward<{MODULE}<main\n");
        check(&(0..8).map(layer).collect::<String>(), None);
        // Turns are coarser than tokens.
        let token =
            |name: String| format!("alloc h{name} 8 @layer<{MODULE}<reply<main\nalloc t{name} 8 @pick<reply<main\n");
        let turn = |turn: usize| {
            let tokens = (0..5).map(|index| token(format!("{turn}.{index}")));
            format!("alloc p{turn} 8 @ask\n") + &tokens.collect::<String>()
        };
        check(&(0..4).map(turn).collect::<String>(), Some((4, 20)));
        // Turns that a function serves from one line, and one that follows a prompt of its own.
        let turn = |turn: usize| {
            let tokens = (0..5).map(|index| {
                let name = format!("{turn}.{index}");
                format!("alloc h{name} 8 @layer<{MODULE}<reply:34<main:50\nalloc t{name} 8 @pick<reply:35<main:50\n")
            });
            format!("alloc p{turn} 8 @pad<reply:30<main:50\n") + &tokens.collect::<String>()
        };
        check(&(0..4).map(turn).collect::<String>(), Some((4, 20)));
        check(&turn(0), Some((5, 5)));
    }
}

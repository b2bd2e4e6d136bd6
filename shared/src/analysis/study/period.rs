//! Finds the steps of a trace by its period: training repeats the same allocations in the same order.
//!
//! Idea: some allocations happen once per step: the embedding, the loss, the last layer.
//! Those of a repeated layer happen once per layer, so the coarsest cycle, with the fewest rounds, is the step.
//! The position in the cycle at which a step begins is arbitrary; the one with the fewest live bytes is used.
//! A [`Step`] may also be a call of a model.

use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::curve::sums;
use crate::base::ShortSort;
use crate::trace::{Action, Device};
use hashbrown::HashMap;

/// Allocations that must happen exactly once per round; fewer can be a coincidence.
const LEAST_MARKS: usize = 2;

/// Numbers of rounds that are tried, the smallest first.
const MOST_TRIES: usize = 64;

/// Fraction of marks that must be followed by the same mark one round later.
const LEAST_ORDERED: f64 = 0.95;

/// Fraction of the trace's events that the rounds must span.
const LEAST_SPAN: f64 = 0.4;

/// Fraction of its highest bytes by which the median step must rise above its start and its end.
const LEAST_RISE: f64 = 0.4;

/// The longest round may be at most 3 times as long as the median one.
const MOST_LONGER: u32 = 3;

/// Allocation that is part of a cycle.
#[derive(Clone, Copy)]
struct Mark {
    moment: u32,
    symbol: u32,
}

/// Returns the rounds of the coarsest cycle, or nothing if there is none.
pub(in crate::analysis) fn steps(device: &Device, allocations: &Allocations) -> Vec<Step> {
    let symbols = Symbols::of(device);
    let mut tries: Vec<(u32, usize)> = symbols.classes();
    tries.truncate(MOST_TRIES);
    let live = passing_bytes(device, allocations);
    let steps_of = |(rounds, marks): (u32, usize)| {
        let (all, marks) = in_step(symbols.marks(rounds), rounds as usize, marks)?;
        let steps = is_cycle(&all, marks, device.events.len()).then(|| cut(&all, marks, &live))?;
        rises_and_falls(&steps, &live).then_some(steps)
    };
    tries.into_iter().find_map(steps_of).unwrap_or_default()
}

/// Allocations as symbols, numbered by their stack or size, and how often each symbol occurs.
struct Symbols {
    of_allocs: Vec<Mark>,
    counts: Vec<u32>,
}

impl Symbols {
    /// Identifies allocations by their stack, which stays the same if batch sizes vary.
    ///
    /// If at most half of the allocations have frames, their size is used instead.
    fn of(device: &Device) -> Self {
        let actions = device.events.actions();
        let allocs = || (0..device.events.len()).filter(|&event| actions.at(event) == Action::Alloc);
        let (stacks, sizes) = (device.events.stacks(), device.events.sizes_bytes());
        let with_frames = allocs().filter(|&event| stacks.at(event).has_frames()).count();
        let by_stack = with_frames * 2 > allocs().count();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut counts = Vec::new();
        let mut of_allocs: Vec<Mark> = Vec::new();
        for event in allocs() {
            let key = if by_stack { stacks.at(event).index() as u64 } else { sizes.at(event) };
            let symbol = *numbers.entry(key).or_insert_with(|| {
                counts.push(0);
                counts.len() as u32 - 1
            });
            // An optimizer repeats the same allocation for each parameter; the whole run counts as one occurrence per
            // step.
            if of_allocs.last().is_none_or(|last| last.symbol != symbol) {
                counts[symbol as usize] += 1;
                of_allocs.push(Mark { moment: event as u32 + 1, symbol });
            }
        }
        Self { of_allocs, counts }
    }

    /// Returns the occurrence counts with the number of symbols that have each, in ascending order.
    fn classes(&self) -> Vec<(u32, usize)> {
        let mut classes: HashMap<u32, usize> = HashMap::new();
        self.counts.iter().for_each(|&count| *classes.entry(count).or_default() += 1);
        let mut classes: Vec<_> =
            classes.into_iter().filter(|&(rounds, marks)| rounds > 1 && marks >= LEAST_MARKS).collect();
        classes.sort_unstable();
        classes
    }

    /// Returns the allocations whose symbols occur `rounds` times.
    fn marks(&self, rounds: u32) -> Vec<Mark> {
        self.of_allocs.iter().filter(|mark| self.counts[mark.symbol as usize] == rounds).copied().collect()
    }
}

/// Keeps the symbols whose distances between rounds are near the median of their class, and returns their number.
///
/// Near means within 1/4 of the median distance.
fn in_step(all: Vec<Mark>, rounds: usize, marks: usize) -> Option<(Vec<Mark>, usize)> {
    let mut moments: HashMap<u32, Vec<u32>> = HashMap::with_capacity(marks);
    all.iter().for_each(|mark| moments.entry(mark.symbol).or_default().push(mark.moment));
    let pace = |round: usize| {
        let mut gaps: Vec<u32> = moments.values().map(|of| of[round] - of[round - 1]).collect();
        gaps.sort_unstable();
        gaps[gaps.len() / 2]
    };
    let paces: Vec<u32> = (1..rounds).map(pace).collect();
    let is_near =
        |of: &[u32]| of.windows(2).zip(&paces).all(|(pair, &pace)| (pair[1] - pair[0]).abs_diff(pace) <= pace / 4);
    moments.retain(|_, of| is_near(of));
    let kept: Vec<Mark> = all.into_iter().filter(|mark| moments.contains_key(&mark.symbol)).collect();
    (moments.len() >= LEAST_MARKS).then_some((kept, moments.len()))
}

/// Returns true if the rounds are steps, whose bytes fall again, and not layers or parameters, which build on one
/// another.
fn rises_and_falls(steps: &[Step], live: &[u64]) -> bool {
    let rise = |step: &Step| {
        let within = &live[step.start as usize..=step.end as usize];
        let highest = within.iter().copied().max().unwrap_or(0);
        (highest - within[0].max(within[within.len() - 1])) as f64 / highest.max(1) as f64
    };
    let mut rises: Vec<f64> = steps.iter().map(rise).collect();
    rises.short_sort_by(f64::total_cmp);
    rises.get(rises.len() / 2).is_some_and(|&rise| rise >= LEAST_RISE)
}

/// Returns true if the marks repeat round after round, with `marks` of them in each.
fn is_cycle(all: &[Mark], marks: usize, events: usize) -> bool {
    let pairs = all.len() - marks;
    let ordered = all.iter().zip(&all[marks..]).filter(|(one, next)| one.symbol == next.symbol).count();
    let span = f64::from(all[all.len() - 1].moment - all[0].moment);
    let mut lengths: Vec<u32> =
        all.iter().zip(&all[marks..]).step_by(marks).map(|(a, b)| b.moment - a.moment).collect();
    lengths.sort_unstable();
    let (middle, longest) = (lengths[lengths.len() / 2], lengths[lengths.len() - 1]);
    let rounds = (all.len() / marks) as f64;
    ordered as f64 >= LEAST_ORDERED * pairs as f64
        // About half a round is missing between the first and the last mark.
        && span * rounds / (rounds - 0.5) >= LEAST_SPAN * events as f64
        && longest <= middle.saturating_mul(MOST_LONGER)
}

/// Cuts the rounds where the fewest bytes are alive.
fn cut(all: &[Mark], marks: usize, live: &[u64]) -> Vec<Step> {
    let lowest_between = |left: u32, right: u32| {
        // The last of several equal minima is used, because a step begins with its first allocation.
        (left..right).rev().min_by_key(|&moment| live[moment as usize]).unwrap_or(left)
    };
    let gap = |mark: usize| lowest_between(all[mark - 1].moment, all[mark].moment);
    let rounds = all.len() / marks;
    let height = |turn: usize| -> u64 { (1..rounds).map(|round| live[gap(round * marks + turn) as usize] >> 10).sum() };
    let Some(turn) = (0..marks).filter(|turn| (rounds - 1) * marks + turn < all.len()).min_by_key(|&turn| height(turn))
    else {
        return Vec::new();
    };
    let firsts: Vec<usize> = (0..rounds).map(|round| round * marks + turn).collect();
    let mut cuts: Vec<u32> = firsts[1..].iter().map(|&first| gap(first)).collect();
    // The first step begins before its first mark by the shortest distance of the other steps.
    let lead = firsts[1..].iter().zip(&cuts).map(|(&first, &cut)| all[first].moment - cut).min().unwrap_or(0);
    cuts.insert(0, all[firsts[0]].moment.saturating_sub(lead));
    // The last step ends with the trace, unless much more follows: more than 5/4 of the longest step.
    let end = live.len() as u32 - 1;
    let longest = cuts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let last = cuts[cuts.len() - 1];
    cuts.push(if end - last <= longest + longest / 4 { end } else { last + longest });
    cuts.windows(2).map(|pair| Step { start: pair[0], end: pair[1] }).collect()
}

/// Returns the live bytes at every moment of allocations that are freed in the trace.
///
/// State and leaks are left out, because they raise each step above the one before.
pub(in crate::analysis) fn passing_bytes(device: &Device, allocations: &Allocations) -> Vec<u64> {
    let mut changes = vec![0_i64; device.events.len() + 1];
    for id in allocations.ids().filter(|id| allocations.died[id.index()] as usize <= device.events.len()) {
        let size_bytes = allocations.size_bytes[id.index()] as i64;
        changes[allocations.born_at(id.0) as usize] += size_bytes;
        if let Some(change) = changes.get_mut(allocations.died[id.index()] as usize) {
            *change -= size_bytes;
        }
    }
    sums(changes)
}

/// Training step: the events after the moment `start` up to the moment `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Moment before its first event.
    pub start: u32,
    /// Moment after its last event.
    pub end: u32,
}

impl Step {
    /// Returns true if the event that ends at this moment is part of the step.
    pub fn contains(&self, moment: u32) -> bool {
        self.start < moment && moment <= self.end
    }
}

//! Finds what a program does again in each step although once, or not at all, may be enough.
//!
//! Steps are the profiler's own, `ProfilerStep#7`; without at least three of them nothing is found. A few copies and reads
//! a step are normal: a batch, a loss.

use super::trace::{Course, Direction, MemoryEvent, Origin, Profile, Transfer};
use hashbrown::{HashMap, HashSet};
use shared::base::{ShortSort, StringId};
use std::cmp::Reverse;
use std::hash::Hash;

const FEWEST_STEPS: usize = 3;

/// Fewest copies of tensors to the GPU in each step; a batch of a transformer is up to six tensors.
const MANY_COPIES: usize = 8;

/// Fewest reads in each step; a loss and a norm of gradients are two.
const MANY_READS: usize = 5;

/// Least memory of a tensor, or of all contiguous copies of a step, that is worth a finding, 1 MiB.
const MUCH_BYTES: u64 = 1 << 20;

/// Least share of contiguous copies in what a step allocates, as its inverse.
const SHARE: u64 = 10;

const MOST_PLACES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HabitKind {
    /// The same tensors are copied from pageable memory within modules of the model.
    CopiesInModel,
    /// Many tensors are copied from pageable memory.
    CopiesToGpu,
    /// The program waits for many values of the GPU.
    Reads,
    /// `contiguous()` copies much memory.
    Contiguous,
    /// Tensors of the same sizes are created by the same functions.
    Creations,
}

/// What a program does in each step.
#[derive(Clone, Debug, PartialEq)]
pub struct Habit {
    pub kind: HabitKind,
    /// Device, for memory of a GPU.
    pub device: Option<u32>,
    pub steps: usize,
    /// Number of times in the step with the fewest.
    pub times: usize,
    /// Bytes in the step with the fewest.
    pub bytes: u64,
    /// Time that the program waited in all steps, in microseconds.
    pub wait_us: f64,
    /// Duration of all steps in microseconds.
    pub steps_us: f64,
    /// Operators or places with their numbers in all steps, the most frequent first.
    pub places: Vec<(StringId, usize)>,
}

struct Act {
    place: Option<StringId>,
    bytes: u64,
    wait_us: f64,
}

impl From<&Transfer> for Act {
    fn from(transfer: &Transfer) -> Self {
        let Transfer { place, operator, bytes, wait_us, .. } = *transfer;
        Self { place: place.or(operator), bytes, wait_us }
    }
}

impl From<&MemoryEvent> for Act {
    fn from(event: &MemoryEvent) -> Self {
        Self { place: event.function, bytes: event.bytes.unsigned_abs(), wait_us: 0.0 }
    }
}

/// Returns what the program does in each step.
pub fn habits(profile: &Profile) -> Vec<Habit> {
    if profile.steps.len() < FEWEST_STEPS {
        return Vec::new();
    }
    let transfers = in_steps(profile, &profile.transfers, |transfer| transfer.time_us);
    let of_transfers = [copies_in_model(&transfers), copies(&transfers), reads(&transfers)];
    let gpus = profile.courses.iter().filter(|course| course.gpu.is_some());
    let of_memory = gpus.flat_map(|course| {
        let steps = in_steps(profile, &course.events, |event| event.time_us);
        [contiguous(&steps, course), creations(&steps, course)]
    });
    let steps_us: f64 = profile.steps.iter().map(|(start_us, end_us)| end_us - start_us).sum();
    of_transfers.into_iter().chain(of_memory).flatten().map(|habit| Habit { steps_us, ..habit }).collect()
}

/// Divides what happened between the steps.
fn in_steps<'a, T>(profile: &Profile, all: &'a [T], time_us: impl Fn(&T) -> f64) -> Vec<Vec<&'a T>> {
    let mut steps: Vec<Vec<&T>> = vec![Vec::new(); profile.steps.len()];
    for one in all {
        let time_us = time_us(one);
        let after = profile.steps.partition_point(|(start_us, _)| *start_us <= time_us);
        let step = after.checked_sub(1).filter(|step| time_us < profile.steps[*step].1);
        if let Some(step) = step {
            steps[step].push(one);
        }
    }
    steps
}

/// Sums up what is meant of each step; `None` if a step has fewer than `fewest`.
fn habit<'a, T>(kind: HabitKind, steps: &[Vec<&'a T>], fewest: usize, is_meant: impl Fn(&T) -> bool) -> Option<Habit>
where
    Act: From<&'a T>,
{
    let acts = |step: &Vec<&'a T>| step.iter().filter(|one| is_meant(one)).map(|one| Act::from(one)).collect();
    let steps: Vec<Vec<Act>> = steps.iter().map(acts).collect();
    let times = steps.iter().map(Vec::len).min().filter(|times| *times >= fewest)?;
    let bytes = steps.iter().map(|acts| acts.iter().map(|act| act.bytes).fold(0, u64::saturating_add)).min()?;
    let mut places: HashMap<StringId, usize> = HashMap::new();
    for place in steps.iter().flatten().filter_map(|act| act.place) {
        *places.entry(place).or_default() += 1;
    }
    let mut places: Vec<(StringId, usize)> = places.into_iter().collect();
    places.short_sort_by_key(|&(place, times)| (Reverse(times), place));
    places.truncate(MOST_PLACES);
    let wait_us = steps.iter().flatten().map(|act| act.wait_us).sum();
    Some(Habit { kind, device: None, steps: steps.len(), times, bytes, wait_us, steps_us: 0.0, places })
}

/// Finds copies within layers that have the same place and size in each step; what the model itself copies may be its
/// batch.
fn copies_in_model(steps: &[Vec<&Transfer>]) -> Option<Habit> {
    let key = |transfer: &Transfer| {
        let is_within = transfer.direction == Direction::FromPageable && transfer.modules >= 2;
        is_within.then_some((transfer.place, transfer.bytes))
    };
    let same = in_each_step(steps, key);
    let is_again = |transfer: &Transfer| key(transfer).is_some_and(|key| same.contains(&key));
    habit(HabitKind::CopiesInModel, steps, 1, is_again)
}

/// Returns the keys that occur in every step.
fn in_each_step<T, K: Hash + Eq>(steps: &[Vec<&T>], key: impl Fn(&T) -> Option<K>) -> HashSet<K> {
    let keys = |step: &Vec<&T>| step.iter().filter_map(|one| key(one)).collect::<HashSet<K>>();
    let common = |mut same: HashSet<K>, here: HashSet<K>| {
        same.retain(|key| here.contains(key));
        same
    };
    steps.iter().map(keys).reduce(common).unwrap_or_default()
}

/// Finds many copies outside of layers.
fn copies(steps: &[Vec<&Transfer>]) -> Option<Habit> {
    let is_copy = |transfer: &Transfer| transfer.direction == Direction::FromPageable && transfer.modules < 2;
    habit(HabitKind::CopiesToGpu, steps, MANY_COPIES, is_copy)
}

fn reads(steps: &[Vec<&Transfer>]) -> Option<Habit> {
    habit(HabitKind::Reads, steps, MANY_READS, |transfer| transfer.direction != Direction::FromPageable)
}

/// Finds contiguous copies that are much of what each step allocates.
fn contiguous(steps: &[Vec<&MemoryEvent>], course: &Course) -> Option<Habit> {
    let all = steps.iter().map(|step| step.iter().map(|event| event.bytes.max(0).unsigned_abs()).sum::<u64>());
    let most = all.max().unwrap_or(0);
    let habit = habit(HabitKind::Contiguous, steps, 1, |event| event.origin == Origin::Contiguous)?;
    let is_much = habit.bytes >= MUCH_BYTES && habit.bytes >= most / SHARE;
    is_much.then_some(Habit { device: course.gpu, ..habit })
}

/// Finds large tensors that the same function creates in the same size in each step.
fn creations(steps: &[Vec<&MemoryEvent>], course: &Course) -> Option<Habit> {
    let key = |event: &MemoryEvent| {
        let is_large = event.origin == Origin::Created && event.bytes.unsigned_abs() >= MUCH_BYTES;
        is_large.then_some((event.function, event.bytes))
    };
    let same = in_each_step(steps, key);
    let is_again = |event: &MemoryEvent| key(event).is_some_and(|key| same.contains(&key));
    let habit = habit(HabitKind::Creations, steps, 1, is_again)?;
    Some(Habit { device: course.gpu, ..habit })
}

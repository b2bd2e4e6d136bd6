//! Determines which memory stays alive from step to step, grouped by allocating stack, and whether it will keep
//! growing.
//!
//! Idea: only allocations that are alive at the end of a step matter here. The bytes of a stack at these ends are its
//! levels, and the course of the levels tells a leak from memory that is allocated once or stops growing by itself.
//!
//! ```text
//! step ends            0    1    2    3    4    5    6    7
//! weights             10   10   10   10   10   10   10   10    no change in any step
//! optimizer state      8    8    8    8    8    8    8    8    settles: allocated in the first step only
//! last output          2    2    2    2    2    2    2    2    is renewed: another one in each step
//! losses kept          3    6    9   12   15   18   21   24    grows
//! compiled twice       5    9    9    9    9    9    9    9    warms up: no change after the first steps
//! masks by length      1    1    2    2    3    3    3    3    fills: as many masks as there are lengths
//! outputs of an epoch  2    4    6    8    0    2    4    6    is collected: all freed at once
//! logged each third    1    2    0    1    2    0    1    2    is bounded: each rise is followed by a fall
//! a table for metrics  0    0    0    5    5    5    5    5    jumps: allocated once
//! ```
//!
//! Cost: linear in the allocations; a group stores one change for each step at which its level changes.
//!
//! Invariant: a leak rises in each third of the trace; growth that ends has a class of its own and is never a problem.

mod course;

use self::course::{Change, Levels};
use crate::analysis::study::period::Step;
use crate::analysis::study::phases::{Phase, Phases};
use crate::analysis::track::allocations::{AllocationId, Allocations};
use crate::base::ShortSort;
use crate::trace::{Device, StackId};
use hashbrown::HashMap;
use std::cmp::Reverse;

pub use self::course::Course;

/// With fewer steps, memory that is allocated once cannot be told from memory that is allocated in each step.
const LEAST_STEPS: usize = 3;

/// Reason why the end of a step is higher than the state before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GrowthClass {
    /// It grows with each step until the trace ends.
    Leak,
    /// It is optimizer state that stopped growing, or that has no more tensors than its weights need.
    OptimizerState,
    /// It was allocated in the first steps, and nothing since.
    WarmUp,
    /// It filled up, is freed again regularly, or grows with the tokens of a generation.
    Cache,
    /// It was allocated once, after the first steps.
    OneOff,
}

crate::names!(
    GrowthClass {
        Leak => "leak" as "grows",
        OptimizerState => "optimizer-state" as "optimizer state",
        WarmUp => "warm-up" as "first steps",
        Cache => "cache" as "cache",
        OneOff => "one-off" as "one-time",
    }
    /// Returns the class in two words at most, for the rows of tables.
    fn words
);

/// Memory of one stack at the ends of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Stack of the allocations, [`StackId::NONE`] if they have none.
    pub stack: StackId,
    /// Common size of the allocations if they are grouped by size because they have no stack.
    pub size_bytes: Option<u64>,
    /// Part of a step in which most of their bytes were allocated.
    pub phase: Phase,
    pub course: Course,
    /// Reason why they raise the ends of steps.
    ///
    /// It is `None` for the model itself, for tensors that each step renews, without a rule, and with fewer than three
    /// steps.
    pub class: Option<GrowthClass>,
    /// Average rise in bytes from the end of a step to the end of the next; 0 unless they grow.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// Highest bytes at the end of any step.
    pub most_bytes: u64,
    /// Number of allocations at the end of the last step.
    pub end_count: u64,
    /// First step, from 0, at whose end there are more bytes than before it.
    pub first_rise: u32,
    /// Last step at whose end there are more bytes than before it.
    pub last_rise: u32,
    /// Steps from one rise to the next, on average; 1 if each step rises.
    pub every: u32,
    /// True if that is so each time, to one step.
    pub is_regular: bool,
    /// True if they grow although no allocation of an older step is left.
    ///
    /// Each step then replaces those of the step before by larger or more of them.
    pub is_replaced: bool,
    /// Average number of allocations that a step leaves, among those that stay alive longest.
    pub count_per_step: u64,
    /// Latest of them that is alive at the end of the last step.
    pub latest: Option<AllocationId>,
}

impl Kept {
    /// Sets another class; only a leak keeps its rate.
    pub(in crate::analysis) fn reclass(&mut self, class: Option<GrowthClass>) {
        self.bytes_per_step = if class == Some(GrowthClass::Leak) { self.bytes_per_step } else { 0 };
        self.class = class;
    }
}

/// Memory that the steps of a device leave alive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Groups with allocations of a step that were alive at its end: fastest growth first, then most bytes.
    pub kept: Vec<Kept>,
    pub steps: usize,
}

/// Totals of all groups of a class.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClassTotal {
    pub class: GrowthClass,
    /// Rise in bytes per step; 0 unless they leak.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// Number of allocations at the end of the last step.
    pub end_count: u64,
    /// Number of groups, by stack or, without stacks, by size.
    pub groups: u64,
    /// First step, from 0, in which any of them rose.
    pub first_rise: u32,
    /// Last step in which any of them rose.
    pub last_rise: u32,
}

impl Growth {
    /// Finds the memory that stays alive after steps; allocations from before the first step are left out.
    pub fn find(device: &Device, allocations: &Allocations, steps: &[Step], phases: &Phases) -> Self {
        let mut groups: HashMap<(StackId, u64), Group> = HashMap::new();
        let count = steps.len();
        for survivor in survivors(allocations, steps) {
            let stack = allocations.allocation_stack(survivor.id, device);
            // Without stacks, only the size distinguishes allocations.
            let key = if stack.has_frames() { (stack, 0) } else { (StackId::NONE, survivor.size_bytes) };
            let phase = phases.of_birth(allocations.born_at(survivor.id.0), stack);
            groups.entry(key).or_default().push(&survivor, phase, count);
        }
        let finished = groups.into_iter().map(|(key, group)| group.finish(key, count, phases.are_told()));
        let mut growth = Self { kept: finished.collect(), steps: count };
        growth.sort();
        growth
    }

    /// Sorts the groups again after a change of their classes.
    pub(in crate::analysis) fn sort(&mut self) {
        let key = |kept: &Kept| (Reverse((kept.bytes_per_step, kept.end_bytes)), kept.stack, kept.size_bytes);
        self.kept.short_sort_by_key(key);
    }

    /// Iterates over the groups that leak.
    pub fn growing(&self) -> impl Iterator<Item = &Kept> {
        self.of_class(GrowthClass::Leak)
    }

    pub fn of_class(&self, class: GrowthClass) -> impl Iterator<Item = &Kept> {
        self.kept.iter().filter(move |kept| kept.class == Some(class))
    }

    /// Returns the average rise from the end of a step to the end of the next, summed over all that leaks.
    pub fn bytes_per_step(&self) -> u64 {
        self.growing().map(|kept| kept.bytes_per_step).sum()
    }

    /// Returns the totals of each class that occurs, in the order of [`GrowthClass::ALL`].
    pub fn by_class(&self) -> Vec<ClassTotal> {
        GrowthClass::ALL.into_iter().filter_map(|class| self.total(class)).collect()
    }

    fn total(&self, class: GrowthClass) -> Option<ClassTotal> {
        let of_class = || self.of_class(class);
        Some(ClassTotal {
            class,
            first_rise: of_class().map(|kept| kept.first_rise).min()?,
            last_rise: of_class().map(|kept| kept.last_rise).max()?,
            bytes_per_step: of_class().map(|kept| kept.bytes_per_step).sum(),
            end_bytes: of_class().map(|kept| kept.end_bytes).sum(),
            end_count: of_class().map(|kept| kept.end_count).sum(),
            groups: of_class().count() as u64,
        })
    }
}

/// Allocation of a step that is alive at its end.
struct Survivor {
    id: AllocationId,
    size_bytes: u64,
    /// Step in which it was born.
    born: u32,
    /// First step at whose end it is no longer alive.
    gone: u32,
}

fn survivors<'a>(allocations: &'a Allocations, steps: &'a [Step]) -> impl Iterator<Item = Survivor> + 'a {
    let first = steps.first().map_or(u32::MAX, |step| step.start);
    let mut born = 0;
    let rows = allocations.ids().filter(move |&id| allocations.born_at(id.0) > first);
    rows.filter_map(move |id| {
        // Births are in order, and so are the steps that contain them.
        born += steps[born..].iter().take_while(|step| step.end < allocations.born_at(id.0)).count();
        let died = allocations.died[id.index()];
        steps.get(born).filter(|step| step.end < died)?;
        let gone = steps.partition_point(|step| step.end < died) as u32;
        Some(Survivor { id, size_bytes: allocations.size_bytes[id.index()], born: born as u32, gone })
    })
}

#[derive(Default)]
struct Group {
    /// Changes by step, in no particular order.
    changes: Vec<(u32, Change)>,
    /// Changes by step of birth, of those that are alive at the end of the last step and older than it.
    staying: Vec<(u32, Change)>,
    /// Steps of birth, ascending and distinct.
    births: Vec<u32>,
    bytes_by_phase: HashMap<Phase, u64>,
    /// Distinct steps of birth of the allocations that stay alive longest, and the number of these allocations.
    last_births: Vec<u32>,
    last_count: u64,
    latest: Option<(u32, AllocationId)>,
}

impl Group {
    fn push(&mut self, survivor: &Survivor, phase: Phase, steps: usize) {
        let bytes = survivor.size_bytes as i64;
        self.changes.push((survivor.born, Change { bytes, count: 1 }));
        if survivor.gone as usize == steps && survivor.born as usize + 1 < steps {
            self.staying.push((survivor.born, Change { bytes, count: 1 }));
        }
        self.changes.push((survivor.gone, Change { bytes: -bytes, count: -1 }));
        if self.births.last() != Some(&survivor.born) {
            self.births.push(survivor.born);
        }
        *self.bytes_by_phase.entry(phase).or_default() += survivor.size_bytes;
        if self.latest.is_some_and(|(gone, _)| gone < survivor.gone) {
            self.last_births.clear();
            self.last_count = 0;
        }
        if self.latest.is_none_or(|(gone, _)| gone <= survivor.gone) {
            self.last_count += 1;
            if self.last_births.last() != Some(&survivor.born) {
                self.last_births.push(survivor.born);
            }
        }
        self.latest = self.latest.max(Some((survivor.gone, survivor.id)));
    }

    fn finish(mut self, (stack, size_bytes): (StackId, u64), steps: usize, are_phases_told: bool) -> Kept {
        self.changes.short_sort_by_key(|&(step, _)| step);
        let levels = Levels::of(&self.changes, steps);
        let mut course = levels.course(&self.births);
        // A leak may hide among what comes and goes.
        let mut rising = &levels;
        let staying = Levels::of(&self.staying, steps);
        if levels.hides(course, &staying) {
            (course, rising) = (Course::Grows, &staying);
        }
        let phase = self.bytes_by_phase.into_iter().max_by_key(|&(phase, bytes)| (bytes, phase));
        let phase = phase.map_or(Phase::Unknown, |(phase, _)| phase);
        let grows = course == Course::Grows;
        let is_optimizer = are_phases_told && phase == Phase::Optimizer;
        Kept {
            stack,
            size_bytes: (!stack.has_frames()).then_some(size_bytes),
            phase,
            course,
            class: class_of(course, phase, is_optimizer).filter(|_| steps >= LEAST_STEPS),
            bytes_per_step: if grows { rising.bytes_per_step() } else { 0 },
            end_bytes: levels.last.bytes.max(0) as u64,
            most_bytes: levels.most_bytes(),
            end_count: levels.last.count.max(0) as u64,
            first_rise: rising.first_rise().unwrap_or(0),
            last_rise: rising.last_rise().unwrap_or(0),
            every: rising.every(),
            is_regular: rising.is_regular(),
            is_replaced: grows && is_replaced(&self.last_births, rising),
            count_per_step: self.last_count / (self.last_births.len() as u64).max(1),
            latest: self.latest.filter(|&(gone, _)| gone as usize == steps).map(|(_, id)| id),
        }
    }
}

/// Returns true if at the end only allocations of the latest step are left.
///
/// Those of the step before may be freed slightly later, after they were copied.
fn is_replaced(last_births: &[u32], levels: &Levels) -> bool {
    match last_births.len() {
        1 => true,
        2 => levels.count_before_last() <= levels.first.count,
        _ => false,
    }
}

fn class_of(course: Course, phase: Phase, is_optimizer: bool) -> Option<GrowthClass> {
    match course {
        Course::Grows => Some(GrowthClass::Leak),
        Course::Settles | Course::WarmsUp | Course::Jumps if is_optimizer => Some(GrowthClass::OptimizerState),
        // These are the weights themselves.
        Course::Settles if phase == Phase::Setup => None,
        Course::Settles | Course::WarmsUp => Some(GrowthClass::WarmUp),
        Course::Fills | Course::Bounded | Course::Collected | Course::Drains => Some(GrowthClass::Cache),
        Course::Jumps => Some(GrowthClass::OneOff),
        Course::Renewed | Course::Changes => None,
    }
}

#[cfg(test)]
mod tests;

//! What stays from step to step, by the stack that allocated it.
//!
//! Idea: an allocation matters here when it is alive at the end of a step; its stack's bytes there are a level for each
//! step, and the course of the levels tells a leak from what was allocated once.
//!
//! ```text
//! step ends            0    1    2    3    4
//! weights             10   10   10   10   10    stays: nothing new in any step
//! optimizer state      8    8    8    8    8    settles: new in the first step only
//! last output          2    2    2    2    2    is renewed: another one each step
//! losses kept          3    6    9   12   15    grows
//! a cache              0    0    5    5    5    is a one-off
//! ```
//!
//! Cost: linear in the allocations; a group keeps a change for each step at which it has another level.

use super::{AllocationId, Allocations, Phase, Phases, Steps};
use crate::trace::{Device, StackId};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// The number of equal parts of a trace in each of which a level has to rise to be called growing.
const PARTS: usize = 3;

/// How much of what a level has risen by it may fall again and still be growing: one in so many.
const MOST_FALLEN: u64 = 10;

/// How the bytes of a stack go from the end of a step to the end of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Course {
    /// More are there after each part of the trace: a leak, unless the trace is too short to see the end of it.
    Grows,
    /// Allocated in the first step, and there ever since: optimizer state, or gradients that are not cleared.
    Settles,
    /// Each step allocates them anew, and they are there until the next one has done so.
    Renewed,
    /// They came once or twice later on, or go up and down.
    Changes,
}

/// What one stack holds at the ends of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The stack of the allocations, [`StackId::NONE`] where they have none.
    pub stack: StackId,
    /// The size that they have in common, where they are a group by that for want of a stack.
    pub size_bytes: Option<u64>,
    /// The part of a step that most of their bytes were allocated in.
    pub phase: Phase,
    /// How their bytes go on.
    pub course: Course,
    /// The average rise in bytes from the end of a step to the end of the next; 0 unless they grow.
    pub bytes_per_step: u64,
    /// Bytes at the end of the last step.
    pub end_bytes: u64,
    /// How many allocations those are.
    pub end_count: u64,
    /// Whether they grow by size and not by number: one allocation takes the place of a smaller one.
    pub is_replaced: bool,
    /// The latest of them that is there at the end of the last step.
    pub latest: Option<AllocationId>,
}

/// What the steps of a device leave behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// The groups with allocations of a step that were there at its end: what grows most first, then by bytes.
    pub kept: Vec<Kept>,
    /// How many steps there are.
    pub steps: usize,
}

impl Growth {
    /// Finds what stays after steps; allocations from before the first step are left out.
    pub fn find(device: &Device, allocations: &Allocations, steps: &Steps, phases: &Phases) -> Self {
        let mut groups: HashMap<(StackId, u64), Group> = HashMap::new();
        for survivor in survivors(allocations, steps) {
            let stack = allocations.allocation_stack(survivor.id, device);
            // Without a stack, size is all that tells things apart.
            let key = if stack.has_frames() { (stack, 0) } else { (StackId::NONE, survivor.size_bytes) };
            let phase = phases.of_birth(allocations.born_at(survivor.id.0), stack);
            groups.entry(key).or_default().push(&survivor, phase);
        }
        let count = steps.steps.len();
        let mut kept: Vec<Kept> = groups.into_iter().map(|(key, group)| group.finish(key, count)).collect();
        kept.sort_unstable_by_key(|kept| (Reverse((kept.bytes_per_step, kept.end_bytes)), kept.stack, kept.size_bytes));
        Self { kept, steps: count }
    }

    /// The groups that grow.
    pub fn growing(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().filter(|kept| kept.course == Course::Grows)
    }

    /// By how many bytes the end of a step is higher than the end of the one before, of all that grows.
    pub fn bytes_per_step(&self) -> u64 {
        self.growing().map(|kept| kept.bytes_per_step).sum()
    }
}

/// An allocation of a step that is there at its end.
struct Survivor {
    id: AllocationId,
    size_bytes: u64,
    /// The step that it was born in.
    born: u32,
    /// The first step at whose end it is gone.
    gone: u32,
}

fn survivors<'a>(allocations: &'a Allocations, steps: &'a Steps) -> impl Iterator<Item = Survivor> + 'a {
    let first = steps.steps.first().map_or(u32::MAX, |step| step.start);
    let step_of_end = |moment: u32| steps.steps.partition_point(|step| step.end < moment) as u32;
    let rows = allocations.ids().filter(move |&id| allocations.born_at(id.0) > first);
    rows.filter_map(move |id| {
        let born = step_of_end(allocations.born_at(id.0));
        let gone = step_of_end(allocations.died[id.index()]);
        (born < gone).then(|| Survivor { id, size_bytes: allocations.size_bytes[id.index()], born, gone })
    })
}

/// Bytes and allocations that a step's end has more than the one before.
#[derive(Clone, Copy, Default)]
struct Change {
    bytes: i64,
    count: i64,
}

#[derive(Default)]
struct Group {
    /// By step, in no order.
    changes: Vec<(u32, Change)>,
    /// The steps of birth, ascending, each once.
    births: Vec<u32>,
    bytes_by_phase: HashMap<Phase, u64>,
    latest: Option<(u32, AllocationId)>,
}

impl Group {
    fn push(&mut self, survivor: &Survivor, phase: Phase) {
        let bytes = survivor.size_bytes as i64;
        self.changes.push((survivor.born, Change { bytes, count: 1 }));
        self.changes.push((survivor.gone, Change { bytes: -bytes, count: -1 }));
        if self.births.last() != Some(&survivor.born) {
            self.births.push(survivor.born);
        }
        *self.bytes_by_phase.entry(phase).or_default() += survivor.size_bytes;
        self.latest = self.latest.max(Some((survivor.gone, survivor.id)));
    }

    fn finish(mut self, (stack, size_bytes): (StackId, u64), steps: usize) -> Kept {
        self.changes.sort_unstable_by_key(|&(step, _)| step);
        let levels = Levels::of(&self.changes, steps);
        let course = self.course(&levels, steps);
        let phase = self.bytes_by_phase.into_iter().max_by_key(|&(phase, bytes)| (bytes, phase));
        let rise = levels.last.bytes - levels.first.bytes;
        let grows = course == Course::Grows;
        Kept {
            stack,
            size_bytes: (!stack.has_frames()).then_some(size_bytes),
            phase: phase.map_or(Phase::Unknown, |(phase, _)| phase),
            course,
            bytes_per_step: if grows { rise.max(0) as u64 / (steps as u64 - 1) } else { 0 },
            end_bytes: levels.last.bytes as u64,
            end_count: levels.last.count as u64,
            is_replaced: grows && levels.last.count <= levels.first.count,
            latest: self.latest.filter(|&(gone, _)| gone as usize == steps).map(|(_, id)| id),
        }
    }

    fn course(&self, levels: &Levels, steps: usize) -> Course {
        let parts = PARTS.min(steps - 1);
        if steps > 2 && levels.rising_parts == parts && levels.fallen * MOST_FALLEN <= levels.risen {
            return Course::Grows;
        }
        match self.births.as_slice() {
            [0] if levels.last.bytes == levels.first.bytes => Course::Settles,
            // The last step may be cut short.
            births if births.len() + 1 >= steps && births.len() > 1 => Course::Renewed,
            _ => Course::Changes,
        }
    }
}

/// What the levels of a group come to.
struct Levels {
    first: Change,
    last: Change,
    /// The sum of all rises after the first level.
    risen: u64,
    /// The sum of all falls.
    fallen: u64,
    /// In how many parts of the trace the level rises.
    rising_parts: usize,
}

impl Levels {
    /// From changes sorted by step.
    fn of(changes: &[(u32, Change)], steps: usize) -> Self {
        let pairs = steps.saturating_sub(1).max(1);
        let parts = PARTS.min(pairs);
        let mut levels =
            Self { first: Change::default(), last: Change::default(), risen: 0, fallen: 0, rising_parts: 0 };
        let mut rises = [false; PARTS];
        for of_step in changes.chunk_by(|one, next| one.0 == next.0) {
            let step = of_step[0].0 as usize;
            if step >= steps {
                break;
            }
            let bytes: i64 = of_step.iter().map(|(_, change)| change.bytes).sum();
            levels.last.bytes += bytes;
            levels.last.count += of_step.iter().map(|(_, change)| change.count).sum::<i64>();
            match step {
                0 => levels.first = levels.last,
                _ if bytes > 0 => {
                    levels.risen += bytes as u64;
                    rises[(step - 1) * parts / pairs] = true;
                }
                _ => levels.fallen += bytes.unsigned_abs(),
            }
        }
        levels.rising_parts = rises.into_iter().filter(|&rises| rises).count();
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::random_trace;
    use super::super::{Step, StepSource};
    use super::*;
    use crate::trace::{Action, text};

    /// The growth of a trace with a step at each `snapshot`.
    fn growth(source: &str) -> Growth {
        let trace = text::parse(source).unwrap();
        let device = &trace.devices[0];
        Growth::find(device, &Allocations::pair(device), &steps(device), &Phases::default())
    }

    /// Steps that end with the `snapshot` events.
    fn steps(device: &Device) -> Steps {
        let rows = device.events.actions().iter().enumerate();
        let ends: Vec<u32> =
            rows.filter(|(_, action)| *action == Action::Snapshot).map(|(event, _)| event as u32 + 1).collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let steps = starts.zip(&ends).map(|(start, &end)| Step { start, end }).collect();
        Steps { source: StepSource::Annotations, steps }
    }

    /// Checks the groups, written as `function: course, bytes a step, bytes at the end`.
    #[track_caller]
    fn check(steps: usize, body: impl Fn(usize) -> String, expected: &[&str]) {
        let source: String = (0..steps).map(|step| body(step) + "\nsnapshot\n").collect();
        let found = growth(&source);
        let trace = text::parse(&source).unwrap();
        let name = |stack| trace.strings.get(trace.frames.get(trace.stacks.frames(stack)[0]).name);
        let row = |kept: &Kept| {
            format!("{}: {:?}, {}, {}", name(kept.stack), kept.course, kept.bytes_per_step, kept.end_bytes)
        };
        assert_eq!(found.kept.iter().map(row).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn courses_of_the_worked_example() {
        let body = |step: usize| {
            let mut lines = vec![format!("alloc l.{step} 3 @losses"), format!("alloc o.{step} 2 @output")];
            lines.extend(step.checked_sub(1).map(|older| format!("free o.{older}")));
            lines.extend((step == 0).then(|| "alloc s 8 @state".to_owned()));
            lines.extend((step == 2).then(|| "alloc c 5 @cache".to_owned()));
            lines.join("\n")
        };
        let expected =
            ["losses: Grows, 3, 15", "state: Settles, 0, 8", "cache: Changes, 0, 5", "output: Renewed, 0, 2"];
        check(5, body, &expected);
    }

    #[test]
    fn what_falls_again_does_not_grow() {
        let body = |step: usize| match step % 3 {
            0 => format!("alloc a.{step} 4 @f"),
            1 => format!("alloc b.{step} 4 @f"),
            _ => format!("free a.{}\nfree b.{}", step - 2, step - 1),
        };
        check(8, body, &["f: Changes, 0, 8"]);
    }

    #[test]
    fn a_leak_of_some_steps_grows() {
        let body = |step: usize| if step % 4 == 3 { format!("alloc a.{step} 16 @f") } else { String::new() };
        check(20, body, &["f: Grows, 4, 80"]);
    }

    #[test]
    fn what_takes_the_place_of_a_smaller_one_is_replaced() {
        let body = |step: usize| {
            let older = step.checked_sub(1).map_or_else(String::new, |older| format!("\nfree a.{older}"));
            format!("alloc a.{step} {} @cat{older}", step + 1)
        };
        let source: String = (0..4).map(|step| body(step) + "\nsnapshot\n").collect();
        assert!(growth(&source).kept[0].is_replaced);
        check(4, body, &["cat: Grows, 1, 4"]);
    }

    #[test]
    fn levels_agree_with_a_look_at_each_end() {
        for seed in 0..60 {
            let trace = random_trace(seed, 200 + seed);
            let device = &trace.devices[0];
            let steps = steps(device);
            if steps.steps.is_empty() {
                continue;
            }
            let allocations = Allocations::pair(device);
            let found = Growth::find(device, &allocations, &steps, &Phases::default());
            let last = steps.steps[steps.steps.len() - 1].end;
            let mut expected: HashMap<StackId, u64> = HashMap::new();
            for id in allocations.ids() {
                let row = allocations.get(id, device);
                let survives = steps.steps.iter().any(|step| step.contains(row.born) && row.died > step.end);
                if survives && !allocations.is_initial(id) {
                    let bytes = if row.died > last { row.size_bytes } else { 0 };
                    *expected.entry(row.stack).or_default() += bytes;
                }
            }
            let found: HashMap<StackId, u64> = found.kept.iter().map(|kept| (kept.stack, kept.end_bytes)).collect();
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}

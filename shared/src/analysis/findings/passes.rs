//! Several forward passes whose graphs are there at once, before one backward.
//!
//! Idea: each pass of a micro-batch ends with a number, its loss. Where a program calls its model several times from
//! one line, and as many numbers or inputs wait for backward, their losses were put together first. Layers that are
//! alike, two views of one sample or a second network leave no loss each. Where backward ran in between and nothing
//! went, it was told to keep the graph.

use super::own_code::{Own, line_of};
use super::staying::is_little;
use super::{Confidence, Evidence, Finding, Rank, top_stacks};
use crate::analysis::sites::{Operation, SpineId};
use crate::analysis::{ForwardPass, Phase, Step, Study};
use crate::base::{Severity, format};
use crate::trace::{Action, StackId};
use hashbrown::HashMap;

/// With fewer stacks, single tensors would look like a graph.
const LEAST_STACKS: usize = 5;

/// A stack with less than this share of a pass may come once though the pass comes several times: one in so many.
const LEAST_OF_PASS: u64 = 1000;

/// The share of the stacks of a pass that may be the seldom ones without a say in the number: one in so many.
const SELDOM: usize = 10;

/// A call is a pass where at least this share of what waits for backward is of it: one in so many.
const LEAST_WAITING: u64 = 64;

/// Two passes may be two views of one sample, or what is real and what is made up.
const LEAST_PASSES: u64 = 3;

/// A loss is a number of so many bytes at most.
const NUMBER_BYTES: u64 = 8;

/// The finding, going by the middle step.
pub(super) fn finding(study: &Study<'_>, pass: &ForwardPass) -> Option<Finding> {
    if is_little(study, pass.bytes) {
        return None;
    }
    let steps = study.repeats();
    let step = steps[steps.len() / 2];
    let (passes, stack) = if has_program(study, pass) {
        let (passes, stack) = calls(study, step, pass)?;
        (passes, Some(stack))
    } else {
        (by_stacks(pass)?, None)
    };
    let line = stack.and_then(|stack| line_of(study, stack, Own::Call));
    let from = line.as_ref().map_or_else(String::new, |line| format!(", called from {}", line.place()));
    Some(Finding {
        code: "several-graphs-at-once",
        severity: Severity::Warning,
        confidence: Confidence::Medium,
        rank: Rank::Cause,
        device: study.device.index,
        bytes: pass.bytes / passes * (passes - 1),
        title: format!(
            "{passes} forward passes come before one backward{from}: their graphs hold {}",
            format::bytes(pass.bytes)
        ),
        line,
        evidence: Evidence {
            shows: format!(
                "After event {} {} hold what forward keeps for backward, and {passes} losses wait for it.",
                format::count(u64::from(pass.moment).saturating_sub(1)),
                format::counted(pass.by_stack.len() as u64, "stack"),
            ),
            events: pass.moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(pass.by_stack.iter().map(|(&stack, row)| (row.bytes, stack))),
        },
        advice: "Losses of several micro-batches are added up or stacked before `backward()`. Call \
                 `(loss / n).backward()` for each micro-batch: gradients add up by themselves, and one graph is there \
                 at a time. A pipeline's schedule does this on purpose."
            .to_owned(),
    })
}

/// Whether the pass has stacks of a program in Python, whose calls can be counted.
fn has_program(study: &Study<'_>, pass: &ForwardPass) -> bool {
    pass.by_stack.keys().any(|&stack| study.sites.of_stack(stack).spine != SpineId::NONE)
}

/// Calls of a model from one place.
#[derive(Clone, Copy)]
struct Calls {
    stack: StackId,
    /// How many there are with enough that waits for backward.
    count: u64,
    /// What waits of the latest.
    waiting_bytes: u64,
}

/// How often the model is called from one place before backward, with a graph and a loss each that wait for it.
fn calls(study: &Study<'_>, step: Step, pass: &ForwardPass) -> Option<(u64, StackId)> {
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let allocations = &study.timeline.allocations;
    let mut called: HashMap<SpineId, Calls> = HashMap::new();
    let mut before = None;
    let mut numbers = 0;
    let mut inputs: HashMap<StackId, u64> = HashMap::new();
    for event in step.start..pass.moment {
        if actions.at(event as usize) != Action::Alloc {
            continue;
        }
        let stack = stacks.at(event as usize);
        let site = study.sites.of_stack(stack);
        if site.spine == SpineId::NONE {
            continue;
        }
        let is_forward = study.phases.of_birth(event + 1, stack) == Phase::Forward;
        let id = allocations.of_event(event as usize)?;
        let waits = is_forward && allocations.dies_after(id, pass.moment);
        if site.in_module {
            let calls = called.entry(site.spine).or_insert(Calls { stack, count: 0, waiting_bytes: 0 });
            if before != Some((site.spine, true)) {
                calls.waiting_bytes = 0;
            }
            let is_enough = |bytes: u64| bytes.saturating_mul(LEAST_WAITING) >= pass.bytes;
            let was_enough = is_enough(calls.waiting_bytes);
            calls.waiting_bytes += if waits { allocations.size_bytes(id) } else { 0 };
            calls.count += u64::from(!was_enough && is_enough(calls.waiting_bytes));
        }
        before = Some((site.spine, site.in_module));
        numbers += u64::from(waits && allocations.size_bytes(id) <= NUMBER_BYTES);
        let is_input = !site.in_module && matches!(site.operation, Operation::Bring | Operation::Make);
        if is_input && allocations.dies_after(id, pass.moment) {
            *inputs.entry(stack).or_default() += 1;
        }
    }
    let most = called.values().max_by_key(|calls| (calls.count, std::cmp::Reverse(calls.stack)))?;
    let is_told = numbers >= most.count || inputs.values().any(|&count| count >= most.count);
    (most.count >= LEAST_PASSES && is_told).then_some((most.count, most.stack))
}

/// The same by how many tensors of each stack wait for backward, where no program tells its calls.
fn by_stacks(pass: &ForwardPass) -> Option<u64> {
    let rows = pass.by_stack.values().filter(|row| row.bytes.saturating_mul(LEAST_OF_PASS) >= pass.bytes);
    let mut counts: Vec<u64> = rows.map(|row| row.count).collect();
    counts.sort_unstable();
    (counts.len() >= LEAST_STACKS && counts[0] > 1).then(|| counts[counts.len() / SELDOM])
}

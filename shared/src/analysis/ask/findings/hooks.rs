//! Finds hooks that are registered again and again, so that a line runs more often with every epoch.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, own_line};
use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::base::format;
use crate::trace::{Action, FrameId, StackId};
use hashbrown::HashMap;

/// At the end the line runs at least so many times as often as at first.
const LEAST_TIMES: u64 = 3;

/// Less than 1/20 of the peak is not reported.
const LEAST_SHARE: u64 = 20;

pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let hooks = hooks(study);
    if hooks.is_empty() {
        return None;
    }
    let (rising, first, last) = most_rising(study, &hooks)?;
    let (moment, peak_bytes) = study.timeline.live_peak();
    let groups = live_by_stack(study.device, &study.timeline.allocations, moment);
    let of_hook = groups.into_iter().filter(|group| hooks.get(&group.stack) == Some(&rising));
    let rows: Vec<(u64, StackId)> = of_hook.map(|group| (group.bytes, group.stack)).collect();
    let bytes: u64 = rows.iter().map(|row| row.0).sum();
    if bytes.saturating_mul(LEAST_SHARE) < peak_bytes {
        return None;
    }
    let what = format!("Hooks are registered again and again: they hold {} at the peak", format::bytes(bytes));
    let shows = format!(
        "A hook of a module allocates {} in the first step at one place and {last} in the last one, while the modules run as often as \
         before.",
        format::counted(first, "time")
    );
    let own = own_line(study, rows.iter().copied(), Own::Innermost);
    let found = Finding::warning(study, FindingCode::ActivationsKept, Confidence::Medium, Rank::Cause, bytes);
    Some(found.placed(&what, ", in ", own).shown(shows, moment.checked_sub(1), rows).advised(
        "Register each hook once, before the first epoch, or remove it when its epoch is over: ``handle.remove()``, with \
         what `register_forward_hook` returns.\n\
         Store a small copy of what a hook keeps, in host memory: ``output.detach().cpu()``.\n\n\
         Each registration adds a hook. All of them run in every call, and each keeps what it stored last, with the object \
         that it belongs to.",
    ))
}

/// Returns the stacks within hooks of modules, each with the line of the hook: what a module calls beside its `forward`.
fn hooks(study: &Study<'_>) -> HashMap<StackId, FrameId> {
    let trace = study.trace;
    let is_module =
        |frame: FrameId| trace.frame_text(frame).1.replace('\\', "/").ends_with("torch/nn/modules/module.py");
    let is_hook = |frame: FrameId| trace.frame_kind(frame).is_own && trace.frame_text(frame).0 != "forward";
    let of_stack = |stack: StackId| {
        let called = trace.stacks.frames(stack).windows(2).find(|pair| is_module(pair[1]) && !is_module(pair[0]))?;
        is_hook(called[0]).then_some((stack, called[0]))
    };
    let hooked = trace.stacks.ids().filter(|&stack| study.sites.of_stack(stack).is_hooked);
    hooked.filter_map(of_stack).collect()
}

/// Returns the hook that rises most at one place, with how often it allocates there in the first and in the last step in
/// which it does.
fn most_rising(study: &Study<'_>, hooks: &HashMap<StackId, FrameId>) -> Option<(FrameId, u64, u64)> {
    let (actions, stacks) = (study.device.events.actions(), study.device.events.stacks());
    let mut counts: HashMap<StackId, Vec<u64>> = HashMap::new();
    let mut of_modules = Vec::new();
    for step in study.repeats() {
        let mut own: HashMap<StackId, u64> = HashMap::new();
        let mut others = 0_u64;
        for event in (step.start..step.end).filter(|&event| actions.at(event as usize) == Action::Alloc) {
            let stack = stacks.at(event as usize);
            match hooks.contains_key(&stack) {
                true => *own.entry(stack).or_default() += 1,
                false => others += u64::from(study.sites.of_stack(stack).in_module),
            }
        }
        of_modules.extend((others > 0).then_some(others));
        own.into_iter().for_each(|(stack, count)| counts.entry(stack).or_default().push(count));
    }
    // A model that grows runs its hooks more often, too.
    let (&before, &after) = (of_modules.first()?, of_modules.last()?);
    if after > before.saturating_mul(LEAST_TIMES - 1) {
        return None;
    }
    let rising = counts.into_iter().filter_map(|(stack, counts)| {
        let (&first, &last) = (counts.first()?, counts.last()?);
        let rises = counts.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let is_rising = counts.is_sorted() && rises >= 2 && last >= first.saturating_mul(LEAST_TIMES);
        is_rising.then_some((stack, first, last))
    });
    let (stack, first, last) = rising.max_by_key(|&(stack, _, last)| (last, std::cmp::Reverse(stack)))?;
    Some((hooks[&stack], first, last))
}

//! What rises and ends: why memory is higher than after the first step, and that it is no leak.

use super::{Confidence, Evidence, Finding, events_of, top_stacks};
use crate::analysis::{Course, GrowthClass, Kept, Phase, Study};
use crate::base::{Severity, format};

/// Less than this share of the peak is not worth a word: one in so many.
const LEAST_SHARE: u64 = 100;

/// A note for each class of growth that ends.
pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    let classes = GrowthClass::ALL.into_iter().filter(|&class| class != GrowthClass::Leak);
    classes.filter_map(|class| finding(study, class)).collect()
}

fn finding(study: &Study<'_>, class: GrowthClass) -> Option<Finding> {
    let mut rows: Vec<&Kept> = study.growth.of_class(class).filter(|kept| !is_told_elsewhere(study, kept)).collect();
    rows.sort_by_key(|kept| std::cmp::Reverse(kept.most_bytes));
    let largest = rows.first()?;
    let sum = |of: fn(&Kept) -> u64| rows.iter().map(|kept| of(kept)).fold(0, u64::saturating_add);
    let (bytes, most_bytes) = (sum(|kept| kept.end_bytes), sum(|kept| kept.most_bytes));
    if most_bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 || most_bytes == 0 {
        return None;
    }
    let steps = study.growth.steps;
    let first = rows.iter().map(|kept| kept.first_rise).min()?;
    let last = rows.iter().map(|kept| kept.last_rise).max()?;
    let words = words(class, &rows, (first, last), steps);
    let count = format::counted(sum(|kept| kept.end_count), "allocation");
    let has_stacks = rows.iter().any(|kept| kept.stack.has_frames());
    let stacks = format::counted(rows.len() as u64, if has_stacks { "stack" } else { "size" });
    Some(Finding {
        code: words.code,
        severity: Severity::Info,
        confidence: words.confidence,
        device: study.device.index,
        bytes,
        title: words.title.replace("{bytes}", &format::bytes(if bytes > 0 { bytes } else { most_bytes })),
        evidence: Evidence {
            shows: format!(
                "The ends of {} were compared; at the last one it is {count} of {stacks}, {} of it from {}. {}",
                format::counted(steps as u64, "step"),
                format::bytes(largest.end_bytes),
                study.title(largest.stack),
                words.shows,
            ),
            events: events_of(study, &rows),
            stacks: top_stacks(rows.iter().map(|kept| (kept.most_bytes, kept.stack))),
        },
        advice: words.advice.to_owned(),
    })
}

/// Gradients that stay from the first step on have a warning of their own.
fn is_told_elsewhere(study: &Study<'_>, kept: &Kept) -> bool {
    study.phases.are_told() && kept.course == Course::Settles && kept.phase == Phase::Backward
}

struct Words {
    code: &'static str,
    title: String,
    shows: String,
    advice: &'static str,
    confidence: Confidence,
}

fn words(class: GrowthClass, rows: &[&Kept], (first, last): (u32, u32), steps: usize) -> Words {
    let number = |step: u32| u64::from(step) + 1;
    let quiet = format::counted((steps as u64).saturating_sub(number(last)), "step");
    let which = match first == last {
        true => format!("step {}", number(first)),
        false => format!("steps {} to {}", number(first), number(last)),
    };
    match class {
        GrowthClass::OptimizerState => Words {
            code: "optimizer-state",
            title: format!(
                "{{bytes}} came with the optimizer's first update, in {which} of {steps}, and stay as they are"
            ),
            shows: format!("The optimizer allocated it in {which}, and nothing that stays in the {quiet} after that."),
            advice: "This is no leak: an optimizer such as Adam makes its state in its first step, and keeps it. Measure \
                     memory from the second step on.",
            confidence: Confidence::High,
        },
        GrowthClass::WarmUp => Words {
            code: "warm-up",
            title: match first == last {
                true => format!("{{bytes}} came in {which} of {steps}, and stay"),
                false => format!("{{bytes}} came in the first steps, {which} of {steps}, and stay"),
            },
            shows: format!("None of these stacks holds more after the {quiet} that follow."),
            advice: "This is no leak: the first steps allocate what later ones use again, such as state of the optimizer, \
                     gradients, buffers and workspaces. Measure memory after them.",
            confidence: Confidence::Medium,
        },
        GrowthClass::Cache => cache_words(rows, (first, last), steps),
        // A stack that a leak will go on from looks the same until its next turn comes.
        _ => Words {
            code: "one-off-growth",
            title: format!("{{bytes}} came once, in {which} of {steps}, and stay"),
            shows: format!(
                "Each of these stacks rose at the end of one step alone; the last one was {quiet} before the end."
            ),
            advice: "This is no leak as far as the trace goes: something was made once, such as a buffer, a table, or a \
                     plan of a library. If it comes again every so many steps, as with an evaluation or a checkpoint, \
                     record more of them.",
            confidence: Confidence::Medium,
        },
    }
}

fn cache_words(rows: &[&Kept], (first, last): (u32, u32), steps: usize) -> Words {
    let is_bounded = rows[0].course == Course::Bounded;
    let (from, until) = (u64::from(first) + 1, u64::from(last) + 1);
    Words {
        code: "cache-fills",
        title: match is_bounded {
            true => "{bytes} go up and down from step to step, and lately no higher than before".to_owned(),
            false => format!(
                "{{bytes}} were added now and then, from step {from} to step {until} of {steps}, ever less of it"
            ),
        },
        shows: match is_bounded {
            true => "In the last third of the steps its highest level is not above that of the others.".to_owned(),
            false => {
                "It rose in several steps, and in the last third of them no more, or by less than half of what it \
                      rose by before."
                    .to_owned()
            }
        },
        advice: "This looks like a cache that fills up, or a list that is emptied, and not like a leak: a table with an entry \
                 for each size of batch, for example. Record more steps to see where it ends.",
        confidence: Confidence::Low,
    }
}

//! What is there longer than it need be, though it does not grow.

use super::own_code::OwnCode;
use super::{Confidence, Evidence, Finding, events_of, top_stacks};
use crate::analysis::categories::WORKSPACES_BYTES;
use crate::analysis::{Course, ForwardPass, Kept, Phase, Study};
use crate::base::{Severity, format};

/// Less than this share of the peak is not worth a word: one in so many.
const LEAST_SHARE: u64 = 100;

/// The share of the stacks of a forward pass that have to be there at the end of a step: one in so many.
const LEAST_OF_GRAPH: usize = 2;

/// With fewer stacks, single tensors would look like a graph.
const LEAST_STACKS: usize = 5;

/// A stack with less than this share of a pass may come once though the pass comes several times: one in so many.
const LEAST_OF_PASS: u64 = 1000;

/// The share of the stacks of a pass that may be the seldom ones without a say in the number: one in so many.
const SELDOM: usize = 10;

/// Gradients, graphs and recomputed activations that outlive their step, and passes that pile up within one.
pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    if !study.phases.are_told() {
        return Vec::new();
    }
    let Some(steps) = study.steps.as_ref() else { return Vec::new() };
    let pass = ForwardPass::of(study, steps.steps[steps.steps.len() / 2]);
    [gradients(study), graph(study, &pass), recomputed(study), passes(study, &pass)].into_iter().flatten().collect()
}

/// Gradients that the first step allocates and no step frees.
fn gradients(study: &Study<'_>) -> Option<Finding> {
    let mut rows = rows(study, Course::Settles, Phase::Backward);
    // A gradient may be as large as a workspace, but there is one workspace of a kind.
    for size_bytes in WORKSPACES_BYTES {
        let of_size = |kept: &&Kept| kept.end_count == 1 && kept.end_bytes == size_bytes;
        let first = rows.iter().enumerate().filter(|(_, kept)| of_size(kept)).min_by_key(|(_, kept)| kept.latest);
        if let Some((index, _)) = first {
            rows.remove(index);
        }
    }
    finding(
        study,
        &rows,
        "gradients-stay",
        "Gradients stay from step to step",
        "Backward allocates them in the first step only, and adds to them in the later ones.",
        "If the script never calls `optimizer.zero_grad()`, gradients of all steps add up, which is wrong as well: call \
         it in each step. With `set_to_none=False` or tch's `zero_grad` they are cleared but stay; \
         `zero_grad(set_to_none=True)` frees them until the next backward.",
    )
}

/// The graph of a step that goes only when the next step has made its own.
fn graph(study: &Study<'_>, pass: &ForwardPass) -> Option<Finding> {
    let rows = rows(study, Course::Renewed, Phase::Forward);
    let of_pass = rows.iter().filter(|kept| pass.by_stack.contains_key(&kept.stack)).count();
    if of_pass < LEAST_STACKS || of_pass * LEAST_OF_GRAPH < pass.by_stack.len() {
        return None;
    }
    finding(
        study,
        &rows,
        "graph-outlives-step",
        "A step's graph is still there while the next one is made",
        "Most of what forward keeps for backward is alive at the end of each step, and goes in the next one.",
        "`retain_graph=True` keeps what backward would have freed, and the name of the loss or of an output keeps the \
         graph. Leave `retain_graph` out, or `del loss, output` at the end of the step.",
    )
}

/// Recomputed activations that outlive the backward that they were computed for.
fn recomputed(study: &Study<'_>) -> Option<Finding> {
    let rows = rows(study, Course::Renewed, Phase::Recompute);
    finding(
        study,
        &rows,
        "recomputed-activations-stay",
        "Activations that checkpointing computes again stay after backward",
        "They are allocated by the recomputation within backward, and are there until the next step's takes their place.",
        "Something in the checkpointed layers keeps a tensor with its graph, such as `self.attended = attended`; it \
         undoes a part of what checkpointing saves. Keep `attended.detach()`, or nothing.",
    )
}

/// Several forward passes before the first backward.
fn passes(study: &Study<'_>, pass: &ForwardPass) -> Option<Finding> {
    let rows = pass.by_stack.values().filter(|row| row.bytes.saturating_mul(LEAST_OF_PASS) >= pass.bytes);
    let mut counts: Vec<u64> = rows.map(|row| row.count).collect();
    counts.sort_unstable();
    if counts.len() < LEAST_STACKS || counts[0] < 2 || is_little(study, pass.bytes) {
        return None;
    }
    let passes = counts[counts.len() / SELDOM];
    let bytes = pass.bytes / passes * (passes - 1);
    Some(Finding {
        code: "several-graphs-at-once",
        severity: Severity::Warning,
        confidence: Confidence::Medium,
        device: study.device.index,
        bytes,
        title: format!("{passes} forward passes come before backward: their graphs hold {}", format::bytes(pass.bytes)),
        evidence: Evidence {
            shows: format!(
                "After event {} {} hold what forward keeps for backward, most of them {passes} tensors or more each.",
                format::count(u64::from(pass.moment).saturating_sub(1)),
                format::counted(pass.by_stack.len() as u64, "stack"),
            ),
            events: pass.moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(pass.by_stack.iter().map(|(&stack, row)| (row.bytes, stack))),
        },
        advice:
            "Call backward for each micro-batch: gradients add up by themselves, and one graph is there at a time. A \
                 pipeline's schedule does this on purpose."
                .to_owned(),
    })
}

/// Whether bytes are next to nothing beside the peak.
fn is_little(study: &Study<'_>, bytes: u64) -> bool {
    bytes == 0 || bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1
}

/// The rows of a course and a phase.
fn rows<'a>(study: &'a Study<'_>, course: Course, phase: Phase) -> Vec<&'a Kept> {
    study.growth.kept.iter().filter(|kept| kept.course == course && kept.phase == phase).collect()
}

/// A finding about what is there at the ends of steps, unless it is next to nothing.
fn finding(
    study: &Study<'_>,
    rows: &[&Kept],
    code: &'static str,
    what: &str,
    shows: &str,
    advice: &str,
) -> Option<Finding> {
    let bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let own = OwnCode::of(study, rows.iter().map(|kept| (kept.end_bytes, kept.stack)));
    let look = own.map_or_else(String::new, |own| format!(" It is called from `{}`.", own.place));
    let mut by_bytes = rows.to_vec();
    by_bytes.sort_by_key(|kept| std::cmp::Reverse(kept.end_bytes));
    (!is_little(study, bytes)).then(|| Finding {
        code,
        severity: Severity::Warning,
        confidence: if study.growth.steps > 2 { Confidence::High } else { Confidence::Medium },
        device: study.device.index,
        bytes,
        title: format!("{what}: {} in {}", format::bytes(bytes), format::counted(count, "allocation")),
        evidence: Evidence {
            shows: shows.to_owned(),
            events: events_of(study, &by_bytes),
            stacks: top_stacks(rows.iter().map(|kept| (kept.end_bytes, kept.stack))),
        },
        advice: format!("{advice}{look}"),
    })
}

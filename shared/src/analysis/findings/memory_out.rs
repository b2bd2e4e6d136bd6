//! Each time that memory was out: what was asked for, what was free and why it did not help.

use super::{Confidence, Evidence, Finding, top_stacks};
use crate::analysis::{Fragmentation, Study, live_by_stack};
use crate::base::{Severity, format};
use crate::trace::{Action, Event, Setting};

/// A program that goes on after each failure may fail a thousand times.
const MOST_FINDINGS: usize = 3;

/// A finding for each of the first times that memory was out.
pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    let rows = study.device.events.actions().iter().enumerate();
    let ooms = rows.filter(|(_, action)| *action == Action::Oom).map(|(index, _)| index);
    ooms.take(MOST_FINDINGS).map(|index| finding(study, index)).collect()
}

fn finding(study: &Study<'_>, index: usize) -> Finding {
    let event = study.device.events.at(index);
    let parts = Fragmentation::at(study, index as u32);
    let groups = live_by_stack(study.device, &study.timeline.allocations, index as u32);
    let (asked, free) = (format::bytes(event.size_bytes), format::bytes(event.addr));
    let largest = groups.first().map(|group| (group.bytes, study.title(group.stack)));
    Finding {
        code: "out-of-memory",
        severity: Severity::Error,
        confidence: Confidence::High,
        device: study.device.index,
        bytes: event.size_bytes,
        title: format!(
            "Out of memory at event {}: {asked} asked for by {}, {free} free on the device",
            format::count(index as u64),
            study.title(event.stack)
        ),
        evidence: Evidence {
            shows: shows(&parts),
            events: vec![index as u32],
            stacks: [event.stack]
                .into_iter()
                .filter(|stack| stack.has_frames())
                .chain(top_stacks(groups.iter().map(|group| (group.bytes, group.stack))))
                .collect(),
        },
        advice: remedies(study, &event, &parts, largest),
    }
}

fn shows(parts: &Fragmentation) -> String {
    let mut text = format!(
        "PyTorch had {} reserved: {} live, {} free in segments in use, {} in unused segments",
        format::bytes(parts.reserved_bytes),
        format::bytes(parts.live_bytes),
        format::bytes(parts.free_in_used_bytes),
        format::bytes(parts.free_segment_bytes),
    );
    text += &format!(", {} lost to rounding.", format::bytes(parts.rounding_bytes + parts.unsplit_bytes));
    if parts.free_bytes() > 0 {
        text += &format!(" The longest free range had {}.", format::bytes(parts.largest_free_bytes));
    }
    text
}

/// What would have been enough, the least effort first.
fn remedies(study: &Study<'_>, event: &Event, parts: &Fragmentation, largest: Option<(u64, String)>) -> String {
    let mut remedies = Vec::new();
    let asked = event.size_bytes;
    let usable = parts.free_bytes() - parts.private_free_bytes.min(parts.free_bytes());
    let growth = study.growth.bytes_per_step();
    if growth > 0 {
        remedies.push(format!("Stop the growth of {} a step first.", format::bytes(growth)));
    }
    if usable.saturating_add(event.addr) >= asked && !is_expandable(study) {
        remedies.push(format!(
            "With `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` PyTorch can put the {} that are free together; that \
             may be enough.",
            format::bytes(usable)
        ));
    }
    if parts.private_free_bytes >= asked {
        remedies.push(format!(
            "{} are free in private pools, of CUDA graphs or a `MemPool`, where this request may not go: let graphs share \
             a pool.",
            format::bytes(parts.private_free_bytes)
        ));
    }
    let missing = asked.saturating_sub(usable.saturating_add(event.addr));
    if missing > 0 {
        remedies.push(format!("Even without any fragmentation {} were missing.", format::bytes(missing)));
    }
    if let Some((bytes, title)) = largest {
        remedies.push(format!(
            "Have less alive at this point, with a smaller micro-batch or activation checkpointing perhaps: the most, {}, \
             is from {title}.",
            format::bytes(bytes)
        ));
    }
    remedies.join(" ")
}

/// Whether segments may grow already.
pub(super) fn is_expandable(study: &Study<'_>) -> bool {
    study.trace.settings.get("expandable_segments") == Some(&Setting::Bool(true))
}

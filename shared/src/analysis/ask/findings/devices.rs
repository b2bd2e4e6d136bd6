//! Finds devices of one process that do not share the work.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, line_of};
use crate::analysis::study::categories::{CategoryBytes, live_by_category};
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::analysis::track::peak::live_by_stack;
use crate::base::format;

/// A device that keeps less than 1 MiB between steps has no model.
const LEAST_LASTING_BYTES: u64 = 1 << 20;

/// Peak from which a device is reported, in percent of the second highest peak.
const LEAST_UNEVEN_PERCENT: u64 = 150;

pub(super) fn findings(studies: &[Study<'_>]) -> Vec<Finding> {
    let (with_model, without): (Vec<_>, Vec<_>) =
        studies.iter().partition(|study| lasting_bytes(study) >= LEAST_LASTING_BYTES);
    let has_allocations =
        |study: &&&Study<'_>| study.timeline.allocations.len() > study.timeline.allocations.initial_count();
    let is_trained = with_model.iter().any(|study| study.steps.is_some());
    let idle = without.iter().filter(has_allocations).filter(|_| is_trained).filter(|study| !has_weights(study));
    let idle = idle.map(|study| without_weights(study));
    idle.chain(uneven(&with_model)).collect()
}

/// Returns true if parameters or optimizer state of at least 1 MiB are alive at the peak.
fn has_weights(study: &Study<'_>) -> bool {
    let is_model = |share: &CategoryBytes| {
        matches!(share.category, Category::Parameter | Category::OptimizerState) && share.bytes >= LEAST_LASTING_BYTES
    };
    live_by_category(study, study.timeline.live_peak().0).iter().any(is_model)
}

/// Returns the lowest live bytes at the ends of steps, or those at the end of a trace without steps.
fn lasting_bytes(study: &Study<'_>) -> u64 {
    let end = study.timeline.live_at(study.timeline.events());
    let steps = study.steps.iter().flat_map(|steps| &steps.steps);
    steps.map(|step| study.timeline.live_at(step.end)).min().unwrap_or(end)
}

fn without_weights(study: &Study<'_>) -> Finding {
    let (moment, peak_bytes) = study.timeline.live_peak();
    let groups = live_by_stack(study.device, &study.timeline.allocations, moment);
    let most = groups.first().map_or_else(String::new, |group| format!("; largest: {}", study.title(group.stack)));
    let index = study.device.index;
    let what = format!("GPU {index} has no weights, but steps allocate up to {} on it", format::bytes(peak_bytes));
    let shows = format!(
        "It holds {} at the end of a step, and up to {} within a step.",
        format::bytes(lasting_bytes(study)),
        format::bytes(peak_bytes)
    );
    let rows = groups.iter().map(|group| (group.bytes, group.stack));
    let code = FindingCode::DeviceWithoutWeights;
    let found = Finding::warning(study, code, Confidence::Medium, Rank::Cause, peak_bytes);
    found.titled(&what, [most]).shown(shows, moment.checked_sub(1), rows).advised(
        "Move inputs and targets to the model's device: ``targets = targets.to(output.device)``.\n\n\
         A part of each step runs on this GPU, perhaps the loss because the targets were moved there. The other \
         GPU waits for it, and this GPU needs a CUDA context only for that.",
    )
}

fn uneven(studies: &[&Study<'_>]) -> Option<Finding> {
    let peak = |study: &&&Study<'_>| study.timeline.live_peak().1;
    let highest = studies.iter().rev().max_by_key(peak)?;
    let others = studies.iter().filter(|study| study.device.index != highest.device.index);
    let other_bytes = others.map(|study| peak(&study)).max()?;
    let (moment, bytes) = highest.timeline.live_peak();
    if bytes < other_bytes.saturating_mul(LEAST_UNEVEN_PERCENT) / 100 {
        return None;
    }
    let groups = live_by_stack(highest.device, &highest.timeline.allocations, moment);
    let line = groups.iter().find_map(|group| line_of(highest, group.stack, Own::Call));
    let what = format!(
        "GPU {} peaks at {}, all others at {} or less",
        highest.device.index,
        format::bytes(bytes),
        format::bytes(other_bytes)
    );
    let shows = groups.first().map_or_else(String::new, |group| {
        let (bytes, title) = (format::bytes(group.bytes), highest.title(group.stack));
        format!("The largest part of this peak, {bytes}, is from {title}.")
    });
    let rows = groups.iter().map(|group| (group.bytes, group.stack));
    let (code, above_bytes) = (FindingCode::DevicesUneven, bytes - other_bytes);
    let found = Finding::warning(highest, code, Confidence::Medium, Rank::Cause, above_bytes);
    Some(found.placed(&what, "; largest: ", line).shown(shows, moment.checked_sub(1), rows).advised(
        "Use `DistributedDataParallel`, which uses the same amount of memory on every GPU.\n\
         Or, with `nn.DataParallel`, wrap the model and the loss in one module, so that each GPU computes its own \
         loss.\n\n\
         With `nn.DataParallel`, the first GPU gathers all outputs, sums the gradients and holds the optimizer \
         state. The GPU with the highest peak limits the batch size.",
    ))
}

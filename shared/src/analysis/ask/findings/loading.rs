//! Finds memory that building a model wastes: a peak at loading, or a checkpoint that stays alive.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::own_code::{Own, own_line, row_of};
use crate::analysis::study::phases::{Phase, PhaseBasis};
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::base::format;
use crate::trace::StackId;

/// At least 1/4 of the peak must be freed when the model is complete.
const LEAST_GONE: u64 = 4;

/// Less than 1/30 of the peak is not reported.
const LEAST_SHARE: u64 = 30;

pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    [peak(study), checkpoint(study)].into_iter().flatten().collect()
}

/// Reports a peak before the first pass of which at least 1/4 is freed before the model is complete.
///
/// Such a peak consists of weights that are replaced by smaller ones.
fn peak(study: &Study<'_>) -> Option<Finding> {
    let (moment, peak_bytes) = study.timeline.live_peak();
    if study.phases.basis() != PhaseBasis::Functions || study.phases.at(moment) != Phase::Setup {
        return None;
    }
    let setup_end = study.phases.setup_end();
    let allocations = &study.timeline.allocations;
    let is_gone = |id: AllocationId| !allocations.is_initial(id) && !allocations.dies_after(id, setup_end);
    let gone = allocations.alive_at(moment).filter(|&(id, _)| is_gone(id));
    let gone: Vec<(u64, StackId)> = gone.map(|(id, _)| row_of(study, id)).collect();
    let gone_bytes: u64 = gone.iter().map(|row| row.0).sum();
    if gone_bytes.saturating_mul(LEAST_GONE) < peak_bytes {
        return None;
    }
    let bytes = format::bytes(gone_bytes);
    let what = format!("The peak of {} is at loading: {bytes} of weights is replaced", format::bytes(peak_bytes));
    let shows =
        format!("The peak comes before the first forward pass, and {bytes} of it is freed before the model is ready.");
    let own = own_line(study, gone.iter().copied(), Own::Innermost);
    let found = Finding::note(study, FindingCode::PeakAtLoading, Confidence::High, Rank::Cause, gone_bytes);
    Some(found.placed(&what, ", in ", own).shown(shows, moment.checked_sub(1), gone).advised(
        "Create the weights in their final dtype: `from_pretrained(…, dtype=torch.bfloat16)` or \
         ``torch.set_default_dtype(torch.bfloat16)``.\n\
         Or convert the model on the CPU before you move it to the GPU.\n\n\
         The weights are created in float32 on the GPU and then converted, for example by `.half()` or \
         `.to(torch.bfloat16)`.",
    ))
}

/// Reports tensors that `torch.load` put on the device and that stay alive through all steps.
fn checkpoint(study: &Study<'_>) -> Option<Finding> {
    let (first, last) = (study.repeats().first()?.start, study.repeats().last()?.end);
    let allocations = &study.timeline.allocations;
    let is_loaded = |id: AllocationId| {
        let site = study.sites.of_stack(row_of(study, id).1);
        site.is_loaded && !site.in_module
    };
    let kept = allocations.alive_at(first).filter(|&(id, _)| allocations.dies_after(id, last - 1) && is_loaded(id));
    let rows: Vec<(u64, StackId)> = kept.map(|(id, _)| row_of(study, id)).collect();
    let bytes: u64 = rows.iter().map(|row| row.0).sum();
    if bytes == 0 || bytes.saturating_mul(LEAST_SHARE) < study.timeline.live_peak().1 {
        return None;
    }
    let what = format!("A loaded checkpoint stays on the GPU beside the model: {}", format::bytes(bytes));
    let shows = format!(
        "`torch.load` allocated {}, alive from before the first step until the end of the last.",
        format::counted(rows.len() as u64, "tensor")
    );
    let own = own_line(study, rows.iter().copied(), Own::Innermost);
    let found = Finding::warning(study, FindingCode::CheckpointKept, Confidence::Medium, Rank::Cause, bytes);
    Some(found.placed(&what, ", in ", own).shown(shows, first.checked_sub(1), rows).advised(
        "Load the checkpoint to host memory: ``torch.load(path, map_location=\"cpu\")``.\n\
         Delete it after use: ``del checkpoint``.\n\n\
         `load_state_dict` copies the weights into the model, so the GPU holds them twice.",
    ))
}

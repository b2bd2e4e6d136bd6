//! Finds many tiny tensors in use at the peak.

use super::advice::Advice;
use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Evidence, Finding, Rank, title_of_parts, top_stacks};
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};
use crate::trace::StackId;
use hashbrown::HashMap;

/// Size of PyTorch's smallest block (`kMinBlockSize` in `CUDACachingAllocator.cpp`), and the largest tiny request.
const BLOCK_BYTES: u64 = 512;

/// Fewer tiny tensors are not worth a note: the parameters of a large model and their optimizer state are some
/// thousand tensors.
const LEAST_COUNT: u64 = 10_000;

/// Reports tiny tensors at the peak, if there are many.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let allocations = &study.timeline.allocations;
    let (moment, _) = study.timeline.live_peak();
    let mut counts: HashMap<StackId, u64> = HashMap::new();
    let (mut count, mut requested_bytes) = (0_u64, 0_u64);
    for (id, size_bytes) in allocations.alive_at(moment).filter(|&(_, size_bytes)| size_bytes <= BLOCK_BYTES) {
        count += 1;
        requested_bytes += size_bytes;
        *counts.entry(allocations.allocation_stack(id, study.device)).or_default() += 1;
    }
    if count < LEAST_COUNT {
        return None;
    }
    let bytes = count * BLOCK_BYTES;
    let (&most, _) = counts.iter().max_by_key(|&(&stack, &count)| (count, stack))?;
    Some(Finding {
        code: FindingCode::TinyAllocations,
        severity: Severity::Info,
        confidence: Confidence::High,
        rank: Rank::Cause,
        device: study.device.index,
        bytes,
        at_peak: AtPeak::default(),
        title: title_of_parts(
            &format!("{} tensors of at most {BLOCK_BYTES} bytes are live at the peak", format::count(count)),
            [format!(", in {}", study.title(most))],
        ),
        line: None,
        evidence: Evidence {
            shows: format!(
                "They request {} and take {}, because the smallest block of PyTorch's allocator has {BLOCK_BYTES} bytes.",
                format::bytes(requested_bytes),
                format::bytes(bytes)
            ),
            events: moment.checked_sub(1).into_iter().collect(),
            stacks: top_stacks(counts.into_iter().map(|(stack, count)| (count, stack))),
        },
        advice: Advice::of(
            "Store single numbers as Python numbers: ``loss.item()``.\n\
             Or write many values into one tensor that is allocated once: ``losses[step] = loss.detach()``.\n\n\
             Each allocation also costs CPU time, which leaves the GPU idle when tensors are tiny.",
        ),
    })
}

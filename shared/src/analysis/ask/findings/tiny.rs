//! Finds many tiny tensors in use at the peak.

use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use crate::analysis::study::studied::Study;
use crate::base::format;
use crate::trace::StackId;
use hashbrown::HashMap;

/// Size of PyTorch's smallest block (`kMinBlockSize` in `CUDACachingAllocator.cpp`), and the largest tiny request.
const BLOCK_BYTES: u64 = 512;

/// Fewer tiny tensors are not worth a note: the parameters of a large model and their optimizer state are some
/// thousand tensors.
const LEAST_COUNT: u64 = 10_000;

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
    let what = format!("{} tensors of at most {BLOCK_BYTES} bytes are live at the peak", format::count(count));
    let shows = format!(
        "They request {} and take {}, because the smallest block of PyTorch's allocator has {BLOCK_BYTES} bytes.",
        format::bytes(requested_bytes),
        format::bytes(bytes)
    );
    let rows = counts.iter().map(|(&stack, &count)| (count, stack));
    let found = Finding::note(study, FindingCode::TinyAllocations, Confidence::High, Rank::Cause, bytes);
    let told = found.titled(&what, [format!(", in {}", study.title(most))]).shown(shows, moment.checked_sub(1), rows);
    Some(told.advised(
        "Store single numbers as Python numbers: ``loss.item()``.\n\
         Or write many values into one tensor that is allocated once: ``losses[step] = loss.detach()``.\n\n\
         Each allocation also costs CPU time, which leaves the GPU idle when tensors are tiny.",
    ))
}

//! Memory that is reserved and not used.

use super::memory_out::is_expandable;
use super::{Confidence, Evidence, Finding, tried};
use crate::analysis::{Fragmentation, Study};
use crate::base::{Severity, format};

/// Less reserved beyond the peak than this share is how the allocator works, in percent of the reserved.
const LEAST_PERCENT: u64 = 20;

/// From this share on it is worth an effort.
const WARNING_PERCENT: u64 = 33;

/// Less than this is not worth a word on any card.
const LEAST_BYTES: u64 = 64 << 20;

/// Reserved memory that is well above what was ever alive.
pub(super) fn finding(study: &Study<'_>) -> Option<Finding> {
    let (moment, reserved) = study.timeline.reserved_peak();
    let (_, live) = study.timeline.live_peak();
    let beyond = reserved.checked_sub(live)?;
    let percent = u128::from(beyond) * 100 / u128::from(reserved.max(1));
    if beyond < LEAST_BYTES || percent < u128::from(LEAST_PERCENT) {
        return None;
    }
    let parts = Fragmentation::at(study, moment);
    let advice = if is_expandable(study) {
        "Segments are expandable already. Batches of one size, or the longest one first, let blocks be used again."
    } else if parts.free_segment_bytes > parts.free_in_used_bytes {
        "Most of it is whole segments that nothing uses there: what an earlier peak has left, or memory of another \
         stream, which is not shared. Let the longest batch come first; \
         `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` lets blocks of other sizes use it."
    } else {
        "Most of it lies between blocks in use, where larger requests find no room, as with batches of many sizes. Set \
         `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, let the longest batch come first, or keep to one size."
    };
    // What was live before the trace is not known.
    let is_whole = study.timeline.allocations.initial_count() == 0;
    Some(Finding {
        code: "reserved-above-live",
        severity: if percent >= u128::from(WARNING_PERCENT) { Severity::Warning } else { Severity::Info },
        confidence: Confidence::High,
        device: study.device.index,
        bytes: beyond,
        title: format!(
            "PyTorch reserves {}, though never more than {} are live{}",
            format::bytes(reserved),
            format::bytes(live),
            if is_whole { "" } else { " in this trace" }
        ),
        evidence: Evidence {
            shows: format!(
                "Where the most is reserved, {} are live, {} are free in segments in use, {} are in unused segments, and \
                 {} are lost to rounding; the longest free range has {}.",
                format::bytes(parts.live_bytes),
                format::bytes(parts.free_in_used_bytes),
                format::bytes(parts.free_segment_bytes),
                format::bytes(parts.rounding_bytes + parts.unsplit_bytes),
                format::bytes(parts.largest_free_bytes),
            ),
            events: moment.checked_sub(1).into_iter().collect(),
            stacks: Vec::new(),
        },
        advice: [Some(advice.to_owned()), tried::less_reserved(study)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" "),
    })
}

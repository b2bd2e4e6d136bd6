//! Finds pinned host memory, of which each block is rounded up to a power of two.

use super::advice::Advice;
use super::code::FindingCode;
use super::evidence::{Evidence, top_stacks};
use super::finding::{Confidence, Finding, Rank};
use crate::base::{Severity, format};
use crate::trace::{Segment, Trace};

/// Least pinned memory that is worth a note, 256 MiB.
const LEAST_BYTES: u64 = 256 << 20;

/// Smallest block whose rounding matters, 1 MiB.
const LARGE_BYTES: u64 = 1 << 20;

/// Reports pinned host memory at the end of the recording.
///
/// PyTorch records rounded sizes only, so that the memory that rounding takes is not known. Source: `allocate` in
/// `aten/src/ATen/core/CachingHostAllocator.h`, and a recording of torch 2.15.
pub(super) fn finding(trace: &Trace) -> Option<Finding> {
    let host = trace.host.as_ref()?;
    let segments = &host.segments;
    let (held, used) = (segments.reserved_bytes(), segments.allocated_bytes());
    let large: Vec<&Segment> = segments.segments.iter().filter(|one| one.size_bytes >= LARGE_BYTES).collect();
    if held < LEAST_BYTES || !large.iter().all(|segment| segment.size_bytes.is_power_of_two()) {
        return None;
    }
    let most = large.iter().map(|segment| segment.size_bytes).max()?;
    let of_most = large.iter().filter(|segment| segment.size_bytes == most).count() as u64;
    let unused = match held.saturating_sub(used) {
        0 => String::new(),
        bytes => format!(" {} of it is in blocks that are free and kept for reuse.", format::bytes(bytes)),
    };
    Some(Finding {
        code: FindingCode::PinnedMemoryRounded,
        severity: Severity::Info,
        confidence: Confidence::High,
        rank: Rank::Reserved,
        device: host.index,
        bytes: held,
        title: format!("{} of pinned host memory is in blocks of powers of two", format::bytes(held)),
        line: None,
        evidence: Evidence {
            shows: format!(
                "The largest blocks are {} of {}.{unused} PyTorch records the rounded sizes only: a request of a little \
                 more than half of a block takes all of it.",
                format::count(of_most),
                format::bytes(most)
            ),
            events: Vec::new(),
            stacks: top_stacks(large.iter().map(|segment| (segment.size_bytes, segment.stack))),
        },
        advice: Advice::of(
            "Compare the sizes of what you pin with the blocks: a tensor of 65 MiB takes 128 MiB, and two of 32.5 MiB \
             take as much.\n\
             Pin buffers that are just below a power of two.\n\
             Or keep fewer batches (`prefetch_factor`, `num_workers`), or pin one large buffer and copy batches into it.",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Device, SegmentTable, SegmentType, StackId};

    fn found(sizes: &[u64]) -> Option<Finding> {
        let segment = |&size_bytes: &u64| Segment {
            addr: 1 << 40,
            size_bytes,
            allocated_bytes: if size_bytes == 8 << 20 { 0 } else { size_bytes },
            active_bytes: 0,
            requested_bytes: Some(size_bytes),
            stream: 0,
            segment_type: SegmentType::Small,
            pool: None,
            is_expandable: Some(false),
            stack: StackId::NONE,
            blocks: (0, 0),
        };
        let segments = SegmentTable { segments: sizes.iter().map(segment).collect(), ..SegmentTable::default() };
        finding(&Trace { host: Some(Device { index: -1, segments, ..Device::default() }), ..Trace::default() })
    }

    /// The blocks are those of torch 2.15 for tensors of 1000 B, 5 MB (freed), 70 MB, 130 MB, 1 MiB and 3 MB.
    #[test]
    fn blocks_are_powers_of_two() {
        let found = found(&[1 << 10, 8 << 20, 128 << 20, 128 << 20, 1 << 20, 4 << 20]).unwrap();
        assert_eq!(found.title, "Pinned host memory has 269 MiB in blocks that are rounded up to powers of two");
        assert!(
            found.evidence.shows.starts_with("The largest blocks are 2 of 128 MiB. 8.00 MiB of it is"),
            "{found:?}"
        );
    }

    #[test]
    fn little_memory_and_other_blocks_are_no_finding() {
        assert_eq!(found(&[128 << 20]), None);
        assert_eq!(found(&[300 << 20]), None, "as of an allocator that does not round");
    }
}

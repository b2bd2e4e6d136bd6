//! Finds pinned host memory, of which each block is rounded up to a power of two.

use super::code::FindingCode;
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
    let what = format!("{} of pinned host memory is in blocks of powers of two", format::bytes(held));
    let shows = format!(
        "The largest blocks are {} of {}.{unused} PyTorch records the rounded sizes only: a request of a little more than \
         half of a block takes all of it.",
        format::count(of_most),
        format::bytes(most)
    );
    let rows = large.iter().map(|segment| (segment.size_bytes, segment.stack));
    let code = FindingCode::PinnedMemoryRounded;
    let found = Finding::new(host.index, code, Severity::Info, Confidence::High, Rank::Reserved, held);
    Some(found.titled(&what, []).shown(shows, [], rows).advised(
        "Compare the sizes of what you pin with the blocks: a tensor of 65 MiB takes 128 MiB, and two of 32.5 MiB take as \
         much.\n\
         Pin buffers that are just below a power of two.\n\
         Or keep fewer batches (`prefetch_factor`, `num_workers`), or pin one large buffer and copy batches into it.",
    ))
}

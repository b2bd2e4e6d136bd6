//! Tests the finding about pinned host memory.

use super::*;
use crate::trace::{Segment, SegmentTable, SegmentType, StackId};

fn found(sizes: &[u64]) -> Vec<Finding> {
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
    let trace = Trace { host: Some(Device { index: -1, segments, ..Device::default() }), ..Trace::default() };
    findings(&trace, &[], &FindingsConfig::default())
}

/// The blocks are those of torch 2.15 for tensors of 1000 B, 5 MB (freed), 70 MB, 130 MB, 1 MiB and 3 MB.
#[test]
fn blocks_are_powers_of_two() {
    let found = found(&[1 << 10, 8 << 20, 128 << 20, 128 << 20, 1 << 20, 4 << 20]);
    assert_eq!(found[0].code, FindingCode::PinnedMemoryRounded);
    assert_eq!(found[0].title, "269 MiB of pinned host memory is in blocks of powers of two");
    assert!(found[0].evidence.shows.starts_with("The largest blocks are 2 of 128 MiB. 8.00 MiB of it is"), "{found:?}");
}

#[test]
fn little_memory_and_other_blocks_are_no_finding() {
    for sizes in [&[128 << 20][..], &[300 << 20]] {
        assert_eq!(found(sizes)[0].code, FindingCode::TooLittleRecorded, "{sizes:?}");
    }
}

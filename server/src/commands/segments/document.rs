//! Builds the document of `snapscope segments --json`.

use shared::analysis::{AllocationId, Held, MapSegment, Origin, Room};
use shared::api::{HeldRow, HolderRow, PoolRow, SegmentRow, SegmentsReport};
use shared::trace::PoolId;

use super::Found;
use shared::base::Moment;

/// Maximum number of allocations that are named for a held segment.
const MOST_HOLDERS: usize = 5;

pub(super) fn report(found: &Found<'_>) -> SegmentsReport {
    let (segments, other_segments) = found.segments();
    SegmentsReport {
        file: found.file.to_owned(),
        device: found.device.index,
        event: Moment(found.map.moment).event_number(),
        bytes: found.parts,
        pools: found.rooms.iter().map(pool_row).collect(),
        held: found.held.iter().take(found.top).map(|held| held_row(found, held)).collect(),
        other_held: found.held.len().saturating_sub(found.top) as u64,
        segments: segments.into_iter().map(|segment| segment_row(found, segment)).collect(),
        other_segments: other_segments as u64,
    }
}

fn pool_row(room: &Room) -> PoolRow {
    PoolRow {
        pool: pool(room.pool),
        stream: room.stream,
        segment_type: room.segment_type.name(),
        segments: room.segments,
        reserved_bytes: room.reserved_bytes,
        free_bytes: room.free_bytes,
        largest_free_bytes: room.largest_free_bytes,
    }
}

fn held_row(found: &Found<'_>, held: &Held) -> HeldRow {
    let segment = &found.map.segments[held.segment];
    HeldRow {
        addr: segment.at.addr,
        size_bytes: segment.at.size_bytes,
        used_bytes: held.used_bytes,
        allocations: held.holders.len() as u64,
        holders: held.holders.iter().take(MOST_HOLDERS).map(|&id| holder_row(found, id)).collect(),
    }
}

fn holder_row(found: &Found<'_>, id: AllocationId) -> HolderRow {
    let allocation = found.allocations.get(id, found.device);
    let event = match allocation.origin {
        Origin::Event(event) => Some(event as u64),
        Origin::UnmatchedFree(_) | Origin::Block(_) => None,
    };
    HolderRow { addr: allocation.addr, size_bytes: allocation.size_bytes, event, title: found.title(id) }
}

fn segment_row(found: &Found<'_>, segment: &MapSegment) -> SegmentRow {
    SegmentRow {
        addr: segment.at.addr,
        size_bytes: segment.at.size_bytes,
        stream: segment.at.stream,
        pool: pool(segment.at.pool.unwrap_or_default()),
        segment_type: segment.at.segment_type.name(),
        is_expandable: segment.at.is_expandable,
        used_bytes: segment.used_bytes,
        largest_free_bytes: segment.largest_free_bytes,
        used_blocks: found.map.blocks_of(segment).iter().filter(|block| !block.is_free()).count() as u64,
        title: found.largest_title(segment),
    }
}

fn pool(PoolId(capture, handle): PoolId) -> [u64; 2] {
    [capture, handle]
}

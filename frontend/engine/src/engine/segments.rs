//! Lists the segments of a moment with their blocks.

use super::kind;
use super::ready::Ready;
use frontend::ask::{BlockRow, Instant, Kind, Look, SegmentRow, SegmentsData};
use shared::analysis::{AllocationId, MapBlock, MapSegment, Room, SegmentHistory, SegmentMap, stack_label};
use shared::report::{self, reserved};
use std::collections::HashMap;

/// Maximum number of held segments that are listed.
const MOST_HELD: usize = 50;

/// Returns the history of the segments, and the map of segments and blocks at a moment.
pub(super) fn at(ready: Ready<'_>, instant: Instant) -> (&SegmentHistory, SegmentMap) {
    let Ready { trace, device, timeline, kept, .. } = ready;
    let moment = match instant {
        Instant::ReservedPeak => timeline.reserved_peak().0,
        Instant::LivePeak => timeline.live_peak().0,
        Instant::End => timeline.events(),
        Instant::At(moment) => moment.min(timeline.events()),
    };
    let history = kept.history.get_or_init(|| SegmentHistory::new(trace, device, &timeline.allocations));
    (history, history.at(trace, device, &timeline.allocations, moment))
}

pub(super) fn segments(ready: Ready<'_>, instant: Instant, kind: Option<&Kind>) -> SegmentsData {
    let selected = kind.and_then(|kind| kind::selected(ready, kind).ok());
    let (history, map) = at(ready, instant);
    let moment = map.moment;
    let reserved = reserved(ready.trace, ready.device, &ready.timeline.allocations, &map, MOST_HELD);
    let is_other = |block: &MapBlock| match (&selected, block.allocation) {
        (Some(selected), Some(id)) => !selected.members.contains(id),
        _ => false,
    };
    let (mut looks, mut positions) = (Vec::new(), HashMap::new());
    let mut look = |id: AllocationId| -> u32 {
        let stack = ready.timeline.allocations.allocation_stack(id, ready.device);
        let color = ready.timeline.color(ready.device, id);
        *positions.entry((stack, color)).or_insert_with(|| {
            let title = stack_label(ready.trace, stack).map(|label| label.text()).unwrap_or_default();
            looks.push(Look { color, title });
            looks.len() as u32 - 1
        })
    };
    let block_row = |block: &MapBlock| BlockRow {
        size_bytes: block.size_bytes,
        requested_bytes: block.requested_bytes,
        kind: block.state,
        look: block.allocation.map_or(0, &mut look),
        owner: block.allocation.map(|id| ready.timeline.allocations.key(id)),
        is_other: is_other(block),
    };
    let blocks = map.blocks.iter().map(block_row).collect();
    SegmentsData {
        moment,
        previous: history.change_before(moment),
        next: history.change_after(moment),
        segments: map.segments.iter().map(|segment| row(segment, &reserved.pools)).collect(),
        reserved,
        blocks,
        looks,
    }
}

fn row(segment: &MapSegment, rooms: &[Room]) -> SegmentRow {
    SegmentRow {
        segment: report::segment(segment),
        room: rooms.iter().position(|room| room.has(segment)).unwrap_or_default() as u32,
        home: segment.home,
        blocks_end: segment.blocks.end as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use frontend::ask::{AllocationKey, Answers as _, GetSegments};
    use shared::trace::BlockState;

    const TRACE: &str = "
        segment_alloc 0x10000000 20MiB
        alloc 0x10000000 2MiB @f<main
        alloc 0x10200000 3MiB @f<main
        segment_free 0x20000000 10MiB
        free_requested 0x10000000
        alloc 0x10500000 1048577 @g<main
        alloc 0x30000000 512
        free 0x30000000
        segment 0x10000000 20MiB
        block 0x10000000 2MiB pending
        block 0x10200000 3MiB
        block 0x10500000 1049088 requested=1048577
    ";

    fn ask(instant: Instant) -> SegmentsData {
        Engine::of(TRACE).answer(&GetSegments { device: 0, instant, kind: None }).unwrap()
    }

    #[test]
    fn moments_are_found_by_what_is_special_about_them() {
        let moments = [Instant::ReservedPeak, Instant::LivePeak, Instant::End, Instant::At(2), Instant::At(99)];
        assert_eq!(moments.map(|instant| ask(instant).moment), [1, 7, 9, 2, 9]);
        let data = ask(Instant::At(2));
        assert_eq!((data.previous, data.next), (Some(1), Some(4)));
    }

    #[test]
    fn blocks_say_what_they_are_and_whose() {
        let data = ask(Instant::End);
        let rows: Vec<_> = data.blocks.iter().map(|block| (block.kind, block.size_bytes, block.owner)).collect();
        let event = |event| Some(AllocationKey::Event(event));
        let free = (14 << 20) - 512;
        assert_eq!(
            rows,
            [
                (BlockState::PendingFree, 2 << 20, event(1)),
                (BlockState::Allocated, 3 << 20, event(2)),
                (BlockState::Allocated, (1 << 20) + 512, event(5)),
                (BlockState::Inactive, free, None),
            ]
        );
        assert_eq!(data.reserved.bytes.reserved_bytes, 20 << 20);
        assert_eq!(data.reserved.bytes.pending_bytes, 2 << 20);
    }

    #[test]
    fn blocks_of_one_stack_share_their_look() {
        let data = ask(Instant::End);
        assert_eq!(data.looks.len(), 2);
        assert_eq!(data.blocks[0].look, data.blocks[1].look);
        assert!(data.looks[data.blocks[2].look as usize].title.starts_with("g ("), "{:?}", data.looks);
    }

    #[test]
    fn a_segment_that_little_keeps_is_listed() {
        let data = ask(Instant::At(2));
        // The segment that is returned later exists already, and is free.
        assert_eq!(data.segments.len(), 2);
        let held: Vec<_> = data.reserved.held.iter().map(|held| (held.addr, held.holders[0].addr)).collect();
        assert_eq!(held, [(0x1000_0000, 0x1000_0000)]);
        let rooms: Vec<_> = data.segments.iter().map(|row| row.room).collect();
        assert_eq!((data.reserved.pools.len(), rooms), (1, vec![0, 0]));
    }
}

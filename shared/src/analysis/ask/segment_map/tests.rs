//! Checks maps against the model of PyTorch's allocator, and histories against single maps.

use super::*;
use crate::allocator::{
    Allocator, BlockUse, Event as Done, EventKind, PoolKey, SegmentState, Settings, TorchVersion, VirtualCard,
};
use crate::analysis::ask::fragmentation::Fragmentation;
use crate::analysis::ask::tests::Sample;
use crate::analysis::naive::{Random, random_trace};
use crate::analysis::track::allocations::Allocations;
use crate::trace::{
    Action, Block, BlockState, Device, Event, EventContext, PoolId, Segment, SegmentType, Setting, StackId, Trace,
};

const MIB: u64 = 1 << 20;

/// Address, size and state of a block, which both sides know.
type Row = (u64, u64, BlockState);

fn state_of(state: BlockUse) -> BlockState {
    match state {
        BlockUse::Allocated => BlockState::Allocated,
        BlockUse::PendingFree => BlockState::PendingFree,
        BlockUse::Free | BlockUse::Unmapped => BlockState::Inactive,
    }
}

/// Returns the allocator's blocks, segment by segment.
fn held(segments: &[SegmentState]) -> Vec<Vec<Row>> {
    let row = |block: &crate::allocator::BlockState| (block.addr, block.size_bytes, state_of(block.state));
    segments.iter().map(|segment| segment.blocks.iter().map(row).collect()).collect()
}

/// Returns the blocks of a map, segment by segment.
///
/// Free neighbours are one block, as they are in the allocator after each request.
fn mapped(map: &SegmentMap) -> Vec<Vec<Row>> {
    let row = |block: &MapBlock| (block.addr, block.size_bytes, block.state);
    map.segments.iter().map(|segment| map.blocks_of(segment).iter().map(row).collect()).collect()
}

/// Trace of a random program, with the allocator's state after the last event of each request.
struct Recording {
    trace: Trace,
    states: Vec<(u32, Vec<Vec<Row>>)>,
}

impl Recording {
    /// Records a random program, whose first `before` requests are from before the trace.
    fn new(seed: u64, conf: &str, before: u64) -> Self {
        const REQUESTS: u64 = 300;
        let mut random = Random::new(seed);
        let settings = Settings::parse(conf, TorchVersion::default()).unwrap();
        let mut allocator = Allocator::new(settings, VirtualCard::new(1 << 30, 700 * MIB));
        let pools = [PoolKey::DEFAULT, allocator.create_pool()];
        let mut recording = Self { trace: trace_of(conf), states: Vec::new() };
        let (mut alive, mut pending) = (Vec::new(), Vec::new());
        for request in 0..REQUESTS {
            match random.below(10) {
                0..5 => {
                    let most_bytes = [600, 90_000, 1 << 20, 5 << 20, 30 << 20][random.below(5) as usize];
                    let size_bytes = 1 + random.below(most_bytes);
                    let (stream, pool) = (random.below(2) * 7, pools[random.below(8) as usize / 7]);
                    alive.extend(allocator.allocate(size_bytes, stream, pool));
                }
                5..9 if !alive.is_empty() => {
                    let block = alive.swap_remove(random.below(alive.len() as u64) as usize);
                    if random.below(4) == 0 {
                        allocator.record_stream(block, 99);
                    }
                    pending.extend(allocator.free(block));
                }
                9 if random.below(3) == 0 => allocator.empty_cache(),
                _ if !pending.is_empty() => allocator.complete(pending.swap_remove(0)),
                _ => {}
            }
            if request >= before {
                allocator.events().iter().for_each(|event| recording.push(event));
                let moment = recording.trace.devices[0].events.len() as u32;
                recording.states.push((moment, held(&allocator.segments())));
            }
            allocator.clear_events();
        }
        allocator.segments().iter().for_each(|segment| push_segment(&mut recording.trace.devices[0], segment));
        recording
    }

    fn push(&mut self, event: &Done) {
        let context = EventContext { stream: event.stream, pool: Some(pool_id(event.pool)), ..EventContext::default() };
        let context = self.trace.contexts.intern(context);
        let action = match event.kind {
            EventKind::Oom => Action::Oom,
            kind => Action::of_name(kind.name()).unwrap(),
        };
        let (addr, size_bytes) = (event.addr, event.size_bytes);
        let event = Event { action, addr, size_bytes, time_us: 0, stack: StackId::NONE, context };
        self.trace.devices[0].events.push(event);
    }
}

fn pool_id(pool: PoolKey) -> PoolId {
    if pool == PoolKey::DEFAULT { PoolId::default() } else { PoolId(0, 1) }
}

fn trace_of(conf: &str) -> Trace {
    let mut trace = Trace { devices: vec![Device::default()], ..Trace::default() };
    trace.settings.entries.push(("PYTORCH_CUDA_ALLOC_CONF".to_owned(), Setting::Text(conf.to_owned())));
    trace
}

fn push_segment(device: &mut Device, segment: &SegmentState) {
    let first = device.segments.blocks.len() as u32;
    device.segments.blocks.extend(segment.blocks.iter().map(|block| Block {
        addr: block.addr,
        size_bytes: block.size_bytes,
        requested_bytes: Some(block.requested_bytes),
        state: state_of(block.state),
        stack: StackId::NONE,
        history: (0, 0),
    }));
    device.segments.segments.push(Segment {
        addr: segment.addr,
        size_bytes: segment.size_bytes,
        allocated_bytes: 0,
        active_bytes: 0,
        requested_bytes: None,
        stream: segment.stream,
        segment_type: if segment.is_small { SegmentType::Small } else { SegmentType::Large },
        pool: Some(pool_id(segment.pool)),
        is_expandable: Some(segment.is_expandable),
        stack: StackId::NONE,
        blocks: (first, device.segments.blocks.len() as u32),
    });
}

#[test]
fn blocks_are_those_of_the_allocator() {
    const EXPANDABLE: &str = "expandable_segments:True";
    // Every expandable block is split, so that its size follows from its request, even if it is from before the trace.
    let confs =
        [("", 0), (EXPANDABLE, 0), (EXPANDABLE, 100), ("max_split_size_mb:20", 0), ("roundup_power2_divisions:4", 0)];
    for (seed, (conf, before)) in confs.into_iter().flat_map(|conf| (0..40).map(move |seed| (seed, conf))) {
        let Recording { trace, states } = Recording::new(seed, conf, before);
        trace.check();
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let history = SegmentHistory::new(&trace, device, &allocations);
        for (moment, held) in states {
            // A free and its completion in the next event count as one.
            if completes_at_once(device, moment as usize) {
                continue;
            }
            let map = history.at(&trace, device, &allocations, moment);
            assert_eq!(mapped(&map), held, "seed {seed}, moment {moment}, {conf:?}");
        }
    }
}

fn completes_at_once(device: &Device, moment: usize) -> bool {
    let event = |index: usize| (index < device.events.len()).then(|| device.events.at(index));
    let last = moment.checked_sub(1).and_then(event).filter(|event| event.action == Action::FreeRequested);
    let next = event(moment).filter(|event| event.action == Action::FreeCompleted);
    last.zip(next).is_some_and(|(last, next)| last.addr == next.addr)
}

#[test]
fn a_history_has_the_maps_of_all_moments() {
    for (seed, lines) in (0..20).map(|seed| (seed, 300)).chain([(50, 6000), (51, 9000)]) {
        let sample = Sample::new(random_trace(seed, lines));
        let (trace, device, allocations) = (&sample.trace, sample.device(), sample.allocations());
        let history = SegmentHistory::new(trace, device, allocations);
        let mut random = Random::new(seed);
        for _ in 0..60 {
            let moment = random.below(device.events.len() as u64 + 2) as u32;
            let alone = SegmentMap::at(trace, device, allocations, moment);
            assert_eq!(history.at(trace, device, allocations, moment), alone, "seed {seed}, moment {moment}");
        }
    }
}

#[test]
fn blocks_tile_their_segments_and_the_parts_add_up() {
    for seed in 0..100 {
        let sample = Sample::new(random_trace(seed, 200));
        let (trace, device, allocations) = (&sample.trace, sample.device(), sample.allocations());
        for moment in (0..device.events.len() as u32).step_by(7) {
            let map = SegmentMap::at(trace, device, allocations, moment);
            for segment in &map.segments {
                let end = map.blocks_of(segment).iter().fold(segment.at.addr, |at, block| {
                    assert!(block.addr == at && block.size_bytes > 0, "seed {seed}, moment {moment}");
                    at + block.size_bytes
                });
                assert_eq!(end, segment.at.end(), "seed {seed}, moment {moment}");
            }
            let parts = Fragmentation::of(&map);
            let sum = parts.live_bytes + parts.rounding_bytes + parts.unsplit_bytes + parts.free_bytes();
            assert_eq!(sum, parts.reserved_bytes, "seed {seed}, moment {moment}");
            let of_rooms: u64 = rooms(&map).iter().map(|room| room.free_bytes).sum();
            assert_eq!(of_rooms, parts.free_bytes(), "seed {seed}, moment {moment}");
        }
    }
}

#[test]
fn segment_events_are_steps_back_and_forth() {
    let sample = Sample::of("alloc a 1\nsegment_alloc s 1KiB\nalloc b 1\nsegment_free s 1KiB\nalloc c 1");
    let history = SegmentHistory::new(&sample.trace, sample.device(), sample.allocations());
    let steps = |step: &dyn Fn(u32) -> Option<u32>| (0..=5).map(step).collect::<Vec<_>>();
    let after = [Some(2), Some(2), Some(4), Some(4), None, None];
    assert_eq!(steps(&|moment| history.change_after(moment)), after);
    assert_eq!(steps(&|moment| history.change_before(moment)), [None, None, None, Some(2), Some(2), Some(4)]);
}

#[test]
fn a_segment_is_held_by_the_little_that_is_in_it() {
    let sample = Sample::of(
        "
        segment_alloc 0x10000000 20MiB
        segment_alloc 0x20000000 100MiB
        segment_alloc 0x30000000 40MiB
        alloc 0x10000000 2MiB @small
        alloc 0x20000000 10MiB @less
        alloc 0x20a00000 12MiB @more
        alloc 0x30000000 30MiB
        segment 0x10000000 20MiB
        segment 0x20000000 100MiB
        segment 0x30000000 40MiB
        ",
    );
    let map = SegmentMap::at(&sample.trace, sample.device(), sample.allocations(), 7);
    let held = held_segments(&map);
    let rows: Vec<_> = held
        .iter()
        .map(|held| (held.segment, map.segments[held.segment].free_bytes() / MIB, held.holders.len()))
        .collect();
    assert_eq!(rows, [(1, 78, 2), (0, 18, 1)]);
    let largest = sample.allocations().get(held[0].holders[0], sample.device());
    assert_eq!(largest.size_bytes, 12 * MIB);
}

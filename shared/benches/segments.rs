//! Measures the history of a trace's segments, and the segments at any moment.

use criterion::{Criterion, criterion_group, criterion_main};
use shared::allocator::{Allocator, Event as Done, EventKind, PoolKey, Settings, TorchVersion, VirtualCard};
use shared::analysis::{Fragmentation, SegmentHistory, Timeline};
use shared::trace::{
    Action, Block, BlockState, Device, Event, EventContext, PoolId, Segment, SegmentType, StackId, Trace,
};
use std::hint::black_box;

/// Number of live blocks around which the program varies.
const LIVE: usize = 12_000;

/// Reproducible pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn push(trace: &mut Trace, done: &Done) {
    let context = EventContext { stream: done.stream, pool: Some(PoolId::default()), ..EventContext::default() };
    let context = trace.contexts.intern(context);
    let action = Action::of_name(done.kind.name()).expect("the allocator's words are those of snapshots");
    let (addr, size_bytes) = (done.addr, done.size_bytes);
    trace.devices[0].events.push(Event { action, addr, size_bytes, time_us: 0, stack: StackId::NONE, context });
}

/// Creates a trace of at least `events` events: random requests of all sizes, and an emptied cache now and then.
fn trace_of(conf: &str, events: usize) -> Trace {
    let settings = Settings::parse(conf, TorchVersion::default()).expect("a setting of PyTorch");
    let mut allocator = Allocator::new(settings, VirtualCard::new(1 << 40, 1 << 40));
    let mut trace = Trace { devices: vec![Device::default()], ..Trace::default() };
    let (mut random, mut alive) = (Random(7), Vec::new());
    while trace.devices[0].events.len() < events {
        if (random.below(2 * LIVE as u64) as usize) < alive.len() {
            let block = alive.swap_remove(random.below(alive.len() as u64) as usize);
            allocator.free(block);
        } else {
            let most_bytes = [4096, 1 << 20, 16 << 20, 64 << 20][random.below(4) as usize];
            alive.extend(allocator.allocate(1 + random.below(most_bytes), 0, PoolKey::DEFAULT));
        }
        if random.below(5000) == 0 {
            allocator.empty_cache();
        }
        allocator.events().iter().filter(|done| done.kind != EventKind::Oom).for_each(|done| push(&mut trace, done));
        allocator.clear_events();
    }
    for state in allocator.segments() {
        let table = &mut trace.devices[0].segments;
        let first = table.blocks.len() as u32;
        let (addr, size_bytes) = (state.addr, state.size_bytes);
        table.blocks.push(Block { addr, size_bytes, state: BlockState::Inactive, ..Block::default() });
        table.segments.push(Segment {
            addr,
            size_bytes,
            stream: state.stream,
            segment_type: if state.is_small { SegmentType::Small } else { SegmentType::Large },
            pool: Some(PoolId::default()),
            is_expandable: Some(state.is_expandable),
            blocks: (first, first + 1),
            ..Segment::default()
        });
    }
    trace
}

fn segments(criterion: &mut Criterion) {
    for (label, conf) in [("1 M events", ""), ("1 M events, expandable", "expandable_segments:True")] {
        let trace = trace_of(conf, 1_000_000);
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let history = || SegmentHistory::new(&trace, device, &timeline.allocations);
        let mut group = criterion.benchmark_group(label);
        group.sample_size(10);
        group.bench_function("segment history", |bencher| bencher.iter(history));
        let kept = history();
        let mut random = Random(9);
        group.bench_function("segments at a moment", |bencher| {
            bencher.iter(|| {
                let moment = random.below(1_000_000) as u32;
                kept.at(&trace, device, &timeline.allocations, black_box(moment))
            });
        });
        let map = kept.at(&trace, device, &timeline.allocations, 500_000);
        group.bench_function("fragmentation", |bencher| bencher.iter(|| Fragmentation::of(black_box(&map))));
        group.finish();
    }
}

criterion_group!(benches, segments);
criterion_main!(benches);

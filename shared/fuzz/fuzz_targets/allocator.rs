//! Checks that no program of requests breaks the allocator's invariants, whatever the settings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shared::allocator::{Allocator, PlacedBlock, PlacedSegment, PoolKey, Settings, TorchVersion, VirtualCard};

/// Memory of the card, small enough to be full now and then.
const CARD: u64 = 512 << 20;

const CONFS: [&str; 8] = [
    "",
    "expandable_segments:True",
    "max_split_size_mb:32",
    "roundup_power2_divisions:4",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.8",
    "large_segment_size_mb:32,max_non_split_rounding_mb:64",
    "expandable_segments:True,max_split_size_mb:32",
    "expandable_segments:True,per_process_memory_fraction:0.5",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&[first, placed], requests)) = bytes.split_first_chunk() else { return };
    let conf = CONFS[usize::from(first) % CONFS.len()];
    let settings = Settings::parse(conf, TorchVersion::default()).expect("the settings are PyTorch's");
    let mut allocator = Allocator::new(settings, VirtualCard::new(CARD, CARD));
    let private = allocator.create_pool();
    allocator.retain_pool(private);
    let mut blocks: Vec<_> = allocator.place(&segment(placed)).into_iter().flatten().collect();
    let mut pending = Vec::new();
    for &[kind, size, place] in requests.as_chunks::<3>().0 {
        match kind % 8 {
            0..4 => {
                let size_bytes = (1 + u64::from(size)) << (place % 20);
                let pool = if kind & 8 == 0 { PoolKey::DEFAULT } else { private };
                blocks.extend(allocator.allocate(size_bytes, u64::from(kind >> 6), pool));
            }
            4..6 if !blocks.is_empty() => {
                let block = blocks.swap_remove(usize::from(size) % blocks.len());
                if kind & 8 != 0 {
                    allocator.record_stream(block, u64::MAX);
                }
                pending.extend(allocator.free(block));
            }
            6 if !pending.is_empty() => allocator.complete(pending.swap_remove(usize::from(size) % pending.len())),
            7 => allocator.empty_cache(),
            _ => {}
        }
        allocator.clear_events();
    }
    allocator.check();
});

/// Creates a segment that is older than the program: blocks in use at both ends, free memory between.
///
/// Its size is in units of 2 MiB.
fn segment(shape: u8) -> PlacedSegment {
    let blocks = u64::from(shape >> 4 & 3);
    let steps = 2 + u64::from(shape & 15);
    let block =
        |place: u64| PlacedBlock { addr: place * (steps - 1) << 21, size_bytes: 1 << 20, requested_bytes: 1000 };
    PlacedSegment {
        addr: 0,
        size_bytes: steps << 21,
        stream: 0,
        pool: PoolKey::DEFAULT,
        is_small: false,
        is_expandable: shape & 64 != 0,
        room_bytes: None,
        blocks: (0..blocks.min(2)).map(block).collect(),
    }
}

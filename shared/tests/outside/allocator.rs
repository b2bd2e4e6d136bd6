//! Compares the caching allocator with PyTorch's own answers, and checks its invariants under random requests.

use std::collections::HashMap;

use shared::allocator::{
    Allocator, BlockId, Driver, PendingFree, PlacedBlock, PlacedSegment, PoolKey, Settings, TorchVersion, VirtualCard,
};

use super::support::program;
use super::support::stored::{Random, files};

const MIB: u64 = 1 << 20;

/// Settings that cover every path.
const CONFS: &[&str] = &[
    "",
    "max_split_size_mb:20",
    "max_split_size_mb:64,max_non_split_rounding_mb:40",
    "roundup_power2_divisions:4",
    "per_process_memory_fraction:0.4",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.6,max_split_size_mb:32",
    "large_segment_size_mb:32",
    "expandable_segments:True",
    "expandable_segments:True,large_segment_size_mb:64,max_split_size_mb:64",
    "expandable_segments:True,garbage_collection_threshold:0.5,per_process_memory_fraction:0.6",
];

/// Settings under which `tests/oracle/allocator.py` runs programs.
const ORACLE: &str = "default split-20 split-64 roundup roundup-list fraction collect collect-split segment-32 expandable \
    expandable-split expandable-segment expandable-collect";

/// Programs for options of private pools and for releases of torch that order equal blocks differently.
const FURTHER: &str = "no-split no-split-expandable use-on-oom use-on-oom-split both-options torch2.15-default \
    torch2.15-split-64";

#[test]
fn programs_that_pytorch_ran_come_out_equal() {
    let mut programs = HashMap::new();
    let stored = files("../tests/data/allocator", 1).into_iter().filter_map(|(file, bytes)| {
        Some((file.strip_suffix(".txt")?.to_owned(), String::from_utf8(bytes).expect("a text")))
    });
    for (name, text) in stored {
        let answer = program::run(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (line, (expected, given)) in text.lines().zip(answer.lines()).enumerate() {
            assert_eq!(given, expected, "{name}:{}", line + 1);
        }
        assert_eq!(answer.len(), text.len(), "{name}");
        *programs.entry(name.rsplit_once('-').unwrap().0.to_owned()).or_insert(0) += 1;
    }
    for (names, least) in [(ORACLE, 5), (FURTHER, 2)] {
        for name in names.split(' ') {
            let count = programs.get(name).copied().unwrap_or(0);
            assert!(count >= least, "only {count} programs of {name}");
        }
    }
}

/// Two free segments have the same size; the newer one has the lower address.
#[test]
fn equal_blocks_go_by_the_age_of_their_segments_from_2_13_on() {
    let first_reused = |version| {
        let settings = Settings { version, ..Settings::default() };
        let mut allocator = Allocator::new(settings, VirtualCard::new(TOTAL, USABLE));
        let mut take = || {
            let block = allocator.allocate(32 * MIB, 0, PoolKey::DEFAULT).unwrap();
            (block, allocator.addr_of(block))
        };
        let ((older, older_addr), (newer, newer_addr)) = (take(), take());
        assert!(newer_addr < older_addr, "the card's addresses go down");
        for block in [newer, older] {
            allocator.free(block);
        }
        let block = allocator.allocate(32 * MIB, 0, PoolKey::DEFAULT).unwrap();
        if allocator.addr_of(block) == older_addr { "older" } else { "newer" }
    };
    assert_eq!(first_reused(TorchVersion(2, 11)), "newer");
    assert_eq!(first_reused(TorchVersion(2, 13)), "older");
}

/// Returns a random size of a request.
fn size_bytes(random: &mut Random) -> u64 {
    let limit = random.one_of(&[600, 5000, MIB + 1000, 12 * MIB, 70 * MIB, 500 * MIB]);
    1 + random.next() % limit
}

/// Random program of requests.
struct Walk {
    allocator: Allocator<VirtualCard>,
    random: Random,
    live: Vec<BlockId>,
    pending: Vec<PendingFree>,
    pools: Vec<PoolKey>,
}

const TOTAL: u64 = 2048 * MIB;
const USABLE: u64 = 1536 * MIB;

fn allocator(conf: &str, usable_bytes: u64) -> Allocator<VirtualCard> {
    let settings = Settings::parse(conf, TorchVersion::default()).unwrap();
    Allocator::new(settings, VirtualCard::new(TOTAL, usable_bytes))
}

impl Walk {
    fn new(conf: &str, seed: u64) -> Self {
        let mut allocator = allocator(conf, USABLE);
        let pools = vec![PoolKey::DEFAULT, PoolKey::DEFAULT, allocator.create_pool()];
        Self { allocator, random: Random(seed), live: Vec::new(), pending: Vec::new(), pools }
    }

    fn step(&mut self) {
        let kind = self.random.below(100);
        if kind < 52 || self.live.is_empty() {
            let pool = self.random.one_of(&self.pools);
            let (size, stream) = (size_bytes(&mut self.random), self.random.next() % 3);
            self.live.extend(self.allocator.allocate(size, stream, pool));
        } else if kind < 90 {
            self.free();
        } else if kind < 94 {
            let (block, stream) = (self.random.one_of(&self.live), self.random.next() % 4);
            self.allocator.record_stream(block, stream);
        } else if kind < 98 {
            if let Some(pending) = self.pending.pop() {
                self.allocator.complete(pending);
            }
        } else {
            self.allocator.empty_cache();
        }
        self.allocator.clear_events();
    }

    fn free(&mut self) {
        let index = self.random.below(self.live.len());
        let block = self.live.swap_remove(index);
        self.pending.extend(self.allocator.free(block));
    }
}

#[test]
fn invariants_hold_after_every_request() {
    for conf in CONFS {
        for seed in 0..4 {
            let mut walk = Walk::new(conf, seed);
            for _ in 0..400 {
                walk.step();
                walk.allocator.check();
            }
            let counters = *walk.allocator.counters();
            assert!(counters.reserved_bytes.peak <= USABLE, "{conf}: {counters:?}");
            assert_eq!(walk.allocator.driver_mut().free_bytes(), USABLE - counters.reserved_bytes.now, "{conf}");
        }
    }
}

#[test]
fn everything_comes_back() {
    for conf in CONFS {
        let mut walk = Walk::new(conf, 7);
        (0..500).for_each(|_| walk.step());
        while !walk.live.is_empty() {
            walk.free();
        }
        walk.pools.clone().into_iter().skip(2).for_each(|pool| walk.allocator.release_pool(pool));
        walk.allocator.empty_cache();
        walk.allocator.check();
        assert_eq!(walk.allocator.segments(), [], "{conf}");
        assert_eq!(walk.allocator.driver_mut().free_bytes(), USABLE, "{conf}");
    }
}

#[test]
fn absurd_requests_run_out_of_memory() {
    for conf in CONFS {
        let mut allocator = allocator(conf, USABLE);
        for size in [u64::MAX, 1 << 60, USABLE + 1] {
            assert!(allocator.allocate(size, 0, PoolKey::DEFAULT).is_err(), "{conf}: {size}");
        }
        assert_eq!(allocator.counters().ooms, 3);
        allocator.check();
    }
}

/// The remainder of the segment is larger than the limit allows, because it was split before the limit was set.
#[test]
fn a_part_of_a_placed_segment_is_not_released() {
    let mut allocator = allocator("max_split_size_mb:32", 32 * MIB);
    let used = PlacedBlock { addr: 0, size_bytes: 10 * MIB, requested_bytes: 10 * MIB };
    let segment = PlacedSegment {
        addr: 0,
        size_bytes: 100 * MIB,
        stream: 0,
        pool: PoolKey::DEFAULT,
        is_small: false,
        is_expandable: false,
        room_bytes: None,
        blocks: vec![used],
    };
    let blocks = allocator.place(&segment);
    // The remaining 90 MiB are too large for this request, and the card is full.
    assert!(allocator.allocate(64 * MIB, 0, PoolKey::DEFAULT).is_err());
    allocator.check();
    assert_eq!(allocator.segments()[0].size_bytes, 100 * MIB);
    allocator.free(blocks[0].unwrap());
    allocator.check();
}

//! Measures the allocator's requests per second, with requests similar to those of a training.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use shared::allocator::{Allocator, BlockId, PoolKey, Settings, TorchVersion, VirtualCard};
use std::hint::black_box;

/// Number of layers, and of tensors that each layer keeps from its forward for its backward pass.
const LAYERS: u64 = 48;
const KEPT_PER_LAYER: u64 = 14;
const STEPS: u64 = 50;
const GIB: u64 = 1 << 30;

struct Training {
    allocator: Allocator<VirtualCard>,
    random: u64,
    requests: u64,
}

impl Training {
    fn new(conf: &str) -> Self {
        let settings = Settings::parse(conf, TorchVersion::default()).expect("a setting");
        Self { allocator: Allocator::new(settings, VirtualCard::new(80 * GIB, 79 * GIB)), random: 1, requests: 0 }
    }

    /// Allocates a tensor of up to 16 MiB; most are small.
    fn tensor(&mut self) -> BlockId {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size_bytes = ((self.random >> 40) % 512 + 1) << ((self.random >> 34) % 16);
        self.requests += 1;
        self.allocator.allocate(size_bytes, 0, PoolKey::DEFAULT).expect("the card is large enough")
    }

    fn free(&mut self, block: BlockId) {
        self.requests += 1;
        self.allocator.free(block);
        self.allocator.clear_events();
    }

    /// Forward keeps tensors and allocates temporaries; backward frees the tensors in reverse order.
    fn step(&mut self) {
        let mut kept = Vec::new();
        for _ in 0..LAYERS * KEPT_PER_LAYER {
            kept.push(self.tensor());
            let temporary = self.tensor();
            self.free(temporary);
        }
        for block in kept.into_iter().rev() {
            let gradient = self.tensor();
            self.free(block);
            self.free(gradient);
        }
    }

    fn run(conf: &str) -> u64 {
        let mut training = Self::new(conf);
        (0..STEPS).for_each(|_| training.step());
        black_box(training.allocator.counters().reserved_bytes.peak);
        training.requests
    }
}

fn allocator(c: &mut Criterion) {
    let mut group = c.benchmark_group("allocator");
    for conf in ["", "expandable_segments:True", "max_split_size_mb:128", "roundup_power2_divisions:8"] {
        group.throughput(Throughput::Elements(Training::run(conf)));
        let name = if conf.is_empty() { "default" } else { conf };
        group.bench_function(BenchmarkId::new("requests", name), |b| b.iter(|| Training::run(conf)));
    }
}

criterion_group!(benches, allocator);
criterion_main!(benches);

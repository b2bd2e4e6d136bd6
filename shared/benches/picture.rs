//! Measures timelines, pictures and hits on a trace similar to that of a training.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use recorder::Recorder;
use shared::analysis::{Axis, PictureRequest, Timeline, live_by_stack};
use shared::trace::{EventContext, Frame, StackId, Trace};
use std::hint::black_box;

#[path = "support/recorder.rs"]
mod recorder;

/// Number of layers, and of tensors that each layer keeps from its forward for its backward pass.
const LAYERS: u64 = 48;
const KEPT_PER_LAYER: u64 = 14;
const STACKS: usize = 3000;

/// Records tensors with stacks and sizes at random.
struct Training {
    recorder: Recorder,
    stacks: Vec<StackId>,
    random: u64,
}

impl Training {
    fn new() -> Self {
        let mut recorder = Recorder::new();
        let trace = &mut recorder.trace;
        let filename = trace.strings.intern("model.py");
        let frames: Vec<_> = (0..STACKS as u64)
            .map(|line| trace.frames.intern(Frame { name: filename, filename, line, fx: None }))
            .collect();
        let stacks = frames.windows(12).map(|stack| trace.stacks.intern(stack)).collect();
        trace.contexts.intern(EventContext::default());
        Self { recorder, stacks, random: 1 }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    fn stack(&mut self) -> StackId {
        let site = self.below(self.stacks.len() as u64) as usize;
        self.stacks[site]
    }

    fn alloc(&mut self, size_bytes: u64) -> (u64, u64) {
        let stack = self.stack();
        self.recorder.alloc(size_bytes, stack)
    }

    fn free(&mut self, tensor: (u64, u64)) {
        let stacks = [self.stack(), self.stack()];
        self.recorder.free(tensor, stacks);
    }

    fn temporaries(&mut self, count: u64) {
        for _ in 0..count {
            let size_bytes = 512 << self.below(14);
            let tensor = self.alloc(size_bytes);
            self.free(tensor);
        }
    }

    /// Records a training step: forward keeps activations, backward frees them and allocates gradients, which are freed
    /// last.
    fn step(&mut self) {
        let mut kept = Vec::new();
        for _ in 0..LAYERS * KEPT_PER_LAYER {
            let size_bytes = 4096 << self.below(14);
            kept.push(self.alloc(size_bytes));
            self.temporaries(2);
        }
        let mut gradients = Vec::new();
        while let Some(tensor) = kept.pop() {
            self.temporaries(2);
            if kept.len().is_multiple_of(4) {
                gradients.push(self.alloc(16 << 20));
            }
            self.free(tensor);
        }
        gradients.into_iter().for_each(|tensor| self.free(tensor));
    }
}

/// Creates a trace of at least this many events.
fn training(events: usize) -> Trace {
    let mut training = Training::new();
    for _ in 0..LAYERS * 6 {
        training.alloc(16 << 20);
    }
    while training.recorder.device.events.len() < events {
        training.step();
    }
    training.recorder.into_trace()
}

fn request(timeline: &Timeline, axis: Axis, x: (f64, f64), y: (f64, f64)) -> PictureRequest {
    let (x_end, y_end) = (timeline.x_end(axis), timeline.live_peak().1 as f64);
    let (x0, x1, y0, y1) = (x.0 * x_end, x.1 * x_end, y.0 * y_end, y.1 * y_end);
    PictureRequest { axis, x0, x1, y0, y1, width_px: 1500, height_px: 600 }
}

fn pictures(criterion: &mut Criterion) {
    let views = [
        ("whole", Axis::Events, (0.0, 1.0), (0.0, 1.05)),
        ("whole by time", Axis::Time, (0.0, 1.0), (0.0, 1.05)),
        ("whole, zoomed in on bytes", Axis::Events, (0.0, 1.0), (0.8, 0.9)),
        ("a tenth", Axis::Events, (0.45, 0.55), (0.0, 1.05)),
        ("a thousandth", Axis::Events, (0.5, 0.501), (0.0, 1.05)),
        ("a thousandth at the end", Axis::Time, (0.998, 0.999), (0.5, 0.6)),
    ];
    for (label, events) in [("1 M events", 1_000_000), ("10 M events", 10_000_000)] {
        let trace = training(events);
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let mut group = criterion.benchmark_group(label);
        group.sample_size(10);
        group.bench_function("timeline", |bencher| bencher.iter(|| Timeline::new(&trace, device)));
        for (view, axis, x, y) in views {
            let request = request(&timeline, axis, x, y);
            let id = BenchmarkId::new("picture", view);
            group.bench_function(id, |bencher| bencher.iter(|| timeline.picture(device, black_box(&request))));
        }
        let (peak, bytes) = timeline.live_peak();
        group.bench_function("hit", |bencher| bencher.iter(|| timeline.hit(black_box(peak), bytes - 1)));
        group.bench_function("live by stack", |bencher| {
            bencher.iter(|| live_by_stack(device, &timeline.allocations, black_box(peak)))
        });
        group.finish();
    }
}

criterion_group!(benches, pictures);
criterion_main!(benches);

//! How long explanations take: steps, phases, growth, categories and findings.

use criterion::{Criterion, criterion_group, criterion_main};
use shared::analysis::{FindingsConfig, Study, Timeline, categories, findings};
use std::hint::black_box;
use support::{Frames, training};

#[path = "support/steps.rs"]
mod support;

fn explanations(criterion: &mut Criterion) {
    for frames in [Frames::Phases, Frames::Operations, Frames::Missing] {
        let trace = training(1_000_000, frames);
        let device = &trace.devices[0];
        let timeline = Timeline::new(&trace, device);
        let study = Study::new(&trace, device, &timeline);
        let mut group = criterion.benchmark_group(format!("1 M events, {frames:?}"));
        group.sample_size(10);
        group.bench_function("study", |bencher| bencher.iter(|| Study::new(&trace, device, black_box(&timeline))));
        group.bench_function("categories", |bencher| {
            bencher.iter(|| categories(device, &timeline.allocations, black_box(&study.phases)))
        });
        group.bench_function("findings", |bencher| {
            bencher.iter(|| findings(&trace, &[(device, black_box(&timeline))], &FindingsConfig::default()))
        });
        group.finish();
    }
}

criterion_group!(benches, explanations);
criterion_main!(benches);

//! Measures explanations and views over all allocations.
//!
//! Explanations are steps, phases, growth, categories and findings; views are selections, groups, call trees and
//! comparisons.

use criterion::{Criterion, criterion_group, criterion_main};
use shared::analysis::{
    CallTree, Calls, Filter, FindingsConfig, GroupBy, PathConfig, Population, Profile, Scope, Study, TextFilter,
    Timeline, TreeConfig, Weigher, Weight, categories, diff, findings, group, select,
};
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
            bencher.iter(|| categories(device, &timeline, black_box(&study.phases)))
        });
        group.bench_function("findings", |bencher| {
            bencher.iter(|| findings(&trace, &[(device, black_box(&timeline))], &FindingsConfig::default()))
        });
        group.finish();
    }
}

fn views(criterion: &mut Criterion) {
    let trace = training(1_000_000, Frames::Program);
    let device = &trace.devices[0];
    let timeline = Timeline::new(&trace, device);
    let allocations = &timeline.allocations;
    let study = Study::new(&trace, device, &timeline);
    let categories = categories(device, &timeline, &study.phases);
    let population = Population { trace: &trace, device, timeline: &timeline, spans: &[], categories: &categories };
    let whole = Scope::all(&timeline);
    let search = Filter { text: TextFilter::expression("for[vw]ard").ok(), ..Filter::default() };
    let all = select(&population, &whole, &Filter::default());
    let weigher = Weigher::new(&population, &whole, Weight::ByteTime);

    let mut bench = criterion.benchmark_group("1 M events, all allocations");
    bench.sample_size(10);
    bench.bench_function("select by a regular expression", |b| {
        b.iter(|| select(&population, &whole, black_box(&search)))
    });
    for by in [GroupBy::Stack, GroupBy::Frame, GroupBy::Module, GroupBy::SizeClass] {
        bench.bench_function(format!("group by {by:?}"), |b| {
            b.iter(|| group(&population, black_box(&all), &weigher, by))
        });
    }
    let weighed = || all.iter().map(|&id| (allocations.allocation_stack(id, device), weigher.weigh(id)));
    bench.bench_function("call tree", |b| {
        b.iter(|| CallTree::new(&Calls::new(&trace, PathConfig::default(), weighed()), TreeConfig::default()))
    });
    let side = |moment| Profile::at(&trace, device, allocations, &categories, moment);
    let peak = timeline.live_peak().0;
    bench.bench_function("two moments compared", |b| b.iter(|| diff(&side(black_box(peak)), &side(timeline.events()))));
    bench.finish();
}

criterion_group!(benches, explanations, views);
criterion_main!(benches);

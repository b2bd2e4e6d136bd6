//! Runs every analysis of a trace, whatever its file contains.

use shared::allocator::Settings;
use shared::analysis::{
    Axis, BatchScale, Budget, CallTree, Calls, Filter, FindingsConfig, ForwardPass, Fragmentation, GroupBy, PathConfig,
    PictureRequest, Population, Profile, RankFigures, ReplayConfig, Replayer, Scope, SegmentHistory, SegmentMap,
    SourceConfig, Study, Summary, Timeline, Totals, TreeConfig, Weigher, Weight, categories, diff, findings, group,
    held_segments, live_by_category, live_by_stack, outliers, recorded_course, recording_diagnostics, rooms, select,
    source_lines, spans, until_full, verify,
};
use shared::trace::{Device, Trace};

/// Makes every report about a trace, and compares figures that can be computed in two ways.
///
/// # Panics
/// Panics if a report panics or two of them disagree.
pub(crate) fn analyse(trace: &Trace) {
    trace.check();
    let timelines: Vec<Timeline> = all_devices(trace).map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = all_devices(trace).zip(&timelines).collect();
    recording_diagnostics(trace, &devices);
    for config in [FindingsConfig::default(), limits()] {
        findings(trace, &devices, &config);
    }
    let mut ranks = Vec::new();
    for &(device, timeline) in &devices {
        let study = Study::new(trace, device, timeline);
        ranks.push(RankFigures::of_study(&study));
        curves(device, timeline);
        explain(&study);
        weigh(&study);
        segments(trace, device, timeline);
        replay(&study);
    }
    // Fewer than four ranks are not compared.
    outliers(&ranks.iter().cycle().take(ranks.len() * 4).cloned().collect::<Vec<_>>());
}

fn all_devices(trace: &Trace) -> impl Iterator<Item = &Device> {
    trace.devices.iter().chain(&trace.host)
}

fn limits() -> FindingsConfig {
    FindingsConfig {
        capacity_bytes: Some(1 << 30),
        max_peak_bytes: Some(1),
        max_reserved_bytes: Some(1),
        max_growth_bytes: Some(1),
    }
}

/// Checks curves and pictures.
fn curves(device: &Device, timeline: &Timeline) {
    let summary = Summary::of(device, timeline);
    let (peak, peak_bytes) = timeline.live_peak();
    assert_eq!(timeline.live_at(peak), peak_bytes);
    assert_eq!(timeline.reserved_at(timeline.reserved_peak().0), timeline.reserved_peak().1);
    timeline.hit(peak, peak_bytes / 2);
    timeline.outline(20);
    recorded_course(device, timeline, 10);
    for axis in [Axis::Events, Axis::Time] {
        let request = PictureRequest {
            axis,
            x0: 0.0,
            x1: timeline.x_end(axis),
            y0: 0.0,
            y1: summary.peak_reserved_bytes.max(1) as f64,
            width_px: 40,
            height_px: 30,
        };
        let picture = timeline.picture(device, &request);
        timeline.prepare(device, axis);
        assert_eq!(timeline.picture(device, &request), picture, "a prepared picture is the same");
    }
}

/// Checks steps, phases and growth.
fn explain(study: &Study<'_>) {
    let (peak, peak_bytes) = study.timeline.live_peak();
    let by_stack = live_by_stack(study.device, &study.timeline.allocations, peak);
    assert_eq!(by_stack.iter().map(|row| row.bytes).sum::<u64>(), peak_bytes);
    live_by_category(study, peak);
    study.growth.by_class();
    for step in study.steps.iter().flat_map(|steps| &steps.steps).take(2) {
        ForwardPass::of(study, *step);
    }
    for capacity_bytes in [None, Some(1), Some(u64::MAX)] {
        Budget::of(study, capacity_bytes);
        until_full(study, capacity_bytes);
    }
}

/// Checks selections, groups, call trees and comparisons.
fn weigh(study: &Study<'_>) {
    let (trace, device, timeline) = (study.trace, study.device, study.timeline);
    let categories = categories(device, timeline, &study.phases);
    let spans = spans(trace, device);
    let population = Population { trace, device, timeline, spans: &spans, categories: &categories };
    let scope = Scope::all(timeline);
    let all = select(&population, &scope, &Filter::default());
    for weight in [Weight::Bytes, Weight::ByteEvents, Weight::ByteTime, Weight::Count] {
        let weigher = Weigher::new(&population, &scope, weight);
        Totals::of(&population, &all, &weigher);
        for by in [GroupBy::Stack, GroupBy::Frame, GroupBy::Module, GroupBy::Stream, GroupBy::SizeClass] {
            group(&population, &all, &weigher, by);
        }
        let weighed = all.iter().map(|&id| (timeline.allocations.allocation_stack(id, device), weigher.weigh(id)));
        CallTree::new(&Calls::new(trace, PathConfig::default(), weighed), TreeConfig::default());
    }
    let config = SourceConfig::of(&population, &scope, Filter::default());
    let by_line = source_lines(&population, &config);
    assert_eq!(by_line.totals.live_count, Scope::At(config.moment).count(timeline) as u64);
    let profile = |moment| Profile::at(trace, device, &timeline.allocations, &categories, moment);
    let (first, peak) = (profile(0), profile(timeline.live_peak().0));
    let change: i64 = diff(&first, &peak).rows.iter().map(|row| row.change.bytes()).sum();
    assert_eq!(change, peak.live_bytes() as i64 - first.live_bytes() as i64);
}

/// Checks segments and their blocks.
fn segments(trace: &Trace, device: &Device, timeline: &Timeline) {
    let allocations = &timeline.allocations;
    let history = SegmentHistory::new(trace, device, allocations);
    for moment in [0, timeline.reserved_peak().0, timeline.events() / 2, timeline.events()] {
        let map = SegmentMap::at(trace, device, allocations, moment);
        assert_eq!(history.at(trace, device, allocations, moment), map, "a map by its history at moment {moment}");
        Fragmentation::of(&map);
        held_segments(&map);
        rooms(&map);
    }
}

/// Replays the requests under other settings.
fn replay(study: &Study<'_>) {
    let (trace, device) = (study.trace, study.device);
    let capacity_bytes = 16 << 30;
    // A trace that can't be followed is an error.
    let _ = verify(trace, device, Some(capacity_bytes));
    let replayer = Replayer::new(trace, device, &study.timeline.allocations);
    for expandable_segments in [false, true] {
        let settings = Settings { expandable_segments, ..Settings::default() };
        let config = ReplayConfig { settings, capacity_bytes, elsewhere_bytes: 0 };
        assert_eq!(replayer.course(&config, 10).0, replayer.replay(&config));
        replayer.trace(&config).check();
    }
    if let Some(scale) = BatchScale::of(study) {
        scale.peak_bytes();
    }
}

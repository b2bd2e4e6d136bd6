//! Compares the sums of source lines with naive ones on the stored snapshots.

use crate::support::snapshots;
use shared::analysis::{Allocation, AllocationId, Filter, LineTotals, Part, Population, Scope, SourceConfig, Timeline};
use shared::base::frame_rules;
use shared::report::{SourceReport, source_report};
use shared::trace::{Device, Frame, Trace};
use std::collections::{BTreeMap, HashSet};

const FOLDER: &str = "../tests/data/snapshots";

/// Own and through sums by path and line.
type Sums = BTreeMap<(String, u64), [LineTotals; 2]>;

fn is_line(trace: &Trace, frame: &Frame) -> bool {
    const SOURCES: [&str; 8] = [".cpp", ".cc", ".c", ".cu", ".h", ".hpp", ".pyx", ".rs"];
    let name = trace.strings.get(frame.filename);
    let is_source = !frame_rules::is_native(name) || SOURCES.iter().any(|suffix| name.ends_with(suffix));
    frame.line > 0 && is_source && !["operator", "module", "phase"].contains(&name)
}

/// Examines every allocation and every frame of its stack.
fn naive(trace: &Trace, device: &Device, timeline: &Timeline, config: &SourceConfig) -> (Sums, LineTotals) {
    let (mut sums, mut unowned) = (Sums::new(), LineTotals::default());
    for id in timeline.allocations.ids() {
        let row = timeline.allocations.get(id, device);
        let totals = totals(&row, timeline.allocations.is_initial(id), config);
        if totals == LineTotals::default() {
            continue;
        }
        let mut seen = HashSet::new();
        let mut owner = None;
        for frame in stack(trace, device, timeline, id).into_iter().filter(|frame| is_line(trace, frame)) {
            let key = (trace.strings.get(frame.filename).to_owned(), frame.line);
            let is_focus = match &config.focus {
                Some(focus) => focus.contains(&key.0),
                None => !frame_rules::is_runtime(&key.0),
            };
            if is_focus && owner.is_none() {
                owner = Some(key.clone());
            }
            if seen.insert(key.clone()) {
                sums.entry(key).or_default()[1] += totals;
            }
        }
        match owner {
            Some(key) => sums.entry(key).or_default()[0] += totals,
            None => unowned += totals,
        }
    }
    (sums, unowned)
}

fn totals(row: &Allocation, is_initial: bool, config: &SourceConfig) -> LineTotals {
    let is_born = !is_initial && config.window.contains(&row.born);
    let is_dying = config.window.contains(&row.died);
    let is_of_part = match config.part {
        Part::Any => true,
        Part::Born => is_born,
        Part::Died => is_dying,
        Part::Survived => !is_born && !is_dying,
        Part::BornAndDied => is_born && is_dying,
        Part::BornAndKept => is_born && !is_dying,
    };
    let is_live = is_of_part && row.born <= config.moment && config.moment < row.died;
    let is_allocated = is_of_part && is_born;
    LineTotals {
        live_bytes: if is_live { row.size_bytes } else { 0 },
        live_count: u64::from(is_live),
        allocated_bytes: if is_allocated { row.size_bytes } else { 0 },
        allocated_count: u64::from(is_allocated),
    }
}

fn stack<'a>(trace: &'a Trace, device: &Device, timeline: &Timeline, id: AllocationId) -> Vec<&'a Frame> {
    let stack = timeline.allocations.allocation_stack(id, device);
    trace.stacks.frames(stack).iter().map(|&frame| trace.frames.get(frame)).collect()
}

fn sums_of(report: &SourceReport) -> Sums {
    let lines = report.files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    lines.map(|(file, line)| ((file.path.clone(), line.line), [line.own, line.through])).collect()
}

fn check_device(name: &str, trace: &Trace, device: &Device) {
    let timeline = Timeline::new(trace, device);
    let population = Population { trace, device, timeline: &timeline, spans: &[], categories: &[] };
    let third = timeline.events() / 3;
    let middle = Part::ALL.map(|part| Scope::Within { moments: third..2 * third + 1, part });
    for scope in [Scope::At(timeline.live_peak().0), Scope::all(&timeline)].into_iter().chain(middle) {
        let all = SourceConfig::of(&population, &scope, Filter::default());
        let report = source_report(&population, &all);
        // Every second file, as if the others were not in the folder.
        let focus = report.files.iter().step_by(2).map(|file| file.path.clone()).collect();
        for config in [all.clone(), SourceConfig { focus: Some(focus), ..all }] {
            let report = source_report(&population, &config);
            let (sums, unowned) = naive(trace, device, &timeline, &config);
            assert_eq!(sums_of(&report), sums, "{name}: {scope:?}");
            assert_eq!(report.unowned, unowned, "{name}: {scope:?}");
            if config.part == Part::Any {
                assert_eq!(report.totals.live_bytes, timeline.live_at(config.moment), "{name}");
            }
            check_sums(&report);
        }
    }
}

/// Checks that owned and unowned sums add up to all, and those of lines to those of files.
#[track_caller]
fn check_sums(report: &SourceReport) {
    let mut all = report.unowned;
    for file in &report.files {
        let mut own = LineTotals::default();
        file.lines.iter().for_each(|line| own += line.own);
        assert_eq!(own, file.own);
        let most = file.lines.iter().map(|line| line.through.live_bytes).max();
        assert!(file.own <= file.through && most <= Some(file.through.live_bytes));
        all += own;
    }
    assert_eq!(all, report.totals);
}

#[test]
fn lines_have_the_sums_of_all_their_frames() {
    let mut lines = 0;
    for (name, trace) in snapshots(FOLDER, 20, |_| true) {
        for device in &trace.devices {
            check_device(&name, &trace, device);
            lines += trace.frames.len();
        }
    }
    assert!(lines > 1000, "{lines}");
}

#[test]
fn the_first_lines_are_those_with_the_most() {
    for (name, trace) in &snapshots(FOLDER, 1, |name| name.contains("gpt2")) {
        for device in &trace.devices {
            let timeline = Timeline::new(trace, device);
            let population = Population { trace, device, timeline: &timeline, spans: &[], categories: &[] };
            let config = SourceConfig::of(&population, &Scope::At(timeline.live_peak().0), Filter::default());
            let report = source_report(&population, &config);
            let ranked: Vec<_> = report.ranked().map(|(file, line)| (file.path.clone(), line.line)).collect();
            for top in [0, 1, 7, ranked.len(), ranked.len() + 1] {
                let part = report.clone().top(top);
                let mut found: Vec<_> = part.ranked().map(|(file, line)| (file.path.clone(), line.line)).collect();
                let mut expected = ranked[..top.min(ranked.len())].to_vec();
                assert_eq!(part.other_lines as usize, ranked.len() - expected.len(), "{name}");
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{name}");
            }
        }
    }
}

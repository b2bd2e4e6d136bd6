//! Compares small traces, and random ones with naive sums.

use super::*;
use crate::analysis::ask::tests::Sample;
use crate::analysis::naive::{Random, random_trace};
use crate::analysis::study::categories::categories;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::peak::live_by_stack;
use crate::base::OwnCode;
use crate::trace::{Frame, Trace, text};
use std::collections::BTreeMap;

fn profile(trace: &Trace, moment: u32) -> Profile {
    let sample = Sample::new(trace.clone());
    let (device, allocations) = (sample.device(), sample.allocations());
    let categories = categories(device, &sample.timeline, &sample.study().phases);
    Profile::at(trace, device, allocations, &categories, moment)
}

fn at_end(source: &str) -> Profile {
    let trace = text::parse(source).unwrap();
    profile(&trace, trace.devices[0].events.len() as u32)
}

/// Checks the rows, written as `title: match, bytes, count`; the title is that of the second side if it has the stack.
#[track_caller]
fn check(before: &Profile, after: &Profile, expected: &[&str]) {
    let found = diff(before, after);
    let describe = |row: &DiffRow| {
        let (profile, position) = row.told(before, after).unwrap();
        let title = profile.labelled(position, &OwnCode::Automatic).label.map(|label| label.head());
        let title = title.unwrap_or_else(|| "no stack recorded".to_owned());
        format!("{title}: {}, {:+}, {:+}", row.matched.name(), row.change.bytes(), row.change.count())
    };
    assert_eq!(found.rows.iter().map(describe).collect::<Vec<_>>(), expected);
}

#[test]
fn the_same_stack_may_hold_more() {
    let before = at_end("alloc a 100 @f<main\nalloc b 7 @g<main\nalloc c 5 @h<main");
    let after = at_end("alloc x 9 @k<main\nalloc b 7 @g<main\nalloc a 100 @f<main\nalloc d 50 @f<main");
    check(
        &before,
        &after,
        &["f (main.py:1): same, +50, +1", "k (main.py:1): only-b, +9, +1", "h (main.py:1): only-a, -5, -1"],
    );
    let found = diff(&before, &after);
    assert_eq!((found.equal_stacks, found.equal_bytes), (1, 7));
}

/// Returns the trace with other lines and folders, as after an edit on another machine.
fn moved(source: &str) -> Trace {
    let trace = text::parse(source).unwrap();
    let mut edited = trace.clone();
    edited.frames = Default::default();
    for frame in trace.frames.iter() {
        let path = format!("/other/machine/{}", trace.strings.get(frame.filename));
        let filename = edited.strings.intern(&path);
        edited.frames.intern(Frame { filename, line: frame.line + 12, ..*frame });
    }
    edited
}

#[test]
fn an_edit_that_moves_lines_changes_nothing() {
    let source = "alloc a 100 @relu@model.py<main@train.py\nalloc b 7 @mm@model.py<main@train.py";
    let (before, after) = (at_end(source), profile(&moved(source), 2));
    assert_ne!(before.frames, after.frames);
    check(&before, &after, &[]);
    let more = moved(&format!("{source}\nalloc c 30 @relu@model.py<main@train.py"));
    check(&before, &profile(&more, 3), &["relu (model.py:13): moved-lines, +30, +1"]);
}

#[test]
fn another_call_below_the_same_function_is_one_place() {
    let before = at_end("alloc a 100 @at::_ops::bmm::call@x.cpp<attend@model.py<main@train.py");
    let after = at_end("alloc a 60 @at::_ops::sdpa::call@x.cpp<attend@model.py<inner@model.py<main@train.py");
    check(&before, &after, &["attend (model.py:1): place, -40, +0"]);
}

#[test]
fn code_without_a_program_is_no_place() {
    let before = at_end("alloc a 100 @f@x.cpp<g@y.cpp");
    let after = at_end("alloc a 60 @h@x.cpp<g@y.cpp");
    check(&before, &after, &["f (x.cpp:1): only-a, -100, -1", "h (x.cpp:1): only-b, +60, +1"]);
}

#[test]
fn categories_and_modules_are_summed() {
    let layer = |name: &str| format!("@aten::mm@operator<{name}@module<forward@phase");
    let step = "alloc g 8 @backward@phase\n";
    let before = at_end(&format!("alloc w 64 @setup@phase\nalloc a 100 {}\n{step}", layer("up")));
    let after =
        at_end(&format!("alloc w 64 @setup@phase\nalloc a 100 {}\nalloc b 30 {}\n{step}", layer("up"), layer("down")));
    let found = diff(&before, &after);
    let categories: Vec<_> =
        found.by_category.iter().map(|(category, change)| (category.name(), change.bytes())).collect();
    assert_eq!(categories[0], ("activation", 30));
    assert!(categories[1..].iter().all(|(_, bytes)| *bytes == 0), "{categories:?}");
    assert_eq!(found.by_module[0].0, "down");
    assert_eq!(found.by_module[1].0, "up");
}

/// Creates a profile of stacks with their bytes; frames are written as `name file:line`.
fn written(rows: &[(&[&str], u64)]) -> Profile {
    let mut profile = Profile::default();
    for (frames, bytes) in rows {
        let first = profile.frames.len() as u32;
        for text in *frames {
            let (name, place) = text.split_once(' ').unwrap();
            let (filename, line) = place.split_once(':').unwrap();
            let (name, filename) = (name.to_owned(), filename.to_owned());
            profile.frames.push(ProfileFrame { name, filename, line: line.parse().unwrap() });
        }
        let frames = (first..profile.frames.len() as u32).collect();
        let (category, largest) = (Category::Unknown, AllocationKey::Initial(0));
        profile.rows.push(ProfileRow { frames, category, bytes: *bytes, count: 1, largest });
    }
    profile
}

#[test]
fn the_worked_example() {
    let before = written(&[
        (&["relu nn.py:7", "forward net.py:20"], 10),
        (&["mm nn.py:9", "forward net.py:21"], 20),
        (&["bmm x.cpp:1", "attend net.py:30", "forward net.py:22"], 30),
        (&["cat data.py:3", "collate data.py:5"], 40),
    ]);
    let after = written(&[
        (&["relu nn.py:7", "forward net.py:20"], 10),
        (&["mm nn.py:9", "forward net.py:23"], 25),
        (&["sdpa x.cpp:4", "bmm x.cpp:1", "attend net.py:31", "forward net.py:24"], 33),
    ]);
    let expected =
        ["cat (data.py:3): only-a, -40, -1", "mm (nn.py:9): moved-lines, +5, +0", "attend (net.py:31): place, +3, +0"];
    check(&before, &after, &expected);
}

#[test]
fn stacks_that_differ_in_lines_alone_keep_their_order() {
    let before = written(&[(&["f a.py:10"], 1), (&["f a.py:20"], 2)]);
    let after = written(&[(&["f a.py:25"], 2), (&["f a.py:15"], 5), (&["f a.py:35"], 7)]);
    let expected = ["f (a.py:35): only-b, +7, +1", "f (a.py:15): moved-lines, +4, +0"];
    check(&before, &after, &expected);
}

#[test]
fn a_module_is_told_by_the_recording_or_by_the_file() {
    let module = |frames: &[(&str, &str)]| {
        let text =
            |&(name, filename): &(&str, &str)| ProfileFrame { name: name.into(), filename: filename.into(), line: 1 };
        let row = ProfileRow {
            frames: (0..frames.len() as u32).collect(),
            category: Category::Unknown,
            bytes: 1,
            count: 1,
            largest: AllocationKey::Initial(0),
        };
        Profile { moment: 0, frames: frames.iter().map(text).collect(), rows: vec![row] }.module(0).to_owned()
    };
    let operator = ("aten::mm", "operator");
    assert_eq!(module(&[operator, ("layers.3.mlp.up · backward", "module"), ("backward", "phase")]), "layers.3.mlp.up");
    assert_eq!(module(&[operator, ("optimizer", "phase")]), "");
    assert_eq!(module(&[("malloc", "x.cpp"), ("forward", "/srv/app/model.py"), ("main", "/srv/train.py")]), "model.py");
    assert_eq!(module(&[]), "");
}

#[test]
fn a_file_against_itself_differs_nowhere() {
    for seed in 0..60 {
        let trace = random_trace(seed, 200);
        let own = profile(&trace, 100);
        let found = diff(&own, &own);
        assert_eq!(found.rows, [], "seed {seed}");
        assert_eq!(found.equal_bytes, own.live_bytes());
    }
}

/// Sums bytes and allocations by the text of stacks.
fn naive(trace: &Trace, moment: u32) -> BTreeMap<Vec<(String, u64)>, (u64, u64)> {
    let device = &trace.devices[0];
    let frame = |id| {
        let frame = trace.frames.get(id);
        (trace.strings.get(frame.name).to_owned(), frame.line)
    };
    let rows = live_by_stack(device, &Allocations::pair(device), moment);
    let stack =
        |row: &crate::analysis::StackBytes| trace.stacks.frames(row.stack).iter().map(|&id| frame(id)).collect();
    rows.iter().map(|row| (stack(row), (row.bytes, row.count))).collect()
}

#[test]
fn differences_agree_with_naive_sums() {
    for seed in 0..120 {
        let traces = [random_trace(seed, 150), random_trace(seed + 1000, 100 + seed)];
        let mut random = Random::new(seed);
        let moments = traces.each_ref().map(|trace| random.below(trace.devices[0].events.len() as u64 + 1) as u32);
        let (before, after) = (naive(&traces[0], moments[0]), naive(&traces[1], moments[1]));
        let mut expected: Vec<i64> = Vec::new();
        for stack in before.keys().chain(after.keys().filter(|stack| !before.contains_key(*stack))) {
            let (one, other) = (before.get(stack).copied(), after.get(stack).copied());
            let ((a, an), (b, bn)) = (one.unwrap_or_default(), other.unwrap_or_default());
            expected.extend(((a, an) != (b, bn)).then_some(b as i64 - a as i64));
        }
        let profiles = [profile(&traces[0], moments[0]), profile(&traces[1], moments[1])];
        let found = diff(&profiles[0], &profiles[1]);
        let mut deltas: Vec<i64> = found.rows.iter().map(|row| row.change.bytes()).collect();
        assert!(deltas.is_sorted_by_key(|delta| Reverse(delta.unsigned_abs())), "seed {seed}");
        deltas.sort_unstable();
        expected.sort_unstable();
        assert_eq!(deltas, expected, "seed {seed}");
        let difference = profiles[1].live_bytes() as i64 - profiles[0].live_bytes() as i64;
        assert_eq!(deltas.iter().sum::<i64>(), difference, "seed {seed}");
        assert_eq!(found.total.bytes(), difference, "seed {seed}");
        for groups in [sums(&found.by_category), sums(&found.by_module)] {
            assert_eq!(groups, difference, "seed {seed}");
        }
    }
}

fn sums<K>(groups: &[(K, Change)]) -> i64 {
    groups.iter().map(|(_, change)| change.bytes()).sum()
}

//! Tests courses and classes on small traces, and compares levels with a count at each end of a step.

use super::*;
use crate::analysis::naive::{Random, random_trace};
use crate::analysis::study::period::Step;
use crate::trace::{Action, text};

/// Returns the growth of a trace in which each `snapshot` ends a step.
fn growth(source: &str) -> Growth {
    let trace = text::parse(source).unwrap();
    let device = &trace.devices[0];
    Growth::find(device, &Allocations::pair(device), &steps(device), &Phases::default())
}

/// Returns the steps, each of which ends with a `snapshot` event.
fn steps(device: &Device) -> Vec<Step> {
    let rows = device.events.actions().iter().enumerate();
    let ends: Vec<u32> =
        rows.filter(|(_, action)| *action == Action::Snapshot).map(|(event, _)| event as u32 + 1).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| Step { start, end }).collect()
}

/// Checks the groups, written as `function: course, bytes per step, bytes at the end`.
#[track_caller]
fn check(steps: usize, body: impl Fn(usize) -> String, expected: &[&str]) {
    let source: String = (0..steps).map(|step| body(step) + "\nsnapshot\n").collect();
    let found = growth(&source);
    let trace = text::parse(&source).unwrap();
    let name = |stack| trace.strings.get(trace.frames.get(trace.stacks.frames(stack)[0]).name);
    let row =
        |kept: &Kept| format!("{}: {:?}, {}, {}", name(kept.stack), kept.course, kept.bytes_per_step, kept.end_bytes);
    assert_eq!(found.kept.iter().map(row).collect::<Vec<_>>(), expected);
}

/// Writes a trace with one stack that has these bytes at the ends of steps.
fn levels(ends: &[u64]) -> String {
    let mut older: Vec<(usize, u64)> = Vec::new();
    let mut source = String::new();
    for (step, &end) in ends.iter().enumerate() {
        let mut held: u64 = older.iter().map(|row| row.1).sum();
        while held > end {
            let (name, bytes) = older.pop().expect("what is held was allocated");
            source += &format!("free a.{name} {bytes}\n");
            held -= bytes;
        }
        if held < end {
            source += &format!("alloc a.{step} {} @f\n", end - held);
            older.push((step, end - held));
        }
        source += "snapshot\n";
    }
    source
}

/// Checks the course and the class of one stack by its bytes at the ends of steps.
#[track_caller]
fn course(ends: &[u64], expected: Course, class: Option<GrowthClass>) {
    let found = growth(&levels(ends)).kept;
    assert_eq!(found.iter().map(|kept| (kept.course, kept.class)).collect::<Vec<_>>(), [(expected, class)], "{ends:?}");
    assert_eq!((found[0].end_bytes, found[0].most_bytes), (ends[ends.len() - 1], *ends.iter().max().unwrap()));
}

#[test]
fn courses_of_the_worked_example() {
    let body = |step: usize| {
        let mut lines = vec![format!("alloc l.{step} 3 @losses"), format!("alloc o.{step} 2 @output")];
        lines.extend(step.checked_sub(1).map(|older| format!("free o.{older}")));
        lines.extend((step == 0).then(|| "alloc s 8 @state".to_owned()));
        lines.extend((step < 2).then(|| format!("alloc k.{step} {} @compiled", 5 - step)));
        lines.extend([0, 2, 4].contains(&step).then(|| format!("alloc m.{step} 1 @masks")));
        lines.extend((step == 3).then(|| "alloc t 5 @table".to_owned()));
        lines.join("\n")
    };
    let expected = [
        "losses: Grows, 3, 24",
        "compiled: WarmsUp, 0, 9",
        "state: Settles, 0, 8",
        "table: Jumps, 0, 5",
        "masks: Fills, 0, 3",
        "output: Renewed, 0, 2",
    ];
    check(8, body, &expected);
}

#[test]
fn courses_tell_classes() {
    // What falls again does not grow.
    course(&[4, 8, 0, 4, 8, 0, 4, 8], Course::Bounded, Some(GrowthClass::Cache));
    course(&[4, 8, 0, 4, 9, 0, 4, 10], Course::Changes, None);
    course(&[4, 8, 0, 0, 0, 0, 0, 0], Course::Changes, None);
    // A leak is told from what came with the first steps.
    course(&[5, 9, 9, 9, 9, 9, 9, 9], Course::WarmsUp, Some(GrowthClass::WarmUp));
    course(&[5, 9, 9], Course::Renewed, None);
    course(&[5, 9, 9, 9], Course::WarmsUp, Some(GrowthClass::WarmUp));
    course(&[5, 9, 13], Course::Grows, Some(GrowthClass::Leak));
    course(&[5, 9, 13, 17], Course::Grows, Some(GrowthClass::Leak));
    course(&[7, 7, 7], Course::Settles, Some(GrowthClass::WarmUp));
    course(&[7, 7], Course::Settles, None);
    // What comes once is told from the first turn of a leak.
    course(&[0, 0, 0, 5, 5, 5], Course::Jumps, Some(GrowthClass::OneOff));
    course(&[2, 2, 2, 5, 5, 5], Course::Jumps, Some(GrowthClass::OneOff));
    // A single step after the rise is not enough to tell.
    course(&[0, 0, 0, 0, 5, 5], Course::Changes, None);
    course(&[0, 0, 0, 0, 0, 5], Course::Changes, None);
    // A cache that fills is told from a leak of some steps.
    course(&[1, 1, 2, 2, 3, 3, 3, 3], Course::Fills, Some(GrowthClass::Cache));
    // The next rise may be due right after the end.
    course(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3], Course::Changes, None);
    course(&[1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3], Course::Fills, Some(GrowthClass::Cache));
    course(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4], Course::Grows, Some(GrowthClass::Leak));
}

#[test]
fn what_a_full_cache_replaces_is_no_growth() {
    course(&[8, 16, 24, 24, 24, 24, 24, 25, 24, 24, 26, 26, 25], Course::Changes, None);
    // Sessions that stay, beside a buffer that each step renews.
    let body = |step: usize| {
        let older = step.checked_sub(1).map_or_else(String::new, |older| format!("\nfree a.{older}"));
        let stays = if step % 3 == 1 { format!("alloc s.{step} 40 @f\n") } else { String::new() };
        format!("{stays}alloc a.{step} {} @f{older}", 20 + step % 4 * 9)
    };
    check(13, body, &["f: Grows, 13, 180"]);
    // A buffer of the last eight, and one of which every third one is kept until the buffer is full.
    let ring = |step: usize| {
        let older = step.checked_sub(8).map_or_else(String::new, |older| format!("\nfree a.{older}"));
        format!("alloc a.{step} 8 @f{older}")
    };
    check(20, ring, &["f: Renewed, 0, 64"]);
}

#[test]
fn a_pool_that_is_full_grows_no_more() {
    // Of fourteen, one of which each later step replaces: in the same line, or in another.
    let pool = |step: usize| {
        let older = step.checked_sub(14).map_or_else(String::new, |older| format!("\nfree a.{older}"));
        format!("alloc a.{step} 8 @f{older}")
    };
    check(18, pool, &["f: Fills, 0, 112"]);
    let filled: Vec<u64> = (1..=14).map(|step| 10 * step).collect();
    course(&[&filled[..], &[138, 136, 134, 132]].concat(), Course::Fills, Some(GrowthClass::Cache));
    // What stays as it is may grow again.
    course(&[&filled[..], &[140, 140, 140, 140]].concat(), Course::Grows, Some(GrowthClass::Leak));
}

#[test]
fn what_rises_ever_more_seldom_fills() {
    let ends = [0, 8, 14, 18, 21, 21, 23, 23, 24, 24, 24, 24, 25];
    course(&ends, Course::Fills, Some(GrowthClass::Cache));
    // Half as much in each part, but in every step: this keeps growing.
    let ends = [0, 8, 16, 24, 32, 36, 40, 44, 48, 50, 52, 54, 56];
    course(&ends, Course::Grows, Some(GrowthClass::Leak));
}

#[test]
fn the_rate_of_a_leak_is_not_that_of_its_warm_up() {
    let found = growth(&levels(&[0, 100, 102, 104, 106, 108, 110, 112, 114, 116]));
    assert_eq!(found.bytes_per_step(), 2);
    assert_eq!(growth(&levels(&[0, 3, 5, 7, 9, 11, 13])).bytes_per_step(), 13 / 6);
}

#[test]
fn classes_add_up() {
    let body = |step: usize| {
        let mut lines = vec![format!("alloc l.{step} 3 @losses\nalloc g.{step} 5 @graphs")];
        lines.extend((step == 0).then(|| "alloc s 8 @state".to_owned()));
        lines.join("\n") + "\nsnapshot\n"
    };
    let found = growth(&(0..6).map(body).collect::<String>());
    let rows: Vec<_> = found.by_class().into_iter().map(|row| (row.class, row.bytes_per_step, row.end_bytes)).collect();
    assert_eq!(rows, [(GrowthClass::Leak, 8, 48), (GrowthClass::WarmUp, 0, 8)]);
    assert_eq!((found.by_class()[0].groups, found.by_class()[0].end_count, found.by_class()[0].last_rise), (2, 12, 5));
}

#[test]
fn a_leak_of_some_steps_grows() {
    let body = |step: usize| if step % 4 == 3 { format!("alloc a.{step} 16 @f") } else { String::new() };
    check(20, body, &["f: Grows, 4, 80"]);
}

#[test]
fn what_takes_the_place_of_a_smaller_one_is_replaced() {
    let body = |step: usize| {
        let older = step.checked_sub(1).map_or_else(String::new, |older| format!("\nfree a.{older}"));
        format!("alloc a.{step} {} @cat{older}", step + 1)
    };
    let source: String = (0..4).map(|step| body(step) + "\nsnapshot\n").collect();
    assert!(growth(&source).kept[0].is_replaced);
    check(4, body, &["cat: Grows, 1, 4"]);
}

#[test]
fn levels_agree_with_a_look_at_each_end() {
    for seed in 0..60 {
        let trace = random_trace(seed, 200 + seed);
        let device = &trace.devices[0];
        let steps = steps(device);
        if steps.is_empty() {
            continue;
        }
        let allocations = Allocations::pair(device);
        let found = Growth::find(device, &allocations, &steps, &Phases::default());
        let last = steps[steps.len() - 1].end;
        let mut expected: HashMap<StackId, u64> = HashMap::new();
        for id in allocations.ids() {
            let row = allocations.get(id, device);
            let survives = steps.iter().any(|step| step.contains(row.born) && row.died > step.end);
            if survives && !allocations.is_initial(id) {
                let bytes = if row.died > last { row.size_bytes } else { 0 };
                *expected.entry(row.stack).or_default() += bytes;
            }
        }
        let found: HashMap<StackId, u64> = found.kept.iter().map(|kept| (kept.stack, kept.end_bytes)).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// Determines the class of one stack directly from all its levels.
fn naive_class(ends: &[u64]) -> Option<GrowthClass> {
    let (count, last) = (ends.len(), ends.len() - 1);
    let part = |step: usize| (step - 1) * 3.min(count - 1) / (count - 1);
    let rise = |step: usize| ends[step].saturating_sub(ends[step - 1]);
    let rises: Vec<usize> = (1..count).filter(|&step| rise(step) > 0).collect();
    let fallen: u64 = (1..count).map(|step| ends[step - 1].saturating_sub(ends[step])).sum();
    let risen: u64 = rises.iter().map(|&step| rise(step)).sum();
    let of_part = |of: usize| rises.iter().copied().filter(move |&step| part(step) == of);
    let bytes_of = |of: usize| of_part(of).map(rise).sum::<u64>();
    let mut by_size: Vec<u64> = rises.iter().map(|&step| rise(step)).collect();
    by_size.sort_unstable();
    let is_large = |&step: &usize| rise(step) >= by_size[by_size.len() / 2] / 4;
    let in_all = (0..3.min(count - 1)).all(|of| of_part(of).any(|step| is_large(&step)));
    let thins = |of: usize| bytes_of(of) >= 2 * bytes_of(of + 1) && of_part(of).count() > of_part(of + 1).count();
    let is_slowing = count >= 10 && in_all && thins(0) && thins(1) && of_part(2).count() * 2 < (count - 1) / 3;
    let is_steady = fallen * 10 <= risen;
    if count < 3 {
        return None;
    }
    if is_steady && in_all && !is_slowing {
        return Some(GrowthClass::Leak);
    }
    if rises.is_empty() && ends[0] == ends[last] && ends.iter().all(|&end| end == ends[0]) {
        return Some(GrowthClass::WarmUp);
    }
    let births = rises.len() + usize::from(ends[0] > 0);
    if births + 1 >= count && births > 1 {
        return None;
    }
    if !is_steady {
        let before = (0..count).filter(|&step| step == 0 || part(step) < 2).map(|step| ends[step]).max()?;
        let lately = (1..count).filter(|&step| part(step) == 2).map(|step| ends[step]).max()?;
        return (count > 3 && rises.len() > 1 && lately > 0 && lately <= before).then_some(GrowthClass::Cache);
    }
    let (&first, &latest) = (rises.first()?, rises.last()?);
    if is_slowing {
        return Some(GrowthClass::Cache);
    }
    if last - latest < 2 {
        return None;
    }
    if latest <= (count / 4).clamp(1, 10) {
        return Some(GrowthClass::WarmUp);
    }
    if first == latest {
        return Some(GrowthClass::OneOff);
    }
    let from = if ends[0] > 0 { 0 } else { first };
    let all: Vec<usize> = std::iter::once(from).chain(rises.iter().copied()).collect();
    let longest = all.windows(2).map(|pair| pair[1] - pair[0]).max()?;
    (last - latest >= longest && of_part(2).count() == 0).then_some(GrowthClass::Cache)
}

#[test]
fn classes_agree_with_a_look_at_all_levels() {
    let mut random = Random::new(6);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..4000 {
        let count = 2 + random.below(14) as usize;
        let (seldom, falls) = (1 + random.below(6), random.below(3) == 0);
        let mut end = random.below(3) * 4;
        let ends: Vec<u64> = (0..count)
            .map(|step| {
                if step > 0 && random.below(seldom) == 0 {
                    end = if falls && random.below(2) == 0 { random.below(end + 1) } else { end + 1 + random.below(9) };
                }
                end
            })
            .collect();
        if ends.iter().all(|&end| end == 0) {
            continue;
        }
        let found = growth(&levels(&ends)).kept[0].class;
        // A fall splits allocations into new ones with births of their own; the naive version knows only levels.
        if !ends.windows(2).any(|pair| pair[1] < pair[0]) {
            assert_eq!(found, naive_class(&ends), "{ends:?}");
        }
        seen.insert(found);
    }
    assert_eq!(seen.len(), 5, "leak, warm-up, cache, one-off and none come up: {seen:?}");
}

//! Tests that part of a trace equals the whole restricted to it, and a preview the curve so far.

use shared::analysis::{Timeline, live_by_stack};
use shared::import::{Importer, Overview, PartRequest};
use shared::pickle::Style;
use shared::trace::{Device, Trace, text};
use std::fmt::Write as _;
use testkit::corpus::{decode, samples};
use testkit::generator::{Config, Random, generate_vec};

fn import(mut importer: Importer, bytes: &[u8], chunk_bytes: usize) -> Importer {
    bytes.chunks(chunk_bytes).for_each(|chunk| importer.push(chunk).unwrap());
    importer
}

fn overview(bytes: &[u8], chunk_bytes: usize) -> Overview {
    import(Importer::overview(), bytes, chunk_bytes).finish_overview().unwrap()
}

fn part(bytes: &[u8], request: &PartRequest, chunk_bytes: usize) -> Trace {
    let trace = import(Importer::part(request.clone()), bytes, chunk_bytes).finish().unwrap();
    trace.check();
    trace
}

/// Generates a pickled snapshot of random events, also inconsistent ones.
///
/// If `is_whole`, frees have the sizes of their allocations.
fn random_snapshot(seed: u64, is_whole: bool) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut source = String::new();
    for device in 0..1 + random.below(3) {
        writeln!(source, "device {device}").unwrap();
        let names = 4 + random.below(40);
        let has_completed = random.below(4) > 0;
        for event in 0..1 + random.below(300) {
            let name = random.below(names);
            let size = if is_whole { 16 + name } else { 1 + random.below(5000) };
            let line = match random.below(20) {
                0..9 => format!("alloc n{name} {size}"),
                9..12 if has_completed => format!("free n{name} {size}"),
                12..15 if has_completed => format!("free_completed n{name} {size}"),
                9..16 => format!("free_requested n{name} {size}"),
                16 => format!("segment_alloc s{event} 4096"),
                17 => format!("segment_free s{event} 4096"),
                18 => format!("segment_map m{event} 4096"),
                _ => "snapshot".to_owned(),
            };
            writeln!(source, "{line} @f{} t={}", random.below(5), 1000 + event).unwrap();
        }
        writeln!(source, "segment s{device} 1MiB").unwrap();
        for _ in 0..random.below(12) {
            let state = random.one_of(&["", "pending", "inactive"]);
            writeln!(source, "block n{} {} {state}", random.below(names * 2), 1 + random.below(5000)).unwrap();
        }
    }
    let mut bytes = Vec::new();
    let style = if seed.is_multiple_of(2) { Style::Python } else { Style::Torch };
    shared::export::pickle(&text::parse(&source).unwrap(), style, |piece| bytes.extend_from_slice(piece));
    bytes
}

/// Returns live bytes and counts by the text of the stack, because ids differ between traces.
fn alive(trace: &Trace, device: &Device, timeline: &Timeline, moment: u32) -> Vec<(String, u64, u64)> {
    let words = |stack| {
        let frames = trace.stacks.frames(stack).iter().map(|&frame| trace.frames.get(frame));
        frames.map(|frame| format!("{}:{} ", trace.strings.get(frame.name), frame.line)).collect::<String>()
    };
    let rows = live_by_stack(device, &timeline.allocations, moment);
    let mut rows: Vec<_> = rows.iter().map(|row| (words(row.stack), row.bytes, row.count)).collect();
    rows.sort();
    rows
}

/// Checks the part of one device against the whole; `are_segments_told` is false if the file's segments are invented.
#[track_caller]
fn check(name: &str, whole: &Trace, part: &Trace, request: &PartRequest, are_segments_told: bool) {
    let (device, events) = (whole.device(request.device()).unwrap(), request.events());
    let cut = part.device(request.device()).unwrap();
    let name = format!("{name}, GPU {}, events {events:?}", request.device());
    assert_eq!(cut.events.len(), events.len(), "{name}");
    for index in 0..cut.events.len() {
        let (event, original) = (cut.events.at(index), device.events.at(events.start as usize + index));
        assert_eq!((event.action, event.addr, event.time_us), (original.action, original.addr, original.time_us));
    }
    let (timeline, original) = (Timeline::new(part, cut), Timeline::new(whole, device));
    for moment in 0..=cut.events.len() as u32 {
        let at = events.start + moment;
        assert_eq!(timeline.live_at(moment), original.live_at(at), "{name}: live at {moment}");
        if are_segments_told {
            assert_eq!(timeline.reserved_at(moment), original.reserved_at(at), "{name}: reserved at {moment}");
        }
    }
    let (moment, bytes) = original.live_max_in(events.start..events.end + 1);
    assert_eq!(timeline.live_peak(), (moment - events.start, bytes), "{name}: peak");
    let stacks = |moment: u32| {
        let parts = alive(part, cut, &timeline, moment);
        assert_eq!(parts, alive(whole, device, &original, events.start + moment), "{name}: stacks at {moment}");
    };
    stacks(0);
    stacks(moment - events.start);
    stacks(cut.events.len() as u32);
}

fn ranges(total: u64, random: &mut Random) -> Vec<std::ops::Range<u64>> {
    let mut ranges = vec![0..total, total - 1..total, 0..1, total / 3..total, 0..total.div_ceil(2)];
    let mut below = |end: u64| random.below(end as usize) as u64;
    for _ in 0..4 {
        let start = below(total);
        ranges.push(start..start + 1 + below(total - start));
    }
    ranges
}

#[test]
fn parts_of_random_traces_are_the_whole_restricted() {
    let mut random = Random::new(5);
    for seed in 0..150 {
        let bytes = random_snapshot(seed, false);
        let whole = decode("random", &bytes, bytes.len());
        for device in overview(&bytes, bytes.len()).devices {
            for range in ranges(device.trace.events, &mut random) {
                let request = device.part(range).unwrap();
                let name = format!("seed {seed}");
                check(&name, &whole, &part(&bytes, &request, bytes.len()), &request, false);
            }
        }
    }
}

#[test]
fn parts_of_recordings_are_the_whole_restricted() {
    let mut random = Random::new(11);
    let generated = ("generated".to_owned(), generate_vec(&Config { seed: 3, events: 8000, style: Style::Python }));
    let stored = samples().into_iter().map(|sample| (sample.name, sample.bytes));
    for (name, bytes) in stored.chain([generated]) {
        let whole = decode(&name, &bytes, bytes.len());
        for device in overview(&bytes, bytes.len()).devices {
            for range in ranges(device.trace.events, &mut random).into_iter().skip(3) {
                let request = device.part(range).unwrap();
                check(&name, &whole, &part(&bytes, &request, bytes.len()), &request, true);
            }
        }
    }
}

#[test]
fn an_overview_has_the_peak_of_every_recording() {
    // The events of snapshots made by hand contradict their blocks.
    for sample in samples().into_iter().filter(|sample| !sample.name.starts_with("made-")) {
        let whole = sample.trace();
        let overview = overview(&sample.bytes, sample.bytes.len());
        let with_events: Vec<&Device> = whole.devices.iter().filter(|device| !device.events.is_empty()).collect();
        assert_eq!(overview.devices.len(), with_events.len(), "{}", sample.name);
        for (found, device) in overview.devices.iter().zip(with_events) {
            let timeline = Timeline::new(&whole, device);
            assert_eq!((found.index, found.trace.events as usize), (device.index, device.events.len()));
            assert_eq!(found.first_live_bytes, timeline.live_at(0), "{}", sample.name);
            assert_eq!(found.peak_bytes(), timeline.live_peak().1, "{}", sample.name);
            assert_eq!(found.trace.peak_moment, u64::from(timeline.live_peak().0), "{}", sample.name);
        }
    }
}

#[test]
fn a_preview_is_the_curve_of_what_has_been_read() {
    let stored = samples().into_iter().map(|sample| (sample.name, sample.bytes));
    for (name, bytes) in stored {
        let whole = decode(&name, &bytes, bytes.len());
        let timelines: Vec<(Timeline, &Device)> =
            whole.devices.iter().map(|device| (Timeline::new(&whole, device), device)).collect();
        for chunk_bytes in [4096, 70_001] {
            let mut importer = Importer::with_preview();
            for chunk in bytes.chunks(chunk_bytes) {
                importer.push(chunk).unwrap();
                let Some(preview) = importer.preview() else { continue };
                assert!(!preview.is_odd, "{name}");
                let with_events = timelines.iter().filter(|(_, device)| !device.events.is_empty());
                for (trace, (timeline, _)) in preview.traces.iter().zip(with_events) {
                    let first = timeline.live_at(0) as i64;
                    let last = timeline.live_at(trace.events as u32) as i64;
                    assert_eq!(trace.last_bytes, last - first, "{name} after {} events", trace.events);
                    for (at, &highest) in trace.highest_bytes.iter().enumerate() {
                        let start = at as u64 * trace.bucket_moments;
                        let end = (start + trace.bucket_moments).min(trace.events + 1);
                        let most = timeline.live_max_in(start as u32..end as u32).1 as i64;
                        assert_eq!(highest, most - first, "{name}: moments {start}..{end}");
                    }
                }
            }
            assert!(importer.finish().is_ok());
        }
    }
}

#[test]
fn chunks_make_no_difference_to_a_part() {
    let mut random = Random::new(3);
    for seed in 0..12 {
        let bytes = random_snapshot(seed, true);
        let whole = overview(&bytes, bytes.len());
        assert_eq!(overview(&bytes, 7), whole);
        for device in &whole.devices {
            for range in ranges(device.trace.events, &mut random) {
                let request = device.part(range).unwrap();
                let (left, right) = (part(&bytes, &request, bytes.len()), part(&bytes, &request, 13));
                assert_eq!(left.devices, right.devices, "seed {seed}");
            }
        }
    }
}

#[test]
fn a_file_that_changed_or_ends_early_is_refused_in_every_pass() {
    let before = generate_vec(&Config { seed: 1, events: 4000, style: Style::Python });
    let after = generate_vec(&Config { seed: 1, events: 5000, style: Style::Python });
    let request = overview(&before, before.len()).devices[0].part(10..20).unwrap();
    let error = import(Importer::part(request), &after, after.len()).finish().unwrap_err();
    assert_eq!(error.message, "The file changed between the first and the second read");
    let bytes = generate_vec(&Config { seed: 1, events: 4000, style: Style::Python });
    let request = overview(&bytes, bytes.len()).devices[0].part(10..20).unwrap();
    let cut = &bytes[..bytes.len() / 2];
    let preview = import(Importer::with_preview(), cut, 4096);
    assert!(preview.preview().unwrap().traces[0].events > 0);
    let messages = [
        preview.finish().unwrap_err().message,
        import(Importer::overview(), cut, 4096).finish_overview().unwrap_err().message,
        import(Importer::part(request), cut, 4096).finish().unwrap_err().message,
    ];
    assert!(messages.iter().all(|message| message == &messages[0] && message.contains("ends")), "{messages:?}");
}

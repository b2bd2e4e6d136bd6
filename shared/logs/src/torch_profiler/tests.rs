//! Tests traces of profilers.

use super::*;
use crate::source::read_file;
use std::io::Write as _;

mod habits;

fn read(bytes: &[u8], size: usize) -> Profile {
    read_file::<ProfileReader>(bytes, size)
}

/// A trace in the form of Kineto, with a step that calls two operators in one function of the user's own code.
fn trace() -> String {
    let span = |cat: &str, name: &str, ts: f64, dur: f64| {
        format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": 1, \"tid\": 7,\n    \"ts\": {ts}, \"dur\": {dur},\n    \
             \"args\": {{\n      \"External id\": 1,\"Input Dims\": [[2, \"]\"], {{}}]\n    }}\n  }},\n"
        )
    };
    let memory = |ts: f64, addr: u64, bytes: i64, total: u64| {
        format!(
            "  {{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    \"pid\": 1, \"tid\": 7,\n    \
             \"ts\": {ts},\n    \"args\": {{\n      \"Total Reserved\": 4096, \"Total Allocated\": {total}, \"Bytes\": {bytes}, \
             \"Addr\": {addr}, \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": 3\n    }}\n  }},\n"
        )
    };
    let mut text = "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"[GPU]\"}],\n  \"traceEvents\": [\n".to_owned();
    text += &memory(5.0, 1, 512, 1512);
    text += &memory(35.0, 1, -512, 2048);
    text += &span("python_function", "train.py(88): step", 10.0, 80.0);
    text += &span("python_function", "torch/nn/modules/module.py(1739): _call_impl", 12.0, 70.0);
    text += &span("cpu_op", "aten::linear", 14.0, 60.0);
    text += &span("cpu_op", "aten::addmm \\\"x\\\"", 15.0, 10.0);
    text += &memory(20.0, 2, 1024, 2560);
    text += &memory(50.0, 3, 2048, 4096);
    text += &memory(95.0, 2, -1024, 3072);
    text += "  {\"ph\": \"s\", \"name\": \"flow\"}\n],\n \"traceName\": \"t.json\", \"baseTimeNanoseconds\": 1795448812000000000\n}\n";
    text
}

#[test]
fn events_have_the_operators_and_lines_around_them() {
    let text = trace();
    assert!(is_profile(text.as_bytes()));
    let profile = read(text.as_bytes(), text.len());
    assert_eq!((profile.events, profile.is_cut, profile.has_dates, profile.left_out), (10, false, true, 0));
    let [course] = profile.courses.as_slice() else { panic!("{profile:?}") };
    let named: Vec<(i64, &str, &str)> = course
        .events
        .iter()
        .map(|event| {
            let name = |id: Option<_>| id.map_or("", |id| profile.name(id));
            (event.bytes, name(event.operator), name(event.function))
        })
        .collect();
    let expected = [
        (512, "", ""),
        (1024, "aten::addmm \\\"x\\\"", "train.py(88): step"),
        (-512, "aten::linear", "train.py(88): step"),
        (2048, "aten::linear", "train.py(88): step"),
        (-1024, "", ""),
    ];
    assert_eq!(named, expected);
    assert!((course.events[0].time_us - 1_795_448_812_000_005.0).abs() < 1.0);
}

#[test]
fn the_peak_is_divided_between_operators() {
    let profile = read(trace().as_bytes(), 64);
    let (peak, groups) = live_groups(&profile.courses[0]).unwrap();
    assert_eq!(profile.courses[0].heights()[peak], 4096);
    let groups: Vec<(u64, u64)> = groups.iter().map(|group| (group.bytes, group.count)).collect();
    assert_eq!(groups, [(2048, 1), (1024, 1)]);
}

#[test]
fn a_trace_is_the_same_in_chunks_and_compressed() {
    let text = trace();
    let whole = read(text.as_bytes(), text.len());
    for size in [1, 7, 100] {
        assert_eq!(read(text.as_bytes(), size), whole, "in chunks of {size}");
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(is_profile(&packed));
    assert_eq!(read(&packed, 3), whole);
    let bare =
        format!("[{}]", &text[text.find("\"traceEvents\": [").unwrap() + 16..text.find("],\n \"traceName\"").unwrap()]);
    assert_eq!(read(bare.as_bytes(), 9).courses[0].events.len(), 5, "the bare list");
}

#[test]
fn a_cut_trace_keeps_what_it_has() {
    let text = trace();
    let half = &text.as_bytes()[..text.find("\"Addr\": 3").unwrap()];
    let profile = read(half, 50);
    assert!(profile.is_cut);
    assert_eq!(profile.courses[0].events.len(), 3);
    assert!(read(b"{\"traceEvents\": [", 5).is_empty());
}

#[test]
fn other_files_are_no_traces() {
    for bytes in [&b""[..], b"{\"segments\": []}", b"traceEvents", b"\x1f\x8b\x08", b"step 3 \"traceEvents\""] {
        assert!(!is_profile(bytes), "{bytes:?}");
    }
}

#[test]
fn without_totals_heights_are_sums() {
    let course = |bytes: &[i64]| Course {
        events: bytes.iter().map(|&bytes| MemoryEvent { bytes, ..MemoryEvent::default() }).collect(),
        ..Course::default()
    };
    assert_eq!(course(&[4, -9, 7]).heights(), [9, 0, 7]);
    assert_eq!(course(&[4, 5]).heights(), [4, 9]);
}

#[test]
fn steps_annotations_and_kernels_are_rows() {
    let text = "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n".to_owned()
        + &habits::event("user_annotation", "ProfilerStep#1", 10, 50, 0)
        + &habits::event("user_annotation", "forward", 12, 20, 0)
        + &habits::event("user_annotation", "layer", 14, 5, 0)
        + &habits::event("kernel", "gemm", 20, 6, 1)
        + &habits::event("kernel", "copy", 24, 4, 2)
        + &habits::event("kernel", "softmax", 40, 2, 3)
        + "{\"ph\": \"e\"}]}\n";
    let profile = read(text.as_bytes(), 9);
    let spans = |lane: &Lane| {
        let span = |span: &LaneSpan| (profile.name(span.name).to_owned(), span.start_us, span.end_us, span.count);
        lane.spans.iter().map(span).collect::<Vec<_>>()
    };
    let rows: Vec<_> = profile.lanes.iter().map(|lane| (lane.kind, spans(lane))).collect();
    let row = |name: &str, from: f64, to: f64, count: u64| (name.to_owned(), from, to, count);
    assert_eq!(
        rows,
        [
            (LaneKind::Steps, vec![row("ProfilerStep#1", 10.0, 60.0, 1)]),
            (LaneKind::Annotations, vec![row("forward", 12.0, 32.0, 1)]),
            (LaneKind::Kernels, vec![row("gemm", 20.0, 28.0, 2), row("softmax", 40.0, 42.0, 1)]),
        ]
    );
}

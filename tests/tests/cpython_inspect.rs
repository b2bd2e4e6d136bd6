//! The figures of `snapscope inspect` against plain Python over CPython's pickle.

use serde_json::{Value, json};
use shared::analysis::{Summary, Timeline};
use shared::trace::{Container, Device, Encoding, Format, Trace};
use std::collections::HashSet;
use testkit::corpus::samples;
use testkit::cpython;

/// The document of `oracle.py`.
fn document(trace: &Trace) -> Value {
    let devices: Vec<Value> = trace.devices.iter().map(|device| figures(trace, device)).collect();
    let (frames, stacks) = unique(trace);
    let mut document = json!({
        "format": format(trace.format),
        "devices": devices,
        "annotations": trace.annotations.len(),
        "unique_frames": frames,
        "unique_stacks": stacks,
    });
    if let Some(host) = &trace.host {
        document["host"] = figures(trace, host);
    }
    document
}

fn format(Format { container, encoding }: Format) -> Value {
    let container = match container {
        Container::Raw => "raw",
        Container::Gzip => "gzip",
        Container::Html => "html",
    };
    let protocol = match encoding {
        Encoding::Pickle(protocol) => json!(protocol),
        Encoding::Json => Value::Null,
    };
    json!({ "container": container, "protocol": protocol })
}

fn figures(trace: &Trace, device: &Device) -> Value {
    let summary = Summary::of(device, &Timeline::new(trace, device));
    let actions = summary.actions.iter().map(|(action, count)| (action.name().to_owned(), json!(count)));
    json!({
        "device": device.index,
        "events": summary.events,
        "actions": Value::Object(actions.collect()),
        "segments": summary.segments,
        "blocks": summary.blocks,
        "reserved_bytes": summary.reserved_bytes,
        "allocated_bytes": summary.allocated_bytes,
        "active_bytes": summary.active_bytes,
        "initial_bytes": summary.initial_bytes,
        "peak_live_bytes": summary.peak_live_bytes,
        "peak_event": summary.peak_event,
        "end_live_bytes": summary.end_live_bytes,
        "peak_reserved_bytes": summary.peak_reserved_bytes,
        "unmatched_frees": summary.unmatched_frees,
    })
}

/// Distinct frames, and distinct stacks that have frames, where FX details don't make a frame another one.
fn unique(trace: &Trace) -> (usize, usize) {
    let key = |frame| {
        let frame = trace.frames.get(frame);
        (frame.name, frame.filename, frame.line)
    };
    let stacks: HashSet<Vec<_>> =
        trace.stacks.ids().map(|stack| trace.stacks.frames(stack).iter().map(|frame| key(*frame)).collect()).collect();
    (stacks.iter().flatten().collect::<HashSet<_>>().len(), stacks.len())
}

/// The first figures that differ, with the path to them.
fn difference(ours: &Value, expected: &Value) -> Option<String> {
    let both = match (ours, expected) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a.values().zip(b.values()).collect::<Vec<_>>(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a.iter().zip(b).collect(),
        _ => return (ours != expected).then(|| format!("{ours} instead of {expected}")),
    };
    let at = |index: usize| match ours {
        Value::Object(fields) => fields.keys().nth(index).cloned().unwrap_or_default(),
        _ => index.to_string(),
    };
    let mut differences = both.into_iter().enumerate();
    differences.find_map(|(index, (a, b))| difference(a, b).map(|found| format!("{}: {found}", at(index))))
}

#[test]
fn every_figure_is_that_of_the_definitions() {
    let samples = samples();
    let lines = cpython::lines("oracle.py", samples.iter().map(|sample| &sample.path));
    assert_eq!(lines.len(), samples.len());
    for (sample, line) in samples.iter().zip(lines) {
        let expected: Value = serde_json::from_str(&line).expect("the oracle prints JSON");
        assert_eq!(difference(&document(&sample.trace()), &expected), None, "{}", sample.name);
    }
}

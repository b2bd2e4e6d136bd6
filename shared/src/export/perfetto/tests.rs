//! Tests the documents for Perfetto.

use super::*;
use crate::analysis::naive::{self, Random};
use crate::base::StringId;
use crate::trace::{Trace, text};
use serde_json::Value;

fn document(trace: &Trace) -> Value {
    let timelines: Vec<_> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let mut bytes = Vec::new();
    let subject = Subject { file: "run.pickle", trace, devices: &devices, moment: None, capacity_bytes: None };
    perfetto(&subject, |piece| bytes.extend_from_slice(piece));
    serde_json::from_slice(&bytes).unwrap()
}

fn of_phase<'a>(document: &'a Value, phase: &str) -> Vec<&'a Value> {
    let events = document["traceEvents"].as_array().unwrap();
    events.iter().filter(|event| event["ph"] == phase).collect()
}

const TRACE: &str = "
    segment_alloc S 1KiB t=100
    start ProfilerStep#1 t=100
    start say\"hi\" t=102
    alloc a 512 t=105
    end say\"hi\" t=106
    alloc b 100 t=110
    free a t=120
    oom 4GiB free=1MiB t=125
    end ProfilerStep#1 t=130
    start ProfilerStep#2 t=131
    alloc c 8 t=140
    end ProfilerStep#2 t=141
    device 1
    alloc d 64 t=90
";

#[test]
fn a_device_is_a_process_with_counters_slices_and_instants() {
    let document = document(&text::parse(TRACE).unwrap());
    let names: Vec<_> = of_phase(&document, "M").iter().map(|event| event["args"]["name"].clone()).collect();
    assert!(names.contains(&"GPU 0".into()) && names.contains(&"GPU 1".into()), "{names:?}");
    let live: Vec<_> = { of_phase(&document, "C") }
        .into_iter()
        .filter(|event| event["name"] == "live bytes" && event["pid"] == 1)
        .map(|event| (event["ts"].as_i64().unwrap(), event["args"]["bytes"].as_u64().unwrap()))
        .collect();
    // The file begins with the event of the other device, 10 µs earlier.
    assert_eq!(live, [(10, 0), (15, 512), (20, 612), (30, 100), (50, 108)]);
    let slices = of_phase(&document, "X");
    assert_eq!((slices[0]["name"].as_str(), slices[0]["ts"].as_i64()), (Some("ProfilerStep#1"), Some(10)));
    assert_eq!((slices[0]["dur"].as_i64(), slices[0]["args"]["peak_live_bytes"].as_u64()), (Some(30), Some(612)));
    assert_eq!(slices[1]["name"], "say\"hi\"");
    let oom = &of_phase(&document, "i")[0];
    assert_eq!((oom["ts"].as_i64(), oom["args"]["free_bytes"].as_u64()), (Some(35), Some(1 << 20)));
    assert_eq!(document["otherData"]["start_unix_us"], 90);
}

#[test]
fn every_event_has_what_its_phase_needs() {
    for seed in 0..20 {
        let document = document(&naive::random_trace(seed, 400));
        for event in document["traceEvents"].as_array().unwrap() {
            assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
            match event["ph"].as_str().unwrap() {
                "M" => assert!(event["args"].is_object()),
                "C" => assert!(event["ts"].is_i64() && event["args"]["bytes"].is_u64(), "{event}"),
                "X" => assert!(event["dur"].as_i64().unwrap() >= 0 && event["tid"].is_u64(), "{event}"),
                "i" => assert!(event["s"] == "p" && event["ts"].is_i64(), "{event}"),
                phase => panic!("{phase}"),
            }
        }
    }
}

#[test]
fn parts_keep_their_extremes() {
    let mut random = Random::new(3);
    for events in [0, 1, 7, 99, 1000] {
        let curve: Vec<u64> = (0..=events).map(|_| random.below(50)).collect();
        for parts in [1, 3, 10, 5000] {
            let points = extremes(events, parts, |moment| curve[moment as usize]);
            assert!(points.is_sorted_by(|a, b| a.0 < b.0), "in order");
            assert!(points.iter().all(|&(moment, bytes)| curve[moment as usize] == bytes), "at their own moment");
            assert!(points.len() <= 2 * parts as usize + 2);
            let bytes = || points.iter().map(|point| point.1);
            assert_eq!((bytes().min(), bytes().max()), (curve.iter().copied().min(), curve.iter().copied().max()));
            assert_eq!((points[0].0, points.last().unwrap().0), (0, events));
        }
        // With one part per moment, nothing is lost.
        let points = extremes(events, events + 1, |moment| curve[moment as usize]);
        let value = |moment| points.iter().rev().find(|point| point.0 <= moment).unwrap().1;
        assert_eq!((0..=events).map(value).collect::<Vec<u64>>(), curve);
    }
}

#[test]
fn spans_of_a_lane_nest() {
    let place = |start_us, end_us| Span { start_us, end_us, ..span() };
    let spans = [place(0, 10), place(2, 7), place(6, 14), place(10, 12), place(14, 20)];
    assert_eq!(lanes(&spans), [0, 0, 1, 0, 0]);
}

fn span() -> Span {
    Span { name: StringId::EMPTY, start_us: 0, end_us: 0, start_moment: 0, end_moment: 0, depth: 0 }
}

#[test]
fn a_trace_without_times_has_a_microsecond_an_event() {
    let document = document(&text::parse("alloc a 8\nalloc b 8\nfree_completed a").unwrap());
    let times: Vec<_> = of_phase(&document, "C").iter().map(|event| event["ts"].clone()).collect();
    assert_eq!(times, [0, 1, 2, 3, 0, 3], "live bytes, then reserved ones");
    assert_eq!(document["otherData"]["time_unit"], "events");
}

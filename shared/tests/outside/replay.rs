//! Replays every stored snapshot and compares the result with the recording.

use std::io::Read as _;

use flate2::read::GzDecoder;
use shared::allocator::Settings;
use shared::analysis::{ReplayConfig, Replayer, Summary, Timeline, recorded_settings, replay, verify};
use shared::export;
use shared::import::import;
use shared::pickle::Style;
use shared::trace::{Action, Device, Setting, Settings as Recorded, Trace, text};

use crate::support;
use crate::support::stored::{self, Random};

/// Its events were edited after the recording, so that its blocks don't fill their segments.
const EDITED: &str = "torch2.8-synthetic-compile-context";

const GIB: u64 = 1 << 30;

/// Capacity that nothing exceeds.
const PLENTY: u64 = 1 << 50;

/// Returns the stored snapshots with their names.
fn snapshots() -> Vec<(String, Trace)> {
    let is_recorded = |name: &str| name.starts_with("torch") || name.starts_with("virtual");
    support::snapshots("../tests/data/snapshots", 20, |name| is_recorded(name) && !name.starts_with(EDITED))
}

/// Iterates over the devices with events.
fn devices(trace: &Trace) -> impl Iterator<Item = &Device> {
    trace.devices.iter().filter(|device| !device.events.is_empty())
}

#[test]
fn a_replay_as_recorded_makes_the_recorded_calls_and_blocks() {
    for (name, trace) in snapshots() {
        for device in devices(&trace) {
            let found = verify(&trace, device, None).unwrap();
            let device = device.index;
            assert_eq!(found.first_difference, None, "{name}, device {device}");
            assert!(found.is_equal() && found.same_blocks, "{name}, device {device}: {found:?}");
            assert_eq!(found.same_address, found.requests, "{name}, device {device}");
        }
    }
}

#[test]
fn with_room_for_all_the_peaks_are_those_of_the_trace() {
    for (name, trace) in snapshots() {
        for device in devices(&trace) {
            let has_gone_short = device.events.actions().iter().any(|action| action == Action::Oom);
            let summary = Summary::of(device, &Timeline::new(&trace, device));
            let settings = recorded_settings(&trace).unwrap();
            let config = ReplayConfig { settings, capacity_bytes: PLENTY, elsewhere_bytes: 0 };
            let report = replay(&trace, device, &config);
            assert_eq!(report.ooms, [], "{name}");
            assert_eq!(report.initial_bytes, summary.initial_bytes, "{name}");
            if !has_gone_short {
                assert_eq!(report.counters.live_bytes.peak, summary.peak_live_bytes, "{name}");
                assert_eq!(report.counters.live_bytes.now, summary.end_live_bytes, "{name}");
            }
        }
    }
}

/// Returns the stored snapshot whose name begins with `name`.
fn snapshot(name: &str) -> Trace {
    snapshots().into_iter().find(|(file, _)| file.starts_with(name)).unwrap().1
}

#[test]
fn memory_runs_out_where_it_did() {
    let trace = snapshot("virtual-py-gpt2-oom-t4");
    let device = &trace.devices[0];
    let recorded = device.events.actions().iter().position(|action| action == Action::Oom).unwrap();
    let free_bytes = device.events.addrs().at(recorded);
    let reserved = Summary::of(device, &Timeline::new(&trace, device));
    // The capacity as the snapshot shows it: the bytes reserved at the failure plus those left.
    let at_failure = Timeline::new(&trace, device).reserved_at(recorded as u32);
    let capacity_bytes = at_failure + free_bytes;
    assert!(capacity_bytes >= reserved.peak_reserved_bytes);
    let config = |capacity_bytes| ReplayConfig { settings: Settings::default(), capacity_bytes, elsewhere_bytes: 0 };
    let report = replay(&trace, device, &config(capacity_bytes));
    let first = report.ooms[0];
    assert_eq!((first.event, first.size_bytes), (recorded, device.events.sizes_bytes().at(recorded)));
    assert_eq!(first.free_bytes, free_bytes);
    assert_eq!(replay(&trace, device, &config(24 * GIB)).ooms, []);
}

#[test]
fn other_settings_come_to_what_a_recording_under_them_shows() {
    let trace = snapshot("torch2.15-gpt2-3steps-py311");
    let device = &trace.devices[0];
    let settings = Settings { expandable_segments: true, ..Settings::default() };
    let config = ReplayConfig { settings, capacity_bytes: 80 * GIB, elsewhere_bytes: 0 };
    let counters = replay(&trace, device, &config).counters;
    let fixed = replay(&trace, device, &ReplayConfig { settings: Settings::default(), ..config }).counters;
    assert_eq!(counters.live_bytes, fixed.live_bytes);
    assert!(counters.reserved_bytes.peak < fixed.reserved_bytes.peak);
    assert!(counters.maps > 0 && counters.segment_allocs == 0);
    // The same program was also recorded with expandable segments.
    let recorded = snapshot("torch2.15-gpt2-3steps-expandable-py311");
    let device = &recorded.devices[0];
    let summary = Summary::of(device, &Timeline::new(&recorded, device));
    assert!(summary.actions.contains(&(Action::SegmentMap, counters.maps)), "{:?}", summary.actions);
    assert_eq!(counters.reserved_bytes.peak, summary.peak_reserved_bytes);
}

#[test]
fn absurd_traces_are_replayed_too() {
    const TOP: &str = "0xfffffffffffff000";
    let fixed =
        format!("segment {TOP} 17179869183GiB\nblock {TOP} 17179869183GiB\nsegment {TOP} 1KiB\nblock {TOP} 512");
    let events = "alloc a 17179869183GiB\nalloc b 2MiB\nfree a\nfree a\nfree c 5\nalloc b 1\noom 17179869183GiB free=1";
    let mapped = format!("segment_map {TOP} 20MiB\nalloc d 3MiB\nsegment_unmap {TOP} 20MiB\nsegment_alloc {TOP} 2MiB");
    let trace = text::parse(&format!("{events}\n{mapped}\nalloc e 1\n{fixed}")).unwrap();
    let device = &trace.devices[0];
    for expandable_segments in [false, true] {
        let settings = Settings { expandable_segments, ..Settings::default() };
        for capacity_bytes in [0, GIB, u64::MAX] {
            let config = ReplayConfig { settings: settings.clone(), capacity_bytes, elsewhere_bytes: 0 };
            let report = replay(&trace, device, &config);
            assert!(!report.ooms.is_empty(), "nothing holds 16 EiB");
        }
        let setting = ("expandable_segments".to_owned(), Setting::Bool(expandable_segments));
        let trace = Trace { settings: Recorded { entries: vec![setting] }, ..trace.clone() };
        assert!(!verify(&trace, device, None).unwrap().is_equal());
    }
}

/// Returns the unpacked bytes of the small gzip files among the stored snapshots.
fn small_files() -> Vec<Vec<u8>> {
    const MOST_BYTES: usize = 400_000;
    let packed = stored::files("../tests/data/snapshots", 20).into_iter().map(|(_, bytes)| bytes);
    let unpacked = packed.filter(|bytes| bytes.starts_with(&[0x1f, 0x8b])).map(|packed| {
        let mut bytes = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
        bytes
    });
    unpacked.filter(|bytes| bytes.len() < MOST_BYTES).collect()
}

#[test]
fn damage_never_panics() {
    const FLIPS_PER_FILE: u64 = 100;
    let mut random = Random(1);
    let mut replays = 0;
    for mut bytes in small_files() {
        for _ in 0..FLIPS_PER_FILE {
            let place = random.below(bytes.len());
            let before = std::mem::replace(&mut bytes[place], random.next() as u8);
            if let Ok(trace) = import(&bytes) {
                trace.check();
                replays += survive(&trace);
            }
            bytes[place] = before;
        }
    }
    assert!(replays > 100, "only {replays} replays");
}

/// Replays a damaged trace and returns the number of replays.
fn survive(trace: &Trace) -> u64 {
    let mut replays = 0;
    for device in devices(trace) {
        let recorded = recorded_settings(trace).unwrap_or_default();
        let expandable = Settings { expandable_segments: true, ..Settings::default() };
        for settings in [recorded, expandable] {
            let config = ReplayConfig { settings, capacity_bytes: 16 * GIB, elsewhere_bytes: GIB };
            let report = replay(trace, device, &config);
            assert!(report.counters.live_bytes.now <= report.counters.live_bytes.peak);
            replays += 1;
        }
        // A setting may be damaged, too.
        let _ = verify(trace, device, Some(16 * GIB));
    }
    replays
}

#[test]
fn a_replay_is_a_snapshot_with_the_peaks_that_it_reports() {
    for (name, trace) in snapshots() {
        for device in &trace.devices {
            let timeline = Timeline::new(&trace, device);
            let replayer = Replayer::new(&trace, device, &timeline.allocations);
            for conf in ["", "expandable_segments:True"] {
                let config = ReplayConfig::unlimited(Settings::parse(conf, Default::default()).unwrap());
                let counters = replayer.replay(&config).counters;
                let mut bytes = Vec::new();
                export::pickle(&replayer.trace(&config), Style::Python, |piece| bytes.extend_from_slice(piece));
                let written = import(&bytes).unwrap();
                // A snapshot does not name a device without events and segments.
                let timeline = written.device(device.index).map(|device| Timeline::new(&written, device));
                let found = timeline.map_or((0, 0), |timeline| (timeline.live_peak().1, timeline.reserved_peak().1));
                assert_eq!(found, (counters.live_bytes.peak, counters.reserved_bytes.peak), "{name}, {conf:?}");
            }
        }
    }
}

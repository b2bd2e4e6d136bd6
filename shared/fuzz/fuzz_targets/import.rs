//! No bytes make the importer or the analyses panic or take more memory than the law says, and chunks of any size give
//! the same.
#![no_main]

#[path = "../../tests/support/counting.rs"]
mod counting;

use counting::peak_bytes;
use libfuzzer_sys::fuzz_target;
use shared::allocator::Settings;
use shared::analysis::{
    Axis, PictureRequest, ReplayConfig, Replayer, Summary, Timeline, live_by_stack, recording_diagnostics, spans,
    verify,
};
use shared::import::{ImportError, Importer};
use shared::pickle::most_memory_bytes;
use shared::trace::Trace;

fuzz_target!(|bytes: &[u8]| {
    let whole = within_the_law(bytes);
    let chunk_len = 1 + bytes.first().map_or(0, |&byte| usize::from(byte) % 40);
    let pieces = in_chunks(bytes, chunk_len);
    // What an error quotes may end with the chunk, its place may not.
    // Where a wrapping is damaged as well as its content, either error may come first.
    let is_wrapped = bytes.contains(&0x1f) || bytes.trim_ascii_start().first() == Some(&b'<');
    let place = |error: &ImportError| if is_wrapped { None } else { error.offset };
    assert_eq!(whole.as_ref().map(figures).map_err(place), pieces.as_ref().map(figures).map_err(place));
    if let Ok(trace) = &whole {
        trace.check();
        analyse(trace);
    }
});

/// The trace, decoded within the memory that its bytes justify.
fn within_the_law(bytes: &[u8]) -> Result<Trace, ImportError> {
    // What gzip has unpacked and not handed on yet, in as many layers as there may be.
    const UNPACKED_BYTES: u64 = 3 << 15;
    let mut decoded = 0;
    let (result, peak) = peak_bytes(|| {
        let mut importer = Importer::new();
        let result = importer.push(bytes);
        decoded = importer.decoded_bytes();
        result.and_then(|()| importer.finish())
    });
    let rest = if bytes.contains(&0x1f) { UNPACKED_BYTES } else { 0 };
    let most = most_memory_bytes(decoded + rest);
    assert!(peak <= most, "{decoded} bytes took {peak} bytes, more than {most}");
    result
}

fn in_chunks(bytes: &[u8], len: usize) -> Result<Trace, ImportError> {
    let mut importer = Importer::new();
    for chunk in bytes.chunks(len) {
        importer.push(chunk)?;
    }
    importer.finish()
}

fn figures(trace: &Trace) -> (usize, usize, usize, Vec<usize>) {
    let events = trace.devices.iter().map(|device| device.events.len()).collect();
    (trace.strings.len(), trace.stacks.len(), trace.annotations.len(), events)
}

fn analyse(trace: &Trace) {
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    recording_diagnostics(trace, &devices);
    for (device, timeline) in devices {
        let summary = Summary::of(device, timeline);
        live_by_stack(device, &timeline.allocations, timeline.live_peak().0);
        spans(trace, device);
        let capacity_bytes = 16 << 30;
        let _ = verify(trace, device, Some(capacity_bytes));
        for expandable_segments in [false, true] {
            let settings = Settings { expandable_segments, ..Settings::default() };
            let config = ReplayConfig { settings, capacity_bytes, elsewhere_bytes: 0 };
            let replayer = Replayer::new(trace, device, &timeline.allocations);
            assert_eq!(replayer.course(&config, 10).0, replayer.replay(&config));
            replayer.trace(&config).check();
        }
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
            timeline.picture(device, &request);
        }
    }
}

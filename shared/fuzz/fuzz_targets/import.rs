//! Checks that importing and analysing any bytes never panics or exceeds the memory limit.
//!
//! Chunks of any size must give the same result.
#![no_main]

#[path = "../../tests/outside/support/analyses.rs"]
mod analyses;
#[path = "../../tests/outside/support/counting.rs"]
mod counting;

use analyses::analyse;
use counting::peak_bytes;
use libfuzzer_sys::fuzz_target;
use shared::import::{ImportError, Importer};
use shared::pickle::most_memory_bytes;
use shared::trace::Trace;

fuzz_target!(|bytes: &[u8]| {
    let whole = within_the_law(bytes);
    let chunk_len = 1 + bytes.first().map_or(0, |&byte| usize::from(byte) % 40);
    let pieces = in_chunks(bytes, chunk_len);
    // The text that an error quotes may depend on the chunks, but its offset may not.
    // If both a container and its content are damaged, either error may come first.
    let is_wrapped = bytes.contains(&0x1f) || bytes.trim_ascii_start().first() == Some(&b'<');
    let place = |error: &ImportError| if is_wrapped { None } else { error.offset };
    assert_eq!(whole.as_ref().map(figures).map_err(place), pieces.as_ref().map(figures).map_err(place));
    if let Ok(trace) = &whole {
        analyse(trace);
        part(bytes);
    }
});

/// Runs both passes over the bytes and analyses the second half of the first device's events.
fn part(bytes: &[u8]) {
    let mut importer = Importer::overview();
    let Ok(overview) = importer.push(bytes).and_then(|()| importer.finish_overview()) else { return };
    let Some(device) = overview.devices.first() else { return };
    let events = device.trace.events;
    let Ok(mut importer) = device.part(events / 2..events).map(Importer::part) else { return };
    if let Ok(trace) = importer.push(bytes).and_then(|()| importer.finish()) {
        analyse(&trace);
    }
}

/// Decodes a trace and checks the memory limit.
fn within_the_law(bytes: &[u8]) -> Result<Trace, ImportError> {
    // Bytes that gzip has unpacked but not passed on, in the maximum number of layers.
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

//! No bytes make the importer or the analyses panic or take more memory than the law says, and chunks of any size give
//! the same.
#![no_main]

#[path = "../../tests/support/analyses.rs"]
mod analyses;
#[path = "../../tests/support/counting.rs"]
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
    // What an error quotes may end with the chunk, its place may not.
    // Where a wrapping is damaged as well as its content, either error may come first.
    let is_wrapped = bytes.contains(&0x1f) || bytes.trim_ascii_start().first() == Some(&b'<');
    let place = |error: &ImportError| if is_wrapped { None } else { error.offset };
    assert_eq!(whole.as_ref().map(figures).map_err(place), pieces.as_ref().map(figures).map_err(place));
    if let Ok(trace) = &whole {
        analyse(trace);
        part(bytes);
    }
});

/// Looks through the bytes, then analyses the second half of the first device.
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

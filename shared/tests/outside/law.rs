//! Checks that decoding stays within its limits of memory and time per byte, whatever the bytes share.

use std::time::{Duration, Instant};

use crate::support::bombs::{self, Sharing};
use crate::support::counting::peak_bytes;
use crate::support::stored::files;
use shared::import::{ImportError, Importer, import};
use shared::pickle::{most_memory_bytes, value_from_slice};

/// Limits for recorded snapshots: bytes of memory per byte, and in addition to that.
const RECORDED_PER_BYTE: u64 = 2;
const RECORDED_APART: u64 = 1 << 20;

/// Quadratic time would take minutes.
const MOST_TIME: Duration = Duration::from_secs(30);

/// Reads bytes in every way within the limits, and returns the result of importing them.
#[track_caller]
fn check(name: &str, bytes: &[u8]) -> Result<(), ImportError> {
    let start = Instant::now();
    let result = imported(name, bytes, Importer::new(), bytes.len());
    imported(name, bytes, Importer::new(), 1 << 10).ok();
    imported(name, bytes, Importer::with_preview(), 1 << 10).ok();
    let mut importer = Importer::overview();
    let (overview, peak) = peak_bytes(|| {
        importer.push(bytes)?;
        importer.finish_overview()
    });
    hold(name, "an overview", peak, bytes.len() as u64);
    for device in overview.iter().flat_map(|overview| &overview.devices) {
        let half = 0..device.trace.events.div_ceil(2);
        let part = Importer::part(device.part(half).unwrap());
        imported(name, bytes, part, bytes.len()).ok();
    }
    let (_, value) = peak_bytes(|| value_from_slice(bytes).map(drop));
    hold(name, "a value", value, bytes.len() as u64);
    assert!(start.elapsed() < MOST_TIME, "{name}: {:?} for {} bytes", start.elapsed(), bytes.len());
    result
}

#[track_caller]
fn imported(name: &str, bytes: &[u8], mut importer: Importer, chunk: usize) -> Result<(), ImportError> {
    let mut decoded = 0;
    let (result, peak) = peak_bytes(|| {
        bytes.chunks(chunk.max(1)).try_for_each(|chunk| {
            let result = importer.push(chunk);
            decoded = importer.decoded_bytes();
            importer.preview();
            result
        })?;
        importer.finish()
    });
    hold(name, "a trace", peak, decoded.max(bytes.len() as u64));
    result.map(drop)
}

#[track_caller]
fn hold(name: &str, what: &str, peak: u64, decoded: u64) {
    let most = most_memory_bytes(decoded);
    assert!(peak <= most, "{name}: {what} of {decoded} bytes took {peak} bytes, more than {most}");
}

#[test]
fn what_is_shared_takes_no_memory_of_its_own() {
    for (name, make) in bombs::ALL {
        for (len, times) in [(1, 1), (2, 2), (30, 30), (1_000, 1_000), (30_000, 1_000), (1_000, 30_000)] {
            let sharing = Sharing { len, times };
            check(&format!("{name} {sharing:?}"), &make(sharing)).ok();
        }
    }
}

#[track_caller]
fn check_refused(name: &str, sharing: Sharing, message: &str) {
    let make = bombs::of_name(name);
    let error = check(name, &make(sharing)).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), ("over-a-limit", message), "{name}");
}

#[test]
fn what_no_recorder_shares_is_refused() {
    let sharing = Sharing { len: 3_000, times: 1_000 };
    check_refused(
        "blocks",
        sharing,
        "The file has more than 17,307 rows in 52,845 bytes, because lists share blocks of \"segments\"",
    );
    // A longer list may be the first batch of a list, which is changed in place.
    let sharing = Sharing { len: 900, times: 1_000 };
    check_refused(
        "expand",
        sharing,
        "The file has more than 10913 items in lists that are copied in order to be changed",
    );
    check_refused("empty-traces", Sharing { len: 0, times: 1_025 }, "The snapshot has more than 1,024 devices");
}

#[test]
fn annotations_visit_a_key_per_byte() {
    let make = bombs::of_name("annotation-keys");
    for (sharing, all) in [(Sharing { len: 2, times: 3 }, true), (Sharing { len: 1_000, times: 1_000 }, false)] {
        let bytes = make(sharing);
        let trace = import(&bytes).unwrap();
        let read = trace.annotations.len();
        assert_eq!(read == sharing.times, all, "{read} of {sharing:?}");
        assert!(read * sharing.len <= bytes.len(), "{read} of {sharing:?}");
        let left = trace.diagnostics.iter().filter(|one| one.code == "unreadable-annotations").map(|one| one.count);
        assert_eq!(left.sum::<u64>(), (sharing.times - read) as u64);
    }
}

#[test]
fn time_is_that_of_the_bytes() {
    for name in ["annotations", "annotation-keys", "growing"] {
        let make = bombs::of_name(name);
        let bytes = make(Sharing { len: 100_000, times: 60_000 });
        let start = Instant::now();
        imported(name, &bytes, Importer::new(), bytes.len()).ok();
        assert!(start.elapsed() < MOST_TIME, "{name}: {:?} for {} bytes", start.elapsed(), bytes.len());
    }
}

/// Opcodes at the start, repeated opcodes, and opcodes at the end.
type Storm = (&'static [u8], &'static [u8], &'static [u8]);

const STORMS: &[Storm] = &[
    (b"\x80\x04N", b"\x85", b"."),
    (b"(", b"\x8f", b"l."),
    (b"(", b"N", b"l."),
    (b"(", b"]", b"l."),
    (b"(", b"]2", b"l."),
    (b"(", b"}2", b"l."),
    (b"(", b"(NNd", b"l."),
    (b"(", b"C\0", b"l."),
    (b"(N", b"\x94", b"l."),
    (b"(", b"N\x94", b"l."),
    (b"(", b"]\x94", b"l."),
    (b"(", b"N\x85\x94", b"l."),
    (b"(", b"\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01", b"l."),
    (b"(", b"V\xe9\n", b"l."),
    (b"\x80\x04X\0\0\x10\0", b"\xff", b"."),
    (b"[", b"[1],", b"0]"),
    (b"[", b"{},", b"0]"),
    (b"[", b"1,", b"0]"),
    // Lists of the same event, frame or block.
    (b"\x80\x04}(Vaction\nValloc\nu\x94(", b"(h\0l", b"l."),
    (b"\x80\x04}(Vname\nVa\nVfilename\nVb\nu\x94(", b"(h\0h\0l", b"l."),
    (b"\x80\x04}(Vsegments\n(}(Vtotal_size\nNVblocks\nNu\x94", b"h\x00", b"lu."),
    (b"\x80\x04}(Vsegments\n(}(Vtotal_size\nNVblocks\n(}(Vsize\nNVstate\nVinactive\nu\x94", b"h\x00", b"lulu."),
    (b"\x80\x04}(Vdevice_traces\n(", b"]", b"lu."),
    (b"\x80\x04}(Vdevice_traces\n(", b"(}(Vaction\nValloc\nul", b"lu."),
    // Events that share nothing.
    (b"\x80\x04}(Vdevice_traces\n((Vaction\n\x94Valloc\n\x94", b"}(h\0h\x01u", b"llu."),
    (b"\x80\x04}(Vsegments\n]Vallocator_settings\n}(Va\n(", b"N", b"lus."),
    (b"\x80\x04}(Vsegments\n]Vallocator_settings\n}(Va\n(", b"(NNd", b"lus."),
    (b"\x80\x04}(Vsegments\n]Vexternal_annotations\n(", b"(NNd", b"lu."),
    (b"\x80\x04}(Vsegments\n]Vexternal_annotations\n(", b"N", b"lu."),
];

#[test]
fn no_opcode_takes_more_than_its_share() {
    for (start, unit, end) in STORMS {
        // Slightly longer than a power of two, so that buffers that double have just doubled.
        let bytes = [start, &*unit.repeat((1_060_000 / unit.len()).max(1)), end].concat();
        check(&format!("{} times {}", bytes.len(), unit.escape_ascii()), &bytes).ok();
    }
}

#[test]
fn stored_files_keep_the_law() {
    for folder in ["../tests/data/snapshots", "fuzz/corpus/import", "fuzz/corpus/reader"] {
        files(folder, 5).iter().for_each(|(name, bytes)| drop(check(name, bytes)));
    }
}

#[test]
fn recorded_snapshots_take_little_more_than_their_bytes() {
    for (name, bytes) in files("../tests/data/snapshots", 5).iter().filter(|file| file.0.contains("torch")) {
        let mut importer = Importer::new();
        importer.push(bytes).unwrap();
        let decoded = importer.decoded_bytes();
        let (trace, peak) = peak_bytes(|| import(bytes).unwrap());
        let most = RECORDED_APART + RECORDED_PER_BYTE * decoded;
        assert!(peak <= most, "{name}: {decoded} bytes took {peak} bytes, more than {most}");
        trace.check();
    }
}

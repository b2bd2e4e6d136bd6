//! Tests that damaged files end in an error or a consistent model, never in a panic.

use shared::analysis::{Summary, Timeline};
use shared::import::import;
use testkit::corpus::samples;

/// Decodes damaged bytes and checks the model if there is one; returns true if there is.
fn survive(bytes: &[u8]) -> bool {
    let Ok(trace) = import(bytes) else { return false };
    trace.check();
    for device in &trace.devices {
        let timeline = Timeline::new(&trace, device);
        let summary = Summary::of(device, &timeline);
        assert!(summary.peak_live_bytes >= summary.end_live_bytes);
    }
    true
}

#[test]
fn every_truncation_is_an_error_also_of_gzip() {
    for snapshot in samples() {
        let bytes = snapshot.unpacked();
        for part in 0..64 {
            let len = bytes.len() * part / 64;
            assert!(!survive(&bytes[..len]), "{} cut to {len} bytes was read", snapshot.name);
        }
    }
    for snapshot in samples().into_iter().filter(|snapshot| snapshot.name.ends_with(".gz")) {
        let len = snapshot.bytes.len() / 2;
        let error = import(&snapshot.bytes[..len]).expect_err(&snapshot.name);
        assert!(error.message.contains("gzip") || error.message.contains("ends"), "{error}");
    }
}

#[track_caller]
fn check(bytes: &[u8], message: &str, offset: Option<u64>) {
    let error = import(bytes).expect_err("it is no snapshot");
    assert!(error.message.contains(message), "{error}");
    assert_eq!(error.offset, offset, "{error}");
    assert!(error.hint.ends_with(['.', ')']), "{}", error.hint);
}

#[test]
fn errors_say_what_and_where_and_a_claimed_length_reserves_nothing() {
    check(b"", "The file is empty", None);
    check(b"PK\x03\x04rest", "This is an archive", None);
    check(b"hello", "This is a text file", None);
    check(b"\x01\x02hello", "its first bytes are 01 02 68 65", None);
    check(b"\x80\x06.", "protocol 0 to 5, found 6", Some(0));
    check(b"\x80\x02}q\x00ctorch\nTensor\n.", "it loads the Python object \"torch.Tensor\"", Some(5));
    check(b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x93.", "STACK_GLOBAL", Some(19));
    check(b"\x80\x04}\x94(X\xff\xff\xff\x7f", "ends in the middle of the opcode BINUNICODE", Some(5));
    check(b"\x80\x04h\x07.", "memo index", Some(2));
    check(b"\x80\x04K\x01.", "it contains a single value", None);
    check(b"\x80\x04}\x8c\x01aK\x01s.", "a dictionary with the key \"a\"", None);
    check(b"{\"a\": [1, 2}", "JSON text, found \"}\"", Some(11));
    check(b"{\"segments\": [", "The JSON text ends", Some(14));
    check(b"<html></html>", "contains no memory snapshot", None);
    check(b"\x1f\x8bnot gzip at all", "gzip", None);
    // A text of 2^40 bytes, a memo index of 2^31 and a million marks, none of which is in the file.
    check(b"\x80\x04\x8d\x00\x00\x00\x00\x00\x01\x00\x00", "ends in the middle of", Some(2));
    check(b"\x80\x04Nr\xff\xff\xff\x7f0}.", "an empty dictionary", None);
    let marks = [b"\x80\x04".as_slice(), &[b'('; 1_000_000]].concat();
    check(&marks, "more than 10000 nested marks", Some(10_002));
}

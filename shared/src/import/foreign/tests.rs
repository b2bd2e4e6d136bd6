//! Tests the errors for files that people open by mistake, each in a few lines.

use super::super::{ImportError, Importer, import};
use super::words;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn in_chunks(bytes: &[u8], size: usize) -> ImportError {
    let mut importer = Importer::new();
    let pushed = bytes.chunks(size).try_for_each(|chunk| importer.push(chunk));
    pushed.and_then(|()| importer.finish()).expect_err("it is no snapshot")
}

/// Checks the code of a file's error, in chunks of any size and in gzip.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, code: &str) {
    let bytes = bytes.as_ref();
    let error = import(bytes).expect_err("it is no snapshot");
    assert_eq!(error.code, code, "{error}");
    for size in [1, 7, 1000] {
        assert_eq!(in_chunks(bytes, size), error, "chunks of {size}");
    }
    if !bytes.is_empty() {
        assert_eq!(import(&gzip(bytes)).expect_err("it is no snapshot"), error, "in gzip");
    }
}

#[test]
fn pointers_are_not_files() {
    check("version https://git-lfs.github.com/spec/v1\noid sha256:5940\nsize 4494887\n", "git-lfs-pointer");
    check("/annex/objects/MD5E-s1--0.pickle", "git-annex-pointer");
    check("outs:\n- md5: 00\n  path: a.pickle\n", "dvc-pointer");
    check("404: Not Found", "download-error");
    check("", "empty-file");
    check(" \n", "empty-file");
}

#[test]
fn profilers_are_known_by_their_keys() {
    check(
        "\n  {\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n \"traceEvents\": [{\"ph\": \"X\"}]}",
        "profiler-trace",
    );
    check("{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [{\"ph\": \"X\", \"na", "profiler-trace");
    check("[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"pid\": 0}]", "profiler-trace");
    check("{\"traceEvents\": [], \"displayTimeUnit\": \"ms\"}", "profiler-trace");
    check("[[-1, 1, 37632, 0], [-1, 1, 602112, 2], [5, 3, 256, 0]]", "memory-timeline");
    check("[[0, 1, 2], [[0, 5], [0, 6], [0, 7]]]", "memory-timeline");
    check(
        "<html>\n<head><title>GPU Memory Timeline HTML</title></head>\n<img src='data:image/png;base64,iV'>",
        "memory-timeline",
    );
}

#[test]
fn a_large_trace_is_refused_at_its_beginning() {
    let mut importer = Importer::new();
    importer.push(b"{\"schemaVersion\": 1, \"traceEvents\": [").unwrap();
    let event = b"{\"ph\": \"X\", \"name\": \"aten::mm\", \"ts\": 1, \"dur\": 2},";
    let told = (0..10_000).find_map(|_| importer.push(event).err()).expect("an error before the end");
    assert_eq!(told.code, "profiler-trace");
    assert!(importer.seen_bytes() < 100_000);
}

#[test]
fn pages_without_a_snapshot() {
    check("\n<!DOCTYPE html>\n<script type=\"module\">\nlet alloc_data = {\"actions\": [0, 1]", "old-trace-plot");
    check("<script>import {add_local_files} from \"MemoryViz.js\"\nconst local_files = []</script>", "memory-viz-page");
    check("<!DOCTYPE html><html><link href=\"https://github.githubassets.com/x\">", "web-page");
    check("<html><body>nothing</body></html>", "page-without-a-snapshot");
    // A page with other data in base64.
    check(
        "<script>[{\"base64\": \"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE\"}]</script>",
        "page-without-a-snapshot",
    );
}

#[test]
fn other_tools_tables_and_parts_of_snapshots() {
    check("[\n {\n  \"elem\": 0, \"timesteps\": [0, 9], \"offsets\": [0, 0], \"size\": 5120}]", "allocation-table");
    check("[\n  // index: device_id\n  [\n {\"action\": \"alloc\", \"addr\": 1, \"size\": 5}]]", "part-of-a-snapshot");
    check("[[{\"action\": \"alloc\", \"addr\": 1, \"size\": 5, \"stream\": 0, \"frames\": []}]]", "part-of-a-snapshot");
    check("{\"a\": 1}", "other-json");
    check("{\"a\": 1, \"b\": }", "damaged");
    check("{\"segments\": [], \"device_traces\": [[{\"action\"", "cut-off");
}

#[test]
fn configs_in_each_language() {
    check("model = \"gpt2\"\nbatch = 4\nsteps = 3\n", "training-config");
    check("[model]\npreset = \"gpt2\"\n\n[data]\n", "training-config");
    check("model: gpt2\nbatch: 4\n", "training-config");
    check("{\"model\": \"gpt2\", \"batch\": 4}", "training-config");
    check("{\n  \"architectures\": [\"GPT2LMHeadModel\"], \"model_type\": \"gpt2\"}", "training-config");
    check("{\"per_device_train_batch_size\": 4, \"bf16\": true}", "training-arguments");
}

#[test]
fn pickles_of_other_things() {
    check(b"\x80\x02}q\x00ctorch\nTensor\n.", "pickle-with-objects");
    check(b"\x80\x04\x95\x20\0\0\0\0\0\0\0\x8c\x03src\x94\x8c\x04Code\x94\x93\x94)\x81\x94.", "pickle-with-objects");
    check("cos\nsystem\n(S'echo'\ntR.", "pickle-with-objects");
    check(b"\x80\x04}\x8c\x01aK\x01s.", "other-pickle");
    check(b"\x80\x04]K\x01a.", "other-pickle");
    check(b"\x80\x04K\x01.", "other-pickle");
    check(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", "checkpoint");
    check(b"\x80\x04}\x94(X\xff\xff\xff\x7f", "cut-off");
}

#[test]
fn texts_that_begin_as_a_snapshot_may() {
    check("(base) me@here:~$ python train.py\ntorch.OutOfMemoryError: CUDA out of memory.\n", "out-of-memory-log");
    check("[rank0]: Traceback (most recent call last):\n[rank0]: x\n", "log");
    check("[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "out-of-memory-log");
    check("[1] a footnote\n", "text");
    check("words", "text");
    check(b"\x07\x01\x02\x03 some bytes", "unknown-file");
}

#[test]
fn an_error_at_the_end_of_a_long_log_is_found() {
    let steps = "step 1: loss 2.5, 12 GiB\n".repeat(20_000);
    check(format!("{steps}RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"), "out-of-memory-log");
    check(&steps, "text");
}

#[test]
fn an_error_in_front_of_what_is_broken_is_found() {
    check("[\"torch.OutOfMemoryError: CUDA out of memory\", 1, 2, 3, 4, 5, 6, 7, 8, what, 9]", "out-of-memory-log");
}

#[test]
fn an_error_is_found_however_the_chunks_are_cut() {
    for text in [
        "{\"a\": [1, 2, 13963XPU out of memory67, 3]}",
        "{\"CUDA out of memory\": 1, x: 2, \"b\": \"HIP out of memory\"}",
    ] {
        for len in 1..=text.len() {
            let mut importer = Importer::new();
            let result = text.as_bytes().chunks(len).try_for_each(|chunk| importer.push(chunk));
            let error = result.and_then(|()| importer.finish().map(drop)).expect_err("no snapshot");
            assert_eq!(error.code, "out-of-memory-log", "{text} in pieces of {len}");
        }
    }
}

#[test]
fn archives_are_to_be_unpacked() {
    check(b"PK\x03\x04rest", "archive");
    let tar = [&[b'x'; 257][..], b"ustar\x0000 and so on"].concat();
    check(tar, "archive");
    assert_eq!(import(b"\x1f\x8bnot gzip at all").unwrap_err().code, "damaged");
    let cut = gzip(format!("{{\"segments\": [{}", "{\"address\": 1}, ".repeat(100)).as_bytes());
    assert_eq!(import(&cut[..cut.len() / 2]).unwrap_err().code, "cut-off");
    let trace =
        gzip(&b"{\"schemaVersion\": 1, \"traceEvents\": [{}, 1, 22, 333, 4444, 55555, 666666, 7777777".repeat(9));
    assert_eq!(import(&trace[..trace.len() - 12]).unwrap_err().code, "profiler-trace");
}

#[test]
fn offsets_stay_where_they_help() {
    assert_eq!(import(b"\x80\x02}q\x00ctorch\nTensor\n.").unwrap_err().offset, Some(5));
    assert_eq!(import(b"{\"segments\": [").unwrap_err().offset, Some(14));
    assert_eq!(import(b"words").unwrap_err().offset, None);
    assert_eq!(import(b"PK\x03\x04").unwrap_err().offset, None);
}

#[test]
fn every_kind_is_a_sentence_with_something_to_do() {
    for kind in words::ALL {
        let words::Kind { code, message, hint } = kind;
        assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code}");
        assert!(message.starts_with(char::is_uppercase) && !message.ends_with('.'), "{message}");
        assert!(hint.starts_with(char::is_uppercase) && hint.ends_with('.'), "{hint}");
        assert!(message.len() + hint.len() < 240, "long: {message} {hint}");
    }
}

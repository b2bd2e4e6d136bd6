//! Tests the errors for files that people open by mistake, each in a few lines.

use super::super::{ImportError, Importer, import};
use super::kinds;
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
    check("404: Not Found", "download-error");
    check("", "empty-file");
    check(" \n", "empty-file");
}

#[test]
fn a_list_with_one_snapshot_is_one() {
    let snapshot = "{\"segments\": [], \"device_traces\": []}";
    assert!(import(format!("[{snapshot}]").as_bytes()).is_ok());
    let error = import(format!("[{snapshot}, {snapshot}]").as_bytes()).expect_err("two");
    assert!(error.code == "other-json" && error.hint.contains("snapshots[0]"), "{error:?}");
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
    check("{\"error\": \"lost\", \"loss\": 2}", "other-json");
    check("{\"a\": 1, \"b\": }", "damaged");
    check("{\"segments\": [], \"device_traces\": [[{\"action\"", "cut-off");
}

#[test]
fn configs_in_each_language() {
    check("model = \"gpt2\"\nbatch = 4\nsteps = 3\n", "training-config");
    check("[model]\npreset = \"gpt2\"\n\n[data]\n", "training-config");
    check("model.preset = 'gpt2'\nsequence = 512\n", "training-config");
    check("modle = \"gpt2\"\nbatch = 4\nsequence = 512\n", "training-config");
    check("model:\n  family: mlp\n  hidden: 64\nsteps: 3\n", "training-config");
    check("per_device_train_batch_size: 4\nbf16: true\noutput_dir: out\n", "training-arguments");
    check("{\"model\": \"gpt2\", \"batch\": 4}", "training-config");
    check("{\n  \"architectures\": [\"GPT2LMHeadModel\"], \"model_type\": \"gpt2\"}", "training-config");
    check("{\"per_device_train_batch_size\": 4, \"bf16\": true}", "training-arguments");
    for text in [
        "[project]\nname = \"x\"\nversion = \"1\"\n[tool.ruff]\nline-length = 100\n[tool.mypy]\n",
        "services:\n  web:\n    image: x\n",
        "Epoch 1: loss 2.5\nEpoch 2: loss 2.4\n",
    ] {
        let error = import(text.as_bytes()).expect_err("it is no snapshot");
        assert_eq!(error.code, "text", "{text}");
    }
}

#[test]
fn pickles_of_other_things() {
    check(b"\x80\x02}q\x00ctorch\nTensor\n.", "pickle-with-objects");
    check(b"\x80\x04\x95\x20\0\0\0\0\0\0\0\x8c\x03src\x94\x8c\x04Code\x94\x93\x94)\x81\x94.", "pickle-with-objects");
    check(b"\x80\x04}\x8c\x01aK\x01s.", "other-pickle");
    check(b"\x80\x04]K\x01a.", "other-pickle");
    check(b"\x80\x04K\x01.", "other-pickle");
    check(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", "checkpoint");
    check(b"\x80\x04}\x94(X\xff\xff\xff\x7f", "cut-off");
}

#[test]
fn texts_that_begin_as_a_snapshot_may() {
    check("(base) me@here:~$ python train.py\nTraceback (most recent call last):\n", "text");
    check("[rank0]: Traceback (most recent call last):\n[rank0]: x\n", "text");
    check("[1] a footnote\n", "text");
    check("words", "text");
    check(b"\x07\x01\x02\x03 some bytes", "unknown-file");
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
fn binary_files_are_known_by_their_bytes() {
    check(b"\x28\xb5\x2f\xfd\0", "compressed");
    check(b"BZh91AY&SY", "compressed");
    check(b"BZhang wrote this", "text");
    check(b"\x89PNG\r\n\x1a\n", "picture");
    check(b"memray\0\x0d\0", "other-profile");
    check(b"SQLite format 3\0...CREATE TABLE users", "unknown-file");
    check(b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2]", "checkpoint");
    check(b"PK\x03\x04\0\0model/data.pkl\x80\x02ccollections\nOrderedDict", "checkpoint");
    check(b"PK\x03\x04\0\0archive/data.pkl\x80\x02}X\x0d\0\0\0device_traces", "snapshot-in-a-checkpoint");
    let old = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00.\x80\x02}";
    check(old, "checkpoint");
    check([&old[..], b"X\x0d\0\0\0device_traces"].concat(), "snapshot-in-a-checkpoint");
}

#[test]
fn texts_are_told_by_what_they_say() {
    check("import torch\nfrom torch import nn\nx = 1\n", "python-script");
    check("It leaks:\n```python\nimport torch\nfrom torch import nn\n```\n", "text");
    check("{\"loss\": 1.5}\n{\"loss\": 1.4}\n", "text");
    check("\x1b[32mINFO\x1b[0m starts\r\n", "text");
}

#[test]
fn offsets_stay_where_they_help() {
    assert_eq!(import(b"\x80\x02}q\x00ctorch\nTensor\n.").unwrap_err().offset, Some(5));
    assert_eq!(import(b"{\"segments\": [").unwrap_err().offset, Some(14));
    assert_eq!(import(b"words").unwrap_err().offset, None);
    assert_eq!(import(b"PK\x03\x04").unwrap_err().offset, None);
}

#[test]
fn what_other_tools_print_and_is_no_longer_read_is_named() {
    check("[[-1, 1, 256, 0], [2, 1, 8, 3]]", "memory-timeline");
    check("<html> <head><title>GPU Memory Timeline HTML</title></head></html>", "memory-timeline");
    let heads = [
        "  PID User     Command                         Swap      USS      PSS      RSS",
        "Address           Kbytes     RSS   Dirty Mode  Mapping",
        "12:00:01      UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command",
        "12:00:01    kbmemfree   kbavail kbmemused  %memused kbbuffers  kbcached",
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st",
        "PID\tMEM(GB)\tCOMMAND",
        "Wall time,Step,Value",
    ];
    heads.iter().for_each(|head| check(format!("{head}\n1 2 3\n"), "other-host-log"));
    check("# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk\n", "other-nvidia-smi");
    check("#Date       Time        gpu         pid   type     fb   ccpm    command\n", "other-nvidia-smi");
}

#[test]
fn any_bytes_end_the_search_for_keys() {
    let mut state = 1_u32;
    let alphabet = br#"{}[]",:\/1-e nx"#;
    for len in 0..2000 {
        let random = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            alphabet[(state >> 16) as usize % alphabet.len()]
        };
        super::keys_of_json(&(0..len % 60).map(random).collect::<Vec<u8>>());
    }
    assert_eq!(super::keys_of_json(b"[ // the devices\n [{\"a\": {\"b\": 1}, \"d\\\"\": -1, \"cut"), ["a", "d\\\""]);
}

#[test]
fn every_kind_is_a_sentence_with_something_to_do() {
    for kind in kinds::ALL {
        let kinds::Kind { code, message, hint, .. } = kind;
        assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code}");
        assert!(message.starts_with(char::is_uppercase) && !message.ends_with('.'), "{message}");
        assert!(hint.starts_with(char::is_uppercase) && hint.ends_with('.'), "{hint}");
        assert!(message.len() + hint.len() < 240, "long: {message} {hint}");
    }
}

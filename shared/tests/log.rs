//! Tests logs that are damaged, mixed, and designed to take much memory and time.

#[path = "support/counting.rs"]
mod counting;
#[path = "support/log.rs"]
mod log;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use counting::peak_bytes;
use log::{hold, is_same_in_chunks, most_memory_bytes};

/// Quadratic time takes minutes.
const MOST_TIME: Duration = Duration::from_secs(20);

#[track_caller]
fn check(name: &str, bytes: &[u8]) {
    let start = Instant::now();
    let ((), peak) = peak_bytes(|| hold(bytes));
    let most = most_memory_bytes(bytes.len());
    assert!(peak <= most, "{name}: {} bytes took {peak} bytes, more than {most}", bytes.len());
    assert!(start.elapsed() < MOST_TIME, "{name}: {:?} for {} bytes", start.elapsed(), bytes.len());
}

/// Logs of each tool, from which the fuzzer starts.
fn logs() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/log");
    let mut logs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    logs.sort();
    assert!(logs.len() >= 6);
    logs
}

#[test]
fn logs_of_each_tool_keep_the_law() {
    for (name, bytes) in logs() {
        check(&name, &bytes);
        is_same_in_chunks(&bytes);
    }
}

#[test]
fn damaged_and_mixed_logs_keep_the_law() {
    const SIGNS: &[u8] = b"0123456789 :,.-\n\r%KMG\xff";
    let logs = logs();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..600 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..=random(3) {
            let of = &logs[random(logs.len())].1;
            let (start, end) = (random(of.len()), random(of.len()));
            bytes.extend_from_slice(&of[start.min(end)..start.max(end)]);
        }
        for _ in 0..random(6) {
            if let Some(at) = bytes.len().checked_sub(1).map(&mut random) {
                bytes[at] = SIGNS[random(SIGNS.len())];
            }
        }
        check("a damaged log", &bytes);
        is_same_in_chunks(&bytes);
    }
}

#[test]
fn a_long_log_takes_memory_and_time_in_proportion() {
    const BYTES: usize = 2 << 20;
    let storm = |head: &str, unit: &dyn Fn(usize) -> String| {
        let mut text = head.to_owned();
        (0..)
            .map(unit)
            .take_while(|unit| {
                text.push_str(unit);
                text.len() < BYTES
            })
            .for_each(drop);
        text.into_bytes()
    };
    check("a process a row", &storm("pid rss\n", &|index| format!("{index} 9\n")));
    check("a program a row", &storm("pid rss cmd\n", &|index| format!("{index} 99999999 a{index}\n")));
    check("helpers", &storm("pid ppid rss cmd\n", &|index| format!("{index} {} 9 multiprocessing\n", index / 2)));
    check("a sample a line", &storm("", &|index| format!("{}\n", 1_700_000_000 + index)));
    check("steps", &storm("pid rss\n1 2\n", &|index| format!("step {index}\n")));
    check("kills", &storm("", &|index| format!("Killed process {index} (a)\n")));
    check("teeth", &storm("pid rss\n", &|index| format!("1 {}\n", (index % 20) * 100_000)));
    let far = |index: usize| format!("{} 99999999 a{}\n", index % 20_000, index % 20_000);
    check("programs that come again", &storm("pid rss cmd\n", &far));
    let oom =
        |index: usize| format!("CUDA out of memory. Tried to allocate {index}.00 MiB (GPU 0; 2 GiB total capacity)\n");
    check("errors", &storm("", &oom));
    check("frames", &storm("", &|index| format!("File \"a.py\", line {index}, in f{index}\n")));
    check("tables", &storm("", &|index| format!("memory summary, device ID {index}\n")));
    check("counters", &storm("", &|index| format!("'num_ooms': {index}, ")));
    check(
        "holders",
        &storm("CUDA out of memory. Tried to allocate", &|index| format!("Process {index} has 1 B memory in use")),
    );
    let memory = |index: usize| {
        format!(
            "{{\"name\":\"[memory]\",\"ts\":{index},\"tid\":{},\"args\":{{\"Bytes\":9,\"Addr\":{index}}}}},",
            index % 9
        )
    };
    check("memory events", &storm("{\"traceEvents\": [", &memory));
    let span =
        |index: usize| format!("{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a{index}\",\"ts\":{index},\"dur\":1e9}},");
    check("spans", &storm("{\"traceEvents\": [", &span));
    check("brackets", &storm("{\"traceEvents\": ", &|_| "[{".to_owned()));
    check("lists outside of events", &storm("{\"traceEvents\": 1", &|_| "[],".to_owned()));
    check("one long line", &vec![b'7'; BYTES]);
    check("no line", &[]);
}

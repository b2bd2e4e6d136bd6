//! Tests logs that are damaged, mixed, and designed to take much memory and time.

#[path = "../../../tests/outside/support/counting.rs"]
mod counting;
mod law;
#[path = "../../../tests/outside/support/stored.rs"]
mod stored;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use counting::peak_bytes;
use law::{hold, is_same_in_chunks, most_memory_bytes};
use stored::{Random, files};

/// Quadratic time takes minutes.
const MOST_TIME: Duration = Duration::from_secs(20);

#[track_caller]
fn check(name: &str, bytes: &[u8]) {
    let start = Instant::now();
    let ((), peak) = peak_bytes(|| hold(bytes));
    let most = most_memory_bytes(bytes);
    assert!(peak <= most, "{name}: {} bytes took {peak} bytes, more than {most}", bytes.len());
    assert!(start.elapsed() < MOST_TIME, "{name}: {:?} for {} bytes", start.elapsed(), bytes.len());
}

/// Logs of each tool, from which the fuzzer starts.
fn logs() -> Vec<(String, Vec<u8>)> {
    files("../fuzz/corpus/log", 6)
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
    let mut random = Random(1);
    for _ in 0..600 {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..=random.below(3) {
            let of = &logs[random.below(logs.len())].1;
            let (start, end) = (random.below(of.len().max(1)), random.below(of.len().max(1)));
            bytes.extend_from_slice(&of[start.min(end)..start.max(end)]);
        }
        for _ in 0..random.below(6) {
            if let Some(at) = bytes.len().checked_sub(1).map(|last| random.below(last.max(1))) {
                bytes[at] = random.one_of(SIGNS);
            }
        }
        check("a damaged log", &bytes);
        is_same_in_chunks(&bytes);
    }
}

/// Returns the words of the fuzzer's dictionary of logs.
fn words() -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/dictionaries/log.dict");
    let text = fs::read_to_string(path).unwrap();
    let quoted = text.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unescaped).collect()
}

/// Reads a word in libFuzzer's form, with `\\`, `\"` and `\xAB`.
fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = word.bytes();
    let mut unescaped = Vec::new();
    while let Some(byte) = bytes.next() {
        unescaped.push(match (byte, byte == b'\\') {
            (_, true) => match bytes.next().unwrap() {
                b'x' => {
                    let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
                    u8::from_str_radix(str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                sign => sign,
            },
            (byte, false) => byte,
        });
    }
    unescaped
}

/// Slices of a text at the edge of a word panic where a letter of several bytes stands beside it.
#[test]
fn words_of_logs_beside_any_letter_keep_the_law() {
    let words = words();
    assert!(words.len() > 80);
    let mut random = Random(1);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..300).flat_map(|_| words[random.below(words.len())].clone()).collect();
        hold(&bytes);
        is_same_in_chunks(&bytes);
    }
    for (_, bytes) in logs() {
        let Ok(text) = str::from_utf8(&bytes) else { continue };
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        for at in 0..longest.min(160) {
            let letter = ['•', 'İ'][at % 2];
            let with_letter = |line: &str| {
                let (before, after) = line.split_at(line.char_indices().nth(at).map_or(line.len(), |(at, _)| at));
                format!("{before}{letter}{after}\n")
            };
            hold(text.lines().map(with_letter).collect::<String>().as_bytes());
        }
    }
}

#[test]
fn a_long_log_takes_memory_and_time_in_proportion() {
    const BYTES: usize = 2 << 20;
    let storm = |name: &str, head: &str, unit: &dyn Fn(usize) -> String| {
        let mut text = head.to_owned();
        for index in 0.. {
            text.push_str(&unit(index));
            if text.len() >= BYTES {
                break;
            }
        }
        check(name, text.as_bytes());
    };
    storm("a process a row", "pid rss\n", &|index| format!("{index} 9\n"));
    storm("a program a row", "pid rss cmd\n", &|index| format!("{index} 99999999 a{index}\n"));
    storm("helpers", "pid ppid rss cmd\n", &|index| format!("{index} {} 9 multiprocessing\n", index / 2));
    storm("a sample a line", "", &|index| format!("{}\n", 1_700_000_000 + index));
    storm("steps", "pid rss\n1 2\n", &|index| format!("step {index}\n"));
    storm("kills", "", &|index| format!("Killed process {index} (a)\n"));
    storm("processes of /proc", "", &|index| format!("/proc/{index}\nRss: 9 kB\n"));
    storm("mappings", "", &|index| format!("{index:x}-f r--p 0 0 0 /a{index}\nRss: 9 kB\n"));
    storm("rollups without names", "", &|index| format!("{index:x}-f ---p 0 0 0 [rollup]\nRss: 9 kB\n"));
    storm("the machine", "", &|index| format!("Mem: 99999999 9 {index}\n"));
    let runs: String = (0..2000).map(|run| format!(",r{run} - system/proc.memory.rssMB")).collect();
    storm("runs", &format!("_runtime{runs}\n"), &|index| format!("{index}{}\n", ",7".repeat(2000)));
    storm("teeth", "pid rss\n", &|index| format!("1 {}\n", (index % 20) * 100_000));
    let far = |index: usize| format!("{} 99999999 a{}\n", index % 20_000, index % 20_000);
    storm("programs that come again", "pid rss cmd\n", &far);
    let nccl = |index: usize| format!("a:{}:1 [0] NCCL INFO Cuda Alloc Size {index} pointer {index:#x}\n", index % 90);
    storm("allocations of NCCL", "", &nccl);
    storm("processes of NCCL", "", &|index| format!("a:{index}:1 [0] NCCL INFO Cuda Alloc Size 9 pointer 0x9\n"));
    let smi = |index: usize| format!("GPU 0:0:{index:x}\n    Processes\n        Process ID : {index}\n");
    storm("GPUs of nvidia-smi", "==NVSMI LOG==\n", &smi);
    storm("banners of nvidia-smi", "", &|_| {
        "==NVSMI LOG==\nGPU 0:0:0\n    Memory Usage\n        Used : 1\n".to_owned()
    });
    storm("elements", "<nvidia_smi_log>", &|_| "<gpu>".to_owned());
    storm("elements in lines", "<nvidia_smi_log>", &|index| format!("<a{index}>\n"));
    storm("roots", "", &|_| "<nvidia_smi_log><gpu/>\n".to_owned());
    let worker = |index: usize| format!("(Worker_TP{index} pid=1) Available KV cache memory: {index} GiB\n");
    storm("workers of an engine", "", &worker);
    let oom =
        |index: usize| format!("CUDA out of memory. Tried to allocate {index}.00 MiB (GPU 0; 2 GiB total capacity)\n");
    storm("errors", "", &oom);
    let buffer = |index: usize| format!("Failed to allocate memory for requested buffer of size {index}000\n");
    storm("errors of other frameworks", "", &buffer);
    storm("parts of a program", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes\n", &|_| {
        "program 9B\n".to_owned()
    });
    storm("frames", "", &|index| format!("File \"a.py\", line {index}, in f{index}\n"));
    storm("tables", "", &|index| format!("memory summary, device ID {index}\n"));
    storm("counters", "", &|index| format!("'num_ooms': {index}, "));
    storm("holders", "CUDA out of memory. Tried to allocate", &|index| {
        format!("Process {index} has 1 B memory in use")
    });
    let memory = |index: usize| {
        format!(
            "{{\"name\":\"[memory]\",\"ts\":{index},\"tid\":{},\"args\":{{\"Bytes\":9,\"Addr\":{index}}}}},",
            index % 9
        )
    };
    storm("memory events", "{\"traceEvents\": [", &memory);
    let span =
        |index: usize| format!("{{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a{index}\",\"ts\":{index},\"dur\":1e9}},");
    storm("spans", "{\"traceEvents\": [", &span);
    let copy = |index: usize| {
        format!(
            "{{\"ph\":\"X\",\"name\":\"cudaMemcpyAsync\",\"ts\":{index}}},\
             {{\"ph\":\"X\",\"name\":\"Memcpy HtoD (Pageable -> Device)\"}},\
             {{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"ProfilerStep#\",\"ts\":{index},\"dur\":1e9}},"
        )
    };
    storm("copies and steps", "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"dur\":1e9},", &copy);
    storm("brackets", "{\"traceEvents\": ", &|_| "[{".to_owned());
    storm("lists outside of events", "{\"traceEvents\": 1", &|_| "[],".to_owned());
    let types = "\x0a\x04\x08\x01\x10\x02".repeat(2);
    let samples = |index: usize| format!("\x12\x06\x0a\x01{}\x12\x01\x09", char::from(index as u8 % 128));
    storm("samples", &types, &samples);
    let strings = |index: usize| format!("2\x08{:08}", index);
    storm("strings of samples", &(types.clone() + &samples(0).repeat(3)), &strings);
    let functions = |index: usize| format!("*\x06\x08{0}\x10{0}\x20{0}", char::from(index as u8 % 128));
    storm("functions of samples", &(types + &samples(0).repeat(3)), &functions);
    // Snapshots of tracemalloc: traces of one frame, frames, stacks that share frames, and lists that share traces.
    let pickle = |unit: &[u8]| {
        let head = b"\x80\x05\x8c\x0btracemalloc\x8c\x08Snapshot\x93)\x81}(\x8c\x06traces\x8c\x0btracemalloc\
                     \x8c\x07_Traces\x93)\x81}\x8c\x07_traces](\x8c\x01aK\x07\x86\x94\x85\x94K\0K\x09h\x01\x87\x94";
        [head.as_slice(), &unit.repeat(BYTES / unit.len())].concat()
    };
    check("traces", &pickle(b"K\0K\x09h\x01\x87"));
    check("traces that are memoized", &pickle(b"K\0K\x09h\x01\x87\x94"));
    check("stacks", &pickle(b"h\0\x85\x94"));
    check("deep stacks", &pickle(b"h\0h\0h\0h\0h\0h\0h\0h\0"));
    check("traces that are shared", &pickle(b"h\x02"));
    check("lists of traces", &pickle(b"](h\x02e"));
    check("instances", &pickle(b"\x8c\x0btracemalloc\x8c\x07_Traces\x93)\x81"));
    let files: Vec<u8> = (0..BYTES / 17)
        .flat_map(|index| [b"K\0K\x09\x8c\x07", format!("{index:07}").as_bytes(), b"K\x07\x86\x85\x87"].concat())
        .collect();
    check("files", &pickle(&files));
    let frames: Vec<u8> =
        (0..BYTES as u32 / 7).flat_map(|line| [b"\x8c\x01aJ", &line.to_le_bytes()[..], b"\x86"].concat()).collect();
    check("frames", &pickle(&frames));
    let times = |index: usize| format!("{},", 1_000_000_000_000_000_u64 + index as u64);
    storm("times", "[[", &times);
    storm("levels", "[[1000000000000000], [", &|_| "[0,0,0,0,0,0,0,0,0],".to_owned());
    storm("events of a timeline", "[", &|index| {
        format!("[{},2,9,{}],", 1_000_000_000_000_000_000_u64 + index as u64, index % 8)
    });
    check("one long line", &vec![b'7'; BYTES]);
    check("no line", &[]);
}

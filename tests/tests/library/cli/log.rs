//! Tests `diagnose` on logs of trainings, of nvidia-smi and of profilers.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use shared::analysis::FindingCode;
use testkit::server::{root, snapscope};

use crate::cli::command::run;

const ERROR: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of \
                     23.65 GiB of which 1.66 GiB is free. Including non-PyTorch memory, this process has 20.81 GiB memory \
                     in use. Of the allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch \
                     but unallocated.\n";

/// Diagnoses a text that arrives on the standard input; returns the exit status and what was printed.
#[track_caller]
fn pasted(text: &str) -> (Option<i32>, String) {
    let mut command = Command::new(snapscope());
    command.args(["diagnose", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary to start");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the text to be read");
    let output = child.wait_with_output().expect("an exit status");
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&all).into_owned())
}

/// Diagnoses a file; the exit status is 1 if an error is found.
#[track_caller]
fn diagnosed(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_pasted_error_is_explained() {
    let (status, text) = pasted(ERROR);
    assert_eq!(status, Some(1), "an error was found");
    for words in ["PyTorch's cache", "4.84 GiB", "other processes", "expandable_segments:True"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let (status, text) = pasted("good morning\n");
    assert_eq!(status, Some(2));
    assert!(text.contains("No line about memory was found"), "{text}");
}

#[test]
fn full_machines_and_errors_at_the_end_of_long_logs_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("free.log");
    let head = "               total        used        free      shared  buff/cache   available\n";
    let row = "Mem:        24684092    22458956      403812       20216     1821324      825136\n";
    std::fs::write(&file, head.to_owned() + row).expect("the log to be written");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    let finding = &document["findings"][0];
    assert_eq!(finding["code"], FindingCode::HostNearlyFull.name());
    assert_eq!(finding["bytes"], json!((24_684_092_u64 - 825_136) << 10));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("train.log");
    let log: String = (0..20_000).map(|step| format!("INFO step {step} loss 0.1\n")).collect();
    std::fs::write(&file, log + ERROR).expect("the log to be written");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    assert_eq!(document["findings"][0]["code"], FindingCode::OutOfMemory.name());
    assert_eq!(document["owners"][0]["parts"][0]["name"], "tensors");
    assert_eq!(document["owners"][0]["file"], file.to_string_lossy().as_ref());
}

/// `torch.cuda.max_memory_allocated()` and `max_memory_reserved()` printed these figures at the end of the profiled steps,
/// with PyTorch 2.11 on the virtual GPU.
#[test]
fn the_peak_of_a_profile_is_that_of_pytorch() {
    let file = root().join("tests/data/logs/torch2.11-profiler.json.gz");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    let Some(Value::Array(findings)) = document.get("findings") else { panic!("{document}") };
    assert_eq!(findings.len(), 1, "the numbers on the host do not matter");
    assert_eq!((&findings[0]["device"], &findings[0]["bytes"]), (&json!(0), &json!(28_730_880)));
    let shows = findings[0]["evidence"]["shows"].as_str().unwrap_or_default();
    assert!(shows.contains("PyTorch reserved 34.0 MiB at most") && 35_651_584 == 34 << 20, "{shows}");
    let rows = &document["tables"][0]["rows"];
    assert_eq!(rows[0][0], json!({ "text": "aten::empty_strided" }));
    assert_eq!(rows[0][1], json!({ "text": "train.py(5): step" }));
}

#[test]
fn errors_of_other_frameworks_are_explained() {
    let error = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate \
                 7406166528 bytes.\n";
    let (status, text) = pasted(error);
    assert_eq!(status, Some(1), "an error was found");
    assert!(text.contains("error: XLA ran out of memory: 6.90 GiB was requested"), "{text}");
}

/// Snapshots of tracemalloc by Python 3.13, of a training that keeps a record of each step.
fn traced() -> Vec<String> {
    let file = |number| root().join(format!("tests/data/logs/python3.13-tracemalloc-{number}.pickle.gz"));
    (1..=4).map(|number| file(number).to_string_lossy().into_owned()).collect()
}

#[test]
fn snapshots_of_tracemalloc_are_compared_and_lines_that_grow_found() {
    let files = traced();
    let arguments = ["diagnose", "--json"].into_iter().chain(files.iter().map(String::as_str));
    let document = diagnosed(&arguments.collect::<Vec<_>>());
    let findings = document["findings"].as_array().expect("a list");
    let codes: Vec<&Value> = findings.iter().map(|one| &one["code"]).collect();
    let [by_line, grows] = [FindingCode::HostMemoryByLine, FindingCode::HostLineGrows].map(FindingCode::name);
    assert_eq!(codes, [by_line, by_line, by_line, by_line, grows]);
    assert_eq!(findings[4]["line"]["line"], 13);
    assert_eq!(findings[4]["file"], files.join(" → "));
    let files = traced();
    let document = diagnosed(&["diff", "--json", "--top", "2", &files[0], &files[3]]);
    assert_eq!((&document["delta_bytes"], &document["delta_count"]), (&json!(46_498 - 13_590), &json!(398 - 81)));
    assert_eq!((&document["lines"][0]["line"], &document["lines"][0]["delta_bytes"]), (&json!(13), &json!(32_092)));
    assert_eq!((&document["other_lines"], &document["other_delta_bytes"]), (&json!(1), &json!(48)));
    let snapshot = root().join("tests/data/snapshots");
    let other = std::fs::read_dir(snapshot).expect("snapshots").flatten().find(|file| file.path().is_file());
    let other = other.expect("a snapshot").path().to_string_lossy().into_owned();
    let output = run(&["diff", &files[0], &other]);
    assert_eq!(output.status.code(), Some(2), "snapshots of two kinds");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a snapshot of tracemalloc"), "{output:?}");
}

/// The trace of a published model of Meta copies 9 tensors to the GPU and reads 6 values in each of its 5 steps; the other
/// one is of a model that was written for it.
#[test]
fn what_each_step_does_again_is_reported() {
    let codes = |name: &str| {
        let file = root().join("tests/data/logs").join(name);
        let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
        let findings = document["findings"].as_array().expect("a list").iter();
        let codes: Vec<String> = findings.filter_map(|one| one["code"].as_str().map(str::to_owned)).collect();
        codes
    };
    let expected = [FindingCode::TooLittleRecorded, FindingCode::HostCopiesEachStep, FindingCode::GpuReadEachStep];
    assert_eq!(codes("kineto-dlrm-steps.json.gz"), expected.map(FindingCode::name));
    let found = codes("torch2.11-profiler-steps.json.gz");
    let expected = [FindingCode::ContiguousCopies, FindingCode::TensorsRecreated];
    assert_eq!(found[found.len() - 2..], expected.map(FindingCode::name));
}

/// PyTorch 2.11 recorded both in one run; `torch.cuda.max_memory_allocated()` was 62,232,064 in each step.
#[test]
fn a_snapshot_and_a_trace_of_one_run_are_joined() {
    let path = |name: &str| root().join("tests/data/logs").join(name).to_string_lossy().into_owned();
    let (snapshot, trace) = (path("torch2.11-profiler-steps.pickle.gz"), path("torch2.11-profiler-steps.json.gz"));
    let joined = diagnosed(&["diagnose", "--json", &snapshot, &trace]);
    let matched = joined["diagnostics"][0]["message"].as_str().expect("a sentence");
    assert!(matched.contains("138 of the 138 allocations") && matched.contains("59.3 MiB are live"), "{matched}");
    let table = joined["tables"].as_array().expect("a list").last().expect("a table");
    assert_eq!(table["rows"][1][0], json!({ "text": "autograd::engine::evaluate_function: SoftmaxBackward0" }));
    let other = diagnosed(&["diagnose", "--json", &snapshot, &path("torch2.11-profiler.json.gz")]);
    let matched = other["diagnostics"][0]["message"].as_str().expect("a sentence");
    assert!(matched.contains("too few"), "{matched}");
}

#[test]
fn gpus_that_are_shared_or_fill_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("smi.txt");
    let table = "| NVIDIA-SMI 545.23.08    Driver Version: 545.23.08    CUDA Version: 12.3 |\n\
                 |   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0 Off |                  N/A |\n\
                 | 30%   29C    P8              24W / 350W |  24001MiB / 24576MiB |      0%      Default |\n\
                 |    0   N/A  N/A      4711      C   /usr/bin/python3                          15000MiB |\n\
                 |    0   N/A  N/A      4712      C   /opt/conda/bin/python                      8000MiB |\n";
    std::fs::write(&file, table).expect("the table to be written");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    let codes: Vec<&Value> = document["findings"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, [FindingCode::GpuShared.name(), FindingCode::CardNearlyFull.name()]);
    let shared = &document["findings"][0]["evidence"]["shows"];
    assert_eq!(shared, "python3 (4711) has 14.6 GiB, python (4712) has 7.81 GiB.");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("smi.csv");
    let row = |second: u64| {
        format!("2026/11/20 09:{:02}:{:02}.000, 0, {} MiB, 23034 MiB\n", second / 60, second % 60, 2000 + second * 60)
    };
    let head = "timestamp, index, memory.used [MiB], memory.total [MiB]\n".to_owned();
    std::fs::write(&file, head + &(0..300).map(row).collect::<String>()).expect("the log to be written");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["findings"][0]["code"], FindingCode::CardMemoryClimbs.name());
    let shows = document["findings"][0]["evidence"]["shows"].as_str().expect("a text");
    assert!(shows.contains("it is full 51.6 s after the end of the log, on 2026-11-20 09:05."), "{shows}");
}

/// PyTorch had reserved 84 MiB at the end of the snapshot, which here stands for two processes.
#[test]
fn snapshots_and_logs_share_a_gpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("the log to be written");
        file.to_string_lossy().into_owned()
    };
    let rows = "index, memory.used [MiB], memory.total [MiB]\n0, 3000 MiB, 24564 MiB\n\
                pid, process_name, used_gpu_memory [MiB]\n4711, python3, 1500 MiB\n4712, python3, 1200 MiB\n";
    let smi = write("smi.log", rows);
    let line = "node:17:9 [0] NCCL INFO transport/net.cc:656 Cuda Alloc Size 33554432 pointer 0x7d0000000000\n";
    let nccl = write("nccl.log", line);
    let snapshot = root().join("tests/data/snapshots/torch2.15-basic-py311.pickle.gz").to_string_lossy().into_owned();
    let document = diagnosed(&["diagnose", "--json", &snapshot, &snapshot, &smi, &nccl]);
    let owners = document["owners"].as_array().expect("a list").last().expect("owners");
    let parts = owners["parts"].as_array().expect("a list").iter();
    let mib: Vec<u64> = parts.map(|part| part["bytes"].as_u64().expect("bytes") >> 20).collect();
    assert_eq!(mib, [84, 84, 32, 2700 - 2 * 84 - 32, 300, 24_564 - 3000]);
    let message = document["diagnostics"][0]["message"].as_str().expect("a sentence");
    assert!(message.starts_with("GPU 0, 2.93 GiB of 24.0 GiB in use: "), "{message}");
}

/// The table is of two workers that count references to the strings of a list, as `copied_samples` of `tests/mistakes/host`.
#[test]
fn pages_that_workers_copy_are_found_in_a_table_of_psutil() {
    let file = root().join("tests/data/logs/psutil7-memory-maps.txt");
    let document = diagnosed(&["diagnose", "--json", &file.to_string_lossy()]);
    let finding = &document["findings"][0];
    assert_eq!(finding["code"], FindingCode::WorkersCopyOnWrite.name());
    let advice = finding["advice"].as_str().unwrap_or_default();
    assert!(advice.contains("changes its reference count"), "{advice}");
}

#[test]
fn a_machine_that_fills_is_found_in_a_loop_of_free() {
    let row = |minute: u64| {
        let used = 4_000_000 + minute * 2_900_000;
        let free = 62_880_028 - used;
        format!("2018-03-20 10:{minute:02}:00\nMem: 62880028 {used} {free} 95508 0 {free}\nSwap: 0 0 0\n")
    };
    let text: String = (0..=20).map(row).collect();
    let (status, text) = pasted(&text);
    assert_eq!(status, Some(0), "{text}");
    for words in
        ["in use climbs by 49.8 GiB through the whole log", "almost full: only 859 MiB of 60.0 GiB", "snapscope host"]
    {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn a_log_is_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = root().join("tests/data/logs/torch2.11-profiler-steps.json.gz").to_string_lossy().into_owned();
    let export = |form: &str| {
        let out = folder.path().join(form);
        let output = run(&["export", &file, "--to", form, "-o", &out.to_string_lossy()]);
        (output, std::fs::read(out).unwrap_or_default())
    };
    for (form, start) in [
        ("html", "<!doctype html>"),
        ("svg", "<svg"),
        ("csv", "quantity,series,time,time_us,bytes\r\n"),
        ("json", "{\"file\":\"torch2.11-profiler-steps.json.gz\""),
        ("markdown", "## torch2.11"),
    ] {
        let (output, bytes) = export(form);
        assert!(bytes.starts_with(start.as_bytes()) && bytes.len() > 500, "{form}: {output:?}");
    }
    assert!(export("png").1.starts_with(b"\x89PNG"));
    let (output, bytes) = export("pickle");
    assert_eq!((output.status.code(), bytes.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a log cannot be written as pickle"), "{output:?}");
    let report: Value = serde_json::from_slice(&export("json").1).expect("JSON");
    let curves = report["report"]["curves"].as_array().expect("a list");
    let lanes = curves.iter().flat_map(|one| one["lanes"].as_array().expect("a list")).map(|lane| lane["name"].clone());
    assert!(lanes.collect::<Vec<_>>().contains(&json!("Steps")), "{curves:?}");
}

#[test]
fn a_folder_stands_for_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("train.log"), ERROR).expect("the log to be written");
    std::fs::write(path("notes.txt"), "nothing\n").expect("the text to be written");
    let output = run(&["diagnose", &folder.path().to_string_lossy()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("train.log") && text.contains("neither snapshots nor logs of memory: 1 file, "), "{text}");
}

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
fn document(arguments: &[&str]) -> Value {
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
    assert!(text.contains("says nothing about memory"), "{text}");
}

#[test]
fn an_error_at_the_end_of_a_long_log_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("train.log");
    let log: String = (0..20_000).map(|step| format!("INFO step {step} loss 0.1\n")).collect();
    std::fs::write(&file, log + ERROR).expect("the log to be written");
    let document = document(&["diagnose", "--json", &file.to_string_lossy()]);
    assert_eq!(document["findings"][0]["code"], FindingCode::OutOfMemory.name());
    assert_eq!(document["owners"][0]["parts"][0]["name"], "tensors");
    assert_eq!(document["owners"][0]["file"], file.to_string_lossy().as_ref());
}

/// `torch.cuda.max_memory_allocated()` and `max_memory_reserved()` printed these figures at the end of the profiled steps,
/// with PyTorch 2.11 on the virtual GPU.
#[test]
fn the_peak_of_a_profile_is_that_of_pytorch() {
    let file = root().join("tests/data/logs/torch2.11-profiler.json.gz");
    let document = document(&["diagnose", "--json", &file.to_string_lossy()]);
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
fn processes_that_share_a_gpu_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("smi.txt");
    let table = "| NVIDIA-SMI 545.23.08    Driver Version: 545.23.08    CUDA Version: 12.3 |\n\
                 |   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0 Off |                  N/A |\n\
                 | 30%   29C    P8              24W / 350W |  24001MiB / 24576MiB |      0%      Default |\n\
                 |    0   N/A  N/A      4711      C   /usr/bin/python3                          15000MiB |\n\
                 |    0   N/A  N/A      4712      C   /opt/conda/bin/python                      8000MiB |\n";
    std::fs::write(&file, table).expect("the table to be written");
    let document = document(&["diagnose", "--json", &file.to_string_lossy()]);
    let codes: Vec<&Value> = document["findings"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, [FindingCode::CardNearlyFull.name(), FindingCode::GpuShared.name()]);
    let shared = &document["findings"][1]["evidence"]["shows"];
    assert_eq!(shared, "python3 (4711) has 14.6 GiB, python (4712) has 7.81 GiB.");
}

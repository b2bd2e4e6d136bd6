//! Tests `snapscope repro` on the command line, with a scripted recorder.

use std::process::{Output, Stdio};

use serde_json::Value;
use testkit::patience::ask_until;
use testkit::process::signal;
use testkit::repro::{Played, check_output};

const RUN: &str = r#"
echo '{"type":"started","device":"Fake","memory_bytes":1000000,"parameters":1234567,"steps":2}'
echo '{"type":"progress","step":0,"phase":"forward","live_bytes":3221225472,"reserved_bytes":4294967296}'
echo '{"type":"message","text":"attention takes the flash kernels"}'
cp "$sample" "$output"
echo '{"type":"snapshot","steps":1,"partial":true}'
"#;

const FINISHED: &str =
    r#"echo '{"type":"finished","steps":2,"peak_allocated_bytes":500000,"peak_reserved_bytes":600000,"oom":null}'"#;

const OUT_OF_MEMORY: &str = r#"echo '{"type":"finished","steps":1,"peak_allocated_bytes":1,"peak_reserved_bytes":2,"oom":
{"message":"CUDA out of memory. Tried to allocate 2.00 GiB.","step":1,"phase":"backward","module":"h.0","operation":
"aten::mm"}}' | tr -d '\n'; echo"#;

fn scripted(last: &str) -> Played {
    let played = Played::new(&format!("{RUN}\n{last}"));
    std::fs::write(played.path("small.toml"), "model = \"mlp\"\nsteps = 2\ncard = \"t4-16gb\"\n").expect("room");
    played
}

fn repro(played: &Played, arguments: &[&str]) -> Output {
    played.command().arg("repro").args(arguments).output().expect("the binary to start")
}

#[test]
fn a_recording_is_summed_up_or_is_one_document() {
    let played = scripted(FINISHED);
    let output = repro(&played, &["small.toml"]);
    let summary = ["small.pickle\n", "t4-16gb · small · 1,234,567 parameters · 2 steps in", "peak reserved", "586 KiB"];
    check_output(&output, 0, &summary, &["note: attention takes the flash"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("step 1"), "a run of a moment shows no progress");
    check_output(&output, 0, &["20 % more than allocated", "60 % of it reserved", "snapscope peak small.pickle"], &[]);
    assert!(played.path("small.pickle").exists(), "in the current folder, named like the config");
    check_output(&repro(&played, &["small.toml"]), 0, &[], &[]);
    let output = repro(&played, &["small.toml", "--json", "-o", "other.pickle"]);
    check_output(&output, 0, &[], &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["card"], "t4-16gb");
    assert_eq!(document["peak_reserved_bytes"], 600_000);
    assert_eq!(document["oom"], Value::Null);
    assert!(played.path("other.pickle").exists());
    let ranks = "model = \"mlp\"\nsteps = 2\ncard = \"t4-16gb\"\nparallel = { kind = \"ddp\", ranks = 2 }\n";
    std::fs::write(played.path("ranks.toml"), ranks).expect("room");
    check_output(&repro(&played, &["ranks.toml"]), 0, &["NCCL's buffers and kernels are not counted"], &[]);
    let alone = String::from_utf8(repro(&played, &["small.toml"]).stdout).expect("text");
    assert!(!alone.contains("NCCL"), "{alone}");
}

#[test]
fn running_out_of_memory_is_no_error_and_a_failure_keeps_the_trace() {
    let played = scripted(OUT_OF_MEMORY);
    let output = repro(&played, &["small.toml"]);
    let summary =
        ["1 of 2 steps in", "Out of memory in step 2 of 2, backward, h.0, in aten::mm\n  CUDA out of memory."];
    check_output(&output, 0, &summary, &[]);
    let output = repro(&played, &["small.toml", "--json"]);
    check_output(&output, 0, &[], &[]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let oom = document["oom"].as_object().expect("where memory ran out");
    let keys: Vec<_> = oom.keys().map(String::as_str).collect();
    assert_eq!(keys, ["message", "module", "operation", "phase", "step"]);
    let played = scripted("echo 'the last words' >&2; kill -SEGV $$");
    let output = repro(&played, &["small.toml"]);
    let says = [
        "last lines of the recorder:\n  the last words",
        "last known position: step 1 of 2, forward",
        "the trace up to this point is in small.pickle",
        "error: the recorder crashed with SIGSEGV",
        "hint: ",
    ];
    check_output(&output, 2, &[], &says);
    assert!(output.stdout.is_empty());
    assert!(played.path("small.pickle").exists());
}

#[test]
fn the_command_line_overrides_the_config_and_bad_input_is_refused_before_anything_runs() {
    let played = scripted("echo \"$job\" | tr -d ' \\n' >&2; echo >&2; exit 1");
    let output = repro(&played, &["small.toml", "--card", "h100-80gb", "--steps", "7", "--batch", "5"]);
    check_output(&output, 2, &[], &["\"card\":\"h100-80gb\"", "\"steps\":7", "\"batch\":5", "\"name\":\"small\""]);
    check_output(&repro(&played, &["small.toml", "--card", "h100-80gb", "--device", "cuda:0"]), 2, &[], &["--device"]);
    let played = scripted(FINISHED);
    let refuse = |arguments: &[&str], parts: &[&str]| {
        let output = repro(&played, arguments);
        check_output(&output, 2, &[], parts);
        assert!(output.stdout.is_empty());
    };
    refuse(&["no-such.toml"], &["no-such.toml: ", "hint: check the path"]);
    refuse(&["small.toml", "--card", "a100"], &["a100-80gb"]);
    refuse(&["small.toml", "--steps", "0"], &["steps"]);
    refuse(&["small.toml", "--time-limit", "soon"], &["30min"]);
    refuse(&["small.toml", "--memory-limit", "much"], &["8GiB"]);
    refuse(&["small.toml", "-o", "no/such/folder/out.pickle"], &["the folder no/such/folder cannot be written"]);
    std::fs::write(played.path("wrong.toml"), "modle = \"mlp\"\nstepz = 3\n").unwrap();
    let first = "wrong.toml: line 1, column 1: modle: unknown key; did you mean `model`?";
    refuse(&["wrong.toml"], &[first, "wrong.toml: line 2, column 1: stepz: ", "`steps`?", "hint:"]);
    std::fs::write(played.path("three.yaml"), "model: gtp2\nbatch: 0\nseqlen: 64\n").unwrap();
    let three =
        ["three.yaml: line 1, column 1: model.preset", "line 2, column 1: batch: 0", "did you mean `sequence`?"];
    refuse(&["three.yaml"], &three);
    std::fs::write(played.path("weights.pickle"), "the weights of a year").unwrap();
    refuse(&["small.toml", "-o", "weights.pickle"], &["weights.pickle already exists and is not a snapshot"]);
    assert_eq!(std::fs::read(played.path("weights.pickle")).unwrap(), b"the weights of a year");
    assert!(!played.path("small.pickle").exists());
}

#[test]
fn limits_can_be_set_and_an_interrupt_ends_the_recorder_too() {
    let played = scripted("sleep 60");
    let slow = repro(&played, &["small.toml", "--time-limit", "0.3s"]);
    check_output(&slow, 2, &[], &["longer than 0.3 s and was stopped"]);
    let output = repro(&played, &["small.toml", "--memory-limit", "1KiB"]);
    check_output(&output, 2, &[], &["more than its limit of 1.00 KiB"]);
    let played = scripted("echo $$ >\"$HOME/pid\"; sleep 60");
    let child = played
        .command()
        .args(["repro", "small.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary to start");
    let pid = || std::fs::read_to_string(played.path("pid")).unwrap_or_default();
    let recorder = ask_until(pid, |pid| pid.ends_with('\n')).trim().to_owned();
    assert!(signal("INT", child.id()));
    let output = child.wait_with_output().expect("the command to end");
    let says = ["error: the recording was cancelled", "the trace up to this point is in small.pickle"];
    check_output(&output, 2, &[], &says);
    assert!(!std::path::Path::new("/proc").join(recorder).exists(), "the recorder has ended");
}

#[test]
fn a_device_is_checked_without_a_config() {
    let played = scripted(FINISHED);
    let check = ["--device", "cuda:0", "--check"];
    check_output(&repro(&played, &check), 0, &["Jobs can run on cuda:0: Fake with 977 KiB, 2 steps recorded in"], &[]);
    let output = repro(&played, &[&check[..], &["small.toml", "--json"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!((&document["card"], &document["steps"]), (&"Fake".into(), &2.into()));
    assert!(!played.path("small.pickle").exists(), "nothing is left");
    check_output(&repro(&played, &["--check"]), 2, &[], &["--device"]);
    check_output(&repro(&played, &["--card", "t4-16gb"]), 2, &[], &["<CONFIG>"]);

    let failed = r#"echo '{"type":"failed","message":"CUDA error: OS call failed","step":null,"phase":"start","module":""}'; exit 3"#;
    let played = Played::new(failed);
    let says = ["error: CUDA error: OS call failed", "`nvidia-smi`"];
    check_output(&repro(&played, &check), 2, &[], &says);
}
